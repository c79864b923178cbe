/* code_text.h - the samples of a profile as text: for each task the functions and lines that ran
 * for it, for each of the longest stalls the lines that it was spent in. */

#ifndef COMMAND_CODE_TEXT_H
#define COMMAND_CODE_TEXT_H

#include <stdbool.h>

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

#endif
