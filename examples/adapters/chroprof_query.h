/* chroprof_query.h - what a debug page is asked for, for any HTTP server. Include it after chroprof.h:
 *
 *     chroprof_query query;
 *     if (chroprof_parse_query("format=json&seconds=5", &query))
 *         the answer is of the type query.content_type; chroprof_query_write writes it
 *
 * chroprof_evhttp.h is a page that uses it.
 *
 * License: as chroprof.h. */

#ifndef CHROPROF_QUERY_H
#define CHROPROF_QUERY_H

/* The compiler keeps to itself what it holds of our style. CHROPROF_STRICT: it tells. */
#if defined(__GNUC__) && !defined(CHROPROF_STRICT)
#pragma GCC system_header
#endif

#include <string.h>
#ifndef CHROPROF_H
#include "chroprof.h"
#endif

#if defined(__GNUC__)
#define CHROPROF__QUERY_API static __attribute__((__unused__))
#else
#define CHROPROF__QUERY_API static
#endif

/* What a debug page is asked for. */
typedef struct chroprof_query {
    chroprof_format format;    /* text if the query names none */
    uint32_t seconds;          /* the next so many seconds; 0: the run so far */
    uint32_t top;              /* series per metric of prometheus, at most 100; 0: all */
    const char *content_type;  /* what HTTP calls the format; a static string */
} chroprof_query;

/* What each format is called in a query, and by HTTP. */
CHROPROF__QUERY_API const char *chroprof__query_word(int format, int column)
{
    static const char *const words[][2] = {
        { "text", "text/plain; charset=utf-8" },
        { "json", "application/json" },
        { "folded", "text/plain; charset=utf-8" },
        { "prometheus", "text/plain; version=0.0.4; charset=utf-8" },
        { "pprof", "application/octet-stream" },
        { "", "" },
        { "", "" },
        { "prometheus-all", "text/plain; version=0.0.4; charset=utf-8" }
    };
    return words[format][column];
}

CHROPROF__QUERY_API bool chroprof__query_format(const char *name, size_t length, chroprof_query *out)
{
    for (int k = 0; k <= (int)CHROPROF_PROMETHEUS_ALL; k++) {
        const char *const word = chroprof__query_word(k, 0);
        if (length > 0 && strlen(word) == length && strncmp(name, word, length) == 0) {
            out->format = (chroprof_format)k;
            return true;
        }
    }
    return false;
}

CHROPROF__QUERY_API bool chroprof__query_number(const char *value, size_t length, uint32_t most,
                                                uint32_t *out)
{
    uint32_t number = 0;
    for (size_t i = 0; i < length; i++) {
        if (value[i] < '0' || value[i] > '9' || number > most) {
            return false;
        }
        number = number * 10 + (uint32_t)(value[i] - '0');
    }
    if (length == 0 || number > most) {
        return false;
    }
    *out = number;
    return true;
}

/* Reads the part of a URL after "?", such as "format=json&seconds=5". format is text, json, folded,
 * prometheus, prometheus-all or pprof; seconds at most 86400, top at most 100. Other keys are
 * ignored; NULL is empty. Returns false for a wrong format or number; *out is then as if that key
 * were missing. Any thread. */
CHROPROF__QUERY_API bool chroprof_parse_query(const char *query, chroprof_query *out)
{
    const char *pair = query != NULL ? query : "";
    bool good = true;
    memset(out, 0, sizeof *out);
    while (*pair != 0) {
        const size_t length = strcspn(pair, "&");
        if (strncmp(pair, "format=", 7) == 0) {
            good = chroprof__query_format(pair + 7, length - 7, out) && good;
        } else if (strncmp(pair, "seconds=", 8) == 0) {
            good = chroprof__query_number(pair + 8, length - 8, 86400, &out->seconds) && good;
        } else if (strncmp(pair, "top=", 4) == 0) {
            good = chroprof__query_number(pair + 4, length - 4, 100, &out->top) && good;
        }
        pair += length + (pair[length] == '&');
    }
    out->content_type = chroprof__query_word((int)out->format, 1);
    return good;
}

/* Writes the profile as it was asked for, as chroprof_write does. */
CHROPROF__QUERY_API int chroprof_query_write(const chroprof_query *query, chroprof *profile,
                                             chroprof_writer write, void *user)
{
    if (query->format == CHROPROF_PROMETHEUS && query->top > 0) {
        chroprof_prometheus_options options;
        memset(&options, 0, sizeof options);
        options.top = query->top;
        return chroprof_write_prometheus(profile, &options, write, user);
    }
    return chroprof_write(profile, query->format, write, user);
}

#endif
