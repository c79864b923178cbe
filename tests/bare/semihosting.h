/* tests/bare/semihosting.h - calls to the debugger or emulator: Arm's semihosting. */
#ifndef BARE_SEMIHOSTING_H
#define BARE_SEMIHOSTING_H

#include <stdint.h>

static inline int bare_call(int operation, const void *argument)
{
    register int r0 __asm__("r0") = operation;
    register const void *r1 __asm__("r1") = argument;
    __asm__ __volatile__("bkpt 0xAB" : "+r"(r0) : "r"(r1) : "memory");
    return r0;
}

/* SYS_WRITE0 */
static inline void bare_print(const char *text)
{
    bare_call(0x04, text);
}

/* SYS_EXIT_EXTENDED: the emulator ends with this status */
static inline void bare_exit(int status)
{
    uint32_t block[2];
    block[0] = 0x20026; /* ADP_Stopped_ApplicationExit */
    block[1] = (uint32_t)status;
    bare_call(0x20, block);
    for (;;) {}
}

#endif
