/* run_libuv.c - a small program on libuv, for tests/run_command.sh: timers, a pipe to itself, files,
 * work in threads, a message from one; the callback that is named is slow once.
 *
 *     run_libuv NAME            timer, read, write, file, work, async, check or close; both: check
 *                               three times, and the timer once in the same iteration
 *
 * It prints what it saw of itself: the test compares that with and without chroprof run. */

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <uv.h>

#include "run_slow.h"

static const char *slow_one;
static bool both;
static uv_loop_t loop;
static uv_timer_t ticks;
static uv_check_t check;
static uv_async_t message;
static uv_pipe_t ends[2];
static uv_fs_t file;
static uv_work_t work;
static char bytes[100];
static int rounds, reads, writes, works;

/* Works slowly, the first time that this one is called in the fifth round or later. */
static void slow_if(const char *name)
{
    if (rounds >= 5 && slow_one != NULL && strcmp(slow_one, name) == 0) {
        slow_one = NULL;
        spend_slowly();
    }
}

static void on_close(uv_handle_t *handle)
{
    (void)handle;
    slow_if("close");
}

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
    slow_if("read");
}

static void on_write(uv_write_t *request, int status)
{
    writes += status == 0;
    free(request);
    slow_if("write");
}

static void on_file(uv_fs_t *request)
{
    printf("file %d\n", (int)request->result);
    uv_fs_req_cleanup(request);
    slow_if("file");
}

static void in_thread(uv_work_t *request)
{
    (void)request;
    (void)uv_async_send(&message);
}

static void after_work(uv_work_t *request, int status)
{
    (void)request;
    works += status == 0;
    slow_if("work");
}

static void on_message(uv_async_t *handle)
{
    (void)handle;
    slow_if("async");
}

static void on_check(uv_check_t *handle)
{
    (void)handle;
    slow_if("check");
    if (both && rounds == 5) {
        spend_slowly();
        spend_slowly();
        spend_slowly();
    }
}

static void close_all(void)
{
    uv_close((uv_handle_t *)&ticks, on_close);
    uv_close((uv_handle_t *)&check, NULL);
    uv_close((uv_handle_t *)&message, on_close);
    uv_close((uv_handle_t *)&ends[0], on_close);
    uv_close((uv_handle_t *)&ends[1], on_close);
}

static void on_tick(uv_timer_t *timer)
{
    uv_buf_t buffer = uv_buf_init(bytes, 10);
    uv_write_t *request = (uv_write_t *)malloc(sizeof *request);
    (void)timer;
    rounds++;
    slow_if("timer");
    if (both && rounds == 6) {
        spend_slowly();
    }
    if (request != NULL) {
        (void)uv_write(request, (uv_stream_t *)&ends[1], &buffer, 1, on_write);
    }
    if (rounds == 6) {
        (void)uv_fs_open(&loop, &file, "/nowhere", O_RDONLY, 0, on_file);
    }
    if (rounds == 7) {
        (void)uv_queue_work(&loop, &work, in_thread, after_work);
    }
    if (rounds == 40) {
        close_all();
    }
}

int main(int count, char **words)
{
    int sockets[2];
    slow_one = count > 1 ? words[1] : "timer";
    both = strcmp(slow_one, "both") == 0;
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) != 0) {
        return 1;
    }
    (void)uv_loop_init(&loop);
    (void)uv_timer_init(&loop, &ticks);
    (void)uv_timer_start(&ticks, on_tick, 5, 5);
    (void)uv_check_init(&loop, &check);
    (void)uv_check_start(&check, on_check);
    (void)uv_async_init(&loop, &message, on_message);
    for (int i = 0; i < 2; i++) {
        (void)uv_pipe_init(&loop, &ends[i], 0);
        (void)uv_pipe_open(&ends[i], sockets[i]);
    }
    (void)uv_read_start((uv_stream_t *)&ends[0], on_alloc, on_read);
    (void)uv_run(&loop, UV_RUN_DEFAULT);
    printf("%d rounds, read %s, %d writes, %d works, end %d\n", rounds,
           reads >= 300 ? "all" : "less", writes, works, uv_loop_close(&loop));
    return 4;
}
