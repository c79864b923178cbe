/* filter.h - what a filter of system calls (seccomp) would do to some of them. */

#ifndef PRELOAD_FILTER_H
#define PRELOAD_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* As <linux/filter.h> and <linux/seccomp.h> have them, which not every C library comes with. */

typedef struct filter_step {
    uint16_t code;
    uint8_t if_so, if_not;     /* steps that a jump leaves out */
    uint32_t k;
} filter_step;

typedef struct filter_program {        /* struct sock_fprog */
    unsigned short count;
    const filter_step *steps;
} filter_program;

#define FILTER_MODE_STRICT 1           /* of prctl; the calls of seccomp have other numbers */
#define FILTER_MODE_PROGRAM 2
#define FILTER_SET_STRICT 0
#define FILTER_SET_PROGRAM 1
#define FILTER_FOR_ALL_THREADS 1

#define FILTER_ARGUMENTS 4

typedef struct filter_call {
    long number;
    uint64_t arguments[FILTER_ARGUMENTS];
} filter_call;

/* Whether a filter lets all of these calls pass. Allocates nothing, and makes no system call. */
bool filter_allows(const filter_program *filter, const filter_call *calls, size_t count);

#endif
