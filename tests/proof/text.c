/* UTF-8 of untrusted names: no step over the NUL, no code point that is none. */
#include "proof.h"

enum { LENGTH = 6 };

void prove_code_points_end_before_the_end(void)
{
    char text[LENGTH];
    const char *at = text;
    text[LENGTH - 1] = '\0';
    while (*at != '\0') {
        const char *before = at;
        uint32_t code = chroprof__next_code(&at);
        PROVE(at > before && at <= text + LENGTH - 1);
        PROVE(code <= 0x10FFFF && (code < 0xD800 || code > 0xDFFF));
    }
}

void prove_what_is_encoded_comes_back(void)
{
    char bytes[5];
    uint32_t code = any_u32();
    const char *at = bytes;
    ASSUME(code > 0 && code <= 0x10FFFF && (code < 0xD800 || code > 0xDFFF));
    size_t count = chroprof__encode(code, bytes);
    PROVE(count >= 1 && count <= 4);
    bytes[count] = '\0';
    PROVE(chroprof__next_code(&at) == code);
    PROVE(at == bytes + count);
}

void prove_strings_are_cut_inside(void)
{
    char text[LENGTH];
    size_t room = (size_t)any_u32();
    ASSUME(room < LENGTH);
    size_t kept = chroprof__whole_characters(text, room);
    PROVE(kept <= room);
    PROVE(kept == 0 || ((unsigned char)text[kept] & 0xC0) != 0x80);
}

void prove_copies_end_with_nul(void)
{
    char to[LENGTH], from[LENGTH + 4];
    from[LENGTH + 3] = '\0';
    chroprof__copy_text(to, LENGTH, from);
    PROVE(to[LENGTH - 1] == '\0');
}
