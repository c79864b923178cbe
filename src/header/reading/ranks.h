/* reading/ranks.h: sites, and their order */
#pragma once
#include "../interface/kinds.h"
#include "../interface/types.h"
#include "../interface/reading.h"
#include "../base/platform.h"
#include "../base/util.h"
#include "../block/rows.h"
#include "../block/core.h"
#include "../block/layout.h"
#include "../block/histogram.h"
#include "../event/open.h"
#include "../reading/figures.h"
#include "../reading/paths.h"

/* The value below which permille of the entries lie (nearest rank), in ns; max is the largest of
 * them, in ticks. */
static uint64_t chroprof__percentile_ns(const chroprof *p, const chroprof__histogram *h,
                                        uint64_t max, uint64_t permille)
{
    uint64_t total = chroprof__histogram_total(p, h);
    uint64_t rank = total / 1000 * permille + (total % 1000 * permille + 999) / 1000;
    uint32_t k = 0;
    if (total == 0)
        return 0;
    for (uint64_t seen = chroprof__bucket_count(p, h, 0); seen < rank;)
        seen += chroprof__bucket_count(p, h, ++k);  /* the last one makes it the total */
    uint64_t value = k < CHROPROF__BUCKETS - 1 ? chroprof__bucket_value(k) : max;
    return chroprof__ns(p->core, chroprof__between(value, *chroprof__least_of(p, h), max));
}

/* The largest slice and delay of a site, in ticks. */
static void chroprof__site_maxima(const chroprof *p, uint32_t first, uint64_t *slice,
                                  uint64_t *delay)
{
    *slice = *delay = 0;
    for (uint32_t k = first; k; k = p->paths[k].same_site) {
        chroprof__raise(slice, p->paths[k].slice_max);
        chroprof__raise(delay, p->paths[k].delay_max);
    }
}

/* Least and most that sums of slices can be. */
typedef struct chroprof__bounds {
    uint64_t low, high;
} chroprof__bounds;

static void chroprof__add_bounds(chroprof__bounds *b, uint64_t count, uint64_t low, uint64_t high)
{
    b->low += count * low;
    b->high += count * high;
}

/* Exec of a site's slices that are over; 0: not all of these are in its histogram. */
static uint64_t chroprof__measured_ns(const chroprof *p, const chroprof_rank *r)
{
    uint64_t ticks = 0, slices = r->slices;
    for (uint32_t k = 1; k <= p->core->depth; k++) {
        const chroprof__frame_row *frame = p->frames + k;
        if (frame->kind & CHROPROF__BARRIER || p->paths[frame->path].site != r->id)
            continue;
        ticks += chroprof__frame_slice(p, k);
        slices--;
    }
    return r->measured == slices ? chroprof__minus(r->exec_ns, chroprof__ns(p->core, ticks)) : 0;
}

/* The middle of what the sum of the shortest can be: by their buckets, and by what the longest
 * leave of the exec. */
static uint64_t chroprof__likely(const chroprof__bounds *shortest, const chroprof__bounds *longest,
                                 uint64_t exec_ns)
{
    uint64_t low = chroprof__minus(exec_ns, longest->high), high = shortest->high;
    chroprof__raise(&low, shortest->low);
    chroprof__lower(&high, chroprof__minus(exec_ns, longest->low));
    if (exec_ns == 0 || low > high) {
        low = shortest->low;
        high = shortest->high;
    }
    return low + (high - low) / 2;
}

/* The mean of the shortest three quarters of a site's slices; most: the longest slice, in ticks. No
 * bucket is wider than an eighth, so the middle of what it can be is no further off than half of
 * that. */
static uint64_t chroprof__typical_ns(const chroprof *p, const chroprof__histogram *h,
                                     const chroprof_rank *r, uint64_t most)
{
    uint64_t kept = r->measured - r->measured / 4, left = kept, least = *chroprof__least_of(p, h);
    chroprof__bounds shortest = { 0, 0 }, longest = { 0, 0 };
    if (kept == 0)
        return 0;
    for (uint32_t k = 0; k < CHROPROF__BUCKETS; k++) {
        uint64_t count = chroprof__bucket_count(p, h, k), inside = count < left ? count : left;
        uint64_t low = chroprof__bucket_begin(k), high = most;
        chroprof__raise(&low, least);
        if (k < CHROPROF__BUCKETS - 1)
            chroprof__lower(&high, chroprof__bucket_begin(k + 1) - 1);
        low = chroprof__ns(p->core, low);
        high = chroprof__ns(p->core, high);
        chroprof__add_bounds(&shortest, inside, low, high);
        chroprof__add_bounds(&longest, count - inside, low, high);
        left -= inside;
    }
    return chroprof__likely(&shortest, &longest, chroprof__measured_ns(p, r)) / kept;
}

/* What a site's histograms tell; its sums are there. */
static void chroprof__read_percentiles(const chroprof *p, uint32_t first, chroprof_rank *out)
{
    const chroprof__histograms *h = p->histograms + p->paths[first].histogram;
    uint64_t slice, delay;
    chroprof__site_maxima(p, first, &slice, &delay);
    out->has_percentiles = true;
    out->measured = chroprof__histogram_total(p, &h->slice);
    if (out->measured)
        out->slice_min_ns = chroprof__ns(p->core, *chroprof__least_of(p, &h->slice));
    out->slice_p1_ns = chroprof__percentile_ns(p, &h->slice, slice, 10);
    out->slice_p50_ns = chroprof__percentile_ns(p, &h->slice, slice, 500);
    out->slice_p90_ns = chroprof__percentile_ns(p, &h->slice, slice, 900);
    out->slice_p99_ns = chroprof__percentile_ns(p, &h->slice, slice, 990);
    out->slice_p999_ns = chroprof__percentile_ns(p, &h->slice, slice, 999);
    out->delay_p99_ns = chroprof__percentile_ns(p, &h->delay, delay, 990);
    out->latency_p50_ns = chroprof__percentile_ns(p, &h->latency, h->latency_max, 500);
    out->latency_p99_ns = chroprof__percentile_ns(p, &h->latency, h->latency_max, 990);
    out->latency_max_ns = chroprof__ns(p->core, h->latency_max);
    out->slice_typical_ns = chroprof__typical_ns(p, &h->slice, out, slice);
}

CHROPROF__COLD_API bool chroprof_read_rank(const chroprof *p, uint32_t site, chroprof_rank *out)
{
    chroprof_path path;
    memset(out, 0, sizeof(*out));
    out->name = out->file = "";
    if (!chroprof__site_used(p, site))
        return false;
    uint32_t first = chroprof__sites(p->core)[site].first_path;
    const chroprof__figure *f = chroprof__path_figures, *end = f + sizeof chroprof__path_figures /
                                                                   sizeof *chroprof__path_figures;
    chroprof__read_site_name(p, site, &out->name, &out->file, &out->line);
    out->id = site;
    for (uint32_t k = first; k; k = p->paths[k].same_site) {
        (void)chroprof_read_path(p, k, &path);
        for (f = chroprof__path_figures; f < end; f++)
            if (f->at != CHROPROF__NOT_THERE)
                chroprof__add(f, chroprof__field(out, f->rank), *chroprof__field(&path, f->at));
    }
    if (p->paths[first].histogram)
        chroprof__read_percentiles(p, first, out);
    out->children_ns = out->with_children_ns - out->exec_ns;
    out->waiting_ns = chroprof__minus(out->lifetime_ns, out->exec_ns + out->delay_ns);
    return true;
}

CHROPROF__COLD_API bool chroprof_next_site(const chroprof *p, uint64_t *cursor,
                                           chroprof_site_row *out)
{
    uint64_t end = chroprof__can_read(p) ? chroprof__site_count(p) : 0;
    while (*cursor < end) {
        out->id = (uint32_t)(*cursor)++;
        out->cut = chroprof__sites(p->core)[out->id].cut != 0;
        chroprof__read_site_name(p, out->id, &out->name, &out->file, &out->line);
        if (chroprof__site_used(p, out->id))
            return true;
    }
    return false;
}

CHROPROF__COLD_API bool chroprof_slice_counts(const chroprof *p, uint32_t site,
                                              const uint64_t *bounds_ns, size_t count,
                                              uint64_t *slices)
{
    uint64_t sum = 0;
    uint32_t bucket = 0;
    if (!chroprof__site_used(p, site))
        return false;
    uint32_t row = p->paths[chroprof__sites(p->core)[site].first_path].histogram;
    if (row == 0 || p->histograms[row].missed != 0)
        return false;
    for (size_t k = 0; k < count; k++) {
        for (; bucket < CHROPROF__BUCKETS &&
               chroprof__ns(p->core, chroprof__bucket_value(bucket)) <= bounds_ns[k]; bucket++)
            sum += chroprof__bucket_count(p, &p->histograms[row].slice, bucket);
        slices[k] = sum;
    }
    return true;
}

CHROPROF__COLD_API bool chroprof_next_rank(const chroprof *p, uint64_t *cursor, chroprof_rank *out)
{
    chroprof_site_row site;
    return chroprof_next_site(p, cursor, &site) && chroprof_read_rank(p, site.id, out);
}

/* Does a come before b? A total order: no two sites have the same content, but for cut names. */
static bool chroprof__before(const chroprof_rank *a, const chroprof_rank *b, chroprof_order by)
{
    uint16_t at = chroprof__order_at(by);
    uint64_t key_a = *chroprof__field(a, at), key_b = *chroprof__field(b, at);
    int name = strcmp(a->name, b->name), file = strcmp(a->file, b->file);
    if (key_a != key_b)
        return key_a > key_b;
    if (a->exec_ns != b->exec_ns)
        return a->exec_ns > b->exec_ns;
    if (name != 0)
        return name < 0;
    if (file != 0)
        return file < 0;
    return a->line != b->line ? a->line < b->line : a->id < b->id;
}

/* Moves the row at k up among those that are so far apart, which are in order. */
static void chroprof__raise_rank(chroprof_rank *rows, size_t k, size_t gap, chroprof_order by)
{
    chroprof_rank row = rows[k];
    for (; k >= gap && chroprof__before(&row, rows + k - gap, by); k -= gap)
        rows[k] = rows[k - gap];
    rows[k] = row;
}

/* Shell's sort (1959), each gap 5/11 of the one before. */
static void chroprof__sort_ranks(chroprof_rank *rows, size_t count, chroprof_order by)
{
    for (size_t gap = count; gap > 1;) {
        gap = gap < 5 ? 1 : gap / 11 * 5 + gap % 11 * 5 / 11;
        for (size_t k = gap; k < count; k++)
            chroprof__raise_rank(rows, k, gap, by);
    }
}

/* Once there is no room for more, those that come first so far are in order. */
CHROPROF__COLD_API size_t chroprof_ranks(const chroprof *p, chroprof_rank *out, size_t capacity,
                                         chroprof_order by)
{
    size_t count = 0, room = out ? capacity : 0;
    uint64_t cursor = 0;
    chroprof_site_row site;
    chroprof_rank rank;
    for (; chroprof_next_site(p, &cursor, &site); count++) {
        if (room == 0)
            continue;
        if (count == room)
            chroprof__sort_ranks(out, room, by);
        (void)chroprof_read_rank(p, site.id, &rank);
        bool place = count < room || chroprof__before(&rank, out + room - 1, by);
        if (place)
            out[count < room ? count : room - 1] = rank;
        if (place && count >= room)
            chroprof__raise_rank(out, room - 1, 1, by);
    }
    chroprof__sort_ranks(out, count <= room ? count : 0, by);
    return count;
}
