/* CHROPROF_SCOPE in C and C++: one site a line, left at the end of the block, also by return, break
 * and goto. CHROPROF_EPOLL_IDLE: this program's epoll_wait and epoll_pwait are idle, and only in
 * the thread that has a profile; with DYNAMIC the dynamic linker must find them. With
 * CHROPROF_DISABLE both are nothing. Exit status 0: all right. */
#define CHROPROF_IMPLEMENTATION
#include "../../chroprof.h"
#ifdef DYNAMIC
#include <dlfcn.h>
#endif
#ifdef __linux__
#include <pthread.h>
#include <signal.h>

static __thread chroprof *waits_here;
CHROPROF_EPOLL_IDLE(waits_here);
#include <sys/epoll.h>
#include <unistd.h>

static void *other_thread(void *poller)
{
    struct epoll_event event;
    return epoll_wait(*(int *)poller, &event, 1, 1) == 0 ? poller : NULL;
}

/* Waits 20 ms by each of the two, and lets another thread wait, which is no idle of ours. */
static int idles(chroprof *p)
{
    int poller = epoll_create1(0);
    struct epoll_event event;
    chroprof_totals totals;
    pthread_t thread;
    void *result = NULL;
    waits_here = p;
    if (epoll_wait(poller, &event, 1, 20) != 0 || epoll_pwait(poller, &event, 1, 20, NULL) != 0)
        return 0;
    if (pthread_create(&thread, NULL, other_thread, &poller) != 0)
        return 0;
    pthread_join(thread, &result);
    close(poller);
    chroprof_read_totals(p, &totals);
#ifdef CHROPROF_DISABLE
    return result != NULL && totals.events == 0;
#else
    return result != NULL && totals.events == 4 && totals.idle_ns >= 35000000;
#endif
}
#else
static int idles(chroprof *p)
{
    return p != NULL;
}
#endif

/* What a shared library of this program gets by these names. */
static int found(void)
{
#ifdef DYNAMIC
    void *program = dlopen(NULL, RTLD_NOW);
    return (uintptr_t)dlsym(program, "epoll_wait") == (uintptr_t)epoll_wait &&
           (uintptr_t)dlsym(program, "epoll_pwait") == (uintptr_t)epoll_pwait;
#else
    return 1;
#endif
}

static int leaves(chroprof *p, int how)
{
    CHROPROF_SCOPE(p, "function");
    (void)p;
    for (;;) {
        CHROPROF_SCOPE(p, "loop");
        if (how == 0)
            return 1;
        if (how == 1)
            break;
        goto end;
    }
end : {
    CHROPROF_SCOPE(p, "block");
}
    return how;
}

/* Three calls of function and loop, two of block; each site stands where its line is. */
static int counts(const chroprof *p)
{
    chroprof_rank ranks[4];
    chroprof_totals totals;
    size_t count = chroprof_ranks(p, ranks, 4, CHROPROF_BY_CALLS);
    chroprof_read_totals(p, &totals);
#ifdef CHROPROF_DISABLE
    return count == 0 && totals.events == 0;
#else
    for (size_t i = 0; i < count; i++)
        if (ranks[i].completed != (ranks[i].name[0] == 'b' ? 2u : 3u) || ranks[i].line == 0)
            return 0;
    return count == 3 && totals.events == 16 && totals.anomalies == 0 && totals.depth == 0;
#endif
}

int main(void)
{
    static unsigned char memory[1 << 17];
    chroprof prof;
    int how;
    if (chroprof_init(&prof, memory, sizeof(memory), NULL) != CHROPROF_OK)
        return 1;
    for (how = 0; how < 3; how++)
        leaves(&prof, how);
    if (!counts(&prof))
        return 2;
    chroprof_reset(&prof);
    if (!idles(&prof))
        return 3;
    if (!found())
        return 5;
    return chroprof_check(&prof) == NULL ? 0 : 4;
}
