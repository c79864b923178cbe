/* demo - a server with a fault, and the report that shows it.
 *
 *     make demo           or: cc -O2 -o demo examples/demo.c && ./demo [SECONDS] [fixed] [FILE]
 *
 * One process serves pages over TCP with a poll(2) loop; forked clients request them without a
 * break. Each request gets a timeout from the task handler and cancels it when the page is sent.
 * The fault: cancellations are lost, so the handler's list grows, and walking it takes more of the
 * loop. With "fixed" they are not lost. With FILE the profile is in that file, for chroprof top.
 * The sampler is on: chroprof symbolize demo.json --format text shows the line of the fault. */
#define _POSIX_C_SOURCE 200809L

#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifndef DEMO_LINKED
#define CHROPROF_IMPLEMENTATION
#endif
#include "../chroprof.h"

#define MILLISECOND UINT64_C(1000000)
#define SECOND (1000 * MILLISECOND)

enum { CLIENTS = 24, PAGES = 64, PAGE_SIZE = 4096, REQUESTS_A_CONNECTION = 50 };

static chroprof prof;
static bool fixed;

static uint64_t new_id(void)
{
    static uint64_t last;
    return ++last;
}

static uint64_t now_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * SECOND + (uint64_t)now.tv_nsec;
}

static void give_up(const char *what)
{
    perror(what);
    exit(1);
}

/* >>task handler: keeps the timeouts of requests. Here is the fault. */

typedef struct task {
    struct task *next;
    uint64_t id, due;
    bool cancelled;
    char note[100];
} task;

static task *tasks;
static uint64_t handler_id;

static void remove_task(task **link)
{
    task *gone = *link;
    *link = gone->next;
    free(gone);
}

static void expire_tasks(uint64_t now)
{
    for (task **link = &tasks; *link != NULL;) {
        if ((*link)->due > now) {
            link = &(*link)->next;
        } else {
            chroprof_failed(&prof, (*link)->id);
            remove_task(link);
        }
    }
}

static task **find_task(uint64_t id)
{
    CHROPROF_SITE(site, "find_task");
    task **link = &tasks;
    chroprof_enter(&prof, &site);
    while (*link != NULL && (*link)->id != id) {
        link = &(*link)->next;
    }
    chroprof_leave(&prof);
    return link;
}

static task **end_of_tasks(void)
{
    task **link = &tasks;
    while (*link != NULL) {
        link = &(*link)->next;
    }
    return link;
}

static uint64_t add_task(uint64_t now, int page)
{
    CHROPROF_SITE(site, "request_timeout");
    task *added = (task *)calloc(1, sizeof *added);
    if (added == NULL) {
        give_up("calloc");
    }
    chroprof_running(&prof, handler_id);
    expire_tasks(now);
    added->id = new_id();
    added->due = now + 60 * SECOND;
    (void)snprintf(added->note, sizeof added->note, "page %d", page);
    *end_of_tasks() = added;
    chroprof_pending(&prof, added->id, &site);
    chroprof_paused(&prof, handler_id);
    return added->id;
}

static void cancel_task(uint64_t now, uint64_t id)
{
    task **link;
    chroprof_running(&prof, handler_id);
    expire_tasks(now);
    link = find_task(id);
    (*link)->cancelled = true;
    if (fixed) {                     /* the fault: nobody takes it off the list */
        chroprof_cancelled(&prof, id);
        remove_task(link);
    }
    chroprof_paused(&prof, handler_id);
}

/* >>pages: rendered when asked for, kept for a while */

static struct page {
    uint64_t until;
    char text[PAGE_SIZE];
} pages[PAGES];

static void render_page(struct page *page, int number, uint64_t now)
{
    CHROPROF_SITE(site, "render_page");
    uint32_t state = (uint32_t)number + 1;
    chroprof_enter(&prof, &site);
    for (int round = 0; round < 4; round++) {
        for (size_t i = 0; i < PAGE_SIZE - 1; i++) {
            state = state * 1664525u + 1013904223u;
            page->text[i] = (char)('a' + (state >> 24) % 26);
        }
    }
    page->text[PAGE_SIZE - 1] = '\n';
    page->until = now + 50 * MILLISECOND;
    chroprof_leave(&prof);
}

static const struct page *cached_page(int number, uint64_t now)
{
    CHROPROF_SITE(site, "cached_page");
    struct page *page = &pages[number];
    chroprof_enter(&prof, &site);
    if (page->until <= now) {
        render_page(page, number, now);
    }
    chroprof_leave(&prof);
    return page;
}

static void log_request(int page, uint64_t took_ns)
{
    CHROPROF_SITE(site, "log_request");
    static char lines[1 << 16];
    static size_t used;
    chroprof_enter(&prof, &site);
    used = used + 80 < sizeof lines ? used : 0;
    used += (size_t)snprintf(lines + used, 80, "GET /page/%d 200 %d bytes %llu us\n", page,
                             PAGE_SIZE, (unsigned long long)(took_ns / 1000));
    chroprof_leave(&prof);
}

/* >>connections: a request is read, its page fetched a little later and sent */

typedef struct connection {
    int fd;                          /* -1: free */
    int page;
    uint64_t id;
    uint64_t fetch;                  /* future under way, 0: none */
    uint64_t fetch_due, asked, timeout;
} connection;

static connection connections[CLIENTS];

static void close_connection(connection *c)
{
    chroprof_completed(&prof, c->id);
    (void)close(c->fd);
    c->fd = -1;
}

static int parse_request(const char *text, ssize_t length)
{
    CHROPROF_SITE(site, "parse_request");
    int page = 0;
    chroprof_enter(&prof, &site);
    for (ssize_t i = 0; i < length; i++) {
        if (text[i] >= '0' && text[i] <= '9') {
            page = (page * 10 + (text[i] - '0')) % PAGES;
        }
    }
    chroprof_leave(&prof);
    return page;
}

static void read_request(connection *c, uint64_t now)
{
    CHROPROF_SITE(site, "fetch_page");
    char text[256];
    ssize_t length;
    chroprof_running(&prof, c->id);
    length = read(c->fd, text, sizeof text);
    if (length <= 0) {
        close_connection(c);
        return;
    }
    c->page = parse_request(text, length);
    c->asked = now;
    c->timeout = add_task(now, c->page);
    c->fetch = new_id();
    c->fetch_due = now + 2 * MILLISECOND;
    chroprof_pending(&prof, c->fetch, &site);
    chroprof_paused(&prof, c->id);
}

static void send_response(connection *c, const struct page *page)
{
    CHROPROF_SITE(site, "send_response");
    chroprof_enter(&prof, &site);
    if (write(c->fd, page->text, PAGE_SIZE) != PAGE_SIZE) {
        perror("write");
    }
    chroprof_leave(&prof);
}

static void finish_request(connection *c, uint64_t now)
{
    const struct page *page;
    chroprof_running(&prof, c->fetch);
    page = cached_page(c->page, now);
    chroprof_completed(&prof, c->fetch);
    c->fetch = 0;
    chroprof_running(&prof, c->id);
    send_response(c, page);
    cancel_task(now, c->timeout);
    log_request(c->page, now - c->asked);
    chroprof_paused(&prof, c->id);
}

/* >>accept loop: never completes */

static int listener;
static uint64_t accept_id;

static void accept_connection(void)
{
    CHROPROF_SITE(site, "connection");
    chroprof_running(&prof, accept_id);
    for (size_t i = 0; i < CLIENTS; i++) {
        connection *c = &connections[i];
        if (c->fd < 0 && (c->fd = accept(listener, NULL, NULL)) >= 0) {
            c->id = new_id();
            c->fetch = 0;
            chroprof_pending(&prof, c->id, &site);
            break;
        }
    }
    chroprof_paused(&prof, accept_id);
}

/* >>timer: each round is a future that creates the next */

static uint64_t timer_id, timer_due;

static void start_timer(uint64_t now)
{
    CHROPROF_SITE(site, "expire_pages");
    timer_id = new_id();
    timer_due = now + 100 * MILLISECOND;
    chroprof_pending(&prof, timer_id, &site);
}

static void run_timer(uint64_t now)
{
    uint64_t id = timer_id;
    chroprof_running(&prof, id);
    for (size_t i = 0; i < PAGES; i++) {
        if (pages[i].until <= now) {
            memset(pages[i].text, 0, PAGE_SIZE);
        }
    }
    start_timer(now);
    chroprof_completed(&prof, id);
}

/* >>loop */

static void wait_for_events(struct pollfd polled[CLIENTS + 1])
{
    for (size_t i = 0; i < CLIENTS; i++) {
        const connection *c = &connections[i];
        polled[i].fd = c->fetch == 0 ? c->fd : -1;
        polled[i].events = POLLIN;
        polled[i].revents = 0;
    }
    polled[CLIENTS].revents = 0;
    polled[CLIENTS].fd = listener;
    polled[CLIENTS].events = POLLIN;
    chroprof_idle_enter(&prof);
    if (poll(polled, CLIENTS + 1, 1) < 0 && errno != EINTR) {    /* the sampler's signal */
        give_up("poll");
    }
    chroprof_idle_leave(&prof);
}

/* Everything that could run now begins to wait for its turn. */
static void mark_ready(const struct pollfd *polled, uint64_t now)
{
    for (size_t i = 0; i < CLIENTS; i++) {
        const connection *c = &connections[i];
        if (c->fetch != 0 && c->fetch_due <= now) {
            chroprof_ready(&prof, c->fetch);
        } else if (c->fetch == 0 && polled[i].revents != 0) {
            chroprof_ready(&prof, c->id);
        }
    }
}

static void run_ready(const struct pollfd *polled, uint64_t now)
{
    if (timer_due <= now) {
        run_timer(now);
    }
    for (size_t i = 0; i < CLIENTS; i++) {
        connection *c = &connections[i];
        if (c->fetch != 0 && c->fetch_due <= now) {
            finish_request(c, now);
        } else if (c->fetch == 0 && polled[i].revents != 0) {
            read_request(c, now);
        }
    }
    if (polled[CLIENTS].revents != 0) {
        accept_connection();
    }
}

static void serve(uint64_t until)
{
    CHROPROF_SITE(site_handler, "task_handler");
    CHROPROF_SITE(site_accept, "accept_loop");
    struct pollfd polled[CLIENTS + 1];
    uint64_t now = now_ns();
    handler_id = new_id();
    chroprof_pending(&prof, handler_id, &site_handler);
    accept_id = new_id();
    chroprof_pending(&prof, accept_id, &site_accept);
    start_timer(now);
    while (now < until) {
        wait_for_events(polled);
        now = now_ns();
        mark_ready(polled, now);
        run_ready(polled, now);
    }
}

/* >>clients: processes of their own, so that the report is about the server alone */

static void ask_for_pages(int fd, unsigned seed)
{
    const struct timespec pause = { 0, 2 * (long)MILLISECOND };
    char text[PAGE_SIZE];
    for (unsigned i = 0; i < REQUESTS_A_CONNECTION; i++) {
        int length = snprintf(text, sizeof text, "GET /page/%u\n", (seed * 7 + i) % PAGES);
        ssize_t count = write(fd, text, (size_t)length);
        for (ssize_t left = PAGE_SIZE; left > 0; left -= count) {
            count = count > 0 ? read(fd, text, (size_t)left) : count;
            if (count <= 0) {
                _exit(0);
            }
        }
        (void)nanosleep(&pause, NULL);
    }
}

static void run_client(const struct sockaddr_in *address, unsigned seed, unsigned seconds)
{
    (void)close(listener);
    (void)alarm(seconds + 60);
    for (;;) {
        int fd = socket(AF_INET, SOCK_STREAM, 0);
        if (connect(fd, (const struct sockaddr *)address, sizeof *address) != 0) {
            _exit(0);
        }
        ask_for_pages(fd, seed);
        (void)close(fd);
    }
}

static void start_clients(unsigned seconds)
{
    struct sockaddr_in address;
    socklen_t size = sizeof address;
    memset(&address, 0, sizeof address);
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    listener = socket(AF_INET, SOCK_STREAM, 0);
    if (listener < 0 || bind(listener, (struct sockaddr *)&address, size) != 0 ||
        listen(listener, CLIENTS) != 0 ||
        getsockname(listener, (struct sockaddr *)&address, &size) != 0) {
        give_up("loopback");
    }
    for (unsigned i = 0; i < CLIENTS; i++) {
        connections[i].fd = -1;
        if (fork() == 0) {
            run_client(&address, i, seconds);
        }
    }
}

static void stop_clients(void)
{
    (void)close(listener);
    for (size_t i = 0; i < CLIENTS; i++) {
        if (connections[i].fd >= 0) {
            (void)close(connections[i].fd);
        }
    }
    while (wait(NULL) > 0) {
    }
}

/* >>report */

static void write_file(const char *name, chroprof_format format)
{
    FILE *out = fopen(name, "w");
    if (out == NULL || chroprof_dump(&prof, format, out) != 0 || fclose(out) != 0) {
        give_up(name);
    }
}

static void report(void)
{
    static const struct { const char *name; chroprof_format format; const char *opens; } files[] = {
        { "demo.json", CHROPROF_JSON, "everything; chroprof report demo.json -o demo.html" },
        { "demo.pb", CHROPROF_PPROF, "go tool pprof -top demo.pb; speedscope" },
        { "demo.folded", CHROPROF_FOLDED, "flamegraph.pl demo.folded > demo.svg; speedscope" },
        { "demo.prom", CHROPROF_PROMETHEUS, "what Prometheus scrapes; promtool check metrics" }
    };
    if (chroprof_dump(&prof, CHROPROF_TEXT, stdout) != 0) {
        give_up("standard output");
    }
    (void)puts(fixed ? "\nThe fault is fixed: task_handler takes next to nothing." :
        "\nHow to read it: task_handler comes first, and its strip rises over the run. Below it\n"
        "in the tree is find_task, which walks its list. The list only grows: see live futures.");
    (void)puts("\nWritten:");
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        write_file(files[i].name, files[i].format);
        (void)printf("  %-18s %s\n", files[i].name, files[i].opens);
    }
}

static void start_sampler(void)
{
    chroprof_result result = chroprof_sampler_start(&prof, NULL);
    if (result != CHROPROF_OK) {
        (void)fprintf(stderr, "no samples: %s\n", chroprof_result_text(result));
    }
}

int main(int count, char **words)
{
    static unsigned char memory[16 << 20];
    chroprof_options options = { 0 };
    chroprof_result result;
    int seconds = count > 1 ? atoi(words[1]) : 7;
    const char *file = count > 2 ? words[count - 1] : "fixed";
    fixed = count > 2 && strcmp(words[2], "fixed") == 0;
    options.name = "demo";
    options.window_ns = 100 * MILLISECOND;
    options.stall_ns = MILLISECOND;
    (void)signal(SIGPIPE, SIG_IGN);
    if (strcmp(file, "fixed") == 0) {
        result = chroprof_init(&prof, memory, sizeof memory, &options);
    } else {
        result = chroprof_map(&prof, file, sizeof memory, &options);
    }
    if (result != CHROPROF_OK) {
        (void)fprintf(stderr, "chroprof_init: %s\n", chroprof_result_text(result));
        return 1;
    }
    start_clients((unsigned)seconds);
    (void)printf("Serving %d clients for %d seconds ...\n\n", CLIENTS, seconds);
    (void)fflush(stdout);
    start_sampler();
    serve(now_ns() + (uint64_t)seconds * SECOND);
    chroprof_sampler_stop(&prof);
    stop_clients();
    report();
    chroprof_unmap(&prof);
    return 0;
}
