/* trace_code.h - the samples of a profile as a second line of its trace: which functions ran under
 * which task. A sample says what ran at its moment; it is drawn until the next one, but for no
 * longer than its own duration and one period. Neighbours share the calls they have in common. */

#define TRACE_CALLS 32         /* of one address: the function and what was inlined */

typedef struct trace_frame {
    uint64_t id;
    size_t parent;             /* index in the frames; SIZE_MAX: none */
    json_text name, inlined;   /* inlined: a list, or empty */
    bool task;
} trace_frame;

typedef struct trace_sample {
    uint64_t at, duration, stack;
    json_text state;
} trace_sample;

typedef struct trace_code {
    trace *t;
    trace_frame *frames;
    size_t frame_count;
    size_t *open, *next;       /* frames from the root: of the calls under way, of the sample */
    size_t open_count, next_count;
    uint64_t period, until;    /* until: where the calls under way end */
} trace_code;

/* >>trace code reading */

static size_t trace_frame_find(const trace_code *c, uint64_t id)
{
    size_t low = 0;
    size_t high = c->frame_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (c->frames[middle].id < id) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < c->frame_count && c->frames[low].id == id ? low : SIZE_MAX;
}

/* What symbolize found goes before what the program knew itself. */
static bool read_trace_frame(json_reader *r, trace_frame *frame, uint64_t *parent)
{
    json_text kind = { "", 0 };
    json_text function = { "", 0 };
    json_text key;
    bool first = true;
    (void)json_open(r, '{');
    while (json_next(r, '}', &first)) {
        bool ok = json_key(r, &key);
        ok = ok && (json_is(key, "id") ? json_u64(r, &frame->id)
                    : json_is(key, "parent") ? json_u64(r, parent)
                    : json_is(key, "kind") ? json_string(r, &kind)
                    : json_is(key, "name") ? json_string(r, &frame->name)
                    : json_is(key, "function") ? json_string(r, &function)
                    : json_is(key, "inlined") ? json_value(r, &frame->inlined) : json_skip(r));
        if (!ok) {
            return false;
        }
    }
    frame->name = function.length > 0 ? function : frame->name;
    frame->task = json_is(kind, "task");
    return !r->failed;
}

/* Ids ascend, and a parent stands before its children: what does not is a root. */
static bool read_trace_frames(trace_code *c)
{
    json_reader r = json_part(&c->t->profile.reader, c->t->profile.stacks);
    bool first = true;
    (void)json_open(&r, '[');
    while (json_next(&r, ']', &first)) {
        trace_frame *frame = &c->frames[c->frame_count];
        uint64_t parent = 0;
        if (!read_trace_frame(&r, frame, &parent)) {
            return false;
        }
        frame->parent = trace_frame_find(c, parent);
        c->frame_count++;
    }
    return !r.failed;
}

static bool read_trace_sample(json_reader *r, trace_sample *sample)
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

static bool read_trace_period(trace_code *c)
{
    json_reader r = json_part(&c->t->profile.reader, c->t->profile.sampler);
    bool first = true;
    json_text key;
    (void)json_open(&r, '{');
    while (json_next(&r, '}', &first)) {
        if (!json_key(&r, &key) ||
            !(json_is(key, "period_ns") ? json_u64(&r, &c->period) : json_skip(&r))) {
            return false;
        }
    }
    return !r.failed;
}

/* The functions of a frame from the inside out; 0: malformed. */
static size_t read_trace_calls(const trace_code *c, const trace_frame *frame, json_text *calls)
{
    json_reader r = json_part(&c->t->profile.reader, frame->inlined);
    json_text key;
    size_t count = 1;
    bool first = true;
    calls[0] = frame->name;
    if (frame->inlined.length == 0) {
        return 1;
    }
    (void)json_open(&r, '[');
    while (json_next(&r, ']', &first)) {
        json_text name = { "", 0 };
        bool inner = true;
        (void)json_open(&r, '{');
        while (json_next(&r, '}', &inner)) {
            if (!json_key(&r, &key) ||
                !(json_is(key, "function") ? json_string(&r, &name) : json_skip(&r))) {
                return 0;
            }
        }
        if (count < TRACE_CALLS) {
            calls[count++] = name;
        }
    }
    return r.failed ? 0 : count;
}

/* >>trace code writing */

static void trace_code_event(trace_code *c, const char *phase, const trace_frame *frame,
                             json_text name, uint64_t at)
{
    trace_begin(c->t, phase);
    (void)fprintf(c->t->out, ",\"tid\":2,\"cat\":\"%s\",\"name\":\"",
                  frame->task ? "task" : "code");
    if (name.length > 0) {
        trace_raw(c->t, name);
    } else {
        (void)fputs("(unknown)", c->t->out);
    }
    (void)fputc('"', c->t->out);
    trace_time(c->t, at);
    (void)fputc('}', c->t->out);
}

/* All calls of a frame begin from the outside in, and end from the inside out. */
static bool trace_code_frame(trace_code *c, size_t index, bool ends, uint64_t at)
{
    json_text calls[TRACE_CALLS];
    const trace_frame *frame = &c->frames[index];
    size_t count = read_trace_calls(c, frame, calls);
    for (size_t i = 0; i < count; i++) {
        trace_code_event(c, ends ? "E" : "B", frame, calls[ends ? i : count - 1 - i], at);
    }
    return count > 0;
}

static bool same_frame(const trace_code *c, size_t a, size_t b)
{
    return a == b || (c->frames[a].task == c->frames[b].task &&
                      same_text(c->frames[a].name, c->frames[b].name) &&
                      same_text(c->frames[a].inlined, c->frames[b].inlined));
}

/* Ends the calls under way down to a depth. */
static bool trace_code_close(trace_code *c, size_t depth, uint64_t at)
{
    while (c->open_count > depth) {
        if (!trace_code_frame(c, c->open[--c->open_count], true, at)) {
            return false;
        }
    }
    return true;
}

/* From the calls under way to those of the sample. */
static bool trace_code_turn(trace_code *c, uint64_t at)
{
    size_t common = 0;
    while (common < c->open_count && common < c->next_count &&
           same_frame(c, c->open[common], c->next[common])) {
        common++;
    }
    if (!trace_code_close(c, common, at)) {
        return false;
    }
    for (; c->open_count < c->next_count; c->open_count++) {
        c->open[c->open_count] = c->next[c->open_count];
        if (!trace_code_frame(c, c->open[c->open_count], false, at)) {
            return false;
        }
    }
    return true;
}

/* The chain of a stack, root first; idle has none. */
static void trace_code_chain(trace_code *c, const trace_sample *sample)
{
    size_t at = json_is(sample->state, "idle") ? SIZE_MAX : trace_frame_find(c, sample->stack);
    c->next_count = 0;
    for (size_t up = at; up != SIZE_MAX; up = c->frames[up].parent) {
        c->next_count++;
    }
    for (size_t i = c->next_count; i > 0; at = c->frames[at].parent) {
        c->next[--i] = at;
    }
}

static bool trace_code_samples(trace_code *c)
{
    json_reader r = json_part(&c->t->profile.reader, c->t->profile.samples);
    bool first = true;
    uint64_t span = c->period > 0 ? c->period : 1000;
    (void)json_open(&r, '[');
    while (json_next(&r, ']', &first)) {
        trace_sample sample;
        if (!read_trace_sample(&r, &sample) ||
            (sample.at > c->until && !trace_code_close(c, 0, c->until))) {
            return false;
        }
        trace_code_chain(c, &sample);
        if (!trace_code_turn(c, sample.at)) {
            return false;
        }
        c->until = sample.at + sample.duration + span;
    }
    return !r.failed && trace_code_close(c, 0, c->until);
}

static bool trace_code_room(trace_code *c)
{
    size_t count = count_items(&c->t->profile.reader, c->t->profile.stacks);
    if (count == SIZE_MAX) {
        return false;
    }
    c->frames = (trace_frame *)calloc(count + 1, sizeof *c->frames);
    c->open = (size_t *)calloc(count + 1, sizeof *c->open);
    c->next = (size_t *)calloc(count + 1, sizeof *c->next);
    if (c->frames == NULL || c->open == NULL || c->next == NULL) {
        tool_message("not enough memory for %llu stacks", (unsigned long long)count);
        return false;
    }
    return true;
}

/* Nothing if the profile has no samples. */
static bool trace_samples(trace *t)
{
    trace_code c;
    bool ok;
    if (t->profile.stacks.length == 0 || t->profile.samples.length == 0 ||
        t->profile.sampler.length == 0) {
        return true;
    }
    memset(&c, 0, sizeof c);
    c.t = t;
    trace_begin(t, "M");
    (void)fputs(",\"tid\":2,\"name\":\"thread_name\",\"args\":{\"name\":"
                "\"sampled code, each sample drawn until the next\"}}", t->out);
    ok = trace_code_room(&c) && read_trace_period(&c) && read_trace_frames(&c) &&
         trace_code_samples(&c);
    free(c.frames);
    free(c.open);
    free(c.next);
    return ok;
}
