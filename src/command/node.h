/* node.h - what chroprof run asks of node: the names of a program's functions in JavaScript, which
 * V8 writes to /tmp/perf-PID.map (see perf_map.h). */

#ifndef COMMAND_NODE_H
#define COMMAND_NODE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Whether a program is node, or a script for it, and that node knows the options. It is started for
 * that, with --version. false as well if NODE_OPTIONS asks for the names already. */
bool node_can_name(const char *program);

/* In the process that becomes node: adds the options to NODE_OPTIONS, unless its map can't be
 * written, without which node would not start. */
void node_ask(void);

/* Removes the map of a process that has ended; if a profile of it was kept in a file, which has its
 * names from the map, a message says how to keep them. kept: NULL, or that file. */
void node_forget(pid_t process, const char *kept);

#endif
