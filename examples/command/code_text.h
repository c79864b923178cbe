/* code_text.h - the samples of a profile as text: for each task the functions and lines that ran
 * for it, for each of the longest stalls the lines that it was spent in. */

#define CODE_TASKS 8           /* rows of the text: tasks, functions of one, stalls, lines of one */
#define CODE_FUNCTIONS 4
#define CODE_STALLS 5
#define CODE_TEXT 200          /* bytes of a name that are shown */

/* What a sample fell into: the innermost call; where that has no name, who called it that has one;
 * where it has no line, the line of the call. */
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

static code_entry code_entry_of(const stack_tree *s, size_t index)
{
    const stack_frame *leaf = &s->frames[index];
    code_entry e;
    memset(&e, 0, sizeof e);
    e.task.bytes = e.caller.bytes = "";
    e.bare = leaf->name.length == 0;
    e.name = e.bare ? leaf->module : leaf->name;
    e.file = leaf->file;
    e.line = leaf->line;
    for (; index != SIZE_MAX && !s->frames[index].task; index = s->frames[index].parent) {
        const stack_frame *frame = &s->frames[index];
        if (e.bare && e.caller.length == 0 && frame->native) {
            e.caller = frame->name;
        }
        if (e.file.length == 0 && frame->file.length > 0) {
            e.file = frame->file;
            e.line = frame->line;
            e.called = true;
        }
    }
    if (index != SIZE_MAX) {
        e.task = s->frames[index].name;
    }
    if (leaf->task) {
        e.name.bytes = "(function not known)";
        e.name.length = 20;
        e.bare = false;
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

static void code_text_share(sheet *s, uint64_t part, uint64_t whole)
{
    sheet_right(s, figure_percent(share_of(part, whole)).text, 8);
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
    (void)snprintf(words, sizeof words, "  %" PRIu64 " samples, one every %s of %s, cost %s in all",
                   c->weight, figure_time(s, c->stacks->period).text,
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
    bool first = true;
    json_text key;
    memset(stall, 0, sizeof *stall);
    (void)json_open(r, '{');
    while (json_next(r, '}', &first)) {
        bool ok = json_key(r, &key);
        ok = ok && (json_is(key, "kind") ? json_string(r, &stall->kind)
                    : json_is(key, "samples") ? json_value(r, &stall->samples)
                    : json_is(key, "start_ns") ? json_u64(r, &stall->start)
                    : json_is(key, "length_ns") ? json_u64(r, &stall->length)
                    : json_is(key, "cpu_ns") ? json_u64(r, &stall->cpu)
                    : json_is(key, "waiting_ns") ? json_u64(r, &stall->waiting) : json_skip(r));
        if (!ok) {
            return false;
        }
    }
    return !r->failed;
}

static bool read_stall_sample(json_reader *r, uint64_t *stack, uint64_t *weight)
{
    bool first = true;
    json_text key;
    (void)json_open(r, '{');
    while (json_next(r, '}', &first)) {
        bool ok = json_key(r, &key);
        ok = ok && (json_is(key, "stack") ? json_u64(r, stack)
                    : json_is(key, "weight") ? json_u64(r, weight) : json_skip(r));
        if (!ok) {
            return false;
        }
    }
    return !r->failed;
}

static bool code_table_of_stall(code_table *c, const profile_text *p, const stall_text *stall)
{
    json_reader r = json_part(&p->reader, stall->samples);
    bool first = true;
    c->count = 0;
    c->weight = 0;
    (void)json_open(&r, '[');
    while (json_next(&r, ']', &first)) {
        uint64_t stack = 0;
        uint64_t weight = 0;
        size_t index;
        if (!read_stall_sample(&r, &stack, &weight)) {
            return false;
        }
        index = stack_index(c->stacks, stack);
        if (index != SIZE_MAX && c->count < c->stacks->count) {
            code_table_add(c, index, weight);
        }
    }
    code_table_finish(c);
    return !r.failed;
}

static void code_text_stall(sheet *s, const code_table *c, const stall_text *stall)
{
    char words[160];
    sheet_right(s, figure_time(s, stall->length).text, 8);
    (void)snprintf(words, sizeof words, "  %s at %s: CPU %s, waiting %s",
                   json_is(stall->kind, "pass") ? "pass" : "turn",
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

/* Reads the stalls with samples; SIZE_MAX: malformed. */
static size_t read_stall_texts(const profile_text *p, stall_text *stalls)
{
    json_reader r = json_part(&p->reader, p->stalls);
    size_t count = 0;
    bool first = true;
    (void)json_open(&r, '[');
    while (json_next(&r, ']', &first)) {
        if (!read_stall_text(&r, &stalls[count])) {
            return SIZE_MAX;
        }
        count += stalls[count].samples.length > 2;
    }
    qsort(stalls, count, sizeof *stalls, longest_stall_first);
    return r.failed ? SIZE_MAX : count;
}

static bool code_text_stalls(sheet *s, code_table *c, const profile_text *p)
{
    size_t most = count_items(&p->reader, p->stalls);
    stall_text *stalls = most < SIZE_MAX ? (stall_text *)calloc(most + 1, sizeof *stalls) : NULL;
    size_t count = stalls != NULL ? read_stall_texts(p, stalls) : SIZE_MAX;
    bool ok = count < SIZE_MAX;
    if (ok && count > 0) {
        sheet_newline(s);
        sheet_styled(s, SHEET_BOLD, "STALLS");
        sheet_text(s, "  the longest that were sampled, by the code that ran");
        sheet_newline(s);
    }
    for (size_t i = 0; ok && i < count && i < CODE_STALLS; i++) {
        ok = code_table_of_stall(c, p, &stalls[i]);
        code_text_stall(s, c, &stalls[i]);
    }
    free(stalls);
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

/* Nothing if the profile has no samples. false, with a message. */
static bool code_text_write(sheet *s, const profile_text *p)
{
    stack_tree stacks;
    code_table c;
    bool ok;
    if (!has_stacks(p)) {
        return true;
    }
    memset(&c, 0, sizeof c);
    c.stacks = &stacks;
    s->end = "\n";
    ok = stacks_read(&stacks, p) && stacks_mark_idle(&stacks, p);
    c.entries = (code_entry *)calloc(stacks.count + 1, sizeof *c.entries);
    ok = ok && c.entries != NULL && code_text_whole(s, &c, p);
    free(c.entries);
    stacks_free(&stacks);
    return ok;
}
