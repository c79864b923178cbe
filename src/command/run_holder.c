/* run_holder.c - see run_holder.h */

#define _GNU_SOURCE 1
#include "run_holder.h"

#ifdef __linux__

#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "attach.h"
#include "block.h"
#include "code_text.h"
#include "message.h"
#include "profile.h"
#include "run_within.h"
#include "symbolize.h"

enum {
    HOLDER_ROWS = 8, HOLDER_WINDOWS = 256, HOLDER_LEAST = 3,
    HOLDER_NOBODY = -1,                /* a row of looks at which the holder was not known */
    HOLDER_GAP_NS = 500000000,         /* between looks of which one says nothing about the other */
    HOLDER_STACK_NS = 50000000         /* a stack is read no more often */
};

/* A thread that held a lock while a function waited. */
typedef struct holder_row {
    pid_t thread;                      /* 0: a free row */
    char name[16];
    char within[WITHIN_NAME];          /* who waited */
    uint64_t looks;
    code_window windows[HOLDER_WINDOWS];       /* calendar time, the last ones */
    size_t count;
    uint64_t seen_ns;                  /* the last look, */
    uint64_t slice, lock;              /* in which slice of who waits, for which lock */
    char asleep[WITHIN_NAME];          /* where it slept itself, */
    uint64_t asleep_looks, stacks;     /* in so many of the looks at its stack */
    uint64_t stack_ns;                 /* the last one of these */
} holder_row;

struct run_holders {
    pid_t process;
    uint64_t lost;                     /* looks without a row */
    holder_row rows[HOLDER_ROWS];
    bool told;
    char text[600];                    /* then */
};

/* >>the lock */

/* pthread_mutex_t of glibc, on 64 bits. */
typedef struct lock_words {
    int32_t lock;
    uint32_t count;
    int32_t owner;
    uint32_t users;
    int32_t kind;
} lock_words;

static bool read_lock(pid_t process, uint64_t at, lock_words *out)
{
    struct iovec here = { out, sizeof *out };
    struct iovec there = { (void *)(uintptr_t)at, sizeof *out };
    return process_vm_readv(process, &here, 1, &there, 1, 0) == (ssize_t)sizeof *out;
}

/* Waits for a private lock of glibc: futex(AT, FUTEX_WAIT_PRIVATE, 2, NULL). */
static bool is_lock_wait(const char *call, uint64_t *at)
{
    enum { WAIT_PRIVATE = 128 };
    uint64_t does;
    uint64_t value;
    uint64_t time;
    long number;
    return sizeof(void *) == 8 &&
           sscanf(call, "%ld 0x%" SCNx64 " 0x%" SCNx64 " 0x%" SCNx64 " 0x%" SCNx64, &number, at,
                  &does, &value, &time) == 5 &&
           number == SYS_futex && (uint32_t)does == WAIT_PRIVATE && (uint32_t)value == 2 &&
           time == 0;
}

/* Normal, recursive, checked, or one that spins first: their owner is set while they are held. Bits of
 * lock elision are allowed. */
static bool is_held(const lock_words *m)
{
    return m->lock == 2 && m->owner > 0 && m->users > 0 && (m->kind & ~0x303) == 0;
}

static bool read_file(pid_t process, pid_t thread, const char *what, char *text, size_t size)
{
    char path[80];
    ssize_t count;
    int file;
    (void)snprintf(path, sizeof path, "/proc/%ld/task/%ld/%s", (long)process, (long)thread, what);
    file = open(path, O_RDONLY | O_CLOEXEC);
    count = file >= 0 ? read(file, text, size - 1) : -1;
    text[count > 0 ? count : 0] = '\0';
    text[strcspn(text, "\n")] = '\0';
    if (file >= 0) {
        (void)close(file);
    }
    return count > 0;
}

/* The thread that holds it, and still does at a second look, and the lock's address; HOLDER_NOBODY: it is
 * not known. */
static pid_t holder_of(pid_t process, pid_t thread, const char *call, char *name, size_t size,
                       uint64_t *at)
{
    char again[256];
    char before[256];
    lock_words m;
    lock_words now;
    name[0] = '\0';
    (void)snprintf(before, sizeof before, "%s", call);
    before[strcspn(before, "\n")] = '\0';
    return is_lock_wait(call, at) && read_lock(process, *at, &m) && is_held(&m) &&
           m.owner != (int32_t)thread &&
           read_file(process, (pid_t)m.owner, "comm", name, size) &&
           read_file(process, thread, "syscall", again, sizeof again) &&
           strcmp(again, before) == 0 && read_lock(process, *at, &now) && is_held(&now) &&
           now.owner == m.owner ? (pid_t)m.owner : HOLDER_NOBODY;
}

/* >>looks */

static uint64_t calendar_now(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* NULL: there is no room. */
static holder_row *row_of(run_holders *h, pid_t holder, const char *name, const char *within)
{
    for (size_t i = 0; i < HOLDER_ROWS; i++) {
        holder_row *row = &h->rows[i];
        if (row->thread == 0) {
            row->thread = holder;
            (void)snprintf(row->name, sizeof row->name, "%s", name);
            (void)snprintf(row->within, sizeof row->within, "%s", within);
        }
        if (row->thread == holder && strcmp(row->within, within) == 0) {
            return row;
        }
    }
    return NULL;
}

/* The time between two looks at one wait, at both of which it held the lock. */
static void add_window(holder_row *row, uint64_t slice, uint64_t lock, uint64_t now)
{
    code_window *last = row->count > 0 ? &row->windows[(row->count - 1) % HOLDER_WINDOWS] : NULL;
    if (row->seen_ns != 0 && row->slice == slice && row->lock == lock && now > row->seen_ns &&
        now - row->seen_ns < HOLDER_GAP_NS) {
        if (last == NULL || last->end != row->seen_ns) {
            last = &row->windows[row->count++ % HOLDER_WINDOWS];
            last->begin = row->seen_ns;
        }
        last->end = now;
    }
    row->seen_ns = now;
    row->slice = slice;
    row->lock = lock;
}

/* Does it sleep itself? */
static void look_at_stack(holder_row *row, pid_t process, uint64_t now)
{
    char call[256];
    char name[WITHIN_NAME];
    if (now - row->stack_ns < HOLDER_STACK_NS ||
        !read_file(process, row->thread, "syscall", call, sizeof call)) {
        return;
    }
    row->stack_ns = now;
    row->stacks++;
    if (strncmp(call, "running", 7) != 0 && run_within_own(process, row->thread, name)) {
        if (row->asleep_looks == 0) {
            (void)snprintf(row->asleep, sizeof row->asleep, "%s", name);
        }
        row->asleep_looks += strcmp(row->asleep, name) == 0;
    }
}

void run_holder_look(run_holders **h, const holder_wait *wait)
{
    char name[16];
    holder_row *row;
    uint64_t lock = 0;
    const uint64_t now = calendar_now();
    const pid_t holder = holder_of(wait->process, wait->thread, wait->call, name, sizeof name, &lock);
    *h = *h != NULL ? *h : (run_holders *)calloc(1, sizeof **h);
    if (*h == NULL) {
        return;
    }
    (*h)->process = wait->process;
    row = row_of(*h, holder, name, wait->within);
    if (row == NULL) {
        (*h)->lost++;
        return;
    }
    row->looks++;
    if (holder != HOLDER_NOBODY) {
        add_window(row, wait->slice, lock, now);
        look_at_stack(row, wait->process, now);
    }
}

/* >>text */

/* Where its own samples of this time are: "compress_block (pack.c:12)". */
static bool name_sampled(const run_holders *h, const holder_row *row, const char *folder, char *out,
                         size_t size)
{
    block_file file;
    profile_text p;
    char path[1024];
    char said[400];
    bool ok;
    memset(&file, 0, sizeof file);
    (void)snprintf(path, sizeof path, "%s/%ld-%ld.chroprof", folder, (long)h->process,
                   (long)row->thread);
    file.name = file.place = path;
    out[0] = '\0';
    if (block_read(&file) == CHROPROF_OK) {
        tool_keep(said, sizeof said);
        ok = profile_of_view(&p, &file.view, path) && profile_symbolize(&p, NULL) &&
             code_name_between(&p, &file.view, row->windows,
                               row->count < HOLDER_WINDOWS ? row->count : HOLDER_WINDOWS, out, size);
        out[0] = (char)(ok ? out[0] : '\0');
        profile_free(&p);
        tool_keep(NULL, 0);
    }
    block_close(&file);
    return out[0] != '\0';
}

/* Looks at this function, whoever held the lock. */
static uint64_t looks_at(const run_holders *h, const char *within)
{
    uint64_t looks = h->lost;
    for (size_t i = 0; i < HOLDER_ROWS; i++) {
        looks += strcmp(h->rows[i].within, within) == 0 ? h->rows[i].looks : 0;
    }
    return looks;
}

static void put_text(const run_holders *h, const char *folder, char *out, size_t size)
{
    const holder_row *most = NULL;
    uint64_t looks;
    char code[200];
    size_t used;
    for (size_t i = 0; i < HOLDER_ROWS; i++) {
        const holder_row *row = &h->rows[i];
        most = row->thread > 0 && (most == NULL || row->looks > most->looks) ? row : most;
    }
    if (most == NULL || most->looks < HOLDER_LEAST ||
        most->looks < (looks = looks_at(h, most->within)) / 2) {
        return;
    }
    (void)snprintf(out, size, "%s waited for a lock that thread %s (%ld) held in %" PRIu64 " of %"
                   PRIu64 " looks", most->within[0] != '\0' ? most->within : "It", most->name,
                   (long)most->thread, most->looks, looks);
    used = strlen(out);
    if (most->asleep_looks >= HOLDER_LEAST && most->asleep_looks > most->stacks / 2) {
        (void)snprintf(out + used, size - used, ", mostly asleep in %s", most->asleep);
    } else if (name_sampled(h, most, folder, code, sizeof code)) {
        (void)snprintf(out + used, size - used, ", mostly in %s", code);
    }
    used = strlen(out);
    (void)snprintf(out + used, size - used, ".");
}

const char *run_holder_text(run_holders *h, const char *folder)
{
    if (h != NULL && !h->told) {
        put_text(h, folder, h->text, sizeof h->text);
        h->told = true;
    }
    return h != NULL ? h->text : "";
}

#else

void run_holder_look(run_holders **h, const holder_wait *wait)
{
    (void)h;
    (void)wait;
}

const char *run_holder_text(run_holders *h, const char *folder)
{
    (void)h;
    (void)folder;
    return "";
}

#endif
