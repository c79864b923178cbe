/* run_plugins.c - a program whose code comes in libraries, for tests/run_names.sh and attach.sh.
 *
 *     cc -DNOTIFIER ...                 a library that waits as Tcl does: at a condition
 *     cc -DPLUGIN ...                   one that the program loads before its first wait
 *     run_plugins condition [SECONDS]   its loop waits in the first one
 *     run_plugins plugin FILE           its loop waits in poll, and calls the second one once
 *     run_plugins made [SECONDS]        calls code that it has made, as regular expressions are
 *     run_plugins datagram SECONDS      waits for datagrams, in recv, until it is killed */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>

typedef void slow_call(void (*)(void));

int Tcl_WaitForEvent(const long *time);
int Tcl_DoOneEvent(int flags);
slow_call evaluate_script;

#ifdef NOTIFIER

int Tcl_WaitForEvent(const long *time)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static pthread_cond_t told = PTHREAD_COND_INITIALIZER;
    struct timespec until;
    (void)clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += time[0];
    until.tv_nsec += time[1] * 1000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    (void)pthread_mutex_lock(&lock);
    (void)pthread_cond_timedwait(&told, &lock, &until);
    (void)pthread_mutex_unlock(&lock);
    return 0;
}

int Tcl_DoOneEvent(int flags)
{
    const long time[2] = { 0, 200000 };
    return Tcl_WaitForEvent(time) + flags;
}

#else

static volatile unsigned long sum;

static __attribute__((__noinline__)) void compute(int ms)
{
    struct timespec begin;
    struct timespec now;
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
    do {
        for (int i = 0; i < 20000; i++) {
            sum += (unsigned long)i;
        }
        (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    } while ((now.tv_sec - begin.tv_sec) * 1000 + (now.tv_nsec - begin.tv_nsec) / 1000000 < ms);
}

#ifdef PLUGIN

/* It needs its own rules to be unwound. */
__attribute__((__noinline__)) void evaluate_script(void (*done)(void))
{
    compute(500);
    done();
}

#else

static void nothing(void) {}

static __attribute__((__noinline__)) void on_slow_timer(slow_call *plugin)
{
    if (plugin != NULL) {
        plugin(nothing);
    } else {
        compute(300);
    }
    __asm__ volatile("");
}

/* Without tables, and without a frame pointer: that register counts down. */
static __attribute__((__noinline__)) void match_pattern(void (*done)(void))
{
    static const unsigned char code[] = { 0x55, 0x53, 0x48, 0x83, 0xEC, 0x18, 0x48,
                                          0x89, 0xFD, 0x48, 0xFF, 0xCD, 0x75, 0xFB,
                                          0x48, 0x83, 0xC4, 0x18, 0x5B, 0x5D, 0xC3 };
    void *made =
        mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    void (*count_down)(unsigned long);
    if (made != MAP_FAILED && sizeof(void *) == 8) {
        memcpy(made, code, sizeof code);
        memcpy(&count_down, &made, sizeof made);
        for (int i = 0; i < 100; i++) {
#ifdef __x86_64__
            count_down(5000000);
#else
            compute(3);
#endif
        }
        (void)munmap(made, 4096);
    }
    done();
}

static int run_loop(time_t end, bool condition)
{
    (void)printf("ready\n");
    (void)fflush(stdout);
    for (int i = 0; i < 10 || time(NULL) < end; i++) {
        if (condition) {
            (void)Tcl_DoOneEvent(0);
        } else {
            (void)poll(NULL, 0, 100);
        }
        if (i % 5 == 3) {
            on_slow_timer(condition ? NULL : match_pattern);
        }
    }
    return 0;
}

static int run_plugin(const char *file)
{
    void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    void *found = library != NULL ? dlsym(library, "evaluate_script") : NULL;
    slow_call *plugin;
    memcpy(&plugin, &found, sizeof plugin);
    for (int i = 0; i < 6 && plugin != NULL; i++) {
        (void)poll(NULL, 0, 20);
        if (i == 0) {
            on_slow_timer(plugin);
        }
    }
    return plugin == NULL;
}

static int await_datagram(void)
{
    struct sockaddr_in own;
    char text[16];
    int file = socket(AF_INET, SOCK_DGRAM, 0);
    memset(&own, 0, sizeof own);
    own.sin_family = AF_INET;
    own.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (bind(file, (struct sockaddr *)&own, sizeof own) != 0) {
        return 1;
    }
    (void)printf("ready\n");
    (void)fflush(stdout);
    return recv(file, text, sizeof text, 0) < 0;
}

int main(int count, char **words)
{
    if (count > 1 && strcmp(words[1], "datagram") == 0) {
        return await_datagram();
    }
    if (count > 1 && strcmp(words[1], "plugin") != 0) {
        return run_loop(count > 2 ? time(NULL) + atoi(words[2]) : 0,
                        strcmp(words[1], "condition") == 0);
    }
    return count > 2 ? run_plugin(words[2]) : 2;
}

#endif
#endif
