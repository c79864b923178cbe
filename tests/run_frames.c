/* run_frames.c - a loop without frame pointers, for tests/run_command.sh; compile it with
 * -fomit-frame-pointer.
 *
 *     run_frames           calls a chain of functions that ends in the C library, twice
 *     run_frames storm MS  ten threads that load libraries, take memory and throw exceptions
 *                          while they wait again and again: it ends, and that is all */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define APART __attribute__((__noinline__, __noclone__))

static volatile unsigned long sink;
static int numbers[20000];

static long clock_ms(clockid_t clock)
{
    struct timespec now;
    (void)clock_gettime(clock, &now);
    return now.tv_sec * 1000L + now.tv_nsec / 1000000;
}

APART int compare_numbers(const void *a, const void *b)
{
    for (int i = 0; i < 100; i++)
        sink++;
    return *(const int *)a - *(const int *)b;
}

APART void innermost(void)
{
    long end = clock_ms(CLOCK_THREAD_CPUTIME_ID) + 120;
    do {
        for (int i = 0; i < 20000; i++)
            numbers[i] = rand();
        qsort(numbers, 20000, sizeof numbers[0], compare_numbers);
    } while (clock_ms(CLOCK_THREAD_CPUTIME_ID) < end);
    sink++;
}

APART void middle(int round)
{
    if (round > 1)
        innermost();
    sink++;
}

APART void outermost(int round)
{
    middle(round);
    sink++;
}

/* Waits much further down the stack than the others run. */
APART int wait_deep(void)
{
    char room[3000];
    int count;
    memset(room, 1, sizeof room);
    count = poll(NULL, 0, 1);
    sink += (unsigned long)room[count];
    return count;
}

APART void loop_of_frames(void)
{
    for (int round = 0; round < 4; round++) {
        sink += (unsigned long)wait_deep();
        outermost(round);
    }
    sink++;
}

#ifdef __cplusplus
APART static int throw_at(int depth)
{
    if (depth == 0)
        throw depth;
    return throw_at(depth - 1) + 1;
}

static void throw_some(void)
{
    try {
        sink += (unsigned long)throw_at(20);
    } catch (int) {
        sink++;
    }
}
#else
static void throw_some(void) {}
#endif

static void load_some(void)
{
    static const char *const names[] = { "libm.so.6", "libresolv.so.2", "libutil.so.1",
                                         "libnss_dns.so.2", "libBrokenLocale.so.1" };
    void *libraries[5];
    for (int i = 0; i < 5; i++)
        libraries[i] = dlopen(names[i], RTLD_NOW);
    for (int i = 0; i < 5; i++)
        if (libraries[i] != NULL)
            (void)dlclose(libraries[i]);
}

static void take_some(void)
{
    void *taken[50];
    for (size_t i = 0; i < 50; i++)
        taken[i] = malloc(i * 977);
    for (size_t i = 0; i < 50; i++)
        free(taken[i]);
}

static void *storm(void *length)
{
    long end = clock_ms(CLOCK_MONOTONIC) + *(long *)length;
    do {
        (void)poll(NULL, 0, 0);
        load_some();
        take_some();
        throw_some();
    } while (clock_ms(CLOCK_MONOTONIC) < end);
    return NULL;
}

static void storms(long length_ms)
{
    pthread_t threads[10];
    int count = 0;
    while (count < 10 && pthread_create(&threads[count], NULL, storm, &length_ms) == 0)
        count++;
    while (count > 0)
        (void)pthread_join(threads[--count], NULL);
}

int main(int count, char **words)
{
    if (count > 1)
        storms(count > 2 ? atol(words[2]) : 2000);
    else
        loop_of_frames();
    puts("done");
    return 0;
}
