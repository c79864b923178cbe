/* run_within.c - see run_within.h */

#define _GNU_SOURCE 1
#include "run_within.h"

#ifdef __linux__

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "attach.h"

enum {
    NAMELESS_NS = 1000000000,  /* so long a place keeps no name if none was found */
    NAME_BYTES = 4000          /* of a function with the types of what it is called with */
};

typedef char within_room[WITHIN_FRAMES >= ATTACH_NATIVE ? 1 : -1];

static pid_t unwound;          /* whose modules are known */
static attach_image image;

/* "230 0x... (six of them) STACK CODE" */
static bool read_registers(const char *call, uint64_t *stack, uint64_t *code)
{
    return sscanf(call, "%*d %*x %*x %*x %*x %*x %*x %" SCNx64 " %" SCNx64, stack, code) == 2;
}

static bool read_call(const run_within *w, char *out, size_t size)
{
    char path[80];
    ssize_t count;
    int file;
    (void)snprintf(path, sizeof path, "/proc/%ld/task/%ld/syscall", (long)w->process,
                   (long)w->thread);
    file = open(path, O_RDONLY | O_CLOEXEC);
    count = file >= 0 ? read(file, out, size - 1) : -1;
    out[count > 0 ? count : 0] = '\0';
    if (file >= 0) {
        (void)close(file);
    }
    return count > 0;
}

static bool is_still(const run_within *w, const char *call)
{
    char now[256];
    return read_call(w, now, sizeof now) && strcmp(now, call) == 0;
}

/* Into image; false: it has moved meanwhile. */
static bool copy_stack(const run_within *w, const char *call, uint64_t stack, uint64_t code)
{
    if (unwound != w->process) {
        attach_unwind_end();
        (void)attach_unwind_begin(w->process);
        unwound = w->process;
    }
    memset(image.registers, 0, sizeof image.registers);
    image.registers[ATTACH_STACK] = image.stack = stack;
    image.registers[ATTACH_CODE] = image.code = code;
    image.frame = 0;
    image.call = image.left = -1;
    image.copied = attach_read(w->process, stack, image.copy, sizeof image.copy);
    return image.copied > 0 && is_still(w, call);
}

/* The functions that called each other; 0: nobody knows all of them. */
static size_t read_stack(const run_within *w, const char *call, uint64_t stack, uint64_t code,
                         uint64_t *frames, uint64_t *tops)
{
    return copy_stack(w, call, stack, code) ? attach_unwind_asleep(&image, frames, tops) : 0;
}

/* >>sites */

static uint64_t word_of(size_t at)
{
    uint64_t word;
    memcpy(&word, image.copy + at, sizeof word);
    return word;
}

/* Where a return address lies above this; the image's end: that is not sure, as earlier calls have left
 * the same word. top: of the frame that it ends; 0: not known. */
static size_t place_of(uint64_t back, uint64_t top, size_t from)
{
    size_t found = image.copied;
    if (top != 0) {
        const size_t at = top - image.stack >= 8 ? (size_t)(top - image.stack - 8) : image.copied;
        return at >= from && at < image.copied && image.copied - at >= 8 && word_of(at) == back
               ? at : image.copied;
    }
    for (size_t at = from; image.copied - at >= 8; at += 8) {
        if (word_of(at) == back) {
            if (found != image.copied) {
                return image.copied;
            }
            found = at;
        }
    }
    return found;
}

/* Of the image: a site that is not sure is not kept. */
static void keep_site(within_site *s, const uint64_t *frames, const uint64_t *tops, size_t count)
{
    size_t from = 0;
    s->stack = s->code = 0;
    s->count = 0;
    for (size_t i = 1; i < count; i++) {
        const size_t at = place_of(frames[i], tops[i - 1], from);
        if (at == image.copied) {
            return;
        }
        s->at[s->count] = (uint32_t)at;
        s->value[s->count++] = frames[i];
        from = at + 8;
    }
    if (s->count > 0) {
        s->stack = image.stack;
        s->code = image.code;
    }
}

/* Does it wait there now? Its stack is read anew. */
static bool is_same_site(const run_within *w, const within_site *s, const char *call, uint64_t stack,
                         uint64_t code)
{
    size_t need;
    if (s->stack == 0 || s->stack != stack || s->code != code) {
        return false;
    }
    need = s->at[s->count - 1] + 8u;
    if (attach_read(w->process, stack, image.copy, need > 256 ? need : 256) < need) {
        return false;
    }
    for (size_t i = 0; i < s->count; i++) {
        if (word_of(s->at[i]) != s->value[i]) {
            return false;
        }
    }
    return is_still(w, call);
}

void run_within_idle(run_within *w, const char *call)
{
    uint64_t frames[ATTACH_NATIVE];
    uint64_t tops[ATTACH_NATIVE];
    uint64_t stack;
    uint64_t code;
    size_t count;
    if (w->looks == WITHIN_LOOKS || !read_registers(call, &stack, &code) ||
        is_same_site(w, &w->idle_site, call, stack, code)) {
        return;
    }
    w->looks++;
    count = read_stack(w, call, stack, code, frames, tops);
    if (count > 0) {
        memcpy(w->idle, frames, count * sizeof *frames);
        w->idle_count = count;
        keep_site(&w->idle_site, frames, tops, count);
    }
}

/* >>names */

/* Without what it is called with. */
static void strip_arguments(char *name)
{
    size_t length = strlen(name);
    char *end = strrchr(name, ')');
    unsigned depth = 0;
    if (end == NULL || length - (size_t)(end - name) > sizeof ") const") {
        return;
    }
    for (char *at = end; at > name; at--) {
        depth += *at == ')';
        depth -= *at == '(';
        if (depth == 0) {
            *at = '\0';
            return;
        }
    }
}

/* Whose function it is; of these those of the program itself come first. */
enum { OF_NOBODY, OF_LIBRARY, OF_PROGRAM };

static int owner_of(uint64_t at)
{
    attach_module m;
    if (!attach_find(at, &m) || m.libc || m.loops || strstr(m.path, "/chroprof_run") != NULL) {
        return OF_NOBODY;
    }
    return m.program && !attach_is_template(attach_symbol(at)) ? OF_PROGRAM : OF_LIBRARY;
}

/* A frame by its number from 1 on, 0: none. */
typedef struct within_steps {
    size_t outer, inner;       /* functions with names: the first one, the program's own if there is one; the last */
    size_t place;              /* code of which only the place is known */
} within_steps;

/* Of the frames from one number up to another. */
static within_steps find_steps(const uint64_t *frames, size_t from, size_t to)
{
    within_steps s = { 0, 0, 0 };
    int best = OF_NOBODY;
    for (size_t i = to; i >= from && i > 0; i--) {
        const uint64_t at = frames[i - 1] - (i > 1);
        const int owner = owner_of(at);
        const bool named = owner != OF_NOBODY && attach_symbol(at) != NULL;
        if (named && owner > best) {
            s.outer = i;
            best = owner;
        }
        s.inner = named ? i : s.inner;
        s.place = owner != OF_NOBODY && s.place == 0 ? i : s.place;
    }
    return s;
}

static void name_frame(const uint64_t *frames, size_t number, char *out, size_t size)
{
    attach_name(frames[number - 1] - (number > 1), out, size);
    strip_arguments(out);
}

/* The function that the loop called, and the last one before the wait if there is room for it. */
static void name_steps(const uint64_t *frames, const within_steps *s, char *out)
{
    char outer[NAME_BYTES];
    char inner[NAME_BYTES];
    name_frame(frames, s->outer > 0 ? s->outer : s->place, outer, sizeof outer);
    if (strlen(outer) >= WITHIN_NAME) {
        (void)snprintf(outer + WITHIN_NAME - 4, 4, "...");
    }
    (void)snprintf(out, WITHIN_NAME, "%s", outer);
    if (s->outer > 0 && s->inner < s->outer) {
        name_frame(frames, s->inner, inner, sizeof inner);
        if (strcmp(inner, outer) != 0 &&
            strlen(outer) + sizeof " > " - 1 + strlen(inner) < WITHIN_NAME) {
            (void)snprintf(out, WITHIN_NAME, "%s > %s", outer, inner);
        }
    }
}

/* site: where that is */
static void name_native(const run_within *w, const char *call, uint64_t stack, uint64_t code,
                        char *out, within_site *site)
{
    uint64_t frames[ATTACH_NATIVE];
    uint64_t tops[ATTACH_NATIVE];
    const size_t count = read_stack(w, call, stack, code, frames, tops);
    const size_t inside = attach_inside_of(frames, count, w->idle, w->idle_count);
    within_steps s = find_steps(frames, 1, inside);
    if (s.place == 0 && inside > 0 && inside < count) {     /* the loop's own function */
        s = find_steps(frames, inside + 1, inside + 1);
    }
    if (s.place > 0) {
        name_steps(frames, &s, out);
    }
    keep_site(site, frames, tops, count);
}

void run_within_name(run_within *w, const char *call, bool python, char *out)
{
    uint64_t stack;
    uint64_t code;
    out[0] = '\0';
    if (python) {              /* its own frames tell nothing */
        unwound = unwound == w->process ? unwound : 0;
        (void)attach_python_within(w->process, w->thread, out, WITHIN_NAME);
        return;
    }
    if (!read_registers(call, &stack, &code)) {
        return;
    }
    for (size_t i = 0; i < WITHIN_PLACES; i++) {
        if (is_same_site(w, &w->places[i].site, call, stack, code)) {
            if (w->places[i].name[0] == '\0' && attach_now() - w->places[i].read_ns > NAMELESS_NS) {
                w->next = (unsigned)i;      /* its file may have been loaded meanwhile */
                break;
            }
            memcpy(out, w->places[i].name, WITHIN_NAME);
            return;
        }
    }
    name_native(w, call, stack, code, out, &w->places[w->next].site);
    if (w->idle_count == 0) {
        w->places[w->next].site.stack = 0;  /* the next look may know more */
        return;
    }
    w->places[w->next].read_ns = attach_now();
    memcpy(w->places[w->next].name, out, WITHIN_NAME);
    w->next = (w->next + 1) % WITHIN_PLACES;
}

bool run_within_own(pid_t process, pid_t thread, char *out)
{
    static run_within w;
    uint64_t frames[ATTACH_NATIVE];
    uint64_t tops[ATTACH_NATIVE];
    uint64_t stack;
    uint64_t code;
    char call[256];
    char name[NAME_BYTES];
    size_t count;
    w.process = process;
    w.thread = thread;
    if (!read_call(&w, call, sizeof call) || !read_registers(call, &stack, &code)) {
        return false;
    }
    count = read_stack(&w, call, stack, code, frames, tops);
    for (size_t i = 1; i <= count; i++) {
        const uint64_t at = frames[i - 1] - (i > 1);
        if (owner_of(at) == OF_PROGRAM && attach_symbol(at) != NULL) {
            name_frame(frames, i, name, sizeof name);
            (void)snprintf(out, WITHIN_NAME, "%s", name);
            return strlen(name) < WITHIN_NAME;
        }
    }
    return false;
}

/* >>the interpreter's lock: it alone is waited for by a condition, of CPython 3.11 */

static bool is_condition(uint64_t at)
{
    const char *name = attach_symbol(at);
    name = name != NULL ? name + strspn(name, "_") : "";
    return strcmp(name, "pthread_cond_timedwait") == 0 || strcmp(name, "pthread_cond_clockwait") == 0;
}

static bool is_interpreter(uint64_t at)
{
    attach_module m;
    const char *name = attach_find(at, &m) ? strrchr(m.path, '/') : NULL;
    return name != NULL && (strncmp(name, "/python3", 8) == 0 || strncmp(name, "/libpython3", 11) == 0);
}

bool run_within_is_gil(run_within *w, const char *call)
{
    uint64_t frames[ATTACH_NATIVE];
    uint64_t tops[ATTACH_NATIVE];
    uint64_t stack;
    uint64_t code;
    if (!read_registers(call, &stack, &code)) {
        return false;
    }
    if (!is_same_site(w, &w->gil_site, call, stack, code)) {
        const size_t count = copy_stack(w, call, stack, code) ? attach_unwind(&image, frames, tops)
                                                              : 0;
        w->gil = false;
        for (size_t i = 1; i + 1 < count && i < 4; i++) {
            w->gil = w->gil || (is_condition(frames[i] - 1) && is_interpreter(frames[i + 1] - 1));
        }
        keep_site(&w->gil_site, frames, tops, count < 5 ? count : 5);
    }
    return w->gil;
}

#endif
