/* timeline.c - see timeline.h */

#include "timeline.h"

#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "message.h"

#define DEEPEST 65000u
#define NEWEST_STEPS 100000u   /* JSON has no more of them */

typedef struct timeline_data {
    timeline *t;
    json_reader place;         /* of the steps, for messages */
    char *bytes;
    size_t at, used;
    uint64_t total;            /* steps that the ring has */
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
    *path = (uint32_t)id;
    return id < FIRST_PATH || (id < UINT32_MAX && path_index(&d->t->paths, id) != SIZE_MAX);
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
    step->state = step->state == CHROPROF_TICK && step->id != 0 ? CHROPROF_SINCE : step->state;
    step->depth = (uint32_t)(head >> 5);
    return NULL;
}

/* The newest steps, and a tick of now behind them. */
static bool take_steps(timeline_data *d)
{
    timeline *t = d->t;
    const char *wrong = decode_base64(d) ? NULL : "steps in base64";
    size_t most = d->total < NEWEST_STEPS ? (size_t)d->total : NEWEST_STEPS;
    size_t count = 0;
    chroprof_step before;
    memset(&before, 0, sizeof before);
    t->steps = (chroprof_step *)calloc(most + 2, sizeof *t->steps);
    if (t->steps == NULL) {
        tool_message("%s: not enough memory for %zu steps", d->place.name, most);
        return false;
    }
    while (wrong == NULL && d->at < d->used && count < most + 2) {
        wrong = take_step(d, &before, &t->steps[count++]);
    }
    if (wrong == NULL && (count != most + 1 || t->steps[most].state != CHROPROF_TICK ||
                          t->events > UINT64_MAX / 4 || t->first > UINT64_MAX / 4)) {
        wrong = "as many steps as the ring has, and a tick of now";
    }
    t->count = most;
    t->left_out = d->total - most;
    t->first += t->left_out;
    return wrong == NULL || json_fail(&d->place, wrong);
}

/* >>timeline reading */

/* What JSON has no room for is still in the block that it was made of. */
static bool take_older(timeline_data *d, const chroprof *view)
{
    timeline *t = d->t;
    size_t older = (size_t)t->left_out;
    uint64_t cursor = 0;
    chroprof_step *steps = (chroprof_step *)calloc(older + t->count + 1, sizeof *steps);
    if (steps == NULL) {
        tool_message("%s: not enough memory for %zu steps", d->place.name, older + t->count);
        return false;
    }
    memcpy(steps + older, t->steps, (t->count + 1) * sizeof *steps);
    for (size_t i = 0; i < older && chroprof_next_step(view, &cursor, &steps[i]);) {
        i++;
    }
    free(t->steps);
    t->steps = steps;
    t->count += older;
    t->first -= older;
    t->left_out = 0;
    return true;
}

static bool take_future(void *user, json_reader *r)
{
    timeline_data *d = (timeline_data *)user;
    timeline_future *f = &d->t->futures[d->t->future_count];
    uint64_t path = 0;
    const json_field fields[] = { JSON_NUMBER("id", &f->id), JSON_NUMBER("path", &path) };
    if (!JSON_FIELDS(r, fields) || !take_path(d, path, &f->path)) {
        return json_fail(r, "a future whose path is in the list of paths");
    }
    d->t->future_count += f->id != 0;
    return true;
}

static bool find_data(timeline_data *d, const profile_text *p, json_text *data)
{
    json_reader totals = json_part(&p->reader, p->totals);
    json_reader r = json_part(&p->reader, p->timeline);
    const json_field figures[] = {
        JSON_NUMBER("events", &d->t->events), JSON_NUMBER("live", &d->t->live)
    };
    const json_field fields[] = {
        JSON_NUMBER("steps", &d->total), JSON_NUMBER("first", &d->t->first),
        JSON_NUMBER("ready", &d->t->ready), JSON_TEXT("data", data)
    };
    bool ok = p->timeline.length == 0 ||
              (JSON_FIELDS(&totals, figures) && JSON_FIELDS(&r, fields));
    d->place = p->reader;
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
    d.t = t;
    ok = find_data(&d, p, &data);
    if (!ok || d.total == 0) {
        return ok;
    }
    d.bytes = json_plain(data.bytes != NULL ? data : json_word(""));
    if (d.bytes == NULL) {
        tool_message("%s: not enough memory for its steps", p->source);
    }
    ok = d.bytes != NULL && paths_read(&t->paths, p) && take_steps(&d) &&
         json_room(&p->reader, p->futures, (void **)&t->futures, sizeof *t->futures) &&
         json_each(&p->reader, p->futures, take_future, &d) &&
         (t->left_out == 0 || p->view == NULL || take_older(&d, p->view));
    free(d.bytes);
    return ok;
}

void timeline_close(timeline *t)
{
    paths_free(&t->paths);
    free(t->steps);
    free(t->futures);
    memset(t, 0, sizeof *t);
}
