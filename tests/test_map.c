/* tests/test_map.c - profiles in files: made, owned, left behind, killed, forked. */
#define _DEFAULT_SOURCE /* the guard against forks */
#define _POSIX_C_SOURCE 200809L
#define CHROPROF_IMPLEMENTATION /* a copy of its own, which sees what _DEFAULT_SOURCE shows */
#include "harness.h"

#if defined(__unix__) || defined(__APPLE__)
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#if defined(__linux__)
#include <sys/syscall.h>
#endif

#include "forks.h"

static const chroprof_site A = { "accept", "server.c", 10 };

enum { SIZE = 64 << 10 };

/* >>files */

static const char *file_of(const char *name)
{
    static char paths[4][300];
    static int next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s-%ld", scratch(name), (long)getpid());
    return path;
}

static bool there(const char *path)
{
    struct stat facts;
    return stat(path, &facts) == 0;
}

static const char *prev_of(const char *path)
{
    static char prev[300];
    snprintf(prev, sizeof prev, "%s.prev", path);
    return prev;
}

static size_t load(const char *path, void *bytes, size_t size)
{
    FILE *file = fopen(path, "rb");
    size_t count;
    CHECK(file != NULL);
    count = fread(bytes, 1, size, file);
    fclose(file);
    return count;
}

/* Opens a copy of the file, mended if need be. */
static void view_file(chroprof *view, const char *path)
{
    static union {
        uint64_t word;
        unsigned char bytes[SIZE];
    } raw, copy;
    size_t size = load(path, raw.bytes, SIZE);
    CHECK_EQ(chroprof_snapshot(raw.bytes, size, copy.bytes, SIZE), CHROPROF_OK);
    CHECK_EQ(chroprof_open(view, copy.bytes, SIZE), CHROPROF_OK);
    CHECK(chroprof_check(view) == NULL);
    harness_keep(view);
}

static int wait_for(pid_t child)
{
    int status = -1;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

static pid_t split(void)
{
    pid_t child;
    fflush(stdout);
    child = fork();
    CHECK(child >= 0);
    return child;
}

static void wait_ns(long nanoseconds)
{
    struct timespec pause = { 0, 0 };
    pause.tv_nsec = nanoseconds;
    nanosleep(&pause, NULL);
}

static void call_once(chroprof *p, uint64_t id)
{
    chroprof_pending(p, id, &A);
    chroprof_running(p, id);
    chroprof_completed(p, id);
}

/* A child that maps path, works for a while and is killed; after its first call if it is to have
 * one: a busy machine may let it wait. */
static void leave_behind(const char *path, bool called, long nanoseconds)
{
    int said[2];
    char byte = 1;
    pid_t child;
    CHECK_EQ(pipe(said), 0);
    child = split();
    if (child == 0) {
        chroprof p;
        uint64_t n;
        if (chroprof_map(&p, path, SIZE, NULL) != CHROPROF_OK)
            _exit(1);
        for (n = 1;; n = n % 1000 + 1) {
            call_once(&p, n);
            if (byte && write(said[1], &byte, 1) == 1)
                byte = 0;
        }
    }
    while (!there(path))
        CHECK_EQ(waitpid(child, NULL, WNOHANG), 0);
    if (called)
        CHECK_EQ(read(said[0], &byte, 1), 1);
    wait_ns(nanoseconds);
    kill(child, SIGKILL);
    CHECK_EQ(wait_for(child), 128);
    close(said[0]);
    close(said[1]);
}

#if defined(__linux__)
/* Is the process on its way out, or a zombie? */
static bool runs_no_more(pid_t child)
{
    char path[40], text[1024], state = 0;
    unsigned flags = 0, threads = 0;
    snprintf(path, sizeof path, "/proc/%ld/stat", (long)child);
    FILE *in = fopen(path, "r");
    size_t count = in ? fread(text, 1, sizeof text - 1, in) : 0;
    const char *at;
    if (in)
        fclose(in);
    text[count] = '\0';
    at = strrchr(text, ')');
    CHECK(at != NULL && sscanf(at + 1,
                               " %c %*d %*d %*d %*d %*d %u %*u %*u %*u %*u %*u %*u %*d %*d "
                               "%*d %*d %u",
                               &state, &flags, &threads) == 3);
    return threads < 2 && (state == 'Z' || (flags & 4) != 0); /* PF_EXITING */
}
#endif

/* >>cases */

TEST(a_profile_in_a_file)
{
    const char *path = file_of("profile");
    chroprof p, view;
    CHECK_EQ(chroprof_map(&p, path, SIZE, NULL), CHROPROF_OK);
    chroprof_enter(&p, &A);
    chroprof_leave(&p);
    view_file(&view, path);
    CHECK_EQ(rank_of(&view, "accept").calls, 1);
    CHECK_EQ(rank_of(&view, "accept").exec_ns, rank_of(&p, "accept").exec_ns);
    chroprof_unmap(&p);
    CHECK(p.core == NULL && p.mapped == NULL);
    chroprof_enter(&p, &A);
    view_file(&view, path);
    CHECK_EQ(rank_of(&view, "accept").calls, 1);
    unlink(path);
}

TEST(unmap_of_what_was_not_mapped)
{
    chroprof *p = fresh(NULL), none;
    memset(&none, 0, sizeof none);
    chroprof_unmap(p);
    chroprof_unmap(&none);
    chroprof_unmap(NULL);
    CHECK(p->core != NULL);
    CHECK_EQ(chroprof_fork_child(p, NULL), CHROPROF_OK);
}

TEST(the_options_count)
{
    const char *path = file_of("options");
    chroprof_options o;
    chroprof p;
    struct stat facts;
    memset(&o, 0, sizeof o);
    o.max_futures = 77;
    CHECK_EQ(chroprof_map(&p, path, 0, &o), CHROPROF_OK);
    CHECK_EQ(table_of(&p, CHROPROF_TABLE_FUTURES).capacity, 77);
    CHECK_EQ(stat(path, &facts), 0);
    CHECK_EQ(facts.st_size, chroprof_memory_size(&o));
    chroprof_unmap(&p);
    unlink(path);
    o.max_depth = 1u << 30;
    CHECK_EQ(chroprof_map(&p, path, SIZE, &o), CHROPROF_ERR_LIMIT);
    CHECK_EQ(chroprof_map(&p, path, 100, NULL), CHROPROF_ERR_MEMORY);
    CHECK(p.core == NULL && !there(path));
}

/* A program was killed while it made its file, and this one has its number. */
TEST(a_file_that_was_never_finished)
{
    const char *path = file_of("unfinished");
    char left[400];
    chroprof p;
    snprintf(left, sizeof left, "%s.new.%ld", path, (long)getpid());
    fclose(fopen(left, "w"));
    CHECK_EQ(chroprof_map(&p, path, SIZE, NULL), CHROPROF_OK);
    CHECK(there(path) && there(left));
    chroprof_unmap(&p);
    unlink(left);
    unlink(path);
}

/* Events with times of the caller's own are taken while the sampler runs. */
TEST(times_of_the_caller_and_the_sampler)
{
    const char *path = file_of("sampled");
    chroprof_result started;
    chroprof p;
    CHECK_EQ(chroprof_map(&p, path, 1 << 20, NULL), CHROPROF_OK);
    started = chroprof_sampler_start(&p, NULL);
    chroprof_event(&p, CHROPROF_ENTER, 0, &A, chroprof_now(&p));
    chroprof_event(&p, CHROPROF_LEAVE, 0, NULL, chroprof_now(&p));
    chroprof_sampler_stop(&p);
    CHECK_EQ(rank_of(&p, "accept").calls, 1);
    chroprof_unmap(&p);
    unlink(path);
    if (started != CHROPROF_OK)
        SKIP("no sampler here");
}

#if defined(SIGRTMIN) && !defined(CHROPROF_NO_SAMPLER)
static int handlers_set(void)
{
    int count = 0;
    struct sigaction now;
    for (int number = SIGRTMIN; number <= SIGRTMAX; number++)
        count += sigaction(number, NULL, &now) == 0 && now.sa_handler != SIG_DFL;
    return count;
}

/* Neither a child keeps the signal, nor a timer the memory of a profile that was begun anew. */
TEST(a_profile_begun_anew_and_the_sampler)
{
    const char *path = file_of("anew");
    chroprof_result started;
    chroprof p;
    int status = 0;
    need_wiped_children(); /* else the child ends the parent's sampler, whose timer then kills it */
    CHECK_EQ(chroprof_map(&p, path, 1 << 20, NULL), CHROPROF_OK);
    started = chroprof_sampler_start(&p, NULL);
    CHECK_EQ(handlers_set(), started == CHROPROF_OK);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        chroprof_tick(&p);
        chroprof_sampler_stop(&p);
        _exit(handlers_set());
    }
    CHECK_EQ(waitpid(child, &status, 0), child);
    CHECK_EQ(status, 0);
    CHECK_EQ(chroprof_fork_child(&p, NULL), CHROPROF_OK);
    CHECK_EQ(handlers_set(), 0);
    chroprof_unmap(&p);
    unlink(path);
    if (started != CHROPROF_OK)
        SKIP("no sampler here");
}
#else
TEST(a_profile_begun_anew_and_the_sampler)
{
    SKIP("no sampler here");
}
#endif

/* When a program began, field 22 of its line; 0: not known here. */
static uint64_t read_start(FILE *in)
{
    uint64_t start = 0;
    if (in == NULL || fscanf(in,
                             "%*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s "
                             "%*s %*s %*s %*s %*s %" SCNu64,
                             &start) != 1)
        return 0;
    return start;
}

/* Does this process read the same start of its own as others do? */
static bool starts_alike(void)
{
    uint64_t own, told;
    char command[64];
    FILE *in = fopen("/proc/self/stat", "r");
    if (in == NULL)
        return true; /* no such list, so it is not used either */
    own = read_start(in);
    fclose(in);
    snprintf(command, sizeof command, "cat /proc/%ld/stat", (long)getpid());
    in = popen(command, "r");
    told = in != NULL ? read_start(in) : 0;
    if (in != NULL)
        pclose(in);
    return own == told;
}

/* Some emulators tell a program another start of its own than they tell others of it; to a child
 * that of its parent, which is another one some ticks later. */
static void need_honest_system(void)
{
    bool honest = starts_alike();
    pid_t child;
    wait_ns(50000000);
    child = split();
    if (child == 0)
        _exit(!starts_alike());
    if (wait_for(child) != 0 || !honest)
        SKIP("an emulator: a program began at other times for itself and for others");
}

#if defined(__linux__)
/* The kernel frees its memory first, and lets go of its files after that. */
TEST(the_file_of_a_killed_program_with_much_memory)
{
    enum { MUCH = 192 << 20 };
    const char *path = file_of("hog");
    char byte = 1;
    int said[2];
    chroprof view;
    need_honest_system();
    CHECK_EQ(pipe(said), 0);
    pid_t child = split();
    if (child == 0) {
        chroprof p;
        char *memory =
            (char *)mmap(NULL, MUCH, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (chroprof_map(&p, path, SIZE, NULL) != CHROPROF_OK || memory == MAP_FAILED)
            _exit(1);
        (void)madvise(memory, MUCH, MADV_NOHUGEPAGE);
        memset(memory, 1, MUCH);
        chroprof_enter(&p, &A);
        while (write(said[1], &byte, 1) == 1)
            pause();
    }
    close(said[1]);
    CHECK_EQ(read(said[0], &byte, 1), 1);
    CHECK_EQ(chroprof_file_owner(path), CHROPROF_ERR_OWNED);
    kill(child, SIGKILL);
    while (!runs_no_more(child))
        wait_ns(100000);
    chroprof_result owner = chroprof_file_owner(path);
    view_file(&view, path);
    bool living = totals_of(&view).living;
    CHECK_EQ(wait_for(child), 128);
    CHECK_EQ(owner, CHROPROF_OK);
    CHECK(!living);
    close(said[0]);
    unlink(path);
}
#define KILLED_CASES CASE(the_file_of_a_killed_program_with_much_memory),
#else
#define KILLED_CASES
#endif

TEST(a_live_program_keeps_its_file)
{
    const char *path = file_of("owned");
    chroprof p, other;
    pid_t child;
    need_honest_system();
    CHECK_EQ(chroprof_map(&p, path, SIZE, NULL), CHROPROF_OK);
    CHECK_EQ(chroprof_map(&other, path, SIZE, NULL), CHROPROF_ERR_OWNED);
    CHECK(other.core == NULL);
    child = split();
    if (child == 0)
        _exit(chroprof_map(&other, path, SIZE, NULL) == CHROPROF_ERR_OWNED ? 0 : 1);
    CHECK_EQ(wait_for(child), 0);
    CHECK(!there(prev_of(path)));
    chroprof_unmap(&p);
    CHECK_EQ(chroprof_map(&p, path, SIZE, NULL), CHROPROF_OK);
    CHECK(there(prev_of(path)));
    chroprof_unmap(&p);
    unlink(prev_of(path));
    unlink(path);
}

TEST(a_dead_programs_file_is_kept)
{
    const char *path = file_of("dead");
    chroprof p, view;
    leave_behind(path, true, 2000000);
    CHECK_EQ(chroprof_map(&p, path, SIZE, NULL), CHROPROF_OK);
    view_file(&view, prev_of(path));
    CHECK(rank_of(&view, "accept").calls > 0);
    CHECK_EQ(chroprof_ranks(&p, NULL, 0, CHROPROF_BY_EXEC), 0);
    chroprof_unmap(&p);
    unlink(prev_of(path));
    unlink(path);
}

/* A daemon has closed its standard input: our files get the number 0, which is as good as any. */
static int map_without_input(const char *path)
{
    uint64_t start = chroprof__process_of((uint64_t)getpid()).start;
    chroprof p;
    close(0);
    if (chroprof__process_of((uint64_t)getpid()).start != start)
        return 1;
    if (chroprof_map(&p, path, SIZE, NULL) != CHROPROF_OK)
        return 2;
    if (p.core->file.owner_start != start)
        return 3;
    call_once(&p, 1);
    chroprof_unmap(&p);
    return fcntl(0, F_GETFD) >= 0 ? 4 : 0; /* closed again, each of them */
}

TEST(files_may_have_the_number_0)
{
    const char *path = file_of("daemon");
    int round;
    for (round = 0; round < 2; round++) {
        pid_t child = split();
        if (child == 0)
            _exit(map_without_input(path));
        CHECK_EQ(wait_for(child), 0);
        CHECK_EQ(there(prev_of(path)), round == 1);
    }
    unlink(prev_of(path));
    unlink(path);
}

TEST(no_other_file_is_touched)
{
    const char *path = file_of("letter");
    char text[64];
    FILE *file = fopen(path, "w");
    chroprof p;
    CHECK(file != NULL);
    fputs("Dear reader,", file);
    fclose(file);
    CHECK_EQ(chroprof_map(&p, path, SIZE, NULL), CHROPROF_ERR_FORMAT);
    CHECK_EQ(load(path, text, sizeof text), 12);
    CHECK(!there(prev_of(path)));
    unlink(path);
}

/* What is at PATH.prev goes only if it is the profile of a program that ended. */
/* A server is updated over the file that its older version left behind. */
TEST(a_file_of_another_version_blocks_nobody)
{
    const char *path = file_of("older");
    int k;
    for (k = 0; k < 3; k++) { /* none before, one of this version, one of another */
        chroprof p;
        FILE *file;
        leave_behind(path, true, 0);
        file = fopen(path, "r+");
        CHECK(file != NULL &&
              fseek(file, (long)offsetof(chroprof__core, form.layout), SEEK_SET) == 0);
        CHECK(fputc(1, file) == 1 && fclose(file) == 0);
        CHECK_EQ(chroprof_file_owner(path), CHROPROF_ERR_VERSION);
        CHECK_EQ(chroprof_map(&p, path, SIZE, NULL), CHROPROF_OK);
        CHECK_EQ(chroprof_file_owner(path), CHROPROF_ERR_OWNED);
        CHECK_EQ(chroprof_file_owner(prev_of(path)), CHROPROF_ERR_VERSION);
        chroprof_unmap(&p);
        if (k == 0)
            unlink(prev_of(path));
    }
    unlink(prev_of(path));
    unlink(path);
}

TEST(no_other_file_is_replaced_by_the_previous_profile)
{
    const char *path = file_of("kept"), *prev = prev_of(path);
    char text[64];
    int kind;
    for (kind = 0; kind < 4; kind++) {
        FILE *file;
        chroprof p, other;
        leave_behind(path, true, 0);
        memset(&other, 0, sizeof other);
        if (kind == 0) {
            file = fopen(prev, "w");
            CHECK(file != NULL && fputs("Dear reader,", file) >= 0 && fclose(file) == 0);
        } else if (kind == 1) {
            CHECK_EQ(mkdir(prev, 0700), 0);
        } else if (kind == 2) {
            CHECK_EQ(symlink("nowhere", prev), 0);
        } else {
            CHECK_EQ(chroprof_map(&other, prev, SIZE, NULL), CHROPROF_OK);
        }
        CHECK_EQ(chroprof_map(&p, path, SIZE, NULL), CHROPROF_ERR_PREVIOUS);
        CHECK(p.core == NULL && there(path));
        CHECK_EQ(chroprof_file_owner(path), CHROPROF_OK);
        if (kind == 0)
            CHECK_EQ(load(prev, text, sizeof text), 12);
        if (kind == 3)
            CHECK_EQ(chroprof_file_owner(prev), CHROPROF_ERR_OWNED);
        chroprof_unmap(&other);
        CHECK_EQ(remove(prev), 0);
        CHECK_EQ(chroprof_map(&p, path, SIZE, NULL), CHROPROF_OK);
        CHECK(there(prev));
        chroprof_unmap(&p);
        unlink(path);
        unlink(prev);
    }
}

TEST(a_link_that_leads_nowhere)
{
    const char *path = file_of("dangling");
    chroprof p;
    CHECK_EQ(symlink("nowhere", path), 0);
    errno = 0;
    CHECK_EQ(chroprof_map(&p, path, SIZE, NULL), CHROPROF_ERR_FILE);
    CHECK_EQ(errno, ENOENT);
    CHECK(strstr(chroprof_why_off(&p), "ENOENT") != NULL);
    CHECK_EQ(unlink(path), 0);
    CHECK_EQ(symlink(strrchr(path, '/') + 1, path), 0); /* or to itself */
    CHECK_EQ(chroprof_map(&p, path, SIZE, NULL), CHROPROF_ERR_FILE);
    CHECK_EQ(errno, ELOOP);
    CHECK(strstr(chroprof_why_off(&p), "ELOOP") != NULL);
    CHECK_EQ(unlink(path), 0);
}

TEST(who_owns_what_is_no_profile)
{
    const char *path = file_of("unowned");
    FILE *file;
    errno = 0;
    CHECK_EQ(chroprof_file_owner(path), CHROPROF_ERR_FILE);
    CHECK_EQ(errno, ENOENT);
    CHECK_EQ(chroprof_file_owner(NULL), CHROPROF_ERR_ARGUMENT);
    CHECK_EQ(chroprof_file_owner("."), CHROPROF_ERR_FILE);
    file = fopen(path, "w");
    CHECK(file != NULL);
    fputs("Dear reader,", file);
    fclose(file);
    CHECK_EQ(chroprof_file_owner(path), CHROPROF_ERR_FORMAT);
    unlink(path);
}

TEST(a_pipe_by_that_name_holds_nobody)
{
    const char *path = file_of("pipe");
    chroprof p;
    CHECK_EQ(mkfifo(path, 0600), 0);
    alarm(600); /* instead of for ever */
    CHECK_EQ(chroprof_map(&p, path, SIZE, NULL), CHROPROF_ERR_FORMAT);
    alarm(0);
    CHECK(there(path) && !there(prev_of(path)));
    unlink(path);
}

TEST(what_the_system_refuses)
{
    char longer[5000];
    chroprof p;
    memset(longer, 'x', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    errno = 0;
    CHECK_EQ(chroprof_map(&p, file_of("no/such/folder"), SIZE, NULL), CHROPROF_ERR_FILE);
    CHECK_EQ(errno, ENOENT);
    CHECK_EQ(chroprof_map(&p, longer, SIZE, NULL), CHROPROF_ERR_FILE);
    CHECK_EQ(chroprof_map(&p, NULL, SIZE, NULL), CHROPROF_ERR_ARGUMENT);
    CHECK_EQ(chroprof_map(NULL, "x", SIZE, NULL), CHROPROF_ERR_ARGUMENT);
    CHECK_EQ(chroprof_map(&p, ".", SIZE, NULL), CHROPROF_ERR_FILE);
    CHECK(p.core == NULL);
}

/* To write beyond the limit would be a signal that ends the program. */
static int map_beyond_limit(const char *path, rlim_t bytes)
{
    struct rlimit limit;
    char made[400];
    chroprof_result result;
    chroprof p;
    limit.rlim_cur = limit.rlim_max = bytes;
    setrlimit(RLIMIT_FSIZE, &limit);
    errno = 0;
    result = chroprof_map(&p, path, SIZE, NULL);
    if (bytes >= SIZE)
        return result == CHROPROF_OK && unlink(path) == 0 ? 0 : 1;
    snprintf(made, sizeof made, "%s.new.%ld", path, (long)getpid());
    return result == CHROPROF_ERR_FILE && errno == EFBIG && !there(path) && !there(made) ? 0 : 1;
}

TEST(a_limit_on_file_sizes_is_an_error)
{
    static const rlim_t limits[] = { 0, 4096, SIZE - 1, SIZE };
    size_t k;
    for (k = 0; k < sizeof limits / sizeof *limits; k++) {
        pid_t child = split();
        if (child == 0)
            _exit(map_beyond_limit(file_of("full"), limits[k]));
        CHECK_EQ(wait_for(child), 0);
    }
}

TEST(two_programs_want_one_path)
{
    const char *path = file_of("race");
    int round, k, won;
    need_honest_system();
    for (round = 0; round < 20; round++) {
        pid_t children[4];
        int go[2], tried[2];
        char byte;
        CHECK(pipe(go) == 0 && pipe(tried) == 0);
        if (round % 2)
            leave_behind(path, false, 1000);
        for (k = 0; k < 4; k++) {
            children[k] = split();
            if (children[k] == 0) {
                chroprof p;
                chroprof_result result = chroprof_map(&p, path, SIZE, NULL);
                close(go[1]);
                if (write(tried[1], "", 1) != 1 || read(go[0], &byte, 1) != 0)
                    _exit(3);
                _exit(result == CHROPROF_OK ? 0 : result == CHROPROF_ERR_OWNED ? 1 : 2);
            }
        }
        close(go[0]);
        close(tried[1]);
        for (k = 0; k < 4; k++) /* the winner lives until all have tried */
            CHECK_EQ(read(tried[0], &byte, 1), 1);
        close(go[1]);
        close(tried[0]);
        for (won = 0, k = 0; k < 4; k++) {
            int code = wait_for(children[k]);
            CHECK(code == 0 || code == 1);
            won += code == 0;
        }
        CHECK_EQ(won, 1);
        unlink(path);
        unlink(prev_of(path));
    }
}

TEST(a_killed_program_leaves_its_profile)
{
    const char *path = file_of("killed");
    uint64_t state;
    int round;
    chroprof view;
    random_seed(7);
    state = harness()->seed;
    for (round = 0; round < 60; round++) {
        leave_behind(path, false, (long)random_below(&state, 200000));
        view_file(&view, path);
        unlink(path);
    }
}

/* >>owners */

/* Another program, until it is told to end: what it does first, in a child. */
typedef struct program {
    pid_t pid;
    int end;  /* closed: it ends */
    int code; /* what it said of its beginning */
} program;

typedef int (*beginning)(const char *path);

static program begin(beginning how, const char *path)
{
    int said[2], go[2];
    unsigned char code = 99;
    program other;
    CHECK(pipe(said) == 0 && pipe(go) == 0);
    other.pid = split();
    if (other.pid == 0) {
        close(go[1]);
        code = (unsigned char)how(path);
        if (write(said[1], &code, 1) != 1 || read(go[0], &code, 1) != 0)
            _exit(1);
        _exit(0);
    }
    close(said[1]);
    close(go[0]);
    if (read(said[0], &code, 1) != 1)
        code = 99;
    close(said[0]);
    other.code = code;
    other.end = go[1];
    return other;
}

static void finish(const program *other)
{
    close(other->end);
    (void)wait_for(other->pid);
}

static int map_it(const char *path)
{
    static chroprof p;
    return (int)chroprof_map(&p, path, SIZE, NULL);
}

static void remove_both(const char *path)
{
    unlink(path);
    unlink(prev_of(path));
}

#if defined(__linux__)
enum { OFD_GETLK = 36, OFD_SETLK = 37 };
enum { NEW_HOST_NAME = 0x04000000, NEW_USERS = 0x10000000, NEW_NUMBERS = 0x20000000 };

/* In a child: in namespaces of its own from here on, if the system lets us. */
static bool leave_namespace(long which)
{
    return syscall(SYS_unshare, which) == 0 || syscall(SYS_unshare, which | NEW_USERS) == 0;
}

/* Not every file system has the locks that tell who owns a file. */
static void need_locks(void)
{
    const char *path = file_of("locks");
    struct flock lock;
    int file = open(path, O_RDWR | O_CREAT, 0600), other = open(path, O_RDONLY);
    bool has;
    memset(&lock, 0, sizeof lock);
    lock.l_type = F_WRLCK;
    has = fcntl(file, OFD_SETLK, &lock) == 0;
    lock.l_type = F_RDLCK;
    has = has && fcntl(other, OFD_GETLK, &lock) == 0 && lock.l_type == F_WRLCK;
    close(file);
    close(other);
    unlink(path);
    if (!has)
        SKIP("no such locks here");
}

/* The first process of a PID namespace: no number of ours means anything there. */
static int map_elsewhere(const char *path)
{
    pid_t child;
    if (!leave_namespace(NEW_NUMBERS))
        return 77;
    child = fork();
    if (child == 0) {
        int asked = (int)chroprof_file_owner(path), result = map_it(path);
        _exit(result == asked || result != CHROPROF_ERR_OWNED ? result : 98);
    }
    return child < 0 ? 77 : wait_for(child);
}

TEST(a_program_in_another_pid_namespace_lives)
{
    const char *path = file_of("namespace");
    int code;
    pid_t child;
    chroprof p;
    need_locks();
    CHECK_EQ(chroprof_map(&p, path, SIZE, NULL), CHROPROF_OK);
    child = split();
    if (child == 0)
        _exit(map_elsewhere(path));
    code = wait_for(child);
    chroprof_unmap(&p);
    remove_both(path);
    if (code == 77)
        SKIP("this system makes no namespaces");
    CHECK_EQ(code, CHROPROF_ERR_OWNED);
}

/* A container that was made anew, on its volume, has another name. */
static int map_under_another_name(const char *path)
{
    static const char name[] = "a-container-of-yesterday";
    if (!leave_namespace(NEW_HOST_NAME) || syscall(SYS_sethostname, name, sizeof name - 1) != 0)
        return 77;
    return map_it(path);
}

TEST(a_file_of_another_host_name_blocks_nobody)
{
    const char *path = file_of("renamed");
    program other;
    int alive, dead, mapped;
    chroprof p;
    need_locks();
    other = begin(map_under_another_name, path);
    alive = (int)chroprof_file_owner(path);
    finish(&other);
    dead = (int)chroprof_file_owner(path);
    mapped = (int)chroprof_map(&p, path, SIZE, NULL);
    chroprof_unmap(&p);
    remove_both(path);
    if (other.code == 77)
        SKIP("this system gives nobody another name");
    CHECK_EQ(other.code, CHROPROF_OK);
    CHECK_EQ(alive, CHROPROF_ERR_OWNED);
    CHECK_EQ(dead, CHROPROF_OK);
    CHECK_EQ(mapped, CHROPROF_OK);
}

/* Its number and its start stay the same. */
TEST(a_program_that_execs_itself_maps_its_path_again)
{
    const char *path = file_of("exec");
    int said[2], go[2];
    char byte = 0;
    pid_t child;
    chroprof p;
    need_locks();
    CHECK(pipe(said) == 0 && pipe(go) == 0);
    child = split();
    if (child == 0) {
        int result = map_it(path);
        if (result == CHROPROF_OK && dup2(go[0], 0) == 0 && dup2(said[1], 1) == 1 &&
            close(go[1]) == 0)
            execl("/bin/sh", "sh", "-c", "echo; read wait", (char *)NULL);
        _exit(1);
    }
    close(said[1]);
    CHECK_EQ(read(said[0], &byte, 1), 1);
    CHECK_EQ(kill(child, 0), 0);
    CHECK_EQ(chroprof_map(&p, path, SIZE, NULL), CHROPROF_OK);
    CHECK(there(prev_of(path)));
    close(go[1]);
    (void)wait_for(child);
    chroprof_unmap(&p);
    remove_both(path);
}

/* As would be that of a program of an earlier boot with our number and our start. */
TEST(a_copy_of_a_live_programs_file_is_nobodys)
{
    static unsigned char bytes[SIZE];
    const char *path = file_of("original"), *copied = file_of("copied");
    FILE *out;
    chroprof p, other;
    need_locks();
    CHECK_EQ(chroprof_map(&p, path, SIZE, NULL), CHROPROF_OK);
    CHECK_EQ(load(path, bytes, SIZE), SIZE);
    out = fopen(copied, "wb");
    CHECK(out != NULL && fwrite(bytes, 1, SIZE, out) == SIZE && fclose(out) == 0);
    CHECK_EQ(chroprof_file_owner(path), CHROPROF_ERR_OWNED);
    CHECK_EQ(chroprof_file_owner(copied), CHROPROF_OK);
    CHECK_EQ(chroprof_map(&other, copied, SIZE, NULL), CHROPROF_OK);
    chroprof_unmap(&other);
    chroprof_unmap(&p);
    CHECK_EQ(chroprof_file_owner(path), CHROPROF_OK);
    remove_both(path);
    remove_both(copied);
}

/* It closes all that it does not know, and may read its own file. */
static int map_and_close_all(const char *path)
{
    int result = map_it(path), file = open(path, O_RDWR), k;
    close(file);
    for (k = 3; k < 256 && result == CHROPROF_OK; k++) {
        char name[64];
        struct stat facts;
        snprintf(name, sizeof name, "/proc/self/fd/%d", k);
        if (stat(name, &facts) == 0 && S_ISREG(facts.st_mode))
            close(k);
    }
    return result;
}

TEST(a_program_that_closes_all_files_keeps_its_own)
{
    const char *path = file_of("closing");
    program other;
    chroprof p;
    need_locks();
    other = begin(map_and_close_all, path);
    CHECK_EQ(other.code, CHROPROF_OK);
    CHECK_EQ(chroprof_map(&p, path, SIZE, NULL), CHROPROF_ERR_OWNED);
    finish(&other);
    CHECK_EQ(chroprof_map(&p, path, SIZE, NULL), CHROPROF_OK);
    chroprof_unmap(&p);
    remove_both(path);
}

/* Maps, and leaves a child behind that ends when nobody writes into the pipe any more. */
static int map_and_split(const char *path, bool looks, const int alive[2])
{
    static chroprof p;
    char byte;
    int result = (int)chroprof_map(&p, path, SIZE, NULL);
    pid_t child = result == CHROPROF_OK ? fork() : -1;
    if (child == 0) {
        close(alive[1]);
        if (looks)
            chroprof_tick(&p);
        _exit(read(alive[0], &byte, 1) == 0 ? 0 : 1);
    }
    return child > 0 ? 0 : 1;
}

/* Whether it has looked at the profile or not, the file is not its own. */
TEST(a_child_does_not_keep_the_parents_file)
{
    const char *path = file_of("orphan");
    int round;
    need_wiped_children();
    need_locks();
    for (round = 0; round < 2; round++) {
        int alive[2];
        pid_t parent;
        chroprof p;
        CHECK_EQ(pipe(alive), 0);
        parent = split();
        if (parent == 0)
            _exit(map_and_split(path, round == 1, alive));
        CHECK_EQ(wait_for(parent), 0);
        CHECK_EQ(chroprof_map(&p, path, SIZE, NULL), CHROPROF_OK);
        close(alive[0]);
        close(alive[1]);
        chroprof_unmap(&p);
        remove_both(path);
    }
}

/* Maps, and ends as soon as its child has begun to ask for the same path; the child says how that
 * went. */
static int become_daemon(const char *path, int said)
{
    static chroprof p;
    int begun[2];
    char byte = 0;
    pid_t child;
    if (chroprof_map(&p, path, SIZE, NULL) != CHROPROF_OK || pipe(begun) != 0)
        return 1;
    child = fork();
    if (child == 0) {
        byte = (char)(write(begun[1], &byte, 1) != 1);
        byte = (char)(byte != 0 ? 99 : chroprof_fork_child(&p, path));
        chroprof_unmap(&p);
        _exit(write(said, &byte, 1) == 1 ? 0 : 1);
    }
    return child > 0 && read(begun[0], &byte, 1) == 1 ? 0 : 1;
}

TEST(a_daemon_takes_over_its_parents_path)
{
    const char *path = file_of("daemon");
    int round;
    need_wiped_children();
    need_locks();
    for (round = 0; round < 10; round++) {
        int said[2];
        char result = 99;
        pid_t parent;
        CHECK_EQ(pipe(said), 0);
        parent = split();
        if (parent == 0)
            _exit(become_daemon(path, said[1]));
        close(said[1]);
        CHECK_EQ(read(said[0], &result, 1), 1);
        close(said[0]);
        CHECK_EQ(wait_for(parent), 0);
        CHECK_EQ(result, CHROPROF_OK);
        CHECK(there(path) && there(prev_of(path)));
        remove_both(path);
    }
}

/* Of one that may only read: not even the file of a program that ended is blocked. */
TEST(a_readers_lock_is_in_nobodys_way)
{
    const char *path = file_of("read");
    struct flock lock;
    int reader, k;
    need_locks();
    memset(&lock, 0, sizeof lock);
    lock.l_type = F_RDLCK;
    for (k = 0; k < 2; k++) {
        chroprof p;
        leave_behind(path, true, 0);
        reader = open(path, O_RDONLY);
        CHECK(reader >= 0);
        CHECK_EQ(k == 0 ? flock(reader, LOCK_EX) : fcntl(reader, OFD_SETLK, &lock), 0);
        CHECK_EQ(chroprof_file_owner(path), CHROPROF_OK);
        CHECK_EQ(chroprof_map(&p, path, SIZE, NULL), CHROPROF_OK);
        CHECK(there(prev_of(path)));
        close(reader);
        chroprof_unmap(&p);
        remove_both(path);
    }
}
#endif

/* Nobody has asked for its end: it has a number, but no file. */
TEST(a_zombie_owns_nothing)
{
    const char *path = file_of("zombie");
    int gone[2];
    char byte;
    pid_t child;
    chroprof_origin origin;
    chroprof p, view;
    int k;
    need_honest_system();
    CHECK_EQ(pipe(gone), 0);
    child = split();
    if (child == 0) {
        if (map_it(path) != CHROPROF_OK)
            _exit(1);
        for (;;)
            pause();
    }
    close(gone[1]);
    while (!there(path))
        CHECK_EQ(waitpid(child, NULL, WNOHANG), 0);
    kill(child, SIGKILL);
    CHECK_EQ(read(gone[0], &byte, 1), 0);
    close(gone[0]);
    view_file(&view, path);
    for (k = 0; k < 60000; k++) { /* its last steps take a while */
        chroprof_read_origin(&view, &origin);
        if (!origin.alive && chroprof_file_owner(path) == CHROPROF_OK)
            break;
        wait_ns(1000000);
    }
    CHECK(!origin.alive);
    CHECK_EQ(chroprof_map(&p, path, SIZE, NULL), CHROPROF_OK);
    CHECK_EQ(wait_for(child), 128);
    chroprof_unmap(&p);
    remove_both(path);
}

/* >>forks */

TEST(a_child_does_not_write_into_the_parents_file)
{
    static unsigned char before[SIZE], after[SIZE];
    const char *path = file_of("parent");
    chroprof p;
    pid_t child;
    need_wiped_children();
    CHECK_EQ(chroprof_map(&p, path, SIZE, NULL), CHROPROF_OK);
    chroprof_enter(&p, &A);
    CHECK_EQ(load(path, before, SIZE), SIZE);
    child = split();
    if (child == 0) {
        chroprof_leave(&p);
        chroprof_enter(&p, &A);
        chroprof_reset(&p);
        _exit(*chroprof_why_off(&p) ? 0 : 1);
    }
    CHECK_EQ(wait_for(child), 0);
    CHECK_EQ(load(path, after, SIZE), SIZE);
    CHECK(memcmp(before, after, SIZE) == 0);
    child = split();
    if (child == 0) {
        chroprof_site_make(&p, "new", "new.c", 1);
        chroprof_unmap(&p);
        _exit(0);
    }
    CHECK_EQ(wait_for(child), 0);
    CHECK_EQ(load(path, after, SIZE), SIZE);
    CHECK(memcmp(before, after, SIZE) == 0);
    chroprof_leave(&p);
    CHECK_EQ(rank_of(&p, "accept").completed, 1);
    chroprof_unmap(&p);
    unlink(path);
}

/* Nobody reads a clock here, so something else has to notice the child. */
static void child_with_times_of_its_own(const char *path, const chroprof_options *o)
{
    static unsigned char before[SIZE], after[SIZE];
    chroprof p;
    pid_t child;
    CHECK_EQ(chroprof_map(&p, path, SIZE, o), CHROPROF_OK);
    chroprof_event(&p, CHROPROF_ENTER, 0, &A, chroprof_now(&p));
    CHECK_EQ(load(path, before, SIZE), SIZE);
    child = split();
    if (child == 0) {
        chroprof_event(&p, CHROPROF_LEAVE, 0, NULL, chroprof_now(&p) + 10);
        chroprof_event(&p, CHROPROF_ENTER, 0, &A, 30);
        _exit(*chroprof_why_off(&p) ? 0 : 1);
    }
    CHECK_EQ(wait_for(child), 0);
    CHECK_EQ(load(path, after, SIZE), SIZE);
    CHECK(memcmp(before, after, SIZE) == 0);
    child = split();
    if (child == 0) {
        chroprof_event(&p, CHROPROF_LEAVE, 0, NULL, 10);
        _exit(*chroprof_why_off(&p) ? 0 : 1);
    }
    CHECK_EQ(wait_for(child), 0);
    child = split();
    if (child == 0) {
        chroprof_leave(&p);
        chroprof_reset(&p);
        _exit(*chroprof_why_off(&p) ? 0 : 1);
    }
    CHECK_EQ(wait_for(child), 0);
    CHECK_EQ(load(path, after, SIZE), SIZE);
    CHECK(memcmp(before, after, SIZE) == 0);
    chroprof_event(&p, CHROPROF_LEAVE, 0, NULL, chroprof_now(&p) + 5);
    CHECK_EQ(rank_of(&p, "accept").completed, 1);
    chroprof_unmap(&p);
    unlink(path);
}

TEST(a_child_that_brings_its_own_times)
{
    chroprof_options o;
    memset(&o, 0, sizeof o);
#if defined(__linux__)
    need_wiped_children();
    child_with_times_of_its_own(file_of("times"), &o);
    o.clock = chroprof_clock_manual;
    child_with_times_of_its_own(file_of("times"), &o);
#else
    SKIP("no guard against forks here");
#endif
}

static uint64_t event_cost(chroprof *p)
{
    const char *at = strstr(written(p, CHROPROF_JSON)->bytes, "\"event_cost_ps\":");
    CHECK(at != NULL);
    return strtoull(at + strlen("\"event_cost_ps\":"), NULL, 10);
}

TEST(the_cost_of_an_event_is_known)
{
    static union {
        uint64_t word;
        unsigned char bytes[SIZE];
    } memory;
    const char *path = file_of("cost");
    chroprof p;
    chroprof_options o;
    memset(&o, 0, sizeof o);
    CHECK_EQ(chroprof_init(&p, memory.bytes, SIZE, &o), CHROPROF_OK);
    CHECK(event_cost(&p) > 0);
    CHECK_EQ(chroprof_map(&p, path, SIZE, &o), CHROPROF_OK);
    CHECK(event_cost(&p) > 0);
    chroprof_unmap(&p);
    unlink(path);
    o.clock = chroprof_clock_manual;
    CHECK_EQ(chroprof_map(&p, path, SIZE, &o), CHROPROF_OK);
    CHECK_EQ(event_cost(&p), 0);
    chroprof_unmap(&p);
    unlink(path);
}

/* The program forks in on_stall; the child does what `does` says, and the parent looks. */
enum { RETURNS, SENDS, DUMPS, READS, BEGINS, DEEDS };

static struct in_hook {
    const char *path;
    chroprof *p;
    int does;
    pid_t child, self;
} fork_there;

static int swallow(void *user, const void *bytes, size_t count)
{
    (void)bytes;
    *(size_t *)user += count;
    return 0;
}

/* What the handle says in a child of a mapped profile. */
static bool says_child(chroprof *p)
{
    return strstr(chroprof_why_off(p), "chroprof_fork_child") != NULL;
}

static bool does_it(chroprof *p, int does)
{
    size_t bytes = 0;
    if (!says_child(p))
        return false;
    if (does == SENDS) {
        call_once(p, 7);
        chroprof_event(p, CHROPROF_ENTER, 0, &A, chroprof_now(p));
        chroprof_sample(p, 1, 1);
    } else if (does == DUMPS) {
        if (chroprof_write(p, CHROPROF_TEXT, swallow, &bytes) != -1 || bytes == 0)
            return false;
    } else if (does == READS) {
        if (chroprof_ranks(p, NULL, 0, CHROPROF_BY_EXEC) != 0 || chroprof_now(p) != 0)
            return false;
    } else if (does == BEGINS) {
        return chroprof_fork_child(p, NULL) == CHROPROF_OK && *chroprof_why_off(p) == '\0';
    }
    return says_child(p);
}

static void fork_in_callback(void *user, const chroprof_stall *stall)
{
    static unsigned char before[SIZE], after[SIZE];
    struct in_hook *f = (struct in_hook *)user;
    (void)stall;
    if (f->child != 0)
        return;
    CHECK_EQ(load(f->path, before, SIZE), SIZE);
    f->child = split();
    if (f->child == 0) {
        f->child = -1;
        if (!does_it(f->p, f->does))
            _exit(1);
        return;
    }
    CHECK_EQ(wait_for(f->child), 0);
    CHECK_EQ(load(f->path, after, SIZE), SIZE);
    CHECK(memcmp(before, after, SIZE) == 0);
}

static void fork_in_the_callback_of(chroprof *p, int does)
{
    chroprof_options o;
    memset(&o, 0, sizeof o);
    memset(&fork_there, 0, sizeof fork_there);
    fork_there.path = file_of("called");
    fork_there.p = p;
    fork_there.does = does;
    fork_there.self = getpid();
    o.on_stall = fork_in_callback;
    o.on_stall_user = &fork_there;
    o.stall_ns = 1;
    CHECK_EQ(chroprof_map(p, fork_there.path, SIZE, &o), CHROPROF_OK);
    chroprof_idle_enter(p);
    chroprof_idle_leave(p);
    chroprof_enter(p, &A);
    chroprof_leave(p);
    chroprof_idle_enter(p);
    if (getpid() != fork_there.self) {
        chroprof_enter(p, &A);
        chroprof_leave(p);
        chroprof_tick(p);
        if (does != BEGINS)
            _exit(says_child(p) ? 0 : 2);
        _exit(rank_of(p, "accept").calls == 1 && chroprof_check(p) == NULL ? 0 : 3);
    }
    CHECK(fork_there.child > 0);
}

TEST(a_child_that_is_forked_in_on_stall)
{
    chroprof p;
    int does;
    need_wiped_children();
    for (does = 0; does < DEEDS; does++) {
        fork_in_the_callback_of(&p, does);
        CHECK(chroprof_check(&p) == NULL);
        CHECK_EQ(anomalies_of(&p, CHROPROF_ANOMALY_EVENT_IN_HOOK), 0);
        CHECK_EQ(rank_of(&p, "accept").calls, 1);
        chroprof_unmap(&p);
        unlink(fork_there.path);
    }
}

static int child_of_its_own(chroprof *p, const char *path)
{
    chroprof view;
    if (chroprof_fork_child(p, path) != CHROPROF_OK || *chroprof_why_off(p))
        return 1;
    chroprof_enter(p, &A);
    chroprof_leave(p);
    if (chroprof_check(p) != NULL || find_rank(p, "accept") == NULL)
        return 2;
    if (find_rank(p, "accept")->calls != 1)
        return 3;
    if (path != NULL)
        view_file(&view, path);
    chroprof_unmap(p);
    return p->core != NULL;
}

TEST(a_child_has_a_profile_of_its_own)
{
    const char *path = file_of("first"), *own = file_of("second");
    chroprof_options o;
    chroprof p;
    int k;
    memset(&o, 0, sizeof o);
    o.name = "family";
    CHECK_EQ(chroprof_map(&p, path, SIZE, &o), CHROPROF_OK);
    chroprof_enter(&p, &A);
    for (k = 0; k < 2; k++) {
        pid_t child = split();
        if (child == 0)
            _exit(child_of_its_own(&p, k == 0 ? NULL : own));
        CHECK_EQ(wait_for(child), 0);
    }
    chroprof_leave(&p);
    CHECK_EQ(rank_of(&p, "accept").calls, 1);
    CHECK(there(own));
    chroprof_unmap(&p);
    unlink(path);
    unlink(own);
}

static const test_case tests[] = {
    KILLED_CASES CASE(a_profile_in_a_file),
    CASE(unmap_of_what_was_not_mapped),
    CASE(the_options_count),
    CASE(a_file_that_was_never_finished),
    CASE(times_of_the_caller_and_the_sampler),
    CASE(a_profile_begun_anew_and_the_sampler),
    CASE(a_live_program_keeps_its_file),
    CASE(a_dead_programs_file_is_kept),
    CASE(files_may_have_the_number_0),
    CASE(no_other_file_is_touched),
    CASE(a_file_of_another_version_blocks_nobody),
    CASE(no_other_file_is_replaced_by_the_previous_profile),
    CASE(a_link_that_leads_nowhere),
    CASE(who_owns_what_is_no_profile),
    CASE(a_pipe_by_that_name_holds_nobody),
    CASE(what_the_system_refuses),
    CASE(a_limit_on_file_sizes_is_an_error),
    CASE(two_programs_want_one_path),
#if defined(__linux__)
    CASE(a_program_in_another_pid_namespace_lives),
    CASE(a_file_of_another_host_name_blocks_nobody),
    CASE(a_program_that_execs_itself_maps_its_path_again),
    CASE(a_copy_of_a_live_programs_file_is_nobodys),
    CASE(a_program_that_closes_all_files_keeps_its_own),
    CASE(a_child_does_not_keep_the_parents_file),
    CASE(a_daemon_takes_over_its_parents_path),
    CASE(a_readers_lock_is_in_nobodys_way),
#endif
    CASE(a_zombie_owns_nothing),
    CASE(a_killed_program_leaves_its_profile),
    CASE(a_child_that_brings_its_own_times),
    CASE(the_cost_of_an_event_is_known),
    CASE(a_child_does_not_write_into_the_parents_file),
    CASE(a_child_has_a_profile_of_its_own),
    CASE(a_child_that_is_forked_in_on_stall),
};
TEST_MAIN(tests)
#else
int main(void)
{
    printf("0 passed, 0 failed, 0 skipped\n");
    return 0;
}
#endif
