/* diff.h - what chroprof diff prints, for other commands. */

#ifndef COMMAND_DIFF_H
#define COMMAND_DIFF_H

#include <stdbool.h>
#include <stdio.h>

#include "difference.h"

/* Compares both[1] with both[0], the earlier one, and frees them. false: no memory. */
bool diff_show(diff_profile *both, FILE *out);

#endif
