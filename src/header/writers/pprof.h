/* writers/pprof.h */
#pragma once
#include "../interface/version.h"
#include "../interface/types.h"
#include "../interface/reading.h"
#include "../interface/output.h"
#include "../base/platform.h"
#include "../block/rows.h"
#include "../writers/words.h"
#include "../writers/output.h"

#ifndef CHROPROF_NO_PPROF
/* >>pprof: profile.proto.
 * A message is preceded by its length, which is worked out beforehand. Strings are named by their
 * place: the fixed ones, then the name and the file of each site by its id. One function and one
 * location stand for a site, one sample for a path; loop, idle and untracked are sites 0 to 2.
 * Relies on the public reads; called by >>formats. */

enum { CHROPROF__TYPES = 5 };

/* Places in the table of strings, in the order of chroprof__pprof_strings. */
enum {
    CHROPROF__STRING_COUNT = 2, CHROPROF__STRING_EXEC = 3, CHROPROF__STRING_NS = 4,
    CHROPROF__STRING_STATE = 8, CHROPROF__STRING_IDLE = 9, CHROPROF__STRING_COMMENT = 10,
    CHROPROF__STRING_NAME = 11, CHROPROF__STRING_PROGRAM = 12, CHROPROF__STRING_SITES = 13
};

/* The following functions make a message: each puts something at a place and returns where it ends.
 * Fields are below 16, so a key is one byte. */
static char *chroprof__proto_value(char *at, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        *at++ = (char)(unsigned char)(value | 0x80);
    *at = (char)value;
    return at + 1;
}

static char *chroprof__proto_number(char *at, uint32_t field, uint64_t value)
{
    *at = (char)(field << 3);
    return chroprof__proto_value(at + 1, value);
}

/* A message of at most 127 bytes has been made: its key and length go before it. */
static char *chroprof__proto_message(char *at, uint32_t field, char *end)
{
    at[-2] = (char)(field << 3 | 2);
    at[-1] = (char)(end - at);
    return end;
}

/* A message of two numbers. */
static char *chroprof__proto_pair(char *at, uint32_t field, uint64_t first, uint64_t second)
{
    char *end = chroprof__proto_number(at + 2, 1, first);
    return chroprof__proto_message(at + 2, field, chroprof__proto_number(end, 2, second));
}

static void chroprof__put_proto(chroprof__out *o, const char *bytes, const char *end)
{
    chroprof__put_bytes(o, bytes, (size_t)(end - bytes));
}

/* Begins what is longer, or not made beforehand. */
static void chroprof__proto_begin(chroprof__out *o, uint32_t field, uint64_t size)
{
    char bytes[11] = { (char)(field << 3 | 2) };
    chroprof__put_proto(o, bytes, chroprof__proto_value(bytes + 1, size));
}

/* Entries of the table of strings: so many words. */
static void chroprof__proto_texts(chroprof__out *o, const char *words, uint32_t count)
{
    char bytes[4];
    for (; count > 0; count--, words++) {
        uint64_t size = 0;
        for (const char *from = words; *from != 0;)
            size += chroprof__encode(chroprof__next_code(&from), bytes);
        chroprof__proto_begin(o, 6, size);
        while (*words != 0)
            chroprof__put_code(o, chroprof__next_code(&words));
    }
}

static void chroprof__pprof_types(chroprof__out *o)
{
    static const unsigned char types[CHROPROF__TYPES][2] = {
        { 1, CHROPROF__STRING_COUNT }, { CHROPROF__STRING_EXEC, CHROPROF__STRING_NS },
        { 5, CHROPROF__STRING_NS }, { 6, CHROPROF__STRING_NS }, { 7, CHROPROF__STRING_NS }
    };
    char bytes[6 * CHROPROF__TYPES + 8], *end = bytes;
    for (uint32_t k = 0; k < CHROPROF__TYPES; k++)
        end = chroprof__proto_pair(end, 1, types[k][0], types[k][1]);
    end = chroprof__proto_pair(end, 11, CHROPROF__STRING_EXEC, CHROPROF__STRING_NS);
    chroprof__put_proto(o, bytes, chroprof__proto_number(end, 12, 1));
}

/* Location ids are site ids plus 1, the leaf first; path 0: that site alone. Without out it only
 * tells the size. */
static uint64_t chroprof__pprof_chain(chroprof__out *o, const chroprof *p, uint32_t path,
                                      uint32_t site)
{
    uint64_t size = 0;
    do {
        char bytes[10];
        if (path != 0)
            (void)chroprof_path_name(p, path, &path, &site);
        const char *end = chroprof__proto_value(bytes, (uint64_t)site + 1);
        size += (uint64_t)(end - bytes);
        if (o != NULL)
            chroprof__put_proto(o, bytes, end);
    } while (path != 0);
    return size;
}

/* A sample of a path, or, path 0, of one of the sites 0 to 2. idle has the one label: the profile's
 * own name is none, as pprof would draw it at every node. Values are signed: where many futures
 * wait for days their lifetime is cut. */
static void chroprof__pprof_sample(chroprof__out *o, const chroprof *p, uint32_t path,
                                   uint32_t site, const uint64_t *values)
{
    char head[11] = { 1 << 3 | 2 }, bytes[10 * CHROPROF__TYPES + 8], *end = bytes + 2;
    uint64_t chain = chroprof__pprof_chain(NULL, p, path, site), any = 0;
    const char *head_end = chroprof__proto_value(head + 1, chain);
    for (uint32_t k = 0; k < CHROPROF__TYPES; k++) {
        end = chroprof__proto_value(end, values[k] >> 63 ? UINT64_MAX >> 1 : values[k]);
        any |= values[k];
    }
    if (any == 0)
        return;
    end = chroprof__proto_message(bytes + 2, 2, end);
    if (path == 0 && site == CHROPROF__IDLE)
        end = chroprof__proto_pair(end, 3, CHROPROF__STRING_STATE, CHROPROF__STRING_IDLE);
    chroprof__proto_begin(o, 2, (uint64_t)(head_end - head) + chain + (uint64_t)(end - bytes));
    chroprof__put_proto(o, head, head_end);
    (void)chroprof__pprof_chain(o, p, path, site);
    chroprof__put_proto(o, bytes, end);
}

/* Loop, idle and untracked have exec and blame, as in all formats: futures that no path could hold
 * are no call there. */
static void chroprof__pprof_samples(chroprof__out *o, const chroprof *p, const chroprof_totals *t)
{
    const uint64_t own[3][CHROPROF__TYPES] = {
        { 0, t->uninstrumented_ns, 0, 0, t->uninstrumented_blame_ns }, { 0, t->idle_ns, 0, 0,
        t->idle_blame_ns }, { 0, t->untracked_ns, 0, 0, t->untracked_blame_ns }
    };
    chroprof_path row;
    for (uint32_t site = 0; site < 3; site++)
        chroprof__pprof_sample(o, p, 0, site, own[site]);
    for (uint32_t path = CHROPROF__FIRST_PATH;
         !o->failed && chroprof_read_path_alone(p, path, &row); path++) {
        const uint64_t values[CHROPROF__TYPES] = { row.calls, row.exec_ns, row.lifetime_ns,
                                                   row.delay_ns, row.blame_ns };
        chroprof__pprof_sample(o, p, path, row.site, values);
    }
}

/* The location of a site, and its function. */
static void chroprof__pprof_site(chroprof__out *o, uint32_t site, uint32_t line)
{
    char bytes[96], *location = bytes + 2, *function, *end;
    uint64_t id = (uint64_t)site + 1, name = CHROPROF__STRING_SITES + 2 * (uint64_t)site;
    end = chroprof__proto_number(chroprof__proto_number(location, 1, id), 2, 1);
    end = chroprof__proto_pair(end, 4, id, line);
    function = chroprof__proto_message(location, 4, end) + 2;
    end = chroprof__proto_number(chroprof__proto_number(function, 1, id), 2, name);
    end = chroprof__proto_number(chroprof__proto_number(end, 3, name), 4, name + 1);
    end = chroprof__proto_number(end, 5, line);
    chroprof__put_proto(o, bytes, chroprof__proto_message(function, 5, end));
}

/* Sites that were never used leave their places empty. */
static void chroprof__pprof_strings(chroprof__out *o, const chroprof *p, const chroprof_origin *of)
{
    uint64_t cursor = 0;
    chroprof_site_row site;
    chroprof__proto_texts(o, "\0calls\0count\0exec\0nanoseconds\0lifetime\0delay\0blame\0state\0"
                          "idle", 10);
    chroprof__proto_texts(o, of->estimated ? "chroprof " CHROPROF_VERSION ": taken from outside, "
                                             "all times are estimates from samples"
                                           : "chroprof " CHROPROF_VERSION, 1);
    chroprof__proto_texts(o, of->name, 1);
    chroprof__proto_texts(o, of->program, 1);
    chroprof__proto_texts(o, "(uninstrumented)\0\0(idle)\0\0(untracked)\0", 6);
    for (uint32_t next = 3; !o->failed && chroprof_next_site(p, &cursor, &site); next++) {
        for (; next < site.id; next++)
            chroprof__proto_texts(o, "\0", 2);
        chroprof__proto_texts(o, *site.name != 0 ? site.name : "(empty)", 1);
        chroprof__proto_texts(o, site.file, 1);
    }
}

CHROPROF__COLD_API void chroprof__as_pprof(chroprof__out *o, const chroprof *p)
{
    uint64_t cursor = 0;
    char bytes[32], *end;
    chroprof_origin of;
    chroprof_site_row site;
    chroprof_totals t;
    if (o->absent)
        return;
    chroprof_read_origin(p, &of);
    chroprof_read_totals(p, &t);
    chroprof__pprof_types(o);
    chroprof__pprof_samples(o, p, &t);
    end = chroprof__proto_number(bytes + 2, 1, 1);
    end = chroprof__proto_number(end, 5, CHROPROF__STRING_PROGRAM);
    end = chroprof__proto_number(end, 7, 1);
    chroprof__put_proto(o, bytes, chroprof__proto_message(bytes + 2, 3, end));
    for (uint32_t k = 0; k < 3; k++)
        chroprof__pprof_site(o, k, 0);
    while (!o->failed && chroprof_next_site(p, &cursor, &site))
        chroprof__pprof_site(o, site.id, site.line);
    chroprof__pprof_strings(o, p, &of);
    end = chroprof__proto_number(bytes, 9, t.start_unix_ns);
    end = chroprof__proto_number(end, 10, t.elapsed_ns);
    end = chroprof__proto_number(end, 13, CHROPROF__STRING_COMMENT);
    if (*of.name != 0)
        end = chroprof__proto_number(end, 13, CHROPROF__STRING_NAME);
    chroprof__put_proto(o, bytes, chroprof__proto_number(end, 14, CHROPROF__STRING_EXEC));
}
#else
CHROPROF__LEFT_OUT(chroprof__as_pprof)
#endif /* CHROPROF_NO_PPROF */
