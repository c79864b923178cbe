/* run_within.h - chroprof run: of a thread that sleeps in a callback, the function that its loop
 * called, by its stack. It is read from outside, and neither stopped nor sent a signal. */

#ifndef COMMAND_RUN_WITHIN_H
#define COMMAND_RUN_WITHIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum {
    WITHIN_NAME = 48, WITHIN_PLACES = 8, WITHIN_FRAMES = 120,
    WITHIN_LOOKS = 8           /* at the waits of one loop */
};

/* A wait by its registers and the words of the stack that hold the return addresses: callbacks whose
 * frames have one size wait with the same registers. */
typedef struct within_site {
    uint64_t stack, code;              /* 0: none */
    uint32_t count;
    uint32_t at[WITHIN_FRAMES];        /* bytes above stack, ascending */
    uint64_t value[WITHIN_FRAMES];
} within_site;

/* What is known of a thread. Zeroed, nothing is. */
typedef struct run_within {
    pid_t process, thread;
    within_site idle_site;             /* where its loop waited, */
    uint64_t idle[WITHIN_FRAMES];      /* and the functions that called it, innermost first */
    size_t idle_count;                 /* 0: it is not known */
    unsigned looks;                    /* how often that was read */
    struct {
        within_site site;              /* where it slept */
        uint64_t read_ns;              /* when its name was looked for */
        char name[WITHIN_NAME];
    } places[WITHIN_PLACES];
    unsigned next;
    within_site gil_site;              /* where it slept in the interpreter, */
    bool gil;                          /* and whether that was for its lock */
} run_within;

/* It waits for its next event. call: /proc/PID/task/TID/syscall, as it says now. */
void run_within_idle(run_within *w, const char *call);

/* It sleeps elsewhere. python: the names of its functions in Python are known. out: WITHIN_NAME
 * bytes; "": nobody knows. */
void run_within_name(run_within *w, const char *call, bool python, char *out);

/* It waits for another thread: to run Python, of which one at a time does? */
bool run_within_is_gil(run_within *w, const char *call);

/* The innermost function of the program's own that a thread sleeps in; false: nobody knows. */
bool run_within_own(pid_t process, pid_t thread, char *out);

#endif
