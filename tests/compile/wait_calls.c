/* What CHROPROF_WAIT_CALLS adds: leave and idle_enter, idle_leave and enter at one instant each are
 * what the four calls are one by one. Prints what is wrong. */
#define CHROPROF_IMPLEMENTATION
#include "../../chroprof.h"

#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 3000 };
static const chroprof_site often = { "often", "host.c", 1 }, seldom = { "seldom", "host.c", 2 };
static int failures;

static void expect(int holds, const char *what)
{
    if (!holds) {
        failures++;
        fprintf(stderr, "wait_calls: %s\n", what);
    }
}

static void wait_once(chroprof *p, int separate, const chroprof_site *site)
{
    if (separate) {
        chroprof_idle_leave(p);
        chroprof_enter(p, site);
        chroprof_leave(p);
        chroprof_idle_enter(p);
    } else {
        chroprof_enter_from_idle(p, site);
        chroprof_leave_for_idle(p);
    }
}

static void judge(chroprof *p)
{
    chroprof_totals t;
    chroprof_rank ranks[2];
    chroprof_read_totals(p, &t);
    expect(t.events == 4 * ROUNDS + 1, "events");
    expect(t.callbacks == ROUNDS && t.iterations == ROUNDS, "callbacks and iterations");
    expect(t.depth == 0, "the stack is empty");
    expect(chroprof_ranks(p, ranks, 2, CHROPROF_BY_EXEC) == 2, "two sites");
    expect(ranks[0].calls + ranks[1].calls == ROUNDS, "calls");
    expect(chroprof_check(p) == NULL, "the profile is consistent");
}

static void wrong_calls(chroprof *p)
{
    chroprof_totals t;
    chroprof_leave_for_idle(p); /* no call is on top */
    chroprof_enter_from_idle(p, &often);
    chroprof_pending(p, 1, &seldom);
    chroprof_running(p, 1);
    chroprof_leave_for_idle(p); /* a future is */
    chroprof_read_totals(p, &t);
    expect(t.depth == 0 && chroprof_check(p) == NULL, "wrong calls are counted");
    chroprof_set_enabled(p, false);
    chroprof_leave_for_idle(p);
    chroprof_enter_from_idle(p, NULL);
    chroprof_leave_for_idle(NULL);
    chroprof_enter_from_idle(NULL, &often);
}

int main(void)
{
    static uint64_t memory[(1 << 20) / 8];
    chroprof p;
    chroprof_totals t;
    for (int manual = 0; manual < 2; manual++) {
        for (int separate = 0; separate < 2; separate++) {
            chroprof_options o;
            memset(&o, 0, sizeof o);
            o.clock = manual ? chroprof_clock_manual : NULL;
            expect(chroprof_init(&p, memory, sizeof memory, &o) == CHROPROF_OK, "begins");
            chroprof_idle_enter(&p);
            for (int round = 0; round < ROUNDS; round++)
                wait_once(&p, separate, round % 3 ? &often : &seldom);
            judge(&p);
            chroprof_read_totals(&p, &t);
            if (!separate) /* no time lies between the events of an instant */
                expect(t.uninstrumented_ns == t.start_ns, "uninstrumented time");
        }
        wrong_calls(&p);
    }
    return failures != 0;
}
