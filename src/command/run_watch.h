/* run_watch.h - chroprof run looks at the threads of its program from outside, where one of their
 * loops makes no step for a while: does it get no processor, or in which call does it sleep? */

#ifndef COMMAND_RUN_WATCH_H
#define COMMAND_RUN_WATCH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "../../chroprof.h"
#include "../run/board.h"

/* The profiles of the program are, or will be, in this folder. Nothing is looked at where that is
 * not possible. Of threads that have waited once, the board gets their CPU time since. */
void run_watch_begin(const char *folder, pid_t program, preload_board *board);

void run_watch_end(void);

/* Adds what was seen to a view of one of these profiles, PROCESS-THREAD as its file is called. */
void run_watch_tell(chroprof *view, const char *name);

/* Who held the lock that its callbacks waited for, as a sentence; "": nothing is known. */
const char *run_watch_holder(const char *name);

/* Did this thread run in a callback up to the end, or nearly so? */
bool run_watch_lived(const char *name);

/* Says that threads without a profile worked for longer than a stall after they had waited once;
 * 0: as long as that is by default. */
void run_watch_tell_once(uint64_t stall_ns);

#endif
