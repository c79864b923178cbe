/* mend.c - see mend.h */

#include "mend.h"

#include <string.h>

#include "foreign.h"
#include "message.h"

#define MEND_LONGEST 1000      /* bytes of a text, as in chroprof.h */

typedef struct mender {
    const char *at, *end;
    char *to;
    size_t length;             /* of the text so far, without its escapes */
    size_t bytes, texts;       /* that were not UTF-8; that were cut */
} mender;

/* Goes on by so many bytes of the source, which mean so many of the text. */
static void mend_take(mender *m, size_t count, size_t means)
{
    memmove(m->to, m->at, count);
    m->to += count;
    m->at += count;
    m->length += means;
}

/* One character or escape. A NUL behind the end stops what would read beyond it. */
static void mend_character(mender *m)
{
    const char *next = m->at;
    size_t left = (size_t)(m->end - m->at);
    if (left > 5 && next[0] == '\\' && next[1] == 'u') {
        mend_take(m, 6, memcmp(next + 2, "00", 2) == 0 && next[4] < '8' ? 1 : 3);
    } else if (left > 1 && next[0] == '\\' && (unsigned char)next[1] < 0x80) {
        mend_take(m, 2, 1);
    } else if (foreign_next(&next) < FOREIGN_BYTE) {
        mend_take(m, (size_t)(next - m->at), (size_t)(next - m->at));
    } else {
        mend_take(m, 1, 1);
        m->to[-1] = '?';
        m->bytes++;
    }
}

/* A text behind its first quote. What is cut off is looked at as well. */
static void mend_text(mender *m, bool whole)
{
    char *room = m->to;                      /* where "..." would begin */
    m->length = 0;
    while (m->at < m->end && *m->at != '"') {
        if (m->length <= MEND_LONGEST - 3) {
            room = m->to;
        } else if (m->length > MEND_LONGEST && !whole) {
            m->to = room + 3;
        }
        mend_character(m);
    }
    if (m->length > MEND_LONGEST && !whole) {
        memcpy(room, "...", 3);
        m->to = room + 3;
        m->texts++;
    }
}

static void mend_all(mender *m)
{
    bool whole = false;
    while (m->at < m->end) {
        const char *text = m->at + 1;
        bool quote = *m->at == '"';
        *m->to++ = *m->at++;
        if (quote) {
            mend_text(m, whole);
            whole = m->at - text == 4 && memcmp(m->to - 4, "data", 4) == 0;    /* as it was written */
            if (m->at < m->end) {
                *m->to++ = *m->at++;
            }
        }
    }
}

bool mend_json(byte_buffer *b, const char *name)
{
    mender m = { NULL, NULL, NULL, 0, 0, 0 };
    if (buffer_add(b, "", 1) != 0) {
        return false;
    }
    b->used--;
    m.at = m.to = b->bytes;
    m.end = b->bytes + b->used;
    mend_all(&m);
    b->used = (size_t)(m.to - b->bytes);
    if (m.bytes > 0) {
        tool_message("%s: %zu bytes are not UTF-8; they are shown as question marks", name, m.bytes);
    }
    if (m.texts > 0) {
        tool_message("%s: %zu texts of more than 1,000 bytes are cut", name, m.texts);
    }
    return true;
}
