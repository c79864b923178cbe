/* message.c - see message.h */

#include "message.h"

#include <stdarg.h>
#include <stdio.h>

#include <string.h>

#include "foreign.h"
#include "terminal.h"

#define TOOL_LINE_BYTES 16384  /* of a message; a longer one is cut */

/* Where messages go instead of standard error. */
static struct {
    char *text;
    size_t size;
} kept;

void tool_keep(char *text, size_t size)
{
    kept.text = text;
    kept.size = size;
    if (text != NULL) {
        text[0] = '\0';
    }
}

/* Our own signs in the locale C: the point before a sentence, and the unit of a time. */
static void tool_plain(char *text)
{
    static const char point[] = "\xE2\x80\xA2";
    char *to = text;
    if (strncmp(text, point, 3) == 0) {
        *to++ = '*';
        text += 3;
    }
    for (const char *from = text; *from != '\0'; from++) {
        bool unit = strncmp(from, "\xC2\xB5s", 3) == 0 && to > text &&
                    (from[-1] == ' ' || (from[-1] >= '0' && from[-1] <= '9'));
        from += unit;
        *to++ = unit ? 'u' : *from;
    }
    *to = '\0';
}

/* Part of a message: whatever a value holds, it stays in its line and steers no terminal. */
static void tool_put(const char *format, va_list values)
{
    char text[TOOL_LINE_BYTES];
    int length = vsnprintf(text, sizeof text, format, values);
    if (length >= 0 && ascii_wanted(false)) {
        tool_plain(text);
    }
    if (kept.text != NULL) {
        (void)snprintf(kept.text, kept.size, "%s", length >= 0 ? text : format);
        return;
    }
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
    if (kept.text == NULL) {
        (void)fputc('\n', stderr);
    }
    va_end(values);
}

void tool_message(const char *format, ...)
{
    va_list values;
    va_start(values, format);
    if (kept.text == NULL) {
        (void)fputs("chroprof: ", stderr);
    }
    tool_put(format, values);
    if (kept.text == NULL) {
        (void)fputc('\n', stderr);
    }
    va_end(values);
}
