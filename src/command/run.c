/* run.c - chroprof run: starts any program with a library that profiles its loops, and reports what
 * the files of the profiles hold when it has ended, however that was. */

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../run/board.h"
#include "block.h"
#include "commands.h"
#include "diff.h"
#include "formats.h"
#include "input.h"
#include "libraries.h"
#include "made_names.h"
#include "message.h"
#include "node.h"
#include "options.h"
#include "output.h"
#include "outside.h"
#include "program.h"
#include "python.h"
#include "run_help.h"
#include "run_left.h"
#include "run_watch.h"
#include "values.h"

#define RUN_REPORTS 8          /* profiles that are reported; of the others there is a count */

typedef struct run {
    const char *report_name, *out_name;
    const char *before;        /* the earlier profile, to compare with */
    diff_profile both[2];      /* it, and this run's */
    bool wall, children, frames;
    bool native;               /* neither node nor Python is asked for names */
    bool python;               /* the latter is */
    bool node;                 /* it is */
    bool kept;                 /* out_name was written */
    outside outside;
    uint64_t stall_ns;
    char **words;              /* of the program */
    char program[4096];
    char library[4096];
    char folder[512];
    char preload[BOARD_LIBRARIES * 600];   /* all that is loaded into it, for LD_PRELOAD */
    preload_board *board;
    void (*too_large)(int);    /* SIGXFSZ, as it was */
    pid_t ended;               /* the program; 0: nobody has seen it end */
    size_t left;               /* processes that it has forked, and that go on */
    bool waited;               /* for such: so it ended some time ago */
} run;

/* >>run library: beside the command, or where make install puts it */

static bool library_at(run *r, const char *folder, const char *below)
{
    int length = snprintf(r->library, sizeof r->library, "%s/%s" BOARD_LIBRARY, folder, below);
    return length > 0 && (size_t)length < sizeof r->library && access(r->library, R_OK) == 0;
}

static bool find_library(run *r)
{
    char folder[4000];
    ssize_t length = readlink("/proc/self/exe", folder, sizeof folder - 1);
    folder[length > 0 ? length : 0] = '\0';
    if (strrchr(folder, '/') != NULL) {
        *strrchr(folder, '/') = '\0';
    }
    if (length > 0 && (library_at(r, folder, "") || library_at(r, folder, "../lib/chroprof/"))) {
        return true;
    }
    tool_message("run: " BOARD_LIBRARY " is missing beside this command and in ../lib/chroprof; "
                 "build it with make chroprof");
    return false;
}

/* >>run folder: a private one, for the profiles, the board and a link to the library. The library's
 * own name may hold blanks, at which the loader would split it. */

static bool file_in(const run *r, const char *name, char *path, size_t size)
{
    int length = snprintf(path, size, "%s/%s", r->folder, name);
    return length > 0 && (size_t)length < size;
}

static bool make_board(run *r)
{
    char path[1024];
    const size_t size = sizeof(preload_board);
    void *page = MAP_FAILED;
    int file = -1;
    if (file_in(r, BOARD_FILE, path, sizeof path)) {
        file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    }
    if (file < 0) {
        return false;
    }
    if (ftruncate(file, (off_t)size) == 0) {
        page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    }
    (void)close(file);
    r->board = page != MAP_FAILED ? (preload_board *)page : NULL;
    return r->board != NULL;
}

/* A link to a library that lies beside the first one. loaded: into the program itself. */
static bool add_library(run *r, const char *name, bool loaded)
{
    char link[1024];
    char library[4096 + 64];
    size_t used = strlen(r->preload);
    (void)snprintf(library, sizeof library, "%.*s%s",
                   (int)(strlen(r->library) - strlen(BOARD_LIBRARY)), r->library, name);
    if (!file_in(r, name, link, sizeof link) || access(library, R_OK) != 0 ||
        (symlink(library, link) != 0 && errno != EEXIST)) {
        return false;
    }
    if (loaded && strstr(r->preload, name) == NULL) {
        (void)snprintf(r->preload + used, sizeof r->preload - used, "%s%s", used > 0 ? ":" : "",
                       link);
    }
    return true;
}

/* Callbacks have names where the program links a library that calls them. The links to the others
 * are for a program that this one becomes. */
static void add_loop_libraries(run *r)
{
    static const board_loop loops[] = BOARD_LOOPS;
    char symbols[1024];
    char folder[4096];
    unsigned linked;
    (void)snprintf(folder, sizeof folder, "%.*s",
                   (int)(strlen(r->library) - strlen(BOARD_LIBRARY)), r->library);
    linked = program_loops(r->program, folder);
    for (size_t i = 0; i < sizeof loops / sizeof loops[0]; i++) {
        (void)add_library(r, loops[i].ours, (linked >> i & 1) != 0);
    }
    if (file_in(r, BOARD_SYMBOLS, symbols, sizeof symbols)) {
        write_functions(r->program, symbols);
    }
}

static bool make_folder(run *r)
{
    const char *where = getenv("TMPDIR");
    if (where == NULL || where[0] != '/' || strlen(where) > 300 || strpbrk(where, " :") != NULL) {
        where = "/tmp";
    }
    (void)snprintf(r->folder, sizeof r->folder, "%s/chroprof-run-XXXXXX", where);
    if (mkdtemp(r->folder) == NULL) {
        tool_message("run: %s: %s (set TMPDIR to a folder you may write to)", where,
                     strerror(errno));
        r->folder[0] = '\0';
        return false;
    }
    if (!add_library(r, BOARD_LIBRARY, true) || !make_board(r)) {
        tool_message("run: %s: %s", r->folder, strerror(errno));
        return false;
    }
    add_loop_libraries(r);
    return true;
}

static void remove_folder(const run *r)
{
    DIR *folder = r->folder[0] != '\0' ? opendir(r->folder) : NULL;
    const struct dirent *entry;
    char path[1024];
    if (folder == NULL) {
        return;
    }
    while ((entry = readdir(folder)) != NULL) {
        if (entry->d_name[0] != '.' && file_in(r, entry->d_name, path, sizeof path)) {
            (void)unlink(path);
        }
    }
    (void)closedir(folder);
    (void)rmdir(r->folder);
}

/* >>run program: signals that somebody sends to this command go on to the program, which may handle
 * even those that shells ignore in the background. Those of the terminal reach it by themselves,
 * and so do those that it sends to its own process group. */

static volatile pid_t run_child;

/* 0: it is not known, or not there any more. */
static pid_t parent_of(pid_t process)
{
    char path[40];
    char facts[400];
    char *end;
    int file;
    ssize_t length;
    (void)snprintf(path, sizeof path, "/proc/%ld/stat", (long)process);
    file = open(path, O_RDONLY | O_CLOEXEC);
    length = file >= 0 ? read(file, facts, sizeof facts - 1) : 0;
    if (file >= 0) {
        (void)close(file);
    }
    facts[length > 0 ? length : 0] = '\0';
    end = strrchr(facts, ')');
    return end != NULL && strlen(end) > 4 ? (pid_t)strtol(end + 4, NULL, 10) : 0;
}

/* The program, or a process that it has started. */
static bool is_of_program(pid_t process)
{
    for (int steps = 0; process > 1 && steps < 64; steps++) {
        if (process == run_child) {
            return true;
        }
        process = parent_of(process);
    }
    return false;
}

static void pass_on(int number, siginfo_t *info, void *context)
{
    int error = errno;
    (void)context;
    if (run_left_enough(number)) {
        return;
    }
    if (info->si_code <= 0 && run_child > 0 && !is_of_program(info->si_pid)) {
        if (info->si_code == SI_QUEUE) {
            (void)sigqueue(run_child, number, info->si_value);
        } else {
            (void)kill(run_child, number);
        }
    }
    errno = error;
}

static void pass_one_on(int number)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = pass_on;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    (void)sigaction(number, &action, NULL);
}

static void pass_signals_on(void)
{
    static const int passed_on[] = { SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGALRM,
                                     SIGWINCH };
    for (size_t i = 0; i < sizeof passed_on / sizeof passed_on[0]; i++) {
        pass_one_on(passed_on[i]);
    }
#ifdef SIGRTMIN
    for (int number = SIGRTMIN; number <= SIGRTMAX; number++) {
        pass_one_on(number);
    }
#endif
}

static void set_environment(const run *r)
{
    char text[4096 + sizeof r->preload];
    char options[64];
    const char *before = getenv("LD_PRELOAD");
    (void)snprintf(text, sizeof text, "%s%s%s", r->preload, before != NULL ? ":" : "",
                   before != NULL ? before : "");
    (void)snprintf(options, sizeof options, "%" PRIu64 " %d %d %d %d", r->stall_ns, r->wall,
                   r->children, !r->frames, r->python);
    (void)setenv("LD_PRELOAD", text, 1);
    (void)setenv(BOARD_FOLDER, r->folder, 1);
    (void)setenv(BOARD_OPTIONS, options, 1);
    if (r->node) {
        node_ask();
    }
}

/* Does not return. */
static void become_program(const run *r, const sigset_t *mask)
{
    int error;
    (void)signal(SIGXFSZ, r->too_large);
    if (r->outside.wanted) {
        outside_begin(&r->outside);
    } else {
        set_environment(r);
    }
    (void)sigprocmask(SIG_SETMASK, mask, NULL);
    (void)execv(r->program, r->words);
    error = errno;
    tool_message("%s: %s", r->program, strerror(error));
    _exit(error == ENOENT ? 127 : 126);
}

/* Whether a shell waits for this job in the foreground. It knows of this command alone. */
static bool is_foreground_job(void)
{
    int terminal = open("/dev/tty", O_RDONLY | O_CLOEXEC | O_NOCTTY);
    bool foreground = terminal >= 0 && tcgetpgrp(terminal) == getpgrp() &&
                      getpgid(getppid()) != getpgrp();
    if (terminal >= 0) {
        (void)close(terminal);
    }
    return foreground;
}

static bool is_stopped(pid_t child)
{
    siginfo_t info;
    memset(&info, 0, sizeof info);
    return waitid(P_PID, (id_t)child, &info, WSTOPPED | WNOHANG | WNOWAIT) == 0 &&
           info.si_pid == child;
}

/* The program has stopped itself, so its shell must get the terminal back. Ctrl-Z stops both: then
 * it runs again when this command comes here. */
static void stop_with(pid_t child)
{
    const struct timespec moment = { 0, 50000000 };
    siginfo_t info;
    (void)nanosleep(&moment, NULL);
    if (is_stopped(child) && is_foreground_job()) {
        (void)raise(SIGSTOP);
        (void)nanosleep(&moment, NULL);
        if (is_stopped(child)) {
            (void)kill(child, SIGCONT);
        }
    } else {
        (void)waitid(P_PID, (id_t)child, &info, WSTOPPED | WNOHANG);
    }
}

/* Until it has ended: its status. False: nobody knows. */
static bool wait_for_end(pid_t child, int *status)
{
    siginfo_t info;
    int result;
    do {
        result = waitid(P_PID, (id_t)child, &info, WEXITED | WSTOPPED | WNOWAIT);
        if (result == 0 && info.si_code == CLD_STOPPED) {
            stop_with(child);
        }
    } while (result == 0 ? info.si_code == CLD_STOPPED : errno == EINTR);
    while (result == 0 && (result = waitpid(child, status, 0)) < 0 && errno == EINTR) {
    }
    return result >= 0;
}

/* >>run ends: what would end this command before the program is there waits until the folder is
 * gone again, or goes on to the program. */

static const int run_ends[] = { SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGPIPE };

static void hold_ends(sigset_t *mask)
{
    sigset_t ends;
    (void)sigemptyset(&ends);
    for (size_t i = 0; i < sizeof run_ends / sizeof run_ends[0]; i++) {
        (void)sigaddset(&ends, run_ends[i]);
    }
    (void)sigprocmask(SIG_BLOCK, &ends, mask);
}

static bool is_ended(void)
{
    bool ended = false;
    sigset_t waiting;
    (void)sigpending(&waiting);
    for (size_t i = 0; i < sizeof run_ends / sizeof run_ends[0]; i++) {
        struct sigaction action;
        ended = ended || (sigismember(&waiting, run_ends[i]) == 1 &&
                          sigaction(run_ends[i], NULL, &action) == 0 &&
                          action.sa_handler == SIG_DFL);
    }
    return ended;
}

/* Those that came while the program was made. */
static void pass_early_on(pid_t child)
{
    sigset_t waiting;
    (void)sigpending(&waiting);
    for (size_t i = 0; i < sizeof run_ends / sizeof run_ends[0]; i++) {
        sigset_t one;
        int number;
        (void)sigemptyset(&one);
        (void)sigaddset(&one, run_ends[i]);
        if (sigismember(&waiting, run_ends[i]) == 1 && sigwait(&one, &number) == 0) {
            (void)kill(child, number);
        }
    }
}

/* Its exit status as a shell tells it. mask: the program's. */
static int run_program(run *r, const sigset_t *mask)
{
    sigset_t all;
    struct sigaction told;
    struct sigaction before;
    int status = 0;
    pid_t child;
    bool known;
    memset(&told, 0, sizeof told);
    told.sa_handler = SIG_DFL;              /* ignored, nobody could be waited for */
    (void)sigaction(SIGCHLD, &told, &before);
    (void)fflush(NULL);
    (void)sigfillset(&all);
    (void)sigdelset(&all, SIGBUS);          /* the thread that watches reads mapped files */
    (void)sigprocmask(SIG_BLOCK, &all, NULL);
    if (!outside_open(&r->outside)) {
        tool_message("run: %s", strerror(errno));
        return 126;
    }
    child = fork();
    if (child == 0) {
        r->board->program = (int32_t)getpid();
        (void)sigaction(SIGCHLD, &before, NULL);
        become_program(r, mask);
    }
    outside_start(&r->outside, child, mask);
    run_child = child;
    pass_signals_on();
    if (child < 0) {
        tool_message("run: %s", strerror(errno));
        return 126;
    }
    run_watch_begin(r->folder, child, r->board);    /* no signal is for that thread */
    pass_early_on(child);
    (void)sigprocmask(SIG_SETMASK, mask, NULL);
    known = wait_for_end(child, &status);
    run_child = 0;
    r->left = !known || r->outside.wanted ? 0
              : r->children ? run_left_wait(r->folder, &run_child, &r->waited) : run_left_count(r->folder);
    run_watch_end();
    if (!known) {
        tool_message("run: the exit status of the program is not known: %s", strerror(errno));
        return 126;
    }
    r->ended = child;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* >>run profiles, the busiest first */

typedef struct run_profile {
    char path[1024];
    block_file file;
    uint64_t busy_ns;
    chroprof_finding first;    /* what stands out most */
} run_profile;

typedef struct run_profiles {
    run_profile *rows;
    size_t count;
} run_profiles;

/* Whether it ran up to the end of the program. Not if that became another one: nobody knows when.
 * */
static bool has_just_ended(const run *r, const char *name)
{
    char *end;
    return r->ended != 0 && r->board->became == 0 && !r->waited && ends_in(name, ".chroprof") &&
           ((strtol(name, &end, 10) == (long)r->ended && *end == '-') || run_watch_lived(name));
}

/* Whether a thread used no CPU time since its first few waits, as those of a pool do, which then
 * wait for work elsewhere. They are no loops. The main one is: it hangs. */
static bool is_parked(const chroprof *p, const char *name, const chroprof_totals *totals)
{
    chroprof_sampler_totals sampler;
    chroprof_rank site;
    uint64_t cursor = 0;
    uint64_t cpu_ns = 0;
    char *end;
    long process = strtol(name, &end, 10);
    chroprof_read_sampler(p, &sampler);
    while (chroprof_next_rank(p, &cursor, &site)) {
        cpu_ns += site.cpu_ns;
    }
    return totals->iterations < 10 && sampler.first_period_ns > 0 &&
           cpu_ns < totals->busy_ns / 100 &&
           strtol(end + (*end == '-'), NULL, 10) != process;
}

static bool take_profile(run_profile *p, const run *r, const char *name)
{
    chroprof_totals totals;
    bool ours = ends_in(name, ".chroprof") || ends_in(name, ".chroprof.prev");
    if (!ours || !file_in(r, name, p->path, sizeof p->path)) {
        return false;
    }
    p->file.name = p->file.place = p->path;
    p->file.just_ended = has_just_ended(r, name);
    if (block_read(&p->file) != CHROPROF_OK) {
        block_close(&p->file);
        return false;
    }
    run_watch_tell(&p->file.view, name);
    chroprof_read_totals(&p->file.view, &totals);
    p->busy_ns = is_parked(&p->file.view, name, &totals) ? 0 : totals.elapsed_ns - totals.idle_ns;
    return true;
}

static int busiest_first(const void *a, const void *b)
{
    const run_profile *x = (const run_profile *)a;
    const run_profile *y = (const run_profile *)b;
    return x->busy_ns != y->busy_ns ? (x->busy_ns < y->busy_ns ? 1 : -1)
                                    : strcmp(x->path, y->path);
}

static void take_profiles(run_profiles *all, const run *r)
{
    DIR *folder = opendir(r->folder);
    const struct dirent *entry;
    while (folder != NULL && (entry = readdir(folder)) != NULL) {
        run_profile *more = (run_profile *)realloc(all->rows, (all->count + 1) * sizeof *more);
        if (more == NULL) {
            break;
        }
        all->rows = more;
        memset(&more[all->count], 0, sizeof *more);
        all->count += take_profile(&more[all->count], r, entry->d_name);
    }
    if (folder != NULL) {
        (void)closedir(folder);
    }
    for (size_t i = 0; i < all->count; i++) {      /* the rows have moved */
        all->rows[i].file.name = all->rows[i].file.place = all->rows[i].path;
    }
    if (all->count > 1) {
        qsort(all->rows, all->count, sizeof *all->rows, busiest_first);
    }
}

static void free_profiles(run_profiles *all)
{
    for (size_t i = 0; i < all->count; i++) {
        block_close(&all->rows[i].file);
    }
    free(all->rows);
}

/* >>run reports */

static const char *why_unsampled(int32_t why)
{
    return why == CHROPROF_ERR_SAMPLER_TIMER
           ? "the system refused a timer; raise the limit of pending signals (ulimit -i)"
           : chroprof_result_text((chroprof_result)why);
}

/* What the program forked and nobody looked at: first of all where nothing else stands out. */
static void tell_sleepers(const run *r, const char *begin)
{
    const uint32_t count = r->board->sleepers;
    (void)fprintf(stderr, "%s%s forked %" PRIu32 " process%s that wait as loops do: --children "
                  "profiles them too\n", begin, last_part(r->program), count,
                  count != 1 ? "es" : "");
}

/* What it forked goes on, as a daemon does. */
static void tell_left(const run *r, const char *begin)
{
    const size_t count = r->left;
    (void)fprintf(stderr, "%s%s has ended, but %zu process%s that it forked go%s on: %s\n", begin,
                  last_part(r->program), count, count != 1 ? "es" : "", count != 1 ? "" : "es",
                  r->children ? "their profiles end here"
                  : "no profile has that; keep it in the foreground, or add --children");
}

/* Why there is no profile at all. */
static void tell_no_profile(const run *r)
{
    const preload_board *b = r->board;
    if (b->loaded == 0) {
        tool_message("%s did not load the library of chroprof, so there is no profile of it",
                     r->program);
    } else if (b->sealed > 0) {
        tool_message("%s forbade itself system calls that chroprof needs (seccomp) before its "
                     "loop began. So there is no profile; if the program has an option for that, "
                     "switch it off", r->program);
    } else if (r->left > 0) {
        tell_left(r, "\xE2\x80\xA2 ");
    } else if (b->sleepers > 0) {
        tell_sleepers(r, "chroprof: ");
    } else if (b->refused == 0) {
        tool_message("no thread of %s waited in epoll_wait, poll or select, so there was no event "
                     "loop to profile", r->program);
        tool_message("if it goes into the background, keep it in the foreground%s; a wait in "
                     "io_uring can't be seen",
                     r->children ? "" : "; if it starts other processes, add --children");
    }
}

static const char *why_refused(const preload_board *b)
{
    if (b->refused_why == CHROPROF_ERR_FILE && b->refused_error == ENOENT) {
        return "their folder can't be reached, as after chroot; 16 threads have a place then";
    }
    return b->refused_why == CHROPROF_ERR_FILE ? strerror(b->refused_error)
           : b->refused_why == CHROPROF_ERR_LIMIT ? "there are more than 1,024"
           : chroprof_result_text((chroprof_result)b->refused_why);
}

static void tell_refusals(const run *r, size_t count)
{
    const preload_board *b = r->board;
    if (count == 0) {
        tell_no_profile(r);
    }
    if (b->refused > 0) {
        tool_message("%" PRIu32 " thread%s no profile: %s", b->refused,
                     b->refused != 1 ? "s have" : " has", why_refused(b));
    }
    if (!r->native && !r->frames) {
        python_tell(b->python, r->python);
    }
    if (b->dropped > 0) {
        tool_message("more than %d threads with loops have ended: the profiles with the longest "
                     "stalls and of the busiest are kept, and newer threads get one at their 32nd "
                     "wait", BOARD_KEPT);
    }
    if (b->unsampled > 0) {
        tool_message("%" PRIu32 " thread%s not sampled: %s", b->unsampled,
                     b->unsampled != 1 ? "s were" : " was", why_unsampled(b->unsampled_why));
    }
    if (b->silenced > 0 && count > 0) {
        tool_message("the program forbade itself system calls that the sampler needs (seccomp); "
                     "from then on it was not sampled");
    }
    if (b->taken_signal != 0) {
        tool_message("the program took over signal %" PRId32 " from the sampler; from then on "
                     "one of its threads was not sampled", b->taken_signal);
    }
}

/* How grave what stands out in a loop is: first by kind, then by its figure. */
static uint64_t gravity(const run_profile *p)
{
    static const struct { int kind; uint8_t rank; } ranks[] = {
        { CHROPROF_FINDING_HANGS, 6 }, { CHROPROF_FINDING_SPINS, 5 }, { CHROPROF_FINDING_STALL, 4 },
        { CHROPROF_FINDING_LEAKS, 3 }, { CHROPROF_FINDING_QUEUES, 3 }, { CHROPROF_FINDING_FINE, 0 }
    };
    const bool timed = p->first.kind == CHROPROF_FINDING_HANGS ||
                       p->first.kind == CHROPROF_FINDING_STALL;
    uint64_t rank = 2;
    for (size_t i = 0; i < sizeof ranks / sizeof ranks[0]; i++) {
        rank = (int)p->first.kind == ranks[i].kind ? ranks[i].rank : rank;
    }
    rank = p->busy_ns == 0 ? 0 : rank;      /* parked, whatever it waits for */
    return rank << 60 | (timed ? p->first.value_ns : p->first.share_ppm);
}

static int gravest_first(const void *a, const void *b)
{
    const run_profile *x = *(const run_profile *const *)a;
    const run_profile *y = *(const run_profile *const *)b;
    uint64_t of_x = gravity(x);
    uint64_t of_y = gravity(y);
    return of_x != of_y ? (of_x < of_y ? 1 : -1) : busiest_first(x, y);
}

static bool is_fine(const run_profile *p)
{
    return p->first.kind == CHROPROF_FINDING_FINE || p->busy_ns == 0;
}

/* PROCESS-THREAD, as its file is called, and the thread's name. */
static void name_loop(const run_profile *p, char *out, size_t size)
{
    chroprof_origin origin;
    char *end;
    long process = strtol(last_part(p->path), &end, 10);
    long thread = *end == '-' ? strtol(end + 1, NULL, 10) : process;
    chroprof_read_origin(&p->file.view, &origin);
    if (thread == process) {
        (void)snprintf(out, size, "%.40s, process %ld", origin.name, process);
    } else {
        (void)snprintf(out, size, "%.40s, thread %ld of process %ld", origin.name, thread, process);
    }
}

static void write_loop(run_profile *p, bool heads)
{
    format_options text;
    memset(&text, 0, sizeof text);
    text.format = CHROPROF_TEXT;
    text.causes = true;
    text.heads = heads;
    text.then = run_watch_holder(last_part(p->path));
    (void)write_view(&text, &p->file.view, p->file.name, true, stderr);
}

/* Of several loops first what stands out in each, the gravest first. */
static void write_heads(run_profile *const *loops, size_t count)
{
    size_t fine = 0;
    char name[120];
    for (size_t i = 0; i < count && i < RUN_REPORTS; i++) {
        if (!is_fine(loops[i])) {
            name_loop(loops[i], name, sizeof name);
            tool_message("in loop %zu of %zu (%s):", i + 1, count, name);
            write_loop(loops[i], true);
        }
    }
    for (size_t i = 0; i < count; i++) {
        fine += is_fine(loops[i]);
    }
    if (fine > 0) {
        tool_message("in %zu of %zu loops nothing stands out", fine, count);
    }
}

/* Then each by itself; of many only those in which something does. */
static void write_loops(run_profile *const *loops, size_t count)
{
    char name[120];
    size_t i = 0;
    for (; i < count && i < RUN_REPORTS &&
         (i == 0 || count <= RUN_REPORTS || !is_fine(loops[i])); i++) {
        if (count > 1) {
            (void)fputc('\n', stderr);
            name_loop(loops[i], name, sizeof name);
            tool_message("loop %zu of %zu (%s)", i + 1, count, name);
        }
        write_loop(loops[i], false);
    }
    if (i < count) {
        tool_message("%zu more loop%s; -o keeps them all", count - i, count - i != 1 ? "s" : "");
    }
}

static void write_reports(const run *r, const run_profiles *all)
{
    const bool left = r->left > 0 && all->count > 0;
    const bool sleepers = r->board->sleepers > 0 && all->count > 0 && r->board->sleepers > r->left;
    bool fine = true;
    run_profile **loops = (run_profile **)calloc(all->count + 1, sizeof(run_profile *));
    for (size_t i = 0; loops != NULL && i < all->count; i++) {
        loops[i] = &all->rows[i];
        loops[i]->first.kind = CHROPROF_FINDING_FINE;
        (void)chroprof_findings(&loops[i]->file.view, &loops[i]->first, 1);
        fine = fine && is_fine(loops[i]);
    }
    if (fine) {
        run_watch_tell_once(r->stall_ns);
    }
    if (fine && left) {
        tell_left(r, "\xE2\x80\xA2 ");
    }
    if (fine && sleepers) {
        tell_sleepers(r, "\xE2\x80\xA2 ");
    }
    if (loops != NULL && all->count > 1) {
        qsort(loops, all->count, sizeof(run_profile *), gravest_first);
        write_heads(loops, all->count);
    }
    if (loops != NULL) {
        write_loops(loops, all->count);
    }
    if (left && !fine) {
        tell_left(r, "chroprof: ");
    }
    if (sleepers && !fine) {
        tell_sleepers(r, "chroprof: ");
    }
    if (!fine) {
        run_watch_tell_once(r->stall_ns);
    }
    free(loops);
}

/* The busiest loop with the earlier profile. */
static void compare(run *r, run_profiles *all)
{
    if (all->count == 0) {
        tool_message("there is no profile to compare with %s", r->before);
    } else if (diff_load_view(&r->both[1], &all->rows[0].file.view, r->program)) {
        (void)diff_show(r->both, stderr);
        (void)fputc('\n', stderr);
    }
}

static bool write_block(void *user, FILE *out)
{
    const block_file *file = (const block_file *)user;
    return fwrite(file->copy, 1, file->size, out) == file->size &&
           made_names_write(file->copy, out);
}

/* Into FILE the busiest, into FILE.2 and so on the others. */
static int keep_profiles(const run *r, run_profiles *all)
{
    int result = TOOL_OK;
    for (size_t i = 0; i < all->count && result == TOOL_OK; i++) {
        char name[4200];
        (void)snprintf(name, sizeof name, i == 0 ? "%s" : "%s.%zu", r->out_name, i + 1);
        result = output_write(name, write_block, &all->rows[i].file);
    }
    return result;
}

static int write_page(const run *r, run_profiles *all)
{
    char dash[] = "-o";
    char *words[] = { all->rows[0].path, dash, (char *)(uintptr_t)r->report_name, NULL };
    int result = output_write(all->rows[0].path, write_block, &all->rows[0].file);
    return result != TOOL_OK ? result : report_command.run(&report_command, 3, words);
}

static void tell_not_written(const char *name)
{
    if (name != NULL) {
        tool_message("%s was not written", name);
    }
}

/* What a run by CPU time can't show: where the busiest loop waited in a stall. */
static void tell_wall(const run *r, const run_profiles *all)
{
    static chroprof_stall stalls[64];
    size_t count = r->wall || all->count == 0
                   ? 0 : chroprof_stalls(&all->rows[0].file.view, stalls, 64);
    for (size_t i = 0; i < count && i < 64; i++) {
        if (stalls[i].waiting_ns > stalls[i].length_ns / 2) {
            tool_message("chroprof run --wall shows where the loop waits");
            return;
        }
    }
}

/* The files are written at once, since nobody may read standard error, and `named` again: then the
 * findings name the code. What a page has to say is said then; standard output is written once. */
static void keep_all(run *r, run_profiles *all, bool named)
{
    char unsaid[8];
    if (all->count > 0 && r->out_name != NULL && (named || !output_is_stdout(r->out_name))) {
        r->kept = keep_profiles(r, all) == TOOL_OK;
    }
    if (all->count > 0 && r->report_name != NULL && (named || !output_is_stdout(r->report_name))) {
        tool_keep(named ? NULL : unsaid, sizeof unsaid);
        (void)write_page(r, all);
        tool_keep(NULL, 0);
    }
}

static void report_profiles(run *r)
{
    run_profiles all = { NULL, 0 };
    take_profiles(&all, r);
    tell_refusals(r, all.count);
    if (all.count == 0) {
        tell_not_written(r->out_name);
        tell_not_written(r->report_name);
    }
    keep_all(r, &all, false);
    if (r->before != NULL) {
        compare(r, &all);
    }
    write_reports(r, &all);
    keep_all(r, &all, true);
    tell_wall(r, &all);
    free_profiles(&all);
}

/* >>run command */

static const char *set_before(void *field, const char *value)
{
    return strcmp(value, "-") != 0 ? set_text(field, value)
                                   : "expected a file: standard input is the program's";
}

static const char *set_stall(void *field, const char *value)
{
    uint64_t *ns = (uint64_t *)field;
    uint64_t ms;
    if (read_count(value, 1, 3600000, &ms)) {
        *ns = ms * 1000000;
        return NULL;
    }
    return read_duration(value, ns) && *ns > 0
           ? NULL : "expected milliseconds, or a duration such as 500us or 1s";
}

static const char *set_unwind(void *field, const char *value)
{
    bool *frames = (bool *)field;
    *frames = strcmp(value, "frames") == 0;
    return *frames || strcmp(value, "tables") == 0 ? NULL : "expected tables or frames";
}

static const choice unwind_choices[] = { { "tables", false }, { "frames", true }, { NULL, 0 } };

static const tool_option run_options[] = {
    { "report", '\0', "PAGE", "also write a page for a browser (the busiest loop)", set_text,
      offsetof(run, report_name), NULL },
    { "out", 'o', "FILE", "keep the profile of the busiest loop; the others go\nto FILE.2, FILE.3",
      set_text, offsetof(run, out_name), NULL },
    { "diff", '\0', "A", "compare with an earlier profile: a file of -o, or JSON", set_before,
      offsetof(run, before), NULL },
    { "wall", '\0', NULL, "sample by wall time, not CPU time: shows where\ncallbacks block; "
      "sockets with a time limit of their\nown (SO_RCVTIMEO) may see EINTR", set_flag, offsetof(run, wall), NULL },
    { "stall", '\0', "MS", "blocking the loop longer than this is a stall\n"
      "(default 20 ms); a plain number is in ms", set_stall, offsetof(run, stall_ns), NULL },
    { "unwind", '\0', "HOW", "find callers by tables (default) or by frames, which\n"
      "means frame pointers",
      set_unwind, offsetof(run, frames), unwind_choices },
    { "children", '\0', NULL, "also profile the processes that it starts", set_flag,
      offsetof(run, children), NULL },
    { "native", '\0', NULL, "ask node and Python for no names", set_flag,
      offsetof(run, native), NULL }
};

static int run_all(run *r)
{
    int status = 126;
    sigset_t mask;
    r->too_large = signal(SIGXFSZ, SIG_IGN);    /* a file beyond the limit is an error like others */
    hold_ends(&mask);
    if (find_library(r) && make_folder(r) && !is_ended()) {
        status = run_program(r, &mask);
        (void)signal(SIGPIPE, SIG_IGN);     /* who reads the report may stop; the status stays */
        if (r->outside.wanted) {
            outside_end(&r->outside);
        } else {
            report_profiles(r);
            if (r->node) {
                node_forget(r->ended, r->kept ? r->out_name : NULL);
            }
        }
    }
    remove_folder(r);
    (void)sigprocmask(SIG_SETMASK, &mask, NULL);
    return status;
}

static int run_run(const tool_command *command, int count, char **words)
{
    static run r;
    int result;
    int first = take_leading_words(command, count, words, &r, &result);
    input_must_be_file();
    if (first < 0) {
        return result;
    }
    r.words = words + first;
    if (!program_find(r.words[0], r.program, sizeof r.program)) {
        return 127;
    }
    if (r.before != NULL && !diff_load(&r.both[0], r.before)) {
        return TOOL_USAGE;                  /* now, as -o may replace it */
    }
    if (!output_possible(r.out_name) || !output_possible(r.report_name)) {
        return TOOL_USAGE;                  /* now, as the profile would be lost later */
    }
    switch (program_way(r.program)) {
    case PROGRAM_NOT: return 126;
    case PROGRAM_OUTSIDE:
        r.outside.wanted = true;
        if (r.before != NULL || r.wall || r.children || r.frames) {
            tool_message("--diff, --wall, --children and --unwind have no effect on it");
        }
        r.outside.stall_ns = r.stall_ns;
        r.outside.out_name = r.out_name;
        r.outside.report_name = r.report_name;
        break;
    default: r.python = !r.native && !r.frames && python_can_read();
        r.node = !r.native && node_can_name(r.program);
    }
    return run_all(&r);
}

const tool_command run_command = {
    "run", "[options] PROGRAM [ARGS...]", { "PROGRAM" },
    "Starts any program and reports what blocked its event loops.",
    run_text, OPTIONS_OF(run_options), run_run
};
