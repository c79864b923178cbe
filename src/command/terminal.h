/* terminal.h - how wide the terminal is, and whether it takes colors. */

#ifndef COMMAND_TERMINAL_H
#define COMMAND_TERMINAL_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER };

uint32_t terminal_columns(FILE *out);

/* asked: by an option. The locale C, or POSIX, asks for it too. */
bool ascii_wanted(bool asked);

bool color_wanted(int when, FILE *out);

#endif
