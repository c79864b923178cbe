/* run_libev.c - a small program on libev, for tests/run_command.sh; the callback that is named is
 * slow once.
 *
 *     run_libev NAME            timer, again, file, idle, prepare, check, async, once or fed
 *
 * It prints what it saw of itself: the test compares that with and without chroprof run. */

#include <ev.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "run_slow.h"

static const char *slow_one;
static int pipe_ends[2];
static int rounds, bytes, agains, idles, prepares, checks, asyncs, onces, feds, kept;
static ev_timer timer, again, never;
static ev_io file;
static ev_idle idle;
static ev_prepare prepare;
static ev_check check;
static ev_async async;
static ev_io fed;

/* Works slowly, the first time that this one is called in the fifth round or later. */
static void slow_if(const char *name)
{
    if (rounds >= 5 && slow_one != NULL && strcmp(slow_one, name) == 0) {
        slow_one = NULL;
        spend_slowly();
    }
}

#define CALLBACK(name, kind, count)                                                                \
    static void on_##name(struct ev_loop *loop, kind *w, int events)                               \
    {                                                                                              \
        (void)loop;                                                                                \
        (void)w;                                                                                   \
        (void)events;                                                                              \
        (count)++;                                                                                 \
        slow_if(#name);                                                                            \
    }

CALLBACK(again, ev_timer, agains)
CALLBACK(prepare, ev_prepare, prepares)
CALLBACK(check, ev_check, checks)
CALLBACK(async, ev_async, asyncs)
CALLBACK(fed, ev_io, feds)

static void on_idle(struct ev_loop *loop, ev_idle *w, int events)
{
    (void)events;
    idles++;
    slow_if("idle");
    ev_idle_stop(loop, w);
    kept += ev_cb(w) == on_idle; /* what it has registered is there again */
}

static void on_file(struct ev_loop *loop, ev_io *w, int events)
{
    char byte;
    (void)loop;
    bytes += (events & EV_READ) != 0 && read(w->fd, &byte, 1) == 1;
    slow_if("file");
}

static void on_once(int events, void *argument)
{
    (void)events;
    onces += argument == &onces;
    slow_if("once");
}

static void on_timer(struct ev_loop *loop, ev_timer *w, int events)
{
    (void)w;
    (void)events;
    rounds++;
    slow_if("timer");
    if (write(pipe_ends[1], "x", 1) != 1) {
        puts("not written");
    }
    ev_idle_start(loop, &idle);
    ev_async_send(loop, &async);
    ev_feed_event(loop, &fed, EV_CUSTOM);
    ev_timer_again(loop, &again);
    ev_timer_start(loop, &never);
    ev_timer_stop(loop, &never);
    if (rounds == 6) {
        ev_once(loop, -1, 0, 0.001, on_once, &onces);
    }
    if (rounds == 40) {
        ev_break(loop, EVBREAK_ALL);
    }
}

int main(int count, char **words)
{
    struct ev_loop *loop = ev_default_loop(0);
    slow_one = count > 1 ? words[1] : "timer";
    if (pipe(pipe_ends) != 0 || loop == NULL) {
        return 1;
    }
    ev_timer_init(&timer, on_timer, 0.005, 0.005);
    ev_timer_init(&again, on_again, 0, 0.002);
    ev_timer_init(&never, on_again, 9, 0);
    ev_io_init(&file, on_file, pipe_ends[0], EV_READ);
    ev_init(&fed, on_fed);
    ev_idle_init(&idle, on_idle);
    ev_prepare_init(&prepare, on_prepare);
    ev_check_init(&check, on_check);
    ev_async_init(&async, on_async);
    ev_timer_start(loop, &timer);
    ev_io_start(loop, &file);
    ev_prepare_start(loop, &prepare);
    ev_check_start(loop, &check);
    ev_async_start(loop, &async);
    ev_run(loop, 0);
    printf(
        "%d rounds, bytes %s, agains %s, idles %s, kept %d, prepares %s, asyncs %s, %d, feds %s\n",
        rounds, bytes >= 10 ? "many" : "few", agains >= 5 ? "many" : "few",
        idles >= 10 ? "many" : "few", kept == idles,
        prepares >= 10 && checks >= 10 ? "many" : "few", asyncs >= 10 ? "many" : "few", onces,
        feds >= 10 ? "many" : "few");
    return 6;
}
