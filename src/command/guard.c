/* guard.c - see guard.h */

#include "guard.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define GUARD_DESCRIPTORS 1024 /* those of the parent that a child may have */

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define GUARD_ADDRESSES 0      /* a sanitizer maps terabytes */
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define GUARD_ADDRESSES 0
#endif
#endif
#ifndef GUARD_ADDRESSES
#define GUARD_ADDRESSES 1
#endif

static void lower(int resource, rlim_t most)
{
    struct rlimit limit;
    if (getrlimit(resource, &limit) == 0 &&
        (limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur > most)) {
        limit.rlim_cur = most;
        (void)setrlimit(resource, &limit);
    }
}

/* Clients and signals are the parent's alone: a child that lives on holds none of its sockets. */
static void leave_parent(int keep)
{
    static const int all[] = { SIGINT, SIGTERM, SIGALRM, SIGXCPU, SIGCHLD };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        (void)signal(all[i], SIG_DFL);
    }
    for (int fd = 3; fd < GUARD_DESCRIPTORS; fd++) {
        if (fd != keep) {
            (void)close(fd);
        }
    }
}

static void run_child(int fd, size_t memory, guard_work *work, void *user)
{
    FILE *out = fdopen(fd, "w");
    leave_parent(fd);
    lower(RLIMIT_CORE, 0);
    if (GUARD_ADDRESSES) {
        lower(RLIMIT_AS, memory);
    }
    if (out != NULL) {
        work(user, out);
        (void)fflush(out);
    }
    _exit(out != NULL && ferror(out) == 0 ? 0 : 1);
}

bool guard_start(guard *g, size_t memory, guard_work *work, void *user)
{
    int ends[2];
    g->fd = -1;
    if (pipe(ends) != 0) {
        return false;
    }
    g->child = fork();
    if (g->child == 0) {
        (void)close(ends[0]);
        (void)fcntl(ends[1], F_SETFD, FD_CLOEXEC);
        run_child(ends[1], memory, work, user);
    }
    (void)close(ends[1]);
    if (g->child < 0 || fcntl(ends[0], F_SETFL, O_NONBLOCK) != 0 ||
        fcntl(ends[0], F_SETFD, FD_CLOEXEC) != 0) {
        (void)close(ends[0]);
        return false;
    }
    g->fd = ends[0];
    return true;
}

void guard_allow(unsigned seconds)
{
    struct rusage spent;
    struct rlimit limit;
    (void)alarm(3 * seconds);
    if (getrusage(RUSAGE_SELF, &spent) == 0 && getrlimit(RLIMIT_CPU, &limit) == 0) {
        rlim_t until = (rlim_t)(spent.ru_utime.tv_sec + spent.ru_stime.tv_sec) + 1 + seconds;
        limit.rlim_cur = until < limit.rlim_max ? until : limit.rlim_max;
        (void)setrlimit(RLIMIT_CPU, &limit);
    }
}

guard_end guard_finish(guard *g)
{
    int status = 0;
    pid_t ended;
    if (g->fd < 0) {
        return GUARD_FAILED;
    }
    (void)close(g->fd);
    g->fd = -1;
    (void)kill(g->child, SIGKILL);          /* one that ends already keeps its own end */
    do {
        ended = waitpid(g->child, &status, 0);
    } while (ended < 0 && errno == EINTR);
    if (ended == g->child && WIFSIGNALED(status) &&
        (WTERMSIG(status) == SIGXCPU || WTERMSIG(status) == SIGALRM)) {
        return GUARD_SLOW;
    }
    return ended == g->child && WIFEXITED(status) && WEXITSTATUS(status) == 0 ? GUARD_DONE
                                                                              : GUARD_FAILED;
}
