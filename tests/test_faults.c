/* tests/test_faults.c - the system refuses: each call that the header makes fails in turn, at its
 * first, second, .. time. Has an implementation of its own whose calls go through here; it reads
 * the monotonic clock, not the cycle counter. */
#define _DEFAULT_SOURCE /* the guard against forks */
#define _POSIX_C_SOURCE 200809L

#if defined(__linux__)
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Which call fails: its name, the time it is called (0: every time), and errno. */
typedef struct fault {
    const char *name;
    unsigned at, seen;
    int error;
} fault;

static fault *the_fault(void)
{
    static fault f;
    return &f;
}

static bool fails(const char *name)
{
    fault *f = the_fault();
    if (f->name == NULL || strcmp(f->name, name) != 0 || (f->at != 0 && ++f->seen != f->at))
        return false;
    f->seen += f->at == 0;
    errno = f->error;
    return true;
}

/* What the calls say instead of the truth; NULL or 0: the truth. */
typedef struct pretence {
    const char *text; /* what read reads */
    bool terminal;
    unsigned short columns;
    bool kill_is_refused;
    bool other_file, other_device; /* stat tells of */
    time_t clock_stands;
    size_t host; /* bytes of the host's name */
} pretence;

static pretence *pretend(void)
{
    static pretence p;
    return &p;
}

static ssize_t read_text(void *to, size_t size)
{
    size_t length = strlen(pretend()->text);
    length = length < size ? length : size;
    memcpy(to, pretend()->text, length);
    return (ssize_t)length;
}

static int clock_of_stone(struct timespec *t)
{
    t->tv_sec = pretend()->clock_stands;
    t->tv_nsec = 0;
    return 0;
}

static int ask_size(struct winsize *size)
{
    memset(size, 0, sizeof *size);
    size->ws_col = pretend()->columns;
    return 0;
}

static int refuse_to_kill(void)
{
    errno = EPERM;
    return -1;
}

/* As glibc does it: what does not fit is cut, without an end. */
static int name_the_host(char *to, size_t size)
{
    bool fits = pretend()->host < size;
    memset(to, 'h', fits ? pretend()->host : size);
    if (fits)
        to[pretend()->host] = '\0';
    else
        errno = ENAMETOOLONG;
    return fits ? 0 : -1;
}

static int stat_of(const char *path, struct stat *facts)
{
    int result = stat(path, facts);
    facts->st_ino += pretend()->other_file;
    facts->st_dev += pretend()->other_device;
    return result;
}

/* The mappings that were made, the latest first. */
static void **mapped_lately(void)
{
    static void *places[3];
    return places;
}

static void *note_mapping(void *place)
{
    memmove(mapped_lately() + 1, mapped_lately(), 2 * sizeof(void *));
    return mapped_lately()[0] = place;
}

/* How many files were opened that a program started by exec would have. */
static unsigned *kept_by_exec(void)
{
    static unsigned count;
    return &count;
}

static int note_file(int file)
{
    int flags = file < 0 ? FD_CLOEXEC : fcntl(file, F_GETFD);
    *kept_by_exec() += (flags & FD_CLOEXEC) == 0;
    return file;
}

#define open(...) (fails("open") ? -1 : note_file(open(__VA_ARGS__)))
#define read(f, to, n)                                                                             \
    (fails("read") ? -1 : pretend()->text != NULL ? read_text(to, n) : read(f, to, n))
#define fstat(f, facts) (fails("fstat") ? -1 : fstat(f, facts))
#define stat(path, facts) (fails("stat") ? -1 : stat_of(path, facts))
#define rename(from, to) (fails("rename") ? -1 : rename(from, to))
#define link(from, to) (fails("link") ? -1 : link(from, to))
#define fcntl(...) (fails("fcntl") ? -1 : fcntl(__VA_ARGS__))
#define posix_fallocate(f, at, n) (fails("fallocate") ? errno : posix_fallocate(f, at, n))
#define mmap(...) (fails("mmap") ? MAP_FAILED : note_mapping(mmap(__VA_ARGS__)))
#define readlink(path, to, n) (fails("readlink") ? -1 : readlink(path, to, n))
#define madvise(...) (fails("madvise") ? -1 : madvise(__VA_ARGS__))
#define kill(pid, n) (pretend()->kill_is_refused ? refuse_to_kill() : kill(pid, n))
#define gethostname(to, n)                                                                         \
    (fails("gethostname") ? -1 : pretend()->host ? name_the_host(to, n) : gethostname(to, n))
#define clock_gettime(which, t)                                                                    \
    (fails("clock") ? -1 : pretend()->clock_stands ? clock_of_stone(t) : clock_gettime(which, t))
#define isatty(f) (pretend()->terminal || isatty(f))
#define ioctl(f, what, size) (pretend()->columns ? ask_size(size) : ioctl(f, what, size))
#define fwrite(from, size, n, out) (fails("fwrite") ? 0 : fwrite(from, size, n, out))
#define fflush(out) (fails("fflush") ? EOF : fflush(out))
#define ferror(out) (fails("ferror") ? 1 : ferror(out))

#define CHROPROF_NO_TSC
#define CHROPROF_IMPLEMENTATION
#include "harness.h"
#include "forks.h"

static const chroprof_site A = { "accept", "server.c", 10 };

enum { SIZE = 64 << 10 };

static void fail_at(const char *name, unsigned at, int error)
{
    fault *f = the_fault();
    f->name = name;
    f->at = at;
    f->seen = 0;
    f->error = error;
}

/* No fault from here on. Did the last one happen? */
static bool happened(void)
{
    fault *f = the_fault();
    bool did = f->at != 0 ? f->seen >= f->at : f->seen != 0;
    fail_at(NULL, 0, 0);
    memset(pretend(), 0, sizeof *pretend());
    return did;
}

static const char *file_of(const char *name)
{
    static char paths[4][300];
    static int next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s-%ld", scratch(name), (long)getpid());
    return path;
}

static bool there(const char *path, const char *suffix)
{
    char all[400];
    snprintf(all, sizeof all, "%s%s", path, suffix);
    return access(all, F_OK) == 0;
}

static void remove_all(const char *path)
{
    char all[400];
    unlink(path);
    snprintf(all, sizeof all, "%s.prev", path);
    unlink(all);
    snprintf(all, sizeof all, "%s.new.%ld", path, (long)getpid());
    unlink(all);
}

/* Some systems have no memory that is wiped in a child. */
static bool has_guard(void)
{
#ifdef CHROPROF__FORKS
    return true;
#else
    return false;
#endif
}

/* What the system says of the memory at this place; NULL: nothing is mapped there. Allocates
 * nothing, so that nothing else is mapped meanwhile. */
static const char *mapping_of(const void *place)
{
    static char list[1 << 18];
    size_t used = 0;
    ssize_t count;
    char *line, *next;
    int file = open("/proc/self/maps", O_RDONLY);
    while (file >= 0 && (count = read(file, list + used, sizeof list - 1 - used)) > 0)
        used += (size_t)count;
    close(file);
    list[used] = '\0';
    for (line = list; *line != '\0'; line = next) {
        char *middle;
        uintptr_t low = (uintptr_t)strtoull(line, &middle, 16);
        uintptr_t high = (uintptr_t)strtoull(middle + 1, NULL, 16);
        next = line + strcspn(line, "\n");
        if (*next == '\n')
            *next++ = '\0';
        if ((uintptr_t)place >= low && (uintptr_t)place < high)
            return line;
    }
    return NULL;
}

/* >>files of other programs */

/* Leaves the file of a program that is over; then changes its core with poke. */
static void leave_behind(const char *path, void (*poke)(chroprof__core *c))
{
    chroprof p;
    chroprof__core core;
    int file;
    CHECK_EQ(chroprof_map(&p, path, SIZE, NULL), CHROPROF_OK);
    chroprof_enter(&p, &A);
    chroprof_leave(&p);
    chroprof_unmap(&p);
    if (poke == NULL)
        return;
    file = open(path, O_RDWR);
    CHECK_EQ(read(file, &core, sizeof core), sizeof core);
    poke(&core);
    CHECK_EQ(pwrite(file, &core, sizeof core, 0), sizeof core);
    close(file);
}

static chroprof_result map_over(void (*poke)(chroprof__core *c))
{
    const char *path = file_of("over");
    chroprof_result result;
    chroprof p;
    leave_behind(path, poke);
    result = chroprof_map(&p, path, SIZE, NULL);
    CHECK((result == CHROPROF_OK) == (p.core != NULL));
    CHECK((result == CHROPROF_OK) == there(path, ".prev"));
    CHECK(there(path, ""));
    chroprof_unmap(&p);
    remove_all(path);
    return result;
}

/* Its owner has no lock, as on other systems, unless it says so. */
static void no_end(chroprof__core *c)
{
    c->file.ended = 0;
    c->file.in_file = 1;
}
static void no_end_but_a_lock(chroprof__core *c)
{
    c->file.ended = 0;
    c->file.in_file = 2;
}
static void no_pid(chroprof__core *c)
{
    no_end(c);
    c->process.pid = 0;
}
static void big_pid(chroprof__core *c)
{
    no_end(c);
    c->process.pid = UINT64_C(1) << 31;
}
static void no_such_pid(chroprof__core *c)
{
    no_end(c);
    c->process.pid = 0x7ffffffe;
}
static void other_start(chroprof__core *c)
{
    no_end(c);
    c->file.owner_start++;
}
static void no_start(chroprof__core *c)
{
    no_end(c);
    c->file.owner_start = 0;
}
static void other_host(chroprof__core *c)
{
    no_end(c);
    c->who.host[0] = '!';
}
static void other_layout(chroprof__core *c)
{
    c->form.layout++;
}
static void other_core(chroprof__core *c)
{
    c->form.core_bytes++;
}
static void other_magic(chroprof__core *c)
{
    c->form.magic++;
}

TEST(only_the_file_of_a_dead_program_is_set_aside)
{
    CHECK_EQ(map_over(NULL), CHROPROF_OK);
    CHECK_EQ(map_over(no_pid), CHROPROF_OK);
    CHECK_EQ(map_over(big_pid), CHROPROF_OK);
    CHECK_EQ(map_over(no_such_pid), CHROPROF_OK);
    CHECK_EQ(map_over(other_start), CHROPROF_OK);
    CHECK_EQ(map_over(no_end_but_a_lock), CHROPROF_OK);
    CHECK_EQ(map_over(no_end), CHROPROF_ERR_OWNED);
    CHECK_EQ(map_over(no_start), CHROPROF_ERR_OWNED);
    CHECK_EQ(map_over(other_host), CHROPROF_ERR_OWNED);
    CHECK_EQ(map_over(other_layout), CHROPROF_OK);
    CHECK_EQ(map_over(other_core), CHROPROF_OK);
    CHECK_EQ(map_over(other_magic), CHROPROF_ERR_FORMAT);
}

/* A process of somebody else's may not be asked, but it is there. */
TEST(a_process_that_may_not_be_asked_lives)
{
    const char *path = file_of("foreign");
    chroprof p;
    leave_behind(path, no_start);
    pretend()->kill_is_refused = true;
    CHECK_EQ(chroprof_map(&p, path, SIZE, NULL), CHROPROF_ERR_OWNED);
    happened();
    remove_all(path);
}

TEST(when_a_process_began)
{
#define FIELDS "S 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 "
    static const struct {
        const char *text;
        uint64_t want;
    } texts[] = { { "1 (name) " FIELDS "7654321 23", 7654321 },
                  { "1 (a ) b) " FIELDS "7654321 23", 7654321 },
                  { "no such text", 0 },
                  { "1 (name) S 4 5", 0 },
                  { "", 0 },
                  { "1 (name) " FIELDS "x", 0 },
                  { "1 (name) " FIELDS "12/", 12 },
                  { "1 (name) " FIELDS, 0 } };
    char longer[1100];
    size_t k;
    for (k = 0; k < sizeof texts / sizeof *texts; k++) {
        pretend()->text = texts[k].text;
        CHECK_EQ(chroprof__process_of(1).start, texts[k].want);
    }
    memset(longer, 'n', sizeof longer);
    memcpy(longer, "1 (", 3);
    memcpy(longer + 1020 - strlen(") " FIELDS), ") " FIELDS "7654321 23", strlen(") " FIELDS) + 11);
    pretend()->text = longer; /* the first 1,023 bytes count */
    CHECK_EQ(chroprof__process_of(1).start, 765);
    happened();
    CHECK(chroprof__process_of((uint64_t)getpid()).start > 0);
    fail_at("open", 1, EACCES);
    CHECK_EQ(chroprof__process_of((uint64_t)getpid()).start, 0);
    CHECK(happened());
    fail_at("read", 1, EIO);
    CHECK_EQ(chroprof__process_of((uint64_t)getpid()).start, 0);
    CHECK(happened());
#undef FIELDS
}

/* >>each call fails in turn */

/* Maps over what lies there. Whatever failed: a profile that works, or an error and no profile. */
static void map_with_a_fault(const char *path)
{
    chroprof p;
    chroprof_result result = chroprof_map(&p, path, SIZE, NULL);
    bool fault_happened = happened();
    CHECK((result == CHROPROF_OK) == (p.core != NULL));
    if (result == CHROPROF_OK) {
        chroprof_enter(&p, &A);
        chroprof_leave(&p);
        CHECK_EQ(rank_of(&p, "accept").calls, 1);
        chroprof_unmap(&p);
        CHECK(there(path, ""));
    } else {
        CHECK(fault_happened);
        CHECK(result == CHROPROF_ERR_FILE || result == CHROPROF_ERR_OWNED ||
              result == CHROPROF_ERR_PREVIOUS);
    }
    CHECK(p.core == NULL && p.mapped == NULL);
}

static void every_fault(const char *name, void (*poke)(chroprof__core *c), bool before)
{
    const char *path = file_of("faulty");
    unsigned at;
    bool went_on = true;
    for (at = 0; at < 12 && went_on; at++) {
        remove_all(path);
        if (before)
            leave_behind(path, poke);
        fail_at(name, at, at % 2 ? ENOENT : EIO);
        map_with_a_fault(path);
        if (before)
            CHECK(there(path, "") || there(path, ".prev") || at != 0);
    }
    remove_all(path);
}

TEST(each_call_of_map_fails_in_turn)
{
    static const char *const names[] = { "open",  "read",    "fstat",       "stat",
                                         "fcntl", "rename",  "link",        "fallocate",
                                         "mmap",  "madvise", "gethostname", "clock" };
    size_t k;
    for (k = 0; k < sizeof names / sizeof *names; k++) {
        harness()->event = names[k];
        every_fault(names[k], NULL, false);
        every_fault(names[k], NULL, true);
        every_fault(names[k], no_such_pid, true);
    }
    harness()->event = NULL;
}

static chroprof_result map_over_with(const char *name, unsigned at, int error)
{
    const char *path = file_of("with");
    chroprof_result result;
    chroprof p;
    int said;
    leave_behind(path, NULL);
    fail_at(name, at, error);
    errno = 0;
    result = chroprof_map(&p, path, SIZE, NULL);
    said = errno;
    CHECK(happened());
    CHECK(result == CHROPROF_OK || p.core == NULL);
    chroprof_unmap(&p);
    remove_all(path);
    errno = said;
    return result;
}

/* 1: the new file, 2: for its lock, 3: the start of this process, 4: the file that is there, 5: for
 * the lock of who moves it, 6: PATH.prev, 7: the new one by its name */
TEST(what_map_says_to_each_refusal)
{
    CHECK_EQ(map_over_with("open", 1, EACCES), CHROPROF_ERR_FILE);
    CHECK_EQ(errno, EACCES);
    CHECK_EQ(map_over_with("open", 2, EACCES), CHROPROF_OK);
    CHECK_EQ(map_over_with("open", 3, EACCES), CHROPROF_OK);
    CHECK_EQ(map_over_with("open", 4, EACCES), CHROPROF_ERR_FILE);
    CHECK_EQ(errno, EACCES);
    CHECK_EQ(map_over_with("open", 4, ENOENT), CHROPROF_OK); /* it went away: once more */
    CHECK_EQ(map_over_with("open", 5, EACCES), CHROPROF_OK);
    CHECK_EQ(map_over_with("open", 6, EACCES), CHROPROF_ERR_PREVIOUS);
    CHECK_EQ(map_over_with("open", 7, EACCES), CHROPROF_OK);
    CHECK_EQ(map_over_with("link", 1, EPERM), CHROPROF_ERR_FILE);
    CHECK_EQ(map_over_with("link", 0, EEXIST), CHROPROF_ERR_OWNED); /* others are always faster */
    CHECK_EQ(map_over_with("read", 2, EIO), CHROPROF_ERR_FILE);
    CHECK_EQ(map_over_with("fstat", 1, EIO), CHROPROF_ERR_FILE);
    CHECK_EQ(map_over_with("rename", 1, EACCES), CHROPROF_ERR_FILE);
    CHECK_EQ(map_over_with("rename", 1, ENOENT), CHROPROF_OK);
    CHECK_EQ(map_over_with("stat", 1, EIO), CHROPROF_ERR_FILE);
    CHECK_EQ(map_over_with("stat", 1, ENOENT), CHROPROF_OK);
    CHECK_EQ(map_over_with("stat", 2, EIO), CHROPROF_OK);
    CHECK_EQ(map_over_with("fcntl", 0, ENOLCK), CHROPROF_OK); /* a file system without locks */
    CHECK_EQ(map_over_with("fallocate", 1, ENOSPC), CHROPROF_ERR_FILE);
    CHECK_EQ(errno, ENOSPC);
    CHECK_EQ(map_over_with("mmap", 1, ENOMEM), CHROPROF_ERR_FILE);
    CHECK_EQ(errno, ENOMEM);
    CHECK_EQ(map_over_with("mmap", 2, ENOMEM), CHROPROF_ERR_FILE);
    CHECK_EQ(errno, ENOMEM);
    CHECK_EQ(map_over_with("mmap", 3, ENOMEM), CHROPROF_ERR_FILE);
    CHECK_EQ(errno, ENOMEM);
    CHECK_EQ(map_over_with("mmap", 4, ENOMEM), CHROPROF_OK); /* then it has no lock */
    if (!has_guard())
        SKIP("the rest needs a guard against forks");
    CHECK_EQ(map_over_with("mmap", 5, ENOMEM), CHROPROF_OK);
    CHECK_EQ(map_over_with("madvise", 1, EINVAL), CHROPROF_OK);
}

/* Without locks its number tells whether the program lives. */
TEST(an_owner_without_a_lock)
{
    static const char *const calls[] = { "fcntl", "open", "mmap" };
    static const unsigned numbers[] = { 0, 2, 4 };
    const char *path = file_of("lockless");
    size_t k;
    for (k = 0; k < 3; k++) {
        chroprof p, other;
        fail_at(calls[k], numbers[k], ENOLCK);
        CHECK_EQ(chroprof_map(&p, path, SIZE, NULL), CHROPROF_OK);
        CHECK(happened());
        CHECK_EQ(chroprof_file_owner(path), CHROPROF_ERR_OWNED);
        CHECK_EQ(chroprof_map(&other, path, SIZE, NULL), CHROPROF_ERR_OWNED);
        p.core->process.pid = 0x7ffffffe;
        CHECK_EQ(chroprof_file_owner(path), CHROPROF_OK);
        p.core->process.pid = (uint64_t)getpid();
        chroprof_unmap(&p);
        remove_all(path);
    }
}

/* Another program is about to move the dead one's file, and will take the name. */
TEST(the_lock_of_a_file_that_is_in_the_way)
{
    const char *path = file_of("locked");
    struct flock lock;
    chroprof p;
    int file;
    memset(&lock, 0, sizeof lock);
    lock.l_type = F_WRLCK;
    lock.l_start = lock.l_len = 1;
    leave_behind(path, NULL);
    file = open(path, O_RDWR);
    if (fcntl(file, 37, &lock) != 0) { /* F_OFD_SETLK */
        remove_all(path);
        SKIP("this folder has no locks");
    }
    CHECK_EQ(chroprof_map(&p, path, SIZE, NULL), CHROPROF_ERR_OWNED);
    CHECK(there(path, "") && !there(path, ".prev"));
    close(file);
    CHECK_EQ(chroprof_map(&p, path, SIZE, NULL), CHROPROF_OK);
    CHECK(there(path, ".prev"));
    chroprof_unmap(&p);
    remove_all(path);
}

/* The name is another file's by now, as its number or its device tells: what lies there stays. */
TEST(another_file_than_was_judged_stays)
{
    const char *path = file_of("another");
    chroprof p;
    int k;
    for (k = 0; k < 2; k++) {
        leave_behind(path, NULL);
        pretend()->other_file = k == 0;
        pretend()->other_device = k == 1;
        CHECK_EQ(chroprof_map(&p, path, SIZE, NULL), CHROPROF_ERR_OWNED);
        happened();
        CHECK(there(path, "") && !there(path, ".prev"));
        remove_all(path);
    }
}

/* Somebody made a link of it by hand. */
TEST(a_dead_file_that_is_its_own_prev)
{
    const char *path = file_of("linked");
    char prev[400];
    chroprof p;
    snprintf(prev, sizeof prev, "%s.prev", path);
    leave_behind(path, NULL);
    CHECK_EQ(link(path, prev), 0);
    CHECK_EQ(chroprof_map(&p, path, SIZE, NULL), CHROPROF_OK);
    CHECK(there(path, "") && there(path, ".prev"));
    chroprof_unmap(&p);
    remove_all(path);
}

TEST(what_lies_at_the_path_is_not_what_was_made)
{
    const char *path = file_of("exchanged");
    chroprof p;
    int k;
    for (k = 0; k < 2; k++) {
        pretend()->other_file = k == 0;
        pretend()->other_device = k == 1;
        CHECK_EQ(chroprof_map(&p, path, SIZE, NULL), CHROPROF_OK);
        happened();
        chroprof_enter(&p, &A);
        CHECK_EQ(rank_of(&p, "accept").calls, 1);
        chroprof_unmap(&p);
        remove_all(path);
    }
}

/* Nobody can tell when it began: it counts as alive. */
TEST(a_process_without_a_start_lives)
{
    const char *path = file_of("startless");
    chroprof p;
    leave_behind(path, no_end);
    fail_at("open", 5, EACCES);
    CHECK_EQ(chroprof_map(&p, path, SIZE, NULL), CHROPROF_ERR_OWNED);
    CHECK(happened());
    remove_all(path);
}

/* Who else reads the list of mappings knows whose profile it is. */
TEST(a_mapping_has_the_name_of_its_file)
{
    const char *path = file_of("named"), *line;
    chroprof p;
    CHECK_EQ(chroprof_map(&p, path, SIZE, NULL), CHROPROF_OK);
    line = mapping_of(p.mapped);
    if (line == NULL) {
        chroprof_unmap(&p);
        remove_all(path);
        SKIP("no list of mappings here");
    }
    CHECK(strstr(line, strrchr(path, '/')) != NULL);
    CHECK(strstr(line, ".new.") == NULL && strstr(line, "(deleted)") == NULL);
    chroprof_enter(&p, &A);
    chroprof_unmap(&p);
    remove_all(path);
}

/* A program of our number was killed while it made its file: when ours began tells them apart. */
TEST(the_name_of_a_file_under_way)
{
    const char *path = file_of("twice");
    const uint64_t pid = (uint64_t)getpid(), start = chroprof__process_of(pid).start;
    char made[CHROPROF__PATH_BYTES], want[400];
    void *memory[2];
    int k;
    for (k = 0; k < 2; k++) {
        memory[k] = chroprof__make_file(made, path, SIZE);
        CHECK(memory[k] != NULL);
        snprintf(want, sizeof want, "%s.new.%" PRIu64, path, k == 0 ? pid : start << 24 ^ pid);
        CHECK_STR(made, want);
    }
    for (k = 0; k < 2; k++)
        munmap(memory[k], SIZE);
    unlink(made);
    remove_all(path);
}

/* Somebody makes the file and takes it away again, each time that we look. */
TEST(the_name_is_asked_for_eight_times)
{
    const char *path = file_of("flicker");
    chroprof p;
    fail_at("link", 0, EEXIST);
    CHECK_EQ(chroprof_map(&p, path, SIZE, NULL), CHROPROF_ERR_OWNED);
    CHECK_EQ(the_fault()->seen, 8);
    CHECK(happened());
    fail_at("link", 0, EPERM);
    CHECK_EQ(chroprof_map(&p, path, SIZE, NULL), CHROPROF_ERR_FILE);
    CHECK_EQ(the_fault()->seen, 1);
    CHECK(happened());
    remove_all(path);
}

#ifdef O_CLOEXEC
TEST(no_file_of_ours_outlives_exec)
{
    const char *path = file_of("closed");
    chroprof p;
    int file = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
    if (file >= 0 && (fcntl(file, F_GETFD) & FD_CLOEXEC) == 0)
        SKIP("an emulator: it opens a file of its own instead, and keeps that");
    if (file >= 0)
        close(file);
    leave_behind(path, no_such_pid);
    *kept_by_exec() = 0;
    CHECK_EQ(chroprof_map(&p, path, SIZE, NULL), CHROPROF_OK);
    CHECK(there(path, ".prev"));
    chroprof_unmap(&p);
    CHECK_EQ(*kept_by_exec(), 0);
    remove_all(path);
}
#endif

/* Both are the machine without a name. */
TEST(a_dead_program_on_a_host_without_a_name)
{
    const char *path = file_of("nameless");
    chroprof p;
    fail_at("gethostname", 0, ENAMETOOLONG);
    leave_behind(path, no_such_pid);
    CHECK_EQ(chroprof_map(&p, path, SIZE, NULL), CHROPROF_OK);
    CHECK(happened());
    chroprof_unmap(&p);
    remove_all(path);
}

static uint64_t clock_of_the_host(void *user)
{
    return ++*(uint64_t *)user;
}

static void say_nothing(void *user, const chroprof_stall *stall)
{
    (void)user;
    (void)stall;
}

/* Each as it was given, whatever stands before the clock. */
TEST(the_options_that_a_profile_was_made_with)
{
    const char *path = file_of("options");
    static uint64_t now;
    chroprof_options o, got;
    chroprof p;
    int k;
    memset(&o, 0, sizeof o);
    o.max_futures = 101, o.max_sites = 102, o.max_paths = 103, o.max_edges = 104;
    o.max_depth = 105, o.max_histograms = 6, o.max_samples = 107, o.max_windows = 108;
    o.max_stalls = 109, o.string_bytes = 5110;
    o.window_ns = 111111111, o.stall_ns = 22222222, o.max_step_ns = 333333333;
    o.on_stall = say_nothing;
    o.on_stall_user = &now;
    for (k = 0; k < 3; k++) {
        o.clock = k == 0 ? NULL : k == 1 ? clock_of_the_host : chroprof_clock_manual;
        o.clock_user = k == 1 ? &now : NULL;
        CHECK_EQ(chroprof_map(&p, path, 0, &o), CHROPROF_OK);
        memset(&got, 0x77, sizeof got);
        chroprof_read_options(&p, &got);
        CHECK_EQ(got.max_futures, 101);
        CHECK_EQ(got.max_sites, 102);
        CHECK_EQ(got.max_paths, 103);
        CHECK_EQ(got.max_edges, 104);
        CHECK_EQ(got.max_depth, 105);
        CHECK_EQ(got.max_histograms, 6);
        CHECK_EQ(got.max_samples, 107);
        CHECK_EQ(got.max_windows, 108);
        CHECK_EQ(got.max_stalls, 109);
        CHECK_EQ(got.string_bytes, 5110);
        CHECK_EQ(got.window_ns, 111111111);
        CHECK_EQ(got.stall_ns, 22222222);
        CHECK_EQ(got.max_step_ns, 333333333);
        CHECK(got.on_stall == say_nothing && got.on_stall_user == &now);
        chroprof_unmap(&p);
        remove_all(path);
    }
}

/* file_of("long"), with as many slashes as make it this long. */
static const char *lengthened(size_t wanted)
{
    static char path[4096];
    const char *end = file_of("long");
    const char *name = strrchr(end, '/') + 1;
    size_t used = (size_t)(name - end);
    memcpy(path, end, used);
    while (used + 2 + strlen(name) < wanted) {
        memcpy(path + used, "./", 2);
        used += 2;
    }
    while (used + strlen(name) < wanted)
        path[used++] = '/';
    memcpy(path + used, name, strlen(name) + 1);
    return path;
}

/* Names of files under way are longer than the path. */
TEST(a_path_that_is_too_long)
{
    const char *path = lengthened(4070);
    chroprof p;
    int k;
    for (k = 0; k < 2; k++) { /* the second keeps the first as PATH.prev */
        CHECK_EQ(chroprof_map(&p, path, SIZE, NULL), CHROPROF_OK);
        chroprof_unmap(&p);
    }
    CHECK(there(file_of("long"), ".prev"));
    remove_all(file_of("long"));
    path = lengthened(4091); /* with ".new." at its end it is more than a path may be */
    CHECK_EQ(chroprof_map(&p, path, SIZE, NULL), CHROPROF_ERR_FILE);
    CHECK(p.core == NULL && access(path, F_OK) != 0);
}

#if CHROPROF__SAMPLES
TEST(without_a_counter_samples_have_the_systems_time)
{
    chroprof *p = harness_profile();
    CHECK_EQ(chroprof_init(p, harness_memory(), HARNESS_MEMORY, NULL), CHROPROF_OK);
    uint64_t before = chroprof__monotonic_ns(NULL), stamp = chroprof__clock_here(p->core);
    CHECK(stamp >= before && stamp <= chroprof__monotonic_ns(NULL));
}

/* Where /proc is not mounted the program's own file has no name. */
TEST(a_program_that_does_not_know_its_file)
{
    char path[CHROPROF__MODULE_PATH];
    fail_at("readlink", 1, ENOENT);
    chroprof__module_path("", path);
    CHECK(happened());
    CHECK_STR(path, "");
    chroprof__module_path("", path);
    CHECK(strstr(path, "faults") != NULL);
}
#endif

/* Without a counter the system's clock is our own: what an event costs is measured with it. */
TEST(the_cost_of_an_event_without_a_counter)
{
    chroprof_options o;
    chroprof *p = harness_profile();
    CHECK_EQ(chroprof_init(p, harness_memory(), HARNESS_MEMORY, NULL), CHROPROF_OK);
    CHECK(chroprof__own_clock(p));
    CHECK(strstr(written(p, CHROPROF_JSON)->bytes, "\"event_cost_ps\":0,") == NULL);
    memset(&o, 0, sizeof o);
    p = fresh(&o);
    CHECK(!chroprof__own_clock(p));
    CHECK(strstr(written(p, CHROPROF_JSON)->bytes, "\"event_cost_ps\":0,") != NULL);
}

TEST(tables_that_no_file_can_hold)
{
    chroprof_options o;
    chroprof p;
    memset(&o, 0, sizeof o);
    o.max_futures = 1u << 29;
    CHECK_EQ(chroprof_map(&p, file_of("huge"), 0, &o), CHROPROF_ERR_LIMIT);
    CHECK(p.core == NULL);
}

/* >>forks */

static int fail_to_write(void *user, const void *bytes, size_t count)
{
    (void)user, (void)bytes;
    return count > 0;
}

static int wait_for(pid_t child)
{
    int status = -1;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

/* In the child: the handle is as a zeroed one. */
static int child_has_nothing(chroprof *p)
{
    chroprof_totals t;
    chroprof_leave(p);
    chroprof_enter(p, &A);
    chroprof_set_enabled(p, true);
    chroprof_reset(p);
    chroprof_sample(p, 1, 1);
    chroprof_read_totals(p, &t);
    if (!*chroprof_why_off(p) || p->core != NULL || t.events != 0)
        return 1;
    if (chroprof_site_make(p, "new", "new.c", 1) != NULL || find_rank(p, "accept") != NULL)
        return 2;
    if (chroprof_write(p, CHROPROF_JSON, fail_to_write, NULL) != -1)
        return 3;
    chroprof_unmap(p);
    return p->mapped != NULL;
}

TEST(a_child_has_nothing_of_its_parents)
{
    const char *path = file_of("looked_at");
    chroprof p;
    pid_t child;
    int k;
    if (!has_guard())
        SKIP("no guard against forks here");
    need_wiped_children();
    CHECK_EQ(chroprof_map(&p, path, SIZE, NULL), CHROPROF_OK);
    for (k = 0; k < 2; k++) { /* off as well */
        chroprof_enter(&p, &A);
        chroprof_leave(&p);
        chroprof_enter(&p, &A);
        chroprof_set_enabled(&p, k == 0);
        uint64_t events = totals_of(&p).events;
        fflush(stdout);
        child = fork();
        if (child == 0)
            _exit(child_has_nothing(&p));
        CHECK_EQ(wait_for(child), 0);
        CHECK_EQ(totals_of(&p).events, events);
        laws(&p);
    }
    chroprof_unmap(&p);
    remove_all(path);
}

/* Nothing of the mapping is left, nor if the file can't be mapped into it. */
TEST(no_mapping_is_left)
{
    const char *path = file_of("guarded");
    char *front;
    chroprof p;
    if (mapping_of(path) == NULL)
        SKIP("no list of mappings here");
    CHECK_EQ(chroprof_map(&p, path, SIZE, NULL), CHROPROF_OK);
    front = (char *)p.mapped - 1;
    CHECK(mapping_of(front) != NULL && mapping_of(front + 1) != NULL);
    chroprof_unmap(&p);
    CHECK(mapping_of(front) == NULL && mapping_of(front + 1) == NULL);
    fail_at("mmap", 2, ENOMEM);
    CHECK_EQ(chroprof_map(&p, path, SIZE, NULL), CHROPROF_ERR_FILE);
    CHECK(happened());
    CHECK(mapping_of(mapped_lately()[0]) == NULL);
    remove_all(path);
}

static void unmap_it(void *user, const chroprof_stall *stall)
{
    (void)stall;
    chroprof_unmap((chroprof *)user);
}

TEST(on_stall_does_not_unmap)
{
    const char *path = file_of("stalled");
    chroprof_options o;
    chroprof p;
    memset(&o, 0, sizeof o);
    o.stall_ns = 1;
    o.on_stall = unmap_it;
    o.on_stall_user = &p;
    CHECK_EQ(chroprof_map(&p, path, SIZE, &o), CHROPROF_OK);
    chroprof_enter(&p, &A);
    usleep(1000);
    chroprof_leave(&p);
    CHECK(p.core != NULL && p.mapped != NULL && !*chroprof_why_off(&p));
    CHECK_EQ(totals_of(&p).stalls, 1);
    chroprof_unmap(&p);
    CHECK(p.core == NULL);
    remove_all(path);
}

TEST(a_profile_without_a_guard_goes_on_in_the_child)
{
    const char *path = file_of("unguarded");
    chroprof p;
    if (!has_guard())
        SKIP("no guard against forks here");
    fail_at("madvise", 1, EINVAL);
    CHECK_EQ(chroprof_map(&p, path, SIZE, NULL), CHROPROF_OK);
    CHECK(happened());
    chroprof_enter(&p, &A);
    CHECK_EQ(chroprof_fork_child(&p, NULL), CHROPROF_OK);
    CHECK_EQ(totals_of(&p).events, 0);
    chroprof_enter(&p, &A);
    CHECK_EQ(rank_of(&p, "accept").calls, 1);
    chroprof_unmap(&p);
    remove_all(path);
}

/* Then it has none: no profile either, and the parent's file is not touched. */
TEST(a_child_without_memory_of_its_own_has_no_profile)
{
    const char *path = file_of("poor");
    chroprof p;
    const char *why;
    pid_t child;
    if (!has_guard())
        SKIP("no guard against forks here");
    fail_at("madvise", 1, EINVAL);
    CHECK_EQ(chroprof_map(&p, path, SIZE, NULL), CHROPROF_OK);
    CHECK(happened());
    chroprof_enter(&p, &A);
    fflush(stdout);
    child = fork();
    if (child == 0) {
        fail_at("mmap", 0, ENOMEM);
        if (chroprof_fork_child(&p, NULL) != CHROPROF_ERR_FILE || p.core || p.mapped || !happened())
            _exit(1);
        chroprof_enter(&p, &A);
        why = chroprof_why_off(&p);
        _exit(strncmp(why, "ENOMEM", 6) == 0 ? 0 : 2);
    }
    CHECK_EQ(wait_for(child), 0);
    chroprof_leave(&p);
    laws(&p);
    CHECK_EQ(rank_of(&p, "accept").calls, 1);
    chroprof_unmap(&p);
    remove_all(path);
}

/* Then the file is the parent's, and so are its options, which may be damaged. */
TEST(a_child_without_a_guard_leaves_the_file)
{
    const char *path = file_of("unguarded");
    uint32_t capacity;
    chroprof p;
    pid_t child;
    int damaged;
    if (!has_guard())
        SKIP("no guard against forks here");
    fail_at("madvise", 1, EINVAL);
    CHECK_EQ(chroprof_map(&p, path, SIZE, NULL), CHROPROF_OK);
    CHECK(happened());
    capacity = p.core->tables[CHROPROF_TABLE_SITES].capacity;
    for (damaged = 0; damaged < 2; damaged++) {
        chroprof_enter(&p, &A);
        if (damaged)
            p.core->tables[CHROPROF_TABLE_SITES].capacity = 1u << 29;
        fflush(stdout);
        child = fork();
        if (child == 0 && !damaged)
            _exit(chroprof_fork_child(&p, NULL) == CHROPROF_OK && totals_of(&p).events == 0 ? 0
                                                                                            : 1);
        if (child == 0)
            _exit(chroprof_fork_child(&p, NULL) != CHROPROF_OK && !p.core && !p.mapped ? 0 : 1);
        CHECK_EQ(wait_for(child), 0);
        p.core->tables[CHROPROF_TABLE_SITES].capacity = capacity;
        chroprof_leave(&p);
        laws(&p);
        CHECK_EQ(rank_of(&p, "accept").calls, (uint64_t)damaged + 1);
    }
    chroprof_unmap(&p);
    remove_all(path);
}

TEST(a_file_under_the_manual_clock)
{
    const char *path = file_of("manual");
    chroprof_options o;
    chroprof p;
    memset(&o, 0, sizeof o);
    o.clock = chroprof_clock_manual;
    CHECK_EQ(chroprof_map(&p, path, SIZE, &o), CHROPROF_OK);
    CHECK_EQ(chroprof_now(&p), 0);
    at(&p, 5, ENTER, 0, &A);
    CHECK_EQ(chroprof_now(&p), 5);
    at(&p, 9, LEAVE, 0, NULL);
    CHECK_EQ(chroprof_now(&p), 9);
    chroprof_reset(&p);
    laws(&p);
    CHECK_EQ(totals_of(&p).elapsed_ns, 0);
    CHECK_EQ(chroprof_fork_child(&p, NULL), CHROPROF_OK);
    CHECK_EQ(chroprof_fork_child(NULL, NULL), CHROPROF_OK);
    chroprof_unmap(&p);
    remove_all(path);
}

/* >>clocks and names */

TEST(a_clock_that_is_refused)
{
    chroprof_totals t;
    chroprof p;
    fail_at("clock", 0, EPERM);
    CHECK_EQ(chroprof_init(&p, harness_memory(), SIZE, NULL), CHROPROF_OK);
    chroprof_enter(&p, &A);
    chroprof_leave(&p);
    CHECK(happened());
    t = totals_of(&p);
    CHECK_EQ(t.elapsed_ns, 0);
    CHECK_EQ(t.start_unix_ns, 0);
    CHECK_EQ(t.events, 2);
    chroprof_enter(&p, &A); /* it comes back */
    chroprof_leave(&p);
    laws(&p);
    CHECK_EQ(rank_of(&p, "accept").calls, 2);
}

TEST(a_clock_that_stands_still)
{
    chroprof p;
    pretend()->clock_stands = 1000;
    CHECK_EQ(chroprof_init(&p, harness_memory(), SIZE, NULL), CHROPROF_OK);
    chroprof_enter(&p, &A);
    chroprof_leave(&p);
    laws(&p);
    CHECK_EQ(totals_of(&p).elapsed_ns, 0);
    CHECK_EQ(rank_of(&p, "accept").slices, 1);
    happened();
}

TEST(a_host_without_a_name)
{
    chroprof_origin origin;
    chroprof p;
    fail_at("gethostname", 0, ENAMETOOLONG);
    CHECK_EQ(chroprof_init(&p, harness_memory(), SIZE, NULL), CHROPROF_OK);
    CHECK(happened());
    chroprof_read_origin(&p, &origin);
    CHECK_STR(origin.host, "");
    CHECK_EQ(origin.pid, (uint64_t)getpid());
}

/* There is room for 62 bytes of it; one that is longer is no name. */
TEST(a_host_with_a_long_name)
{
    size_t length;
    for (length = 61; length < 67; length++) {
        chroprof_origin origin;
        chroprof p, view;
        pretend()->host = length;
        CHECK_EQ(chroprof_init(&p, harness_memory(), SIZE, NULL), CHROPROF_OK);
        pretend()->host = 0;
        chroprof_read_origin(&p, &origin);
        CHECK_EQ(strlen(origin.host), length < 63 ? length : 0);
        CHECK_EQ(chroprof_open(&view, harness_memory(), SIZE), CHROPROF_OK);
    }
}

TEST(where_a_profile_comes_from)
{
    const char *path = file_of("origin");
    chroprof_origin origin;
    chroprof_options o;
    chroprof p;
    memset(&origin, 0x77, sizeof origin);
    chroprof_read_origin(NULL, &origin);
    CHECK_STR(origin.name, "");
    CHECK_STR(origin.host, "");
    CHECK(origin.pid == 0 && origin.end_ns == 0 && !origin.mapped && !origin.alive);
    memset(&p, 0, sizeof p);
    memset(&origin, 0x77, sizeof origin);
    chroprof_read_origin(&p, &origin);
    CHECK(origin.pid == 0 && origin.end_unix_ns == 0 && !origin.ended);
    memset(&o, 0, sizeof o);
    o.name = "a name of more than sixty-three bytes, which is what the block has room for";
    CHECK_EQ(chroprof_map(&p, path, SIZE, &o), CHROPROF_OK);
    chroprof_tick(&p);
    chroprof_read_origin(&p, &origin);
    CHECK_STR(origin.name, "a name of more than sixty-three bytes, which is what the block ");
    CHECK(origin.mapped && origin.alive && !origin.ended);
    CHECK_EQ(origin.end_ns, totals_of(&p).elapsed_ns);
    CHECK_EQ(origin.end_unix_ns, totals_of(&p).start_unix_ns + origin.end_ns);
    p.core->file.ended = 1;
    chroprof_read_origin(&p, &origin);
    CHECK(origin.mapped && !origin.alive && origin.ended);
    chroprof_unmap(&p);
    remove_all(path);
    at(fresh(NULL), 7, TICK, 0, NULL);
    chroprof_read_origin(fresh(NULL), &origin);
    CHECK(!origin.mapped && !origin.alive && origin.end_unix_ns == 0);
}

/* >>streams */

typedef struct dumped {
    int result, error;
    size_t used;
    char text[20000];
} dumped;

static const dumped *dump_of(chroprof *p, chroprof_format format)
{
    static dumped d;
    FILE *out = tmpfile();
    memset(&d, 0, sizeof d);
    CHECK(out != NULL);
    errno = 17;
    d.result = chroprof_dump(p, format, out);
    d.error = errno;
    happened();
    rewind(out);
    d.used = fread(d.text, 1, sizeof d.text - 1, out);
    fclose(out);
    return &d;
}

static size_t width_of(const dumped *d)
{
    size_t most = 0, n = 0, i;
    for (i = 0; i < d->used; i++) {
        n = d->text[i] == '\n' ? 0 : n + (((unsigned char)d->text[i] & 0xC0) != 0x80);
        most = n > most ? n : most;
    }
    return most;
}

static chroprof *something(void)
{
    chroprof *p = fresh(NULL);
    at(p, 0, ENTER, 0, &A);
    at(p, 1000000, LEAVE, 0, NULL);
    return p;
}

TEST(a_dump_follows_the_terminal)
{
    const dumped *d;
    unsetenv("NO_COLOR");
    unsetenv("COLUMNS");
    setenv("TERM", "xterm", 1);
    d = dump_of(something(), CHROPROF_TEXT);
    CHECK(d->result == 0 && d->error == 17 && strchr(d->text, 27) == NULL);
    CHECK_EQ(width_of(d), 80);
    pretend()->terminal = true;
    pretend()->columns = 100;
    d = dump_of(something(), CHROPROF_TEXT);
    CHECK(d->result == 0 && strchr(d->text, 27) != NULL);
    setenv("NO_COLOR", "1", 1);
    pretend()->terminal = true;
    pretend()->columns = 100;
    d = dump_of(something(), CHROPROF_TEXT);
    CHECK(strchr(d->text, 27) == NULL);
    CHECK_EQ(width_of(d), 100);
    setenv("NO_COLOR", "", 1);
    setenv("TERM", "dumb", 1);
    pretend()->terminal = true;
    CHECK(strchr(dump_of(something(), CHROPROF_TEXT)->text, 27) == NULL);
    unsetenv("TERM");
    pretend()->terminal = true;
    CHECK(strchr(dump_of(something(), CHROPROF_TEXT)->text, 27) != NULL);
    unsetenv("NO_COLOR");
    pretend()->terminal = true;
    CHECK(strchr(dump_of(something(), CHROPROF_TEXT)->text, 27) != NULL);
}

TEST(a_dump_follows_the_environment)
{
    static const char *const given[] = { "66", "66x", "7/", "99999999999", "", "x", "200" };
    static const size_t want[] = { 66, 66, 60, 200, 80, 80, 200 };
    size_t k;
    for (k = 0; k < sizeof given / sizeof *given; k++) {
        setenv("COLUMNS", given[k], 1);
        CHECK_EQ(width_of(dump_of(something(), CHROPROF_TEXT)), want[k]);
    }
    unsetenv("COLUMNS");
}

TEST(what_dump_says_to_each_refusal)
{
    const dumped *d;
    errno = 0;
    CHECK_EQ(chroprof_dump(something(), CHROPROF_TEXT, NULL), -1);
    CHECK_EQ(errno, EINVAL);
    d = dump_of(something(), (chroprof_format)made_up(77));
    CHECK(d->result == -1 && d->error == EINVAL);
    d = dump_of(NULL, CHROPROF_TEXT);
    CHECK(d->result == -1 && d->error == EINVAL);
    fail_at("fwrite", 1, ENOSPC);
    d = dump_of(something(), CHROPROF_JSON);
    CHECK(d->result == -1 && d->error == ENOSPC);
    fail_at("fflush", 1, ENOSPC);
    d = dump_of(something(), CHROPROF_JSON);
    CHECK(d->result == -1 && d->error == ENOSPC);
    fail_at("fflush", 1, 0);
    d = dump_of(something(), CHROPROF_JSON);
    CHECK(d->result == -1 && d->error == EINVAL);
}

/* A stream whose error has no number. */
static int shut(void *user, const void *bytes, size_t count)
{
    (void)user;
    (void)bytes;
    (void)count;
    return 1;
}

TEST(a_stream_with_an_error_of_no_number)
{
    FILE *out = fopen("/dev/null", "r");
    chroprof *p = something();
    CHECK(out != NULL);
    CHECK_EQ(fputc('x', out), EOF); /* sets the error of the stream */
    fail_at("fflush", 1, 0);
    CHECK_EQ(chroprof_dump(p, (chroprof_format)made_up(77), out), -1);
    happened();
    CHECK_EQ(errno, EIO);
    fclose(out);
    CHECK_EQ(chroprof_write(p, CHROPROF_TEXT, shut, NULL), -1);
}

static const test_case tests[] = {
    CASE(only_the_file_of_a_dead_program_is_set_aside),
    CASE(a_process_that_may_not_be_asked_lives),
    CASE(when_a_process_began),
    CASE(each_call_of_map_fails_in_turn),
    CASE(what_map_says_to_each_refusal),
    CASE(an_owner_without_a_lock),
    CASE(the_lock_of_a_file_that_is_in_the_way),
    CASE(another_file_than_was_judged_stays),
    CASE(a_dead_file_that_is_its_own_prev),
    CASE(what_lies_at_the_path_is_not_what_was_made),
    CASE(a_process_without_a_start_lives),
    CASE(a_mapping_has_the_name_of_its_file),
    CASE(the_name_of_a_file_under_way),
    CASE(the_name_is_asked_for_eight_times),
#ifdef O_CLOEXEC
    CASE(no_file_of_ours_outlives_exec),
#endif
    CASE(a_dead_program_on_a_host_without_a_name),
    CASE(the_options_that_a_profile_was_made_with),
    CASE(a_child_has_nothing_of_its_parents),
#ifdef CHROPROF__FORKS
    CASE(no_mapping_is_left),
#endif
    CASE(a_path_that_is_too_long),
#if CHROPROF__SAMPLES
    CASE(without_a_counter_samples_have_the_systems_time),
    CASE(a_program_that_does_not_know_its_file),
#endif
    CASE(the_cost_of_an_event_without_a_counter),
    CASE(tables_that_no_file_can_hold),
    CASE(on_stall_does_not_unmap),
    CASE(a_profile_without_a_guard_goes_on_in_the_child),
    CASE(a_child_without_memory_of_its_own_has_no_profile),
    CASE(a_child_without_a_guard_leaves_the_file),
    CASE(a_file_under_the_manual_clock),
    CASE(a_clock_that_is_refused),
    CASE(a_clock_that_stands_still),
    CASE(a_host_without_a_name),
    CASE(a_host_with_a_long_name),
    CASE(where_a_profile_comes_from),
    CASE(a_dump_follows_the_terminal),
    CASE(a_dump_follows_the_environment),
    CASE(what_dump_says_to_each_refusal),
    CASE(a_stream_with_an_error_of_no_number),
};
#else
#include "harness.h"

TEST(each_call_of_map_fails_in_turn)
{
    SKIP("needs the calls of Linux");
}

static const test_case tests[] = { CASE(each_call_of_map_fails_in_turn) };
#endif

TEST_MAIN(tests)
