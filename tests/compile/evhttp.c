/* chroprof_evhttp.h in C and C++: a server and its client in one loop; the page of the run, of a
 * format that does not exist, of the next second, of one that another waits for, and of a trace, which
 * says how to get one; the next seconds of a profile that is not in that memory are no page, at once.
 * Exit status 0: right. */
#include <event2/buffer.h>
#include <event2/event.h>
#include <event2/http.h>
#define CHROPROF_IMPLEMENTATION
#include "../../chroprof.h"
#include "../../examples/adapters/chroprof_evhttp.h"

static chroprof prof;
static unsigned char memory[1 << 17];

static const char *const asked[] = {
    "",           "?format=json",  "?format=none", "?seconds=1&format=folded",
    "?seconds=1", "?format=trace", "?seconds=60"
};
static const int wanted[] = { 200, 200, 404, 200, 503, 404, 500 };
enum { TRACE = 5, ASKED, ELSEWHERE = ASKED };
static int answered, right;

/* Pages of other origins may read it only if the program says which. */
static int is_open(struct evhttp_request *request)
{
    const char *origin = CHROPROF_EVHTTP_ORIGIN;
    const char *said = evhttp_find_header(evhttp_request_get_input_headers(request),
                                          "Access-Control-Allow-Origin");
    return origin != NULL ? said != NULL && strcmp(said, origin) == 0 : said == NULL;
}

/* Does it say what to do? */
static int helps(struct evhttp_request *request)
{
    const char *type =
        evhttp_find_header(evhttp_request_get_input_headers(request), "Content-Type");
    struct evbuffer *body = evhttp_request_get_input_buffer(request);
    const char *what = "chroprof trace FILE\n";
    return type != NULL && strncmp(type, "text/plain", 10) == 0 &&
           evbuffer_search(body, what, strlen(what), NULL).pos > 0;
}

static void on_reply(struct evhttp_request *request, void *which)
{
    const int *status = (const int *)which;
    if (request != NULL && *status == 200 && !is_open(request))
        right = -100;
    if (request != NULL && status == &wanted[TRACE] && !helps(request))
        right = -100;
    right += request != NULL && evhttp_request_get_response_code(request) == *status;
    right +=
        request != NULL && (*status != 200 || status == &wanted[3] ||
                            evbuffer_get_length(evhttp_request_get_input_buffer(request)) > 100);
    answered++;
}

static void ask(struct event_base *base, int port, int which)
{
    struct evhttp_connection *connection =
        evhttp_connection_base_new(base, NULL, "127.0.0.1", (unsigned short)port);
    struct evhttp_request *request = evhttp_request_new(on_reply, (void *)(intptr_t)&wanted[which]);
    char path[64] = "/page";
    strcat(path, asked[which]);
    evhttp_connection_free_on_completion(connection);
    evhttp_make_request(connection, request, EVHTTP_REQ_GET, path);
}

/* Asked for the profile of an array in which there is none. */
static int elsewhere(struct event_base *base, int port)
{
    static unsigned char other[1 << 17];
    struct timeval limit;
    limit.tv_sec = 10;
    limit.tv_usec = 0;
    if (chroprof_init(&prof, other, sizeof(other), NULL) != CHROPROF_OK)
        return 0;
    memset(memory, 0, sizeof(memory));
    ask(base, port, ELSEWHERE);
    event_base_loopexit(base, &limit);
    while (answered == ELSEWHERE && !event_base_got_exit(base))
        event_base_loop(base, EVLOOP_ONCE);
    return answered == ELSEWHERE + 1 && right == 2 * answered;
}

int main(void)
{
    struct event_base *base = event_base_new();
    struct evhttp *server = evhttp_new(base);
    int port = 18080;
    if (chroprof_init(&prof, memory, sizeof(memory), NULL) != CHROPROF_OK)
        return 1;
    while (evhttp_bind_socket(server, "127.0.0.1", (unsigned short)port) != 0 && port < 18180)
        port++;
    if (chroprof_evhttp(server, "/page", &prof, memory, sizeof(memory)) != 0 ||
        chroprof_evhttp(server, "/page", &prof, memory, sizeof(memory)) == 0)
        return 5; /* one callback a path */
    for (int i = 0; i < ASKED; i++)
        ask(base, port, i);
    while (answered < ASKED && event_base_loop(base, EVLOOP_ONCE) == 0) {}
    if (answered != ASKED || right != 2 * ASKED || chroprof_check(&prof) != NULL)
        return 2;
    if (!elsewhere(base, port))
        return 3;
    evhttp_free(server);
    for (int i = 0; i < 9; i++) /* libevent frees connections a callback later */
        event_base_loop(base, EVLOOP_NONBLOCK);
    event_base_free(base);
    return chroprof_check(&prof) == NULL ? 0 : 4;
}
