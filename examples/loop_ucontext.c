/* Fibers on ucontext(3) and poll(2), switched by hand: which of them keeps the others waiting? */
/* build: cc -O2 FILE -o OUT -lpthread ; needs: nothing */
/* One chroprof_switch is one switch. A fiber that ends completes inside its own slice; its stack,
 * so its id, is the next fiber's at once. Lost: how long bytes wait before poll(2) returns. */
#include <poll.h>
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
} fibers[FIBERS], *current, *fresh;
static struct pollfd waits[FIBERS];   /* what the fiber of each place waits for */
static ucontext_t loop;
static int clients;

static void fiber_main(int fd, int work)
{
    current->body(fd, work);
    chroprof_completed(&prof, (uintptr_t)current); /* chroprof */
    current->body = NULL;   /* from here uc_link leads back to the loop */
}

static void spawn(const char *name, uint32_t line, void (*body)(int, int), int fd, int work)
{
    for (fresh = fibers; fresh->body != NULL; fresh++) {}
    fresh->body = body;
    getcontext(&fresh->context);
    fresh->context.uc_stack = (stack_t){ .ss_sp = fresh->stack, .ss_size = sizeof fresh->stack };
    fresh->context.uc_link = &loop;
    makecontext(&fresh->context, (void (*)(void))fiber_main, 2, fd, work);
    waits[fresh - fibers] = (struct pollfd){ fd, POLLIN | POLLOUT, 0 };   /* then it starts */
    const chroprof_site *site = chroprof_site_make(&prof, name, __FILE__, line); /* chroprof */
    chroprof_pending(&prof, (uintptr_t)fresh, site); /* chroprof */
}

static void receive(int fd)
{
    waits[current - fibers] = (struct pollfd){ fd, POLLIN, 0 };
    swapcontext(&current->context, &loop);
    (void)!read(fd, &(uint64_t){ 0 }, 8);
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
        spawn(i % 8 ? "page" : "thumbnail", __LINE__, render, ends[1], i % 8 ? 100 : 4000);
        receive(ends[0]);
    }
    clients--;
}

int main(int argc, char **argv)
{
    FILE *json = argc == 3 && strcmp(argv[1], "--json") == 0 ? fopen(argv[2], "w") : NULL;
    int timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
    if (argc != 1 && json == NULL)
        return fprintf(stderr, "usage: %s [--json FILE]\n", argv[0]), 2;
    chroprof_init(&prof, memory, sizeof memory, NULL); /* chroprof */
    timerfd_settime(timer, 0, &(struct itimerspec){ { 0, TICK_NS }, { 0, TICK_NS } }, NULL);
    memset(waits, -1, sizeof waits);   /* fd -1: waits for nothing */
    for (; clients < CLIENTS; clients++)
        spawn("client", __LINE__, client, timer, PAGES);
    while (clients > 0) {
        chroprof_idle_enter(&prof); /* chroprof */
        poll(waits, FIBERS, -1);
        chroprof_idle_leave(&prof); /* chroprof */
        for (int i = 0; i < FIBERS; i++)
            if (waits[i].revents != 0)
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
    chroprof_dump(&prof, CHROPROF_JSON, json); /* chroprof */
}
