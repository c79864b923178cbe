/* attached_wait.c - waits in epoll_wait for 1.5 s again and again, and says at the end how long the
 * longest wait was, in ms; for tests/attach.sh */

#include <signal.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <time.h>

static volatile sig_atomic_t ended;

static void on_end(int number)
{
    (void)number;
    ended = 1;
}

static long now_ms(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (long)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

int main(void)
{
    struct epoll_event event;
    int set = epoll_create1(0);
    long longest = 0;
    (void)signal(SIGTERM, on_end);
    (void)printf("ready\n");
    (void)fflush(stdout);
    while (ended == 0) {
        long begin = now_ms();
        (void)epoll_wait(set, &event, 1, 1500);
        begin = now_ms() - begin;
        longest = begin > longest ? begin : longest;
    }
    (void)printf("longest %ld\n", longest);
    return 0;
}
