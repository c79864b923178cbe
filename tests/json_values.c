/* json_values.c - a profile with a row of each kind: its JSON into a file, then each field of each
 * read in lines, by functions that tests/json_values.py writes from the structs in the header. */
#define CHROPROF_IMPLEMENTATION
#include "chroprof.h"
#include "says.h"

#include <time.h>

static chroprof prof;
static unsigned char memory[4 << 20];
static uint64_t now = 1000;

CHROPROF_SITE(site_client, "client");
CHROPROF_SITE(site_query, "query");
CHROPROF_SITE(site_call, "plain call");

static void event(chroprof_state state, uint64_t id, const chroprof_site *site, uint64_t later)
{
    chroprof_event(&prof, state, id, site, now += later);
}

/* A future that waits for another one, runs with a call on top of it, and ends. */
static void request(uint64_t id, chroprof_state finish)
{
    event(CHROPROF_PENDING, id, &site_client, 11);
    event(CHROPROF_READY, id, NULL, 13);
    event(CHROPROF_RUNNING, id + 1, &site_query, 17);
    event(CHROPROF_PAUSED, id + 1, NULL, 19 * id);
    event(CHROPROF_RUNNING, id, NULL, 23);
    event(CHROPROF_ENTER, 0, &site_call, 29);
    event(CHROPROF_LEAVE, 0, NULL, 31 * id);
    event(finish, id, NULL, 37);
    event(CHROPROF_CANCELLED, id + 1, NULL, 41);
}

/* A sample of this program's own code, as another one would have taken it. */
static void sample(uint64_t cpu_ns)
{
    const uint64_t stack[] = { 0x1040, 0x2050 };
    (void)chroprof_sample_stack(&prof, now += 3, cpu_ns, stack, 2);
}

static void iteration(uint64_t id)
{
    event(CHROPROF_IDLE_LEAVE, 0, NULL, 7 * id);
    request(id, id % 3 == 0 ? CHROPROF_FAILED : CHROPROF_COMPLETED);
    event(CHROPROF_ENTER, 0, &site_call, 5);
    sample(100 + id);
    sample(0);
    chroprof_waited(&prof, "poll", "read_reply", chroprof_now(&prof) - 2);
    event(CHROPROF_LEAVE, 0, NULL, 2000 + id);
    event(CHROPROF_IDLE_ENTER, 0, NULL, 43);
}

static void play(void)
{
    chroprof_module module;
    memset(&module, 0, sizeof module);
    module.path = "/lib/libserver.so";
    module.build_id = "0123456789abcdef";
    module.base = 0x1000, module.start = 0x1000, module.end = 0x3000;
    (void)chroprof_add_module(&prof, &module);
    for (uint64_t id = 100; id < 140; id += 2)
        iteration(id);
    event(CHROPROF_IDLE_LEAVE, 0, NULL, 5);
    event(CHROPROF_COMPLETED, 9999, NULL, 5);
    event(CHROPROF_LEAVE, 0, NULL, 5);
    chroprof_stillborn(&prof, &site_query, CHROPROF_FAILED);
    event(CHROPROF_PENDING, 7, &site_client, 3);
    event(CHROPROF_RUNNING, 8, &site_query, 3);
    event(CHROPROF_TICK, 0, NULL, 300);
}

/* The JSON ticks a live profile and reads a view of it as it is. */
static int dump(const char *path)
{
    FILE *out = fopen(path, "w");
    int result = out != NULL ? chroprof_dump(&prof, CHROPROF_JSON, out) : -1;
    return out != NULL && fclose(out) == 0 ? result : -1;
}

#define ROWS(where, type, next)                                                                    \
    do {                                                                                           \
        uint64_t cursor = 0;                                                                       \
        type row;                                                                                  \
        for (size_t i = 0; next(&prof, &cursor, &row); i++) {                                      \
            char place[64];                                                                        \
            (void)snprintf(place, sizeof place, where "/%zu", i);                                  \
            say_##type(place, &row);                                                               \
        }                                                                                          \
    } while (0)

#define LIST(where, type, read, most)                                                              \
    do {                                                                                           \
        static type rows[most];                                                                    \
        size_t count = read(&prof, rows, most);                                                    \
        for (size_t i = 0; i < count && i < (most); i++) {                                         \
            char place[64];                                                                        \
            (void)snprintf(place, sizeof place, where "/%zu", i);                                  \
            say_##type(place, rows + i);                                                           \
        }                                                                                          \
    } while (0)

static void say_stalls(void)
{
    uint64_t cursor = 0;
    chroprof_stall row;
    for (size_t i = 0; chroprof_next_stall(&prof, &cursor, &row); i++) {
        char place[64];
        (void)snprintf(place, sizeof place, "stalls/%zu", i);
        say_chroprof_stall(place, &row);
        for (uint32_t k = 0; k < row.share_count; k++) {
            (void)snprintf(place, sizeof place, "stalls/%zu/shares/%u", i, (unsigned)k);
            say_chroprof_stall_share(place, row.shares + k);
        }
        for (uint32_t k = 0; k < row.sample_count; k++) {
            (void)snprintf(place, sizeof place, "stalls/%zu/samples/%u", i, (unsigned)k);
            say_chroprof_stall_sample(place, row.samples + k);
        }
    }
}

static void say_slowest(void)
{
    uint64_t cursor = 0;
    chroprof_slow row;
    for (size_t i = 0; chroprof_next_slowest(&prof, &cursor, &row); i++) {
        char place[64];
        (void)snprintf(place, sizeof place, "slowest/%zu", i);
        say_chroprof_slow(place, &row);
        for (uint32_t k = 0; k < row.blame_count; k++) {
            (void)snprintf(place, sizeof place, "slowest/%zu/blames/%u", i, (unsigned)k);
            say_chroprof_slow_blame(place, row.blames + k);
        }
    }
}

static void say_anomalies(void)
{
    chroprof_anomaly row;
    for (int i = 0; chroprof_read_anomaly(&prof, (chroprof_anomaly_kind)i, &row); i++) {
        char place[64];
        (void)snprintf(place, sizeof place, "anomalies/%d", i);
        say_chroprof_anomaly(place, &row);
        for (int k = 0; k < 2 && row.placed; k++) {
            (void)snprintf(place, sizeof place, "anomalies/%d/places/%d", i, k);
            say_chroprof_anomaly_place(place, k == 0 ? &row.first : &row.last);
        }
    }
}

static void say_stacks(void)
{
    uint64_t cursor = 0;
    chroprof_stack_row row;
    for (size_t i = 0; chroprof_next_stack(&prof, &cursor, &row); i++) {
        char place[64];
        (void)snprintf(place, sizeof place, "stacks/%zu", i);
        say_chroprof_stack_row(place, &row);
        say_chroprof_stack_frame(place, &row.frame);
    }
}

static void say_all(void)
{
    chroprof_totals totals;
    chroprof_sampler_totals sampler;
    chroprof_options options;
    chroprof_origin origin;
    chroprof_read_totals(&prof, &totals);
    say_chroprof_totals("totals", &totals);
    chroprof_read_sampler(&prof, &sampler);
    say_chroprof_sampler_totals("sampler", &sampler);
    chroprof_read_options(&prof, &options);
    say_chroprof_options("options", &options);
    chroprof_read_origin(&prof, &origin);
    say_chroprof_origin("", &origin);
    ROWS("sites", chroprof_rank, chroprof_next_rank);
    ROWS("paths", chroprof_path, chroprof_next_path);
    ROWS("futures", chroprof_future, chroprof_next_future);
    ROWS("samples", chroprof_sample_row, chroprof_next_sample);
    ROWS("wall", chroprof_wall, chroprof_next_wall);
    LIST("windows", chroprof_window, chroprof_windows, 1000);
    LIST("tables", chroprof_table, chroprof_tables, CHROPROF_TABLE_COUNT);
    LIST("findings", chroprof_finding, chroprof_findings, CHROPROF_FINDING_COUNT);
    LIST("task_waits", chroprof_task_wait, chroprof_task_waits, 64);
    LIST("modules", chroprof_module, chroprof_modules, 64);
    say_stalls();
    say_slowest();
    say_anomalies();
    say_stacks();
}

int main(int argc, char **argv)
{
    chroprof_options options;
    memset(&options, 0, sizeof options);
    options.clock = chroprof_clock_manual;
    options.stall_ns = 1900;
    options.window_ns = 5000;
    options.name = "values";
    options.max_samples = 100;
    if (argc != 2 || chroprof_init(&prof, memory, sizeof memory, &options) != CHROPROF_OK)
        return 2;
    play();
    if (dump(argv[1]) != 0 || chroprof_check(&prof) != NULL)
        return 1;
    say_all();
    return 0;
}
