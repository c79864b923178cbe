/* attach_report.c - what was seen of a program from outside: its sentences, its profiles; see
 * attach_state.h */

#define _GNU_SOURCE 1
#include "attach_state.h"

#ifdef __linux__

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../../chroprof.h"
#include "block.h"
#include "commands.h"
#include "formats.h"
#include "made_names.h"
#include "message.h"
#include "output.h"

enum { PROFILE_SIZE = 2 << 20, SHOWN = 8, SENTENCES = 3 };

/* >>words */

void attach_who(const attach *a, const attach_thread *t, char *text, size_t size)
{
    (void)snprintf(text, size, "%s %s%s%ld", a->program, t->main ? "" : t->name,
                   t->main ? "" : " ", (long)t->tid);
}

/* >>reporting */

typedef struct attach_profile {
    void *block;
    chroprof profile;
    block_file file;
    attach_report report;
} attach_profile;

static uint64_t profile_clock(void *user)
{
    return *(const uint64_t *)user;
}

static void add_modules(chroprof *p, const attach_log *log)
{
    for (size_t i = 0; i < log->count; i++) {
        const uint64_t *frames;
        size_t count = i == 0 || log->rows[i].stack != log->rows[i - 1].stack
                       ? attach_stack(log->rows[i].stack, &frames) : 0;
        for (size_t k = 0; k < count; k++) {
            attach_module found;
            chroprof_module m;
            if (attach_find(frames[k] - (k > 0), &found) && found.path[0] != '\0') {
                memset(&m, 0, sizeof m);
                m.path = found.path;
                m.build_id = found.build_id;
                m.base = found.base;
                m.start = found.start;
                m.end = found.end;
                (void)chroprof_add_module(p, &m);
            }
        }
    }
}

/* The calendar's time then. */
static uint64_t unix_at(uint64_t at_ns)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec - (attach_now() - at_ns);
}

/* The profile of a thread, as a copy that others can read. */
static bool make_profile(attach_profile *made, const attach *a, const attach_thread *t,
                         bool goes_on)
{
    static char name[96];
    static uint64_t clock_ns;
    chroprof_options o;
    chroprof_origin origin;
    memset(&o, 0, sizeof o);
    memset(&origin, 0, sizeof origin);
    attach_who(a, t, name, sizeof name);
    clock_ns = t->log.rows[0].at_ns;
    o.clock = profile_clock;
    o.clock_user = &clock_ns;
    o.stall_ns = a->o.stall_ns;
    o.name = name;
    made->block = malloc(PROFILE_SIZE);
    if (made->block == NULL ||
        chroprof_init(&made->profile, made->block, PROFILE_SIZE, &o) != CHROPROF_OK) {
        return false;
    }
    origin.pid = (uint64_t)a->pid;
    origin.program = a->program;
    origin.estimated = true;
    origin.end_unix_ns = unix_at(t->log.rows[0].at_ns);
    chroprof_set_origin(&made->profile, &origin);
    if (a->process) {
        for (size_t i = 0; i < a->count; i++) {
            add_modules(&made->profile, &a->threads[i]->log);
        }
        attach_feed_process(&made->profile, a);
    } else {
        add_modules(&made->profile, &t->log);
        attach_feed(&made->profile, &t->log, a->o.stall_ns, goes_on, &made->report);
    }
    made->file.name = made->file.place = name;
    made->file.size = PROFILE_SIZE;
    made->file.copy = malloc(PROFILE_SIZE);
    if (made->file.copy == NULL ||
        chroprof_snapshot(made->block, PROFILE_SIZE, made->file.copy, PROFILE_SIZE) !=
            CHROPROF_OK ||
        block_view(&made->file) != CHROPROF_OK) {
        return false;
    }
    made_names_keep(made->file.copy, PROFILE_SIZE, attach_python_names());
    return true;
}

static double percent_of(uint64_t part, uint64_t whole)
{
    return whole > 0 ? 100.0 * (double)(part < whole ? part : whole) / (double)whole : 0;
}

/* "389 ms", or what is known of it: "389 to 429 ms", "at least 1.98 s". */
static void tell_length(const attach_activation *s, char *text, size_t size)
{
    bool long_one = s->least_ns >= 1000000000u;
    double unit = long_one ? 1e9 : 1e6;
    int digits = long_one ? 2 : 0;
    const char *name = long_one ? "s" : "ms";
    if (s->open || s->most_ns / 10 > s->least_ns) {
        (void)snprintf(text, size, "at least %.*f %s", digits, (double)s->least_ns / unit, name);
    } else {
        (void)snprintf(text, size, "%.*f to %.*f %s", digits, (double)s->least_ns / unit, digits,
                       (double)s->most_ns / unit, name);
    }
}

/* Where its time went, as far as that is known. */
static void tell_cpu(const attach_activation *s, char *text, size_t size)
{
    double cpu = percent_of(s->cpu_ns, s->least_ns);
    double queue = percent_of(s->queue_ns, s->least_ns);
    queue = queue < 100 - cpu ? queue : 100 - cpu;     /* the kernel updates it now and then */
    if (s->call >= 0 && cpu + queue < 50) {
        (void)snprintf(text, size, "%.0f %% of it waiting in %s", 100 - cpu - queue,
                       attach_call_name(s->call));
    } else if (queue >= 10) {
        (void)snprintf(text, size, "%.0f %% of it on the CPU, %.0f %% waiting for one", cpu, queue);
    } else {
        (void)snprintf(text, size, "%.0f %% of it on the CPU", cpu);
    }
}

static void tell_activation(const attach *a, const attach_thread *t, const attach_activation *s,
                            const char *name, const char *number)
{
    char who[96];
    char length[80];
    char cpu[120];
    char way[300];
    attach_who(a, t, who, sizeof who);
    tell_length(s, length, sizeof length);
    tell_cpu(s, cpu, sizeof cpu);
    attach_way(&t->log, s->stack, way, sizeof way);
    if (strcmp(way + strspn(way, "_"), attach_call_name(s->call)) == 0) {
        way[0] = '\0';                      /* said already */
    }
    tool_line("\xE2\x80\xA2 %s blocked the loop of %s for %s%s, %s%s%s", name, who, length, number,
              cpu, way[0] != '\0' ? ", in " : "", way);
}

/* The longest of each function, three of them. */
static void tell_activations(const attach *a, const attach_thread *t, const attach_report *report)
{
    static char names[SENTENCES][200];
    char number[64] = "";
    size_t told = 0;
    if (report->stalls > 1) {
        (void)snprintf(number, sizeof number, " (the longest of %" PRIu64 " stalls)",
                       report->stalls);
    }
    for (size_t i = 0; i < report->count && told < SENTENCES; i++) {
        const attach_activation *s = &report->activations[i];
        bool known = false;
        (void)attach_holder(&t->log, s->stack, names[told], sizeof names[told]);
        for (size_t k = 0; k < told; k++) {
            known = known || strcmp(names[k], names[told]) == 0;
        }
        if (!known) {
            tell_activation(a, t, s, names[told], told == 0 ? number : "");
            told++;
        }
    }
}

static void tell_spin(const attach *a, const attach_thread *t)
{
    char who[96];
    attach_who(a, t, who, sizeof who);
    if (t->spins && !a->epoll && attach_crowd(t) > 0) {
        tool_line("\xE2\x80\xA2 the loop of %s computes in its own wait: each %s looks at %" PRIu64
                  " descriptors (epoll does not)", who, attach_call_name(t->wait_call),
                  attach_crowd(t));
    } else if (t->spins) {
        tool_line("\xE2\x80\xA2 the loop of %s spins: its wait returns at once, and it uses a "
                  "processor for that%s%s", who, t->ready[0] != '\0' ? ": " : "", t->ready);
    }
}

bool attach_write_copy(void *user, FILE *out)
{
    const block_file *file = (const block_file *)user;
    return fwrite(file->copy, 1, file->size, out) == file->size &&
           made_names_write(file->copy, out);
}

static int keep_profile(const attach *a, attach_profile *made, size_t number)
{
    char name[4200];
    if (a->o.out_name == NULL) {
        return TOOL_OK;
    }
    (void)snprintf(name, sizeof name, number == 0 ? "%s" : "%s.%zu", a->o.out_name, number + 1);
    return output_write(name, attach_write_copy, &made->file);
}

static int write_attach_page(const attach *a, attach_profile *made)
{
    char path[] = "/tmp/chroprof-attach-XXXXXX";
    char dash[] = "-o";
    char *words[] = { path, dash, (char *)(uintptr_t)a->o.report_name, NULL };
    int file = a->o.report_name != NULL ? mkstemp(path) : -1;
    int result = TOOL_OK;
    if (file >= 0) {
        (void)close(file);
        result = output_write(path, attach_write_copy, &made->file);
        result = result == TOOL_OK ? report_command.run(&report_command, 3, words) : result;
        (void)unlink(path);
    }
    return result;
}

static int report_thread(const attach *a, const attach_thread *t, size_t number)
{
    static attach_profile made;
    format_options text;
    int result = TOOL_INPUT;
    memset(&made, 0, sizeof made);
    memset(&text, 0, sizeof text);
    text.format = CHROPROF_TEXT;
    text.causes = true;
    if (make_profile(&made, a, t, false)) {
        tell_spin(a, t);
        tell_activations(a, t, &made.report);
        if (number < SHOWN) {
            (void)write_view(&text, &made.file.view, made.file.name, true, stderr);
        }
        result = keep_profile(a, &made, number);
        if (number == 0 && result == TOOL_OK) {
            result = write_attach_page(a, &made);
        }
    }
    block_close(&made.file);
    free(made.block);
    return result;
}

static uint64_t busy_of(const attach_thread *t)
{
    const attach_log *log = &t->log;
    return log->count > 0 ? log->rows[log->count - 1].cpu_ns - log->rows[0].cpu_ns : 0;
}

static int busiest_thread(const void *x, const void *y)
{
    const attach_thread *a = *(attach_thread *const *)x;
    const attach_thread *b = *(attach_thread *const *)y;
    if (a->loop != b->loop) {
        return a->loop ? -1 : 1;
    }
    return busy_of(a) != busy_of(b) ? (busy_of(a) < busy_of(b) ? 1 : -1) : a->tid - b->tid;
}

static void tell_costs(const attach *a)
{
    const attach_costs *c = &a->costs;
    struct timespec cpu;
    uint64_t elapsed = attach_now() - a->begin_ns;
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu);
    tool_message("attach: stopped a thread %" PRIu64 " times, %.2f %% of the time, at most %.2f ms%s; "
                 "%" PRIu64 " stops were longer than 2 ms; this command took %.1f %% of a core",
                 c->stops, 100.0 * (double)c->stopped_ns / (double)elapsed,
                 (double)c->longest_ns / 1e6, "", c->long_stops,
                 100.0 * ((double)cpu.tv_sec * 1e9 + (double)cpu.tv_nsec) / (double)elapsed);
    if (attach_cuts() > 0) {
        tool_message("attach: stops ended %" PRIu64 " system calls of the program early", attach_cuts());
    }
    if (a->became) {
        tool_message("attach: process %ld has become another program (exec), and was watched until "
                     "then; attach again for the new one", (long)a->pid);
    }
    if (a->failed > 0) {
        tool_message("attach: %" PRIu64 " looks found a thread that could not be stopped at once",
                     a->failed);
    }
}

static void find_own_wait(const attach *a, attach_thread *t)
{
    if (!a->epoll && t->waits == 0) {
        attach_find_own_wait(&t->log);
    }
    attach_find_rest(&t->log, t->waits > 0 && t->looks == t->waits, a->epoll);
}

static void skip_start(attach_thread *t)
{
    uint64_t skipped = attach_skip_start(&t->log);
    if (skipped > 0 && t->loop) {
        tool_message("attach: the program had only begun: its first %.2f s, up to a wait, are taken "
                     "for its start and left out", (double)skipped / 1e9);
    }
}

/* One for all its threads. */
static int report_process(const attach *a)
{
    static attach_profile made;
    const attach_thread *t = NULL;
    int result = TOOL_OK;
    memset(&made, 0, sizeof made);
    for (size_t i = 0; i < a->count; i++) {
        t = a->threads[i]->main ? a->threads[i] : t;
    }
    attach_tell_process(a);
    if ((a->o.out_name != NULL || a->o.report_name != NULL) && t != NULL && t->log.count > 0) {
        result = make_profile(&made, a, t, false) ? keep_profile(a, &made, 0) : TOOL_INPUT;
        result = result == TOOL_OK ? write_attach_page(a, &made) : result;
    }
    block_close(&made.file);
    free(made.block);
    tell_costs(a);
    return result;
}

int attach_report_all(attach *a)
{
    int result = TOOL_OK;
    size_t loops = 0;
    if (a->process) {
        return report_process(a);
    }
    for (size_t i = 0; i < a->count; i++) {
        attach_thread *t = a->threads[i];
        t->loop = t->loop && (a->o.threads != NULL || !attach_only_joins(a, t));
        find_own_wait(a, t);
        skip_start(t);
    }
    qsort(a->threads, a->count, sizeof a->threads[0], busiest_thread);
    for (size_t i = 0; i < a->count && a->threads[i]->loop && result == TOOL_OK; i++) {
        if (a->threads[i]->log.count > 1) {
            result = report_thread(a, a->threads[i], loops++);
        }
    }
    if (loops == 0) {
        tool_message(a->ended ? "attach: process %ld ended before it could be looked at"
                     : attach_is_stopped(a->pid)
                     ? "attach: process %ld is stopped, nothing in it runs: kill -CONT goes on"
                     : "attach: process %ld was not looked at twice: give --for more time",
                     (long)a->pid);
        return TOOL_INPUT;
    }
    tell_costs(a);
    return result;
}

/* >>again and again */

static const attach_thread *busiest_loop(const attach *a)
{
    const attach_thread *best = NULL;
    for (size_t i = 0; i < a->count; i++) {
        const attach_thread *t = a->threads[i];
        if (t->loop && t->log.count > 1 && (!t->gone || a->ended) &&
            (best == NULL || busiest_thread(&t, &best) < 0)) {
            best = t;
        }
    }
    return best;
}

/* Is a wait taken for the loop's that was a callback's, or the other way round? Then what was said
 * before does not fit any more, and the profile begins anew. */
static bool is_revised(attach *a, const attach_log *log)
{
    bool revised = false;
    for (size_t i = 0; i < log->wait_count; i++) {
        bool idle = attach_is_idle(log->waits[i].stack, log);
        revised = revised || (i < a->live_waits && idle != a->live_idle[i]);
        a->live_idle[i] = idle;
    }
    a->live_waits = log->wait_count;
    return revised;
}

/* The same where a callback has another name than before. */
static bool is_renamed(attach *a, const chroprof *p)
{
    uint64_t cursor = 0;
    chroprof_rank rank;
    bool renamed = false;
    while (chroprof_next_rank(p, &cursor, &rank)) {
        uint32_t hash = 1;
        for (const char *at = rank.name; *at != '\0'; at++) {
            hash = (hash ^ (unsigned char)*at) * 0x9E3779B1u;
        }
        if (rank.id < ATTACH_NAMES) {
            renamed = renamed || (a->live_names[rank.id] != 0 && a->live_names[rank.id] != hash);
            a->live_names[rank.id] = hash;
        }
    }
    return renamed;
}

/* From here on; the last look is its first. */
static void begin_anew(attach *a, attach_log *log)
{
    log->rows[0] = log->rows[log->count - 1];
    log->count = 1;
    log->starts = false;
    memset(a->live_names, 0, sizeof a->live_names);
}

static bool put_live(const attach *a, const block_file *file)
{
    char path[4096];
    FILE *out;
    bool done;
    (void)snprintf(path, sizeof path, "%s.new", a->o.live_name);
    out = fopen(path, "wb");
    done = out != NULL && fwrite(file->copy, 1, file->size, out) == file->size;
    done = out != NULL && fclose(out) == 0 && done;
    return done && rename(path, a->o.live_name) == 0;
}

void attach_write_live(attach *a)
{
    static attach_profile made;
    uint64_t begin = attach_now();
    attach_thread *t = NULL;
    if (a->live == NULL || a->live->gone) {
        a->live = begin - a->begin_ns > a->o.live_ns ? busiest_loop(a) : NULL;
        a->live_waits = 0;
        memset(a->live_names, 0, sizeof a->live_names);
    }
    for (size_t i = 0; i < a->count; i++) {
        t = a->threads[i] == a->live ? a->threads[i] : t;
    }
    if (t != NULL) {
        find_own_wait(a, t);
        if (is_revised(a, &t->log)) {
            begin_anew(a, &t->log);
        }
        memset(&made, 0, sizeof made);
        if (make_profile(&made, a, t, true) && !is_renamed(a, &made.profile)) {
            (void)put_live(a, &made.file);
        } else {
            begin_anew(a, &t->log);
        }
        block_close(&made.file);
        free(made.block);
        a->write_cost_ns = a->write_cost_ns > 0 ? attach_now() - begin : 1;
    }
    a->write_ns = attach_now() + a->o.live_ns + 50 * a->write_cost_ns;
}

#endif
