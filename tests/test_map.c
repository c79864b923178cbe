/* tests/test_map.c - profiles in files: made, owned, left behind, killed, forked. */
#define _DEFAULT_SOURCE            /* the guard against forks */
#define _POSIX_C_SOURCE 200809L
#define CHROPROF_IMPLEMENTATION    /* a copy of its own, which sees what _DEFAULT_SOURCE shows */
#include "harness.h"

#if defined(__unix__) || defined(__APPLE__)
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

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
    static union { uint64_t word; unsigned char bytes[SIZE]; } raw, copy;
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
    if (in == NULL || fscanf(in, "%*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s "
                                 "%*s %*s %*s %*s %*s %" SCNu64, &start) != 1)
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
        return true;                /* no such list, so it is not used either */
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
    uint64_t start = chroprof__process_start((uint64_t)getpid());
    chroprof p;
    close(0);
    if (chroprof__process_start((uint64_t)getpid()) != start)
        return 1;
    if (chroprof_map(&p, path, SIZE, NULL) != CHROPROF_OK)
        return 2;
    if (p.core->owner_start != start)
        return 3;
    call_once(&p, 1);
    chroprof_unmap(&p);
    return fcntl(0, F_GETFD) >= 0 ? 4 : 0;          /* closed again, each of them */
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

TEST(a_pipe_by_that_name_holds_nobody)
{
    const char *path = file_of("pipe");
    chroprof p;
    CHECK_EQ(mkfifo(path, 0600), 0);
    alarm(20);                              /* instead of for ever */
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

/* A limit of the file size stands for a full disk: both refuse to reserve the bytes. */
TEST(no_room_is_noticed_at_once)
{
    const char *path = file_of("full");
    pid_t child = split();
    if (child == 0) {
        struct rlimit limit = { 4096, 4096 };
        chroprof p;
        signal(SIGXFSZ, SIG_IGN);
        setrlimit(RLIMIT_FSIZE, &limit);
        _exit(chroprof_map(&p, path, SIZE, NULL) == CHROPROF_ERR_FILE && !there(path) ? 0 : 1);
    }
    CHECK_EQ(wait_for(child), 0);
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
        for (k = 0; k < 4; k++)                 /* the winner lives until all have tried */
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

/* >>forks */

TEST(a_child_does_not_write_into_the_parents_file)
{
    static unsigned char before[SIZE], after[SIZE];
    const char *path = file_of("parent");
    chroprof p;
    pid_t child;
    need_wiped_children();
    CHECK_EQ(chroprof_map(&p, path, SIZE, NULL), CHROPROF_OK);
    if (p.clock == NULL) {
        chroprof_unmap(&p);
        unlink(path);
        SKIP("no guard against forks here");
    }
    chroprof_enter(&p, &A);
    CHECK_EQ(load(path, before, SIZE), SIZE);
    child = split();
    if (child == 0) {
        chroprof_leave(&p);
        chroprof_enter(&p, &A);
        chroprof_reset(&p);
        _exit(p.on ? 1 : 0);
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
        _exit(p.on ? 1 : 0);
    }
    CHECK_EQ(wait_for(child), 0);
    CHECK_EQ(load(path, after, SIZE), SIZE);
    CHECK(memcmp(before, after, SIZE) == 0);
    child = split();
    if (child == 0) {
        chroprof_event(&p, CHROPROF_LEAVE, 0, NULL, 10);
        _exit(p.on ? 1 : 0);
    }
    CHECK_EQ(wait_for(child), 0);
    child = split();
    if (child == 0) {
        chroprof_leave(&p);
        chroprof_reset(&p);
        _exit(p.on ? 1 : 0);
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

/* The guard does not hide whose clock it is. */
TEST(the_cost_of_an_event_is_known)
{
    static union { uint64_t word; unsigned char bytes[SIZE]; } memory;
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

static int child_of_its_own(chroprof *p, const char *path)
{
    chroprof view;
    if (chroprof_fork_child(p, path) != CHROPROF_OK || !p->on)
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
    if (p.clock == NULL) {
        chroprof_unmap(&p);
        unlink(path);
        SKIP("no guard against forks here");
    }
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
    CASE(a_profile_in_a_file),
    CASE(unmap_of_what_was_not_mapped),
    CASE(the_options_count),
    CASE(a_file_that_was_never_finished),
    CASE(times_of_the_caller_and_the_sampler),
    CASE(a_profile_begun_anew_and_the_sampler),
    CASE(a_live_program_keeps_its_file),
    CASE(a_dead_programs_file_is_kept),
    CASE(files_may_have_the_number_0),
    CASE(no_other_file_is_touched),
    CASE(a_pipe_by_that_name_holds_nobody),
    CASE(what_the_system_refuses),
    CASE(no_room_is_noticed_at_once),
    CASE(two_programs_want_one_path),
    CASE(a_killed_program_leaves_its_profile),
    CASE(a_child_that_brings_its_own_times), CASE(the_cost_of_an_event_is_known),
    CASE(a_child_does_not_write_into_the_parents_file),
    CASE(a_child_has_a_profile_of_its_own),
};
TEST_MAIN(tests)
#else
int main(void)
{
    printf("0 passed, 0 failed, 0 skipped\n");
    return 0;
}
#endif
