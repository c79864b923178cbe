/* folded.h - folded stacks with the functions that ran: root;..;task;..;function INT, in
 * microseconds. The format has no escapes, and some readers take two numbers at the end of a line
 * for two profiles: no frame ends in a blank and digits. */

#ifndef COMMAND_FOLDED_H
#define COMMAND_FOLDED_H

#include <stdbool.h>
#include <stdio.h>

#include "profile.h"

/* Writes a profile whose code has its names already. */
bool folded_write(const profile_text *p, FILE *out);

#endif
