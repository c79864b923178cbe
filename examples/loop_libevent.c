/* libevent: a server that shows its own profile on a page. Which callback holds its loop up? */
/* build: cc -O2 -Wno-unused-parameter FILE -o OUT -levent ; needs: libevent-dev */
/* /debug/chroprof?format=FORMAT; loop_libevent_seconds.c adds ?seconds=N. libevent 2.1 has no hook
 * around its wait: epoll_wait is defined here, for one loop in one thread. Lost: what libevent does
 * around the callbacks, HTTP too, is loop; it does not tell what is due, so there is no delay. */
#define CHROPROF_IMPLEMENTATION /* chroprof */
#include "../chroprof.h" /* chroprof */
#include <event2/buffer.h>
#include <event2/event.h>
#include <event2/http.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>

static chroprof prof; /* chroprof */
CHROPROF_SITE(site_compress, "on_compress"); /* chroprof */
CHROPROF_SITE(site_refresh, "on_refresh"); /* chroprof */
CHROPROF_SITE(site_page, "on_page"); /* chroprof */
static int answers;
#define PAGE "/debug/chroprof"
static const char *const uris[] = {
    PAGE "?format=text", PAGE "?format=json", PAGE "?format=folded", PAGE "?format=prometheus",
    PAGE "?format=pprof", PAGE "?format=firefox", PAGE "?format=none"
};

int epoll_wait(int fd, struct epoll_event *events, int size, int ms)
{
    chroprof_idle_enter(&prof); /* chroprof */
    int count = (int)syscall(SYS_epoll_pwait, fd, events, size, ms, NULL, 8);
    chroprof_idle_leave(&prof); /* chroprof */
    return count;
}

static void on_timer(evutil_socket_t fd, short what, void *site)
{
    chroprof_enter(&prof, site); /* chroprof */
    for (volatile int i = site == &site_compress ? 0 : 5900000; i < 6000000; i = i + 1) {}
    chroprof_leave(&prof); /* chroprof */
}

static int append(void *body, const void *bytes, size_t count)
{
    return evbuffer_add(body, bytes, count);
}

static void on_page(struct evhttp_request *request, void *arg)
{
    struct evbuffer *body = evhttp_request_get_output_buffer(request);
    int format = 0;
    chroprof_enter(&prof, &site_page); /* chroprof */
    while (format < 6 && strcmp(evhttp_request_get_uri(request), uris[format]) != 0)
        format++;
    int result = chroprof_write(&prof, (chroprof_format)format, append, body); /* chroprof */
    evhttp_send_reply(request, result == 0 ? 200 : 404, NULL, NULL);
    chroprof_leave(&prof); /* chroprof */
}

static void on_answer(struct evhttp_request *request, void *base)
{
    struct evbuffer *body = evhttp_request_get_input_buffer(request);
    fprintf(stderr, "answer: %s %d %zu\n", evhttp_request_get_uri(request),
            evhttp_request_get_response_code(request), evbuffer_get_length(body));
    while (evbuffer_write(body, STDERR_FILENO) > 0) {}
    if (++answers == 7)
        event_base_loopbreak(base);
}

int main(int argc, char **argv)
{
    if (argc != 1 && (argc != 3 || strcmp(argv[1], "--json") != 0))
        return fprintf(stderr, "usage: %s [--json FILE]\n", argv[0]), 2;
    struct timeval often = { 0, 20000 }, end = { 1, 500000 };
    struct event_base *base = event_base_new();
    struct evhttp *server = evhttp_new(base);
    uint16_t port = 8080;
    chroprof_init(&prof, malloc(1 << 20), 1 << 20, NULL); /* chroprof */
    while (evhttp_bind_socket(server, "127.0.0.1", port) != 0)
        port++;
    evhttp_set_cb(server, PAGE, on_page, NULL);
    event_add(event_new(base, -1, EV_PERSIST, on_timer, (void *)&site_compress), &often);
    event_add(event_new(base, -1, EV_PERSIST, on_timer, (void *)&site_refresh), &often);
    event_base_loopexit(base, &end);
    event_base_dispatch(base);
    struct evhttp_connection *client = evhttp_connection_base_new(base, NULL, "127.0.0.1", port);
    for (int i = 0; i < 7; i++)
        evhttp_make_request(client, evhttp_request_new(on_answer, base), EVHTTP_REQ_GET, uris[i]);
    event_base_dispatch(base);
    chroprof_dump(&prof, CHROPROF_TEXT, stdout); /* chroprof */
    if (argc == 3 && (!freopen(argv[2], "w", stdout) ||
                      chroprof_dump(&prof, CHROPROF_JSON, stdout) != 0))
        return perror(argv[2]), 2;
}
