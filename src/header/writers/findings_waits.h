/* writers/findings_waits.h: what tasks waited for, and the code that held the loop */
#pragma once
#include "../interface/types.h"
#include "../interface/reading.h"
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
