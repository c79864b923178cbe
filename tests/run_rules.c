/* run_rules.c - programs that block signals, wait for them, send them, forbid themselves system
 * calls, or start many threads, for tests/run_command.sh.
 *
 *     run_rules blocked         all signals are blocked from the start
 *     run_rules descriptor      and read from a descriptor, once a loop has run
 *     run_rules waits           and waited for
 *     run_rules wanted          the sampler's signals, and no others
 *     run_rules child           a child sets them and resets them
 *     run_rules group           it signals its process group, in a group of its own
 *     run_rules stops           it stops itself
 *     run_rules filter          system calls are forbidden, before a loop begins
 *     run_rules late            after that
 *     run_rules all             by another call, for all of two threads
 *     run_rules guests          a hundred threads with short loops, one after the other
 *     run_rules crowd           a hundred at once, more than there are signals or seats in one part;
 *                               the last is busy
 *     run_rules locked FOLDER   it locks itself into that folder, with two loops
 *     run_rules harmless        only one that nobody makes
 *
 * Each prints what it saw of itself: the test compares that with and without chroprof run. */

#define _GNU_SOURCE
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t handled;

static void on_signal(int number)
{
    (void)number;
    handled++;
}

static long cpu_ms(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return now.tv_sec * 1000L + now.tv_nsec / 1000000;
}

/* ms of CPU time, or SLOW_MS where nobody looks at the profile */
static __attribute__((__noinline__)) void the_busy_function(long ms)
{
    static volatile unsigned long sink;
    const char *given = getenv("SLOW_MS");
    long end = cpu_ms() + (given != NULL ? atol(given) : ms);
    do {
        for (unsigned long i = 0; i < 100000; i++) {
            sink += i;
        }
    } while (cpu_ms() < end);
}

/* Six rounds; more than a tick each. */
static void run_loop(void)
{
    for (int round = 0; round < 6; round++) {
        (void)poll(NULL, 0, 1);
        the_busy_function(25);
    }
}

static void block_all(sigset_t *set)
{
    (void)sigfillset(set);
    (void)pthread_sigmask(SIG_BLOCK, set, NULL);
}

/* Whether the last signal seems to be blocked, as the thread sees it. */
static void tell_mask(void)
{
    sigset_t now;
    (void)sigprocmask(SIG_BLOCK, NULL, &now);
    printf("blocked: %d %d\n", sigismember(&now, SIGRTMAX), sigismember(&now, SIGUSR2));
}

static void test_blocked(void)
{
    sigset_t set;
    sigset_t old;
    block_all(&set);
    run_loop();
    tell_mask();
    (void)sigemptyset(&set);
    (void)sigprocmask(SIG_SETMASK, &set, &old);
    printf("before: %d\n", sigismember(&old, SIGRTMAX));
    tell_mask();
    (void)sigprocmask(SIG_SETMASK, &old, NULL);
    tell_mask();
    (void)sigemptyset(&set);
    (void)sigaddset(&set, SIGRTMAX);
    (void)sigprocmask(SIG_UNBLOCK, &set, NULL);
    tell_mask();
}

static void test_descriptor(void)
{
    struct signalfd_siginfo info;
    sigset_t set;
    int file;
    run_loop();
    block_all(&set);
    file = signalfd(-1, &set, SFD_NONBLOCK);
    run_loop();
    (void)raise(SIGUSR1);
    while (read(file, &info, sizeof info) == (ssize_t)sizeof info) {
        printf("read %u\n", info.ssi_signo);
    }
}

static void test_waits(void)
{
    const struct timespec moment = { 0, 100000000 };
    siginfo_t info;
    sigset_t set;
    int number = 0;
    run_loop();
    block_all(&set);
    the_busy_function(60);
    printf("%d\n", sigtimedwait(&set, &info, &moment));
    (void)raise(SIGUSR1);
    (void)sigwait(&set, &number);
    (void)raise(SIGUSR2);
    printf("%d %d\n", number, sigwaitinfo(&set, &info));
}

/* As a program does that has timers of its own with such signals. */
static void test_wanted(void)
{
    siginfo_t info;
    sigset_t set;
    run_loop();
    (void)sigemptyset(&set);
    for (int number = SIGRTMAX - 3; number <= SIGRTMAX; number++) {
        (void)sigaddset(&set, number);
    }
    (void)sigprocmask(SIG_BLOCK, &set, NULL);
    run_loop();
    (void)raise(SIGRTMAX);
    printf("%d\n", sigwaitinfo(&set, &info));
}

static void test_child(void)
{
    struct sigaction action;
    struct sigaction old;
    int status = 0;
    run_loop();
    (void)fflush(stdout);
    if (fork() == 0) {
        memset(&action, 0, sizeof action);
        action.sa_handler = on_signal;
        (void)sigaction(SIGRTMAX, &action, NULL);
        (void)sigaction(SIGRTMAX, NULL, &old);
        printf("set: %d\n", old.sa_handler == on_signal);
        (void)fflush(stdout);
        (void)signal(SIGRTMAX, SIG_DFL);
        (void)raise(SIGRTMAX);
        _exit(0);
    }
    (void)wait(&status);
    printf("killed: %d\n", WIFSIGNALED(status));
}

static void test_group(void)
{
    (void)signal(SIGUSR1, on_signal);
    (void)kill(0, SIGUSR1);
    run_loop();
    printf("%d\n", (int)handled);
}

static void test_stops(void)
{
    puts("stops");
    (void)fflush(stdout);
    (void)raise(SIGSTOP);
    puts("continues");
    run_loop();
}

#define ALLOW(number)                                                                              \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

/* Any other call ends the process, that of the sampler too. The C library's own are allowed. */
static bool forbid(bool by_prctl)
{
    static struct sock_filter steps[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
#ifdef SYS_poll
        ALLOW(SYS_poll),
#endif
        ALLOW(SYS_ppoll),
        ALLOW(SYS_write),
        ALLOW(SYS_exit_group),
        ALLOW(SYS_exit),
        ALLOW(SYS_rt_sigreturn),
        ALLOW(SYS_clock_gettime),
        ALLOW(SYS_restart_syscall),
        ALLOW(SYS_futex),
        ALLOW(SYS_madvise),
        ALLOW(SYS_rt_sigprocmask),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL),
    };
    struct sock_fprog filter = { sizeof steps / sizeof steps[0], steps };
    (void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    return (by_prctl ? prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter)
                     : syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC,
                               &filter)) == 0;
}

static int test_harmless(void)
{
    static struct sock_filter steps[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_reboot, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL),
    };
    struct sock_fprog filter = { sizeof steps / sizeof steps[0], steps };
    (void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0) {
        return 77;
    }
    run_loop();
    return 5;
}

static int test_filter(bool by_prctl)
{
    printf("forbids\n");
    (void)fflush(stdout);
    if (!forbid(by_prctl)) {
        return 77; /* no such thing here */
    }
    run_loop();
    puts("done");
    (void)fflush(stdout);
    return 4;
}

static void *guest(void *busy)
{
    for (int round = 0; round < 5; round++) {
        (void)poll(NULL, 0, 0);
    }
    the_busy_function(busy != NULL ? 200 : 0);
    return NULL;
}

static void test_guests(void)
{
    pthread_t thread;
    for (int number = 0; number < 100; number++) {
        (void)pthread_create(&thread, NULL, guest, number == 10 ? &thread : NULL);
        (void)pthread_join(thread, NULL);
    }
    run_loop();
}

#define CROWD 100

static uint32_t in_crowd, crowd_is_over;

/* All have a loop when the last one works, and none has ended. */
static void *one_of_crowd(void *busy)
{
    for (int round = 0; round < 3; round++) {
        (void)poll(NULL, 0, 1);
    }
    (void)__atomic_fetch_add(&in_crowd, 1, __ATOMIC_SEQ_CST);
    while (busy != NULL && __atomic_load_n(&in_crowd, __ATOMIC_SEQ_CST) < CROWD) {
        (void)poll(NULL, 0, 5);
    }
    if (busy != NULL) {
        run_loop();
        __atomic_store_n(&crowd_is_over, 1, __ATOMIC_SEQ_CST);
    }
    while (__atomic_load_n(&crowd_is_over, __ATOMIC_SEQ_CST) == 0) {
        (void)poll(NULL, 0, 20);
    }
    return NULL;
}

static void test_crowd(void)
{
    pthread_t threads[CROWD];
    for (int number = 0; number < CROWD; number++) {
        (void)pthread_create(&threads[number], NULL, one_of_crowd,
                             number == CROWD - 1 ? &in_crowd : NULL);
    }
    for (int number = 0; number < CROWD; number++) {
        (void)pthread_join(threads[number], NULL);
    }
}

static void *other_loop(void *unused)
{
    (void)unused;
    run_loop();
    return NULL;
}

static int test_locked(const char *folder)
{
    pthread_t thread;
    if (chroot(folder) != 0 || chdir("/") != 0) {
        return 77;
    }
    (void)pthread_create(&thread, NULL, other_loop, NULL);
    run_loop();
    (void)pthread_join(thread, NULL);
    printf("%d\n", access("/bin", F_OK));
    return 6;
}

static int test_all(void)
{
    pthread_t thread;
    int result;
    (void)pthread_create(&thread, NULL, other_loop, NULL);
    run_loop();
    result = test_filter(false);
    (void)pthread_join(thread, NULL);
    return result;
}

int main(int count, char **words)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } tests[] = { { "blocked", test_blocked }, { "descriptor", test_descriptor },
                  { "waits", test_waits },     { "wanted", test_wanted },
                  { "child", test_child },     { "group", test_group },
                  { "stops", test_stops },     { "guests", test_guests },
                  { "crowd", test_crowd } };
    const char *what = count > 1 ? words[1] : "";
    for (size_t i = 0; i < sizeof tests / sizeof tests[0]; i++) {
        if (strcmp(what, tests[i].name) == 0) {
            tests[i].run();
            return 3;
        }
    }
    if (strcmp(what, "locked") == 0) {
        return test_locked(count > 2 ? words[2] : ".");
    }
    if (strcmp(what, "harmless") == 0) {
        return test_harmless();
    }
    if (strcmp(what, "late") == 0) {
        run_loop();
    }
    return strcmp(what, "all") == 0 ? test_all() : test_filter(true);
}
