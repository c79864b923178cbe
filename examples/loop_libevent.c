/* libevent: a server that shows its own profile on a page. Which callback holds its loop up? */
/* build: cc -O2 -Wno-unused-parameter FILE -o OUT -levent ; needs: libevent-dev */
/* GET /debug/chroprof?format=FORMAT&seconds=N: the run so far, or the next N seconds. libevent 2.1
 * has no hook around its wait, so its epoll_wait is taken over: for one loop in one thread. Lost:
 * libevent's own work, HTTP too, is loop; it does not tell what is due, so there is no delay. */
#include <event2/buffer.h>
#include <event2/event.h>
#include <event2/http.h>
#include <stdio.h>
#include <string.h>
#define CHROPROF_IMPLEMENTATION /* chroprof */
#include "../chroprof.h" /* chroprof */

static chroprof prof; /* chroprof */
static unsigned char memory[1 << 20], before[1 << 20], between[1 << 20]; /* chroprof */
CHROPROF_EPOLL_IDLE(&prof); /* chroprof */
static struct { struct evhttp_request *r; chroprof_query q; struct event *over; } wait; // page

static int put(void *to, const void *data, size_t n) { return evbuffer_add(to, data, n); } // page

static void answer(struct evhttp_request *r, chroprof *p, chroprof_query q) // page
{ // page
    CHROPROF_SCOPE(&prof, "answer"); // page
    int bad = chroprof_write(p, q.format, put, evhttp_request_get_output_buffer(r)); // page
    evhttp_add_header(evhttp_request_get_output_headers(r), "Content-Type", q.content_type); // page
    evhttp_send_reply(r, bad ? 500 : 200, NULL, NULL); // page
} // page

static void on_over(evutil_socket_t fd, short what, void *unused) // page
{ // page
    chroprof older, last = { 0 }; // page
    if (chroprof_open(&older, before, sizeof(before)) == CHROPROF_OK && // page
        chroprof_difference(&prof, &older, between, sizeof(between)) == CHROPROF_OK) // page
        chroprof_open(&last, between, sizeof(between)); // page
    evhttp_connection_set_closecb(evhttp_request_get_connection(wait.r), NULL, NULL); // page
    answer(wait.r, &last, wait.q); // page
    wait.r = NULL; // page
} // page

static void on_gone(struct evhttp_connection *connection, void *unused) // page
{ // page
    wait.r = NULL; // page
    evtimer_del(wait.over); // page
} // page

static void on_page(struct evhttp_request *r, void *unused) // page
{ // page
    chroprof_query q; // page
    const char *text = evhttp_uri_get_query(evhttp_request_get_evhttp_uri(r)); // page
    bool good = chroprof_parse_query(text, &q); // page
    if (!good || (q.seconds > 0 && wait.r != NULL)) { // page
        evhttp_send_error(r, good ? 503 : 404, NULL); // page
    } else if (q.seconds == 0) { // page
        answer(r, &prof, q); // page
    } else { // page
        chroprof_snapshot(memory, sizeof(memory), before, sizeof(before)); // page
        wait.r = r, wait.q = q; // page
        evhttp_connection_set_closecb(evhttp_request_get_connection(r), on_gone, NULL); // page
        evtimer_add(wait.over, &(struct timeval){ .tv_sec = q.seconds }); // page
    } // page
} // page

static void on_compress(evutil_socket_t fd, short what, void *timer) /* 40 times */
{
    static int calls;
    CHROPROF_SCOPE(&prof, "on_compress"); /* chroprof */
    for (volatile int i = 0; i < 8000000; i = i + 1) {}
    if (++calls == 40) event_del(timer);
}

static void on_refresh(evutil_socket_t fd, short what, void *unused)
{
    CHROPROF_SCOPE(&prof, "on_refresh"); /* chroprof */
    for (volatile int i = 0; i < 1000000; i = i + 1) {}
}

int main(int argc, char **argv)
{
    if (argc != 1 && (argc != 3 || strcmp(argv[1], "--json") != 0))
        return fprintf(stderr, "usage: %s [--json FILE]\n", argv[0]), 2;
    struct timeval often = { 0, 20000 }, end = { 4, 0 };
    struct event_base *base = event_base_new();
    struct evhttp *server = evhttp_new(base);
    uint16_t port = 8080;
    chroprof_init(&prof, memory, sizeof(memory), NULL); /* chroprof */
    while (evhttp_bind_socket(server, "127.0.0.1", port) != 0) port++;
    fprintf(stderr, "port: %d\n", port);
    wait.over = evtimer_new(base, on_over, NULL); // page
    evhttp_set_cb(server, "/debug/chroprof", on_page, NULL); // page
    event_add(event_new(base, -1, EV_PERSIST, on_compress, event_self_cbarg()), &often);
    event_add(event_new(base, -1, EV_PERSIST, on_refresh, NULL), &often);
    event_base_loopexit(base, &end);
    event_base_dispatch(base);
    chroprof_dump(&prof, CHROPROF_TEXT, stdout); /* chroprof */
    if (argc > 1 && (!freopen(argv[2], "w", stdout) || chroprof_dump(&prof, CHROPROF_JSON, stdout)))
        return perror(argv[2]), 1;
}
