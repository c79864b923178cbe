/* waits.c - a loop that does nothing but wait for what is there already, for bench/run.py: what
 * chroprof run adds to it is what it adds to a wait. Linux.
 *
 *     waits COUNT      prints its pid, and the CPU time of a wait in ns: the least of 20 batches */

#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

static double cpu_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

int main(int count, char **words)
{
    long waits = count > 1 ? atol(words[1]) : 100000;
    struct epoll_event event = { .events = EPOLLIN }, got;
    int loop = epoll_create1(0);
    double least = 0;
    if (epoll_ctl(loop, EPOLL_CTL_ADD, eventfd(1, 0), &event) != 0)
        return 1;
    for (int batch = 0; batch < 20; batch++) {
        double begin = cpu_ns();
        for (long i = 0; i < waits / 20; i++)
            if (epoll_wait(loop, &got, 1, 100) != 1)
                return 1;
        double ns = (cpu_ns() - begin) / (double)(waits / 20);
        least = batch == 0 || ns < least ? ns : least;
    }
    printf("%d %.1f\n", (int)getpid(), least);
    return 0;
}
