/* events.h - lines of an event stream become events of a profile.
 *
 *     TIMESTAMP_NS KIND FUTURE_ID [NAME FILE LINE]
 *     TIMESTAMP_NS ready_since FUTURE_ID SINCE_NS
 *
 * Fields are separated by one blank; in NAME and FILE \s is a blank, \t a tab, \n a newline, \\ a
 * backslash and \e the empty string. A line that begins with # is a comment. */

#ifndef COMMAND_EVENTS_H
#define COMMAND_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../../chroprof.h"

typedef struct site_slot {
    uint64_t hash;
    const char *bytes;         /* NULL: free */
    size_t length;
    const chroprof_site *site;
} site_slot;

typedef struct site_cache {
    site_slot *rows;
    char *bytes;
    size_t bytes_used;
    uint32_t count;
} site_cache;

typedef struct event_reader {
    chroprof *profile;
    const char *source;        /* for messages */
    bool strict;               /* stop at the first malformed line */
    bool stopped;
    uint64_t line;             /* number of the line under way */
    uint64_t events, malformed;
    uint64_t shift;            /* added to every time */
    uint64_t first, last;      /* times as in the stream */
    bool idle;                 /* the loop waits */
    site_cache sites;
    char *text;                /* NAME and FILE without their escapes */
    size_t text_capacity;
    const char *start;         /* of the line under way */
    const char *end;
} event_reader;

bool reader_init(event_reader *r, chroprof *profile, const char *source, bool strict);

void reader_free(event_reader *r);

/* Says where and what; always false, so that callers can return it. */
bool malformed(event_reader *r, const char *at, const char *expected);

/* Feeds the complete lines of bytes[0..count) and returns how many bytes they were. At the end of
 * the stream (final) a last line without newline counts as complete. */
size_t reader_feed(event_reader *r, const char *bytes, size_t count, bool final);

/* The stream is about to be fed again: its times go on from here. */
void reader_rewind(event_reader *r);

#endif
