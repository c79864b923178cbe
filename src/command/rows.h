/* rows.h - tables whose rows are there once, of numbers or of texts: what the writers of other
 * programs' formats are made of. */

#ifndef COMMAND_ROWS_H
#define COMMAND_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "buffer.h"
#include "json.h"

#define ROW_NONE UINT64_MAX    /* a cell without a number */
#define ROW_MOST 8

typedef struct row_table {
    uint64_t *cells;
    uint32_t *slots;           /* row + 1, 0: free; twice as many as rows, a power of two */
    size_t width, key;         /* cells of a row, and of them those it is found by */
    size_t count, room;
    bool failed;               /* out of memory; a message was written */
} row_table;

/* The number of the row that begins like this one, which is added if there is none. */
size_t row_of(row_table *t, const uint64_t *row);

uint64_t row_cell(const row_table *t, size_t row, size_t cell);

void row_free(row_table *t);

typedef struct text_table {
    row_table rows;
    byte_buffer bytes;
} text_table;

void text_begin(text_table *t);

void text_free(text_table *t);

/* The number of a text. Other texts of its hash are its twins. */
uint64_t text_of(text_table *t, json_text text);

uint64_t text_word(text_table *t, const char *word);

json_text text_at(const text_table *t, size_t number);

#endif
