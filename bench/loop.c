/* A real loop: a server on epoll answers requests over loopback, round by round with and without
 * chroprof; its CPU time a request, as a ratio.
 *
 *   loop [ROUNDS] [REQUESTS] [KIND]      default 101 rounds, 2000 requests a round, every kind
 *
 * A child process sends the requests. Each is a future: pending, running, completed, between enter
 * and leave of the callback that reads. The kinds differ in what an iteration of the loop holds.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "../chroprof.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MAX_CONNECTIONS = 50, DEPTH = 16, TIMERS = 256, ANSWER_BYTES = 1024, MAX_ROUNDS = 1001 };

static const char request[] =
    "GET /items/4711?fields=name,price HTTP/1.1\r\nHost: localhost\r\nUser-Agent: bench\r\n"
    "Accept: text/html,application/xhtml+xml\r\nAccept-Encoding: gzip, deflate\r\n"
    "Cookie: session=0123456789abcdef0123456789abcdef\r\nConnection: keep-alive\r\n\r\n";
enum { REQUEST = sizeof request - 1 };

/* What a client has under way at once: on so many connections in turn (together) or one by one, so
 * many requests in one write; and so many timers that are due in each iteration. */
typedef struct kind {
    const char *name;
    int connections;
    bool together;
    int pipelined;
    int due;
} kind;

static const kind kinds[] = { { "one request an iteration, 50 connections", 50, false, 1, 0 },
                              { "8 connections at once", 8, true, 1, 0 },
                              { "16 requests pipelined", 8, false, DEPTH, 0 },
                              { "one request and 8 timers an iteration", 8, false, 1, 8 } };

typedef struct connection {
    int fd;
    size_t got;
    char bytes[DEPTH * REQUEST];
} connection;

typedef struct server {
    chroprof prof;
    int epoll;
    int due;
    uint64_t requests;
    uint64_t random;
    uint64_t timers[TIMERS];            /* a heap of times, the earliest first */
    connection connections[MAX_CONNECTIONS];
    char answer[ANSWER_BYTES];
} server;

CHROPROF_SITE(site_readable, "on_readable");
CHROPROF_SITE(site_request, "request");
CHROPROF_SITE(site_timer, "on_timer");

static void fail(const char *what)
{
    perror(what);
    exit(1);
}

static double cpu_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

/* The work of a request: its header lines are walked through, a page is filled in. */
static size_t make_answer(server *s, const char *from)
{
    uint32_t lines = 0, sum = 0;
    for (int k = 0; k < REQUEST; k++) {
        lines += from[k] == '\n';
        sum = sum * 31 + (unsigned char)from[k];
    }
    int head = snprintf(s->answer, sizeof s->answer, "HTTP/1.1 200 OK\r\nX-Sum: %u %u\r\n"
                        "Content-Length: 512\r\n\r\n", lines, sum);
    memset(s->answer + head, 'x', 512);
    return (size_t)head + 512;
}

/* The earliest timer is set anew, at random later. */
static void set_timer(server *s)
{
    uint64_t at;
    int k = 0, child = 1;
    s->random = s->random * UINT64_C(6364136223846793005) + 1442695040888963407u;
    at = s->timers[0] + (s->random >> 44);
    while (child < TIMERS) {
        child += child + 1 < TIMERS && s->timers[child + 1] < s->timers[child];
        if (s->timers[child] >= at)
            break;
        s->timers[k] = s->timers[child];
        k = child;
        child = 2 * k + 1;
    }
    s->timers[k] = at;
}

#define EVENT(call) call
#define NAME(name) name##_with
#include "loop_round.h"
#undef EVENT
#undef NAME
#define EVENT(call) ((void)0)
#define NAME(name) name##_without
#include "loop_round.h"

/* >>client: sends and reads until it is killed */

static int connect_to(uint16_t port)
{
    struct sockaddr_in to;
    int fd = socket(AF_INET, SOCK_STREAM, 0), one = 1;
    memset(&to, 0, sizeof to);
    to.sin_family = AF_INET;
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    to.sin_port = htons(port);
    if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof to) != 0)
        fail("connect");
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    return fd;
}

/* Answers are all of one length, which the first tells. */
static void read_answers(int fd, int count)
{
    static size_t length;
    static char buffer[DEPTH * ANSWER_BYTES];
    size_t got = 0;
    while (length == 0 || got < (size_t)count * length) {
        const char *head;
        ssize_t n = read(fd, buffer + got, sizeof buffer - 1 - got);
        if (n <= 0)
            _exit(0);
        got += (size_t)n;
        buffer[got] = 0;
        head = strstr(buffer, "\r\n\r\n");
        if (length == 0 && head != NULL)
            length = 512 + 4 + (size_t)(head - buffer);
    }
}

static void run_client(uint16_t port, const kind *what)
{
    static char requests[DEPTH * REQUEST];
    int fd[MAX_CONNECTIONS], at_once = what->together ? what->connections : 1;
    size_t size = (size_t)what->pipelined * REQUEST;
    signal(SIGPIPE, SIG_IGN);
    for (int k = 0; k < what->pipelined; k++)
        memcpy(requests + k * REQUEST, request, REQUEST);
    for (int k = 0; k < what->connections; k++)
        fd[k] = connect_to(port);
    for (int first = 0;; first = (first + at_once) % what->connections) {
        for (int k = 0; k < at_once; k++)
            if (write(fd[first + k], requests, size) != (ssize_t)size)
                _exit(0);
        for (int k = 0; k < at_once; k++)
            read_answers(fd[first + k], what->pipelined);
    }
}

/* >>server */

static int listen_on(uint16_t *port)
{
    struct sockaddr_in at;
    socklen_t size = sizeof at;
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    memset(&at, 0, sizeof at);
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (fd < 0 || bind(fd, (struct sockaddr *)&at, sizeof at) != 0 || listen(fd, MAX_CONNECTIONS) != 0 ||
        getsockname(fd, (struct sockaddr *)&at, &size) != 0)
        fail("listen");
    *port = ntohs(at.sin_port);
    return fd;
}

static void accept_all(server *s, int listener, int count)
{
    s->epoll = epoll_create1(0);
    for (int k = 0; k < count; k++) {
        connection *c = &s->connections[k];
        struct epoll_event e;
        int one = 1;
        c->fd = accept(listener, NULL, NULL);
        if (c->fd < 0)
            fail("accept");
        setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        memset(&e, 0, sizeof e);
        e.events = EPOLLIN;
        e.data.ptr = c;
        if (epoll_ctl(s->epoll, EPOLL_CTL_ADD, c->fd, &e) != 0)
            fail("epoll_ctl");
    }
}

/* >>figures */

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void print_quantiles(const char *what, double *values, int count, int digits)
{
    qsort(values, (size_t)count, sizeof *values, by_value);
    printf("%-28s median %.*f, quartiles %.*f to %.*f\n", what, digits, values[count / 2], digits,
           values[count / 4], digits, values[count - 1 - count / 4]);
}

static void measure(server *s, int rounds, uint64_t requests)
{
    static double with[MAX_ROUNDS], without[MAX_ROUNDS], ratio[MAX_ROUNDS], added[MAX_ROUNDS];
    round_with(s, requests);
    round_without(s, requests);
    for (int k = 0; k < rounds; k++) {
        double before = round_without(s, requests);
        with[k] = round_with(s, requests);
        without[k] = (before + round_without(s, requests)) / 2;
        ratio[k] = with[k] / without[k];
        added[k] = with[k] - without[k];
    }
    print_quantiles("CPU ns a request, without", without, rounds, 0);
    print_quantiles("CPU ns a request, with", with, rounds, 0);
    print_quantiles("added ns", added, rounds, 0);
    print_quantiles("ratio", ratio, rounds, 4);
}

static int check(const server *s)
{
    chroprof_totals t;
    const char *broken = chroprof_check(&s->prof);
    chroprof_read_totals(&s->prof, &t);
    printf("%llu events, %llu anomalies, laws: %s\n", (unsigned long long)t.events,
           (unsigned long long)t.anomalies, broken ? broken : "hold");
    return broken || t.anomalies;
}

static int serve(const kind *what, int rounds, uint64_t requests)
{
    static server s;
    static unsigned char memory[1 << 20];
    int wrong;
    uint16_t port;
    int listener = listen_on(&port);
    pid_t client = fork();
    if (client == 0)
        run_client(port, what);
    memset(&s, 0, sizeof s);
    if (client < 0 || chroprof_init(&s.prof, memory, sizeof memory, NULL) != CHROPROF_OK)
        fail("start");
    s.due = what->due;
    accept_all(&s, listener, what->connections);
    printf("%s\n", what->name);
    measure(&s, rounds, requests);
    wrong = check(&s);
    kill(client, SIGKILL);
    waitpid(client, NULL, 0);
    for (int k = 0; k < what->connections; k++)
        close(s.connections[k].fd);
    close(s.epoll);
    close(listener);
    return wrong;
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 101, wrong = 0;
    uint64_t requests = argc > 2 ? strtoul(argv[2], NULL, 10) : 2000;
    if (rounds < 1 || rounds > MAX_ROUNDS || requests < 1)
        return 2;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        if (argc < 4 || strstr(kinds[k].name, argv[3]))
            wrong |= serve(&kinds[k], rounds, requests);
    return wrong;
}
