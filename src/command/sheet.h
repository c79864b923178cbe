/* sheet.h - text for people, line by line, that never passes its width. What is shown may come from
 * an untrusted profile: nothing but printable characters reaches the terminal (see foreign.h). */

#ifndef COMMAND_SHEET_H
#define COMMAND_SHEET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct sheet {
    char *bytes;               /* grows; NULL at first */
    size_t used, capacity;
    unsigned column, blanks;   /* blanks are kept back until something follows them */
    unsigned columns;
    bool ascii, color;
    const char *end;           /* of every line */
} sheet;

#define SHEET_PLAIN "0"
#define SHEET_BOLD "1"
#define SHEET_DIM "2"
#define SHEET_WARM "33"
#define SHEET_HOT "1;31"
#define SHEET_GOOD "32"
#define SHEET_BAR "7"

/* Without memory the rest of the text is left out. */
void sheet_bytes(sheet *s, const char *bytes, size_t count);

void sheet_raw(sheet *s, const char *text);

void sheet_style(sheet *s, const char *code);

void sheet_newline(sheet *s);

/* One printable character, if it still fits. */
void sheet_code(sheet *s, uint32_t code, unsigned width);

/* A mark of our own, in either character set. */
void sheet_glyph(sheet *s, uint32_t code, char ascii);

unsigned text_width(const char *text);

/* Any text, cut after so many columns. */
void sheet_cut(sheet *s, const char *text, unsigned most);

void sheet_text(sheet *s, const char *text);

void sheet_styled(sheet *s, const char *style, const char *text);

void sheet_blank_to(sheet *s, unsigned column);

/* Word by word; what does not fit goes on in the next line, behind so many blanks. */
void sheet_flow(sheet *s, const char *text, unsigned indent);

/* Ends at the column. */
void sheet_right(sheet *s, const char *text, unsigned end);

typedef struct figure {
    char text[24];
} figure;

figure figure_time(const sheet *s, uint64_t ns);

/* 1234567 becomes 1.23M. */
figure figure_count(double value);

double share_of(uint64_t part, uint64_t whole);

figure figure_percent(double percent);

/* A bar of so many columns. */
void sheet_bar(sheet *s, double percent, unsigned width);

#endif
