/* Writes a profile whose "stacks" are places that this program knows: ./program >profile.json
 * Each native row has a key "expected" besides, of FUNCTION:LINE with the innermost first. */

#define _GNU_SOURCE
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "chroprof.h"
#include "noted.h"

/* >>places */

typedef struct place {
    uintptr_t address;
    const char *functions[3];
    int lines[3];
    bool returns;
} place;

static place places[64];
static size_t place_count;
static volatile int sink;

NOINLINE int note(const char *function, int line, const char *outer, int outer_line,
                  const char *outermost, int outermost_line)
{
    place *p = &places[place_count++];
    p->address = (uintptr_t)__builtin_return_address(0);
    p->functions[0] = function;
    p->functions[1] = outer;
    p->functions[2] = outermost;
    p->lines[0] = line;
    p->lines[1] = outer_line;
    p->lines[2] = outermost_line;
    p->returns = true;
    return sink;
}

static void note_begin(uintptr_t address, const char *function, int line)
{
    place *p = &places[place_count++];
    p->address = address;
    p->functions[0] = function;
    p->lines[0] = line;
}

static INLINED int innermost(int n, int line, int outer_line)
{
    return n + note("innermost", __LINE__, "middle", line, "outermost", outer_line);
}

static INLINED int middle(int n, int line)
{
    n += note("middle", __LINE__, "outermost", line, NULL, 0);
    return 3 * innermost(n, __LINE__, line);
}

static NOINLINE int outermost(int n)
{
    n = middle(n, __LINE__);
    return n + note("outermost", __LINE__, NULL, 0, NULL, 0);
}

int exported(int n);
NOINLINE int exported(int n)
{
    return n * note("exported", __LINE__, NULL, 0, NULL, 0);
}
enum { EXPORTED_LINE = __LINE__ - 4 };

static NOINLINE int with_a_loop(int n)
{
    for (int i = 0; i < n; i++) {
        n += note("with_a_loop", __LINE__, NULL, 0, NULL, 0) - 1;
    }
    return n;
}

/* >>modules */

typedef struct module {
    char path[4096];
    char build_id[130];
    uintptr_t base, begin, end;
} module;

static module modules[64];
static size_t module_count;

static void take_notes(module *m, const char *at, const char *end)
{
    while (at + sizeof(ElfW(Nhdr)) <= end) {
        const ElfW(Nhdr) *note_header = (const ElfW(Nhdr) *)(const void *)at;
        const char *name = at + sizeof *note_header;
        const char *content = name + (note_header->n_namesz + 3) / 4 * 4;
        if (note_header->n_type == 3 && strcmp(name, "GNU") == 0) {
            for (size_t i = 0; i < note_header->n_descsz && i < 64; i++) {
                (void)snprintf(m->build_id + 2 * i, 3, "%02x", (unsigned char)content[i]);
            }
        }
        at = content + (note_header->n_descsz + 3) / 4 * 4;
    }
}

static int take_module(struct dl_phdr_info *info, size_t size, void *user)
{
    module *m = &modules[module_count++];
    (void)size;
    (void)user;
    m->base = info->dlpi_addr;
    (void)snprintf(m->path, sizeof m->path, "%s", info->dlpi_name);
    if (m->path[0] == '\0' && readlink("/proc/self/exe", m->path, sizeof m->path - 1) < 0) {
        abort();
    }
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        uintptr_t begin = m->base + part->p_vaddr;
        if (part->p_type == PT_NOTE) {
            take_notes(m, (const char *)begin, (const char *)begin + part->p_memsz);
        }
        if (part->p_type == PT_LOAD) {
            m->begin = m->end == 0 ? begin : m->begin;
            m->end = begin + part->p_memsz;
        }
    }
    return module_count == 64;
}

static int module_of(uintptr_t address)
{
    for (size_t i = 0; i < module_count; i++) {
        if (address >= modules[i].begin && address < modules[i].end) {
            return (int)i;
        }
    }
    return -1;
}

/* >>profile: an ordinary one, and behind its last key what a sampler adds */

static char text[1 << 20];
static size_t used;

static int keep(void *user, const void *bytes, size_t count)
{
    (void)user;
    memcpy(text + used, bytes, count);
    used += count;
    return 0;
}

static void write_modules(void)
{
    (void)printf(",\n\"modules\":[");
    for (size_t i = 0; i < module_count; i++) {
        (void)printf("%s\n{\"id\":%zu,\"path\":\"%s\",\"build_id\":\"%s\",\"base\":%llu}",
                     i > 0 ? "," : "", i, modules[i].path, modules[i].build_id,
                     (unsigned long long)modules[i].base);
    }
    (void)printf("]");
}

static void write_place(const place *p, size_t id)
{
    int m = module_of(p->address);
    (void)printf(",\n{\"id\":%zu,\"parent\":1,\"kind\":\"native\",\"path\":0,\"module\":%d,"
                 "\"address\":%llu,\"return\":%s,\"name\":\"\",\"weight\":1,\"cpu_ns\":19000000,"
                 "\"expected\":[", id, m,
                 (unsigned long long)(p->address - (m >= 0 ? modules[m].base : 0)),
                 p->returns ? "true" : "false");
    for (size_t i = 0; i < 3 && p->functions[i] != NULL; i++) {
        (void)printf("%s\"%s:%d\"", i > 0 ? "," : "", p->functions[i], p->lines[i]);
    }
    (void)printf("]}");
}

static void write_stacks(void)
{
    (void)printf(",\n\"stacks\":[\n{\"id\":1,\"parent\":0,\"kind\":\"task\",\"path\":3,"
                 "\"module\":-1,\"address\":0,\"return\":false,\"name\":\"task\",\"weight\":0,\"cpu_ns\":0}");
    for (size_t i = 0; i < place_count; i++) {
        write_place(&places[i], i + 2);
    }
    (void)printf("],\n\"samples\":[");
    for (size_t i = 0; i < place_count; i++) {
        (void)printf("%s\n{\"at_ns\":%zu,\"duration_ns\":0,\"weight\":1,\"cpu_ns\":19000000,"
                     "\"stack\":%zu,\"state\":\"busy\"}", i > 0 ? "," : "", 19000000 * i, i + 2);
    }
    (void)printf("],\n\"wall\":[]}\n");
}

static void write_profile(void)
{
    CHROPROF_SITE(site, "task");
    static unsigned char memory[1 << 16];
    chroprof p;
    chroprof_options options = { 0 };
    options.clock = chroprof_clock_manual;
    (void)chroprof_init(&p, memory, sizeof memory, &options);
    chroprof_event(&p, CHROPROF_ENTER, 0, &site, 1);
    chroprof_event(&p, CHROPROF_LEAVE, 0, &site, 1000000000);
    (void)chroprof_write(&p, CHROPROF_JSON, keep, NULL);
    used = (size_t)(strstr(text, ",\n\"sampler\"") - text);    /* its own samples are none */
    (void)printf("%.*s,\n\"sampler\":{\"mode\":\"cpu\",\"period_ns\":19000000,\"cost_ns\":1}",
                 (int)used, text);
}

int main(int count, char **words)
{
    (void)words;
    sink = outermost(count) + exported(count) + with_a_loop(count) + library_entry(count);
#ifdef WITH_CPP
    sink += cpp_places(count);
#endif
    note_begin((uintptr_t)&exported, "exported", EXPORTED_LINE);
    note_begin((uintptr_t)&qsort, "qsort", 0);
    note_begin(16, NULL, 0);
    (void)dl_iterate_phdr(take_module, NULL);
    write_profile();
    write_modules();
    write_stacks();
    return 0;
}
