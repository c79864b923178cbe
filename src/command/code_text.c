/* code_text.c - see code_text.h */

#include "code_text.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "code_words.h"
#include "json.h"
#include "stacks.h"

#define CODE_TASKS 8           /* rows of the text: tasks, functions of one, stalls, lines of one */
#define CODE_FUNCTIONS 4
#define CODE_STALLS 5

/* What a sample fell into: the innermost call; where that has no name or is the C library's, who
 * called it that has one, and the line of the call. */
typedef struct code_entry {
    json_text task, caller, name, file;
    bool bare;                 /* name is that of a module */
    bool called;               /* the line is that of a call */
    uint64_t line, weight;
    uint64_t line_weight;      /* of this line alone, once lines of a function are one */
    uint64_t task_weight;
} code_entry;

typedef struct code_table {
    const stack_tree *stacks;
    code_entry *entries;
    size_t count, room;
    uint64_t weight;           /* of all */
} code_table;

/* >>code text counting */

static code_entry code_entry_of(const stack_tree *s, size_t index)
{
    const stack_frame *leaf = &s->frames[index];
    code_entry e;
    memset(&e, 0, sizeof e);
    e.task.bytes = e.caller.bytes = "";
    e.bare = leaf->name.length == 0 && !leaf->task;
    e.name = e.bare ? leaf->module : leaf->name;
    if (!leaf->task && leaf->named != SIZE_MAX && leaf->named != index) {
        e.caller = s->frames[leaf->named].name;
    }
    e.file = leaf->file;
    e.line = leaf->line;
    if (leaf->placed != SIZE_MAX && leaf->placed != index) {
        e.file = s->frames[leaf->placed].file;
        e.line = s->frames[leaf->placed].line;
        e.called = true;
    }
    if (leaf->root != SIZE_MAX) {
        e.task = s->frames[leaf->root].name;
    }
    if (leaf->task) {
        e.name = json_word("(function not known)");
    } else if (leaf->named != SIZE_MAX && code_is_ours(&s->frames[leaf->named])) {
        e.bare = e.called = false;
        e.caller = e.file = json_word("");
        e.name = json_word("(inside chroprof)");
        e.line = 0;
    }
    return e;
}

static void code_table_add(code_table *c, size_t index, uint64_t weight)
{
    if (weight > 0 && !c->stacks->frames[index].idle) {
        c->entries[c->count] = code_entry_of(c->stacks, index);
        c->entries[c->count].weight = c->entries[c->count].line_weight = weight;
        c->count++;
        c->weight += weight;
    }
}

static int compare_function(const code_entry *x, const code_entry *y)
{
    int order = compare_text(x->task, y->task);
    order = order != 0 ? order : compare_text(x->caller, y->caller);
    order = order != 0 ? order : compare_text(x->name, y->name);
    return order != 0 ? order : compare_text(x->file, y->file);
}

static int by_function_and_line(const void *a, const void *b)
{
    const code_entry *x = (const code_entry *)a;
    const code_entry *y = (const code_entry *)b;
    int order = compare_function(x, y);
    return order != 0 ? order : x->line < y->line ? -1 : x->line > y->line;
}

static int by_task_and_weight(const void *a, const void *b)
{
    const code_entry *x = (const code_entry *)a;
    const code_entry *y = (const code_entry *)b;
    int order = compare_text(x->task, y->task);
    if (x->task_weight != y->task_weight) {
        return x->task_weight > y->task_weight ? -1 : 1;
    }
    if (order == 0 && x->weight != y->weight) {
        return x->weight > y->weight ? -1 : 1;
    }
    return order != 0 ? order : by_function_and_line(a, b);
}

/* Entries of one line become one; lines: those of one function as well, under its heaviest line. */
static void code_table_merge(code_table *c, bool lines)
{
    size_t kept = 0;
    for (size_t i = 0; i < c->count; i++) {
        code_entry *last = kept > 0 ? &c->entries[kept - 1] : NULL;
        code_entry *e = &c->entries[i];
        if (last == NULL || compare_function(last, e) != 0 || (!lines && last->line != e->line)) {
            c->entries[kept++] = *e;
            continue;
        }
        last->weight += e->weight;
        if (!lines) {
            last->line_weight += e->line_weight;
        } else if (e->line_weight > last->line_weight) {
            last->line_weight = e->line_weight;
            last->line = e->line;
            last->called = e->called;
        }
    }
    c->count = kept;
}

static void code_table_weigh_tasks(code_table *c)
{
    for (size_t from = 0, to = 0; from < c->count; from = to) {
        uint64_t weight = 0;
        for (to = from; to < c->count &&
             compare_text(c->entries[from].task, c->entries[to].task) == 0; to++) {
            weight += c->entries[to].weight;
        }
        for (size_t i = from; i < to; i++) {
            c->entries[i].task_weight = weight;
        }
    }
}

/* From a list with an entry a stack to one with an entry a task and function, heaviest first. */
static void code_table_finish(code_table *c)
{
    qsort(c->entries, c->count, sizeof *c->entries, by_function_and_line);
    code_table_merge(c, false);
    code_table_merge(c, true);
    code_table_weigh_tasks(c);
    qsort(c->entries, c->count, sizeof *c->entries, by_task_and_weight);
}

/* >>code text writing */

static void code_text_function(sheet *s, const code_entry *e)
{
    if (e->caller.length > 0) {
        code_text_name(s, e->caller, 40);
        sheet_text(s, " > ");
    }
    sheet_text(s, e->bare ? "[" : "");
    code_text_name(s, e->name, 60);
    sheet_text(s, e->bare ? "]" : "");
    code_text_place(s, e->file, e->line, e->called);
}

static void code_text_share(sheet *s, uint64_t part, uint64_t whole)
{
    char words[32];
    (void)snprintf(words, sizeof words, "%" PRIu64 " of %" PRIu64, part, whole);
    sheet_right(s, code_is_few(whole) ? words : figure_percent(share_of(part, whole)).text, 8);
    sheet_text(s, "  ");
}

/* A task, then its functions. */
static size_t code_text_task(sheet *s, const code_table *c, size_t from)
{
    const code_entry *first = &c->entries[from];
    size_t to = from;
    code_text_share(s, first->task_weight, c->weight);
    sheet_style(s, SHEET_BOLD);
    if (first->task.length > 0) {
        code_text_name(s, first->task, 70);
    } else {
        sheet_text(s, "(no task)");
    }
    sheet_style(s, SHEET_PLAIN);
    sheet_newline(s);
    for (; to < c->count && compare_text(first->task, c->entries[to].task) == 0; to++) {
        if (to - from < CODE_FUNCTIONS) {
            code_text_share(s, c->entries[to].weight, c->weight);
            sheet_text(s, "  ");
            code_text_function(s, &c->entries[to]);
            sheet_newline(s);
        }
    }
    return to;
}

static void code_text_head(sheet *s, const code_table *c)
{
    char words[160];
    sheet_newline(s);
    sheet_styled(s, SHEET_BOLD, "CODE");
    (void)snprintf(words, sizeof words, "  %" PRIu64 " sample%s, one every %s of %s, cost %s",
                   c->weight, c->weight == 1 ? "" : "s", figure_time(s, c->stacks->period).text,
                   c->stacks->cpu ? "CPU time" : "the clock",
                   figure_time(s, c->stacks->cost).text);
    sheet_text(s, words);
    sheet_newline(s);
}

/* >>code text stalls */

static void code_table_sample(void *user, uint64_t stack, uint64_t weight)
{
    code_table *c = (code_table *)user;
    size_t index = stack_index(c->stacks, stack);
    if (index != SIZE_MAX && c->count < c->room) {
        code_table_add(c, index, weight);
    }
}

static bool code_table_of_stall(code_table *c, const profile_text *p, const stall_text *stall)
{
    bool ok;
    c->count = 0;
    c->weight = 0;
    ok = stall_samples(p, stall, code_table_sample, c);
    c->weight = stall->sampled > c->weight ? stall->sampled : c->weight;
    code_table_finish(c);
    return ok;
}

/* Only a few places of a stall are kept. */
static void code_text_others(sheet *s, const code_table *c)
{
    uint64_t rest = c->weight;
    for (size_t i = 0; i < c->count; i++) {
        rest -= c->entries[i].weight;
    }
    if (rest > 0 && c->count > 0) {
        code_text_share(s, rest, c->weight);
        sheet_text(s, "  other code");
        sheet_newline(s);
    }
}

static void code_text_stall(sheet *s, const code_table *c, const stall_text *stall)
{
    char words[160];
    sheet_right(s, figure_time(s, stall->length).text, 8);
    (void)snprintf(words, sizeof words, "  %s at %s: CPU %s, waiting %s",
                   is_iteration(stall->kind) ? "iteration" : "callback",
                   figure_time(s, stall->start).text, figure_time(s, stall->cpu).text,
                   figure_time(s, stall->waiting).text);
    sheet_text(s, words);
    sheet_newline(s);
    for (size_t i = 0; i < c->count && i < CODE_FUNCTIONS; i++) {
        code_text_share(s, c->entries[i].weight, c->weight);
        sheet_text(s, "  ");
        if (c->entries[i].task.length > 0) {
            code_text_name(s, c->entries[i].task, 40);
            sheet_text(s, ": ");
        }
        code_text_function(s, &c->entries[i]);
        sheet_newline(s);
    }
    code_text_others(s, c);
}

static bool code_text_stalls(sheet *s, code_table *c, const profile_text *p)
{
    stall_list l;
    bool ok = stall_list_read(&l, p, false);
    if (ok && l.count > 0) {
        sheet_newline(s);
        sheet_styled(s, SHEET_BOLD, "STALLS");
        sheet_text(s, "  the longest that were sampled, by the code that ran");
        sheet_newline(s);
    }
    for (size_t i = 0; ok && i < l.count && i < CODE_STALLS; i++) {
        ok = code_table_of_stall(c, p, &l.rows[i]);
        code_text_stall(s, c, &l.rows[i]);
    }
    free(l.rows);
    return ok;
}

/* >>code text whole */

static bool code_text_whole(sheet *s, code_table *c, const profile_text *p)
{
    size_t at = 0;
    for (size_t i = 0; i < c->stacks->count; i++) {
        code_table_add(c, i, c->stacks->frames[i].weight);
    }
    if (c->count == 0) {
        return true;
    }
    code_text_head(s, c);
    code_table_finish(c);
    for (int tasks = 0; at < c->count && tasks < CODE_TASKS; tasks++) {
        at = code_text_task(s, c, at);
    }
    return code_text_stalls(s, c, p);
}

bool code_text_write(sheet *s, const profile_text *p)
{
    stack_tree stacks;
    code_table c;
    bool ok;
    memset(&c, 0, sizeof c);
    c.stacks = &stacks;
    s->end = "\n";
    ok = stacks_read(&stacks, p);
    c.room = stacks.count + 1;
    c.room += p->samples.length > 0 ? count_items(&p->reader, p->samples) : 0;
    c.entries = (code_entry *)calloc(c.room, sizeof *c.entries);
    ok = ok && c.entries != NULL && code_text_whole(s, &c, p);
    free(c.entries);
    stacks_free(&stacks);
    return ok;
}
