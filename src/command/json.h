/* json.h - reads JSON text in memory, value by value; what is wrong is named by line and column.
 * Texts stay as they are written, escapes included: most of them only go into other JSON. */

#ifndef COMMAND_JSON_H
#define COMMAND_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

typedef struct json_reader {
    const char *name;          /* of the source, for messages */
    const char *begin, *at, *end;
    unsigned depth;
    bool failed;
} json_reader;

/* A piece of the source: a value, or what is between the quotes of a text. */
typedef struct json_text {
    const char *bytes;
    size_t length;
} json_text;

json_reader json_read(const char *name, const char *bytes, size_t length);

/* A text of our own. */
json_text json_word(const char *word);

bool json_is(json_text text, const char *word);

bool same_text(json_text a, json_text b);

/* Names the first thing that is wrong; always false, so that callers can return it. */
bool json_fail(json_reader *r, const char *expected);

void json_blanks(json_reader *r);

bool json_open(json_reader *r, char bracket);

/* first: true before the first item; bracket: the closing one. */
bool json_next(json_reader *r, char bracket, bool *first);

bool json_string(json_reader *r, json_text *text);

bool json_key(json_reader *r, json_text *key);

bool json_u64(json_reader *r, uint64_t *value);

/* One value of any kind, checked. */
bool json_skip(json_reader *r);

/* A value as it is written. */
bool json_value(json_reader *r, json_text *value);

/* A reader of a part, for messages that count lines from the beginning of the whole. A part that is
 * missing reads as an end of the text. */
json_reader json_part(const json_reader *whole, json_text part);

/* Zeroed room for a row of some size for each item of a list, and one more. false, with a message:
 * it is no list, or there is no memory. */
bool json_room(const json_reader *whole, json_text list, void **rows, size_t size);

/* SIZE_MAX: no list. */
size_t count_items(const json_reader *whole, json_text list);

/* What is between the quotes of a text that was read as a value. */
json_text json_inside(json_text value);

/* As a C string; false if it does not fit, or holds a zero byte. */
bool json_unescape(json_text text, char *out, size_t size);

/* The same in memory of its own, zero bytes and halves of characters as U+FFFD. NULL: no memory. */
char *json_plain(json_text text);

/* A field goes to the one of these that is not NULL. */
typedef struct json_field {
    const char *key;
    uint64_t *number;
    json_text *text;           /* between the quotes */
    json_text *value;          /* of any kind, as it is written */
} json_field;

/* A key of an earlier schema as it is called now; any other as it is. */
json_text json_today(json_text key);

/* Values that earlier schemas spell "pass" and "(loop)". */
bool is_iteration(json_text kind);
bool is_uninstrumented(json_text name);

/* Reads an object; what it has besides is passed over. Keys of earlier schemas are known. */
bool json_fields(json_reader *r, const json_field *fields, size_t count);

#define JSON_NUMBER(key, at) { key, at, NULL, NULL }
#define JSON_TEXT(key, at) { key, NULL, at, NULL }
#define JSON_VALUE(key, at) { key, NULL, NULL, at }
#define JSON_FIELDS(r, fields) json_fields(r, fields, sizeof (fields) / sizeof (fields)[0])

/* Calls take for each item of a list; a list that is missing is empty. */
bool json_each(const json_reader *whole, json_text list,
               bool (*take)(void *user, json_reader *r), void *user);

/* The next character of a C string as it stands between quotes; returns its bytes. What
 * is not UTF-8 becomes U+FFFD. */
size_t json_quote(const char **text, char out[8]);

/* A whole C string, with its quotes. */
void json_put(FILE *out, const char *text);

#endif
