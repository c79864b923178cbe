/* reading/windows.h: exec over time */
#pragma once
#include "../interface/kinds.h"
#include "../interface/types.h"
#include "../interface/reading.h"
#include "../base/platform.h"
#include "../block/rows.h"
#include "../block/core.h"
#include "../block/layout.h"
#include "../block/windows.h"
#include "../reading/figures.h"
#include "../reading/paths.h"
#include "../reading/futures.h"

static uint32_t chroprof__window_count(const chroprof *p)
{
    return (p->core->window & 0xFFFF) + 1;
}

/* A walk over the exec of a site, or loop, idle, untracked, by windows: first what its cells hold,
 * then what each of its paths still holds back. */
typedef struct chroprof__part {
    uint32_t next;             /* cell; beyond the last one the paths are walked */
    uint32_t path;             /* whose exec this is, once they are */
    uint32_t window;
    uint64_t ticks;
} chroprof__part;

static bool chroprof__next_part(const chroprof *p, uint32_t site, chroprof__part *part)
{
    const chroprof__core *c = p->core;
    const uint64_t *cells = chroprof__cells(c, site);
    uint32_t capacity = c->tables[CHROPROF_TABLE_WINDOWS].capacity;
    while (part->next < capacity) {
        uint32_t k = part->next++;
        part->ticks = cells[1 + k];
        part->window = chroprof__tag_index(c, (uint32_t)cells[0] << 16 | k);
        if (part->ticks)
            return true;
    }
    bool own = site < CHROPROF__OTHER, begun = part->next > capacity;
    if (own && begun)
        return false;
    part->path = begun ? p->paths[part->path].same_site
                       : own ? site : chroprof__sites(c)[site].first_path;
    part->next = capacity + 1;
    part->ticks = p->paths[part->path].exec - p->paths[part->path].mark;
    part->window = chroprof__tag_index(c, p->paths[part->path].window);
    return own || part->path != 0;
}

/* A cursor keeps what has been read so far of those that own a window's time (loop, idle,
 * untracked, all sites together; of one site the first) in ticks. It goes to ns by flooring the
 * running sum, so that nothing is lost from one window to the next; and never beyond what all of
 * them have, which was floored in smaller parts. So the sum over all windows is the exec that is
 * shown. */
enum { CHROPROF__OF_TASKS = 3 };

static uint32_t chroprof__owner_of(uint32_t site)
{
    return site < CHROPROF__OF_TASKS ? site : (uint32_t)CHROPROF__OF_TASKS;
}

/* Which of a site's cells hold windows [first, first + count) at the present level. */
static uint32_t chroprof__first_cell(const chroprof__core *c, const uint64_t *cells, uint64_t first)
{
    uint64_t capacity = c->tables[CHROPROF_TABLE_WINDOWS].capacity;
    uint32_t shift = chroprof__tag_level(c->window) - (uint32_t)cells[0];
    uint64_t cell = shift < 16 ? first << shift : first ? capacity : 0;
    return (uint32_t)(cell < capacity ? cell : capacity);
}

/* Adds the ticks of a site, or loop, idle, untracked, in so many windows to words that are so far
 * apart. */
static void chroprof__add_site_ticks(const chroprof *p, uint32_t site, uint32_t first,
                                     uint32_t count, uint64_t *ticks, size_t apart)
{
    const chroprof__core *c = p->core;
    const uint64_t *cells = chroprof__cells(c, site);
    uint32_t k = chroprof__first_cell(c, cells, first);
    uint32_t end = chroprof__first_cell(c, cells, (uint64_t)first + count);
    for (; k < end; k++)
        ticks[(chroprof__tag_index(c, (uint32_t)cells[0] << 16 | k) - first) * apart] +=
            cells[1 + k];
    for (k = site < CHROPROF__OTHER ? site : chroprof__sites(c)[site].first_path;
         k || site == CHROPROF__LOOP; k = p->paths[k].same_site) {
        uint32_t window = chroprof__tag_index(c, p->paths[k].window);
        if (window >= first && window - first < count)
            ticks[(window - first) * apart] += p->paths[k].exec - p->paths[k].mark;
        if (site < CHROPROF__OTHER)
            break;
    }
}

/* What all windows of a site have, in ns. */
static uint64_t chroprof__most_ns(const chroprof *p, uint32_t site)
{
    if (site < CHROPROF__OTHER)
        return chroprof__ns(p->core, p->paths[site].exec);
    uint64_t most = 0;
    for (uint32_t k = chroprof__sites(p->core)[site].first_path; k; k = p->paths[k].same_site)
        most += chroprof__ns(p->core, p->paths[k].exec);
    return most;
}

/* Ticks of a window become what is shown of it. */
static uint64_t chroprof__shown_ns(const chroprof *p, chroprof_windows_cursor *cursor, uint32_t k,
                                   uint64_t ticks)
{
    cursor->ticks[k] += ticks;
    uint64_t sum = chroprof__between(chroprof__ns(p->core, cursor->ticks[k]), 0, cursor->most[k]);
    uint64_t ns = sum - cursor->shown[k];
    cursor->shown[k] = sum;
    return ns;
}

CHROPROF__COLD_API size_t chroprof_next_site_windows(const chroprof *p, uint32_t site,
                                                     chroprof_windows_cursor *cursor,
                                                     uint64_t *exec_ns, size_t capacity)
{
    uint32_t all = chroprof__can_read(p) && site < chroprof__site_count(p)
        ? chroprof__window_count(p) : 0;
    if (cursor->next >= all)
        return 0;
    uint32_t left = all - cursor->next, count = capacity < left ? (uint32_t)capacity : left;
    if (!cursor->begun)
        cursor->most[0] = chroprof__most_ns(p, site);
    cursor->begun = true;
    if (count)
        memset(exec_ns, 0, count * sizeof(*exec_ns));
    chroprof__add_site_ticks(p, site, cursor->next, count, exec_ns, 1);
    for (uint32_t k = 0; k < count; k++)
        exec_ns[k] = chroprof__shown_ns(p, cursor, 0, exec_ns[k]);
    cursor->next += count;
    return left;
}

/* Profile time at which a window begins. */
static uint64_t chroprof__window_start(const chroprof__core *c, uint64_t index)
{
    return index ? index * c->windows.ticks - c->made.window_phase : 0;
}

enum { CHROPROF__SKIPPED_AT_ONCE = 16 };

static size_t chroprof__at_once(uint32_t count)
{
    return count < CHROPROF__SKIPPED_AT_ONCE ? count : (uint32_t)CHROPROF__SKIPPED_AT_ONCE;
}

static uint64_t chroprof__window_start_ns(const chroprof *p, uint32_t index)
{
    return chroprof__moment_ns(p, chroprof__window_start(p->core, index));
}

/* What all windows have, in ns. */
static void chroprof__begin_windows(const chroprof *p, chroprof_windows_cursor *cursor)
{
    cursor->begun = true;
    for (uint32_t site = 0; site < chroprof__site_count(p); site++)
        cursor->most[chroprof__owner_of(site)] += chroprof__most_ns(p, site);
}

/* From the ticks of a row to what is shown. */
static void chroprof__end_window(const chroprof *p, chroprof_windows_cursor *cursor,
                                 chroprof_window *row)
{
    uint32_t number = cursor->next++;
    bool under_way = number == (p->core->window & 0xFFFF);
    row->uninstrumented_ns =
        chroprof__shown_ns(p, cursor, CHROPROF__LOOP, row->uninstrumented_ns);
    row->idle_ns = chroprof__shown_ns(p, cursor, CHROPROF__IDLE, row->idle_ns);
    row->untracked_ns = chroprof__shown_ns(p, cursor, CHROPROF__UNTRACKED, row->untracked_ns);
    row->busy_ns = chroprof__shown_ns(p, cursor, CHROPROF__OF_TASKS, row->busy_ns) +
                   row->untracked_ns;
    row->start_ns = chroprof__window_start_ns(p, number);
    row->end_ns = under_way ? chroprof__moment_ns(p, p->core->last)
                            : chroprof__window_start_ns(p, number + 1u);
}

CHROPROF__COLD_API size_t chroprof_next_windows(const chroprof *p, chroprof_windows_cursor *cursor,
                                                chroprof_window *out, size_t capacity)
{
    uint32_t all = chroprof__can_read(p) ? chroprof__window_count(p) : 0;
    if (cursor->next >= all)
        return 0;
    uint32_t left = all - cursor->next, rows = capacity < left ? (uint32_t)capacity : left;
    if (!cursor->begun)
        chroprof__begin_windows(p, cursor);
    if (rows)
        memset(out, 0, rows * sizeof(*out));
    for (uint32_t site = 0; rows && site < chroprof__site_count(p); site++) {
        uint64_t *const ticks[] = { &out->uninstrumented_ns, &out->idle_ns, &out->untracked_ns,
                                    &out->busy_ns };
        if (site < CHROPROF__OTHER || chroprof__site_used(p, site))
            chroprof__add_site_ticks(p, site, cursor->next, rows,
                                     ticks[chroprof__owner_of(site)],
                                     sizeof(*out) / sizeof(uint64_t));
    }
    for (uint32_t k = 0; k < rows; k++)
        chroprof__end_window(p, cursor, out + k);
    return left;
}

/* What comes before the first is read as well, for the sums up to there. */
CHROPROF__COLD_API size_t chroprof_windows_from(const chroprof *p, uint32_t first,
                                                chroprof_window *out, size_t capacity)
{
    chroprof_windows_cursor cursor;
    chroprof_window before[CHROPROF__SKIPPED_AT_ONCE];
    if (!chroprof__can_read(p) || first >= chroprof__window_count(p))
        return 0;
    memset(&cursor, 0, sizeof(cursor));
    while (out && capacity && cursor.next < first)
        (void)chroprof_next_windows(p, &cursor, before, chroprof__at_once(first - cursor.next));
    if (out && capacity)
        (void)chroprof_next_windows(p, &cursor, out, capacity);
    return chroprof__window_count(p) - first;
}

CHROPROF__COLD_API size_t chroprof_windows(const chroprof *p, chroprof_window *out, size_t capacity)
{
    return chroprof_windows_from(p, 0, out, capacity);
}

CHROPROF__COLD_API size_t chroprof_site_windows_from(const chroprof *p, uint32_t site,
                                                     uint32_t first, uint64_t *exec_ns,
                                                     size_t capacity)
{
    if (!chroprof__can_read(p) || site >= chroprof__site_count(p) ||
        first >= chroprof__window_count(p))
        return 0;
    chroprof_windows_cursor cursor;
    uint64_t before[CHROPROF__SKIPPED_AT_ONCE];
    memset(&cursor, 0, sizeof(cursor));
    while (exec_ns && capacity && cursor.next < first)
        (void)chroprof_next_site_windows(p, site, &cursor, before,
                                         chroprof__at_once(first - cursor.next));
    if (exec_ns && capacity)
        (void)chroprof_next_site_windows(p, site, &cursor, exec_ns, capacity);
    return chroprof__window_count(p) - first;
}

CHROPROF__COLD_API size_t chroprof_site_windows(const chroprof *p, uint32_t site, uint64_t *exec_ns,
                                                size_t capacity)
{
    return chroprof_site_windows_from(p, site, 0, exec_ns, capacity);
}
