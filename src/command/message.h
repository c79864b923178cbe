/* message.h - what the command says on standard error, and what it returns. Whatever a value
 * holds, it stays in its line and steers no terminal. */

#ifndef COMMAND_MESSAGE_H
#define COMMAND_MESSAGE_H

#include <stddef.h>

/* What the command returns. */
enum { TOOL_OK = 0, TOOL_INPUT = 1, TOOL_USAGE = 2 };

/* Writes a part of a line on standard error. */
void tool_part(const char *format, ...);

/* Writes one line on standard error. */
void tool_line(const char *format, ...);

/* Writes one line "chroprof: ..." on standard error. */
void tool_message(const char *format, ...);

/* From now on only the last message is kept, here, without "chroprof: "; NULL: on standard error
 * again. */
void tool_keep(char *text, size_t size);

#endif
