/* tests/inside_mends.h - part of test_inside.c: what a snapshot makes of each damage, row by row.
 * All that differs from the copy of the undamaged scene is told in tests/golden/mended.txt and
 * mended-more.txt, which GOLDEN=1 writes anew: read the difference. */
#ifndef INSIDE_MENDS_H
#define INSIDE_MENDS_H

enum { PICTURE_LINES = 300, PICTURE_WIDTH = 200 };

typedef struct picture {
    char lines[PICTURE_LINES][PICTURE_WIDTH];
    size_t count;
} picture;

static char *next_line(picture *of)
{
    CHECK(of->count < PICTURE_LINES);
    return of->lines[of->count++];
}

#define LINE(of, ...) snprintf(next_line(of), PICTURE_WIDTH, __VA_ARGS__)
#define U(value) ((uint64_t)(value))

static void picture_of_all(picture *of, const chroprof *p)
{
    const chroprof__core *c = p->core;
    chroprof_totals t = totals_of(p);
    LINE(of, "elapsed %" PRIu64 " busy %" PRIu64 " idle %" PRIu64 " loop %" PRIu64
         " untracked %" PRIu64, t.elapsed_ns, t.busy_ns, t.idle_ns, t.loop_ns, t.untracked_ns);
    LINE(of, "blame of idle %" PRIu64 " loop %" PRIu64 " untracked %" PRIu64 " in all %" PRIu64,
         t.idle_blame_ns, t.loop_blame_ns, t.untracked_blame_ns, t.blame_ns);
    LINE(of, "doubt %" PRIu64 " of %" PRIu64 " events", t.doubt_ns, t.doubt_events);
    LINE(of, "live %" PRIu64 " ready %" PRIu64 " account %u", t.live, c->ready,
         (unsigned)c->account);
    LINE(of, "depth %u floor %u level %u hidden %u since %" PRIu64, (unsigned)c->depth,
         (unsigned)c->floor, (unsigned)c->level, (unsigned)c->hidden, c->hidden_since);
    LINE(of, "window %x held %u stalls %" PRIu64, (unsigned)c->window, (unsigned)c->held,
         c->stalls);
    LINE(of, "used: futures %" PRIu64 " paths %" PRIu64 " edges %" PRIu64, U(used(FUTURES)),
         U(used(PATHS)), U(used(EDGES)));
}

static void picture_of_path(picture *of, const chroprof *p, uint32_t k)
{
    const chroprof__path *row = &path(k);
    chroprof_path seen;
    memset(&seen, 0, sizeof seen);
    if (k >= CHROPROF__FIRST_PATH)
        chroprof__read_path(p, k, &seen);
    LINE(of, "path %u site %u parent %u level %u next %u same site %u histogram %u", (unsigned)k,
         (unsigned)row->site, (unsigned)row->parent, (unsigned)row->level, (unsigned)row->next,
         (unsigned)row->same_site, (unsigned)row->histogram);
    LINE(of, "path %u exec %" PRIu64 " mark %" PRIu64 " window %x blame %" PRIu64 " delay %" PRIu64,
         (unsigned)k, row->exec, row->mark, (unsigned)row->window, row->blame,
         chroprof__delay_ticks(p, row));
    LINE(of, "path %u calls %" PRIu64 " = %" PRIu64 " + %" PRIu64 " + %" PRIu64 " + %" PRIu64
         " + %" PRIu64 " ready %u", (unsigned)k, row->calls, row->completed, row->failed,
         row->cancelled, row->abandoned, row->live, (unsigned)row->ready);
    LINE(of, "path %u wall %" PRIu64 " waiting %" PRIu64 " exec max %" PRIu64 " slices %" PRIu64,
         (unsigned)k, seen.wall_ns, seen.waiting_ns, seen.exec_max_ns, seen.slices);
}

static void picture_of_site(picture *of, const chroprof *p, uint32_t site)
{
    const chroprof__site *row = chroprof__sites(p->core) + site;
    const uint64_t *cells = cells_of(p, site);
    char text[120];
    size_t used = 0;
    uint32_t k;
    text[0] = '\0';
    for (k = 0; k <= p->core->tables[CHROPROF_TABLE_WINDOWS].capacity && used < 90; k++)
        if (cells[k] != 0)
            used += (size_t)snprintf(text + used, sizeof text - used, " %u:%" PRIu64, (unsigned)k,
                                     cells[k]);
    LINE(of, "site %u \"%s\" \"%s\" first path %u cells%s", (unsigned)site,
         chroprof__string(p->core, row->name), chroprof__string(p->core, row->file),
         (unsigned)row->first_path, text);
}

static void picture_of_histogram(picture *of, const chroprof *p, uint32_t row)
{
    const chroprof__histogram *h = &chroprof__histogram_rows(p->core)[row].slice;
    char text[120];
    size_t used = 0;
    uint32_t k;
    text[0] = '\0';
    for (k = 0; k < CHROPROF__BUCKETS && used < 90; k++)
        if (h->count[k] != 0)
            used += (size_t)snprintf(text + used, sizeof text - used, " %u:%" PRIu64, (unsigned)k,
                                     h->count[k]);
    LINE(of, "histogram %u min %" PRIu64 "%s", (unsigned)row, h->min, text);
}

static void picture_of_frame(picture *of, const chroprof *p, uint32_t k)
{
    const chroprof__frame *f = &frame(k);
    uint64_t known = f->id ? p->futures[f->slot].id : f->slot;
    LINE(of, "frame %u kind %u id %" PRIu64 " path %u pushed %" PRIu64 " start %" PRIu64
         " carried %" PRIu64 " knows %" PRIu64 " same %u future %u", (unsigned)k,
         (unsigned)f->kind, f->id, (unsigned)f->path, f->pushed, f->start, f->carried, known,
         (unsigned)f->same, (unsigned)f->future);
}

/* Slots and edges in the order of their table: where hashes put them. */
static void picture_of_slots(picture *of, const chroprof *p)
{
    uint32_t k, left = 12;
    for (k = 0; k < p->slots && left > 0; k++) {
        const chroprof__future *slot = p->futures + k;
        if (slot->id == 0)
            continue;
        left--;
        LINE(of, "future %" PRIu64 " path %u state %u since %" PRIu64 " exec %" PRIu64
             " frame %u flags %u", slot->id, (unsigned)slot->path, (unsigned)slot->state,
             slot->since, slot->exec, (unsigned)slot->frame, (unsigned)slot->flags);
    }
}

static void picture_of_edges(picture *of, const chroprof *p)
{
    const chroprof__edge *edges =
        (const chroprof__edge *)chroprof__rows(p->core, CHROPROF_TABLE_EDGES);
    uint32_t k, left = 12;
    for (k = 0; k < p->core->tables[CHROPROF_TABLE_EDGES].rows && left > 0; k++)
        if (edges[k].site != 0) {
            left--;
            LINE(of, "edge %u -%u-> %u", (unsigned)edges[k].path, (unsigned)edges[k].site,
                 (unsigned)edges[k].target);
        }
}

static void picture_of_stall(picture *of, const chroprof *p, uint32_t k)
{
    const chroprof__stall *row = chroprof__stall_rows(p->core) + k;
    uint32_t i;
    if (row->serial == 0 && row->slice_count == 0)
        return;
    LINE(of, "stall %u start %" PRIu64 " length %" PRIu64 " slices %u hits %u", (unsigned)k,
         row->start, row->length, (unsigned)row->slice_count, (unsigned)row->hits.count);
    for (i = 0; i < row->slice_count; i++)
        LINE(of, "stall %u slice %u path %u exec %" PRIu64, (unsigned)k, (unsigned)i,
             (unsigned)row->slices[i].path, U(row->slices[i].exec));
}

static void take_picture(picture *of, const chroprof *p)
{
    uint32_t k;
    of->count = 0;
    picture_of_all(of, p);
    for (k = 0; k < chroprof__path_count(p); k++)
        picture_of_path(of, p, k);
    for (k = 0; k < chroprof__site_count(p); k++)
        picture_of_site(of, p, k);
    for (k = 0; k < 6; k++)
        picture_of_histogram(of, p, k);
    for (k = 0; k <= p->core->depth; k++)
        picture_of_frame(of, p, k);
    picture_of_slots(of, p);
    picture_of_edges(of, p);
    for (k = 0; k < p->core->tables[CHROPROF_TABLE_STALLS].rows; k++)
        picture_of_stall(of, p, k);
}

static bool is_in(const picture *of, const char *line)
{
    size_t k;
    for (k = 0; k < of->count; k++)
        if (strcmp(of->lines[k], line) == 0)
            return true;
    return false;
}

/* Appends the lines of one picture that the other has not. */
static void tell_difference(harness_output *out, const picture *has, const picture *lacks,
                            const char *mark)
{
    char line[PICTURE_WIDTH + 8];
    size_t k;
    for (k = 0; k < has->count; k++)
        if (!is_in(lacks, has->lines[k])) {
            int length = snprintf(line, sizeof line, "%s%s\n", mark, has->lines[k]);
            CHECK_EQ(harness_collect(out, line, (size_t)length), 0);
        }
}

/* A scene, the damages to it with their names, and how a copy of it looks. */
typedef struct gallery {
    chroprof *(*begin)(void);
    bool (*damage_one)(const chroprof *p, int which);
    const char *const *names;
    void (*look)(picture *of, const chroprof *p);
} gallery;

static void tell_mends(harness_output *out, const gallery *g)
{
    static picture whole, mended;
    chroprof view;
    int k;
    CHECK_EQ(copy_of(g->begin(), &view), CHROPROF_OK);
    g->look(&whole, &view);
    for (k = 0; g->damage_one(g->begin(), k); k++) {
        char line[400];
        chroprof *p = g->begin();
        (void)g->damage_one(p, k);
        harness_equal(__FILE__, k, g->names[k], copy_of(p, &view), CHROPROF_OK);
        g->look(&mended, &view);
        CHECK_EQ(harness_collect(out, line,
                                 (size_t)snprintf(line, sizeof line, "%s\n", g->names[k])), 0);
        tell_difference(out, &whole, &mended, "    - ");
        tell_difference(out, &mended, &whole, "    + ");
    }
}

static void check_mends(const char *name, const gallery *g)
{
    static harness_output out;
    out.used = 0;
    tell_mends(&out, g);
    golden(name, out.bytes, out.used);
}

#define NAME_OF(poke) #poke,
static const char *const mend_names[] = { MENDS(NAME_OF) };

TEST(what_a_snapshot_makes_of_each_damage)
{
    static const gallery g = { torn_scene, mendable, mend_names, take_picture };
    check_mends("mended.txt", &g);
}

/* Finished calls of each kind on the path accept, whose window is not its first; a slice is held
 * back; a stall. */
static chroprof *busy_scene(void)
{
    chroprof *p = scene();
    chroprof__stall *stall = chroprof__stall_rows(p->core);
    at(p, 151, PENDING, 20, &A);
    at(p, 152, COMPLETED, 20, NULL);
    at(p, 152, PENDING, 21, &A);
    at(p, 154, FAILED, 21, NULL);
    at(p, 154, PENDING, 22, &A);
    at(p, 157, CANCELLED, 22, NULL);
    at(p, 157, PENDING, 23, &A);
    at(p, 161, PENDING, 23, &A);
    at(p, 163, CANCELLED, 23, NULL);
    at(p, 164, LEAVE, 0, NULL);
    at(p, 168, ENTER, 0, &D);
    path(3).merged_live++;
    path(3).calls++;
    path(3).wall += 44;
    stall->serial = p->core->stalls = 1;
    stall->start = 10;
    stall->length = 90;
    stall->slice_count = 2;
    stall->slices[0].path = 8;
    stall->slices[0].exec = 50;
    stall->slices[1].path = 3;
    p->core->tables[CHROPROF_TABLE_STALLS].used = 1;
    laws(p);
    p->core->seq++;
    p->core->event_id = 0;
    p->core->event_now = p->core->epoch + p->core->last;
    p->core->event_account = 8;
    return p;
}

static void free_the_slot(const chroprof *p, uint64_t id)
{
    memset(slot(id), 0, sizeof *slot(id));
}

static void last_stall_row(const chroprof *p)
{
    chroprof__stall *row = chroprof__stall_rows(p->core) +
                           p->core->tables[CHROPROF_TABLE_STALLS].rows - 1;
    row->serial = 7;
    row->slice_count = 1000;
    row->slices[CHROPROF_STALL_SLICES - 1].path = 1000;
    row->hits.count = 1000;
}

#define half(id, change) (p->core->event_id = id, change)
#define late(ticks) p->core->event_now = p->core->epoch + p->core->last + (ticks)
#define stalled(k) chroprof__stall_rows(p->core)->slices[k].path

#define MORE_MENDS(X)                                                                              \
    X((path(8).exec = 0, path(8).site = 8))                                                        \
    X((path(8).exec = 0, path(8).site = CHROPROF__OTHER))                                          \
    X((path(8).exec = 0, path(8).parent = 8))                                                      \
    X((path(8).exec = 0, path(8).parent = CHROPROF__IDLE))                                         \
    X((path(8).exec = 0, path(8).parent = CHROPROF__UNTRACKED))                                    \
    X((path(8).exec = 0, path(8).parent = 7))                                                      \
    X(late(13))                                                                                    \
    X((late(13), p->core->event_account = 7))                                                      \
    X((late(13), p->core->event_account = CHROPROF__IDLE))                                         \
    X((late(13), p->core->event_account = 9))                                                      \
    X((late(13), p->core->seq += 2))                                                               \
    X((late(13), p->core->seq += 4))                                                               \
    X((late(13), path(8).exec += 13))                                                              \
    X((late(13), path(8).exec += 13, p->core->event_account = 4))                                  \
    X((late(13), path(8).exec += 13, path(8).blame += 13))                                         \
    X((late(13), path(8).exec += 12))                                                              \
    X((late(13), path(8).exec += 13, p->core->event_account = 9))                                  \
    X((late(13), p->core->started = 0))                                                            \
    X(late(0 - UINT64_C(1)))                                                                       \
    X(late(p->core->max_step_ticks))                                                               \
    X(late(p->core->max_step_ticks + 1))                                                           \
    X((late(p->core->max_step_ticks + 1), p->core->event_account = CHROPROF__IDLE))                \
    X((p->core->event_account = CHROPROF__IDLE,                                                    \
       p->core->event_now = p->core->epoch + CHROPROF__END_OF_TIME))                               \
    X((p->core->epoch += 1000, late(13)))                                                          \
    X(p->core->window_ticks = 1)                                                                   \
    X(p->core->window = 62u << 16)                                                                 \
    X(frame(1).kind = 0)                                                                           \
    X(frame(1).pushed = p->core->last + 1)                                                         \
    X(frame(1).start = 0)                                                                          \
    X(frame(5).pushed = p->core->last)                                                             \
    X(frame(5).pushed = p->core->last + 1)                                                         \
    X(frame(5).path = CHROPROF__UNTRACKED)                                                         \
    X(frame(5).path = 9)                                                                           \
    X(frame(5).id = 1)                                                                             \
    X((frame(5).id = 1, frame(5).kind = CHROPROF__FUTURE_FRAME))                                   \
    X((frame(5).id = 3, frame(5).kind = CHROPROF__FUTURE_FRAME))                                   \
    X((frame(5).id = 3, frame(5).path = 5, frame(5).kind = CHROPROF__FUTURE_FRAME))                \
    X((frame(5).id = 88, frame(5).carried = 7, frame(5).kind = CHROPROF__FUTURE_FRAME))            \
    X((frame(3).slot = 4, frame(3).same = 2))                                                      \
    X((frame(2).kind |= CHROPROF__ORPHAN, frame(2).carried = 9))                                   \
    X((p->core->hidden = 1, p->core->hidden_since = p->core->last - 3))                            \
    X((p->core->hidden = 1, p->core->hidden_since = 135))                                          \
    X((p->core->depth = p->core->floor, p->core->account = CHROPROF__IDLE))                        \
    X((p->core->depth = p->core->floor, p->core->account = 5))                                     \
    X(slot(4)->path = 9)                                                                           \
    X(slot(4)->path = CHROPROF__UNTRACKED)                                                         \
    X(slot(4)->path = CHROPROF__IDLE)                                                              \
    X(slot(4)->state = CHROPROF_PAUSED + 1)                                                        \
    X(slot(1)->state = CHROPROF_PAUSED + 1)                                                        \
    X(slot(3)->state = CHROPROF_PAUSED + 1)                                                        \
    X(slot(5)->state = CHROPROF_PAUSED + 1)                                                        \
    X(slot(6)->state = CHROPROF_PAUSED + 1)                                                        \
    X(slot(5)->since = p->core->last + 1)                                                          \
    X((p->futures[0].id = 600, p->futures[0].path = 7))                                            \
    X((p->futures[p->slots - 1].id = 601, p->futures[p->slots - 1].path = 7))                      \
    X(half(4, path(3).completed++))                                                                \
    X(half(4, path(3).failed++))                                                                   \
    X(half(4, path(3).cancelled++))                                                                \
    X(half(4, path(3).abandoned++))                                                                \
    X(half(1, path(3).completed++))                                                                \
    X(half(999, path(8).completed++))                                                              \
    X(half(999, path(6).completed++))                                                              \
    X(half(5, path(6).completed++))                                                                \
    X(half(4, path(8).completed++))                                                                \
    X(half(2, path(4).completed++))                                                                \
    X((frame(5).id = 88, frame(5).path = 2, frame(5).kind = CHROPROF__FUTURE_FRAME))               \
    X(half(4, (path(3).completed++, path(3).live--, path(3).wall += p->core->last)))               \
    X(half(5, path(6).calls++))                                                                    \
    X(half(5, path(6).live--))                                                                     \
    X(half(5, path(6).live++))                                                                     \
    X(half(4, (path(3).live--, path(3).wall += p->core->last)))                                    \
    X(half(4, (path(3).live--, path(3).calls--)))                                                  \
    X(half(0, (path(8).live--, path(8).calls--, path(8).wall += p->core->last)))                   \
    X(half(5, (path(6).completed += 2)))                                                           \
    X(half(5, (path(6).calls += 2)))                                                               \
    X(half(5, free_the_slot(p, 5)))                                                                \
    X(half(4, free_the_slot(p, 4)))                                                                \
    X(half(4, slot(4)->state = CHROPROF_PENDING))                                                  \
    X(half(4, path(3).ready--))                                                                    \
    X(half(4, (path(3).ready--, path(3).delay += p->core->last)))                                  \
    X(half(5, (path(3).delay += 5)))                                                               \
    X(half(4, (path(3).delay += 5)))                                                               \
    X(half(4, (path(3).delay -= 5)))                                                               \
    X(half(4, (path(3).delay -= UINT64_C(1) << 62)))                                               \
    X((path(3).wall = 0))                                                                          \
    X((path(6).wall += p->core->last))                                                             \
    X((path(6).wall -= p->core->last))                                                             \
    X((path(6).wall -= 2 * p->core->last))                                                         \
    X((path(7).wall = 0 - 2 * p->core->last))                                                      \
    X((path(7).wall = 1 - p->core->last))                                                          \
    X((path(1).blame += 9))                                                                        \
    X((path(1).blame -= 9))                                                                        \
    X(path(4).window = p->core->window)                                                            \
    X(path(4).window = p->core->window + 1)                                                        \
    X(path(4).window = p->core->window + (1u << 16))                                               \
    X((path(4).mark = 3, path(4).window = p->core->window))                                        \
    X(path(3).mark--)                                                                              \
    X(cells_of(p, 4)[0] = 9)                                                                       \
    X(cells_of(p, 4)[0] = 1)                                                                       \
    X(cells_of(p, 4)[1] += 1000)                                                                   \
    X(cells_of(p, 4)[1] -= 7)                                                                      \
    X(cells_of(p, 4)[3] += 9)                                                                      \
    X(cells_of(p, 4)[capacity(WINDOWS)] = 5)                                                       \
    X(cells_of(p, CHROPROF__IDLE)[2] += 5)                                                         \
    X(cells_of(p, CHROPROF__LOOP)[1] -= 5)                                                         \
    X(cells_of(p, 7)[1] += 5)                                                                      \
    X((first_count(p, 3)[2]++, p->core->held_slice = 1))                                           \
    X((first_count(p, 3)[chroprof__bucket(40)] = 0, p->core->held_slice = 2))                      \
    X((first_count(p, 3)[CHROPROF__BUCKETS - 1] = 5))                                              \
    X((p->core->held |= CHROPROF__HELD_SLICE, p->core->held_slice = 3,                             \
       p->core->held_slice_row = path(3).histogram, path(3).slices++))                             \
    X((p->core->held |= CHROPROF__HELD_SLICE, p->core->held_slice = 3,                             \
       p->core->held_slice_row = path(3).histogram))                                               \
    X(stalled(0) = 9)                                                                              \
    X(stalled(1) = 9)                                                                              \
    X(stalled(2) = 9)                                                                              \
    X((chroprof__stall_rows(p->core)->slice_count = CHROPROF_STALL_SLICES,                         \
       stalled(CHROPROF_STALL_SLICES - 1) = 9))                                                    \
    X((chroprof__stall_rows(p->core)->slice_count = CHROPROF_STALL_SLICES + 1))                    \
    X(last_stall_row(p))

static bool more_mendable(const chroprof *p, int which)
{
    int k = 0;
#define DO(poke)                                                                                   \
    if (which == k++) {                                                                            \
        poke;                                                                                      \
        return true;                                                                               \
    }
    MORE_MENDS(DO)
#undef DO
    return false;
}

static const char *const more_mend_names[] = { MORE_MENDS(NAME_OF) };

TEST(what_a_snapshot_makes_of_an_event_cut_short)
{
    static const gallery g = { busy_scene, more_mendable, more_mend_names, take_picture };
    check_mends("mended-more.txt", &g);
}

/* 384 futures with one home go 0 + 1 + .. + 383 steps, as many as may be gone: 64 for each of the
 * 2 * 500 + 147 + 2 slots. All are found again. */
TEST(futures_of_one_home_are_found_in_time)
{
    chroprof_options o;
    chroprof *p;
    chroprof view;
    uint64_t id = 0;
    uint32_t k;
    memset(&o, 0, sizeof o);
    o.max_futures = 500;
    o.max_depth = 147;
    p = fresh(&o);
    CHECK_EQ(p->slots, 2 * 500 + 147 + 2);
    CHECK_EQ(384 * 383 / 2, 64 * p->slots);
    for (k = 0; k < 384; k++) {
        do {
            id++;
        } while (chroprof__hash_index(id, p->slots) != 100);
        chroprof_event(p, CHROPROF_PENDING, id, &A, k);
    }
    laws(p);
    p->core->seq++;                         /* inside an event: the copy is mended */
    CHECK_EQ(copy_of(p, &view), CHROPROF_OK);
    p->core->seq--;
    CHECK_EQ(chroprof_futures(&view, NULL, 0), 384);
    CHECK_EQ(path_of(&view, "accept").live, 384);
    laws(&view);
}

#undef half
#undef late
#undef stalled

#endif
