/* rows.c - see rows.h */

#include "rows.h"

#include <stdlib.h>
#include <string.h>

#include "hash.h"
#include "message.h"

static uint64_t row_hash(const uint64_t *cells, size_t count)
{
    uint64_t hash = 0;
    for (size_t i = 0; i < count; i++) {
        hash = hash_mix(hash, cells[i]);
    }
    return hash;
}

/* The slot of a row, or the free one where it belongs. */
static size_t row_slot(const row_table *t, const uint64_t *row)
{
    size_t mask = 2 * t->room - 1;
    size_t slot = (size_t)row_hash(row, t->key) & mask;
    while (t->slots[slot] != 0 &&
           memcmp(t->cells + (t->slots[slot] - 1) * t->width, row, t->key * sizeof *row) != 0) {
        slot = (slot + 1) & mask;
    }
    return slot;
}

static bool row_grow(row_table *t)
{
    size_t room = t->room > 0 ? 2 * t->room : 64;
    uint64_t *cells = (uint64_t *)realloc(t->cells, room * t->width * sizeof *cells);
    uint32_t *slots = (uint32_t *)calloc(2 * room, sizeof *slots);
    t->cells = cells != NULL ? cells : t->cells;
    t->failed = t->failed || cells == NULL || slots == NULL || room > UINT32_MAX / 2;
    if (t->failed) {
        free(slots);
        tool_message("not enough memory for the output");
        return false;
    }
    free(t->slots);
    t->slots = slots;
    t->room = room;
    for (size_t i = 0; i < t->count; i++) {
        t->slots[row_slot(t, t->cells + i * t->width)] = (uint32_t)i + 1;
    }
    return true;
}

size_t row_of(row_table *t, const uint64_t *row)
{
    size_t slot;
    if (t->failed || (t->count == t->room && !row_grow(t))) {
        return 0;
    }
    slot = row_slot(t, row);
    if (t->slots[slot] == 0) {
        memcpy(t->cells + t->count * t->width, row, t->width * sizeof *row);
        t->slots[slot] = (uint32_t)++t->count;
    }
    return t->slots[slot] - 1;
}

uint64_t row_cell(const row_table *t, size_t row, size_t cell)
{
    return row < t->count ? t->cells[row * t->width + cell] : ROW_NONE;
}

void row_free(row_table *t)
{
    free(t->cells);
    free(t->slots);
    t->cells = NULL;
    t->slots = NULL;
}

enum { TEXT_HASH, TEXT_LENGTH, TEXT_TWIN, TEXT_AT, TEXT_WIDTH };

void text_begin(text_table *t)
{
    memset(t, 0, sizeof *t);
    t->rows.width = TEXT_WIDTH;
    t->rows.key = TEXT_AT;
}

void text_free(text_table *t)
{
    row_free(&t->rows);
    free(t->bytes.bytes);
}

uint64_t text_of(text_table *t, json_text text)
{
    uint64_t row[TEXT_WIDTH] = { 0 };
    row[TEXT_HASH] = hash_bytes(text.bytes, text.length);
    row[TEXT_LENGTH] = text.length;
    row[TEXT_AT] = t->bytes.used;
    for (;; row[TEXT_TWIN]++) {
        size_t before = t->rows.count;
        size_t found = row_of(&t->rows, row);
        if (t->rows.failed) {
            return 0;
        }
        if (t->rows.count > before) {
            t->rows.failed = buffer_add(&t->bytes, text.bytes, text.length) != 0;
            return found;
        }
        if (text.length == 0 || memcmp(t->bytes.bytes + row_cell(&t->rows, found, TEXT_AT),
                                       text.bytes, text.length) == 0) {
            return found;
        }
    }
}

uint64_t text_word(text_table *t, const char *word)
{
    json_text text = { word, strlen(word) };
    return text_of(t, text);
}

json_text text_at(const text_table *t, size_t number)
{
    json_text text = { "", 0 };
    if (number < t->rows.count && t->bytes.bytes != NULL) {
        text.bytes = t->bytes.bytes + row_cell(&t->rows, number, TEXT_AT);
        text.length = (size_t)row_cell(&t->rows, number, TEXT_LENGTH);
    }
    return text;
}
