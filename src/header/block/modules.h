/* block/modules.h */
#pragma once
#include "../interface/kinds.h"
#include "../base/platform.h"
#include "../base/util.h"
#include "../block/rows.h"
#include "../block/core.h"
#include "../block/items.h"

/* ---- modules: which file an address is of */

/* Row + 1 of the module that alone may be at an address; 0: not known. */
static uint32_t chroprof__find_module(const chroprof__core *c, uint64_t address)
{
    const chroprof__module_row *rows = chroprof__module_rows(c);
    uint64_t possible = chroprof__sampler_of(c)->modules.possible;
    uint32_t found = 0;
    for (uint32_t k = 0; k < c->tables[CHROPROF__MODULES].used; k++) {
        if ((possible >> k & 1) == 0 || address < rows[k].low || address >= rows[k].high)
            continue;
        if (found)
            return 0;
        found = k + 1;
    }
    return found;
}

#if CHROPROF__SAMPLES && defined(__linux__)
/* A program header and a note's head as ELF-64 lays them out; the names of <elf.h> collide with
 * those of libev. */
typedef struct chroprof__segment {
    uint32_t type, flags;
    uint64_t offset, address, physical, file_bytes, bytes, alignment;
} chroprof__segment;

typedef struct chroprof__elf_note {
    uint32_t name_bytes, bytes, type;
} chroprof__elf_note;

enum { CHROPROF__LOADED = 1, CHROPROF__NOTES = 4 };             /* types of segments */
enum { CHROPROF__EXECUTABLE = 1, CHROPROF__READABLE = 4 };      /* flags of segments */
enum { CHROPROF__NOTE_BUILD_ID = 3 };

/* As the dynamic linker hands them out. Names of our own, so that no feature macro is needed, and
 * weak: a program without a linker has none. */
typedef struct chroprof__object {
    uint64_t base;
    const char *name;
    const chroprof__segment *headers;
    uint16_t count;
    uint64_t loads, unloads;   /* so far, of all objects */
} chroprof__object;

extern int chroprof__each_object(int (*visit)(chroprof__object *o, size_t size, void *user),
                                 void *user) __asm__("dl_iterate_phdr") __attribute__((__weak__));

/* The bytes of a note in memory that is mapped, as hexadecimal digits. */
static void chroprof__build_id(const chroprof__object *o, const chroprof__segment *header,
                               char out[CHROPROF__BUILD_ID])
{
    static const char hex[] = "0123456789abcdef";
    const unsigned char *at = (const unsigned char *)(uintptr_t)(o->base + header->address);
    uint64_t left = header->bytes;
    chroprof__elf_note note;
    while (left >= sizeof(note)) {
        memcpy(&note, at, sizeof(note));
        uint64_t name = (note.name_bytes + 3u) / 4u * 4u, size = note.bytes;
        uint64_t whole = sizeof(note) + name + (size + 3) / 4 * 4;
        if (whole > left)
            return;
        const unsigned char *id = at + sizeof(note) + name;
        if (note.type == CHROPROF__NOTE_BUILD_ID && note.name_bytes == 4) {
            for (uint64_t k = 0; k < size && 2 * k + 2 < CHROPROF__BUILD_ID; k++) {
                out[2 * k] = hex[id[k] >> 4];
                out[2 * k + 1] = hex[id[k] & 15];
            }
            return;
        }
        at += whole;
        left -= whole;
    }
}

/* Does this part of a file lie in one that is in memory? Tools that cut files up leave notes that
 * are not. */
static bool chroprof__is_loaded(const chroprof__object *o, const chroprof__segment *part)
{
    for (uint32_t k = 0; k < o->count; k++) {
        const chroprof__segment *header = o->headers + k;
        if (header->type == CHROPROF__LOADED && (header->flags & CHROPROF__READABLE) &&
            part->address >= header->address && part->bytes <= header->bytes &&
            part->address - header->address <= header->bytes - part->bytes)
            return true;
    }
    return false;
}

/* A walk over the objects that are loaded now. */
typedef struct chroprof__survey {
    chroprof__core *c;
    uint64_t loaded, before;   /* bits of the rows that are, and that were at the last one */
    uint64_t named;            /* of those, and of the ones that stacks have; 0: not known */
    uint64_t loads, unloads;   /* since the last one, of all objects */
    bool sought;               /* for an address that is in no row */
    uint32_t count, place[CHROPROF__MOST_MODULES];     /* of objects; the row's among them */
} chroprof__survey;

/* Does a timer signal that waits have an address in this range? */
static bool chroprof__is_met(const chroprof__core *c, uint64_t low, uint64_t high)
{
    chroprof__sampler *s = chroprof__sampler_of(c);
    uint64_t end = chroprof__peek64(&s->handler.put);
    for (uint64_t k = s->taken; k - end != 0; k++) {
        const chroprof__entry *e = chroprof__ring(c, k);
        for (uint32_t i = 0; i < e->count && i < CHROPROF__ITEMS; i++)
            if (chroprof__is_code(e->items[i]) && chroprof__item_address(e->items[i]) >= low &&
                chroprof__item_address(e->items[i]) < high)
                return true;
    }
    return false;
}

/* Has this row the object of this name, if the place is the same? The program has no name and
 * never goes. */
static bool chroprof__is_kept(const chroprof__survey *survey, uint32_t k, const char *name)
{
    const char *path = chroprof__module_rows(survey->c)[k].path;
    size_t length = strlen(path), most = strlen(name);
    bool stayed = survey->unloads == 0 && (survey->before >> k & 1);
    return most == 0 || (stayed && *name != '/' && most < length &&
                         strcmp(path + length - most, name) == 0);
}

/* The path; of a long one the end. The program itself has no name here, and what was opened by a
 * relative path has that. */
static void chroprof__module_path(const char *name, char out[CHROPROF__MODULE_PATH])
{
    char path[1024];
    if (*name == '\0' || (*name != '/' && strchr(name, '/'))) {
        const char *link = *name ? "/proc/self/cwd" : "/proc/self/exe";
        ssize_t count = readlink(link, path, sizeof(path) - 1);
        size_t used = count > 0 ? (size_t)count : 0, more = strlen(name);
        path[used] = '/';
        if (used > 0 && more > 0 && used + 1 + more < sizeof(path))
            memcpy(path + used + 1, name, more + 1);
        else
            path[used] = '\0';
        name = used > 0 || more == 0 ? path : name;
    }
    size_t length = strlen(name), most = CHROPROF__MODULE_PATH - 1;
    if (length <= most) {
        memcpy(out, name, length + 1);
        return;
    }
    memcpy(out, "...", 3);
    memcpy(out + 3, name + length - (most - 3), most - 2);
}

static bool chroprof__read_object(const chroprof__object *o, chroprof__module_row *m)
{
    memset(m, 0, sizeof(*m));
    m->low = UINT64_MAX;
    m->base = o->base;
    for (uint32_t k = 0; k < o->count; k++) {
        const chroprof__segment *header = o->headers + k;
        uint64_t low = o->base + header->address;
        if (header->type == CHROPROF__NOTES && m->build_id[0] == '\0' &&
            chroprof__is_loaded(o, header))
            chroprof__build_id(o, header, m->build_id);
        if (header->type != CHROPROF__LOADED || !(header->flags & CHROPROF__EXECUTABLE))
            continue;
        m->low = low < m->low ? low : m->low;
        m->high = low + header->bytes > m->high ? low + header->bytes : m->high;
    }
    return m->low < m->high;
}

/* Have they the same place and build? */
static bool chroprof__same_place(const chroprof__module_row *a, const chroprof__module_row *b)
{
    return a->low == b->low && a->high == b->high && a->base == b->base &&
           strcmp(a->build_id, b->build_id) == 0;
}

/* Bits of the rows that must stay: the program's, and those that stacks or waiting signals have. */
static uint64_t chroprof__named_modules(const chroprof__survey *survey)
{
    const chroprof__core *c = survey->c;
    const chroprof__node *nodes = chroprof__nodes(c);
    const chroprof__module_row *rows = chroprof__module_rows(c);
    uint64_t named = 1 | chroprof__sampler_of(c)->modules.added;
    for (uint32_t k = 1; k <= c->tables[CHROPROF_TABLE_STACKS].used; k++) {
        uint32_t module = chroprof__item_module(nodes[k].item);
        named |= module ? UINT64_C(1) << (module - 1) : 0;
    }
    for (uint32_t k = 0; k < c->tables[CHROPROF__MODULES].used; k++)
        if ((named >> k & 1) == 0 && chroprof__is_met(c, rows[k].low, rows[k].high))
            named |= UINT64_C(1) << k;
    return named;
}

/* A row for it: a free one, or that of a module which is in no stack and gone, or if a timer signal
 * met this one, in no stack; else as many as there are. */
static uint32_t chroprof__new_module(chroprof__survey *survey, const chroprof__module_row *m)
{
    chroprof__table_row *table = &survey->c->tables[CHROPROF__MODULES];
    chroprof__module_row *rows = chroprof__module_rows(survey->c);
    uint32_t k = (uint32_t)table->used;
    if (k == table->rows) {
        bool met = chroprof__is_met(survey->c, m->low, m->high);
        if (survey->named == 0)
            survey->named = chroprof__named_modules(survey);
        uint64_t taken = survey->named | (met ? 0 : survey->before | survey->loaded);
        for (k = 0; k < table->rows && (taken >> k & 1);)
            k++;
        survey->named |= k < table->rows ? UINT64_C(1) << k : 0;
    }
    if (k == table->rows)
        return k;
    rows[k] = *m;
    CHROPROF__STORE_FENCE();
    table->used += k == table->used;
    table->peak = table->used;
    return k;
}

/* The row that it has, or a new one. One that has stayed is not looked up again: a sandbox may
 * allow no readlink. */
static uint32_t chroprof__row_of_module(chroprof__survey *survey, const char *name,
                                        chroprof__module_row *m)
{
    const chroprof__module_row *rows = chroprof__module_rows(survey->c);
    uint32_t used = (uint32_t)survey->c->tables[CHROPROF__MODULES].used;
    for (uint32_t k = 0; k < used; k++)
        if (chroprof__same_place(rows + k, m) && chroprof__is_kept(survey, k, name))
            return k;
    chroprof__module_path(name, m->path);
    for (uint32_t k = 0; k < used; k++)
        if (chroprof__same_place(rows + k, m) && strcmp(rows[k].path, m->path) == 0)
            return k;
    return chroprof__new_module(survey, m);
}

/* The counts are the same in all objects: the first one ends the walk if none has come or gone. */
CHROPROF__COLD int chroprof__add_object(chroprof__object *o, size_t size, void *user)
{
    chroprof__survey *survey = (chroprof__survey *)user;
    const chroprof__sampler *s = chroprof__sampler_of(survey->c);
    chroprof__module_row m;
    if (size < sizeof(*o))
        return 0;
    survey->loads = o->loads - s->modules.loads;
    survey->unloads = o->unloads - s->modules.unloads;
    if ((survey->loads | survey->unloads) == 0 && !survey->sought)
        return 1;
    uint32_t place = survey->count++;
    if (!chroprof__read_object(o, &m))
        return 0;
    uint32_t k = chroprof__row_of_module(survey, o->name, &m);
    if (k == survey->c->tables[CHROPROF__MODULES].rows)
        return 0;
    survey->place[k] = place;
    survey->loaded |= UINT64_C(1) << k;
    return 0;
}

/* Of those that are loaded now, the ones that were so all the time. Loading puts objects behind all
 * others, so these stand before as many as were loaded meanwhile. */
static uint64_t chroprof__surely_stayed(const chroprof__survey *survey)
{
    uint64_t stayed = 0, both = survey->before & survey->loaded;
    for (uint32_t k = 0; k < CHROPROF__MOST_MODULES; k++)
        if ((both >> k & 1) && survey->place[k] + survey->loads < survey->count)
            stayed |= UINT64_C(1) << k;
    return stayed;
}

/* Is there a timer signal with an address that is in no row? Code that a program generated never
 * is: it is looked for less and less often. */
static bool chroprof__seeks_module(chroprof__core *c)
{
    chroprof__sampler *s = chroprof__sampler_of(c);
    uint64_t end = chroprof__peek64(&s->handler.put);
    bool missed = false;
    for (uint64_t k = s->taken; k - end != 0 && !missed; k++) {
        const chroprof__entry *e = chroprof__ring(c, k);
        for (uint32_t i = 0; i < e->count && i < CHROPROF__ITEMS && !missed; i++)
            missed = chroprof__is_code(e->items[i]) &&
                     !chroprof__find_module(c, chroprof__item_address(e->items[i]));
    }
    if (!missed || s->search.patient > 0) {
        s->search.patient -= missed;
        return false;
    }
    return true;
}

/* Looks at the modules if one has come or gone, or a timer signal was in one that has no row yet.
 * Signals that waited meanwhile may be of those before and of those now. If one came and went
 * unseen they are only of those that surely stayed. */
CHROPROF__COLD void chroprof__look_at_modules(chroprof__core *c)
{
    chroprof__sampler *s = chroprof__sampler_of(c);
    chroprof__survey survey;
    if (!chroprof__each_object ||           /* never: no such C library */
        !chroprof__peek64(&s->timer.running))
        return;
    memset(&survey, 0, sizeof(survey));
    survey.c = c;
    survey.before = s->modules.loaded;
    s->modules.possible = s->modules.loaded | s->modules.added;
    survey.sought = chroprof__seeks_module(c);
    if (chroprof__each_object(chroprof__add_object, &survey) != 0)
        return;
    uint64_t gone = (uint64_t)__builtin_popcountll(survey.before & ~survey.loaded);
    s->modules.possible = survey.unloads == gone ? survey.before | survey.loaded
                                         : chroprof__surely_stayed(&survey);
    s->modules.possible |= s->modules.added;
    bool more = (survey.loaded & ~survey.before) != 0;
    s->search.vain = more || !survey.sought ? 0 : s->search.vain + (s->search.vain < 10);
    s->search.patient = s->search.vain ? UINT64_C(1) << s->search.vain : 0;
    s->modules.loaded = survey.loaded;
    s->modules.loads += survey.loads;
    s->modules.unloads += survey.unloads;
}
#else
CHROPROF__COLD void chroprof__look_at_modules(chroprof__core *c)
{
    (void)c;
}
#endif
