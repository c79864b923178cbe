/* columns.h - a long list of rows in the page: the keys once, then the values of all rows, which is
 * a fraction of the text, and quicker to read for a browser. A key that a row lacks is null there;
 * no profile has one of its own. */

#ifndef COMMAND_COLUMNS_H
#define COMMAND_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "json.h"

/* Inside a script element only a < could mean anything; in JSON it can only be in a text. */
void write_safe_json(FILE *out, const char *bytes, size_t length);

enum { COLUMNS_MOST = 64 };

typedef struct column_row {
    size_t count;
    json_text keys[COLUMNS_MOST], values[COLUMNS_MOST];
} column_row;

/* Whether a list can be columns; head: the keys of all its rows. */
bool columns_fit(const json_reader *whole, json_text list, column_row *head);

/* {"keys":[..],"values":[..]} of a list that fits. */
void write_columns(FILE *out, const json_reader *whole, json_text list,
                   const column_row *head);

#endif
