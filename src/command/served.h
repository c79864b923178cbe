/* served.h - the profiles that chroprof serve shows: files, those of processes, and those that lie in
 * folders at the moment. A client names one by a key, never by a path. */

#ifndef COMMAND_SERVED_H
#define COMMAND_SERVED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "buffer.h"
#include "guard.h"

enum { SERVED_OPERANDS = 64 };

typedef struct served_operand {
    char *name;                /* of a file or a folder, for people */
    char *place;               /* where to open it */
    bool folder;
} served_operand;

typedef struct served {
    served_operand operands[SERVED_OPERANDS];
    size_t count;
    size_t memory;             /* what one profile may take: bytes, and seconds of the processor */
    unsigned seconds;
    bool hurry;                /* the list reads no more of what it does not know */
} served;

/* A file, a folder, or the number of a process that has a profile mapped. false, with a message. */
bool served_add(served *s, const char *operand);

void served_free(served *s);

/* >>served list: profiles, a row each, in no order, 1,000 at most, and how many there are:
 * {"profiles":[{"key":..., ...}, ...], "count":...}. */

/* For a guard: writes the list in pieces. */
void served_list(const served *s, FILE *out);

/* What came of them. */
typedef struct served_listing {
    byte_buffer text, rest;    /* the list; bytes of a piece that is not whole */
    uint64_t stamp;            /* of the profile that was begun last; 0: none */
    bool whole;
} served_listing;

void served_begin(served_listing *l);
bool served_collect(served_listing *l, const char *bytes, size_t count);

/* The work ended in the middle: the profile that was begun last is left out until it is another one.
 * false: none was. */
bool served_blame(const served *s, const served_listing *l, guard_end end);

/* Why there is nothing of a profile, for people. */
void served_why(const served *s, guard_end end, char *why, size_t size);

/* >>served profile */

/* What a client may ask of one. */
typedef struct served_answer {
    bool found;                /* there is a profile of this key */
    bool good;                 /* and it was written */
    char state[8];             /* "runs", "ended", "died", or "stored": of no program that is known */
    char problem[512];         /* why it was not */
} served_answer;

/* For a guard: the profile of a key, as the report page reads it, if the figures are wanted, and a
 * served_answer behind it. */
void served_profile(const served *s, uint64_t key, bool figures, FILE *out);

#endif
