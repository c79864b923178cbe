/* windows.c - see windows.h */

#include "windows.h"

#include <stdlib.h>
#include <string.h>

#include "message.h"

static bool read_window_site(void *user, json_reader *r)
{
    window_list *w = (window_list *)user;
    window_site *site = &w->sites[w->site_count++];
    const json_field fields[] = {
        JSON_TEXT("name", &site->name), JSON_TEXT("file", &site->file),
        JSON_NUMBER("line", &site->line), JSON_NUMBER("exec_ns", &site->exec_ns),
        JSON_VALUE("windows", &site->windows)
    };
    return JSON_FIELDS(r, fields);
}

static int busier_first(const void *a, const void *b)
{
    const window_site *x = (const window_site *)a;
    const window_site *y = (const window_site *)b;
    if (x->exec_ns != y->exec_ns) {
        return x->exec_ns > y->exec_ns ? -1 : 1;
    }
    return x->name.bytes < y->name.bytes ? -1 : x->name.bytes > y->name.bytes;
}

static int by_site_name(const void *a, const void *b)
{
    const json_text x = (*(window_site *const *)a)->name;
    const json_text y = (*(window_site *const *)b)->name;
    if (x.length != y.length) {
        return x.length < y.length ? -1 : 1;
    }
    return x.length > 0 ? memcmp(x.bytes, y.bytes, x.length) : 0;
}

/* Sites of one name are neighbors in an order by name. */
static bool mark_ambiguous(window_list *w)
{
    window_site **order = (window_site **)calloc(w->site_count + 1, sizeof(window_site *));
    if (order == NULL) {
        tool_message("not enough memory for %zu sites", w->site_count);
        return false;
    }
    for (size_t i = 0; i < w->site_count; i++) {
        order[i] = &w->sites[i];
    }
    qsort(order, w->site_count, sizeof(window_site *), by_site_name);
    for (size_t i = 1; i < w->site_count; i++) {
        if (same_text(order[i - 1]->name, order[i]->name)) {
            order[i - 1]->ambiguous = order[i]->ambiguous = true;
        }
    }
    free(order);
    return true;
}

bool windows_open(window_list *w, const profile_text *p)
{
    memset(w, 0, sizeof *w);
    w->profile = p;
    if (!json_room(&p->reader, p->sites, (void **)&w->sites, sizeof *w->sites) ||
        !json_room(&p->reader, p->sites, (void **)&w->exec, sizeof *w->exec) ||
        !json_room(&p->reader, p->sites, (void **)&w->active, sizeof(window_site *)) ||
        !json_each(&p->reader, p->sites, read_window_site, w)) {
        return false;
    }
    qsort(w->sites, w->site_count, sizeof *w->sites, busier_first);
    return mark_ambiguous(w);
}

void windows_free(window_list *w)
{
    free(w->sites);
    free(w->exec);
    free(w->active);
}

/* Rewinds every site to its first window. */
static bool begin_cursors(window_list *w)
{
    for (size_t i = 0; i < w->site_count; i++) {
        window_site *site = &w->sites[i];
        site->cursor = json_part(&w->profile->reader, site->windows);
        site->first = true;
        if (!json_open(&site->cursor, '[')) {
            return false;
        }
        w->active[i] = site;
    }
    w->active_count = w->site_count;
    return true;
}

/* Takes each site's number for the next window. A list that ends before counts as zeros from there
 * on, and is not looked at again. */
static bool step_cursors(window_list *w)
{
    size_t kept = 0;
    for (size_t i = 0; i < w->active_count; i++) {
        window_site *site = w->active[i];
        uint64_t *exec = &w->exec[site - w->sites];
        bool more = json_next(&site->cursor, ']', &site->first);
        *exec = 0;
        if ((more && !json_u64(&site->cursor, exec)) || site->cursor.failed) {
            return false;
        }
        if (more) {
            w->active[kept++] = site;
        }
    }
    w->active_count = kept;
    return true;
}

static bool read_window_row(json_reader *r, window_row *row)
{
    const json_field fields[] = {
        JSON_NUMBER("start_ns", &row->start), JSON_NUMBER("end_ns", &row->end),
        JSON_NUMBER("busy_ns", &row->busy), JSON_NUMBER("idle_ns", &row->idle),
        JSON_NUMBER("uninstrumented_ns", &row->loop), JSON_NUMBER("untracked_ns", &row->untracked)
    };
    memset(row, 0, sizeof *row);
    return JSON_FIELDS(r, fields);
}

bool windows_each(window_list *w, void (*take)(void *user, const window_row *row), void *user)
{
    json_reader r = json_part(&w->profile->reader, w->profile->windows);
    bool first = true;
    if (!begin_cursors(w) || !json_open(&r, '[')) {
        return false;
    }
    while (json_next(&r, ']', &first)) {
        window_row row;
        if (!read_window_row(&r, &row) || !step_cursors(w)) {
            return false;
        }
        take(user, &row);
    }
    return !r.failed;
}
