/* run_left.h - processes that a program has forked and that go on when it has ended, such as a daemon
 * that went into the background */

#ifndef COMMAND_RUN_LEFT_H
#define COMMAND_RUN_LEFT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* How many there are: they have a file of this folder in their memory. */
size_t run_left_count(const char *folder);

/* Until they have ended too, or run_left_enough. Which of them is waited for goes to *one, for
 * signals; how many are left then is returned. */
size_t run_left_wait(const char *folder, volatile pid_t *one, bool *waited);

/* In a signal handler: does this one end such a wait? */
bool run_left_enough(int number);

#endif
