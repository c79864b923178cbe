/* block/tables.h */
#pragma once
#include "../interface/kinds.h"
#include "../interface/types.h"
#include "../base/platform.h"
#include "../base/util.h"
#include "../block/rows.h"
#include "../block/core.h"
#include "../block/histogram.h"

/* >>tables: strings, sites, futures, edges and paths. */

/* Something with this key did not fit. */
static void chroprof__lose(chroprof__table_row *table, uint64_t key)
{
    table->dropped++;
    table->wanted |= UINT64_C(1) << chroprof__hash_index(key ^ key >> 32, 64);
}

CHROPROF__COLD uint64_t chroprof__hash_text(uint64_t hash, const char *text)
{
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001B3);    /* FNV-1a */
    return (hash ^ 0xFF) * UINT64_C(0x100000001B3);
}

/* The most bytes of text, no more than room, that do not end inside a UTF-8 sequence. */
static size_t chroprof__whole_characters(const char *text, size_t room)
{
    while (room > 0 && ((unsigned char)text[room] & 0xC0) == 0x80)
        room--;
    return room;
}

/* A report says a name again for each future that is live, so one name must not cost much. */
enum { CHROPROF__LONGEST_TEXT = 1000 };

/* Copies a string of a site in; one that is longer, or does not fit, is cut and ends in "...".
 * Offset 0 is "", 1 is "...". */
static uint32_t chroprof__add_string(chroprof__core *c, chroprof__site_entry *site,
                                     const char *text)
{
    chroprof__table_row *table = &c->tables[CHROPROF_TABLE_STRINGS];
    size_t length = strlen(text), room = (size_t)(table->bytes - table->used);
    char *to = (char *)chroprof__rows(c, CHROPROF_TABLE_STRINGS) + table->used;
    if (length == 0)
        return 0;
    bool cut = length > CHROPROF__LONGEST_TEXT;
    length = cut ? (size_t)CHROPROF__LONGEST_TEXT : length;
    if (length + 1 > room) {
        cut = true;
        table->dropped++;
        table->wanted += length + 1;
    }
    if (cut) {
        site->cut = 1;
        if (room < 5)
            return 1;
        room = room <= length ? room : length + 1;
        length = chroprof__whole_characters(text, room - 4);
        memcpy(to + length, "...", 4);
    }
    memcpy(to, text, length);
    uint32_t offset = (uint32_t)table->used;
    table->used += cut ? length + 4 : length + 1;
    table->peak = table->used;
    to[length] = cut ? '.' : '\0';
    return offset;
}

/* The bucket of the sites with this hash; that of the files stands half the table behind. */
static uint32_t *chroprof__site_head(const chroprof__core *c, uint64_t hash)
{
    return chroprof__heads(c) + chroprof__hash_index(hash, c->tables[CHROPROF__HEADS].rows / 2);
}

/* The offset of a file name, shared by the sites of one file. */
static uint32_t chroprof__add_file(chroprof__core *c, chroprof__site_entry *site, const char *file)
{
    chroprof__site_entry *sites = chroprof__sites(c);
    uint32_t half = c->tables[CHROPROF__HEADS].rows / 2;
    uint32_t *head = chroprof__site_head(c, chroprof__hash_text(0, file)) + half;
    for (uint32_t k = *head; k; k = sites[k].next_file)
        if (strcmp(chroprof__string(c, sites[k].file), file) == 0)
            return sites[k].file;
    site->next_file = *head;
    *head = (uint32_t)(site - sites);
    return chroprof__add_string(c, site, file);
}

static bool chroprof__same_site(const chroprof__core *c, const chroprof__site_entry *row,
                                uint64_t hash, const char *name, const char *file, uint32_t line)
{
    if (row->hash != hash || row->line != line)
        return false;
    return row->cut || (strcmp(chroprof__string(c, row->name), name) == 0 &&
                        strcmp(chroprof__string(c, row->file), file) == 0);
}

/* Makes row number k of the sites; the caller has checked that there is room. */
static void chroprof__new_site(chroprof__core *c, uint32_t k, uint64_t hash, const char *name,
                               const char *file, uint32_t line)
{
    chroprof__site_entry *row = chroprof__sites(c) + k;
    uint32_t *head = chroprof__site_head(c, hash);
    memset(row, 0, sizeof(*row));
    row->hash = hash;
    row->line = line;
    row->name = chroprof__add_string(c, row, name);
    row->file = chroprof__add_file(c, row, file);
    row->next = *head;
    *head = k;
    chroprof_site handle;
    memset(&handle, 0, sizeof(handle));     /* its padding too: the block may be a file */
    handle.name = chroprof__string(c, row->name);
    handle.file = chroprof__string(c, row->file);
    handle.line = line;
    memcpy(row->handle, &handle, sizeof(handle));
}

/* What a site is called: flame graphs add up by name, so none has that of a row of our own. */
static const char *chroprof__site_called(const char *name)
{
    static const char own[][2][24] = {
        { "(uninstrumented)", "site (uninstrumented)" }, { "(idle)", "site (idle)" },
        { "(untracked)", "site (untracked)" }
    };
    if (*name == '(')
        for (uint32_t k = 0; k < sizeof(own) / sizeof(own[0]); k++)
            if (strcmp(name, own[k][0]) == 0)
                return own[k][1];
    return name;
}

/* The row of a site by its content, new if need be; "(other)" when the table is full. */
CHROPROF__COLD uint32_t chroprof__intern_site(chroprof__core *c, const char *given,
                                              const char *file, uint32_t line)
{
    const char *name = chroprof__site_called(given);
    chroprof__site_entry *sites = chroprof__sites(c);
    chroprof__table_row *table = &c->tables[CHROPROF_TABLE_SITES];
    uint64_t hash = chroprof__hash_text(chroprof__hash_text(line, name), file);
    uint32_t k = *chroprof__site_head(c, hash);
    for (; k; k = sites[k].next)
        if (chroprof__same_site(c, sites + k, hash, name, file, line))
            return k;
    if (table->used == table->capacity) {
        chroprof__lose(table, hash);
        return CHROPROF__OTHER;
    }
    k = CHROPROF__FIRST_SITE + (uint32_t)table->used;
    table->peak = ++table->used;
    chroprof__new_site(c, k, hash, name, file, line);
    return k;
}

/* What a site says: pointers that differ make words that differ, but by a chance of one in 2^32. */
CHROPROF__INLINE uint64_t chroprof__content(const chroprof_site *site)
{
    return (uint64_t)(uintptr_t)site->name + (uint64_t)(uintptr_t)site->file * 0x1E3779B1u +
           site->line * 0x9E3779B1u;
}

/* The first place of a path and the address of a site. Static sites lie next to each other. */
CHROPROF__INLINE chroprof__shortcut *chroprof__shortcut_home(const chroprof *p, uint64_t path,
                                                             const chroprof_site *site)
{
    uint64_t at = ((uint64_t)(uintptr_t)site * 4 + path * 0x1E3779B1u) & p->shortcut_mask;
    return (chroprof__shortcut *)(void *)((char *)p->shortcuts + at);
}

CHROPROF__INLINE chroprof__shortcut *chroprof__other_place(const chroprof *p,
                                                           chroprof__shortcut *s)
{
    return p->shortcuts + ((s - p->shortcuts) ^ 1);
}

CHROPROF__INLINE bool chroprof__is_shortcut(const chroprof__shortcut *s, uint32_t path,
                                            const chroprof_site *site)
{
    return s->address == (uint64_t)(uintptr_t)site && s->path == path &&
           s->content == chroprof__content(site);
}

/* The words of a window and of a path next to it. */
CHROPROF__INLINE uint64_t chroprof__pair(const uint32_t *words)
{
    uint64_t pair;
    memcpy(&pair, words, sizeof(pair));
    return pair;
}

/* Is this where it is remembered which path a future of this site has, with that path on top and in
 * that window? */
CHROPROF__INLINE bool chroprof__is_known(const chroprof__shortcut *s, const uint32_t *top,
                                         const chroprof_site *site)
{
    return s->address == (uint64_t)(uintptr_t)site &&
           chroprof__pair(&s->window) == chroprof__pair(top) &&
           s->content == chroprof__content(site);
}

/* The place of two where that is remembered; NULL: none. */
CHROPROF__INLINE const chroprof__shortcut *chroprof__remembered(const chroprof *p,
                                                                const uint32_t *top,
                                                                const chroprof_site *site)
{
    chroprof__shortcut *s = chroprof__shortcut_home(p, top[1], site);
    if (CHROPROF__LIKELY(chroprof__is_known(s, top, site)))
        return s;
    s = chroprof__other_place(p, s);
    return chroprof__is_known(s, top, site) ? s : NULL;
}

/* Bytes from the core to the callers of a path. */
CHROPROF__INLINE uint32_t chroprof__caller_at(const chroprof *p, uint32_t path)
{
    return ((uint32_t)(path * sizeof(chroprof__caller)) & p->caller_mask) + p->callers;
}

/* Remembered in an empty place of two, over what its address meant before, or over what has the
 * first. */
static void chroprof__keep_shortcut(const chroprof *p, uint32_t path, const chroprof_site *site,
                                    uint32_t target)
{
    chroprof__shortcut *s = chroprof__shortcut_home(p, path, site);
    chroprof__shortcut *other = chroprof__other_place(p, s);
    bool same = other->address == (uint64_t)(uintptr_t)site && other->path == path;
    if (same || (s->target != 0 && other->target == 0))
        s = other;
    s->address = (uint64_t)(uintptr_t)site;
    s->content = chroprof__content(site);
    s->window = p->core->window;
    s->path = path;
    s->target = target;
    s->caller = chroprof__caller_at(p, target);
}

/* The slot where the search for an id begins. */
CHROPROF__INLINE chroprof__future_row *chroprof__home(const chroprof *p, uint64_t id)
{
    return p->futures + chroprof__hash_index(id, p->rows);
}

CHROPROF__INLINE chroprof__future_row *chroprof__next_slot(const chroprof *p,
                                                           chroprof__future_row *slot)
{
    return slot + 1 < p->futures + p->rows ? slot + 1 : p->futures;
}

/* The slot of an id, or the empty slot where it would be. */
CHROPROF__INLINE chroprof__future_row *chroprof__find_from(const chroprof *p, uint64_t id,
                                                           chroprof__future_row *home)
{
    chroprof__future_row *slot = home;
    if (CHROPROF__LIKELY(slot->id == id))
        return slot;
    while (slot->id != id && slot->id != 0)
        slot = chroprof__next_slot(p, slot);
    return slot;
}

CHROPROF__NOINLINE chroprof__future_row *chroprof__find(const chroprof *p, uint64_t id)
{
    return chroprof__find_from(p, id, chroprof__home(p, id));
}

/* Tells the frames of a slot where it lies. */
static void chroprof__moved(const chroprof *p, uint32_t slot)
{
    for (uint32_t k = p->futures[slot].frame; k; k = p->frames[k].same)
        p->frames[k].slot = slot * (uint32_t)(sizeof(chroprof__future_row) / 8);
}

/* Of a frame with an id. */
CHROPROF__INLINE chroprof__future_row *chroprof__slot_of(const chroprof *p,
                                                         const chroprof__frame_row *frame)
{
    return (chroprof__future_row *)(void *)((uint64_t *)(void *)p->futures + frame->slot);
}

CHROPROF__INLINE uint32_t chroprof__words_to(const chroprof *p, const chroprof__future_row *slot)
{
    return (uint32_t)((uint64_t)((const char *)slot - (const char *)p->futures) / 8);
}

/* Frees a slot; later ones of its cluster move back, so that no tombstone is left (Knuth, TAOCP 3,
 * 6.4, algorithm R). */
CHROPROF__NOINLINE void chroprof__free_slot(const chroprof *p, chroprof__future_row *slot)
{
    uint32_t rows = p->core->tables[CHROPROF_TABLE_FUTURES].rows;
    uint32_t hole = (uint32_t)(slot - p->futures), k = hole;
    for (;;) {
        k = k + 1 < rows ? k + 1 : 0;
        if (CHROPROF__LIKELY(p->futures[k].id == 0))
            break;
        uint32_t home = chroprof__hash_index(p->futures[k].id, rows);
        uint32_t from_home = k >= home ? k - home : k + rows - home;
        uint32_t from_hole = k >= hole ? k - hole : k + rows - hole;
        if (from_home < from_hole)
            continue;
        p->futures[hole] = p->futures[k];
        chroprof__moved(p, hole);
        hole = k;
    }
    memset(p->futures + hole, 0, sizeof(chroprof__future_row));
}

CHROPROF__NOINLINE chroprof__edge *chroprof__find_edge(const chroprof__core *c, uint32_t path,
                                                       uint32_t site)
{
    chroprof__edge *edges = chroprof__edges(c);
    uint32_t rows = c->tables[CHROPROF_TABLE_EDGES].rows;
    uint32_t k = chroprof__hash_index((uint64_t)path << 32 ^ site, rows);
    while (edges[k].site != 0 && (edges[k].site != site || edges[k].path != path))
        k = k + 1 < rows ? k + 1 : 0;
    return edges + k;
}

/* Puts path number k into the tree, right after its parent in preorder. */
static void chroprof__link_path(chroprof *p, uint32_t k, uint32_t parent, uint32_t site)
{
    const chroprof__core *c = p->core;
    chroprof__path_row *row = p->paths + k;
    row->generation = p->paths[parent].generation + 1;
    row->same_site = chroprof__sites(c)[site].first_path;
    chroprof__sites(c)[site].first_path = k;
    row->next = p->paths[parent].next;
    p->paths[parent].next = k;
}

static void chroprof__new_path(chroprof *p, uint32_t k, uint32_t parent, uint32_t site)
{
    chroprof__core *c = p->core;
    chroprof__path_row *row = p->paths + k;
    memset(row, 0, sizeof(*row));
    row->site = site;
    row->parent = parent;
    row->window = c->window;
    chroprof__set_histogram(p, row, chroprof__histogram_for(p, k, site));
    chroprof__link_path(p, k, parent, site);
}

/* The ancestor of a path, itself included, that has this site; 0: none. */
static uint32_t chroprof__fold(const chroprof *p, uint32_t path, uint32_t site)
{
    while (path != CHROPROF__LOOP && p->paths[path].site != site)
        path = p->paths[path].parent;
    return path;
}

CHROPROF__COLD uint32_t chroprof__edge_miss(chroprof *p, uint32_t parent, uint32_t site,
                                            chroprof__edge *edge)
{
    chroprof__table_row *edges = &p->core->tables[CHROPROF_TABLE_EDGES];
    chroprof__table_row *paths = &p->core->tables[CHROPROF_TABLE_PATHS];
    uint32_t without = parent == CHROPROF__LOOP ? (uint32_t)CHROPROF__UNTRACKED : parent;
    if (edges->used == edges->capacity) {
        chroprof__lose(edges, (uint64_t)parent << 32 | site);
        return without;
    }
    uint32_t target = chroprof__fold(p, parent, site);
    if (target == CHROPROF__LOOP) {
        if (paths->used == paths->capacity) {
            chroprof__lose(paths, (uint64_t)parent << 32 | site);
            return without;
        }
        target = CHROPROF__FIRST_PATH + (uint32_t)paths->used;
        chroprof__new_path(p, target, parent, site);
        paths->peak = ++paths->used;
    }
    edge->target = target;
    edge->path = parent;
    edge->site = site;
    edges->peak = ++edges->used;
    return target;
}

/* The path of a future of this site created under parent (LOOP: a root). What would be deeper than
 * a chain may be is a root: who walks up or down the tree does so in bounded steps. */
static uint32_t chroprof__child(chroprof *p, uint32_t parent, uint32_t site)
{
    chroprof__edge *edge = chroprof__find_edge(p->core, parent, site);
    if (CHROPROF__LIKELY(edge->site != 0))
        return edge->target;
    if (p->paths[parent].generation == CHROPROF__CHAIN)
        return chroprof__child(p, CHROPROF__LOOP, site);
    return chroprof__edge_miss(p, parent, site, edge);
}
