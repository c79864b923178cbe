/* pprof.h - a profile as profile.proto with the functions that ran: each path's exec time is
 * divided among the code that was sampled in it, as in shares.h; all other figures are the path's.
 * Code has a mapping with the module's build id, and an address, so that who stores profiles can
 * name what nobody had a name for here. */

#ifndef COMMAND_PPROF_H
#define COMMAND_PPROF_H

#include <stdbool.h>
#include <stdio.h>

#include "profile.h"

/* Writes a profile whose code has its names already. */
bool pprof_write(const profile_text *profile, FILE *out);

#endif
