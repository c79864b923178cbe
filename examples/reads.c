/* A report of your own: what the reads give, in one small program. Each list has two reads: one fills
 * an array, the other is a cursor, for callers without room for all rows. */
/* build: cc -O2 FILE -o OUT ; needs: none */
/* usage: OUT [FILE]        FILE: a profile of chroprof_map; without it, that of the loop below */
#define CHROPROF_IMPLEMENTATION
#include "../chroprof.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { SIZE = 1 << 22, ROWS = 64 };
#define US "%" PRIu64 " us"

static uint64_t now_ns; /* the clock of this loop */

static uint64_t own_clock(void *user)
{
    (void)user;
    return now_ns;
}

CHROPROF_SITE(site_login, "on_login");
CHROPROF_SITE(site_mail, "on_mail");
CHROPROF_SITE(site_reply, "reply");

/* A loop that calls one callback after the other. on_login asks a server and waits for it; every
 * tenth on_mail is slow. Somebody samples it from outside. */
static void run_loop(chroprof *p)
{
    static const uint64_t stack[] = { 0x401234, 0, 0x401900 };
    chroprof_module module;
    memset(&module, 0, sizeof module);
    module.path = "/usr/bin/mailer";
    module.start = module.base = 0x400000;
    module.end = 0x500000;
    chroprof_add_module(p, &module);
    for (uint64_t k = 1; k <= 200; k++) {
        chroprof_pending(p, k, &site_reply);
        chroprof_next(p, &site_login); /* enter, or leave and enter, with one look at the clock */
        now_ns += 300000;
        chroprof_waited(p, "poll", "ask_server", now_ns - 200000);
        chroprof_next(p, &site_mail);
        now_ns += k % 10 == 0 ? 30000000 : 100000;
        chroprof_sample_stack(p, now_ns, k % 10 == 0 ? 30000000 : 100000, stack, 3);
        chroprof_leave(p);
        chroprof_completed(p, k);
        chroprof_completed(p, k); /* once too often: an anomaly */
        chroprof_idle_enter(p);
        now_ns += 1000000;
        chroprof_idle_leave(p);
    }
}

static void show_sites(const chroprof *p)
{
    const uint64_t bounds_ns[] = { 1000000, 10000000, UINT64_MAX };
    chroprof_site_row site;
    chroprof_rank r;
    for (uint64_t cursor = 0; chroprof_next_site(p, &cursor, &site);) {
        uint64_t slices[3] = { 0, 0, 0 }, exec_ns[ROWS], sum = 0, part;
        chroprof_windows_cursor windows;
        if (!chroprof_read_rank(p, site.id, &r))
            continue;
        printf("%s: %" PRIu64 " calls, exec " US "\n", r.name, r.calls, r.exec_ns / 1000);
        if (chroprof_slice_counts(p, site.id, bounds_ns, 3, slices))
            printf("  slices to 1 ms, to 10 ms, all: %" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
                   slices[0], slices[1], slices[2]);
        size_t count = chroprof_site_windows(p, site.id, exec_ns, ROWS);
        uint64_t last = count > 0 ? exec_ns[count < ROWS ? count - 1 : ROWS - 1] : 0;
        if (count > 0 && count <= ROWS)
            (void)chroprof_site_windows_from(p, site.id, (uint32_t)count - 1, &last, 1);
        memset(&windows, 0, sizeof windows); /* one by one they are the exec again */
        while (chroprof_next_site_windows(p, site.id, &windows, &part, 1) > 0)
            sum += part;
        printf("  in the last of %zu windows " US ", in all " US "\n", count, last / 1000,
               sum / 1000);
    }
}

static void show_stalls(const chroprof *p)
{
    chroprof_stall stall;
    chroprof_step steps[CHROPROF_INCIDENT_STEPS];
    uint64_t count = 0, longest = 0, steps_kept = 0;
    for (uint64_t cursor = 0; chroprof_next_stall(p, &cursor, &stall); count++) {
        longest = stall.length_ns > longest ? stall.length_ns : longest;
        steps_kept += chroprof_incident(p, stall.number, steps, CHROPROF_INCIDENT_STEPS);
    }
    printf("%" PRIu64 " stalls kept, the longest " US ", with %" PRIu64 " steps\n", count,
           longest / 1000, steps_kept);
}

static void show_slowest(const chroprof *p)
{
    chroprof_slow rows[ROWS], row;
    size_t count = chroprof_slowest(p, rows, ROWS), again = 0;
    for (uint64_t cursor = 0; chroprof_next_slowest(p, &cursor, &row);)
        again++;
    printf("%zu of the slowest futures are kept", again);
    if (count > 0)
        printf("; %s: " US, rows[0].name, rows[0].latency_ns / 1000);
    printf("\n");
}

static void show_time(const chroprof *p)
{
    chroprof_windows_cursor cursor;
    chroprof_window window;
    uint64_t idle = 0, all = 0;
    memset(&cursor, 0, sizeof cursor);
    for (; chroprof_next_windows(p, &cursor, &window, 1) > 0; all += window.end_ns - window.start_ns)
        idle += window.idle_ns;
    printf("idle " US " of " US "\n", idle / 1000, all / 1000);
}

static void show_samples(const chroprof *p)
{
    static chroprof_sample_row rows[4096];
    chroprof_module modules[64];
    chroprof_wall walls[ROWS];
    chroprof_stack_frame frames[ROWS];
    chroprof_stack_row node;
    chroprof_sample_row row;
    chroprof_wall wall;
    uint64_t weight = 0, nodes = 0, met = 0;
    size_t count = chroprof_samples(p, 0, UINT64_MAX, rows, 4096);
    for (uint64_t cursor = 0; chroprof_next_sample(p, &cursor, &row);)
        weight += row.weight;
    for (uint64_t cursor = 0; chroprof_next_stack(p, &cursor, &node);)
        nodes++;
    for (uint64_t cursor = 0; chroprof_next_wall(p, &cursor, &wall);)
        met += wall.running + wall.ready + wall.paused;
    printf("%zu rows of %" PRIu64 " samples in %zu modules, %" PRIu64 " nodes; %" PRIu64
           " futures met on %zu paths\n", count, weight, chroprof_modules(p, modules, 64), nodes,
           met, chroprof_walls(p, walls, ROWS));
    size_t depth = count > 0 ? chroprof_stack(p, rows[0].stack, frames, ROWS) : 0;
    for (size_t k = 0; k < depth && k < ROWS; k++)
        if (frames[k].kind == CHROPROF_FRAME_NATIVE)
            printf("  0x%" PRIx64 " of %s\n", frames[k].address, frames[k].module);
        else
            printf("  [%s]\n", frames[k].name);
}

static void show_troubles(const chroprof *p)
{
    chroprof_anomaly kinds[CHROPROF_ANOMALY_COUNT], one;
    chroprof_finding findings[CHROPROF_FINDING_COUNT];
    size_t count = chroprof_anomalies(p, kinds, CHROPROF_ANOMALY_COUNT);
    uint32_t ppm = 0;
    for (size_t k = 0; k < count && k < CHROPROF_ANOMALY_COUNT; k++)
        if (kinds[k].count > 0 && chroprof_read_anomaly(p, kinds[k].kind, &one) && one.placed)
            printf("%" PRIu64 " x %s: first at " US "\n", one.count, one.text,
                   one.first.at_ns / 1000);
    count = chroprof_findings(p, findings, CHROPROF_FINDING_COUNT);
    for (size_t k = 0; k < count && k < CHROPROF_FINDING_COUNT; k++) {
        const char *code = chroprof_held_by(p, findings[k].kind, findings[k].at_ns, &ppm);
        printf("* %s%s%s\n", findings[k].text, *code != '\0' ? " Held by " : "", code);
    }
    if (*chroprof_awake_by(p) != '\0')
        printf("kept awake by %s\n", chroprof_awake_by(p));
}

/* The program may be running, or have been killed. */
static chroprof_result open_file(chroprof *view, const char *path)
{
    FILE *file = fopen(path, "rb");
    long size = file != NULL && fseek(file, 0, SEEK_END) == 0 ? ftell(file) : 0;
    size_t bytes = size > 0 ? (size_t)size : 1;
    unsigned char *live = (unsigned char *)malloc(bytes), *copy = (unsigned char *)malloc(bytes);
    chroprof_result result = CHROPROF_ERR_FILE;
    if (file != NULL && live != NULL && copy != NULL && fseek(file, 0, SEEK_SET) == 0 &&
        fread(live, 1, bytes, file) == bytes)
        result = chroprof_snapshot(live, bytes, copy, bytes);
    if (result == CHROPROF_OK)
        result = chroprof_open(view, copy, bytes);
    if (file != NULL)
        fclose(file);
    free(live);
    return result; /* the copy stays: the view needs it */
}

int main(int argc, char **argv)
{
    static unsigned char memory[SIZE];
    static chroprof p;
    chroprof_options options;
    memset(&options, 0, sizeof options);
    options.clock = own_clock;
    if (argc > 1) {
        chroprof_result result = open_file(&p, argv[1]);
        if (result != CHROPROF_OK)
            return fprintf(stderr, "%s: %s\n", argv[1], chroprof_result_text(result)), 1;
    } else {
        chroprof_init(&p, memory, sizeof memory, &options);
        run_loop(&p);
    }
    if (argc == 1 && *chroprof_why_off(&p) != '\0')
        return fprintf(stderr, "no profile: %s\n", chroprof_why_off(&p)), 1;
    show_sites(&p);
    show_stalls(&p);
    show_slowest(&p);
    show_time(&p);
    show_samples(&p);
    show_troubles(&p);
    return 0;
}
