/* jumps.c - longjmp out of a callback */

#include "run.h"
#include "next.h"
#include "seats.h"

/* >>jumps: one out of a callback may leave the loop that called it. Where to, only the C library can
 * read. So the callbacks of the thread are given up at its next wait, unless one of them ends as it
 * should before: then the loop runs. */

#if HAS_STANDINS
EXPORT void preload_longjmp(void *to, int value) __asm__("longjmp");
EXPORT void preload_old_longjmp(void *to, int value) __asm__("_longjmp");
EXPORT void preload_siglongjmp(void *to, int value) __asm__("siglongjmp");
EXPORT void preload_checked_longjmp(void *to, int value) __asm__("__longjmp_chk");

static inline __attribute__((__always_inline__)) void jump(jump_function **known, const char *name,
                                                           void *to, int value)
{
    if (*known == NULL) {
        find_function(known, name);
    }
    if (own != NULL) {
        own->jumped = true;
    }
    (*known)(to, value);
}

EXPORT void preload_longjmp(void *to, int value)
{
    jump(&next.longjmp, "longjmp", to, value);
}

EXPORT void preload_old_longjmp(void *to, int value)
{
    jump(&next.old_longjmp, "_longjmp", to, value);
}

EXPORT void preload_siglongjmp(void *to, int value)
{
    jump(&next.siglongjmp, "siglongjmp", to, value);
}

EXPORT void preload_checked_longjmp(void *to, int value)
{
    jump(&next.checked_longjmp, "__longjmp_chk", to, value);
}
#endif
