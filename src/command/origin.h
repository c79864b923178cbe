/* origin.h - whose profile a block is: how its program is, what it was doing at its last event. */

#ifndef COMMAND_ORIGIN_H
#define COMMAND_ORIGIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../../chroprof.h"
#include "block.h"

/* Whose profile it is. Whether that program runs is asked of the file, which knows it for sure. */
void block_origin(const block_file *file, chroprof_origin *origin);

/* The sites of a path from its root down, as in "accept > fetch". false: it is none. */
bool block_path(const chroprof *view, uint32_t id, char *text, size_t size);

/* How the program is, and what it was doing at its last event. */
void dump_origin(const block_file *file);

/* What shows where a program is that runs on: a command to copy. Empty: nobody knows its process. */
void debugger_command(const block_file *file, const chroprof_origin *origin, char *text, size_t size);

#endif
