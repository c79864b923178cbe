/* foreign.h - text that others wrote: names in a profile, paths of modules, names of files. It may
 * hold anything, so what could steer a terminal, or move what stands around it, is shown escaped.
 * Every message goes through foreign_print(), every table through sheet.h, which asks the same
 * functions. */

#ifndef COMMAND_FOREIGN_H
#define COMMAND_FOREIGN_H

#include <stdint.h>
#include <stdio.h>

/* What foreign_next() returns for a byte that is not UTF-8. */
#define FOREIGN_BYTE 0x110000u

/* The next code point of a text, or FOREIGN_BYTE and the byte. */
uint32_t foreign_next(const char **at);

/* Writes a code point as UTF-8; returns how many bytes it took, at most 4. */
size_t utf8_put(uint32_t code, char out[4]);

/* Columns of a printable character; 0: it is none, or could move what stands around it. */
unsigned code_width(uint32_t code);

/* Writes the escape of what code_width() calls 0 wide, a byte as \x9b, a code point as \u009b;
 * returns its columns. */
unsigned foreign_escape(char out[12], uint32_t code);

/* Any text on a stream that may be a terminal. */
void foreign_print(FILE *out, const char *text);

#endif
