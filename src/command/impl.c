/* impl.c - the implementation of chroprof.h, compiled once, and what needs its inside: see
 * timeline.h */

#define CHROPROF_IMPLEMENTATION
#include "../../chroprof.h"

#include "timeline.h"

uint32_t ring_path(chroprof *p, uint32_t parent, const char *name, const char *file, uint32_t line)
{
    const chroprof_site *site = chroprof_site_make(p, name, file, line);
    uint32_t path = chroprof__child_of(p, parent, site);
    return path >= CHROPROF__FIRST_PATH ? path : 0;
}

void ring_future(chroprof *p, uint64_t id, uint32_t path, bool ready)
{
    (void)chroprof__create(p, p->core, id, path, 0);
    if (ready) {
        chroprof__on_ready(p, p->core, id, 0);
    }
}

void ring_steps(chroprof *p, const chroprof_step *steps, size_t count, uint64_t first,
                uint64_t events, const chroprof_step *now, uint64_t live)
{
    chroprof__core *c = p->core;
    c->ring_first = first;
    for (size_t i = 0; i < count; i++) {
        chroprof__ring_row *row = chroprof__ring_at(p, c, c->ring_first + i);
        memset(row, 0, sizeof *row);
        row->time = steps[i].at_ns;
        row->id = steps[i].id;
        row->path = steps[i].path;
        row->depth = (uint16_t)steps[i].depth;
        row->state = (uint8_t)steps[i].state;
    }
    c->seq = 2 * (c->ring_first + count);
    c->seq_base = c->seq - 2 * events;
    c->last = p->paths[CHROPROF__LOOP].exec = now->at_ns;
    p->paths[CHROPROF__LOOP].merged_live = chroprof__minus(live,
                                                           c->tables[CHROPROF_TABLE_FUTURES].used);
    memset(p->frames + 1, 0, now->depth * sizeof *p->frames);
    p->frames[now->depth].path = c->account = now->path;
    c->depth = now->depth;
    p->view = true;
}
