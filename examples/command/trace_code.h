/* trace_code.h - the samples of a profile as a second line of its trace: which functions ran under
 * which task. A sample says what ran at its moment; it is drawn until the next one, but for no
 * longer than its own duration and one period. Neighbours share the calls they have in common. */

#define TRACE_CALLS 32         /* of one address: the function and what was inlined */

typedef struct trace_code {
    trace *t;
    stack_tree stacks;
    size_t *open, *next;       /* frames from the root: of the calls under way, of the sample */
    size_t open_count, next_count;
    uint64_t until;            /* where the calls under way end */
} trace_code;

/* The functions of a frame from the inside out; 0: malformed. */
static size_t read_trace_calls(const trace_code *c, const stack_frame *frame, json_text *calls)
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

static void trace_code_event(trace_code *c, const char *phase, const stack_frame *frame,
                             json_text name, uint64_t at)
{
    trace_begin(c->t, phase);
    (void)fprintf(c->t->out, ",\"tid\":2,\"cat\":\"%s\",\"name\":\"",
                  frame->task ? "task" : "code");
    trace_raw(c->t, name);
    if (name.length == 0) {
        (void)fputc('[', c->t->out);
        trace_raw(c->t, frame->module);
        (void)fputc(']', c->t->out);
    }
    (void)fputc('"', c->t->out);
    trace_time(c->t, at);
    (void)fputc('}', c->t->out);
}

/* All calls of a frame begin from the outside in, and end from the inside out. */
static bool trace_code_frame(trace_code *c, size_t index, bool ends, uint64_t at)
{
    json_text calls[TRACE_CALLS];
    const stack_frame *frame = &c->stacks.frames[index];
    size_t count = read_trace_calls(c, frame, calls);
    for (size_t i = 0; i < count; i++) {
        trace_code_event(c, ends ? "E" : "B", frame, calls[ends ? i : count - 1 - i], at);
    }
    return count > 0;
}

static bool same_frame(const trace_code *c, size_t a, size_t b)
{
    return a == b || (c->stacks.frames[a].task == c->stacks.frames[b].task &&
                      same_text(c->stacks.frames[a].name, c->stacks.frames[b].name) &&
                      same_text(c->stacks.frames[a].module, c->stacks.frames[b].module) &&
                      same_text(c->stacks.frames[a].inlined, c->stacks.frames[b].inlined));
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
static void trace_code_chain(trace_code *c, const sample_row *sample)
{
    size_t at = json_is(sample->state, "idle") ? SIZE_MAX : stack_index(&c->stacks, sample->stack);
    c->next_count = 0;
    for (size_t up = at; up != SIZE_MAX; up = c->stacks.frames[up].parent) {
        c->next_count++;
    }
    for (size_t i = c->next_count; i > 0; at = c->stacks.frames[at].parent) {
        c->next[--i] = at;
    }
}

static bool trace_code_samples(trace_code *c)
{
    json_reader r = json_part(&c->t->profile.reader, c->t->profile.samples);
    bool first = true;
    uint64_t span = c->stacks.period > 0 ? c->stacks.period : 1000;
    (void)json_open(&r, '[');
    while (json_next(&r, ']', &first)) {
        sample_row sample;
        if (!read_sample_row(&r, &sample) ||
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
    c->open = (size_t *)calloc(c->stacks.count + 1, sizeof *c->open);
    c->next = (size_t *)calloc(c->stacks.count + 1, sizeof *c->next);
    if (c->open == NULL || c->next == NULL) {
        tool_message("not enough memory for %llu stacks", (unsigned long long)c->stacks.count);
        return false;
    }
    return true;
}

/* Nothing if the profile has no samples. */
static bool trace_samples(trace *t)
{
    trace_code c;
    bool ok;
    if (!has_stacks(&t->profile)) {
        return true;
    }
    memset(&c, 0, sizeof c);
    c.t = t;
    ok = stacks_read(&c.stacks, &t->profile) && trace_code_room(&c);
    if (ok && c.stacks.count > 0) {
        trace_begin(t, "M");
        (void)fputs(",\"tid\":2,\"name\":\"thread_name\",\"args\":{\"name\":"
                    "\"sampled code, each sample drawn until the next\"}}", t->out);
    }
    ok = ok && trace_code_samples(&c);
    stacks_free(&c.stacks);
    free(c.open);
    free(c.next);
    return ok;
}
