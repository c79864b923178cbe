/* attach_process.c - what was seen of a program whose threads are no loops, as those of Go: its
 * functions by CPU time, of all threads together; see attach_state.h */

#define _GNU_SOURCE 1
#include "attach_state.h"

#ifdef __linux__

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../chroprof.h"
#include "message.h"
#include "numbers.h"

enum { PARTS = 4096, NAME = 120, LINES = 12 };

/* A function. Counts are of looks that met a thread which ran. */
typedef struct part {
    char name[NAME];
    uint64_t self, all;
    uint32_t stack;            /* that was counted last */
} part;

typedef struct process {
    const attach *a;
    uint64_t *looks;           /* by stack */
    uint64_t total, cpu_ns;
    part *parts;
    size_t count;
} process;

static part *part_of(process *p, const char *name)
{
    for (size_t i = 0; i < p->count; i++) {
        if (strcmp(p->parts[i].name, name) == 0) {
            return &p->parts[i];
        }
    }
    if (p->count == PARTS) {
        return NULL;
    }
    (void)snprintf(p->parts[p->count].name, NAME, "%s", name);
    return &p->parts[p->count++];
}

static void count_stack(process *p, uint32_t stack)
{
    const uint64_t *frames;
    size_t count = attach_stack(stack, &frames);
    for (size_t i = 0; i < count; i++) {
        char name[NAME];
        part *found;
        attach_name(frames[i] - (i > 0), name, sizeof name);
        found = part_of(p, name);
        if (found != NULL && found->stack != stack) {
            found->all += p->looks[stack];
            found->stack = stack;
        }
        if (found != NULL && i == 0) {
            found->self += p->looks[stack];
        }
    }
}

static void count_looks(process *p)
{
    for (size_t i = 0; i < p->a->count; i++) {
        const attach_log *log = &p->a->threads[i]->log;
        for (size_t k = 0; k < log->count; k++) {
            if (log->rows[k].ran && log->rows[k].stack != 0) {
                p->looks[log->rows[k].stack]++;
                p->total++;
            }
        }
        p->cpu_ns += log->count > 0 ? log->rows[log->count - 1].cpu_ns - log->rows[0].cpu_ns : 0;
    }
    for (uint32_t stack = 1; stack < ATTACH_STACKS; stack++) {
        if (p->looks[stack] > 0) {
            count_stack(p, stack);
        }
    }
}

static int by_self(const void *x, const void *y)
{
    const part *a = (const part *)x;
    const part *b = (const part *)y;
    return a->self != b->self ? (a->self < b->self ? 1 : -1)
           : a->all != b->all ? (a->all < b->all ? 1 : -1) : strcmp(a->name, b->name);
}

static bool is_own(const part *p)
{
    return strncmp(p->name, "main.", 5) == 0 && strcmp(p->name, "main.main") != 0;
}

/* The program's own function that has most, with what it calls; of a chain of them that have about
 * as much the one that has most itself. NULL: there is none. */
static const part *most_of_own(const process *p)
{
    uint64_t most = 0;
    const part *best = NULL;
    for (size_t i = 0; i < p->count; i++) {
        most = is_own(&p->parts[i]) && p->parts[i].all > most ? p->parts[i].all : most;
    }
    for (size_t i = 0; i < p->count && best == NULL && most > 0; i++) {
        best = is_own(&p->parts[i]) && p->parts[i].all >= most - most / 10 ? &p->parts[i] : best;
    }
    return best;
}

static double share(uint64_t part_count, uint64_t whole)
{
    return whole > 0 ? 100.0 * (double)part_count / (double)whole : 0;
}

/* One standard error of a share, in points; as if two more looks had been one of each, since none of
 * few looks is no proof. */
static double error_of(uint64_t part_count, uint64_t whole)
{
    double s = share(part_count + 1, whole + 2);
    return root(s * (100 - s) / (double)(whole + 2));
}

static void tell_parts(const process *p, double seconds)
{
    const attach *a = p->a;
    const part *own = most_of_own(p);
    const part *most = p->count > 0 && p->parts[0].self > 0 ? &p->parts[0] : NULL;
    if (own != NULL) {
        tool_line("\xE2\x80\xA2 %s took %.0f %% (\xC2\xB1%.0f) of the CPU time of %s %ld, with what "
                  "it called", own->name, share(own->all, p->total), error_of(own->all, p->total),
                  a->program, (long)a->pid);
    }
    if (most != NULL && most != own) {
        tool_line("\xE2\x80\xA2 %s itself took %.0f %% (\xC2\xB1%.0f) of the CPU time", most->name,
                  share(most->self, p->total), error_of(most->self, p->total));
    }
    tool_line("\xE2\x80\xA2 %s %ld used %.2f of a core for %.1f s: %.2f s of CPU time, by all its "
              "threads", a->program, (long)a->pid, (double)p->cpu_ns / 1e9 / seconds, seconds,
              (double)p->cpu_ns / 1e9);
    tool_line("\xE2\x80\xA2 no idle time and no stalls are told: goroutines move between threads, and "
              "any thread may poll for all, so no thread is a loop");
}

static void tell_table(const process *p)
{
    if (p->total == 0) {
        return;
    }
    tool_line(" ");
    tool_line("  itself  with what it called  function (estimated from %" PRIu64 " looks)",
              p->total);
    for (size_t i = 0; i < p->count && i < LINES && p->parts[i].self > 0; i++) {
        tool_line("  %5.1f%%  %19.1f%%  %s", share(p->parts[i].self, p->total),
                  share(p->parts[i].all, p->total), p->parts[i].name);
    }
}

void attach_tell_process(const attach *a)
{
    process p;
    memset(&p, 0, sizeof p);
    p.a = a;
    p.looks = (uint64_t *)calloc(ATTACH_STACKS, sizeof *p.looks);
    p.parts = (part *)calloc(PARTS, sizeof *p.parts);
    if (p.looks != NULL && p.parts != NULL) {
        count_looks(&p);
        qsort(p.parts, p.count, sizeof *p.parts, by_self);
        tell_parts(&p, (double)(attach_now() - a->begin_ns) / 1e9);
        tell_table(&p);
    }
    free(p.looks);
    free(p.parts);
}

/* >>the profile: samples alone. Nothing is said of a loop. */

typedef struct met {
    const attach_row *row;
    uint64_t cpu_ns;           /* of its thread, since the last one that ran */
} met;

static int by_time(const void *x, const void *y)
{
    const met *a = (const met *)x;
    const met *b = (const met *)y;
    return a->row->at_ns < b->row->at_ns ? -1 : a->row->at_ns > b->row->at_ns;
}

static size_t add_thread(met *all, const attach_log *log)
{
    uint64_t cpu_ns = log->count > 0 ? log->rows[0].cpu_ns : 0;
    size_t count = 0;
    for (size_t i = 1; i < log->count; i++) {
        const attach_row *row = &log->rows[i];
        if (row->ran && row->stack != 0) {
            all[count].row = row;
            all[count++].cpu_ns = row->cpu_ns - cpu_ns;
            cpu_ns = row->cpu_ns;
        }
    }
    return count;
}

void attach_feed_process(chroprof *p, const attach *a)
{
    size_t room = 1;
    size_t count = 0;
    met *all;
    for (size_t i = 0; i < a->count; i++) {
        room += a->threads[i]->log.count;
    }
    all = (met *)calloc(room, sizeof *all);
    if (all == NULL) {
        return;
    }
    for (size_t i = 0; i < a->count; i++) {
        count += add_thread(all + count, &a->threads[i]->log);
    }
    qsort(all, count, sizeof *all, by_time);
    chroprof_event(p, CHROPROF_TICK, 0, NULL, a->begin_ns);
    for (size_t i = 0; i < count; i++) {
        const uint64_t *frames;
        size_t frame_count = attach_stack(all[i].row->stack, &frames);
        chroprof_event(p, CHROPROF_TICK, 0, NULL, all[i].row->at_ns);
        (void)chroprof_sample_stack(p, all[i].row->at_ns, all[i].cpu_ns, frames, frame_count);
    }
    chroprof_event(p, CHROPROF_TICK, 0, NULL, attach_now());
    free(all);
}

#endif
