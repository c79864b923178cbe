/* sd-event: the loop split into prepare, wait and dispatch; every event source is a future. */
/* build: cc -O2 FILE -o OUT $(pkg-config --cflags --libs libsystemd) ; needs: libsystemd-dev */
/* Idle and the ends of slices are reported between these three steps. Not seen: what else was ready
 * (so there is no delay), and what comes next: the handlers report that themselves. */
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <systemd/sd-event.h>
#include <time.h>
#include <unistd.h>
#define CHROPROF_IMPLEMENTATION /* chroprof */
#include "../chroprof.h" /* chroprof */

static chroprof prof; /* chroprof */
static unsigned char memory[1 << 20]; /* chroprof */
static uintptr_t gone;
static int clients = 300, replies = 300, again;

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void name(sd_event_source *s, const char *text)
{
    sd_event_source_set_description(s, text);
    sd_event_source_set_enabled(s, SD_EVENT_ON);
    chroprof_pending(&prof, (uintptr_t)s, chroprof_site_make(&prof, text, NULL, 0)); /* chroprof */
}

static int on_message(sd_event_source *source, int fd, uint32_t events, void *answer)
{
    char text[8];
    chroprof_running(&prof, (uintptr_t)source); /* chroprof */
    if (events && read(fd, text, sizeof text) == 4 && answer && write(fd, answer, 4) != 4)
        replies = 0;
    replies -= !answer;
    gone = (uintptr_t)source; /* one message a connection: the source goes inside its own slice */
    chroprof_completed(&prof, (uintptr_t)source); /* chroprof */
    sd_event_source_unref(source); /* before its descriptor, which epoll(7) still knows */
    return close(fd);
}

static void watch(sd_event *event, int fd, const char *text, char *answer)
{
    sd_event_source *source;
    if (sd_event_add_io(event, &source, fd, EPOLLIN, on_message, answer) >= 0) name(source, text);
    again += (uintptr_t)source == gone;
}

static int on_client(sd_event_source *source, uint64_t due, void *request)
{
    int fds[2];
    chroprof_running(&prof, (uintptr_t)source); /* chroprof */
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, fds) != 0 || write(fds[0], request, 4) != 4) return -1;
    watch(sd_event_source_get_event(source), fds[1], "request", "pong");
    watch(sd_event_source_get_event(source), fds[0], "reply", NULL);
    return --clients > 0 ? sd_event_source_set_time(source, due + 5000)
                         : sd_event_source_set_enabled(source, SD_EVENT_OFF);
}

static int on_index(sd_event_source *source, uint64_t due, void *data) /* the culprit */
{
    chroprof_running(&prof, (uintptr_t)source); /* chroprof */
    for (int64_t end = now_ns() + 12000000; now_ns() < end && !data;) {}
    return sd_event_source_set_time(source, due + 60000);
}

int main(int argc, char **argv)
{
    if (argc != 1 && (argc != 3 || strcmp(argv[1], "--json") != 0))
        return fprintf(stderr, "usage: %s [--json FILE]\n", argv[0]), 2;
    chroprof_init(&prof, memory, sizeof memory, NULL); /* chroprof */
    sd_event *event;
    sd_event_source *client, *index;
    sd_event_new(&event);
    sd_event_add_time_relative(event, &client, CLOCK_MONOTONIC, 0, 1, on_client, "ping");
    sd_event_add_time_relative(event, &index, CLOCK_MONOTONIC, 0, 1, on_index, NULL);
    name(client, "client");
    name(index, "index");
    int64_t idle = 0;
    while (replies > 0) {
        int ready = sd_event_prepare(event);
        if (ready == 0) {
            chroprof_idle_enter(&prof); /* chroprof */
            idle -= now_ns();
            ready = sd_event_wait(event, UINT64_MAX);
            idle += now_ns();
            chroprof_idle_leave(&prof); /* chroprof */
        }
        if (ready > 0) sd_event_dispatch(event);
        chroprof_switch(&prof, 0); /* chroprof */
    }
    chroprof_dump(&prof, CHROPROF_TEXT, stdout); /* chroprof */
    fprintf(stderr, "independent idle: %lld\nused again: %d\n", (long long)idle, again);
    if (argc > 1 && (!freopen(argv[2], "w", stdout) || chroprof_dump(&prof, CHROPROF_JSON, stdout)))
        return perror(argv[2]), 1;
}
