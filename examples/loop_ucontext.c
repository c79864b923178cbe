/* Fibers on ucontext(3) and poll(2), switched by hand: which of them keeps the others waiting? */
/* build: cc -O2 FILE -o OUT ; needs: none */
/* A fiber that ends completes inside its own slice. The next fiber may get its stack at once, and
 * so its id. Not seen: how long bytes wait before poll(2) returns. */
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/timerfd.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>
#define CHROPROF_IMPLEMENTATION /* chroprof */
#include "../chroprof.h" /* chroprof */
static chroprof prof; /* chroprof */
static unsigned char memory[1 << 18]; /* chroprof */
enum { FIBERS = 16, CLIENTS = 4, PAGES = 64, TICK_NS = 16000000 };
static struct fiber {
    void (*body)(int fd, int work);   /* NULL: the place is free */
    ucontext_t context;
    char stack[32 * 1024];
} fibers[FIBERS], *current, *next;
static struct pollfd waits[FIBERS];   /* what the fiber of each place waits for */
static ucontext_t loop;
static int clients;

static void fiber_main(int fd, int work)
{
    current->body(fd, work);
    chroprof_completed(&prof, (uintptr_t)current); /* chroprof */
    current->body = NULL;   /* from here uc_link leads back to the loop */
}

static void spawn(const char *name, void (*body)(int, int), int fd, int work)
{
    next = fibers;
    while (next->body != NULL) next++;
    next->body = body;
    getcontext(&next->context);
    next->context.uc_stack = (stack_t){ .ss_sp = next->stack, .ss_size = sizeof next->stack };
    next->context.uc_link = &loop;
    makecontext(&next->context, (void (*)(void))fiber_main, 2, fd, work);
    waits[next - fibers] = (struct pollfd){ fd, POLLIN | POLLOUT, 0 };   /* then it starts */
    chroprof_pending(&prof, (uintptr_t)next, chroprof_site_make(&prof, name, 0, 0)); /* chroprof */
}

static void receive(int fd)
{
    waits[current - fibers] = (struct pollfd){ fd, POLLIN, 0 };
    swapcontext(&current->context, &loop);
    (void)!read(fd, &(char[8]){ 0 }, 8);
}

static void render(int fd, int work_us)
{
    for (clock_t end = clock() + work_us; clock() < end;) {}
    (void)!write(fd, "", 1);
}

static void client(int timer, int pages)
{
    int ends[2];
    (void)!pipe(ends);
    for (int i = 1; i <= pages; i++) {
        receive(timer);
        spawn(i % 8 ? "page" : "thumbnail", render, ends[1], i % 8 ? 100 : 4000);
        receive(ends[0]);
    }
    clients--;
}

int main(int argc, char **argv)
{
    int timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
    if (argc != 1 && (argc != 3 || strcmp(argv[1], "--json") != 0))
        return fprintf(stderr, "usage: %s [--json FILE]\n", argv[0]), 2;
    chroprof_init(&prof, memory, sizeof memory, NULL); /* chroprof */
    timerfd_settime(timer, 0, &(struct itimerspec){ { 0, TICK_NS }, { 0, TICK_NS } }, NULL);
    memset(waits, -1, sizeof waits);   /* fd -1: waits for nothing */
    for (; clients < CLIENTS; clients++)
        spawn("client", client, timer, PAGES);
    while (clients > 0) {
        chroprof_idle_enter(&prof); /* chroprof */
        poll(waits, FIBERS, -1);
        chroprof_idle_leave(&prof); /* chroprof */
        for (int i = 0; i < FIBERS; i++) /* chroprof */
            if (waits[i].revents != 0) /* chroprof */
                chroprof_ready(&prof, (uintptr_t)&fibers[i]); /* chroprof */
        for (int i = 0; i < FIBERS; i++)
            if (waits[i].revents != 0) {
                current = &fibers[i];
                waits[i] = (struct pollfd){ -1, 0, 0 };
                chroprof_switch(&prof, (uintptr_t)current); /* chroprof */
                swapcontext(&loop, &current->context);
            }
        chroprof_switch(&prof, 0); /* chroprof */
    }
    chroprof_dump(&prof, CHROPROF_TEXT, stdout); /* chroprof */
    if (argc > 1 && (!freopen(argv[2], "w", stdout) || chroprof_dump(&prof, CHROPROF_JSON, stdout)))
        return perror(argv[2]), 1;
}
