#ifndef BENCH_DISABLED_H
#define BENCH_DISABLED_H

/* Bytes of machine code by which a function with every call differs from one without any, under
 * CHROPROF_DISABLE; -1: this compiler or object format cannot tell. */
long disabled_bytes(void);

#endif
