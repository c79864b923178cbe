/* writers/text_slowest.h: the slowest futures */
#pragma once
#include "../interface/types.h"
#include "../interface/reading.h"
#include "../base/platform.h"
#include "../base/util.h"
#include "../writers/text.h"
#include "../writers/text_stalls.h"

/* >>text slowest */

enum { CHROPROF__TEXT_SLOW = 8, CHROPROF__TEXT_SLOW_OF_SITE = 3 };

/* Who ran while it was ready. */
static void chroprof__slow_blames(chroprof__page *g, const chroprof_slow *s)
{
    chroprof__show(g, "         delayed by ");
    for (const chroprof_slow_blame *x = s->blames; x < s->blames + s->blame_count; x++)
        chroprof__show_taker(g, x > s->blames ? "," : "", 9, x->site, x->name, x->delay_ns,
                             s->latency_ns);
    chroprof__newline(g);
}

static void chroprof__slow_row(chroprof__page *g, const chroprof_slow *s)
{
    const uint64_t all = s->latency_ns;
    const uint64_t parts[] = { s->exec_ns, all, s->children_ns, all, s->delay_ns, all,
                               s->waiting_ns, all, s->unseen_ns, all };
    chroprof__print(g, CHROPROF__BOLD "%7t" CHROPROF__PLAIN, &all);
    chroprof__print(g, g->width >= 72 ? "  %9m" : "", &s->at_ns);
    chroprof__print(g, "  %4w  %5w  %5w  %4w  %6w  ", parts);
    chroprof__show_name(g, s->name, chroprof__room(g, 0));
    chroprof__newline(g);
}

/* Not too many of one site. */
CHROPROF__NOINLINE void chroprof__text_slowest(chroprof__page *g)
{
    static const chroprof__largest by =
        CHROPROF__LARGEST(CHROPROF__TEXT_SLOW, chroprof_slow, latency_ns);
    chroprof_slow picked[CHROPROF__TEXT_SLOW], slow;
    uint64_t cursor = 0;
    uint32_t count = 0, site = 0, of_site = 0;
    while (chroprof_next_slowest(g->p, &cursor, &slow)) {
        of_site = slow.site == site ? of_site + 1 : 1;
        site = slow.site;
        if (of_site <= CHROPROF__TEXT_SLOW_OF_SITE)
            count = chroprof__keep_largest(&by, picked, count, &slow);
    }
    if (count == 0)
        return;
    chroprof__print(g, CHROPROF__HEADING("SLOWEST")
                    "finished futures, and the shares of their latency\n", NULL);
    chroprof__print(g, g->width >= 72
                    ? CHROPROF__DIM "latency         at  exec  above  delay  wait  unseen  site\n"
                    : CHROPROF__DIM "latency  exec  above  delay  wait  unseen  site\n", NULL);
    for (uint32_t i = 0; i < count; i++) {
        chroprof__slow_row(g, &picked[i]);
        if (picked[i].blame_count > 0 && picked[i].delay_ns >= picked[i].latency_ns / 100)
            chroprof__slow_blames(g, &picked[i]);
    }
}
