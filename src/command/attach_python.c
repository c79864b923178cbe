/* attach_python.c - the functions in Python of a thread that is stopped, and their place in its
 * native stack; see attach.h and ../run/python.h */

#define _GNU_SOURCE 1
#include "attach.h"

#ifdef __linux__

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../run/board.h"
#include "../run/python.h"
#include "elf.h"
#include "made_names.h"
#include "message.h"

/* >>attach python reading: in blocks that never cross a page, each once a stop */

enum { BLOCK = 1024, BLOCKS = 64 };

static struct {
    python_place place;        /* layout NULL: there is no Python here, or it is not known */
    uint64_t low, high;        /* the interpreter's code */
    pid_t pid;
    uint64_t at[BLOCKS];       /* which block; 0: none */
    unsigned char bytes[BLOCKS][BLOCK];
    unsigned char table[PYTHON_TABLE];
    python_frame frames[PYTHON_FRAMES];
    uint64_t made[PYTHON_FRAMES];
    bool shown[PYTHON_FRAMES];
    uint32_t count;
} python;

static python_names names;

static const unsigned char *block_at(uint64_t address)
{
    uint64_t begin = address - address % BLOCK;
    size_t place = (size_t)(begin / BLOCK % BLOCKS);
    if (python.at[place] != begin || begin == 0) {
        python.at[place] = 0;
        if (attach_read(python.pid, begin, python.bytes[place], BLOCK) < BLOCK) {
            return NULL;
        }
        python.at[place] = begin;
    }
    return python.bytes[place];
}

static bool read_python(void *user, uint64_t from, void *to, size_t size)
{
    (void)user;
    for (unsigned char *at = (unsigned char *)to; size > 0;) {
        const unsigned char *block = block_at(from);
        size_t part = BLOCK - (size_t)(from % BLOCK);
        part = part < size ? part : size;
        if (block == NULL) {
            return false;
        }
        memcpy(at, block + from % BLOCK, part);
        at += part;
        from += part;
        size -= part;
    }
    return true;
}

/* >>attach python finding the interpreter */

static uint32_t version_at(uint64_t address)
{
    uint32_t version = 0;
    (void)(address != 0 && read_python(NULL, address, &version, sizeof version));
    return version;
}

/* What a file with the interpreter exports. false: it is another file. */
static bool find_exports(const attach_module *m, const char *real)
{
    python_place *p = &python.place;
    elf_file elf;
    uint64_t runtime, version, code, text, bytes;
    uint32_t known;
    if (elf_file_open(&elf, real) != NULL) {
        return false;
    }
    runtime = elf_export(&elf, "_PyRuntime");
    version = elf_export(&elf, "Py_Version");
    code = elf_export(&elf, "PyCode_Type");
    text = elf_export(&elf, "PyUnicode_Type");
    bytes = elf_export(&elf, "PyBytes_Type");
    elf_file_close(&elf);
    if (runtime == 0) {
        return false;
    }
    known = version != 0 ? version_at(m->base + version) : 0;
    p->layout = PYTHON_KNOWN && code != 0 && text != 0 && bytes != 0 ? python_layout_of(known) : NULL;
    p->runtime = m->base + runtime;
    p->code_type = m->base + code;
    p->text_type = m->base + text;
    p->bytes_type = m->base + bytes;
    p->read = read_python;
    python.low = m->start;
    python.high = m->end;
    if (p->layout == NULL && known != 0) {
        tool_message("attach: its functions in Python have no names: those of CPython 3.11 are known, "
                     "and this is %" PRIu32 ".%" PRIu32, known >> 24, known >> 16 & 0xFF);
    } else if (p->layout == NULL) {
        tool_message("attach: its functions in Python have no names: those of CPython 3.11 are known, "
                     "and this is another version");
    }
    return true;
}

void attach_python_begin(pid_t pid)
{
    attach_module m;
    char real[600];
    python.pid = pid;
    names.magic = PYTHON_MAGIC;
    for (size_t i = 0; attach_module_at(i, &m, real, sizeof real); i++) {
        const char *name = last_part(m.path);
        if ((m.program || strncmp(name, "libpython", 9) == 0) && find_exports(&m, real)) {
            return;
        }
    }
}

/* The thread's number as it sees it itself: the innermost one, where it runs in a container. */
static uint64_t own_number(pid_t tid)
{
    char all[200];
    const char *last = all;
    if (!attach_status(tid, "NSpid:", all, sizeof all)) {
        return (uint64_t)tid;
    }
    for (const char *at = all; *at != '\0'; at++) {
        last = (*at == '\t' || *at == ' ') && at[1] != '\0' ? at + 1 : last;
    }
    return strtoull(last, NULL, 10);
}

void attach_python_read(pid_t tid)
{
    const python_place *p = &python.place;
    python.count = 0;
    if (p->layout == NULL) {
        return;
    }
    memset(python.at, 0, sizeof python.at);
    python.count = python_stack(p, python_thread(p, own_number(tid)), python.frames, PYTHON_FRAMES);
    for (uint32_t i = 0; i < python.count; i++) {
        python.made[i] = python_made(p, &python.frames[i], &names, python.table, &python.shown[i]);
    }
}

static const char *text_of(uint64_t address, const char **file)
{
    const python_name *row = &names.rows[python_row_of(address) % PYTHON_NAMES];
    const char *name = names.text + row->text;
    *file = name + strlen(name) + 1;
    return name;
}

bool attach_python_within(pid_t pid, pid_t tid, char *out, size_t size)
{
    if (python.pid != pid) {
        memset(&python, 0, sizeof python);
        attach_modules_begin(pid);
        attach_python_begin(pid);
    }
    attach_python_read(tid);
    for (uint32_t i = 0; i < python.count; i++) {
        if (python.made[i] != 0 && attach_python_is_own(python.made[i])) {
            char name[900];
            const char *file;
            attach_python_name(python.made[i], name, sizeof name);
            (void)snprintf(out, size, "%s", strlen(name) < size ? name
                           : text_of(python.made[i], &file));
            return true;
        }
    }
    return false;
}

uint64_t attach_python_mark(void)
{
    uint64_t mark = 0;
    for (uint32_t i = 0; i < python.count; i++) {
        const python_frame *f = &python.frames[i];
        mark = (mark ^ f->frame ^ f->offset) * UINT64_C(0x9E3779B97F4A7C15);
        mark = (mark ^ mark >> 29 ^ f->code) * UINT64_C(0xBF58476D1CE4E5B9);
    }
    return mark;
}

/* >>attach python weaving */

typedef struct weave {
    uint64_t frames[ATTACH_FRAMES];
    size_t count;
} weave;

static void put_frame(weave *w, uint64_t address)
{
    if (w->count < ATTACH_FRAMES) {
        w->frames[w->count++] = address;
    }
}

static bool is_interpreter(uint64_t address)
{
    return address >= python.low && address < python.high;
}

/* Native frames inside a function in Python, or outside of all. The interpreter's own functions between
 * that and other code are left out: which ones these are changes from call to call. */
static void put_native(weave *w, const uint64_t *frames, size_t from, size_t to, bool keep)
{
    size_t inner = from;       /* of other code, and what it called: up to here */
    for (size_t i = from; i < to; i++) {
        inner = is_interpreter(frames[i]) ? inner : i + 1;
    }
    for (size_t i = from; i < to; i++) {
        if (keep && (i < inner || inner == from)) {
            put_frame(w, frames[i]);
        } else if (!is_interpreter(frames[i])) {
            put_frame(w, frames[i]);
        }
    }
}

/* The functions of one call of the interpreter's loop, in place of its native frame. Returns the next
 * function. */
static uint32_t put_python(weave *w, uint32_t from, uint64_t native)
{
    uint32_t next = from;
    bool any = false;
    for (; next < python.count && python.frames[next].cframe == python.frames[from].cframe; next++) {
        if (python.shown[next]) {
            put_frame(w, python.made[next] != 0 ? python.made[next] : native);
            any = true;
        }
    }
    if (!any) {
        put_frame(w, native);
    }
    return next;
}

static size_t home_of(const uint64_t *tops, size_t count, uint64_t cframe, size_t from)
{
    size_t at = from;
    while (at < count && tops[at] != 0 && tops[at] <= cframe) {
        at++;
    }
    return at < count && tops[at] != 0 ? at : count;
}

size_t attach_python_weave(uint64_t *frames, const uint64_t *tops, size_t count)
{
    static weave w;
    size_t at = 0;
    uint32_t next = 0;
    w.count = 0;
    while (next < python.count) {
        size_t home = home_of(tops, count, python.frames[next].cframe, at);
        if (home == count) {
            break;
        }
        put_native(&w, frames, at, home, next == 0);
        next = put_python(&w, next, frames[home]);
        at = home + 1;
    }
    if (next == 0) {
        return count;
    }
    for (; at < count; at++) {
        put_frame(&w, frames[at]);
    }
    memcpy(frames, w.frames, w.count * sizeof *frames);
    return w.count;
}

/* >>attach python words */

/* Neither Python's own libraries nor packages that were installed. */
bool attach_python_is_own(uint64_t address)
{
    const char *file;
    if (!python_is_address(address)) {
        return false;
    }
    (void)text_of(address, &file);
    return !python_is_library(file);
}

bool attach_python_is_in(const uint64_t *frames, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (python_is_address(frames[i])) {
            return true;
        }
    }
    return false;
}

void attach_python_name(uint64_t address, char *out, size_t size)
{
    const char *file;
    const char *name = text_of(address, &file);
    (void)snprintf(out, size, "%s (%s:%" PRIu32 ")", name, last_part(file),
                   python_line_of(address));
}

/* The program's own functions among frames: places plus one, 0: none. */
typedef struct own_frames {
    size_t outer, inner, any;  /* any: the outermost in Python */
} own_frames;

static own_frames find_own(const uint64_t *frames, size_t inside)
{
    own_frames found = { 0, 0, 0 };
    for (size_t i = inside; i > 0; i--) {
        if (python_is_address(frames[i - 1])) {
            found.any = found.any == 0 ? i : found.any;
            if (attach_python_is_own(frames[i - 1])) {
                found.outer = found.outer == 0 ? i : found.outer;
                found.inner = i;
            }
        }
    }
    if (found.outer == 0) {
        found.outer = found.inner = found.any;
    }
    return found;
}

bool attach_python_holder(const uint64_t *frames, size_t inside, attach_function *out)
{
    own_frames found = find_own(frames, inside);
    if (found.outer > 0) {
        uint64_t at = frames[found.outer - 1];
        out->name = text_of(at, &out->file);
        out->line = names.rows[python_row_of(at) % PYTHON_NAMES].line;
    }
    return found.outer > 0;
}

/* What is called from that frame and has a name, in a library. */
static const char *called_from(const uint64_t *frames, size_t inner)
{
    attach_module m;
    const char *file;
    for (size_t i = inner - 1; i > 0; i--) {
        uint64_t at = frames[i - 1] - (i > 1);
        if (python_is_address(frames[i - 1])) {
            return text_of(frames[i - 1], &file);
        }
        if (!is_interpreter(at) && attach_symbol(at) != NULL &&
            attach_find(at, &m) && !m.libc) {
            return attach_symbol(at);
        }
    }
    return NULL;
}

void attach_python_way(const uint64_t *frames, size_t inside, char *out, size_t size)
{
    own_frames found = find_own(frames, inside);
    const char *file, *called;
    uint64_t at = frames[found.inner > 0 ? found.inner - 1 : 0];
    out[0] = '\0';
    if (found.inner == 0) {
        return;
    }
    if (python_row_of(at) != python_row_of(frames[found.outer - 1])) {
        attach_python_name(at, out, size);
    } else {
        (void)text_of(at, &file);
        (void)snprintf(out, size, "%s:%" PRIu32, last_part(file), python_line_of(at));
    }
    called = called_from(frames, found.inner);
    if (called != NULL) {
        (void)snprintf(out + strlen(out), size - strlen(out), " > %.60s", called);
    }
}

char *attach_python_names(void)
{
    return made_names_text(&names);
}

#endif
