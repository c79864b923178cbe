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
 * names in chroprof run; "": any other, which is named. */
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
        { "gil", "waits for the GIL, Python's lock,",
          " Other threads run Python then: move their work to a process." },
        { "", "waits in ", " Use an asynchronous client, or a thread." }
    };
    size_t k = 0;
    while (words[k].call[0] != 0 && (!wait->estimated || strcmp(words[k].call, wait->call) != 0))
        k++;
    return words + k;
}

static void chroprof__tell_wait(chroprof__case *c, const chroprof_task_wait *wait)
{
    const chroprof__wait_words *words = chroprof__words_of(wait);
    chroprof__tell(c, words->fact, NULL);
    chroprof__tell_name(c, words->call[0] == 0 ? wait->call : "", CHROPROF__FINDS_FILE);
}

/* Not by the code that runs: so its samples tell where it is. */
static bool chroprof__is_call(const chroprof__wait_words *words)
{
    return words->call[0] == 0 || strcmp(words->call, "futex") == 0 ||
           strcmp(words->call, "gil") == 0;
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

/* The code that held a stall, if it is known. */
static void chroprof__tell_held(const chroprof__inquiry *q, chroprof__case *c)
{
    const char *held = chroprof__held_code(q, c, q->stall.start_ns);
    chroprof__tell(c, held ? ", mostly in " : "", NULL);
    chroprof__tell_name(c, held ? held : "", CHROPROF__FINDS_CAUSE);
}

/* Who took most of the stall was off its processor, though the code went on. */
static void chroprof__tell_stall_off(const chroprof__inquiry *q, chroprof__case *c,
                                     const chroprof_task_wait *wait)
{
    uint64_t exec_ns = q->stall.shares->exec_ns;
    const uint64_t share[] = { exec_ns, q->stall.length_ns };
    uint64_t off_ns[] = { q->stall.waiting_ns > 0 ? q->stall.waiting_ns : wait->longest_ns };
    chroprof__lower(off_ns, exec_ns);
    chroprof__tell(c, ": ", NULL);
    chroprof__tell_site(c);
    chroprof__tell(c, " took %p of it", share);
    chroprof__tell_held(q, c);
    chroprof__tell(c, ". About %T of it were off CPU: it ", off_ns);
    chroprof__tell_wait(c, wait);
    chroprof__tell(c, ".", NULL);
}

/* Was half of what a site took of a stall such a wait, or more? One was as long; or its tasks did
 * too little else in the whole run. row_ns: what they took of that; 0: not known. */
static bool chroprof__is_most_of(const chroprof_task_wait *wait, uint64_t exec_ns, uint64_t row_ns)
{
    return wait->longest_ns >= exec_ns / 2 ||
           (row_ns > 0 && chroprof__minus(row_ns, wait->total_ns) <= exec_ns / 2);
}

/* Did who took most of the stall wait in a call for most of that? Then this is said of it. */
static bool chroprof__tell_stall_wait(const chroprof__inquiry *q, chroprof__case *c)
{
    const chroprof_stall_share *most = q->stall.shares;
    chroprof_task_wait wait;
    chroprof_rank row;
    uint64_t cursor = 0;
    bool found = false;
    if (most->site == 0 || !chroprof__wait_of(q, most->site, &wait))
        return false;
    while (!found && chroprof_next_rank(q->p, &cursor, &row))
        found = row.id == most->site;
    if (!chroprof__is_most_of(&wait, most->exec_ns, found ? row.exec_ns : 0))
        return false;
    const chroprof__wait_words *words = chroprof__words_of(&wait);
    uint64_t of_ns[] = { wait.total_ns, found ? row.exec_ns : wait.total_ns };
    chroprof__lower(of_ns, of_ns[1]);       /* what came after the last wait is no task */
    if (!chroprof__is_call(words)) {
        chroprof__tell_stall_off(q, c, &wait);
    } else {
        bool within = *wait.within != 0;
        c->name = within ? wait.within : c->name;
        c->file = within ? q->no_text : c->file;
        chroprof__tell(c, ": ", NULL);
        chroprof__tell_site(c);
        chroprof__tell(c, " ", NULL);
        chroprof__tell_wait(c, &wait);
        chroprof__tell(c, within && words->call[0] == 0 ? ", for" : " for", NULL);
        chroprof__tell(c, wait.estimated ? " about %T" : " %T", of_ns);
        chroprof__tell(c, within ? " in all." : " of its %T.", of_ns + 1);
    }
    chroprof__tell_cure(c, words->cure);
    return true;
}

/* The work of a tenth of the whole windows, or of more that are as busy, and their time. False: of
 * too few windows. */
static bool chroprof__busiest_tenth(const chroprof__inquiry *q, uint64_t *tenth)
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
    tenth[0] = 0;
    for (int k = 100; k >= 0 && some * 10 < all; k--) {
        some += count[k];
        tenth[0] += work_ns[k];
    }
    tenth[1] = some * width_ns;
    return all >= 20;
}

/* At which load would a wait no longer be left? Below 60 % there is room for much more. Where the
 * figures can be trusted, and work comes with load: not of a program that hangs or spins, of its
 * start, or of a few iterations. One that is full at times has no room then, whatever its mean. */
static void chroprof__find_saturation(chroprof__inquiry *q)
{
    const chroprof_totals *t = &q->totals;
    uint64_t apart_ns = t->start_ns + t->exit_ns, work_ns = chroprof__minus(q->work, apart_ns);
    uint64_t run_ns = chroprof__minus(t->elapsed_ns, apart_ns);
    uint64_t figures[] = { run_ns / (work_ns / 10 + 1), work_ns, run_ns, 0, 0, work_ns, run_ns };
    uint64_t *tenth = figures + 3;
    uint32_t ppm = chroprof__ppm(work_ns, run_ns);
    bool uneven;
    chroprof__case c = chroprof__case_of(q, CHROPROF_FINDING_SATURATES, CHROPROF__PLACE_SATURATES,
                                         NULL, work_ns);
    c.share_of = run_ns;
    if (ppm < 600000 || work_ns < 1000000000 || t->iterations < 100 ||
        (q->count > 0 && q->keys[0] >> 32 >= CHROPROF__PLACE_SPINS))
        return;
    uneven = chroprof__busiest_tenth(q, tenth) &&
             chroprof__is_part(tenth[0], tenth[1], ppm + 50001);
    if (uneven && chroprof__is_part(tenth[0], tenth[1], 950000))
        chroprof__tell(&c, "The loop is full at times: it was busy for %p of its busiest tenth, "
                           "and for %p of the run", tenth);
    else if (figures[0] > 10)
        chroprof__tell(&c, "The loop has room for at most %f times this load: it was busy for %p "
                           "of the run", figures);
    else
        chroprof__tell(&c, "The loop has next to no room for more load: it was busy for %p of the "
                           "run", figures + 1);
    if (uneven && !chroprof__is_part(tenth[0], tenth[1], 950000))
        chroprof__tell(&c, ", and for %p of its busiest tenth", tenth);
    chroprof__tell(&c, ".", NULL);
    chroprof__report(q, &c);
}
