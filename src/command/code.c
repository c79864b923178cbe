/* code.c - see code.h */

#include "code.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../chroprof.h"
#include "demangle.h"
#include "demangle_nim.h"
#include "json.h"

/* >>code answers */

static void code_put(code_texts *t, const char *bytes, size_t count)
{
    t->failed = t->failed || buffer_add(&t->bytes, bytes, count) != 0;
}

static void code_word(code_texts *t, const char *text)
{
    code_put(t, text, strlen(text));
}

#define CODE_NAME_BYTES 4096   /* of a name; the rest is left out */

/* Names out of a file may hold anything; what is not UTF-8 becomes U+FFFD. */
static void code_text(code_texts *t, const char *text)
{
    char bytes[8];
    const char *end = text + strnlen(text, CODE_NAME_BYTES);
    code_put(t, "\"", 1);
    while (text < end) {
        size_t count = json_quote(&text, bytes);
        code_put(t, bytes, count);
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

void code_call(code_texts *t, code_query *q, const char *function, const char *file,
               uint64_t line)
{
    char *readable = nim_file(file) ? demangled_nim(function) : demangled(function);
    if (q->calls == 0) {
        q->at = t->bytes.used;
    }
    code_word(t, q->calls == 0 ? "," : q->calls == 1 ? ",\"inlined\":[{" : ",{");
    code_place(t, readable != NULL ? readable : function, file, line);
    free(readable);
    code_word(t, q->calls > 0 ? "}" : "");
    q->calls++;
}

void code_end(code_texts *t, code_query *q)
{
    if (q->calls > 0) {
        code_word(t, q->calls == 1 ? ",\"inlined\":[]" : "]");
        q->length = t->bytes.used - q->at;
    }
}

void code_language(code_texts *t, code_query *q, const char *language)
{
    if (language[0] != '\0') {
        code_word(t, ",\"language\":");
        code_text(t, language);
        q->length = t->bytes.used - q->at;
    }
}

/* >>code symbols: what is left to a file without debug information */

void code_symbol(const code_module *m, code_query *q, code_texts *t, const char *function)
{
    char *readable = m->symbols.nim ? demangled_nim(function) : NULL;
    code_call(t, q, readable != NULL ? readable : function, "", 0);
    free(readable);
}

void code_by_symbols(const code_module *m, code_query *q, code_texts *t)
{
    const char *function = elf_function(&m->symbols, q->address);
    if (function != NULL) {
        code_symbol(m, q, t, function);
    }
    code_end(t, q);
}
