/* code_text.c - see code_text.h */

#include "code_text.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "stacks.h"

#define CODE_TASKS 8           /* rows of the text: tasks, functions of one, stalls, lines of one */
#define CODE_FUNCTIONS 4
#define CODE_STALLS 5
#define CODE_TEXT 200          /* bytes of a name that are shown */

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
    size_t count;
    uint64_t weight;           /* of all */
} code_table;

/* >>code text counting */

/* Whether a frame is of chroprof.h, which the sampler need not have known. */
static bool is_ours(const stack_frame *frame)
{
    static const char file[] = "chroprof.h";
    static const char start[] = "chroprof__";
    size_t length = sizeof file - 1;
    json_text name = frame->file;
    if (name.length == 0) {
        return frame->name.length >= sizeof start - 1 &&
               memcmp(frame->name.bytes, start, sizeof start - 1) == 0;
    }
    return name.length >= length && memcmp(name.bytes + name.length - length, file, length) == 0 &&
           (name.length == length || name.bytes[name.length - length - 1] == '/');
}

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
    } else if (leaf->named != SIZE_MAX && is_ours(&s->frames[leaf->named])) {
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

static int compare_text(json_text a, json_text b)
{
    size_t length = a.length < b.length ? a.length : b.length;
    int order = length > 0 ? memcmp(a.bytes, b.bytes, length) : 0;
    return order != 0 ? order : a.length < b.length ? -1 : a.length > b.length;
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

static void code_text_name(sheet *s, json_text name, unsigned most)
{
    char text[CODE_TEXT];
    json_text part = name;
    while (!json_unescape(part, text, sizeof text)) {
        part.length = part.length > 12 ? part.length - 12 : 0;
    }
    sheet_cut(s, text, most);
}

/* The file's name without its folders, and the line; what is longer is cut. */
static void code_text_place(sheet *s, const code_entry *e)
{
    char line[32];
    json_text file = e->file;
    if (file.length == 0) {
        return;
    }
    for (size_t i = file.length; i > 0; i--) {
        if (file.bytes[i - 1] == '/') {
            file.bytes += i;
            file.length -= i;
            break;
        }
    }
    sheet_text(s, e->called ? "  called at " : "  ");
    code_text_name(s, file, 40);
    (void)snprintf(line, sizeof line, ":%" PRIu64, e->line);
    sheet_text(s, line);
}

static void code_text_function(sheet *s, const code_entry *e)
{
    if (e->caller.length > 0) {
        code_text_name(s, e->caller, 40);
        sheet_text(s, " > ");
    }
    sheet_text(s, e->bare ? "[" : "");
    code_text_name(s, e->name, 60);
    sheet_text(s, e->bare ? "]" : "");
    code_text_place(s, e);
}

/* A share of few samples is no share. */
static bool code_is_few(uint64_t samples)
{
    return samples < 5;
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

typedef struct stall_text {
    json_text kind, samples;
    uint64_t start, length, cpu, waiting;
} stall_text;

static bool read_stall_text(json_reader *r, stall_text *stall)
{
    const json_field fields[] = {
        JSON_TEXT("kind", &stall->kind), JSON_VALUE("samples", &stall->samples),
        JSON_NUMBER("start_ns", &stall->start), JSON_NUMBER("length_ns", &stall->length),
        JSON_NUMBER("cpu_ns", &stall->cpu), JSON_NUMBER("waiting_ns", &stall->waiting)
    };
    memset(stall, 0, sizeof *stall);
    return JSON_FIELDS(r, fields);
}

static bool code_table_sample(void *user, json_reader *r)
{
    code_table *c = (code_table *)user;
    uint64_t stack = 0;
    uint64_t weight = 0;
    size_t index;
    const json_field fields[] = {
        JSON_NUMBER("stack", &stack), JSON_NUMBER("weight", &weight)
    };
    if (!JSON_FIELDS(r, fields)) {
        return false;
    }
    index = stack_index(c->stacks, stack);
    if (index != SIZE_MAX && c->count < c->stacks->count) {
        code_table_add(c, index, weight);
    }
    return true;
}

static bool code_table_of_stall(code_table *c, const profile_text *p, const stall_text *stall)
{
    bool ok;
    c->count = 0;
    c->weight = 0;
    ok = json_each(&p->reader, stall->samples, code_table_sample, c);
    code_table_finish(c);
    return ok;
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
}

static int longest_stall_first(const void *a, const void *b)
{
    const stall_text *x = (const stall_text *)a;
    const stall_text *y = (const stall_text *)b;
    if (x->length != y->length) {
        return x->length > y->length ? -1 : 1;
    }
    return x->start < y->start ? -1 : x->start > y->start;
}

/* The stalls of a profile that have samples. */
typedef struct stall_list {
    stall_text *rows;
    size_t count;
} stall_list;

static bool read_stall(void *user, json_reader *r)
{
    stall_list *l = (stall_list *)user;
    if (!read_stall_text(r, &l->rows[l->count])) {
        return false;
    }
    l->count += l->rows[l->count].samples.length > 2;
    return true;
}

static bool code_text_stalls(sheet *s, code_table *c, const profile_text *p)
{
    stall_list l = { NULL, 0 };
    bool ok = json_room(&p->reader, p->stalls, (void **)&l.rows, sizeof *l.rows) &&
              json_each(&p->reader, p->stalls, read_stall, &l);
    if (ok && l.count > 0) {
        qsort(l.rows, l.count, sizeof *l.rows, longest_stall_first);
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

/* >>code text causes: of each of the longest stalls the function below the task, and the innermost
 * one, that most of its samples have in common. A function has a frame for each line that was met,
 * so those of one name and one caller are taken together. */

#define CODE_CAUSES 3

typedef struct cause {
    const stack_tree *stacks;
    uint64_t *weights;         /* of the samples in each frame and what it calls */
    uint64_t weight;           /* of all */
    uint32_t *levels;          /* of the frames that the walk came through, from 1: the tasks */
} cause;

static bool cause_sample(void *user, json_reader *r)
{
    cause *c = (cause *)user;
    uint64_t stack = 0;
    uint64_t weight = 0;
    const json_field fields[] = {
        JSON_NUMBER("stack", &stack), JSON_NUMBER("weight", &weight)
    };
    if (!JSON_FIELDS(r, fields)) {
        return false;
    }
    c->weight += weight;
    for (size_t i = stack_index(c->stacks, stack); i != SIZE_MAX; i = c->stacks->frames[i].parent) {
        c->weights[i] += weight;
    }
    return true;
}

static void cause_function(sheet *s, const stack_frame *frame)
{
    code_entry place;
    memset(&place, 0, sizeof place);
    place.file = frame->file;
    place.line = frame->line;
    code_text_name(s, frame->name, 60);
    code_text_place(s, &place);
}

static bool cause_is_callee(const cause *c, size_t i, uint32_t level)
{
    const stack_frame *frame = &c->stacks->frames[i];
    return frame->native && frame->parent != SIZE_MAX && c->weights[i] > 0 &&
           c->levels[frame->parent] == level;
}

static bool cause_is_same(const cause *c, size_t a, size_t b)
{
    return compare_text(c->stacks->frames[a].name, c->stacks->frames[b].name) == 0;
}

/* The weight of the callees that have the name of this one. */
static uint64_t cause_weight(const cause *c, size_t of, uint32_t level)
{
    uint64_t weight = 0;
    for (size_t i = 0; i < c->stacks->count; i++) {
        if (cause_is_callee(c, i, level) && cause_is_same(c, i, of)) {
            weight += c->weights[i];
        }
    }
    return weight;
}

/* Goes on from the functions of a level to the one that most samples are in: its heaviest frame, or
 * SIZE_MAX. */
static size_t cause_step(cause *c, uint32_t level, uint64_t *weight)
{
    size_t found = SIZE_MAX;
    for (size_t i = 0; i < c->stacks->count; i++) {
        bool more = cause_is_callee(c, i, level) && cause_weight(c, i, level) > c->weight / 2;
        if (more && (found == SIZE_MAX || c->weights[i] > c->weights[found])) {
            found = i;
        }
    }
    if (found == SIZE_MAX) {
        return found;
    }
    *weight = cause_weight(c, found, level);
    for (size_t i = 0; i < c->stacks->count; i++) {
        if (cause_is_callee(c, i, level) && cause_is_same(c, i, found)) {
            c->levels[i] = level + 1;
        }
    }
    return found;
}

typedef struct cause_found {
    /* NULL: none that has a name. outer: what the callback calls, else the callback itself */
    const stack_frame *outer, *inner;
    uint64_t weight;           /* of the inner one */
} cause_found;

/* Is this the callback that its task is named after? */
static bool cause_is_callback(const cause *c, const stack_frame *frame)
{
    return frame->root != SIZE_MAX &&
           compare_text(c->stacks->frames[frame->root].name, frame->name) == 0;
}

/* The number of tasks that a frame lies in. */
static size_t cause_depth(const cause *c, size_t of)
{
    const stack_frame *frames = c->stacks->frames;
    size_t depth = 0;
    for (size_t i = frames[of].parent; i != SIZE_MAX; i = frames[i].parent) {
        depth += frames[i].task;
    }
    return depth;
}

/* The weight of the samples in tasks of this one's name. 0: it is no task, or was not sampled. */
static uint64_t cause_task_weight(const cause *c, size_t of)
{
    const stack_frame *frames = c->stacks->frames;
    uint64_t weight = 0;
    for (size_t i = 0; frames[of].task && c->weights[of] > 0 && i < c->stacks->count; i++) {
        weight += frames[i].task && cause_is_same(c, of, i) ? c->weights[i] : 0;
    }
    return weight;
}

/* From the innermost task that most samples are in: it has the fewest of them, or lies deepest.
 * Where there is none, from all. */
static void cause_begin(cause *c)
{
    const stack_frame *frames = c->stacks->frames;
    size_t task = SIZE_MAX;
    uint64_t least = UINT64_MAX;
    for (size_t i = 0; i < c->stacks->count; i++) {
        uint64_t weight = cause_task_weight(c, i);
        bool most = weight > c->weight / 2 && weight <= least;
        if (most && (weight < least || cause_depth(c, i) > cause_depth(c, task))) {
            task = i;
            least = weight;
        }
    }
    for (size_t i = 0; i < c->stacks->count; i++) {
        c->levels[i] = frames[i].task && (task == SIZE_MAX || cause_is_same(c, i, task));
    }
}

static cause_found cause_walk(cause *c)
{
    cause_found found = { NULL, NULL, 0 };
    uint64_t weight = 0;
    size_t at = 0;
    cause_begin(c);
    for (uint32_t level = 1; (at = cause_step(c, level, &weight)) != SIZE_MAX; level++) {
        const stack_frame *frame = &c->stacks->frames[at];
        if (frame->name.length > 0 && !frame->own && !is_ours(frame)) {
            if (found.outer == NULL || (!frame->libc && cause_is_callback(c, found.outer))) {
                found.outer = frame;
            }
            found.inner = frame;
            found.weight = weight;
        }
    }
    return found;
}

/* The task, where it has a name that tells more than which wait came before. */
static void cause_task(sheet *s, const cause *c, const stack_frame *frame)
{
    static const char after[] = "code after ";
    json_text task = { "", 0 };
    if (frame->root != SIZE_MAX && !cause_is_callback(c, frame)) {
        task = c->stacks->frames[frame->root].name;
    }
    if (task.length > 0 &&
        (task.length < sizeof after || memcmp(task.bytes, after, sizeof after - 1) != 0)) {
        code_text_name(s, task, 40);
        sheet_text(s, ": ");
    }
}

static void cause_write(sheet *s, cause *c, const stall_text *stall)
{
    const cause_found found = cause_walk(c);
    char words[120];
    if (found.outer == NULL) {
        return;
    }
    sheet_glyph(s, 0x2022, '*');
    (void)snprintf(words, sizeof words, " %s stall at %s in ", figure_time(s, stall->length).text,
                   figure_time(s, stall->start).text);
    sheet_text(s, words);
    cause_task(s, c, found.outer);
    cause_function(s, found.outer);
    if (found.inner != found.outer) {
        sheet_newline(s);
        sheet_text(s, "    most of it in ");
        cause_function(s, found.inner);
    }
    if (code_is_few(c->weight)) {
        (void)snprintf(words, sizeof words, "  (%" PRIu64 " of %" PRIu64 " sample%s)", found.weight,
                       c->weight, c->weight == 1 ? "" : "s");
    } else {
        (void)snprintf(words, sizeof words, "  (%s of its samples)",
                       figure_percent(share_of(found.weight, c->weight)).text);
    }
    if (s->column + text_width(words) > s->columns) {
        sheet_newline(s);
        sheet_text(s, "  ");
    }
    sheet_text(s, words);
    sheet_newline(s);
}

/* false: the samples can't be read. */
static bool cause_of_stall(sheet *s, cause *c, const profile_text *p, const stall_text *stall)
{
    c->weight = 0;
    memset(c->weights, 0, c->stacks->count * sizeof *c->weights);
    if (!json_each(&p->reader, stall->samples, cause_sample, c)) {
        return false;
    }
    cause_write(s, c, stall);
    return true;
}

static bool causes_of_stalls(sheet *s, cause *c, const profile_text *p)
{
    stall_list l = { NULL, 0 };
    bool ok = json_room(&p->reader, p->stalls, (void **)&l.rows, sizeof *l.rows) &&
              json_each(&p->reader, p->stalls, read_stall, &l);
    if (ok && l.count > 0) {
        qsort(l.rows, l.count, sizeof *l.rows, longest_stall_first);
    }
    for (size_t i = 0; ok && i < l.count && i < CODE_CAUSES; i++) {
        ok = cause_of_stall(s, c, p, &l.rows[i]);
    }
    free(l.rows);
    return ok;
}

bool code_text_causes(sheet *s, const profile_text *p)
{
    stack_tree stacks;
    cause c;
    bool ok;
    memset(&c, 0, sizeof c);
    c.stacks = &stacks;
    s->end = "\n";
    ok = stacks_read(&stacks, p);
    c.weights = (uint64_t *)calloc(stacks.count + 1, sizeof *c.weights);
    c.levels = (uint32_t *)calloc(stacks.count + 1, sizeof *c.levels);
    ok = ok && c.weights != NULL && c.levels != NULL && causes_of_stalls(s, &c, p);
    free(c.weights);
    free(c.levels);
    stacks_free(&stacks);
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
    c.entries = (code_entry *)calloc(stacks.count + 1, sizeof *c.entries);
    ok = ok && c.entries != NULL && code_text_whole(s, &c, p);
    free(c.entries);
    stacks_free(&stacks);
    return ok;
}
