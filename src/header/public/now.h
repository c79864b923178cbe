/* public/now.h */
#pragma once
#include "../interface/kinds.h"
#include "../interface/types.h"
#include "../interface/life.h"
#include "../base/platform.h"
#include "../base/util.h"
#include "../block/core.h"
#include "../block/clock.h"
#include "../block/samples.h"
#include "../public/setup.h"
#include "../public/send.h"

/* >>now: brings a profile up to now, and tells what an event costs. Owns nothing. Relies on the
 * events and the clock; called by >>map and by >>output. */

/* Ticks a live profile, so that a dump shows it as of now. False: there is none. */
CHROPROF__UNUSED static bool chroprof__tick_live(chroprof *p)
{
    if (!chroprof__has_block(p))
        return false;
    if (chroprof__is_taking(p))
        chroprof__wake_drain(p->core);
    if (!chroprof__is_taking(p) || p->core->time.manual)      /* no time passes by itself */
        return true;
    chroprof__clocked_event(p, CHROPROF_TICK, 0, NULL);
    if (!chroprof__has_block(p))            /* it called on_stall, which forked */
        return false;
#if CHROPROF__HAS_COUNTER
    chroprof__begin_edit(p->core);
    if (!p->core->time.calibrated)
        chroprof__calibrate(p->core);
    chroprof__end_edit(p->core);
#endif
    return true;
}

/* What an event costs here, clock read included, measured now with warm caches, in picoseconds: of
 * a small profile's slices, the least of several rounds. 0: the clock is not ours. */
CHROPROF__COLD uint64_t chroprof__event_cost_ps(const chroprof *p)
{
#ifndef CHROPROF_NO_CLOCK
    const chroprof_site site = { "cost", "", 0 };
    uint64_t memory[(CHROPROF_MEMORY_MIN + 7) / 8];
    const uint32_t slices = 64;
    uint64_t best = UINT64_MAX;
    chroprof scratch;
    if (p->view || !chroprof__own_clock(p))
        return 0;
    /* never: the memory is CHROPROF_MEMORY_MIN */
    if (chroprof_init(&scratch, memory, sizeof(memory), NULL) != CHROPROF_OK)
        return 0;
    scratch.core->time.calibrate_at = UINT64_MAX;        /* not in the middle of this */
    chroprof__clocked_event(&scratch, CHROPROF_PENDING, 1, &site);
    for (int round = 0; round < 5; round++) {
        uint64_t before = chroprof__read_clock(&scratch);
        for (uint32_t k = 0; k < slices; k++) {
            chroprof__clocked_event(&scratch, CHROPROF_RUNNING, 1, NULL);
            chroprof__clocked_event(&scratch, CHROPROF_PAUSED, 1, NULL);
        }
        uint64_t ticks = chroprof__read_clock(&scratch) - before;
        best = ticks < best ? ticks : best;
    }
    return chroprof__scale(best * 1000u, p->core->time.factor) / (2u * slices);
#else
    (void)p;
    return 0;
#endif
}
