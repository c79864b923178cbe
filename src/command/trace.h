/* trace.h - a profile as Chrome trace-event JSON, for Perfetto, chrome://tracing and speedscope: the
 * steps of its ring, exact to the ns; or, if it has none, its windows. */

#ifndef COMMAND_TRACE_H
#define COMMAND_TRACE_H

#include <stdbool.h>
#include <stdio.h>

#include "profile.h"

/* Whether a profile has steps in its ring; NULL, and one that is not open, has none. */
bool trace_of_steps(const chroprof *view);

/* Writes a profile: its steps, or its windows if that was asked for or it has no steps. Unless it was
 * made of a block with steps, its code has its names already. false, with a message. */
bool trace_write(const profile_text *p, bool windows, FILE *out);

/* From now on a trace may be many times as large as its profile. */
void trace_of_any_size(void);

#endif
