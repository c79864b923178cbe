/* writers/folded.h */
#pragma once
#include "../interface/types.h"
#include "../interface/reading.h"
#include "../interface/output.h"
#include "../base/platform.h"
#include "../writers/words.h"
#include "../writers/output.h"

#ifndef CHROPROF_NO_FOLDED
/* >>folded: root;..;leaf INT, self time in microseconds.
 * The format has no escapes, and some readers take two numbers at the end of a line for two
 * profiles: no frame ends in blank and digits. Relies on the public reads; called by >>formats. */

CHROPROF__COLD void chroprof__folded_frame(chroprof__out *o, const char *name)
{
    const char *tail;                       /* nothing but blanks, digits and points */
    if (*name == 0)
        name = "(empty)";
    tail = name;
    for (const char *at = name; *at != 0; at++)
        if ((unsigned char)*at > ' ' && strchr("\x7F.0123456789", *at) == NULL)
            tail = at + 1;
    while (*name != 0) {
        bool in_tail = name >= tail;
        uint32_t code = chroprof__next_code(&name);
        if (code <= ' ' || (code >= 0x7F && code < 0xA0) || code == 0x2028 || code == 0x2029)
            chroprof__put_byte(o, in_tail ? '_' : ' ');
        else
            chroprof__put_code(o, code == ';' ? ':' : code);
    }
}

enum { CHROPROF__FOLDED_MARKS = 64 };

/* Prints the last count frames of a chain, the one nearest the root first, though links only lead
 * towards the root: the chain is marked in at most 64 places and each part printed the same way.
 * So it takes count x log64(count) steps, and recurses at most 6 deep for any 32-bit count. */
CHROPROF__COLD void chroprof__folded_chain(chroprof__out *o, const chroprof *p, uint32_t path,
                                           uint32_t count)
{
    uint32_t marks[CHROPROF__FOLDED_MARKS] = { 0 };
    uint32_t step = (count - 1) / CHROPROF__FOLDED_MARKS + 1;
    uint32_t last = (count - 1) / step;
    for (uint32_t i = 0; i < count; i++) {
        if (i % step == 0)
            marks[i / step] = path;
        (void)chroprof_path_name(p, path, &path, NULL);
    }
    for (uint32_t i = last + 1; i > 0 && !o->failed; i--) {
        if (step == 1) {
            chroprof__put_byte(o, ';');
            chroprof__folded_frame(o, chroprof_path_name(p, marks[i - 1], NULL, NULL));
        } else {
            chroprof__folded_chain(o, p, marks[i - 1], i - 1 == last ? count - last * step : step);
        }
    }
}

/* A line of a path, or, path 0, of what has a name of its own. */
static void chroprof__folded_line(chroprof__out *o, const chroprof *p, const char *root,
                                  uint32_t path, const char *name, uint64_t ns)
{
    uint32_t depth = 0;
    if (ns < 1000)
        return;
    chroprof__folded_frame(o, *root != 0 ? root : "loop");
    for (uint32_t up = path; up != 0; depth++)
        (void)chroprof_path_name(p, up, &up, NULL);
    if (depth > 0)
        chroprof__folded_chain(o, p, path, depth);
    chroprof__put_text(o, name);
    chroprof__put_byte(o, ' ');
    chroprof__put_u64(o, ns / 1000);
    chroprof__put_byte(o, '\n');
}

CHROPROF__COLD_API void chroprof__as_folded(chroprof__out *o, const chroprof *p)
{
    uint64_t cursor = 0;
    chroprof_options of;
    chroprof_totals t;
    chroprof_path row;
    if (o->absent)
        return;
    chroprof_read_options(p, &of);
    while (!o->failed && chroprof_next_path(p, &cursor, &row))
        chroprof__folded_line(o, p, of.name, row.id, "", row.exec_ns);
    chroprof_read_totals(p, &t);
    chroprof__folded_line(o, p, of.name, 0, ";(uninstrumented)", t.uninstrumented_ns);
    chroprof__folded_line(o, p, of.name, 0, ";(untracked)", t.untracked_ns);
    chroprof__folded_line(o, p, of.name, 0, ";(idle)", t.idle_ns);
}
#else
CHROPROF__LEFT_OUT(chroprof__as_folded)
#endif /* CHROPROF_NO_FOLDED */
