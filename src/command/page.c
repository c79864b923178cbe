/* page.c - see page.h */

#include "page.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "columns.h"
#include "input.h"
#include "json.h"
#include "message.h"

/* make turns src/page/report into these bytes; a command that was built without them reads the
 * page where --page tells. */
#ifdef CHROPROF_REPORT_PAGE
#include CHROPROF_REPORT_PAGE
#else
static const unsigned char report_page[] = { 0 };
#endif

#define PAGE_FUTURES 300       /* rows of live futures that go into the page */

/* >>page futures: a page needs those that are longest in their state, not all */

typedef struct future_row {
    json_text row;
    uint64_t since;
} future_row;

static int older_first(const void *a, const void *b)
{
    const future_row *x = (const future_row *)a;
    const future_row *y = (const future_row *)b;
    if (x->since != y->since) {
        return x->since < y->since ? -1 : 1;
    }
    return x->row.bytes < y->row.bytes ? -1 : x->row.bytes > y->row.bytes;
}

typedef struct future_list {
    future_row *rows;
    size_t count;
} future_list;

static bool read_future(void *user, json_reader *r)
{
    future_list *l = (future_list *)user;
    future_row *future = &l->rows[l->count++];
    json_reader inner;
    const json_field fields[] = { JSON_NUMBER("since_ns", &future->since) };
    if (!json_value(r, &future->row)) {
        return false;
    }
    inner = json_part(r, future->row);
    return JSON_FIELDS(&inner, fields);
}

static bool write_futures(FILE *out, const profile_text *p)
{
    future_list l = { NULL, 0 };
    bool ok = json_room(&p->reader, p->futures, (void **)&l.rows, sizeof *l.rows) &&
              json_each(&p->reader, p->futures, read_future, &l);
    if (ok) {
        qsort(l.rows, l.count, sizeof *l.rows, older_first);
        (void)fputc('[', out);
        for (size_t i = 0; i < l.count && i < PAGE_FUTURES; i++) {
            (void)fputs(i > 0 ? ",\n" : "\n", out);
            write_safe_json(out, l.rows[i].row.bytes, l.rows[i].row.length);
        }
        (void)fputs("\n]", out);
    }
    free(l.rows);
    return ok;
}

static int earlier_first(const void *a, const void *b)
{
    const json_text *x = (const json_text *)a;
    const json_text *y = (const json_text *)b;
    return x->bytes < y->bytes ? -1 : x->bytes > y->bytes;
}

bool page_write_profile(FILE *out, const profile_text *p)
{
    const char *at = p->bytes.bytes;
    json_text lists[] = { p->paths, p->futures, p->stacks, p->samples };
    column_row head;
    bool ok = true;
    qsort(lists, sizeof lists / sizeof *lists, sizeof *lists, earlier_first);
    for (size_t i = 0; ok && i < sizeof lists / sizeof *lists; i++) {
        bool futures = lists[i].bytes == p->futures.bytes;
        if (lists[i].length == 0 || (!futures && !columns_fit(&p->reader, lists[i], &head))) {
            continue;
        }
        write_safe_json(out, at, (size_t)(lists[i].bytes - at));
        if (futures) {
            ok = write_futures(out, p);
        } else {
            write_columns(out, &p->reader, lists[i], &head);
        }
        at = lists[i].bytes + lists[i].length;
    }
    write_safe_json(out, at, (size_t)(p->bytes.bytes + p->bytes.used - at));
    return ok;
}

/* >>page itself */

bool page_load(byte_buffer *page, const char *name)
{
    input in;
    bool ok;
    if (name == NULL && sizeof report_page > 1) {
        return buffer_add(page, report_page, sizeof report_page) == 0;
    }
    if (name == NULL) {
        tool_message("this command was built without its page; build it with make chroprof, or "
                     "add --page report.html, which src/page/join.sh makes");
        return false;
    }
    if (!input_open(&in, name)) {
        return false;
    }
    ok = buffer_grow(page) && load_input(&in, page);
    return input_close(&in, ok) && ok;
}

const char *page_find(const byte_buffer *page, const char *name, const char *text)
{
    size_t length = strlen(text);
    for (size_t at = 0; at + length <= page->used; at++) {
        if (memcmp(page->bytes + at, text, length) == 0) {
            return page->bytes + at;
        }
    }
    tool_message("%s: there is no line %s in this page; give one that src/page/join.sh made", name,
                 text);
    return NULL;
}
