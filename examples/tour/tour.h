/* What the programs of the tour share: work that keeps the processor busy, waits, and a profile. The
 * profile is in memory, or in the file you name. With -DTOUR_STILL only work and waits move the
 * clock, so the reports in README.md are the same on every machine. */
#ifndef TOUR_H
#define TOUR_H
#define CHROPROF_IMPLEMENTATION
#include "../../chroprof.h"
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static chroprof prof;

#ifdef TOUR_STILL
static uint64_t tour_ns = 1;

static uint64_t tour_clock(void *user)
{
    (void)user;
    return tour_ns;
}

static void work(unsigned us)
{
    tour_ns += 1000u * (uint64_t)us;
}

static inline void wait_for_events(unsigned us)
{
    work(us);
}
#else
#define tour_clock NULL

static void work(unsigned us)
{
    uint64_t end = chroprof_now(&prof) + (uint64_t)us * 3000;   /* at 3 GHz; it need not be exact */
    while (chroprof_now(&prof) < end) {}
}

static inline void wait_for_events(unsigned us)
{
    poll(NULL, 0, (int)(us / 1000));
}
#endif

static void start(int argc, char **argv)
{
    static unsigned char memory[1 << 20];
    chroprof_options o;
    memset(&o, 0, sizeof(o));
    o.clock = tour_clock;
    chroprof_result result = argc > 1 ? chroprof_map(&prof, argv[1], sizeof(memory), &o)
                                      : chroprof_init(&prof, memory, sizeof(memory), &o);
    if (result == CHROPROF_OK)
        return;
    fprintf(stderr, "%s: %s\n", argv[0], chroprof_result_text(result));
    exit(1);
}

/* The wait of the loop, which the profile should know as idle. */
static inline void idle(unsigned us)
{
    chroprof_idle_enter(&prof);
    wait_for_events(us);
    chroprof_idle_leave(&prof);
}

static inline void call(const chroprof_site *site, unsigned us)
{
    chroprof_enter(&prof, site);
    work(us);
    chroprof_leave(&prof);
}

static inline void finish(int argc)
{
    if (argc < 2)
        chroprof_dump(&prof, CHROPROF_TEXT, stdout);
}
#endif
