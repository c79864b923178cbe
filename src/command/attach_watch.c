/* attach_watch.c - looks at the threads of a program, each at random moments, until it ends or the
 * time is over; see attach_state.h */

#define _GNU_SOURCE 1
#include "attach_state.h"

#ifdef __linux__

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "message.h"

enum { FEW_SLEEPS = 8 };       /* of a program that is being loaded */

volatile sig_atomic_t attach_stopped;

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
           a->first == b->first && a->timeslices == b->timeslices && a->cpu_ns == b->cpu_ns;
}

static bool is_same_site(const attach *a, const attach_thread *t, const attach_site *s,
                         const attach_facts *f)
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
    attach_python_read(t->tid);             /* it sleeps: that is as good as stopped */
    return attach_python_mark() == s->python;
}

/* The words of the stack that hold the return addresses. */
static void keep_site(attach_thread *t, const attach_image *image, const attach_facts *f,
                      const uint64_t *frames, size_t count, uint32_t stack)
{
    attach_site *s = &t->sites[t->next_site++ % ATTACH_SITES];
    size_t at = 0;
    memset(s, 0, sizeof *s);
    s->key = *f;
    s->python = attach_python_mark();
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
        if (is_same_site(a, t, &t->sites[i], f)) {
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
    if (log->count == log->room && log->room < ATTACH_ROWS) {
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
    attach_note(log, row);
}

/* What looking at a system call costs the thread is not seen from here; with this it stays far below
 * a hundredth of its time. */
static bool may_watch(const attach *a, uint64_t now)
{
    return a->costs.watched_calls * 40000u < (now - a->begin_ns) / 100 + 1000000;
}

/* The stack of a thread that sleeps, as it is; false: it has moved meanwhile. Not all its registers
 * are known. */
static bool peek(attach *a, attach_thread *t, const attach_facts *f)
{
    attach_image *m = &a->image;
    attach_facts after;
    memset(m->registers, 0, sizeof m->registers);
    m->registers[ATTACH_STACK] = m->stack = f->stack;
    m->registers[ATTACH_CODE] = m->code = f->code;
    m->frame = 0;
    m->call = f->call;
    m->left = -1;
    m->copied = attach_read(a->pid, f->stack, m->copy, sizeof m->copy);
    attach_python_read(t->tid);
    return m->copied > 0 && attach_look(t, &after) && has_not_moved(&t->seen, &after);
}

/* One that waits is not stopped, if its stack is whole without its other registers: only a stop could
 * cut its wait short. One whose wait has a time never is: what is seen of it so must do. 0: it could
 * not be taken. */
static size_t take_frames(attach *a, attach_thread *t, const attach_facts *f, bool watch,
                          uint64_t *frames, uint64_t *tops)
{
    if (f->call >= 0 && (f->timed || (!watch && !t->held)) && peek(a, t, f)) {
        size_t count = attach_unwind(&a->image, frames, tops);
        if (f->timed || attach_is_whole()) {
            return count;
        }
    }
    if (f->timed) {
        return 0;
    }
    return attach_copy(t, a->pid, &a->image, &a->costs, watch)
           ? attach_unwind(&a->image, frames, tops) : 0;
}

/* false: it could not be taken. */
static bool take_stack(attach *a, attach_thread *t, attach_facts *f, attach_row *row)
{
    uint64_t frames[ATTACH_FRAMES];
    uint64_t all[ATTACH_NATIVE];
    uint64_t tops[ATTACH_NATIVE];
    const attach_row *before = t->log.count > 0 ? &t->log.rows[t->log.count - 1] : NULL;
    bool wait = attach_is_wait(f->call);
    /* Not from the first look on: the tables of the program's files are read then, and meanwhile it
     * would be held at its next call. */
    bool watch = !wait && !a->process && before != NULL && !attach_is_wait(before->call) &&
                 may_watch(a, row->at_ns);
    bool watched = t->watched;
    size_t count, native;
    native = take_frames(a, t, f, watch, all, tops);
    if (native == 0) {
        row->same = t->watched && !t->waited;
        return false;
    }
    memcpy(frames, all, native * sizeof *frames);
    count = attach_python_weave(frames, tops, native);
    row->stack = attach_keep(frames, count);
    attach_learn(all, native);
    row->ran = row->ran && !attach_sleeps(a->image.left);
    if (f->call == ATTACH_RUNS) {
        row->call = (int32_t)a->image.call;
    } else {
        keep_site(t, &a->image, f, all, native, row->stack);
    }
    row->same = watched && !t->waited;
    t->waited = false;
    return true;
}

/* A server of datagrams may wait for them without any other call. It does so of a socket that has no
 * peer; what a callback waits for comes from somebody. */
static bool awaits_datagram(const attach *a, attach_thread *t)
{
    if (a->epoll || t->seen.call < 0) {
        return false;
    }
    if (t->datagram_file != t->seen.first + 1) {
        t->datagram = attach_takes_datagram(a->pid, t->seen.call, t->seen.first);
        t->datagram_file = t->seen.first + 1;
    }
    return t->datagram;
}

/* The call, or which wait it is. */
static long wait_by_place(const attach *a, attach_thread *t, const attach_row *row)
{
    if (attach_call_is_futex(row->call) && attach_is_condition(row->stack)) {
        return ATTACH_CONDITION;
    }
    return awaits_datagram(a, t) ? ATTACH_DATAGRAM : row->call;
}

/* The main thread of a young program, which has hardly slept yet: it may not have come to its loop. */
static bool is_starting(const attach *a, const attach_thread *t, const attach_facts *f)
{
    char sleeps[40];
    uint64_t age = t->main ? attach_age(a->pid) : 0;
    return age > 0 && age < UINT64_C(20000000000) &&
           (f->cpu_ns + f->queue_ns >= age / 2 ||
            (attach_status(a->pid, "voluntary_ctxt_switches:", sleeps, sizeof sleeps) &&
             strtoul(sleeps, NULL, 10) < FEW_SLEEPS));
}

static void look(attach *a, attach_thread *t)
{
    attach_facts f;
    attach_row row;
    bool first = t->log.count == 0;
    memset(&row, 0, sizeof row);
    attach_settle(t, &a->costs);
    t->seen_ns = attach_now();
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
    row.ran = row.awake = f.call == ATTACH_RUNS;
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
    if (attach_is_restart(row.call) && attach_ends_in_wait(row.stack)) {
        row.call = (int32_t)attach_restarted();         /* that began before the first look */
    }
    row.call = (int32_t)wait_by_place(a, t, &row);
    row.met = (int32_t)t->met;
    t->loop = t->loop || attach_is_wait(row.call) || t->met != 0;
    t->log.starts = first ? is_starting(a, t, &f) : t->log.starts;
    t->met = 0;
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
    if (a->count == ATTACH_THREADS) {
        a->beyond++;
        return;
    }
    t = (attach_thread *)calloc(1, sizeof *t);
    if (t != NULL && attach_open(t, a->pid, tid)) {
        t->next_ns = attach_now() + some(a) % a->period_ns;
        t->loop = t->loop || a->process || a->o.threads != NULL;
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
    a->scans++;
    if (!a->epoll && (a->scans & (a->scans - 1)) == 0) {    /* ever more seldom: of many files */
        a->epoll = attach_has_epoll(a->pid);
    }
    a->became = count > 0 && attach_program(a->pid) != a->program_mark &&
                attach_program(a->pid) != 0;
    a->ended = count == 0 || (count == 1 && attach_is_dead(a->pid)) || a->became;
    a->beyond = 0;
    for (size_t i = 0; i < count; i++) {
        if (!is_known(a, all[i]) && is_listed(a->o.threads, all[i])) {
            add_thread(a, all[i]);
        }
    }
}

/* >>the first words: it hangs */

/* Has another thread waited as loops do? Then nobody knows what this one is for. */
static bool loops_elsewhere(const attach *a, const attach_thread *t)
{
    for (size_t i = 0; i < a->count; i++) {
        if (a->threads[i] != t && a->threads[i]->log.wait_count > 0) {
            return true;
        }
    }
    return false;
}

static void tell_hang(attach *a, const attach_thread *t)
{
    const attach_log *log = &t->log;
    char who[96];
    char name[200];
    const attach_row *last = &log->rows[log->count - 1];
    uint64_t length = last->at_ns - log->rows[0].at_ns;
    uint64_t cpu = last->cpu_ns - log->rows[0].cpu_ns + (last->queue_ns - log->rows[0].queue_ns);
    bool computes = cpu > length / 2;
    bool sure = computes || last->call < 0 || (a->epoll && !loops_elsewhere(a, t));
    attach_who(a, t, who, sizeof who);
    tool_line("\xE2\x80\xA2 %s %s for at least %.1f s, since before attaching, in %s (%s)%s", who,
              log->starts && computes ? "was not in a wait"
              : sure && !log->starts ? "hangs: no return to its loop" : "sleeps in one call",
              (double)length / 1e9,
              attach_holder(log, last->stack, name, sizeof name),
              computes ? "it computes"
              : last->call >= 0 ? attach_call_name(last->call) : "waiting",
              log->starts ? ": it starts, or hangs there"
              : sure ? "" : ": it hangs there, or waits there for work");
    a->told = true;
}

/* The thread's number as the program itself knows it, which may have namespaces of its own. */
static uint32_t own_number(pid_t tid)
{
    char text[128];
    const char *last = NULL;
    if (attach_status(tid, "NSpid:", text, sizeof text)) {
        last = strrchr(text, '\t');
        last = last != NULL ? last + 1 : text;
    }
    return last != NULL ? (uint32_t)strtoul(last, NULL, 10) : (uint32_t)tid;
}

/* Does it sleep until another thread of the program ends? The kernel wakes it at that one's number. */
static bool joins(const attach *a, const attach_thread *t, uint32_t stack)
{
    uint32_t words[64] = { 0 };
    if (attach_is_main_alone(stack) && attach_is_join(stack)) {
        return true;
    }
    if (attach_read(a->pid, t->seen.first, words, sizeof words) < sizeof words[0]) {
        return false;
    }
    for (size_t i = 0; i < a->count; i++) {
        pid_t tid = a->threads[i]->tid;
        if (a->threads[i] != t && words[0] != 0 &&
            ((uint32_t)tid == words[0] || own_number(tid) == words[0])) {
            return true;
        }
    }
    return false;
}

/* The main thread, which only waits for others, one of which has a loop. */
bool attach_only_joins(const attach *a, const attach_thread *t)
{
    uint32_t stack = 0;
    bool loop = false;
    for (size_t i = 0; i < a->count; i++) {
        loop = loop || (a->threads[i] != t && a->threads[i]->loop);
    }
    for (size_t i = 2; i < t->log.count && loop; i++) {     /* it may have been on its way there */
        const attach_row *row = &t->log.rows[i];
        stack = stack != 0 ? stack : row->stack;
        loop = row->call >= 0 && !row->awake && (row->stack == 0 || row->stack == stack);
    }
    return loop && t->main && t->log.wait_count == 0 &&
           (attach_call_is_futex(t->seen.call)
            ? joins(a, t, stack)
            : attach_call_is_for_others(t->seen.call) && attach_is_main_alone(stack));
}

static bool is_idle_in(const attach_log *log, const attach_row *row)
{
    return attach_is_wait(row->call) && attach_is_idle(row->stack, log);
}

/* From the first look on it made no wait. */
static bool hangs(const attach_thread *t, uint64_t least_ns)
{
    const attach_log *log = &t->log;
    if (!t->loop || log->count < 4 || is_idle_in(log, &log->rows[0]) ||
        is_idle_in(log, &log->rows[log->count - 1])) {
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
    if (a->o.live_name != NULL || a->process || a->told || now - a->begin_ns < 1000000000u || now - a->begin_ns > 2000000000u) {
        return;
    }
    for (size_t i = 0; i < a->count; i++) {
        if (!a->threads[i]->gone && hangs(a->threads[i], 500000000u) &&
            !attach_only_joins(a, a->threads[i])) {
            tell_hang(a, a->threads[i]);
        }
    }
}

/* >>a loop that spins */

/* It hardly sleeps in these rows, and such a part of them is in a wait. */
static bool spins_in(const attach_row *rows, size_t count, size_t percent)
{
    size_t inside = 0;
    size_t asleep = 0;
    uint64_t used;
    if (count < 20) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        inside += rows[i].awake && attach_ends_in_wait(rows[i].stack);
        asleep += !rows[i].awake;
    }
    used = rows[count - 1].cpu_ns - rows[0].cpu_ns + (rows[count - 1].queue_ns - rows[0].queue_ns);
    return used > (rows[count - 1].at_ns - rows[0].at_ns) / 10 * 6 && asleep < count / 10 &&
           inside * 100 > count * percent;
}

/* The rows since it last slept, where it does not any more. */
static size_t awake_since(const attach_log *log)
{
    size_t first = log->count;
    while (first > 0 && log->rows[first - 1].awake) {
        first--;
    }
    return first;
}

/* Its wait returns at once: it hardly sleeps, and a good part of what it computes is in the wait. Or it
 * has begun to, most of the time ago. */
static bool spins(const attach_thread *t)
{
    const attach_log *log = &t->log;
    size_t first = awake_since(log);
    return t->loop && (spins_in(log->rows, log->count, 25) ||
                       (log->count - first > log->count / 2 &&
                        spins_in(log->rows + first, log->count - first, 50)));
}

static void look_for_spins(attach *a)
{
    for (size_t i = 0; i < a->count; i++) {
        attach_thread *t = a->threads[i];
        if (spins(t)) {
            t->spins = true;
            t->log.spins = true;
            if (!attach_awake(a->pid, t, a->epoll, t->ready, sizeof t->ready)) {
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

void attach_watch(attach *a)
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
        if (a->o.live_name != NULL && now >= a->write_ns) {
            attach_write_live(a);
        }
        now = attach_now();
        if (next > now) {
            const struct timespec rest = { (time_t)((next - now) / 1000000000u),
                                           (long)((next - now) % 1000000000u) };
            (void)sigtimedwait(&child, NULL, &rest);
        }
    }
    if (!a->process) {
        look_for_spins(a);
    }
    for (size_t i = 0; i < a->count; i++) {
        attach_release(a->threads[i]);
    }
}

#endif
