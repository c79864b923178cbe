/* pprof.c - see pprof.h */

#define _GNU_SOURCE 1          /* memmem */

#include "pprof.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../../chroprof.h"
#include "buffer.h"
#include "json.h"
#include "paths.h"
#include "rows.h"
#include "shares.h"
#include "stacks.h"

enum { PPROF_TYPES = 6 };

enum { PLACE_MAPPING, PLACE_ADDRESS, PLACE_FUNCTION, PLACE_LINE, PLACE_CELLS };

typedef struct pprof {
    const profile_text *profile;
    path_tree paths;
    stack_tree stacks;
    share_list shares;
    text_table texts;
    row_table functions;       /* name, file, line */
    row_table places;          /* what pprof calls locations */
    byte_buffer part, inner, chain, packed; /* of one message, in it, of a sample */
    byte_buffer bytes;         /* of all */
    bool failed;
} pprof;

/* >>pprof messages */

static void proto_varint(byte_buffer *b, uint64_t value)
{
    char bytes[10];
    size_t count = 0;
    for (; value >= 0x80; value >>= 7) {
        bytes[count++] = (char)(unsigned char)(value | 0x80);
    }
    bytes[count++] = (char)(unsigned char)value;
    (void)buffer_add(b, bytes, count);
}

static void proto_number(byte_buffer *b, unsigned field, uint64_t value)
{
    proto_varint(b, field << 3);
    proto_varint(b, value);
}

static void proto_bytes(byte_buffer *b, unsigned field, const char *bytes, size_t count)
{
    proto_varint(b, field << 3 | 2);
    proto_varint(b, count);
    if (count > 0) {
        (void)buffer_add(b, bytes, count);
    }
}

/* The message that was put together in part. */
static void proto_part(byte_buffer *b, unsigned field, byte_buffer *part)
{
    proto_bytes(b, field, part->bytes, part->used);
    part->used = 0;
}

static uint64_t pprof_word(pprof *p, const char *word)
{
    return text_word(&p->texts, word);
}

static void pprof_pair(pprof *p, unsigned field, uint64_t one, uint64_t two)
{
    proto_number(&p->part, 1, one);
    proto_number(&p->part, 2, two);
    proto_part(&p->bytes, field, &p->part);
}

/* >>pprof locations: their number is their row plus 1 */

static uint64_t pprof_function(pprof *p, json_text name, json_text file, uint64_t line)
{
    uint64_t row[3] = { 0 };
    row[0] = text_of(&p->texts, name);
    row[1] = text_of(&p->texts, file);
    row[2] = line;
    return row_of(&p->functions, row) + 1;
}

static uint64_t pprof_site(pprof *p, json_text name, json_text file, uint64_t line)
{
    const json_text empty = { "(empty)", 7 };
    uint64_t row[PLACE_CELLS] = { 1, 0, 0, 0 };
    row[PLACE_FUNCTION] = pprof_function(p, name.length > 0 ? name : empty, file, line);
    row[PLACE_LINE] = line;
    return row_of(&p->places, row) + 1;
}

/* Mappings: 1 is the program's tasks, then come the modules. 1 as well: the module is not known. */
static uint64_t pprof_mapping(const pprof *p, uint64_t module, uint64_t *base)
{
    for (size_t i = 0; i < p->stacks.modules.count; i++) {
        if (p->stacks.modules.rows[i].id == module && p->stacks.modules.rows[i].path.length > 0) {
            *base = p->stacks.modules.rows[i].base;
            return i + 2;
        }
    }
    *base = 0;
    return 1;
}

/* The function that ran first, then what it was inlined into: a location each, as speedscope knows
 * one function a location. Code without a name has an address alone. */
static void pprof_code(pprof *p, size_t node)
{
    const stack_frame *frame = &p->stacks.frames[node];
    uint64_t row[PLACE_CELLS] = { 0 };
    uint64_t base;
    stack_calls c;
    p->failed = !stack_slice_calls(p->profile, &p->stacks, frame, &c) || p->failed;
    row[PLACE_MAPPING] = pprof_mapping(p, frame->module_id, &base);
    row[PLACE_ADDRESS] = base + frame->address;
    for (size_t i = 0; i < c.count; i++) {
        bool named = c.calls[i].name.length > 0;
        json_text name = named ? c.calls[i].name : frame->module;
        bool shown = named || row[PLACE_MAPPING] == 1;     /* else it would be the program's */
        row[PLACE_FUNCTION] = shown ? pprof_function(p, name, c.calls[i].file, 0) : 0;
        row[PLACE_LINE] = named ? c.calls[i].line : 0;
        proto_varint(&p->chain, row_of(&p->places, row) + 1);
    }
}

/* >>pprof samples: the leaf first */

static void pprof_chain_path(pprof *p, size_t path)
{
    for (; path != SIZE_MAX; path = p->paths.rows[path].parent) {
        const path_row *row = &p->paths.rows[path];
        proto_varint(&p->chain, pprof_site(p, row->name, row->file, row->line));
    }
}

static void pprof_chain_code(pprof *p, size_t node)
{
    const json_text none = { "", 0 };
    if (node == SHARE_OFF_CPU) {
        proto_varint(&p->chain, pprof_site(p, json_word(SHARE_OFF_CPU_NAME), none, 0));
        return;
    }
    for (; node != SIZE_MAX && !p->stacks.frames[node].task; node = p->stacks.frames[node].parent) {
        const stack_frame *frame = &p->stacks.frames[node];
        if (frame->native) {
            pprof_code(p, node);
        } else {
            proto_varint(&p->chain, pprof_site(p, frame->name, none, 0));
        }
    }
}

/* Values are signed. */
static void pprof_sample(pprof *p, const uint64_t *values, bool idle)
{
    uint64_t any = 0;
    for (size_t i = 0; i < PPROF_TYPES; i++) {
        proto_varint(&p->packed, values[i] >> 63 ? UINT64_MAX >> 1 : values[i]);
        any |= values[i];
    }
    if (any != 0) {
        proto_part(&p->part, 1, &p->chain);
        proto_part(&p->part, 2, &p->packed);
        if (idle) {
            proto_number(&p->inner, 1, pprof_word(p, "state"));
            proto_number(&p->inner, 2, pprof_word(p, "idle"));
            proto_part(&p->part, 3, &p->inner);
        }
        proto_part(&p->bytes, 2, &p->part);
    }
    p->chain.used = p->packed.used = 0;
}

static void pprof_idle(pprof *p)
{
    const json_text none = { "", 0 };
    const uint64_t values[PPROF_TYPES] = { 0, p->paths.idle, 0, 0, p->paths.idle_blame, 0 };
    proto_varint(&p->chain, pprof_site(p, json_word("(idle)"), none, 0));
    pprof_sample(p, values, true);
}

static void pprof_share(pprof *p, const share_row *row)
{
    const json_text none = { "", 0 };
    uint64_t values[PPROF_TYPES] = { 0, row->exec, 0, 0, 0, row->weight };
    uint64_t blame;
    bool own = row->frame == SIZE_MAX;
    pprof_chain_code(p, row->frame);
    if (row->path >= p->paths.count) {
        json_text name = share_other(&p->paths, row->path, &blame);
        proto_varint(&p->chain, pprof_site(p, name, none, 0));
        values[4] = own ? blame : 0;
    } else {
        const path_row *path = &p->paths.rows[row->path];
        pprof_chain_path(p, row->path);
        values[0] = own ? path->calls : 0;
        values[2] = own ? path->lifetime : 0;
        values[3] = own ? path->delay : 0;
        values[4] = own ? path->blame : 0;
    }
    pprof_sample(p, values, false);
}

static void pprof_samples(pprof *p)
{
    for (size_t i = 0; i < p->shares.count; i++) {
        pprof_share(p, &p->shares.rows[i]);
    }
    pprof_idle(p);
}

/* >>pprof tables */

static json_text pprof_program(const pprof *p)
{
    json_text name = json_inside(p->profile->program);
    name = name.length > 0 ? name : json_inside(p->profile->name);
    return name.length > 0 ? name : json_word("chroprof");
}

/* Behind the last address that was met. */
static uint64_t pprof_limit(const pprof *p, uint64_t mapping, uint64_t base)
{
    uint64_t limit = base;
    for (size_t i = 0; i < p->places.count; i++) {
        uint64_t address = row_cell(&p->places, i, PLACE_ADDRESS);
        if (row_cell(&p->places, i, PLACE_MAPPING) == mapping && address >= limit) {
            limit = (address | 0xFFF) + 1;
        }
    }
    return limit;
}

/* Its code has all the names that it will get (fields 7 to 10: functions, files, lines, inlined
 * ones): go tool pprof looks for none of its own, as it would where a mapping does not say so. Those
 * were wrong, because the offset of the mapping in its file is not known. */
static void pprof_mapping_end(pprof *p)
{
    for (unsigned field = 7; field <= 10; field++) {
        proto_number(&p->part, field, 1);
    }
    proto_part(&p->bytes, 3, &p->part);
}

static void pprof_mappings(pprof *p)
{
    proto_number(&p->part, 1, 1);
    proto_number(&p->part, 5, text_of(&p->texts, pprof_program(p)));
    pprof_mapping_end(p);
    for (size_t i = 0; i < p->stacks.modules.count; i++) {
        const module_row *module = &p->stacks.modules.rows[i];
        uint64_t limit = pprof_limit(p, i + 2, module->base);
        if (module->path.length > 0 && limit > module->base) {
            proto_number(&p->part, 1, i + 2);
            proto_number(&p->part, 2, module->base);
            proto_number(&p->part, 3, limit);
            proto_number(&p->part, 5, text_of(&p->texts, module->path));
            proto_number(&p->part, 6, text_of(&p->texts, module->build_id));
            pprof_mapping_end(p);
        }
    }
}

static void pprof_line(pprof *p, uint64_t function, uint64_t line)
{
    proto_number(&p->inner, 1, function);
    proto_number(&p->inner, 2, line);
    proto_part(&p->part, 4, &p->inner);
}

static void pprof_places(pprof *p)
{
    for (size_t i = 0; i < p->places.count; i++) {
        uint64_t address = row_cell(&p->places, i, PLACE_ADDRESS);
        uint64_t function = row_cell(&p->places, i, PLACE_FUNCTION);
        proto_number(&p->part, 1, i + 1);
        proto_number(&p->part, 2, row_cell(&p->places, i, PLACE_MAPPING));
        if (address > 0) {
            proto_number(&p->part, 3, address);
        }
        if (function > 0) {
            pprof_line(p, function, row_cell(&p->places, i, PLACE_LINE));
        }
        proto_part(&p->bytes, 4, &p->part);
    }
}

static void pprof_functions(pprof *p)
{
    for (size_t i = 0; i < p->functions.count; i++) {
        proto_number(&p->part, 1, i + 1);
        proto_number(&p->part, 2, row_cell(&p->functions, i, 0));
        proto_number(&p->part, 3, row_cell(&p->functions, i, 0));
        proto_number(&p->part, 4, row_cell(&p->functions, i, 1));
        proto_number(&p->part, 5, row_cell(&p->functions, i, 2));
        proto_part(&p->bytes, 5, &p->part);
    }
}

static void pprof_strings(pprof *p)
{
    for (size_t i = 0; i < p->texts.rows.count; i++) {
        char *plain = json_plain(text_at(&p->texts, i));
        proto_bytes(&p->bytes, 6, plain, plain != NULL ? strlen(plain) : 0);
        free(plain);
    }
}

/* >>pprof run */

static void pprof_types(pprof *p)
{
    static const char *const types[PPROF_TYPES][2] = {
        { "calls", "count" }, { "exec", "nanoseconds" }, { "lifetime", "nanoseconds" },
        { "delay", "nanoseconds" }, { "blame", "nanoseconds" }, { "samples", "count" }
    };
    static const char estimated[] = "\"estimated\":true";
    const json_text totals = p->profile->totals;
    (void)pprof_word(p, "");
    for (size_t i = 0; i < PPROF_TYPES; i++) {
        uint64_t type = pprof_word(p, types[i][0]);
        pprof_pair(p, 1, type, pprof_word(p, types[i][1]));
    }
    pprof_pair(p, 11, pprof_word(p, "exec"), pprof_word(p, "nanoseconds"));
    proto_number(&p->bytes, 12, 1);
    proto_number(&p->bytes, 9, p->paths.start_unix);
    proto_number(&p->bytes, 10, p->paths.elapsed);
    proto_number(&p->bytes, 13, pprof_word(p, "chroprof " CHROPROF_VERSION));
    if (totals.length > 0 &&
        memmem(totals.bytes, totals.length, estimated, sizeof estimated - 1) != NULL) {
        proto_number(&p->bytes, 13, pprof_word(p, "taken from outside: all times are estimates from "
                                                  "samples"));
    }
    if (p->profile->name.length > 2) {
        proto_number(&p->bytes, 13, text_of(&p->texts, json_inside(p->profile->name)));
    }
    proto_number(&p->bytes, 14, pprof_word(p, "exec"));
}

static bool pprof_read(pprof *p)
{
    return paths_read(&p->paths, p->profile) && stacks_read(&p->stacks, p->profile) &&
           shares_read(&p->shares, &p->paths, &p->stacks, 1);
}

static void pprof_free(pprof *p)
{
    paths_free(&p->paths);
    stacks_free(&p->stacks);
    shares_free(&p->shares);
    text_free(&p->texts);
    row_free(&p->functions);
    row_free(&p->places);
    free(p->part.bytes);
    free(p->inner.bytes);
    free(p->chain.bytes);
    free(p->packed.bytes);
    free(p->bytes.bytes);
}

bool pprof_write(const profile_text *profile, FILE *out)
{
    pprof p;
    bool ok;
    memset(&p, 0, sizeof p);
    p.profile = profile;
    text_begin(&p.texts);
    p.functions.width = p.functions.key = 3;
    p.places.width = p.places.key = PLACE_CELLS;
    ok = pprof_read(&p);
    if (ok) {
        pprof_types(&p);
        pprof_samples(&p);
        pprof_mappings(&p);
        pprof_places(&p);
        pprof_functions(&p);
        pprof_strings(&p);
        (void)fwrite(p.bytes.bytes, 1, p.bytes.used, out);
    }
    ok = ok && !p.failed && !p.texts.rows.failed && !p.functions.failed && !p.places.failed;
    pprof_free(&p);
    return ok;
}
