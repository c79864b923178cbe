/* sample.h - chroprof top: looks at a profile again and again; what happened between two looks. */

/* One look at a profile. What no event has closed yet is billed to what runs, so that a program
 * that hangs shows it now and not when it comes back. */
typedef struct top_sample {
    block_file file;
    chroprof_totals totals;
    chroprof_origin origin;
    chroprof_rank *ranks;
    size_t count;
    double taken;              /* when the look began: seconds of our own clock, */
    uint64_t taken_unix_ns;    /* and calendar time */
    uint64_t open_ns;          /* from its last event to this look */
} top_sample;

/* One site over an interval. */
typedef struct top_row {
    const char *name, *file;
    uint32_t line;
    uint64_t exec_ns, with_children_ns, slices, slice_max_ns, slice_p99_ns;
    uint64_t blame_ns, delay_ns, calls, live;
    double key;                /* to sort by; then by the exec since the start */
    uint64_t ever_ns;
} top_row;

typedef enum top_state { TOP_RUNS, TOP_ENDED, TOP_DIED, TOP_GONE, TOP_UNREADABLE } top_state;

/* A profile that is followed, through ends and restarts of its program. */
typedef struct top_watch {
    block_file target;         /* where it lies */
    top_state state;
    const char *problem;       /* of TOP_UNREADABLE */
    top_sample *base, *tick;   /* the ends of the last interval; base NULL: all since the start */
    top_sample *between;       /* what happened in it; NULL: not known */
    top_sample *now;           /* the last look, may be tick */
    double unchanged;          /* since when no event was seen; 0: not known */
    double other;              /* when there were other events; 0: never */
    uint64_t restarts;
    double restarted;          /* when */
    double cost;               /* seconds that the last look took */
} top_watch;

/* >>sample */

static void sample_free(top_sample *s)
{
    if (s != NULL) {
        block_close(&s->file);
        free(s->ranks);
        free(s);
    }
}

static int by_site(const void *a, const void *b)
{
    uint32_t x = ((const chroprof_rank *)a)->id;
    uint32_t y = ((const chroprof_rank *)b)->id;
    return x < y ? -1 : x > y;
}

/* NULL: that site was not used yet. */
static chroprof_rank *find_rank(const top_sample *s, uint32_t site)
{
    chroprof_rank wanted;
    memset(&wanted, 0, sizeof wanted);
    wanted.id = site;
    return (chroprof_rank *)bsearch(&wanted, s->ranks, s->count, sizeof wanted, by_site);
}

static bool sample_ranks(top_sample *s)
{
    s->count = chroprof_ranks(&s->file.view, NULL, 0, CHROPROF_BY_EXEC);
    s->ranks = (chroprof_rank *)calloc(s->count + 1, sizeof *s->ranks);
    if (s->ranks == NULL) {
        return false;
    }
    s->count = chroprof_ranks(&s->file.view, s->ranks, s->count, CHROPROF_BY_EXEC);
    qsort(s->ranks, s->count, sizeof *s->ranks, by_site);
    chroprof_read_totals(&s->file.view, &s->totals);
    chroprof_read_origin(&s->file.view, &s->origin);
    return true;
}

static uint64_t unix_now(void)
{
    struct timespec now;
    if (clock_gettime(CLOCK_REALTIME, &now) != 0) {
        return 0;
    }
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* NULL: it cannot be read just now; *result and errno say why. */
static top_sample *sample_take(const block_file *target, chroprof_result *result)
{
    top_sample *s = (top_sample *)calloc(1, sizeof *s);
    *result = CHROPROF_ERR_FILE;
    if (s == NULL) {
        return NULL;
    }
    s->file.name = target->name;
    s->file.place = target->place;
    errno = 0;
    s->taken = seconds_now();
    s->taken_unix_ns = unix_now();
    *result = block_read(&s->file);
    if (*result != CHROPROF_OK || !sample_ranks(s)) {
        int why = errno;
        sample_free(s);
        errno = why;
        return NULL;
    }
    return s;
}

/* >>sample open time */

/* The site of a path, and what the sites above it have with children. */
static void sample_bill_path(top_sample *s, uint32_t id, uint64_t ns)
{
    size_t count = chroprof_paths(&s->file.view, NULL, 0);
    chroprof_path *paths = (chroprof_path *)calloc(count + 1, sizeof *paths);
    bool leaf = true;
    if (paths == NULL) {
        return;
    }
    count = chroprof_paths(&s->file.view, paths, count);
    for (size_t i = count; i-- > 0;) {      /* parents stand before their children */
        if (paths[i].id == id) {
            chroprof_rank *rank = find_rank(s, paths[i].site);
            if (rank != NULL) {
                rank->exec_ns += leaf ? ns : 0;
                rank->with_children_ns += ns;
            }
            leaf = false;
            id = paths[i].parent;
        }
    }
    free(paths);
}

/* Bills what goes on since the last event. */
static void sample_bill_open(top_sample *s)
{
    chroprof_frame top;
    uint64_t ns = s->open_ns;
    bool running = chroprof_frames(&s->file.view, &top, 1) > 0 && !top.barrier;
    if (!s->totals.enabled || ns == 0) {
        return;
    }
    s->totals.elapsed_ns += ns;
    if (s->totals.idle) {
        s->totals.idle_ns += ns;
    } else if (running) {
        s->totals.busy_ns += ns;
        sample_bill_path(s, top.path, ns);
    } else {
        s->totals.loop_ns += ns;
    }
}

/* How long ago its last event was: by the calendar, but within what we saw ourselves. */
static uint64_t watch_age(const top_watch *w, const top_sample *s)
{
    uint64_t now = s->taken_unix_ns;
    double age = s->origin.end_unix_ns > 0 && now > s->origin.end_unix_ns
                 ? (double)(now - s->origin.end_unix_ns) / 1e9 : 0;
    if (w->other > 0 && age > s->taken - w->other) {
        age = s->taken - w->other;
    }
    if (w->unchanged > 0 && age < s->taken - w->unchanged) {
        age = s->taken - w->unchanged;
    }
    return age > 0 && age < 1e9 ? (uint64_t)(age * 1e9) : 0;
}

/* >>watch */

/* The interval as a profile of its own, for what can't be subtracted: percentiles, maxima. */
static top_sample *sample_between(const top_sample *older, const top_sample *newer)
{
    top_sample *s = (top_sample *)calloc(1, sizeof *s);
    if (s == NULL) {
        return NULL;
    }
    s->file.copy = calloc(1, newer->file.size);
    s->file.size = newer->file.size;
    if (s->file.copy != NULL &&
        chroprof_difference(&newer->file.view, &older->file.view, s->file.copy, s->file.size) ==
            CHROPROF_OK &&
        chroprof_open(&s->file.view, s->file.copy, s->file.size) == CHROPROF_OK &&
        sample_ranks(s)) {
        return s;
    }
    sample_free(s);
    return NULL;
}

static bool watch_restarted(const top_sample *older, const top_sample *newer)
{
    return older->origin.pid != newer->origin.pid ||
           older->totals.start_unix_ns != newer->totals.start_unix_ns ||
           newer->totals.events < older->totals.events;
}

static void watch_forget(top_watch *w)
{
    sample_free(w->base);
    if (w->tick != w->now) {
        sample_free(w->tick);
    }
    sample_free(w->now);
    sample_free(w->between);
    w->base = w->tick = w->now = w->between = NULL;
    w->unchanged = w->other = 0;
}

/* What a look says about the time of the last event. */
static void watch_motion(top_watch *w, top_sample *s)
{
    bool same = w->now != NULL && w->now->totals.events == s->totals.events;
    if (!same) {
        w->other = w->now != NULL ? w->now->taken : 0;
        w->unchanged = s->taken;
    }
    s->open_ns = w->state == TOP_RUNS ? watch_age(w, s) : 0;
    sample_bill_open(s);
}

/* Of a program that ended, the last bit is an interval of its own. */
static bool watch_interval_over(const top_watch *w, const top_sample *s, double interval)
{
    return w->state == TOP_RUNS ? s->taken - w->tick->taken >= 0.95 * interval
                                : s->totals.events != w->tick->totals.events;
}

/* The look becomes the newest; after an interval, the end of that one. */
static void watch_accept(top_watch *w, top_sample *s, double interval)
{
    if (w->now != w->tick) {
        sample_free(w->now);
    }
    w->now = s;
    if (w->tick == NULL) {
        w->tick = s;
    } else if (watch_interval_over(w, s, interval)) {
        sample_free(w->base);
        sample_free(w->between);
        w->base = w->tick;
        w->tick = s;
        w->between = sample_between(w->base, s);
    }
}

static void watch_failed(top_watch *w, chroprof_result result)
{
    bool gone = result == CHROPROF_ERR_FILE && errno == ENOENT;
    w->state = gone ? TOP_GONE : TOP_UNREADABLE;
    w->problem = result == CHROPROF_ERR_FILE && errno != 0 ? strerror(errno)
                                                           : chroprof_result_text(result);
}

/* Looks again; true if that ended an interval. */
static bool watch_look(top_watch *w, double interval)
{
    chroprof_result result;
    top_sample *s = sample_take(&w->target, &result);
    const top_sample *before;
    if (s == NULL) {
        watch_failed(w, result);
        return false;
    }
    if (w->now != NULL && watch_restarted(w->now, s)) {
        w->restarts++;
        w->restarted = s->taken;
        watch_forget(w);
    }
    w->state = s->origin.ended ? TOP_ENDED
             : s->origin.mapped && !s->origin.alive ? TOP_DIED : TOP_RUNS;
    watch_motion(w, s);
    before = w->tick;
    watch_accept(w, s, interval);
    w->cost = seconds_now() - s->taken;
    return w->tick != before;
}

/* >>interval */

static uint64_t gained(uint64_t newer, uint64_t older)
{
    return newer > older ? newer - older : 0;
}

static void row_fill(top_row *row, const chroprof_rank *newer, const chroprof_rank *older)
{
    static const chroprof_rank none;
    older = older != NULL ? older : &none;
    row->name = newer->name;
    row->file = newer->file;
    row->line = newer->line;
    row->ever_ns = newer->exec_ns;
    row->exec_ns = gained(newer->exec_ns, older->exec_ns);
    row->with_children_ns = gained(newer->with_children_ns, older->with_children_ns);
    row->slices = gained(newer->slices, older->slices);
    row->slice_max_ns = newer->slice_max_ns;
    row->slice_p99_ns = newer->slice_p99_ns;
    row->blame_ns = gained(newer->blame_ns, older->blame_ns);
    row->delay_ns = gained(newer->delay_ns, older->delay_ns);
    row->calls = gained(newer->calls, older->calls);
    row->live = newer->live;
}

/* The sites from one look to a later one (from NULL: since the start); rows has room for as many
 * as the later one has. between may be NULL: then maxima and percentiles are since the start. */
static void interval_rows(const top_sample *from, const top_sample *to, const top_sample *between,
                          top_row *rows)
{
    for (size_t i = 0; i < to->count; i++) {
        const chroprof_rank *rank = &to->ranks[i];
        row_fill(&rows[i], rank, from != NULL ? find_rank(from, rank->id) : NULL);
        if (from != NULL && between != NULL) {
            const chroprof_rank *part = find_rank(between, rank->id);
            rows[i].slice_max_ns = part != NULL ? part->slice_max_ns : 0;
            rows[i].slice_p99_ns = part != NULL ? part->slice_p99_ns : 0;
        }
    }
}

/* The loop's totals over the same. */
static void interval_totals(const top_sample *from, const top_sample *to,
                            const top_sample *between, chroprof_totals *out)
{
    *out = to->totals;
    if (from == NULL) {
        return;
    }
    out->pass_p99_ns = between != NULL ? between->totals.pass_p99_ns : 0;
    out->elapsed_ns = gained(to->totals.elapsed_ns, from->totals.elapsed_ns);
    out->busy_ns = gained(to->totals.busy_ns, from->totals.busy_ns);
    out->idle_ns = gained(to->totals.idle_ns, from->totals.idle_ns);
    out->loop_ns = gained(to->totals.loop_ns, from->totals.loop_ns);
    out->delay_ns = gained(to->totals.delay_ns, from->totals.delay_ns);
    out->events = gained(to->totals.events, from->totals.events);
    out->turns = gained(to->totals.turns, from->totals.turns);
    out->passes = gained(to->totals.passes, from->totals.passes);
    out->stalls = gained(to->totals.stalls, from->totals.stalls);
}
