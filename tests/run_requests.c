/* run_requests.c - a small program on libuv whose requests tests/run_command.sh counts: under
 * chroprof run they are futures, although nothing here tells of them.
 *
 *     run_requests
 *
 * What ends in which way is certain, whatever the machine does meanwhile. */

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <uv.h>

#define FIRST 5   /* the profile has begun by then */
#define MANY 1500 /* requests at once: more than a thread's table holds */

static uv_loop_t loop, other_loop;
static uv_timer_t ticks;
static uv_pipe_t ends[2];
static uv_sem_t go;
static uv_fs_t file;
static uv_write_t writes[MANY];
static char byte = 'x', bytes[4096];
static int rounds, stats, written, cancelled, refused, others, reads;

static void on_alloc(uv_handle_t *handle, size_t size, uv_buf_t *buffer)
{
    (void)handle;
    (void)size;
    *buffer = uv_buf_init(bytes, sizeof bytes);
}

static void on_read(uv_stream_t *stream, ssize_t count, const uv_buf_t *buffer)
{
    (void)stream;
    (void)buffer;
    reads += (int)count;
}

/* One request, at one address, again and again: from its own callback. */
static void on_stat(uv_fs_t *request)
{
    uv_fs_req_cleanup(request);
    if (++stats < 10) {
        (void)uv_fs_stat(&loop, &file, "/", on_stat);
    }
}

static void on_write(uv_write_t *request, int status)
{
    written += status == 0;
    free(request);
}

static void on_one_of_many(uv_write_t *request, int status)
{
    (void)request;
    written += status == 0;
}

static void write_one(void)
{
    uv_buf_t buffer = uv_buf_init(&byte, 1);
    uv_write_t *request = (uv_write_t *)malloc(sizeof *request);
    if (request != NULL) {
        (void)uv_write(request, (uv_stream_t *)&ends[1], &buffer, 1, on_write);
    }
}

static void write_many(void)
{
    uv_buf_t buffer = uv_buf_init(&byte, 1);
    for (int i = 0; i < MANY; i++) {
        (void)uv_write(&writes[i], (uv_stream_t *)&ends[1], &buffer, 1, on_one_of_many);
    }
}

/* Lasts until the timer lets it go. */
static void in_thread(uv_work_t *request)
{
    (void)request;
    uv_sem_wait(&go);
}

static void after_work(uv_work_t *request, int status)
{
    (void)request;
    cancelled += status == UV_ECANCELED;
}

/* There is one thread, which has the first: the second is cancelled before it begins. */
static void queue_two(void)
{
    static uv_work_t two[2];
    (void)uv_queue_work(&loop, &two[0], in_thread, after_work);
    (void)uv_queue_work(&loop, &two[1], in_thread, after_work);
    printf("cancels %d\n", uv_cancel((uv_req_t *)&two[1]));
}

static void on_connect(uv_connect_t *request, int status)
{
    (void)request;
    refused += status < 0;
}

/* One is refused at once, one by its callback. */
static void connect_twice(void)
{
    static uv_tcp_t tcp;
    static uv_pipe_t pipe;
    static uv_connect_t requests[2];
    struct sockaddr nothing;
    memset(&nothing, 0, sizeof nothing);
    (void)uv_tcp_init(&loop, &tcp);
    printf("refuses %d\n", uv_tcp_connect(&requests[0], &tcp, &nothing, on_connect) < 0);
    (void)uv_pipe_init(&loop, &pipe, 0);
    uv_pipe_connect(&requests[1], &pipe, "/nowhere/at/all", on_connect);
}

static void after_other(uv_fs_t *request)
{
    uv_fs_req_cleanup(request);
    others++;
}

static void *run_other(void *argument)
{
    (void)uv_run(&other_loop, UV_RUN_DEFAULT);
    return argument;
}

/* Created here, finished by a thread with another loop. */
static void give_away(void)
{
    static uv_fs_t request;
    pthread_t thread;
    (void)uv_loop_init(&other_loop);
    (void)uv_fs_stat(&other_loop, &request, "/", after_other);
    if (pthread_create(&thread, NULL, run_other, NULL) == 0) {
        (void)pthread_join(thread, NULL);
    }
    (void)uv_loop_close(&other_loop);
}

static void on_last_write(uv_write_t *request, int status)
{
    (void)status;
    free(request);
    uv_stop(&loop);
}

/* The last bytes are read when all writes are done. */
static void end(void)
{
    uv_buf_t buffer = uv_buf_init(&byte, 1);
    uv_write_t *request = (uv_write_t *)malloc(sizeof *request);
    (void)uv_write(request, (uv_stream_t *)&ends[1], &buffer, 1, on_last_write);
}

static void on_tick(uv_timer_t *timer)
{
    (void)timer;
    rounds++;
    if (rounds == FIRST) {
        queue_two();
        connect_twice();
        write_many();
    } else if (rounds > FIRST && rounds <= FIRST + 8) {
        write_one();
    } else if (rounds == FIRST + 10) {
        uv_sem_post(&go);
    } else if (rounds == FIRST + 14) {
        give_away();
        (void)uv_fs_stat(&loop, &file, "/", on_stat);
    } else if (rounds >= FIRST + 20 && stats == 10) {
        (void)uv_timer_stop(timer);
        end();
    }
}

int main(void)
{
    int sockets[2];
    (void)setenv("UV_THREADPOOL_SIZE", "1", 1);
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) != 0 || uv_sem_init(&go, 0) != 0) {
        return 1;
    }
    (void)uv_loop_init(&loop);
    (void)uv_timer_init(&loop, &ticks);
    (void)uv_timer_start(&ticks, on_tick, 5, 5);
    for (int i = 0; i < 2; i++) {
        (void)uv_pipe_init(&loop, &ends[i], 0);
        (void)uv_pipe_open(&ends[i], sockets[i]);
    }
    (void)uv_read_start((uv_stream_t *)&ends[0], on_alloc, on_read);
    (void)uv_run(&loop, UV_RUN_DEFAULT);
    printf("%d stats, %d written, %d cancelled, %d refused, %d others\n", stats, written, cancelled,
           refused, others);
    return reads > 0 ? 4 : 5;
}
