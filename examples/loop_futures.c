/* A promise library on epoll(7): which promise makes the others wait? */
/* build: cc -O2 FILE -o OUT ; needs: none */
/* "audit" runs while eight pages are ready: most blame. "reindex" runs when none is: most exec. Ids
 * are addresses, which malloc reuses at once. Not seen: how long bytes wait before epoll_wait. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>
#define CHROPROF_IMPLEMENTATION /* chroprof */
#include "../chroprof.h" /* chroprof */
static chroprof prof; /* chroprof */
static unsigned char memory[1 << 18]; /* chroprof */
enum { FULFILLED, REJECTED, CANCELLED, AUDIT = 0, REINDEX = 9, CHANNELS, QUEUE = 32, TICKS = 100 };
#define ID(promise) ((uintptr_t)(promise)) /* chroprof */
typedef struct promise {
    bool (*step)(struct promise *self);   /* true: it settled itself */
    struct promise *waiter;               /* ready when this is settled */
    int fd;                               /* ready when this is readable */
} promise;
static promise *queue[QUEUE];
static int poller, head, tail, ticks, pipes[CHANNELS][2];

static void make_ready(promise *p)
{
    chroprof_ready(&prof, ID(p)); /* chroprof */
    queue[tail++ % QUEUE] = p;
}

static promise *promise_new(const char *name, uint32_t line, int fd, bool (*step)(promise *))
{
    promise *p = malloc(sizeof *p);
    if (p == NULL)
        abort();
    *p = (promise){ step, NULL, fd };
    chroprof_pending(&prof, ID(p), chroprof_site_make(&prof, name, __FILE__, line)); /* chroprof */
    (void)epoll_ctl(poller, EPOLL_CTL_ADD, fd, &(struct epoll_event){ EPOLLIN, { p } });
    return p;
}

static bool settle(promise *p, unsigned how)
{
    chroprof_event(&prof, CHROPROF_COMPLETED + how, ID(p), 0, chroprof_now(&prof)); /* chroprof */
    (void)epoll_ctl(poller, EPOLL_CTL_DEL, p->fd, NULL);
    if (p->waiter != NULL)
        make_ready(p->waiter);
    free(p);
    return true;
}

static bool serve(promise *self)   /* a request is one byte: 0.05 ms of work each, 0 is bad */
{
    char work = 1;
    (void)!read(self->fd, &work, 1);
    for (clock_t end = clock() + work * 50; clock() < end;) {}
    return settle(self, work > 0 ? FULFILLED : REJECTED);
}

static bool tick(promise *self)   /* sends a crowd of requests and a lonely one by turns */
{
    static const char work[CHANNELS] = { 60, 1, 1, 0, 1, 1, 1, 1, 1, 120 };
    for (int i = ticks++ % 2 ? REINDEX : AUDIT; i < CHANNELS - ticks % 2; i++) {
        const char *name = i == AUDIT ? "audit" : i == REINDEX ? "reindex" : "page";
        promise_new(name, __LINE__, pipes[i][0], serve)->waiter =
            promise_new("reply", __LINE__, -1, serve);
        (void)!write(pipes[i][1], &work[i], 1);
    }
    return ticks == TICKS && settle(self, CANCELLED);
}

int main(int argc, char **argv)
{
    struct epoll_event events[CHANNELS];
    if (argc != 1 && (argc != 3 || strcmp(argv[1], "--json") != 0))
        return fprintf(stderr, "usage: %s [--json FILE]\n", argv[0]), 2;
    chroprof_init(&prof, memory, sizeof memory, NULL); /* chroprof */
    poller = epoll_create1(0);
    for (int i = 0; i < CHANNELS && pipe(pipes[i]) == 0; i++) {}
    for (promise *ticker = promise_new("tick", __LINE__, -1, tick); ticks < TICKS;) {
        chroprof_idle_enter(&prof); /* chroprof */
        int count = epoll_wait(poller, events, CHANNELS, 12);
        chroprof_idle_leave(&prof); /* chroprof */
        for (int i = 0; i < count; i++)
            make_ready(events[i].data.ptr);
        if (count == 0)
            make_ready(ticker);
        for (promise *p; head < tail && (p = queue[head % QUEUE]) != NULL; head++) {
            chroprof_running(&prof, ID(p)); /* chroprof */
            if (p->step(p))
                continue;
            chroprof_paused(&prof, ID(p)); /* chroprof */
        }
    }
    chroprof_dump(&prof, CHROPROF_TEXT, stdout); /* chroprof */
    if (argc > 1 && (!freopen(argv[2], "w", stdout) || chroprof_dump(&prof, CHROPROF_JSON, stdout)))
        return perror(argv[2]), 1;
}
