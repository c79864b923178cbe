/* made_names.h - names of functions that are no code of their own: those of a program in Python,
 * which the interpreter runs. A stack holds an address for each that no code has (../run/python.h).
 *
 * While a program runs its names lie beside its profiles, in a table (PID.names). A profile that is
 * kept has them behind its block: lines as in a perf map, then a line of MADE_END that says how many
 * bytes these are. Whoever only knows blocks does not see them. */

#ifndef COMMAND_MADE_NAMES_H
#define COMMAND_MADE_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "../../chroprof.h"
#include "../run/python.h"

/* Lines of all functions in the table, which may be anything. NULL: none. To be freed. */
char *made_names_text(const python_names *names);

/* The names behind a block that was read from a file, NULL: none. To be freed. */
char *made_names_behind(const char *bytes, size_t size);

/* The same of a file. */
char *made_names_in(int file, size_t size);

/* The names beside a profile, FOLDER/PID-THREAD.chroprof; NULL: none. To be freed. */
char *made_names_beside(const char *path);

/* From now on these are the names of a block that lies in these bytes; the text is taken. Forgotten
 * with NULL, before the bytes go. */
void made_names_keep(const void *bytes, size_t size, char *text);

/* Those of a profile; NULL: none. */
const char *made_names_of(const chroprof *view);

/* Behind the block that lies in these bytes. */
bool made_names_write(const void *bytes, FILE *out);

#endif
