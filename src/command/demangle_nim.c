/* demangle_nim.c - see demangle_nim.h */

#include "demangle_nim.h"

#include <ctype.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

typedef struct part {
    const char *bytes;
    size_t length;
} part;

/* What an operator is called, the longer ones first. */
static const struct {
    char word[10];
    char sign;
} nim_signs[] = {
    { "backslash", '\\' }, { "percent", '%' }, { "dollar", '$' }, { "emark", '!' },
    { "qmark", '?' }, { "colon", ':' }, { "minus", '-' }, { "slash", '/' }, { "tilde", '~' },
    { "roof", '^' }, { "star", '*' }, { "plus", '+' }, { "amp", '&' }, { "dot", '.' },
    { "bar", '|' }, { "eq", '=' }, { "lt", '<' }, { "gt", '>' }, { "at", '@' }
};

static part part_of(const char *bytes, size_t length)
{
    part p;
    p.bytes = bytes;
    p.length = length;
    return p;
}

static size_t digits_at(const char *text, const char *end)
{
    size_t count = 0;
    while (text + count < end && isdigit((unsigned char)text[count])) {
        count++;
    }
    return count;
}

/* The bytes of one sign at text, and which it is; 0: none. */
static size_t sign_at(part text, char *sign)
{
    if (text.length >= 3 && text.bytes[0] == 'X' && isxdigit((unsigned char)text.bytes[1]) &&
        isxdigit((unsigned char)text.bytes[2])) {
        const char hex[3] = { text.bytes[1], text.bytes[2], '\0' };
        int value = (int)strtol(hex, NULL, 16);
        *sign = (char)value;
        return value < 0x80 && ispunct(value) ? 3 : 0;
    }
    for (size_t k = 0; k < sizeof nim_signs / sizeof *nim_signs; k++) {
        size_t length = strlen(nim_signs[k].word);
        if (length <= text.length && memcmp(text.bytes, nim_signs[k].word, length) == 0) {
            *sign = nim_signs[k].sign;
            return length;
        }
    }
    return 0;
}

/* A name that had signs in it ends in "_". They are told where they stand in front, as in most. */
static size_t put_identifier(char *to, part name)
{
    size_t used = 0;
    if (name.length > 1 && name.bytes[name.length - 1] == '_') {
        char sign;
        size_t length;
        name.length--;
        while ((length = sign_at(name, &sign)) > 0) {
            to[used++] = sign;
            name.bytes += length;
            name.length -= length;
        }
    }
    memcpy(to + used, name.bytes, name.length);
    return used + name.length;
}

/* The last part of a module's path, in which Z is a slash, O a dot, and a number the code of what is
 * no small letter. */
static size_t put_module(char *to, part path)
{
    const char *end = path.bytes + path.length;
    const char *at = end;
    size_t used = 0;
    while (at > path.bytes && at[-1] != 'Z') {
        at--;
    }
    while (at < end) {
        size_t digits = digits_at(at, end) > 0 ? (*at == '1' || *at == '2' ? 3 : 2) : 0;
        int code = 0;
        for (size_t k = 0; k < digits && at + k < end && isdigit((unsigned char)at[k]); k++) {
            code = 10 * code + at[k] - '0';
        }
        if (digits > 0 && (at + digits > end || code < '-' || code > 0xFF)) {
            return 0;
        }
        to[used++] = digits > 0 ? (char)code : *at == 'O' ? '.' : *at;
        at += digits > 0 ? digits : 1;
    }
    return used;
}

/* name__module_12 or name__module_u12. */
static bool split(part text, part *name, part *module)
{
    const char *end = text.bytes + text.length;
    const char *number = end;
    const char *from;
    while (number > text.bytes && isdigit((unsigned char)number[-1])) {
        number--;
    }
    if (number == end || number - text.bytes < 4) {
        return false;
    }
    number -= number[-1] == 'u' ? 1 : 0;
    if (*--number != '_') {
        return false;
    }
    for (from = number; from > text.bytes && isalnum((unsigned char)from[-1]); from--) {}
    *module = part_of(from, (size_t)(number - from));
    if (module->length == 0 || from - text.bytes < 3 || from[-1] != '_' || from[-2] != '_') {
        return false;
    }
    *name = part_of(text.bytes, (size_t)(from - 2 - text.bytes));
    return true;
}

/* The next part of _ZN6server4slowE..., its length before it. */
static bool next_part(const char **at, const char *end, part *p)
{
    size_t digits = digits_at(*at, end);
    unsigned long length = digits > 0 && digits < 5 ? strtoul(*at, NULL, 10) : 0;
    *at += digits;
    if (length == 0 || length > (size_t)(end - *at)) {
        return false;
    }
    *p = part_of(*at, length);
    *at += length;
    return true;
}

/* --debugger:native of Nim 2 has the names of C++: the module, or the proc around it, and the proc.
 * Both are as Nim writes them. */
static size_t put_nested(char *to, const char *at, const char *end)
{
    part outer, inner, name, module;
    size_t used;
    if (!next_part(&at, end, &outer) || !next_part(&at, end, &inner)) {
        return 0;
    }
    if (split(inner, &name, &module)) {
        inner = name;
    }
    memcpy(to, outer.bytes, outer.length);
    used = outer.length;
    to[used++] = '.';
    if (outer.length == inner.length && memcmp(outer.bytes, inner.bytes, inner.length) == 0) {
        used = 0;                       /* the body of an async proc lies in the proc */
    }
    return used + put_identifier(to + used, inner);
}

char *demangled_nim(const char *name)
{
    size_t length = strnlen(name, DEMANGLE_NIM_LONGEST);
    const char *clone = (const char *)memchr(name, '.', length);    /* gcc's .constprop.0 */
    const char *end = name + (clone != NULL ? (size_t)(clone - name) : length);
    char *to = length < DEMANGLE_NIM_LONGEST ? (char *)malloc(2 * length + 3) : NULL;
    part base, module;
    size_t used = 0;
    if (to == NULL) {
        return NULL;
    }
    if (strncmp(name, "_ZN", 3) == 0) {
        used = put_nested(to, name + 3, end);
    } else if (split(part_of(name, (size_t)(end - name)), &base, &module)) {
        used = put_module(to, module);
        if (used > 0) {
            to[used++] = '.';
            used += put_identifier(to + used, base);
        }
    }
    to[used] = '\0';
    if (used == 0) {
        free(to);
        return NULL;
    }
    return to;
}

bool nim_file(const char *file)
{
    static const char *const ends[] = { ".nim", ".nim.c", ".nim.cpp" };
    size_t length = strlen(file);
    for (size_t k = 0; k < sizeof ends / sizeof *ends; k++) {
        size_t bytes = strlen(ends[k]);
        if (length > bytes && strcmp(file + length - bytes, ends[k]) == 0) {
            return true;
        }
    }
    return false;
}
