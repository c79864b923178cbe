/* timeline.c - see timeline.h */

#include "timeline.h"

#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "message.h"
#include "paths.h"

#define FIRST_PATH 3u          /* those before are no tasks */
#define DEEPEST 65000u
#define NEWEST_STEPS 100000u   /* JSON has no more of them */

typedef struct timeline_data {
    const profile_text *profile;
    json_reader place;         /* of the steps, for messages */
    path_tree paths;
    uint32_t *made;            /* of each of these paths: its number in the view */
    char *bytes;
    size_t at, used;
    chroprof_step *steps;      /* the last one is of now */
    size_t count;
    uint64_t total, first, events, live;
    uint32_t deepest;
    chroprof *view;
} timeline_data;

/* >>timeline decoding */

/* In place. false: this is not base64. */
static bool decode_base64(timeline_data *d)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    size_t length = strlen(d->bytes);
    uint32_t bits = 0, held = 0;
    bool whole = length % 4 == 0;
    for (int i = 0; i < 2 && length > 0 && d->bytes[length - 1] == '='; i++) {
        length--;
    }
    for (size_t i = 0; i < length && whole; i++) {
        const char *digit = strchr(digits, d->bytes[i]);
        bits = bits << 6 | (uint32_t)(digit != NULL ? digit - digits : 0);
        held += 6;
        if (held >= 8) {
            held -= 8;
            d->bytes[d->used++] = (char)(unsigned char)(bits >> held);
        }
        whole = digit != NULL;
    }
    return whole;
}

/* 7 bits a byte, the low ones first. false: it has no end, or more than 64 bits. */
static bool take_number(timeline_data *d, uint64_t *value)
{
    unsigned char byte = 128;
    *value = 0;
    for (unsigned shift = 0; byte >= 128; shift += 7) {
        if (d->at == d->used || shift > 63) {
            return false;
        }
        byte = (unsigned char)d->bytes[d->at++];
        if (shift == 63 && byte > 1) {
            return false;
        }
        *value |= (uint64_t)(byte & 127) << shift;
    }
    return true;
}

static bool take_path(const timeline_data *d, uint64_t id, uint32_t *path)
{
    size_t at = id >= FIRST_PATH ? path_index(&d->paths, id) : 0;
    *path = id < FIRST_PATH ? (uint32_t)id : at != SIZE_MAX ? d->made[at] : 0;
    return id < FIRST_PATH || at != SIZE_MAX;
}

/* before: the step before, with the last id that a step had. NULL, or what was expected. */
static const char *take_step(timeline_data *d, chroprof_step *before, chroprof_step *step)
{
    uint64_t head, ns, path, id = 0;
    if (!take_number(d, &head) || !take_number(d, &ns) || !take_number(d, &path) ||
        (head & 16 && !take_number(d, &id))) {
        return "steps that are not cut short";
    }
    if (head >> 5 > DEEPEST || ns > UINT64_MAX - before->at_ns) {
        return "steps whose depth and time can be";
    }
    if (!take_path(d, path, &step->path)) {
        return "steps whose paths are in the list of paths";
    }
    before->id += head & 16 ? (id >> 1) ^ (0 - (id & 1)) : 0;
    before->at_ns += ns;
    step->id = head & 16 ? before->id : 0;
    step->at_ns = before->at_ns;
    step->state = (chroprof_state)(head & 15);
    step->depth = (uint32_t)(head >> 5);
    d->deepest = step->depth > d->deepest ? step->depth : d->deepest;
    return NULL;
}

/* The steps, and a tick of now behind them. */
static bool take_steps(timeline_data *d)
{
    const char *wrong = decode_base64(d) ? NULL : "steps in base64";
    size_t most = d->total < NEWEST_STEPS ? (size_t)d->total : NEWEST_STEPS;
    chroprof_step before;
    memset(&before, 0, sizeof before);
    d->steps = (chroprof_step *)calloc(most + 2, sizeof *d->steps);
    if (d->steps == NULL) {
        tool_message("%s: not enough memory for %zu steps", d->place.name, most);
        return false;
    }
    while (wrong == NULL && d->at < d->used && d->count < most + 2) {
        wrong = take_step(d, &before, &d->steps[d->count++]);
    }
    if (wrong == NULL && (d->count != most + 1 || d->steps[most].state != CHROPROF_TICK ||
                          d->events > UINT64_MAX / 4 || d->first > UINT64_MAX / 4)) {
        wrong = "as many steps as the ring has, and a tick of now";
    }
    return wrong == NULL || json_fail(&d->place, wrong);
}

/* >>timeline view */

/* Parents have lower ids than their children, so that the paths get the ids that they had. */
static bool make_paths(timeline_data *d)
{
    chroprof_path is;
    bool ok = true;
    for (size_t i = 0; ok && i < d->paths.count; i++) {
        size_t at = d->paths.keys[i].at;
        const path_row *row = &d->paths.rows[at];
        char *name = json_plain(row->name), *file = json_plain(row->file);
        uint32_t parent = row->parent != SIZE_MAX ? d->made[row->parent] : 0;
        ok = name != NULL && file != NULL && (parent != 0 || row->parent == SIZE_MAX);
        d->made[at] = ok ? ring_path(d->view, parent, name, file, (uint32_t)row->line) : 0;
        ok = chroprof_read_path_alone(d->view, d->made[at], &is) && strcmp(is.name, name) == 0;
        free(name);
        free(file);
    }
    return ok || json_fail(&d->place, "a list of paths, each with its site and a parent of a lower id");
}

static bool take_future(void *user, json_reader *r)
{
    timeline_data *d = (timeline_data *)user;
    uint64_t id = 0, path = 0;
    json_text state = { "", 0 };
    uint32_t made;
    const json_field fields[] = {
        JSON_NUMBER("id", &id), JSON_NUMBER("path", &path), JSON_TEXT("state", &state)
    };
    if (!JSON_FIELDS(r, fields) || !take_path(d, path, &made)) {
        return json_fail(r, "a future whose path is in the list of paths");
    }
    if (id != 0) {
        ring_future(d->view, id, made, json_is(state, "ready"));
    }
    return true;
}

static bool make_view(timeline *t, timeline_data *d)
{
    chroprof_options o;
    char *name = json_plain(json_inside(d->profile->name));
    bool ok = d->paths.count < DEEPEST << 8 && name != NULL;
    memset(&o, 0, sizeof o);
    o.max_futures = (uint32_t)count_items(&d->place, d->profile->futures) + 1;
    o.max_sites = o.max_paths = o.max_edges = (uint32_t)d->paths.count + 4;
    o.string_bytes = (uint32_t)d->profile->paths.length + 4096;
    o.max_depth = DEEPEST;
    o.max_events = NEWEST_STEPS + 2;
    o.max_histograms = o.max_samples = o.max_windows = o.max_stalls = o.max_slow = 1;
    o.clock = chroprof_clock_manual;
    o.name = name;
    t->block = ok ? malloc(chroprof_memory_size(&o)) : NULL;
    ok = t->block != NULL &&
         chroprof_init(&t->view, t->block, chroprof_memory_size(&o), &o) == CHROPROF_OK;
    if (!ok) {
        tool_message("%s: not enough memory for its steps", d->place.name);
    }
    free(name);
    d->view = &t->view;
    return ok;
}

static bool fill_view(timeline *t, timeline_data *d)
{
    if (!make_view(t, d) || !make_paths(d) || !take_steps(d) ||
        !json_each(&d->place, d->profile->futures, take_future, d)) {
        return false;
    }
    t->begin_ns = d->count - 1 == d->events ? 0 : d->steps[0].at_ns;
    t->left_out = d->total - (d->count - 1);
    ring_steps(&t->view, d->steps, d->count - 1, d->first + t->left_out, d->events,
               &d->steps[d->count - 1], d->live);
    return true;
}

static bool find_data(timeline_data *d, json_text *data)
{
    json_reader totals = json_part(&d->profile->reader, d->profile->totals);
    json_reader r = json_part(&d->profile->reader, d->profile->timeline);
    const json_field figures[] = {
        JSON_NUMBER("events", &d->events), JSON_NUMBER("live", &d->live)
    };
    const json_field fields[] = {
        JSON_NUMBER("steps", &d->total), JSON_NUMBER("first", &d->first), JSON_TEXT("data", data)
    };
    bool ok = d->profile->timeline.length == 0 ||
              (JSON_FIELDS(&totals, figures) && JSON_FIELDS(&r, fields));
    d->place = d->profile->reader;
    d->place.at = data->bytes != NULL ? data->bytes : d->place.at;
    return ok;
}

bool timeline_open(timeline *t, const profile_text *p)
{
    timeline_data d;
    json_text data = { NULL, 0 };
    bool ok;
    memset(t, 0, sizeof *t);
    memset(&d, 0, sizeof d);
    d.profile = p;
    ok = find_data(&d, &data);
    t->steps = d.total;
    if (ok && d.total > 0) {
        data.bytes = data.bytes != NULL ? data.bytes : "";
        d.bytes = json_plain(data);
        ok = paths_read(&d.paths, p);
        d.made = (uint32_t *)calloc(d.paths.count + 1, sizeof *d.made);
        if (d.bytes == NULL || d.made == NULL) {
            tool_message("%s: not enough memory for its steps", p->source);
            ok = false;
        }
        ok = ok && fill_view(t, &d);
    }
    paths_free(&d.paths);
    free(d.made);
    free(d.bytes);
    free(d.steps);
    return ok;
}

void timeline_close(timeline *t)
{
    free(t->block);
    t->block = NULL;
}
