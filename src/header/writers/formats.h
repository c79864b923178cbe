/* writers/formats.h */
#pragma once
#include "../interface/types.h"
#include "../interface/output.h"
#include "../base/platform.h"
#include "../base/util.h"
#include "../writers/output.h"

/* >>formats: the calls that write, a format chosen by its constant, and what a query asks for. */

CHROPROF__COLD_API int (chroprof_write)(chroprof *p, chroprof_format format, chroprof_writer write,
                                        void *user)
{
    return chroprof_write(p, format, write, user);
}

CHROPROF__COLD_API int chroprof_write_text(chroprof *p, const chroprof_text_options *options,
                                           chroprof_writer write, void *user)
{
    return chroprof__put_profile(p, chroprof_as_text, write, user, options, NULL);
}

CHROPROF__COLD_API int chroprof_write_prometheus(chroprof *p,
                                                 const chroprof_prometheus_options *options,
                                                 chroprof_writer write, void *user)
{
    return chroprof__put_profile(p, chroprof_as_prometheus, write, user, NULL, options);
}

/* What each format is called in a query, and by HTTP. */
static const char chroprof__format_words[] =
    "text\0text/plain; charset=utf-8\0" "json\0application/json\0"
    "folded\0text/plain; charset=utf-8\0" "prometheus\0text/plain; version=0.0.4; charset=utf-8\0"
    "pprof\0application/octet-stream\0" "\0\0" "\0\0"
    "prometheus-all\0text/plain; version=0.0.4; charset=utf-8";

static bool chroprof__parse_format(const char *name, size_t length, chroprof_query *out)
{
    const char *word = chroprof__format_words;
    for (int k = 0; k <= CHROPROF_PROMETHEUS_ALL; k++, word = chroprof__nth_text(word, 2))
        if (length > 0 && strncmp(name, word, length) == 0 && word[length] == 0) {
            out->format = (chroprof_format)k;
            return true;
        }
    return false;
}

static bool chroprof__parse_seconds(const char *value, size_t length, chroprof_query *out)
{
    uint32_t seconds = 0;
    for (size_t i = 0; i < length; i++) {
        if (value[i] < '0' || value[i] > '9' || seconds > 86400)
            return false;
        seconds = seconds * 10 + (uint32_t)(value[i] - '0');
    }
    if (length == 0 || seconds > 86400)
        return false;
    out->seconds = seconds;
    return true;
}

CHROPROF__COLD_API bool chroprof_parse_query(const char *query, chroprof_query *out)
{
    const char *pair = query != NULL ? query : "";
    bool good = true;
    memset(out, 0, sizeof *out);
    while (*pair != 0) {
        size_t length = strcspn(pair, "&");
        if (strncmp(pair, "format=", 7) == 0)
            good = chroprof__parse_format(pair + 7, length - 7, out) && good;
        else if (strncmp(pair, "seconds=", 8) == 0)
            good = chroprof__parse_seconds(pair + 8, length - 8, out) && good;
        pair += length + (pair[length] == '&');
    }
    out->content_type = chroprof__nth_text(chroprof__format_words,
                                              2 * (uint32_t)out->format + 1);
    return good;
}

#ifndef CHROPROF_NO_STDIO
static bool chroprof__terminal(FILE *out, uint32_t *width)
{
#ifdef CHROPROF__TERMINAL
    int number = fileno(out);
    if (number < 0 || !isatty(number))
        return false;
#ifdef TIOCGWINSZ
    struct winsize size;
    if (ioctl(number, TIOCGWINSZ, &size) == 0)
        *width = size.ws_col;
#else
    (void)width;
#endif
    return true;
#else
    (void)out;
    (void)width;
    return false;
#endif
}

static int chroprof__write_stream(void *user, const void *bytes, size_t count)
{
    return fwrite(bytes, 1, count, (FILE *)user) != count;
}

CHROPROF__COLD_API int chroprof_dump_by(chroprof *p, chroprof__writes *as, FILE *out)
{
    chroprof_text_options look;
    int before = errno;
    if (out == NULL) {
        errno = EINVAL;
        return -1;
    }
    const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM"), *wide = getenv("COLUMNS");
    bool plain = (no_color && *no_color) || (term && strcmp(term, "dumb") == 0);
    memset(&look, 0, sizeof look);
    look.color = chroprof__terminal(out, &look.width) && !plain;
    unsigned long told = look.width == 0 && wide ? strtoul(wide, NULL, 10) : look.width;
    look.width = told < 1000 ? (uint32_t)told : 1000;
    errno = 0;
    if (chroprof__put_profile(p, as, chroprof__write_stream, out, &look, NULL) == 0 &&
        fflush(out) == 0) {
        errno = before;
        return 0;
    }
    if (errno == 0)
        errno = ferror(out) ? EIO : EINVAL;
    return -1;
}

CHROPROF__COLD_API int (chroprof_dump)(chroprof *p, chroprof_format format, FILE *out)
{
    return chroprof_dump(p, format, out);
}
#endif /* CHROPROF_NO_STDIO */
