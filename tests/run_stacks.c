/* run_stacks.c - small stacks and signals without a handler, for tests/run_command.sh.
 *
 *     cc -O1 -Wl,-z,now ... -pthread      so that the linker needs no stack later
 *     run_stacks WHAT     first: a coroutine with a stack of 4 KiB waits before anybody else
 *                         thread: the same in a thread, at its second wait
 *                         later: such coroutines wait, compute and are sampled all the time
 *                         low: a thread computes where it has 1 KiB of its stack left
 *                         alternate: what the program sees of alternate stacks, and its own
 *                         raised, sent: a signal that the sampler has, and the program no handler for
 *                         ignored: the same, which the program ignores
 *                         stopped: another thread stops this one by signals, as collectors do
 *                         large: a handler that wants an alternate stack, where there is none
 *                         system: a thread sets its alternate stack by the system call
 *                         tiny: a loop in a thread with 48 KiB
 *                         awaited: the sampler's signal, blocked by all and awaited in a thread
 *
 * They print what they see, the same under chroprof run. */

#define _GNU_SOURCE
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#define SMALL 4096
#define LEFT 1024

static volatile unsigned sink;
static __thread ucontext_t outside, inside;
static int coroutine_waits, coroutine_ms;

static int64_t cpu_ns(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void burn(int ms)
{
    for (int64_t end = cpu_ns() + (int64_t)ms * 1000000; cpu_ns() < end;) {
        for (unsigned k = 0; k < 1000; k++) {
            sink += k;
        }
    }
}

static void coroutine(void)
{
    for (int k = 0; k < coroutine_waits; k++) {
        (void)poll(NULL, 0, 1);
        burn(coroutine_ms);
        (void)swapcontext(&inside, &outside);
    }
}

/* Its stack ends at a page that can't be written. */
static void run_coroutine(int turns, int ms)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *low =
        (char *)mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (low == MAP_FAILED || mprotect(low, page, PROT_NONE) != 0) {
        return;
    }
    coroutine_waits = turns + 1;
    coroutine_ms = ms;
    (void)getcontext(&inside);
    inside.uc_stack.ss_sp = low + page;
    inside.uc_stack.ss_size = SMALL;
    inside.uc_link = NULL;
    makecontext(&inside, coroutine, 0);
    for (int k = 0; k < turns; k++) {
        (void)swapcontext(&outside, &inside);
    }
    printf("lived\n");
}

static void *thread_first(void *unused)
{
    (void)poll(NULL, 0, 1);
    run_coroutine(20, 1);
    return unused;
}

static void go_down(uintptr_t low)
{
    volatile char room[256];
    room[0] = 1;
    if ((uintptr_t)room - low > LEFT + 2 * sizeof room) {
        go_down(low);
    } else {
        burn(150);
    }
    room[1] = 2;
}

static void *thread_low(void *stack)
{
    for (int k = 0; k < 4; k++) {
        (void)poll(NULL, 0, 1);
    }
    go_down((uintptr_t)stack);
    (void)poll(NULL, 0, 1);
    return NULL;
}

static void test_low(void)
{
    const size_t size = (size_t)256 << 10;
    pthread_attr_t attributes;
    pthread_t thread;
    void *stack = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    (void)pthread_attr_init(&attributes);
    if (stack == MAP_FAILED || mprotect(stack, page, PROT_NONE) != 0 ||
        pthread_attr_setstack(&attributes, (char *)stack + page, size - page) != 0 ||
        pthread_create(&thread, &attributes, thread_low, (char *)stack + page) != 0) {
        return;
    }
    (void)pthread_join(thread, NULL);
    printf("lived\n");
}

static char own_stack[16384];
static sigjmp_buf back;

static void tell_stack(const char *when)
{
    stack_t now;
    memset(&now, 0, sizeof now);
    printf("%s: %d,", when, sigaltstack(NULL, &now));
    printf(" flags %d, own %d\n", now.ss_flags, now.ss_sp == own_stack);
}

static void on_fault(int number)
{
    char here;
    printf("%d on its own stack: %d\n", number == SIGUSR1,
           (size_t)(&here - own_stack) < sizeof own_stack);
    siglongjmp(back, 1);
}

static void test_alternate(void)
{
    struct sigaction action;
    stack_t stack, old;
    tell_stack("before");
    for (int k = 0; k < 3; k++) {
        (void)poll(NULL, 0, 1);
    }
    burn(100);
    tell_stack("in a loop");
    memset(&stack, 0, sizeof stack);
    memset(&old, 0, sizeof old);
    stack.ss_flags = SS_DISABLE;
    printf("%d\n", sigaltstack(&stack, &old));
    printf("%d\n", old.ss_flags);
    stack.ss_flags = 0;
    stack.ss_sp = own_stack;
    stack.ss_size = 16;
    printf("too small: %d\n", sigaltstack(&stack, NULL));
    tell_stack("then");
    stack.ss_size = sizeof own_stack;
    printf("%d\n", sigaltstack(&stack, &old));
    printf("%d\n", old.ss_flags);
    tell_stack("with one");
    memset(&action, 0, sizeof action);
    action.sa_handler = on_fault;
    action.sa_flags = SA_ONSTACK;
    (void)sigaction(SIGUSR1, &action, NULL);
    if (sigsetjmp(back, 1) == 0) {
        (void)raise(SIGUSR1);
    }
    burn(150);
    stack.ss_flags = SS_DISABLE;
    printf("%d\n", sigaltstack(&stack, &old));
    printf("%d %d\n", old.ss_flags, old.ss_sp == own_stack);
    tell_stack("after");
    (void)poll(NULL, 0, 1);
}

static void wait_and_burn(void)
{
    for (int k = 0; k < 3; k++) {
        (void)poll(NULL, 0, 1);
    }
    burn(100);
}

/* The first signal that the sampler takes. A process that ends by it says so to its parent. */
static void test_signal(const char *what)
{
    int status = 0;
    if (strcmp(what, "ignored") == 0) {
        (void)signal(SIGRTMAX, SIG_IGN);
    }
    wait_and_burn();
    if (strcmp(what, "ignored") == 0) {
        printf("was ignored: %d\n", signal(SIGRTMAX, SIG_DFL) == SIG_IGN);
        printf("was not: %d\n", signal(SIGRTMAX, SIG_IGN) == SIG_DFL);
    }
    (void)fflush(stdout);
    if (strcmp(what, "sent") == 0) {
        const pid_t parent = getpid();
        const union sigval value = { 1 };
        if (fork() == 0) {
            _exit(sigqueue(parent, SIGRTMAX, value));
        }
        (void)wait(&status);
        burn(100);
    } else {
        (void)raise(SIGRTMAX);
    }
    burn(100);
    printf("lived\n");
}

static pthread_t stopped;
static char *stopped_low;
static size_t stopped_size;
static volatile int stops, elsewhere, enough;

static void on_stop(int number)
{
    char here;
    (void)number;
    stops++;
    elsewhere += (size_t)(&here - stopped_low) >= stopped_size;
}

static void *stop(void *unused)
{
    while (!enough) {
        (void)pthread_kill(stopped, SIGUSR1);
        for (unsigned k = 0; k < 2000; k++) {
            sink += k;
        }
    }
    return unused;
}

/* The waits at two places in turn are not alike, so each is looked at. */
static void test_stopped(void)
{
    struct sigaction action;
    pthread_attr_t attributes;
    pthread_t thread;
    void *low = NULL;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0) {
        return;
    }
    (void)pthread_attr_getstack(&attributes, &low, &stopped_size);
    stopped_low = (char *)low;
    stopped = pthread_self();
    memset(&action, 0, sizeof action);
    action.sa_handler = on_stop;
    action.sa_flags = SA_RESTART;
    (void)sigaction(SIGUSR1, &action, NULL);
    if (pthread_create(&thread, NULL, stop, NULL) != 0) {
        return;
    }
    for (int k = 0; k < 2000 || stops < 2000; k++) {
        (void)poll(NULL, 0, 0);
        (void)poll(NULL, 0, k % 100 == 0);
    }
    burn(100);
    enough = 1;
    (void)pthread_join(thread, NULL);
    printf("handlers elsewhere: %d\n", elsewhere);
}

/* Where the address space is limited there is less. */
static void on_large(int number)
{
    volatile char room[300 << 10];
    struct rlimit limit;
    const size_t used =
        getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur == RLIM_INFINITY ? sizeof room : 1;
    for (size_t k = 1; k <= used; k += 1024) {
        room[sizeof room - k] = (char)number;
    }
    printf("handled\n");
}

static void test_large(void)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_large;
    action.sa_flags = SA_ONSTACK;
    (void)sigaction(SIGUSR1, &action, NULL);
    for (int k = 0; k < 3; k++) {
        (void)poll(NULL, 0, 1);
    }
    (void)raise(SIGUSR1);
}

static pthread_key_t at_end;

/* After this library's: keys that are set again come once more. */
static void tell_at_end(void *unused)
{
    static int times;
    stack_t now;
    if (times++ < 2) {
        (void)pthread_setspecific(at_end, unused);
        return;
    }
    memset(&now, 0, sizeof now);
    (void)syscall(SYS_sigaltstack, NULL, &now);
    printf("own at the end: %d\n", now.ss_sp == own_stack && (now.ss_flags & SS_DISABLE) == 0);
}

static void *thread_system(void *unused)
{
    stack_t stack;
    for (int k = 0; k < 5; k++) {
        (void)poll(NULL, 0, 1);
    }
    memset(&stack, 0, sizeof stack);
    stack.ss_sp = own_stack;
    stack.ss_size = sizeof own_stack;
    (void)syscall(SYS_sigaltstack, &stack, NULL);
    tell_stack("by the system call");
    (void)pthread_setspecific(at_end, own_stack);
    return unused;
}

static void *thread_tiny(void *unused)
{
    for (int k = 0; k < 20; k++) {
        (void)poll(NULL, 0, 1);
        burn(2);
    }
    return unused;
}

static void run_thread(void *(*function)(void *), size_t bytes)
{
    pthread_attr_t attributes;
    pthread_t thread;
    (void)pthread_attr_init(&attributes);
    if ((bytes == 0 || pthread_attr_setstacksize(&attributes, bytes) == 0) &&
        pthread_create(&thread, &attributes, function, NULL) == 0) {
        (void)pthread_join(thread, NULL);
        printf("lived\n");
    }
}

static volatile int awaited;

static void *await(void *unused)
{
    const struct timespec most = { 20, 0 };
    sigset_t set;
    siginfo_t info;
    (void)sigemptyset(&set);
    (void)sigaddset(&set, SIGRTMAX);
    for (; awaited < 20 && sigtimedwait(&set, &info, &most) > 0; awaited++) {
        if (info.si_value.sival_int != awaited) {
            printf("%d instead of %d\n", info.si_value.sival_int, awaited);
        }
    }
    return unused;
}

static void test_awaited(void)
{
    sigset_t all, now;
    pthread_t thread;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_BLOCK, &all, NULL);
    if (pthread_create(&thread, NULL, await, NULL) != 0) {
        return;
    }
    wait_and_burn();
    for (int k = 0; k < 20; k++) {
        const union sigval value = { k };
        (void)sigqueue(getpid(), SIGRTMAX, value);
        for (int waits = 0; awaited <= k && waits < 1000; waits++) {
            (void)poll(NULL, 0, 1);
        }
    }
    (void)pthread_join(thread, NULL);
    (void)pthread_sigmask(SIG_BLOCK, NULL, &now);
    printf("awaited: %d, blocked: %d\n", awaited, sigismember(&now, SIGRTMAX));
}

int main(int count, char **words)
{
    const char *what = count > 1 ? words[1] : "first";
    pthread_t thread;
    if (strcmp(what, "first") == 0) {
        run_coroutine(20, 1);
    } else if (strcmp(what, "thread") == 0) {
        if (pthread_create(&thread, NULL, thread_first, NULL) == 0) {
            (void)pthread_join(thread, NULL);
        }
    } else if (strcmp(what, "later") == 0) {
        for (int k = 0; k < 3; k++) {
            (void)poll(NULL, 0, 1);
        }
        run_coroutine(10, 25);
    } else if (strcmp(what, "low") == 0) {
        test_low();
    } else if (strcmp(what, "alternate") == 0) {
        test_alternate();
    } else if (strcmp(what, "stopped") == 0) {
        test_stopped();
    } else if (strcmp(what, "large") == 0) {
        test_large();
    } else if (strcmp(what, "system") == 0) {
        (void)pthread_key_create(&at_end, tell_at_end);
        run_thread(thread_system, 0);
    } else if (strcmp(what, "awaited") == 0) {
        test_awaited();
    } else if (strcmp(what, "tiny") == 0) {
        run_thread(thread_tiny, (size_t)48 << 10);
    } else {
        test_signal(what);
    }
    return 3;
}
