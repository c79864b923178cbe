/* sheet.h - text for people, line by line, that never passes its width. What is shown may come from
 * an untrusted profile: nothing but printable characters reaches the terminal. */

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

/* >>sheet bytes */

/* Without memory the rest of the text is left out. */
static void sheet_bytes(sheet *s, const char *bytes, size_t count)
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

static void sheet_raw(sheet *s, const char *text)
{
    sheet_bytes(s, text, strlen(text));
}

static void sheet_style(sheet *s, const char *code)
{
    if (s->color) {
        sheet_raw(s, "\033[");
        sheet_raw(s, code);
        sheet_raw(s, "m");
    }
}

static void sheet_newline(sheet *s)
{
    sheet_raw(s, s->end);
    s->column = s->blanks = 0;
}

/* >>sheet characters */

/* The next code point of a text; what is not UTF-8 is U+FFFD, a byte at a time. */
static uint32_t sheet_next(const char **at)
{
    static const uint32_t least[] = { 0, 0x80, 0x800, 0x10000 };
    const unsigned char *s = (const unsigned char *)*at;
    unsigned more = s[0] < 0xC2 ? 0 : s[0] < 0xE0 ? 1 : s[0] < 0xF0 ? 2 : s[0] < 0xF5 ? 3 : 0;
    uint32_t code = more == 0 ? s[0] : s[0] & (0x3Fu >> more);
    *at += 1;
    if (more == 0) {
        return s[0] < 0x80 ? code : 0xFFFD;
    }
    for (unsigned i = 1; i <= more; i++) {
        if ((s[i] & 0xC0u) != 0x80u) {
            return 0xFFFD;
        }
        code = code << 6 | (s[i] & 0x3Fu);
    }
    if (code < least[more] || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) {
        return 0xFFFD;
    }
    *at += more;
    return code;
}

static bool code_between(uint32_t code, const uint32_t (*ranges)[2], size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (code >= ranges[i][0] && code <= ranges[i][1]) {
            return true;
        }
    }
    return false;
}

/* Columns of a printable character; 0: it is none, or could move what stands around it. */
static unsigned code_width(uint32_t code)
{
    static const uint32_t hidden[][2] = {
        { 0, 0x1F }, { 0x7F, 0x9F }, { 0xAD, 0xAD }, { 0x300, 0x36F }, { 0x483, 0x489 },
        { 0x591, 0x6DD }, { 0x70F, 0x74A }, { 0x7A6, 0x8FF }, { 0x93A, 0x94F },
        { 0x1AB0, 0x1AFF }, { 0x1DC0, 0x1DFF }, { 0x180B, 0x180F }, { 0x200B, 0x200F },
        { 0x2028, 0x202E }, { 0x2060, 0x206F }, { 0x20D0, 0x20FF }, { 0xFE00, 0xFE0F },
        { 0xFE20, 0xFE2F }, { 0xFEFF, 0xFEFF }, { 0xFFF0, 0xFFFB }, { 0xE0000, 0x10FFFF }
    };
    static const uint32_t wide[][2] = {
        { 0x1100, 0x115F }, { 0x2E80, 0x303E }, { 0x3041, 0xA4CF }, { 0xA960, 0xA97F },
        { 0xAC00, 0xD7A3 }, { 0xF900, 0xFAFF }, { 0xFE30, 0xFE6F }, { 0xFF01, 0xFF60 },
        { 0xFFE0, 0xFFE6 }, { 0x16FE0, 0x18AFF }, { 0x1B000, 0x1B2FF }, { 0x1F000, 0x1FAFF },
        { 0x20000, 0x3FFFD }
    };
    if (code_between(code, hidden, sizeof hidden / sizeof hidden[0])) {
        return 0;
    }
    return code_between(code, wide, sizeof wide / sizeof wide[0]) ? 2 : 1;
}

static void sheet_encode(sheet *s, uint32_t code)
{
    char bytes[4];
    size_t count = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (size_t i = count - 1; i > 0; i--, code >>= 6) {
        bytes[i] = (char)(0x80u | (code & 0x3Fu));
    }
    bytes[0] = (char)(count == 1 ? code : (0xF00u >> count & 0xFFu) | code);
    sheet_bytes(s, bytes, count);
}

/* One printable character, if it still fits. */
static void sheet_code(sheet *s, uint32_t code, unsigned width)
{
    static const char spaces[] = "                                ";
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
    sheet_encode(s, s->ascii && code >= 0x80 ? '?' : code);
    s->column += width;
}

/* A mark of our own, in either character set. */
static void sheet_glyph(sheet *s, uint32_t code, char ascii)
{
    sheet_code(s, s->ascii ? (unsigned char)ascii : code, 1);
}

/* >>sheet text */

/* Writes the escape of a character that is not printable; returns its columns. */
static unsigned sheet_escape(char out[12], uint32_t code)
{
    return (unsigned)snprintf(out, 12, code < 0x100 ? "\\x%02x" : "\\u%04x", (unsigned)code);
}

static unsigned text_width(const char *text)
{
    char escape[12];
    unsigned sum = 0;
    while (*text != '\0') {
        uint32_t code = sheet_next(&text);
        unsigned width = code_width(code);
        sum += width > 0 ? width : sheet_escape(escape, code);
    }
    return sum;
}

/* Any text, cut after so many columns. */
static void sheet_cut(sheet *s, const char *text, unsigned most)
{
    char escape[12];
    bool cut = text_width(text) > most;
    unsigned room = cut ? most - (most > 0) : most;
    while (*text != '\0') {
        uint32_t code = sheet_next(&text);
        unsigned width = code_width(code);
        unsigned columns = width > 0 ? width : sheet_escape(escape, code);
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

static void sheet_text(sheet *s, const char *text)
{
    sheet_cut(s, text, s->columns);
}

static void sheet_styled(sheet *s, const char *style, const char *text)
{
    sheet_style(s, style);
    sheet_text(s, text);
    sheet_style(s, SHEET_PLAIN);
}

static void sheet_blank_to(sheet *s, unsigned column)
{
    if (column > s->column + s->blanks) {
        s->blanks = column - s->column;
    }
}

/* Ends at the column. */
static void sheet_right(sheet *s, const char *text, unsigned end)
{
    unsigned width = text_width(text);
    sheet_blank_to(s, end > width ? end - width : 0);
    sheet_text(s, text);
}

/* Any text on a stream that may be a terminal. */
static void print_safely(FILE *out, const char *text)
{
    sheet s;
    memset(&s, 0, sizeof s);
    s.columns = 4096;
    sheet_text(&s, text);
    (void)fwrite(s.bytes != NULL ? s.bytes : "", 1, s.used, out);
    free(s.bytes);
}

/* >>sheet figures: at most 7 columns each */

typedef struct figure {
    char text[24];
} figure;

/* value / unit with three digits. */
static figure figure_scaled(double value, const char *unit)
{
    figure f;
    int decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
    (void)snprintf(f.text, sizeof f.text, "%.*f%s", decimals, value, unit);
    return f;
}

/* From a minute up: 1m05s, 2h07m, 3d04h. */
static figure figure_long_time(uint64_t seconds)
{
    figure f;
    uint64_t minutes = seconds / 60;
    uint64_t hours = minutes / 60;
    if (minutes < 60) {
        (void)snprintf(f.text, sizeof f.text, "%um%02us", (unsigned)minutes,
                       (unsigned)(seconds % 60));
    } else if (hours < 24) {
        (void)snprintf(f.text, sizeof f.text, "%uh%02um", (unsigned)hours,
                       (unsigned)(minutes % 60));
    } else {
        (void)snprintf(f.text, sizeof f.text, "%ud%02uh", (unsigned)(hours / 24),
                       (unsigned)(hours % 24));
    }
    return f;
}

static figure figure_time(const sheet *s, uint64_t ns)
{
    figure f;
    double value = (double)ns;
    if (ns >= UINT64_C(60000000000)) {
        return figure_long_time(ns / 1000000000u);
    }
    if (ns < 1000) {
        (void)snprintf(f.text, sizeof f.text, ns == 0 ? "0" : "%uns", (unsigned)ns);
        return f;
    }
    return value < 999.5e3 ? figure_scaled(value / 1e3, s->ascii ? "us" : "\302\265s")
         : value < 999.5e6 ? figure_scaled(value / 1e6, "ms") : figure_scaled(value / 1e9, "s");
}

/* 1234567 becomes 1.23M. */
static figure figure_count(double value)
{
    figure f;
    if (value >= 9999.5) {
        return value < 999.5e3 ? figure_scaled(value / 1e3, "k")
             : value < 999.5e6 ? figure_scaled(value / 1e6, "M") : figure_scaled(value / 1e9, "G");
    }
    (void)snprintf(f.text, sizeof f.text, value > 0 && value < 9.95 ? "%.1f" : "%.0f", value);
    return f;
}

static double share_of(uint64_t part, uint64_t whole)
{
    return whole > 0 ? 100.0 * (double)part / (double)whole : 0;
}

static figure figure_percent(double percent)
{
    figure f;
    bool tiny = percent > 0 && percent < 0.05;
    (void)snprintf(f.text, sizeof f.text, tiny ? "<0.1%%" : "%.1f%%", percent);
    return f;
}

/* A bar of so many columns. */
static void sheet_bar(sheet *s, double percent, unsigned width)
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
