/* difference.h - what chroprof diff knows: the sites and paths of two profiles, brought together by
 * content, and what of their changes is more than noise. diff.h shows it. */

/* >>difference rows */

/* A site's or path's figures in one profile. */
typedef struct diff_side {
    bool there;
    uint64_t exec_ns, slices, calls, live, blame_ns, delay_ns;
    uint64_t p50_ns, p90_ns, p99_ns, p999_ns, max_ns;
    bool has_percentiles;
    double uneven, tail, drift;    /* of its slices, see noise; a path has those of its site */
} diff_side;

/* What is judged, each by itself. */
enum { DIFF_SLICE, DIFF_RATE, DIFF_P99, DIFF_BLAME, DIFF_MEASURES };

typedef struct diff_change {
    bool known;
    double change;             /* logarithm of B / A, what all rows share taken off */
    double noise;              /* standard error of it */
    bool beyond;               /* it is more than noise, and matters */
} diff_change;

typedef enum diff_verdict { DIFF_ALIKE, DIFF_WORSE, DIFF_BETTER, DIFF_NEW, DIFF_GONE } diff_verdict;

typedef struct diff_row {
    json_text windows;         /* of a site */
    uint64_t key;              /* of its content: equal in both profiles */
    char *name, *file;         /* of the site; owned by the profile that it was read from */
    uint64_t line;
    const struct diff_row *parent;   /* of a path; NULL: a root, or a site */
    uint64_t id, parent_id, site_id;
    diff_side side[2];         /* A, B */
    diff_change changes[DIFF_MEASURES];
    diff_verdict verdict;
    double excess;             /* part of B's loop that the change takes beyond what all share */
} diff_row;

typedef struct diff_table {
    diff_row *rows;
    size_t count;
} diff_table;

/* One profile. */
typedef struct diff_profile {
    const char *source;
    profile_text text;
    uint64_t elapsed_ns, busy_ns, pass_p99_ns, turn_p99_ns, stalls;
    char *name;
    diff_table sites, paths;
} diff_profile;

/* >>difference reading */

static unsigned hex_digit(char c)
{
    return c >= 'a' ? (unsigned)(c - 'a') + 10 : c >= 'A' ? (unsigned)(c - 'A') + 10
                                                          : (unsigned)(c - '0');
}

static uint32_t unescape_hex(const char *at)
{
    return hex_digit(at[0]) << 12 | hex_digit(at[1]) << 8 | hex_digit(at[2]) << 4 |
           hex_digit(at[3]);
}

/* The character of an escape at *at, behind the backslash; checked before by json_escape. */
static uint32_t unescape_code(const char **at, const char *end)
{
    static const char from[] = "bfnrt";
    static const char to[] = "\b\f\n\r\t";
    const char *known = strchr(from, **at);
    uint32_t code;
    if (**at != 'u') {
        code = known != NULL ? (uint32_t)(unsigned char)to[known - from] : (unsigned char)**at;
        *at += 1;
        return code;
    }
    code = unescape_hex(*at + 1);
    *at += 5;
    if (code >= 0xD800 && code < 0xDC00 && end - *at >= 6 && (*at)[0] == '\\' && (*at)[1] == 'u') {
        uint32_t low = unescape_hex(*at + 2);
        if (low >= 0xDC00 && low < 0xE000) {
            *at += 6;
            return 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
        }
    }
    return code == 0 || (code >= 0xD800 && code < 0xE000) ? 0xFFFD : code;
}

/* A text of JSON as it was meant. NULL: no memory. */
static char *unescape(json_text text)
{
    sheet out;
    memset(&out, 0, sizeof out);
    for (const char *at = text.bytes, *end = text.bytes + text.length; at < end;) {
        if (*at == '\\') {
            at++;
            sheet_encode(&out, unescape_code(&at, end));
        } else {
            sheet_bytes(&out, at++, 1);
        }
    }
    sheet_bytes(&out, "", 1);
    return out.bytes;
}

/* Where the number of that key goes; NULL: it is not needed. */
static uint64_t *diff_field(diff_row *row, json_text key)
{
    diff_side *side = &row->side[0];
    const struct { const char *key; uint64_t *value; } fields[] = {
        { "id", &row->id }, { "parent", &row->parent_id }, { "site", &row->site_id },
        { "line", &row->line }, { "exec_ns", &side->exec_ns }, { "slices", &side->slices },
        { "calls", &side->calls }, { "live", &side->live }, { "blame_ns", &side->blame_ns },
        { "delay_ns", &side->delay_ns }, { "slice_p50_ns", &side->p50_ns },
        { "slice_p90_ns", &side->p90_ns }, { "slice_p99_ns", &side->p99_ns },
        { "slice_p999_ns", &side->p999_ns }, { "slice_max_ns", &side->max_ns }
    };
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        if (json_is(key, fields[i].key)) {
            return fields[i].value;
        }
    }
    return NULL;
}

static bool read_diff_row(json_reader *r, diff_row *row)
{
    json_text name = { "", 0 };
    json_text file = { "", 0 };
    json_text key;
    bool first = true;
    (void)json_open(r, '{');
    while (json_next(r, '}', &first)) {
        bool ok = json_key(r, &key);
        uint64_t *number = ok ? diff_field(row, key) : NULL;
        ok = ok && (json_is(key, "name") ? json_string(r, &name)
                    : json_is(key, "file") ? json_string(r, &file)
                    : json_is(key, "windows") ? json_value(r, &row->windows)
                    : json_is(key, "has_percentiles") ? json_bool(r, &row->side[0].has_percentiles)
                    : number != NULL ? json_u64(r, number) : json_skip(r));
        if (!ok) {
            return false;
        }
    }
    row->side[0].there = true;
    row->name = unescape(name);
    row->file = unescape(file);
    return !r->failed && row->name != NULL && row->file != NULL;
}

static bool read_diff_table(const profile_text *p, json_text list, diff_table *table)
{
    json_reader r;
    size_t most = list.length > 0 ? count_items(&p->reader, list) : 0;
    bool first = true;
    if (most == SIZE_MAX) {
        return false;
    }
    table->rows = (diff_row *)calloc(most + 1, sizeof *table->rows);
    if (table->rows == NULL) {
        tool_message("not enough memory for %llu rows", (unsigned long long)most);
        return false;
    }
    if (most > 0) {
        r = json_part(&p->reader, list);
        (void)json_open(&r, '[');
    }
    while (table->count < most && json_next(&r, ']', &first)) {
        if (!read_diff_row(&r, &table->rows[table->count++])) {
            return false;
        }
    }
    return true;
}

static bool read_diff_totals(diff_profile *d)
{
    json_reader r = json_part(&d->text.reader, d->text.totals);
    const struct { const char *key; uint64_t *value; } fields[] = {
        { "elapsed_ns", &d->elapsed_ns }, { "busy_ns", &d->busy_ns }, { "stalls", &d->stalls },
        { "pass_p99_ns", &d->pass_p99_ns }, { "turn_p99_ns", &d->turn_p99_ns }
    };
    bool first = true;
    json_text key;
    (void)json_open(&r, '{');
    while (json_next(&r, '}', &first)) {
        uint64_t *value = NULL;
        bool ok = json_key(&r, &key);
        for (size_t i = 0; ok && i < sizeof fields / sizeof fields[0]; i++) {
            value = json_is(key, fields[i].key) ? fields[i].value : value;
        }
        if (!ok || !(value != NULL ? json_u64(&r, value) : json_skip(&r))) {
            return false;
        }
    }
    return !r.failed;
}

static void free_diff_table(diff_table *table)
{
    for (size_t i = 0; i < table->count; i++) {
        free(table->rows[i].name);
        free(table->rows[i].file);
    }
    free(table->rows);
}

static void diff_free(diff_profile *d)
{
    free_diff_table(&d->sites);
    free_diff_table(&d->paths);
    free(d->name);
    profile_free(&d->text);
}

static bool diff_load(diff_profile *d, const char *source)
{
    if (!profile_load(&d->text, source)) {
        return false;
    }
    d->source = d->text.source;
    if (d->text.totals.length == 0) {
        tool_message("%s: holds no totals", d->source);
        return false;
    }
    json_text name = d->text.name;
    if (name.length >= 2) {
        name.bytes++;
        name.length -= 2;
    }
    d->name = unescape(name);
    return d->name != NULL && read_diff_totals(d) &&
           read_diff_table(&d->text, d->text.sites, &d->sites) &&
           read_diff_table(&d->text, d->text.paths, &d->paths);
}

/* >>difference shape: how a site's slices vary, for the noise */

#define DIFF_PARTS 8

/* Mean of a stretch of slices between two percentiles, which lie as on a straight logarithm. */
static double mean_between(double low, double high)
{
    return low > 0 && high > low * 1.001 ? (high - low) / logarithm(high / low) : high;
}

/* The squared coefficient of variation, and the share of the exec that is beyond the length of the
 * 90th percentile. */
static void side_shape(diff_side *s)
{
    double mean = s->slices > 0 ? (double)s->exec_ns / (double)s->slices : 0;
    double p50 = (double)s->p50_ns;
    double p90 = (double)s->p90_ns;
    double p99 = (double)s->p99_ns;
    double p999 = (double)s->p999_ns;
    s->uneven = 1;
    if (mean > 0 && s->has_percentiles && p50 > 0 && p90 > 0) {
        double low = p50 * p50 / p90;      /* as far below the middle as the 90th is above it */
        double body = 0.5 * mean_between(low, p50) + 0.4 * mean_between(p50, p90) + 0.1 * p90;
        double squares = 0.5 * p50 * p50 + 0.4 * p90 * p90 + 0.09 * p99 * p99 +
                         0.009 * p999 * p999;
        s->uneven = greater(squares / (mean * mean) - 1, 0.01);
        s->tail = greater(0, 1 - body / mean);
    }
}

/* The sums of up to eight parts of equal length of a list of windows, without the last one, which
 * is not over. Returns how many parts; fewer than four windows tell nothing. */
static size_t window_parts(const profile_text *p, json_text windows, double parts[DIFF_PARTS])
{
    json_reader r;
    size_t count = windows.length > 0 ? count_items(&p->reader, windows) : 0;
    size_t used = count > DIFF_PARTS ? DIFF_PARTS : count > 4 ? count - 1 : 0;
    size_t each = used > 0 && count != SIZE_MAX ? (count - 1) / used : 0;
    bool first = true;
    if (each == 0) {
        return 0;
    }
    r = json_part(&p->reader, windows);
    (void)json_open(&r, '[');
    for (size_t i = 0; i < each * used && json_next(&r, ']', &first); i++) {
        uint64_t exec = 0;
        if (!json_u64(&r, &exec)) {
            return 0;
        }
        parts[i / each] += (double)exec;
    }
    return used;
}

/* The standard error of the exec if it drifts over the run, relative to it. */
static double side_drift(const profile_text *p, json_text windows)
{
    double parts[DIFF_PARTS] = { 0 };
    double sum = 0;
    double squares = 0;
    size_t count = window_parts(p, windows, parts);
    double n = (double)count;
    for (size_t i = 0; i < count; i++) {
        sum += parts[i];
        squares += parts[i] * parts[i];
    }
    if (count < 2 || !(sum > 0)) {
        return 0;
    }
    return root(greater(0, squares / n - sum / n * (sum / n)) / (n - 1)) / (sum / n);
}

static void diff_shape(diff_profile *d)
{
    for (size_t i = 0; i < d->sites.count; i++) {
        diff_side *side = &d->sites.rows[i].side[0];
        side_shape(side);
        side->drift = side_drift(&d->text, d->sites.rows[i].windows);
    }
}

/* >>difference keys: a site is its name and the last part of its file, so that neither another
 * folder nor a moved line makes it another one; of several alike, those of equal order are one. */

static uint64_t mix_key(uint64_t key, uint64_t more)
{
    key = (key ^ more) * UINT64_C(0x9E3779B97F4A7C15);
    return key ^ key >> 29;
}

static uint64_t mix_text(uint64_t key, const char *text)
{
    for (; *text != '\0'; text++) {
        key = mix_key(key, (unsigned char)*text);
    }
    return mix_key(key, 0x100);
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
        sites->rows[i].key = content_key(&sites->rows[i]);
    }
    rows = sorted_rows(sites, by_key_and_line);
    for (size_t i = 0; rows != NULL && i < sites->count; i++) {
        number = i > 0 && rows[i]->key == before ? number + 1 : 0;
        before = rows[i]->key;
        rows[i]->key = mix_key(before, number);
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
    row->key = mix_key(row->parent != NULL ? row->parent->key : 2,
                       site != NULL ? site->key : content_key(row));
    if (site != NULL) {                     /* whose slices vary like those of its site */
        diff_side *own = &row->side[0];
        const diff_side *all = &site->side[0];
        own->uneven = all->uneven;
        own->tail = all->tail;
        own->drift = all->drift;
    }
}

static bool diff_keys(diff_profile *d)
{
    diff_shape(d);
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

/* Rows of both, by content. The rows of B take those of A into their side[0]; what only A has comes
 * behind. The strings stay with their profiles. */
static bool diff_join(const diff_table *a, const diff_table *b, diff_table *out)
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
 * A measure's change is ln(B / A). Its noise has four parts, added as squares:
 * - counts: n slices of uneven length have a mean that varies by cv / sqrt(n); cv from the
 *   percentiles and the longest slice, so that one slice that was interrupted for long weighs.
 * - the tail: what the tenth of the longest slices adds beyond the 90th percentile is what
 *   interruptions by the system look like; half of it is taken as noise.
 * - the drift: the run in eight parts; how much the exec of a part varies, by the root of eight.
 * - the runs: how far the changes of all sites lie apart beyond the two above, by the median, at
 *   least a floor. It is what a busy machine does to a whole run.
 * What all sites share (the weighted median of their changes) is the machine's, or the build's. */

#define DIFF_SIGMAS 4.0
#define DIFF_LEAST_ROWS 4      /* fewer can't tell the machine from the change */
#define DIFF_FEW_ROWS 0.15     /* then this is the noise between runs */
#define DIFF_LEAST_SLICES 8

typedef struct diff_noise {
    double common;             /* logarithm of what all share */
    double spread;             /* between runs */
    size_t rows;
} diff_noise;

/* The standard error of the mean slice, relative to it. */
static double slice_error(const diff_side *s)
{
    double counts = s->uneven / (double)s->slices;
    double longest = (double)s->max_ns / (double)s->exec_ns;
    return root(counts + longest * longest + s->tail * s->tail / 4 + s->drift * s->drift);
}

/* Of the 99th percentile: its rank, the width of a bucket, and half of its distance to the 90th. */
static double p99_error(const diff_side *s)
{
    double p99 = (double)s->p99_ns;
    double tail = s->p90_ns > 0 ? logarithm(greater(p99 / (double)s->p90_ns, 1)) : 1;
    double rank = greater(tail, 0.1) * 10 / root((double)s->slices);
    return length_of(length_of(rank, 0.04), length_of(tail / 2, 12 / p99));
}

/* What a measure is in one profile, and its relative error; 0: not known. */
static double measure_of(const diff_side *s, int measure, uint64_t elapsed_ns, double *error)
{
    double n = (double)s->slices;
    if (!s->there || s->slices < DIFF_LEAST_SLICES || s->exec_ns == 0 || elapsed_ns == 0) {
        return 0;
    }
    switch (measure) {
    case DIFF_SLICE:
        *error = slice_error(s);
        return (double)s->exec_ns / n;
    case DIFF_RATE:
        *error = 1 / root(n);
        return n / (double)elapsed_ns;
    case DIFF_P99:
        *error = s->has_percentiles && s->p99_ns > 0 ? p99_error(s) : 1;
        return s->has_percentiles ? (double)s->p99_ns : 0;
    default:                               /* who waits while it runs: how many, on average */
        *error = 1.5 * slice_error(s);
        return (double)s->blame_ns / n;
    }
}

/* A row's change in a measure, raw. */
static bool measure_row(const diff_row *row, int measure, const diff_profile *both, estimate *out)
{
    double errors[2] = { 1, 1 };
    double a = measure_of(&row->side[0], measure, both[0].elapsed_ns, &errors[0]);
    double b = measure_of(&row->side[1], measure, both[1].elapsed_ns, &errors[1]);
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
    static const double least[DIFF_MEASURES] = { 0.05, 0.15, 0.20, 0.20 };
    return least[measure];
}

/* What all sites share in a measure, and how far they lie apart. false: no memory. */
static bool diff_estimate(const diff_table *sites, int measure, const diff_profile *both,
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
            out->common = weighted_median(values, out->rows, out->spread);
            out->spread = robust_spread(values, out->rows, out->common, least,
                                        values + sites->count);
        }
        out->common = absolute_change ? 0 : out->common;
    }
    free(values);
    return true;
}

/* >>difference verdicts */

static double share_in(const diff_row *row, int side, const diff_profile *both)
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

/* Whether a change is large enough for anybody to care. */
static bool change_matters(const diff_row *row, int measure, double common,
                           const diff_profile *both)
{
    double p99 = (double)row->side[1].p99_ns - (double)row->side[0].p99_ns * exponential(common);
    double blame = share_of(row->side[1].blame_ns, both[1].elapsed_ns) -
                   share_of(row->side[0].blame_ns, both[0].elapsed_ns);
    switch (measure) {
    case DIFF_P99: return absolute(p99) >= 50000;
    case DIFF_BLAME: return absolute(blame) >= 1;
    default: return absolute(share_in(row, 1, both) - share_in(row, 0, both)) >= 0.2;
    }
}

static void judge_change(diff_row *row, int measure, const diff_noise *noise,
                         const diff_profile *both)
{
    diff_change *c = &row->changes[measure];
    estimate raw;
    c->known = measure_row(row, measure, both, &raw);
    if (c->known) {
        c->change = raw.value - noise->common;
        c->noise = length_of(raw.error, noise->spread);
        c->beyond = absolute(c->change) > DIFF_SIGMAS * c->noise &&
                    change_matters(row, measure, noise->common, both);
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

/* By how many percent a measure got worse at least, its noise taken off; 0: it did not. */
static double worse_at_least(const diff_change *c)
{
    double least = c->change - DIFF_SIGMAS * c->noise;
    return c->beyond && least > 0 ? 100 * (exponential(least) - 1) : 0;
}

/* Of a whole row; a new site counts by its points of the loop. */
static double row_worse(const diff_row *row)
{
    double most = row->verdict == DIFF_NEW ? row->excess : 0;
    for (int m = 0; m < DIFF_MEASURES && row->verdict == DIFF_WORSE; m++) {
        most = greater(most, worse_at_least(&row->changes[m]));
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

/* Judges every row by the noise of the sites, and sorts them. */
static void diff_judge(diff_table *table, const diff_noise *noise, const diff_profile *both)
{
    for (size_t i = 0; i < table->count; i++) {
        diff_row *row = &table->rows[i];
        for (int m = 0; m < DIFF_MEASURES; m++) {
            judge_change(row, m, &noise[m], both);
        }
        row->excess = row_excess(row, noise, both);
        row->verdict = row_verdict(row, both);
    }
    qsort(table->rows, table->count, sizeof *table->rows, by_verdict);
}
