/* demangle_nim.h - names of Nim as people write them: slow__server_u12 and _ZN6server4slowE3int are
 * server.slow. A C function may be called slow__server_12 too, so only names from a file or program
 * of Nim's compiler may be asked. */

#ifndef COMMAND_DEMANGLE_NIM_H
#define COMMAND_DEMANGLE_NIM_H

#include <stdbool.h>

#define DEMANGLE_NIM_LONGEST 1024

/* To be freed; NULL: not a name of that kind. */
char *demangled_nim(const char *name);

/* Whether a source file is Nim's, or what its compiler made of one. */
bool nim_file(const char *file);

#endif
