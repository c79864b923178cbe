/* foreign.c - see foreign.h */

#include "foreign.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

uint32_t foreign_next(const char **at)
{
    static const uint32_t least[] = { 0, 0x80, 0x800, 0x10000 };
    const unsigned char *s = (const unsigned char *)*at;
    unsigned more = s[0] < 0xC2 ? 0 : s[0] < 0xE0 ? 1 : s[0] < 0xF0 ? 2 : s[0] < 0xF5 ? 3 : 0;
    uint32_t code = more == 0 ? s[0] : s[0] & (0x3Fu >> more);
    *at += 1;
    if (more == 0) {
        return s[0] < 0x80 ? code : FOREIGN_BYTE + s[0];
    }
    for (unsigned i = 1; i <= more; i++) {
        if ((s[i] & 0xC0u) != 0x80u) {
            return FOREIGN_BYTE + s[0];
        }
        code = code << 6 | (s[i] & 0x3Fu);
    }
    if (code < least[more] || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) {
        return FOREIGN_BYTE + s[0];
    }
    *at += more;
    return code;
}

size_t utf8_put(uint32_t code, char out[4])
{
    size_t count = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (size_t i = count - 1; i > 0; i--, code >>= 6) {
        out[i] = (char)(0x80u | (code & 0x3Fu));
    }
    out[0] = (char)(count == 1 ? code : (0xF00u >> count & 0xFFu) | code);
    return count;
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

unsigned code_width(uint32_t code)
{
    static const uint32_t hidden[][2] = {
        { 0, 0x1F }, { 0x7F, 0x9F }, { 0xAD, 0xAD }, { 0x300, 0x36F }, { 0x483, 0x489 },
        { 0x591, 0x6DD }, { 0x70F, 0x74A }, { 0x7A6, 0x8FF }, { 0x93A, 0x94F },
        { 0x1AB0, 0x1AFF }, { 0x1DC0, 0x1DFF }, { 0x180B, 0x180F }, { 0x200B, 0x200F },
        { 0x2028, 0x202E }, { 0x2060, 0x206F }, { 0x20D0, 0x20FF }, { 0xFE00, 0xFE0F },
        { 0xFE20, 0xFE2F }, { 0xFEFF, 0xFEFF }, { 0xFFF0, 0xFFFB }, { 0xE0000, 0x1100FF }
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

unsigned foreign_escape(char out[12], uint32_t code)
{
    bool byte = code < 0x80 || code >= FOREIGN_BYTE;
    return (unsigned)snprintf(out, 12, byte ? "\\x%02x" : "\\u%04x",
                              (unsigned)(byte ? code & 0xFF : code));
}

void foreign_print(FILE *out, const char *text)
{
    char shown[512];
    size_t used = 0;
    while (*text != '\0') {
        const char *start = text;
        uint32_t code = foreign_next(&text);
        if (used + 12 > sizeof shown) {     /* standard error has no buffer of its own */
            (void)fwrite(shown, 1, used, out);
            used = 0;
        }
        if (code_width(code) > 0) {
            memcpy(shown + used, start, (size_t)(text - start));
            used += (size_t)(text - start);
        } else {
            used += foreign_escape(shown + used, code);
        }
    }
    (void)fwrite(shown, 1, used, out);
}
