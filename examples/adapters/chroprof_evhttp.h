/* chroprof_evhttp.h - a page of libevent's HTTP server that shows a profile of chroprof.h. Needs
 * libevent 2.1 or newer, and chroprof_query.h beside it. Include it in one file of the program, after
 * chroprof.h, and call once:
 *
 *     static unsigned char memory[1 << 20];     the block that the profile was begun in
 *     chroprof_evhttp(server, "/debug/chroprof", &prof, memory, sizeof memory);
 *
 * GET /debug/chroprof?format=FORMAT&seconds=N shows the run so far or, with N > 0, the next N
 * seconds; meanwhile the loop goes on. FORMAT, and what else may be asked for: see
 * chroprof_parse_query in chroprof_query.h. The answers:
 *
 *     200   the profile; writing it counts as the site "chroprof page"
 *     404   chroprof_parse_query does not accept the query. The body of format=trace and
 *           format=firefox, which only the command writes, says how to get them
 *     500   memory is not the profile's, or the profile was reset in the N seconds, or the page
 *           could not allocate
 *     503   another client waits for its seconds. It counts until they are over, even if that client
 *           has gone: libevent 2.1 does not notice.
 *
 * Limits: one page in each file that includes this. The server must run in the thread of the
 * profile. While a client waits, twice the size of the block is allocated, and the close callback of
 * its connection is taken. The page tells what your program does: do not expose it to the internet.
 * Pages of other origins can't read it in a browser. To let one of them, such as the Firefox
 * Profiler with "Load a profile from a URL", define before this file:
 *
 *     #define CHROPROF_EVHTTP_ORIGIN "https://profiler.firefox.com"
 *
 * License: as chroprof.h. */

#ifndef CHROPROF_EVHTTP_H
#define CHROPROF_EVHTTP_H

/* The compiler keeps to itself what it holds of our style. CHROPROF_STRICT: it tells. */
#if defined(__GNUC__) && !defined(CHROPROF_STRICT)
#pragma GCC system_header
#endif

#include <event2/buffer.h>
#include <event2/event.h>
#include <event2/http.h>
#include <stdlib.h>
#include <string.h>
#ifndef CHROPROF_H
#include "chroprof.h"
#endif
#include "chroprof_query.h"

#ifndef CHROPROF_EVHTTP_ORIGIN
#define CHROPROF_EVHTTP_ORIGIN NULL
#endif

static struct {
    chroprof *profile;
    const void *memory;
    size_t size;
    struct evhttp_request *request;         /* that waits for its seconds; NULL: none does */
    struct event *over;                     /* when they are over */
    unsigned char *copies;                  /* two blocks: as it was before, the difference */
    chroprof_query query;
} chroprof__evhttp;

static int chroprof__evhttp_put(void *to, const void *bytes, size_t count)
{
    return evbuffer_add((struct evbuffer *)to, bytes, count);
}

static void chroprof__evhttp_answer(struct evhttp_request *request, chroprof *shown,
                                    chroprof_query query)
{
    struct evbuffer *const out = evhttp_request_get_output_buffer(request);
    struct evkeyvalq *const headers = evhttp_request_get_output_headers(request);
    const char *const origin = CHROPROF_EVHTTP_ORIGIN;
    CHROPROF_SITE(site, "chroprof page");
    chroprof_enter(chroprof__evhttp.profile, &site);
    evhttp_add_header(headers, "Content-Type", query.content_type);
    if (origin != NULL) {
        evhttp_add_header(headers, "Access-Control-Allow-Origin", origin);
    }
    if (chroprof_query_write(&query, shown, chroprof__evhttp_put, out) == 0) {
        evhttp_send_reply(request, HTTP_OK, NULL, NULL);
    } else {
        evhttp_send_error(request, HTTP_INTERNAL, NULL);
    }
    chroprof_leave(chroprof__evhttp.profile);
}

/* Nobody waits any more; the copies are left. */
static void chroprof__evhttp_forget(struct evhttp_connection *connection)
{
    evhttp_connection_set_closecb(connection, NULL, NULL);
    event_free(chroprof__evhttp.over);
    chroprof__evhttp.request = NULL;
}

static void chroprof__evhttp_gone(struct evhttp_connection *connection, void *user)
{
    (void)user;
    chroprof__evhttp_forget(connection);
    free(chroprof__evhttp.copies);
}

/* Opens what happened since the copy was made. */
static chroprof_result chroprof__evhttp_difference(chroprof *view)
{
    const size_t size = chroprof__evhttp.size;
    unsigned char *const between = chroprof__evhttp.copies + size;
    chroprof_result result = chroprof_open(view, chroprof__evhttp.copies, size);
    if (result == CHROPROF_OK) {
        result = chroprof_difference(chroprof__evhttp.profile, view, between, size);
    }
    return result == CHROPROF_OK ? chroprof_open(view, between, size) : result;
}

static void chroprof__evhttp_over(evutil_socket_t fd, short what, void *user)
{
    struct evhttp_request *const request = chroprof__evhttp.request;
    chroprof view;
    chroprof_result result = chroprof__evhttp_difference(&view);
    (void)fd;
    (void)what;
    (void)user;
    chroprof__evhttp_forget(evhttp_request_get_connection(request));
    if (result == CHROPROF_OK) {
        chroprof__evhttp_answer(request, &view, chroprof__evhttp.query);
    } else {
        evhttp_send_error(request, HTTP_INTERNAL, chroprof_result_text(result));
    }
    free(chroprof__evhttp.copies);
}

/* Copies the profile as it is now, and has the rest shown when the seconds are over. */
static bool chroprof__evhttp_begin(struct event_base *base, uint32_t seconds)
{
    const size_t size = chroprof__evhttp.size;
    unsigned char *const copies = (unsigned char *)malloc(2 * size);
    struct event *const over = evtimer_new(base, chroprof__evhttp_over, NULL);
    struct timeval after;
    after.tv_sec = (time_t)seconds;
    after.tv_usec = 0;
    if (copies == NULL || over == NULL ||
        chroprof_snapshot(chroprof__evhttp.memory, size, copies, size) != CHROPROF_OK ||
        evtimer_add(over, &after) != 0) {
        if (over != NULL) {
            event_free(over);
        }
        free(copies);
        return false;
    }
    chroprof__evhttp.copies = copies;
    chroprof__evhttp.over = over;
    return true;
}

static void chroprof__evhttp_wait(struct evhttp_request *request, chroprof_query query)
{
    struct evhttp_connection *const connection = evhttp_request_get_connection(request);
    if (!chroprof__evhttp_begin(evhttp_connection_get_base(connection), query.seconds)) {
        evhttp_send_error(request, HTTP_INTERNAL, NULL);
        return;
    }
    chroprof__evhttp.query = query;
    chroprof__evhttp.request = request;
    evhttp_connection_set_closecb(connection, chroprof__evhttp_gone, NULL);
}

/* In plain text, which a terminal shows as it is. */
static void chroprof__evhttp_refuse(struct evhttp_request *request, const char *query)
{
    struct evbuffer *const out = evhttp_request_get_output_buffer(request);
    const bool trace = query != NULL && strstr(query, "format=trace") != NULL;
    const bool firefox = query != NULL && strstr(query, "format=firefox") != NULL;
    if (!trace && !firefox) {
        evhttp_send_error(request, HTTP_NOTFOUND, NULL);
        return;
    }
    evhttp_add_header(evhttp_request_get_output_headers(request), "Content-Type",
                      "text/plain; charset=utf-8");
    (void)evbuffer_add_printf(out, "This page does not write this format. Save ?format=json as FILE, "
                              "then run: chroprof %s\n",
                              trace ? "trace FILE" : "dump FILE -f firefox");
    evhttp_send_reply(request, HTTP_NOTFOUND, "Not Found", out);
}

static void chroprof__evhttp_asked(struct evhttp_request *request, void *user)
{
    const struct evhttp_uri *const uri = evhttp_request_get_evhttp_uri(request);
    chroprof_query query;
    (void)user;
    if (!chroprof_parse_query(evhttp_uri_get_query(uri), &query)) {
        chroprof__evhttp_refuse(request, evhttp_uri_get_query(uri));
    } else if (query.seconds == 0) {
        chroprof__evhttp_answer(request, chroprof__evhttp.profile, query);
    } else if (chroprof__evhttp.request == NULL) {
        chroprof__evhttp_wait(request, query);
    } else {
        evhttp_send_error(request, HTTP_SERVUNAVAIL, NULL);
    }
}

/* Adds the page to the server. profile and memory must live as long as the server. Returns 0, or
 * what evhttp_set_cb returns: -1 if the path has a callback already, -2 if no memory is left. */
static int chroprof_evhttp(struct evhttp *server, const char *path, chroprof *profile,
                           const void *memory, size_t size)
{
    chroprof__evhttp.profile = profile;
    chroprof__evhttp.memory = memory;
    chroprof__evhttp.size = size;
    return evhttp_set_cb(server, path, chroprof__evhttp_asked, NULL);
}

#endif
