/* libraries.h - what chroprof run must know of a program before it starts: which libraries of event
 * loops it links, and where its own functions are, so that their callbacks have names. */

#ifndef COMMAND_LIBRARIES_H
#define COMMAND_LIBRARIES_H

#include <stdbool.h>

typedef enum loop_library { LOOP_LIBEVENT, LOOP_LIBUV, LOOP_GLIB, LOOP_SYSTEMD, LOOP_LIBRARIES }
loop_library;

/* The library of ours that is loaded for one of them. */
extern const char *const loop_preloads[LOOP_LIBRARIES];

/* As its loader lists them, directly or through other libraries. Does not start the program. None,
 * where nobody knows. */
void program_libraries(const char *program, bool linked[LOOP_LIBRARIES]);

/* Writes the functions of a program, as board_symbols, to a new file. Without it callbacks have the
 * names that the dynamic linker knows. */
void write_functions(const char *program, const char *path);

#endif
