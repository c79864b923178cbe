/* stacks.c - see stacks.h */

#include "stacks.h"

#include <stdlib.h>
#include <string.h>


bool read_module_number(const json_reader *whole, json_text value, uint64_t *id)
{
    json_reader r = json_part(whole, value);
    *id = UINT64_MAX;
    return value.length == 0 || value.bytes[0] == '-' || json_u64(&r, id);
}

static bool read_module_row(void *user, json_reader *r)
{
    module_list *l = (module_list *)user;
    module_row *module = &l->rows[l->count++];
    const json_field fields[] = {
        JSON_NUMBER("id", &module->id), JSON_TEXT("path", &module->path),
        JSON_TEXT("build_id", &module->build_id), JSON_NUMBER("base", &module->base)
    };
    module->id = UINT64_MAX;
    return JSON_FIELDS(r, fields);
}

static int by_module_id(const void *a, const void *b)
{
    const module_row *x = (const module_row *)a;
    const module_row *y = (const module_row *)b;
    return x->id < y->id ? -1 : x->id > y->id;
}

bool modules_read(module_list *l, const profile_text *p)
{
    memset(l, 0, sizeof *l);
    if (!json_room(&p->reader, p->modules, (void **)&l->rows, sizeof *l->rows) ||
        !json_each(&p->reader, p->modules, read_module_row, l)) {
        return false;
    }
    qsort(l->rows, l->count, sizeof *l->rows, by_module_id);
    for (size_t i = 1; i < l->count; i++) {
        l->rows[i].file = l->rows[i - 1].file + (l->rows[i - 1].path.length > 0);
    }
    return true;
}

const module_row *module_of(const module_list *l, uint64_t id)
{
    module_row wanted;
    memset(&wanted, 0, sizeof wanted);
    wanted.id = id;
    return l->count == 0 ? NULL : (const module_row *)bsearch(&wanted, l->rows, l->count,
                                                              sizeof wanted, by_module_id);
}

void stacks_free(stack_tree *s)
{
    free(s->frames);
    free(s->modules.rows);
    memset(s, 0, sizeof *s);
}

size_t stack_index(const stack_tree *s, uint64_t id)
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

json_text module_name(const stack_tree *s, uint64_t id)
{
    const module_row *module = module_of(&s->modules, id);
    json_text name = { "unknown", 7 };
    if (module != NULL && module->path.length > 0) {
        name = module->path;
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
    json_text kind, function, returns, module, language;
    uint64_t parent;
} stack_words;

/* Whether a module is the C library, its loader, or code that the kernel maps. */
static bool is_libc(json_text module)
{
    static const char *const starts[] = { "libc.", "libc-", "libm.", "libm-", "libpthread", "ld-",
                                          "linux-vdso", "linux-gate" };
    for (size_t i = 0; i < sizeof starts / sizeof starts[0]; i++) {
        size_t length = strlen(starts[i]);
        if (module.length >= length && memcmp(module.bytes, starts[i], length) == 0) {
            return true;
        }
    }
    return false;
}

static bool is_own(json_text module)
{
    static const char start[] = "chroprof_run";
    return module.length >= sizeof start && memcmp(module.bytes, start, sizeof start - 1) == 0;
}

/* Whether a frame of the C library has a caller that tells more. */
static bool prefer_caller(const stack_tree *s, const stack_frame *frame, size_t caller)
{
    return frame->libc && caller != SIZE_MAX && !s->frames[caller].libc;
}

bool stack_is_place(const stack_frame *frame, json_text name)
{
    static const char place[] = "+0x";
    json_text file = frame->module;
    return name.length > file.length + sizeof place && file.length > 0 &&
           memcmp(name.bytes, file.bytes, file.length) == 0 &&
           memcmp(name.bytes + file.length, place, sizeof place - 1) == 0;
}

/* A name is what people look for, a place is not. */
static bool prefer_name(const stack_tree *s, const stack_frame *frame)
{
    const stack_frame *caller = frame->named != SIZE_MAX ? &s->frames[frame->named] : NULL;
    return caller != NULL && stack_is_place(frame, frame->name) && !caller->libc &&
           !stack_is_place(caller, caller->name);
}

/* What a frame has from those that it was called by. */
static void link_stack_frame(stack_tree *s, size_t index)
{
    stack_frame *frame = &s->frames[index];
    const stack_frame *parent = frame->parent != SIZE_MAX ? &s->frames[frame->parent] : NULL;
    frame->root = frame->named = frame->placed = SIZE_MAX;
    if (frame->task) {
        frame->root = index;
        return;
    }
    if (parent != NULL) {
        frame->root = parent->root;
        frame->named = parent->named;
        frame->placed = parent->placed;
    }
    if (frame->own) {
        return;
    }
    if (frame->native && frame->name.length > 0 && !prefer_caller(s, frame, frame->named) &&
        !prefer_name(s, frame)) {
        frame->named = index;
    }
    if (frame->file.length > 0 && !prefer_caller(s, frame, frame->placed)) {
        frame->placed = index;
    }
}

/* Ids ascend, and a parent stands before its children: what does not is a root. */
static bool read_stack_frame(void *user, json_reader *r)
{
    stack_tree *s = (stack_tree *)user;
    stack_frame *frame = &s->frames[s->count];
    stack_words w = { { "", 0 }, { "", 0 }, { "", 0 }, { "-1", 2 }, { "", 0 }, 0 };
    const json_field fields[] = {
        JSON_NUMBER("id", &frame->id), JSON_NUMBER("parent", &w.parent),
        JSON_NUMBER("line", &frame->line), JSON_NUMBER("weight", &frame->weight),
        JSON_NUMBER("cpu_ns", &frame->cpu), JSON_NUMBER("path", &frame->path),
        JSON_VALUE("module", &w.module), JSON_NUMBER("address", &frame->address),
        JSON_TEXT("kind", &w.kind), JSON_TEXT("name", &frame->name),
        JSON_TEXT("function", &w.function), JSON_TEXT("file", &frame->file),
        JSON_VALUE("return", &w.returns), JSON_VALUE("inlined", &frame->inlined),
        JSON_TEXT("language", &w.language)
    };
    if (!JSON_FIELDS(r, fields) || !read_module_number(r, w.module, &frame->module_id)) {
        return false;
    }
    frame->name = w.function.length > 0 ? w.function : frame->name;
    frame->name = is_uninstrumented(frame->name) ? json_word("(uninstrumented)") : frame->name;
    frame->task = json_is(w.kind, "task");
    frame->native = json_is(w.kind, "native");
    frame->cut = json_is(w.kind, "marker") && json_is(frame->name, "(frames missing)");
    frame->address -= json_is(w.returns, "true") && frame->address > 0;
    frame->module = module_name(s, frame->module_id);
    frame->libc = is_libc(frame->module);
    frame->own = is_own(frame->module);
    frame->script = w.language.length > 0;
    frame->python = json_is(w.language, "python");
    frame->parent = stack_index(s, w.parent);
    if (frame->parent != SIZE_MAX && s->frames[frame->parent].depth == STACK_DEPTH) {
        frame->parent = SIZE_MAX;
    }
    frame->depth = frame->parent != SIZE_MAX ? s->frames[frame->parent].depth + 1 : 1;
    link_stack_frame(s, s->count++);
    return true;
}

bool read_sample_row(json_reader *r, sample_row *sample)
{
    const json_field fields[] = {
        JSON_NUMBER("at_ns", &sample->at), JSON_NUMBER("duration_ns", &sample->duration),
        JSON_NUMBER("weight", &sample->weight), JSON_NUMBER("cpu_ns", &sample->cpu),
        JSON_NUMBER("stack", &sample->stack), JSON_TEXT("state", &sample->state)
    };
    memset(sample, 0, sizeof *sample);
    return JSON_FIELDS(r, fields);
}

static bool read_stack_sampler(stack_tree *s, const profile_text *p)
{
    json_reader r = json_part(&p->reader, p->sampler);
    json_text mode = { "", 0 };
    const json_field fields[] = {
        JSON_NUMBER("period_ns", &s->period), JSON_NUMBER("cost_ns", &s->cost),
        JSON_TEXT("mode", &mode)
    };
    bool ok = JSON_FIELDS(&r, fields);
    s->cpu = json_is(mode, "cpu");
    return ok;
}

static bool has_stacks(const profile_text *p)
{
    return p->stacks.length > 0 && p->modules.length > 0 && p->samples.length > 0 &&
           p->sampler.length > 0;
}

/* Marks the stack of a sample in which the loop was idle. */
static bool stacks_mark_idle(void *user, json_reader *r)
{
    stack_tree *s = (stack_tree *)user;
    sample_row sample;
    size_t at;
    if (!read_sample_row(r, &sample)) {
        return false;
    }
    at = json_is(sample.state, "idle") ? stack_index(s, sample.stack) : SIZE_MAX;
    if (at != SIZE_MAX) {
        s->frames[at].idle = true;
    }
    return true;
}

bool stacks_read(stack_tree *s, const profile_text *p)
{
    memset(s, 0, sizeof *s);
    return !has_stacks(p) ||
           (read_stack_sampler(s, p) && modules_read(&s->modules, p) &&
            json_room(&p->reader, p->stacks, (void **)&s->frames, sizeof *s->frames) &&
            json_each(&p->reader, p->stacks, read_stack_frame, s) &&
            json_each(&p->reader, p->samples, stacks_mark_idle, s));
}

/* >>stacks calls */

static bool read_stack_call(void *user, json_reader *r)
{
    stack_calls *c = (stack_calls *)user;
    stack_call call = { { "", 0 }, { "", 0 }, 0 };
    const json_field fields[] = {
        JSON_TEXT("function", &call.name), JSON_TEXT("file", &call.file),
        JSON_NUMBER("line", &call.line)
    };
    if (!JSON_FIELDS(r, fields)) {
        return false;
    }
    if (c->count < STACK_CALLS) {
        c->calls[c->count++] = call;
    }
    return true;
}

bool stack_calls_of(const profile_text *p, const stack_frame *frame, stack_calls *c)
{
    c->calls[0].name = frame->name;
    c->calls[0].file = frame->file;
    c->calls[0].line = frame->line;
    c->count = 1;
    return json_each(&p->reader, frame->inlined, read_stack_call, c);
}

bool stack_slice_calls(const profile_text *p, const stack_tree *s, const stack_frame *frame,
                       stack_calls *c)
{
    if (!stack_calls_of(p, frame, c)) {
        return false;
    }
    if (c->count > 1 && frame->parent != SIZE_MAX && s->frames[frame->parent].task &&
        json_is(c->calls[c->count - 1].name, "main")) {
        c->count--;
    }
    return true;
}
