/* waits.c - a loop that does nothing but wait for what is there already, for bench/run.py and
 * tests/cost.sh: what chroprof run adds to it is what it adds to a wait. Linux.
 *
 *     waits COUNT [poll] [callbacks]
 *
 * Prints its pid, and the CPU time of a wait in ns: the least of 20 batches. poll: by that, not by
 * epoll_wait. callbacks: after each wait one runs that chroprof run knows, as those of libraries. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

typedef void callback(void);

static double cpu_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static volatile long called;

static void count_call(void)
{
    called++;
}

/* What a library would call: the function under the name that chroprof run gives it, if that runs. */
static callback *as_registered(callback *function)
{
    callback *(*standin)(callback *);
    void *found = dlsym(RTLD_DEFAULT, "chroprof_run_standin");
    memcpy(&standin, &found, sizeof standin);
    return standin != NULL ? standin(function) : function;
}

static bool has_word(int count, char **words, const char *word)
{
    for (int i = 2; i < count; i++)
        if (strcmp(words[i], word) == 0)
            return true;
    return false;
}

int main(int count, char **words)
{
    long waits = count > 1 ? atol(words[1]) : 100000;
    bool polls = has_word(count, words, "poll");
    callback *calls = has_word(count, words, "callbacks") ? as_registered(count_call) : NULL;
    struct epoll_event event = { .events = EPOLLIN }, got;
    struct pollfd file = { eventfd(1, 0), POLLIN, 0 };
    int loop = epoll_create1(0);
    double least = 0;
    if (epoll_ctl(loop, EPOLL_CTL_ADD, file.fd, &event) != 0)
        return 1;
    for (int batch = 0; batch < 20; batch++) {
        double begin = cpu_ns();
        for (long i = 0; i < waits / 20; i++) {
            if ((polls ? poll(&file, 1, 100) : epoll_wait(loop, &got, 1, 100)) != 1)
                return 1;
            if (calls != NULL)
                calls();
        }
        double ns = (cpu_ns() - begin) / (double)(waits / 20);
        least = batch == 0 || ns < least ? ns : least;
    }
    printf("%d %.1f\n", (int)getpid(), least);
    return 0;
}
