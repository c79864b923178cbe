/* reading/samples.h: samples, their stacks and modules */
#pragma once
#include "../interface/kinds.h"
#include "../interface/types.h"
#include "../interface/reading.h"
#include "../interface/sampler.h"
#include "../base/platform.h"
#include "../base/util.h"
#include "../block/rows.h"
#include "../block/core.h"
#include "../block/items.h"
#include "../reading/figures.h"
#include "../reading/paths.h"

/* Row number k of the samples, from the oldest. */
static const chroprof__sample_span *chroprof__sample_at(const chroprof *p, uint64_t k)
{
    const chroprof__table_row *table = &p->core->tables[CHROPROF_TABLE_SAMPLES];
    uint64_t first = chroprof__sampler_of(p->core)->rows.head + table->capacity - table->used;
    return chroprof__sample_rows(p->core) + (first + k) % table->capacity;
}

CHROPROF__COLD_API bool chroprof_next_sample(const chroprof *p, uint64_t *cursor,
                                             chroprof_sample_row *out)
{
    if (!chroprof__can_read(p) || *cursor >= p->core->tables[CHROPROF_TABLE_SAMPLES].used)
        return false;
    const chroprof__sample_span *row = chroprof__sample_at(p, (*cursor)++);
    out->at_ns = chroprof__ns(p->core, row->time);
    out->duration_ns = chroprof__ns(p->core, row->time + row->duration) - out->at_ns;
    out->weight = row->weight;
    out->cpu_ns = row->cpu_ns;
    out->stack = row->stack;
    out->state = (chroprof_sample_state)row->state;
    return true;
}

/* What of a row lies in [from, to). */
static bool chroprof__select_sample(chroprof_sample_row *row, uint64_t from, uint64_t to)
{
    uint64_t start = row->at_ns, end = start + row->duration_ns;
    if (start == end)
        return start >= from && start < to;
    uint64_t low = start > from ? start : from, high = end < to ? end : to;
    if (low >= high)
        return false;
    row->weight = chroprof__weigh(row->weight, high - low, end - start);
    row->cpu_ns = start < from ? 0 : row->cpu_ns;
    row->at_ns = low;
    row->duration_ns = high - low;
    return row->weight > 0;
}

#if CHROPROF__SAMPLES
/* As dladdr fills it in; weak, for programs that are not linked to it. */
typedef struct chroprof__symbol {
    const char *file;
    void *base;
    const char *name;
    void *address;
} chroprof__symbol;

extern int chroprof__find_symbol(const void *address, chroprof__symbol *out)
    __asm__(CHROPROF__LABEL("dladdr")) __attribute__((__weak__));

/* What the dynamic linker calls the function at an address of this process. m: the module that was
 * there when it ran, NULL: not known. Of another one there now the names are wrong. */
static const char *chroprof__function(const chroprof *p, const chroprof__module_row *m,
                                      uint64_t address)
{
    chroprof__symbol symbol = { NULL, NULL, NULL, NULL };
    uint64_t looked = chroprof__sampler_of(p->core)->modules.loaded;
    if (!chroprof__find_symbol || p->view || p->core->foreign ||
        !chroprof__find_symbol((const void *)(uintptr_t)address, &symbol))
        return "";
    bool same = m && looked >> (m - chroprof__module_rows(p->core)) & 1 &&
                (m->base == 0 || m->base == (uint64_t)(uintptr_t)symbol.base);
    return symbol.name && (!looked || same) ? symbol.name : "";
}
#else
#define chroprof__function(p, m, address) ""
#endif

/* A native frame: where it is in its file, and its name. Others: a task, or what is not known. */
static void chroprof__read_node(const chroprof *p, uint32_t k, chroprof_stack_frame *out)
{
    static const char marks[CHROPROF__MARKS][26] = {
        "", "(inside chroprof)", "(frames missing)", "(unknown stack)", "(deeper frames)", "(idle)",
        "(uninstrumented)", "(frames cut: table full)"
    };
    uint64_t item = chroprof__nodes(p->core)[k].item;
    uint32_t module = chroprof__item_module(item), line;
    const chroprof__module_row *m = module ? chroprof__module_rows(p->core) + (module - 1) : NULL;
    const char *file;
    memset(out, 0, sizeof(*out));
    out->module = m ? m->path : "";
    out->build_id = m ? m->build_id : "";
    if (chroprof__is_code(item)) {
        out->kind = CHROPROF_FRAME_NATIVE;
        out->is_return = chroprof__item_kind(item) == CHROPROF__RETURN;
        out->address = chroprof__item_address(item) - (m ? m->base : 0);
        out->name = chroprof__function(p, m, chroprof__item_address(item) - out->is_return);
    } else if (chroprof__item_kind(item) == CHROPROF__TASK) {
        out->kind = CHROPROF_FRAME_TASK;
        out->path = (uint32_t)chroprof__item_value(item);
        chroprof__read_site_name(p, p->paths[out->path].site, &out->name, &file, &line);
    } else {
        out->kind = CHROPROF_FRAME_MARKER;
        out->name = marks[chroprof__item_value(item)];
    }
}

CHROPROF__COLD_API size_t chroprof_stack(const chroprof *p, uint32_t stack,
                                         chroprof_stack_frame *out, size_t capacity)
{
    size_t count = 0;
    if (!chroprof__can_read(p) || stack > p->core->tables[CHROPROF_TABLE_STACKS].used)
        return 0;
    for (; stack; stack = chroprof__nodes(p->core)[stack].parent, count++)
        if (out && count < capacity)
            chroprof__read_node(p, stack, out + count);
    return count;
}

CHROPROF__COLD_API bool chroprof_next_stack(const chroprof *p, uint64_t *cursor,
                                            chroprof_stack_row *out)
{
    if (!chroprof__can_read(p) || *cursor >= p->core->tables[CHROPROF_TABLE_STACKS].used)
        return false;
    out->id = (uint32_t)++*cursor;
    const chroprof__node *node = chroprof__nodes(p->core) + out->id;
    out->parent = node->parent;
    out->module = chroprof__item_module(node->item);
    out->weight = node->weight;
    out->cpu_ns = node->cpu_ns;
    chroprof__read_node(p, out->id, &out->frame);
    return true;
}

CHROPROF__COLD_API size_t chroprof_modules(const chroprof *p, chroprof_module *out, size_t capacity)
{
    size_t count = chroprof__can_read(p) ? (size_t)p->core->tables[CHROPROF__MODULES].used : 0;
    for (size_t k = 0; out && k < count && k < capacity; k++) {
        const chroprof__module_row *row = chroprof__module_rows(p->core) + k;
        out[k].path = row->path;
        out[k].build_id = row->build_id;
        out[k].base = row->base;
        out[k].start = row->low;
        out[k].end = row->high;
    }
    return count;
}

/* Rows that paths have in the wall profile. */
static uint32_t chroprof__wall_count(const chroprof *p)
{
    uint32_t rows = p->core->tables[CHROPROF__WALLS].rows, paths = chroprof__path_count(p);
    return rows < paths ? rows : paths;
}

/* The cursor is a path. */
CHROPROF__COLD_API bool chroprof_next_wall(const chroprof *p, uint64_t *cursor, chroprof_wall *out)
{
    uint32_t end = chroprof__can_read(p) ? chroprof__wall_count(p) : 0;
    while (*cursor < end) {
        const chroprof__wall_row *row = chroprof__wall_rows(p->core) + *cursor;
        out->path = (uint32_t)(*cursor)++;
        chroprof__read_figures(p->core, CHROPROF__ALL(chroprof__wall_figures), row, out);
        if ((out->running | out->ready | out->paused) != 0)
            return true;
    }
    return false;
}
