/* libuv's work requests as futures: who makes finished work wait for the loop? */
/* build: cc -O2 FILE -o OUT $(pkg-config --cflags --libs libuv) ; needs: libuv1-dev */
/* A request is pending from uv_queue_work on, ready once its worker is done (the worker notes the
 * time), running in its callback; this fits any request of which the end is known by time.
 * Idle: see loop_libuv.c. Lost: libuv does not tell since when a descriptor or a timer was due. */
#define CHROPROF_IMPLEMENTATION /* chroprof */
#include "../chroprof.h" /* chroprof */
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <uv.h>

typedef struct job {
    uv_work_t request;
    uint64_t done; /* chroprof */
    int rounds;
} job;

static chroprof prof; /* chroprof */
CHROPROF_SITE(site_thumbnail, "thumbnail"); /* chroprof */
CHROPROF_SITE(site_index, "index"); /* chroprof */
static int ticks, reused;
static uintptr_t last_freed;

int epoll_pwait(int fd, struct epoll_event *events, int size, int ms, const sigset_t *mask)
{
    chroprof_idle_enter(&prof); /* chroprof */
    int count = (int)syscall(SYS_epoll_pwait, fd, events, size, ms, mask, _NSIG / 8);
    chroprof_idle_leave(&prof); /* chroprof */
    return count;
}

int epoll_wait(int fd, struct epoll_event *events, int size, int ms)
{
    return epoll_pwait(fd, events, size, ms, NULL);
}

/* In a worker thread, which may read the clock and touch nothing else of the profile. */
static void on_work(uv_work_t *request)
{
    nanosleep(&(struct timespec){ 0, 2000000 }, NULL);
    ((job *)request)->done = chroprof_now(&prof); /* chroprof */
}

static void on_done(uv_work_t *request, int status)
{
    job *work = (job *)request;
    chroprof_ready_since(&prof, (uintptr_t)work, work->done); /* chroprof */
    chroprof_running(&prof, (uintptr_t)work); /* chroprof */
    for (volatile int i = status; i < work->rounds; i = i + 1) {}
    last_freed = (uintptr_t)work;
    free(work);
    chroprof_completed(&prof, last_freed); /* chroprof */
}

static void submit(uv_loop_t *loop, const chroprof_site *site, int rounds)
{
    job *work = calloc(1, sizeof(*work));
    reused += (uintptr_t)work == last_freed;
    work->rounds = rounds;
    chroprof_pending(&prof, (uintptr_t)work, site); /* chroprof */
    uv_queue_work(loop, &work->request, on_work, on_done);
}

static void on_tick(uv_timer_t *timer)
{
    submit(timer->loop, &site_index, 10000000);
    for (int i = 0; i < 3; i++)
        submit(timer->loop, &site_thumbnail, 100000);
    if (++ticks == 50)
        uv_close((uv_handle_t *)timer, NULL);
}

int main(int argc, char **argv)
{
    uv_loop_t *loop = uv_default_loop();
    uv_timer_t timer;
    if (argc != 1 && (argc != 3 || strcmp(argv[1], "--json") != 0))
        return fprintf(stderr, "usage: %s [--json FILE]\n", argv[0]), 2;
    chroprof_init(&prof, malloc(1 << 20), 1 << 20, NULL); /* chroprof */
    uv_loop_configure(loop, UV_METRICS_IDLE_TIME);
    uv_timer_init(loop, &timer);
    uv_timer_start(&timer, on_tick, 20, 20);
    uv_run(loop, UV_RUN_DEFAULT);
    chroprof_dump(&prof, CHROPROF_TEXT, stdout); /* chroprof */
    fprintf(stderr, "independent idle: %llu\n", (unsigned long long)uv_metrics_idle_time(loop));
    fprintf(stderr, "ids reused at once: %d\n", reused);
    if (argc == 3 && (!freopen(argv[2], "w", stdout) ||
                      chroprof_dump(&prof, CHROPROF_JSON, stdout) != 0))
        return perror(argv[2]), 2;
}
