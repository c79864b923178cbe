/* python.h - the functions in Python that a thread of CPython is in, read from the interpreter's own
 * structures: by chroprof attach from outside, by the library of chroprof run in a signal handler.
 * Nothing is written, nothing is called, and every word is read by a reader that says when it can't.
 *
 * Each call of the interpreter's loop (_PyEval_EvalFrameDefault) runs one frame or several that call
 * each other; the frame that it began with is marked. Its own variable, a _PyCFrame, lies in its
 * native frame: so it is known which functions in Python stand in whose place.
 *
 * A frame becomes an address that no code has: a number for the function, and the line. The names are
 * in a table beside it (python_names). */

#ifndef PRELOAD_PYTHON_H
#define PRELOAD_PYTHON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__linux__) && defined(__x86_64__)
#define PYTHON_KNOWN 1         /* elsewhere code may have addresses like those made here */
#else
#define PYTHON_KNOWN 0
#endif

enum {
    PYTHON_FRAMES = 200,       /* of a stack: the innermost ones, and the outermost one */
    PYTHON_DEPTH = 1200,       /* frames that are read for it: Python's own limit is 1000 */
    PYTHON_EVALS = 100,
    PYTHON_THREADS = 1000,     /* that are looked through */
    PYTHON_NAME = 200, PYTHON_FILE = 600,  /* bytes of texts */
    PYTHON_TABLE = 16 << 10    /* bytes of a line table that are read */
};

/* Where things lie, in bytes. Source: offsetof, with the headers of each version, which
 * tests/python_offsets.c does again where they are there. */
typedef struct python_layout {
    uint32_t version;          /* the upper half of Py_Version: 0x030B */
    uint16_t interpreters;     /* _PyRuntimeState.interpreters.head */
    uint16_t next_interpreter, threads;                    /* PyInterpreterState */
    uint16_t next_thread, cframe, native_id, root_cframe;  /* PyThreadState */
    uint16_t current, outer;   /* _PyCFrame.current_frame, .previous */
    uint16_t code, caller, instruction, entry, owner, frame_bytes;     /* _PyInterpreterFrame */
    uint16_t first_line, file, name, lines, traceable, bytecode;       /* PyCodeObject */
    uint16_t type, size, bytes;                            /* PyVarObject, PyBytesObject.ob_sval */
    uint16_t length, state, ascii, compact;                /* PyASCIIObject, and behind which texts lie */
} python_layout;

static const python_layout python_layouts[] = {
    { 0x030B, 40, 0, 16, 8, 56, 160, 336, 8, 16, 32, 48, 56, 68, 69, 72, 72, 112, 128, 136, 168, 184,
      8, 16, 32, 16, 32, 48, 72 }
};

/* Reads so many bytes, or says false. */
typedef bool python_read(void *user, uint64_t from, void *to, size_t size);

/* An interpreter in a process. */
typedef struct python_place {
    const python_layout *layout;
    uint64_t runtime;          /* _PyRuntime */
    uint64_t code_type, text_type, bytes_type;             /* PyCode_Type, ... */
    python_read *read;
    void *user;
} python_place;

typedef struct python_frame {
    uint64_t frame, code;
    uint64_t cframe;           /* of the call of the interpreter's loop that it runs in */
    uint32_t offset;           /* of the instruction, in bytes of the bytecode */
    bool entry;                /* that call began with it */
} python_frame;

static inline const python_layout *python_layout_of(uint32_t version)
{
    for (size_t i = 0; i < sizeof python_layouts / sizeof python_layouts[0]; i++) {
        if (python_layouts[i].version == version >> 16) {
            return &python_layouts[i];
        }
    }
    return NULL;
}

static inline bool python_word(const python_place *p, uint64_t from, uint64_t *to)
{
    return from != 0 && p->read(p->user, from, to, sizeof *to);
}

/* A word in bytes that were read. */
static inline uint64_t python_word_in(const unsigned char *bytes, size_t at)
{
    uint64_t word;
    memcpy(&word, bytes + at, sizeof word);
    return word;
}

/* >>python threads */

/* The PyThreadState of a thread, by the number that the kernel gave it. 0: none. */
static inline uint64_t python_thread(const python_place *p, uint64_t number)
{
    const python_layout *l = p->layout;
    uint64_t interpreter = 0;
    unsigned left = PYTHON_THREADS;
    bool ok = python_word(p, p->runtime + l->interpreters, &interpreter);
    while (ok && interpreter != 0 && left > 0) {
        uint64_t thread = 0;
        ok = python_word(p, interpreter + l->threads, &thread);
        for (; ok && thread != 0 && left > 0; left--) {
            uint64_t id = 0;
            ok = python_word(p, thread + l->native_id, &id);
            if (ok && id == number) {
                return thread;
            }
            ok = ok && python_word(p, thread + l->next_thread, &thread);
        }
        left -= left > 0;                   /* a list of interpreters may lead to itself */
        ok = ok && python_word(p, interpreter + l->next_interpreter, &interpreter);
    }
    return 0;
}

/* >>python frames */

/* Those of one call of the interpreter's loop, the innermost first; false: they make no sense, or
 * are more than *left. Where there is no room for more the outermost one takes the last place. */
static inline bool python_eval(const python_place *p, uint64_t cframe, uint64_t frame,
                               uint64_t outer_frame, python_frame *out, uint32_t *count,
                               uint32_t capacity, uint32_t *left)
{
    const python_layout *l = p->layout;
    unsigned char bytes[96];
    bool entry = false;
    while (!entry) {
        uint32_t place = *count < capacity ? *count : capacity - 1;
        python_frame *f = &out[place];
        uint64_t at;
        if (*left == 0) {
            return false;
        }
        *left -= 1;
        if (frame == 0 || frame % 8 != 0 || l->frame_bytes > sizeof bytes ||
            !p->read(p->user, frame, bytes, l->frame_bytes) || bytes[l->entry] > 1 ||
            bytes[l->owner] > 2) {
            return false;
        }
        entry = bytes[l->entry] != 0;
        at = python_word_in(bytes, l->instruction);
        f->frame = frame;
        f->cframe = cframe;
        f->entry = entry;
        f->code = python_word_in(bytes, l->code);
        f->offset = (uint32_t)(at - f->code - l->bytecode);
        *count = place + 1;
        frame = python_word_in(bytes, l->caller);
    }
    return frame == outer_frame;
}

/* All of a thread, the innermost first. What makes no sense, and what is outside of it, is left
 * out. */
static inline uint32_t python_stack(const python_place *p, uint64_t thread, python_frame *out,
                                    uint32_t capacity)
{
    const python_layout *l = p->layout;
    uint64_t cframe = 0;
    uint64_t frame = 0;
    uint32_t count = 0;
    uint32_t left = PYTHON_DEPTH;
    bool ok = thread != 0 && capacity > 0 && python_word(p, thread + l->cframe, &cframe) &&
              python_word(p, cframe + l->current, &frame);
    for (unsigned k = 0; ok && k < PYTHON_EVALS && cframe != thread + l->root_cframe; k++) {
        uint64_t outer = 0;
        uint64_t outer_frame = 0;
        uint32_t before = count;
        python_frame last = out[capacity - 1];
        ok = python_word(p, cframe + l->outer, &outer) &&
             python_word(p, outer + l->current, &outer_frame);
        if (!ok || !python_eval(p, cframe, frame, outer_frame, out, &count, capacity, &left)) {
            if (ok && left == 0) {
                return count;               /* those that were read are right */
            }
            out[capacity - 1] = last;
            return before;
        }
        cframe = outer;
        frame = outer_frame;
    }
    return count;
}

/* >>python code: texts and lines */

typedef struct python_code {
    uint64_t file, name, lines;            /* objects */
    uint32_t first_line, traceable;
} python_code;

enum { PYTHON_CODE = 192 };    /* bytes of a code object, and room for them */

static inline bool python_parse_code(const python_place *p, const unsigned char *bytes,
                                     python_code *out)
{
    const python_layout *l = p->layout;
    int32_t number;
    if (python_word_in(bytes, l->type) != p->code_type) {
        return false;
    }
    out->file = python_word_in(bytes, l->file);
    out->name = python_word_in(bytes, l->name);
    out->lines = python_word_in(bytes, l->lines);
    memcpy(&number, bytes + l->first_line, sizeof number);
    out->first_line = number > 0 ? (uint32_t)number : 0;
    memcpy(&number, bytes + l->traceable, sizeof number);
    out->traceable = number > 0 ? (uint32_t)number : 0;
    return true;
}

static inline bool python_read_code(const python_place *p, uint64_t code, python_code *out)
{
    unsigned char bytes[PYTHON_CODE];
    return code != 0 && code % 8 == 0 && p->layout->bytecode <= sizeof bytes &&
           p->read(p->user, code, bytes, p->layout->bytecode) && python_parse_code(p, bytes, out);
}

/* Has the frame not come to its function's first line? Then Python does not show it either. */
static inline bool python_is_incomplete(const python_frame *f, const python_code *code)
{
    return f->offset > INT32_MAX || f->offset / 2 < code->traceable;
}

static inline size_t python_utf8(uint32_t code, char out[4])
{
    if (code < 0x80) {
        out[0] = code < 0x20 || code == 0x7F ? '?' : (char)code;   /* names end with their lines */
        return 1;
    }
    if (code < 0x800) {
        out[0] = (char)(0xC0 | code >> 6);
        out[1] = (char)(0x80 | (code & 0x3F));
        return 2;
    }
    if (code < 0x10000) {
        out[0] = (char)(0xE0 | code >> 12);
        out[1] = (char)(0x80 | (code >> 6 & 0x3F));
        out[2] = (char)(0x80 | (code & 0x3F));
        return 3;
    }
    out[0] = (char)(0xF0 | (code >> 18 & 0x07));
    out[1] = (char)(0x80 | (code >> 12 & 0x3F));
    out[2] = (char)(0x80 | (code >> 6 & 0x3F));
    out[3] = (char)(0x80 | (code & 0x3F));
    return 4;
}

/* A text of Python as UTF-8. Of one that is too long the end, if that says more (of a path), else
 * the begin. bytes: room for PYTHON_FILE. */
static inline bool python_text(const python_place *p, uint64_t object, bool end,
                               unsigned char *bytes, char *out, size_t size)
{
    const python_layout *l = p->layout;
    unsigned char head[48];
    size_t used = 0;
    uint32_t state, unit;
    uint64_t length, most, skipped = 0;
    if (object == 0 || object % 8 != 0 || l->ascii > sizeof head ||
        !p->read(p->user, object, head, l->ascii) ||
        python_word_in(head, l->type) != p->text_type) {
        return false;
    }
    length = python_word_in(head, l->length);
    memcpy(&state, head + l->state, sizeof state);
    unit = state >> 2 & 7;                  /* interned: 2 bits, kind: 3, compact, ascii, ready */
    if ((state >> 5 & 1) == 0 || (unit != 1 && unit != 2 && unit != 4) || length == 0 ||
        length > 1u << 20) {
        return false;
    }
    most = (state >> 6 & 1) != 0 ? size - 6 : (size - 6) / (unit == 4 ? 4 : unit + 1);
    if (length > most) {
        skipped = end ? length - most : 0;
        length = most;
    }
    if (!p->read(p->user, object + ((state >> 6 & 1) != 0 ? l->ascii : l->compact) + skipped * unit,
                 bytes, length * unit)) {
        return false;
    }
    for (size_t i = 0; i < length && used + 5 < size; i++) {
        uint32_t code = 0;
        memcpy(&code, bytes + i * unit, unit);
        used += python_utf8(code, out + used);
    }
    out[used] = '\0';
    return true;
}

/* A number in the line table, 6 bits a byte; *at: behind it. */
static inline uint32_t python_varint(const unsigned char *bytes, size_t size, size_t *at)
{
    uint32_t value = 0;
    unsigned shift = 0;
    bool more = true;
    while (more && *at < size) {
        unsigned char byte = bytes[(*at)++];
        value |= shift < 32 ? (uint32_t)(byte & 63) << shift : 0;
        shift += 6;
        more = (byte & 64) != 0;
    }
    return value;
}

/* What an entry of the line table adds to the line; *at: behind it. Objects/locations.md. */
static inline int32_t python_line_step(const unsigned char *bytes, size_t size, size_t *at)
{
    unsigned kind = bytes[(*at)++] >> 3 & 15;
    uint32_t number;
    if (kind == 15) {
        return 0;
    }
    if (kind == 13 || kind == 14) {
        number = python_varint(bytes, size, at);
        for (unsigned k = 0; kind == 14 && k < 3; k++) {
            (void)python_varint(bytes, size, at);
        }
        return (number & 1) != 0 ? -(int32_t)(number >> 1) : (int32_t)(number >> 1);
    }
    *at += kind >= 10 ? 2 : 1;
    return kind >= 10 ? (int32_t)(kind - 10) : 0;
}

/* The line at an offset in the bytecode; 0: not known. bytes: room of PYTHON_TABLE bytes. */
static inline uint32_t python_line(const python_place *p, const python_code *code, uint32_t offset,
                                   unsigned char *bytes)
{
    const python_layout *l = p->layout;
    unsigned char head[32];
    uint64_t size;
    int64_t line = code->first_line;
    uint32_t begin = 0;
    if (code->lines == 0 || code->lines % 8 != 0 || l->bytes > sizeof head ||
        !p->read(p->user, code->lines, head, l->bytes) ||
        python_word_in(head, l->type) != p->bytes_type) {
        return 0;
    }
    size = python_word_in(head, l->size);
    size = size < PYTHON_TABLE ? size : (uint64_t)PYTHON_TABLE;
    if (!p->read(p->user, code->lines + l->bytes, bytes, (size_t)size)) {
        return 0;
    }
    for (size_t at = 0; at < size;) {
        unsigned char first = bytes[at];
        line += python_line_step(bytes, (size_t)size, &at);
        begin += 2 * ((first & 7u) + 1);
        if (offset < begin) {
            return (first >> 3 & 15) != 15 && line > 0 && line < 1 << 24 ? (uint32_t)line : 0;
        }
    }
    return 0;
}

/* >>python names: one function a row, found by what it is made of. Several threads add rows at once,
 * perhaps in signal handlers: a row belongs to who writes its key, and is whole once it is ready. */

enum { PYTHON_NAMES = 4096, PYTHON_TEXT = 400 << 10 };

typedef struct python_name {
    uint64_t key;              /* 0: a free row */
    uint32_t text;             /* two texts: name, file */
    uint32_t line;             /* where the function begins */
    uint32_t ready, unused;
} python_name;

typedef struct python_names {
    uint64_t magic;
    uint32_t used, full;       /* bytes of the text; functions that had no room */
    python_name rows[PYTHON_NAMES];
    char text[PYTHON_TEXT];
} python_names;

#define PYTHON_MAGIC UINT64_C(0x31304E5950434850)
#define PYTHON_MARK (UINT64_C(1) << 47)        /* no code in user space is there */

static inline uint64_t python_address(uint32_t row, uint32_t line)
{
    return PYTHON_MARK | (uint64_t)row << 25 | (uint64_t)(line & 0xFFFFFF) << 1 | 1;
}

static inline bool python_is_address(uint64_t address)
{
    return address >> 47 == 1;
}

/* Also of one that counts as a return address, and is taken for the byte before it. */
static inline uint32_t python_row_of(uint64_t address)
{
    return (uint32_t)(address >> 25) & 0x3FFFFF;
}

static inline uint32_t python_line_of(uint64_t address)
{
    return (uint32_t)(address >> 1) & 0xFFFFFF;
}

static inline uint64_t python_key(uint64_t at, const python_code *code)
{
    uint64_t key = at;
    key = (key ^ code->name) * UINT64_C(0x9E3779B97F4A7C15);
    key = (key ^ key >> 29 ^ code->file) * UINT64_C(0xBF58476D1CE4E5B9);
    key = (key ^ key >> 32 ^ code->first_line) * UINT64_C(0x94D049BB133111EB);
    return (key ^ key >> 29) | 1;
}

/* Texts of a row that is ours. room: PYTHON_TABLE bytes, as of python_line. */
static inline bool python_write_name(const python_place *p, const python_code *code,
                                     python_names *names, python_name *row, unsigned char *room)
{
    char *name = (char *)room + PYTHON_FILE;
    char *file = name + PYTHON_NAME;
    size_t first, second;
    uint32_t at;
    if (!python_text(p, code->name, false, room, name, PYTHON_NAME) ||
        !python_text(p, code->file, true, room, file, PYTHON_FILE)) {
        return false;
    }
    first = strlen(name) + 1;
    second = strlen(file) + 1;
    at = __atomic_fetch_add(&names->used, (uint32_t)(first + second), __ATOMIC_RELAXED);
    if (at > PYTHON_TEXT - (first + second)) {
        (void)__atomic_fetch_sub(&names->used, (uint32_t)(first + second), __ATOMIC_RELAXED);
        return false;
    }
    memcpy(names->text + at, name, first);
    memcpy(names->text + at + first, file, second);
    row->text = at;
    row->line = code->first_line;
    __atomic_store_n(&row->ready, 1, __ATOMIC_RELEASE);
    return true;
}

/* The row of a function; UINT32_MAX: it can't be read, or there is no room. */
static inline uint32_t python_row(const python_place *p, uint64_t at, const python_code *code,
                                  python_names *names, unsigned char *room)
{
    uint64_t key = python_key(at, code);
    for (uint32_t k = 0; k < 64; k++) {
        python_name *row = &names->rows[(key + k) % PYTHON_NAMES];
        uint64_t found = __atomic_load_n(&row->key, __ATOMIC_ACQUIRE);
        if (found == 0 && __atomic_compare_exchange_n(&row->key, &found, key, false,
                                                      __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
            return python_write_name(p, code, names, row, room)
                   ? (uint32_t)(row - names->rows) : UINT32_MAX;
        }
        if (found == key) {
            return __atomic_load_n(&row->ready, __ATOMIC_ACQUIRE) != 0
                   ? (uint32_t)(row - names->rows) : UINT32_MAX;
        }
    }
    (void)__atomic_fetch_add(&names->full, 1, __ATOMIC_RELAXED);
    return UINT32_MAX;
}

/* The address that stands for a frame; 0: it can't be read, or is not to be shown. room: as of
 * python_line. */
static inline uint64_t python_made(const python_place *p, const python_frame *f,
                                   python_names *names, unsigned char *room, bool *shown)
{
    python_code code;
    uint32_t row;
    *shown = true;
    if (!python_read_code(p, f->code, &code)) {
        return 0;
    }
    *shown = !python_is_incomplete(f, &code);
    row = *shown ? python_row(p, f->code, &code, names, room) : UINT32_MAX;
    return row != UINT32_MAX ? python_address(row, python_line(p, &code, f->offset, room)) : 0;
}

/* Is this a file of Python itself, or of a package that was installed? */
static inline bool python_is_library(const char *file)
{
    return strstr(file, "/lib/python") != NULL || strstr(file, "/lib64/python") != NULL ||
           strncmp(file, "<frozen ", 8) == 0;
}

#endif
