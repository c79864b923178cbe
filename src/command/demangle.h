/* demangle.h - names of C++ and Rust as people write them. GNU libiberty knows both, the C++
 * run-time library those that begin with _Z; without either a name stays as it is. */

#ifndef COMMAND_DEMANGLE_H
#define COMMAND_DEMANGLE_H

#define DEMANGLE_LONGEST 1024  /* of a mangled name */

/* To be freed; NULL: no demangler that is here knows this name. */
char *demangled(const char *name);

#endif
