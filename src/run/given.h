/* given.h - what led here, kept for a program that this one becomes */

#ifndef PRELOAD_GIVEN_H
#define PRELOAD_GIVEN_H

#include "run.h"
#include "seats.h"

/* >>exec: a wrapper that becomes the program, as env and many scripts do, gives the library back to
 * it. Children that run exec do not: their process is another one. */

extern char **environ;

static pid_t watched_process;  /* 0: none */
static char given_preload[sizeof folder + 64];
static char given_folder[sizeof folder + 32];
static char given_options[96];

static bool has_name(const char *entry, const char *name)
{
    size_t length = strlen(name);
    return strncmp(entry, name, length) == 0 && entry[length] == '=';
}

#endif
