/* page.h - the report page, src/page/report, and profiles in the form in which it reads them. */

#ifndef COMMAND_PAGE_H
#define COMMAND_PAGE_H

#include <stdbool.h>
#include <stdio.h>

#include "buffer.h"
#include "profile.h"

/* Where the profiles go. */
#define PAGE_MARK "<!-- chroprof:profiles -->"

/* The page of this file; NULL: the one that the command holds. false, with a message. */
bool page_load(byte_buffer *page, const char *name);

/* Where a text begins in the page, which the message names if it is not there: NULL. */
const char *page_find(const byte_buffer *page, const char *name, const char *text);

/* The text of the profile, but the long lists in a form that is quicker to read. */
bool page_write_profile(FILE *out, const profile_text *p);

#endif
