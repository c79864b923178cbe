/* code_words.h - what the texts about sampled code share: names and places of functions, and the
 * stalls of a profile that have samples. */

#ifndef COMMAND_CODE_WORDS_H
#define COMMAND_CODE_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "json.h"
#include "profile.h"
#include "sheet.h"
#include "stacks.h"

int compare_text(json_text a, json_text b);

/* Whether a frame is of chroprof.h, which the sampler need not have known. */
bool code_is_ours(const stack_frame *frame);

/* At most so many columns. */
void code_text_name(sheet *s, json_text name, unsigned most);

/* The file's name without its folders, and the line; what is longer is cut. called: the line is
 * that of a call. Nothing without a file. */
void code_text_place(sheet *s, json_text file, uint64_t line, bool called);

/* A share of few samples is no share. */
bool code_is_few(uint64_t samples);

/* What a task does in a wait that has this name, as chroprof_add_wait was told: " waits in read". */
void code_wait_words(const char *call, char *out, size_t size);

/* Is it a call? Else such a wait comes wherever code runs. */
bool code_is_call(json_text call);

/* The same in short, behind "off CPU": " (in read)"; "" for an empty name. */
void code_off_cpu(json_text call, char *out, size_t size);

typedef struct stall_text {
    json_text kind, samples, shares;
    uint64_t start, length, cpu, waiting, sampled;
} stall_text;

/* The stalls of a profile, the longest first. */
typedef struct stall_list {
    stall_text *rows;
    size_t count;
    bool all;                  /* those without samples too */
} stall_list;

/* Those that have samples, or all. false, with a message. The rows are for free(). */
bool stall_list_read(stall_list *l, const profile_text *p, bool all);

/* The task that took most of a stall, and the wait that its tasks were in most. */
typedef struct stall_taker {
    json_text name, file;      /* length 0: none */
    uint64_t line, site, exec;
    uint64_t whole;            /* of the site, in the whole run */
    json_text call, within;    /* within: the function that waits; both may be empty */
    uint64_t waits, waited;    /* how many, and for how long in all */
} stall_taker;

/* false, with a message. */
bool stall_taker_of(const profile_text *p, const stall_text *stall, stall_taker *t);

/* Calls take() for each stack that was sampled in a stall, with its samples: those of the rows that
 * still stand, or else of the few places that the stall kept. false, with a message. */
bool stall_samples(const profile_text *p, const stall_text *stall,
                   void (*take)(void *user, uint64_t stack, uint64_t weight), void *user);

#endif
