/* message.c - see message.h */

#include "message.h"

#include <stdarg.h>
#include <stdio.h>

#include "foreign.h"

#define TOOL_LINE_BYTES 16384  /* of a message; a longer one is cut */

/* Part of a message: whatever a value holds, it stays in its line and steers no terminal. */
static void tool_put(const char *format, va_list values)
{
    char text[TOOL_LINE_BYTES];
    int length = vsnprintf(text, sizeof text, format, values);
    foreign_print(stderr, length >= 0 ? text : format);
    if (length >= (int)sizeof text) {
        (void)fputs("...", stderr);
    }
}

void tool_part(const char *format, ...)
{
    va_list values;
    va_start(values, format);
    tool_put(format, values);
    va_end(values);
}

void tool_line(const char *format, ...)
{
    va_list values;
    va_start(values, format);
    tool_put(format, values);
    (void)fputc('\n', stderr);
    va_end(values);
}

void tool_message(const char *format, ...)
{
    va_list values;
    va_start(values, format);
    (void)fputs("chroprof: ", stderr);
    tool_put(format, values);
    (void)fputc('\n', stderr);
    va_end(values);
}
