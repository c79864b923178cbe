/* Protothreads on a superloop, as on a small board: which one makes the others miss their time? */
/* build: cc -O2 FILE -o OUT ; needs: none */
/* No stdio, no heap, 11 KiB for the profile; write(2) stands for the UART. "flash" holds the loop
 * while a sector is erased. What is due by then is reported late, but with its time, so delay is
 * exact. Not seen: percentiles (1.4 KiB per site), and whom to blame beyond the last 64 events. */
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#define CHROPROF_NO_STDIO /* chroprof */
#define CHROPROF_IMPLEMENTATION /* chroprof */
#include "../chroprof.h" /* chroprof */

typedef struct thread {
    const char *name;
    uint32_t (*run)(struct thread *self);   /* returns when to call it again, in us */
    uint32_t work, period;
    int line;                               /* where it goes on, 0: at the beginning */
    uint64_t due_ns;
} thread;
#define ID(thread) ((uintptr_t)(thread)) /* chroprof */
#define FOREVER for (;; self->line = 0) switch (self->line) case 0:
#define WAIT_US(us) self->line = __LINE__; return us; case __LINE__:

static chroprof prof; /* chroprof */
static unsigned char memory[11 * 1024]; /* chroprof */

static uint64_t board_ns(void *user)
{
    struct timespec t;
    (void)user;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void work_us(uint64_t us)
{
    for (uint64_t end = board_ns(NULL) + us * 1000; board_ns(NULL) < end;) {}
}

static uint32_t regular(thread *self)
{
    FOREVER {
        work_us(self->work);
        WAIT_US(self->period);
    }
}

static uint32_t flash(thread *self)
{
    FOREVER {
        WAIT_US(290000);    /* until a sector's worth of data is there */
        work_us(100);
        WAIT_US(10000);     /* until the bus is free */
        work_us(60000);     /* the fault: it stays until the sector is erased */
    }
}

static int uart(void *fd, const void *bytes, size_t count)
{
    return write(*(int *)fd, bytes, count) != (ssize_t)count;
}

int main(int argc, char **argv)
{
    uint64_t now = board_ns(NULL), end = now + 1600000000;
    thread threads[] = { { "control", regular, 50, 5000, 0, 0 }, { "flash", flash, 0, 0, 0, 0 },
                         { "display", regular, 100, 2000, 0, 0 } };
    int out = 1, err = 2, json = -1;
    if (argc != 1 && (argc != 3 || strcmp(argv[1], "--json") != 0))
        return uart(&err, "usage: loop_protothreads [--json FILE]\n", 39), 2;
    chroprof_options options = { .clock = board_ns, .stall_ns = 5000000 }; /* chroprof */
    chroprof_init(&prof, memory, sizeof memory, &options); /* chroprof */
    for (thread *t = threads; t < threads + 3; t++) {
        t->due_ns = now;
        chroprof_pending(&prof, ID(t), chroprof_site_make(&prof, t->name, NULL, 0)); /* chroprof */
    }
    for (uint64_t next = now; next < end;) {   /* what is due before the end runs, late or not */
        next = end;
        for (thread *t = threads; t < threads + 3; t++)
            next = t->due_ns < next ? t->due_ns : next;
        struct timespec wake = { (time_t)(next / 1000000000), (long)(next % 1000000000) };
        chroprof_idle_enter(&prof); /* chroprof */
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &wake, NULL);
        chroprof_idle_leave(&prof); /* chroprof */
        now = board_ns(NULL);
        for (thread *t = threads; t < threads + 3; t++)
            if (t->due_ns <= now && t->due_ns < end) {
                chroprof_ready_since(&prof, ID(t), t->due_ns); /* chroprof */
                chroprof_running(&prof, ID(t)); /* chroprof */
                t->due_ns += t->run(t) * UINT64_C(1000);
                chroprof_paused(&prof, ID(t)); /* chroprof */
            }
    }
    chroprof_write(&prof, CHROPROF_TEXT, uart, &out); /* chroprof */
    if (argc == 3 && ((json = creat(argv[2], 0644)) < 0 || /* --json */
                      chroprof_write(&prof, CHROPROF_JSON, uart, &json) != 0)) /* --json */
        return uart(&err, "the JSON could not be written\n", 30), 1; /* --json */
}
