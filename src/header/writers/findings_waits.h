/* writers/findings_waits.h: what tasks waited for, and the code that held the loop */
#pragma once
#include "../interface/types.h"
#include "../interface/reading.h"
#include "../base/util.h"
#include "../block/rows.h"
#include "../writers/phrases.h"

/* Does a site only tell which wait came before? */
static bool chroprof__is_after_wait(const char *name)
{
    return strncmp(name, "code after ", 11) == 0;
}

/* In place of such a site the code that held the loop, if it took as much of that as this; its
 * part. 0: it is not known. */
static uint32_t chroprof__name_case(const chroprof__inquiry *q, chroprof__case *c, uint64_t at_ns,
                                    uint32_t least_ppm)
{
    uint32_t ppm = 0;
    const char *code = chroprof__is_after_wait(c->name)
                           ? chroprof_held_by(q->p, c->kind, at_ns, &ppm) : "";
    if (*code == 0 || ppm < least_ppm)
        return 0;
    c->name = code;
    c->file = "";
    return ppm;
}

/* The code that held the loop for most of it, where a site only tells which wait came before. NULL:
 * it is not known. */
static const char *chroprof__held_code(const chroprof__inquiry *q, const chroprof__case *c,
                                       uint64_t at_ns)
{
    chroprof__case named = *c;
    return chroprof__name_case(q, &named, at_ns, 500000) ? named.name : NULL;
}

/* What a task waits for, where somebody saw that from outside, and what to do. The calls have these
 * names in chroprof run. */
typedef struct chroprof__wait_words {
    char call[16], fact[44], cure[68];
} chroprof__wait_words;

static const chroprof__wait_words *chroprof__words_of(const chroprof_task_wait *wait)
{
    static const chroprof__wait_words words[] = {
        { "processor", "waits for a processor", " Look for other programs on its processor." },
        { "quota", "is held back by its CPU quota",
          " Raise the quota of its cgroup, or use less CPU time." },
        { "page faults", "waits for pages from a disk",
          " Read such files elsewhere, or give it more memory." },
        { "stopped", "was stopped by a signal", " See who sends it SIGSTOP or debugs it." },
        { "futex", "waits for another thread, or its lock,",
          " See who holds the lock, or do this in a thread." },
        { "", "waits in %n", " Use an asynchronous client, or a thread." }
    };
    size_t k = 0;
    while (words[k].call[0] != 0 && (!wait->estimated || strcmp(words[k].call, wait->call) != 0))
        k++;
    return words + k;
}

/* Not by the code that runs: so its samples tell where it is. */
static bool chroprof__is_call(const chroprof__wait_words *words)
{
    return words->call[0] == 0 || strcmp(words->call, "futex") == 0;
}

/* The wait that a site's tasks were in most. False: none is known. */
static bool chroprof__wait_of(const chroprof__inquiry *q, uint32_t site, chroprof_task_wait *out)
{
    chroprof_task_wait rows[CHROPROF__WAITED];
    size_t count = chroprof_task_waits(q->p, rows, CHROPROF__WAITED);
    for (size_t k = 0; k < count; k++) {
        if (rows[k].site == site) {
            *out = rows[k];
            return true;
        }
    }
    return false;
}

/* Did who took most of the stall wait in a call for most of that? Then this is said of it. */
static const char *chroprof__waiting_cure(const chroprof__inquiry *q, chroprof__case *c)
{
    const chroprof_stall_share *most = q->stall.shares;
    chroprof_task_wait wait;
    chroprof_rank row;
    uint64_t cursor = 0;
    bool found = false;
    if (most->site == 0 || !chroprof__wait_of(q, most->site, &wait) ||
        wait.longest_ns < most->exec_ns / 2)
        return NULL;
    while (!found && chroprof_next_rank(q->p, &cursor, &row))
        found = row.id == most->site;
    const chroprof__wait_words *words = chroprof__words_of(&wait);
    c->other = wait.call;
    c->fact = words->fact;
    c->cure = words->cure;
    c->n[3] = wait.total_ns;
    c->n[4] = found ? row.exec_ns : wait.total_ns;
    chroprof__lower(c->n + 3, c->n[4]);     /* what came after the last wait is no task */
    if (!chroprof__is_call(words)) {
        c->held = chroprof__held_code(q, c, q->stall.start_ns);
        c->n[3] = most->exec_ns;
        c->n[4] = wait.longest_ns < most->exec_ns ? wait.longest_ns : most->exec_ns;
        return ": %s took %p30 of it%h. About %T4 of it were off CPU: it %f.%u";
    }
    if (wait.estimated)
        return ": %s %f for about %T3 of its %T4.%u";
    if (*wait.within == 0)
        return ": %s %f for %T3 of its %T4.%u";
    c->name = wait.within;
    c->file = "";
    return ": %s %f, for %T3 in all.%u";
}

/* What a tenth of the whole windows had to do, those with most, n[3] of n[4]. False: there are too
 * few windows, or all are much alike. */
static bool chroprof__busiest_tenth(const chroprof__inquiry *q, chroprof__case *c)
{
    uint32_t count[101];
    uint64_t work_ns[101], width_ns = 0, some = 0, all = chroprof_windows(q->p, NULL, 0);
    chroprof_windows_cursor cursor;
    chroprof_window w;
    memset(count, 0, sizeof(count));
    memset(work_ns, 0, sizeof(work_ns));
    memset(&cursor, 0, sizeof(cursor));
    all -= all > 0;                         /* the last one is not whole */
    for (uint64_t k = 0; k < all && chroprof_next_windows(q->p, &cursor, &w, 1); k++) {
        uint64_t ns = chroprof__minus(w.end_ns - w.start_ns, w.idle_ns);
        width_ns = w.end_ns - w.start_ns;
        count[chroprof__ppm(ns, width_ns) / 10000 % 101]++;
        work_ns[chroprof__ppm(ns, width_ns) / 10000 % 101] += ns;
    }
    c->n[3] = 0;
    for (int k = 100; k >= 0 && some * 10 < all; k--) {
        some += count[k];
        c->n[3] += work_ns[k];
    }
    c->n[4] = some * width_ns;
    return all >= 20 && some * 5 <= all &&
           chroprof__ppm(c->n[3], c->n[4]) > chroprof__ppm(c->n[0], c->n[1]) + 50000;
}

/* At which load would a wait no longer be left? Where the figures can be trusted, and work comes
 * with load: not of a program that hangs or spins, of its start, or of a few iterations. */
static void chroprof__find_saturation(chroprof__inquiry *q)
{
    const chroprof_totals *t = &q->totals;
    uint64_t apart_ns = t->start_ns + t->exit_ns;
    chroprof__case c = chroprof__case_of(q, CHROPROF_FINDING_SATURATES, NULL,
                                         chroprof__minus(q->work, apart_ns));
    c.share_of = c.n[1] = chroprof__minus(t->elapsed_ns, apart_ns);
    c.count = t->iterations;
    if (c.n[0] == 0 || (q->count > 0 && q->keys[0] >> 32 >= 70))
        return;
    c.n[2] = c.n[1] / (c.n[0] / 10 + 1);
    bool tenth = chroprof__busiest_tenth(q, &c);
    chroprof__report(q, &c, c.n[2] > 10
                         ? "The loop has room for at most %x2 times this load: it was busy for "
                           "%p01 of the run"
                         : "The loop has next to no room for more load: it was busy for %p01 of "
                           "the run",
                     tenth ? ", and for %p34 of its busiest tenth" : NULL, ".");
}
