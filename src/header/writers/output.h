/* writers/output.h */
#pragma once
#include "../interface/kinds.h"
#include "../interface/types.h"
#include "../interface/reading.h"
#include "../interface/output.h"
#include "../base/platform.h"
#include "../block/rows.h"
#include "../reading/figures.h"
#include "../public/now.h"
#include "../writers/words.h"

/* >>output
 * Everything that is written goes through one small buffer on the stack and one sticky error flag,
 * so the formats need no checks of their own. Numbers are made from integers by hand: no locale.
 * Nothing here knows a format: a program that calls one links one. */

#define CHROPROF__OUT_BYTES 1024

typedef struct chroprof__out {
    chroprof_writer write;
    void *user;
    const chroprof_text_options *look;             /* of the text report, may be NULL */
    const chroprof_prometheus_options *series;     /* of Prometheus, may be NULL */
    size_t used;
    bool failed;
    bool absent;           /* there is no profile to write */
    bool comma;            /* of JSON: something stands before the next key or row */
    char bytes[CHROPROF__OUT_BYTES];
} chroprof__out;

static void chroprof__flush(chroprof__out *o)
{
    if (o->used > 0 && !o->failed)
        o->failed = o->write(o->user, o->bytes, o->used) != 0;
    o->used = 0;
}

/* 0, or -1 if the writer stopped or there is no profile: then text and JSON say why. */
static int chroprof__put_profile(chroprof *p, chroprof__writes *as, chroprof_writer write,
                                 void *user, const chroprof_text_options *look,
                                 const chroprof_prometheus_options *series)
{
    chroprof__out o;
    if (write == NULL)
        return -1;
    memset(&o, 0, offsetof(chroprof__out, bytes));
    o.write = write;
    o.user = user;
    o.look = look;
    o.series = series;
    o.absent = !chroprof__tick_live(p);
    as(&o, p);
    chroprof__flush(&o);
    return o.failed || o.absent ? -1 : 0;
}

CHROPROF__COLD_API int chroprof__write_by(chroprof *p, chroprof__writes *as, chroprof_writer write,
                                          void *user)
{
    return chroprof__put_profile(p, as, write, user, NULL, NULL);
}

/* A format that was left out fails, and so does a number that is none. */
#define CHROPROF__LEFT_OUT(as)                                            \
    CHROPROF__COLD_API void as(chroprof__out *o, const chroprof *p)       \
    {                                                                     \
        (void)p;                                                          \
        o->failed = true;                                                 \
    }
CHROPROF__LEFT_OUT(chroprof__as_none)

CHROPROF__UNUSED static void chroprof__put_bytes(chroprof__out *o, const char *bytes, size_t count)
{
    while (count > 0) {
        size_t room = CHROPROF__OUT_BYTES - o->used;
        size_t part = count < room ? count : room;
        memcpy(o->bytes + o->used, bytes, part);
        o->used += part;
        bytes += part;
        count -= part;
        if (o->used == CHROPROF__OUT_BYTES)
            chroprof__flush(o);
    }
}

/* A full buffer is flushed at once, so one byte is always free. */
CHROPROF__UNUSED static void chroprof__put_byte(chroprof__out *o, char byte)
{
    o->bytes[o->used++] = byte;
    if (o->used == CHROPROF__OUT_BYTES)
        chroprof__flush(o);
}

CHROPROF__UNUSED static void chroprof__put_text(chroprof__out *o, const char *text)
{
    chroprof__put_bytes(o, text, strlen(text));
}

CHROPROF__UNUSED static void chroprof__put_u64(chroprof__out *o, uint64_t value)
{
    char digits[20], *end = digits + sizeof(digits);
    const char *first = chroprof__digits_before(value, end);
    chroprof__put_bytes(o, first, (size_t)(end - first));
}

CHROPROF__UNUSED static void chroprof__put_code(chroprof__out *o, uint32_t code)
{
    char bytes[4];
    if (code < 0x80) {
        chroprof__put_byte(o, (char)code);
        return;
    }
    chroprof__put_bytes(o, bytes, chroprof__encode(code, bytes));
}

/* The kth of the words that commas part; names of the interface become lower case. */
CHROPROF__UNUSED static void chroprof__put_word(chroprof__out *o, const char *words, uint64_t k)
{
    while (k > 0 && *words != 0)
        k -= *words++ == ',';
    for (; *words != 0 && *words != ',' && *words != ')'; words++)
        chroprof__put_byte(o, (char)(*words >= 'A' && *words <= 'Z' ? *words + 32 : *words));
}

#define CHROPROF__ANOMALY_WORD(name, text, cure) #name ","
#define CHROPROF__ANOMALY_WORDS CHROPROF_ANOMALIES(CHROPROF__ANOMALY_WORD)

/* What a figure is called, three words: in the public structs and the JSON, "" if it is not shown;
 * its metric in Prometheus, "" if it is not there; what the metric is, "" if a figure before it has
 * the same metric. */
#define CHROPROF__WORDS(name, metric, help) #name "\0" metric "\0" help "\0"
#define CHROPROF__WORDS_ROW(name, field, unit, kind, metric, help)                                 \
    CHROPROF__WORDS(name, metric, help)
#define CHROPROF__WORDS_COUNT(name, field, kind) CHROPROF__WORDS(name, "", "")
#define CHROPROF__WORDS_NAME(name) CHROPROF__WORDS(name, "", "")
#define CHROPROF__WORDS_UNSEEN(type, field, unit, kind) CHROPROF__WORDS(, "", "")

/* The words of a list, in its order; one text, as pointers would be data that a loader has to fill
 * in. */
CHROPROF__UNUSED static const char chroprof__path_words[] =
    CHROPROF__PATH_LIST(CHROPROF__WORDS_ROW, CHROPROF__WORDS, CHROPROF__WORDS_NAME,
                        CHROPROF__WORDS_UNSEEN);
CHROPROF__UNUSED static const char chroprof__loop_words[] =
    CHROPROF__LOOP_LIST(CHROPROF__WORDS_ROW, CHROPROF__WORDS, CHROPROF__WORDS_UNSEEN);
CHROPROF__UNUSED static const char chroprof__sampler_words[] =
    CHROPROF__SAMPLER_LIST(CHROPROF__WORDS_COUNT, CHROPROF__WORDS_NAME);

/* What stands between quotes: in JSON, else in a label of Prometheus. */
CHROPROF__UNUSED static void chroprof__put_quoted(chroprof__out *o, const char *text, bool json)
{
    while (*text != 0) {
        uint32_t code = chroprof__next_code(&text);
        if (json && code < 0x20) {
            chroprof__put_text(o, code < 0x10 ? "\\u000" : "\\u001");
            chroprof__put_byte(o, "0123456789abcdef"[code & 15]);
            continue;
        }
        if (code == '"' || code == '\\' || code == '\n')
            chroprof__put_byte(o, '\\');
        chroprof__put_code(o, code == '\n' ? 'n' : code);
    }
}

/* value / unit with all its places; the unit is a power of 10. */
CHROPROF__UNUSED static void chroprof__put_places(chroprof__out *o, uint64_t value, uint64_t unit)
{
    char digits[20], *end = digits + sizeof(digits);
    char *point = chroprof__digits_before(value % unit + unit, end);
    *point = '.';                           /* where the unit has its 1 */
    chroprof__put_u64(o, value / unit);
    chroprof__put_bytes(o, point, (size_t)(end - point));
}

/* What lies in a field of so many bytes. */
CHROPROF__UNUSED static uint64_t chroprof__load_field(const void *field, size_t size)
{
    uint32_t half;
    uint64_t whole;
    if (size == 1)
        return *(const unsigned char *)field;
    memcpy(&half, field, sizeof half);
    if (size == sizeof half)
        return half;
    memcpy(&whole, field, sizeof whole);
    return whole;
}

/* A field, as a sign says: those of chroprof__put_json, and in Prometheus @ for the text of a label
 * and & for a text that is written as it is. */
CHROPROF__UNUSED static void chroprof__put_field(chroprof__out *o, const char *how,
                                                 const void *field)
{
    bool text = *how == '$' || *how == '@' || *how == '&';
    size_t size = text ? sizeof(char *) : *how == '?' ? sizeof(bool)
                : *how == '(' ? sizeof(chroprof_state)
                : *how == '.' || *how == '-' ? sizeof(uint32_t) : sizeof(uint64_t);
    uint64_t value = chroprof__load_field(field, size);
    bool quoted = *how != 0 && strchr("$(", *how) != NULL;
    if (quoted)
        chroprof__put_byte(o, '"');
    switch (*how) {
    case '$': chroprof__put_quoted(o, (const char *)(uintptr_t)value, true); break;
    case '@': chroprof__put_quoted(o, (const char *)(uintptr_t)value, false); break;
    case '&': chroprof__put_text(o, (const char *)(uintptr_t)value); break;
    case '(': chroprof__put_word(o, how + 1, value); break;
    case '?': chroprof__put_text(o, value ? "true" : "false"); break;
    case '-':
        chroprof__put_text(o, value ? "" : "-");
        chroprof__put_u64(o, value ? value - 1 : 1);
        break;
    default: chroprof__put_u64(o, value);
    }
    if (quoted)
        chroprof__put_byte(o, '"');
}

/* Fields of a struct that are shown, a line each in a list: the struct, the field, its sign. */
#define CHROPROF__KEY(type, field, sign) #field sign " "
#define CHROPROF__PLACE(type, field, sign) (uint16_t)offsetof(type, field),

/* Where a value lies that is in no struct, and words that are side by side. */
CHROPROF__UNUSED static const uint16_t chroprof__in_line[] = {
    0, (uint16_t)sizeof(char *), (uint16_t)(2 * sizeof(char *)), (uint16_t)(3 * sizeof(char *))
};

/* A key and its value, or what begins it; returns where the form goes on. */
CHROPROF__UNUSED static const char *chroprof__put_json_key(chroprof__out *o, const char *key,
                                                           const uint16_t **places,
                                                           const void *row)
{
    const char *end = key;
    while (*end == '_' || (*end >= '0' && *end <= '9') || (*end >= 'A' && *end <= 'Z') ||
           (*end >= 'a' && *end <= 'z'))
        end++;
    if (end > key) {
        chroprof__put_byte(o, '"');
        chroprof__put_bytes(o, key, (size_t)(end - key));
        chroprof__put_text(o, "\":");
    }
    o->comma = *end != '{' && *end != '[' && *end != '"';
    if (!o->comma)
        return end;
    if (*end == '\'') {
        size_t length = strcspn(end + 1, "'");
        chroprof__put_byte(o, '"');
        chroprof__put_bytes(o, end + 1, length);
        chroprof__put_byte(o, '"');
        return end + length + 2;
    }
    chroprof__put_field(o, end, (const char *)row + *(*places)++);
    end += *end == '(' ? strcspn(end, ")") : 0;
    end += *end != 0 && strchr("%.$?-)", *end) != NULL;
    return end + (*end == ' ');
}

/* Writes fields of a struct as JSON. A form has their keys in order, places where they lie, and
 * commas come where they belong. The sign behind a key says what the field is: none or % 64 bits, .
 * or - 32 bits (- one less), ? a truth, $ a text, (a,b) which of these words. A sign without a word
 * is a value without a key. 'A value' may stand in the form; " begins a text that is written by
 * others, and ends it. Brackets and line feeds stand for themselves, and blanks part keys. */
CHROPROF__UNUSED static void chroprof__put_json(chroprof__out *o, const char *form,
                                                const uint16_t *places, const void *row)
{
    while (*form != 0 && !o->failed) {
        char mark = *form;
        bool ends = mark == '}' || mark == ']' || mark == '"';
        bool joins = mark == '\n' && (form[1] == '}' || form[1] == ']');
        if (o->comma && !ends && !joins)
            chroprof__put_byte(o, ',');
        if (!ends && !joins && mark != '{' && mark != '[' && mark != '\n') {
            form = chroprof__put_json_key(o, form, &places, row);
            continue;
        }
        o->comma = ends;
        chroprof__put_byte(o, *form++);
    }
}

/* Brackets, and at most one key, whose value is given. */
CHROPROF__UNUSED static void chroprof__put_value(chroprof__out *o, const char *form,
                                                 const void *value)
{
    chroprof__put_json(o, form, chroprof__in_line, value);
}

/* The fields of a list, between what begins and what ends them. */
#define CHROPROF__PUT_FIELDS(o, begin, list, end, row)                                             \
    do {                                                                                           \
        static const uint16_t places[] = { list(CHROPROF__PLACE) };                                \
        chroprof__put_json(o, begin list(CHROPROF__KEY) end, places, row);                         \
    } while (0)

/* A step of now, which ends the interval that is under way. */
CHROPROF__UNUSED static chroprof_step chroprof__step_now(const chroprof *p,
                                                         const chroprof_totals *totals)
{
    chroprof_frame top;
    chroprof_step now;
    memset(&now, 0, sizeof now);
    now.state = CHROPROF_TICK;
    now.at_ns = totals->elapsed_ns;
    now.depth = (uint32_t)chroprof_frames(p, &top, 1);
    now.path = totals->idle ? (uint32_t)CHROPROF__IDLE
                            : now.depth > 0 ? top.path : (uint32_t)CHROPROF__LOOP;
    return now;
}

/* What a path is called in a report, those of no task included. */
CHROPROF__UNUSED static const char *chroprof__path_word(const chroprof *p, uint32_t path)
{
    static const char words[][20] = { "(uninstrumented)", "(idle)", "(untracked)" };
    return path < CHROPROF__FIRST_PATH ? words[path] : chroprof_path_name(p, path, NULL, NULL);
}

CHROPROF__UNUSED static uint64_t chroprof__count_ready(const chroprof *p)
{
    uint64_t cursor = 0, ready = 0;
    chroprof_future row;
    while (chroprof_next_future(p, &cursor, &row))
        ready += row.state == CHROPROF_READY;
    return ready;
}
