/* copies/map.h */
#pragma once
#include "../interface/kinds.h"
#include "../interface/types.h"
#include "../interface/life.h"
#include "../interface/reading.h"
#include "../interface/sampler.h"
#include "../base/platform.h"
#include "../block/rows.h"
#include "../block/core.h"
#include "../event/step.h"
#include "../reading/figures.h"
#include "../reading/totals.h"
#include "../public/setup.h"
#include "../copies/owner.h"
#include "../public/now.h"

/* >>map: the block as a file.
 * Owns the file, its lock and the mapping with the front before it. A file is made under another
 * name and then linked to its own, so that no one ever sees half of it, and no one's file is taken
 * away. Relies on >>public to start a profile in the mapping, and on >>owner to find who owns a
 * block. Called by the host alone. */

#ifdef CHROPROF__MAPS
/* The owner of a file holds a write lock on its first byte, from before the file has its name until
 * the program ends, runs exec or lets the profile go. The kernel knows that of every program on
 * every file, whatever its namespace, host name or number is, and forgets it at a boot. Of the
 * three kinds of lock
 * - flock's can be taken by whoever may read the file, who would then block it for its owner;
 * - a process loses those of F_SETLK as soon as it closes any descriptor of the file, of a dump
 *   that it makes of itself, for example;
 * - those of F_OFD_SETLK go with the last reference to the open file. A descriptor would be a poor
 *   one: a forked child has it as well, and daemons close all that they do not know. A page of the
 *   file that is mapped with MADV_DONTFORK is a reference that no child has and that nobody closes.
 * A write lock needs a descriptor for writing, and nobody asks for read locks: who may only read
 * can't pretend. If the system or the file system has no such locks, the process's number and start
 * decide. The second byte's lock is of whoever moves a dead program's file. */
enum { CHROPROF__PATH_BYTES = 4096 };
enum { CHROPROF__LOCK_OWNER, CHROPROF__LOCK_MOVER };
enum { CHROPROF__IN_FILE = 1, CHROPROF__IN_HELD_FILE = 2 };
#ifdef __linux__
enum { CHROPROF__GETLK = 36, CHROPROF__SETLK = 37 };    /* F_OFD_, which a strict build hides */
#else
enum { CHROPROF__GETLK = F_GETLK, CHROPROF__SETLK = F_SETLK };
#endif

/* What is asked of a lock of a file. */
typedef struct chroprof__lock_request {
    int call;                  /* CHROPROF__GETLK or CHROPROF__SETLK */
    int which;                 /* CHROPROF__LOCK_OWNER or CHROPROF__LOCK_MOVER */
    short type;
} chroprof__lock_request;

/* Asks for a lock, or who has one in the way: its type then; -1: there are no such locks. */
static int chroprof__lock(int file, chroprof__lock_request r)
{
    struct flock lock;
    memset(&lock, 0, sizeof(lock));
    lock.l_type = r.type;
    lock.l_whence = SEEK_SET;
    lock.l_start = r.which;
    lock.l_len = 1;
    return fcntl(file, r.call, &lock) == 0 ? lock.l_type : -1;
}

/* F_WRLCK: somebody has it; F_UNLCK: nobody; -1: as above. */
static int chroprof__ask_lock(int file, int which)
{
    chroprof__lock_request r = { CHROPROF__GETLK, 0, F_RDLCK };     /* read locks don't count */
    r.which = which;
    return chroprof__lock(file, r);
}

static bool chroprof__take_lock(int file, int which)
{
    chroprof__lock_request r = { CHROPROF__SETLK, 0, F_WRLCK };
    r.which = which;
    return chroprof__lock(file, r) >= 0;
}

/* Memory for a block, a new file's or no file's, and the page of its front before it: the system
 * wipes that in a forked child where it can. NULL and errno. */
static void *chroprof__new_mapping(int file, size_t size)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    int flags = MAP_PRIVATE, zeros = -1;
#ifdef MAP_ANONYMOUS
    flags |= MAP_ANONYMOUS;
#else
    zeros = open("/dev/zero", O_RDWR | CHROPROF__CLOEXEC);
#endif
    void *all = mmap(NULL, page + size, PROT_READ | PROT_WRITE, flags, zeros, 0);
    if (zeros >= 0)
        close(zeros);
    if (all == MAP_FAILED)
        return NULL;
    char *block = (char *)all + page;
    if (file >= 0 && mmap(block, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0) ==
                         MAP_FAILED) {
        int error = errno;
        munmap(all, page + size);
        errno = error;
        return NULL;
    }
#ifdef CHROPROF__FORKS
    (void)madvise(all, page, MADV_WIPEONFORK);
#endif
    return block;
}

static void chroprof__unmap_block(void *block, size_t size)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    munmap((char *)block - page, page + size);
}

/* What a call looks at and writes, in memory of its own: a caller may have a small stack. NULL and
 * errno. */
typedef struct chroprof__map_room {
    chroprof__core core;                    /* of a file that is there */
    char made[CHROPROF__PATH_BYTES], prev[CHROPROF__PATH_BYTES];
} chroprof__map_room;

static chroprof__map_room *chroprof__new_map_room(void)
{
    return (chroprof__map_room *)chroprof__new_mapping(-1, sizeof(chroprof__map_room));
}

static void chroprof__drop_map_room(chroprof__map_room *room)
{
    int error = errno;
    chroprof__unmap_block(room, sizeof(*room));
    errno = error;
}

/* Takes the owner's lock for as long as the page that it returns is mapped. NULL: there is none. */
static void *chroprof__hold_file(const char *made)
{
#ifdef CHROPROF__HOLDS
    enum { DONTFORK = 10 };                 /* a strict build hides it, and madvise */
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    int file = open(made, O_RDWR | CHROPROF__CLOEXEC);
    void *hold = MAP_FAILED;
    if (file >= 0 && chroprof__take_lock(file, CHROPROF__LOCK_OWNER))
        hold = mmap(NULL, page, PROT_NONE, MAP_SHARED, file, 0);
    if (file >= 0)
        close(file);
    if (hold != MAP_FAILED && chroprof__system(SYS_madvise, hold, page, DONTFORK) == 0)
        return hold;
    if (hold != MAP_FAILED)
        munmap(hold, page);
#endif
    (void)made;
    return NULL;
}

/* A forked child does not have the page: something else may be there. */
static void chroprof__drop_hold(void *hold, uint64_t owner)
{
    if (hold && owner == (uint64_t)getpid())
        munmap(hold, (size_t)sysconf(_SC_PAGESIZE));
}

/* Is there an owner of this file? */
static bool chroprof__is_owned(int file, const chroprof__core *c)
{
    int lock = c->file.ended ? -1 : chroprof__ask_lock(file, CHROPROF__LOCK_OWNER);
    if (lock == F_WRLCK) {                  /* what is killed keeps it until its memory is gone */
        chroprof__process now = chroprof__process_of(c->process.pid);
        return now.start == 0 || now.start != c->file.owner_start || !chroprof__has_left(&now);
    }
    if (lock == F_UNLCK && c->file.in_file == CHROPROF__IN_HELD_FILE)
        return false;
    return chroprof__find_owner(c) != CHROPROF__OWNER_GONE;
}

/* Who owns this file? OK: nobody any more. Of another layout only the lock is known. */
static chroprof_result chroprof__judge_file(int file, chroprof__core *core)
{
    ssize_t count = read(file, core, sizeof(*core));
    if (count < 0)
        return CHROPROF_ERR_FILE;
    if (count != (ssize_t)sizeof(*core) || core->form.magic != CHROPROF__MAGIC)
        return CHROPROF_ERR_FORMAT;         /* somebody else's: not to be touched */
    if (core->form.layout != CHROPROF__LAYOUT || core->form.core_bytes != sizeof(*core))
        return chroprof__ask_lock(file, CHROPROF__LOCK_OWNER) == F_WRLCK ? CHROPROF_ERR_OWNED
                                                                         : CHROPROF_ERR_VERSION;
    return chroprof__is_owned(file, core) ? CHROPROF_ERR_OWNED : CHROPROF_OK;
}

/* For reading; a pipe must not hold us. */
static int chroprof__open_there(const char *path)
{
    return open(path, O_RDONLY | CHROPROF__CLOEXEC | O_NONBLOCK);
}

/* A file that was taken away meanwhile is in nobody's way. A symbolic link that leads nowhere is
 * there all the same. */
static chroprof_result chroprof__unless_gone(const char *path)
{
    struct stat facts;
    int error = errno;
    bool link = error == ENOENT && lstat(path, &facts) == 0 && S_ISLNK(facts.st_mode);
    errno = error;
    return error == ENOENT && !link ? CHROPROF_OK : CHROPROF_ERR_FILE;
}

static chroprof_result chroprof__owner_of_file(const char *path, chroprof__map_room *room)
{
    int file = chroprof__open_there(path);
    if (file < 0)
        return CHROPROF_ERR_FILE;
    chroprof_result result = chroprof__judge_file(file, &room->core);
    int error = errno;
    close(file);
    errno = error;
    return result;
}

CHROPROF__COLD_API chroprof_result chroprof_file_owner(const char *path)
{
    if (!path)
        return CHROPROF_ERR_ARGUMENT;
    chroprof__map_room *room = chroprof__new_map_room();
    if (!room)
        return CHROPROF_ERR_FILE;
    chroprof_result result = chroprof__owner_of_file(path, room);
    chroprof__drop_map_room(room);
    return result;
}

/* Is it a profile without an owner? One of another version has none that can be known. */
static bool chroprof__is_left(chroprof_result result)
{
    return result == CHROPROF_OK || result == CHROPROF_ERR_VERSION;
}

/* Makes room for a dead program's file: what is at PATH.prev goes if it is one as well. */
static chroprof_result chroprof__clear_prev(chroprof__map_room *room)
{
    chroprof_result result = chroprof__owner_of_file(room->prev, room);
    if (result == CHROPROF_ERR_FILE)
        result = chroprof__unless_gone(room->prev);
    else if (chroprof__is_left(result))
        (void)unlink(room->prev);           /* if they are one file, rename would do nothing */
    return chroprof__is_left(result) ? CHROPROF_OK : CHROPROF_ERR_PREVIOUS;
}

/* Moves a dead program's file to PATH.prev, if it is still the one at path. */
static chroprof_result chroprof__move_judged(int file, const char *path,
                                             chroprof__map_room *room)
{
    struct stat judged, there;
    (void)snprintf(room->prev, sizeof(room->prev), "%s.prev", path);    /* shorter than made */
    if (fstat(file, &judged) != 0)
        return CHROPROF_ERR_FILE;
    if (stat(path, &there) != 0)
        return chroprof__unless_gone(path);
    if (there.st_ino != judged.st_ino || there.st_dev != judged.st_dev)
        return CHROPROF_OK;                 /* gone, and another one is there */
    chroprof_result result = chroprof__clear_prev(room);
    if (result != CHROPROF_OK)
        return result;
    return rename(path, room->prev) == 0 ? CHROPROF_OK : chroprof__unless_gone(path);
}

/* Who holds the mover's lock is the only one to move it. Where that can't be had (no right to
 * write, no such locks, a reader's lock), a program may move what another has made in the same
 * moment: that goes on in PATH.prev. */
static chroprof_result chroprof__move_file(int file, const char *path,
                                           chroprof__map_room *room)
{
    chroprof_result result = CHROPROF_ERR_OWNED;        /* another program was faster */
    int lock = open(path, O_RDWR | CHROPROF__CLOEXEC | O_NONBLOCK);
    if (lock < 0 || chroprof__take_lock(lock, CHROPROF__LOCK_MOVER) ||
        chroprof__ask_lock(lock, CHROPROF__LOCK_MOVER) != F_WRLCK)
        result = chroprof__move_judged(file, path, room);
    if (lock >= 0)
        close(lock);
    return result;
}

/* Takes the file of a dead program out of the way. */
static chroprof_result chroprof__set_aside(const char *path, chroprof__map_room *room)
{
    int file = chroprof__open_there(path);
    if (file < 0)
        return chroprof__unless_gone(path);
    chroprof_result result = chroprof__judge_file(file, &room->core);
    if (chroprof__is_left(result))
        result = chroprof__move_file(file, path, room);
    close(file);
    return result;
}

/* Gives a finished file its name. */
static chroprof_result chroprof__publish(const char *path, chroprof__map_room *room)
{
    for (int tries = 0; tries < 8; tries++) {
        if (link(room->made, path) == 0)
            return CHROPROF_OK;
        if (errno != EEXIST)
            return CHROPROF_ERR_FILE;
        chroprof_result result = chroprof__set_aside(path, room);
        if (result != CHROPROF_OK)
            return result;
    }
    return CHROPROF_ERR_OWNED;
}

/* Room on the disk for all of a new file; 0, or an errno. */
static int chroprof__reserve(int file, size_t size)
{
    struct rlimit limit;                    /* to pass it would be SIGXFSZ */
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
        size > (uint64_t)limit.rlim_cur)
        return EFBIG;
#if defined(__APPLE__) || defined(__OpenBSD__)
    static const char zeros[4096] = { 0 };
    for (size_t at = 0; at < size; at += sizeof(zeros)) {
        size_t part = size - at < sizeof(zeros) ? size - at : sizeof(zeros);
        errno = ENOSPC;                     /* of a write that was cut short */
        if (pwrite(file, zeros, part, (off_t)at) != (ssize_t)part)
            return errno;
    }
    return 0;
#else
    return posix_fallocate(file, 0, (off_t)size);
#endif
}

static chroprof_result chroprof__init_mapped(chroprof *p, void *block, size_t size,
                                             const chroprof_options *options)
{
    size_t front = sizeof(chroprof__front);
    return chroprof_init(p, (char *)block - front, front + size, options);
}

/* A new file of that size, all of it on the disk, mapped; NULL and errno. Its name, with a number
 * in it, goes to made. */
static void *chroprof__new_file(char made[CHROPROF__PATH_BYTES], const char *path, uint64_t number,
                                size_t size)
{
    void *block = NULL;
    int length = snprintf(made, CHROPROF__PATH_BYTES, "%s.new.%llu", path,
                          (unsigned long long)number);
    errno = ENAMETOOLONG;
    int file = length < CHROPROF__PATH_BYTES
        ? open(made, O_RDWR | O_CREAT | O_EXCL | CHROPROF__CLOEXEC, 0644) : -1;
    if (file < 0)
        return NULL;
    errno = chroprof__reserve(file, size);
    if (errno == 0)
        block = chroprof__new_mapping(file, size);
    int error = errno;
    close(file);
    if (!block)
        unlink(made);
    errno = error;
    return block;
}

/* The number is the process's. One of the same number may have been killed in here: then it is
 * another. */
static void *chroprof__make_file(char made[CHROPROF__PATH_BYTES], const char *path, size_t size)
{
    uint64_t pid = (uint64_t)getpid();
    void *memory = chroprof__new_file(made, path, pid, size);
    if (memory || errno != EEXIST)
        return memory;
    return chroprof__new_file(made, path, chroprof__process_of(pid).start << 24 ^ pid, size);
}

/* Maps the same file by its own name, which is what others see in the list of mappings. */
static void chroprof__map_by_name(void *memory, size_t size, const char *made, const char *path)
{
    struct stat by_made, by_path;
    int file = open(path, O_RDWR | CHROPROF__CLOEXEC);
    if (file < 0)
        return;
    if (stat(made, &by_made) == 0 && fstat(file, &by_path) == 0 &&
        by_made.st_ino == by_path.st_ino && by_made.st_dev == by_path.st_dev)
        (void)mmap(memory, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0);
    close(file);
}

/* The profile has its block in this mapping; if it could not be made there, neither is left. */
static chroprof_result chroprof__keep_mapping(chroprof *p, void *block, size_t size, void *hold,
                                              chroprof_result result)
{
    if (result != CHROPROF_OK) {
        chroprof__drop_hold(hold, (uint64_t)getpid());
        chroprof__unmap_block(block, size);
        return result;
    }
    p->mapped = block;
    p->mapped_bytes = size;
    p->hold = hold;
    return CHROPROF_OK;
}

static chroprof_result chroprof__map_in(chroprof *p, const char *path, size_t size,
                                        const chroprof_options *options, chroprof__map_room *room)
{
    char *made = room->made;
    void *memory = chroprof__make_file(made, path, size);
    if (!memory)
        return CHROPROF_ERR_FILE;
    void *hold = chroprof__hold_file(made);
    chroprof_result result = chroprof__init_mapped(p, memory, size, options);
    if (result == CHROPROF_OK) {
        p->core->file.in_file = hold ? CHROPROF__IN_HELD_FILE : CHROPROF__IN_FILE;
        result = chroprof__publish(path, room);
    }
    if (result == CHROPROF_OK)
        chroprof__map_by_name(memory, size, made, path);
    int error = errno;
    unlink(made);
    result = chroprof__keep_mapping(p, memory, size, hold, result);
    errno = error;
    return result;
}

static chroprof_result chroprof__map_file(chroprof *p, const char *path, size_t size,
                                          const chroprof_options *options)
{
    if (!p || !path)
        return CHROPROF_ERR_ARGUMENT;
    size = size ? size : chroprof_memory_size(options);
    if (size == 0)
        return CHROPROF_ERR_LIMIT;
    chroprof__map_room *room = chroprof__new_map_room();
    if (!room)
        return CHROPROF_ERR_FILE;
    chroprof_result result = chroprof__map_in(p, path, size, options, room);
    chroprof__drop_map_room(room);
    return result;
}

CHROPROF__COLD_API chroprof_result chroprof_map(chroprof *p, const char *path, size_t size,
                                                const chroprof_options *options)
{
    return chroprof__keep_result(p, chroprof__map_file(p, path, size, options));
}

CHROPROF__COLD_API chroprof_result chroprof_fork_child(chroprof *p, const char *path)
{
    const struct timespec pause = { 0, 1000000 };
    chroprof_options o;
    char name[CHROPROF__NAME_BYTES];
    if (!chroprof__is_set(p) || !p->mapped)
        return CHROPROF_OK;
    size_t size = p->mapped_bytes;
#ifndef CHROPROF_NO_SAMPLER
    chroprof_sampler_stop(p);
#endif
    p->core = (chroprof__core *)p->mapped;  /* the parent's: to look at what it was made with */
    memset(&o, 0, sizeof(o));
    chroprof__options_of(p, &o);
    memcpy(name, o.name, sizeof(name));
    o.name = name;
    o.clock = chroprof__own_clock(p) ? NULL : p->clock;
    o.clock_user = p->clock_user;
    chroprof__drop_hold(p->hold, p->core->process.pid);
    chroprof__unmap_block(p->mapped, size);
    memset(p, 0, sizeof(*p));
    if (path) {                             /* a daemon's parent may still be about to end */
        for (int k = 0; k < 1000 && chroprof_file_owner(path) == CHROPROF_ERR_OWNED; k++)
            nanosleep(&pause, NULL);
        return chroprof_map(p, path, size, &o);
    }
    void *block = chroprof__new_mapping(-1, size);
    if (!block)
        return chroprof__keep_result(p, CHROPROF_ERR_FILE);
    return chroprof__keep_mapping(p, block, size, NULL, chroprof__init_mapped(p, block, size, &o));
}

CHROPROF__COLD_API void chroprof_unmap(chroprof *p)
{
    if (!chroprof__is_set(p) || !p->mapped || p->in_hook)
        return;
#ifndef CHROPROF_NO_SAMPLER
    chroprof_sampler_stop(p);
#endif
    uint64_t owner = ((const chroprof__core *)p->mapped)->process.pid;
    if (chroprof__tick_live(p))
        p->core->file.ended = 1;
    chroprof__drop_hold(p->hold, owner);
    chroprof__unmap_block(p->mapped, p->mapped_bytes);
    memset(p, 0, sizeof(*p));
}
#endif /* CHROPROF__MAPS */

CHROPROF__COLD_API void chroprof_read_origin(const chroprof *p, chroprof_origin *out)
{
    memset(out, 0, sizeof(*out));
    out->name = out->host = out->program = "";
    if (!chroprof__can_read(p))
        return;
    const chroprof__core *c = p->core;
    chroprof__reach r = chroprof__ring_reach(c);
    uint64_t last = c->last;
    if (c->copy.living)                     /* its last event is before the end of its snapshot */
        last = r.end > r.first ? chroprof__ring_at(p, c, r.end - 1)->time : c->ring.begin;
    out->pid = c->process.pid;
    out->name = c->who.name;
    out->host = c->who.host;
    out->program = c->who.program;
    out->estimated = c->estimated != 0;
    out->end_ns = chroprof__ns(c, last);
    out->end_unix_ns = c->process.start_unix_ns ? c->process.start_unix_ns + out->end_ns : 0;
    out->mapped = c->file.in_file != 0;
    out->ended = c->file.ended != 0;
    out->alive = out->mapped && chroprof__find_owner(c) != CHROPROF__OWNER_GONE;
}
