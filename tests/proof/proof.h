/* tests/proof/proof.h - what the harnesses share. Each file is one program for CBMC; its functions
 * named prove_.. are checked one by one (run.sh) for all values of what is `any`. Each of them is
 * looked at a second time, with REACH: then nothing is proved, but every PROVE and REACHABLE must
 * be met, or what was proved was proved of nothing. */
#ifndef PROOF_H
#define PROOF_H

#define _POSIX_C_SOURCE 200809L
#define CHROPROF_NO_CLOCK
#define CHROPROF_NO_MMAP
#define CHROPROF_IMPLEMENTATION
#include "../../chroprof.h"

static inline uint64_t any_u64(void)
{
    uint64_t value;
    return value;
}
static inline uint32_t any_u32(void)
{
    uint32_t value;
    return value;
}

#define ASSUME(x) __CPROVER_assume(x)

/* REACHABLE(x): some values lead here with x. */
#ifdef REACH
#define REACHABLE(x) __CPROVER_assert(!(x), "reached: " #x)
#define PROVE(x) ((void)(x), __CPROVER_assert(0, "reached: " #x))
#else
#define REACHABLE(x) ((void)0)
#define PROVE(x) __CPROVER_assert(x, "proved: " #x)
#endif

#endif
