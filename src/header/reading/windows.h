/* reading/windows.h: exec over time */
#pragma once
#include "../interface/types.h"
#include "../interface/reading.h"
#include "../base/platform.h"
#include "../base/util.h"
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

/* Exec of a site, or loop, idle, untracked, in so many windows from first on, whose ns are so many
 * words apart. It is gathered in ticks. To ns by flooring the running sum, so that nothing is lost
 * from one to the next; and never beyond what all of them have, which was floored in smaller parts.
 * So the sum over all windows is the exec that is shown. */
static void chroprof__read_site_windows(const chroprof *p, uint32_t site, uint32_t first,
                                        uint32_t count, uint64_t *ns, size_t apart)
{
    chroprof__part part;
    uint64_t ticks = 0, most = 0;
    for (uint32_t k = 0; k < count; k++)
        ns[k * apart] = 0;
    memset(&part, 0, sizeof(part));
    while (chroprof__next_part(p, site, &part)) {
        if (part.window < first)
            ticks += part.ticks;
        else if (part.window - first < count)
            ns[(part.window - first) * apart] += part.ticks;
        if (part.next > p->core->tables[CHROPROF_TABLE_WINDOWS].capacity)
            most += chroprof__ns(p->core, p->paths[part.path].exec);
    }
    uint64_t shown = chroprof__between(chroprof__ns(p->core, ticks), 0, most);  /* before them */
    for (uint32_t k = 0; k < count; k++) {
        ticks += ns[k * apart];
        uint64_t sum = chroprof__between(chroprof__ns(p->core, ticks), 0, most);
        ns[k * apart] = sum - shown;
        shown = sum;
    }
}

/* Profile time at which a window begins. */
static uint64_t chroprof__window_start(const chroprof__core *c, uint64_t index)
{
    return index ? index * c->window_ticks - c->window_phase : 0;
}

CHROPROF__COLD_API size_t chroprof_windows_from(const chroprof *p, uint32_t first,
                                                chroprof_window *out, size_t capacity)
{
    if (!chroprof__can_read(p) || first >= chroprof__window_count(p))
        return 0;
    const chroprof__core *c = p->core;
    uint32_t count = chroprof__window_count(p) - first;
    uint32_t rows = !out ? 0 : capacity < count ? (uint32_t)capacity : count;
    if (rows == 0)
        return count;
    memset(out, 0, rows * sizeof(*out));
    for (uint32_t site = 0; site < chroprof__site_count(p); site++) {
        if (site >= CHROPROF__OTHER && !chroprof__site_used(p, site))
            continue;
        chroprof__read_site_windows(p, site, first, rows, chroprof__field(out, 0),
                                    sizeof(*out) / sizeof(uint64_t));
        for (uint32_t k = 0; k < rows; k++) {
            uint64_t ns = out[k].start_ns;  /* of the site, until all are added up */
            out[k].idle_ns += site == CHROPROF__IDLE ? ns : 0;
            out[k].uninstrumented_ns += site == CHROPROF__LOOP ? ns : 0;
            out[k].busy_ns += site >= CHROPROF__UNTRACKED ? ns : 0;
            out[k].untracked_ns += site == CHROPROF__UNTRACKED ? ns : 0;
        }
    }
    for (uint32_t k = 0; k < rows; k++) {
        bool under_way = first + k == (c->window & 0xFFFF);
        uint64_t end = under_way ? c->last : chroprof__window_start(c, first + k + 1u);
        out[k].start_ns = chroprof__moment_ns(p, chroprof__window_start(c, first + k));
        out[k].end_ns = chroprof__moment_ns(p, end);
    }
    return count;
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
    uint32_t count = chroprof__window_count(p) - first;
    if (exec_ns)
        chroprof__read_site_windows(p, site, first, capacity < count ? (uint32_t)capacity : count,
                                    exec_ns, 1);
    return count;
}

CHROPROF__COLD_API size_t chroprof_site_windows(const chroprof *p, uint32_t site, uint64_t *exec_ns,
                                                size_t capacity)
{
    return chroprof_site_windows_from(p, site, 0, exec_ns, capacity);
}
