/* serve.c - chroprof serve: the report pages of programs, live in a browser of this machine.
 *
 * The server is libevent's evhttp. A command that was built without it says so. It reads no profile
 * itself: that is done by children with limits (guard.h). */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "commands.h"
#include "message.h"
#include "options.h"
#include "served.h"
#include "values.h"

#define SERVE_PORT 8417

typedef struct serve_words {
    const char *operands[SERVED_OPERANDS];
    uint64_t port, seconds;
    size_t memory;
} serve_words;

static const char *set_port(void *field, const char *value)
{
    return read_count(value, 0, 65535, (uint64_t *)field) ? NULL : "expected a port, 0 to 65535";
}

static const char *set_seconds(void *field, const char *value)
{
    return read_count(value, 1, 1000, (uint64_t *)field) ? NULL : "expected seconds, 1 to 1000";
}

static const char *set_memory(void *field, const char *value)
{
    return read_size(value, (size_t *)field) && *(size_t *)field >= (size_t)64 << 20
           ? NULL : "expected a size of 64M or more, such as 4G";
}

static const tool_option serve_options[] = {
    { "port", 'p', "N", "port to listen on (default 8417); 0: any that is free", set_port,
      offsetof(serve_words, port), NULL },
    { "time", '\0', "N", "seconds of the processor that reading one profile may\n"
      "take (default 10)", set_seconds, offsetof(serve_words, seconds), NULL },
    { "memory", '\0', "SIZE", "memory that one profile may take (default 2G), its file\n"
      "an eighth of it", set_memory, offsetof(serve_words, memory), NULL }
};

static const char serve_text[] =
    "\n"
    "DIR is a folder of profiles, which may come and go. FILE is a profile of\n"
    "chroprof_map or chroprof run -o, or JSON of one. PID is a process that has one.\n"
    "The output is the address of a list of them: program, process, whether it runs,\n"
    "what stands out. Each leads to its page, which shows new figures every second.\n"
    "\n"
    "Only this machine can connect, and only these profiles are shown, but to every\n"
    "user of this machine. Of another HOST: ssh -L 8417:127.0.0.1:8417 HOST.\n"
    "Ctrl-C ends it.\n"
    "\n"
    "exit codes: 0 ended by a signal, 1 no such profile or port, 2 usage\n"
    "\n"
    "examples:\n"
    "  chroprof serve /run/chroprof\n"
    "  chroprof serve $(pidof server) --port 0\n";

#ifdef CHROPROF_LIBEVENT

#include <errno.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <event2/http.h>
#include <event2/keyvalq_struct.h>
#include <event2/listener.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "buffer.h"
#include "clock.h"
#include "guard.h"
#include "hash.h"
#include "page.h"

#ifdef CHROPROF_SERVE_PAGE
#include CHROPROF_SERVE_PAGE
#else
static const unsigned char serve_page[] = { 0 };
#endif

#define SERVE_CLIENTS 64       /* connections at a time; others wait until one has ended */
#define SERVE_PATIENCE 10      /* seconds in which a connection must get on */
#define SERVE_HURRY 2          /* seconds of the head of a request, while others wait */
#define SERVE_DESCRIPTORS (4 * SERVE_CLIENTS)
#define SERVE_HEADERS 8192     /* bytes of a request */
#define SERVE_POLICY "script-src 'unsafe-inline'"
#define SERVE_JOBS 8           /* that run at a time; others wait */
#define SERVE_ASKS 100         /* requests that one job answers */
#define SERVE_ANSWER ((size_t)256 << 20)    /* bytes of a job's answer */
#define SERVE_RESTARTS 8       /* of a list whose rows bring it to its end */
#define SERVE_LATE 2           /* seconds after which the list of before is given out */

struct serve;

typedef struct serve_page_parts {
    byte_buffer page, script;  /* as they go out */
} serve_page_parts;

typedef enum job_kind {
    JOB_LIST,
    JOB_PAGE,
    JOB_FIGURES
} job_kind;

/* An answer, once, however many get it and however slowly. */
typedef struct serve_bytes {
    char *bytes;
    size_t count;
    size_t users;
} serve_bytes;

/* What reads profiles, in a process of its own, so that none of them can hold up anybody. */
typedef struct serve_job {
    struct serve *run;
    struct serve_job *next;
    job_kind kind;
    uint64_t key;
    guard work;                /* child 0: it has not begun */
    double began;
    struct event *ready;       /* there is more to read */
    byte_buffer bytes;         /* that came, of no list */
    struct evhttp_request *asks[SERVE_ASKS];
    size_t count;
} serve_job;

typedef struct serve {
    served profiles;
    serve_page_parts report, start;         /* the page of a profile, and that of the list */
    serve_bytes *list;         /* as it was last written, and when that was; NULL: never */
    double listed, list_cost;
    served_listing listing;    /* the next one */
    unsigned restarts;
    serve_job *jobs;
    struct event *late;
    struct event_base *base;
    struct evhttp *http;
    struct evconnlistener *listener;
    struct event *signals[2];
    struct event *again;       /* when connections may be taken again */
} serve;

/* >>serve answers */

/* Takes the bytes of a buffer, the first `count` of which are an answer. NULL: there is no memory. */
static serve_bytes *share_bytes(byte_buffer *from, size_t count)
{
    serve_bytes *made = (serve_bytes *)malloc(sizeof *made);
    if (made != NULL) {
        made->bytes = from->bytes;
        made->count = count;
        made->users = 1;
        memset(from, 0, sizeof *from);
    }
    return made;
}

static void leave_bytes(serve_bytes *shared)
{
    if (shared != NULL && --shared->users == 0) {
        free(shared->bytes);
        free(shared);
    }
}

static void on_sent(const void *bytes, size_t count, void *user)
{
    (void)bytes;
    (void)count;
    leave_bytes((serve_bytes *)user);
}

/* HEAD: the same answer without its bytes. */
static bool wants_head(struct evhttp_request *request)
{
    return evhttp_request_get_command(request) == EVHTTP_REQ_HEAD;
}

static void answer_head(struct evhttp_request *request, size_t count)
{
    char length[24];
    (void)snprintf(length, sizeof length, "%zu", count);
    evhttp_add_header(evhttp_request_get_output_headers(request), "Content-Length", length);
    evhttp_send_reply(request, HTTP_OK, NULL, NULL);
}

/* Sends bytes that stay where they are; of: until all users have left them. NULL: as long as we run. */
static void answer(struct evhttp_request *request, const char *type, const void *bytes,
                   size_t count, serve_bytes *of)
{
    struct evkeyvalq *headers = evhttp_request_get_output_headers(request);
    evhttp_add_header(headers, "Content-Type", type);
    if (wants_head(request)) {
        answer_head(request, count);
        return;
    }
    if (evbuffer_add_reference(evhttp_request_get_output_buffer(request), bytes, count,
                               of != NULL ? on_sent : NULL, of) != 0) {
        evhttp_send_error(request, HTTP_INTERNAL, NULL);
        return;
    }
    if (of != NULL) {
        of->users++;
    }
    evhttp_send_reply(request, HTTP_OK, NULL, NULL);
}

/* A refusal, in words. */
static void refuse(struct evhttp_request *request, int code, const char *reason, const char *why)
{
    struct evkeyvalq *headers = evhttp_request_get_output_headers(request);
    evhttp_add_header(headers, "Content-Type", "text/plain; charset=utf-8");
    if (!wants_head(request)) {
        (void)evbuffer_add_printf(evhttp_request_get_output_buffer(request), "%s\n", why);
    }
    evhttp_send_reply(request, code, reason, NULL);
}

/* It may be made anew while a slow client takes it. */
static void answer_list(serve *run, struct evhttp_request *request)
{
    if (run->list == NULL) {
        refuse(request, HTTP_INTERNAL, "Internal Error", "the list could not be made");
        return;
    }
    answer(request, "application/json", run->list->bytes, run->list->count, run->list);
}

/* A client says which state it has; if that is still the one, it gets no other. */
static bool has_it(struct evhttp_request *request, const char *tag)
{
    const char *had = evhttp_find_header(evhttp_request_get_input_headers(request),
                                         "If-None-Match");
    return had != NULL && strcmp(had, tag) == 0;
}

/* figures: NULL if there is no memory for them. */
static void answer_figures(struct evhttp_request *request, const served_answer *got,
                           serve_bytes *figures, const char *tag)
{
    struct evkeyvalq *headers = evhttp_request_get_output_headers(request);
    if (!got->good) {
        refuse(request, HTTP_SERVUNAVAIL, "Service Unavailable", got->problem);
    } else if (figures == NULL) {
        refuse(request, HTTP_INTERNAL, "Internal Error", "not enough memory");
    } else if (has_it(request, tag)) {
        evhttp_send_reply(request, HTTP_NOTMODIFIED, NULL, NULL);
    } else {
        evhttp_add_header(headers, "ETag", tag);
        evhttp_add_header(headers, "X-Chroprof-State", got->state);
        answer(request, "application/json", figures->bytes, figures->count, figures);
    }
}

static void answer_page(struct evhttp_request *request, const byte_buffer *page)
{
    answer(request, "text/html; charset=utf-8", page->bytes, page->used, NULL);
}

static void answer_script(struct evhttp_request *request, const byte_buffer *script)
{
    answer(request, "text/javascript; charset=utf-8", script->bytes, script->used, NULL);
}

/* >>serve jobs */

static void start_jobs(serve *run);

static void work_list(void *user, FILE *out)
{
    served_list(&((serve_job *)user)->run->profiles, out);
}

static void work_profile(void *user, FILE *out)
{
    const serve_job *job = (const serve_job *)user;
    served_profile(&job->run->profiles, job->key, job->kind == JOB_FIGURES, out);
}

/* What a job of one profile says, without which it ended. */
static void job_answer(const serve_job *job, guard_end end, served_answer *got)
{
    memset(got, 0, sizeof *got);
    if (end == GUARD_DONE && job->bytes.used >= sizeof *got) {
        memcpy(got, job->bytes.bytes + job->bytes.used - sizeof *got, sizeof *got);
        got->state[sizeof got->state - 1] = got->problem[sizeof got->problem - 1] = '\0';
        return;
    }
    got->found = true;
    served_why(&job->run->profiles, end, got->problem, sizeof got->problem);
}

/* Of one profile: its figures, or its page. */
static void answer_profile(serve_job *job, guard_end end)
{
    served_answer got;
    serve_bytes *figures = NULL;
    char tag[32] = "";
    job_answer(job, end, &got);
    if (job->kind == JOB_FIGURES && got.good) {
        figures = share_bytes(&job->bytes, job->bytes.used - sizeof got);
    }
    if (figures != NULL) {
        (void)snprintf(tag, sizeof tag, "\"%016llx\"",
                       (unsigned long long)hash_bytes(figures->bytes, figures->count));
    }
    for (size_t i = 0; i < job->count; i++) {
        if (!got.found) {
            refuse(job->asks[i], HTTP_NOTFOUND, "Not Found", "there is no such profile any more");
        } else if (job->kind == JOB_PAGE) {
            answer_page(job->asks[i], &job->run->report.page);
        } else {
            answer_figures(job->asks[i], &got, figures, tag);
        }
    }
    leave_bytes(figures);
}

static void answer_job(serve_job *job, guard_end end)
{
    if (job->kind != JOB_LIST) {
        answer_profile(job, end);
    }
    for (size_t i = 0; job->kind == JOB_LIST && i < job->count; i++) {
        answer_list(job->run, job->asks[i]);
    }
    job->count = 0;
}

static void stop_job(serve_job *job)
{
    if (job->ready != NULL) {
        event_free(job->ready);
        job->ready = NULL;
    }
    (void)guard_finish(&job->work);
}

static void free_job(serve_job *job)
{
    serve_job **at = &job->run->jobs;
    while (*at != job) {
        at = &(*at)->next;
    }
    *at = job->next;
    free(job->bytes.bytes);
    free(job);
}

/* The list is made anew after a second, or less often if that takes long. */
static void keep_list(serve *run, const serve_job *job)
{
    leave_bytes(run->list);
    run->list = share_bytes(&run->listing.text, run->listing.text.used);
    run->listed = seconds_now();
    run->list_cost = run->listed - job->began;
}

static bool begin_job(serve_job *job);

/* A row has ended the making of the list: without it, from the begin. */
static bool list_again(serve_job *job, guard_end end)
{
    serve *run = job->run;
    bool again = !run->profiles.hurry && served_blame(&run->profiles, &run->listing, end);
    run->profiles.hurry = ++run->restarts >= SERVE_RESTARTS;
    return again && begin_job(job);
}

static void end_job(serve_job *job)
{
    serve *run = job->run;
    guard_end end;
    event_free(job->ready);
    job->ready = NULL;
    end = guard_finish(&job->work);
    if (job->kind == JOB_LIST && !run->listing.whole && list_again(job, end)) {
        return;
    }
    if (job->kind == JOB_LIST && run->listing.whole) {
        keep_list(run, job);
    }
    answer_job(job, end);
    free_job(job);
    start_jobs(run);
}

static void on_ready(evutil_socket_t fd, short what, void *user)
{
    static char bytes[1 << 16];
    serve_job *job = (serve_job *)user;
    ssize_t count = read(fd, bytes, sizeof bytes);
    bool more = count > 0 && job->bytes.used + (size_t)count <= SERVE_ANSWER;
    (void)what;
    if (more && job->kind == JOB_LIST) {
        more = served_collect(&job->run->listing, bytes, (size_t)count);
    } else if (more) {
        more = buffer_add(&job->bytes, bytes, (size_t)count) == 0;
    }
    if (!more && (count >= 0 || (errno != EAGAIN && errno != EINTR))) {
        end_job(job);
    }
}

static bool begin_job(serve_job *job)
{
    serve *run = job->run;
    if (job->kind == JOB_LIST) {
        served_begin(&run->listing);
    }
    if (!guard_start(&job->work, run->profiles.memory,
                     job->kind == JOB_LIST ? work_list : work_profile, job)) {
        return false;
    }
    job->ready = event_new(run->base, job->work.fd, EV_READ | EV_PERSIST, on_ready, job);
    if (job->ready == NULL || event_add(job->ready, NULL) != 0) {
        stop_job(job);
        return false;
    }
    return true;
}

/* Starts a job that waits; false: it could not be, and is gone. */
static bool start_job(serve_job *job)
{
    const struct timeval late = { SERVE_LATE, 0 };
    serve *run = job->run;
    job->began = seconds_now();
    if (job->kind == JOB_LIST) {
        run->restarts = 0;
        run->profiles.hurry = false;
        (void)evtimer_add(run->late, &late);
    }
    if (begin_job(job)) {
        return true;
    }
    for (size_t i = 0; i < job->count; i++) {
        refuse(job->asks[i], HTTP_INTERNAL, "Internal Error", "not enough memory");
    }
    free_job(job);
    return false;
}

static void start_jobs(serve *run)
{
    unsigned running = 0;
    serve_job *next;
    for (const serve_job *job = run->jobs; job != NULL; job = job->next) {
        running += job->ready != NULL;
    }
    for (serve_job *job = run->jobs; job != NULL && running < SERVE_JOBS; job = next) {
        next = job->next;
        running += job->ready == NULL && start_job(job);
    }
}

static serve_job *find_job(const serve *run, job_kind kind, uint64_t key)
{
    serve_job *job = run->jobs;
    while (job != NULL && (job->kind != kind || job->key != key)) {
        job = job->next;
    }
    return job;
}

static serve_job *add_job(serve *run, job_kind kind, uint64_t key)
{
    serve_job **end = &run->jobs;
    serve_job *job = (serve_job *)calloc(1, sizeof *job);
    while (*end != NULL) {
        end = &(*end)->next;
    }
    if (job != NULL) {
        job->run = run;
        job->kind = kind;
        job->key = key;
        job->work.fd = -1;
        *end = job;
    }
    return job;
}

/* All that ask for the same are answered by one job. */
static void ask_job(serve *run, struct evhttp_request *request, job_kind kind, uint64_t key)
{
    serve_job *job = find_job(run, kind, key);
    job = job != NULL ? job : add_job(run, kind, key);
    if (job == NULL || job->count == SERVE_ASKS) {
        refuse(request, HTTP_SERVUNAVAIL, "Service Unavailable", "too many ask for this");
        return;
    }
    job->asks[job->count++] = request;
    start_jobs(run);
}

static void ask_list(serve *run, struct evhttp_request *request)
{
    const serve_job *job = find_job(run, JOB_LIST, 0);
    double now = seconds_now();
    bool late = job != NULL && job->ready != NULL && now - job->began > SERVE_LATE;
    bool fresh = job == NULL && now - run->listed <= 0.9 + 9 * run->list_cost;
    if (run->list != NULL && (late || fresh)) {
        answer_list(run, request);
    } else {
        ask_job(run, request, JOB_LIST, 0);
    }
}

/* A profile takes its time: nobody who has a list waits for it. */
static void on_late(evutil_socket_t fd, short what, void *user)
{
    serve *run = (serve *)user;
    serve_job *job = find_job(run, JOB_LIST, 0);
    (void)fd;
    (void)what;
    if (job != NULL && job->ready != NULL && run->list != NULL) {
        answer_job(job, GUARD_DONE);
    }
}

/* >>serve requests */

/* /KEY and /KEY.json name a profile. */
static bool parse_key(const char *path, uint64_t *key, bool *json)
{
    const char *digits = path + 1;
    size_t count = strspn(digits, "0123456789abcdef");
    *json = strcmp(digits + count, ".json") == 0;
    *key = count == 16 ? strtoull(digits, NULL, 16) : 0;
    return count == 16 && (*json || digits[count] == '\0');
}

/* A page of another origin must not reach us under a name of its own that leads to this machine
 * (DNS rebinding). The port may be that of a tunnel. */
static bool host_is_local(struct evhttp_request *request)
{
    static const char *const names[] = { "127.0.0.1", "localhost", "[::1]" };
    const char *host = evhttp_find_header(evhttp_request_get_input_headers(request), "Host");
    const char *named = evhttp_uri_get_host(evhttp_request_get_evhttp_uri(request));
    for (size_t i = 0; host != NULL && named == NULL && i < sizeof names / sizeof names[0]; i++) {
        size_t length = strlen(names[i]);
        if (strncasecmp(host, names[i], length) == 0) {
            const char *rest = host + length;
            rest += *rest == ':' ? 1 + strspn(rest + 1, "0123456789") : 0;
            return *rest == '\0';
        }
    }
    return false;
}

/* Lines of the head by this name. */
static unsigned count_lines(struct evhttp_request *request, const char *name)
{
    const struct evkeyvalq *headers = evhttp_request_get_input_headers(request);
    unsigned count = 0;
    for (const struct evkeyval *line = headers->tqh_first; line != NULL; line = line->next.tqe_next) {
        count += strcasecmp(line->key, name) == 0;
    }
    return count;
}

/* What no browser sends, and what two servers in a row may read in two ways. */
static bool is_odd(struct evhttp_request *request)
{
    const char *path = evhttp_uri_get_path(evhttp_request_get_evhttp_uri(request));
    return path == NULL || path[0] != '/' || count_lines(request, "Host") > 1 ||
           count_lines(request, "Content-Length") > 1 ||
           count_lines(request, "Transfer-Encoding") > 0;
}

/* A browser says when a page of another site asks. */
static bool is_from_elsewhere(struct evhttp_request *request)
{
    const char *from = evhttp_find_header(evhttp_request_get_input_headers(request),
                                          "Sec-Fetch-Site");
    return from != NULL && strcmp(from, "cross-site") == 0;
}

static void add_headers(struct evhttp_request *request)
{
    static const char *const rows[][2] = {
        { "Cache-Control", "no-store" }, { "X-Content-Type-Options", "nosniff" },
        { "X-Frame-Options", "DENY" }, { "Referrer-Policy", "no-referrer" },
        { "Cross-Origin-Resource-Policy", "same-origin" }
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        evhttp_add_header(evhttp_request_get_output_headers(request), rows[i][0], rows[i][1]);
    }
}

/* >>serve heads: when a connection began to send the head of its request, by its descriptor. An
 * entry is of the client of that port; libevent 2.1 does not tell when a connection ends. */

typedef struct serve_head {
    double began;              /* 0: none is under way */
    unsigned port;
} serve_head;

static serve_head *head_of(evutil_socket_t fd)
{
    static serve_head heads[SERVE_DESCRIPTORS];
    return fd >= 0 && fd < SERVE_DESCRIPTORS ? &heads[fd] : NULL;
}

static unsigned peer_of(evutil_socket_t fd)
{
    struct sockaddr_in address;
    socklen_t size = sizeof address;
    memset(&address, 0, sizeof address);
    (void)getpeername(fd, (struct sockaddr *)&address, &size);
    return ntohs(address.sin_port);
}

/* Ends a connection, in words. libevent finds its end and frees it. */
static void cut_off(evutil_socket_t fd, const char *status)
{
    char text[128];
    int length = snprintf(text, sizeof text, "HTTP/1.1 %s\r\nContent-Length: 0\r\n"
                          "Connection: close\r\n\r\n", status);
    head_of(fd)->began = 0;
    (void)send(fd, text, (size_t)length, MSG_DONTWAIT | MSG_NOSIGNAL);
    (void)shutdown(fd, SHUT_RDWR);
}

/* Whenever something comes in. A head has its time, however often a byte of it comes; a NUL in it
 * would hide what follows from us, and not from others. */
static void on_bytes(struct evbuffer *buffer, const struct evbuffer_cb_info *info, void *user)
{
    evutil_socket_t fd = bufferevent_getfd((struct bufferevent *)user);
    serve_head *head = head_of(fd);
    double now = seconds_now();
    if (info->n_added == 0 || head == NULL) {
        return;
    }
    if (head->began == 0 || head->port != peer_of(fd)) {
        head->began = now;
        head->port = peer_of(fd);
    }
    if (now - head->began > SERVE_PATIENCE) {
        cut_off(fd, "408 Request Timeout");
    } else if (evbuffer_search(buffer, "", 1, NULL).pos >= 0) {
        cut_off(fd, "400 Bad Request");
    }
}

/* All places are taken, and others wait: whose head takes long gives way. */
static void hurry(void)
{
    for (evutil_socket_t fd = 0; fd < SERVE_DESCRIPTORS; fd++) {
        const serve_head *head = head_of(fd);
        if (head->began > 0 && seconds_now() - head->began > SERVE_HURRY &&
            head->port == peer_of(fd)) {
            cut_off(fd, "408 Request Timeout");
        }
    }
}

static void end_head(struct evhttp_request *request)
{
    struct evhttp_connection *connection = evhttp_request_get_connection(request);
    serve_head *head =
        head_of(bufferevent_getfd(evhttp_connection_get_bufferevent(connection)));
    if (head != NULL) {
        head->began = 0;
    }
}

static void on_request(struct evhttp_request *request, void *user)
{
    serve *run = (serve *)user;
    const char *path = evhttp_uri_get_path(evhttp_request_get_evhttp_uri(request));
    uint64_t key;
    bool json;
    end_head(request);
    add_headers(request);
    if (is_odd(request)) {
        refuse(request, HTTP_BADREQUEST, "Bad Request", "this is no request that can be answered");
    } else if (is_from_elsewhere(request)) {
        refuse(request, 403, "Forbidden", "a page of another site asks for this");
    } else if (!host_is_local(request)) {
        refuse(request, 403, "Forbidden", "open this as http://127.0.0.1 or http://localhost");
    } else if (strcmp(path, "/") == 0) {
        answer_page(request, &run->start.page);
    } else if (strcmp(path, "/list.js") == 0) {
        answer_script(request, &run->start.script);
    } else if (strcmp(path, "/report.js") == 0) {
        answer_script(request, &run->report.script);
    } else if (strcmp(path, "/profiles.json") == 0) {
        ask_list(run, request);
    } else if (!parse_key(path, &key, &json)) {
        refuse(request, HTTP_NOTFOUND, "Not Found", "there is no such page");
    } else {
        ask_job(run, request, json ? JOB_FIGURES : JOB_PAGE, key);
    }
}

/* >>serve connections: libevent 2.1 does not tell when one ends, but the system knows them all */

static unsigned open_sockets(void)
{
    struct stat facts;
    unsigned count = 0;
    for (int fd = 0; fd < SERVE_DESCRIPTORS; fd++) {
        count += fstat(fd, &facts) == 0 && S_ISSOCK(facts.st_mode);
    }
    return count;
}

/* Before a connection is taken. */
static struct bufferevent *on_connection(struct event_base *base, void *user)
{
    serve *run = (serve *)user;
    const struct timeval soon = { 0, 100000 };
    struct bufferevent *made = bufferevent_socket_new(base, -1, BEV_OPT_CLOSE_ON_FREE);
    if (made != NULL) {
        (void)evbuffer_add_cb(bufferevent_get_input(made), on_bytes, made);
    }
    if (open_sockets() >= SERVE_CLIENTS) {
        (void)evconnlistener_disable(run->listener);
        (void)evtimer_add(run->again, &soon);
    }
    return made;                            /* NULL: the usual one */
}

static void on_again(evutil_socket_t fd, short what, void *user)
{
    serve *run = (serve *)user;
    const struct timeval soon = { 0, 100000 };
    (void)fd;
    (void)what;
    hurry();
    if (open_sockets() < SERVE_CLIENTS) {
        (void)evconnlistener_enable(run->listener);
    } else {
        (void)evtimer_add(run->again, &soon);
    }
}

static void on_signal(evutil_socket_t number, short what, void *user)
{
    (void)number;
    (void)what;
    (void)event_base_loopbreak(((serve *)user)->base);
}

static void on_log(int severity, const char *text)
{
    if (severity == EVENT_LOG_ERR) {
        tool_message("serve: %s", text);
    }
}

/* >>serve run */

/* Adds what lies before a text, and something in place of that; returns what is behind it. NULL, with a
 * message: it is not there. */
static const char *add_until(byte_buffer *to, const byte_buffer *from, const char *at,
                             const char *text, const char *instead)
{
    const char *found = page_find(from, "the page", text);
    bool ok = found != NULL && found >= at && buffer_add(to, at, (size_t)(found - at)) == 0 &&
              buffer_add(to, instead, strlen(instead)) == 0;
    return ok ? found + strlen(text) : NULL;
}

/* A page whose script is a file of its own, so that nothing inside of the page is ever one. */
static bool part_page(const byte_buffer *whole, const char *connect, const char *mark,
                      const char *script, serve_page_parts *parts)
{
    static const char live[] = "<template id=\"live\"></template>";
    char element[64];
    const char *at = whole->bytes;
    (void)snprintf(element, sizeof element, "\n<script src=\"%s\"></script>\n", script);
    at = add_until(&parts->page, whole, at, SERVE_POLICY, "script-src 'self'");
    if (at != NULL && buffer_add(&parts->page, connect, strlen(connect)) != 0) {
        return false;
    }
    at = at != NULL && mark != NULL ? add_until(&parts->page, whole, at, mark, live) : at;
    at = at != NULL ? add_until(&parts->page, whole, at, "\n<script>\n", element) : NULL;
    at = at != NULL ? add_until(&parts->script, whole, at, "\n</script>\n", "\n") : NULL;
    return at != NULL &&
           buffer_add(&parts->page, at, (size_t)(whole->bytes + whole->used - at)) == 0;
}

/* The report page, which here asks for its profile and may do so, and that of the list. */
static bool make_pages(serve *run)
{
    byte_buffer report = { NULL, 0, 0 };
    byte_buffer list = { NULL, 0, 0 };
    bool ok = page_load(&report, NULL);
    if (ok && sizeof serve_page <= 1) {
        tool_message("serve: this command was built without its page; build it with make chroprof");
        ok = false;
    }
    ok = ok && buffer_add(&list, serve_page, sizeof serve_page) == 0 &&
         part_page(&report, "; connect-src 'self'", PAGE_MARK, "/report.js", &run->report) &&
         part_page(&list, "", NULL, "/list.js", &run->start);
    free(report.bytes);
    free(list.bytes);
    return ok;
}

static unsigned port_of(evutil_socket_t fd)
{
    struct sockaddr_in address;
    socklen_t size = sizeof address;
    memset(&address, 0, sizeof address);
    (void)getsockname(fd, (struct sockaddr *)&address, &size);
    return ntohs(address.sin_port);
}

static bool listen_on(serve *run, unsigned port)
{
    struct evhttp_bound_socket *bound;
    errno = 0;
    bound = evhttp_bind_socket_with_handle(run->http, "127.0.0.1", (ev_uint16_t)port);
    if (bound == NULL && errno == EADDRINUSE) {
        tool_message("serve: port %u is taken; give another by --port N, or --port 0 for any that "
                     "is free", port);
    } else if (bound == NULL) {
        tool_message("serve: port %u: %s%s", port, strerror(errno), errno == EACCES
                     ? "; give another by --port N, or --port 0 for any that is free" : "");
    } else {
        run->listener = evhttp_bound_socket_get_listener(bound);
        (void)printf("http://127.0.0.1:%u/\n", port_of(evhttp_bound_socket_get_fd(bound)));
        (void)fflush(stdout);
    }
    return bound != NULL;
}

static bool prepare(serve *run)
{
    static const int ends[] = { SIGINT, SIGTERM };
    event_set_log_callback(on_log);
    (void)signal(SIGPIPE, SIG_IGN);
    run->base = event_base_new();
    run->http = run->base != NULL ? evhttp_new(run->base) : NULL;
    if (run->http == NULL) {
        tool_message("serve: not enough memory");
        return false;
    }
    evhttp_set_allowed_methods(run->http, EVHTTP_REQ_GET | EVHTTP_REQ_HEAD);
    evhttp_set_timeout(run->http, SERVE_PATIENCE);
    evhttp_set_max_headers_size(run->http, SERVE_HEADERS);
    evhttp_set_max_body_size(run->http, 0);
    evhttp_set_bevcb(run->http, on_connection, run);
    evhttp_set_gencb(run->http, on_request, run);
    run->again = evtimer_new(run->base, on_again, run);
    run->late = evtimer_new(run->base, on_late, run);
    for (size_t i = 0; i < 2; i++) {
        run->signals[i] = evsignal_new(run->base, ends[i], on_signal, run);
        if (run->signals[i] == NULL || evsignal_add(run->signals[i], NULL) != 0) {
            return false;
        }
    }
    return run->again != NULL && run->late != NULL;
}

static void release(serve *run)
{
    for (size_t i = 0; i < 2; i++) {
        if (run->signals[i] != NULL) {
            event_free(run->signals[i]);
        }
    }
    if (run->again != NULL) {
        event_free(run->again);
    }
    if (run->late != NULL) {
        event_free(run->late);
    }
    while (run->jobs != NULL) {
        stop_job(run->jobs);
        free_job(run->jobs);
    }
    if (run->http != NULL) {
        evhttp_free(run->http);
    }
    if (run->base != NULL) {
        event_base_free(run->base);
    }
    served_free(&run->profiles);
    free(run->report.page.bytes);
    free(run->report.script.bytes);
    free(run->start.page.bytes);
    free(run->start.script.bytes);
    leave_bytes(run->list);
    free(run->listing.text.bytes);
    free(run->listing.rest.bytes);
}

static int serve_all(const serve_words *words)
{
    static serve run;
    bool ok = true;
    run.profiles.memory = words->memory;
    run.profiles.seconds = (unsigned)words->seconds;
    for (size_t i = 0; ok && words->operands[i] != NULL; i++) {
        ok = served_add(&run.profiles, words->operands[i]);
    }
    ok = ok && make_pages(&run) && prepare(&run) && listen_on(&run, (unsigned)words->port);
    ok = ok && event_base_dispatch(run.base) >= 0;
    release(&run);
    return ok ? TOOL_OK : TOOL_INPUT;
}

#else

static int serve_all(const serve_words *words)
{
    (void)words;
    tool_message("serve: this command was built without libevent. Install its headers (package "
                 "libevent-dev on Debian), and build the command with make chroprof");
    return TOOL_INPUT;
}

#endif

static int serve_run(const tool_command *command, int count, char **words)
{
    static serve_words run = { { NULL }, SERVE_PORT, 10, (size_t)2 << 30 };
    int result;
    return take_words(command, count, words, &run, run.operands, SERVED_OPERANDS - 1, &result)
           ? serve_all(&run) : result;
}

const tool_command serve_command = {
    "serve", "DIR|FILE|PID... [--port N]", { "DIR, FILE or PID" },
    "Shows the pages of running programs in a browser of this machine, live.",
    serve_text, OPTIONS_OF(serve_options), serve_run
};
