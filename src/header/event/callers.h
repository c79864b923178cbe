/* event/callers.h: is a task begun by whom it was begun before? */
#pragma once
#include "../base/platform.h"
#include "../block/rows.h"
#include "../block/core.h"
#include "../event/step.h"

/* ---- who begins a task, while the sampler runs. Most tasks of a path begin at one place, with the
 * same functions around it, at the same depth of the stack. The fast path sees that it is so by the
 * stack pointer and two return addresses. Whoever begins one elsewhere is noted, after the event
 * (chroprof__begin_slowly). No sanitizer looks at these words: they are read by assembly. */
#if CHROPROF__KNOWS_CALLERS
CHROPROF__INLINE uint64_t chroprof__caller_base(void)
{
    uint64_t base;
#ifdef __x86_64__
    __asm__ volatile("mov %%rsp, %0" : "=r"(base));
#else
    __asm__ volatile("mov %0, sp" : "=r"(base));
#endif
    return base;
}

/* Was it the stack pointer of a caller? base: the one to compare with, 0: that of now. */
CHROPROF__INLINE bool chroprof__was_stack(const uint64_t *of, uint64_t base)
{
#if defined(__x86_64__) && defined(__GCC_ASM_FLAG_OUTPUTS__)
    bool same = *of == base;
    if (base == 0)
        __asm__ volatile("cmp %%rsp, %1" : "=@cce"(same) : "m"(*of));
    return same;
#else
    return *of == (base ? base : chroprof__caller_base());
#endif
}

/* at: bytes from the core to a row of callers. */
CHROPROF__INLINE bool chroprof__is_caller(const chroprof__core *c, uint64_t at, uint64_t base)
{
#define CHROPROF__CALLER ((const chroprof__caller *)(const void *)((const char *)c + at))
    if (CHROPROF__RARELY(!chroprof__was_stack(&CHROPROF__CALLER->base, base)))
        return false;
    CHROPROF__ONE_WORD(at);                 /* each load adds by itself */
    uint64_t second = CHROPROF__CALLER->at[1];
    CHROPROF__ONE_WORD(at);
    uint64_t product = CHROPROF__CALLER->at[0];
    CHROPROF__ONE_WORD(at);
#ifdef __x86_64__
    __asm__ volatile("mov (%0), %0\n\timul (%1), %0" : "+r"(product) : "r"(second) : "cc");
#else
    __asm__ volatile("ldr %0, [%0]\n\tldr %1, [%1]\n\tmul %0, %0, %1"
                     : "+r"(product), "+r"(second));
#endif
    return CHROPROF__LIKELY(product == CHROPROF__CALLER->product);
#undef CHROPROF__CALLER
}
#else
CHROPROF__INLINE uint64_t chroprof__caller_base(void)
{
    return 1;
}

CHROPROF__INLINE bool chroprof__is_caller(const chroprof__core *c, uint64_t at, uint64_t base)
{
    (void)c;
    return at != 0 && base == 0;      /* never asked */
}
#endif

/* Is the stack as the row of callers at so many bytes from the core has it? What the moment says
 * of the stack is read again: no fast path has to keep it. */
CHROPROF__INLINE bool chroprof__is_known_caller(const chroprof__core *c, uint32_t at,
                                                uint64_t base, chroprof__moment *m)
{
    if (CHROPROF__RARELY(!chroprof__is_caller(c, at, base)))
        return false;
    CHROPROF__READ_AGAIN();
    m->account = c->account;
    return true;
}

CHROPROF__INLINE bool chroprof__reads_again(void)
{
    CHROPROF__READ_AGAIN();
    return true;
}

/* Who asks has this in line. */
#define CHROPROF__KNOWS_CALLER(p, at, base, m)                                                     \
    (CHROPROF__RARELY(!(p)->asks) ||                                                               \
     (chroprof__reads_again() && chroprof__is_known_caller(c, at, base, m)))
