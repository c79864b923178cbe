/* libraries.h - the tables of libraries, for unwind.c alone */

#ifndef PRELOAD_LIBRARIES_H
#define PRELOAD_LIBRARIES_H

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "unwind.h"

/* >>libraries: what they have for exceptions is copied when they are found, outside of handlers. A
 * program may take from its own pages the right to be read, or unmap them, at any time, so a handler
 * reads nothing but the copies and the stack. /proc/self/mem gives them: what cannot be read there
 * is an error and no signal. */

enum { LIBRARIES = 1024, SEGMENTS = 64, LARGEST_TABLES = 64 << 20 };

/* The bytes of a segment. */
typedef struct bytes {
    const uint8_t *low, *high;
} bytes;

/* The tables of a library from the list of its functions on. What they say of addresses is relative
 * to where they lie, so it is read as if all lay as far away as the copy. */
typedef struct library {
    uintptr_t low, high;       /* its code; equal: it is not there any more */
    uintptr_t from;            /* where the tables were */
    bytes copy;
} library;

static library libraries[LIBRARIES];
static size_t library_count;   /* those before it are whole */
static unsigned long long loads, unloads;
static bool look_again;        /* by a handler: libraries may have come or gone */
static bool sealed;            /* no more system calls for this */
static bool busy;

static bool is_within(const bytes *b, uintptr_t address)
{
    return address - (uintptr_t)b->low < (uintptr_t)(b->high - b->low);
}

/* Where the tables lie: from the list of functions to the end of its segment. */
static bool find_tables(int memory, const struct dl_phdr_info *info, library *l, size_t *size)
{
    ElfW(Phdr) segments[SEGMENTS];
    size_t count = info->dlpi_phnum < SEGMENTS ? info->dlpi_phnum : (size_t)SEGMENTS;
    uintptr_t head = 0;
    *l = (library){ UINTPTR_MAX, 0, 0, { NULL, NULL } };
    *size = 0;
    if (pread(memory, segments, count * sizeof *segments, (off_t)(uintptr_t)info->dlpi_phdr) !=
        (ssize_t)(count * sizeof *segments)) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        const ElfW(Phdr) *s = &segments[i];
        uintptr_t low = info->dlpi_addr + s->p_vaddr;
        head = s->p_type == PT_GNU_EH_FRAME ? low : head;
        if (s->p_type == PT_LOAD && (s->p_flags & PF_X) != 0) {
            l->low = low < l->low ? low : l->low;
            l->high = low + s->p_memsz > l->high ? low + s->p_memsz : l->high;
        }
    }
    for (size_t i = 0; head != 0 && i < count; i++) {
        const ElfW(Phdr) *s = &segments[i];
        uintptr_t low = info->dlpi_addr + s->p_vaddr;
        if (s->p_type == PT_LOAD && (s->p_flags & PF_R) != 0 && head - low < s->p_filesz) {
            l->from = head;
            *size = low + s->p_filesz - head;
        }
    }
    return l->low < l->high && *size > 0 && *size <= LARGEST_TABLES;
}

/* Is it what was copied before? */
static bool is_same(int memory, const library *l)
{
    uint8_t part[4096];
    for (const uint8_t *at = l->copy.low; at < l->copy.high; at += sizeof part) {
        size_t size = (size_t)(l->copy.high - at) < sizeof part ? (size_t)(l->copy.high - at)
                                                                : sizeof part;
        off_t from = (off_t)(l->from + (uintptr_t)(at - l->copy.low));
        if (pread(memory, part, size, from) != (ssize_t)size || memcmp(part, at, size) != 0) {
            return false;
        }
    }
    return true;
}

static bool copy_tables(int memory, library *l, size_t size)
{
    uint8_t *copy = (uint8_t *)mmap(NULL, size, PROT_READ | PROT_WRITE,
                                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (copy == MAP_FAILED) {
        return false;
    }
    if (pread(memory, copy, size, (off_t)l->from) != (ssize_t)size) {
        (void)munmap(copy, size);
        return false;
    }
    l->copy.low = copy;
    l->copy.high = copy + size;
    return true;
}

/* What is being looked through, and what was found so far. */
typedef struct search {
    int memory;
    bool there[LIBRARIES];
} search;

/* A library that is known, or was, and is the same; else a new one. */
static int add_library(struct dl_phdr_info *info, size_t unused, void *user)
{
    search *found = (search *)user;
    library l;
    size_t size;
    (void)unused;
    if (!find_tables(found->memory, info, &l, &size)) {
        return 0;
    }
    for (size_t k = 0; k < library_count; k++) {
        library *old = &libraries[k];
        if (!found->there[k] && old->from == l.from && old->low == l.low &&
            (size_t)(old->copy.high - old->copy.low) == size && is_same(found->memory, old)) {
            __atomic_store_n(&old->high, l.high, __ATOMIC_RELEASE);
            found->there[k] = true;
            return 0;
        }
    }
    if (library_count == LIBRARIES || !copy_tables(found->memory, &l, size)) {
        return library_count == LIBRARIES;
    }
    found->there[library_count] = true;
    libraries[library_count] = l;
    __atomic_store_n(&library_count, library_count + 1, __ATOMIC_RELEASE);
    return 0;
}

/* Stops at the first one: what it says of all is enough. */
static int count_loads(struct dl_phdr_info *info, size_t size, void *user)
{
    bool *changed = (bool *)user;
    bool known = size >= offsetof(struct dl_phdr_info, dlpi_subs) + sizeof info->dlpi_subs;
    *changed = !known || info->dlpi_adds != loads || info->dlpi_subs != unloads;
    loads = known ? info->dlpi_adds : loads;
    unloads = known ? info->dlpi_subs : unloads;
    return 1;
}

static void find_all(void)
{
    static search found;
    memset(found.there, 0, sizeof found.there);
    found.memory = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
    if (found.memory < 0) {
        return;
    }
    (void)dl_iterate_phdr(add_library, &found);
    for (size_t k = 0; k < library_count; k++) {
        if (!found.there[k]) {
            __atomic_store_n(&libraries[k].high, libraries[k].low, __ATOMIC_RELEASE);
        }
    }
    (void)close(found.memory);
}

void unwind_find_libraries(void)
{
    bool changed = false;
    int error = errno;
    if (!__atomic_load_n(&sealed, __ATOMIC_RELAXED) &&
        !__atomic_test_and_set(&busy, __ATOMIC_ACQUIRE)) {
        (void)dl_iterate_phdr(count_loads, &changed);
        if (changed) {
            find_all();
        }
        __atomic_clear(&busy, __ATOMIC_RELEASE);
    }
    errno = error;
}

void unwind_seal(void)
{
    __atomic_store_n(&sealed, true, __ATOMIC_RELAXED);
}

static const library *find_library(uintptr_t address)
{
    size_t count = __atomic_load_n(&library_count, __ATOMIC_ACQUIRE);
    for (size_t k = 0; k < count; k++) {
        const library *l = &libraries[k];
        if (address - l->low < __atomic_load_n(&l->high, __ATOMIC_ACQUIRE) - l->low) {
            return l;
        }
    }
    return NULL;
}

#endif
