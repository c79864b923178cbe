/* code_text.h - the samples of a profile as text: for each task the functions and lines that ran
 * for it, for each of the longest stalls the lines that it was spent in. */

#ifndef COMMAND_CODE_TEXT_H
#define COMMAND_CODE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../../chroprof.h"
#include "profile.h"
#include "sheet.h"

/* Nothing if the profile has no samples. false, with a message. */
bool code_text_write(sheet *s, const profile_text *p);

/* A line or two for each of the longest stalls: the functions that held the loop. */
bool code_text_causes(sheet *s, const profile_text *p);

/* Of the longest one alone. */
bool code_text_cause(sheet *s, const profile_text *p);

/* Tells a view, whose JSON that is, which functions held the loop: findings name them where a task
 * only says which wait came before. false, with a message. */
bool code_name_held(const profile_text *p, chroprof *view);

/* From one moment to another, calendar time in ns. */
typedef struct code_window {
    uint64_t begin, end;
} code_window;

/* The function that most samples of these times are in, "name (file:line)"; "": nobody knows, or they are
 * few. view: whose JSON p is. false, with a message. */
bool code_name_between(const profile_text *p, const chroprof *view, const code_window *windows,
                       size_t count, char *out, size_t size);

#endif
