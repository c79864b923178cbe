/* formats.c - see formats.h */

#include "formats.h"

#include <stdlib.h>
#include <string.h>

#include "code_text.h"
#include "firefox.h"
#include "folded.h"
#include "gain.h"
#include "output.h"
#include "pprof.h"
#include "sheet.h"
#include "symbolize.h"
#include "terminal.h"
#include "trace.h"
#include "values.h"

/* >>format options */

const choice format_choices[] = {
    { "text", CHROPROF_TEXT }, { "json", CHROPROF_JSON }, { "folded", CHROPROF_FOLDED },
    { "prometheus", CHROPROF_PROMETHEUS }, { "prometheus-all", CHROPROF_PROMETHEUS_ALL },
    { "pprof", CHROPROF_PPROF }, { "firefox", FORMAT_FIREFOX }, { "trace", FORMAT_TRACE },
    { NULL, 0 }
};

const char *set_format(void *field, const char *value)
{
    format_options *o = (format_options *)field;
    o->given = choose(format_choices, value, &o->format);
    return o->given ? NULL : "expected text, json, folded, prometheus, prometheus-all, pprof, "
                             "firefox or trace";
}

const choice order_choices[] = {
    { "exec", CHROPROF_BY_EXEC }, { "children", CHROPROF_BY_WITH_CHILDREN },
    { "slice-max", CHROPROF_BY_SLICE_MAX }, { "blame", CHROPROF_BY_BLAME },
    { "delay", CHROPROF_BY_DELAY }, { "calls", CHROPROF_BY_CALLS }, { NULL, 0 }
};

const char *set_order(void *field, const char *value)
{
    return choose(order_choices, value, (int *)field)
           ? NULL : "expected exec, children, slice-max, blame, delay or calls";
}

const char *set_width(void *field, const char *value)
{
    bool ok = read_count(value, 60, 200, (uint64_t *)field);
    return ok ? NULL : "expected a width from 60 to 200";
}

/* >>format writing */

bool format_is_made(int format)
{
    return format == FORMAT_FIREFOX || format == FORMAT_TRACE || format == CHROPROF_PPROF ||
           format == CHROPROF_FOLDED || format == CHROPROF_JSON;
}

bool write_made(int format, const profile_text *p, FILE *out)
{
    switch (format) {
    case FORMAT_FIREFOX: return firefox_write(p, out);
    case FORMAT_TRACE: return trace_write(p, false, out);
    case CHROPROF_PPROF: return pprof_write(p, out);
    case CHROPROF_JSON: return fwrite(p->bytes.bytes, 1, p->bytes.used, out) == p->bytes.used;
    default: return folded_write(p, out);
    }
}

static chroprof_text_options text_options(const format_options *o, FILE *out)
{
    chroprof_text_options text;
    memset(&text, 0, sizeof text);
    text.by = (chroprof_order)o->by;
    text.top = (uint32_t)o->rows;
    text.width = o->columns > 0 ? (uint32_t)o->columns : terminal_columns(out);
    text.ascii = ascii_wanted(o->ascii);
    text.color = color_wanted(o->color, out);
    return text;
}

/* What only symbols can tell: before a text report the functions that held the loop, behind it all
 * functions and lines that ran. */
static bool write_code(const chroprof_text_options *text, const profile_text *p, FILE *out,
                       bool (*write)(sheet *s, const profile_text *p))
{
    sheet s;
    bool ok;
    memset(&s, 0, sizeof s);
    s.columns = text->width;
    s.ascii = text->ascii;
    s.color = text->color;
    ok = write(&s, p);
    (void)fwrite(s.bytes != NULL ? s.bytes : "", 1, s.used, out);
    free(s.bytes);
    return ok;
}

/* Behind the report of the header what only the command knows: what clients saw, and code. */
static bool write_behind(const chroprof_text_options *text, const profile_text *p, bool code,
                         FILE *out)
{
    return write_code(text, p, out, gain_text) &&
           (!code || write_code(text, p, out, code_text_write));
}

/* What the profile's JSON is needed for. */
static bool write_by_text(const format_options *o, const chroprof_text_options *text,
                          chroprof *view, const char *source, bool code, FILE *out)
{
    profile_text p;
    bool ok = profile_of_view(&p, view, source) && (!code || profile_symbolize(&p, NULL));
    ok = ok && (o->format != CHROPROF_JSON || gain_add(&p, false));
    ok = ok && (o->format == CHROPROF_TEXT ? write_behind(text, &p, code, out)
                                           : write_made(o->format, &p, out));
    profile_free(&p);
    return ok;
}

/* Has the text report anything of the command's own? Most profiles of a test have not. */
static bool has_behind(const chroprof *view, bool code)
{
    chroprof_totals t;
    chroprof_read_totals(view, &t);
    return code || t.iterations >= 2;
}

/* Of a loop that spins, code in a stall is chance. */
static bool spins(const chroprof *view)
{
    chroprof_finding first;
    return chroprof_findings(view, &first, 1) > 0 && first.kind == CHROPROF_FINDING_SPINS;
}

/* The first finding of a profile. */
static bool write_first(sheet *s, const profile_text *p)
{
    json_text first = { "", 0 };
    json_reader r = json_part(&p->reader, p->findings);
    const json_field fields[] = { JSON_TEXT("text", &first) };
    char text[400];
    bool begin = true;
    s->end = "\n";
    if (p->findings.length == 0 || !json_open(&r, '[') || !json_next(&r, ']', &begin)) {
        return true;
    }
    if (!JSON_FIELDS(&r, fields) || !json_unescape(first, text, sizeof text)) {
        return false;
    }
    sheet_glyph(s, 0x2022, '*');
    sheet_text(s, " ");
    sheet_flow(s, text, 2);
    sheet_newline(s);
    return true;
}

/* A sentence that is known from elsewhere. */
static void write_then(const format_options *o, const chroprof_text_options *text, FILE *out)
{
    sheet s;
    if (o->then == NULL || o->then[0] == '\0') {
        return;
    }
    memset(&s, 0, sizeof s);
    s.columns = text->width;
    s.ascii = text->ascii;
    s.color = text->color;
    s.end = "\n";
    sheet_glyph(&s, 0x2022, '*');
    sheet_text(&s, " ");
    sheet_flow(&s, o->then, 2);
    sheet_newline(&s);
    (void)fwrite(s.bytes != NULL ? s.bytes : "", 1, s.used, out);
    free(s.bytes);
}

static bool write_with_causes(const format_options *o, const chroprof_text_options *text,
                              chroprof *view, const char *source, FILE *out)
{
    profile_text p;
    bool ok = profile_of_view(&p, view, source) && profile_symbolize(&p, NULL) &&
              code_name_held(&p, view);
    if (o->heads) {
        ok = ok && write_code(text, &p, out, code_text_cause) &&
             write_code(text, &p, out, write_first);
        write_then(o, text, out);
        profile_free(&p);
        return ok;
    }
    ok = ok && write_code(text, &p, out, code_text_causes);
    write_then(o, text, out);
    ok = chroprof_write_text(view, text, output_bytes, out) == 0 && ok;
    ok = ok && write_behind(text, &p, true, out);
    profile_free(&p);
    return ok;
}

bool format_is_readable(const format_options *o)
{
    return o->format != CHROPROF_PPROF || output_is_readable(o->out, "pprof");
}

bool write_view(const format_options *o, chroprof *view, const char *source, bool code, FILE *out)
{
    chroprof_text_options text = text_options(o, out);
    if (o->format == FORMAT_FIREFOX || o->format == FORMAT_TRACE) {
        code = code && !(o->format == FORMAT_TRACE && trace_of_steps(view));
        return write_by_text(o, &text, view, source, code, out);
    }
    if (o->format == CHROPROF_TEXT && code && o->causes && !spins(view)) {
        return write_with_causes(o, &text, view, source, out);
    }
    if (o->format == CHROPROF_JSON && has_behind(view, false)) {
        return write_by_text(o, &text, view, source, false, out);
    }
    if (o->format != CHROPROF_TEXT) {
        return chroprof_write(view, (chroprof_format)o->format, output_bytes, out) == 0;
    }
    return chroprof_write_text(view, &text, output_bytes, out) == 0 &&
           (!has_behind(view, code) || write_by_text(o, &text, view, source, code, out));
}
