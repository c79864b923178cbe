/* diff.h - what chroprof diff prints, for other commands. */

#ifndef COMMAND_DIFF_H
#define COMMAND_DIFF_H

#include <stdbool.h>
#include <stdio.h>

#include "difference.h"

/* Compares both[1] with both[0], the earlier one, and frees them. false: no memory. */
bool diff_show(diff_profile *both, FILE *out);

/* What it finds between two profiles that were read already, and its verdict on each site, as JSON.
 * Nothing is written if they are too old to be compared. false: no memory. */
bool diff_write_verdict(const profile_text *was, const profile_text *is, FILE *out);

#endif
