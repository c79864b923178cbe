/* json.c - see json.h */

#include "json.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "foreign.h"
#include "message.h"
#include "values.h"

#define JSON_DEEPEST 64

json_reader json_read(const char *name, const char *bytes, size_t length)
{
    json_reader r = { name, bytes, bytes, bytes + length, 0, false };
    return r;
}

json_text json_word(const char *word)
{
    json_text text = { word, strlen(word) };
    return text;
}

bool json_is(json_text text, const char *word)
{
    return strlen(word) == text.length && memcmp(text.bytes, word, text.length) == 0;
}

bool same_text(json_text a, json_text b)
{
    return a.length == b.length && (a.length == 0 || memcmp(a.bytes, b.bytes, a.length) == 0);
}

bool json_fail(json_reader *r, const char *expected)
{
    unsigned long long line = 1;
    const char *start = r->begin;
    for (const char *p = r->begin; !r->failed && p < r->at; p++) {
        if (*p == '\n') {
            line++;
            start = p + 1;
        }
    }
    if (!r->failed) {
        bool cut = r->at == r->end;
        tool_message("%s:%llu:%llu: %sexpected %s; %s", r->name, line,
                     (unsigned long long)(r->at - start) + 1,
                     cut ? "the file ends here, cut short: " : "", expected,
                     cut ? "copy or write all of it again"
                         : "give JSON as chroprof dump -f json writes it");
    }
    r->failed = true;
    return false;
}

void json_blanks(json_reader *r)
{
    while (r->at < r->end &&
           (*r->at == ' ' || *r->at == '\n' || *r->at == '\t' || *r->at == '\r')) {
        r->at++;
    }
}

static bool json_byte(json_reader *r, char byte, const char *expected)
{
    json_blanks(r);
    if (r->failed || r->at == r->end || *r->at != byte) {
        return json_fail(r, expected);
    }
    r->at++;
    return true;
}

/* >>lists and objects: open, then next before each item until it says that there is none */

bool json_open(json_reader *r, char bracket)
{
    if (r->depth == JSON_DEEPEST) {
        return json_fail(r, "no more than 64 brackets in one another");
    }
    r->depth++;
    return json_byte(r, bracket, bracket == '{' ? "an object, {" : "a list, [");
}

bool json_next(json_reader *r, char bracket, bool *first)
{
    bool was_first = *first;
    *first = false;
    json_blanks(r);
    if (!r->failed && r->at < r->end && *r->at == bracket) {
        r->at++;
        r->depth--;
        return false;
    }
    if (was_first) {
        return !r->failed;
    }
    return json_byte(r, ',', bracket == '}' ? "a comma or }" : "a comma or ]");
}

/* >>values */

static bool json_hex(char byte)
{
    return (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'f') ||
           (byte >= 'A' && byte <= 'F');
}

static bool json_escape(json_reader *r)
{
    r->at++;
    if (r->at < r->end && *r->at != '\0' && strchr("\"\\/bfnrt", *r->at) != NULL) {
        r->at++;
        return true;
    }
    if (r->end - r->at >= 5 && *r->at == 'u' && json_hex(r->at[1]) && json_hex(r->at[2]) &&
        json_hex(r->at[3]) && json_hex(r->at[4])) {
        r->at += 5;
        return true;
    }
    return json_fail(r, "an escape of JSON after the backslash");
}

bool json_string(json_reader *r, json_text *text)
{
    if (!json_byte(r, '"', "a text in quotes")) {
        return false;
    }
    text->bytes = r->at;
    while (r->at < r->end && *r->at != '"') {
        if ((unsigned char)*r->at < 0x20) {
            return json_fail(r, "an escape for this control character");
        }
        if (*r->at != '\\') {
            r->at++;
        } else if (!json_escape(r)) {
            return false;
        }
    }
    text->length = (size_t)(r->at - text->bytes);
    return json_byte(r, '"', "a quote at the end of the text");
}

bool json_key(json_reader *r, json_text *key)
{
    return json_string(r, key) && json_byte(r, ':', "a colon");
}

bool json_u64(json_reader *r, uint64_t *value)
{
    const char *start;
    json_blanks(r);
    start = r->at;
    if (!digits_before(&r->at, r->end, value)) {
        return json_fail(r, r->at > start ? "a number below 2^64" : "a whole number");
    }
    return !r->failed || json_fail(r, "a whole number");
}

size_t json_quote(const char **text, char out[8])
{
    uint32_t code = foreign_next(text);
    if (code < 0x20 || code == '"' || code == '\\') {
        return (size_t)snprintf(out, 8, "\\u%04x", (unsigned)code);
    }
    return utf8_put(code < FOREIGN_BYTE ? code : 0xFFFD, out);
}

void json_put(FILE *out, const char *text)
{
    char bytes[8];
    (void)fputc('"', out);
    while (*text != '\0') {
        size_t count = json_quote(&text, bytes);
        (void)fwrite(bytes, 1, count, out);
    }
    (void)fputc('"', out);
}

static size_t json_digits(json_reader *r)
{
    const char *start = r->at;
    while (r->at < r->end && *r->at >= '0' && *r->at <= '9') {
        r->at++;
    }
    return (size_t)(r->at - start);
}

static bool json_skip_number(json_reader *r)
{
    size_t digits;
    r->at += *r->at == '-';
    digits = json_digits(r);
    if (r->at < r->end && *r->at == '.' && digits > 0) {
        r->at++;
        digits = json_digits(r);
    }
    if (r->at < r->end && (*r->at == 'e' || *r->at == 'E') && digits > 0) {
        r->at++;
        r->at += r->at < r->end && (*r->at == '+' || *r->at == '-');
        digits = json_digits(r);
    }
    return digits > 0 || json_fail(r, "a value");
}

static bool json_skip_word(json_reader *r)
{
    static const char *const words[] = { "true", "false", "null" };
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        size_t length = strlen(words[i]);
        if ((size_t)(r->end - r->at) >= length && memcmp(r->at, words[i], length) == 0) {
            r->at += length;
            return true;
        }
        if ((size_t)(r->end - r->at) < length &&
            memcmp(r->at, words[i], (size_t)(r->end - r->at)) == 0) {
            r->at = r->end;    /* the file ends inside it */
            return json_fail(r, "a value");
        }
    }
    return json_skip_number(r);
}

static bool json_skip_items(json_reader *r, char open, char close)
{
    bool first = true;
    json_text key;
    if (!json_open(r, open)) {
        return false;
    }
    while (json_next(r, close, &first)) {
        if ((open == '{' && !json_key(r, &key)) || !json_skip(r)) {
            return false;
        }
    }
    return !r->failed;
}

bool json_skip(json_reader *r)
{
    json_text text;
    json_blanks(r);
    if (r->failed || r->at == r->end) {
        return json_fail(r, "a value");
    }
    switch (*r->at) {
    case '{': return json_skip_items(r, '{', '}');
    case '[': return json_skip_items(r, '[', ']');
    case '"': return json_string(r, &text);
    default: return json_skip_word(r);
    }
}

bool json_value(json_reader *r, json_text *value)
{
    json_blanks(r);
    value->bytes = r->at;
    if (!json_skip(r)) {
        return false;
    }
    value->length = (size_t)(r->at - value->bytes);
    return true;
}

json_reader json_part(const json_reader *whole, json_text part)
{
    json_reader r = *whole;
    r.at = part.bytes != NULL ? part.bytes : whole->end;
    r.end = r.at + part.length;
    r.depth = 0;
    return r;
}

size_t count_items(const json_reader *whole, json_text list)
{
    json_reader r = json_part(whole, list);
    bool first = true;
    size_t count = 0;
    (void)json_open(&r, '[');
    while (json_next(&r, ']', &first) && json_skip(&r)) {
        count++;
    }
    return r.failed ? SIZE_MAX : count;
}

bool json_room(const json_reader *whole, json_text list, void **rows, size_t size)
{
    size_t count = list.length > 0 ? count_items(whole, list) : 0;
    *rows = count < SIZE_MAX / size ? calloc(count + 1, size) : NULL;
    if (*rows == NULL && count != SIZE_MAX) {
        tool_message("%s: not enough memory for a list of %zu rows", whole->name, count);
    }
    return *rows != NULL;
}

/* >>texts without their escapes */

static bool json_hex_value(const char *digits, uint32_t *value)
{
    *value = 0;
    for (int i = 0; i < 4; i++) {
        char digit = digits[i];
        *value = *value * 16 + (uint32_t)(digit <= '9' ? digit - '0' : (digit | 0x20) - 'a' + 10);
    }
    return *value != 0;
}

/* The character of an escape at p, which json_escape found right; returns what is behind it. */
static const char *json_escaped(const char *p, const char *end, uint32_t *code)
{
    static const char letters[] = "\"\\/bfnrt";
    static const char meant[] = "\"\\/\b\f\n\r\t";
    uint32_t low;
    if (p[1] != 'u') {
        *code = (unsigned char)meant[strchr(letters, p[1]) - letters];
        return p + 2;
    }
    (void)json_hex_value(p + 2, code);
    p += 6;
    if (*code >= 0xD800 && *code < 0xDC00 && end - p >= 6 && p[0] == '\\' && p[1] == 'u' &&
        json_hex_value(p + 2, &low) && low >= 0xDC00 && low < 0xE000) {
        *code = 0x10000 + ((*code - 0xD800) << 10) + (low - 0xDC00);
        p += 6;
    }
    return p;
}

json_text json_inside(json_text value)
{
    json_text text = { "", 0 };
    if (value.length > 2) {
        text.bytes = value.bytes + 1;
        text.length = value.length - 2;
    }
    return text;
}

bool json_unescape(json_text text, char *out, size_t size)
{
    const char *p = text.bytes;
    const char *end = text.bytes + text.length;
    size_t used = 0;
    while (p < end && used + 4 < size) {
        uint32_t code = 1;
        if (*p == '\\') {
            p = json_escaped(p, end, &code);
            used += utf8_put(code >= 0xD800 && code < 0xE000 ? 0xFFFD : code, out + used);
        } else {
            out[used++] = *p++;
        }
        if (code == 0) {
            return false;
        }
    }
    out[used] = '\0';
    return p == end;
}

char *json_plain(json_text text)
{
    const char *p = text.bytes;
    const char *end = text.bytes + text.length;
    char *plain = (char *)malloc(text.length + 4);
    size_t used = 0;
    while (plain != NULL && p < end) {
        uint32_t code;
        if (*p != '\\') {
            plain[used++] = *p++;
            continue;
        }
        p = json_escaped(p, end, &code);
        used += utf8_put(code == 0 || (code >= 0xD800 && code < 0xE000) ? 0xFFFD : code,
                         plain + used);
    }
    if (plain != NULL) {
        plain[used] = '\0';
    }
    return plain;
}

/* What earlier schemas call a key: those of 1 and 2 as they are called since 3. */
static const char *const json_renamed[][2] = {
    { "turns", "callbacks" }, { "turn_p50_ns", "callback_p50_ns" },
    { "turn_p99_ns", "callback_p99_ns" }, { "turn_max_ns", "callback_max_ns" },
    { "passes", "iterations" }, { "pass_p50_ns", "iteration_p50_ns" },
    { "pass_p99_ns", "iteration_p99_ns" }, { "pass_max_ns", "iteration_max_ns" },
    { "loop_ns", "uninstrumented_ns" }, { "loop_blame_ns", "uninstrumented_blame_ns" },
    { "wall_ns", "lifetime_ns" }, { "wall_p50_ns", "latency_p50_ns" },
    { "wall_p99_ns", "latency_p99_ns" }, { "wall_max_ns", "latency_max_ns" }
};

json_text json_today(json_text key)
{
    for (size_t k = 0; k < sizeof json_renamed / sizeof json_renamed[0]; k++) {
        if (json_is(key, json_renamed[k][0])) {
            return json_word(json_renamed[k][1]);
        }
    }
    return key;
}

bool is_iteration(json_text kind)
{
    return json_is(kind, "iteration") || json_is(kind, "pass");
}

bool is_uninstrumented(json_text name)
{
    return json_is(name, "(uninstrumented)") || json_is(name, "(loop)");
}

static size_t json_place(json_text key, const json_field *fields, size_t count)
{
    size_t k = 0;
    while (k < count && !json_is(key, fields[k].key)) {
        k++;
    }
    return k;
}

static bool json_member(json_reader *r, const json_field *field)
{
    if (field->text != NULL) {
        return json_string(r, field->text);
    }
    if (field->value != NULL) {
        return json_value(r, field->value);
    }
    return json_u64(r, field->number);
}

bool json_fields(json_reader *r, const json_field *fields, size_t count)
{
    bool first = true;
    json_text key;
    if (!json_open(r, '{')) {
        return false;
    }
    while (json_next(r, '}', &first)) {
        size_t k;
        if (!json_key(r, &key)) {
            return false;
        }
        k = json_place(key, fields, count);
        k = k < count ? k : json_place(json_today(key), fields, count);
        if (!(k < count ? json_member(r, &fields[k]) : json_skip(r))) {
            return false;
        }
    }
    return !r->failed;
}

bool json_each(const json_reader *whole, json_text list,
               bool (*take)(void *user, json_reader *r), void *user)
{
    json_reader r = json_part(whole, list);
    bool first = true;
    if (list.length == 0) {
        return true;
    }
    if (!json_open(&r, '[')) {
        return false;
    }
    while (json_next(&r, ']', &first)) {
        if (!take(user, &r)) {
            return false;
        }
    }
    return !r.failed;
}

/* >>fields tables: rows of numbers, found again by their first cells */

/* >>fields texts: each there once, as it is written in JSON */
