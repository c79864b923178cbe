/* output.h - where a subcommand writes: standard output, or the file that -o names. */

#ifndef COMMAND_OUTPUT_H
#define COMMAND_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

/* A name that is NULL or "-". */
bool output_is_stdout(const char *name);

/* false, with a message: the output would go to a terminal, and is not for people. */
bool output_is_readable(const char *name, const char *what);

/* What the system said of a file that can't be written, and what a person may do about it. */
const char *output_problem(int error);

/* Can a file of this name be written? For work that would be lost otherwise. false, with a message. */
bool output_possible(const char *name);

/* Opens the output, which must not be the file that is still to be read; source NULL: none is.
 * TOOL_OK, or with a message what to return. */
int output_open(const char *name, const char *source, FILE **out);

/* Closes what was opened, and says what went wrong; wrote: so far nothing did. */
int output_close(const char *name, FILE *out, bool wrote);

/* Both, and what writes between them. The input has been read, so the output may have its name. */
int output_write(const char *name, bool (*write)(void *user, FILE *out), void *user);

/* A chroprof_write_fn whose user is a stream. */
int output_bytes(void *user, const void *bytes, size_t count);

#endif
