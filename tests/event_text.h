/* tests/event_text.h - reads recorded streams: one event a line, six fields separated by a blank
 *
 *     TIMESTAMP_NS KIND FUTURE_ID NAME FILE LINE
 *
 * KIND is pending, running, paused, completed, failed or cancelled. NAME and FILE escape blank as
 * \s, tab as \t, line feed as \n, backslash as \\, and \e is the empty string. Lines that begin
 * with # are comments. */
#ifndef EVENT_TEXT_H
#define EVENT_TEXT_H

#include "../chroprof.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct event_text {
    chroprof_state state;
    uint64_t id, time;
    char name[256], file[256];
    uint32_t line;
} event_text;

static inline char event_text_escape(char c)
{
    return c == 's' ? ' ' : c == 't' ? '\t' : c == 'n' ? '\n' : c == 'e' ? '\0' : c;
}

static inline void event_text_unescape(char *text)
{
    char *to = text;

    for (; *text; text++) {
        if (*text == '\\' && text[1])
            *to = event_text_escape(*++text);
        else
            *to = *text;
        to += *to != '\0';
    }
    *to = '\0';
}

static inline bool event_text_state(const char *word, chroprof_state *state)
{
    static const struct {
        const char *word;
        chroprof_state state;
    } kinds[] = { { "pending", CHROPROF_PENDING }, { "running", CHROPROF_RUNNING },
                  { "paused", CHROPROF_PAUSED },   { "completed", CHROPROF_COMPLETED },
                  { "failed", CHROPROF_FAILED },   { "cancelled", CHROPROF_CANCELLED } };
    size_t i;

    for (i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (strcmp(kinds[i].word, word) == 0) {
            *state = kinds[i].state;
            return true;
        }
    }
    return false;
}

/* 1: an event, 0: a comment or an empty line, -1: neither. */
static inline int event_text_parse(const char *line, event_text *e)
{
    unsigned long long time, id;
    unsigned long row;
    char kind[16];

    if (line[0] == '#' || line[strspn(line, " \r\n")] == '\0')
        return 0;
    if (sscanf(line, "%llu %15s %llu %255s %255s %lu", &time, kind, &id, e->name, e->file, &row) !=
            6 ||
        !event_text_state(kind, &e->state))
        return -1;
    e->time = time;
    e->id = id;
    e->line = (uint32_t)row;
    event_text_unescape(e->name);
    event_text_unescape(e->file);
    return 1;
}

#endif
