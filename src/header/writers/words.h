/* writers/words.h */
#pragma once
#include "../interface/types.h"
#include "../base/platform.h"
#include "../base/util.h"

/* >>words: names and figures as people read them, the same in a finding and in the table below it.
 * Owns UTF-8, what of an untrusted name may reach a terminal, and how times, counts and shares
 * look. Called by >>findings and by the formats. */

/* Decimal digits of value, which end before `end`; returns where they begin, at most 20 before. Two
 * at a time: each division waits for the one before it. */
CHROPROF__UNUSED static char *chroprof__digits_before(uint64_t value, char *end)
{
    static const char pairs[] = "00010203040506070809101112131415161718192021222324"
                                "25262728293031323334353637383940414243444546474849"
                                "50515253545556575859606162636465666768697071727374"
                                "75767778798081828384858687888990919293949596979899";
    const char *const last = end;
    for (; value >= 10; value /= 100) {
        end -= 2;
        memcpy(end, pairs + 2 * (value % 100), 2);
    }
    if (value > 0 || end == last)
        *--end = (char)('0' + (int)value);
    return end;
}

#define CHROPROF__NO_CODE 0xFFFDu   /* what stands for a byte that is not UTF-8 */

/* Takes one code point off a NUL-terminated text not at its end; a wrong byte counts alone. */
CHROPROF__UNUSED static uint32_t chroprof__next_code(const char **text)
{
    static const uint32_t least[4] = { 0, 0x80, 0x800, 0x10000 };
    const unsigned char *s = (const unsigned char *)*text;
    uint32_t tail = *s < 0xC2 || *s > 0xF4 ? 0 : *s < 0xE0 ? 1 : *s < 0xF0 ? 2 : 3;
    uint32_t code = tail == 0 ? *s : *s & (0x3Fu >> tail);
    *text += 1;
    if (tail == 0)
        return code < 0x80 ? code : CHROPROF__NO_CODE;
    for (uint32_t i = 1; i <= tail; i++) {
        if ((s[i] & 0xC0u) != 0x80u)
            return CHROPROF__NO_CODE;
        code = code << 6 | (s[i] & 0x3Fu);
    }
    if (code < least[tail] || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF))
        return CHROPROF__NO_CODE;
    *text += tail;
    return code;
}

/* UTF-8 of a code point; out has room for 4. */
CHROPROF__UNUSED static size_t chroprof__encode(uint32_t code, char *out)
{
    size_t tail = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    static const uint32_t marks[4] = { 0, 0xC0, 0xE0, 0xF0 };
    size_t i;
    for (i = tail; i > 0; i--) {
        out[i] = (char)(unsigned char)(0x80u | (code & 0x3Fu));
        code >>= 6;
    }
    out[0] = (char)(unsigned char)(marks[tail] | code);
    return tail + 1;
}

/* Code points that steer a terminal or its direction of writing, and those without a width. */
CHROPROF__UNUSED static bool chroprof__steers(uint32_t code)
{
    return (code >= 0x7F && code < 0xA0) || code == 0xAD || code == 0x61C || code == 0xFEFF
        || (code >= 0x200B && code <= 0x200F) || (code >= 0x2028 && code <= 0x202E)
        || (code >= 0x2060 && code <= 0x206F) || (code >= 0xFFF9 && code <= 0xFFFC)
        || code >= 0xE0000;
}

CHROPROF__UNUSED static const char *chroprof__base_name(const char *file)
{
    const char *base = file;
    for (; *file != 0; file++)
        if ((*file == '/' || *file == '\\') && file[1] != 0)
            base = file + 1;
    return base;
}

#if !defined(CHROPROF_NO_TEXT) || !defined(CHROPROF_NO_FINDINGS)
static uint64_t chroprof__round(uint64_t value, uint64_t step)
{
    return value / step + (value % step >= step - step / 2 ? 1 : 0);
}

/* round(n * part / whole) for a part of a whole. */
CHROPROF__NOINLINE uint64_t chroprof__portion(uint64_t n, uint64_t part, uint64_t whole)
{
    return whole == 0 ? 0 : chroprof__weigh(n, part < whole ? part : whole, whole);
}

/* A sentence that is being made. What does not fit is cut. */
typedef struct chroprof__phrase {
    size_t used;
    char text[sizeof(((chroprof_finding *)0)->text)];
} chroprof__phrase;

static void chroprof__say_text(chroprof__phrase *s, const char *text)
{
    for (; *text != 0 && s->used + 1 < sizeof s->text; text++)
        s->text[s->used++] = *text;
    s->text[s->used] = 0;
}

/* value / 10^decimals, with at least min_digits digits in all. */
static void chroprof__say_fixed(chroprof__phrase *s, uint64_t value, uint32_t decimals,
                                uint32_t min_digits)
{
    char text[22], *end = text + sizeof(text) - 1;
    memset(text, '0', sizeof(text));
    *end = 0;
    char *first = chroprof__digits_before(value, end);
    first = first < end - min_digits ? first : end - min_digits;
    if (decimals > 0) {                     /* the digits before the point make room for it */
        char *point = end - decimals - 1;
        memmove(first - 1, first, (size_t)(point + 1 - first));
        *point = '.';
        first--;
    }
    chroprof__say_text(s, first);
}

/* How a figure looks: with the most decimals of the first unit in which it has at most 3 digits. */
typedef struct chroprof__unit {
    uint64_t size;
    uint8_t most, least;       /* decimals */
    char name[6];              /* behind a blank, which tables leave out */
} chroprof__unit;

static const chroprof__unit chroprof__times[] = {           /* 2^64 ns are 584 years */
    { 1, 0, 0, " ns" }, { 1000, 2, 0, " \xC2\xB5s" }, { 1000000, 2, 0, " ms" },
    { 1000000000, 2, 1, " s" }, { 60000000000u, 2, 1, " min" }, { 3600000000000u, 2, 1, " h" },
    { 86400000000000u, 2, 0, " d" }, { 31556952000000000u, 0, 0, " y" }
};

static const chroprof__unit chroprof__seconds[] = {
    { 1000000000, 6, 6, "" }, { 1000000000, 3, 0, "" }, { 1000000000000u, 2, 0, "k" },
    { 1000000000000000u, 2, 0, "M" }, { 1000000000000000000u, 0, 0, "G" }
};

static const chroprof__unit chroprof__counts[] = {          /* exact below 100,000 */
    { 1000, 0, 0, "k" }, { 1000000, 2, 0, "M" }, { 1000000000, 2, 0, "G" },
    { 1000000000000u, 2, 0, "T" }, { 1000000000000000u, 2, 0, "P" },
    { 1000000000000000000u, 2, 1, "E" }
};

/* The least step of a unit that shows a value in three digits, and how many decimals that is. */
static uint64_t chroprof__step_of(uint64_t value, const chroprof__unit **unit, uint32_t *decimals)
{
    static const uint32_t tens[] = { 1, 10, 100, 1000, 10000, 100000, 1000000 };
    const chroprof__unit *u = *unit;
    uint32_t places = u->most;
    while (chroprof__round(value, u->size / tens[places]) >= 1000)
        places = places > u->least ? places - 1 : (++u)->most;
    *unit = u;
    *decimals = places;
    return u->size / tens[places];
}

static void chroprof__say_scaled(chroprof__phrase *s, uint64_t value, const chroprof__unit *u,
                                 bool tight)
{
    uint32_t decimals;
    uint64_t step = chroprof__step_of(value, &u, &decimals);
    chroprof__say_fixed(s, chroprof__round(value, step), decimals, decimals + 1);
    if (value > 0 || !tight)
        chroprof__say_text(s, u->name + (tight && u->name[0] == ' ' ? 1 : 0));
}

/* part of whole in percent; what is there but would look like zero is less than a unit. */
static void chroprof__say_share(chroprof__phrase *s, uint64_t part, uint64_t whole,
                                uint32_t decimals)
{
    uint64_t unit = decimals == 0 ? 100 : decimals == 1 ? 1000 : 10000;
    uint64_t value = chroprof__portion(unit, part, whole);
    bool less = value == 0 && part > 0;
    chroprof__say_text(s, less ? "<" : "");
    chroprof__say_fixed(s, less ? 1 : value, decimals, decimals + 1);
    chroprof__say_text(s, "%");
}

/* A moment of profile time, [h:]mm:ss.mmm */
static void chroprof__say_moment(chroprof__phrase *s, uint64_t ns)
{
    uint64_t ms = ns / 1000000;
    if (ms >= 3600000) {
        chroprof__say_fixed(s, ms / 3600000, 0, 1);
        chroprof__say_text(s, ":");
    }
    chroprof__say_fixed(s, ms / 60000 % 60, 0, 2);
    chroprof__say_text(s, ":");
    chroprof__say_fixed(s, ms % 60000, 3, 5);
}

#define CHROPROF__NO_FIGURE UINT64_MAX

/* T: a time; t: the same in a table; k: in seconds; m: a moment; c: a count; d: all its digits; z:
 * two digits at least; f: tenths; w, p, h: a share, with 0, 1 or 2 decimals, of the figure after
 * it. */
static void chroprof__say_figure(chroprof__phrase *s, char how, const uint64_t *figures)
{
    switch (*figures == CHROPROF__NO_FIGURE ? '-' : how == 'c' && *figures < 100000 ? 'd' : how) {
    case '-': chroprof__say_text(s, "-"); break;
    case 'T': chroprof__say_scaled(s, *figures, chroprof__times, false); break;
    case 't': chroprof__say_scaled(s, *figures, chroprof__times, true); break;
    case 'k': chroprof__say_scaled(s, *figures, chroprof__seconds, true); break;
    case 'm': chroprof__say_moment(s, *figures); break;
    case 'c': chroprof__say_scaled(s, *figures, chroprof__counts, true); break;
    case 'z': chroprof__say_fixed(s, *figures, 0, 2); break;
    case 'f': chroprof__say_fixed(s, *figures, 1, 2); break;
    case 'w': chroprof__say_share(s, figures[0], figures[1], 0); break;
    case 'p': chroprof__say_share(s, figures[0], figures[1], 1); break;
    case 'h': chroprof__say_share(s, figures[0], figures[1], 2); break;
    default: chroprof__say_fixed(s, *figures, 0, 1);
    }
}

/* Says a text in which %t and its like stand for the next of the figures, as the letters above;
 * %7t: right-aligned in 7 columns. */
static void chroprof__say(chroprof__phrase *s, const char *text, const uint64_t *figures)
{
    char letter[2] = { 0, 0 };
    chroprof__phrase one;
    for (; *text != 0; text++) {
        letter[0] = *text;
        if (*text != '%') {
            chroprof__say_text(s, letter);
            continue;
        }
        uint32_t width = text[1] >= '0' && text[1] <= '9' ? (uint32_t)(*++text - '0') : 0;
        one.used = 0;
        chroprof__say_figure(&one, *++text, figures);
        figures += strchr("wph", *text) != NULL ? 2 : 1;
        for (const char *at = one.text; *at != 0; at++)     /* each byte a column, but in micro */
            width -= width > 0 && ((unsigned char)*at & 0xC0u) != 0x80u;
        for (; width > 0; width--)
            chroprof__say_text(s, " ");
        chroprof__say_text(s, one.text);
    }
}

/* A phrase that is no more than that. */
CHROPROF__UNUSED static void chroprof__say_only(chroprof__phrase *s, const char *text,
                                                const uint64_t *figures)
{
    s->used = 0;
    s->text[0] = 0;
    chroprof__say(s, text, figures);
}
#endif
