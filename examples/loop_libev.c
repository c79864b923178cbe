/* libev: four readers are due at once. Which of them makes the others wait? */
/* build: cc -O2 -Wno-unused-parameter FILE -o OUT -lev ; needs: libev-dev */
/* watch() after ev_TYPE_init makes a watcher a future; w->data is taken. libev brackets its wait
 * and tells before a batch what is due. Lost: how long a descriptor was due before a wait ended. */
#define CHROPROF_IMPLEMENTATION /* chroprof */
#include "../chroprof.h" /* chroprof */
#include <ev.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

static chroprof prof; /* chroprof */
static struct task {
    ev_watcher *watcher, original;
    int depth;
} tasks[8];
static int watched, pair[2], ticks;

static void on_event(struct ev_loop *loop, ev_watcher *w, int events)
{
    struct task *task = w->data;
    task->depth++;
    chroprof_running(&prof, (uintptr_t)w); /* chroprof */
    task->original.cb(loop, w, events);
    chroprof_paused(&prof, (uintptr_t)w); /* chroprof */
    task->depth--;
}

static void watch(void *watcher, const char *name, uint32_t line)
{
    struct task *task = &tasks[watched++];
    *task = (struct task){ watcher, *(ev_watcher *)watcher, 0 };
    task->watcher->cb = on_event;
    task->watcher->data = task;
    const chroprof_site *site = chroprof_site_make(&prof, name, __FILE__, line); /* chroprof */
    chroprof_pending(&prof, (uintptr_t)watcher, site); /* chroprof */
}

static void on_release(struct ev_loop *loop)
{
    chroprof_idle_enter(&prof); /* chroprof */
}
static void on_acquire(struct ev_loop *loop)
{
    chroprof_idle_leave(&prof); /* chroprof */
}

static void on_batch(struct ev_loop *loop)
{
    for (struct task *task = tasks; task < tasks + watched; task++)
        if (ev_is_pending(task->watcher) && task->depth == 0)
            chroprof_ready(&prof, (uintptr_t)task->watcher); /* chroprof */
    ev_invoke_pending(loop);
}

static void on_read(struct ev_loop *loop, ev_io *io, int events)
{
    if (recv(io->fd, &(char){ 0 }, 1, MSG_DONTWAIT) == 1)
        for (volatile int i = ev_priority(io) ? 0 : 7900000; i < 8000000; i = i + 1) {}
}

static void on_tick(struct ev_loop *loop, ev_timer *timer, int events)
{
    ticks++;
    send(pair[0], "work", 4, 0);
    chroprof_loop_enter(&prof); /* chroprof */
    while (tasks[0].depth == 1 && ticks % 10 < 3) /* two more ticks come above this one */
        ev_run(loop, EVRUN_ONCE);
    chroprof_loop_leave(&prof); /* chroprof */
    if (ticks == 75) /* destroyed in its own slice: the pause after it finds nothing, counted */
        chroprof_completed(&prof, (uintptr_t)timer); /* chroprof */
}

int main(int argc, char **argv)
{
    struct ev_loop *loop = EV_DEFAULT;
    ev_io readers[4];
    ev_timer timer;
    if (argc != 1 && (argc != 3 || strcmp(argv[1], "--json") != 0))
        return fprintf(stderr, "usage: %s [--json FILE]\n", argv[0]), 2;
    chroprof_init(&prof, malloc(1 << 20), 1 << 20, NULL); /* chroprof */
    ev_set_loop_release_cb(loop, on_release, on_acquire);
    ev_set_invoke_pending_cb(loop, on_batch);
    ev_timer_init(&timer, on_tick, 0.02, 0.02);
    watch(&timer, "tick", __LINE__);
    ev_timer_start(loop, &timer);
    socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
    for (int i = 0; i < 4; i++) {
        ev_io_init(&readers[i], on_read, pair[1], EV_READ);
        ev_set_priority(&readers[i], i == 0);
        watch(&readers[i], i == 0 ? "parser" : "reader", __LINE__);
        ev_io_start(loop, &readers[i]);
    }
    while (ticks < 75)
        ev_run(loop, EVRUN_ONCE);
    chroprof_dump(&prof, CHROPROF_TEXT, stdout); /* chroprof */
    if (argc == 3 && (!freopen(argv[2], "w", stdout) ||
                      chroprof_dump(&prof, CHROPROF_JSON, stdout) != 0))
        return perror(argv[2]), 2;
}
