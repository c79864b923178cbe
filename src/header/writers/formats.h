/* writers/formats.h */
#pragma once
#include "../interface/kinds.h"
#include "../interface/types.h"
#include "../interface/output.h"
#include "../base/platform.h"
#include "../writers/output.h"

/* >>formats: the calls that write, a format chosen by its constant. */

CHROPROF__COLD_API int (chroprof_write)(chroprof *p, chroprof_format format, chroprof_writer write,
                                        void *user)
{
    return chroprof_write(p, format, write, user);
}

CHROPROF__COLD_API int chroprof_write_text(chroprof *p, const chroprof_text_options *options,
                                           chroprof_writer write, void *user)
{
    return chroprof__put_profile(p, chroprof__as_text, write, user, options, NULL);
}

CHROPROF__COLD_API int chroprof_write_prometheus(chroprof *p,
                                                 const chroprof_prometheus_options *options,
                                                 chroprof_writer write, void *user)
{
    return chroprof__put_profile(p, chroprof__as_prometheus, write, user, NULL, options);
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

CHROPROF__COLD_API int chroprof__dump_by(chroprof *p, chroprof__writes *as, FILE *out)
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
