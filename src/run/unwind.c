/* unwind.c - see unwind.h.
 *
 * The tables are copied at the start of the program, and again in a thread's first wait, and in a
 * wait after a timer signal, if libraries came or went. Code of a library that came since has no
 * tables until then. All that is read lies in the copies, or on the stack between where it was
 * interrupted and its end. If there are no tables (code that the program generated), the walk goes
 * on by the frame pointer, if there is one. Loops and depths have bounds. */

#define _GNU_SOURCE
#include "unwind.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <ucontext.h>

#if UNWIND_TABLES

#include "libraries.h"

/* >>reading: never beyond the end; what does not fit is 0 and spoils the reader */

typedef struct reader {
    const uint8_t *at, *end;
    bool spoiled;
} reader;

static uint64_t read_bytes(reader *r, size_t count)
{
    uint64_t value = 0;
    if ((size_t)(r->end - r->at) < count) {
        r->spoiled = true;
        r->at = r->end;
        return 0;
    }
    memcpy(&value, r->at, count);           /* both processors have the low byte first */
    r->at += count;
    return value;
}

static int64_t read_signed(reader *r, size_t count)
{
    unsigned unused = 64 - 8 * (unsigned)count;
    return (int64_t)(read_bytes(r, count) << unused) >> unused;
}

static uint64_t read_leb(reader *r, bool with_sign)
{
    uint64_t value = 0;
    uint64_t byte;
    unsigned shift = 0;
    do {
        byte = read_bytes(r, 1);
        value |= shift < 64 ? (byte & 127) << shift : 0;
        shift += 7;
    } while ((byte & 128) != 0);
    if (with_sign && shift < 64 && (byte & 64) != 0) {
        value |= ~(uint64_t)0 << shift;
    }
    return value;
}

static uint64_t read_unsigned_leb(reader *r)
{
    return read_leb(r, false);
}

static int64_t read_signed_leb(reader *r)
{
    return (int64_t)read_leb(r, true);
}

/* A part of it that has its length before it, or less if it does not fit. */
static reader read_part(reader *r, uint64_t length)
{
    reader part = *r;
    if (length > (uint64_t)(r->end - r->at)) {
        r->spoiled = part.spoiled = true;
        length = 0;
    }
    part.end = part.at + length;
    r->at += length;
    return part;
}

enum { POINTER_RELATIVE = 0x10, POINTER_FORM = 0x0f };

static uint64_t read_pointer(reader *r, unsigned encoding)
{
    uintptr_t here = (uintptr_t)r->at;
    uint64_t value = 0;
    switch (encoding & POINTER_FORM) {
    case 0x0: case 0x4: case 0xc: value = read_bytes(r, 8); break;
    case 0x1: value = read_unsigned_leb(r); break;
    case 0x2: value = read_bytes(r, 2); break;
    case 0x3: value = read_bytes(r, 4); break;
    case 0x9: value = (uint64_t)read_signed_leb(r); break;
    case 0xa: value = (uint64_t)read_signed(r, 2); break;
    case 0xb: value = (uint64_t)read_signed(r, 4); break;
    default: r->spoiled = true;
    }
    return (encoding & 0x70) == POINTER_RELATIVE ? value + here : value;
}

/* >>the walk */

#if defined(__x86_64__)
enum { REGISTERS = 17, FRAME = 6, STACK = 7, RETURN = 16 };
#else
enum { REGISTERS = 32, FRAME = 29, STACK = 31, RETURN = 30 };
#endif

typedef struct walk {
    uintptr_t code;
    uintptr_t registers[REGISTERS];
    uintptr_t low, high;       /* what may be read of the stack */
    bool called;               /* code is behind the call, which may be the function's last */
    uint32_t steps;
    uint32_t made;             /* steps to the first code that is in no library, plus one; 0: none, */
    uintptr_t made_stack;      /* and the stack there */
} walk;

static bool stack_word(const walk *w, uintptr_t address, uintptr_t *word)
{
    if (address < w->low || address > w->high - sizeof *word || address % sizeof *word != 0) {
        return false;
    }
    memcpy(word, (const void *)address, sizeof *word);
    return true;
}

/* Return addresses of arm64 may be signed: in bits that no address has. */
static uintptr_t code_address(uintptr_t word)
{
    return word & (UINTPTR_MAX >> 16);
}

/* >>expressions: a machine with a stack, of which compilers and linkers use a little */

enum { EXPRESSION_DEPTH = 16, EXPRESSION_STEPS = 100 };

typedef struct machine {
    uint64_t values[EXPRESSION_DEPTH + 1];
    size_t depth;
    bool failed;
} machine;

static void push(machine *m, uint64_t value)
{
    m->failed = m->failed || m->depth == EXPRESSION_DEPTH;
    if (!m->failed) {
        m->values[m->depth++] = value;
    }
}

static uint64_t pop(machine *m)
{
    m->failed = m->failed || m->depth == 0;
    return m->failed ? 0 : m->values[--m->depth];
}

static void compute(machine *m, unsigned operation)
{
    uint64_t b = pop(m);
    uint64_t a = pop(m);
    switch (operation) {
    case 0x1a: push(m, a & b); break;
    case 0x1c: push(m, a - b); break;
    case 0x1e: push(m, a * b); break;
    case 0x21: push(m, a | b); break;
    case 0x22: push(m, a + b); break;
    case 0x24: push(m, b < 64 ? a << b : 0); break;
    case 0x25: push(m, b < 64 ? a >> b : 0); break;
    case 0x27: push(m, a ^ b); break;
    case 0x29: push(m, a == b); break;
    case 0x2a: push(m, (int64_t)a >= (int64_t)b); break;
    case 0x2b: push(m, (int64_t)a > (int64_t)b); break;
    case 0x2c: push(m, (int64_t)a <= (int64_t)b); break;
    case 0x2d: push(m, (int64_t)a < (int64_t)b); break;
    case 0x2e: push(m, a != b); break;
    default: m->failed = true;
    }
}

static void push_register(machine *m, const walk *w, reader *r, uint64_t number)
{
    uint64_t offset = (uint64_t)read_signed_leb(r);
    m->failed = m->failed || number >= REGISTERS;
    if (!m->failed) {
        push(m, w->registers[number] + offset);
    }
}

static void push_memory(machine *m, const walk *w)
{
    uintptr_t word = 0;
    m->failed = !stack_word(w, pop(m), &word) || m->failed;
    push(m, word);
}

static void operate(machine *m, const walk *w, reader *r, unsigned operation)
{
    if (operation >= 0x30 && operation <= 0x4f) {
        push(m, operation - 0x30);
        return;
    }
    if (operation >= 0x70 && operation <= 0x8f) {
        push_register(m, w, r, operation - 0x70);
        return;
    }
    switch (operation) {
    case 0x03: case 0x0e: case 0x0f: push(m, read_bytes(r, 8)); break;
    case 0x06: push_memory(m, w); break;
    case 0x08: push(m, read_bytes(r, 1)); break;
    case 0x09: push(m, (uint64_t)read_signed(r, 1)); break;
    case 0x0a: push(m, read_bytes(r, 2)); break;
    case 0x0b: push(m, (uint64_t)read_signed(r, 2)); break;
    case 0x0c: push(m, read_bytes(r, 4)); break;
    case 0x0d: push(m, (uint64_t)read_signed(r, 4)); break;
    case 0x10: push(m, read_unsigned_leb(r)); break;
    case 0x11: push(m, (uint64_t)read_signed_leb(r)); break;
    case 0x12: push(m, m->depth > 0 ? m->values[m->depth - 1] : 0); break;
    case 0x13: (void)pop(m); break;
    case 0x23: push(m, pop(m) + read_unsigned_leb(r)); break;
    case 0x92: push_register(m, w, r, read_unsigned_leb(r)); break;
    case 0x96: break;
    default: compute(m, operation);
    }
}

static bool evaluate(const walk *w, reader *r, uintptr_t first, uintptr_t *result)
{
    machine m;
    m.depth = 0;
    m.failed = false;
    push(&m, first);
    for (int steps = 0; r->at < r->end && !m.failed && steps < EXPRESSION_STEPS; steps++) {
        operate(&m, w, r, (unsigned)read_bytes(r, 1));
    }
    *result = pop(&m);
    return !m.failed && !r->spoiled && r->at == r->end;
}

/* >>rules: how the registers of the caller follow from those of a function, at one instruction */

typedef enum rule_kind {
    RULE_SAME, RULE_UNDEFINED, RULE_SAVED, RULE_OFFSET, RULE_REGISTER, RULE_SAVED_BY, RULE_BY
} rule_kind;

/* An expression lies at text, with its length before it. */
typedef struct rule {
    rule_kind kind;
    uint32_t number;
    union {
        int64_t offset;
        const uint8_t *text;
    } of;
} rule;

typedef struct rules {
    rule top;                  /* of the frame's end: RULE_REGISTER and an offset, or RULE_BY */
    rule registers[REGISTERS];
} rules;

enum { REMEMBERED = 3, INSTRUCTIONS = 2000 };

/* A common entry and one of a function. */
typedef struct entry {
    bytes segment;             /* the copy */
    uintptr_t away;            /* how far it is from where it was */
    reader common, own;        /* instructions */
    uint64_t code_unit;
    int64_t data_unit;
    uint64_t return_register;
    unsigned encoding;
    bool has_length, of_signal;
    uintptr_t code, code_bytes;
} entry;

typedef struct interpreter {
    const entry *e;
    uintptr_t code, wanted;
    size_t depth;
    bool failed;
    rules now, first, before[REMEMBERED];
} interpreter;

static void set_rule(interpreter *p, uint64_t number, rule_kind kind, int64_t offset)
{
    if (number < REGISTERS) {
        p->now.registers[number].kind = kind;
        p->now.registers[number].of.offset = offset;
    }
}

static void set_expression(interpreter *p, rule *to, rule_kind kind, reader *r)
{
    to->kind = kind;
    to->of.text = r->at;
    p->failed = read_part(r, read_unsigned_leb(r)).spoiled || p->failed;
}

static void restore(interpreter *p, uint64_t number)
{
    if (number < REGISTERS) {
        p->now.registers[number] = p->first.registers[number];
    }
}

static void remember(interpreter *p)
{
    p->failed = p->failed || p->depth == REMEMBERED;
    if (!p->failed) {
        p->before[p->depth++] = p->now;
    }
}

static void recall(interpreter *p)
{
    p->failed = p->failed || p->depth == 0;
    if (!p->failed) {
        p->now = p->before[--p->depth];
    }
}

static void set_top(interpreter *p, uint64_t number, int64_t offset)
{
    p->now.top.kind = RULE_REGISTER;
    p->now.top.number = (uint32_t)number;
    p->now.top.of.offset = offset;
    p->failed = p->failed || number >= REGISTERS;
}

static void set_saved(interpreter *p, uint64_t number, int64_t offset)
{
    set_rule(p, number, RULE_SAVED, offset * p->e->data_unit);
}

static void set_register(interpreter *p, uint64_t number, uint64_t other)
{
    set_rule(p, number, RULE_REGISTER, 0);
    p->failed = p->failed || other >= REGISTERS;
    if (number < REGISTERS) {
        p->now.registers[number].number = (uint32_t)other;
    }
}

static void set_register_expression(interpreter *p, reader *r, rule_kind kind)
{
    rule unused;
    uint64_t number = read_unsigned_leb(r);
    set_expression(p, number < REGISTERS ? &p->now.registers[number] : &unused, kind, r);
}

static void define_top(interpreter *p, reader *r, unsigned operation)
{
    const rule *top = &p->now.top;
    uint64_t number;
    switch (operation) {
    case 0x0c:
        number = read_unsigned_leb(r);
        set_top(p, number, (int64_t)read_unsigned_leb(r));
        break;
    case 0x0d: set_top(p, read_unsigned_leb(r), top->of.offset); break;
    case 0x0e: set_top(p, top->number, (int64_t)read_unsigned_leb(r)); break;
    case 0x0f: set_expression(p, &p->now.top, RULE_BY, r); break;
    case 0x12:
        number = read_unsigned_leb(r);
        set_top(p, number, read_signed_leb(r) * p->e->data_unit);
        break;
    default: set_top(p, top->number, read_signed_leb(r) * p->e->data_unit);
    }
}

/* Instructions with the number of a register. */
static void define_register(interpreter *p, reader *r, unsigned operation)
{
    uint64_t number = read_unsigned_leb(r);
    switch (operation) {
    case 0x05: set_saved(p, number, (int64_t)read_unsigned_leb(r)); break;
    case 0x06: restore(p, number); break;
    case 0x07: set_rule(p, number, RULE_UNDEFINED, 0); break;
    case 0x08: set_rule(p, number, RULE_SAME, 0); break;
    case 0x09: set_register(p, number, read_unsigned_leb(r)); break;
    case 0x11: set_saved(p, number, read_signed_leb(r)); break;
    case 0x14:
        set_rule(p, number, RULE_OFFSET, (int64_t)read_unsigned_leb(r) * p->e->data_unit);
        break;
    case 0x15: set_rule(p, number, RULE_OFFSET, read_signed_leb(r) * p->e->data_unit); break;
    default: set_saved(p, number, -(int64_t)read_unsigned_leb(r));         /* 0x2f */
    }
}

/* An address of the library. */
static uintptr_t read_code(const entry *e, reader *r)
{
    uintptr_t code = read_pointer(r, e->encoding);
    return (e->encoding & 0x70) == POINTER_RELATIVE ? code - e->away : code;
}

static void interpret(interpreter *p, reader *r, unsigned operation)
{
    uint64_t unit = p->e->code_unit;
    switch (operation) {
    case 0x00: break;
    case 0x01: p->code = read_code(p->e, r); break;
    case 0x02: p->code += read_bytes(r, 1) * unit; break;
    case 0x03: p->code += read_bytes(r, 2) * unit; break;
    case 0x04: p->code += read_bytes(r, 4) * unit; break;
    case 0x0a: remember(p); break;
    case 0x0b: recall(p); break;
    case 0x10: set_register_expression(p, r, RULE_SAVED_BY); break;
    case 0x16: set_register_expression(p, r, RULE_BY); break;
    case 0x0c: case 0x0d: case 0x0e: case 0x0f: case 0x12: case 0x13:
        define_top(p, r, operation);
        break;
    case 0x05: case 0x06: case 0x07: case 0x08: case 0x09: case 0x11: case 0x14: case 0x15:
    case 0x2f:
        define_register(p, r, operation);
        break;
    case 0x2d: break;                       /* from here on the return address is signed */
    case 0x2e: (void)read_unsigned_leb(r); break;
    default: p->failed = true;
    }
}

/* Up to the instruction that is wanted. */
static void interpret_all(interpreter *p, reader r)
{
    for (int count = 0; r.at < r.end && !p->failed && count < INSTRUCTIONS; count++) {
        unsigned byte = (unsigned)read_bytes(&r, 1);
        unsigned operand = byte & 63;
        switch (byte >> 6) {
        case 0: interpret(p, &r, byte); break;
        case 1: p->code += operand * p->e->code_unit; break;
        case 2: set_saved(p, operand, (int64_t)read_unsigned_leb(&r)); break;
        default: restore(p, operand);
        }
        if (p->code > p->wanted) {
            break;
        }
    }
    p->failed = p->failed || r.spoiled;
}

/* >>tables */

/* What the letters of a common entry announce. */
static void read_augmentation(entry *e, const char *letters, reader *r)
{
    reader part = read_part(r, e->has_length ? read_unsigned_leb(r) : 0);
    for (; *letters != '\0'; letters++) {
        switch (*letters) {
        case 'z': case 'B': case 'G': break;
        case 'L': (void)read_bytes(&part, 1); break;
        case 'R': e->encoding = (unsigned)read_bytes(&part, 1); break;
        case 'S': e->of_signal = true; break;
        case 'P': (void)read_pointer(&part, (unsigned)read_bytes(&part, 1)); break;
        default: r->spoiled = true;         /* nobody knows what follows */
        }
    }
    r->spoiled = r->spoiled || part.spoiled;
}

/* An entry has its length before it. */
static bool open_entry(const entry *e, uintptr_t address, reader *r)
{
    if (!is_within(&e->segment, address)) {
        return false;
    }
    reader all = { (const uint8_t *)address, e->segment.high, false };
    *r = read_part(&all, read_bytes(&all, 4));
    return !r->spoiled && r->at < r->end;
}

static bool read_common(entry *e, uintptr_t address)
{
    reader *r = &e->common;
    uint64_t version;
    const char *letters;
    if (!open_entry(e, address, r) || read_bytes(r, 4) != 0) {
        return false;
    }
    version = read_bytes(r, 1);
    letters = (const char *)r->at;
    while (read_bytes(r, 1) != 0) {
    }
    if ((version != 1 && version != 3) || r->spoiled) {
        return false;
    }
    e->code_unit = read_unsigned_leb(r);
    e->data_unit = read_signed_leb(r);
    e->return_register = version == 1 ? read_bytes(r, 1) : read_unsigned_leb(r);
    e->encoding = 0;
    e->of_signal = false;
    e->has_length = letters[0] == 'z';
    read_augmentation(e, letters, r);
    return !r->spoiled;
}

static bool read_entry(entry *e, uintptr_t address)
{
    reader *r = &e->own;
    uintptr_t here;
    if (!open_entry(e, address, r)) {
        return false;
    }
    here = (uintptr_t)r->at;
    if (!read_common(e, here - read_bytes(r, 4))) {
        return false;
    }
    e->code = read_code(e, r);
    e->code_bytes = read_pointer(r, e->encoding & POINTER_FORM);
    if (e->has_length) {
        (void)read_part(r, read_unsigned_leb(r));
    }
    return !r->spoiled && (e->encoding & 0x80) == 0;
}

/* The sorted list of all functions: pairs of their address and that of their entry, both from the
 * head of the list on. */
static bool search_list(const bytes *segment, uintptr_t head, uintptr_t code, uintptr_t *found)
{
    reader r = { (const uint8_t *)head, segment->high, false };
    uint64_t kind = read_bytes(&r, 4);
    (void)read_bytes(&r, 4);
    uint64_t low = 0;
    uint64_t high = read_bytes(&r, 4);
    const uint8_t *list = r.at;
    if (kind != 0x3b031b01 || read_part(&r, high * 8).spoiled || high == 0) {
        return false;
    }
    while (high - low > 1) {
        uint64_t middle = (low + high) / 2;
        reader pair = { list + 8 * middle, r.at, false };
        if (head + (uintptr_t)read_signed(&pair, 4) <= code) {
            low = middle;
        } else {
            high = middle;
        }
    }
    reader pair = { list + 8 * low + 4, r.at, false };
    *found = head + (uintptr_t)read_signed(&pair, 4);
    return true;
}

static bool find_entry(uintptr_t code, entry *e)
{
    const library *l = find_library(code);
    uintptr_t found;
    if (l == NULL) {
        return false;
    }
    e->segment = l->copy;
    e->away = (uintptr_t)l->copy.low - l->from;
    return search_list(&e->segment, (uintptr_t)l->copy.low, code + e->away, &found) &&
           read_entry(e, found) && code - e->code < e->code_bytes;
}

/* >>steps */

typedef enum step_result { STEP_DONE, STEP_FAILED, STEP_OUTERMOST } step_result;

/* The expression of a rule. */
static bool evaluate_rule(const walk *w, const entry *e, const rule *by, uintptr_t first,
                          uintptr_t *result)
{
    reader r = { by->of.text, e->segment.high, false };
    reader text = read_part(&r, read_unsigned_leb(&r));
    return !text.spoiled && evaluate(w, &text, first, result);
}

static bool find_top(const walk *w, const entry *e, const rule *top, uintptr_t *result)
{
    if (top->kind == RULE_BY) {
        return evaluate_rule(w, e, top, 0, result);
    }
    *result = w->registers[top->number] + (uintptr_t)top->of.offset;
    return top->kind == RULE_REGISTER;
}

/* A register of the caller. In a function's end it may have been taken back already, from where the
 * tables say it still lies, which is then beyond the stack's top. */
static bool find_register(const walk *w, const entry *e, const rule *by, uintptr_t top,
                          uintptr_t *value)
{
    uintptr_t place = top;
    switch (by->kind) {
    case RULE_SAVED: return stack_word(w, top + (uintptr_t)by->of.offset, value);
    case RULE_OFFSET: *value = top + (uintptr_t)by->of.offset; return true;
    case RULE_REGISTER: *value = w->registers[by->number]; return true;
    case RULE_SAVED_BY:
        return evaluate_rule(w, e, by, top, &place) && stack_word(w, place, value);
    case RULE_BY: return evaluate_rule(w, e, by, top, value);
    default: return true;                   /* as it is, or nobody's any more */
    }
}

static bool find_rules(const entry *e, uintptr_t code, interpreter *p)
{
    memset(p, 0, sizeof *p);
    p->e = e;
    p->code = p->wanted = code;
    interpret_all(p, e->common);
    p->first = p->now;
    p->code = e->code;
    interpret_all(p, e->own);
    return !p->failed && e->return_register < REGISTERS;
}

/* A frame takes some of the stack; only the innermost function may have taken none yet. */
static bool is_further_out(const walk *w, const walk *caller)
{
    uintptr_t here = w->registers[STACK];
    uintptr_t there = caller->registers[STACK];
    return there <= w->high && (there > here || (there == here && !w->called));
}

/* Where the frame record of a function lies, or would lie. */
static uintptr_t record_of(const rule *frame, uintptr_t top)
{
    return frame->kind == RULE_SAVED ? top + (uintptr_t)frame->of.offset : top - 2 * sizeof top;
}

/* From a function to its caller. */
static step_result step_by_tables(walk *w, uintptr_t *record)
{
    entry e;
    interpreter p;
    walk caller = *w;
    uintptr_t code = w->code - w->called;
    uintptr_t top = 0;
    bool has_return = true;
    if (!find_entry(code, &e) || !find_rules(&e, code, &p) || !find_top(w, &e, &p.now.top, &top)) {
        return STEP_FAILED;
    }
    if (p.now.registers[e.return_register].kind == RULE_UNDEFINED) {
        return STEP_OUTERMOST;
    }
    caller.registers[STACK] = top;
    for (size_t i = 0; i < REGISTERS; i++) {
        if (!find_register(w, &e, &p.now.registers[i], top, &caller.registers[i])) {
            has_return = has_return && i != e.return_register;
        }
    }
    caller.code = code_address(caller.registers[e.return_register]);
    caller.called = !e.of_signal;
    if (!has_return || !is_further_out(w, &caller)) {
        return STEP_FAILED;
    }
    *record = record_of(&p.now.registers[FRAME], top);
    *w = caller;
    return STEP_DONE;
}

static step_result step_by_frame_pointer(walk *w, uintptr_t *record)
{
    walk caller = *w;
    uintptr_t frame = w->registers[FRAME];
    if (frame < w->registers[STACK] || !stack_word(w, frame, &caller.registers[FRAME]) ||
        !stack_word(w, frame + sizeof frame, &caller.code)) {
        return STEP_FAILED;
    }
    caller.registers[STACK] = frame + 2 * sizeof frame;
    caller.code = code_address(caller.code);
    caller.called = true;
    *record = frame;
    *w = caller;
    return STEP_DONE;
}

static step_result step(walk *w, uintptr_t *record)
{
    step_result result;
    *record = 0;
    result = step_by_tables(w, record);
    if (result == STEP_FAILED) {
        if (w->made == 0 && find_library(w->code - w->called) == NULL) {
            w->made = w->steps + 1;
            w->made_stack = w->registers[STACK];
        }
        result = step_by_frame_pointer(w, record);
    }
    w->steps++;
    return w->code == 0 && result == STEP_DONE ? STEP_OUTERMOST : result;
}

static void read_registers(walk *w, const ucontext_t *context)
{
#if defined(__x86_64__)
    static const uint8_t place[] = { REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI,
                                     REG_RBP, REG_RSP, REG_R8, REG_R9, REG_R10, REG_R11,
                                     REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP };
    for (size_t i = 0; i < REGISTERS; i++) {
        w->registers[i] = (uintptr_t)context->uc_mcontext.gregs[place[i]];
    }
    w->code = w->registers[RETURN];
#else
    for (size_t i = 0; i < STACK; i++) {
        w->registers[i] = (uintptr_t)context->uc_mcontext.regs[i];
    }
    w->registers[STACK] = (uintptr_t)context->uc_mcontext.sp;
    w->code = (uintptr_t)context->uc_mcontext.pc;
#endif
    w->called = false;
    w->steps = w->made = 0;
    w->made_stack = 0;
}

/* The walk from here on out: addresses, the innermost first, and records of their functions, as
 * chroprof_sampler_options.unwind wants them. */
static uint32_t walk_all(walk *w, const unwind_thread *t, uintptr_t *addresses, uintptr_t *records,
                         uint32_t capacity)
{
    uint32_t count = 0;
    step_result result = STEP_DONE;
    addresses[count++] = w->code;
    w->low = w->registers[STACK];
    w->high = t->high;
    if (w->low < t->low || w->low >= t->high) {
        return count;                       /* a stack that nobody knows: no word of it is read */
    }
    while (result == STEP_DONE && count < capacity) {
        result = step(w, &records[count - 1]);
        if (result != STEP_FAILED) {
            addresses[count++] = result == STEP_DONE ? w->code : 0;
        }
    }
    return count;
}

/* >>places: which functions were on the stack when the thread waited, and are there still */

/* A call: where on the stack, and what it returns to. */
static uint32_t key_of(const uintptr_t *addresses, const uintptr_t *records, uint32_t k)
{
    uint64_t key = ((uint64_t)records[k] * 31 + addresses[k + 1]) * 0x9e3779b97f4a7c15u;
    return (uint32_t)(key >> 32);
}

enum { WALK_STACK = 16384 };   /* that a walk outside of the handler wants to be free, and more */

/* A walk from a call: of a function with this frame record, called from back. */
static walk walk_from(uintptr_t frame, uintptr_t back)
{
    walk w;
    memset(&w, 0, sizeof w);
    w.code = back;
    w.called = true;
    w.registers[STACK] = frame + 2 * sizeof frame;
    memcpy(&w.registers[FRAME], (const void *)frame, sizeof frame);
    return w;
}

static void walk_place(const unwind_thread *t, unwind_place *place)
{
    uintptr_t addresses[UNWIND_KEYS + 1];
    uintptr_t records[UNWIND_KEYS + 1];
    uint32_t count;
    walk w = walk_from(place->frame, place->back);
    count = walk_all(&w, t, addresses, records, UNWIND_KEYS + 1);
    if (addresses[count - 1] != 0 && count <= UNWIND_KEYS) {       /* it may lack a library's tables */
        unwind_find_libraries();
        w = walk_from(place->frame, place->back);
        count = walk_all(&w, t, addresses, records, UNWIND_KEYS + 1);
    }
    place->count = 0;
    for (uint32_t k = count - 1; k-- > 0;) {
        place->keys[place->count++] = key_of(addresses, records, k);
    }
}

void unwind_wait(unwind_thread *thread, uintptr_t frame, uintptr_t back)
{
    unwind_place *place = &thread->places[(frame / 16 + back) % UNWIND_PLACES];
    bool known = place->frame == frame && place->back == back;
    thread->settled = thread->python == NULL ? frame : 0;
    if (__atomic_load_n(&look_again, __ATOMIC_RELAXED)) {
        __atomic_store_n(&look_again, false, __ATOMIC_RELAXED);
        unwind_find_libraries();
    }
    if (frame >= thread->high || frame < thread->low + WALK_STACK) {
        thread->waited = NULL;
        return;
    }
    if (thread->fresh) {                    /* libraries came since main began */
        thread->fresh = false;
        unwind_find_libraries();
    }
    if (!known) {
        thread->waited = NULL;              /* while it is written: a timer signal may read it */
        place->frame = frame;
        place->back = back;
        walk_place(thread, place);
    }
    if (thread->python != NULL) {
        thread->waited = NULL;
        python_note(thread->python, &place->noted, known, thread->low, thread->high);
    }
    thread->waited = place;
}

enum { WALK_DEEPEST = 1000 };

uint32_t unwind_calls(const unwind_thread *thread, uintptr_t frame, uintptr_t back,
                      uintptr_t *addresses, uint32_t capacity)
{
    step_result result = STEP_DONE;
    uint32_t count = 0;
    uintptr_t record;
    walk w;
    if (frame >= thread->high || frame < thread->low + WALK_STACK) {
        return 0;
    }
    w = walk_from(frame, back);
    w.low = w.registers[STACK];
    w.high = thread->high;
    for (; result == STEP_DONE && count < WALK_DEEPEST; count++) {
        if (count < capacity) {
            addresses[count] = w.code;
        }
        result = step(&w, &record);
    }
    return result == STEP_OUTERMOST ? count : 0;
}

/* The innermost of the functions that were there then; 0: not known. */
static uint32_t find_waiting(const unwind_place *place,
                             const uintptr_t *addresses, const uintptr_t *records, uint32_t count)
{
    uint32_t same = 0;
    while (place != NULL && same < place->count && same < count - 1 &&
           key_of(addresses, records, count - 2 - same) == place->keys[same]) {
        same++;
    }
    if (same == 0 || count <= 2) {
        return 0;
    }
    return same < count - 1 ? count - 1 - same : 1;        /* the interrupted one is the task's */
}

enum { MADE_WORDS = 256, MADE_TRIES = 8 };

/* Is it behind a call, as far as the tables tell? A function's address is not. */
static bool may_be_return(uintptr_t word)
{
    entry e;
    return find_entry(code_address(word) - 1, &e) && e.code != code_address(word);
}

/* Code that the program has made, as that of regular expressions, has no tables, and seldom a frame
 * pointer. Its caller is where the first word of its stack leads from which the walk gets to what
 * was there when the thread waited. 0: none does. made: the walk that went by it. */
static uint32_t walk_behind_made(const walk *made, const unwind_thread *t,
                                 const unwind_place *place, uintptr_t *addresses,
                                 uintptr_t *records, uint32_t capacity)
{
    const uint32_t inside = made->made;
    uintptr_t word;
    uint32_t tries = 0;
    for (uintptr_t at = made->made_stack;
         tries < MADE_TRIES && at - made->made_stack < MADE_WORDS * sizeof at &&
         stack_word(made, at, &word); at += sizeof at) {
        walk w = *made;
        uint32_t count = inside;
        if (!may_be_return(word)) {
            continue;
        }
        tries++;
        w.code = code_address(word);
        w.called = true;
        w.registers[STACK] = at + sizeof at;
        records[count - 1] = at - sizeof at;
        count += walk_all(&w, t, addresses + count, records + count, capacity - count);
        if (find_waiting(place, addresses, records, count) > 0) {
            return count;
        }
    }
    return 0;
}

/* The walk of interrupted code. outside: which of the functions were there then, the innermost. */
static uint32_t walk_task(walk *w, const unwind_thread *t, const unwind_place *place,
                          uintptr_t *addresses, uintptr_t *records, uint32_t capacity,
                          uint32_t *outside)
{
    const walk begin = *w;
    uint32_t found;
    uint32_t count = walk_all(w, t, addresses, records, capacity);
    *outside = find_waiting(place, addresses, records, count);
    if (*outside == 0 && place != NULL && w->made > 0 && w->made < capacity) {
        found = walk_behind_made(w, t, place, addresses, records, capacity);
        if (found > 0) {
            *outside = find_waiting(place, addresses, records, found);
            return found;
        }
        *w = begin;
        count = walk_all(w, t, addresses, records, capacity);
    }
    return count;
}

bool unwind_begin(unwind_thread *thread)
{
    pthread_attr_t attributes;
    void *low = NULL;
    size_t size = 0;
    python_room *room = thread->python;
    memset(thread, 0, sizeof *thread);
    python_thread_begin(&room);
    if (pthread_getattr_np(pthread_self(), &attributes) != 0) {
        return false;
    }
    (void)pthread_attr_getstack(&attributes, &low, &size);
    (void)pthread_attr_destroy(&attributes);
    thread->low = (uintptr_t)low;
    thread->high = thread->low + size;
    thread->python = room;
    thread->fresh = true;
    return true;
}

uint32_t unwind_walk(void *thread, void *ucontext, uintptr_t *addresses, uint32_t capacity)
{
    unwind_thread *t = (unwind_thread *)thread;
    const unwind_place *place = t->waited;
    uintptr_t *records = addresses + capacity;
    uint32_t count, outside;
    walk w;
    read_registers(&w, (const ucontext_t *)ucontext);
    if (t->python != NULL) {
        uintptr_t *all = python_addresses(t->python);
        memset(all, 0, 2 * PYTHON_NATIVE * sizeof *all);
        count = walk_task(&w, t, place, all, all + PYTHON_NATIVE, PYTHON_NATIVE, &outside);
        count = python_weave(t->python, count, outside, place != NULL ? &place->noted : NULL,
                             addresses, records, capacity);
    } else {
        count = walk_task(&w, t, place, addresses, records, capacity, &outside);
        if (outside > 0) {
            records[outside] = 1;
        }
    }
    __atomic_store_n(&look_again, true, __ATOMIC_RELAXED);
    t->settled = 0;
    return count;
}

#else

void unwind_find_libraries(void)
{
}

void unwind_seal(void)
{
}

bool unwind_begin(unwind_thread *thread)
{
    memset(thread, 0, sizeof *thread);
    return false;
}

void unwind_wait(unwind_thread *thread, uintptr_t frame, uintptr_t back)
{
    thread->settled = frame;
    (void)back;
}

uint32_t unwind_calls(const unwind_thread *thread, uintptr_t frame, uintptr_t back,
                      uintptr_t *addresses, uint32_t capacity)
{
    (void)addresses;
    (void)capacity;
    (void)thread;
    (void)frame;
    (void)back;
    return 0;
}

uint32_t unwind_walk(void *thread, void *ucontext, uintptr_t *addresses, uint32_t capacity)
{
    (void)thread;
    (void)ucontext;
    (void)addresses;
    (void)capacity;
    return 0;
}

#endif
