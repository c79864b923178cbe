/* run_watch.c - see run_watch.h
 *
 * A thread whose block has the same sequence at two looks sent no event in between: it is idle, or a
 * task holds the loop. Of the latter the kernel tells how long it was on a processor, and what it
 * does when it is not. The program itself does nothing for this. */

#define _GNU_SOURCE 1
#include "run_watch.h"

#ifdef __linux__

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "attach.h"
#include "block.h"
#include "message.h"
#include "run_holder.h"
#include "run_within.h"
#include "values.h"
#include "watch.h"

enum {
    WATCH_PERIOD_MS = 10, WATCH_SCAN_NS = 250000000,
    WATCH_SCAN_MORE_NS = 1000000,  /* for each thread */
    WATCH_THREADS = BOARD_THREADS, WATCH_FILES = 5 * WATCH_THREADS + 512, WATCH_ROWS = 8,
    WATCH_LEAST_NS = 5000000,  /* the kernel counts the time on a processor in steps like this */
    WATCH_MISSED_NS = 1000000000,  /* this command was stopped: nobody knows what happened */
    WATCH_LEVELS = 8           /* of cgroups */
};

/* What a site's tasks waited for. */
typedef struct watch_row {
    uint32_t site;             /* 0: a free row */
    const char *call;
    char within[WITHIN_NAME];  /* the function that the loop called, or the one in Python that made
                                  it; "": not known */
    uint64_t count, total_ns, longest_ns;
    uint64_t now_ns;           /* in the interval under way */
    uint64_t last_ns;          /* in the last one, */
    uint64_t before_ns;        /* and the longest before that */
    bool own;                  /* its process tells of it as well, once it is over */
} watch_row;

typedef struct watched {
    pid_t process, thread;
    char path[600];
    int block, sched, call, stat, status;  /* files */
    ino_t inode;               /* of the block */
    uint64_t queue_ns;         /* that it has waited for a processor, */
    uint64_t sleeps;           /* how often it gave one up, */
    uint64_t faults;           /* and pages that it waited for; all since it began */
    bool gone;
    uint64_t sequence;
    uint32_t site;             /* that holds the loop at this sequence, once it is known */
    bool asked;                /* for it */
    uint64_t at_ns, cpu_ns;    /* up to which the interval is told */
    uint64_t looked_ns;        /* the last look */
    watch_row *waits;          /* what it waited for then; NULL: for nothing */
    bool idle;                 /* its process said so then: it was left alone */
    uint64_t seen_ns;          /* when it was last there, if it was not idle */
    uint64_t throttled;        /* when the interval began */
    watch_row rows[WATCH_ROWS];
    run_within within;
    run_holders *holders;      /* of locks that it waited for; NULL: none was seen */
} watched;

static struct {
    pthread_t thread;
    bool runs;
    int stop[2];
    char folder[512];
    preload_board *board;
    uint64_t once_ns[BOARD_ONCE];          /* that these threads have worked since */
    char stats[WATCH_LEVELS][400];         /* files cpu.stat of the program's cgroup and those above */
    size_t stat_count;
    uint64_t throttled;        /* at the last scan */
    uint64_t throttled_ns, first_throttled_ns;     /* the same as time; and at the first */
    uint64_t scan_ns, end_ns;
    watched *threads[WATCH_THREADS];
    size_t count;
} watch;

static const char processor[] = "processor";

/* >>quota: how often the cgroup was stopped for the rest of a period */

static void add_stats(const char *mount, char *path)
{
    while (watch.stat_count < WATCH_LEVELS) {
        char *file = watch.stats[watch.stat_count];
        int length = snprintf(file, sizeof watch.stats[0], "%s%s/cpu.stat", mount,
                              strcmp(path, "/") == 0 ? "" : path);
        if (length > 0 && (size_t)length < sizeof watch.stats[0] && access(file, R_OK) == 0) {
            watch.stat_count++;
        }
        if (strrchr(path, '/') == NULL || strcmp(path, "/") == 0) {
            return;
        }
        strrchr(path, '/')[path == strrchr(path, '/')] = '\0';
    }
}

/* Is cpu one of the controllers in "N:cpu,cpuacct:/path"? */
static bool has_cpu(const char *line, const char *end)
{
    for (const char *at = line; at != NULL && at < end; at = strpbrk(at + 1, ":,")) {
        if (strncmp(at + 1, "cpu", 3) == 0 && (at[4] == ',' || at[4] == ':')) {
            return true;
        }
    }
    return false;
}

static void find_stats(pid_t program)
{
    char name[64];
    char line[400];
    FILE *file;
    (void)snprintf(name, sizeof name, "/proc/%ld/cgroup", (long)program);
    file = fopen(name, "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        char *first = strchr(line, ':');
        char *path = first != NULL ? strchr(first + 1, ':') : NULL;
        line[strcspn(line, "\n")] = '\0';
        if (path != NULL && first[1] == ':') {
            add_stats("/sys/fs/cgroup", path + 1);
        } else if (path != NULL && has_cpu(first, path)) {
            char mount[100];
            (void)snprintf(mount, sizeof mount, "/sys/fs/cgroup/%.*s",
                           (int)(path - first - 1 < 60 ? path - first - 1 : 60), first + 1);
            add_stats(mount, path + 1);
        }
    }
    if (file != NULL) {
        (void)fclose(file);
    }
}

/* ns: for how long, where cgroups are above each other the longest. */
static uint64_t throttled_now(uint64_t *ns)
{
    uint64_t sum = 0;
    *ns = 0;
    for (size_t i = 0; i < watch.stat_count; i++) {
        char line[100];
        unsigned long long count;
        FILE *file = fopen(watch.stats[i], "r");
        while (file != NULL && fgets(line, sizeof line, file) != NULL) {
            if (sscanf(line, "nr_throttled %llu", &count) == 1) {
                sum += count;
            } else if (sscanf(line, "throttled_time %llu", &count) == 1 && count > *ns) {
                *ns = count;
            } else if (sscanf(line, "throttled_usec %llu", &count) == 1 && count * 1000 > *ns) {
                *ns = count * 1000;
            }
        }
        if (file != NULL) {
            (void)fclose(file);
        }
    }
    return sum;
}

/* >>looks */

static bool read_text(int file, char *text, size_t size)
{
    ssize_t count = file >= 0 ? pread(file, text, size - 1, 0) : -1;
    text[count > 0 ? count : 0] = '\0';
    return count > 0;
}

static bool read_cpu(const watched *w, uint64_t *ns)
{
    char text[128];
    unsigned long long cpu = 0;
    bool known = read_text(w->sched, text, sizeof text) && sscanf(text, "%llu", &cpu) == 1;
    *ns = cpu;
    return known;
}

static char state_of(const watched *w)
{
    char text[512];
    const char *end = read_text(w->stat, text, sizeof text) ? strrchr(text, ')') : NULL;
    return end != NULL && end[1] == ' ' ? end[2] : '?';
}

/* The function that looks up a name there. NULL: none does. */
static const char *lookup_of(uint8_t names)
{
    static const char *const functions[] = { NULL, "getaddrinfo", "getnameinfo", "gethostbyname",
                                             "gethostbyaddr" };
    return names < sizeof functions / sizeof functions[0] ? functions[names] : NULL;
}

/* What it waits in, of the calls in which loops wait: the C library calls these as well, where its
 * own process does not see it. NULL: its process tells, or nobody can tell. */
static const char *wait_of(const watched *w, long call, bool *own)
{
    const board_call row = *board_call_of(watch.board, (int32_t)w->thread);
    *own = row.inside == INSIDE_TASK_WAIT;
    return row.thread != (int32_t)w->thread || row.inside == INSIDE_WAIT ? NULL
           : lookup_of(row.names) != NULL && !*own ? lookup_of(row.names)
           : attach_call_name(call);
}

/* What it does that is off its processor. NULL: it waits as its loop, or nobody can tell. own: its
 * process knows of it, too. */
static const char *reason_of(const watched *w, bool *own)
{
    char text[256];
    const char state = state_of(w);
    long call;
    *own = false;
    if (state == 'R') {
        return processor;
    }
    if (state == 'T' || state == 't') {
        return "stopped";
    }
    if ((state != 'S' && state != 'D') || !read_text(w->call, text, sizeof text)) {
        return NULL;
    }
    if (strncmp(text, "running", 7) == 0) {
        return processor;
    }
    call = strtol(text, NULL, 10);
    if (call < 0) {
        return state == 'D' ? "page faults" : NULL;
    }
    return strcmp(attach_call_name(call), "a system call") == 0 ? NULL : wait_of(w, call, own);
}

/* The site of the task that holds the loop; 0: none does. */
static uint32_t site_now(const watched *w)
{
    block_file file;
    chroprof_frame frame;
    chroprof_path path;
    uint32_t site = 0;
    memset(&file, 0, sizeof file);
    file.name = file.place = w->path;
    file.nameless = true;
    if (block_read(&file) == CHROPROF_OK && chroprof_frames(&file.view, &frame, 1) > 0 &&
        !frame.barrier && chroprof_read_path(&file.view, frame.path, &path)) {
        site = path.site;
    }
    block_close(&file);
    return block_sequence(w->block) == w->sequence ? site : 0;
}

/* The library keeps the names of functions in Python, where it knows the interpreter. */
static bool is_python(const watched *w)
{
    char names[600];
    (void)snprintf(names, sizeof names, "%s/%ld.names", watch.folder, (long)w->process);
    return access(names, F_OK) == 0;
}

/* A thread that waits for another one may only wait to run Python. */
static const char *reason_in_python(watched *w, const char *reason)
{
    char text[256];
    return reason != NULL && strcmp(reason, "futex") == 0 && is_python(w) &&
           read_text(w->call, text, sizeof text) && run_within_is_gil(&w->within, text)
           ? "gil" : reason;
}

/* Whose sleep it is. */
static void find_within(watched *w, const char *call, char *within)
{
    char text[256];
    within[0] = '\0';
    if (call != processor && read_text(w->call, text, sizeof text)) {
        run_within_name(&w->within, text, is_python(w), within);
    }
}

/* Where its loop waits: what it calls elsewhere is told from that. */
static void note_idle(watched *w, bool was_idle)
{
    char text[256];
    if ((!was_idle || w->within.idle_count == 0) && w->within.looks < WITHIN_LOOKS &&
        read_text(w->call, text, sizeof text)) {
        if (is_python(w)) {
            w->within.looks = WITHIN_LOOKS;
        } else {
            run_within_idle(&w->within, text);
        }
    }
}

static void add_time(watched *w, const char *call, const char *within, bool own, uint64_t ns)
{
    watch_row *row = NULL;
    for (size_t i = 0; i < WATCH_ROWS; i++) {
        watch_row *one = &w->rows[i];
        if (one->site == w->site && strcmp(one->call, call) == 0 &&
            strcmp(one->within, within) == 0) {
            row = one;
            break;
        }
        row = row == NULL && one->site == 0 ? one : row;
    }
    if (row != NULL) {
        row->site = w->site;
        row->call = call;
        (void)snprintf(row->within, sizeof row->within, "%s", within);
        row->own = own;
        row->count += row->now_ns == 0;
        row->now_ns += ns;
    }
    w->waits = row;
}

/* Nobody saw when a wait began and ended between two looks: on average that is in the middle. */
static uint64_t middle_of(const watched *w, uint64_t now)
{
    return w->looked_ns != 0 && now > w->looked_ns ? now - (now - w->looked_ns) / 2 : now;
}

/* It no longer waits there. */
static void end_wait(watched *w, uint64_t now)
{
    const uint64_t end = middle_of(w, now);
    uint64_t cpu_ns;
    if (w->waits != NULL && w->waits->now_ns > 0 && read_cpu(w, &cpu_ns)) {
        w->waits->now_ns += gained(gained(end, w->at_ns), gained(cpu_ns, w->cpu_ns));
    }
    w->waits = NULL;
}

/* The interval between two events is over: only now the kernel has counted that the quota was used up. */
static void end_interval(watched *w)
{
    uint64_t waited = 0;
    uint64_t unused;
    for (size_t i = 0; i < WATCH_ROWS; i++) {
        watch_row *row = &w->rows[i];
        if (row->now_ns > 0 && row->call == processor && throttled_now(&unused) > w->throttled) {
            waited = row->now_ns;
            row->now_ns = 0;
            row->count--;
        }
    }
    if (waited > 0) {
        add_time(w, "quota", "", false, waited);
    }
    for (size_t i = 0; i < WATCH_ROWS; i++) {
        watch_row *row = &w->rows[i];
        row->total_ns += row->now_ns;
        row->before_ns = row->longest_ns;
        row->last_ns = row->now_ns;
        row->longest_ns = row->now_ns > row->longest_ns ? row->now_ns : row->longest_ns;
        row->now_ns = 0;
    }
}

static void begin_interval(watched *w, uint64_t sequence)
{
    const uint64_t now = attach_now();
    end_wait(w, now);
    if (w->asked && w->site != 0) {
        end_interval(w);
    }
    w->sequence = sequence;
    w->site = 0;
    w->asked = false;
    w->at_ns = middle_of(w, now);
    w->throttled = watch.throttled;
    w->gone = !read_cpu(w, &w->cpu_ns);
    w->seen_ns = w->gone ? w->seen_ns : now;
}

/* Threads that wait for their next event are many, and cost nothing. */
static bool is_idle(const watched *w)
{
    const board_call *row = board_call_of(watch.board, (int32_t)w->thread);
    return row->thread == (int32_t)w->thread && row->inside == INSIDE_WAIT;
}

/* Who holds the lock that it waits for? */
static void look_at_lock(watched *w, const char *reason, const char *within)
{
    char text[256];
    if (strcmp(reason, "futex") == 0 && !is_python(w) && read_text(w->call, text, sizeof text)) {
        const holder_wait wait = { w->process, w->thread, w->sequence, text, within };
        run_holder_look(&w->holders, &wait);
    }
}

/* Times are taken so that no more is counted than lies in the interval. */
static void look_at_busy(watched *w, uint64_t now, bool was_idle)
{
    const uint64_t sequence = block_sequence(w->block);
    const char *reason;
    char within[WITHIN_NAME];
    bool own;
    uint64_t cpu_ns;
    uint64_t off_ns;
    if (sequence != w->sequence) {
        begin_interval(w, sequence);
        return;
    }
    if (!read_cpu(w, &cpu_ns)) {
        return;
    }
    w->seen_ns = now;
    if (was_idle) {
        w->at_ns = now;
        w->cpu_ns = cpu_ns;
    }
    if (w->asked && w->site == 0) {
        return;
    }
    off_ns = now - w->at_ns > cpu_ns - w->cpu_ns ? now - w->at_ns - (cpu_ns - w->cpu_ns) : 0;
    if (off_ns < WATCH_LEAST_NS) {
        return;                             /* the next look tells more */
    }
    reason = reason_in_python(w, reason_of(w, &own));
    w->waits = NULL;
    if (reason != NULL && !w->asked) {
        w->asked = true;
        w->site = site_now(w);
    }
    if (reason != NULL && w->site != 0) {
        find_within(w, reason, within);
        if (is_idle(w) || block_sequence(w->block) != w->sequence) {
            return;                         /* the interval is over: that may be the next one's wait */
        }
        add_time(w, reason, within, own, off_ns);
        look_at_lock(w, reason, within);
    }
    w->at_ns = now;
    w->cpu_ns = cpu_ns;
}

static void look_at(watched *w)
{
    const uint64_t now = attach_now();
    const bool was_idle = w->idle;
    w->idle = is_idle(w);
    if (w->idle) {
        end_wait(w, now);
        note_idle(w, was_idle);
    } else {
        look_at_busy(w, now, was_idle);
    }
    w->looked_ns = now;
}

/* >>threads */

static int open_of(pid_t process, pid_t thread, const char *name)
{
    char path[80];
    (void)snprintf(path, sizeof path, "/proc/%ld/task/%ld/%s", (long)process, (long)thread, name);
    return open(path, O_RDONLY | O_CLOEXEC);
}

static void close_files(watched *w)
{
    const int files[] = { w->block, w->sched, w->call, w->stat, w->status };
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        if (files[i] >= 0) {
            (void)close(files[i]);
        }
    }
    w->block = w->sched = w->call = w->stat = w->status = -1;
}

static bool read_name(const char *name, pid_t *process, pid_t *thread)
{
    char *end;
    *process = (pid_t)strtol(name, &end, 10);
    *thread = *end == '-' ? (pid_t)strtol(end + 1, NULL, 10) : 0;
    return *process > 0 && *thread > 0 && ends_in(name, ".chroprof");
}

static watched *find_watched(pid_t process, pid_t thread)
{
    for (size_t i = 0; i < watch.count; i++) {
        if (watch.threads[i]->process == process && watch.threads[i]->thread == thread) {
            return watch.threads[i];
        }
    }
    return NULL;
}

static void open_files(watched *w)
{
    struct stat facts;
    w->block = open(w->path, O_RDONLY | O_CLOEXEC);
    w->inode = w->block >= 0 && fstat(w->block, &facts) == 0 ? facts.st_ino : 0;
    w->sched = open_of(w->process, w->thread, "schedstat");
    w->call = open_of(w->process, w->thread, "syscall");
    w->stat = open_of(w->process, w->thread, "stat");
    w->status = open_of(w->process, w->thread, "status");
    begin_interval(w, block_sequence(w->block));
}

static void add_watched(const char *name)
{
    pid_t process;
    pid_t thread;
    watched *w;
    if (!read_name(name, &process, &thread) || watch.count == WATCH_THREADS ||
        find_watched(process, thread) != NULL) {
        return;
    }
    w = (watched *)calloc(1, sizeof *w);
    if (w == NULL) {
        return;
    }
    w->process = process;
    w->thread = thread;
    w->within.process = process;
    w->within.thread = thread;
    (void)snprintf(w->path, sizeof w->path, "%s/%s", watch.folder, name);
    watch.threads[watch.count++] = w;
    open_files(w);
}

/* The process became another program, or the thread's number came again: another profile. */
static void renew(watched *w)
{
    struct stat facts;
    if (stat(w->path, &facts) == 0 && facts.st_ino != w->inode) {
        close_files(w);
        memset(w->rows, 0, sizeof w->rows);
        memset(&w->within, 0, sizeof w->within);
        w->within.process = w->process;
        w->within.thread = w->thread;
        free(w->holders);
        w->holders = NULL;
        w->asked = false;
        w->site = 0;
        w->waits = NULL;
        open_files(w);
    }
}

/* What the kernel counts all the time; what it no longer tells stays. */
static void read_counts(watched *w)
{
    char text[2048];
    const char *at;
    unsigned long long queue;
    unsigned long long faults;
    if (read_text(w->sched, text, sizeof text) && sscanf(text, "%*u %llu", &queue) == 1) {
        w->queue_ns = queue;
    }
    if (read_text(w->status, text, sizeof text) &&
        (at = strstr(text, "\nvoluntary_ctxt_switches:")) != NULL) {
        w->sleeps = strtoull(at + sizeof "\nvoluntary_ctxt_switches:" - 1, NULL, 10);
    }
    if (read_text(w->stat, text, sizeof text) && (at = strrchr(text, ')')) != NULL &&
        sscanf(at, ") %*c %*d %*d %*d %*d %*d %*u %*u %*u %llu", &faults) == 1) {
        w->faults = faults;
    }
}

/* Those that end, tell themselves. */
static void look_at_once(size_t place)
{
    const board_once *row = &watch.board->once[place];
    const int32_t process = __atomic_load_n(&row->process, __ATOMIC_ACQUIRE);
    char text[128];
    unsigned long long cpu;
    int file = process != 0 ? open_of(process, row->thread, "schedstat") : -1;
    if (read_text(file, text, sizeof text) && sscanf(text, "%llu", &cpu) == 1 &&
        cpu > row->cpu_ns) {
        watch.once_ns[place] = cpu - row->cpu_ns;
    }
    if (file >= 0) {
        (void)close(file);
    }
}

static void scan(uint64_t now)
{
    DIR *folder = opendir(watch.folder);
    const struct dirent *entry;
    while (folder != NULL && (entry = readdir(folder)) != NULL) {
        add_watched(entry->d_name);
    }
    if (folder != NULL) {
        (void)closedir(folder);
    }
    watch.throttled = throttled_now(&watch.throttled_ns);
    watch.first_throttled_ns = watch.scan_ns == 0 ? watch.throttled_ns : watch.first_throttled_ns;
    for (size_t i = 0; i < watch.count; i++) {
        renew(watch.threads[i]);
        read_counts(watch.threads[i]);
    }
    for (size_t i = smaller(watch.board->once_count, BOARD_ONCE); i > 0; i--) {
        look_at_once(i - 1);
    }
    watch.scan_ns = now + WATCH_SCAN_NS + watch.count * WATCH_SCAN_MORE_NS;
}

static void *watch_all(void *unused)
{
    struct pollfd stop = { watch.stop[0], POLLIN, 0 };
    uint64_t before = attach_now();
    (void)unused;
    while (poll(&stop, 1, WATCH_PERIOD_MS) == 0) {
        const uint64_t now = attach_now();
        const bool missed = now - before > WATCH_MISSED_NS;
        before = now;
        if (now >= watch.scan_ns) {
            scan(now);
        }
        for (size_t i = 0; i < watch.count; i++) {
            watched *w = watch.threads[i];
            if (!w->gone) {
                if (missed && read_cpu(w, &w->cpu_ns)) {
                    w->at_ns = w->looked_ns = now;
                    w->waits = NULL;
                }
                look_at(w);
            } else if (w->block >= 0) {
                close_files(w);
            }
        }
    }
    return NULL;
}

/* Five for each thread are many. The program has its own limit by now. */
static void allow_files(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < WATCH_FILES) {
        limit.rlim_cur = limit.rlim_max < WATCH_FILES ? limit.rlim_max : WATCH_FILES;
        (void)setrlimit(RLIMIT_NOFILE, &limit);
    }
}

void run_watch_begin(const char *folder, pid_t program, preload_board *board)
{
    memset(&watch, 0, sizeof watch);
    (void)snprintf(watch.folder, sizeof watch.folder, "%s", folder);
    watch.board = board;
    find_stats(program);
    allow_files();
    if (pipe2(watch.stop, O_CLOEXEC) == 0) {
        watch.runs = pthread_create(&watch.thread, NULL, watch_all, NULL) == 0;
    }
}

void run_watch_end(void)
{
    if (!watch.runs) {
        return;
    }
    watch.runs = false;
    watch.end_ns = attach_now();
    (void)close(watch.stop[1]);             /* which is an event at the other end */
    (void)pthread_join(watch.thread, NULL);
    (void)close(watch.stop[0]);
    for (size_t i = 0; i < BOARD_ONCE; i++) {
        uint64_t *worked = &watch.board->once[i].worked_ns;
        *worked = watch.once_ns[i] > *worked ? watch.once_ns[i] : *worked;
    }
    for (size_t i = 0; i < watch.count; i++) {
        renew(watch.threads[i]);
        if (watch.threads[i]->site != 0) {
            end_interval(watch.threads[i]);
        }
        close_files(watch.threads[i]);
    }
}

/* >>rest: what no look met, because it was short or stopped this command as well, is told by the
 * kernel's counts, if these leave one reason alone. */

typedef struct off_cpu {
    uint64_t exec_ns, lost_ns; /* of all sites: their time, and the part off CPU that nobody explains */
    uint64_t waits;            /* inside tasks */
    chroprof_rank most;        /* the site that lost most */
} off_cpu;

static bool read_off_cpu(const chroprof *view, off_cpu *o)
{
    chroprof_task_wait rows[16];
    chroprof_rank row;
    uint64_t cursor = 0;
    uint64_t cpu_ns = 0;
    uint64_t known_ns = 0;
    memset(o, 0, sizeof *o);
    while (chroprof_next_rank(view, &cursor, &row)) {
        o->exec_ns += row.exec_ns;
        cpu_ns += row.cpu_ns;
        if (gained(row.exec_ns, row.cpu_ns) >= gained(o->most.exec_ns, o->most.cpu_ns)) {
            o->most = row;
        }
    }
    for (size_t i = smaller(chroprof_task_waits(view, rows, 16), 16); i > 0; i--) {
        known_ns += rows[i - 1].total_ns;
        o->waits += rows[i - 1].count;
    }
    o->lost_ns = gained(gained(o->exec_ns, cpu_ns), known_ns);
    return o->lost_ns >= 100000000 && o->lost_ns >= o->exec_ns / 4;
}

/* Of the longest stall, if it is that site's. */
static uint64_t waiting_of(const chroprof *view, uint32_t site)
{
    static chroprof_stall stalls[64];
    const size_t count = smaller(chroprof_stalls(view, stalls, 64), 64);
    const chroprof_stall *longest = NULL;
    for (size_t i = 0; i < count; i++) {
        longest = longest == NULL || stalls[i].length_ns > longest->length_ns ? &stalls[i] : longest;
    }
    return longest != NULL && longest->share_count > 0 && longest->shares[0].site == site
           ? longest->waiting_ns : 0;
}

static void tell_rest(chroprof *view, const watched *w)
{
    chroprof_sampler_totals sampler;
    chroprof_totals totals;
    chroprof_task_wait seen;
    uint64_t few;
    uint64_t others;           /* sleeps that were no wait of the loop */
    off_cpu o;
    chroprof_read_sampler(view, &sampler);
    chroprof_read_totals(view, &totals);
    if (sampler.mode != CHROPROF_SAMPLER_CPU || sampler.samples < 10 || !read_off_cpu(view, &o)) {
        return;
    }
    few = totals.iterations / 10 + 10;
    others = gained(w->sleeps, totals.iterations + o.waits);
    memset(&seen, 0, sizeof seen);
    seen.site = o.most.id;
    seen.count = 1;
    seen.total_ns = smaller(o.lost_ns, gained(o.most.exec_ns, o.most.cpu_ns));
    if (others <= few && w->queue_ns >= o.lost_ns / 4 * 3) {
        seen.call = gained(watch.throttled_ns, watch.first_throttled_ns) >= o.lost_ns / 2 ? "quota"
                                                                                          : processor;
    } else if (w->faults >= 20 && others <= w->faults + few) {
        seen.call = "page faults";
    } else {
        return;
    }
    seen.longest_ns = waiting_of(view, seen.site);
    (void)chroprof_add_wait(view, &seen);
}

/* Has the process itself told of these waits? */
static bool is_told(const chroprof *view, const watch_row *row)
{
    chroprof_task_wait rows[16];
    bool told = false;
    for (size_t i = smaller(chroprof_task_waits(view, rows, 16), 16); i > 0; i--) {
        told = told || (rows[i - 1].site == row->site && !rows[i - 1].estimated);
    }
    return told;
}

/* What a thread waits for after the last wait of its loop, such as its end or other work, is no wait
 * of a task. Its end is as uncertain as a look. */
static watch_row without_exit(const watch_row *row, uint64_t exit_ns)
{
    enum { UNSURE_NS = WATCH_PERIOD_MS * 2000000 };
    watch_row rest = *row;
    const uint64_t ends_ns = exit_ns > 0 && row->last_ns < exit_ns + UNSURE_NS
                             ? row->last_ns : smaller(row->last_ns, exit_ns);
    if (ends_ns > 0) {
        rest.total_ns -= ends_ns;
        rest.count -= ends_ns == row->last_ns;
        rest.longest_ns = row->last_ns - ends_ns > row->before_ns ? row->last_ns - ends_ns
                                                                  : row->before_ns;
    }
    return rest;
}

/* A name is told of the site's longest stall. Where another callback has waited half as long, nobody knows
 * whose stall that was: then these are one row without a name. */
static void join_doubtful(watch_row *rows)
{
    for (size_t i = 0; i < WATCH_ROWS; i++) {
        for (size_t j = 0; j < WATCH_ROWS; j++) {
            watch_row *a = &rows[i];
            watch_row *b = &rows[j];
            if (i != j && a->site != 0 && a->site == b->site && strcmp(a->call, b->call) == 0 &&
                a->longest_ns >= b->longest_ns && b->longest_ns >= a->longest_ns / 2) {
                a->within[0] = '\0';
                a->count += b->count;
                a->total_ns += b->total_ns;
                a->own = a->own && b->own;
                memset(b, 0, sizeof *b);
            }
        }
    }
}

/* No site waits for longer than its tasks ran without the processor, and none at once for longer than
 * its longest slice. */
static void cap_times(const chroprof *view, watch_row *rows)
{
    chroprof_rank rank;
    uint64_t cursor = 0;
    while (chroprof_next_rank(view, &cursor, &rank)) {
        uint64_t left_ns = gained(rank.exec_ns, rank.cpu_ns);
        for (size_t i = 0; i < WATCH_ROWS; i++) {
            if (rows[i].site == rank.id) {
                rows[i].total_ns = smaller(rows[i].total_ns, left_ns);
                rows[i].longest_ns = smaller(rows[i].longest_ns, rank.slice_max_ns);
                left_ns -= rows[i].total_ns;
            }
        }
    }
}

void run_watch_tell(chroprof *view, const char *name)
{
    watch_row rows[WATCH_ROWS];
    chroprof_totals totals;
    pid_t process;
    pid_t thread;
    const watched *w = read_name(name, &process, &thread) ? find_watched(process, thread) : NULL;
    chroprof_read_totals(view, &totals);
    memset(rows, 0, sizeof rows);
    for (size_t i = 0; w != NULL && i < WATCH_ROWS; i++) {
        rows[i] = without_exit(&w->rows[i], totals.exit_ns);
    }
    join_doubtful(rows);
    cap_times(view, rows);
    for (size_t i = 0; w != NULL && i < WATCH_ROWS; i++) {
        const watch_row row = rows[i];
        chroprof_task_wait seen;
        memset(&seen, 0, sizeof seen);
        seen.site = row.site;
        seen.call = row.call;
        seen.within = row.within;
        seen.count = row.count;
        seen.total_ns = row.total_ns;
        seen.longest_ns = row.longest_ns;
        if (seen.site != 0 && seen.count > 0 && seen.total_ns > 0 &&
            !(row.own && is_told(view, &row))) {
            (void)chroprof_add_wait(view, &seen);
        }
    }
    if (w != NULL) {
        tell_rest(view, w);
    }
}

const char *run_watch_holder(const char *name)
{
    pid_t process;
    pid_t thread;
    const watched *w = read_name(name, &process, &thread) ? find_watched(process, thread) : NULL;
    return run_holder_text(w != NULL ? w->holders : NULL, watch.folder);
}

/* Nobody saw its end: another one that comes so late may have been just as late. */
enum { WATCH_LATE_NS = 200000000 };

bool run_watch_lived(const char *name)
{
    pid_t process;
    pid_t thread;
    const watched *w = read_name(name, &process, &thread) ? find_watched(process, thread) : NULL;
    return w != NULL && !w->gone && w->seen_ns + WATCH_LATE_NS >= watch.end_ns;
}

void run_watch_tell_once(uint64_t stall_ns)
{
    const board_once *most = NULL;
    unsigned count = 0;
    for (size_t i = 0; watch.board != NULL && i < BOARD_ONCE; i++) {
        const board_once *row = &watch.board->once[i];
        if (row->process != 0 && row->worked_ns > (stall_ns > 0 ? stall_ns : 20000000)) {
            count++;
            most = most == NULL || row->worked_ns > most->worked_ns ? row : most;
        }
    }
    if (count > 0) {
        tool_message("%u thread%s waited once and then worked, %.16s longest, for %llu ms: a loop "
                     "waits again, so that is in no profile", count, count != 1 ? "s" : "",
                     most->name, (unsigned long long)most->worked_ns / 1000000);
    }
}

#else

void run_watch_begin(const char *folder, pid_t program, preload_board *board)
{
    (void)board;
    (void)folder;
    (void)program;
}

void run_watch_end(void) {}

void run_watch_tell(chroprof *view, const char *name)
{
    (void)view;
    (void)name;
}

const char *run_watch_holder(const char *name)
{
    (void)name;
    return "";
}

bool run_watch_lived(const char *name)
{
    (void)name;
    return false;
}

void run_watch_tell_once(uint64_t stall_ns)
{
    (void)stall_ns;
}

#endif
