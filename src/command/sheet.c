/* sheet.c - see sheet.h */

#include "sheet.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "foreign.h"

/* >>sheet bytes */

void sheet_bytes(sheet *s, const char *bytes, size_t count)
{
    if (s->used + count > s->capacity) {
        size_t capacity = (s->used + count) * 2 + 4096;
        char *grown = (char *)realloc(s->bytes, capacity);
        if (grown == NULL) {
            return;
        }
        s->bytes = grown;
        s->capacity = capacity;
    }
    memcpy(s->bytes + s->used, bytes, count);
    s->used += count;
}

void sheet_raw(sheet *s, const char *text)
{
    sheet_bytes(s, text, strlen(text));
}

void sheet_style(sheet *s, const char *code)
{
    if (s->color) {
        sheet_raw(s, "\033[");
        sheet_raw(s, code);
        sheet_raw(s, "m");
    }
}

void sheet_newline(sheet *s)
{
    sheet_raw(s, s->end);
    s->column = s->blanks = 0;
}

/* >>sheet characters */

void sheet_code(sheet *s, uint32_t code, unsigned width)
{
    static const char spaces[] = "                                ";
    char bytes[4];
    if (s->column + s->blanks + width > s->columns) {
        s->blanks = s->columns;
        return;
    }
    while (s->blanks > 0) {
        unsigned now = s->blanks < 32 ? s->blanks : 32;
        sheet_bytes(s, spaces, now);
        s->blanks -= now;
        s->column += now;
    }
    sheet_bytes(s, bytes, utf8_put(s->ascii && code >= 0x80 ? '?' : code, bytes));
    s->column += width;
}

void sheet_glyph(sheet *s, uint32_t code, char ascii)
{
    sheet_code(s, s->ascii ? (unsigned char)ascii : code, 1);
}

/* >>sheet text */

unsigned text_width(const char *text)
{
    char escape[12];
    unsigned sum = 0;
    while (*text != '\0') {
        uint32_t code = foreign_next(&text);
        unsigned width = code_width(code);
        sum += width > 0 ? width : foreign_escape(escape, code);
    }
    return sum;
}

void sheet_cut(sheet *s, const char *text, unsigned most)
{
    char escape[12];
    bool cut = text_width(text) > most;
    unsigned room = cut ? most - (most > 0) : most;
    while (*text != '\0') {
        uint32_t code = foreign_next(&text);
        unsigned width = code_width(code);
        unsigned columns = width > 0 ? width : foreign_escape(escape, code);
        if (columns > room) {
            break;
        }
        room -= columns;
        if (code == ' ') {
            s->blanks++;
        } else if (width > 0) {
            sheet_code(s, code, width);
        } else {
            for (const char *e = escape; *e != '\0'; e++) {
                sheet_code(s, (unsigned char)*e, 1);
            }
        }
    }
    if (cut && most > 0) {
        sheet_glyph(s, 0x2026, '~');
    }
}

void sheet_text(sheet *s, const char *text)
{
    sheet_cut(s, text, s->columns);
}

void sheet_flow(sheet *s, const char *text, unsigned indent)
{
    while (*text != '\0') {
        char word[120];
        size_t length = strcspn(text, " ");
        length = length < sizeof word ? length : sizeof word - 1;
        memcpy(word, text, length);
        word[length] = '\0';
        if (s->column + s->blanks + text_width(word) > s->columns && s->column > indent) {
            sheet_newline(s);
            s->blanks = indent;
        }
        sheet_text(s, word);
        text += length;
        for (; *text == ' '; text++) {
            s->blanks++;
        }
    }
}

void sheet_styled(sheet *s, const char *style, const char *text)
{
    sheet_style(s, style);
    sheet_text(s, text);
    sheet_style(s, SHEET_PLAIN);
}

void sheet_blank_to(sheet *s, unsigned column)
{
    if (column > s->column + s->blanks) {
        s->blanks = column - s->column;
    }
}

void sheet_right(sheet *s, const char *text, unsigned end)
{
    unsigned width = text_width(text);
    sheet_blank_to(s, end > width ? end - width : 0);
    sheet_text(s, text);
}

/* >>sheet figures: at most 7 columns each */

/* value / unit with three digits. */
static figure figure_scaled(double value, const char *unit)
{
    figure f;
    int decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
    (void)snprintf(f.text, sizeof f.text, "%.*f%s", decimals, value, unit);
    return f;
}

/* From 100 seconds up, as the sentences of chroprof.h say it: 1.75min, 2.12h, 3.17d. */
static figure figure_long_time(double seconds)
{
    return seconds < 5997 ? figure_scaled(seconds / 60, "min")
         : seconds < 359820 ? figure_scaled(seconds / 3600, "h")
                            : figure_scaled(seconds / 86400, "d");
}

figure figure_time(const sheet *s, uint64_t ns)
{
    figure f;
    double value = (double)ns;
    if (value >= 99.95e9) {
        return figure_long_time(value / 1e9);
    }
    if (ns < 1000) {
        (void)snprintf(f.text, sizeof f.text, ns == 0 ? "0" : "%uns", (unsigned)ns);
        return f;
    }
    return value < 999.5e3 ? figure_scaled(value / 1e3, s->ascii ? "us" : "\302\265s")
         : value < 999.5e6 ? figure_scaled(value / 1e6, "ms") : figure_scaled(value / 1e9, "s");
}

figure figure_count(double value)
{
    figure f;
    if (value >= 9999.5) {
        return value < 999.5e3 ? figure_scaled(value / 1e3, "k")
             : value < 999.5e6 ? figure_scaled(value / 1e6, "M") : figure_scaled(value / 1e9, "G");
    }
    (void)snprintf(f.text, sizeof f.text, value > 0 && value < 9.95 ? "%.1f" : "%.0f", value);
    return f;
}

double share_of(uint64_t part, uint64_t whole)
{
    return whole > 0 ? 100.0 * (double)part / (double)whole : 0;
}

figure figure_percent(double percent)
{
    figure f;
    bool tiny = percent > 0 && percent < 0.05;
    (void)snprintf(f.text, sizeof f.text, tiny ? "<0.1%%" : "%.1f%%", percent);
    return f;
}

void sheet_bar(sheet *s, double percent, unsigned width)
{
    unsigned start = s->column + s->blanks;
    unsigned eighths = (unsigned)((percent > 100 ? 100 : percent) / 100 * 8 * width + 0.5);
    eighths = eighths == 0 && percent > 0 ? 1 : eighths;
    for (unsigned i = 0; i < eighths / 8; i++) {
        sheet_glyph(s, 0x2588, '#');
    }
    if (eighths % 8 > 0) {
        sheet_glyph(s, 0x2590 - eighths % 8, eighths % 8 < 4 ? '.' : '-');
    }
    sheet_blank_to(s, start + width);
}
