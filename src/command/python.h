/* python.h - names of functions in Python for chroprof run: its library reads the interpreter's
 * structures in the program itself (../run/python_walk.h). */

#ifndef COMMAND_PYTHON_H
#define COMMAND_PYTHON_H

#include <stdbool.h>
#include <stdint.h>

/* Does the system call that reads them do no harm here? A filter that was set before may forbid it, or
 * end whoever makes it, so a process of its own tries. */
bool python_can_read(void);

/* Why the functions of an interpreter of this version have no names. may: what python_can_read said. */
void python_tell(uint32_t version, bool may);

#endif
