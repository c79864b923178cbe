/* whatif.c - a poll server with open arrivals, whose clients' clocks are the truth.
 *
 *     whatif_server FILE LOAD FACTOR SECONDS [TIMES [CLIENTS [COSTS [CHANGED]]]]
 *
 * A child sends datagrams at random instants (Poisson, LOAD in percent of what the server can take)
 * and stamps each. The server reads all that came, then works on each: 40 us, and for one in ten
 * 400 us more, times FACTOR. COSTS are others, up to three, as NS/ONE_IN,...; FACTOR is that of
 * number CHANGED, from 0 on (default 1). With TIMES all is so many times as long, and the server sleeps in place of
 * work, which a busy machine disturbs less. The profile goes to FILE, with all its steps. Prints what clients saw:
 * "p50 NS p99 NS hidden NS wake NS lost NS busy PERCENT", from the stamp to the end of the work, and to
 * the poll; wake: the middle of the last where a poll waited, which is the system's way from the one to
 * the other; lost: the longest time that other programs took from the two. Server and clients have a processor each where there are two; what comes when, and what
 * it costs, is the same in each run with the same words.
 * With CLIENTS the arrivals are closed: each of them waits for its answer, pauses for a random time,
 * and asks again; LOAD is what they would ask for if answers took no time, 0: they do not pause. */
#define _GNU_SOURCE

#include <math.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CHROPROF_IMPLEMENTATION
#include "../chroprof.h"

enum { COSTS = 3, SPIN_NS = 40000, REQUESTS_MOST = 1 << 20, BATCH_MOST = 4096, CLIENTS_MOST = 64 };

typedef struct request {
    uint64_t sent_ns;
    uint32_t client;
    uint32_t cost_ns[COSTS];
} request;

typedef struct cost {
    double ns, one_in;
} cost;

static chroprof prof;
static request batch[BATCH_MOST];
static uint64_t latencies[REQUESTS_MOST], wakes[REQUESTS_MOST];
static cost costs[COSTS] = { { 40000, 1 }, { 400000, 10 }, { 0, 1 } };
static double times = 1;
static uint64_t *lost_ns;      /* of both processes: the first the server's, the second the clients' */
static uint64_t state = 88172645463325252u;

static uint64_t now_ns(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static double chance(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (double)(state >> 11) / 9007199254740992.0;
}

/* Gamma of shape 4. */
static double service(double mean)
{
    double sum = 0;
    for (int i = 0; i < 4; i++) {
        sum -= mean / 4 * log(1 - chance());
    }
    return sum;
}

static void make_work(request *r)
{
    for (int k = 0; k < COSTS; k++) {
        r->cost_ns[k] = chance() < 1 / costs[k].one_in ? (uint32_t)service(costs[k].ns) : 0;
    }
}

static double mean_work(void)
{
    double sum = 0;
    for (int k = 0; k < COSTS; k++) {
        sum += costs[k].ns / costs[k].one_in;
    }
    return times * sum;
}

static void read_costs(const char *at)
{
    for (int k = 0; k < COSTS; k++) {
        char *end = (char *)at;
        costs[k].ns = *at != '\0' ? strtod(at, &end) : 0;
        costs[k].one_in = *end == '/' ? strtod(end + 1, &end) : 1;
        at = *end == ',' ? end + 1 : end;
    }
}

static void lose(int who, uint64_t ns)
{
    lost_ns[who] = ns > lost_ns[who] ? ns : lost_ns[who];
}

/* The server's clock, where it looks at it often. */
static uint64_t last_ns;       /* 0: behind a wait */

static uint64_t tick(void)
{
    uint64_t now = now_ns();
    lose(0, last_ns > 0 ? now - last_ns : 0);
    return last_ns = now;
}

static void send_end(int fd)
{
    memset(&batch[0], 0, sizeof batch[0]);
    for (int i = 0; i < 5; i++) {
        (void)usleep(100000);
        (void)send(fd, &batch[0], sizeof batch[0], 0);
    }
}

/* Who pauses has the time when it asks; who waits for an answer has UINT64_MAX. */
static void be_clients(int fd, int clients, double load, double seconds)
{
    double mean = load > 0 ? mean_work() * clients / load : 0;
    struct pollfd polled = { fd, POLLIN, 0 };
    static uint64_t due[CLIENTS_MOST];
    uint64_t begin = now_ns(), now;
    for (int c = 0; c < clients; c++) {
        due[c] = begin + (uint64_t)(-mean * log(1 - chance()));
    }
    while ((now = now_ns()) - begin < (uint64_t)(seconds * 1e9)) {
        uint64_t first = now + 100000000;
        request r;
        memset(&r, 0, sizeof r);
        for (int c = 0; c < clients; c++) {
            if (due[c] <= now) {
                due[c] = UINT64_MAX;
                make_work(&r);
                r.client = (uint32_t)c;
                r.sent_ns = now_ns();
                (void)send(fd, &r, sizeof r, 0);
            }
            first = due[c] < first ? due[c] : first;
        }
        struct timespec wait = { 0, (long)(first > now ? first - now : 0) };
        (void)ppoll(&polled, 1, &wait, NULL);
        while (recv(fd, &r, sizeof r, MSG_DONTWAIT) > 0) {
            due[r.client] = now_ns() + (uint64_t)(-mean * log(1 - chance()));
        }
    }
    send_end(fd);
}

static void send_requests(int fd, double load, double seconds)
{
    double mean = mean_work() / load, due;
    uint64_t begin = now_ns(), sent;
    for (due = 0; due < seconds * 1e9; due -= mean * log(1 - chance())) {
        request r;
        memset(&r, 0, sizeof r);
        make_work(&r);
        while ((sent = now_ns()) - begin < (uint64_t)due) {
            uint64_t left = (uint64_t)due - (sent - begin);
            struct timespec wait = { 0, (long)(left < 500000000 ? left : 500000000) - SPIN_NS };
            if (left > 2 * SPIN_NS) {
                (void)nanosleep(&wait, NULL);
            }
        }
        lose(1, sent - begin - (uint64_t)due);
        r.sent_ns = sent;
        (void)send(fd, &r, sizeof r, 0);
    }
    send_end(fd);
}

/* With ALONE=1, for root: before all else that wants the processor, with the whole of it as its share,
 * so that neither other programs nor the kernel's share for them take any. */
static void be_first(void)
{
    struct {
        uint32_t size, policy;
        uint64_t flags;
        int32_t nice;
        uint32_t priority;
        uint64_t runtime, deadline, period;
    } share = { sizeof share, 6, 0, 0, 0, 40000000, 40000000, 40000000 };     /* SCHED_DEADLINE */
    if (getenv("ALONE") != NULL && syscall(SYS_sched_setattr, 0, &share, 0) != 0) {
        perror("sched_setattr");
    }
}

/* The first or the last processor that there is. */
static void pin(bool first)
{
    cpu_set_t all, one;
    CPU_ZERO(&one);
    if (sched_getaffinity(0, sizeof all, &all) != 0) {
        return;
    }
    for (int k = 0; k < CPU_SETSIZE; k++) {
        int cpu = first ? k : CPU_SETSIZE - 1 - k;
        if (CPU_ISSET(cpu, &all)) {
            CPU_SET(cpu, &one);
            (void)sched_setaffinity(0, sizeof one, &one);
            be_first();
            return;
        }
    }
}

static void work(uint64_t ns)
{
    uint64_t begin = tick();
    if (times > 1) {
        struct timespec t = { (time_t)((double)ns * times / 1e9), 0 };
        t.tv_nsec = (long)((double)ns * times - 1e9 * (double)t.tv_sec);
        (void)nanosleep(&t, NULL);
        last_ns = 0;
        return;
    }
    while (tick() - begin < ns) {
    }
}

static int read_batch(int fd)
{
    int count = 0;
    while (count < BATCH_MOST && recv(fd, &batch[count], sizeof batch[0], MSG_DONTWAIT) > 0) {
        count++;
        (void)tick();
    }
    return count;
}

/* fd: where the answer goes; -1: nobody waits for one. */
static void serve_one(uint64_t id, const request *r, double factor, int changed, int fd)
{
    CHROPROF_SITE(light, "light");
    CHROPROF_SITE(heavy, "heavy");
    CHROPROF_SITE(third, "third");
    const chroprof_site *const sites[COSTS] = { &light, &heavy, &third };
    chroprof_running(&prof, id);
    for (int k = 0; k < COSTS; k++) {
        double ns = r->cost_ns[k] * (k == changed ? factor : 1);
        if (ns >= 1) {
            chroprof_enter(&prof, sites[k]);
            work((uint64_t)ns);
            chroprof_leave(&prof);
        }
    }
    if (fd >= 0) {
        (void)send(fd, r, sizeof *r, 0);
    }
    chroprof_completed(&prof, id);
}

static int by_size(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void print_truth(size_t done, double hidden, size_t waited)
{
    chroprof_totals totals;
    qsort(latencies, done, sizeof *latencies, by_size);
    qsort(wakes, waited, sizeof *wakes, by_size);
    chroprof_read_totals(&prof, &totals);
    printf("p50 %llu p99 %llu hidden %.0f wake %llu lost %llu busy %.1f\n",
           (unsigned long long)latencies[done / 2], (unsigned long long)latencies[done * 99 / 100],
           hidden / (double)done, (unsigned long long)wakes[waited / 2],
           (unsigned long long)(lost_ns[0] > lost_ns[1] ? lost_ns[0] : lost_ns[1]),
           100 * (double)totals.busy_ns / (double)totals.elapsed_ns);
}

static void serve(int fd, double factor, int changed, bool answers)
{
    CHROPROF_SITE(site, "request");
    struct pollfd polled = { fd, POLLIN, 0 };
    double hidden = 0;
    size_t done = 0, waited = 0;
    uint64_t id = 0;
    for (bool ended = false; !ended && done < REQUESTS_MOST - BATCH_MOST;) {
        uint64_t entered = tick();
        chroprof_idle_enter(&prof);
        (void)poll(&polled, 1, -1);
        chroprof_idle_leave(&prof);
        uint64_t found = last_ns = now_ns();
        int count = read_batch(fd);
        if (count > 0 && batch[0].sent_ns > entered) {
            wakes[waited++] = found - batch[0].sent_ns;
            lose(0, found - batch[0].sent_ns);
        }
        for (int i = 0; i < count; i++) {
            ended = ended || batch[i].sent_ns == 0;
            if (batch[i].sent_ns > 0) {
                chroprof_pending(&prof, id + (uint64_t)i + 1, &site);
                chroprof_ready(&prof, id + (uint64_t)i + 1);
            }
        }
        for (int i = 0; i < count; i++) {
            if (batch[i].sent_ns > 0) {
                serve_one(++id, &batch[i], factor, changed, answers ? fd : -1);
                latencies[done++] = now_ns() - batch[i].sent_ns;
                hidden += batch[i].sent_ns < found ? (double)(found - batch[i].sent_ns) : 0;
            }
        }
    }
    print_truth(done, hidden, waited);
}

int main(int argc, char **argv)
{
    int pair[2], start[2], size = 8 << 20, clients = argc > 6 ? atoi(argv[6]) : 0;
    struct sockaddr_in at = { 0 }, back;
    socklen_t length = sizeof at;
    chroprof_options options;
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    pair[0] = socket(AF_INET, SOCK_DGRAM, 0);
    pair[1] = socket(AF_INET, SOCK_DGRAM, 0);
    if (argc < 5 || pipe(start) != 0 || bind(pair[1], (struct sockaddr *)&at, length) != 0 ||
        getsockname(pair[1], (struct sockaddr *)&at, &length) != 0 ||
        connect(pair[0], (struct sockaddr *)&at, length) != 0 ||
        getsockname(pair[0], (struct sockaddr *)&back, &length) != 0 ||
        connect(pair[1], (struct sockaddr *)&back, length) != 0 || clients > CLIENTS_MOST) {
        return 2;
    }
    (void)setsockopt(pair[1], SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof size);
    times = argc > 5 ? atof(argv[5]) : 1;
    if (argc > 7) {
        read_costs(argv[7]);
    }
    lost_ns = (uint64_t *)mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (lost_ns == MAP_FAILED) {
        return 1;
    }
    pid_t child = fork();
    if (child == 0) {
        char byte;
        pin(false);
        (void)prctl(PR_SET_TIMERSLACK, 1);
        (void)close(pair[1]);
        (void)!read(start[0], &byte, 1);
        if (clients > 0) {
            be_clients(pair[0], clients, atof(argv[2]) / 100, atof(argv[4]));
        } else {
            send_requests(pair[0], atof(argv[2]) / 100, atof(argv[4]));
        }
        _exit(0);
    }
    memset(&options, 0, sizeof options);
    options.max_events = 1 << 20;
    options.name = "whatif";
    if (chroprof_map(&prof, argv[1], 64 << 20, &options) != CHROPROF_OK) {
        return 1;
    }
    pin(true);
    (void)!write(start[1], "", 1);
    serve(pair[1], atof(argv[3]), argc > 8 ? atoi(argv[8]) : 1, clients > 0);
    chroprof_unmap(&prof);
    (void)waitpid(child, NULL, 0);
    return 0;
}
