/* program.h - the program that chroprof run starts: where it is, and whether it can be watched. */

#ifndef COMMAND_PROGRAM_H
#define COMMAND_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>

/* Finds a program as a shell does. false, with a message. */
bool program_find(const char *name, char *path, size_t size);

/* PROGRAM_PRELOAD: the system loads other libraries into it. PROGRAM_OUTSIDE: not that, but it can be
 * watched from outside; a message says why. PROGRAM_NOT: neither, with a message. A script is judged
 * by its interpreter, and what is no program at all is left to the system. */
enum { PROGRAM_PRELOAD, PROGRAM_OUTSIDE, PROGRAM_NOT };
int program_way(const char *path);

/* Whether it is written in Go: its goroutines move between threads, any of which may wait for all. */
bool program_is_go(const char *path);

#define PROGRAM_PATH 4096

/* What a script names as its interpreter, found in PATH if that is env. false: it is no script. */
bool program_interpreter(const char *script, char *path, size_t size);

/* The program that the system starts, which for a script is its interpreter, and the loader that it
 * names. binary has room for PROGRAM_PATH bytes. false: nobody knows. */
bool program_loader(const char *path, char *binary, char *loader, size_t size);

#endif
