/* code.h - from addresses of a module to functions, files and lines, the calls that the compiler
 * inlined included: by elfutils' libdw where the command was built with it (CHROPROF_LIBDW), else
 * by the program addr2line, else by the file's own symbols, which know no lines.
 *
 * An answer is the JSON that a row of "stacks" gains. It begins with the innermost call: its line
 * is the one that ran. What it was inlined into follows, the function of the symbol table last. */

#ifndef COMMAND_CODE_H
#define COMMAND_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "buffer.h"
#include "elf.h"

typedef struct code_query {
    uint64_t address;          /* of the instruction, as the module's file counts */
    size_t at, length;         /* of the answer; length 0: nothing is known */
    unsigned calls;
    bool place;                /* the line is enough: no time for what was inlined */
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

/* Adds a call to an answer; the first one is the innermost. */
void code_call(code_texts *t, code_query *q, const char *function, const char *file,
               uint64_t line);

/* The same of a function that has no file. */
void code_symbol(const code_module *m, code_query *q, code_texts *t, const char *function);

/* Ends an answer, which may have no calls. */
void code_end(code_texts *t, code_query *q);

/* After the end of an answer: what the code is written in, if that is no native language; "". */
void code_language(code_texts *t, code_query *q, const char *language);

/* The answer by the symbol table alone, for what has no debug information. */
void code_by_symbols(const code_module *m, code_query *q, code_texts *t);

/* Answers the queries, whose addresses are in ascending order, each once: in code_libdw.c, or in
 * code_addr2line.c where the command was built without libdw. */
void code_find(const code_module *m, code_query *queries, size_t count, code_texts *t);

#endif
