/* libev: four readers are due at once. Which of them makes the others wait? */
/* build: cc -O2 -Wno-unused-parameter FILE -o OUT -lev ; needs: libev-dev */
/* libev calls us around its wait and before each batch: what runs in a batch was due by then. A
 * reader is a future with the address of its watcher, which may be freed and used again. Not seen:
 * how long a descriptor was due before its batch. */
#include <ev.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#define CHROPROF_IMPLEMENTATION /* chroprof */
#include "../chroprof.h" /* chroprof */
#include "adapters/chroprof_libev.h" /* chroprof */

static chroprof prof; /* chroprof */

#define ID(watcher) ((uintptr_t)(watcher))
static int pair[2], ticks, under_way, ticking, reused;
static uintptr_t gone;

static void on_read(EV_P_ ev_io *io, int events)
{
    chroprof_ready_since(&prof, ID(io), chroprof_libev_due()); /* chroprof */
    chroprof_running(&prof, ID(io)); /* chroprof */
    if (recv(io->fd, &(char){ 0 }, 1, MSG_DONTWAIT) == 1)
        for (volatile int i = ev_priority(io) ? 0 : 7900000; i < 8000000; i = i + 1) {}
    ev_io_stop(EV_A_ io);
    gone = ID(io);
    free(io);
    under_way--;
    chroprof_completed(&prof, gone); /* in its own slice */ /* chroprof */
}

static void reader_new(EV_P_ int priority)
{
    const char *name = priority ? "parser" : "reader";
    ev_io *io = malloc(sizeof(*io));
    ev_io_init(io, on_read, pair[1], EV_READ);
    ev_set_priority(io, priority);
    ev_io_start(EV_A_ io);
    under_way++;
    reused += ID(io) == gone;
    chroprof_pending(&prof, ID(io), chroprof_site_make(&prof, name, __FILE__, 0)); /* chroprof */
}

static void on_tick(EV_P_ ev_timer *timer, int events)
{
    CHROPROF_SCOPE(&prof, "tick"); /* chroprof */
    for (int i = 0; ticks % 2 == 0 && i < 4; i++)
        reader_new(EV_A_ i == 0);
    if (ticks++ % 2 == 1)
        send(pair[0], "work", 4, 0); /* to the readers of the tick before */
    if (ticks == 76)
        ev_timer_stop(EV_A_ timer);
    ticking++;
    while (ticking == 1 && ticks % 10 < 3 && ticks < 76) /* more ticks come above this one */
        ev_run(EV_A_ EVRUN_ONCE);
    ticking--;
}

int main(int argc, char **argv)
{
    struct ev_loop *loop = EV_DEFAULT;
    ev_timer timer;
    if (argc != 1 && (argc != 3 || strcmp(argv[1], "--json") != 0))
        return fprintf(stderr, "usage: %s [--json FILE]\n", argv[0]), 2;
    chroprof_init(&prof, malloc(1 << 20), 1 << 20, NULL); /* chroprof */
    chroprof_libev(&prof, loop); /* chroprof */
    socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
    ev_timer_init(&timer, on_tick, 0.02, 0.02);
    ev_timer_start(loop, &timer);
    while (ticks < 76 || under_way > 0)
        ev_run(loop, EVRUN_ONCE);
    chroprof_dump(&prof, CHROPROF_TEXT, stdout); /* chroprof */
    fprintf(stderr, "ids reused at once: %d\n", reused);
    if (argc > 1 && (!freopen(argv[2], "w", stdout) || chroprof_dump(&prof, CHROPROF_JSON, stdout)))
        return perror(argv[2]), 1;
}
