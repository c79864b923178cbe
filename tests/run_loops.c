/* run_loops.c - small programs with event loops, for tests/run_command.sh.
 *
 *     run_loops WHAT [poll]     epoll, poll, select, ppoll, pselect: a loop of that kind, which
 *                               stalls once; long: with more rounds; threads: two; parked: one of
 *                               them waits in a pool; quick: none; exit, killed, hangs,
 *                               becomes: how it ends; fork, execs, made, signals, stay, user,
 *                               daemon: see there
 *
 * Each prints what it saw of itself: the test compares that with and without chroprof run. */

#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int pipes[2];

static long cpu_ms(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return now.tv_sec * 1000L + now.tv_nsec / 1000000;
}

/* Uses 300 ms of CPU time, or SLOW_MS: in machine code of its own, not in a call. */
__attribute__((__noinline__)) void the_slow_function(void)
{
    static volatile unsigned long sink;
    const char *given = getenv("SLOW_MS");
    long end = cpu_ms() + (given != NULL ? atol(given) : 300);
    do {
        for (unsigned long i = 0; i < 1000000; i++) {
            sink += i;
        }
    } while (cpu_ms() < end);
}

__attribute__((__noinline__)) void on_event(int round)
{
    char byte = 0;
    if (read(pipes[0], &byte, 1) != 1) {
        puts("nothing to read");
    }
    if (round == 5) {
        the_slow_function();
    }
    if (write(pipes[1], "x", 1) != 1) {
        puts("nothing written");
    }
}

static int wait_once(const char *how)
{
    struct pollfd file = { pipes[0], POLLIN, 0 };
    struct timespec second = { 1, 0 };
    struct timeval same = { 1, 0 };
    sigset_t none;
    fd_set set;
    FD_ZERO(&set);
    FD_SET(pipes[0], &set);
    (void)sigemptyset(&none);
    if (strcmp(how, "poll") == 0) {
        return poll(&file, 1, 1000);
    }
    if (strcmp(how, "ppoll") == 0) {
        return ppoll(&file, 1, &second, &none);
    }
    if (strcmp(how, "select") == 0) {
        return select(pipes[0] + 1, &set, NULL, NULL, &same);
    }
    return pselect(pipes[0] + 1, &set, NULL, NULL, &second, &none);
}

__attribute__((__noinline__)) static void loop(const char *how, int rounds)
{
    struct epoll_event event = { EPOLLIN, { 0 } };
    int queue = -1;
    int ready = 0;
    if (strcmp(how, "epoll") == 0) {
        queue = epoll_create1(EPOLL_CLOEXEC);
        (void)epoll_ctl(queue, EPOLL_CTL_ADD, pipes[0], &event);
    }
    for (int round = 0; round < rounds; round++) {
        errno = 77;
        int count = queue >= 0 ? epoll_wait(queue, &event, 1, 1000) : wait_once(how);
        ready += count;
        if (count < 0 || errno != 77) {
            printf("count %d errno %d\n", count, errno);
        }
        on_event(round);
    }
    if (queue >= 0) {
        (void)close(queue);
    }
    printf("%s: %d ready of %d, next descriptor %d\n", how, ready, rounds, dup(0));
}

static void *loop_of_thread(void *unused)
{
    for (int round = 0; round < 20; round++) {
        (void)poll(NULL, 0, 1);
    }
    return unused;
}

static void threads(void)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, loop_of_thread, NULL) == 0) {
        loop("epoll", 10);
        (void)pthread_join(thread, NULL);
    }
}

/* The other one waits for longer than the loop runs, and in no call that a loop waits in. */
static int of_pool[2];

static void *thread_of_pool(void *unused)
{
    char byte = 0;
    for (int round = 0; round < 3; round++) {
        (void)poll(NULL, 0, 1);
    }
    if (write(pipes[1], "x", 1) != 1 || read(of_pool[0], &byte, 1) != 1) {
        puts("no pool");
    }
    return unused;
}

static void parked(void)
{
    pthread_t thread;
    char byte = 0;
    if (pipe(of_pool) == 0 && read(pipes[0], &byte, 1) == 1 &&
        pthread_create(&thread, NULL, thread_of_pool, NULL) == 0) {
        loop("epoll", 10);
        (void)(write(of_pool[1], "x", 1) == 1 && pthread_join(thread, NULL) == 0);
    }
}

/* The child has no profile, and its environment is that of the program. */
static void fork_child(void)
{
    int status = 0;
    loop("poll", 10);
    (void)fflush(stdout);
    if (fork() == 0) {
        loop("poll", 10);
        (void)fflush(stdout);
        execlp("sh", "sh", "-c", "env | sort | grep -v -e ^_= -e ^SLOW_MS=; exit 5", (char *)NULL);
    }
    (void)wait(&status);
    printf("child %d\n", WEXITSTATUS(status));
}

static void on_interrupt(int number)
{
    (void)number;
    _exit(5);
}

/* Says its number, and goes on until somebody ends it. */
static void stay(void)
{
    (void)signal(SIGINT, on_interrupt);
    printf("%ld\n", (long)getpid());
    (void)fflush(stdout);
    for (int round = 0; round < 6000; round++) {
        (void)poll(NULL, 0, 10);
    }
}

/* Goes into the background in the middle of its loop, until there is this file. */
static void go_away(const char *file)
{
    loop("poll", 10);
    (void)fflush(stdout);
    if (fork() > 0) {
        _exit(0);
    }
    (void)setsid();
    for (int round = 0; round < 20 || (round < 6000 && access(file, F_OK) != 0); round++) {
        (void)poll(NULL, 0, 10);
    }
}

/* Code that the program makes: a loop of 2^29 steps, named as compilers at run time name theirs.
 * Its process's number goes to a file, by which the test takes the map away. */
static void made_code(const char *number_file)
{
#if defined(__x86_64__)
    static const unsigned char code[] = { 0x55, 0x48, 0x89, 0xe5, 0xb8, 0,    0,   0,
                                          0x20, 0xff, 0xc8, 0x75, 0xfc, 0x5d, 0xc3 };
    void *page =
        mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char name[64];
    void (*run)(void);
    (void)snprintf(name, sizeof name, "/tmp/perf-%ld.map", (long)getpid());
    FILE *map = page != MAP_FAILED ? fopen(name, "w") : NULL;
    if (map != NULL) {
        memcpy(page, code, sizeof code);
        memcpy(&run, &page, sizeof run);
        fprintf(map, "%lx %zx the_code_of_the_program\n", (unsigned long)page, sizeof code);
        (void)fclose(map);
        map = fopen(number_file, "w");
        if (map != NULL) {
            fprintf(map, "%ld\n", (long)getpid());
            (void)fclose(map);
        }
        (void)poll(NULL, 0, 1);
        (void)poll(NULL, 0, 1);
        run();
        (void)poll(NULL, 0, 1);
        puts("made");
        return;
    }
#endif
    (void)number_file;
    puts("none");
}

/* One program after the other, each of which sees the environment of the last one. */
static void execs(void)
{
    char *const variables[] = { "ONE=1", "TWO=2", NULL };
    (void)execlp("no such program", "a", "b", (char *)NULL);
    (void)execle("/bin/sh", "sh", "-c", "echo $0 $1 $ONE; exec env", "zero", "first", (char *)NULL,
                 variables);
}

static void on_alarm(int number)
{
    (void)number;
}

/* A signal interrupts a wait; an unused one keeps its default, whoever asks. */
static void signals(void)
{
    struct sigaction old;
    struct sigaction action;
    int handled = 0;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_alarm;
    (void)sigaction(SIGALRM, &action, NULL);
    loop("poll", 10);
    (void)ualarm(10000, 10000);
    int count = poll(NULL, 0, -1);
    printf("poll %d errno %d\n", count, errno);
    (void)ualarm(0, 0);
    for (int number = SIGRTMIN; number <= SIGRTMAX; number++) {
        (void)sigaction(number, NULL, &old);
        handled += old.sa_handler != SIG_DFL;
    }
    printf("handled %d\n", handled);
    for (int number = SIGRTMIN; number <= SIGRTMAX; number++) {
        (void)signal(number, SIG_DFL);
    }
    the_slow_function();
    action.sa_handler = on_alarm;
    for (int number = SIGRTMIN; number <= SIGRTMAX; number++) {
        (void)sigaction(number, &action, NULL);
    }
    the_slow_function();
    (void)raise(SIGRTMAX);
    loop("poll", 10);
}

/* As daemons do that root starts. */
static void become_user(void)
{
    printf("%d %d\n", setgid(65534), setuid(65534));
    loop("poll", 10);
}

int main(int count, char **words)
{
    const char *what = count > 1 ? words[1] : "epoll";
    if (pipe(pipes) != 0 || write(pipes[1], "x", 1) != 1) {
        return 1;
    }
    if (strcmp(what, "threads") == 0) {
        threads();
    } else if (strcmp(what, "parked") == 0) {
        parked();
    } else if (strcmp(what, "fork") == 0) {
        fork_child();
    } else if (strcmp(what, "daemon") == 0) {
        go_away(count > 2 ? words[2] : "/");
    } else if (strcmp(what, "stay") == 0) {
        stay();
    } else if (strcmp(what, "made") == 0) {
        made_code(count > 2 ? words[2] : "/dev/null");
    } else if (strcmp(what, "execs") == 0) {
        execs();
    } else if (strcmp(what, "signals") == 0) {
        signals();
    } else if (strcmp(what, "user") == 0) {
        become_user();
    } else if (strcmp(what, "long") == 0) {
        loop(count > 2 ? words[2] : "epoll", 100);
    } else if (strcmp(what, "quick") == 0) {
        puts("no loop");
    } else if (strcmp(what, "hangs") == 0 || strcmp(what, "becomes") == 0) {
        loop("poll", 4);
    } else {
        loop(count > 2 ? "poll" : what, 10);
    }
    (void)fflush(stdout);
    if (strcmp(what, "hangs") == 0) {
        the_slow_function();
        (void)raise(SIGKILL);
    }
    if (strcmp(what, "becomes") == 0) {
        (void)execlp("sleep", "sleep", "0.1", (char *)NULL);
    }
    if (strcmp(what, "exit") == 0) {
        _exit(42);
    }
    if (strcmp(what, "killed") == 0) {
        (void)raise(SIGTERM);
    }
    return 3;
}
