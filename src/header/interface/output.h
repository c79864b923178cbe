/* interface/output.h */
#pragma once
#include "../interface/config.h"
#include "../interface/kinds.h"
#include "../interface/types.h"

/* >>api output */

/* Writes the profile in pieces of at most some KiB, and first brings a live profile up to now (not
 * in on_stall). Returns 0, or -1 if the writer stopped it, the format was left out, or there is no
 * profile. Without a profile the text is one line that says why, and JSON an object with only
 * why_off. Never allocates. If format is a constant, an optimized program links only that format:
 * compile with -ffunction-sections and link with -Wl,--gc-sections. (chroprof_write), in
 * parentheses, is the function and links all. */
CHROPROF_API int chroprof_write(chroprof *p, chroprof_format format, chroprof_writer write,
                                void *user);

#ifndef CHROPROF_NO_STDIO
/* Writes a report into a stream. Color and width of the text report follow the terminal, if it is
 * one. Returns 0, or -1 with errno set; EINVAL if out is NULL. */
CHROPROF_API int chroprof_dump(chroprof *p, chroprof_format format, FILE *out);
#endif

struct chroprof__out;
typedef void chroprof__writes(struct chroprof__out *o, const chroprof *p);

/* What these two choose from: each format is a function of its own, and nothing else refers to it.
 * Only for their macros. */
CHROPROF_API chroprof__writes chroprof__as_text, chroprof__as_json, chroprof__as_folded,
    chroprof__as_prometheus, chroprof__as_prometheus_all, chroprof__as_pprof, chroprof__as_none;

/* chroprof_write with the function that was chosen. */
CHROPROF_API int chroprof__write_by(chroprof *p, chroprof__writes *as, chroprof_writer write,
                                    void *user);

static inline CHROPROF__ATTRIBUTES((__always_inline__, __unused__))
chroprof__writes *chroprof__writes_of(chroprof_format chroprof__chosen)
{
    switch (chroprof__chosen) {
    case CHROPROF_TEXT: return chroprof__as_text;
    case CHROPROF_JSON: return chroprof__as_json;
    case CHROPROF_FOLDED: return chroprof__as_folded;
    case CHROPROF_PROMETHEUS: return chroprof__as_prometheus;
    case CHROPROF_PPROF: return chroprof__as_pprof;
    case CHROPROF_PROMETHEUS_ALL: return chroprof__as_prometheus_all;
    }
    return chroprof__as_none;
}
#define chroprof_write(p, format, write, user) \
    chroprof__write_by(p, chroprof__writes_of(format), write, user)

#ifndef CHROPROF_NO_STDIO
/* chroprof_dump with the function that was chosen. */
CHROPROF_API int chroprof__dump_by(chroprof *p, chroprof__writes *as, FILE *out);
#define chroprof_dump(p, format, out) chroprof__dump_by(p, chroprof__writes_of(format), out)
#endif

/* How the text report looks. Zeroed: 80 columns, UTF-8, no color, 20 sites, by exec. */
typedef struct chroprof_text_options {
    uint32_t width;            /* 60 to 200 columns */
    uint32_t top;              /* rows of the ranked table, at most 40 */
    chroprof_order by;
    bool ascii;                /* plain ASCII bars */
    bool color;                /* ANSI colors */
} chroprof_text_options;

/* The text report with options; NULL: zeroed. Otherwise as chroprof_write. */
CHROPROF_API int chroprof_write_text(chroprof *p, const chroprof_text_options *options,
                                     chroprof_writer write, void *user);

/* What the Prometheus text shows, of the series of CHROPROF_PROMETHEUS. Zeroed: every site. */
typedef struct chroprof_prometheus_options {
    uint32_t top;              /* series per metric, at most 100; the rest is "(other)"; 0: all */
    chroprof_order by;         /* whose live futures, slice lengths and latency; see below */
} chroprof_prometheus_options;

/* The Prometheus text with a limit on the series; options NULL: zeroed. Otherwise as
 * chroprof_write. With a limit, each counter shows the sites that lead in that very counter, so
 * that "(other)" never falls either. Live futures, slice lengths and latency go by `by`; the latter
 * two have no "(other)". A site gets a label `id` if its other labels cannot tell it from all
 * others: a cut name, or bytes that are not UTF-8. */
CHROPROF_API int chroprof_write_prometheus(chroprof *p, const chroprof_prometheus_options *options,
                                           chroprof_writer write, void *user);

/* The structs of this interface, which chroprof_sizeof knows. */
#define CHROPROF_STRUCTS(X)                                                                        \
    X(chroprof) X(chroprof_anomaly) X(chroprof_anomaly_place) X(chroprof_finding) X(chroprof_frame)\
    X(chroprof_future) X(chroprof_module) X(chroprof_options) X(chroprof_origin) X(chroprof_path)  \
    X(chroprof_prometheus_options) X(chroprof_rank) X(chroprof_sample_row)                         \
    X(chroprof_sampler_options) X(chroprof_sampler_totals) X(chroprof_site) X(chroprof_site_row)   \
    X(chroprof_slow) X(chroprof_slow_blame) X(chroprof_stack_frame) X(chroprof_stack_row)          \
    X(chroprof_stall) X(chroprof_stall_sample) X(chroprof_stall_share) X(chroprof_step)            \
    X(chroprof_table) X(chroprof_task_wait) X(chroprof_text_options) X(chroprof_totals)            \
    X(chroprof_wall) X(chroprof_window) X(chroprof_windows_cursor)
