/* stacks.h - the tree of sampled stacks, tasks and the functions that ran for them, as arrays. */

typedef struct stack_frame {
    uint64_t id;
    size_t parent;             /* index of a frame before this one; SIZE_MAX: none */
    json_text name;            /* what symbolize found, else what the program knew; may be empty */
    json_text module;          /* of native code without a name: that of its file */
    json_text file, inlined;   /* inlined: a list, or empty */
    uint64_t line, weight;
    bool task, native, idle;
} stack_frame;

typedef struct stack_tree {
    stack_frame *frames;
    size_t count;
    module_row *modules;
    size_t module_count;
    uint64_t period, cost;     /* of the sampler, ns */
    bool cpu;                  /* its period is CPU time */
} stack_tree;

static void stacks_free(stack_tree *s)
{
    free(s->frames);
    free(s->modules);
    memset(s, 0, sizeof *s);
}

/* SIZE_MAX: there is none. */
static size_t stack_index(const stack_tree *s, uint64_t id)
{
    size_t low = 0;
    size_t high = s->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (s->frames[middle].id < id) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < s->count && s->frames[low].id == id ? low : SIZE_MAX;
}

/* The file's name without its folders. */
static json_text module_name(const stack_tree *s, uint64_t id)
{
    json_text name = { "unknown", 7 };
    for (size_t i = 0; i < s->module_count; i++) {
        if (s->modules[i].id == id && s->modules[i].path.length > 0) {
            name = s->modules[i].path;
        }
    }
    for (size_t i = name.length; i > 0; i--) {
        if (name.bytes[i - 1] == '/') {
            name.bytes += i;
            name.length -= i;
            break;
        }
    }
    return name;
}

/* >>stacks reading */

typedef struct stack_words {
    json_text kind, function;
    uint64_t parent, module;
} stack_words;

static bool read_stack_member(json_reader *r, json_text key, stack_frame *frame, stack_words *w)
{
    const struct { const char *key; json_text *text; } texts[] = {
        { "kind", &w->kind }, { "name", &frame->name }, { "function", &w->function },
        { "file", &frame->file }
    };
    const struct { const char *key; uint64_t *number; } numbers[] = {
        { "id", &frame->id }, { "parent", &w->parent }, { "line", &frame->line },
        { "weight", &frame->weight }
    };
    for (size_t i = 0; i < 4; i++) {
        if (json_is(key, texts[i].key)) {
            return json_string(r, texts[i].text);
        }
        if (json_is(key, numbers[i].key)) {
            return json_u64(r, numbers[i].number);
        }
    }
    return json_is(key, "inlined") ? json_value(r, &frame->inlined)
         : json_is(key, "module") ? read_module_number(r, &w->module) : json_skip(r);
}

/* Ids ascend, and a parent stands before its children: what does not is a root. */
static bool read_stack_frame(stack_tree *s, json_reader *r)
{
    stack_frame *frame = &s->frames[s->count];
    stack_words w = { { "", 0 }, { "", 0 }, 0, UINT64_MAX };
    bool first = true;
    json_text key;
    (void)json_open(r, '{');
    while (json_next(r, '}', &first)) {
        if (!json_key(r, &key) || !read_stack_member(r, key, frame, &w)) {
            return false;
        }
    }
    frame->name = w.function.length > 0 ? w.function : frame->name;
    frame->task = json_is(w.kind, "task");
    frame->native = json_is(w.kind, "native");
    frame->module = module_name(s, w.module);
    frame->parent = stack_index(s, w.parent);
    s->count++;
    return !r->failed;
}

static bool read_stack_sampler(stack_tree *s, const profile_text *p)
{
    json_reader r = json_part(&p->reader, p->sampler);
    json_text mode = { "", 0 };
    bool first = true;
    json_text key;
    (void)json_open(&r, '{');
    while (json_next(&r, '}', &first)) {
        bool ok = json_key(&r, &key);
        ok = ok && (json_is(key, "period_ns") ? json_u64(&r, &s->period)
                    : json_is(key, "cost_ns") ? json_u64(&r, &s->cost)
                    : json_is(key, "mode") ? json_string(&r, &mode) : json_skip(&r));
        if (!ok) {
            return false;
        }
    }
    s->cpu = json_is(mode, "cpu");
    return !r.failed;
}

static bool read_stack_rows(stack_tree *s, const profile_text *p)
{
    json_reader modules = json_part(&p->reader, p->modules);
    json_reader r = json_part(&p->reader, p->stacks);
    bool first = true;
    (void)json_open(&modules, '[');
    while (json_next(&modules, ']', &first)) {
        if (!read_module_row(&modules, &s->modules[s->module_count++])) {
            return false;
        }
    }
    first = true;
    (void)json_open(&r, '[');
    while (json_next(&r, ']', &first)) {
        if (!read_stack_frame(s, &r)) {
            return false;
        }
    }
    return !modules.failed && !r.failed;
}

static bool has_stacks(const profile_text *p)
{
    return p->stacks.length > 0 && p->modules.length > 0 && p->samples.length > 0 &&
           p->sampler.length > 0;
}

/* false, with a message. */
static bool stacks_read(stack_tree *s, const profile_text *p)
{
    size_t frames = count_items(&p->reader, p->stacks);
    size_t modules = count_items(&p->reader, p->modules);
    memset(s, 0, sizeof *s);
    if (frames == SIZE_MAX || modules == SIZE_MAX) {
        return false;
    }
    s->frames = (stack_frame *)calloc(frames + 1, sizeof *s->frames);
    s->modules = (module_row *)calloc(modules + 1, sizeof *s->modules);
    if (s->frames == NULL || s->modules == NULL) {
        tool_message("not enough memory for %llu stacks", (unsigned long long)frames);
        return false;
    }
    return read_stack_sampler(s, p) && read_stack_rows(s, p);
}

/* >>stacks samples */

typedef struct sample_row {
    uint64_t at, duration, stack;
    json_text state;
} sample_row;

static bool read_sample_row(json_reader *r, sample_row *sample)
{
    bool first = true;
    json_text key;
    memset(sample, 0, sizeof *sample);
    (void)json_open(r, '{');
    while (json_next(r, '}', &first)) {
        bool ok = json_key(r, &key);
        ok = ok && (json_is(key, "at_ns") ? json_u64(r, &sample->at)
                    : json_is(key, "duration_ns") ? json_u64(r, &sample->duration)
                    : json_is(key, "stack") ? json_u64(r, &sample->stack)
                    : json_is(key, "state") ? json_string(r, &sample->state) : json_skip(r));
        if (!ok) {
            return false;
        }
    }
    return !r->failed;
}

/* Marks the stacks in which the loop was idle. */
static bool stacks_mark_idle(stack_tree *s, const profile_text *p)
{
    json_reader r = json_part(&p->reader, p->samples);
    bool first = true;
    (void)json_open(&r, '[');
    while (json_next(&r, ']', &first)) {
        sample_row sample;
        size_t at;
        if (!read_sample_row(&r, &sample)) {
            return false;
        }
        at = json_is(sample.state, "idle") ? stack_index(s, sample.stack) : SIZE_MAX;
        if (at != SIZE_MAX) {
            s->frames[at].idle = true;
        }
    }
    return !r.failed;
}
