/* fuzz/reading.h - what the fuzzers of blocks do with a block that opens: every read, every output,
 * chroprof_merge and chroprof_difference. Included after the implementation. */

/* A promise was broken. */
static void broken(const char *what, const char *text)
{
    fprintf(stderr, "ERROR: %s%s%s\n", what, text ? ": " : "", text ? text : "");
    abort();
}

/* >>reading */

static int swallow(void *user, const void *bytes, size_t count)
{
    uint32_t *sum = (uint32_t *)user;
    size_t i;
    for (i = 0; i < count; i++)
        *sum += ((const uint8_t *)bytes)[i];
    return 0;
}

#define READ_NAMES(type, call)                                                                     \
    do {                                                                                           \
        type rows[8];                                                                              \
        size_t listed = call;                                                                      \
        size_t k;                                                                                  \
        for (k = 0; k < listed && k < 8; k++)                                                      \
            length += strlen(rows[k].name) + strlen(rows[k].file);                                 \
    } while (0)

static size_t read_samples(const chroprof *p)
{
    chroprof_sample_row rows[8];
    chroprof_stack_frame frames[8];
    chroprof_wall walls[8];
    chroprof_sampler_totals totals;
    size_t count = chroprof_samples(p, 3, 300, rows, 8), length = 0, i, k;
    chroprof_read_sampler(p, &totals);
    chroprof_walls(p, walls, 8);
    for (i = 0; i < count && i < 8; i++) {
        size_t depth = chroprof_stack(p, rows[i].stack, frames, 8);
        for (k = 0; k < depth && k < 8; k++)
            length += strlen(frames[k].name);
        for (k = 0; k < depth && k < 8 && frames[k].kind == CHROPROF_FRAME_NATIVE; k++)
            length += strlen(frames[k].module) + strlen(frames[k].build_id);
    }
    return length;
}

static size_t read_all(const chroprof *p)
{
    chroprof_totals totals;
    chroprof_table tables[CHROPROF_TABLE_COUNT];
    chroprof_anomaly anomalies[CHROPROF_ANOMALY_COUNT];
    chroprof_window windows[8];
    chroprof_stall stalls[8];
    uint64_t cells[8];
    size_t length = 0;
    uint32_t site;
    int by;
    for (by = 0; by < 6; by++)
        READ_NAMES(chroprof_rank, chroprof_ranks(p, rows, 8, (chroprof_order)by));
    READ_NAMES(chroprof_path, chroprof_paths(p, rows, 8));
    READ_NAMES(chroprof_future, chroprof_futures(p, rows, 8));
    chroprof_read_totals(p, &totals);
    chroprof_tables(p, tables, CHROPROF_TABLE_COUNT);
    chroprof_anomalies(p, anomalies, CHROPROF_ANOMALY_COUNT);
    chroprof_windows(p, windows, 8);
    chroprof_stalls(p, stalls, 8);
    for (site = 0; site < 8; site++)
        chroprof_site_windows(p, site, cells, 8);
    length += read_samples(p);
    return length + (chroprof_check(p) != NULL);
}

static void read_and_write(chroprof *view)
{
    static const chroprof_text_options look = { 200, 40, CHROPROF_BY_BLAME, true, true };
    uint32_t sum = 0;
    int format;
    sum += (uint32_t)read_all(view);
    for (format = 0; format <= CHROPROF_PROMETHEUS_ALL; format++)
        chroprof_write(view, (chroprof_format)format, swallow, &sum);
    chroprof_write_text(view, &look, swallow, &sum);
}

static bool laws_hold(const chroprof *p)
{
    chroprof_totals t;
    uint64_t exec = 0, k;
    chroprof_read_totals(p, &t);
    for (k = 0; k < chroprof__path_count(p); k++)
        exec += p->paths[k].exec;
    return t.elapsed_ticks == exec && t.blame_ticks == t.delay_ticks;
}

/* Twice into a profile that is too small for it: the laws hold, whatever it is. */
static void merge_twice(const chroprof *view)
{
    static uint64_t memory[CHROPROF_MEMORY_MIN / 8];
    chroprof_options o;
    chroprof_totals t;
    chroprof p;
    memset(&o, 0, sizeof o);
    o.clock = chroprof_clock_manual;
    if (chroprof_init(&p, memory, sizeof memory, &o) != CHROPROF_OK)
        abort();
    chroprof_merge(&p, view);
    chroprof_merge(&p, view);
    chroprof_read_totals(&p, &t);
    if (t.elapsed_ns != t.busy_ns + t.idle_ns + t.uninstrumented_ns ||
        t.elapsed_ns != t.elapsed_ticks || !laws_hold(&p))
        broken("a merge breaks a law", chroprof_check(&p));
    read_all(&p);
}

/* A difference that was made opens. */
static void subtract(const chroprof *newer, const chroprof *older, size_t size)
{
    uint8_t *memory = (uint8_t *)malloc(size ? size : 1);
    uint32_t sum = 0;
    chroprof view;
    if (memory == NULL)
        return;
    if (chroprof_difference(newer, older, memory, size) == CHROPROF_OK) {
        if (chroprof_open(&view, memory, size) != CHROPROF_OK)
            broken("a difference that was made does not open", chroprof__ask_block(&view));
        read_all(&view);
        chroprof_write(&view, CHROPROF_PPROF, swallow, &sum);
    }
    free(memory);
}

/* Two states of one profile, one of them damaged. */
static void subtract_bytes(const uint8_t *whole, const uint8_t *damaged, size_t size)
{
    chroprof a, b;
    if (chroprof_open(&a, whole, size) != CHROPROF_OK ||
        chroprof_open(&b, damaged, size) != CHROPROF_OK)
        return;
    subtract(&a, &b, size);
    subtract(&b, &a, size);
}

/* A copy that was made opens, and one that was mended keeps the laws. */
static void copy_bytes(const uint8_t *bytes, size_t size, bool torn)
{
    uint8_t *copy = (uint8_t *)malloc(size ? size : 1);
    chroprof view;
    if (copy == NULL)
        return;
    if (chroprof_snapshot(bytes, size, copy, size) == CHROPROF_OK) {
        if (chroprof_open(&view, copy, size) != CHROPROF_OK)
            broken("a copy that was made does not open", chroprof__ask_block(&view));
        if (torn && !laws_hold(&view))
            broken("a copy that was mended breaks a law", chroprof_check(&view));
        read_and_write(&view);
    }
    free(copy);
}
