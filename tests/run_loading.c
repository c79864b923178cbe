/* run_loading.c - programs on libevent that load libraries themselves, for tests/run_command.sh.
 *
 *     cc -DPLUGIN ... -levent_extra   a library that a program loads
 *     cc -DOTHER ...                  one with functions of its own by names that libevent has
 *     run_loading WHAT FILE [FILE]    local, global, lock, turns, error, names, sandbox: see there
 *
 * Each prints what it saw of itself: the test compares that with and without chroprof run. */

#define _GNU_SOURCE
#include <stdio.h>

#if defined(OTHER)

void event_set(int a, int b, int c, long d, long e);
void *event_new(const char *name, int x, int y, void *data, double w);
void use_both(void);

void event_set(int a, int b, int c, long d, long e)
{
    printf("event_set %d %d %d %ld %ld\n", a, b, c, d, e);
}

void *event_new(const char *name, int x, int y, void *data, double w)
{
    printf("event_new %s %d %d %g\n", name, x, y, w);
    return data;
}

void use_both(void)
{
    static char data[] = "data";
    event_set(1, 2, 300000, 4, 5);
    puts((char *)event_new("other", 1, 70000, data, 2.5));
}

#elif defined(PLUGIN)

#include <event2/event.h>
#include <event2/http.h>
#include <stddef.h>

#ifndef ON_EVENT
#define ON_EVENT on_first
#endif

void call_back(void) __attribute__((__weak__));
int set_up(struct event_base *base);

/* The loader is at work in this thread. */
__attribute__((__constructor__)) static void start(void)
{
    if (call_back != NULL) {
        call_back();
    }
}

void ON_EVENT(int fd, short what, void *argument);

void ON_EVENT(int fd, short what, void *argument)
{
    (void)argument;
    printf("event %d %d\n", fd, what);
}

static void on_request(struct evhttp_request *request, void *argument)
{
    (void)request;
    (void)argument;
}

int set_up(struct event_base *base)
{
    struct evhttp *http = evhttp_new(base);
    return evhttp_set_cb(http, "/x", on_request, NULL); /* which returns to the program */
}

#else

#include <dlfcn.h>
#include <event2/event.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

void call_back(void);
void use_both(void) __attribute__((__weak__));

static struct event_base *base;
static bool calls;

static void on_event(int fd, short what, void *argument)
{
    printf("event %d %d %s\n", fd, what, (const char *)argument);
}

static void *run_loop(void *argument)
{
    struct timeval now = { 0, 0 };
    (void)event_base_once(base, -1, EV_TIMEOUT, on_event, argument, &now);
    (void)event_base_dispatch(base);
    return NULL;
}

/* Waits for a thread that uses a loop, while this one has the loader's lock. */
void call_back(void)
{
    static char text[] = "in a thread";
    pthread_t thread;
    if (calls && pthread_create(&thread, NULL, run_loop, text) == 0) {
        (void)pthread_join(thread, NULL);
    }
}

/* A library that comes and goes, and brings functions that were not there at the start. */
static void load_often(const char *file, int scope)
{
    for (int i = 0; i < 3; i++) {
        void *handle = dlopen(file, RTLD_NOW | scope);
        int (*set_up)(struct event_base *) = NULL;
        void *found = handle != NULL ? dlsym(handle, "set_up") : NULL;
        memcpy(&set_up, &found, sizeof found);
        printf("set up %d\n", set_up != NULL ? set_up(base) : -2);
        (void)fflush(stdout);
        (void)(handle != NULL && dlclose(handle));
        for (size_t k = 1; k < 200; k++) {
            (void)mmap(NULL, 4096 * k, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        }
    }
}

/* Two libraries by turns, so that the function of the one lies where the other's lay. */
static void load_by_turns(const char *first, const char *second)
{
    for (int i = 0; i < 6; i++) {
        struct timeval time = { 0, 1000 };
        event_callback_fn called = NULL;
        void *handle = dlopen(i % 2 == 0 ? first : second, RTLD_NOW);
        void *found = handle != NULL ? dlsym(handle, i % 2 == 0 ? "on_first" : "on_second") : NULL;
        memcpy(&called, &found, sizeof found);
        if (called != NULL) {
            (void)event_base_once(base, -1, EV_TIMEOUT, called, NULL, &time);
        }
        (void)event_base_dispatch(base);
        (void)(handle != NULL && dlclose(handle));
    }
}

/* An error that waits to be asked for. */
static void keep_error(void)
{
    void *handle = dlopen("./nothing", RTLD_NOW);
    struct event *event = event_new(base, -1, 0, on_event, NULL);
    const char *text = dlerror();
    printf("%d %d %s\n", handle != NULL, event != NULL, text != NULL ? text : "none");
    event_free(event);
}

/* From here on a call that asks for a link ends the process. */
static bool enter_sandbox(void)
{
#ifdef SYS_readlink
    struct sock_filter rows[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_readlink, 1, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_readlinkat, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = { sizeof rows / sizeof rows[0], rows };
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
#else
    return false;
#endif
}

int main(int count, char **words)
{
    static char text[] = "in main";
    const char *what = count > 1 ? words[1] : "";
    const char *file = count > 2 ? words[2] : "";
    base = event_base_new();
    if (strcmp(what, "local") == 0) {
        load_often(file, RTLD_LOCAL);
    } else if (strcmp(what, "global") == 0) {
        load_often(file, RTLD_GLOBAL);
    } else if (strcmp(what, "lock") == 0) {
        calls = true;
        load_often(file, RTLD_LOCAL);
    } else if (strcmp(what, "error") == 0) {
        keep_error();
    } else if (strcmp(what, "turns") == 0) {
        load_by_turns(file, count > 3 ? words[3] : "");
    } else if (strcmp(what, "names") == 0 && use_both != NULL) {
        use_both();
    } else if (strcmp(what, "sandbox") == 0) {
        printf("sandbox %d\n", enter_sandbox());
        (void)fflush(stdout);
    }
    (void)run_loop(text);
    event_base_free(base);
    return 4;
}

#endif
