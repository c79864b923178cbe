/* formats.h - how replay, dump and merge write a profile: the options that they share, and the
 * formats of other programs, which are made of a profile's JSON. */

#ifndef COMMAND_FORMATS_H
#define COMMAND_FORMATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "../../chroprof.h"
#include "options.h"
#include "profile.h"

/* Formats that are no chroprof_format: they are made of JSON. */
enum { FORMAT_FIREFOX = 100, FORMAT_TRACE };

typedef struct format_options {
    const char *out;           /* NULL or "-": standard output */
    int format;                /* a chroprof_format, or one of those above */
    bool given;                /* --format was */
    bool ascii;
    bool heads;                /* causes, and the first finding, alone */
    bool causes;               /* the text begins with the functions that held the loop */
    const char *then;          /* and goes on with this sentence; NULL: none */
    int by;                    /* a chroprof_order */
    int color;
    uint64_t rows, columns;    /* 0: the default */
} format_options;

/* Takes the name of a format into a format_options. */
extern const choice format_choices[];
const char *set_format(void *field, const char *value);

/* Rows of a table of options: `at` is the format_options in the struct `type`. */
#define FORMAT_OUT(type, at)                                                                       \
    { "out", 'o', "OUT", "write to this file instead of standard output", set_text,                \
      offsetof(type, at.out), NULL }
#define FORMAT_TEXT(type, at)                                                                      \
    { "by", 'b', "ORDER", "order of the ranked table: exec (default), children,\n"                 \
      "slice-max, blame, delay or calls", set_order,                                               \
      offsetof(type, at.by), order_choices },                                                      \
    { "top", 'n', "N", "rows of the ranked table (default 20)", set_rows,                          \
      offsetof(type, at.rows), NULL },                                                             \
    { "columns", 'w', "N", "width of the text report, 60 to 200 (default: the\n"                   \
      "terminal's, else 80)", set_width, offsetof(type, at.columns), NULL },                       \
    { "ascii", '\0', NULL, "bars of plain ASCII", set_flag, offsetof(type, at.ascii), NULL },      \
    { "color", '\0', "WHEN", "auto (default: on a terminal), always or never", set_color,          \
      offsetof(type, at.color), color_choices }

/* The setters of those rows: of an int, and of a uint64_t. */
extern const choice order_choices[];
const char *set_order(void *field, const char *value);
const char *set_width(void *field, const char *value);

/* Writes a profile; code: the text tells the functions and lines of native code. */
bool write_view(const format_options *o, chroprof *view, const char *source, bool code, FILE *out);

/* false, with a message: the format is binary, and would go to a terminal. */
bool format_is_readable(const format_options *o);

/* Whether dump makes the format of JSON, so that it can take JSON for it; JSON is, too. */
bool format_is_made(int format);

/* Writes such a format of a profile whose code has its names already. */
bool write_made(int format, const profile_text *p, FILE *out);

#endif
