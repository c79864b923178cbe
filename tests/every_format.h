/* tests/every_format.h - a profile that stands still, in every format that has a checker, into a
 * folder. The harness uses it; and a program that was compiled with
 *   -DEVERY_FORMAT_OF='"name"' -include tests/every_format.h
 * leaves its profile so in the folder PROFILES when it writes its JSON. */
#ifndef EVERY_FORMAT_H
#define EVERY_FORMAT_H

#ifdef EVERY_FORMAT_OF
#define CHROPROF_IMPLEMENTATION
#endif
#include "../chroprof.h"

#include <stdio.h>
#include <stdlib.h>

static inline int every_format_bytes(void *user, const void *bytes, size_t count)
{
    return fwrite(bytes, 1, count, (FILE *)user) != count;
}

static inline bool every_format(chroprof *p, const char *folder, const char *name)
{
    static const char *const ends[] = { "json", "folded", "prometheus", "pprof" };
    static const chroprof_format formats[] = { CHROPROF_JSON, CHROPROF_FOLDED, CHROPROF_PROMETHEUS,
                                               CHROPROF_PPROF };
    char path[512];
    size_t i;
    for (i = 0; i < sizeof formats / sizeof *formats; i++) {
        FILE *out;
        snprintf(path, sizeof path, "%s/%s.%s", folder, name, ends[i]);
        out = fopen(path, "wb");
        if (out == NULL || chroprof_write(p, formats[i], every_format_bytes, out) != 0 ||
            fclose(out) != 0)
            return false;
    }
    return true;
}

#ifdef EVERY_FORMAT_OF
/* Switched off, so that the formats agree with each other. */
static inline void every_format_of(chroprof *p, chroprof_format format)
{
    const char *folder = getenv("PROFILES");
    if (format != CHROPROF_JSON || folder == NULL)
        return;
    chroprof_set_enabled(p, false);
    if (!every_format(p, folder, EVERY_FORMAT_OF)) {
        perror(EVERY_FORMAT_OF);
        exit(1);
    }
}

static inline int every_format_dump(chroprof *p, chroprof_format format, FILE *out)
{
    every_format_of(p, format);
    return chroprof_dump(p, format, out);
}

static inline int every_format_write(chroprof *p, chroprof_format format, chroprof_writer write,
                                     void *user)
{
    every_format_of(p, format);
    return chroprof_write(p, format, write, user);
}

#undef chroprof_dump
#undef chroprof_write
#define chroprof_dump every_format_dump
#define chroprof_write every_format_write
#endif
#endif
