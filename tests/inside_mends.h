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
    LINE(of, "histogram %u%s", (unsigned)row, text);
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

typedef bool damager(const chroprof *p, int which);

static void tell_mends(harness_output *out, damager *damage_one, const char *const *names)
{
    static picture whole, mended;
    chroprof view;
    int k;
    CHECK_EQ(copy_of(torn_scene(), &view), CHROPROF_OK);
    take_picture(&whole, &view);
    for (k = 0; damage_one(torn_scene(), k); k++) {
        char line[400];
        chroprof *p = torn_scene();
        (void)damage_one(p, k);
        harness_equal(__FILE__, k, names[k], copy_of(p, &view), CHROPROF_OK);
        take_picture(&mended, &view);
        CHECK_EQ(harness_collect(out, line, (size_t)snprintf(line, sizeof line, "%s\n", names[k])),
                 0);
        tell_difference(out, &whole, &mended, "    - ");
        tell_difference(out, &mended, &whole, "    + ");
    }
}

#define NAME_OF(poke) #poke,
static const char *const mend_names[] = { MENDS(NAME_OF) };

TEST(what_a_snapshot_makes_of_each_damage)
{
    static harness_output out;
    out.used = 0;
    tell_mends(&out, mendable, mend_names);
    golden("mended.txt", out.bytes, out.used);
}

#endif
