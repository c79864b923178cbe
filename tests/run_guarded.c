/* run_guarded.c - programs that take away or spoil what a walk of their stacks might read, for
 * tests/run_command.sh.
 *
 *     cc -O2 -fPIC -shared -DPLUGIN ...   a library that works, with a callback of its own
 *     cc -O2 -Wl,-z,now ... -ldl          so that the linker needs nothing of it later
 *     run_guarded WHAT [LIBRARY]          header: of the program, unreadable
 *                                         gone: those of the library, unmapped
 *                                         spoiled: those of the library, with other bytes each time
 *                                         code: made by the program, freed and made again
 *
 * Each goes on for a while in which many ticks come, and prints "lived". */

#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>

#if defined(PLUGIN)

typedef void work(int);
__attribute__((__noinline__)) void through(work *each, int count);

void through(work *each, int count)
{
    volatile char room[200];
    room[count % 200] = 1;
    for (int k = 0; k < count; k++) {
        each(1000);
    }
    room[0] = 2;
}

#else

#include <dlfcn.h>
#include <link.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

extern const char __ehdr_start[];
static volatile unsigned sink;

static __attribute__((__noinline__)) void burn(int count)
{
    for (int k = 0; k < count; k++) {
        sink += (unsigned)k;
    }
}

static double cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* The segment with the tables of the library that an address lies in. */
typedef struct place {
    uintptr_t inside;
    char *low;
    size_t size;
} place;

static int find_tables(struct dl_phdr_info *info, size_t size, void *user)
{
    place *p = (place *)user;
    uintptr_t head = 0;
    int own = 0;
    (void)size;
    for (int k = 0; k < info->dlpi_phnum; k++) {
        const ElfW(Phdr) *s = &info->dlpi_phdr[k];
        own |= s->p_type == PT_LOAD && p->inside - info->dlpi_addr - s->p_vaddr < s->p_memsz;
        head = s->p_type == PT_GNU_EH_FRAME ? info->dlpi_addr + s->p_vaddr : head;
    }
    for (int k = 0; own && head && k < info->dlpi_phnum; k++) {
        const ElfW(Phdr) *s = &info->dlpi_phdr[k];
        uintptr_t low = info->dlpi_addr + s->p_vaddr, page = (uintptr_t)getpagesize();
        if (s->p_type == PT_LOAD && head - low < s->p_memsz && (s->p_flags & PF_X) == 0) {
            p->low = (char *)(low / page * page);
            p->size = (low + s->p_memsz - (uintptr_t)p->low + page - 1) / page * page;
        }
    }
    return own;
}

static place tables_of(const void *inside)
{
    place p = { (uintptr_t)inside, NULL, 0 };
    (void)dl_iterate_phdr(find_tables, &p);
    return p;
}

static void spoil(place p, unsigned *state)
{
    if (p.low == NULL || mprotect(p.low, p.size, PROT_READ | PROT_WRITE) != 0) {
        return;
    }
    for (int k = 0; k < 400; k++) {
        *state = *state * 1103515245u + 12345u;
        p.low[(*state >> 4) % p.size] = (char)(*state >> 20);
    }
}

typedef void work(int);
static void (*through)(work *each, int count);

static void turn(const char *what, unsigned *state)
{
    if (strcmp(what, "code") == 0) {
        char *code =
            (char *)mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        burn(20000);
        (void)munmap(code, 4096);
    }
    if (strcmp(what, "spoiled") == 0) {
        spoil(tables_of((const void *)(uintptr_t)through), state);
    }
    if (through != NULL) {
        through(burn, 20);
    }
    burn(20000);
    (void)poll(NULL, 0, 0);
}

static void open_library(const char *name)
{
    void *library = dlopen(name, RTLD_NOW);
    void *found = library != NULL ? dlsym(library, "through") : NULL;
    memcpy(&through, &found, sizeof through);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    const char *slow = getenv("SLOW_MS");
    unsigned state = 1;
    double end = cpu_seconds() + (slow != NULL ? atof(slow) / 1000 : 0.5);
    if (argc > 2) {
        open_library(argv[2]);
    }
    for (long n = 0; cpu_seconds() < end; n++) {
        if (n == 20 && strcmp(what, "header") == 0) {
            (void)mprotect((void *)(uintptr_t)__ehdr_start, 4096, PROT_NONE);
        }
        if (n == 20 && strcmp(what, "gone") == 0) {
            place p = tables_of((const void *)(uintptr_t)through);
            (void)munmap(p.low, p.size);
        }
        turn(what, &state);
    }
    (void)write(1, "lived\n", 6);
    _exit(0);
}

#endif
