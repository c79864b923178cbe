/* libevent: a server that shows its own profile on a page. Which callback blocks its loop? */
/* build: cc -O2 -Wno-unused-parameter FILE -o OUT -levent ; needs: libevent-dev */
/* GET /debug/chroprof?format=FORMAT&seconds=N: the run so far, or the next N seconds. libevent 2.1
 * has no hook around its wait, so its epoll_wait is replaced, for one loop in one thread. Its own
 * work, HTTP too, is uninstrumented. Not seen: what is due, so there is no delay. */
#include <event2/buffer.h>
#include <event2/event.h>
#include <event2/http.h>
#include <stdio.h>
#include <string.h>
#define CHROPROF_IMPLEMENTATION /* chroprof */
#include "../chroprof.h" /* chroprof */
#include "adapters/chroprof_evhttp.h" /* chroprof */

static chroprof prof; /* chroprof */
static unsigned char memory[1 << 20]; /* chroprof */
CHROPROF_EPOLL_IDLE(&prof); /* chroprof */

static void on_compress(evutil_socket_t fd, short what, void *timer) /* 40 times */
{
    static int calls;
    CHROPROF_SCOPE(&prof, "on_compress"); /* chroprof */
    for (volatile int i = 0; i < 8000000; i = i + 1) {}
    if (++calls == 40) {
        event_del(timer);
        event_base_loopexit(event_get_base(timer), &(struct timeval){ 5, 0 });
    }
}

static void on_refresh(evutil_socket_t fd, short what, void *unused)
{
    CHROPROF_SCOPE(&prof, "on_refresh"); /* chroprof */
    for (volatile int i = 0; i < 100000; i = i + 1) {}
}

int main(int argc, char **argv)
{
    if (argc != 1 && (argc != 3 || strcmp(argv[1], "--json") != 0))
        return fprintf(stderr, "usage: %s [--json FILE]\n", argv[0]), 2;
    struct timeval often = { 0, 20000 };
    struct event_base *base = event_base_new();
    struct evhttp *server = evhttp_new(base);
    uint16_t port = 8080;
    chroprof_init(&prof, memory, sizeof(memory), NULL); /* chroprof */
    while (evhttp_bind_socket(server, "127.0.0.1", port) != 0) port++;
    fprintf(stderr, "port: %d\n", port);
    chroprof_evhttp(server, "/debug/chroprof", &prof, memory, sizeof(memory)); /* chroprof */
    event_add(event_new(base, -1, EV_PERSIST, on_compress, event_self_cbarg()), &often);
    event_add(event_new(base, -1, EV_PERSIST, on_refresh, NULL), &often);
    event_base_dispatch(base);
    chroprof_dump(&prof, CHROPROF_TEXT, stdout); /* chroprof */
    if (argc > 1 && (!freopen(argv[2], "w", stdout) || chroprof_dump(&prof, CHROPROF_JSON, stdout)))
        return perror(argv[2]), 1;
}
