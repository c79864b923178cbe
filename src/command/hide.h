/* hide.h - ids in reports that others will read: --hide-ids. They may be addresses, or numbers that
 * mean something elsewhere, so what is written has 1, 2, 3 and so on in their place, in the order in
 * which they are met: the same number for the same id in all that one command reads. */

#ifndef COMMAND_HIDE_H
#define COMMAND_HIDE_H

#include <stdbool.h>

#include "../../chroprof.h"
#include "options.h"

/* Row of a table of options. */
#define HIDE_IDS                                                                                   \
    { "hide-ids", '\0', NULL, "1, 2, 3 and so on in place of ids", set_hide_ids, 0, NULL }

const char *set_hide_ids(void *field, const char *value);

/* Whether it was given. */
bool ids_are_hidden(void);

/* If it was given, all that the view reads from now on has numbers for ids. */
void hide_ids_of(chroprof *view);

#endif
