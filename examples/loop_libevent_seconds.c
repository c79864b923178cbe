/* libevent: a page that tells what the next N seconds took, while the loop goes on. */
/* build: cc -O2 -Wno-unused-parameter FILE -o OUT -levent ; needs: libevent-dev */
/* GET /debug/chroprof?seconds=N takes the ranks at once and, by a timer, N seconds later. The reply
 * is their difference. One question at a time. Idle and formats are in loop_libevent.c. */
#define CHROPROF_IMPLEMENTATION /* chroprof */
#include "../chroprof.h" /* chroprof */
#include <event2/buffer.h>
#include <event2/event.h>
#include <event2/http.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static chroprof prof; /* chroprof */
CHROPROF_SITE(site_early, "on_early"); /* chroprof */
CHROPROF_SITE(site_late, "on_late"); /* chroprof */
static struct evhttp_request *waiting;
static struct event *over;
static int calls;

static void on_work(evutil_socket_t fd, short what, void *base)
{
    chroprof_enter(&prof, ++calls < 40 ? &site_early : &site_late); /* chroprof */
    for (volatile int i = calls < 40 ? 0 : 8000000; i < 10000000; i = i + 1) {}
    chroprof_leave(&prof); /* chroprof */
}

static void on_over(evutil_socket_t fd, short what, void *unused)
{
    static chroprof_rank ranks[64]; /* chroprof */
    static uint64_t before[64];
    struct evbuffer *body = evhttp_request_get_output_buffer(waiting);
    size_t count = chroprof_ranks(&prof, ranks, 64, CHROPROF_BY_EXEC); /* chroprof */
    for (size_t i = 0; i < count && i < 64; i++) {
        uint64_t *last = &before[ranks[i].id % 64];
        if (what == EV_TIMEOUT)
            evbuffer_add_printf(body, "%9.3f ms  %s\n",
                                (double)(ranks[i].exec_ns - *last) / 1e6, ranks[i].name);
        *last = ranks[i].exec_ns;
    }
    if (what != EV_TIMEOUT)
        return;
    evhttp_connection_set_closecb(evhttp_request_get_connection(waiting), NULL, NULL);
    evhttp_send_reply(waiting, 200, "OK", NULL);
    waiting = NULL;
}

static void on_gone(struct evhttp_connection *connection, void *unused)
{
    waiting = NULL;
    evtimer_del(over);
}

static void on_page(struct evhttp_request *request, void *unused)
{
    struct timeval wait = { 0, 0 };
    const char *query = evhttp_uri_get_query(evhttp_request_get_evhttp_uri(request));
    if (query == NULL || sscanf(query, "seconds=%ld", &wait.tv_sec) != 1 || wait.tv_sec <= 0) {
        evhttp_send_error(request, 400, "seconds=N is missing");
    } else if (waiting != NULL) {
        evhttp_send_error(request, 503, "Another question is being answered");
    } else {
        waiting = request;
        evhttp_connection_set_closecb(evhttp_request_get_connection(request), on_gone, NULL);
        on_over(-1, 0, NULL);
        evtimer_add(over, &wait);
    }
}

static void on_answer(struct evhttp_request *request, void *base)
{
    evbuffer_write(evhttp_request_get_input_buffer(request), STDERR_FILENO);
    fprintf(stderr, "answer after %d calls\n", calls);
    event_base_loopbreak(base);
}

int main(int argc, char **argv)
{
    if (argc != 1 && (argc != 3 || strcmp(argv[1], "--json") != 0))
        return fprintf(stderr, "usage: %s [--json FILE]\n", argv[0]), 2;
    struct timeval often = { 0, 20000 };
    struct event_base *base = event_base_new();
    struct evhttp *server = evhttp_new(base);
    uint16_t port = 8079;
    chroprof_init(&prof, malloc(1 << 20), 1 << 20, NULL); /* chroprof */
    while (evhttp_bind_socket(server, "127.0.0.1", ++port) != 0) {}
    evhttp_set_cb(server, "/debug/chroprof", on_page, NULL);
    over = evtimer_new(base, on_over, NULL);
    event_add(event_new(base, -1, EV_PERSIST, on_work, base), &often);
    while (calls < 40)
        event_base_loop(base, EVLOOP_ONCE);
    struct evhttp_connection *client = evhttp_connection_base_new(base, NULL, "127.0.0.1", port);
    evhttp_make_request(client, evhttp_request_new(on_answer, base), EVHTTP_REQ_GET,
                        "/debug/chroprof?seconds=1");
    event_base_dispatch(base);
    chroprof_dump(&prof, CHROPROF_TEXT, stdout); /* chroprof */
    if (argc == 3 && (!freopen(argv[2], "w", stdout) ||
                      chroprof_dump(&prof, CHROPROF_JSON, stdout) != 0))
        return perror(argv[2]), 2;
}
