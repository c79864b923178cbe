/* made_names.c - see made_names.h */

#include "made_names.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include "buffer.h"

#define MADE_END "# chroprof names "
#define MADE_END_BYTES (sizeof MADE_END - 1 + 8 + 1)    /* 8 digits, a newline */
#define MADE_MOST ((size_t)8 << 20)                     /* bytes of a text */

/* >>made names text */

/* A text in the table that ends there; NULL: none. */
static const char *text_at(const python_names *n, size_t at)
{
    return at < sizeof n->text && memchr(n->text + at, '\0', sizeof n->text - at) != NULL
           ? n->text + at : NULL;
}

/* Texts may be anything where the table is not ours: what would end a line or a name is no part. */
static void put_text(byte_buffer *b, const char *text, bool name)
{
    for (; *text != '\0'; text++) {
        char one = (unsigned char)*text < 0x20 || (name && *text == ':') ? '?' : *text;
        (void)buffer_add(b, &one, 1);
    }
}

char *made_names_text(const python_names *names)
{
    byte_buffer b = { NULL, 0, 0 };
    if (names->magic != PYTHON_MAGIC) {
        return NULL;
    }
    for (uint32_t i = 0; i < PYTHON_NAMES; i++) {
        const python_name *row = &names->rows[i];
        const char *name = row->ready == 1 ? text_at(names, row->text) : NULL;
        const char *file = name != NULL ? text_at(names, row->text + strlen(name) + 1) : NULL;
        char head[64];
        if (file != NULL) {
            (void)snprintf(head, sizeof head, "%" PRIx64 " %x py::", python_address(i, 0) - 1,
                           1u << 25);
            (void)buffer_add(&b, head, strlen(head));
            put_text(&b, name, true);
            (void)buffer_add(&b, ":", 1);
            put_text(&b, file, false);
            (void)buffer_add(&b, "\n", 1);
        }
    }
    if (b.used == 0 || buffer_add(&b, "", 1) != 0) {
        free(b.bytes);
        return NULL;
    }
    return b.bytes;
}

/* How long the text before this end is; 0: it is none. */
static size_t length_before(const char *end, size_t size)
{
    size_t length;
    if (strncmp(end, MADE_END, sizeof MADE_END - 1) != 0) {
        return 0;
    }
    length = (size_t)strtoul(end + sizeof MADE_END - 1, NULL, 16);
    return length <= size - MADE_END_BYTES && length <= MADE_MOST ? length : 0;
}

char *made_names_behind(const char *bytes, size_t size)
{
    char end[MADE_END_BYTES + 1] = "";
    size_t length;
    char *text;
    if (size < MADE_END_BYTES) {
        return NULL;
    }
    memcpy(end, bytes + size - MADE_END_BYTES, MADE_END_BYTES);
    length = length_before(end, size);
    text = length > 0 ? (char *)calloc(1, length + 1) : NULL;
    if (text != NULL) {
        memcpy(text, bytes + size - MADE_END_BYTES - length, length);
    }
    return text;
}

char *made_names_in(int file, size_t size)
{
    char end[MADE_END_BYTES + 1] = "";
    size_t length;
    char *text;
    if (size < MADE_END_BYTES ||
        pread(file, end, MADE_END_BYTES, (off_t)(size - MADE_END_BYTES)) !=
            (ssize_t)MADE_END_BYTES) {
        return NULL;
    }
    length = length_before(end, size);
    text = length > 0 ? (char *)calloc(1, length + 1) : NULL;
    if (text != NULL && pread(file, text, length, (off_t)(size - MADE_END_BYTES - length)) !=
                            (ssize_t)length) {
        free(text);
        text = NULL;
    }
    return text;
}

char *made_names_beside(const char *path)
{
    static python_names names;
    char beside[4200];
    const char *name = strrchr(path, '/') != NULL ? strrchr(path, '/') + 1 : path;
    size_t folder = (size_t)(name - path);
    size_t digits = strspn(name, "0123456789");
    struct stat facts;
    FILE *file = NULL;
    bool whole = false;
    if (digits == 0 || name[digits] != '-' ||
        (size_t)snprintf(beside, sizeof beside, "%.*s%.*s.names", (int)folder, path, (int)digits,
                         name) >= sizeof beside) {
        return NULL;
    }
    if (stat(beside, &facts) == 0 && S_ISREG(facts.st_mode) &&
        (size_t)facts.st_size == sizeof names) {
        file = fopen(beside, "rb");
    }
    if (file != NULL) {
        whole = fread(&names, 1, sizeof names, file) == sizeof names;
        (void)fclose(file);
    }
    return whole ? made_names_text(&names) : NULL;
}

/* >>made names of blocks that are open */

typedef struct kept_names {
    struct kept_names *next;
    const char *bytes;
    size_t size;
    char *text;
} kept_names;

static kept_names **all_names(void)
{
    static kept_names *first;
    return &first;
}

void made_names_keep(const void *bytes, size_t size, char *text)
{
    kept_names **at = all_names();
    kept_names *one;
    while (*at != NULL && (*at)->bytes != (const char *)bytes) {
        at = &(*at)->next;
    }
    one = *at;
    if (one != NULL) {
        *at = one->next;
        free(one->text);
        free(one);
    }
    one = text != NULL ? (kept_names *)calloc(1, sizeof *one) : NULL;
    if (one == NULL) {
        free(text);
        return;
    }
    one->bytes = (const char *)bytes;
    one->size = size;
    one->text = text;
    one->next = *all_names();
    *all_names() = one;
}

const char *made_names_of(const chroprof *view)
{
    const char *core = (const char *)(const void *)view->core;
    for (const kept_names *one = *all_names(); core != NULL && one != NULL; one = one->next) {
        if (core >= one->bytes && core < one->bytes + one->size) {
            return one->text;
        }
    }
    return NULL;
}

bool made_names_write(const void *bytes, FILE *out)
{
    const kept_names *one = *all_names();
    size_t length;
    while (one != NULL && one->bytes != (const char *)bytes) {
        one = one->next;
    }
    if (one == NULL) {
        return true;
    }
    length = strlen(one->text);
    return fwrite(one->text, 1, length, out) == length &&
           fprintf(out, MADE_END "%08zx\n", length) > 0;
}
