/* windows.h - the sites of a profile and their lists of windows, read side by side, a number each a
 * window, so that memory is what the text takes, whatever the number of sites and windows. */

#ifndef COMMAND_WINDOWS_H
#define COMMAND_WINDOWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "json.h"
#include "profile.h"

typedef struct window_site {
    json_text name, file;      /* without their quotes */
    uint64_t line, exec_ns;
    json_text windows;
    json_reader cursor;        /* at the site's number for the next window */
    bool first, ambiguous;     /* ambiguous: another site has this name */
} window_site;

/* What a window holds besides sites. */
typedef struct window_row {
    uint64_t start, end, busy, idle, loop, untracked;
} window_row;

typedef struct window_list {
    const profile_text *profile;
    window_site *sites;        /* the busiest first */
    size_t site_count;
    uint64_t *exec;            /* of each site in the window under way */
    window_site **active;      /* those whose lists have not ended, in the same order */
    size_t active_count;
} window_list;

/* Reads the sites. false, with a message. */
bool windows_open(window_list *w, const profile_text *p);

void windows_free(window_list *w);

/* Calls take for each window, in the order of time. false, with a message. */
bool windows_each(window_list *w, void (*take)(void *user, const window_row *row), void *user);

#endif
