/* Two loops in two threads: a profile each, no locks; merged into one at the end. */
/* build: cc -O2 FILE -o OUT -lpthread ; needs: none */
/* "request" runs a nested loop, which may call it again. Not seen: delay; messages have no time. */
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>
#define CHROPROF_IMPLEMENTATION /* chroprof */
#include "../chroprof.h" /* chroprof */

enum { FRONT, BACK, BOTH, STORE = 0, RESIZE, REQUESTS = 96, TICK_NS = 8000000 };
static struct loop {
    chroprof prof; unsigned char memory[1 << 18]; /* chroprof */
    void (*handlers[3])(struct loop *l, int fd);
    struct pollfd waits[3];
    nfds_t count, depth, received, sent;   /* handlers, requests under way, messages */
} loops[3];   /* the third has a profile only */
static int timer, pairs[2][2];   /* by kind of request, then by loop */

static void add(struct loop *l, const char *who, int fd, void (*handler)(struct loop *, int))
{
    l->waits[l->count] = (struct pollfd){ fd, POLLIN, 0 };
    l->handlers[l->count++] = handler;
    chroprof_pending(&l->prof, l->count, chroprof_site_make(&l->prof, who, NULL, 0)); /* chroprof */
}

static void iterate(struct loop *l)
{
    chroprof_idle_enter(&l->prof); /* until a handler runs */ /* chroprof */
    poll(l->waits, l->count, -1);
    for (nfds_t i = 0; i < l->count; i++)
        if (l->waits[i].revents != 0) {
            l->waits[i].revents = 0;   /* before a nested iteration overwrites it */
            chroprof_running(&l->prof, i + 1); /* chroprof */
            l->handlers[i](l, l->waits[i].fd);
            chroprof_paused(&l->prof, i + 1); /* chroprof */
        }
}

static void message(struct loop *l, int fd)
{
    l->received += (nfds_t)recv(fd, &(char){ 0 }, 1, 0);
    for (clock_t end = clock() + (fd == pairs[RESIZE][BACK] ? 16000 : 100); clock() < end;) {}
    if (l == &loops[BACK])
        (void)send(fd, "", 1, 0);
}

static void request(struct loop *l, int fd)
{
    (void)!read(fd, &(char[8]){ 0 }, 8);
    if (l->depth == 2 || l->sent == REQUESTS)
        return;
    (void)send(pairs[++l->sent % 8 ? STORE : RESIZE][FRONT], "", 1, 0);
    l->depth++;
    while (l->received < l->sent) {
        chroprof_loop_enter(&l->prof); /* chroprof */
        iterate(l);
        chroprof_loop_leave(&l->prof); /* chroprof */
    }
    l->depth--;
}

static void *run(void *argument)
{
    struct loop *l = argument;
    chroprof_init(&l->prof, l->memory, sizeof l->memory, NULL); /* chroprof */
    add(l, l == &loops[FRONT] ? "answer" : "store", pairs[STORE][l - loops], message);
    add(l, l == &loops[FRONT] ? "answer" : "resize", pairs[RESIZE][l - loops], message);
    if (l == &loops[FRONT])
        add(l, "request", timer, request);
    while (l->received < REQUESTS)
        iterate(l);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t back;
    if (argc != 1 && (argc != 3 || strcmp(argv[1], "--json") != 0))
        return fprintf(stderr, "usage: %s [--json FILE]\n", argv[0]), 2;
    timer = timerfd_create(CLOCK_MONOTONIC, 0);
    timerfd_settime(timer, 0, &(struct itimerspec){ { 0, TICK_NS }, { 0, TICK_NS } }, NULL);
    socketpair(AF_UNIX, SOCK_STREAM, 0, pairs[STORE]);
    socketpair(AF_UNIX, SOCK_STREAM, 0, pairs[RESIZE]);
    pthread_create(&back, NULL, run, &loops[BACK]);
    run(&loops[FRONT]);
    pthread_join(back, NULL);
    chroprof *both = &loops[BOTH].prof; /* chroprof */
    chroprof_options sum = { .name = "both", .clock = chroprof_clock_manual }; /* chroprof */
    chroprof_init(both, loops[BOTH].memory, sizeof loops[BOTH].memory, &sum); /* chroprof */
    for (int i = FRONT; i <= BACK; i++) chroprof_merge(both, &loops[i].prof); /* chroprof */
    chroprof_dump(both, CHROPROF_TEXT, stdout); /* chroprof */
    if (argc > 1 && (!freopen(argv[2], "w", stdout) || chroprof_dump(both, CHROPROF_JSON, stdout)))
        return perror(argv[2]), 1;
}
