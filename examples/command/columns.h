/* columns.h - a long list of rows in the page: the keys once, then the values of all rows, which is
 * a fraction of the text, and quicker to read for a browser. */

/* Inside a script element only a < could mean anything; in JSON it can only be in a text. */
static void write_safe_json(FILE *out, const char *bytes, size_t length)
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

enum { COLUMNS_MOST = 64 };

typedef struct column_row {
    size_t count;
    json_text keys[COLUMNS_MOST], values[COLUMNS_MOST];
} column_row;

/* False: no object, or one of more than plain values. */
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
            strchr("{[", row->values[k].bytes[0]) != NULL) {
            return false;
        }
        row->count++;
    }
    return row->count > 0 && !r->failed;
}

static bool same_keys(const column_row *a, const column_row *b)
{
    bool same = a->count == b->count;
    for (size_t k = 0; same && k < a->count; k++) {
        same = same_text(a->keys[k], b->keys[k]);
    }
    return same;
}

/* Whether all rows are alike, so that they can be columns. */
static bool columns_fit(const json_reader *whole, json_text list)
{
    json_reader r = json_part(whole, list);
    bool first = true;
    size_t count = 0;
    column_row head, row;
    if (list.length == 0 || list.bytes[0] != '[') {
        return false;
    }
    (void)json_open(&r, '[');
    for (; json_next(&r, ']', &first); count++) {
        if (!read_column_row(&r, count == 0 ? &head : &row) ||
            (count > 0 && !same_keys(&head, &row))) {
            return false;
        }
    }
    return count > 0;
}

/* What a path has from its site, if it says which. */
static bool of_its_site(const column_row *row, size_t k)
{
    bool known = false;
    for (size_t i = 0; i < row->count; i++) {
        known = known || json_is(row->keys[i], "site");
    }
    return known && (json_is(row->keys[k], "name") || json_is(row->keys[k], "file") ||
                     json_is(row->keys[k], "line"));
}

static void write_column_row(FILE *out, const column_row *row, const json_text *parts,
                             const char *quote, bool first)
{
    for (size_t k = 0; k < row->count; k++) {
        if (!of_its_site(row, k)) {
            (void)fputs(first ? "" : ",", out);
            (void)fputs(quote, out);
            write_safe_json(out, parts[k].bytes, parts[k].length);
            (void)fputs(quote, out);
            first = false;
        }
    }
}

/* {"keys":[..],"values":[..]} of a list that fits. */
static void write_columns(FILE *out, const json_reader *whole, json_text list)
{
    json_reader r = json_part(whole, list);
    bool first = true;
    size_t count = 0;
    column_row row;
    (void)json_open(&r, '[');
    for (; json_next(&r, ']', &first) && read_column_row(&r, &row); count++) {
        if (count == 0) {
            (void)fputs("{\"keys\":[", out);
            write_column_row(out, &row, row.keys, "\"", true);
            (void)fputs("],\"values\":[\n", out);
        }
        write_column_row(out, &row, row.values, "", count == 0);
        (void)fputs("\n", out);
    }
    (void)fputs("]}", out);
}
