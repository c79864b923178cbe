/* trace.h - a profile as Chrome trace-event JSON, for Perfetto, chrome://tracing and speedscope. Its
 * ring, which is CHROPROF_TRACE. If it has none, three things from the windows and stalls: a time line
 * on which the sites of each window lie end to end (their order inside it is not known), counters per
 * site, stalls as async slices. And, of JSON and by windows, the samples as a second line. */

#ifndef COMMAND_TRACE_H
#define COMMAND_TRACE_H

#include <stdbool.h>
#include <stdio.h>

#include "profile.h"

/* Whether a profile has steps in its ring; one that is not open has none. */
bool trace_of_steps(const chroprof *view);

/* Writes a profile: its steps, or its windows if that was asked for or it has no steps. Unless it is
 * a block with steps, its code has its names already. false, with a message. */
bool trace_write(const profile_text *p, bool windows, FILE *out);

#endif
