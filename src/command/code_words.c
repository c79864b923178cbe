/* code_words.c - see code_words.h */

#include "code_words.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CODE_TEXT 200          /* bytes of a name that are shown */

int compare_text(json_text a, json_text b)
{
    size_t length = a.length < b.length ? a.length : b.length;
    int order = length > 0 ? memcmp(a.bytes, b.bytes, length) : 0;
    return order != 0 ? order : a.length < b.length ? -1 : a.length > b.length;
}

bool code_is_ours(const stack_frame *frame)
{
    static const char file[] = "chroprof.h";
    static const char start[] = "chroprof__";
    size_t length = sizeof file - 1;
    json_text name = frame->file;
    if (name.length == 0) {
        return frame->name.length >= sizeof start - 1 &&
               memcmp(frame->name.bytes, start, sizeof start - 1) == 0;
    }
    return name.length >= length && memcmp(name.bytes + name.length - length, file, length) == 0 &&
           (name.length == length || name.bytes[name.length - length - 1] == '/');
}

void code_text_name(sheet *s, json_text name, unsigned most)
{
    char text[CODE_TEXT];
    json_text part = name;
    while (!json_unescape(part, text, sizeof text)) {
        part.length = part.length > 12 ? part.length - 12 : 0;
    }
    sheet_cut(s, text, most);
}

void code_text_place(sheet *s, json_text file, uint64_t line, bool called)
{
    char number[32];
    if (file.length == 0) {
        return;
    }
    for (size_t i = file.length; i > 0; i--) {
        if (file.bytes[i - 1] == '/') {
            file.bytes += i;
            file.length -= i;
            break;
        }
    }
    sheet_text(s, called ? "  called at " : "  ");
    code_text_name(s, file, 40);
    (void)snprintf(number, sizeof number, ":%" PRIu64, line);
    sheet_text(s, number);
}

bool code_is_few(uint64_t samples)
{
    return samples < 5;
}

/* >>code words: waits */

static const struct {
    char call[12], words[44], off[20];
} code_waits[] = {
    { "processor", " waits for a processor", " (no processor)" },
    { "quota", " is held back by its CPU quota", " (its CPU quota)" },
    { "page faults", " waits for pages from a disk", " (page faults)" },
    { "stopped", " was stopped by a signal", " (stopped)" },
    { "futex", " waits for another thread, or its lock", " (a lock)" },
    { "gil", " waits for the GIL, Python's lock", " (the GIL)" }
};

void code_wait_words(const char *call, char *out, size_t size)
{
    (void)snprintf(out, size, " waits in %s", call);
    for (size_t i = 0; i < sizeof code_waits / sizeof code_waits[0]; i++) {
        if (strcmp(code_waits[i].call, call) == 0) {
            (void)snprintf(out, size, "%s", code_waits[i].words);
        }
    }
}

bool code_is_call(json_text call)
{
    for (size_t i = 0; i < sizeof code_waits / sizeof code_waits[0]; i++) {
        if (json_is(call, code_waits[i].call)) {
            return json_is(call, "futex") || json_is(call, "gil");
        }
    }
    return true;
}

void code_off_cpu(json_text call, char *out, size_t size)
{
    char name[40] = "";
    out[0] = '\0';
    if (call.length == 0 || !json_unescape(call, name, sizeof name)) {
        return;
    }
    (void)snprintf(out, size, " (in %s)", name);
    for (size_t i = 0; i < sizeof code_waits / sizeof code_waits[0]; i++) {
        if (strcmp(code_waits[i].call, name) == 0) {
            (void)snprintf(out, size, "%s", code_waits[i].off);
        }
    }
}

/* >>code words: stalls */

static bool read_stall_text(json_reader *r, stall_text *stall)
{
    const json_field fields[] = {
        JSON_TEXT("kind", &stall->kind), JSON_VALUE("samples", &stall->samples),
        JSON_VALUE("shares", &stall->shares),
        JSON_NUMBER("start_ns", &stall->start), JSON_NUMBER("length_ns", &stall->length),
        JSON_NUMBER("cpu_ns", &stall->cpu), JSON_NUMBER("waiting_ns", &stall->waiting),
        JSON_NUMBER("sampled", &stall->sampled)
    };
    memset(stall, 0, sizeof *stall);
    return JSON_FIELDS(r, fields);
}

static int longest_stall_first(const void *a, const void *b)
{
    const stall_text *x = (const stall_text *)a;
    const stall_text *y = (const stall_text *)b;
    if (x->length != y->length) {
        return x->length > y->length ? -1 : 1;
    }
    return x->start < y->start ? -1 : x->start > y->start;
}

static bool read_stall(void *user, json_reader *r)
{
    stall_list *l = (stall_list *)user;
    if (!read_stall_text(r, &l->rows[l->count])) {
        return false;
    }
    l->count += l->all || l->rows[l->count].samples.length > 2;
    return true;
}

bool stall_list_read(stall_list *l, const profile_text *p, bool all)
{
    memset(l, 0, sizeof *l);
    l->all = all;
    if (!json_room(&p->reader, p->stalls, (void **)&l->rows, sizeof *l->rows) ||
        !json_each(&p->reader, p->stalls, read_stall, l)) {
        return false;
    }
    if (l->count > 0) {
        qsort(l->rows, l->count, sizeof *l->rows, longest_stall_first);
    }
    return true;
}

static bool read_taker(void *user, json_reader *r)
{
    stall_taker *most = (stall_taker *)user;
    stall_taker one;
    const json_field fields[] = {
        JSON_NUMBER("site", &one.site), JSON_NUMBER("exec_ns", &one.exec),
        JSON_TEXT("name", &one.name), JSON_TEXT("file", &one.file), JSON_NUMBER("line", &one.line)
    };
    memset(&one, 0, sizeof one);
    if (!JSON_FIELDS(r, fields)) {
        return false;
    }
    if (one.exec > most->exec) {
        *most = one;
    }
    return true;
}

static bool read_whole(void *user, json_reader *r)
{
    stall_taker *t = (stall_taker *)user;
    uint64_t site = 0;
    uint64_t exec = 0;
    const json_field fields[] = { JSON_NUMBER("id", &site), JSON_NUMBER("exec_ns", &exec) };
    if (!JSON_FIELDS(r, fields)) {
        return false;
    }
    t->whole = site == t->site ? exec : t->whole;
    return true;
}

/* A wait counts if one is a good part of what the task took of the stall, and if all are most of
 * what the site took of the run. So do many short ones if what the site did else is not half of the
 * stall. */
static bool read_wait(void *user, json_reader *r)
{
    stall_taker *t = (stall_taker *)user;
    uint64_t site = 0;
    uint64_t count = 0;
    uint64_t total = 0;
    uint64_t longest = 0;
    json_text call = { "", 0 };
    json_text within = { "", 0 };
    const json_field fields[] = {
        JSON_NUMBER("site", &site), JSON_NUMBER("count", &count), JSON_NUMBER("total_ns", &total),
        JSON_NUMBER("longest_ns", &longest), JSON_TEXT("call", &call), JSON_TEXT("within", &within)
    };
    if (!JSON_FIELDS(r, fields)) {
        return false;
    }
    if (site == t->site && total > t->waited &&
        ((longest >= t->exec / 2 && total >= t->whole / 2) || total + t->exec / 2 >= t->whole)) {
        t->call = call;
        t->within = within;
        t->waits = count;
        t->waited = total;
    }
    return true;
}

bool stall_taker_of(const profile_text *p, const stall_text *stall, stall_taker *t)
{
    memset(t, 0, sizeof *t);
    if (!json_each(&p->reader, stall->shares, read_taker, t)) {
        return false;
    }
    if (t->site == 0) {        /* uninstrumented time is no task */
        memset(t, 0, sizeof *t);
    }
    return t->site == 0 || p->waits.length == 0 ||
           (json_each(&p->reader, p->sites, read_whole, t) &&
            json_each(&p->reader, p->waits, read_wait, t));
}

typedef struct stall_window {
    const stall_text *stall;
    uint64_t weight;
    void (*take)(void *user, uint64_t stack, uint64_t weight);     /* NULL: only count */
    void *user;
} stall_window;

static bool window_row(void *user, json_reader *r)
{
    stall_window *w = (stall_window *)user;
    sample_row row;
    if (!read_sample_row(r, &row)) {
        return false;
    }
    if (row.at >= w->stall->start && row.at + row.duration <= w->stall->start + w->stall->length &&
        !json_is(row.state, "idle")) {
        w->weight += row.weight;
        if (w->take != NULL) {
            w->take(w->user, row.stack, row.weight);
        }
    }
    return true;
}

static bool window_place(void *user, json_reader *r)
{
    stall_window *w = (stall_window *)user;
    uint64_t stack = 0;
    uint64_t weight = 0;
    const json_field fields[] = {
        JSON_NUMBER("stack", &stack), JSON_NUMBER("weight", &weight)
    };
    if (!JSON_FIELDS(r, fields)) {
        return false;
    }
    w->take(w->user, stack, weight);
    return true;
}

bool stall_samples(const profile_text *p, const stall_text *stall,
                   void (*take)(void *user, uint64_t stack, uint64_t weight), void *user)
{
    stall_window w = { stall, 0, NULL, NULL };
    if (!json_each(&p->reader, p->samples, window_row, &w)) {
        return false;
    }
    w.take = take;
    w.user = user;
    if (w.weight >= stall->sampled - stall->sampled / 8 && w.weight <= stall->sampled + 1) {
        return json_each(&p->reader, p->samples, window_row, &w);
    }
    return json_each(&p->reader, stall->samples, window_place, &w);
}
