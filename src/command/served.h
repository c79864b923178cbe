/* served.h - the profiles that chroprof serve shows: files, those of processes, and those that lie in
 * folders at the moment. A client names one by a key, never by a path. */

#ifndef COMMAND_SERVED_H
#define COMMAND_SERVED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { SERVED_OPERANDS = 64 };

typedef struct served_operand {
    char *name;                /* of a file or a folder, for people */
    char *place;               /* where to open it */
    bool folder;
} served_operand;

typedef struct served {
    served_operand operands[SERVED_OPERANDS];
    size_t count;
} served;

/* A file, a folder, or the number of a process that has a profile mapped. false, with a message. */
bool served_add(served *s, const char *operand);

void served_free(served *s);

/* Profiles, a row each, in no order, 1,000 at most, and how many there are:
 * {"profiles":[{"key":..., ...}, ...], "count":...}. */
void served_list(const served *s, FILE *out);

/* What a client may ask of one. */
typedef struct served_answer {
    bool found;                /* there is a profile of this key */
    bool good;                 /* and it was written */
    const char *state;         /* "runs", "ended", "died", or "stored": of no program that is known */
    char problem[512];         /* why it was not */
} served_answer;

/* The profile of a key, as the report page reads it. */
void served_profile(const served *s, uint64_t key, FILE *out, served_answer *answer);

/* Whether there is one of this key. */
bool served_knows(const served *s, uint64_t key);

#endif
