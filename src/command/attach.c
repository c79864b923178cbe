/* attach.c - chroprof attach: watches a program that runs, from outside, and reports what blocks
 * its loops; see attach.h */

#define _GNU_SOURCE 1

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../../chroprof.h"
#include "attach.h"
#include "block.h"
#include "commands.h"
#include "formats.h"
#include "message.h"
#include "options.h"
#include "output.h"
#include "program.h"
#include "values.h"

typedef struct attach_options {
    uint64_t for_ns, stall_ns, rate;
    const char *out_name, *report_name, *threads;
} attach_options;

static const char *set_attach_stall(void *field, const char *value)
{
    uint64_t *ns = (uint64_t *)field;
    uint64_t ms;
    if (read_count(value, 1, 3600000, &ms)) {
        *ns = ms * 1000000;
        return NULL;
    }
    return read_duration(value, ns) && *ns > 0
           ? NULL : "expected milliseconds, or a duration such as 500us or 1s";
}

static const char *set_for(void *field, const char *value)
{
    uint64_t *ns = (uint64_t *)field;
    uint64_t seconds;
    if (read_count(value, 1, 8640000, &seconds)) {
        *ns = seconds * 1000000000u;
        return NULL;
    }
    return read_duration(value, ns) && *ns > 0
           ? NULL : "expected seconds, or a duration such as 500ms or 2m";
}

static const char *set_rate(void *field, const char *value)
{
    return read_count(value, 1, 1000, (uint64_t *)field) ? NULL : "expected 1 to 1000 a second";
}

#ifdef __linux__

enum { THREADS = 64, PROFILE_SIZE = 2 << 20, LOG_ROWS = 1 << 20, SHOWN = 8 };

typedef struct attach {
    attach_options o;
    pid_t pid;
    char program[64];
    attach_thread *threads[THREADS];
    size_t count;
    attach_image image;
    attach_costs costs;
    uint64_t begin_ns, scan_ns, period_ns, random;
    uint64_t failed;           /* looks that could not be taken */
    bool go, ended, told;
    unsigned beyond;           /* threads for which there was no room */
} attach;

static volatile sig_atomic_t attach_stopped;

static void stop_attach(int number)
{
    attach_stopped = number;
}

/* >>looking */

static uint64_t some(attach *a)
{
    a->random = a->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return a->random >> 33;
}

/* Half a period to one and a half. */
static uint64_t next_look(attach *a)
{
    return a->period_ns / 2 + some(a) % a->period_ns;
}

/* Is it asleep where it was before, without having run? */
static bool has_not_moved(const attach_facts *a, const attach_facts *b)
{
    return a->call >= 0 && a->call == b->call && a->stack == b->stack && a->code == b->code &&
           a->first == b->first && a->turns == b->turns && a->cpu_ns == b->cpu_ns;
}

static bool is_same_site(const attach *a, const attach_site *s, const attach_facts *f)
{
    static unsigned char bytes[64 << 10];
    size_t need = s->words > 0 ? s->at[s->words - 1] + 8u : 0;
    if (s->stack == 0 || s->key.call != f->call || s->key.stack != f->stack ||
        s->key.code != f->code || s->key.first != f->first || need > sizeof bytes ||
        attach_read(a->pid, f->stack, bytes, need) < need) {
        return false;
    }
    for (uint32_t i = 0; i < s->words; i++) {
        if (memcmp(bytes + s->at[i], &s->value[i], 8) != 0) {
            return false;
        }
    }
    return true;
}

/* The words of the stack that hold the return addresses. */
static void keep_site(attach_thread *t, const attach_image *image, const attach_facts *f,
                      const uint64_t *frames, size_t count, uint32_t stack)
{
    attach_site *s = &t->sites[t->next_site++ % ATTACH_SITES];
    size_t at = 0;
    memset(s, 0, sizeof *s);
    s->key = *f;
    s->stack = image->stack == f->stack ? stack : 0;
    for (size_t i = 1; i < count && s->words < ATTACH_WORDS; i++) {
        size_t look = at;
        uint64_t word = 0;
        for (; look + 8 <= image->copied && look < (60u << 10) && word != frames[i]; look += 8) {
            memcpy(&word, image->copy + look, 8);
        }
        if (word == frames[i]) {
            s->at[s->words] = (uint32_t)(look - 8);
            s->value[s->words++] = word;
            at = look;
        }
    }
}

static uint32_t known_site(const attach *a, const attach_thread *t, const attach_facts *f)
{
    for (size_t i = 0; f->call >= 0 && i < ATTACH_SITES; i++) {
        if (is_same_site(a, &t->sites[i], f)) {
            return t->sites[i].stack;
        }
    }
    return 0;
}

/* After a stop the kernel goes on with some calls under another number. */
static void name_restarted(const attach_thread *t, attach_facts *f)
{
    for (size_t i = 0; attach_is_restart(f->call) && i < ATTACH_SITES; i++) {
        const attach_site *s = &t->sites[i];
        if (s->key.call >= 0 && s->key.stack == f->stack && s->key.code == f->code) {
            f->call = s->key.call;
            f->first = s->key.first;
        }
    }
    if (attach_is_restart(f->call) && t->last.call >= 0 && t->last.stack == f->stack) {
        f->call = t->last.call;
    }
}

static void add_row(attach_thread *t, const attach_row *row)
{
    attach_log *log = &t->log;
    if (log->count == log->room && log->room < LOG_ROWS) {
        size_t room = log->room > 0 ? 2 * log->room : 1024;
        attach_row *rows = (attach_row *)realloc(log->rows, room * sizeof *rows);
        if (rows != NULL) {
            log->rows = rows;
            log->room = room;
        }
    }
    if (log->count == log->room && log->count > 0) {      /* the older half goes */
        memmove(log->rows, log->rows + log->count / 2,
                (log->count - log->count / 2) * sizeof *log->rows);
        log->count -= log->count / 2;
    }
    if (log->count < log->room) {
        log->rows[log->count++] = *row;
    }
}

/* What looking at a system call costs the thread is not seen from here; with this it stays far below
 * a hundredth of its time. */
static bool may_watch(const attach *a, uint64_t now)
{
    return a->costs.watched_calls * 40000u < (now - a->begin_ns) / 100 + 1000000;
}

/* Stops the thread for its stack; false: it could not be taken. */
static bool take_stack(attach *a, attach_thread *t, attach_facts *f, attach_row *row)
{
    uint64_t frames[ATTACH_FRAMES];
    const attach_row *before = t->log.count > 0 ? &t->log.rows[t->log.count - 1] : NULL;
    bool wait = attach_is_wait(f->call);
    bool watch = !wait && (before == NULL || !attach_is_wait(before->call)) &&
                 may_watch(a, row->at_ns);
    bool watched = t->watched;
    size_t count;
    if (!attach_copy(t, a->pid, &a->image, &a->costs, watch)) {
        row->same = t->watched && !t->waited;
        return false;
    }
    count = attach_unwind(&a->image, frames);
    row->stack = attach_keep(frames, count);
    if (f->call == ATTACH_RUNS) {
        row->call = (int32_t)a->image.call;
    } else {
        keep_site(t, &a->image, f, frames, count, row->stack);
    }
    row->same = watched && !t->waited;
    t->waited = false;
    return true;
}

static void look(attach *a, attach_thread *t)
{
    attach_facts f;
    attach_row row;
    bool first = t->log.count == 0;
    memset(&row, 0, sizeof row);
    attach_settle(t, &a->costs);
    if (t->gone || !attach_look(t, &f)) {
        t->gone = true;
        return;
    }
    t->seen = f;
    name_restarted(t, &f);
    row.at_ns = attach_now();
    row.cpu_ns = f.cpu_ns;
    row.queue_ns = f.queue_ns;
    row.call = (int32_t)f.call;
    if (!first && has_not_moved(&t->last, &f)) {
        row.same = true;
        row.stack = t->log.rows[t->log.count - 1].stack;
        row.call = t->log.rows[t->log.count - 1].call;
    } else {
        row.stack = known_site(a, t, &f);
        row.same = t->watched && !t->waited && row.stack != 0;
        if (row.stack == 0 && !take_stack(a, t, &f, &row)) {
            a->failed++;
        }
    }
    t->loop = t->loop || attach_is_wait(row.call) || t->waited;
    t->last = f;
    add_row(t, &row);
}

/* >>threads */

static bool is_listed(const char *list, pid_t tid)
{
    char *end;
    while (list != NULL && *list != '\0') {
        if (strtol(list, &end, 10) == (long)tid) {
            return true;
        }
        list = *end != '\0' ? end + 1 : end;
    }
    return list == NULL;
}

static bool is_known(const attach *a, pid_t tid)
{
    for (size_t i = 0; i < a->count; i++) {
        if (a->threads[i]->tid == tid && !a->threads[i]->gone) {
            return true;
        }
    }
    return false;
}

static void add_thread(attach *a, pid_t tid)
{
    attach_thread *t;
    if (a->count == THREADS) {
        a->beyond++;
        return;
    }
    t = (attach_thread *)calloc(1, sizeof *t);
    if (t != NULL && attach_open(t, a->pid, tid)) {
        t->next_ns = attach_now() + some(a) % a->period_ns;
        t->loop = t->loop || a->o.threads != NULL;
        a->threads[a->count++] = t;
    } else {
        free(t);
    }
}

static void scan_threads(attach *a, uint64_t now)
{
    static pid_t all[1024];
    size_t count = attach_threads(a->pid, all, 1024);
    a->scan_ns = now + 250000000u;
    a->ended = count == 0;
    a->beyond = 0;
    for (size_t i = 0; i < count; i++) {
        if (!is_known(a, all[i]) && is_listed(a->o.threads, all[i])) {
            add_thread(a, all[i]);
        }
    }
}

/* >>the first words: it hangs */

static const char *what_holds(const attach_log *log, uint32_t stack, char *name, size_t size)
{
    const uint64_t *frames;
    size_t count = attach_stack(stack, &frames);
    size_t inside = count > 0 ? attach_inside(stack, log) : 0;
    attach_module m;
    name[0] = '\0';
    for (size_t i = inside, unnamed = 0; i > 0 && unnamed < 3; i--) {
        uint64_t at = frames[i - 1] - (i > 1);
        if (attach_find(at, &m) && !m.libc && !m.loops) {
            bool named = attach_symbol(at) != NULL;
            if (named || unnamed++ == 0) {
                attach_name(at, name, size);
            }
            if (named) {
                return name;
            }
        }
    }
    if (name[0] != '\0') {
        return name;
    }
    if (count > 0) {
        attach_name(frames[0], name, size);
    }
    return name;
}

static void tell_thread(const attach *a, const attach_thread *t, char *text, size_t size)
{
    (void)snprintf(text, size, "%s %s%s%ld", a->program, t->main ? "" : t->name,
                   t->main ? "" : " ", (long)t->tid);
}

static void tell_hang(attach *a, const attach_thread *t)
{
    const attach_log *log = &t->log;
    char who[96];
    char name[200];
    const attach_row *last = &log->rows[log->count - 1];
    uint64_t length = last->at_ns - log->rows[0].at_ns;
    uint64_t cpu = last->cpu_ns - log->rows[0].cpu_ns + (last->queue_ns - log->rows[0].queue_ns);
    tell_thread(a, t, who, sizeof who);
    tool_line("\xE2\x80\xA2 %s hangs: no return to its loop for at least %.1f s, since before "
              "attaching, in %s (%s)", who, (double)length / 1e9,
              what_holds(log, last->stack, name, sizeof name),
              cpu > length / 2 ? "it computes"
              : last->call >= 0 ? attach_call_name(last->call) : "waiting");
    a->told = true;
}

/* From the first look on it made no wait. */
static bool hangs(const attach_thread *t, uint64_t least_ns)
{
    const attach_log *log = &t->log;
    if (!t->loop || log->count < 4 ||
        (attach_is_wait(log->rows[0].call) && attach_is_idle(log->rows[0].stack, log))) {
        return false;
    }
    for (size_t i = 2; i < log->count; i++) {
        if (!log->rows[i].same) {
            return false;
        }
    }
    return log->rows[log->count - 1].at_ns - log->rows[0].at_ns >= least_ns;
}

static void look_for_hangs(attach *a, uint64_t now)
{
    if (a->told || now - a->begin_ns < 1000000000u || now - a->begin_ns > 2000000000u) {
        return;
    }
    for (size_t i = 0; i < a->count; i++) {
        if (!a->threads[i]->gone && hangs(a->threads[i], 500000000u)) {
            tell_hang(a, a->threads[i]);
        }
    }
}

/* >>a loop that spins */

/* Does the stack end in the C library's function of a wait, or a wait without one? */
static bool runs_in_wait(uint32_t stack)
{
    static const char *const names[] = { "epoll_wait", "epoll_pwait", "poll", "ppoll", "select",
                                         "pselect", "__poll", "__select", "syscall" };
    const uint64_t *frames;
    const char *symbol = attach_stack(stack, &frames) > 0 ? attach_symbol(frames[0]) : NULL;
    for (size_t i = 0; symbol != NULL && i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(symbol, names[i]) == 0) {
            return true;
        }
    }
    return false;
}

/* Its wait returns at once: it computes nearly all the time, and a good part of that in the wait. */
static bool spins(const attach_thread *t)
{
    const attach_log *log = &t->log;
    size_t inside = 0;
    uint64_t used;
    uint64_t length;
    if (!t->loop || log->count < 20) {
        return false;
    }
    for (size_t i = 0; i < log->count; i++) {
        inside += log->rows[i].call == ATTACH_RUNS && runs_in_wait(log->rows[i].stack);
    }
    used = log->rows[log->count - 1].cpu_ns - log->rows[0].cpu_ns +
           (log->rows[log->count - 1].queue_ns - log->rows[0].queue_ns);
    length = log->rows[log->count - 1].at_ns - log->rows[0].at_ns;
    return used > length / 10 * 8 && inside > log->count / 4;
}

static void look_for_spins(attach *a)
{
    for (size_t i = 0; i < a->count; i++) {
        attach_thread *t = a->threads[i];
        if (!t->gone && spins(t)) {
            t->spins = true;
            if (!attach_ready(a->pid, (int)t->wait_first, t->ready, sizeof t->ready)) {
                t->ready[0] = '\0';
            }
        }
    }
}

/* >>watching */

static uint64_t look_at_due(attach *a, uint64_t now)
{
    uint64_t next = now + a->period_ns;
    bool stopped = attach_is_stopped(a->pid);
    for (size_t i = 0; i < a->count; i++) {
        attach_thread *t = a->threads[i];
        if (t->gone) {
            continue;
        }
        attach_settle(t, &a->costs);
        if (t->next_ns <= now) {
            if (!stopped) {
                look(a, t);
            }
            t->next_ns = now + next_look(a) * (t->loop || t->log.count < 20 ? 1 : 10);
        }
        next = t->next_ns < next ? t->next_ns : next;
    }
    return next;
}

static void watch_program(attach *a)
{
    uint64_t end = a->o.for_ns > 0 ? a->begin_ns + a->o.for_ns : UINT64_MAX;
    sigset_t child;
    (void)sigemptyset(&child);
    (void)sigaddset(&child, SIGCHLD);
    for (;;) {
        uint64_t now = attach_now();
        uint64_t next;
        if (now >= a->scan_ns) {
            scan_threads(a, now);
        }
        if (attach_stopped != 0 || a->ended || now >= end) {
            break;
        }
        look_for_hangs(a, now);
        next = look_at_due(a, now);
        next = next < end ? next : end;
        now = attach_now();
        if (next > now) {
            const struct timespec rest = { (time_t)((next - now) / 1000000000u),
                                           (long)((next - now) % 1000000000u) };
            (void)sigtimedwait(&child, NULL, &rest);
        }
    }
    look_for_spins(a);
    for (size_t i = 0; i < a->count; i++) {
        attach_release(a->threads[i]);
    }
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
            if (attach_find(frames[k] - (k > 0), &found)) {
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

/* The profile of a thread, as a copy that others can read. */
static bool make_profile(attach_profile *made, const attach *a, const attach_thread *t)
{
    static char name[96];
    static uint64_t clock_ns;
    chroprof_options o;
    chroprof_origin origin;
    memset(&o, 0, sizeof o);
    memset(&origin, 0, sizeof origin);
    tell_thread(a, t, name, sizeof name);
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
    chroprof_set_origin(&made->profile, &origin);
    add_modules(&made->profile, &t->log);
    attach_feed(&made->profile, &t->log, a->o.stall_ns, &made->report);
    made->file.name = made->file.place = name;
    made->file.size = PROFILE_SIZE;
    made->file.copy = malloc(PROFILE_SIZE);
    return made->file.copy != NULL &&
           chroprof_snapshot(made->block, PROFILE_SIZE, made->file.copy, PROFILE_SIZE) ==
               CHROPROF_OK &&
           block_view(&made->file) == CHROPROF_OK;
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
    if (s->open) {
        (void)snprintf(text, size, "at least %.*f %s", digits, (double)s->least_ns / unit, name);
    } else {
        (void)snprintf(text, size, "%.*f to %.*f %s", digits, (double)s->least_ns / unit, digits,
                       (double)s->most_ns / unit, name);
    }
}

static void tell_activation(const attach *a, const attach_thread *t, const attach_activation *s)
{
    char who[96];
    char name[200];
    char length[80];
    char what[120];
    double cpu = percent_of(s->cpu_ns, s->least_ns);
    double queue = percent_of(s->queue_ns, s->least_ns);
    tell_thread(a, t, who, sizeof who);
    tell_length(s, length, sizeof length);
    (void)what_holds(&t->log, s->stack, name, sizeof name);
    if (s->call >= 0 && cpu + queue < 50) {
        (void)snprintf(what, sizeof what, "%.0f %% of it waiting in %s", 100 - cpu - queue,
                       attach_call_name(s->call));
    } else if (queue >= 10) {
        (void)snprintf(what, sizeof what, "%.0f %% of it on the CPU, %.0f %% waiting for one", cpu,
                       queue);
    } else {
        (void)snprintf(what, sizeof what, "%.0f %% of it on the CPU", cpu);
    }
    tool_line("\xE2\x80\xA2 %s blocked the loop of %s for %s, %s", name, who, length, what);
}

static void tell_spin(const attach *a, const attach_thread *t)
{
    char who[96];
    tell_thread(a, t, who, sizeof who);
    if (t->spins) {
        tool_line("\xE2\x80\xA2 the loop of %s spins: its wait returns at once, and it uses a "
                  "processor for that%s%s", who, t->ready[0] != '\0' ? ": " : "", t->ready);
    }
}

static bool write_copy(void *user, FILE *out)
{
    const block_file *file = (const block_file *)user;
    return fwrite(file->copy, 1, file->size, out) == file->size;
}

static int keep_profile(const attach *a, attach_profile *made, size_t number)
{
    char name[4200];
    if (a->o.out_name == NULL) {
        return TOOL_OK;
    }
    (void)snprintf(name, sizeof name, number == 0 ? "%s" : "%s.%zu", a->o.out_name, number + 1);
    return output_write(name, write_copy, &made->file);
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
        result = output_write(path, write_copy, &made->file);
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
    if (make_profile(&made, a, t)) {
        tell_spin(a, t);
        for (size_t i = 0; i < made.report.count; i++) {
            tell_activation(a, t, &made.report.activations[i]);
        }
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
    if (a->failed > 0) {
        tool_message("attach: %" PRIu64 " looks found a thread that could not be stopped at once",
                     a->failed);
    }
}

static int report_all(attach *a)
{
    int result = TOOL_OK;
    size_t loops = 0;
    qsort(a->threads, a->count, sizeof a->threads[0], busiest_thread);
    for (size_t i = 0; i < a->count && a->threads[i]->loop && result == TOOL_OK; i++) {
        if (a->threads[i]->log.count > 1) {
            result = report_thread(a, a->threads[i], loops++);
        }
    }
    if (loops == 0) {
        tool_message("attach: process %ld ended before it could be looked at", (long)a->pid);
        return TOOL_INPUT;
    }
    tell_costs(a);
    return result;
}

/* >>command */

static bool is_go(pid_t pid)
{
    char path[40];
    (void)snprintf(path, sizeof path, "/proc/%ld/exe", (long)pid);
    return program_is_go(path);
}

static bool has_process(pid_t pid)
{
    char text[64];
    return attach_status(pid, "Name:", text, sizeof text);
}

static bool begin_attach(attach *a, const char *word)
{
    uint64_t pid;
    const char *why;
    sigset_t child;
    if (!read_count(word, 1, INT32_MAX, &pid) || !has_process((pid_t)pid)) {
        tool_message("attach: there is no process %s (see: ps -e)", word);
        return false;
    }
    a->pid = (pid_t)pid;
    (void)attach_status(a->pid, "Name:", a->program, sizeof a->program);
    if (is_go(a->pid)) {
        tool_message("attach: %s is a Go program: its goroutines move between threads, and any "
                     "thread may poll for all, so no thread is a loop with idle time and stalls; "
                     "go tool pprof shows its functions", a->program);
        return false;
    }
    why = a->pid == getpid() ? "this is chroprof itself" : attach_refusal(a->pid);
    if (why != NULL) {
        tool_message("attach: process %s can't be watched: %s", word, why);
        return false;
    }
    (void)sigemptyset(&child);
    (void)sigaddset(&child, SIGCHLD);
    (void)sigprocmask(SIG_BLOCK, &child, NULL);
    (void)signal(SIGINT, stop_attach);
    (void)signal(SIGTERM, stop_attach);
    (void)signal(SIGPIPE, SIG_IGN);
    a->period_ns = a->o.rate > 0 ? 1000000000u / a->o.rate : 19000000u;
    a->random = attach_now() | 1;
    if (!attach_unwind_begin(a->pid)) {
        tool_message("attach: /proc/%s/maps can't be read: run this as its user or as root", word);
        return false;
    }
    a->begin_ns = attach_now();
    return true;
}

static int run_attach_on(attach *a, const char *word)
{
    if (!begin_attach(a, word)) {
        return TOOL_INPUT;
    }
    watch_program(a);
    return report_all(a);
}
#endif

static const char attach_text[] =
    "\n"
    "Nothing is loaded into the program and nothing in it changes. At random moments,\n"
    "every 19 ms on average, each of its threads is looked at. One that runs is stopped\n"
    "as long as it takes to copy its registers and its stack, some 50 us. Each thread\n"
    "that waits in epoll, poll or select is a loop; the report goes to standard error.\n"
    "\n"
    "All times are estimates. How long a callback blocked the loop is told as the least\n"
    "and the greatest length that fit what was seen. For exact figures start the program\n"
    "with chroprof run, or build chroprof.h in.\n"
    "\n"
    "A wait of a known loop (libuv, GLib, libevent, libev, sd-event) is idle; of others\n"
    "the shallowest wait of a thread. A deeper wait is a callback that is blocked.\n"
    "\n"
    "You need the right to trace the program: be its user, or root. Only one program\n"
    "can: not while gdb or strace do. Ctrl-C ends this command; the program goes on.\n"
    "If this command is killed (kill -9) while a thread is stopped, one system call of\n"
    "that thread may return EINTR. Go programs are refused: no thread of them is a loop.\n"
    "\n"
    "examples:\n"
    "  chroprof attach 4711\n"
    "  chroprof attach --for 30s -o now.chroprof $(pidof redis-server)\n";

static const tool_option attach_rows[] = {
    { "for", '\0', "S", "end after S seconds, or a duration such as 500ms\n"
      "(default: until Ctrl-C or the program's end)", set_for, offsetof(attach_options, for_ns),
      NULL },
    { "out", 'o', "FILE", "keep the profile of the busiest loop; the others go\nto FILE.2, FILE.3",
      set_text, offsetof(attach_options, out_name), NULL },
    { "report", '\0', "PAGE", "also write a page for a browser (the busiest loop)", set_text,
      offsetof(attach_options, report_name), NULL },
    { "rate", '\0', "HZ", "looks a second at each loop, 1 to 1000 (default: 53)", set_rate,
      offsetof(attach_options, rate), NULL },
    { "threads", '\0', "LIST", "only these threads, by number: 4711,4713", set_text,
      offsetof(attach_options, threads), NULL },
    { "stall", '\0', "MS", "blocking the loop longer than this is a stall\n"
      "(default 20 ms); a plain number is in ms", set_attach_stall,
      offsetof(attach_options, stall_ns), NULL }
};

static int run_attach(const tool_command *command, int count, char **words)
{
    static attach_options o;
    const char *pid = NULL;
    int result;
    o.stall_ns = 20000000;
    if (!take_words(command, count, words, &o, &pid, 1, &result)) {
        return result;
    }
    if (!output_possible(o.out_name) || !output_possible(o.report_name)) {
        return TOOL_USAGE;
    }
#ifdef __linux__
    static attach a;
    a.o = o;
    return run_attach_on(&a, pid);
#else
    tool_message("attach: needs Linux");
    return TOOL_INPUT;
#endif
}

const tool_command attach_command = {
    "attach", "[options] PID", { "PID" },
    "Watches a running program from outside and reports what blocks it.",
    attach_text, OPTIONS_OF(attach_rows), run_attach
};
