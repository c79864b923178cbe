/* run_watch.h - chroprof run looks at the threads of its program from outside, where one of their
 * loops makes no step for a while: does it get no processor, or in which call does it sleep? */

#ifndef COMMAND_RUN_WATCH_H
#define COMMAND_RUN_WATCH_H

#include <sys/types.h>

#include "../../chroprof.h"

/* The profiles of the program are, or will be, in this folder. Nothing is looked at where that is
 * not possible. */
void run_watch_begin(const char *folder, pid_t program);

void run_watch_end(void);

/* Adds what was seen to a view of one of these profiles, PROCESS-THREAD as its file is called. */
void run_watch_tell(chroprof *view, const char *name);

#endif
