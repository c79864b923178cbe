#ifndef BENCH_DISABLED_H
#define BENCH_DISABLED_H
#include "../chroprof.h"

/* Bytes of machine code by which a function with every call differs from one without any, under
 * CHROPROF_DISABLE; -1: this compiler or object format cannot tell. */
long disabled_bytes(void);

/* Takes what chroprof_running takes, and does nothing. */
void empty_call(chroprof *p, uint64_t id);

#endif
