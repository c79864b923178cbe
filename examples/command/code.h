/* code.h - from addresses of a module to functions, files and lines, the calls that the compiler
 * inlined included: by elfutils' libdw where the command was built with it (CHROPROF_LIBDW), else
 * by the program addr2line, else by the file's own symbols, which know no lines.
 *
 * An answer is the JSON that a row of "stacks" gains. It begins with the innermost call: its line
 * is the one that ran. What it was inlined into follows, the function of the symbol table last. */

typedef struct code_query {
    uint64_t address;          /* of the instruction, as the module's file counts */
    size_t at, length;         /* of the answer; length 0: nothing is known */
    unsigned calls;
} code_query;

typedef struct code_texts {
    byte_buffer bytes;
    bool failed;               /* out of memory; a message was written */
} code_texts;

typedef struct code_module {
    const char *path;          /* of the file with the debug information */
    elf_file elf;
    elf_symbols symbols;
} code_module;

/* >>code answers */

static void code_put(code_texts *t, const char *bytes, size_t count)
{
    t->failed = t->failed || buffer_add(&t->bytes, bytes, count) != 0;
}

static void code_word(code_texts *t, const char *text)
{
    code_put(t, text, strlen(text));
}

/* How many bytes of valid UTF-8 begin at p, 0: none do. */
static size_t utf8_length(const unsigned char *p)
{
    size_t length = p[0] < 0x80 ? 1 : p[0] >= 0xC2 && p[0] < 0xE0 ? 2
                    : p[0] >= 0xE0 && p[0] < 0xF0 ? 3 : p[0] >= 0xF0 && p[0] < 0xF5 ? 4 : 0;
    bool fits = length < 3 || !((p[0] == 0xE0 && p[1] < 0xA0) || (p[0] == 0xED && p[1] > 0x9F) ||
                                (p[0] == 0xF0 && p[1] < 0x90) || (p[0] == 0xF4 && p[1] > 0x8F));
    for (size_t i = 1; fits && i < length; i++) {
        fits = (p[i] & 0xC0) == 0x80;
    }
    return fits ? length : 0;
}

/* Names out of a file may hold anything; what is not UTF-8 becomes U+FFFD. */
static void code_text(code_texts *t, const char *text)
{
    char escape[8];
    const unsigned char *p = (const unsigned char *)text;
    code_put(t, "\"", 1);
    while (*p != '\0') {
        size_t length = utf8_length(p);
        if (*p < 0x20 || *p == '"' || *p == '\\') {
            (void)snprintf(escape, sizeof escape, "\\u%04x", *p);
            code_put(t, escape, 6);
        } else if (length == 0) {
            code_put(t, "\357\277\275", 3);
        } else {
            code_put(t, (const char *)p, length);
        }
        p += length > 0 ? length : 1;
    }
    code_put(t, "\"", 1);
}

static void code_place(code_texts *t, const char *function, const char *file, uint64_t line)
{
    char number[32];
    code_word(t, "\"function\":");
    code_text(t, function);
    code_word(t, ",\"file\":");
    code_text(t, file);
    (void)snprintf(number, sizeof number, ",\"line\":%" PRIu64, line);
    code_word(t, number);
}

/* Adds a call to an answer; the first one is the innermost. */
static void code_call(code_texts *t, code_query *q, const char *function, const char *file,
                      uint64_t line)
{
    if (q->calls == 0) {
        q->at = t->bytes.used;
    }
    code_word(t, q->calls == 0 ? "," : q->calls == 1 ? ",\"inlined\":[{" : ",{");
    code_place(t, function, file, line);
    code_word(t, q->calls > 0 ? "}" : "");
    q->calls++;
}

static void code_end(code_texts *t, code_query *q)
{
    if (q->calls > 0) {
        code_word(t, q->calls == 1 ? ",\"inlined\":[]" : "]");
        q->length = t->bytes.used - q->at;
    }
}

/* >>code symbols: what is left to a file without debug information */

static void code_by_symbols(const code_module *m, code_query *q, code_texts *t)
{
    const char *function = elf_function(&m->symbols, q->address);
    if (function != NULL) {
        code_call(t, q, function, "", 0);
    }
    code_end(t, q);
}

#ifdef CHROPROF_LIBDW

#include "code_libdw.h"

#else

#include "code_addr2line.h"

#endif
