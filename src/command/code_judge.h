/* code_judge.h - who is named of some samples: the outermost function of the program's own code in
 * the task that most are in, and what it called.
 *
 * The walk goes from the task inwards, from a function to the one that it called in most of the
 * samples. A function has a frame for each line that was met, so calls of one name and one caller
 * are taken together. What the compiler inlined is a call like any other. */

#ifndef COMMAND_CODE_JUDGE_H
#define COMMAND_CODE_JUDGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "json.h"
#include "profile.h"
#include "stacks.h"

/* A call of a function: a frame, or one of those that are inlined there. */
typedef struct call {
    const stack_frame *frame;
    size_t parent;             /* SIZE_MAX: none */
    json_text name, file;
    uint64_t line;
    uint64_t weight;           /* of the samples in it and in what it calls */
    uint32_t distance;         /* on the walk, from 1: the tasks; 0: beside it */
} call;

typedef struct cause {
    const profile_text *profile;
    const stack_tree *stacks;
    call *calls;
    size_t count;
    size_t *innermost;         /* the call that each frame of the stacks ends in */
    uint64_t weight;           /* of the samples whose stacks are known */
    uint64_t all;              /* and of the others of a stall */
    json_text program;         /* the name of its file */
    bool scripted;             /* the program is what this file interprets, */
    bool python;               /* in Python */
    const call *bare;          /* a function without a name that was told; NULL: none */
} cause;

typedef struct step {
    const call *call;          /* the heaviest of its name */
    uint64_t weight;           /* of all of its name */
} step;

typedef struct cause_found {
    step outer;                /* call NULL: none has a name */
    step inner;                /* the innermost to be named; may be the outer one */
    step library;              /* what the inner one called; call NULL: nothing */
    bool small;                /* the inner one is called by the outer one, in few of the samples */
} cause_found;

/* What is to be said of some samples: who is named, and in how many he was. */
typedef struct verdict {
    cause_found found;
    uint64_t weight;           /* of the samples whose stacks are known */
    uint64_t all;              /* more: some were at places that were not kept */
    size_t others;             /* shorter stalls of the same function */
    bool differs;              /* some of them are mostly in other code below it */
} verdict;

/* Of all stacks of a profile. false, with a message or out of memory; close it then too. */
bool cause_open(cause *c, const stack_tree *stacks, const profile_text *p);
void cause_close(cause *c);

/* Without samples again. */
void cause_clear(cause *c);

void cause_weigh(cause *c, uint64_t stack, uint64_t weight);

/* By the samples that were weighed. */
verdict cause_judge(cause *c);

/* Is it code of the program's own file? */
bool cause_is_program(const cause *c, const call *one);

/* Is it known by its place in its file alone? */
bool cause_is_place(const cause *c, const call *one);

/* Is this the callback that its task is named after? */
bool cause_is_callback(const cause *c, const call *one);

#endif
