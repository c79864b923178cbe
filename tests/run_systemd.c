/* run_systemd.c - a small program on sd-event, for tests/run_command.sh; the callback that is named
 * is slow once.
 *
 *     run_systemd NAME          timer, file, later or post
 *
 * It prints what it saw of itself: the test compares that with and without chroprof run. */

#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <systemd/sd-event.h>
#include <time.h>
#include <unistd.h>

#include "run_slow.h"

static const char *slow_one;
static int pipe_ends[2];
static int rounds, bytes, posts, laters;

/* Works slowly, the first time that this one is called in the fifth round or later. */
static void slow_if(const char *name)
{
    if (rounds >= 5 && slow_one != NULL && strcmp(slow_one, name) == 0) {
        slow_one = NULL;
        spend_slowly();
    }
}

static int on_later(sd_event_source *source, void *argument)
{
    (void)source;
    (void)argument;
    laters++;
    slow_if("later");
    return 0;
}

static int on_post(sd_event_source *source, void *argument)
{
    (void)source;
    (void)argument;
    posts++;
    slow_if("post");
    return 0;
}

static int on_file(sd_event_source *source, int fd, uint32_t events, void *argument)
{
    char byte;
    (void)source;
    (void)argument;
    bytes += events == EPOLLIN && read(fd, &byte, 1) == 1;
    slow_if("file");
    return 0;
}

static int on_timer(sd_event_source *source, uint64_t now, void *argument)
{
    sd_event *loop = (sd_event *)argument;
    rounds++;
    slow_if("timer");
    if (write(pipe_ends[1], "x", 1) != 1) {
        puts("not written");
    }
    if (rounds == 6) {
        (void)sd_event_add_defer(loop, NULL, on_later, NULL);
    }
    if (rounds == 40) {
        return sd_event_exit(loop, 7);
    }
    (void)sd_event_source_set_time(source, now + 5000);
    return sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
}

int main(int count, char **words)
{
    sd_event *loop = NULL;
    uint64_t now = 0;
    int result;
    slow_one = count > 1 ? words[1] : "timer";
    if (pipe(pipe_ends) != 0 || sd_event_new(&loop) < 0) {
        return 1;
    }
    (void)sd_event_now(loop, CLOCK_MONOTONIC, &now);
    (void)sd_event_add_time(loop, NULL, CLOCK_MONOTONIC, now + 5000, 1, on_timer, loop);
    (void)sd_event_add_io(loop, NULL, pipe_ends[0], EPOLLIN, on_file, NULL);
    (void)sd_event_add_post(loop, NULL, on_post, NULL);
    result = sd_event_loop(loop);
    (void)sd_event_unref(loop);
    printf("%d rounds, bytes %s, posts %s, %d laters, end %d\n", rounds,
           bytes >= 35 ? "all" : "less", posts >= 35 ? "all" : "less", laters, result);
    return 6;
}
