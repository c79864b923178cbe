/* attach_proc.c - what /proc shows of a program and its threads; see attach.h */

#define _GNU_SOURCE 1
#include "attach.h"

#ifdef __linux__

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

uint64_t attach_now(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static int open_of(pid_t pid, pid_t tid, const char *name)
{
    char path[80];
    (void)snprintf(path, sizeof path, "/proc/%ld/task/%ld/%s", (long)pid, (long)tid, name);
    return open(path, O_RDONLY | O_CLOEXEC);
}

/* The file from its begin; false: it can't be read. */
static bool read_again(int file, char *text, size_t size)
{
    ssize_t count = file >= 0 ? pread(file, text, size - 1, 0) : -1;
    text[count > 0 ? count : 0] = '\0';
    return count > 0;
}

bool attach_open(attach_thread *t, pid_t pid, pid_t tid)
{
    int name = open_of(pid, tid, "comm");
    memset(t, 0, sizeof *t);
    t->tid = tid;
    t->main = t->loop = tid == pid;
    t->call_file = open_of(pid, tid, "syscall");
    t->sched_file = open_of(pid, tid, "schedstat");
    (void)read_again(name, t->name, sizeof t->name);
    t->name[strcspn(t->name, "\n")] = '\0';
    if (name >= 0) {
        (void)close(name);
    }
    return t->call_file >= 0 && t->sched_file >= 0;
}

void attach_close(attach_thread *t)
{
    if (t->call_file >= 0) {
        (void)close(t->call_file);
    }
    if (t->sched_file >= 0) {
        (void)close(t->sched_file);
    }
    t->call_file = t->sched_file = -1;
}

static bool is_socket(pid_t tid, uint64_t number)
{
    char path[80];
    char to[16] = "";
    (void)snprintf(path, sizeof path, "/proc/%ld/fd/%d", (long)tid, (int)number);
    return readlink(path, to, sizeof to - 1) > 0 && strncmp(to, "socket:", 7) == 0;
}

/* Of a socket nobody outside knows whether it has SO_RCVTIMEO or SO_SNDTIMEO. */
static bool is_timed(pid_t tid, long call, const unsigned long long *a)
{
    switch (call) {
    case SYS_read:
    case SYS_readv:
    case SYS_write:
    case SYS_writev:
        return is_socket(tid, a[0]);
    case SYS_recvfrom:
    case SYS_recvmsg:
    case SYS_recvmmsg:
    case SYS_sendto:
    case SYS_sendmsg:
    case SYS_sendmmsg:
#ifdef SYS_accept
    case SYS_accept:
#endif
    case SYS_accept4:
    case SYS_connect:
    case SYS_close:
        return true;
    default:
        return attach_has_time(call, a);
    }
}

static void read_call(pid_t tid, const char *text, attach_facts *f)
{
    unsigned long long a[8] = { 0 };
    long call;
    f->call = ATTACH_RUNS;
    if (isdigit((unsigned char)text[0]) != 0 &&
        sscanf(text, "%ld %llx %llx %llx %llx %llx %llx %llx %llx", &call, &a[0], &a[1], &a[2],
               &a[3], &a[4], &a[5], &a[6], &a[7]) == 9) {
        f->call = call;
        f->first = a[0];
        f->stack = a[6];
        f->code = a[7];
        f->timed = is_timed(tid, call, a);
    }
}

bool attach_look(attach_thread *t, attach_facts *facts)
{
    char text[256];
    unsigned long long cpu;
    unsigned long long queue;
    unsigned long long timeslices;
    memset(facts, 0, sizeof *facts);
    if (!read_again(t->sched_file, text, sizeof text) ||
        sscanf(text, "%llu %llu %llu", &cpu, &queue, &timeslices) != 3 ||
        !read_again(t->call_file, text, sizeof text)) {
        return false;
    }
    facts->cpu_ns = cpu;
    facts->queue_ns = queue;
    facts->timeslices = timeslices;
    read_call(t->tid, text, facts);
    return true;
}

size_t attach_threads(pid_t pid, pid_t *out, size_t most)
{
    char path[40];
    size_t count = 0;
    const struct dirent *entry;
    DIR *folder;
    (void)snprintf(path, sizeof path, "/proc/%ld/task", (long)pid);
    folder = opendir(path);
    while (folder != NULL && count < most && (entry = readdir(folder)) != NULL) {
        if (isdigit((unsigned char)entry->d_name[0]) != 0) {
            out[count++] = (pid_t)strtol(entry->d_name, NULL, 10);
        }
    }
    if (folder != NULL) {
        (void)closedir(folder);
    }
    return count;
}

/* By a signal, or by a debugger. */
bool attach_is_stopped(pid_t pid)
{
    char text[32];
    return attach_status(pid, "State:", text, sizeof text) && (text[0] == 'T' || text[0] == 't');
}

bool attach_is_dead(pid_t pid)
{
    char text[32];
    return attach_status(pid, "State:", text, sizeof text) && (text[0] == 'Z' || text[0] == 'X');
}

/* From where its code and its first stack lie. */
uint64_t attach_program(pid_t pid)
{
    char path[40];
    char text[1024] = "";
    const char *at;
    uint64_t mark = 0;
    int file;
    (void)snprintf(path, sizeof path, "/proc/%ld/stat", (long)pid);
    file = open(path, O_RDONLY | O_CLOEXEC);
    if (!read_again(file, text, sizeof text) || (at = strrchr(text, ')')) == NULL) {
        at = NULL;
    }
    for (int field = 3; at != NULL && field <= 28 && (at = strchr(at + 1, ' ')) != NULL; field++) {
        mark = field == 26 || field == 28
               ? (mark + strtoull(at, NULL, 10)) * UINT64_C(0x9E3779B97F4A7C15) : mark;
    }
    if (file >= 0) {
        (void)close(file);
    }
    return mark;
}

uint64_t attach_age(pid_t pid)
{
    char path[40];
    char text[1024] = "";
    const char *at;
    struct timespec now;
    uint64_t ticks;
    uint64_t second = (uint64_t)sysconf(_SC_CLK_TCK);
    int file;
    (void)snprintf(path, sizeof path, "/proc/%ld/stat", (long)pid);
    file = open(path, O_RDONLY | O_CLOEXEC);
    at = read_again(file, text, sizeof text) ? strrchr(text, ')') : NULL;
    for (int field = 3; at != NULL && field <= 22; field++) {
        at = strchr(at + 1, ' ');
    }
    if (file >= 0) {
        (void)close(file);
    }
    if (at == NULL || second == 0 || clock_gettime(CLOCK_BOOTTIME, &now) != 0) {
        return 0;
    }
    ticks = strtoull(at, NULL, 10);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec -
           ticks * (1000000000u / second);
}

/* By a name that goes with this process, however that ends. */
bool attach_claim(pid_t pid)
{
    struct sockaddr_un name;
    int claim = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int length;
    memset(&name, 0, sizeof name);
    name.sun_family = AF_UNIX;
    length = snprintf(name.sun_path + 1, sizeof name.sun_path - 1, "chroprof attach %ld", (long)pid);
    return claim < 0 || bind(claim, (const struct sockaddr *)&name,
                             (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 +
                                         (size_t)length)) == 0 || errno != EADDRINUSE;
}

bool attach_status(pid_t pid, const char *key, char *out, size_t size)
{
    char line[256];
    char path[40];
    bool found = false;
    FILE *file;
    (void)snprintf(path, sizeof path, "/proc/%ld/status", (long)pid);
    file = fopen(path, "r");
    while (file != NULL && !found && fgets(line, sizeof line, file) != NULL) {
        if (strncmp(line, key, strlen(key)) == 0) {
            const char *value = line + strlen(key);
            value += strspn(value, " \t");
            (void)snprintf(out, size, "%.*s", (int)strcspn(value, "\n"), value);
            found = true;
        }
    }
    if (file != NULL) {
        (void)fclose(file);
    }
    return found;
}

typedef struct call_name {
    long call;
    const char *name;
    bool wait;
} call_name;

static const call_name call_names[] = {
#ifdef SYS_epoll_wait
    { SYS_epoll_wait, "epoll_wait", true },
#endif
#ifdef SYS_poll
    { SYS_poll, "poll", true },
#endif
#ifdef SYS_select
    { SYS_select, "select", true },
#endif
#ifdef SYS_epoll_pwait2
    { SYS_epoll_pwait2, "epoll_pwait2", true },
#endif
#ifdef SYS_io_uring_enter
    { SYS_io_uring_enter, "io_uring_enter", true },
#endif
    { SYS_epoll_pwait, "epoll_pwait", true }, { SYS_ppoll, "ppoll", true },
    { SYS_pselect6, "pselect", true }, { SYS_read, "read", false }, { SYS_write, "write", false },
    { SYS_readv, "readv", false }, { SYS_writev, "writev", false },
    { SYS_pread64, "pread", false }, { SYS_pwrite64, "pwrite", false },
    { SYS_futex, "futex", false }, { SYS_fsync, "fsync", false },
    { SYS_fdatasync, "fdatasync", false }, { SYS_nanosleep, "nanosleep", false },
    { SYS_clock_nanosleep, "clock_nanosleep", false }, { SYS_wait4, "wait4", false },
    { SYS_waitid, "waitid", false }, { SYS_connect, "connect", false },
    { SYS_accept, "accept", false }, { SYS_accept4, "accept", false },
    { SYS_recvfrom, "recv", false }, { SYS_recvmsg, "recvmsg", false },
    { SYS_sendto, "send", false }, { SYS_sendmsg, "sendmsg", false },
    { SYS_rt_sigtimedwait, "sigtimedwait", false },
    { SYS_flock, "flock", false }, { SYS_fcntl, "fcntl", false }, { SYS_openat, "open", false },
    { ATTACH_CONDITION, "futex", true }, { ATTACH_DATAGRAM, "recv", true }
};

static const call_name *name_of(long call)
{
    for (size_t i = 0; i < sizeof call_names / sizeof call_names[0]; i++) {
        if (call_names[i].call == call) {
            return &call_names[i];
        }
    }
    return NULL;
}

bool attach_is_wait(long call)
{
    const call_name *name = call >= 0 ? name_of(call) : NULL;
    return name != NULL && name->wait;
}

bool attach_may_be_wait(long call)
{
    return call == SYS_recvfrom || call == SYS_recvmsg || call == SYS_read || call == SYS_accept ||
           call == SYS_accept4 || call == SYS_futex || call == SYS_rt_sigtimedwait;
}

bool attach_call_is_futex(long call)
{
    return call == SYS_futex;
}

/* Does this list of the kernel have the socket, and without a peer? */
static bool lists_without_peer(pid_t pid, const char *list, unsigned long inode)
{
    char path[64];
    char line[512];
    char peer[64];
    unsigned long its;
    bool found = false;
    FILE *in;
    (void)snprintf(path, sizeof path, "/proc/%ld/net/%s", (long)pid, list);
    in = fopen(path, "r");
    while (in != NULL && !found && fgets(line, sizeof line, in) != NULL) {
        found = sscanf(line, "%*s %*s %63s %*s %*s %*s %*s %*s %*s %lu", peer, &its) == 2 &&
                its == inode && peer[strspn(peer, "0:")] == '\0';
    }
    if (in != NULL) {
        (void)fclose(in);
    }
    return found;
}

bool attach_takes_datagram(pid_t pid, long call, uint64_t file)
{
    char path[64];
    char link[64];
    unsigned long inode;
    ssize_t count;
    if (call != SYS_recvfrom && call != SYS_recvmsg) {
        return false;
    }
    (void)snprintf(path, sizeof path, "/proc/%ld/fd/%d", (long)pid, (int)file);
    count = readlink(path, link, sizeof link - 1);
    link[count > 0 ? count : 0] = '\0';
    return sscanf(link, "socket:[%lu]", &inode) == 1 &&
           (lists_without_peer(pid, "udp", inode) || lists_without_peer(pid, "udp6", inode));
}

bool attach_call_is_for_others(long call)
{
#ifdef SYS_pause
    if (call == SYS_pause) {
        return true;
    }
#endif
    return call == SYS_rt_sigsuspend || call == SYS_rt_sigtimedwait || call == SYS_wait4 ||
           call == SYS_waitid;
}

bool attach_has_epoll(pid_t pid)
{
    char path[64];
    char link[32];
    bool found = false;
    const struct dirent *entry;
    DIR *files;
    (void)snprintf(path, sizeof path, "/proc/%ld/fd", (long)pid);
    files = opendir(path);
    while (files != NULL && !found && (entry = readdir(files)) != NULL) {
        ssize_t count = readlinkat(dirfd(files), entry->d_name, link, sizeof link - 1);
        link[count > 0 ? count : 0] = '\0';
        found = strcmp(link, "anon_inode:[eventpoll]") == 0;
    }
    if (files != NULL) {
        (void)closedir(files);
    }
    return found;
}

bool attach_is_epoll(long call)
{
    return attach_is_wait(call) && strncmp(name_of(call)->name, "epoll", 5) == 0;
}

bool attach_sleeps(long call)
{
    return attach_is_wait(call) || call == SYS_futex || call == SYS_nanosleep ||
           call == SYS_clock_nanosleep;
}

long attach_restarted(void)
{
#ifdef SYS_poll
    return SYS_poll;
#else
    return SYS_ppoll;
#endif
}

bool attach_has_time(long call, const unsigned long long *a)
{
    switch (call) {
#ifdef SYS_epoll_wait
    case SYS_epoll_wait:
#endif
    case SYS_epoll_pwait:
        return (int)a[3] >= 0;
#ifdef SYS_epoll_pwait2
    case SYS_epoll_pwait2:
#endif
#ifdef SYS_semtimedop
    case SYS_semtimedop:
#endif
        return a[3] != 0;
    case SYS_rt_sigtimedwait:
        return a[2] != 0;
    case SYS_io_getevents:
        return a[4] != 0;
#ifdef SYS_io_uring_enter
    case SYS_io_uring_enter:
        return a[1] != 0 || (a[3] & 8u) != 0;       /* it submits, or may have a time (EXT_ARG) */
#endif
    default:
        return false;
    }
}

bool attach_is_restart(long call)
{
    return call == SYS_restart_syscall;
}

const char *attach_call_name(long call)
{
    const call_name *name = call >= 0 ? name_of(call) : NULL;
    return name != NULL ? name->name : "a system call";
}

#endif
