/* tests/attached.c - programs that chroprof attach watches: attached WHAT SECONDS. At the end each
 * prints how often a call failed with EINTR, and how many signals it took; its exit status is 7. */
#define _GNU_SOURCE 1
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define APART __attribute__((__noinline__))

static long errors;
static volatile long signals;
static double end;
static volatile sig_atomic_t told; /* to end */
static int poller, ends[2];

static double now(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void take_signal(int number)
{
    (void)number;
    signals++;
}

static void take_end(int number)
{
    (void)number;
    told = 1;
}

/* At the latest when its time is over. */
static int goes_on(void)
{
    return !told && now() < end;
}

/* A client in a callback that waits for its answer. */
APART void on_login(void)
{
    struct pollfd one = { ends[0], POLLIN, 0 };
    errors += poll(&one, 1, 400) < 0 && !told;
    __asm__ volatile("");
}

APART void parse_header(void)
{
    while (goes_on()) {
        __asm__ volatile("");
    }
}

APART void step(void)
{
    struct epoll_event event;
    errors += epoll_wait(poller, &event, 1, 5) < 0 && errno == EINTR && !told;
    __asm__ volatile("");
}

APART void run_loop(void (*callback)(void), long every)
{
    for (long n = 1; goes_on(); n++) {
        step();
        if (every > 0 && n % every == 0) {
            callback();
        }
    }
    __asm__ volatile("");
}

APART void spin(void)
{
    struct epoll_event event = { 0, { NULL } };
    (void)epoll_ctl(poller, EPOLL_CTL_ADD, ends[0], &event);
    (void)close(ends[1]);
    while (goes_on()) {
        (void)epoll_wait(poller, &event, 1, 1000);
    }
}

/* The same by a timeout of 0, which is asked for again and again. */
APART void looks(void)
{
    struct epoll_event event;
    while (goes_on()) {
        (void)epoll_wait(poller, &event, 1, 0);
    }
}

/* The same by a descriptor that can be written, in a list of poll. */
APART void writable(void)
{
    struct pollfd files[2] = { { ends[0], POLLIN, 0 }, { ends[1], POLLOUT, 0 } };
    while (goes_on()) {
        (void)poll(files, 2, 1000);
    }
}

/* A list of poll's that is so long that looking at it is all the work. */
APART void crowd(void)
{
    static struct pollfd files[1010];
    for (size_t i = 0; i < 1010; i++) {
        files[i].fd = i < 1009 ? ends[0] : ends[1];
        files[i].events = i < 1009 ? POLLIN : POLLOUT;
    }
    (void)close(poller);
    while (goes_on()) {
        (void)poll(files, 1010, 1000);
    }
}

/* Events that never end: the loop hardly sleeps in its own wait, but callbacks do in another one. */
APART void serve(void (*callback)(void))
{
    struct epoll_event event = { EPOLLOUT, { NULL } };
    (void)epoll_ctl(poller, EPOLL_CTL_ADD, ends[1], &event);
    while (goes_on()) {
        (void)epoll_wait(poller, &event, 1, -1);
        callback();
    }
    __asm__ volatile("");
}

static int asked[2];

APART void ask_database(void)
{
    char text[16];
    errors += recv(asked[0], text, sizeof text, 0) < 0 && !told;
    __asm__ volatile("");
}

/* Looks for more by a poll that takes no time. */
APART void look_aside(void)
{
    for (int i = 0; i < 3; i++) {
        struct pollfd one = { ends[0], POLLIN, 0 };
        (void)poll(&one, 1, 0);
    }
    __asm__ volatile("");
}

/* The loop is in a thread, for which main waits. */
static void *run_login(void *user)
{
    run_loop(on_login, 10);
    return user;
}

APART void join_one(void)
{
    pthread_t thread;
    (void)pthread_create(&thread, NULL, run_login, NULL);
    (void)pthread_join(thread, NULL);
}

/* A loop that waits in recv; of its answers each tenth takes long. */
static void *ask(void *user)
{
    const struct timespec rest = { 0, 50000000 };
    const int to = *(const int *)user;
    while (goes_on()) {
        (void)nanosleep(&rest, NULL);
        (void)send(to, "ask", 4, MSG_DONTWAIT);
    }
    (void)shutdown(to, SHUT_RDWR);
    return NULL;
}

/* The database is another process. */
APART void query(void)
{
    pid_t child = -1;
    if (socketpair(AF_UNIX, SOCK_DGRAM, 0, asked) != 0 || (child = fork()) < 0) {
        return;
    }
    if (child == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGTERM);
        (void)ask(&asked[1]);
        _exit(0);
    }
    serve(ask_database);
    (void)kill(child, SIGTERM);
}

/* main's own recv never ends, while a thread has a loop. */
static void hang_beside(void)
{
    pthread_t thread;
    char text[16];
    if (socketpair(AF_UNIX, SOCK_DGRAM, 0, asked) == 0 &&
        pthread_create(&thread, NULL, run_login, NULL) == 0) {
        (void)recv(asked[0], text, sizeof text, 0);
        (void)pthread_join(thread, NULL);
    }
}

APART void answer(void)
{
    for (double until = now() + 0.1; now() < until;) {}
    __asm__ volatile("");
}

APART void take_datagrams(void)
{
    int pair[2];
    char text[16];
    pthread_t thread;
    (void)close(poller);
    if (socketpair(AF_UNIX, SOCK_DGRAM, 0, pair) != 0 ||
        pthread_create(&thread, NULL, ask, &pair[1]) != 0) {
        return;
    }
    for (long n = 1; goes_on(); n++) {
        if (recv(pair[0], text, sizeof text, 0) > 0 && n % 10 == 0) {
            answer();
        }
    }
    (void)pthread_join(thread, NULL);
}

/* A second program that another one becomes, children, and threads' worth of signals. */
static void start_one(void)
{
    pid_t child = fork();
    if (child == 0) {
        (void)execl("/bin/true", "true", (char *)NULL);
        _exit(1);
    }
    while (waitpid(child, NULL, 0) < 0 && errno == EINTR) {}
}

static void *wait_a_little(void *user)
{
    struct pollfd one = { ends[0], POLLIN, 0 };
    (void)poll(&one, 1, 3);
    return user;
}

/* Threads that come and go. */
static void start_threads(void)
{
    pthread_t all[4];
    for (int i = 0; i < 4; i++) {
        errors += pthread_create(&all[i], NULL, wait_a_little, NULL) != 0;
    }
    for (int i = 0; i < 4; i++) {
        errors += pthread_join(all[i], NULL) != 0;
    }
}

/* Another program, in the same process, once it is told to. */
static void become(const char *self)
{
    while (goes_on() && signals == 0) {
        step();
    }
    (void)execl(self, self, "quiet", "300", (char *)NULL);
    errors++;
}

static long rounds;

/* One stall, of six waits. */
APART void on_retry(void)
{
    const struct timespec rest = { 0, 50000000 };
    for (int i = 0; i < 6; i++) {
        (void)nanosleep(&rest, NULL);
    }
    rounds++;
}

/* A thread that pauses and has no loop. */
APART void *pause_often(void *user)
{
    const struct timespec rest = { 0, 30000000 };
    while (goes_on()) {
        for (double until = now() + 0.02; now() < until;) {
            (void)getppid();
        }
        (void)nanosleep(&rest, NULL);
    }
    return user;
}

static void retry(void)
{
    struct epoll_event event;
    pthread_t thread;
    if (pthread_create(&thread, NULL, pause_often, NULL) != 0) {
        return;
    }
    while (goes_on()) {
        (void)epoll_wait(poller, &event, 1, 200);
        on_retry();
    }
    (void)pthread_join(thread, NULL);
    (void)printf("rounds %ld\n", rounds);
}

/* It starts until a signal comes. */
APART void load_all(void)
{
    while (goes_on() && signals == 0) {
        __asm__ volatile("");
    }
}

/* Seconds in the wait and in three functions, as the program itself measures them. */
static double spent[4];

static void compute(double seconds, int what)
{
    double begin = now();
    while (now() < begin + seconds) {
        __asm__ volatile("");
    }
    spent[what] += now() - begin;
}

APART void work_most(void)
{
    compute(0.008, 1);
    __asm__ volatile("");
}

APART void work_some(void)
{
    compute(0.003, 2);
    __asm__ volatile("");
}

APART void work_little(void)
{
    compute(0.001, 3);
    __asm__ volatile("");
}

static void share_time(void)
{
    while (goes_on()) {
        double begin = now();
        step();
        spent[0] += now() - begin;
        work_most();
        work_some();
        work_little();
    }
    (void)printf("spent %.3f %.3f %.3f %.3f\n", spent[0], spent[1], spent[2], spent[3]);
}

int main(int count, char **words)
{
    const char *what = count > 2 ? words[1] : "";
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = take_signal;
    (void)sigaction(SIGUSR1, &action, NULL);
    action.sa_handler = take_end;
    (void)sigaction(SIGTERM, &action, NULL);
    end = now() + (count > 2 ? atof(words[2]) : 0);
    poller = epoll_create1(0);
    if (pipe(ends) != 0) {
        return 1;
    }
    (void)printf("ready\n");
    (void)fflush(stdout);
    if (strcmp(what, "login") == 0) {
        run_loop(on_login, 10);
    } else if (strcmp(what, "hang") == 0) {
        run_loop(parse_header, 20);
    } else if (strcmp(what, "spin") == 0) {
        spin();
    } else if (strcmp(what, "pump") == 0) {
        (void)close(poller);
        while (goes_on()) { /* a loop that only looks, and sleeps in between */
            errors += poll(NULL, 0, 0) < 0 && !told;
            errors += usleep(10000) != 0 && !told;
        }
    } else if (strcmp(what, "joins") == 0) {
        join_one();
    } else if (strcmp(what, "datagrams") == 0) {
        take_datagrams();
    } else if (strcmp(what, "query") == 0) {
        query();
    } else if (strcmp(what, "hang_beside") == 0) {
        hang_beside();
    } else if (strcmp(what, "aside") == 0) {
        serve(look_aside);
    } else if (strcmp(what, "looks") == 0) {
        looks();
    } else if (strcmp(what, "writable") == 0) {
        writable();
    } else if (strcmp(what, "crowd") == 0) {
        crowd();
    } else if (strcmp(what, "retry") == 0) {
        retry();
    } else if (strcmp(what, "starts") == 0) {
        load_all();
        run_loop(NULL, 0);
    } else if (strcmp(what, "forks") == 0) {
        run_loop(start_one, 10);
    } else if (strcmp(what, "shares") == 0) {
        share_time();
    } else if (strcmp(what, "threads") == 0) {
        run_loop(start_threads, 2);
    } else if (strcmp(what, "becomes") == 0) {
        become(words[0]);
    } else {
        run_loop(NULL, 0);
    }
    (void)printf("errors %ld signals %ld\n", errors, signals);
    return 7;
}
