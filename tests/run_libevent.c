/* run_libevent.c - small programs on libevent, for tests/run_command.sh; C, or C++ for exceptions.
 *
 *     run_libevent WHAT         slow: a callback that stalls; buffers, nested, jump, deeper, left,
 *                               fork, thread, exit: see there
 *
 * Each prints what it saw of itself: the test compares that with and without chroprof run. */

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <event2/event_struct.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "run_slow.h"

static struct event_base *base;
static struct event ticks;
static int rounds;

static void after_ms(struct event *event, int ms)
{
    struct timeval time = { 0, ms * 1000 };
    (void)event_add(event, &time);
}

static void on_slow(int fd, short what, void *argument)
{
    spend_slowly();
    printf("slow %d %d %s\n", fd, what, (const char *)argument);
}

/* Frees itself. */
static void on_last(int fd, short what, void *argument)
{
    struct event **self = (struct event **)argument;
    event_free(*self);
    printf("last %d %d\n", fd, what);
    event_base_loopbreak(base);
}

/* Becomes another one. */
static void on_second(int fd, short what, void *argument)
{
    static struct event *last;
    (void)fd;
    (void)argument;
    printf("second %d\n", what);
    last = event_new(base, -1, 0, on_last, &last);
    after_ms(last, 5);
}

static void on_tick(int fd, short what, void *argument)
{
    event_callback_fn called;
    (void)fd;
    (void)argument;
    event_get_assignment(&ticks, NULL, NULL, NULL, &called, NULL);
    if (what != EV_TIMEOUT || called != on_tick || event_get_callback(&ticks) != on_tick) {
        printf("what %d\n", what);
    }
    if (++rounds == 5) {
        (void)event_base_once(base, -1, EV_TIMEOUT, on_slow, (void *)"as told", NULL);
    }
    if (rounds == 10) {
        (void)event_del(&ticks);
        (void)event_assign(&ticks, base, -1, 0, on_second, NULL);
    }
    after_ms(&ticks, 5);
}

static void run_slow(void)
{
    rounds = 0;
    base = event_base_new();
    (void)event_assign(&ticks, base, -1, 0, on_tick, NULL);
    after_ms(&ticks, 5);
    printf("loop %d after %d\n", event_base_dispatch(base), rounds);
    (void)event_del(&ticks);
    event_base_free(base);
}

/* What a pair of buffers sends to and fro; the one of the two is slow once. */
static void on_data(struct bufferevent *buffers, void *argument)
{
    bufferevent_data_cb called = NULL;
    bufferevent_getcb(buffers, &called, NULL, NULL, NULL);
    (void)argument;
    (void)evbuffer_drain(bufferevent_get_input(buffers), 1000);
    if (called != on_data) {
        puts("another callback");
    }
    if (++rounds == 5) {
        spend_slowly();
    }
    if (rounds == 20) {
        event_base_loopbreak(base);
    }
    (void)bufferevent_write(buffers, "x", 1);
}

static void on_end(struct bufferevent *buffers, short what, void *argument)
{
    (void)buffers;
    (void)argument;
    printf("end %d\n", what);
}

static void run_buffers(void)
{
    int ends[2];
    struct bufferevent *buffers[2];
    base = event_base_new();
    if (evutil_socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) {
        return;
    }
    for (int i = 0; i < 2; i++) {
        (void)evutil_make_socket_nonblocking(ends[i]);
        buffers[i] = bufferevent_socket_new(base, ends[i], BEV_OPT_CLOSE_ON_FREE);
        bufferevent_setcb(buffers[i], on_data, NULL, on_end, NULL);
        (void)bufferevent_enable(buffers[i], EV_READ | EV_WRITE);
    }
    (void)bufferevent_write(buffers[0], "x", 1);
    printf("loop %d after %d\n", event_base_dispatch(base), rounds);
    bufferevent_free(buffers[0]);
    bufferevent_free(buffers[1]);
    event_base_free(base);
}

/* A loop in a callback, with a base of its own. */
static void on_nested(int fd, short what, void *argument)
{
    struct event_base *outer = base;
    (void)fd;
    (void)what;
    (void)argument;
    run_slow();
    base = outer;
}

static void run_nested(void)
{
    struct timeval time = { 0, 5000 };
    base = event_base_new();
    for (int i = 0; i < 3; i++) {
        (void)event_base_once(base, -1, EV_TIMEOUT, on_nested, NULL, &time);
    }
    printf("outer %d\n", event_base_dispatch(base));
    event_base_free(base);
}

/* Leaves the loop in a way that nobody should; the next one is a new one. */
#ifdef __cplusplus
static void on_leave(int, short, void *)
{
    throw 7;
}

static int leave_loop(void)
{
    try {
        return event_base_dispatch(base);
    } catch (int number) {
        return number;
    }
}
#else
static jmp_buf back;

static void on_leave(int fd, short what, void *argument)
{
    (void)fd;
    (void)what;
    (void)argument;
    longjmp(back, 7);
}

static int leave_loop(void)
{
    return setjmp(back) == 0 ? event_base_dispatch(base) : 7;
}
#endif

static void leave_loops(void)
{
    for (int i = 0; i < 5; i++) {
        struct timeval time = { 0, 5000 };
        base = event_base_new();
        (void)event_base_once(base, -1, EV_TIMEOUT, on_leave, NULL, &time);
        printf("left %d\n", leave_loop());
    }
}

static void run_jump(void)
{
    leave_loops();
    run_slow();
}

/* The next loop stands where on the stack the ones stood that were left, or further in. */
static void run_deeper(void)
{
    char room[20000];
    memset(room, rounds, sizeof room);
    run_slow();
    printf("room %d\n", room[rounds]);
}

static void run_left(void)
{
    leave_loops();
    spend_slowly();
    leave_loops();
}

/* The child goes on with the loop. */
static void on_fork(int fd, short what, void *argument)
{
    pid_t *child = (pid_t *)argument;
    (void)fd;
    (void)what;
    (void)fflush(stdout);
    *child = fork();
    if (*child == 0) {
        (void)event_reinit(base);
    }
}

static void run_fork(void)
{
    struct timeval time = { 0, 30000 };
    pid_t child = -1;
    int status = 0;
    rounds = 0;
    base = event_base_new();
    (void)event_base_once(base, -1, EV_TIMEOUT, on_fork, &child, &time);
    (void)event_assign(&ticks, base, -1, 0, on_tick, NULL);
    after_ms(&ticks, 5);
    printf("loop %d after %d\n", event_base_dispatch(base), rounds);
    if (child == 0) { /* its lines come first, however long it takes */
        (void)fflush(stdout);
        _exit(6);
    }
    (void)waitpid(child, &status, 0);
    printf("child %d\n", WEXITSTATUS(status));
}

static void on_exit_now(int fd, short what, void *argument)
{
    (void)fd;
    (void)what;
    (void)argument;
    puts("exits");
    exit(5);
}

static void *wait_in_thread(void *argument)
{
    struct event_base *other = event_base_new();
    struct timeval time = { 0, 2000 };
    for (int i = 0; i < 5; i++) {
        (void)event_base_once(other, -1, EV_TIMEOUT, on_slow, (void *)"in a thread", &time);
        (void)event_base_dispatch(other);
    }
    event_base_free(other);
    return argument;
}

int main(int count, char **words)
{
    const char *what = count > 1 ? words[1] : "slow";
    pthread_t thread;
    if (strcmp(what, "buffers") == 0) {
        run_buffers();
    } else if (strcmp(what, "nested") == 0) {
        run_nested();
    } else if (strcmp(what, "jump") == 0) {
        run_jump();
    } else if (strcmp(what, "deeper") == 0) {
        leave_loops();
        run_deeper();
    } else if (strcmp(what, "left") == 0) {
        run_left();
    } else if (strcmp(what, "fork") == 0) {
        run_fork();
    } else if (strcmp(what, "thread") == 0 &&
               pthread_create(&thread, NULL, wait_in_thread, NULL) == 0) {
        (void)pthread_join(thread, NULL);
    } else if (strcmp(what, "exit") == 0) {
        struct timeval time = { 0, 50000 };
        run_slow();
        base = event_base_new();
        (void)event_base_once(base, -1, EV_TIMEOUT, on_exit_now, NULL, &time);
        (void)event_base_dispatch(base);
    } else {
        run_slow();
    }
    return 3;
}
