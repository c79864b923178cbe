/* libraries.h - what chroprof run must know of a program before it starts: which libraries of event
 * loops it links, and where its own functions are, so that their callbacks have names. */

#ifndef COMMAND_LIBRARIES_H
#define COMMAND_LIBRARIES_H

#include <stdbool.h>

/* Which rows of BOARD_LOOPS the program's loader lists, directly or through other libraries: the
 * bit of each. Not those where a library before it has a function of a name that ours, in that
 * folder, stands before: ours would get its calls. Does not start the program. 0 where nobody
 * knows. */
unsigned program_loops(const char *program, const char *folder);

/* Writes the functions of a program, as board_symbols, to a new file. Without it callbacks have the
 * names that the dynamic linker knows. */
void write_functions(const char *program, const char *path);

#endif
