/* chroprof_run_libuv.c - wraps the functions of libuv that take callbacks.
 *
 * These are public and have the same parameters in every 1.x. Only programs that link libuv get
 * this library. It leaves out callbacks that run at once (uv_walk), run in threads without a loop
 * (the first one of uv_queue_work), or only provide a buffer (alloc_cb). It also leaves out
 * uv_spawn, whose callback is in a struct.
 *
 * Requests are futures from the call until their callback has run. Until then they wait: nobody can
 * see from outside when the system or a thread is done with one. */

#define _GNU_SOURCE
#include <errno.h>
#include <stdint.h>
#include <sys/socket.h>

#include "callbacks.h"

#define CALL(name, parameters, arguments) STAND_BEFORE(int, name, parameters, arguments, -ENOSYS)

/* A function that takes `request` and calls `called` with it once, unless it returns an error. The
 * call counts as waiting: it may do some of the work. */
#define REQUEST_WITH(told, name, parameters, arguments)                                            \
    STAND_AROUND(int, name, parameters, arguments, -ENOSYS,                                        \
                 callback *ours = begin_request(called, request, told),                            \
                 refuse_request(called, ours, request, result))
#define REQUEST(name, parameters, arguments) REQUEST_WITH(true, name, parameters, arguments)

static void tell_request(future_step step, callback *standin, const void *request, bool status)
{
    loop_future told;
    memset(&told, 0, sizeof told);
    told.standin = standin;
    told.first = (uintptr_t)request;
    told.of = request;
    told.status = status;
    chroprof_run_future(step, &told);
}

/* What to hand on as its callback, which gets a status as its second argument or does not. */
static callback *begin_request(callback *called, const void *request, bool status)
{
    callback *ours = OURS(called);
    if (ours != called && chroprof_run_future != NULL) {
        tell_request(FUTURE_WAITS, ours, request, status);
    }
    return ours;
}

static inline void refuse_request(callback *called, callback *ours, const void *request, int result)
{
    if (result < 0 && ours != called && chroprof_run_future != NULL) {
        tell_request(FUTURE_REFUSED, ours, request, true);
    }
}

/* >>handles */

CALL(uv_timer_start, (void *timer, callback *called, uint64_t time, uint64_t repeat),
     (timer, OURS(called), time, repeat))
CALL(uv_poll_start, (void *poll, int events, callback *called), (poll, events, OURS(called)))
CALL(uv_idle_start, (void *idle, callback *called), (idle, OURS(called)))
CALL(uv_prepare_start, (void *prepare, callback *called), (prepare, OURS(called)))
CALL(uv_check_start, (void *check, callback *called), (check, OURS(called)))
CALL(uv_async_init, (void *loop, void *async, callback *called), (loop, async, OURS(called)))
CALL(uv_signal_start, (void *signal, callback *called, int number),
     (signal, OURS(called), number))
CALL(uv_signal_start_oneshot, (void *signal, callback *called, int number),
     (signal, OURS(called), number))
CALL(uv_fs_event_start, (void *event, callback *called, const char *path, unsigned flags),
     (event, OURS(called), path, flags))
CALL(uv_fs_poll_start, (void *poll, callback *called, const char *path, unsigned interval),
     (poll, OURS(called), path, interval))
STAND_BEFORE_VOID(uv_close, (void *handle, callback *called), (handle, OURS(called)))

/* >>streams and datagrams */

CALL(uv_listen, (void *stream, int backlog, callback *called), (stream, backlog, OURS(called)))
CALL(uv_read_start, (void *stream, callback *alloc, callback *called),
     (stream, alloc, OURS(called)))
REQUEST(uv_write,
        (void *request, void *stream, const void *buffers, unsigned count, callback *called),
        (request, stream, buffers, count, ours))
REQUEST(uv_write2,
        (void *request, void *stream, const void *buffers, unsigned count, void *sent,
         callback *called),
        (request, stream, buffers, count, sent, ours))
REQUEST(uv_shutdown, (void *request, void *stream, callback *called), (request, stream, ours))
REQUEST(uv_tcp_connect,
        (void *request, void *tcp, const struct sockaddr *address, callback *called),
        (request, tcp, address, ours))
STAND_BEFORE_VOID(uv_pipe_connect,
                  (void *request, void *pipe, const char *name, callback *called),
                  (request, pipe, name, begin_request(called, request, true)))
REQUEST(uv_pipe_connect2,
        (void *request, void *pipe, const char *name, size_t length, unsigned flags,
         callback *called),
        (request, pipe, name, length, flags, ours))
REQUEST(uv_udp_send,
        (void *request, void *udp, const void *buffers, unsigned count,
         const struct sockaddr *address, callback *called),
        (request, udp, buffers, count, address, ours))
CALL(uv_udp_recv_start, (void *udp, callback *alloc, callback *called),
     (udp, alloc, OURS(called)))

/* >>work that threads do: what is called when it is done */

REQUEST(uv_queue_work, (void *loop, void *request, callback *work, callback *called),
        (loop, request, work, ours))
REQUEST(uv_getaddrinfo,
        (void *loop, void *request, callback *called, const char *node, const char *service,
         const void *hints),
        (loop, request, ours, node, service, hints))
REQUEST(uv_getnameinfo,
        (void *loop, void *request, callback *called, const struct sockaddr *address, int flags),
        (loop, request, ours, address, flags))
REQUEST(uv_random,
        (void *loop, void *request, void *bytes, size_t count, unsigned flags, callback *called),
        (loop, request, bytes, count, flags, ours))

/* >>files; without a callback they do it at once */

#define FILE_CALL(name, parameter, argument)                                                       \
    REQUEST_WITH(false, name, (void *loop, void *request, parameter, callback *called),            \
                 (loop, request, argument, ours))
#define FILE_CALL_2(name, first, second, a, b)                                                     \
    REQUEST_WITH(false, name, (void *loop, void *request, first, second, callback *called),        \
                 (loop, request, a, b, ours))
#define FILE_CALL_3(name, first, second, third, a, b, c)                                           \
    REQUEST_WITH(false, name,                                                                      \
                 (void *loop, void *request, first, second, third, callback *called),              \
                 (loop, request, a, b, c, ours))
#define FILE_CALL_4(name, first, second, third, fourth, a, b, c, d)                                \
    REQUEST_WITH(false, name,                                                                      \
                 (void *loop, void *request, first, second, third, fourth, callback *called),      \
                 (loop, request, a, b, c, d, ours))

FILE_CALL(uv_fs_close, int file, file)
FILE_CALL(uv_fs_fsync, int file, file)
FILE_CALL(uv_fs_fdatasync, int file, file)
FILE_CALL(uv_fs_fstat, int file, file)
FILE_CALL(uv_fs_stat, const char *path, path)
FILE_CALL(uv_fs_lstat, const char *path, path)
FILE_CALL(uv_fs_statfs, const char *path, path)
FILE_CALL(uv_fs_unlink, const char *path, path)
FILE_CALL(uv_fs_rmdir, const char *path, path)
FILE_CALL(uv_fs_mkdtemp, const char *path, path)
FILE_CALL(uv_fs_mkstemp, const char *path, path)
FILE_CALL(uv_fs_readlink, const char *path, path)
FILE_CALL(uv_fs_realpath, const char *path, path)
FILE_CALL(uv_fs_opendir, const char *path, path)
FILE_CALL(uv_fs_readdir, void *folder, folder)
FILE_CALL(uv_fs_closedir, void *folder, folder)
FILE_CALL_2(uv_fs_mkdir, const char *path, int mode, path, mode)
FILE_CALL_2(uv_fs_access, const char *path, int mode, path, mode)
FILE_CALL_2(uv_fs_chmod, const char *path, int mode, path, mode)
FILE_CALL_2(uv_fs_fchmod, int file, int mode, file, mode)
FILE_CALL_2(uv_fs_scandir, const char *path, int flags, path, flags)
FILE_CALL_2(uv_fs_ftruncate, int file, int64_t size, file, size)
FILE_CALL_2(uv_fs_rename, const char *path, const char *other, path, other)
FILE_CALL_2(uv_fs_link, const char *path, const char *other, path, other)
FILE_CALL_3(uv_fs_symlink, const char *path, const char *other, int flags, path, other, flags)
FILE_CALL_3(uv_fs_copyfile, const char *path, const char *other, int flags, path, other, flags)
FILE_CALL_3(uv_fs_open, const char *path, int flags, int mode, path, flags, mode)
FILE_CALL_3(uv_fs_utime, const char *path, double access, double change, path, access, change)
FILE_CALL_3(uv_fs_futime, int file, double access, double change, file, access, change)
FILE_CALL_3(uv_fs_lutime, const char *path, double access, double change, path, access, change)
FILE_CALL_3(uv_fs_chown, const char *path, unsigned user, unsigned group, path, user, group)
FILE_CALL_3(uv_fs_fchown, int file, unsigned user, unsigned group, file, user, group)
FILE_CALL_3(uv_fs_lchown, const char *path, unsigned user, unsigned group, path, user, group)
FILE_CALL_4(uv_fs_read, int file, const void *buffers, unsigned count, int64_t offset, file,
            buffers, count, offset)
FILE_CALL_4(uv_fs_write, int file, const void *buffers, unsigned count, int64_t offset, file,
            buffers, count, offset)
FILE_CALL_4(uv_fs_sendfile, int to, int from, int64_t offset, size_t count, to, from, offset,
            count)

/* >>loops */

STAND_LOOP(int, uv_run, (void *loop, int mode), (loop, mode), 0)
