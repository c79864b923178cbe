/* tests/bare/startup.c - what comes before main on a bare Cortex-M, and a way to the debugger's
 * console (semihosting), which is all the input and output there is. */
#include "semihosting.h"

#include <stddef.h>
#include <stdint.h>
#if defined(BARE_NEWLIB)
#include <time.h>
#endif

extern uint32_t bare_stack_top[], bare_bss_begin[], bare_bss_end[];
int main(int count, char **words);
void reset(void);
void fault(void);

#if defined(BARE_NEWLIB)
void initialise_monitor_handles(void);
void exit(int status);
void _init(void);
void _fini(void);
void _init(void) {}
void _fini(void) {}

#define BARE_BILLION UINT64_C(1000000000)

/* newlib leaves it to the board; the emulator counts ns (SYS_ELAPSED) and seconds (SYS_TIME) */
int clock_gettime(clockid_t which, struct timespec *t)
{
    uint64_t ns = 0;
    bare_call(0x30, &ns);
    if (which != CLOCK_MONOTONIC)
        ns = ns % BARE_BILLION + (uint64_t)(uint32_t)bare_call(0x11, NULL) * BARE_BILLION;
    t->tv_sec = (time_t)(ns / BARE_BILLION);
    t->tv_nsec = (long)(ns % BARE_BILLION);
    return 0;
}

/* the C library's own start: streams by semihosting, then what main needs */
static int run_main(void)
{
    static char *words[] = { NULL, NULL };
    initialise_monitor_handles();
    exit(main(1, words));
    return 0;
}
#else
/* ARMv7-M: each access that is not aligned is a fault, as it is on Cortex-M0 */
static int run_main(void)
{
#if defined(__ARM_ARCH_7M__)
    *(volatile uint32_t *)0xE000ED14u |= 8u;
#endif
    return main(0, NULL);
}
#endif

/* The image is loaded whole, initialised data included; only .bss is to be cleared. */
void reset(void)
{
    uint32_t *word;
    for (word = bare_bss_begin; word < bare_bss_end; word++)
        *word = 0;
    bare_exit(run_main());
}

void fault(void)
{
    bare_print("FAIL bare: the processor faulted\n0 passed, 1 failed, 0 skipped\n");
    bare_exit(1);
}

typedef union vector {
    uint32_t *stack;
    void (*handler)(void);
} vector;

__attribute__((section(".vectors"), used)) static const vector vectors[16] = {
    { .stack = bare_stack_top }, { .handler = reset }, { .handler = fault }, { .handler = fault },
    { .handler = fault },        { .handler = fault }, { .handler = fault },
};
