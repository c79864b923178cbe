/* public/outside.h: what somebody else knows of a program: its stacks, its modules, its name */
#pragma once
#include "../interface/kinds.h"
#include "../interface/types.h"
#include "../interface/life.h"
#include "../interface/events.h"
#include "../interface/sampler.h"
#include "../base/platform.h"
#include "../base/util.h"
#include "../block/rows.h"
#include "../block/core.h"
#include "../block/clock.h"
#include "../block/items.h"
#include "../block/samples.h"
#include "../event/step.h"
#include "../reading/figures.h"

/* >>outside: profiles that are not written by the program they are of.
 * Owns nothing. Relies on >>samples for stacks and on the rows of modules, and leaves to the
 * sampler's own survey of modules what it finds. Called by observers, by ports to other systems,
 * and by whoever generates code. */

#ifndef CHROPROF_DISABLE
/* Who takes samples by hand; NULL: nobody. A profile begins with its first one, if not before. */
static chroprof__sampler *chroprof__begin_sample(chroprof *p, uint64_t now)
{
    bool takes = chroprof__has_block(p) && chroprof__is_taking(p);
    chroprof__sampler *s = takes ? chroprof__sampler_of(p->core) : NULL;
    if (s && !chroprof__is_busy(p->core) && !p->core->started)
        chroprof__start_at(p->core, now);
    return s;
}

/* Of so many frames which are left out: [*from, *to) in the middle, of what there is no room for
 * with the tasks and three marks. */
static void chroprof__choose_gap(size_t count, size_t tasks, size_t *from, size_t *to)
{
    const size_t most = CHROPROF__NOTED_TASKS;
    size_t room = CHROPROF__ITEMS - 3 - (tasks < most ? tasks : most);
    *from = *to = count;
    if (count > room) {
        *from = room / 2;
        *to = count - (room - room / 2);
    }
}

/* The tasks, where the addresses have a 0. */
static void chroprof__put_place(const chroprof__core *c, chroprof__entry *e, bool *placed)
{
    if (!*placed)
        chroprof__put_running(c, e);
    *placed = true;
}

static void chroprof__put_stack(const chroprof__core *c, chroprof__entry *e,
                                const uint64_t *addresses, size_t count)
{
    size_t from, to;
    bool placed = false;
    chroprof__choose_gap(count, c->depth, &from, &to);
    for (size_t k = 0; k < count; k++) {
        if (addresses[k] == 0)
            chroprof__put_place(c, e, &placed);
        else if (k == from)
            chroprof__put_item(e, CHROPROF__MARK, CHROPROF__MARK_CUT);
        else if (k < from || k >= to)
            chroprof__put_item(e, k == 0 ? CHROPROF__PC : CHROPROF__RETURN, addresses[k]);
    }
    chroprof__put_place(c, e, &placed);
}

CHROPROF__COLD_API chroprof_result chroprof_sample_stack(chroprof *p, uint64_t now,
                                                         uint64_t cpu_delta_ns,
                                                         const uint64_t *addresses, size_t count)
{
    chroprof__entry e;
    if (!chroprof__has_block(p) || p->view || (count > 0 && !addresses))
        return CHROPROF_ERR_ARGUMENT;
    if (!chroprof__sampler_of(p->core))
        return CHROPROF_ERR_SAMPLER_MEMORY;
    chroprof__sampler *s = chroprof__begin_sample(p, now);
    if (!s)
        return CHROPROF_OK;
    if (chroprof__is_busy(p->core)) {
        s->handler.lost++;
        return CHROPROF_ERR_BUSY;
    }
    memset(&e, 0, sizeof(e));
    e.stamp = e.last = now;
    e.weight = 1;
    e.cpu_ns = cpu_delta_ns;
    e.state = chroprof__sample_state_of(p->core);
    chroprof__put_stack(p->core, &e, addresses, count);
    p->drain = chroprof__drain_all;
    chroprof__begin_edit(p->core);
    chroprof__absorb(p, s, &e, CHROPROF__END_OF_TIME - 1);
    chroprof__end_edit(p->core);
    return CHROPROF_OK;
}
#endif /* CHROPROF_DISABLE */

static bool chroprof__is_row_of(const chroprof__module_row *row, const chroprof__module_row *m)
{
    return row->low == m->low && row->high == m->high && row->base == m->base &&
           strcmp(row->path, m->path) == 0 && strcmp(row->build_id, m->build_id) == 0;
}

/* What lies there from now on takes the place of whatever did. Returns its row; as many as there
 * are: there is no room. */
static uint32_t chroprof__place_module(chroprof__core *c, const chroprof__module_row *m)
{
    chroprof__table_row *table = &c->tables[CHROPROF__MODULES];
    chroprof__module_row *rows = chroprof__module_rows(c);
    uint32_t k = 0, used = (uint32_t)table->used;
    while (k < used && !chroprof__is_row_of(rows + k, m))
        k++;
    if (k == table->rows)
        return k;
    if (k == used) {
        rows[k] = *m;
        CHROPROF__STORE_FENCE();
        table->peak = ++table->used;
    }
    chroprof__sampler *s = chroprof__sampler_of(c);
    for (uint32_t n = 0; n < used; n++)
        if (n != k && rows[n].low < m->high && m->low < rows[n].high)
            s->modules.added &= ~(UINT64_C(1) << n);
    s->modules.added |= UINT64_C(1) << k;
    s->modules.possible = s->modules.loaded | s->modules.added;
    return k;
}

CHROPROF__COLD_API chroprof_result chroprof_add_module(chroprof *p, const chroprof_module *module)
{
    chroprof__module_row m;
    if (!chroprof__has_block(p) || p->view || !module || !module->path ||
        module->start >= module->end)
        return CHROPROF_ERR_ARGUMENT;
    if (!chroprof__sampler_of(p->core))
        return CHROPROF_ERR_SAMPLER_MEMORY;
    memset(&m, 0, sizeof(m));
    m.low = module->start;
    m.high = module->end;
    m.base = module->base;
    chroprof__copy_text(m.path, sizeof(m.path), module->path);
    chroprof__copy_text(m.build_id, sizeof(m.build_id), module->build_id);
    chroprof__begin_edit(p->core);
    uint32_t k = chroprof__place_module(p->core, &m);
    chroprof__end_edit(p->core);
    return k < p->core->tables[CHROPROF__MODULES].rows ? CHROPROF_OK : CHROPROF_ERR_LIMIT;
}

/* A text that is not given stays. */
static void chroprof__set_text(char *to, size_t size, const char *from)
{
    if (from)
        chroprof__copy_text(to, size, from);
}

CHROPROF__COLD_API void chroprof_set_origin(chroprof *p, const chroprof_origin *origin)
{
    if (!chroprof__has_block(p) || p->view || !origin)
        return;
    chroprof__core *c = p->core;
    chroprof__begin_edit(c);
    chroprof__set_text(c->who.name, sizeof(c->who.name), origin->name);
    chroprof__set_text(c->who.host, sizeof(c->who.host), origin->host);
    chroprof__set_text(c->who.program, sizeof(c->who.program), origin->program);
    if (c->process.pid != origin->pid) {
        c->process.pid = origin->pid;
        c->foreign = 1;                     /* this process knows no names of its code */
        c->file.owner_start = 0;
    }
#ifdef CHROPROF__MAPS
    if (c->file.owner_start == 0 && !origin->host)
        c->file.owner_start = chroprof__process_of(c->process.pid).start;
#endif
    c->estimated = origin->estimated;
    if (origin->end_unix_ns > 0)
        c->process.start_unix_ns = chroprof__minus(origin->end_unix_ns, chroprof__ns(c, c->last));
    chroprof__end_edit(c);
}

CHROPROF__COLD_API void chroprof_set_cpu_clock(chroprof *p, uint64_t ns)
{
    if (!chroprof__has_block(p) || p->view)
        return;
    chroprof__begin_edit(p->core);
    p->core->loop.cpu_clock_ns = ns;
    chroprof__end_edit(p->core);
}
