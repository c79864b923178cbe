/* difference.c - see difference.h */

#include "difference.h"

#include <stdlib.h>
#include <string.h>

#include "hash.h"
#include "message.h"
#include "numbers.h"
#include "sheet.h"

/* >>difference rows */

/* >>difference reading */

static bool read_diff_row(void *user, json_reader *r)
{
    diff_table *table = (diff_table *)user;
    diff_row *row = &table->rows[table->count++];
    diff_side *side = &row->side[0];
    json_text name = { "", 0 };
    json_text file = { "", 0 };
    json_text percentiles = { "", 0 };
    uint64_t typical = 0;
    const json_field fields[] = {
        JSON_TEXT("name", &name), JSON_TEXT("file", &file), JSON_NUMBER("line", &row->line),
        JSON_NUMBER("id", &row->id), JSON_NUMBER("parent", &row->parent_id),
        JSON_NUMBER("site", &row->site_id),
        JSON_NUMBER("exec_ns", &side->exec_ns), JSON_NUMBER("slices", &side->slices),
        JSON_NUMBER("calls", &side->calls), JSON_NUMBER("live", &side->live),
        JSON_NUMBER("blame_ns", &side->blame_ns), JSON_NUMBER("delay_ns", &side->delay_ns),
        JSON_VALUE("has_percentiles", &percentiles), JSON_NUMBER("slice_p50_ns", &side->p50_ns),
        JSON_NUMBER("slice_p90_ns", &side->p90_ns), JSON_NUMBER("slice_p99_ns", &side->p99_ns),
        JSON_NUMBER("slice_max_ns", &side->max_ns),
        JSON_NUMBER("latency_p50_ns", &side->latency_p50_ns),
        JSON_NUMBER("latency_p99_ns", &side->latency_p99_ns),
        JSON_NUMBER("slice_typical_ns", &typical), JSON_NUMBER("slice_min_ns", &side->min_ns),
        JSON_NUMBER("slice_p1_ns", &side->p1_ns)
    };
    if (!JSON_FIELDS(r, fields)) {
        return false;
    }
    side->there = true;
    side->has_percentiles = json_is(percentiles, "true");
    side->typical_ns = (double)typical;
    row->name = json_plain(name);
    row->file = json_plain(file);
    return row->name != NULL && row->file != NULL;
}

static bool read_diff_table(const profile_text *p, json_text list, diff_table *table)
{
    return json_room(&p->reader, list, (void **)&table->rows, sizeof *table->rows) &&
           json_each(&p->reader, list, read_diff_row, table);
}

static bool read_diff_totals(diff_profile *d)
{
    json_reader r = json_part(&d->text.reader, d->text.totals);
    const json_field fields[] = {
        JSON_NUMBER("elapsed_ns", &d->elapsed_ns), JSON_NUMBER("busy_ns", &d->busy_ns),
        JSON_NUMBER("stalls", &d->stalls), JSON_NUMBER("iteration_p99_ns", &d->iteration_p99_ns),
        JSON_NUMBER("callback_p99_ns", &d->callback_p99_ns)
    };
    return JSON_FIELDS(&r, fields);
}

static void free_diff_table(diff_table *table)
{
    for (size_t i = 0; i < table->count; i++) {
        free(table->rows[i].name);
        free(table->rows[i].file);
    }
    free(table->rows);
}

void diff_free(diff_profile *d)
{
    free_diff_table(&d->sites);
    free_diff_table(&d->paths);
    free(d->name);
    profile_free(&d->text);
}

static bool read_diff_profile(diff_profile *d)
{
    d->source = d->text.source;
    if (d->text.totals.length == 0) {
        tool_message("%s: this profile has no totals; write it again with chroprof dump -f json",
                     d->source);
        return false;
    }
    d->name = json_plain(json_inside(d->text.name));
    return d->name != NULL && read_diff_totals(d) &&
           read_diff_table(&d->text, d->text.sites, &d->sites) &&
           read_diff_table(&d->text, d->text.paths, &d->paths);
}

bool diff_load(diff_profile *d, const char *source)
{
    return profile_load_or_replay(&d->text, source) && read_diff_profile(d);
}

bool diff_borrow(diff_profile *d, const profile_text *text)
{
    d->text = *text;
    return read_diff_profile(d);
}

void diff_give_back(diff_profile *d)
{
    memset(&d->text, 0, sizeof d->text);
    diff_free(d);
}

bool diff_load_view(diff_profile *d, chroprof *view, const char *source)
{
    return profile_of_view(&d->text, view, source) && read_diff_profile(d);
}

/* >>difference constants */

#define DIFF_CLOCK_NS 50       /* reading the clock, a cache miss: a slice is no better known */
#define DIFF_COMMON 0.12       /* less may be chance, or the sites of one kind alone */
#define DIFF_MOOD 0.1          /* at most, of the slices of a site that has uneven ones */
#define DIFF_RESOLUTION 0.018  /* of a percentile: with the floor between runs, a step to
                                  the next bucket does not count, and two steps do */
#define DIFF_MIN_NS 2500       /* of a shortest slice that a clock knows to 2 % */
#define DIFF_CONTENTION 0.3    /* other work on the same core lengthens slices by less */

/* >>difference shape: a slice without interruptions */

/* From one length to a larger one, as a logarithm. */
static double distance_of(double low, double high)
{
    return low > 0 && high > low ? logarithm(high / low) : 0;
}

/* Slices that follow the moods of the machine (system calls, cold caches) are uneven below the
 * median and above it. Those that are only interrupted now and then are so above it alone. */
static double mood_error(const diff_side *s)
{
    double below = s->p1_ns > 0 ? distance_of((double)s->p1_ns, (double)s->p50_ns) - 2 * DIFF_BUCKET
                                : distance_of(s->typical_ns, (double)s->p50_ns) - 0.06;
    double above = distance_of((double)s->p50_ns, (double)s->p90_ns);
    double least = lesser(below / 2, (above - 0.2) / 4);
    return lesser(greater(0, least), DIFF_MOOD);
}

/* The longest quarter of slices is known to a bucket's width each, and what is left to as much of
 * what that quarter takes. Without such a figure (schema 1) it is the mean of all. */
static void side_shape(diff_side *s)
{
    double n = (double)s->slices;
    double mean = n > 0 ? (double)s->exec_ns / n : 0;
    double uneven = distance_of((double)s->p50_ns, (double)s->p90_ns);
    if (s->typical_ns > 0 && mean > 0) {
        double longest = greater(0, mean / s->typical_ns - 0.75) / 0.75;
        s->error = length_of(lesser(DIFF_RESOLUTION * longest, 2 * DIFF_RESOLUTION),
                             length_of(uneven / root(n), DIFF_CLOCK_NS / s->typical_ns));
        s->error = length_of(s->error, mood_error(s));
    } else {
        s->typical_ns = mean;
        s->error = DIFF_FEW_ROWS;
    }
}

/* >>difference keys: a site is its name and the last part of its file, so that neither another
 * folder nor a moved line makes it another one; of several alike, those of equal order are one. */

static uint64_t mix_text(uint64_t key, const char *text)
{
    for (; *text != '\0'; text++) {
        key = hash_mix(key, (unsigned char)*text);
    }
    return hash_mix(key, 0x100);
}

static uint64_t content_key(const diff_row *row)
{
    const char *slash = strrchr(row->file, '/');
    return mix_text(mix_text(1, row->name), slash != NULL ? slash + 1 : row->file);
}

static int by_key_and_line(const void *a, const void *b)
{
    const diff_row *x = *(const diff_row *const *)a;
    const diff_row *y = *(const diff_row *const *)b;
    if (x->key != y->key) {
        return x->key < y->key ? -1 : 1;
    }
    return x->line < y->line ? -1 : x->line > y->line;
}

static int by_id(const void *a, const void *b)
{
    const diff_row *x = *(const diff_row *const *)a;
    const diff_row *y = *(const diff_row *const *)b;
    return x->id < y->id ? -1 : x->id > y->id;
}

static diff_row **sorted_rows(const diff_table *table, int (*order)(const void *, const void *))
{
    diff_row **rows = (diff_row **)calloc(table->count + 1, sizeof *rows);
    for (size_t i = 0; rows != NULL && i < table->count; i++) {
        rows[i] = &table->rows[i];
    }
    if (rows != NULL) {
        qsort(rows, table->count, sizeof *rows, order);
    }
    return rows;
}

static const diff_row *row_with_id(diff_row *const *rows, size_t count, uint64_t id)
{
    diff_row wanted;
    const diff_row *key = &wanted;
    diff_row *const *found;
    wanted.id = id;
    found = (diff_row *const *)bsearch(&key, rows, count, sizeof *rows, by_id);
    return found != NULL ? *found : NULL;
}

static bool key_sites(diff_table *sites)
{
    uint64_t before = 0;
    uint64_t number = 0;
    diff_row **rows;
    for (size_t i = 0; i < sites->count; i++) {
        side_shape(&sites->rows[i].side[0]);
        sites->rows[i].key = content_key(&sites->rows[i]);
    }
    rows = sorted_rows(sites, by_key_and_line);
    for (size_t i = 0; rows != NULL && i < sites->count; i++) {
        number = i > 0 && rows[i]->key == before ? number + 1 : 0;
        before = rows[i]->key;
        rows[i]->key = hash_mix(before, number);
    }
    free(rows);
    return rows != NULL;
}

/* A path's key is that of its chain of sites. A parent stands before its children. */
static void key_path(diff_table *paths, diff_row *row, diff_row *const *sites, size_t site_count,
                     diff_row *const *by_number)
{
    const diff_row *site = row_with_id(sites, site_count, row->site_id);
    const diff_row *parent = row_with_id(by_number, paths->count, row->parent_id);
    row->parent = parent != NULL && parent < row ? parent : NULL;
    row->key = hash_mix(row->parent != NULL ? row->parent->key : 2,
                       site != NULL ? site->key : content_key(row));
    if (site != NULL && site->side[0].exec_ns > 0) {
        const diff_side *all = &site->side[0];
        diff_side *own = &row->side[0];
        double mean = (double)all->exec_ns / greater(1, (double)all->slices);
        own->error = length_of(all->error, greater(0, 1 - all->typical_ns / mean) / 2);
        own->typical_ns = all->typical_ns * ((double)own->exec_ns / (double)all->exec_ns) *
                          ((double)all->slices / greater(1, (double)own->slices));
        if (own->slices == all->slices) {
            own->min_ns = all->min_ns;
            own->p1_ns = all->p1_ns;
        }
    }
}

bool diff_keys(diff_profile *d)
{
    bool ok = key_sites(&d->sites);
    diff_row **sites = sorted_rows(&d->sites, by_id);
    diff_row **paths = sorted_rows(&d->paths, by_id);
    ok = ok && sites != NULL && paths != NULL;
    for (size_t i = 0; ok && i < d->paths.count; i++) {
        key_path(&d->paths, &d->paths.rows[i], sites, d->sites.count, paths);
    }
    free(sites);
    free(paths);
    return ok;
}

bool diff_join(const diff_table *a, const diff_table *b, diff_table *out)
{
    diff_row **older = sorted_rows(a, by_key_and_line);
    diff_row **newer = sorted_rows(b, by_key_and_line);
    size_t i = 0;
    size_t k = 0;
    out->rows = (diff_row *)calloc(a->count + b->count + 1, sizeof *out->rows);
    while (out->rows != NULL && older != NULL && newer != NULL && (i < a->count || k < b->count)) {
        diff_row *row = &out->rows[out->count++];
        bool in_a = i < a->count && (k == b->count || older[i]->key <= newer[k]->key);
        bool in_b = k < b->count && (i == a->count || newer[k]->key <= older[i]->key);
        diff_side side = in_a ? older[i]->side[0] : row->side[0];
        *row = in_b ? *newer[k] : *older[i];
        row->side[1] = in_b ? row->side[0] : row->side[1];
        row->side[0] = side;
        i += in_a;
        k += in_b;
    }
    free(older);
    free(newer);
    return out->rows != NULL && out->count >= (a->count > b->count ? a->count : b->count);
}

/* >>difference noise
 *
 * A measure's change is ln(B / A). Its noise has three parts, added as squares:
 * - counts: n slices vary by their spread / sqrt(n); the spread from the percentiles.
 * - resolution: percentiles come from buckets that are up to 1/8 wide, the typical slice in part,
 *   and clocks cost some ns; and what is long may have been interrupted.
 * - the runs: how far the changes of all sites lie apart beyond these, by the median, at least a
 *   floor. It is what a busy machine does to a whole run.
 * What all sites share (the middle of their changes) is the machine's, or the build's. */

/* The standard error of a percentile, of which `own` is its own. */
static double percentile_error(double ns, double own)
{
    return length_of(length_of(DIFF_RESOLUTION, DIFF_CLOCK_NS / ns), own);
}

static uint64_t finished_of(const diff_side *s)
{
    return s->calls > s->live ? s->calls - s->live : 0;
}

bool counts_calls(const diff_row *row)
{
    return finished_of(&row->side[0]) >= DIFF_LEAST_SLICES &&
           finished_of(&row->side[1]) >= DIFF_LEAST_SLICES;
}

/* The shortest slice, if one in a hundred is as short, to half a bucket: it is the work itself,
 * which neither load nor interruptions change. 0: there is no such edge, as work differs or goes
 * through the system. */
static double shortest_of(const diff_side *s, double *error)
{
    double edge = distance_of((double)s->min_ns, (double)s->p1_ns);
    if (s->min_ns < DIFF_MIN_NS || s->slices < 100 * DIFF_LEAST_SLICES || edge > 0.065) {
        return 0;
    }
    *error = length_of(DIFF_CLOCK_NS / (double)s->min_ns, edge / 2);
    return (double)s->min_ns;
}

/* What a percentile of slices is, and its relative error: by its rank among so many, and by a part
 * of its distance to another one, since those who wait for the machine are those that are long. */
static double percentile_of(const diff_side *s, int measure, double *error)
{
    double n = root((double)s->slices);
    double upper = distance_of((double)s->p50_ns, (double)s->p90_ns);
    double last = greater(distance_of((double)s->p90_ns, (double)s->p99_ns), 0.1);
    uint64_t ns = measure == DIFF_P50 ? s->p50_ns : measure == DIFF_P90 ? s->p90_ns : s->p99_ns;
    double own = measure == DIFF_P50 ? length_of(upper / n, mood_error(s))
               : measure == DIFF_P90 ? length_of(3 * greater(upper, 0.1) / n, upper / 2)
                                     : length_of(10 * last / n, last / 2);
    if (!s->has_percentiles || ns == 0) {
        return 0;
    }
    *error = percentile_error((double)ns, own);
    return (double)ns;
}

/* What a measure is in one profile, and its relative error; 0: not known. */
static double measure_of(const diff_row *row, int k, int measure, uint64_t elapsed_ns,
                         double *error)
{
    const diff_side *s = &row->side[k];
    double n = (double)s->slices;
    double calls = counts_calls(row) ? (double)finished_of(s) : n;
    if (!s->there || s->slices < DIFF_LEAST_SLICES || s->exec_ns == 0 || elapsed_ns == 0) {
        return 0;
    }
    switch (measure) {
    case DIFF_CALL: case DIFF_SLICE:
        *error = s->error;
        if (measure == DIFF_CALL && calls < n) {    /* of those that live, a part is counted */
            *error = length_of(*error, 0.5 * (double)s->live / calls);
        }
        return s->typical_ns * (measure == DIFF_CALL ? n / calls : 1);
    case DIFF_MIN: return shortest_of(s, error);
    case DIFF_RATE:
        *error = 1 / root(calls);
        return calls / (double)elapsed_ns;
    case DIFF_LATENCY:
        *error = percentile_error(greater((double)s->latency_p50_ns, 1),
                                  distance_of((double)s->latency_p50_ns,
                                              (double)s->latency_p99_ns) / 4);
        return (double)s->latency_p50_ns;
    case DIFF_BLAME:                       /* who waits while it runs: how many, on average */
        *error = 1.5 * s->error;
        return (double)s->blame_ns / n;
    default:
        return percentile_of(s, measure, error);
    }
}

/* A row's change in a measure, raw. */
static bool measure_row(const diff_row *row, int measure, const diff_profile *both, estimate *out)
{
    double errors[2] = { 1, 1 };
    double a = measure_of(row, 0, measure, both[0].elapsed_ns, &errors[0]);
    double b = measure_of(row, 1, measure, both[1].elapsed_ns, &errors[1]);
    if (!(a > 0) || !(b > 0)) {
        return false;
    }
    out->value = logarithm(b / a);
    out->error = length_of(errors[0], errors[1]);
    return true;
}

/* Least noise between two runs, by measure: calls depend on what was asked of the program, p99 and
 * blame on how its tasks met. */
static double least_spread(int measure)
{
    static const double least[DIFF_MEASURES] = { 0.03, 0.03, 0.02, 0.02, 0.05, 0.20, 0.15, 0.15,
                                                 0.20 };
    return least[measure];
}

bool diff_estimate(const diff_table *sites, int measure, const diff_profile *both,
                   bool absolute_change, diff_noise *out)
{
    estimate *values = (estimate *)calloc(2 * sites->count + 1, sizeof *values);
    double least = least_spread(measure);
    memset(out, 0, sizeof *out);
    if (values == NULL) {
        return false;
    }
    for (size_t i = 0; i < sites->count; i++) {
        out->rows += measure_row(&sites->rows[i], measure, both, &values[out->rows]);
    }
    out->spread = greater(least, DIFF_FEW_ROWS);
    if (out->rows >= DIFF_LEAST_ROWS) {
        out->spread = least;
        for (int i = 0; i < 4; i++) {
            out->common = weighted_middle(values, out->rows, out->spread);
            out->spread = robust_spread(values, out->rows, out->common, least,
                                        values + sites->count);
        }
        out->agreed = absolute(out->common) > 4 * typical_distance(values, out->rows, out->common,
                                                                   values + sites->count);
        if (absolute_change || (!out->agreed && absolute(out->common) < DIFF_COMMON)) {
            out->common = 0;
        }
    }
    free(values);
    return true;
}

/* >>difference verdicts */

double share_in(const diff_row *row, int side, const diff_profile *both)
{
    return share_of(row->side[side].exec_ns, both[side].elapsed_ns);
}

/* Points of B's loop that the change of a row takes, beyond what all share. */
static double row_excess(const diff_row *row, const diff_noise *noise, const diff_profile *both)
{
    double a = share_in(row, 0, both);
    double b = share_in(row, 1, both);
    return b - a * exponential(noise[DIFF_SLICE].common + noise[DIFF_RATE].common);
}

/* Whether a change is large enough for anybody to care: 0.2 points of the loop, or 50 us. */
static bool change_matters(const diff_row *row, int measure, double change,
                           const diff_profile *both)
{
    double part = 1 - exponential(-absolute(change));
    const diff_side *a = &row->side[0];
    const diff_side *b = &row->side[1];
    switch (measure) {
    case DIFF_P99: return part * greater((double)a->p99_ns, (double)b->p99_ns) >= 50000;
    case DIFF_LATENCY:
        return part * greater((double)a->latency_p50_ns, (double)b->latency_p50_ns) >= 50000;
    default: return part * greater(share_in(row, 0, both), share_in(row, 1, both)) >= 0.2;
    }
}

static bool stands_out(const diff_change *c)
{
    return c->known && absolute(c->change) > DIFF_SIGMAS * c->noise;
}

/* Whether one change goes the same way as another, and at least a third as far. */
static bool follows(double one, double other)
{
    return other > 0 ? one >= other / 3 : one <= other / 3;
}

/* Whether a measure did that, or is not known. */
static bool agrees(const diff_change *c, double change)
{
    return !c->known || follows(c->change, change);
}

/* Whether the mean slice, without what all share, went the other way, at least half as far. */
static bool mean_opposes(const diff_row *row, double change)
{
    const diff_side *a = &row->side[0];
    const diff_side *b = &row->side[1];
    const diff_change *slice = &row->changes[DIFF_SLICE];
    double mean = logarithm((double)b->exec_ns / (double)b->slices) -
                  logarithm((double)a->exec_ns / (double)a->slices) - (slice->raw - slice->change);
    return change > 0 ? mean < -change / 2 : mean > -change / 2;
}

/* Whether more than one in a hundred slices may say the contrary, and by so much that interruptions
 * do not explain it: the task waited in them. */
static bool tail_opposes(const diff_row *row, double change)
{
    const diff_change *tail = &row->changes[DIFF_P99];
    return !tail->known || (change > 0 ? tail->raw < -1 : tail->raw > 1);
}

/* Whether a site follows no mood of the machine: then it is compared as it is, unless sites agree
 * on what they share. */
static bool steady(const diff_row *row)
{
    return row->side[0].has_percentiles && row->side[1].has_percentiles &&
           !(mood_error(&row->side[0]) > 0) && !(mood_error(&row->side[1]) > 0);
}

/* Whether the shortest slice of both is known, and says that the work did not change by that: then
 * the program shared its core with other work. */
static bool work_denies(const diff_row *row, double change)
{
    return row->changes[DIFF_MIN].known && absolute(change) < DIFF_CONTENTION &&
           !follows(row->changes[DIFF_MIN].raw, change);
}

/* An interruption lengthens sums and tails, another mood of the machine some percentiles. Time per
 * slice has changed if both a sum and a percentile say so and the mean does not deny it; if slices
 * follow the machine, the sum must stand out as well. A rate, p99 or latency must have changed by
 * itself: that all others fell is no rise. Blame depends on how tasks happen to meet: it is shown,
 * not judged. */
static bool confirmed(const diff_row *row, int measure)
{
    const diff_change *c = row->changes;
    double change = c[measure].change;
    double slices = c[DIFF_CALL].change - c[DIFF_SLICE].change;
    bool longer = agrees(&c[DIFF_P50], change) || agrees(&c[DIFF_P90], change);
    switch (measure) {
    case DIFF_CALL:
        return follows(slices, change) ||
               (longer && !mean_opposes(row, change) && !work_denies(row, change));
    case DIFF_SLICE: return longer && !mean_opposes(row, change) && !work_denies(row, change);
    case DIFF_MIN:
        return (follows(c[DIFF_SLICE].raw, change) || follows(c[DIFF_P50].raw, change)) &&
               !(mean_opposes(row, change) && tail_opposes(row, change));
    case DIFF_P50: case DIFF_P90:
        return agrees(&c[DIFF_SLICE], change) && !mean_opposes(row, change) &&
               !work_denies(row, change) && (steady(row) || stands_out(&c[DIFF_SLICE]));
    default: return measure != DIFF_BLAME && follows(c[measure].raw, change);
    }
}

/* What is left of a change without the common one. If sites do not agree on that, one may follow
 * the machine in full or not at all, whichever leaves less. */
static double change_left(double raw, const diff_noise *noise)
{
    double rest = raw - noise->common;
    if (noise->agreed) {
        return rest;
    }
    return (raw > 0) != (rest > 0) ? 0 : raw > 0 ? lesser(raw, rest) : greater(raw, rest);
}

static void measure_changes(diff_row *row, const diff_noise *noise, const diff_profile *both)
{
    for (int m = 0; m < DIFF_MEASURES; m++) {
        diff_change *c = &row->changes[m];
        estimate raw;
        c->known = measure_row(row, m, both, &raw);
        if (c->known) {
            bool alone = m == DIFF_MIN ? noise[m].rows < DIFF_LEAST_ROWS
                                       : !noise[m].agreed && m <= DIFF_P50 && steady(row);
            double common = noise[m].agreed ? 0 : noise[m].common / 3;
            c->raw = raw.value;
            c->change = alone ? raw.value : change_left(raw.value, &noise[m]);
            c->noise = alone ? length_of(raw.error, least_spread(m))
                             : length_of(raw.error, length_of(noise[m].spread, common));
        }
    }
}

static void judge_changes(diff_row *row, const diff_profile *both)
{
    for (int m = 0; m < DIFF_MEASURES; m++) {
        diff_change *c = &row->changes[m];
        c->beyond = stands_out(c) && change_matters(row, m, c->change, both) && confirmed(row, m);
    }
}

/* Worse outweighs better: somebody should look. */
static diff_verdict row_verdict(const diff_row *row, const diff_profile *both)
{
    diff_verdict verdict = DIFF_ALIKE;
    if (!row->side[0].there || row->side[0].slices == 0) {
        bool counts = row->side[1].slices >= 20 && share_in(row, 1, both) >= 0.2;
        return counts ? DIFF_NEW : DIFF_ALIKE;
    }
    if (!row->side[1].there || row->side[1].slices == 0) {
        bool counts = row->side[0].slices >= 20 && share_in(row, 0, both) >= 0.2;
        return counts ? DIFF_GONE : DIFF_ALIKE;
    }
    for (int m = 0; m < DIFF_MEASURES; m++) {
        if (row->changes[m].beyond && row->changes[m].change > 0) {
            return DIFF_WORSE;
        }
        verdict = row->changes[m].beyond ? DIFF_BETTER : verdict;
    }
    return verdict;
}

/* What of a change is sure to be the program's, and not the buckets'; beyond noise that is more
 * than nothing. */
static double sure_change(const diff_row *row, int measure)
{
    double change = row->changes[measure].change;
    bool bucket = measure == DIFF_P50 || measure == DIFF_P90 || measure == DIFF_P99 ||
                  measure == DIFF_LATENCY;
    return bucket ? greater(change - DIFF_BUCKET, 1e-6) : change;
}

double row_worse(const diff_row *row)
{
    double most = row->verdict == DIFF_NEW ? row->excess : 0;
    for (int m = 0; m < DIFF_MEASURES && row->verdict == DIFF_WORSE; m++) {
        if (row->changes[m].beyond) {
            most = greater(most, 100 * (exponential(sure_change(row, m)) - 1));
        }
    }
    return most;
}

/* Worse first, by what it takes of the loop; then new ones, better ones, gone ones, the rest. */
static int by_verdict(const void *a, const void *b)
{
    static const int place[] = { 4, 0, 2, 1, 3 };
    const diff_row *x = (const diff_row *)a;
    const diff_row *y = (const diff_row *)b;
    double more = x->excess - y->excess;
    if (place[x->verdict] != place[y->verdict]) {
        return place[x->verdict] < place[y->verdict] ? -1 : 1;
    }
    more = x->verdict == DIFF_BETTER || x->verdict == DIFF_GONE ? -more : more;
    if (x->verdict == DIFF_ALIKE) {
        more = absolute(x->excess) - absolute(y->excess);
    }
    return more > 0 ? -1 : more < 0 ? 1 : x->key < y->key ? -1 : x->key > y->key;
}

void diff_judge(diff_table *table, const diff_noise *noise, const diff_profile *both)
{
    for (size_t i = 0; i < table->count; i++) {
        diff_row *row = &table->rows[i];
        measure_changes(row, noise, both);
        judge_changes(row, both);
        row->excess = row_excess(row, noise, both);
        row->verdict = row_verdict(row, both);
    }
    qsort(table->rows, table->count, sizeof *table->rows, by_verdict);
}

/* The least change in time per call that stands out from the noise of a row, in p50 wherever in its
 * bucket that is; 0: none. Not less than one that stood out but was no change, since other
 * measures deny it. */
static double row_detects(const diff_row *row)
{
    static const int measures[] = { DIFF_CALL, DIFF_SLICE, DIFF_MIN, DIFF_P50 };
    double least = 0;
    double denied = 0;
    for (size_t i = 0; i < sizeof measures / sizeof measures[0]; i++) {
        const diff_change *c = &row->changes[measures[i]];
        double limit = c->known ? DIFF_SIGMAS * c->noise : 0;
        double sure = limit + (measures[i] == DIFF_P50 ? DIFF_BUCKET : 0);
        least = limit > 0 && (!(least > 0) || sure < least) ? sure : least;
        denied = row->verdict == DIFF_ALIKE && stands_out(c)
               ? greater(denied, absolute(c->change)) : denied;
    }
    return least > 0 ? greater(least, denied) : 0;
}

static int by_limit(const void *a, const void *b)
{
    double x = row_detects(*(const diff_row *const *)a);
    double y = row_detects(*(const diff_row *const *)b);
    return (x > y) - (x < y);
}

bool diff_detects(const diff_table *sites, double *factor)
{
    diff_row **rows = sorted_rows(sites, by_limit);
    double all = 0;
    double within = 0;
    *factor = 0;
    for (size_t i = 0; i < sites->count; i++) {
        all += (double)sites->rows[i].side[1].exec_ns;
    }
    for (size_t i = 0; rows != NULL && i < sites->count && !(*factor > 0); i++) {
        double limit = row_detects(rows[i]);
        within += limit > 0 ? (double)rows[i]->side[1].exec_ns : 0;
        *factor = limit > 0 && 2 * within >= all ? exponential(limit) : 0;
    }
    free(rows);
    return rows != NULL;
}
