/* modules.h - what the loader has mapped, and what functions are called */

#ifndef PRELOAD_MODULES_H
#define PRELOAD_MODULES_H

#include "run.h"
#include "next.h"
#include "standins.h"

#if HAS_STANDINS
/* What chroprof run found out about the functions of the program itself; NULL: nothing. */
static const board_symbols *symbols;

static const board_symbol *symbol_at(uint64_t address)
{
    const board_symbol *rows = symbols != NULL ? (const board_symbol *)(symbols + 1) : NULL;
    uint64_t from = 0;
    uint64_t to = rows != NULL ? symbols->count : 0;
    while (from < to) {
        uint64_t middle = from + (to - from) / 2;
        if (rows[middle].address == address) {
            return &rows[middle];
        }
        if (rows[middle].address < address) {
            from = middle + 1;
        } else {
            to = middle;
        }
    }
    return NULL;
}

/* The last one that begins there or before. */
static const board_symbol *symbol_before(uint64_t address)
{
    const board_symbol *rows = symbols != NULL ? (const board_symbol *)(symbols + 1) : NULL;
    uint64_t from = 0;
    uint64_t to = rows != NULL ? symbols->count : 0;
    while (from < to) {
        uint64_t middle = from + (to - from) / 2;
        if (rows[middle].address <= address) {
            from = middle + 1;
        } else {
            to = middle;
        }
    }
    return from > 0 ? &rows[from - 1] : NULL;
}

/* What the loader has mapped, and knows the names of. It is asked without its lock, which a thread
 * may hold that waits for this one: of what the program was started with once, before main; of what
 * came later by _dl_find_object (glibc 2.35), and elsewhere not at all. */
typedef struct module {
    const char *name;          /* of its file */
    uintptr_t base;
    const ElfW(Dyn) *dynamic;
} module;

typedef struct started_module {
    module module;
    const ElfW(Phdr) *segments;
    size_t count;
} started_module;

#define STARTED_MOST 256

static started_module started[STARTED_MOST];        /* the first one is the program */
static size_t started_count;
static char program_name[NAME_BYTES];

#ifdef DLFO_STRUCT_HAS_EH_DBASE
static int (*find_object)(void *, struct dl_find_object *);
#endif

static int add_started(struct dl_phdr_info *info, size_t size, void *unused)
{
    started_module *m = &started[started_count];
    (void)size;
    (void)unused;
    if (started_count == STARTED_MOST) {
        return 1;
    }
    m->module.name = started_count == 0 ? program_name : last_part(info->dlpi_name);
    m->module.base = (uintptr_t)info->dlpi_addr;
    m->segments = info->dlpi_phdr;
    m->count = info->dlpi_phnum;
    for (size_t i = 0; i < m->count; i++) {
        if (m->segments[i].p_type == PT_DYNAMIC) {
            m->module.dynamic = (const ElfW(Dyn) *)(m->module.base + m->segments[i].p_vaddr);
        }
    }
    started_count++;
    return 0;
}

static void find_modules(void)
{
    char path[4096];
    ssize_t length = known_link("/proc/self/exe", path, sizeof path - 1);
    path[length > 0 ? length : 0] = '\0';
    (void)snprintf(program_name, sizeof program_name, "%s", last_part(path));
    (void)dl_iterate_phdr(add_started, NULL);
#ifdef DLFO_STRUCT_HAS_EH_DBASE
    void *found = dlsym(RTLD_DEFAULT, "_dl_find_object");
    memcpy(&find_object, &found, sizeof found);
#endif
    (void)dlerror();
}

static const module *started_with(uintptr_t code)
{
    for (size_t i = 0; i < started_count; i++) {
        const started_module *m = &started[i];
        for (size_t j = 0; j < m->count; j++) {
            const ElfW(Phdr) *s = &m->segments[j];
            if (s->p_type == PT_LOAD && (s->p_flags & PF_X) != 0 &&
                code - m->module.base - s->p_vaddr < s->p_memsz) {
                return &m->module;
            }
        }
    }
    return NULL;
}

/* The program holds it while it uses functions of it. */
static bool loaded_later(uintptr_t code, module *m)
{
#ifdef DLFO_STRUCT_HAS_EH_DBASE
    struct dl_find_object object;
    if (find_object != NULL && find_object((void *)code, &object) == 0) {
        m->name = last_part(object.dlfo_link_map->l_name);
        m->base = (uintptr_t)object.dlfo_link_map->l_addr;
        m->dynamic = object.dlfo_link_map->l_ld;
        return true;
    }
#else
    (void)code;
    (void)m;
#endif
    return false;
}

/* Where a table lies that the loader has told of, as an address or as the file counts. */
static const void *table_at(const module *m, uintptr_t at)
{
    return (const void *)(at < m->base ? at + m->base : at);
}

/* How many symbols a table has whose functions are found by this table of hashes. */
static size_t count_hashed(const uint32_t *hashes)
{
    const size_t buckets = hashes[0];
    const size_t first = hashes[1];
    const uint32_t *bucket = hashes + 4 + hashes[2] * (sizeof(uintptr_t) / sizeof *hashes);
    const uint32_t *chains = bucket + buckets;
    size_t last = 0;
    for (size_t i = 0; i < buckets; i++) {
        last = bucket[i] > last ? bucket[i] : last;
    }
    if (last < first) {
        return first;
    }
    while ((chains[last - first] & 1) == 0) {
        last++;
    }
    return last + 1;
}

/* What other modules call the function that begins there; NULL: nothing. */
static const char *exported_name(const module *m, uintptr_t code)
{
    const ElfW(Sym) *rows = NULL;
    const char *names = NULL;
    size_t count = 0;
    for (const ElfW(Dyn) *d = m->dynamic; d != NULL && d->d_tag != DT_NULL; d++) {
        const void *table = table_at(m, (uintptr_t)d->d_un.d_ptr);
        if (d->d_tag == DT_SYMTAB) {
            rows = (const ElfW(Sym) *)table;
        } else if (d->d_tag == DT_STRTAB) {
            names = (const char *)table;
        } else if (d->d_tag == DT_HASH) {
            count = ((const uint32_t *)table)[1];
        } else if (d->d_tag == DT_GNU_HASH && count == 0) {
            count = count_hashed((const uint32_t *)table);
        }
    }
    for (size_t i = 1; rows != NULL && names != NULL && i < count; i++) {
        if (rows[i].st_shndx != SHN_UNDEF && m->base + rows[i].st_value == code &&
            (rows[i].st_info & 15) == STT_FUNC) {
            return names + rows[i].st_name;
        }
    }
    return NULL;
}

static void name_of_code(uintptr_t code, char *name)
{
    const module *m = started_with(code);
    const board_symbol *known = m != NULL && m->name == program_name
                                ? symbol_before((uint64_t)(code - m->base) - 1) : NULL;
    name[0] = '\0';
    if (known != NULL) {
        (void)snprintf(name, NAME_OF_CALL, "%s", (const char *)symbols + known->name);
    }
}

/* By what chroprof run knows, by what the module exports, or by its place in the file. */
static void name_function(watched_function *w, const module *m)
{
    const uintptr_t code = (uintptr_t)w->function;
    const uint64_t address = (uint64_t)(code - m->base);
    const bool inside = m->name == program_name;
    const board_symbol *known = inside ? symbol_at(address) : NULL;
    const char *exported = known == NULL ? exported_name(m, code) : NULL;
    w->inner = !inside && is_loop_library(m->name);     /* its own callbacks are no tasks */
    w->site.name = w->name;
    w->site.file = NULL;
    w->site.line = 0;
    if (known != NULL) {
        w->site.name = (const char *)symbols + known->name;
        w->site.file = known->line > 0 ? (const char *)symbols + known->file : NULL;
        w->site.line = known->line;
    } else if (exported != NULL) {
        (void)snprintf(w->name, sizeof w->name, "%s", exported);
    } else {
        (void)snprintf(w->name, sizeof w->name, "%.80s+0x%" PRIx64, m->name, address);
    }
}

/* The same number for the same module, as long as it stays; 0: it stays. */
static uint64_t number_of(const module *m)
{
    uint64_t number = (uint64_t)m->base ^ (uint64_t)(uintptr_t)m->dynamic << 1;
    for (const char *at = m->name; *at != '\0'; at++) {
        number = (number ^ (unsigned char)*at) * UINT64_C(0x100000001B3);
    }
    return number | 1;
}
#else
static void name_of_code(uintptr_t code, char *name)
{
    (void)code;
    name[0] = '\0';
}
#endif

#endif
