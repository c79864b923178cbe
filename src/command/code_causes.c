/* code_causes.c - of each of the longest stalls, and of a hang, the functions that held the loop. */

#include "code_text.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "code_judge.h"
#include "code_words.h"
#include "json.h"
#include "packages.h"
#include "stacks.h"

#define CAUSES 3               /* functions whose stalls are shown */
#define CAUSE_STALLS 32        /* of the longest stalls */
#define CAUSE_NAME 60          /* columns of a function's name */
#define HELD_TEXT 64           /* bytes of it that a profile keeps, with the place */

/* >>causes text */

typedef struct cause_text {
    const cause *cause;
    const char *lead;          /* before the name */
    const step *step, *library;
    const char *end;           /* behind the place */
    const char *does;          /* behind the name */
} cause_text;

/* The task, where it has a name that tells more than which wait came before, or where in a library
 * the callback lies. */
static void put_task(sheet *s, const cause *c, const call *one)
{
    static const char after[] = "code after ";
    char name[200];
    json_text task = { "", 0 };
    if (one->frame->root != SIZE_MAX && !cause_is_callback(c, one)) {
        task = c->stacks->frames[one->frame->root].name;
    }
    if (task.length == 0 || (task.length >= sizeof after &&
                             memcmp(task.bytes, after, sizeof after - 1) == 0)) {
        return;
    }
    if (json_unescape(task, name, sizeof name) && strstr(name, "+0x") != NULL &&
        cause_is_program(c, one)) {
        return;
    }
    code_text_name(s, task, 40);
    sheet_text(s, ": ");
}

static void put_function(sheet *s, const cause_text *t, unsigned most)
{
    sheet_text(s, t->lead);
    if (t->library == NULL) {
        put_task(s, t->cause, t->step->call);
    }
    code_text_name(s, t->step->call->name, most);
    if (t->library != NULL && t->library->call != NULL) {
        sheet_text(s, " > ");
        code_text_name(s, t->library->call->name, most);
    }
    sheet_text(s, t->does);
}

static void put_place(sheet *s, const cause_text *t)
{
    const call *one = t->step->call;
    code_text_place(s, one->file, one->line, t->library != NULL && t->library->call != NULL);
}

static void put_end(sheet *s, const cause_text *t)
{
    sheet_text(s, t->end);
}

static void begin_next_line(sheet *s)
{
    sheet_newline(s);
    sheet_text(s, "    ");
}

/* How many columns a text takes. */
static unsigned function_width(const cause_text *t, unsigned most)
{
    sheet s;
    memset(&s, 0, sizeof s);
    s.columns = 1000;
    put_function(&s, t, most);
    free(s.bytes);
    return s.column;
}

/* In this line, or else in the next one. */
static void put_or_wrap(sheet *s, const cause_text *t, void (*put)(sheet *, const cause_text *))
{
    sheet width;
    memset(&width, 0, sizeof width);
    width.columns = 1000;
    put(&width, t);
    free(width.bytes);
    if (s->column + width.column > s->columns) {
        begin_next_line(s);
        s->blanks -= s->blanks > 1 ? 2 : 0;        /* the text begins with two */
    }
    put(s, t);
}

/* A name that is longer than a line is cut, a place is not. */
static void write_function(sheet *s, const cause_text *t)
{
    unsigned most = CAUSE_NAME;
    if (s->column + function_width(t, most) > s->columns && s->column > 4) {
        begin_next_line(s);
        s->blanks -= s->blanks > 0;                /* and this one with one */
    }
    while (s->column + s->blanks + function_width(t, most) > s->columns && most > 8) {
        most--;
    }
    put_function(s, t, most);
    put_or_wrap(s, t, put_place);
    put_or_wrap(s, t, put_end);
}

static void put_others(char *words, size_t size, const verdict *v)
{
    words[0] = '\0';
    if (v->others > 0) {
        (void)snprintf(words, size, "; %zu more %sstall%s%s", v->others,
                       v->differs ? "" : "such ", v->others == 1 ? "" : "s",
                       v->differs ? ", partly in other code" : "");
    }
}

static void put_share(char *words, size_t size, uint64_t part, const verdict *v)
{
    const char *least = v->all > v->weight ? "at least " : "";
    char others[80];
    put_others(others, sizeof others, v);
    if (code_is_few(v->all)) {
        (void)snprintf(words, size, "  (%s%" PRIu64 " of %" PRIu64 " sample%s%s)", least, part,
                       v->all, v->all == 1 ? "" : "s", others);
    } else {
        (void)snprintf(words, size, "  (%s%s of its samples%s)", least,
                       figure_percent(share_of(part, v->all)).text, others);
    }
}

/* >>causes names that are wanted: a function may be told by its place in a file that has none */

static void note_bare(cause *c, const cause_found *f)
{
    const call *named[] = { f->outer.call, f->inner.call, f->library.call };
    for (size_t i = 0; i < 3 && c->bare == NULL; i++) {
        c->bare = cause_is_place(c, named[i]) ? named[i] : NULL;
    }
}

/* What would tell the names, once. */
static void write_names_wanted(sheet *s, const cause *c)
{
    char path[4096];
    char words[260];
    if (c->bare != NULL &&
        json_unescape(module_of(&c->stacks->modules, c->bare->frame->module_id)->path, path,
                      sizeof path)) {
        package_of_names(path, words, sizeof words);
        sheet_text(s, "    (no names in ");
        code_text_name(s, c->bare->frame->module, 30);
        sheet_text(s, ": ");
        sheet_text(s, words);
        sheet_text(s, ")");
        sheet_newline(s);
    }
}

/* begin: what happened, when, and how long. */
static void cause_write(sheet *s, cause *c, const verdict *v, const char *begin, const char *lead)
{
    const cause_found *found = &v->found;
    const bool deeper = found->library.call != NULL ||
                        (found->outer.call != NULL &&
                         compare_text(found->inner.call->name, found->outer.call->name) != 0);
    const step *last = found->library.call != NULL ? &found->library : &found->inner;
    char share[160];
    cause_text t = { c, lead, &found->outer, NULL, "", "" };
    if (found->outer.call == NULL) {
        return;
    }
    note_bare(c, found);
    put_share(share, sizeof share, deeper ? last->weight : found->outer.weight, v);
    sheet_glyph(s, 0x2022, '*');
    sheet_text(s, begin);
    t.end = deeper ? "" : share;
    write_function(s, &t);
    if (deeper) {
        cause_text inner = { c, found->small ? "    which runs " : "    most of it in ",
                             &found->inner, &found->library, share, "" };
        sheet_newline(s);
        write_function(s, &inner);
    }
    sheet_newline(s);
}

/* >>causes stalls: a function that had several is told once, with the longest of them */

static void cause_sample(void *user, uint64_t stack, uint64_t weight)
{
    cause_weigh((cause *)user, stack, weight);
}

/* Who is named: the function by its samples, a task that waited in a known call, a task that did not
 * run for most of the stall, or nobody. */
enum { BY_SAMPLES, BY_WAIT, BY_TASK, BY_ADDRESS };

typedef struct stall_cause {
    const stall_text *stall;
    int how;
    verdict verdict;
    stall_taker taker;
    const call *place;         /* BY_ADDRESS */
} stall_cause;

static bool is_off(const cause *c, const stall_text *stall)
{
    return c->stacks->cpu && stall->waiting > stall->length / 2;
}

/* A task's own name, not that of the wait before it or of a full table. */
static bool is_task_named(const stall_taker *t)
{
    static const char after[] = "code after ";
    return t->name.length > 0 && t->name.bytes[0] != '(' &&
           !(t->name.length >= sizeof after &&
             memcmp(t->name.bytes, after, sizeof after - 1) == 0);
}

/* Were the samples taken in this task? */
static bool is_sampled_in(const cause *c, const verdict *v, const stall_taker *t)
{
    const call *named = v->found.outer.call;
    return named != NULL && named->frame->root != SIZE_MAX &&
           compare_text(c->stacks->frames[named->frame->root].name, t->name) == 0;
}

/* Where most samples are, if no function has a name. NULL: they are in no file. */
static const call *place_of(const cause *c)
{
    const call *most = NULL;
    for (size_t i = 0; i < c->count; i++) {
        const call *one = &c->calls[i];
        if (one->weight > 0 && one->frame->native && !one->frame->libc && !one->frame->own &&
            one->frame->module_id != UINT64_MAX && (most == NULL || one->weight > most->weight)) {
            most = one;
        }
    }
    return most;
}

/* Is the call that was met one in which loops wait? Its end is no code that held the loop. */
static bool is_wait(const step *one)
{
    static const char *const waits[] = { "epoll_wait", "epoll_pwait", "poll", "ppoll", "select",
                                         "pselect", "accept", "accept4" };
    char name[64];
    const char *bare = name;
    bool found = false;
    if (one->call == NULL || !one->call->frame->libc ||
        !json_unescape(one->call->name, name, sizeof name)) {
        return false;
    }
    bare += strspn(bare, "_");
    bare += strncmp(bare, "libc_", 5) == 0 ? 5 : 0;
    for (size_t i = 0; i < sizeof waits / sizeof waits[0]; i++) {
        found = found || strcmp(bare, waits[i]) == 0;
    }
    return found;
}

static bool judge_stall(cause *c, const stall_text *stall, stall_cause *one)
{
    bool off = is_off(c, stall);
    bool preempted;            /* what its task does is known, and that it waits for nothing */
    cause_clear(c);
    memset(one, 0, sizeof *one);
    one->stall = stall;
    if (!stall_samples(c->profile, stall, cause_sample, c) ||
        !stall_taker_of(c->profile, stall, &one->taker)) {
        return false;
    }
    c->all = stall->sampled;
    one->verdict = cause_judge(c);
    one->place = place_of(c);
    if (off && is_wait(&one->verdict.found.library)) {
        memset(&one->verdict, 0, sizeof one->verdict);
    }
    one->how = one->verdict.found.outer.call != NULL ? BY_SAMPLES : BY_ADDRESS;
    preempted = !code_is_call(one->taker.call) && one->how == BY_SAMPLES &&
                is_sampled_in(c, &one->verdict, &one->taker);
    if (off && !preempted && one->taker.call.length > 0 && one->taker.exec > stall->length / 4 &&
        (one->how != BY_SAMPLES || one->taker.within.length > 0 || is_task_named(&one->taker))) {
        one->how = BY_WAIT;
    } else if (off && one->taker.exec > stall->length / 2 && is_task_named(&one->taker) &&
               !is_sampled_in(c, &one->verdict, &one->taker)) {
        one->how = BY_TASK;
    }
    return true;
}

/* Where most of a stall has no samples, because the thread did not run, that comes first. */
static void stall_begin(sheet *s, const cause *c, const stall_cause *one, char *begin, size_t size)
{
    const stall_text *stall = one->stall;
    (void)snprintf(begin, size, " %s stall at %s", figure_time(s, stall->length).text,
                   figure_time(s, stall->start).text);
    if (is_off(c, stall) && one->how != BY_WAIT) {
        size_t used = strlen(begin);
        char why[60];
        code_off_cpu(one->taker.call, why, sizeof why);
        (void)snprintf(begin + used, size - used, ", %s off CPU%s%s",
                       figure_percent(share_of(stall->waiting, stall->length)).text, why,
                       one->how == BY_SAMPLES ? "," : "");
    }
}

/* A task, and the call that it waited in. */
static void write_taker(sheet *s, const cause *c, const stall_cause *one)
{
    const stall_taker *t = &one->taker;
    const bool waits = one->how == BY_WAIT;
    const bool within = waits && t->within.length > 0;
    char name[80] = "";
    char does[100] = "";
    char others[80];
    char end[140] = "";
    stack_frame frame;
    call named;
    step by = { &named, 0 };
    cause_text text = { c, waits ? ": " : ", in ", &by, NULL, end, does };
    memset(&frame, 0, sizeof frame);
    frame.root = SIZE_MAX;
    memset(&named, 0, sizeof named);
    named.frame = &frame;
    named.name = within ? t->within : t->name;
    named.file = within ? json_word("") : t->file;
    named.line = t->line;
    put_others(others, sizeof others, &one->verdict);
    if (waits && json_unescape(t->call, name, sizeof name)) {
        code_wait_words(name, does, sizeof does);
        (void)snprintf(end, sizeof end, "  (%" PRIu64 " wait%s, %s in all%s)", t->waits,
                       t->waits == 1 ? "" : "s", figure_time(s, t->waited).text, others);
    } else if (one->verdict.others > 0) {
        (void)snprintf(end, sizeof end, "  (%s)", others + 2);
    }
    write_function(s, &text);
    sheet_newline(s);
}

/* A function that is not known: its file and the place in it. */
static void write_place(sheet *s, const stall_cause *one)
{
    char words[80];
    if (one->place == NULL) {
        sheet_text(s, " in code that is in no file");
    } else {
        sheet_text(s, " in ");
        code_text_name(s, one->place->frame->module, 40);
        (void)snprintf(words, sizeof words, "+0x%" PRIx64, one->place->frame->address);
        sheet_text(s, words);
    }
    sheet_newline(s);
}

static void write_stall_cause(sheet *s, cause *c, const stall_cause *one)
{
    char begin[160];
    stall_begin(s, c, one, begin, sizeof begin);
    if (one->how == BY_SAMPLES) {
        cause_write(s, c, &one->verdict, begin,
                    is_off(c, one->stall) ? " the rest in " : " in ");
        return;
    }
    sheet_glyph(s, 0x2022, '*');
    sheet_text(s, begin);
    if (one->how == BY_ADDRESS) {
        write_place(s, one);
    } else {
        write_taker(s, c, one);
    }
}

/* The task that a call lies in; empty: in none. */
static json_text task_of(const cause *c, const call *one)
{
    const size_t root = one->frame->root;
    return root != SIZE_MAX ? c->stacks->frames[root].name : json_word("");
}

/* What most of a stall was in, below the function that is named. */
static const step *step_below(const verdict *v)
{
    return v->found.library.call != NULL ? &v->found.library : &v->found.inner;
}

static bool is_below_alike(const stall_cause *a, const stall_cause *b)
{
    return compare_text(step_below(&a->verdict)->call->name,
                        step_below(&b->verdict)->call->name) == 0;
}

static bool is_mostly_below(const verdict *v)
{
    return !code_is_few(v->all) && step_below(v)->weight * 5 >= v->all * 4;
}

/* Two stalls of one function, nearly all of each in another one below it: two causes. */
static bool is_of_another(const stall_cause *a, const stall_cause *b)
{
    return !is_below_alike(a, b) && is_mostly_below(&a->verdict) && is_mostly_below(&b->verdict);
}

/* Is of two stalls the same to be said? */
static bool is_same_cause(const cause *c, const stall_cause *a, const stall_cause *b)
{
    const call *x = a->verdict.found.outer.call;
    const call *y = b->verdict.found.outer.call;
    if (a->how != b->how) {
        return false;
    }
    if (a->how == BY_SAMPLES) {
        return compare_text(x->name, y->name) == 0 && compare_text(x->file, y->file) == 0 &&
               compare_text(task_of(c, x), task_of(c, y)) == 0 && !is_of_another(a, b);
    }
    if (a->how == BY_ADDRESS) {
        return (a->place == NULL) == (b->place == NULL) &&
               (a->place == NULL || a->place->frame->module_id == b->place->frame->module_id);
    }
    return a->taker.site == b->taker.site;
}

/* A new cause where there is room; an old one has one stall more. Without samples and without a
 * wait there is nothing to be said. */
static void add_stall_cause(const cause *c, stall_cause *rows, size_t *count, size_t most,
                            const stall_cause *one)
{
    size_t i = 0;
    if (one->how == BY_ADDRESS && one->verdict.weight == 0) {
        return;
    }
    while (i < *count && !is_same_cause(c, &rows[i], one)) {
        i++;
    }
    if (i < *count) {
        rows[i].verdict.others++;
        rows[i].verdict.differs |= one->how == BY_SAMPLES && !is_below_alike(&rows[i], one);
    } else if (i < most) {
        rows[i] = *one;
        ++*count;
    }
}

static bool causes_of_stalls(sheet *s, cause *c, size_t most, size_t *stalls)
{
    stall_list l;
    stall_cause rows[CAUSES];
    size_t count = 0;
    bool ok = stall_list_read(&l, c->profile, true);
    *stalls = ok ? l.count : 0;
    for (size_t i = 0; ok && i < l.count && i < CAUSE_STALLS; i++) {
        stall_cause one;
        ok = judge_stall(c, &l.rows[i], &one);
        if (ok) {
            add_stall_cause(c, rows, &count, most, &one);
        }
    }
    for (size_t i = 0; ok && i < count; i++) {
        write_stall_cause(s, c, &rows[i]);
    }
    free(l.rows);
    return ok;
}

static void weigh_run(cause *c)
{
    cause_clear(c);
    for (size_t i = 0; i < c->stacks->count; i++) {
        const stack_frame *frame = &c->stacks->frames[i];
        if (frame->weight > 0 && !frame->idle) {
            cause_weigh(c, frame->id, frame->weight);
        }
    }
}

/* Without a stall, what most of the samples are in, if they are many. */
static void cause_of_run(sheet *s, cause *c)
{
    verdict v;
    weigh_run(c);
    if (!code_is_few(c->weight / 4)) {
        v = cause_judge(c);
        cause_write(s, c, &v, " most samples are", " in ");
    }
}

/* >>causes hang: the samples since no event came */

typedef struct hang {
    cause *cause;
    uint64_t start, length;    /* length 0: there is none */
} hang;

static bool read_hang(void *user, json_reader *r)
{
    hang *h = (hang *)user;
    json_text kind = { "", 0 };
    uint64_t at = 0;
    uint64_t value = 0;
    const json_field fields[] = {
        JSON_TEXT("kind", &kind), JSON_NUMBER("at_ns", &at), JSON_NUMBER("value_ns", &value)
    };
    if (!JSON_FIELDS(r, fields)) {
        return false;
    }
    if (json_is(kind, "hangs")) {
        h->start = at;
        h->length = value;
    }
    return true;
}

static bool hang_sample(void *user, json_reader *r)
{
    hang *h = (hang *)user;
    sample_row row;
    if (!read_sample_row(r, &row)) {
        return false;
    }
    if (row.at >= h->start && !json_is(row.state, "idle")) {
        cause_weigh(h->cause, row.stack, row.weight);
    }
    return true;
}

/* h: with its cause. */
static bool weigh_hang(hang *h)
{
    const profile_text *p = h->cause->profile;
    cause_clear(h->cause);
    return p->findings.length == 0 ||
           (json_each(&p->reader, p->findings, read_hang, h) &&
            (h->length == 0 || json_each(&p->reader, p->samples, hang_sample, h)));
}

static bool cause_of_hang(sheet *s, cause *c)
{
    hang h = { c, 0, 0 };
    verdict v;
    char begin[160];
    if (!weigh_hang(&h)) {
        return false;
    }
    if (c->weight > 0) {
        (void)snprintf(begin, sizeof begin, " hangs since %s, for %s,",
                       figure_time(s, h.start).text, figure_time(s, h.length).text);
        v = cause_judge(c);
        cause_write(s, c, &v, begin, " in ");
    }
    return true;
}

/* >>causes exit: the samples since the last wait of the loop, where nothing else is told */

enum { EXIT_SHOWN = 100000000 };        /* ns */

typedef struct ending {
    cause *cause;
    uint64_t start;
} ending;

static bool exit_sample(void *user, json_reader *r)
{
    ending *e = (ending *)user;
    sample_row row;
    if (!read_sample_row(r, &row)) {
        return false;
    }
    if (row.at >= e->start && !json_is(row.state, "idle")) {
        cause_weigh(e->cause, row.stack, row.weight);
    }
    return true;
}

/* stalls: that the loop had, told or not: these come before the exit. */
static bool cause_of_exit(sheet *s, cause *c, size_t stalls)
{
    const profile_text *p = c->profile;
    json_reader r = json_part(&p->reader, p->totals);
    uint64_t elapsed = 0;
    uint64_t last = 0;
    ending e = { c, 0 };
    verdict v;
    char begin[160];
    const json_field fields[] = {
        JSON_NUMBER("elapsed_ns", &elapsed), JSON_NUMBER("exit_ns", &last)
    };
    if (s->used > 0 || p->totals.length == 0 || stalls > 0) {
        return true;
    }
    if (!JSON_FIELDS(&r, fields)) {
        return false;
    }
    if (last < EXIT_SHOWN || last > elapsed) {
        return true;
    }
    cause_clear(c);
    e.start = elapsed - last;
    if (!json_each(&p->reader, p->samples, exit_sample, &e)) {
        return false;
    }
    if (c->weight > 0) {
        (void)snprintf(begin, sizeof begin, " %s after the last wait of the loop",
                       figure_time(s, last).text);
        v = cause_judge(c);
        cause_write(s, c, &v, begin, " in ");
    }
    return true;
}

static bool causes_text(sheet *s, const profile_text *p, size_t most)
{
    stack_tree stacks;
    cause c;
    size_t stalls = 0;
    bool ok;
    s->end = "\n";
    ok = stacks_read(&stacks, p);
    memset(&c, 0, sizeof c);
    ok = ok && cause_open(&c, &stacks, p) && cause_of_hang(s, &c) &&
         causes_of_stalls(s, &c, most, &stalls) && cause_of_exit(s, &c, stalls);
    if (ok && s->used == 0) {
        cause_of_run(s, &c);
    }
    if (ok) {
        write_names_wanted(s, &c);
    }
    cause_close(&c);
    stacks_free(&stacks);
    return ok;
}

bool code_text_causes(sheet *s, const profile_text *p)
{
    return causes_text(s, p, CAUSES);
}

bool code_text_cause(sheet *s, const profile_text *p)
{
    return causes_text(s, p, 1);
}

/* >>causes named: in the profile itself */

/* "name (file:line)", and the name alone. */
static bool put_held(const call *one, char *name, size_t size, char *text, size_t text_size)
{
    char file[400];
    const char *base;
    if (!json_unescape(one->name, name, size) || !json_unescape(one->file, file, sizeof file)) {
        return false;
    }
    base = strrchr(file, '/') != NULL ? strrchr(file, '/') + 1 : file;
    (void)snprintf(text, text_size, *file != '\0' ? "%s (%s:%" PRIu64 ")" : "%s", name, base,
                   one->line);
    return true;
}

/* One sample more or less must not change what is said. */
static void name_held(cause *c, chroprof *view, chroprof_finding_kind kind, uint64_t at)
{
    const verdict v = cause_judge(c);
    const call *one = v.found.outer.call;
    char name[200];
    char text[700];
    if (one == NULL || code_is_few(c->weight) ||
        !put_held(one, name, sizeof name, text, sizeof text)) {
        return;
    }
    (void)chroprof_name_held(view, kind, at, (uint32_t)(v.found.outer.weight * 1000000 / v.all),
                             strlen(text) < HELD_TEXT ? text : name);
}

/* The longest stall, if its samples tell where it was. */
static bool name_stall(cause *c, chroprof *view)
{
    stall_list l;
    bool ok = stall_list_read(&l, c->profile, false);
    if (ok && l.count > 0) {
        cause_clear(c);
        ok = stall_samples(c->profile, &l.rows[0], cause_sample, c);
        c->all = l.rows[0].sampled;
        name_held(c, view, CHROPROF_FINDING_STALL, l.rows[0].start);
    }
    free(l.rows);
    return ok;
}

bool code_name_held(const profile_text *p, chroprof *view)
{
    stack_tree stacks;
    cause c;
    hang h = { &c, 0, 0 };
    bool ok = stacks_read(&stacks, p);
    memset(&c, 0, sizeof c);
    ok = ok && cause_open(&c, &stacks, p) && weigh_hang(&h);
    if (ok) {
        name_held(&c, view, CHROPROF_FINDING_HANGS, h.start);
        ok = name_stall(&c, view);
        weigh_run(&c);
        name_held(&c, view, CHROPROF_FINDING_OCCUPIES, 0);
    }
    cause_close(&c);
    stacks_free(&stacks);
    return ok;
}

/* >>causes between: what ran at certain times */

typedef struct between {
    cause *cause;
    uint64_t start;            /* of the profile, calendar time */
    const code_window *windows;
    size_t count;
} between;

static bool between_sample(void *user, json_reader *r)
{
    between *b = (between *)user;
    sample_row row;
    bool inside = false;
    if (!read_sample_row(r, &row)) {
        return false;
    }
    for (size_t i = 0; i < b->count; i++) {
        inside = inside || (b->start + row.at >= b->windows[i].begin &&
                            b->start + row.at + row.duration <= b->windows[i].end);
    }
    if (inside && !json_is(row.state, "idle")) {
        cause_weigh(b->cause, row.stack, row.weight);
    }
    return true;
}

bool code_name_between(const profile_text *p, const chroprof *view, const code_window *windows,
                       size_t count, char *out, size_t size)
{
    stack_tree stacks;
    chroprof_origin origin;
    cause c;
    between b = { &c, 0, windows, count };
    char name[200];
    bool ok = stacks_read(&stacks, p);
    out[0] = '\0';
    memset(&c, 0, sizeof c);
    chroprof_read_origin(view, &origin);
    b.start = origin.end_unix_ns - origin.end_ns;
    ok = ok && cause_open(&c, &stacks, p) && json_each(&p->reader, p->samples, between_sample, &b);
    if (ok && origin.end_unix_ns > origin.end_ns && !code_is_few(c.weight)) {
        const verdict v = cause_judge(&c);
        if (v.found.outer.call != NULL && v.found.outer.weight > v.all / 2 &&
            !put_held(v.found.outer.call, name, sizeof name, out, size)) {
            out[0] = '\0';
        }
    }
    cause_close(&c);
    stacks_free(&stacks);
    return ok;
}
