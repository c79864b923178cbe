/* libuv's work requests as futures: who makes finished work wait for the loop? */
/* build: cc -O2 FILE -o OUT $(pkg-config --cflags --libs libuv) ; needs: libuv1-dev */
/* A request is pending from uv_queue_work on, ready when its worker is done (the worker notes the
 * time), running in its callback, and cancelled if uv_cancel got it. This fits any request whose
 * end has a known time. Idle: see loop_libuv.c. Not seen: since when a descriptor, a timer or a
 * cancelled request was due. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <uv.h>
#define CHROPROF_IMPLEMENTATION /* chroprof */
#include "../chroprof.h" /* chroprof */

static chroprof prof; /* chroprof */
CHROPROF_EPOLL_IDLE(&prof); /* chroprof */

typedef struct job {
    uv_work_t request;
    uint64_t done; /* chroprof */
    int milliseconds, rounds; /* in the worker, in the loop */
} job;
#define ID(request) ((uintptr_t)(request))
static int ticks, cancelled, reused;
static uintptr_t gone;

static void on_work(uv_work_t *request) /* in a worker thread: it may read the clock, no more */
{
    job *work = (job *)request;
    nanosleep(&(struct timespec){ 0, work->milliseconds * 1000000 }, NULL);
    work->done = chroprof_now(&prof); /* chroprof */
}

static void on_done(uv_work_t *request, int status)
{
    job *work = (job *)request;
    if (work->done) chroprof_ready_since(&prof, ID(work), work->done); /* chroprof */
    chroprof_running(&prof, ID(work)); /* chroprof */
    for (volatile int i = status; status == 0 && i < work->rounds; i = i + 1) {}
    gone = ID(work);
    free(work);
    status ? chroprof_cancelled(&prof, gone) : chroprof_completed(&prof, gone); /* chroprof */
}

static uv_req_t *submit(uv_loop_t *loop, const char *name, int milliseconds, int rounds)
{
    job *work = calloc(1, sizeof(*work));
    if (work == NULL)
        abort();
    reused += ID(work) == gone;
    work->milliseconds = milliseconds;
    work->rounds = rounds;
    chroprof_pending(&prof, ID(work), chroprof_site_make(&prof, name, __FILE__, 0)); /* chroprof */
    uv_queue_work(loop, &work->request, on_work, on_done);
    return (uv_req_t *)work;
}

static void on_tick(uv_timer_t *timer)
{
    submit(timer->loop, "index", 2, 10000000);
    for (int i = 0; i < 3; i++)
        submit(timer->loop, "thumbnail", 3, 100000);
    uv_req_t *preview = submit(timer->loop, "preview", 3, 0); /* four workers are busy */
    cancelled += uv_cancel(preview) == 0;
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
    fprintf(stderr, "ids reused at once: %d\ncancelled: %d\n", reused, cancelled);
    if (argc > 1 && (!freopen(argv[2], "w", stdout) || chroprof_dump(&prof, CHROPROF_JSON, stdout)))
        return perror(argv[2]), 1;
}
