/* attach_loop.c - from looks at a thread to a profile: which of its waits are the loop's, what ran
 * between them, and how long it certainly stayed there; see attach.h.
 *
 * Which wait is the loop's: one below a function of a known loop with none of the program's own in
 * between; else the shallowest one of those that part from the same function. All others are
 * callbacks that are blocked. A wait that nothing speaks against is the loop's. */

#define _GNU_SOURCE 1
#include "attach.h"

#ifdef __linux__

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "../../chroprof.h"
#include "../run/board.h"

/* >>which */

bool attach_is_template(const char *symbol)
{
    static const char *const begins[] = { "St", "5boost", "4asio", "9__gnu_cxx" };
    bool found = false;
    if (symbol == NULL || strncmp(symbol, "_Z", 2) != 0) {
        return false;
    }
    symbol += 2;
    symbol += *symbol == 'N';
    symbol += *symbol == 'K';
    for (size_t i = 0; i < sizeof begins / sizeof begins[0]; i++) {
        found = found || strncmp(symbol, begins[i], strlen(begins[i])) == 0;
    }
    return found;
}

static bool is_loop_function(const char *name)
{
    static const char *const names[] = { "uv_run", "uv__io_poll", "g_main_loop_run",
                                         "g_main_context_iteration", "g_application_run",
                                         "event_base_loop", "event_base_dispatch", "ev_run",
                                         "sd_event_run", "sd_event_loop", "sd_event_wait",
                                         "Tcl_WaitForEvent" };
    for (size_t i = 0; name != NULL && i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(name, names[i]) == 0) {
            return true;
        }
    }
    return false;
}

/* A program's own loop, whose wait may be deep inside it. */
static bool is_own_loop(const char *name)
{
    return name != NULL && (strcmp(name, "aeProcessEvents") == 0 || strcmp(name, "aeMain") == 0);
}

static size_t own_loop(const uint64_t *frames, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        if (is_own_loop(attach_symbol(frames[i] - 1))) {
            return i;
        }
    }
    return count;
}

/* The innermost frame of a known loop's function; count: there is none. alone: only frames of
 * loop libraries and of the C library lie inside it. */
static size_t known_loop(const uint64_t *frames, size_t count, bool *alone)
{
    *alone = true;
    for (size_t i = 0; i < count; i++) {
        attach_module m;
        bool found = attach_find(frames[i] - (i > 0), &m);
        if (is_loop_function(attach_symbol(frames[i] - (i > 0)))) {
            return i;
        }
        *alone = *alone && found && (m.loops || m.libc);
    }
    return count;
}

/* Does a function of a library run this loop for its own answer, as g_dbus_connection_call_sync does?
 * No other callback runs in it then. */
static bool is_for_answer(const uint64_t *frames, size_t count, size_t known)
{
    attach_module m;
    for (size_t i = known + 1; i < count && attach_find(frames[i] - 1, &m) && !m.program; i++) {
        const char *name = attach_symbol(frames[i] - 1);
        size_t length = name != NULL ? strlen(name) : 0;
        if (length > 5 && strcmp(name + length - 5, "_sync") == 0) {
            return true;
        }
    }
    return false;
}

/* How many of the outermost frames two stacks share. */
static size_t shared(uint32_t a, uint32_t b)
{
    const uint64_t *x;
    const uint64_t *y;
    size_t i = attach_stack(a, &x);
    size_t k = attach_stack(b, &y);
    size_t count = 0;
    while (i > 0 && k > 0 && x[i - 1] == y[k - 1]) {
        i--;
        k--;
        count++;
    }
    return count;
}

static const attach_wait *wait_of(uint32_t stack, const attach_log *log)
{
    for (size_t i = 0; i < log->wait_count; i++) {
        if (log->waits[i].stack == stack) {
            return &log->waits[i];
        }
    }
    return NULL;
}

void attach_note(attach_log *log, const attach_row *row)
{
    const uint64_t *frames;
    if (row->stack != 0 && log->first == 0) {
        log->first = row->stack;
        log->outer = attach_stack(row->stack, &frames);
    } else if (row->stack != 0 && row->stack != log->first) {
        size_t both = shared(log->first, row->stack);
        log->outer = both < log->outer ? both : log->outer;
    }
    if (row->stack != 0 && attach_is_wait(row->call) && log->wait_count < ATTACH_WAITS &&
        wait_of(row->stack, log) == NULL) {
        log->waits[log->wait_count].stack = row->stack;
        log->waits[log->wait_count++].call = row->call;
    }
}

static bool is_in_libc(const uint64_t *frames, size_t i)
{
    attach_module m;
    return attach_find(frames[i] - (i > 0), &m) && m.libc;
}

/* The program's end: main has returned, or called exit. What a callback calls is of that. */
static bool is_exit(uint32_t stack)
{
    const uint64_t *frames;
    size_t count = attach_stack(stack, &frames);
    for (size_t i = count; i-- > 1;) {
        const char *name = attach_symbol(frames[i] - 1);
        if (name != NULL && strcmp(name, "exit") == 0 && is_in_libc(frames, i)) {
            return (i + 1 < count && is_in_libc(frames, i + 1)) ||
                   (i + 2 < count && is_in_libc(frames, i + 2));
        }
    }
    return false;
}

/* The innermost frame that is not of the C library; count: there is none. */
static size_t first_own(const uint64_t *frames, size_t count)
{
    size_t i = 0;
    while (i < count && is_in_libc(frames, i)) {
        i++;
    }
    return i;
}

bool attach_is_main_alone(uint32_t stack)
{
    const uint64_t *frames;
    size_t count = attach_stack(stack, &frames);
    size_t own = first_own(frames, count);
    return own > 0 && own + 1 < count && is_in_libc(frames, own + 1);
}

bool attach_is_join(uint32_t stack)
{
    const uint64_t *frames;
    size_t count = attach_stack(stack, &frames);
    for (size_t i = 0; i < count && is_in_libc(frames, i); i++) {
        const char *name = attach_symbol(frames[i] - (i > 0));
        if (name != NULL && strstr(name, "join") != NULL) {
            return true;
        }
    }
    return false;
}

/* The call of a stack in which the thread has slept so often, each time anew; -1: it has not. */
static long sleeps_in(const attach_log *log, uint32_t stack, size_t least)
{
    size_t times = 0;
    long call = -1;
    for (size_t i = 0; i < log->count; i++) {
        const attach_row *row = &log->rows[i];
        bool here = row->stack == stack && row->call >= 0 && !row->awake;
        times += here && !(i > 0 && row->same && log->rows[i - 1].stack == stack);
        call = here ? row->call : call;
    }
    return times >= least ? call : -1;
}

/* Tcl waits for a thread of its own, which is in select, at a condition. */
bool attach_is_condition(uint32_t stack)
{
    static uint32_t last;
    static bool verdict;
    if (stack != 0 && stack != last) {
        const uint64_t *frames;
        size_t count = attach_stack(stack, &frames);
        size_t own = first_own(frames, count);
        const char *name = own < count ? attach_symbol(frames[own] - (own > 0)) : NULL;
        last = stack;
        verdict = name != NULL && strcmp(name, "Tcl_WaitForEvent") == 0;
    }
    return stack != 0 && verdict;
}

/* Do nearly all looks have these outermost frames of it? */
static bool is_common(const attach_log *log, uint32_t stack, size_t frames)
{
    size_t known = 0;
    size_t common = 0;
    for (size_t i = 0; i < log->count; i++) {
        uint32_t other = log->rows[i].stack;
        known += other != 0;
        common += other != 0 && (other == stack || shared(other, stack) >= frames);
    }
    return common * 10 >= known * 9;
}

enum { OWN_WAITS = 16 };       /* that are tried */

/* A loop may wait in another call than those that are known for it, such as recv: where nothing else
 * waits, and the function calls it that runs all the time. One that always has more events seldom
 * sleeps in its own wait, and a callback's recv looks like that: so not where there is an epoll, or any
 * other wait was met. */
void attach_find_own_wait(attach_log *log)
{
    uint32_t seen = 0;
    size_t tries = 0;
    for (size_t i = 0; i < log->count && log->wait_count == 0 && tries < OWN_WAITS; i++) {
        const attach_row *row = &log->rows[i];
        const uint64_t *frames;
        size_t count = row->awake || row->stack == seen || !attach_may_be_wait(row->call)
                       ? 0 : attach_stack(row->stack, &frames);
        size_t own = count > 0 ? first_own(frames, count) : 0;
        if (own == 0 || own == count) {
            continue;
        }
        seen = row->stack;
        tries++;
        if (sleeps_in(log, seen, 3) == row->call && is_common(log, seen, count - own - 1)) {
            log->waits[0].stack = seen;
            log->waits[0].call = row->call;
            log->wait_count = 1;
        }
    }
}

/* >>rests: other calls that are the thread's own, beside its waits or without any */

static bool is_sleep(long call)
{
    return call == SYS_nanosleep || call == SYS_clock_nanosleep;
}

/* A thread that waits for work, and for files only in its work: its waits are all further in, and
 * none is of an epoll. */
static bool is_for_work(const attach_log *log, uint32_t stack, size_t count, size_t own)
{
    const uint64_t *frames;
    bool all = log->wait_count > 0;
    for (size_t i = 0; all && i < log->wait_count; i++) {
        const attach_wait *wait = &log->waits[i];
        all = !attach_is_epoll(wait->call) && attach_is_wait(wait->call) &&
              attach_stack(wait->stack, &frames) > count &&
              shared(stack, wait->stack) >= count - own - 1;
    }
    return all;
}

void attach_find_rest(attach_log *log, bool only_looks, bool epoll)
{
    uint32_t seen = 0;
    size_t tries = 0;
    for (size_t i = 0; i < log->count && tries < OWN_WAITS; i++) {
        const attach_row *row = &log->rows[i];
        const uint64_t *frames;
        bool may = !row->awake && row->stack != seen && row->stack != 0 &&
                   (is_sleep(row->call) || attach_call_is_futex(row->call));
        size_t count = may ? attach_stack(row->stack, &frames) : 0;
        size_t own = count > 0 ? first_own(frames, count) : 0;
        bool alone;
        if (own == 0 || own == count || known_loop(frames, count, &alone) < count) {
            continue;
        }
        seen = row->stack;
        tries++;
        may = is_sleep(row->call) ? only_looks || (log->wait_count == 0 && !epoll &&
                                                   attach_is_main_alone(seen))
                                  : is_for_work(log, seen, count, own);
        if (may && log->wait_count < ATTACH_WAITS && wait_of(seen, log) == NULL &&
            sleeps_in(log, seen, 3) == row->call && is_common(log, seen, count - own - 1)) {
            log->waits[log->wait_count].stack = seen;
            log->waits[log->wait_count++].call = row->call;
            return;
        }
    }
}

/* Is there a wait that parts from the same function and is shallower? Of two that are as deep an
 * epoll is the loop's. */
static bool is_deeper(uint32_t stack, const attach_log *log)
{
    const uint64_t *frames;
    const attach_wait *own = wait_of(stack, log);
    size_t depth = attach_stack(stack, &frames);
    bool epoll = own != NULL && attach_is_epoll(own->call);
    for (size_t i = 0; i < log->wait_count; i++) {
        const attach_wait *wait = &log->waits[i];
        size_t other = attach_stack(wait->stack, &frames);
        if (wait->stack != stack && shared(stack, wait->stack) > 0 &&
            (other < depth || (other == depth && !epoll && attach_is_epoll(wait->call)))) {
            return true;
        }
    }
    return false;
}

/* What was found out about a stack, as long as no other wait is seen. */
typedef struct verdict {
    const attach_log *log;
    size_t waits;
    uint32_t stack;
    size_t value;
} verdict;

enum { VERDICTS = 256 };

static verdict *verdict_of(verdict *all, uint32_t stack, const attach_log *log, bool *known)
{
    verdict *v = &all[stack % VERDICTS];
    *known = v->log == log && v->waits == log->wait_count && v->stack == stack;
    v->log = log;
    v->waits = log->wait_count;
    v->stack = stack;
    return v;
}

bool attach_is_idle(uint32_t stack, const attach_log *log)
{
    static verdict all[VERDICTS];
    const uint64_t *frames;
    bool known;
    bool alone;
    verdict *v = verdict_of(all, stack, log, &known);
    if (!known) {
        size_t count = attach_stack(stack, &frames);
        size_t loop = known_loop(frames, count, &alone);
        v->value = loop < count ? alone && !is_for_answer(frames, count, loop)
                                : !is_deeper(stack, log);
    }
    return v->value != 0;
}

/* Without the functions that start a program or a thread, and main. */
static size_t without_start(const uint64_t *frames, size_t count)
{
    attach_module m;
    size_t i = count;
    size_t libc = count;
    for (size_t n = 0; i > 1 && n < 4; n++, i--) {
        if (attach_find(frames[i - 1] - 1, &m) && m.libc) {
            libc = i - 1;
        }
    }
    if (libc == count || libc == 0) {       /* a static program: nobody knows which these are */
        return 1;
    }
    return libc > 1 ? libc - 1 : libc;
}

/* The loop that called who runs this one for its own answer. */
static size_t outer_loop(const uint64_t *frames, size_t count, size_t known)
{
    for (size_t i = known + 1; i < count && is_for_answer(frames, count, known); i++) {
        if (is_loop_function(attach_symbol(frames[i] - 1))) {
            known = i;
        }
    }
    return known;
}

static size_t inside(uint32_t stack, const attach_log *log)
{
    const uint64_t *frames;
    size_t count = attach_stack(stack, &frames);
    size_t most = 0;
    bool alone;
    size_t known = known_loop(frames, count, &alone);
    if (known < count) {
        return outer_loop(frames, count, known);
    }
    known = own_loop(frames, count);
    if (known < count) {
        return known;
    }
    for (size_t i = 0; i < log->wait_count; i++) {
        uint32_t wait = log->waits[i].stack;
        size_t both = wait != stack && attach_is_idle(wait, log) ? shared(stack, wait) : 0;
        most = both > most ? both : most;
    }
    if (most > 0) {
        return most + 1 < count ? count - most - 1 : 1;
    }
    return without_start(frames, count);
}

size_t attach_inside_of(const uint64_t *frames, size_t count, const uint64_t *idle,
                        size_t idle_count)
{
    bool alone;
    size_t both = 0;
    size_t known = known_loop(frames, count, &alone);
    known = known < count ? known : own_loop(frames, count);
    while (both < count && both < idle_count &&
           frames[count - 1 - both] == idle[idle_count - 1 - both]) {
        both++;
    }
    return known < count ? known : both > 0 && both + 1 < count ? count - both - 1 : 0;
}

size_t attach_inside(uint32_t stack, const attach_log *log)
{
    static verdict all[VERDICTS];
    bool known;
    verdict *v = verdict_of(all, stack, log, &known);
    if (!known) {
        v->value = inside(stack, log);
    }
    return v->value;
}

/* The program's own function that is at this number or further out; 0: none. Numbers begin with 1. */
static size_t own_from(const uint64_t *frames, size_t number, size_t count)
{
    bool in_python = attach_python_is_in(frames, count);
    for (size_t i = number > 0 ? number - 1 : 0; i < count; i++) {
        attach_module m;
        uint64_t at = frames[i] - (i > 0);
        if (in_python ? attach_python_is_own(frames[i])
                      : attach_symbol(at) != NULL && attach_find(at, &m) && !m.libc && !m.loops) {
            return i + 1;
        }
    }
    return 0;
}

/* The innermost function that was met at all looks, and who called it: either of them may be what
 * does not end. false: they have no names. */
static bool met_always(const attach_log *log, const uint64_t *frames, size_t count, char *out,
                       size_t size)
{
    size_t inner = own_from(frames, count > log->outer ? count - log->outer : 1, count);
    size_t outer = inner > 0 ? own_from(frames, inner + 1, count) : 0;
    char name[96];
    if (inner == 0) {
        return false;
    }
    out[0] = '\0';
    if (outer > 0) {
        attach_name(frames[outer - 1] - 1, name, sizeof name);
        (void)snprintf(out, size, "%s > ", name);
    }
    attach_name(frames[inner - 1] - (inner > 1), name, sizeof name);
    (void)snprintf(out + strlen(out), size - strlen(out), "%s", name);
    return true;
}

bool attach_holder_python(const attach_log *log, uint32_t stack, attach_function *out)
{
    const uint64_t *frames;
    size_t count = attach_stack(stack, &frames);
    return count > 0 && attach_python_holder(frames, attach_inside(stack, log), out);
}

/* Where no wait was seen, nobody knows the loop's function. */
const char *attach_holder(const attach_log *log, uint32_t stack, char *name, size_t size)
{
    const uint64_t *frames;
    size_t count = attach_stack(stack, &frames);
    size_t inside = count > 0 ? attach_inside(stack, log) : 0;
    attach_function in_python;
    attach_module m;
    name[0] = '\0';
    if (count > 0 && log->wait_count == 0 && met_always(log, frames, count, name, size)) {
        return name;
    }
    if (inside > 0 && attach_python_holder(frames, inside, &in_python)) {
        (void)snprintf(name, size, "%s (%s:%" PRIu32 ")", in_python.name, last_part(in_python.file),
                       in_python.line);
        return name;
    }
    for (size_t i = inside, unnamed = 0; i > 0 && unnamed < 3; i--) {
        uint64_t at = frames[i - 1] - (i > 1);
        if (attach_find(at, &m) && !m.libc && !m.loops) {
            const char *symbol = attach_symbol(at);
            bool of_template = m.program && attach_is_template(symbol);
            if (name[0] == '\0' || (symbol != NULL && !of_template)) {
                attach_name(at, name, size);
            }
            if (symbol != NULL && !of_template) {
                return name;
            }
            unnamed += symbol == NULL;
        }
    }
    if (name[0] != '\0') {
        return name;
    }
    if (count > 0) {
        attach_name(frames[0], name, size);
    } else {
        (void)snprintf(name, size, "code between waits");      /* it could not be stopped then */
    }
    return name;
}

/* At most 60 bytes of it. */
static void add_name(char *out, size_t size, const char *name)
{
    size_t used = strlen(out);
    (void)snprintf(out + used, size - used, "%s%.60s%s", used > 0 ? " > " : "", name,
                   strlen(name) > 60 ? "..." : "");
}

/* The program's own two innermost functions that have names, and what they called in a library. */
void attach_way(const attach_log *log, uint32_t stack, char *out, size_t size)
{
    const uint64_t *frames;
    size_t count = attach_stack(stack, &frames);
    size_t last = count > 0 ? attach_inside(stack, log) : 0;
    size_t places[3] = { 0, 0, 0 };        /* of a frame, plus one: library, inner, outer */
    const char *holder = NULL;
    attach_function in_python;
    out[0] = '\0';
    if (last > 0 && attach_python_holder(frames, last, &in_python)) {
        attach_python_way(frames, last, out, size);
        return;
    }
    for (size_t i = 0; i < last; i++) {
        attach_module m;
        uint64_t at = frames[i] - (i > 0);
        const char *name = attach_symbol(at);
        bool found = name != NULL && attach_find(at, &m) && !m.loops &&
                     !(m.program && attach_is_template(name));
        holder = found && !m.libc ? name : holder;
        if (found && m.libc && places[1] == 0) {
            places[0] = i + 1;
        } else if (found && !m.libc && places[2] == 0) {
            places[places[1] > 0 ? 2 : 1] = i + 1;
        }
    }
    for (size_t k = 3; k-- > 0;) {
        char name[200];
        uint64_t at = places[k] > 0 ? frames[places[k] - 1] - (places[k] > 1) : 0;
        if (places[k] > 0 && attach_symbol(at) != holder) {
            attach_name(at, name, sizeof name);
            add_name(out, size, name);
        }
    }
}

bool attach_ends_in_wait(uint32_t stack)
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

/* >>feeding */

enum { RECENT = 8 };

typedef struct feeder {
    chroprof *p;
    const attach_log *log;
    const chroprof_site *other, *now;      /* code that no look met; what runs */
    const chroprof_site *waits;            /* that return at once */
    const chroprof_site **sites;           /* by stack; NULL: not known yet */
    const chroprof_site *recent[RECENT];   /* what the last looks met that were not idle */
    uint64_t met, shared;                  /* how many there were; pieces that got one of them */
    uint64_t stall_ns, cpu_ns;
    bool starts;                           /* no wait was met yet, and the program had only begun */
    size_t run_first, run_end, best;       /* see find_run */
} feeder;

static bool is_idle_row(const feeder *f, const attach_row *row)
{
    if (row->call >= 0 && row->stack != 0 && !attach_is_wait(row->call) &&
        wait_of(row->stack, f->log) != NULL) {
        return true;
    }
    return attach_is_wait(row->call) && !(f->log->spins && row->awake) &&
           (row->stack == 0 || attach_is_idle(row->stack, f->log));
}

/* In the loop's wait, be it that it computes there. */
static bool is_in_wait(const feeder *f, const attach_row *row)
{
    return is_idle_row(f, row) ||
           (row->awake && row->stack != 0 && attach_ends_in_wait(row->stack) &&
            attach_is_idle(row->stack, f->log));
}

/* Was the loop's wait met since the row before? */
static bool is_parted(const feeder *f, const attach_row *row)
{
    bool loops = false;
    bool others = false;
    for (size_t i = 0; row->met != 0 && i < f->log->wait_count; i++) {
        const attach_wait *wait = &f->log->waits[i];
        bool idle = attach_is_idle(wait->stack, f->log);
        loops = loops || (wait->call == row->met - 1 && idle);
        others = others || (wait->call == row->met - 1 && !idle);
    }
    return loops && !others;
}

/* Between the loop's waits: the callback by its function. */
static const chroprof_site *site_of(feeder *f, uint32_t stack)
{
    attach_function in_python;
    char name[200];
    if (stack == 0) {
        return f->other;
    }
    if (f->log->spins && attach_ends_in_wait(stack)) {
        return f->waits;
    }
    if (f->sites[stack] == NULL) {
        if (attach_holder_python(f->log, stack, &in_python)) {
            f->sites[stack] = chroprof_site_make(f->p, in_python.name, in_python.file,
                                                 in_python.line);
            return f->sites[stack] != NULL ? f->sites[stack] : f->other;
        }
        (void)attach_holder(f->log, stack, name, sizeof name);
        f->sites[stack] = chroprof_site_make(f->p, name[0] != '\0' ? name : "code between waits",
                                             "", 0);
    }
    return f->sites[stack] != NULL ? f->sites[stack] : f->other;
}

static void go_idle(feeder *f, uint64_t at)
{
    if (f->now != NULL) {
        chroprof_event(f->p, CHROPROF_LEAVE, 0, NULL, at);
        chroprof_event(f->p, CHROPROF_IDLE_ENTER, 0, NULL, at);
    }
    f->now = NULL;
}

static void go_busy(feeder *f, uint64_t at, const chroprof_site *site)
{
    if (f->now != site) {
        go_idle(f, at);
        chroprof_event(f->p, CHROPROF_IDLE_LEAVE, 0, NULL, at);
        chroprof_event(f->p, CHROPROF_ENTER, 0, site, at);
    }
    f->now = site;
}

/* Time that no look met: in turn that of the functions which the last looks met, so that each gets
 * as much as it is met; of the first few looks nobody knows. */
static const chroprof_site *site_by_chance(feeder *f)
{
    return f->met < RECENT ? f->other : f->recent[f->shared++ % RECENT];
}

/* Busy in [from, to), of which nobody knows that it was one callback: in pieces that are none that
 * count. */
static void put_pieces(feeder *f, uint64_t from, uint64_t to, const chroprof_site *site)
{
    uint64_t piece = f->stall_ns / 4 + 1;
    for (; from < to; from += piece) {
        go_idle(f, from);
        go_busy(f, from, site != NULL ? site : site_by_chance(f));
    }
    go_idle(f, to);
}

static void put_sample(feeder *f, const attach_row *row, uint64_t at)
{
    uint64_t frames[ATTACH_FRAMES + 1];
    const uint64_t *from;
    size_t count = attach_stack(row->stack, &from);
    uint64_t cpu_ns = row->cpu_ns - f->cpu_ns;
    size_t inside = count > 0 && f->now != NULL ? attach_inside(row->stack, f->log) : 0;
    f->cpu_ns = row->cpu_ns;
    if (f->now == NULL) {
        chroprof_sample(f->p, at, cpu_ns);
        return;
    }
    for (size_t i = 0; i <= count; i++) {
        frames[i] = i < inside ? from[i] : i == inside ? 0 : from[i - 1];
    }
    (void)chroprof_sample_stack(f->p, at, cpu_ns, frames, count + 1);
}

static uint64_t on_cpu(const attach_row *a, const attach_row *b)
{
    uint64_t used = b->cpu_ns - a->cpu_ns + (b->queue_ns - a->queue_ns);
    uint64_t length = b->at_ns - a->at_ns;
    return used < length ? used : length;
}

/* How much of the time between two looks, with a wait in between or none known, was busy. */
static uint64_t busy_between(const feeder *f, const attach_row *a, const attach_row *b)
{
    bool idle_a = is_idle_row(f, a);
    bool idle_b = is_idle_row(f, b);
    uint64_t length = b->at_ns - a->at_ns;
    uint64_t used = on_cpu(a, b);
    bool blocked = (!idle_a && a->call >= 0) || (!idle_b && b->call >= 0);
    if (idle_a && idle_b) {                 /* it may have waited for a processor to go to its wait */
        return b->cpu_ns - a->cpu_ns < length ? b->cpu_ns - a->cpu_ns : length;
    }
    if (!blocked) {
        return used;
    }
    return idle_a || idle_b ? used + (length - used) / 2 : length;
}

/* The time between the activations of two rows. */
static void put_between(feeder *f, const attach_row *a, const attach_row *b)
{
    uint64_t busy = busy_between(f, a, b);
    uint64_t rest = b->at_ns - a->at_ns - busy;
    bool idle_a = is_idle_row(f, a);
    bool idle_b = is_idle_row(f, b);
    if (idle_a && idle_b) {
        put_pieces(f, a->at_ns + rest / 2, a->at_ns + rest / 2 + busy, NULL);
    } else if (idle_a) {
        put_pieces(f, b->at_ns - busy, b->at_ns, site_of(f, b->stack));
    } else if (idle_b) {
        put_pieces(f, a->at_ns, a->at_ns + busy, site_of(f, a->stack));
    } else {
        put_pieces(f, a->at_ns, a->at_ns + busy / 2, site_of(f, a->stack));
        put_pieces(f, b->at_ns - (busy - busy / 2), b->at_ns, site_of(f, b->stack));
    }
}

/* The last row of the activation that begins with this one. */
static size_t end_of_activation(const feeder *f, size_t first)
{
    size_t last = first;
    while (!is_in_wait(f, &f->log->rows[first]) && last + 1 < f->log->count &&
           f->log->rows[last + 1].same && !is_in_wait(f, &f->log->rows[last + 1])) {
        last++;
    }
    return last;
}

/* From an activation on: those of the same function between which no wait of the loop was met. They
 * may be one, so only the longest of them counts. */
static void find_run(feeder *f, size_t first)
{
    const attach_row *rows = f->log->rows;
    const chroprof_site *site = NULL;
    uint64_t longest = 0;
    f->run_first = f->best = first;
    for (;;) {
        size_t last = end_of_activation(f, first);
        uint64_t length = rows[last].at_ns - rows[first].at_ns;
        f->best = length > longest ? first : f->best;
        longest = length > longest ? length : longest;
        site = rows[last].stack != 0 ? site_of(f, rows[last].stack) : site;
        f->run_end = last;
        first = last + 1;
        if (first >= f->log->count || is_in_wait(f, &rows[first]) || is_parted(f, &rows[first]) ||
            (site != NULL && rows[first].stack != 0 && site_of(f, rows[first].stack) != site)) {
            return;
        }
    }
}

/* The one in the middle, of those whose stack is known. */
static size_t middle_of(const feeder *f, size_t first, size_t last)
{
    const attach_row *rows = f->log->rows;
    size_t middle = first + (last - first) / 2;
    for (size_t i = 0; i <= last - first; i++) {
        size_t at = first + (middle - first + i) % (last - first + 1);
        if (rows[at].stack != 0) {
            return at;
        }
    }
    return middle;
}

static void keep_activation(attach_report *out, const attach_activation *activation)
{
    size_t place = out->count < ATTACH_ACTIVATIONS ? out->count++ : ATTACH_ACTIVATIONS - 1;
    if (place == ATTACH_ACTIVATIONS - 1 && out->count == ATTACH_ACTIVATIONS &&
        out->activations[place].least_ns > activation->least_ns) {
        return;
    }
    for (; place > 0 && out->activations[place - 1].least_ns < activation->least_ns; place--) {
        out->activations[place] = out->activations[place - 1];
    }
    out->activations[place] = *activation;
}

static void take_activation(const feeder *f, size_t first, size_t last, attach_report *out)
{
    const attach_row *rows = f->log->rows;
    attach_activation activation;
    memset(&activation, 0, sizeof activation);
    activation.at_ns = rows[first].at_ns;
    activation.least_ns = rows[last].at_ns - rows[first].at_ns;
    activation.open = f->run_first == 0 || f->run_end + 1 == f->log->count;
    activation.most_ns = rows[f->run_end + (f->run_end + 1 < f->log->count)].at_ns -
                         rows[f->run_first - (f->run_first > 0)].at_ns;
    activation.cpu_ns = rows[last].cpu_ns - rows[first].cpu_ns;
    activation.queue_ns = rows[last].queue_ns - rows[first].queue_ns;
    activation.stack = rows[middle_of(f, first, last)].stack;
    activation.call = rows[middle_of(f, first, last)].call;
    if (activation.least_ns >= f->stall_ns && activation.stack != 0) {
        out->stalls++;
        keep_activation(out, &activation);
    }
}

/* counts: it may be a stall. */
static void put_activation(feeder *f, size_t first, size_t last, bool goes_on, bool counts)
{
    const attach_row *rows = f->log->rows;
    bool idle = is_idle_row(f, &rows[first]);
    const chroprof_site *site = idle ? NULL : site_of(f, rows[middle_of(f, first, last)].stack);
    for (size_t i = first; i <= last; i++) {
        if (!counts && !idle && i > first) {
            put_pieces(f, rows[i - 1].at_ns, rows[i].at_ns, site);
        }
        if (!idle) {
            f->recent[f->met++ % RECENT] = site;
            go_busy(f, rows[i].at_ns, site);
        }
        put_sample(f, &rows[i], rows[i].at_ns);
    }
    if (goes_on) {
        chroprof_event(f->p, CHROPROF_TICK, 0, NULL, rows[last].at_ns);
    } else if (!idle) {
        go_idle(f, rows[last].at_ns);
    }
}

static void put_exit(feeder *f, uint64_t from, uint64_t to)
{
    go_idle(f, from);
    chroprof_event(f->p, CHROPROF_IDLE_LEAVE, 0, NULL, from);
    chroprof_exiting(f->p, from);
    chroprof_event(f->p, CHROPROF_TICK, 0, NULL, to);
}

uint64_t attach_skip_start(attach_log *log)
{
    feeder f;
    size_t first = 0;
    uint64_t skipped;
    memset(&f, 0, sizeof f);
    f.log = log;
    while (log->starts && first < log->count && !is_in_wait(&f, &log->rows[first]) &&
           !is_parted(&f, &log->rows[first])) {
        first++;
    }
    if (first == 0 || first + 1 >= log->count) {
        return 0;
    }
    skipped = log->rows[first].at_ns - log->rows[0].at_ns;
    log->count -= first;
    log->starts = false;
    memmove(log->rows, log->rows + first, log->count * sizeof *log->rows);
    return skipped;
}

static void feed(feeder *f, bool goes_on, attach_report *out)
{
    const attach_log *log = f->log;
    size_t last = 0;
    f->cpu_ns = log->rows[0].cpu_ns;
    chroprof_event(f->p, CHROPROF_IDLE_ENTER, 0, NULL, log->rows[0].at_ns);
    for (size_t first = 0; first < log->count; first = last + 1) {
        last = end_of_activation(f, first);
        if (first > 0) {
            put_between(f, &log->rows[first - 1], &log->rows[first]);
        }
        if (is_exit(log->rows[first].stack)) {
            put_exit(f, log->rows[first].at_ns, log->rows[log->count - 1].at_ns);
            return;
        }
        f->starts = f->starts && !is_in_wait(f, &log->rows[first]) &&
                    !is_parted(f, &log->rows[first]);
        if (first > f->run_end || first == 0) {
            find_run(f, first);
        }
        if (last > first && first == f->best && !f->starts) {
            take_activation(f, first, last, out);
        }
        put_activation(f, first, last, goes_on && last + 1 == log->count,
                       first == f->best && !f->starts);
    }
}

void attach_feed(chroprof *p, const attach_log *log, uint64_t stall_ns, bool goes_on,
                 attach_report *out)
{
    feeder f;
    memset(&f, 0, sizeof f);
    f.p = p;
    f.log = log;
    f.stall_ns = stall_ns;
    f.starts = log->starts;
    f.other = chroprof_site_make(p, "code between waits", "", 0);
    f.waits = log->spins ? chroprof_site_make(p, "waits that return at once", "", 0) : f.other;
    f.sites = (const chroprof_site **)calloc(ATTACH_STACKS, sizeof *f.sites);
    memset(out, 0, sizeof *out);
    if (log->count > 0 && f.sites != NULL) {
        feed(&f, goes_on, out);
    }
    free((void *)f.sites);
}

#endif
