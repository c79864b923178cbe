/* writers/folded.h */
#pragma once
#include "../interface/types.h"
#include "../interface/reading.h"
#include "../interface/output.h"
#include "../base/platform.h"
#include "../block/rows.h"
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

/* The sites of a path, the root first, though links only lead towards it. */
CHROPROF__COLD void chroprof__folded_chain(chroprof__out *o, const chroprof *p, uint32_t path)
{
    uint32_t chain[CHROPROF__CHAIN], count = 0;
    while (path != 0 && count < CHROPROF__CHAIN) {
        chain[count++] = path;
        (void)chroprof_path_name(p, path, &path, NULL);
    }
    while (count > 0 && !o->failed) {
        chroprof__put_byte(o, ';');
        chroprof__folded_frame(o, chroprof_path_name(p, chain[--count], NULL, NULL));
    }
}

/* A line of a path, or, path 0, of what has a name of its own. */
static void chroprof__folded_line(chroprof__out *o, const chroprof *p, const char *root,
                                  uint32_t path, const char *name, uint64_t ns)
{
    if (ns < 1000)
        return;
    chroprof__folded_frame(o, *root != 0 ? root : "loop");
    chroprof__folded_chain(o, p, path);
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
