/* firefox.h - a profile as the Firefox Profiler's processed profile, version 60.
 *
 * Thread 0 is the timeline: the sampler's samples, each at its own time; without them the windows,
 * in each of which the sites lie end to end, because their order inside it is not known. Threads 1
 * and 2 are the exact tree of exec time and the waiting of paused futures; thread 3 is there if the
 * sampler drew futures. The tables that all threads share are filled while the threads are read,
 * and written last. */

#ifndef COMMAND_FIREFOX_H
#define COMMAND_FIREFOX_H

#include <stdbool.h>
#include <stdio.h>

#include "profile.h"

/* Writes a profile whose code has its names already. */
bool firefox_write(const profile_text *p, FILE *out);

#endif
