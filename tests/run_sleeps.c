/* run_sleeps.c - waits in a callback that no handler restarts, for tests/run_command.sh: the ticks
 * of chroprof run --wall cut them short, and they go on. A signal of the program ends them. */

#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define LENGTH 80000000 /* ns: several ticks */

static volatile sig_atomic_t handled;

static int64_t now_ns(clockid_t clock)
{
    struct timespec now;
    (void)clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static struct timespec later(clockid_t clock, int64_t ns)
{
    int64_t end = now_ns(clock) + ns;
    struct timespec time = { (time_t)(end / 1000000000), (long)(end % 1000000000) };
    return time;
}

static void on_signal(int number)
{
    (void)number;
    handled++;
}

/* Again and again: the first one may come too early on a busy machine. */
static void alarm_every(int64_t ns)
{
    const struct timeval period = { 0, (suseconds_t)(ns / 1000) };
    const struct itimerval time = { period, period };
    (void)setitimer(ITIMER_REAL, &time, NULL);
}

/* Its result, its error, and whether it took what it should. */
static void tell(const char *what, int64_t begin, int64_t least, long result, int error)
{
    printf("%s: %ld %s, %s\n", what, result, error != 0 ? strerror(error) : "-",
           now_ns(CLOCK_MONOTONIC) - begin >= least ? "long enough" : "too short");
}

#define WAIT(what, least, call)                                                                    \
    do {                                                                                           \
        int64_t begin = now_ns(CLOCK_MONOTONIC);                                                   \
        errno = 0; /* and stays it, as after a wait that nobody cut */                             \
        long result = (call);                                                                      \
        tell(what, begin, least, result, errno);                                                   \
    } while (0)

#define CUT(what, call)                                                                            \
    do {                                                                                           \
        int before = handled;                                                                      \
        long result = (call);                                                                      \
        int error = errno;                                                                         \
        printf("%s: %ld %s, %s\n", what, result, strerror(error),                                  \
               handled > before ? "by a signal" : "by nothing");                                   \
    } while (0)

__attribute__((__noinline__)) void on_time(void)
{
    struct timespec length = { 0, LENGTH };
    struct timespec left = { 77, 77 };
    struct timespec until = later(CLOCK_MONOTONIC, LENGTH);
    struct timeval same = { 0, LENGTH / 1000 };
    struct epoll_event event;
    sem_t semaphore;
    sigset_t none;
    (void)sigemptyset(&none);
    (void)sem_init(&semaphore, 0, 0);
    WAIT("usleep", LENGTH, usleep(LENGTH / 1000));
    WAIT("nanosleep", LENGTH, nanosleep(&length, &left));
    until = later(CLOCK_MONOTONIC, LENGTH);
    WAIT("until", LENGTH, clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL));
    WAIT("for", LENGTH, clock_nanosleep(CLOCK_MONOTONIC, 0, &length, &left));
    WAIT("sleep", INT64_C(1000000000), (long)sleep(1));
    until = later(CLOCK_REALTIME, LENGTH);
    WAIT("semaphore", 0, sem_timedwait(&semaphore, &until));
    WAIT("poll", LENGTH, poll(NULL, 0, LENGTH / 1000000));
    WAIT("select", 0, select(0, NULL, NULL, NULL, &same));
    WAIT("epoll", LENGTH, epoll_wait(epoll_create1(EPOLL_CLOEXEC), &event, 1, LENGTH / 1000000));
    WAIT("signals", LENGTH, sigtimedwait(&none, NULL, &length));
    printf("left: %ld %ld\n", (long)left.tv_sec, left.tv_nsec);
}

/* What the program's own signal ends; the time that is left is told. */
__attribute__((__noinline__)) void on_time_with_signals(void)
{
    struct timespec length = { 30, 0 };
    struct timespec left = { 77, 77 };
    struct timespec until = later(CLOCK_REALTIME, INT64_C(30000000000));
    struct {
        long kind;
        char text[8];
    } message;
    struct sembuf step = { 0, -1, 0 };
    int queue = msgget(IPC_PRIVATE, IPC_CREAT | 0600);
    int set = semget(IPC_PRIVATE, 1, IPC_CREAT | 0600);
    sem_t semaphore;
    sigset_t none;
    (void)sigemptyset(&none);
    (void)sem_init(&semaphore, 0, 0);
    alarm_every(LENGTH);
    CUT("nanosleep", nanosleep(&length, &left));
    printf("left: %d\n", left.tv_sec > 0 && left.tv_sec < 30);
    CUT("for", clock_nanosleep(CLOCK_MONOTONIC, 0, &length, &left));
    printf("left: %d\n", left.tv_sec > 0 && left.tv_sec < 30);
    CUT("usleep", usleep(30000000));
    CUT("sleep", sleep(30) > 0 ? -1 : 0);
    CUT("pause", pause());
    CUT("sigsuspend", sigsuspend(&none));
    CUT("sigwaitinfo", sigwaitinfo(&none, NULL));
    CUT("semaphore", sem_timedwait(&semaphore, &until));
    CUT("semop", semop(set, &step, 1));
    CUT("semtimedop", semtimedop(set, &step, 1, &length));
    CUT("msgrcv", msgrcv(queue, &message, sizeof message.text, 0, 0));
    alarm_every(0);
    (void)msgctl(queue, IPC_RMID, NULL);
    (void)semctl(set, 0, IPC_RMID);
}

#define ROUNDS 20

static int sent, round_now; /* atomic */
static pid_t waiting;

/* Whether that thread sleeps in a system call. */
static int is_asleep(pid_t thread)
{
    char path[64];
    char state = 0;
    FILE *file;
    (void)snprintf(path, sizeof path, "/proc/self/task/%d/stat", (int)thread);
    file = fopen(path, "r");
    if (file != NULL) {
        if (fscanf(file, "%*[^)]) %c", &state) != 1) {
            state = 0;
        }
        (void)fclose(file);
    }
    return state == 'S';
}

/* One signal for each wait, while the thread sleeps in it; one more if it still does. */
static void *send_signals(void *thread)
{
    int round;
    while ((round = __atomic_load_n(&round_now, __ATOMIC_SEQ_CST)) <= ROUNDS) {
        if (round > 0 && is_asleep(waiting) &&
            round == __atomic_load_n(&round_now, __ATOMIC_SEQ_CST)) {
            int before = handled;
            (void)__atomic_fetch_add(&sent, 1, __ATOMIC_SEQ_CST);
            (void)pthread_kill(*(pthread_t *)thread, SIGUSR1);
            while (handled == before) {
                (void)usleep(1000);
            }
        }
        (void)usleep(1000);
    }
    return NULL;
}

/* Computes for several ticks, which come when it is over. */
static void on_long_signal(int number)
{
    int64_t end = now_ns(CLOCK_THREAD_CPUTIME_ID) + LENGTH / 4;
    while (now_ns(CLOCK_THREAD_CPUTIME_ID) < end) {}
    on_signal(number);
}

/* Each wait ends by the one signal that comes in it; lost: how many may need one more. */
__attribute__((__noinline__)) void on_time_with_one_signal(void (*handler)(int), int lost)
{
    struct timespec length = { 3000, 0 };
    struct sigaction action, set;
    pthread_t self = pthread_self();
    pthread_t sender;
    int cut = 0;
    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    (void)sigfillset(&action.sa_mask);
    (void)sigaction(SIGUSR1, &action, NULL);
    (void)sigaction(SIGUSR1, NULL, &set);
    waiting = (pid_t)syscall(SYS_gettid);
    sent = 0;
    __atomic_store_n(&round_now, 0, __ATOMIC_SEQ_CST);
    if (pthread_create(&sender, NULL, send_signals, &self) != 0) {
        return;
    }
    for (int round = 1; round <= ROUNDS; round++) {
        __atomic_store_n(&round_now, round, __ATOMIC_SEQ_CST);
        cut += nanosleep(&length, NULL) != 0 && errno == EINTR;
    }
    __atomic_store_n(&round_now, ROUNDS + 1, __ATOMIC_SEQ_CST);
    (void)pthread_join(sender, NULL);
    printf("one signal: %d cut, %s, mask %s\n", cut, sent <= ROUNDS + lost ? "enough" : "too few",
           sigismember(&set.sa_mask, SIGRTMAX) == 1 && sigismember(&set.sa_mask, SIGRTMIN) == 1
               ? "full"
               : "not full");
}

/* ALLOWED: signals that may be lost: by wall time one may come between two parts of a wait. */
int main(int count, char **words)
{
    const int lost = count > 1 ? atoi(words[1]) : 0;
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_signal;
    (void)sigaction(SIGALRM, &action, NULL);
    (void)poll(NULL, 0, 1);
    (void)poll(NULL, 0, 1);
    on_time();
    (void)poll(NULL, 0, 1);
    on_time_with_signals();
    (void)poll(NULL, 0, 1);
    on_time_with_one_signal(on_signal, lost);
    on_time_with_one_signal(on_long_signal, lost);
    (void)poll(NULL, 0, 1);
    return 3;
}
