/* events.c - see events.h */

#include "events.h"

#include <stdlib.h>
#include <string.h>

#include "hash.h"
#include "message.h"
#include "values.h"

/* >>sites: from the raw bytes "NAME FILE LINE" to the handle of the site
 * Nearly every line names a site that was seen before, so the fields are only taken apart at first
 * sight. The cache has a fixed size; the rest goes through chroprof_site_make each time. */

#define CACHE_SLOTS 65536u
#define CACHE_MOST (CACHE_SLOTS / 2)
#define CACHE_BYTES ((size_t)8 << 20)

static bool cache_init(site_cache *cache)
{
    cache->rows = (site_slot *)calloc(CACHE_SLOTS, sizeof *cache->rows);
    cache->bytes = (char *)malloc(CACHE_BYTES);
    return cache->rows != NULL && cache->bytes != NULL;
}

static void cache_free(site_cache *cache)
{
    free(cache->rows);
    free(cache->bytes);
}

/* The slot of these bytes, or the free one where they belong. */
static site_slot *cache_slot(const site_cache *cache, uint64_t hash, const char *bytes,
                             size_t length)
{
    size_t index = (size_t)hash & (CACHE_SLOTS - 1);
    for (;; index = (index + 1) & (CACHE_SLOTS - 1)) {
        site_slot *slot = &cache->rows[index];
        if (slot->bytes == NULL) {
            return slot;
        }
        if (slot->hash == hash && slot->length == length &&
            memcmp(slot->bytes, bytes, length) == 0) {
            return slot;
        }
    }
}

static void cache_keep(site_cache *cache, site_slot *slot, uint64_t hash, const char *bytes,
                       size_t length, const chroprof_site *site)
{
    if (cache->count == CACHE_MOST || CACHE_BYTES - cache->bytes_used < length) {
        return;
    }
    memcpy(cache->bytes + cache->bytes_used, bytes, length);
    slot->hash = hash;
    slot->bytes = cache->bytes + cache->bytes_used;
    slot->length = length;
    slot->site = site;
    cache->bytes_used += length;
    cache->count++;
}

/* >>reader */

#define MESSAGES_MOST 20

bool reader_init(event_reader *r, chroprof *profile, const char *source, bool strict)
{
    memset(r, 0, sizeof *r);
    r->profile = profile;
    r->source = source;
    r->strict = strict;
    return cache_init(&r->sites);
}

void reader_free(event_reader *r)
{
    cache_free(&r->sites);
    free(r->text);
}

/* What stands at `at`, cut to something that fits in a message. A zero byte would end it. */
static void quote_field(const event_reader *r, const char *at, char *out, size_t capacity)
{
    size_t used = 0;
    for (; at < r->end && *at != ' ' && used + 4 < capacity; at++) {
        out[used++] = *at != '\0' ? *at : '?';
    }
    if (at < r->end && *at != ' ') {
        while (used > 0 && ((unsigned char)*at & 0xC0) == 0x80) {
            at--; /* half a character is none */
            used--;
        }
        memcpy(out + used, "...", 3);
        used += 3;
    }
    out[used] = '\0';
}

bool malformed(event_reader *r, const char *at, const char *expected)
{
    char field[44];
    bool ends = at >= r->end;
    r->malformed++;
    r->stopped = r->strict;
    quote_field(r, at, field, sizeof field);
    if (r->malformed <= MESSAGES_MOST) {
        tool_line("%s:%llu:%llu: %s%s%s, expected %s", r->source, (unsigned long long)r->line,
                  (unsigned long long)(at - r->start) + 1, ends ? "the line ends" : "'", field,
                  ends ? "" : "'", expected);
    }
    if (r->malformed == MESSAGES_MOST + 1) {
        tool_line("%s: further malformed lines are only counted", r->source);
    }
    return false;
}

/* A decimal number that ends at a blank or at the end of the line. */
static bool take_number(event_reader *r, const char **at, uint64_t most, const char *expected,
                        uint64_t *value)
{
    const char *start = *at;
    const char *p = start;
    uint64_t sum = 0;
    if (!digits_before(&p, r->end, &sum) && p > start) {
        return malformed(r, start, "a number below 2^64");
    }
    if (p == start || (p < r->end && *p != ' ') || sum > most) {
        return malformed(r, start, expected);
    }
    *at = p;
    *value = sum;
    return true;
}

static bool take_blank(event_reader *r, const char **at, const char *what_follows)
{
    if (*at == r->end) {
        return malformed(r, *at, what_follows);
    }
    (*at)++;
    return true;
}

/* The kinds, the frequent ones first. */
typedef struct event_kind {
    const char *name;
    size_t length;
    chroprof_state state;
    bool needs_site;
    bool resets;               /* what came before it does not count, as with chroprof_reset */
    bool late;                 /* a time follows, as with chroprof_ready_since */
} event_kind;

#define EVENT_KIND(name, state, needs_site)                                                        \
    {                                                                                              \
        name, sizeof name - 1, state, needs_site, false, false                                      \
    }
static const event_kind event_kinds[] = { EVENT_KIND("running", CHROPROF_RUNNING, false),
                                          EVENT_KIND("paused", CHROPROF_PAUSED, false),
                                          EVENT_KIND("pending", CHROPROF_PENDING, true),
                                          EVENT_KIND("completed", CHROPROF_COMPLETED, false),
                                          EVENT_KIND("ready", CHROPROF_READY, false),
                                          EVENT_KIND("switch", CHROPROF_SWITCH, false),
                                          EVENT_KIND("enter", CHROPROF_ENTER, true),
                                          EVENT_KIND("leave", CHROPROF_LEAVE, false),
                                          EVENT_KIND("next", CHROPROF_NEXT, true),
                                          EVENT_KIND("idle_enter", CHROPROF_IDLE_ENTER, false),
                                          EVENT_KIND("idle_leave", CHROPROF_IDLE_LEAVE, false),
                                          EVENT_KIND("failed", CHROPROF_FAILED, false),
                                          EVENT_KIND("cancelled", CHROPROF_CANCELLED, false),
                                          EVENT_KIND("loop_enter", CHROPROF_LOOP_ENTER, false),
                                          EVENT_KIND("loop_leave", CHROPROF_LOOP_LEAVE, false),
                                          EVENT_KIND("tick", CHROPROF_TICK, false),
                                          { "reset", 5, CHROPROF_TICK, false, true, false },
                                          { "ready_since", 11, CHROPROF_READY, false, false,
                                            true } };
#define EVENT_KINDS (sizeof event_kinds / sizeof event_kinds[0])

static bool take_kind(event_reader *r, const char **at, const event_kind **kind)
{
    size_t left = (size_t)(r->end - *at);
    for (size_t i = 0; i < EVENT_KINDS; i++) {
        size_t length = event_kinds[i].length;
        if (left >= length && memcmp(*at, event_kinds[i].name, length) == 0 &&
            (left == length || (*at)[length] == ' ')) {
            *kind = &event_kinds[i];
            *at += length;
            return true;
        }
    }
    return malformed(r, *at,
                     "a KIND: pending, running, paused, completed, ... (all of them: "
                     "chroprof replay --help)");
}

/* The byte that \letter stands for; '\0' if there is no such escape. \e stands for nothing. */
static char escaped(char letter)
{
    switch (letter) {
    case 's': return ' ';
    case 't': return '\t';
    case 'n': return '\n';
    case '\\': return '\\';
    default: return '\0';
    }
}

/* One escape at p, which points at a backslash; out as in take_text. */
static bool take_escape(event_reader *r, const char *p, char **out)
{
    char letter = p + 1 < r->end ? p[1] : ' ';
    char byte = escaped(letter);
    if (letter == 'e') {
        return true;
    }
    if (byte == '\0') {
        return malformed(r, p, "\\s, \\t, \\n, \\\\ or \\e after a backslash in this field");
    }
    *(*out)++ = byte;
    return true;
}

/* NAME or FILE up to the next blank, its escapes resolved, written to *out with a NUL. */
static bool take_text(event_reader *r, const char **at, const char *expected, char **out)
{
    const char *p = *at;
    if (p == r->end || *p == ' ') {
        return malformed(r, p, expected);
    }
    for (; p < r->end && *p != ' '; p++) {
        if (*p == '\0') {
            return malformed(r, p, "text without zero bytes");
        }
        if (*p == '\\') {
            if (!take_escape(r, p, out)) {
                return false;
            }
            p++;
        } else {
            *(*out)++ = *p;
        }
    }
    *(*out)++ = '\0';
    *at = p;
    return true;
}

static bool text_room(event_reader *r, size_t size)
{
    if (r->text_capacity >= size) {
        return true;
    }
    free(r->text);
    r->text_capacity = size * 2;
    r->text = (char *)malloc(r->text_capacity);
    if (r->text == NULL) {
        r->text_capacity = 0;
        r->stopped = true;
        tool_message("%s:%llu: not enough memory for this line", r->source,
                     (unsigned long long)r->line);
    }
    return r->text != NULL;
}

/* A site that the cache does not know: takes "NAME FILE LINE" apart. NULL: malformed. */
static const chroprof_site *parse_site(event_reader *r, const char *at)
{
    uint64_t line;
    char *name;
    char *file;
    char *out;
    if (!text_room(r, (size_t)(r->end - at) + 2)) {
        return NULL;
    }
    name = out = r->text;
    if (!take_text(r, &at, "NAME (\\e for an empty one)", &out) || !take_blank(r, &at, "FILE")) {
        return NULL;
    }
    file = out;
    if (!take_text(r, &at, "FILE (\\e for an empty one)", &out) || !take_blank(r, &at, "LINE") ||
        !take_number(r, &at, UINT32_MAX, "LINE, a number below 2^32", &line)) {
        return NULL;
    }
    if (at != r->end) {
        (void)malformed(r, at + 1, "the end of the line");
        return NULL;
    }
    return chroprof_site_make(r->profile, name, file, (uint32_t)line);
}

static const chroprof_site *take_site(event_reader *r, const char *at)
{
    size_t length = (size_t)(r->end - at);
    uint64_t hash = hash_bytes(at, length);
    site_slot *slot = cache_slot(&r->sites, hash, at, length);
    const chroprof_site *site = slot->site;
    if (slot->bytes == NULL) {
        site = parse_site(r, at);
        if (site != NULL) {
            cache_keep(&r->sites, slot, hash, at, length, site);
        }
    }
    return site;
}

/* chroprof_ready_since is of the time of the event before it. A tick does not end a wait. */
static void reader_late(event_reader *r, uint64_t time, uint64_t id, uint64_t since)
{
    if (r->idle || time != r->last || r->events == 0) {
        chroprof_event(r->profile, r->idle ? CHROPROF_IDLE_LEAVE : CHROPROF_TICK, 0, NULL,
                       time + r->shift);
    }
    chroprof_ready_since(r->profile, id, since + r->shift);
}

static void reader_event(event_reader *r, const event_kind *kind, uint64_t time, uint64_t id,
                         uint64_t since, const chroprof_site *site)
{
    if (kind->late) {
        reader_late(r, time, id, since);
    } else {
        chroprof_event(r->profile, kind->state, id, site, time + r->shift);
    }
    if (r->events == 0) {
        r->first = time;
    }
    r->last = time;
    r->events++;
    r->idle = kind->state == CHROPROF_IDLE_ENTER || (r->idle && kind->state == CHROPROF_TICK);
    if (kind->resets) {
        chroprof_reset(r->profile);
    }
}

/* The line from r->start to r->end. */
static bool reader_line(event_reader *r)
{
    const char *at = r->start;
    const event_kind *kind = NULL;
    const chroprof_site *site = NULL;
    uint64_t time;
    uint64_t id;
    uint64_t since = 0;
    if (!take_number(r, &at, UINT64_MAX, "TIMESTAMP_NS, a decimal number", &time) ||
        !take_blank(r, &at, "KIND") || !take_kind(r, &at, &kind) ||
        !take_blank(r, &at, "FUTURE_ID") ||
        !take_number(r, &at, UINT64_MAX, "FUTURE_ID, a decimal number", &id)) {
        return false;
    }
    if (kind->late && (!take_blank(r, &at, "SINCE_NS") ||
                       !take_number(r, &at, UINT64_MAX, "SINCE_NS, a decimal number", &since))) {
        return false;
    }
    if (at < r->end || kind->needs_site) {
        if (!take_blank(r, &at, "NAME FILE LINE")) {
            return false;
        }
        site = take_site(r, at);
        if (site == NULL) {
            return false;
        }
    }
    reader_event(r, kind, time, id, since, site);
    return true;
}

size_t reader_feed(event_reader *r, const char *bytes, size_t count, bool final)
{
    const char *at = bytes;
    const char *end = bytes + count;
    while (at < end && !r->stopped) {
        const char *newline = (const char *)memchr(at, '\n', (size_t)(end - at));
        if (newline == NULL && !final) {
            break;
        }
        r->start = at;
        r->end = newline != NULL ? newline : end;
        at = newline != NULL ? newline + 1 : end;
        r->line++;
        if (r->end > r->start && r->end[-1] == '\r') {
            r->end--;
        }
        if (r->end > r->start && *r->start != '#') {
            (void)reader_line(r);
        }
    }
    return (size_t)(at - bytes);
}

void reader_rewind(event_reader *r)
{
    r->shift += r->last > r->first ? r->last - r->first : 0;
    r->line = 0;
}
