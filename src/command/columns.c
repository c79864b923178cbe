/* columns.c - see columns.h */

#include "columns.h"

#include <string.h>

void write_safe_json(FILE *out, const char *bytes, size_t length)
{
    const char *end = bytes + length;
    while (bytes < end) {
        const char *mark = (const char *)memchr(bytes, '<', (size_t)(end - bytes));
        size_t plain = (size_t)((mark != NULL ? mark : end) - bytes);
        (void)fwrite(bytes, 1, plain, out);
        if (mark != NULL) {
            (void)fputs("\\u003c", out);
        }
        bytes += plain + (mark != NULL);
    }
}

/* False: no object, or one that has null. */
static bool read_column_row(json_reader *r, column_row *row)
{
    bool first = true;
    row->count = 0;
    json_blanks(r);
    if (r->at == r->end || *r->at != '{' || !json_open(r, '{')) {
        return false;
    }
    while (json_next(r, '}', &first)) {
        size_t k = row->count;
        if (k == COLUMNS_MOST || !json_key(r, &row->keys[k]) || !json_value(r, &row->values[k]) ||
            json_is(row->values[k], "null")) {
            return false;
        }
        row->count++;
    }
    return row->count > 0 && !r->failed;
}

/* The place of a key, which mostly is the guess; the number of keys if it is not there. */
static size_t find_key(const column_row *row, json_text key, size_t guess)
{
    size_t k = guess;
    if (guess < row->count && same_text(row->keys[guess], key)) {
        return guess;
    }
    for (k = 0; k < row->count && !same_text(row->keys[k], key); k++) {}
    return k;
}

/* False: there are too many. */
static bool add_keys(column_row *head, const column_row *row)
{
    for (size_t k = 0; k < row->count; k++) {
        if (find_key(head, row->keys[k], k) < head->count) {
            continue;
        }
        if (head->count == COLUMNS_MOST) {
            return false;
        }
        head->keys[head->count++] = row->keys[k];
    }
    return true;
}

bool columns_fit(const json_reader *whole, json_text list, column_row *head)
{
    json_reader r = json_part(whole, list);
    bool first = true;
    column_row row;
    head->count = 0;
    if (list.length == 0 || list.bytes[0] != '[') {
        return false;
    }
    (void)json_open(&r, '[');
    while (json_next(&r, ']', &first)) {
        if (!read_column_row(&r, &row) || !add_keys(head, &row)) {
            return false;
        }
    }
    return head->count > 0;
}

/* What a path has from its site, if it says which. */
static bool of_its_site(const column_row *head, size_t k)
{
    const json_text site = { "site", 4 };
    return find_key(head, site, 0) < head->count &&
           (json_is(head->keys[k], "name") || json_is(head->keys[k], "file") ||
            json_is(head->keys[k], "line"));
}

/* row NULL: the keys themselves. */
static void write_column_row(FILE *out, const column_row *head, const column_row *row, bool first)
{
    const json_text none = { "null", 4 };
    for (size_t k = 0; k < head->count; k++) {
        size_t at = row != NULL ? find_key(row, head->keys[k], k) : k;
        json_text value = row == NULL ? head->keys[k] : at < row->count ? row->values[at] : none;
        if (of_its_site(head, k)) {
            continue;
        }
        (void)fputs(first ? "" : ",", out);
        (void)fputs(row == NULL ? "\"" : "", out);
        write_safe_json(out, value.bytes, value.length);
        (void)fputs(row == NULL ? "\"" : "", out);
        first = false;
    }
}

void write_columns(FILE *out, const json_reader *whole, json_text list,
                   const column_row *head)
{
    json_reader r = json_part(whole, list);
    bool first = true;
    size_t count = 0;
    column_row row;
    (void)fputs("{\"keys\":[", out);
    write_column_row(out, head, NULL, true);
    (void)fputs("],\"values\":[\n", out);
    (void)json_open(&r, '[');
    for (; json_next(&r, ']', &first) && read_column_row(&r, &row); count++) {
        write_column_row(out, head, &row, count == 0);
        (void)fputs("\n", out);
    }
    (void)fputs("]}", out);
}
