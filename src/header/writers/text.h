/* writers/text.h */
#pragma once
#include "../interface/kinds.h"
#include "../interface/types.h"
#include "../interface/output.h"
#include "../writers/words.h"
#include "../writers/output.h"
#include "../writers/columns.h"

/* >>text: the report for people.
 * Owns what it says and how that looks. A page is written line by line: it knows the column it is
 * at, keeps blanks back until something follows them, and cuts what would pass its width. Names are
 * untrusted: nothing in them reaches a terminal but printable characters. Relies on the public
 * reads, >>words and >>output; called by >>formats. */

typedef struct chroprof__page {
    chroprof__out *out;
    const chroprof *p;
    chroprof_totals totals;
    chroprof_options options;
    uint32_t width, column, blanks;
    uint32_t top;
    chroprof_order by;
    bool sampled;              /* CPU time of sites is known */
    uint64_t period_ns;        /* of the sampler, 0: samples by hand */
    bool by_clock;             /* in its wall mode */
    chroprof_text_options look;    /* as asked for; width, top and by above are what is meant */
    bool styled;
} chroprof__page;

/* What a character that is not ASCII looks like in a report that must be. */
static char chroprof__plain(uint32_t code)
{
    static const struct { uint16_t code; char plain; } table[] = {
        { 0xB1, '~' }, { 0xB5, 'u' }, { 0x2026, '~' }, { 0x2500, '-' }, { 0x2504, '.' },
        { 0x2502, '|' }, { 0x2022, '*' }, { 0x251C, '|' }, { 0x2514, '`' }, { 0x2581, '.' },
        { 0x2582, ':' }, { 0x2583, '-' }, { 0x2584, '=' }, { 0x2585, '+' }, { 0x2586, '*' },
        { 0x2587, '%' }, { 0x2588, '#' }, { 0x2591, '.' }, { 0x2592, '=' }
    };
    for (size_t k = 0; k < sizeof table / sizeof *table; k++)
        if (table[k].code == code)
            return table[k].plain;
    return '?';
}

/* One printable character. */
static void chroprof__glyph(chroprof__page *g, uint32_t code)
{
    uint32_t wide = chroprof__code_columns(code);
    if (g->column + g->blanks + (wide > 0 ? wide : 1) > g->width)
        return;
    for (; g->blanks > 0; g->blanks--, g->column++)
        chroprof__put_byte(g->out, ' ');
    g->column += wide;
    if (!g->look.ascii || code <= 0x7E)
        chroprof__put_code(g->out, code);
    else
        for (; wide > 0; wide--)
            chroprof__put_byte(g->out, chroprof__plain(code));
}

/* Any code point; control bytes as their pictures. */
static void chroprof__show_code(chroprof__page *g, uint32_t code)
{
    if (code == ' ')
        g->blanks++;
    else if (code < 0x20)
        chroprof__glyph(g, 0x2400 + code);
    else
        chroprof__glyph(g, chroprof__steers(code) ? CHROPROF__NO_CODE : code);
}

static void chroprof__show(chroprof__page *g, const char *text)
{
    while (*text != 0)
        chroprof__show_code(g, chroprof__next_code(&text));
}

/* Columns up to the end of the line, but for some. */
static uint32_t chroprof__room(const chroprof__page *g, uint32_t less)
{
    uint32_t used = g->column + g->blanks + less;
    return g->width > used ? g->width - used : 0;
}

static void chroprof__blank_to(chroprof__page *g, uint32_t column)
{
    if (column > g->column)
        g->blanks = column - g->column;
}

/* Marks in what chroprof__print shows: styles, and where a text begins whose words go on in the
 * next line, below that place, if they do not fit. */
#define CHROPROF__PLAIN "\1"
#define CHROPROF__BOLD "\2"
#define CHROPROF__DIM "\3"
#define CHROPROF__WARM "\4"
#define CHROPROF__HOT "\5"
#define CHROPROF__FLOW "\6"

/* Up to the next style or the end of the line. */
static void chroprof__style(chroprof__page *g, const char *style)
{
    static const char codes[][8] = { "", "\033[0m", "\033[1m", "\033[2m", "\033[33m",
                                     "\033[1;31m" };
    if (!g->look.color)
        return;
    chroprof__put_text(g->out, codes[(int)*style]);
    g->styled = *style != *CHROPROF__PLAIN;
}

static void chroprof__newline(chroprof__page *g)
{
    if (g->styled)
        chroprof__style(g, CHROPROF__PLAIN);
    chroprof__put_byte(g->out, '\n');
    g->column = 0;
    g->blanks = 0;
}

/* Shows a line word by word. What does not fit goes on in the next line, at `indent`. Returns what
 * is behind it. */
static const char *chroprof__flow(chroprof__page *g, const char *text, uint32_t indent)
{
    while (*text != 0 && *text != '\n') {
        const char *end = text;
        uint32_t count = 0;
        while (*end != 0 && *end != ' ' && *end != '\n')
            count += chroprof__code_columns(chroprof__next_code(&end));
        if (g->column + g->blanks + count > g->width && g->column > indent) {
            chroprof__put_byte(g->out, '\n');
            g->column = 0;
            g->blanks = indent;
        }
        while (text < end)
            chroprof__show_code(g, chroprof__next_code(&text));
        for (; *text == ' '; text++)
            g->blanks++;
    }
    return text;
}

/* Shows what chroprof__say says, with marks and line feeds in it. */
static void chroprof__print(chroprof__page *g, const char *text, const uint64_t *figures)
{
    chroprof__phrase s;
    const char *at = s.text;
    chroprof__say_only(&s, text, figures);
    while (*at != 0) {
        const char *mark = at;
        uint32_t code = chroprof__next_code(&at);
        if (code == '\n')
            chroprof__newline(g);
        else if (code == (uint32_t)*CHROPROF__FLOW)
            at = chroprof__flow(g, at, g->column + g->blanks);
        else if (code < (uint32_t)*CHROPROF__FLOW)
            chroprof__style(g, mark);
        else
            chroprof__show_code(g, code);
    }
}

/* How a section begins. */
#define CHROPROF__HEADING(title) "\n" CHROPROF__BOLD title CHROPROF__DIM "  " CHROPROF__FLOW

static void chroprof__show_right(chroprof__page *g, const char *text, uint32_t width)
{
    uint32_t count = chroprof__columns_of(text);
    g->blanks += count < width ? width - count : 0;
    chroprof__show(g, text);
}

/* Shows a name in at most width columns; a longer one loses its middle. */
static void chroprof__show_name(chroprof__page *g, const char *name, uint32_t width)
{
    const char *shown = *name != 0 ? name : "(empty)";
    uint32_t count = chroprof__columns_of(shown);
    uint32_t head = count <= width ? count : width / 2;
    uint32_t tail = count <= width ? count : count - (width - head) + 1;
    bool cut = false;
    for (uint32_t at = 0; *shown != 0 && width > 0;) {
        uint32_t code = chroprof__next_code(&shown);
        uint32_t wide = chroprof__code_columns(code);
        if ((at + wide <= head && !cut) || at >= tail)
            chroprof__show_code(g, code);
        else if (!cut)
            chroprof__glyph(g, 0x2026);
        cut = cut || at + wide > head;
        at += wide;
    }
}

/* One of several items of a line, a name (NULL: none) and what is said of it, behind what parts it
 * from the one before. What does not fit begins the next line, at `indent`. */
static void chroprof__show_item(chroprof__page *g, const char *before, uint32_t indent,
                           const char *name, const char *text, const uint64_t *figures)
{
    chroprof__phrase s;
    chroprof__say_only(&s, text, figures);
    uint32_t width = name == NULL ? 0 : *name != 0 ? chroprof__columns_of(name) : 7;
    width = (width < 32 ? width : 32) + chroprof__columns_of(s.text);
    chroprof__show(g, before);
    if (*before != 0 && chroprof__room(g, 1) < width) {
        chroprof__newline(g);
        g->blanks = indent;
    } else if (*before != 0) {
        g->blanks++;
    }
    if (name != NULL)
        chroprof__show_name(g, name, 32);
    chroprof__show(g, s.text);
}

/* Columns of "file:line" without folders; 0 if there is no file. */
static uint32_t chroprof__location_width(const char *file, uint32_t line)
{
    uint32_t width = chroprof__columns_of(chroprof__base_name(file));
    for (uint64_t digits = width > 0 ? (uint64_t)line * 10 : 0; digits > 0; digits /= 10)
        width++;                            /* the colon is one more */
    return width;
}

/* file:line in at most width columns: with its folders if they fit, else without. */
static void chroprof__show_location(chroprof__page *g, const char *file, uint32_t line,
                                    uint32_t width)
{
    const uint64_t figures[] = { line };
    chroprof__phrase s;
    chroprof__say_only(&s, line > 0 ? ":%d" : "", figures);
    uint32_t room = width - (s.used + 4 <= width ? (uint32_t)s.used : 0);
    if (*file == 0)
        return;
    chroprof__style(g, CHROPROF__DIM);
    chroprof__show_name(g, chroprof__columns_of(file) > room ? chroprof__base_name(file) : file,
                        room);
    chroprof__show(g, room < width ? s.text : "");
    chroprof__style(g, CHROPROF__PLAIN);
}

/* A name, and its place where there is room for it before a column. */
static void chroprof__show_placed(chroprof__page *g, const char *name, const char *file,
                                  uint32_t line, uint32_t end)
{
    chroprof__show_name(g, name, end - g->column - g->blanks);
    uint32_t room = end - g->column - g->blanks;
    if (room >= chroprof__location_width(file, line) + 2) {
        g->blanks += 2;
        chroprof__show_location(g, file, line, room - 2);
    }
}
