/* code_judge.c - see code_judge.h */

#include "code_judge.h"

#include <stdlib.h>
#include <string.h>

#include "../run/python.h"
#include "code_words.h"

/* >>causes calls */

/* Code that somebody wrote in JavaScript or Python for this program; node's own is in files called
 * node:..., for Python's and installed packages see python_is_library. */
static bool is_script(const stack_frame *frame, json_text file)
{
    static const char internal[] = "node:";
    char path[4096];
    if (frame->python) {
        return json_unescape(file, path, sizeof path) && !python_is_library(path);
    }
    return frame->script && file.length > 0 &&
           (file.length < sizeof internal - 1 ||
            memcmp(file.bytes, internal, sizeof internal - 1) != 0);
}

static size_t cause_room(const cause *c)
{
    size_t count = 0;
    stack_calls inlined;
    for (size_t i = 0; i < c->stacks->count; i++) {
        count += stack_calls_of(c->profile, &c->stacks->frames[i], &inlined) ? inlined.count : 1;
    }
    return count;
}

static void cause_add_frame(cause *c, size_t i)
{
    const stack_frame *frame = &c->stacks->frames[i];
    size_t parent = frame->parent == SIZE_MAX ? SIZE_MAX : c->innermost[frame->parent];
    stack_calls inlined;
    if (!stack_calls_of(c->profile, frame, &inlined)) {
        inlined.count = 1;
    }
    for (size_t k = inlined.count; k > 0; k--) {
        call *one = &c->calls[c->count];
        one->frame = frame;
        one->parent = parent;
        one->name = inlined.calls[k - 1].name;
        one->file = inlined.calls[k - 1].file;
        one->line = inlined.calls[k - 1].line;
        c->scripted = c->scripted || frame->script;
        c->python = c->python || frame->python;
        parent = c->count++;
    }
    c->innermost[i] = parent;
}

/* The file of the program, which may have another name: that of a link. Else the first file that is
 * no library. */
static json_text program_file(const stack_tree *stacks, json_text name)
{
    json_text other = name;
    for (size_t i = stacks->modules.count; i > 0; i--) {
        json_text file = module_name(stacks, stacks->modules.rows[i - 1].id);
        char text[256];
        if (compare_text(file, name) == 0) {
            return name;
        }
        if (stacks->modules.rows[i - 1].path.length > 0 &&
            stacks->modules.rows[i - 1].path.bytes[0] == '/' &&
            json_unescape(file, text, sizeof text) && strstr(text, ".so") == NULL) {
            other = file;
        }
    }
    return other;
}

bool cause_open(cause *c, const stack_tree *stacks, const profile_text *p)
{
    memset(c, 0, sizeof *c);
    c->profile = p;
    c->stacks = stacks;
    c->program = program_file(stacks, json_inside(p->program));
    c->calls = (call *)calloc(cause_room(c) + 1, sizeof *c->calls);
    c->innermost = (size_t *)calloc(stacks->count + 1, sizeof *c->innermost);
    for (size_t i = 0; c->calls != NULL && c->innermost != NULL && i < stacks->count; i++) {
        cause_add_frame(c, i);
    }
    return c->calls != NULL && c->innermost != NULL;
}

void cause_close(cause *c)
{
    free(c->calls);
    free(c->innermost);
}

void cause_weigh(cause *c, uint64_t stack, uint64_t weight)
{
    size_t index = stack_index(c->stacks, stack);
    size_t at = index != SIZE_MAX ? c->innermost[index] : SIZE_MAX;
    c->weight += weight;
    for (; at != SIZE_MAX; at = c->calls[at].parent) {
        c->calls[at].weight += weight;
    }
}

void cause_clear(cause *c)
{
    c->weight = c->all = 0;
    for (size_t i = 0; i < c->count; i++) {
        c->calls[i].weight = 0;
        c->calls[i].distance = 0;
    }
}

/* >>causes walk */

static bool is_same_name(const cause *c, size_t a, size_t b)
{
    const call *one = &c->calls[a], *other = &c->calls[b];
    if (compare_text(one->name, other->name) != 0) {
        return false;
    }
    if (!one->frame->script) {
        return true;
    }
    return (one->frame->python || one->line == other->line) &&     /* JavaScript has many without a name */
           compare_text(one->file, other->file) == 0;
}

static bool is_callee(const cause *c, size_t i, uint32_t distance)
{
    const call *one = &c->calls[i];
    return !one->frame->task && one->parent != SIZE_MAX && one->weight > 0 &&
           c->calls[one->parent].distance == distance;
}

/* The weight of the callees that have the name of this one. */
static uint64_t callee_weight(const cause *c, size_t of, uint32_t distance)
{
    uint64_t weight = 0;
    for (size_t i = 0; i < c->count; i++) {
        if (is_callee(c, i, distance) && is_same_name(c, i, of)) {
            weight += c->calls[i].weight;
        }
    }
    return weight;
}

/* Goes on from the calls of a distance to those that most samples are in. */
static bool cause_step(cause *c, uint32_t distance, step *found)
{
    size_t best = SIZE_MAX;
    for (size_t i = 0; i < c->count; i++) {
        bool more = is_callee(c, i, distance) && callee_weight(c, i, distance) > c->weight / 2;
        if (more && (best == SIZE_MAX || c->calls[i].weight > c->calls[best].weight)) {
            best = i;
        }
    }
    if (best == SIZE_MAX) {
        return false;
    }
    found->call = &c->calls[best];
    found->weight = callee_weight(c, best, distance);
    for (size_t i = 0; i < c->count; i++) {
        if (is_callee(c, i, distance) && is_same_name(c, i, best)) {
            c->calls[i].distance = distance + 1;
        }
    }
    return true;
}

/* The number of tasks that a call lies in. */
static size_t task_depth(const cause *c, size_t of)
{
    size_t depth = 0;
    for (size_t i = c->calls[of].parent; i != SIZE_MAX; i = c->calls[i].parent) {
        depth += c->calls[i].frame->task;
    }
    return depth;
}

/* The weight of the samples in tasks of this one's name. 0: it is no task, or was not sampled. */
static uint64_t task_weight(const cause *c, size_t of)
{
    uint64_t weight = 0;
    if (!c->calls[of].frame->task || c->calls[of].weight == 0) {
        return 0;
    }
    for (size_t i = 0; i < c->count; i++) {
        weight += c->calls[i].frame->task && is_same_name(c, of, i) ? c->calls[i].weight : 0;
    }
    return weight;
}

/* From the innermost task that most samples are in: it has the fewest of them, or lies deepest.
 * Where there is none, from all. */
static void cause_begin(cause *c)
{
    size_t task = SIZE_MAX;
    uint64_t least = UINT64_MAX;
    bool tasks = false;        /* does any have samples? Else it is from the outermost frames */
    for (size_t i = 0; i < c->count; i++) {
        uint64_t weight = task_weight(c, i);
        bool most = weight > c->weight / 2 && weight <= least;
        tasks = tasks || weight > 0;
        if (most && (weight < least || task_depth(c, i) > task_depth(c, task))) {
            task = i;
            least = weight;
        }
    }
    for (size_t i = 0; i < c->count; i++) {
        bool start = tasks ? c->calls[i].frame->task : c->calls[i].parent == SIZE_MAX;
        c->calls[i].distance = start && (task == SIZE_MAX || is_same_name(c, i, task));
    }
}

/* >>causes names: who is named */

bool cause_is_program(const cause *c, const call *one)
{
    if (c->scripted) {
        return is_script(one->frame, one->file);
    }
    return c->program.length > 0 && compare_text(one->frame->module, c->program) == 0;
}

/* The interpreter's own function, or one of a module for it that has no symbol. */
static bool is_of_python(const call *one)
{
    static const char *const begins[] = { "python", "libpython" };
    char name[400];
    for (size_t i = 0; i < 2; i++) {
        size_t length = strlen(begins[i]);
        if (one->frame->module.length > length &&
            memcmp(one->frame->module.bytes, begins[i], length) == 0) {
            return !one->frame->python;
        }
    }
    return !one->frame->python && json_unescape(one->name, name, sizeof name) &&
           strstr(name, "+0x") != NULL;
}

static bool begins_with(json_text text, const char *begin)
{
    const size_t length = strlen(begin);
    return text.length >= length && memcmp(text.bytes, begin, length) == 0;
}

/* GObject's functions between one that emits a signal and those that it is for. */
static bool is_dispatcher(const call *one)
{
    static const char *const begins[] = { "g_signal_emit", "g_closure_invoke", "g_cclosure_marshal",
                                          "g_type_class_meta_marshal" };
    bool found = false;
    for (size_t i = 0; i < sizeof begins / sizeof begins[0]; i++) {
        found = found || begins_with(one->name, begins[i]);
    }
    return found && begins_with(one->frame->module, "libgobject-");
}

static bool has_name(const cause *c, const call *one)
{
    static const char trampoline[] = "Builtins_";      /* V8's, between functions in JavaScript */
    bool through = one->name.length >= sizeof trampoline - 1 &&
                   memcmp(one->name.bytes, trampoline, sizeof trampoline - 1) == 0;
    return one->frame->native && one->name.length > 0 && !one->frame->own && !through &&
           !is_dispatcher(one) && !(c->python && is_of_python(one)) && !code_is_ours(one->frame);
}

/* Does the C library call it, outside of which nothing else is known? Then it is main, or that of a
 * thread, which have no such names in a stripped file. */
static bool is_outermost(const cause *c, const call *one)
{
    size_t at = one->parent;
    bool begun = at != SIZE_MAX && c->calls[at].frame->native && c->calls[at].frame->libc;
    for (; begun && at != SIZE_MAX; at = c->calls[at].parent) {
        const stack_frame *frame = c->calls[at].frame;
        begun = frame->task || (frame->native && (frame->libc || c->calls[at].parent == SIZE_MAX));
    }
    return begun;
}

/* Does it run outside of the task as well? Then it is the loop, into which the callback may be
 * inlined. */
static bool is_loop(const cause *c, const call *one)
{
    size_t at = one->parent;
    if (is_outermost(c, one)) {
        return true;
    }
    while (at != SIZE_MAX && !c->calls[at].frame->task) {
        at = c->calls[at].parent;
    }
    for (at = at != SIZE_MAX ? c->calls[at].parent : at; at != SIZE_MAX; at = c->calls[at].parent) {
        if (c->calls[at].frame->native && compare_text(c->calls[at].name, one->name) == 0) {
            return true;
        }
    }
    return compare_text(one->name, json_word("main")) == 0;
}

bool cause_is_callback(const cause *c, const call *one)
{
    const stack_frame *frame = one->frame;
    return frame->root != SIZE_MAX &&
           compare_text(c->stacks->frames[frame->root].name, one->name) == 0;
}

bool cause_is_place(const cause *c, const call *one)
{
    return one != NULL && !one->frame->libc && stack_is_place(one->frame, one->name) &&
           module_of(&c->stacks->modules, one->frame->module_id) != NULL;
}

/* A function of a library of templates, which is compiled into the program. */
static bool is_template(const call *one)
{
    static const char *const begins[] = { "std::", "boost::", "boost_asio_", "asio::", "__gnu_cxx::" };
    static const char nothing[] = "void ";
    json_text name = one->name;
    bool found = false;
    if (begins_with(name, nothing)) {
        name.bytes += sizeof nothing - 1;
        name.length -= sizeof nothing - 1;
    }
    for (size_t i = 0; i < sizeof begins / sizeof begins[0]; i++) {
        found = found || begins_with(name, begins[i]);
    }
    return found;
}

static bool is_own(const cause *c, const call *one)
{
    return cause_is_program(c, one) && !is_template(one);
}

/* Shall this one take the place of the outermost that was named so far? The program's own code
 * goes before that of a library, what a callback calls before the callback. */
static bool is_better(const cause *c, const call *outer, const call *one)
{
    bool own = is_own(c, one);
    if (outer == NULL || is_loop(c, outer)) {
        return true;
    }
    if (own != is_own(c, outer)) {
        return own;
    }
    if (own && outer->frame->script && compare_text(outer->name, json_word("(anonymous)")) == 0) {
        return true;           /* such as the arrow function that calls what has a name */
    }
    return !one->frame->libc && cause_is_callback(c, outer);
}

static void found_add(const cause *c, cause_found *found, const step *one)
{
    bool own = cause_is_program(c, one->call);
    bool before = found->inner.call != NULL && cause_is_program(c, found->inner.call);
    bool better = is_better(c, found->outer.call, one->call);
    if (better) {
        found->outer = *one;
    }
    if (own || better || !before) {
        found->inner = *one;
        found->library.call = NULL;
    } else if (found->library.call == NULL) {
        found->library = *one;
    }
}

/* The samples that a function of a name is in, however deep. */
typedef struct presence {
    uint64_t weight;
    uint64_t cut;              /* of those whose stack begins with it, because outer frames lack */
} presence;

static bool is_cut(const cause *c, size_t i)
{
    size_t parent = c->calls[i].parent;
    return parent != SIZE_MAX && c->calls[parent].frame->cut;
}

static presence presence_of(const cause *c, size_t of)
{
    presence all = { 0, 0 };
    for (size_t i = 0; i < c->count; i++) {
        size_t at = c->calls[i].weight > 0 && is_same_name(c, i, of) ? c->calls[i].parent : i;
        bool outermost = at != i;
        for (; outermost && at != SIZE_MAX; at = c->calls[at].parent) {
            outermost = !is_same_name(c, at, of);
        }
        all.weight += outermost ? c->calls[i].weight : 0;
        all.cut += outermost && is_cut(c, i) ? c->calls[i].weight : 0;
    }
    return all;
}

/* Some stacks lack their outer frames, those of a deep recursion: these samples begin in a function
 * that is further in elsewhere, and no walk from the outside meets both. Such a function takes the
 * place of what the walk found in fewer samples. */
static void find_anywhere(const cause *c, cause_found *found)
{
    bool walked = found->outer.call != NULL && cause_is_program(c, found->outer.call), any = false;
    for (size_t i = 0; i < c->count; i++) {
        const call *one = &c->calls[i];
        bool may = one->weight > 0 && one->frame->root != SIZE_MAX && has_name(c, one) &&
                   cause_is_program(c, one) && !is_loop(c, one);
        presence p = may ? presence_of(c, i) : (presence){ 0, 0 };
        bool both = p.cut > 0 && p.cut < p.weight;
        if ((both || !walked) && p.weight > c->weight / 2 &&
            (p.weight > found->outer.weight || !(walked || any))) {
            found->outer.call = one;
            found->outer.weight = p.weight;
            any = true;
        }
    }
    if (any) {
        found->inner = found->outer;
        found->library.call = NULL;
    }
}

/* Where node's own JavaScript takes the time, as it does for a program that keeps it busy with little
 * functions: the one of the program's that most samples are in, however few these are. */
static void find_script(const cause *c, cause_found *found, const step *internal)
{
    step most = { NULL, 0 };
    for (size_t i = 0; i < c->count; i++) {
        const call *one = &c->calls[i];
        if (one->weight > 0 && cause_is_program(c, one) && has_name(c, one)) {
            presence p = presence_of(c, i);
            if (p.weight > most.weight) {
                most.call = one;
                most.weight = p.weight;
            }
        }
    }
    found->outer = *internal;
    found->inner = most.call != NULL ? most : *internal;
    found->small = most.call != NULL;
    found->library.call = NULL;
}

/* Functions on the way that have names, where others are known by their places alone. */
typedef struct named_steps {
    step first, last;
} named_steps;

static void note_named(const cause *c, named_steps *n, const step *one)
{
    const call *before = n->last.call;
    if (one->call->frame->libc || cause_is_place(c, one->call) || is_loop(c, one->call) ||
        (before != NULL && cause_is_program(c, before) && !cause_is_program(c, one->call))) {
        return;
    }
    if (before == NULL || (cause_is_program(c, one->call) && !cause_is_program(c, before))) {
        n->first = *one;
    }
    n->last = *one;
}

/* A name is what people look for, a place is not. */
static void prefer_names(const cause *c, const named_steps *n, cause_found *found)
{
    const call *outer = found->outer.call;
    const call *inner = found->inner.call;
    if (n->last.call == NULL || outer == NULL ||
        (cause_is_program(c, outer) && !cause_is_program(c, n->last.call))) {
        return;
    }
    if (inner == outer ? cause_is_place(c, outer) : cause_is_place(c, inner)) {
        found->inner = n->last;
        found->library.call = NULL;
    }
    if (cause_is_place(c, outer)) {
        found->outer = n->first;
    }
}

static cause_found cause_walk(cause *c)
{
    cause_found found;
    step one, internal = { NULL, 0 };
    named_steps named;
    memset(&found, 0, sizeof found);
    memset(&named, 0, sizeof named);
    cause_begin(c);
    for (uint32_t distance = 1; cause_step(c, distance, &one); distance++) {
        if (has_name(c, one.call)) {
            found_add(c, &found, &one);
            note_named(c, &named, &one);
            internal = one.call->frame->script ? one : internal;
        }
    }
    prefer_names(c, &named, &found);
    find_anywhere(c, &found);
    if (c->scripted && internal.call != NULL && !cause_is_program(c, found.outer.call)) {
        find_script(c, &found, &internal);
    }
    return found;
}

static bool lacks_callers(const cause *c, size_t of)
{
    size_t at = of;
    while (at != SIZE_MAX && !c->calls[at].frame->cut) {
        at = c->calls[at].parent;
    }
    return at != SIZE_MAX;
}

/* Leaves the samples of which all callers are known. */
static void keep_whole(cause *c)
{
    for (size_t i = 0; i < c->count; i++) {
        const uint64_t weight = c->calls[i].frame->cut ? c->calls[i].weight : 0;
        c->weight -= weight;
        for (size_t at = c->calls[i].parent; weight > 0 && at != SIZE_MAX; at = c->calls[at].parent) {
            c->calls[at].weight -= weight;
        }
    }
    for (size_t i = 0; i < c->count; i++) {
        c->calls[i].weight = lacks_callers(c, i) ? 0 : c->calls[i].weight;
        c->calls[i].distance = 0;
    }
}

static bool is_own_name(const cause *c, const call *one)
{
    return one != NULL && cause_is_program(c, one) && !cause_is_place(c, one);
}

/* Of code that says wrongly how to find its callers, such as some that was written by hand, many
 * samples tell nothing but the place: who called it is known by the others. */
verdict cause_judge(cause *c)
{
    const uint64_t weight = c->weight;
    verdict v;
    memset(&v, 0, sizeof v);
    v.all = c->all > weight ? c->all : weight;
    v.weight = weight;
    v.found = cause_walk(c);
    if (v.found.outer.call != NULL && lacks_callers(c, (size_t)(v.found.outer.call - c->calls)) &&
        !is_own_name(c, v.found.outer.call)) {
        const cause_found place = v.found;
        keep_whole(c);
        v.found = cause_walk(c);
        v.weight = c->weight;
        if (code_is_few(c->weight) || !is_own_name(c, v.found.outer.call)) {
            v.found = place;
            v.weight = weight;
        }
    }
    return v;
}
