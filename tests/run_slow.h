/* run_slow.h - work of a known length, for the programs of tests/run_command.sh. SLOW_MS changes
 * the length where nobody looks at the profile. */

#ifndef RUN_SLOW_H
#define RUN_SLOW_H

#include <stdlib.h>
#include <time.h>

/* Uses 300 ms of CPU time. Inlined wherever it is called, so that its callers look alike. */
static inline __attribute__((always_inline)) void spend_slowly(void)
{
    static volatile unsigned long sink;
    const char *given = getenv("SLOW_MS");
    struct timespec now;
    long end = 0;
    do {
        for (unsigned long i = 0; i < 1000000; i++) {
            sink = sink + i;
        }
        (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
        end = end > 0
                  ? end
                  : now.tv_sec * 1000 + now.tv_nsec / 1000000 + (given != NULL ? atol(given) : 300);
    } while (now.tv_sec * 1000 + now.tv_nsec / 1000000 < end);
}

#endif
