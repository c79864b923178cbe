/* chroprof_run.c - the library that chroprof run loads into a program before its own libraries.
 *
 *     cc -O2 -fPIC -shared -fvisibility=hidden -fexceptions -fno-omit-frame-pointer \
 *        -Wl,-z,now -o chroprof_run.so chroprof_run.c unwind.c filter.c
 *
 * It wraps the functions in which event loops wait. A thread that waits a second time gets a
 * profile in a file of its own. The wait is idle. What the thread does until the next wait is one
 * slice of a site that is named after the wait, and the sampler sees its functions.
 *
 * The program must not notice it. So it allocates nothing, keeps errno and adds no descriptor. It
 * removes its variables from the environment, so that children do not find them. It exports only
 * the functions below that are marked EXPORT. If something goes wrong, the program goes on without
 * a profile, and the board says why. */

#define _GNU_SOURCE
#undef _TIME_BITS              /* else our own functions would get other names */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <link.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define CHROPROF_API static __attribute__((__unused__))
#define CHROPROF_NO_COPIES
#define CHROPROF_NO_FINDINGS
#define CHROPROF_IMPLEMENTATION

/* The program's own file, also where it can't read /proc any more. */
static char program_path[1024];

static ssize_t known_link(const char *path, char *to, size_t size)
{
    ssize_t length = readlink(path, to, size);
    if (length < 0 && strcmp(path, "/proc/self/exe") == 0 && program_path[0] != '\0') {
        length = (ssize_t)strnlen(program_path, size);
        memcpy(to, program_path, (size_t)length);
    }
    return length;
}

#define readlink known_link
#include "../../chroprof.h"
#undef readlink
#ifndef CHROPROF__SEES_CALLS   /* the header has no sampler here */
#define CHROPROF__SEES_CALLS 0
#define chroprof__has_cut(context) 0
#endif
#include "board.h"
#include "callbacks.h"
#include "filter.h"
#include "unwind.h"

#define PROFILE_BYTES ((size_t)1 << 20)
#define STACK_BYTES ((uintptr_t)64 << 10)       /* that a thread must have left to get a profile */
#define WAITS_LATER 32         /* before a thread gets a profile, where many have come and gone */
#define SPARED_SIGNALS 8       /* the first real-time signals are left to the program */
#define CALLBACK_DEPTH 64      /* callbacks that run inside each other; inner ones have no frame */

_Static_assert(sizeof(time_t) <= sizeof(long), "functions with time have other names here");

/* >>functions that the program meant to call. Until the constructor has found them, and where a
 * function is not there, the system call does. */

typedef int set_action(int, const struct sigaction *, struct sigaction *);
typedef void (*signal_handler)(int);
typedef void jump_function(void *, int);

static struct {
    int (*epoll_wait)(int, struct epoll_event *, int, int);
    int (*epoll_pwait)(int, struct epoll_event *, int, int, const sigset_t *);
    int (*epoll_pwait2)(int, struct epoll_event *, int, const struct timespec *, const sigset_t *);
    int (*poll)(struct pollfd *, nfds_t, int);
    int (*ppoll)(struct pollfd *, nfds_t, const struct timespec *, const sigset_t *);
    int (*select)(int, fd_set *, fd_set *, fd_set *, struct timeval *);
    int (*pselect)(int, fd_set *, fd_set *, fd_set *, const struct timespec *, const sigset_t *);
    set_action *sigaction;
    signal_handler (*signal)(int, signal_handler);
    int (*sigprocmask)(int, const sigset_t *, sigset_t *);
    int (*pthread_sigmask)(int, const sigset_t *, sigset_t *);
    int (*sigwait)(const sigset_t *, int *);
    int (*sigwaitinfo)(const sigset_t *, siginfo_t *);
    int (*sigtimedwait)(const sigset_t *, siginfo_t *, const struct timespec *);
    int (*sigsuspend)(const sigset_t *);
    int (*pause)(void);
    int (*nanosleep)(const struct timespec *, struct timespec *);
    int (*clock_nanosleep)(clockid_t, int, const struct timespec *, struct timespec *);
    int (*usleep)(useconds_t);
    unsigned (*sleep)(unsigned);
    int (*sem_timedwait)(sem_t *, const struct timespec *);
    int (*sem_clockwait)(sem_t *, clockid_t, const struct timespec *);
    int (*semop)(int, struct sembuf *, size_t);
    int (*semtimedop)(int, struct sembuf *, size_t, const struct timespec *);
    int (*msgsnd)(int, const void *, size_t, int);
    ssize_t (*msgrcv)(int, void *, size_t, long, int);
    int (*signalfd)(int, const sigset_t *, int);
    int (*prctl)(int, ...);
    long (*syscall)(long, ...);
    jump_function *longjmp;
    jump_function *old_longjmp;
    jump_function *siglongjmp;
    jump_function *checked_longjmp;
    int (*chroot)(const char *);
    int (*execve)(const char *, char *const *, char *const *);
    int (*execvpe)(const char *, char *const *, char *const *);
    int (*fexecve)(int, char *const *, char *const *);
    int (*setuid)(uid_t);
    int (*seteuid)(uid_t);
    int (*setreuid)(uid_t, uid_t);
    int (*setresuid)(uid_t, uid_t, uid_t);
} next;

static void find_function(void *field, const char *name)
{
    void *found = dlsym(RTLD_NEXT, name);
    memcpy(field, &found, sizeof found);
}

static void find_functions(void)
{
    find_function(&next.epoll_wait, "epoll_wait");
    find_function(&next.epoll_pwait, "epoll_pwait");
    find_function(&next.epoll_pwait2, "epoll_pwait2");
    find_function(&next.poll, "poll");
    find_function(&next.ppoll, "ppoll");
    find_function(&next.select, "select");
    find_function(&next.pselect, "pselect");
    find_function(&next.sigaction, "sigaction");
    find_function(&next.signal, "signal");
    find_function(&next.sigprocmask, "sigprocmask");
    find_function(&next.pthread_sigmask, "pthread_sigmask");
    find_function(&next.sigwait, "sigwait");
    find_function(&next.sigwaitinfo, "sigwaitinfo");
    find_function(&next.sigtimedwait, "sigtimedwait");
    find_function(&next.sigsuspend, "sigsuspend");
    find_function(&next.pause, "pause");
    find_function(&next.nanosleep, "nanosleep");
    find_function(&next.clock_nanosleep, "clock_nanosleep");
    find_function(&next.usleep, "usleep");
    find_function(&next.sleep, "sleep");
    find_function(&next.sem_timedwait, "sem_timedwait");
    find_function(&next.sem_clockwait, "sem_clockwait");
    find_function(&next.semop, "semop");
    find_function(&next.semtimedop, "semtimedop");
    find_function(&next.msgsnd, "msgsnd");
    find_function(&next.msgrcv, "msgrcv");
    find_function(&next.signalfd, "signalfd");
    find_function(&next.prctl, "prctl");
    find_function(&next.syscall, "syscall");
    find_function(&next.longjmp, "longjmp");
    find_function(&next.old_longjmp, "_longjmp");
    find_function(&next.siglongjmp, "siglongjmp");
    find_function(&next.checked_longjmp, "__longjmp_chk");
    find_function(&next.chroot, "chroot");
    find_function(&next.execve, "execve");
    find_function(&next.execvpe, "execvpe");
    find_function(&next.fexecve, "fexecve");
    find_function(&next.setuid, "setuid");
    find_function(&next.seteuid, "seteuid");
    find_function(&next.setreuid, "setreuid");
    find_function(&next.setresuid, "setresuid");
}

#define KERNEL_MASK_BYTES 8L   /* of a set of signals, as system calls take it */

/* Five words or fewer go to a function in registers there, whatever their types; floating point
 * numbers and structs are in no callback of the libraries below. */
#if UINTPTR_MAX == UINT64_MAX && (defined(__x86_64__) || defined(__aarch64__) || \
                                  (defined(__riscv) && __riscv_xlen == 64))
#define HAS_STANDINS 1
#else
#define HAS_STANDINS 0
#endif

/* >>seats: a thread's profile, and what this library knows about the thread. */

typedef struct callback_frame {
    uintptr_t stack;           /* where it was called */
    uint64_t id;               /* of the future that it is; 0: it is none */
    uint16_t row;              /* that the future had, and has if it waits again */
    uint8_t end;               /* chroprof_state, once it returns */
} callback_frame;

typedef struct seat {
    chroprof profile;
    uint32_t taken;            /* by a thread; atomic */
    uint32_t generation;       /* of the process that it belongs to */
    int signal;                /* of its sampler; 0: none */
    volatile bool hides;       /* the program believes that it has blocked that signal */
    volatile uint32_t ticks;   /* of its sampler, that cut a system call short */
    volatile bool busy;        /* an event is under way: whoever interrupts it must not send more */
    volatile bool waits;       /* the thread is in one of the waits */
    volatile bool slice;       /* the site has been entered */
    volatile bool inside;      /* that wait is in a callback */
    uintptr_t stack;           /* where that wait was called */
    callback_frame callbacks[CALLBACK_DEPTH];      /* that run, outermost first */
    volatile uint32_t depth;
    volatile bool jumped;      /* since the last callback ended: those that seem to run may be left */
    uint32_t left;             /* futures that ended where nobody could tell; atomic */
    uint32_t left_seen;        /* of these */
    unwind_thread unwind;
} seat;

static seat seats[BOARD_THREADS];
static __thread seat *own __attribute__((__tls_model__("initial-exec")));
static __thread uint32_t waits __attribute__((__tls_model__("initial-exec")));
static __thread bool excluded __attribute__((__tls_model__("initial-exec")));

/* 1 in a process that is watched. The system wipes its page in a forked child. */
static uint32_t *awake;
static uint32_t generation = 1;
static preload_board *board;
static pthread_key_t at_thread_end;
static char folder[512];
static uint64_t stall_ns;
static bool wall_clock;
static bool with_children;
static bool with_tables;       /* else stacks are walked by frame pointers */
static bool sealed;            /* the program forbade itself what a profile begins with */
static bool filtered;          /* or some system calls, whichever */

static bool is_awake(void)
{
    return awake != NULL && __atomic_load_n(awake, __ATOMIC_RELAXED) == 1;
}

static void note(uint32_t *count)
{
    (void)__atomic_fetch_add(count, 1, __ATOMIC_RELAXED);
}

/* >>futures: requests of libuv and events of libevent, from the call that lets them wait until
 * their callback has run. A thread has a table of those that it created. A callback finds its own by the
 * arguments that it gets, and the thread sends all of their events. What ends in another thread, or
 * where the callback may have no frame, is marked, and its own thread tells so at its next wait.
 *
 * Callbacks without a row have a frame as all others: what began before the profile, or found the
 * table full, is no future. */

#if HAS_STANDINS
#define FUTURES 900            /* of a thread: 1,000 that do not finish would read like a leak */
#define CHAIN_BITS 10

typedef struct watched_future {
    const void *function;      /* the row of its callback, */
    uintptr_t first, third;    /* and the arguments of that: as in loop_future */
    const void *of;
    const void *base;
    uint64_t id;
    uint64_t left;             /* the id once it has ended elsewhere; atomic */
    uint16_t next;             /* of its chain or of the free rows, plus 1; 0: none */
    bool stays, status;
    bool running;              /* only what stays: else the row is free by then */
    bool ran;
} watched_future;

typedef struct future_table {
    watched_future rows[FUTURES];
    uint16_t chains[1 << CHAIN_BITS];      /* their newest rows, plus 1 */
    uint16_t used;             /* rows from the first one on that ever had a future */
    uint16_t free;             /* of these, plus 1 */
    uint64_t made;
} future_table;

static future_table tables[BOARD_THREADS];
static uint32_t future_counts[BOARD_THREADS];      /* atomic: whether a look is worth it */

static future_table *table_of(const seat *s)
{
    return &tables[s - seats];
}

static void clear_futures(const seat *s)
{
    future_table *t = table_of(s);
    __atomic_store_n(&future_counts[s - seats], 0, __ATOMIC_RELEASE);
    if (t->used > 0) {
        memset(t->chains, 0, sizeof t->chains);
    }
    t->used = t->free = 0;
}

static uint16_t *chain_of(future_table *t, uintptr_t first, uintptr_t third)
{
    uint64_t mixed = ((uint64_t)first + 31 * (uint64_t)third) * UINT64_C(0x9E3779B97F4A7C15);
    return &t->chains[mixed >> (64 - CHAIN_BITS)];
}

/* Of those that wait with this callback and these arguments, the oldest. */
static watched_future *find_waiting(future_table *t, const void *function, uintptr_t first,
                                    uintptr_t third)
{
    watched_future *found = NULL;
    for (uint16_t at = *chain_of(t, first, third); at != 0; at = t->rows[at - 1].next) {
        watched_future *f = &t->rows[at - 1];
        if (f->function == function && f->first == first && f->third == third && !f->running) {
            found = f;
        }
    }
    return found;
}

static watched_future *find_event(future_table *t, const loop_future *wanted)
{
    for (uint16_t at = *chain_of(t, wanted->first, wanted->third); at != 0;
         at = t->rows[at - 1].next) {
        if (wanted->of != NULL && t->rows[at - 1].of == wanted->of) {
            return &t->rows[at - 1];
        }
    }
    return NULL;
}

/* The address, and which one at it: addresses come again. */
static uint64_t make_id(future_table *t, const void *of)
{
    t->made++;
    return of == NULL ? t->made << 1 | 1
                      : ((uint64_t)(uintptr_t)of & ((UINT64_C(1) << 48) - 2)) | t->made << 48;
}

/* NULL: there are too many. */
static watched_future *add_future(const seat *s, const void *function, const loop_future *wanted)
{
    future_table *t = table_of(s);
    uint16_t *chain = chain_of(t, wanted->first, wanted->third);
    uint16_t at = t->free;
    watched_future *f;
    if (at == 0 && t->used == FUTURES) {
        return NULL;
    }
    at = at != 0 ? at : ++t->used;
    f = &t->rows[at - 1];
    t->free = at == t->free ? f->next : t->free;
    f->function = function;
    f->first = wanted->first;
    f->third = wanted->third;
    f->of = wanted->of;
    f->base = wanted->base;
    f->stays = wanted->stays;
    f->status = wanted->status;
    f->running = f->ran = false;
    f->next = *chain;
    __atomic_store_n(&f->left, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&f->id, make_id(t, wanted->of), __ATOMIC_RELEASE);
    *chain = at;
    (void)__atomic_fetch_add(&future_counts[s - seats], 1, __ATOMIC_RELEASE);
    return f;
}

static void remove_future(const seat *s, watched_future *f)
{
    future_table *t = table_of(s);
    const uint16_t row = (uint16_t)(f - t->rows + 1);
    uint16_t *at = chain_of(t, f->first, f->third);
    while (*at != 0 && *at != row) {
        at = &t->rows[*at - 1].next;
    }
    *at = f->next;
    __atomic_store_n(&f->id, 0, __ATOMIC_RELEASE);
    f->next = t->free;
    t->free = row;
    (void)__atomic_fetch_sub(&future_counts[s - seats], 1, __ATOMIC_RELEASE);
}

static void finish_future(seat *s, uint64_t id, chroprof_state end)
{
    if (end == CHROPROF_COMPLETED) {
        chroprof_completed(&s->profile, id);
    } else if (end == CHROPROF_FAILED) {
        chroprof_failed(&s->profile, id);
    } else {
        chroprof_cancelled(&s->profile, id);
    }
}

/* Its callback will not come any more, or runs for the last time: then that tells when it ends. */
static void drop_future(seat *s, watched_future *f)
{
    const uint64_t id = f->id;
    const bool running = f->running;
    const bool ran = f->ran;
    remove_future(s, f);
    if (!running) {
        finish_future(s, id, ran ? CHROPROF_COMPLETED : CHROPROF_CANCELLED);
    }
}

/* The future that a callback is, from the arguments that it gets: its id. 0: none is known. What
 * does not stay has ended for its library, which may use its address again. */
static __attribute__((__noinline__)) uint64_t begin_future(const seat *s, callback_frame *frame,
                                                           const void *function, uintptr_t first,
                                                           int status, uintptr_t third)
{
    future_table *t = table_of(s);
    watched_future *f = find_waiting(t, function, first, third);
    uint64_t id = f != NULL ? f->id : 0;
    frame->end = CHROPROF_COMPLETED;
    if (f == NULL) {
        return 0;
    }
    if (f->status && status < 0) {
        frame->end = status == -ECANCELED ? CHROPROF_CANCELLED : CHROPROF_FAILED;
    }
    frame->row = (uint16_t)(f - t->rows);
    if (f->stays) {
        f->running = true;
    } else {
        remove_future(s, f);
    }
    return id;
}

/* Its callback is over: it waits again, or has finished. */
static __attribute__((__noinline__)) void end_future(seat *s, const callback_frame *frame,
                                                     chroprof_state end)
{
    watched_future *f = &table_of(s)->rows[frame->row];
    bool known = f->id == frame->id;
    if (known && __atomic_load_n(&f->left, __ATOMIC_ACQUIRE) != f->id) {
        f->running = false;
        f->ran = true;
        chroprof_paused(&s->profile, frame->id);
        return;
    }
    if (known) {
        remove_future(s, f);
    }
    finish_future(s, frame->id, end);
}

/* From any thread, while the table's own one may change it: the fields are those of the id if it is
 * the same before and after. */
static bool mark_if(watched_future *f, const loop_future *ended, const void *function)
{
    uint64_t id = __atomic_load_n(&f->id, __ATOMIC_ACQUIRE);
    bool same = ended->of != NULL ? f->of == ended->of
                : ended->base != NULL ? f->base == ended->base
                : f->function == function && f->first == ended->first && f->third == ended->third;
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    if (!same || id == 0 || __atomic_load_n(&f->id, __ATOMIC_RELAXED) != id) {
        return false;
    }
    __atomic_store_n(&f->left, id, __ATOMIC_RELEASE);
    return true;
}

/* In its chain, which may change meanwhile: what is overlooked then only ends later. */
static bool mark_in_chain(future_table *t, const loop_future *ended, const void *function)
{
    uint16_t at = __atomic_load_n(chain_of(t, ended->first, ended->third), __ATOMIC_RELAXED);
    for (size_t steps = 0; at != 0 && steps < FUTURES; steps++) {
        if (mark_if(&t->rows[at - 1], ended, function)) {
            return true;
        }
        at = __atomic_load_n(&t->rows[at - 1].next, __ATOMIC_RELAXED);
    }
    return false;
}

static bool mark_base(future_table *t, const loop_future *ended)
{
    bool any = false;
    for (size_t i = 0; i < FUTURES && i < __atomic_load_n(&t->used, __ATOMIC_RELAXED); i++) {
        any = mark_if(&t->rows[i], ended, NULL) || any;
    }
    return any;
}

/* What has ended in tables of others, one future or all of a base: of `but` it is known. */
static __attribute__((__noinline__)) void mark_futures(const loop_future *ended,
                                                       const void *function, const seat *but)
{
    for (size_t i = 0; i < BOARD_THREADS; i++) {
        if (__atomic_load_n(&future_counts[i], __ATOMIC_ACQUIRE) > 0 && &seats[i] != but &&
            (ended->of == NULL && ended->base != NULL
             ? mark_base(&tables[i], ended)
             : mark_in_chain(&tables[i], ended, function))) {
            note(&seats[i].left);
        }
    }
}

/* Before a wait: the thread has time, and whatever it creates later is not meant. */
static __attribute__((__noinline__)) void drop_left_futures(seat *s)
{
    future_table *t = table_of(s);
    s->left_seen = __atomic_load_n(&s->left, __ATOMIC_ACQUIRE);
    for (size_t k = 0; k < t->used; k++) {
        watched_future *f = &t->rows[k];
        if (f->id != 0 && !f->running && __atomic_load_n(&f->left, __ATOMIC_ACQUIRE) == f->id) {
            drop_future(s, f);
        }
    }
}
#else
static void clear_futures(const seat *s)
{
    (void)s;
}

static void end_future(seat *s, const callback_frame *frame, chroprof_state end)
{
    (void)s;
    (void)frame;
    (void)end;
}

static void drop_left_futures(seat *s)
{
    s->left_seen = s->left;
}
#endif

/* The innermost callback is over. */
static inline __attribute__((__always_inline__)) void end_frame(seat *s, bool left)
{
    const callback_frame *frame = &s->callbacks[s->depth - 1];
    s->depth--;
    if (frame->id == 0) {
        chroprof_leave(&s->profile);
    } else {
        end_future(s, frame, left ? CHROPROF_CANCELLED : (chroprof_state)frame->end);
    }
}

/* >>sampler: one signal for each thread, of the real-time signals that programs use last; where
 * there are no more, threads share them. A timer signals its own thread alone. */

static void (*tick_handler)(int, siginfo_t *, void *);
static uint32_t signals_held;  /* 1: a thread begins or ends its sampling */
static __thread bool sampled __attribute__((__tls_model__("initial-exec")));
static __thread bool asks __attribute__((__tls_model__("initial-exec")));   /* the header does */

static void hold_signals(void)
{
    uint32_t nobody = 0;
    while (!__atomic_compare_exchange_n(&signals_held, &nobody, 1, false, __ATOMIC_ACQUIRE,
                                        __ATOMIC_RELAXED)) {
        nobody = 0;
        (void)sched_yield();
    }
}

static void release_signals(void)
{
    __atomic_store_n(&signals_held, 0, __ATOMIC_RELEASE);
}

/* Whether the program gets a signal as soon as this handler returns, which then ends the wait. */
static bool others_pend(const ucontext_t *before)
{
    sigset_t pending;
    int error = errno;
    bool any = false;
    if (!filtered && sigpending(&pending) == 0) {
        for (int number = 1; number <= SIGRTMAX; number++) {
            any = any || (number != own->signal && sigismember(&pending, number) == 1 &&
                          sigismember(&before->uc_sigmask, number) == 0);
        }
    }
    errno = error;
    return any;
}

/* Counts the ticks that cut a system call short, which a wait must not take for a signal of the
 * program. That can come only afterwards. A tick may come late, while others use its signal. */
static void on_tick(int number, siginfo_t *info, void *context)
{
    bool cut = own != NULL && (!CHROPROF__SEES_CALLS || chroprof__has_cut(context));
    if (sampled) {
        tick_handler(number, info, context);
    }
    if (cut && !others_pend((const ucontext_t *)context)) {
        own->ticks++;
    }
}

/* Puts one handler in place of another, and returns that. */
static void exchange_handler(int number, void (*handler)(int, siginfo_t *, void *))
{
    struct sigaction action;
    if (next.sigaction(number, NULL, &action) == 0) {
        if (handler == on_tick) {
            tick_handler = action.sa_sigaction;
        }
        action.sa_sigaction = handler;
        (void)sigfillset(&action.sa_mask);
        (void)sigdelset(&action.sa_mask, SIGSEGV);
        (void)sigdelset(&action.sa_mask, SIGBUS);
        (void)next.sigaction(number, &action, NULL);
    }
}

static seat *seat_of_signal(int number)
{
    for (size_t i = 0; i < BOARD_THREADS; i++) {
        if (number > 0 && seats[i].signal == number) {
            return &seats[i];
        }
    }
    return NULL;
}

/* Nearly all programs that block a real-time signal beside the others have no use for it: they
 * block all signals, for a moment or in threads that shall get none. The sampler's stays open then,
 * and the program does not see it. A set with ours that lacks some of the others means ours. */
static bool holds_all(const sigset_t *set)
{
    for (int number = SIGRTMIN; number <= SIGRTMAX; number++) {
        if (sigismember(set, number) != 1) {
            return false;
        }
    }
    return true;
}

static void change_mask(int how, int number)
{
    sigset_t one;
    (void)sigemptyset(&one);
    (void)sigaddset(&one, number);
    (void)next.pthread_sigmask(how, &one, NULL);
}

/* Starts the sampler with this signal, also where all are blocked. */
static chroprof_result start_sampler(seat *s, const chroprof_sampler_options *options)
{
    chroprof_result result;
    sigset_t blocked;
    s->hides = next.pthread_sigmask(SIG_BLOCK, NULL, &blocked) == 0 && holds_all(&blocked);
    if (s->hides) {
        change_mask(SIG_UNBLOCK, options->signal);
    }
    result = chroprof_sampler_start(&s->profile, options);
    if (s->hides && result != CHROPROF_OK) {
        change_mask(SIG_BLOCK, options->signal);
    }
    return result;
}

/* Whether this thread may use a number that others have: a tick on its small alternate stack would
 * end it, and the handler is there for all. */
static bool can_share(int number)
{
    struct sigaction action;
    stack_t stack;
    return next.sigaction(number, NULL, &action) == 0 && sigaltstack(NULL, &stack) == 0 &&
           ((action.sa_flags & SA_ONSTACK) == 0 || (stack.ss_flags & SS_DISABLE) != 0);
}

/* Each seat begins at a number of its own, so that threads which start at once don't meet. */
static chroprof_result find_signal(seat *s, chroprof_sampler_options *options, bool shared)
{
    chroprof_result result = CHROPROF_ERR_SAMPLER_SIGNAL;
    const int least = SIGRTMIN + SPARED_SIGNALS;
    int number = SIGRTMAX - (int)(s - seats) % (SIGRTMAX - least);
    for (int tries = SIGRTMAX - least; tries > 0 && result == CHROPROF_ERR_SAMPLER_SIGNAL; tries--) {
        if ((seat_of_signal(number) != NULL) == shared && (!shared || can_share(number))) {
            options->signal = number;
            result = start_sampler(s, options);
        }
        number = number - 1 > least ? number - 1 : SIGRTMAX;
    }
    return result;
}

static void begin_sampling(seat *s)
{
    chroprof_sampler_options options;
    chroprof_result result;
    if (next.sigaction == NULL || next.pthread_sigmask == NULL || board->taken_signal != 0) {
        return;
    }
    memset(&options, 0, sizeof options);
    options.mode = wall_clock ? CHROPROF_SAMPLER_WALL : CHROPROF_SAMPLER_CPU;
    s->unwind.high = 0;
    if (with_tables && unwind_begin(&s->unwind)) {
        options.unwind = unwind_walk;
        options.unwind_user = &s->unwind;
    }
    hold_signals();
    sampled = asks = true;
    result = find_signal(s, &options, false);
    if (result == CHROPROF_ERR_SAMPLER_SIGNAL) {
        result = find_signal(s, &options, true);
    }
    asks = false;
    sampled = result == CHROPROF_OK;
    if (sampled) {
        if (seat_of_signal(options.signal) == NULL) {
            exchange_handler(options.signal, on_tick);
        }
        s->signal = options.signal;
    } else {
        note(&board->unsampled);
        board->unsampled_why = (int32_t)result;
    }
    release_signals();
}

/* From the moment at which the signal is nobody's, sigaction shows the header its own handler. */
static void end_sampling(seat *s)
{
    int number = s->signal;
    hold_signals();
    s->signal = 0;
    if (number != 0 && seat_of_signal(number) == NULL) {
        exchange_handler(number, tick_handler);
    }
    sampled = false;
    asks = true;
    chroprof_sampler_stop(&s->profile);
    asks = false;
    release_signals();
}

/* The program wants a signal of ours for itself: its threads are sampled no more. A tick that is on
 * its way is thrown away. */
static void give_up_signal(int number)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    board->taken_signal = number;
    for (seat *s = seat_of_signal(number); s != NULL; s = seat_of_signal(number)) {
        if (s->profile.sampling) {      /* events leave a timer of the same number alone */
            chroprof__poke64(&chroprof__sampler_of(s->profile.core)->armed, 0);
            (void)syscall(SYS_timer_delete, (long)s->profile.sampler_timer);
        }
        s->signal = 0;
    }
    action.sa_handler = SIG_IGN;
    (void)next.sigaction(number, &action, NULL);
    action.sa_handler = SIG_DFL;
    (void)next.sigaction(number, &action, NULL);
}

static bool is_handler(signal_handler handler)
{
    return handler != SIG_DFL && handler != SIG_IGN;
}

/* Whether the program may set this signal. One of ours stays ours while the program only resets it,
 * as daemons do to all of them: a tick would kill it. It also stays when the header sets it for one
 * thread more, or resets it for one of several. */
static bool may_set_signal(int number, bool sets, signal_handler handler)
{
    seat *s = seat_of_signal(number);
    if (s == NULL || asks || !sets || !is_handler(handler)) {
        return s == NULL;
    }
    if (is_awake()) {
        give_up_signal(number);
    }
    for (; s != NULL; s = seat_of_signal(number)) {     /* a forked child has no timers */
        s->signal = 0;
    }
    return true;
}

/* A handler that blocks all signals would put a tick off to its own end, and what the program's
 * signal cut short would then seem cut by the tick. So ours stay open in it; the program does not
 * see that. */
static int set_open_action(int number, const struct sigaction *action, struct sigaction *old)
{
    static uint64_t opened;                /* atomic; bit N - 1: signal N's handler */
    const uint64_t bit = number > 0 && number <= 64 ? UINT64_C(1) << (number - 1) : 0;
    const bool opens = action != NULL && is_awake() && holds_all(&action->sa_mask);
    const bool were = (__atomic_load_n(&opened, __ATOMIC_RELAXED) & bit) != 0;
    struct sigaction copy;
    int result;
    if (opens) {
        copy = *action;
        for (int ours = SIGRTMIN + SPARED_SIGNALS; ours <= SIGRTMAX; ours++) {
            (void)sigdelset(&copy.sa_mask, ours);
        }
    }
    result = next.sigaction(number, opens ? &copy : action, old);
    for (int ours = SIGRTMIN + SPARED_SIGNALS; were && old != NULL && ours <= SIGRTMAX; ours++) {
        (void)sigaddset(&old->sa_mask, ours);
    }
    if (result == 0 && action != NULL && opens) {
        (void)__atomic_fetch_or(&opened, bit, __ATOMIC_RELAXED);
    } else if (result == 0 && action != NULL) {
        (void)__atomic_fetch_and(&opened, ~bit, __ATOMIC_RELAXED);
    }
    return result;
}

EXPORT int sigaction(int number, const struct sigaction *action, struct sigaction *old)
{
    if (next.sigaction == NULL) {
        find_function(&next.sigaction, "sigaction");
    }
    if (may_set_signal(number, action != NULL, action != NULL ? action->sa_handler : SIG_DFL)) {
        return asks ? next.sigaction(number, action, old) : set_open_action(number, action, old);
    }
    if (old != NULL) {
        memset(old, 0, sizeof *old);        /* SIG_DFL */
    }
    return 0;
}

EXPORT signal_handler signal(int number, signal_handler handler)
{
    if (next.signal == NULL) {
        find_function(&next.signal, "signal");
    }
    return may_set_signal(number, true, handler) ? next.signal(number, handler) : SIG_DFL;
}

/* A set of signals that the program blocks or waits for, without ours if it means all: then `copy`.
 * If it means ours, the program gets it. */
static const sigset_t *without_ours(const sigset_t *set, sigset_t *copy, bool *all)
{
    seat *s = own;
    *all = false;
    if (s == NULL || s->signal == 0 || !is_awake() || set == NULL ||
        sigismember(set, s->signal) != 1) {
        return set;
    }
    *all = holds_all(set);
    if (!*all) {
        give_up_signal(s->signal);
        return set;
    }
    *copy = *set;
    (void)sigdelset(copy, s->signal);
    return copy;
}

/* What a change makes of ours, as the program sees it. */
static bool hides_then(const seat *s, int how, const sigset_t *set, bool all)
{
    if (set == NULL || how == SIG_BLOCK) {
        return s->hides || all;
    }
    return how == SIG_SETMASK ? all : s->hides && sigismember(set, s->signal) != 1;
}

typedef int mask_function(int, const sigset_t *, sigset_t *);

static int set_mask(mask_function *set_it, int how, const sigset_t *set, sigset_t *old)
{
    seat *s = own;
    sigset_t copy;
    bool all = false;
    bool hid, hides;
    int result;
    const sigset_t *given = how != SIG_UNBLOCK ? without_ours(set, &copy, &all) : set;
    if (s == NULL || s->signal == 0 || !is_awake()) {
        return set_it(how, given, old);
    }
    hid = s->hides;
    hides = hides_then(s, how, set, all);
    result = set_it(how, given, old);
    if (result == 0 && old != NULL && hid) {
        (void)sigaddset(old, s->signal);
    }
    s->hides = result == 0 ? hides : hid;
    return result;
}

EXPORT int sigprocmask(int how, const sigset_t *set, sigset_t *old)
{
    if (next.sigprocmask == NULL) {
        find_function(&next.sigprocmask, "sigprocmask");
    }
    return set_mask(next.sigprocmask, how, set, old);
}

EXPORT int pthread_sigmask(int how, const sigset_t *set, sigset_t *old)
{
    if (next.pthread_sigmask == NULL) {
        find_function(&next.pthread_sigmask, "pthread_sigmask");
    }
    return set_mask(next.pthread_sigmask, how, set, old);
}

EXPORT int sigwait(const sigset_t *set, int *number)
{
    sigset_t copy;
    bool all;
    if (next.sigwait == NULL) {
        find_function(&next.sigwait, "sigwait");
    }
    return next.sigwait(without_ours(set, &copy, &all), number);
}

EXPORT int signalfd(int file, const sigset_t *set, int flags)
{
    sigset_t copy;
    bool all;
    if (next.signalfd == NULL) {
        find_function(&next.signalfd, "signalfd");
    }
    return next.signalfd(file, without_ours(set, &copy, &all), flags);
}

/* >>beginning and ending a profile */

/* A number behind a text. */
static char *put_number(char *at, unsigned long value)
{
    char digits[24];
    size_t count = 0;
    do {
        digits[count++] = (char)('0' + value % 10);
        value /= 10;
    } while (value > 0);
    while (count > 0) {
        *at++ = digits[--count];
    }
    return at;
}

/* FOLDER/PID-TID.chroprof */
static void name_file(char *path, pid_t process, pid_t thread)
{
    size_t length = strlen(folder);
    char *at = path + length;
    memcpy(path, folder, length);
    *at++ = '/';
    at = put_number(at, (unsigned long)process);
    *at++ = '-';
    at = put_number(at, (unsigned long)thread);
    memcpy(at, ".chroprof", sizeof ".chroprof");
}

/* >>spares: files for a daemon that locks itself into a folder (chroot) before its loops begin, as
 * it can't reach ours then. */

#define SPARES 16
#define SPARE_NUMBERS 4194305  /* the system gives no thread such a number */

static void *spares[SPARES];   /* atomic; NULL: there is none, or a thread has it */
static pid_t spares_of;

static bool may_be_large(size_t bytes)
{
    struct rlimit limit;
    return getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur >= bytes;
}

static void *make_spare(pid_t thread)
{
    char path[sizeof folder + 80];
    void *block = MAP_FAILED;
    int file;
    name_file(path, getpid(), thread);
    file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (file >= 0 && fallocate(file, 0, 0, PROFILE_BYTES) == 0) {
        block = mmap(NULL, PROFILE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    }
    if (file >= 0) {
        (void)close(file);
    }
    return block != MAP_FAILED ? block : NULL;
}

static void make_spares(void)
{
    int error = errno;
    if (is_awake() && !sealed && spares_of != getpid() && may_be_large(PROFILE_BYTES)) {
        spares_of = getpid();
        for (int i = 0; i < SPARES; i++) {
            __atomic_store_n(&spares[i], make_spare(SPARE_NUMBERS + i), __ATOMIC_RELEASE);
        }
    }
    errno = error;
}

static void *take_spare(void)
{
    void *block = NULL;
    for (size_t i = 0; block == NULL && spares_of == getpid() && i < SPARES; i++) {
        block = __atomic_exchange_n(&spares[i], NULL, __ATOMIC_ACQ_REL);
    }
    return block;
}

EXPORT int chroot(const char *path)
{
    if (next.chroot == NULL) {
        find_function(&next.chroot, "chroot");
    }
    make_spares();
    return next.chroot(path);
}

static chroprof_result map_profile(seat *s)
{
    char path[sizeof folder + 80];
    char thread[17] = "";
    chroprof_options options;
    chroprof_result result;
    void *spare;
    memset(&options, 0, sizeof options);
    (void)prctl(PR_GET_NAME, thread);
    options.name = thread;
    options.stall_ns = stall_ns;
    name_file(path, getpid(), (pid_t)syscall(SYS_gettid));
    if (s->profile.mapped != NULL) {
        return chroprof_fork_child(&s->profile, path);
    }
    result = chroprof_map(&s->profile, path, PROFILE_BYTES, &options);
    spare = result == CHROPROF_ERR_FILE ? take_spare() : NULL;
    return spare != NULL ? chroprof_init(&s->profile, spare, PROFILE_BYTES, &options) : result;
}

/* Starting a profile takes 22 KiB of the stack; threads may have less. */
static bool has_stack(void)
{
    pthread_attr_t attributes;
    void *low = NULL;
    size_t size = 0;
    if (getpid() == (pid_t)syscall(SYS_gettid)) {
        return true;
    }
    if (pthread_getattr_np(pthread_self(), &attributes) != 0) {
        return false;
    }
    (void)pthread_attr_getstack(&attributes, &low, &size);
    (void)pthread_attr_destroy(&attributes);
    return (uintptr_t)__builtin_frame_address(0) - (uintptr_t)low >= STACK_BYTES;
}

static bool begin_profile(seat *s)
{
    chroprof_result result;
    s->busy = true;
    s->signal = 0;
    s->waits = s->slice = s->inside = s->jumped = false;
    s->depth = 0;
    clear_futures(s);
    errno = 0;
    result = map_profile(s);
    if (result == CHROPROF_OK) {
        s->generation = generation;
        note(&board->profiles);
        begin_sampling(s);
    } else {
        note(&board->refused);
        board->refused_why = (int32_t)result;
        board->refused_error = errno;
    }
    s->busy = false;
    return result == CHROPROF_OK;
}

static seat *free_seat(void)
{
    for (size_t i = 0; i < BOARD_THREADS; i++) {
        uint32_t nobody = 0;
        if (__atomic_compare_exchange_n(&seats[i].taken, &nobody, 1, false, __ATOMIC_ACQUIRE,
                                        __ATOMIC_RELAXED)) {
            return &seats[i];
        }
    }
    note(&board->refused);
    board->refused_why = CHROPROF_ERR_LIMIT;
    return NULL;
}

static void leave_seat(seat *s)
{
    __atomic_store_n(&s->taken, 0, __ATOMIC_RELEASE);
}

/* The profile of this thread: it gets one at its second wait. */
static seat *take_seat(void)
{
    seat *s;
    if (excluded || sealed || ++waits < (board->dropped == 0 ? 2 : WAITS_LATER)) {
        return NULL;
    }
    excluded = true;                        /* also while a signal handler interrupts this */
    if (!has_stack()) {
        return NULL;
    }
    s = own != NULL ? own : free_seat();
    if (s == NULL) {
        return NULL;
    }
    if (!begin_profile(s)) {
        leave_seat(s);
        own = NULL;
        return NULL;
    }
    own = s;
    (void)pthread_setspecific(at_thread_end, s);
    excluded = false;
    return s;
}

/* Callbacks that were called at this place of the stack or further in, and are no more: they were
 * left by a jump or an exception. */
static inline __attribute__((__always_inline__)) void drop_callbacks(seat *s, uintptr_t stack)
{
    while (s->depth > 0 && s->callbacks[s->depth - 1].stack <= stack) {
        end_frame(s, true);
    }
}

static bool hold_kept(void)
{
    for (int tries = 0; tries < 1000; tries++) {
        uint32_t nobody = 0;
        if (__atomic_compare_exchange_n(&board->keeping, &nobody, 1, false, __ATOMIC_ACQUIRE,
                                        __ATOMIC_RELAXED)) {
            return true;
        }
    }
    return false;                           /* perhaps somebody was killed there */
}

static bool is_same(const board_kept *a, const board_kept *b)
{
    return a->process == b->process && a->thread == b->thread;
}

/* The row for a thread: its own, as numbers come again; a free one; the least busy one. */
static board_kept *row_to_keep(const board_kept *mine)
{
    board_kept *least = &board->kept[0];
    for (size_t i = 0; i < BOARD_KEPT; i++) {
        board_kept *row = &board->kept[i];
        if (is_same(row, mine)) {
            return row;
        }
        if (least->process != 0 && (row->process == 0 || row->busy_ns < least->busy_ns)) {
            least = row;
        }
    }
    return least;
}

/* Programs may start a thread for each of their clients. So of those that have ended only the busiest
 * keep their files. */
static void keep_busiest(uint64_t busy_ns)
{
    char path[sizeof folder + 80];
    board_kept mine = { busy_ns, (int32_t)getpid(), (int32_t)syscall(SYS_gettid) };
    board_kept other;
    board_kept *row;
    if (hold_kept()) {
        row = row_to_keep(&mine);
        other = *row;
        if (other.busy_ns <= busy_ns || is_same(&other, &mine)) {
            *row = mine;
            mine = other;
            mine.process = is_same(&other, row) ? 0 : other.process;
        }
        __atomic_store_n(&board->keeping, 0, __ATOMIC_RELEASE);
    }
    if (mine.process != 0) {
        name_file(path, mine.process, mine.thread);
        (void)unlink(path);
        note(&board->dropped);
    }
}

static uint64_t busy_time(const seat *s)
{
    chroprof_totals totals;
    chroprof_read_totals(&s->profile, &totals);
    return totals.elapsed_ns - totals.idle_ns;
}

static void end_profile(void *of)
{
    uint64_t busy_ns;
    seat *s = (seat *)of;
    excluded = true;
    own = NULL;
    if (s->busy || s->generation != generation || !is_awake()) {
        return;
    }
    s->busy = true;
    if (s->waits && s->inside) {
        chroprof_loop_leave(&s->profile);
    }
    drop_callbacks(s, UINTPTR_MAX);
    if (s->slice) {
        chroprof_leave(&s->profile);
    }
    if (sealed) {                           /* perhaps it must not even give memory back */
        return;
    }
    end_sampling(s);
    busy_ns = busy_time(s);
    if (s->profile.mapped != NULL) {        /* else it is a spare one, which stays */
        chroprof_unmap(&s->profile);
        keep_busiest(busy_ns);
    }
    clear_futures(s);
    s->busy = false;
    leave_seat(s);
}

/* A forked child with --children: it has one thread, and nobody else has been here yet. */
static bool wake_child(void)
{
    uint32_t asleep = 0;
    if (awake == NULL || !with_children) {
        return false;
    }
    if (__atomic_compare_exchange_n(awake, &asleep, 1, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
        generation++;
        waits = 0;
        signals_held = 0;
        for (size_t i = 0; i < BOARD_THREADS; i++) {
            seats[i].signal = 0;            /* timers are not inherited */
            clear_futures(&seats[i]);
        }
    }
    return true;
}

/* >>waits */

/* NULL: this wait is not watched. A wait that was left by a jump ends with the next one further out
 * on the stack; one further in is that of a signal handler. */
static seat *seat_of_wait(uintptr_t stack)
{
    seat *s = own;
    if (!is_awake() && !wake_child()) {
        return NULL;
    }
    if (s == NULL || s->generation != generation) {
        s = take_seat();
    }
    if (s == NULL || s->busy || (s->waits && stack < s->stack)) {
        return NULL;
    }
    return s;
}

/* A wait in a callback is idle, and is not that callback's; it may be a loop of its own. */
static inline __attribute__((__always_inline__)) void begin_idle(seat *s, uintptr_t stack)
{
    if (s->waits && s->inside) {            /* a jump has left that one */
        chroprof_loop_leave(&s->profile);
    }
    drop_callbacks(s, s->jumped ? UINTPTR_MAX : stack);
    s->jumped = false;
    if (__atomic_load_n(&s->left, __ATOMIC_RELAXED) != s->left_seen) {
        drop_left_futures(s);
    }
    s->inside = s->depth > 0;
    if (s->inside) {
        chroprof_loop_enter(&s->profile);
    } else if (s->slice) {
        chroprof_leave(&s->profile);
        s->slice = false;
    }
    chroprof_idle_enter(&s->profile);
}

static inline __attribute__((__always_inline__)) void end_idle(seat *s, const chroprof_site *site)
{
    chroprof_idle_leave(&s->profile);
    if (s->inside) {
        chroprof_loop_leave(&s->profile);
    } else {
        chroprof_enter(&s->profile, site);
        s->slice = true;
    }
}

/* Call and return are in the frame of the function that the program calls, so that the sampler
 * finds the loop one frame further out. */
static inline __attribute__((__always_inline__)) seat *begin_wait(void)
{
    int error = errno;
    uintptr_t stack = (uintptr_t)__builtin_frame_address(0);
    seat *s = seat_of_wait(stack);
    if (s != NULL) {
        s->busy = true;
        begin_idle(s, stack);
        if (!s->inside) {
            unwind_wait(&s->unwind, stack, (uintptr_t)__builtin_return_address(0));
        }
        s->stack = stack;
        s->waits = true;
        s->busy = false;
    }
    errno = error;
    return s;
}

static inline __attribute__((__always_inline__)) void end_wait(seat *s, const chroprof_site *site)
{
    int error = errno;
    if (s != NULL && s == own && s->waits && is_awake()) {
        s->busy = true;
        s->waits = false;
        end_idle(s, site);
        s->busy = false;
    }
    errno = error;
}

/* The signals that are blocked in a wait, and ours. NULL: none were given. */
static const sigset_t *with_ours(const seat *s, const sigset_t *mask, sigset_t *both)
{
    if (s == NULL || s->signal == 0 || mask == NULL) {
        return mask;
    }
    *both = *mask;
    (void)sigaddset(both, s->signal);
    return both;
}

/* How long a wait still lasts, so that one which a tick interrupted goes on. */
typedef struct wait_time {
    struct timespec end, left;
    const struct timespec *given;          /* NULL: for ever, or nobody knows here */
    int error;                             /* errno before it */
    uint32_t ticks;                        /* that had cut calls short when it began */
} wait_time;

static int64_t nanoseconds(const struct timespec *t)
{
    return (int64_t)t->tv_sec * 1000000000 + t->tv_nsec;
}

static struct timespec timespec_of(int64_t ns)
{
    struct timespec t;
    t.tv_sec = (time_t)(ns / 1000000000);
    t.tv_nsec = (long)(ns % 1000000000);
    return t;
}

/* Is there a time that passes? The system judges all others. */
static bool is_finite(const struct timespec *t)
{
    return t != NULL && t->tv_sec >= 0 && t->tv_sec < 1000000000 && t->tv_nsec >= 0 &&
           t->tv_nsec < 1000000000 && nanoseconds(t) > 0;
}

static int64_t time_now(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return nanoseconds(&now);
}

static void wait_for(wait_time *w, const struct timespec *given)
{
    const seat *s = own;
    w->given = given;
    w->error = errno;
    w->ticks = s != NULL ? s->ticks : 0;
    if (s != NULL && s->signal != 0 && is_finite(given)) {
        w->end = timespec_of(time_now() + nanoseconds(given));
    }
}

static void wait_for_ms(wait_time *w, int ms)
{
    w->left = timespec_of((int64_t)(ms > 0 ? ms : 0) * 1000000);
    wait_for(w, ms >= 0 ? &w->left : NULL);
}

/* Rounded up: no wait ends early. */
static int milliseconds(const wait_time *w)
{
    return w->given == NULL ? -1 : (int)((nanoseconds(w->given) + 999999) / 1000000);
}

/* The header counts waits that were cut short; of these nobody takes notice. */
static void forget_cuts(const seat *s, uint64_t count)
{
    chroprof__sampler *sampler = chroprof__sampler_of(s->profile.core);
    sampler->interrupted -= count < sampler->interrupted ? count : sampler->interrupted;
}

/* Whether a wait came back because of a tick, which the program must not see; w->given is then what
 * is left of it. A wait with signals of its own to block blocks ours as well. By CPU time hardly a
 * tick comes in a sleep, so what ends one is the program's. A signal of the program is seen, but for
 * one that comes in the instant between a tick that cut the wait and the wait that goes on, or while
 * a tick's handler runs where there is a filter of system calls. */
static bool goes_on(wait_time *w, ssize_t result)
{
    seat *s = own;
    int64_t left;
    if (result >= 0 || errno != EINTR || s == NULL || w->ticks == s->ticks ||
        (!wall_clock && !s->waits)) {
        return false;
    }
    forget_cuts(s, s->ticks - w->ticks);
    s->ticks = w->ticks;                   /* or a wait around this one would go on */
    errno = w->error;
    if (is_finite(w->given)) {
        left = nanoseconds(&w->end) - time_now();
        w->left = timespec_of(left > 0 ? left : 0);
        w->given = &w->left;
    }
    return true;
}

/* >>waits in epoll */

EXPORT int epoll_wait(int fd, struct epoll_event *events, int size, int ms)
{
    static const chroprof_site site = { "code after epoll_wait", NULL, 0 };
    seat *s = begin_wait();
    wait_time w;
    int result;
    wait_for_ms(&w, ms);
    do {
        result = next.epoll_wait != NULL
                 ? next.epoll_wait(fd, events, size, milliseconds(&w))
                 : (int)syscall(SYS_epoll_pwait, fd, events, size, milliseconds(&w), NULL,
                                KERNEL_MASK_BYTES);
    } while (goes_on(&w, result));
    end_wait(s, &site);
    return result;
}

EXPORT int epoll_pwait(int fd, struct epoll_event *events, int size, int ms, const sigset_t *mask)
{
    static const chroprof_site site = { "code after epoll_pwait", NULL, 0 };
    seat *s = begin_wait();
    sigset_t both;
    wait_time w;
    int result;
    mask = with_ours(s, mask, &both);
    wait_for_ms(&w, ms);
    do {
        result = next.epoll_pwait != NULL
                 ? next.epoll_pwait(fd, events, size, milliseconds(&w), mask)
                 : (int)syscall(SYS_epoll_pwait, fd, events, size, milliseconds(&w), mask,
                                KERNEL_MASK_BYTES);
    } while (goes_on(&w, result));
    end_wait(s, &site);
    return result;
}

static int next_epoll_pwait2(int fd, struct epoll_event *events, int size,
                             const struct timespec *time, const sigset_t *mask)
{
    if (next.epoll_pwait2 != NULL) {
        return next.epoll_pwait2(fd, events, size, time, mask);
    }
#ifdef SYS_epoll_pwait2
    return (int)syscall(SYS_epoll_pwait2, fd, events, size, time, mask, KERNEL_MASK_BYTES);
#else
    errno = ENOSYS;
    return -1;
#endif
}

EXPORT int epoll_pwait2(int fd, struct epoll_event *events, int size, const struct timespec *time,
                        const sigset_t *mask)
{
    static const chroprof_site site = { "code after epoll_pwait2", NULL, 0 };
    seat *s = begin_wait();
    sigset_t both;
    wait_time w;
    int result;
    mask = with_ours(s, mask, &both);
    wait_for(&w, time);
    do {
        result = next_epoll_pwait2(fd, events, size, w.given, mask);
    } while (goes_on(&w, result));
    end_wait(s, &site);
    return result;
}

/* >>waits in poll */

static const chroprof_site poll_site = { "code after poll", NULL, 0 };
static const chroprof_site ppoll_site = { "code after ppoll", NULL, 0 };

static int next_ppoll(struct pollfd *files, nfds_t count, const struct timespec *time,
                      const sigset_t *mask)
{
    struct timespec left = { 0, 0 };
    if (next.ppoll != NULL) {
        return next.ppoll(files, count, time, mask);
    }
    if (time != NULL) {
        left = *time;                       /* the system writes there what is left */
    }
    return (int)syscall(SYS_ppoll, files, count, time != NULL ? &left : NULL, mask,
                        KERNEL_MASK_BYTES);
}

static inline __attribute__((__always_inline__)) int
watched_poll(struct pollfd *files, nfds_t count, int ms)
{
    seat *s = begin_wait();
    wait_time w;
    int result;
    wait_for_ms(&w, ms);
    do {
        result = next.poll != NULL ? next.poll(files, count, milliseconds(&w))
                                   : next_ppoll(files, count, w.given, NULL);
    } while (goes_on(&w, result));
    end_wait(s, &poll_site);
    return result;
}

static inline __attribute__((__always_inline__)) int
watched_ppoll(struct pollfd *files, nfds_t count, const struct timespec *time, const sigset_t *mask)
{
    seat *s = begin_wait();
    sigset_t both;
    wait_time w;
    int result;
    mask = with_ours(s, mask, &both);
    wait_for(&w, time);
    do {
        result = next_ppoll(files, count, w.given, mask);
    } while (goes_on(&w, result));
    end_wait(s, &ppoll_site);
    return result;
}

EXPORT int poll(struct pollfd *files, nfds_t count, int ms)
{
    return watched_poll(files, count, ms);
}

EXPORT int ppoll(struct pollfd *files, nfds_t count, const struct timespec *time,
                 const sigset_t *mask)
{
    return watched_ppoll(files, count, time, mask);
}

/* What programs call instead that were compiled with _FORTIFY_SOURCE: the size of the list is known
 * there. One that is too small is an error that ends the program, here as there. */
EXPORT int __poll_chk(struct pollfd *files, nfds_t count, int ms, size_t bytes);
EXPORT int __ppoll_chk(struct pollfd *files, nfds_t count, const struct timespec *time,
                       const sigset_t *mask, size_t bytes);

EXPORT int __poll_chk(struct pollfd *files, nfds_t count, int ms, size_t bytes)
{
    if (bytes / sizeof *files < count) {
        abort();
    }
    return watched_poll(files, count, ms);
}

EXPORT int __ppoll_chk(struct pollfd *files, nfds_t count, const struct timespec *time,
                       const sigset_t *mask, size_t bytes)
{
    if (bytes / sizeof *files < count) {
        abort();
    }
    return watched_ppoll(files, count, time, mask);
}

/* >>waits in select. A wait that a tick interrupted has left its sets as they were, and in its time
 * what is left. */

static int next_pselect(int count, fd_set *read, fd_set *write, fd_set *except,
                        const struct timespec *time, const sigset_t *mask)
{
    struct timespec left = { 0, 0 };
    const struct { const sigset_t *set; size_t bytes; } blocked = { mask, KERNEL_MASK_BYTES };
    if (next.pselect != NULL) {
        return next.pselect(count, read, write, except, time, mask);
    }
    if (time != NULL) {
        left = *time;
    }
    return (int)syscall(SYS_pselect6, count, read, write, except, time != NULL ? &left : NULL,
                        &blocked);
}

static int next_select(int count, fd_set *read, fd_set *write, fd_set *except, struct timeval *time)
{
    struct timespec left = { 0, 0 };
    int result;
    if (next.select != NULL) {
        return next.select(count, read, write, except, time);
    }
    if (time != NULL) {
        left = timespec_of((int64_t)time->tv_sec * 1000000000 + (int64_t)time->tv_usec * 1000);
    }
    result = (int)syscall(SYS_pselect6, count, read, write, except, time != NULL ? &left : NULL,
                          NULL);
    if (time != NULL) {
        time->tv_sec = left.tv_sec;
        time->tv_usec = (suseconds_t)(left.tv_nsec / 1000);
    }
    return result;
}

EXPORT int select(int count, fd_set *read, fd_set *write, fd_set *except, struct timeval *time)
{
    static const chroprof_site site = { "code after select", NULL, 0 };
    seat *s = begin_wait();
    wait_time w;
    int result;
    wait_for(&w, NULL);
    do {
        result = next_select(count, read, write, except, time);
    } while (goes_on(&w, result));
    end_wait(s, &site);
    return result;
}

EXPORT int pselect(int count, fd_set *read, fd_set *write, fd_set *except,
                   const struct timespec *time, const sigset_t *mask)
{
    static const chroprof_site site = { "code after pselect", NULL, 0 };
    seat *s = begin_wait();
    sigset_t both;
    wait_time w;
    int result;
    mask = with_ours(s, mask, &both);
    wait_for(&w, time);
    do {
        result = next_pselect(count, read, write, except, w.given, mask);
    } while (goes_on(&w, result));
    end_wait(s, &site);
    return result;
}

/* >>calls that no handler restarts, also one with SA_RESTART: in a callback a tick cuts them short,
 * and they go on with the time that is left. Reads and writes of sockets that have a time limit of
 * their own (SO_RCVTIMEO) are left out: nobody knows what is left of that. */

EXPORT int nanosleep(const struct timespec *time, struct timespec *left)
{
    struct timespec rest;
    wait_time w;
    int result;
    if (next.nanosleep == NULL) {
        find_function(&next.nanosleep, "nanosleep");
    }
    wait_for(&w, time);
    do {
        result = next.nanosleep(w.given, &rest);
    } while (goes_on(&w, result));
    if (result != 0 && errno == EINTR && left != NULL) {
        *left = rest;
    }
    return result;
}

/* It returns its error. A clock of CPU time tells by itself what is left. */
EXPORT int clock_nanosleep(clockid_t clock, int flags, const struct timespec *time,
                           struct timespec *left)
{
    const bool relative = (flags & TIMER_ABSTIME) == 0;
    struct timespec rest;
    wait_time w;
    int result;
    int error = errno;
    if (next.clock_nanosleep == NULL) {
        find_function(&next.clock_nanosleep, "clock_nanosleep");
    }
    wait_for(&w, NULL);
    do {
        result = next.clock_nanosleep(clock, flags, time, relative ? &rest : left);
        time = relative && result == EINTR ? &rest : time;
        errno = result;
    } while (goes_on(&w, result == 0 ? 0 : -1));
    if (relative && result == EINTR && left != NULL) {
        *left = rest;
    }
    errno = error;
    return result;
}

/* Whether ticks cut sleeps of this thread short. */
static bool is_cut(void)
{
    return wall_clock && own != NULL && own->signal != 0;
}

EXPORT int usleep(useconds_t us)
{
    const struct timespec time = timespec_of((int64_t)us * 1000);
    if (next.usleep == NULL) {
        find_function(&next.usleep, "usleep");
    }
    return is_cut() ? nanosleep(&time, NULL) : next.usleep(us);
}

EXPORT unsigned sleep(unsigned seconds)
{
    struct timespec time = { (time_t)seconds, 0 };
    int error = errno;
    if (next.sleep == NULL) {
        find_function(&next.sleep, "sleep");
    }
    if (!is_cut()) {
        return next.sleep(seconds);
    }
    if (nanosleep(&time, &time) != 0) {
        return (unsigned)time.tv_sec;
    }
    errno = error;
    return 0;
}

/* No tick comes in these: a signal of the program must end them, whenever it arrives. */
EXPORT int sigsuspend(const sigset_t *mask)
{
    sigset_t both;
    if (next.sigsuspend == NULL) {
        find_function(&next.sigsuspend, "sigsuspend");
    }
    return next.sigsuspend(with_ours(own, mask, &both));
}

EXPORT int pause(void)
{
    seat *s = own;
    sigset_t mask;
    if (next.pause == NULL || next.sigsuspend == NULL) {
        find_function(&next.pause, "pause");
        find_function(&next.sigsuspend, "sigsuspend");
    }
    if (s == NULL || s->signal == 0 || filtered ||       /* which may allow no other call */
        next.pthread_sigmask(SIG_BLOCK, NULL, &mask) != 0) {
        return next.pause();
    }
    (void)sigaddset(&mask, s->signal);
    return next.sigsuspend(&mask);
}

EXPORT int sigwaitinfo(const sigset_t *set, siginfo_t *info)
{
    sigset_t copy;
    wait_time w;
    bool all;
    int result;
    if (next.sigwaitinfo == NULL) {
        find_function(&next.sigwaitinfo, "sigwaitinfo");
    }
    set = without_ours(set, &copy, &all);
    wait_for(&w, NULL);
    do {
        result = next.sigwaitinfo(set, info);
    } while (goes_on(&w, result));
    return result;
}

EXPORT int sigtimedwait(const sigset_t *set, siginfo_t *info, const struct timespec *time)
{
    sigset_t copy;
    wait_time w;
    bool all;
    int result;
    if (next.sigtimedwait == NULL) {
        find_function(&next.sigtimedwait, "sigtimedwait");
    }
    set = without_ours(set, &copy, &all);
    wait_for(&w, time);
    do {
        result = next.sigtimedwait(set, info, w.given);
    } while (goes_on(&w, result));
    return result;
}

EXPORT int sem_timedwait(sem_t *semaphore, const struct timespec *until)
{
    wait_time w;
    int result;
    if (next.sem_timedwait == NULL) {
        find_function(&next.sem_timedwait, "sem_timedwait");
    }
    wait_for(&w, NULL);
    do {
        result = next.sem_timedwait(semaphore, until);
    } while (goes_on(&w, result));
    return result;
}

EXPORT int sem_clockwait(sem_t *semaphore, clockid_t clock, const struct timespec *until);

EXPORT int sem_clockwait(sem_t *semaphore, clockid_t clock, const struct timespec *until)
{
    wait_time w;
    int result;
    if (next.sem_clockwait == NULL) {
        find_function(&next.sem_clockwait, "sem_clockwait");
    }
    if (next.sem_clockwait == NULL) {
        errno = ENOSYS;                    /* not every C library has it */
        return -1;
    }
    wait_for(&w, NULL);
    do {
        result = next.sem_clockwait(semaphore, clock, until);
    } while (goes_on(&w, result));
    return result;
}

EXPORT int semop(int set, struct sembuf *steps, size_t count)
{
    wait_time w;
    int result;
    if (next.semop == NULL) {
        find_function(&next.semop, "semop");
    }
    wait_for(&w, NULL);
    do {
        result = next.semop(set, steps, count);
    } while (goes_on(&w, result));
    return result;
}

EXPORT int semtimedop(int set, struct sembuf *steps, size_t count, const struct timespec *time)
{
    wait_time w;
    int result;
    if (next.semtimedop == NULL) {
        find_function(&next.semtimedop, "semtimedop");
    }
    wait_for(&w, time);
    do {
        result = next.semtimedop(set, steps, count, w.given);
    } while (goes_on(&w, result));
    return result;
}

EXPORT int msgsnd(int queue, const void *message, size_t size, int flags)
{
    wait_time w;
    int result;
    if (next.msgsnd == NULL) {
        find_function(&next.msgsnd, "msgsnd");
    }
    wait_for(&w, NULL);
    do {
        result = next.msgsnd(queue, message, size, flags);
    } while (goes_on(&w, result));
    return result;
}

EXPORT ssize_t msgrcv(int queue, void *message, size_t size, long kind, int flags)
{
    wait_time w;
    ssize_t result;
    if (next.msgrcv == NULL) {
        find_function(&next.msgrcv, "msgrcv");
    }
    wait_for(&w, NULL);
    do {
        result = next.msgrcv(queue, message, size, kind, flags);
    } while (goes_on(&w, result));
    return result;
}

/* >>callbacks: what libraries of event loops call has a frame of its own, under its name. Beside
 * this library chroprof run loads a small one for each of them that the program links, which stands
 * in front of the functions that take callbacks, and hands on a stand-in made here.
 *
 * There is one stand-in a function, not one a registration. It gets what the function would get,
 * knows which one to call, and lives as long as the process. So nothing is allocated or freed, and
 * whatever the program does with its events, there is nothing to go stale. */

typedef uintptr_t word;

#define STANDINS 512           /* a power of two */
#define NAME_BYTES 128

typedef enum watched_kind { NO_FUTURES, REQUESTS, EVENTS } watched_kind;

typedef struct watched_function {
    callback *function;        /* atomic; NULL: this row is free */
    uint32_t named;            /* atomic; 1: the fields below can be read */
    uint8_t futures;           /* atomic: what kind its futures are, watched_kind */
    bool inner;                /* the library's own, which is left alone */
    uint64_t module;           /* number_of() */
    chroprof_site site;
    char name[NAME_BYTES];
} watched_function;

static watched_function functions[HAS_STANDINS ? STANDINS : 1];

/* Whether something may be told of the callback now, in the profile of this thread. */
static inline __attribute__((__always_inline__)) bool may_tell(const seat *s,
                                                               const watched_function *w)
{
    return s != NULL && !s->busy && !s->waits && is_awake() && s->generation == generation &&
           __atomic_load_n(&w->named, __ATOMIC_ACQUIRE) != 0;
}

/* Whether it may have a frame. */
static inline __attribute__((__always_inline__)) bool may_begin(const watched_function *w,
                                                                uintptr_t stack)
{
    seat *s = own;
    int error = errno;
    if (!may_tell(s, w)) {
        return false;
    }
    s->busy = true;
    drop_callbacks(s, stack);
    s->busy = false;
    errno = error;
    return s->depth < CALLBACK_DEPTH;
}

static bool begins_with(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

#if HAS_STANDINS
typedef word any_callback(word, word, word, word, word);

/* The arguments by which a callback finds its future; of a file libevent passes 32 bits. */
static uintptr_t first_of(const watched_function *w, word a)
{
    return __atomic_load_n(&w->futures, __ATOMIC_RELAXED) == EVENTS ? (uintptr_t)(int)a : a;
}

static uintptr_t third_of(const watched_function *w, word c)
{
    return __atomic_load_n(&w->futures, __ATOMIC_RELAXED) == EVENTS ? c : 0;
}

static bool has_futures(const watched_function *w)
{
    return __atomic_load_n(&w->futures, __ATOMIC_RELAXED) != NO_FUTURES;
}

/* A callback that runs where its future is not known, or may have no frame. A request is known by
 * its address to all threads; an event whose arguments are alike may be another one in each. */
static __attribute__((__noinline__)) void lose_future(const watched_function *w, word a, word c,
                                                      bool here)
{
    seat *s = own;
    watched_future *f;
    loop_future ended;
    memset(&ended, 0, sizeof ended);
    ended.first = first_of(w, a);
    ended.third = third_of(w, c);
    if (__atomic_load_n(&w->futures, __ATOMIC_RELAXED) == REQUESTS) {
        mark_futures(&ended, w, here ? NULL : s);
    } else if (here && s != NULL && s->generation == generation) {
        f = find_waiting(table_of(s), w, ended.first, ended.third);
        if (f != NULL && !f->stays) {
            __atomic_store_n(&f->left, f->id, __ATOMIC_RELEASE);
            note(&s->left);
        }
    }
}

/* As a wait does, in the frame of the function that calls. */
static inline __attribute__((__always_inline__)) void
begin_callback(seat *s, const watched_function *w, uintptr_t stack, word a, word b, word c)
{
    int error = errno;
    callback_frame *frame = &s->callbacks[s->depth];
    s->busy = true;
    frame->stack = stack;
    frame->id = 0;
    if (has_futures(w)) {
        frame->id = begin_future(s, frame, w, first_of(w, a), (int)b, third_of(w, c));
        if (frame->id == 0) {
            lose_future(w, a, c, false);
        }
    }
    if (frame->id != 0) {
        chroprof_running(&s->profile, frame->id);
    } else {
        chroprof_enter(&s->profile, &w->site);
    }
    s->depth++;
    s->busy = false;
    errno = error;
}

/* Nothing, where the callback has forked, or has ended the profile. left: by an exception. */
static inline __attribute__((__always_inline__)) void end_callback(seat *s, uintptr_t stack,
                                                                   bool left)
{
    int error = errno;
    if (s == NULL || s != own || s->busy || s->waits || !is_awake() ||
        s->generation != generation) {
        return;
    }
    s->busy = true;
    drop_callbacks(s, stack - 1);
    if (s->depth > 0 && s->callbacks[s->depth - 1].stack == stack) {
        end_frame(s, left);
    }
    s->jumped = false;                      /* who called it runs */
    s->busy = false;
    errno = error;
}

/* A callback ends also when an exception leaves it, or the end of its thread. Whoever unwinds the
 * stack then asks this function about each of our frames, the innermost first. A clean-up in C would
 * ask for the library of the compiler, which the program may not have. */
#if (defined(__x86_64__) || defined(__aarch64__)) && defined(__GCC_HAVE_DWARF2_CFI_ASM)
#define CALLS_WHEN_LEFT                                                                            \
    __asm__ volatile(".cfi_personality 0x1b, chroprof_run_callback_left");
#define UNWIND_CLEANS_UP 2     /* of the interface that all unwinders of these processors have */
#define UNWIND_GOES_ON 8

__attribute__((__visibility__("hidden"), __used__))
int chroprof_run_callback_left(int version, int actions, uint64_t kind, void *what, void *where);

int chroprof_run_callback_left(int version, int actions, uint64_t kind, void *what, void *where)
{
    seat *s = own;
    (void)version;
    (void)kind;
    (void)what;
    (void)where;
    if ((actions & UNWIND_CLEANS_UP) != 0 && s != NULL && s->depth > 0) {
        end_callback(s, s->callbacks[s->depth - 1].stack, true);
    }
    return UNWIND_GOES_ON;
}
#else
#define CALLS_WHEN_LEFT
#endif

static __attribute__((__noinline__)) word call_in_frame(word a, word b, word c, word d, word e,
                                                        const watched_function *w)
{
    const uintptr_t stack = (uintptr_t)__builtin_frame_address(0);
    seat *s = own;
    word result;
    CALLS_WHEN_LEFT
    begin_callback(s, w, stack, a, b, c);
    result = ((any_callback *)w->function)(a, b, c, d, e);
    end_callback(s, stack, false);
    return result;
}

static __attribute__((__noinline__)) word call_function(word a, word b, word c, word d, word e,
                                                        size_t index)
{
    const watched_function *w = &functions[index];
    if (may_begin(w, (uintptr_t)__builtin_frame_address(0))) {
        return call_in_frame(a, b, c, d, e, w);
    }
    if (has_futures(w)) {
        lose_future(w, a, c, true);
    }
    return ((any_callback *)w->function)(a, b, c, d, e);
}

/* 512 functions, with their numbers in hexadecimal. */
#define STANDIN(n)                                                                                 \
    static word standin_##n(word a, word b, word c, word d, word e)                                \
    {                                                                                              \
        return call_function(a, b, c, d, e, 0x##n);                                                \
    }
#define SIXTEEN(what, n)                                                                           \
    what(n##0) what(n##1) what(n##2) what(n##3) what(n##4) what(n##5) what(n##6) what(n##7)        \
    what(n##8) what(n##9) what(n##a) what(n##b) what(n##c) what(n##d) what(n##e) what(n##f)
#define SIXTEEN_TIMES(what, n)                                                                     \
    SIXTEEN(what, n##0) SIXTEEN(what, n##1) SIXTEEN(what, n##2) SIXTEEN(what, n##3)                \
    SIXTEEN(what, n##4) SIXTEEN(what, n##5) SIXTEEN(what, n##6) SIXTEEN(what, n##7)                \
    SIXTEEN(what, n##8) SIXTEEN(what, n##9) SIXTEEN(what, n##a) SIXTEEN(what, n##b)                \
    SIXTEEN(what, n##c) SIXTEEN(what, n##d) SIXTEEN(what, n##e) SIXTEEN(what, n##f)
#define STANDIN_NAME(n) standin_##n,

SIXTEEN_TIMES(STANDIN, 0)
SIXTEEN_TIMES(STANDIN, 1)

static any_callback *const standins[STANDINS] = {
    SIXTEEN_TIMES(STANDIN_NAME, 0) SIXTEEN_TIMES(STANDIN_NAME, 1)
};

/* Where they lie: no program's function is among them. */
static uintptr_t standins_low = UINTPTR_MAX;
static uintptr_t standins_high;
static uint16_t standin_places[2 * STANDINS];       /* by address; plus 1 */

static uint16_t *place_of_standin(uintptr_t address)
{
    size_t at = (size_t)((address * UINT64_C(0x9E3779B97F4A7C15)) >> 32);
    while (standin_places[at % (2 * STANDINS)] != 0 &&
           (uintptr_t)standins[standin_places[at % (2 * STANDINS)] - 1] != address) {
        at++;
    }
    return &standin_places[at % (2 * STANDINS)];
}

static void find_standins(void)
{
    for (size_t i = 0; i < STANDINS; i++) {
        uintptr_t at = (uintptr_t)standins[i];
        standins_low = at < standins_low ? at : standins_low;
        standins_high = at > standins_high ? at : standins_high;
        *place_of_standin(at) = (uint16_t)(i + 1);
    }
}

static bool is_standin(callback *function)
{
    return (uintptr_t)function >= standins_low && (uintptr_t)function <= standins_high;
}

/* What chroprof run found out about the functions of the program itself; NULL: nothing. */
static const board_symbols *symbols;

static const board_symbol *symbol_at(uint64_t address)
{
    const board_symbol *rows = symbols != NULL ? (const board_symbol *)(symbols + 1) : NULL;
    uint64_t from = 0;
    uint64_t to = rows != NULL ? symbols->count : 0;
    while (from < to) {
        uint64_t middle = from + (to - from) / 2;
        if (rows[middle].address == address) {
            return &rows[middle];
        }
        if (rows[middle].address < address) {
            from = middle + 1;
        } else {
            to = middle;
        }
    }
    return NULL;
}

/* What the loader has mapped, and knows the names of. It is asked without its lock, which a thread
 * may hold that waits for this one: of what the program was started with once, before main; of what
 * came later by _dl_find_object (glibc 2.35), and elsewhere not at all. */
typedef struct module {
    const char *name;          /* of its file */
    uintptr_t base;
    const ElfW(Dyn) *dynamic;
} module;

typedef struct started_module {
    module module;
    const ElfW(Phdr) *segments;
    size_t count;
} started_module;

#define STARTED_MOST 256

static started_module started[STARTED_MOST];        /* the first one is the program */
static size_t started_count;
static char program_name[NAME_BYTES];

#ifdef DLFO_STRUCT_HAS_EH_DBASE
static int (*find_object)(void *, struct dl_find_object *);
#endif

static int add_started(struct dl_phdr_info *info, size_t size, void *unused)
{
    started_module *m = &started[started_count];
    (void)size;
    (void)unused;
    if (started_count == STARTED_MOST) {
        return 1;
    }
    m->module.name = started_count == 0 ? program_name : last_part(info->dlpi_name);
    m->module.base = (uintptr_t)info->dlpi_addr;
    m->segments = info->dlpi_phdr;
    m->count = info->dlpi_phnum;
    for (size_t i = 0; i < m->count; i++) {
        if (m->segments[i].p_type == PT_DYNAMIC) {
            m->module.dynamic = (const ElfW(Dyn) *)(m->module.base + m->segments[i].p_vaddr);
        }
    }
    started_count++;
    return 0;
}

static void find_modules(void)
{
    char path[4096];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    path[length > 0 ? length : 0] = '\0';
    (void)snprintf(program_name, sizeof program_name, "%s", last_part(path));
    (void)dl_iterate_phdr(add_started, NULL);
#ifdef DLFO_STRUCT_HAS_EH_DBASE
    void *found = dlsym(RTLD_DEFAULT, "_dl_find_object");
    memcpy(&find_object, &found, sizeof found);
#endif
    (void)dlerror();
}

static const module *started_with(uintptr_t code)
{
    for (size_t i = 0; i < started_count; i++) {
        const started_module *m = &started[i];
        for (size_t j = 0; j < m->count; j++) {
            const ElfW(Phdr) *s = &m->segments[j];
            if (s->p_type == PT_LOAD && (s->p_flags & PF_X) != 0 &&
                code - m->module.base - s->p_vaddr < s->p_memsz) {
                return &m->module;
            }
        }
    }
    return NULL;
}

/* The program holds it while it uses functions of it. */
static bool loaded_later(uintptr_t code, module *m)
{
#ifdef DLFO_STRUCT_HAS_EH_DBASE
    struct dl_find_object object;
    if (find_object != NULL && find_object((void *)code, &object) == 0) {
        m->name = last_part(object.dlfo_link_map->l_name);
        m->base = (uintptr_t)object.dlfo_link_map->l_addr;
        m->dynamic = object.dlfo_link_map->l_ld;
        return true;
    }
#else
    (void)code;
    (void)m;
#endif
    return false;
}

/* Where a table lies that the loader has told of, as an address or as the file counts. */
static const void *table_at(const module *m, uintptr_t at)
{
    return (const void *)(at < m->base ? at + m->base : at);
}

/* How many symbols a table has whose functions are found by this table of hashes. */
static size_t count_hashed(const uint32_t *hashes)
{
    const size_t buckets = hashes[0];
    const size_t first = hashes[1];
    const uint32_t *bucket = hashes + 4 + hashes[2] * (sizeof(uintptr_t) / sizeof *hashes);
    const uint32_t *chains = bucket + buckets;
    size_t last = 0;
    for (size_t i = 0; i < buckets; i++) {
        last = bucket[i] > last ? bucket[i] : last;
    }
    if (last < first) {
        return first;
    }
    while ((chains[last - first] & 1) == 0) {
        last++;
    }
    return last + 1;
}

/* What other modules call the function that begins there; NULL: nothing. */
static const char *exported_name(const module *m, uintptr_t code)
{
    const ElfW(Sym) *rows = NULL;
    const char *names = NULL;
    size_t count = 0;
    for (const ElfW(Dyn) *d = m->dynamic; d != NULL && d->d_tag != DT_NULL; d++) {
        const void *table = table_at(m, (uintptr_t)d->d_un.d_ptr);
        if (d->d_tag == DT_SYMTAB) {
            rows = (const ElfW(Sym) *)table;
        } else if (d->d_tag == DT_STRTAB) {
            names = (const char *)table;
        } else if (d->d_tag == DT_HASH) {
            count = ((const uint32_t *)table)[1];
        } else if (d->d_tag == DT_GNU_HASH && count == 0) {
            count = count_hashed((const uint32_t *)table);
        }
    }
    for (size_t i = 1; rows != NULL && names != NULL && i < count; i++) {
        if (rows[i].st_shndx != SHN_UNDEF && m->base + rows[i].st_value == code &&
            (rows[i].st_info & 15) == STT_FUNC) {
            return names + rows[i].st_name;
        }
    }
    return NULL;
}

/* By what chroprof run knows, by what the module exports, or by its place in the file. */
static void name_function(watched_function *w, const module *m)
{
    const uintptr_t code = (uintptr_t)w->function;
    const uint64_t address = (uint64_t)(code - m->base);
    const bool inside = m->name == program_name;
    const board_symbol *known = inside ? symbol_at(address) : NULL;
    const char *exported = known == NULL ? exported_name(m, code) : NULL;
    w->inner = !inside && is_loop_library(m->name);     /* its own callbacks are no tasks */
    w->site.name = w->name;
    w->site.file = NULL;
    w->site.line = 0;
    if (known != NULL) {
        w->site.name = (const char *)symbols + known->name;
        w->site.file = known->line > 0 ? (const char *)symbols + known->file : NULL;
        w->site.line = known->line;
    } else if (exported != NULL) {
        (void)snprintf(w->name, sizeof w->name, "%s", exported);
    } else {
        (void)snprintf(w->name, sizeof w->name, "%.80s+0x%" PRIx64, m->name, address);
    }
}

/* The same number for the same module, as long as it stays; 0: it stays. */
static uint64_t number_of(const module *m)
{
    uint64_t number = (uint64_t)m->base ^ (uint64_t)(uintptr_t)m->dynamic << 1;
    for (const char *at = m->name; *at != '\0'; at++) {
        number = (number ^ (unsigned char)*at) * UINT64_C(0x100000001B3);
    }
    return number | 1;
}

/* Whether a row is that function's. At its address there may be another one, after dlclose. */
static bool is_row_of(const watched_function *w, callback *function)
{
    module m;
    return __atomic_load_n(&w->function, __ATOMIC_ACQUIRE) == function &&
           (__atomic_load_n(&w->named, __ATOMIC_ACQUIRE) == 0 || w->module == 0 ||
            (loaded_later((uintptr_t)function, &m) && number_of(&m) == w->module));
}

/* The row of a function, or the free one that it may have; NULL: there are too many. */
static watched_function *row_of_function(callback *function)
{
    size_t at = (size_t)(((uintptr_t)function * UINT64_C(0x9E3779B97F4A7C15)) >> 32);
    for (size_t tries = 0; tries < STANDINS; tries++, at++) {
        watched_function *w = &functions[at % STANDINS];
        if (__atomic_load_n(&w->function, __ATOMIC_ACQUIRE) == NULL || is_row_of(w, function)) {
            return w;
        }
    }
    return NULL;
}

/* A row is taken at the first registration. Code that the program made itself gets none: it comes
 * and goes, and nobody knows its name. */
static watched_function *take_row(callback *function)
{
    watched_function *w = row_of_function(function);
    const module *stays;
    callback *nobody = NULL;
    module m;
    if (w == NULL || __atomic_load_n(&w->function, __ATOMIC_ACQUIRE) == function) {
        return w;
    }
    stays = started_with((uintptr_t)function);
    if (stays == NULL && !loaded_later((uintptr_t)function, &m)) {
        return NULL;
    }
    if (!__atomic_compare_exchange_n(&w->function, &nobody, function, false, __ATOMIC_ACQ_REL,
                                     __ATOMIC_ACQUIRE)) {
        return take_row(function);          /* another thread was faster */
    }
    w->module = stays != NULL ? 0 : number_of(&m);
    name_function(w, stays != NULL ? stays : &m);
    __atomic_store_n(&w->named, 1, __ATOMIC_RELEASE);
    return w;
}

/* As far as the thread that registers it first has found out. */
static bool is_inner(const watched_function *w)
{
    return __atomic_load_n(&w->named, __ATOMIC_ACQUIRE) != 0 && w->inner;
}

EXPORT callback *chroprof_run_standin(callback *function)
{
    const watched_function *w;
    int error = errno;
    if (function == NULL || !is_awake() || is_standin(function)) {
        return function;
    }
    w = take_row(function);
    errno = error;
    return w == NULL || is_inner(w) ? function : (callback *)standins[w - functions];
}

/* NULL: it is none. */
static watched_function *function_behind(callback *standin)
{
    uint16_t place = is_standin(standin) ? *place_of_standin((uintptr_t)standin) : 0;
    return place != 0 ? &functions[place - 1] : NULL;
}

EXPORT callback *chroprof_run_function(callback *standin)
{
    const watched_function *w = function_behind(standin);
    return w != NULL ? w->function : standin;
}

/* The bases of libevent whose loops this thread has run. Another thread's events are none of its
 * futures. */
#define LOOP_BASES 4

static __thread const void *bases[LOOP_BASES] __attribute__((__tls_model__("initial-exec")));
static __thread uint32_t bases_next __attribute__((__tls_model__("initial-exec")));

static const void **place_of_base(const void *base)
{
    for (size_t i = 0; i < LOOP_BASES; i++) {
        if (bases[i] == base) {
            return &bases[i];
        }
    }
    return NULL;
}

static void drop_base(seat *s, const void *base)
{
    future_table *t = table_of(s);
    for (size_t k = 0; k < t->used; k++) {
        if (t->rows[k].id != 0 && t->rows[k].base == base) {
            drop_future(s, &t->rows[k]);
        }
    }
}

EXPORT void chroprof_run_base(const void *base, bool runs)
{
    const void **place = base != NULL ? place_of_base(base) : NULL;
    seat *s = own;
    loop_future ended;
    int error = errno;
    if (base == NULL || (runs && place != NULL)) {
        return;
    }
    if (runs) {
        bases[bases_next++ % LOOP_BASES] = base;
        return;
    }
    if (place != NULL) {
        *place = NULL;
    }
    if (s != NULL && !s->busy && !s->waits && is_awake() && s->generation == generation) {
        s->busy = true;
        drop_base(s, base);
        s->busy = false;
    }
    memset(&ended, 0, sizeof ended);
    ended.base = base;
    mark_futures(&ended, NULL, NULL);
    errno = error;
}

/* The row of a future that is told of; a new one, and what had its name before is over. */
static watched_future *renew_future(seat *s, const watched_function *w, const loop_future *told)
{
    watched_future *f = find_event(table_of(s), told);
    if (f != NULL && f->function == w && told->base != NULL) {
        return f;                           /* it waits already */
    }
    if (f != NULL) {
        drop_future(s, f);
    }
    f = add_future(s, w, told);
    if (f != NULL) {
        chroprof_pending(&s->profile, f->id, &w->site);
    }
    return f;
}

/* What is made ready without having waited stays only if it comes to wait later. */
static void begin_waiting(seat *s, watched_function *w, future_step step, const loop_future *told)
{
    watched_future *f;
    bool known;
    const uint8_t kind = told->base != NULL ? EVENTS : REQUESTS;
    uint8_t before = NO_FUTURES;
    if ((told->base != NULL && place_of_base(told->base) == NULL) ||
        (!__atomic_compare_exchange_n(&w->futures, &before, kind, false, __ATOMIC_RELAXED,
                                      __ATOMIC_RELAXED) && before != kind)) {
        return;
    }
    known = find_event(table_of(s), told) != NULL;
    f = renew_future(s, w, told);
    if (f != NULL) {
        f->stays = step == FUTURE_READY ? known && f->stays : told->stays;
    }
    if (f != NULL && step == FUTURE_READY) {
        chroprof_ready(&s->profile, f->id);
    }
}

static void end_waiting(seat *s, const watched_function *w, future_step step,
                        const loop_future *told)
{
    watched_future *f = find_event(table_of(s), told);
    uint64_t id = f != NULL ? f->id : 0;
    if (f == NULL) {
        mark_futures(told, w, s);
    } else if (step == FUTURE_REFUSED && !f->running) {
        remove_future(s, f);
        chroprof_failed(&s->profile, id);
    } else {
        drop_future(s, f);
    }
}

EXPORT void chroprof_run_future(future_step step, const loop_future *told)
{
    watched_function *w = function_behind(told->standin);
    seat *s = own;
    int error = errno;
    bool ends = step == FUTURE_REFUSED || step == FUTURE_OVER;
    if (w == NULL) {
        return;
    }
    if (!may_tell(s, w)) {
        if (ends && has_futures(w)) {
            mark_futures(told, w, NULL);
        }
        return;
    }
    s->busy = true;
    if (!ends) {
        begin_waiting(s, w, step, told);
    } else if (has_futures(w)) {
        end_waiting(s, w, step, told);
    }
    s->busy = false;
    errno = error;
}

/* Before the first registration. */
static void begin_standins(void)
{
    char path[sizeof folder + 16];
    struct stat facts;
    const board_symbols *found = MAP_FAILED;
    int file;
    find_standins();
    find_modules();
    (void)snprintf(path, sizeof path, "%s/" BOARD_SYMBOLS, folder);
    file = open(path, O_RDONLY | O_CLOEXEC);
    if (file >= 0 && fstat(file, &facts) == 0 && (size_t)facts.st_size >= sizeof *found) {
        found = (const board_symbols *)mmap(NULL, (size_t)facts.st_size, PROT_READ, MAP_PRIVATE,
                                            file, 0);
    }
    if (file >= 0) {
        (void)close(file);
    }
    if (found != MAP_FAILED && stat("/proc/self/exe", &facts) == 0 &&
        found->device == (uint64_t)facts.st_dev && found->inode == (uint64_t)facts.st_ino) {
        symbols = found;
    }
}
#else
EXPORT callback *chroprof_run_standin(callback *function)
{
    return function;
}

EXPORT callback *chroprof_run_function(callback *standin)
{
    return standin;
}

EXPORT void chroprof_run_base(const void *base, bool runs)
{
    (void)base;
    (void)runs;
}

EXPORT void chroprof_run_future(future_step step, const loop_future *told)
{
    (void)step;
    (void)told;
}

static void begin_standins(void)
{
}
#endif

/* >>jumps: one out of a callback may leave the loop that called it. Where to, only the C library can
 * read. So the callbacks of the thread are given up at its next wait, unless one of them ends as it
 * should before: then the loop runs. */

#if HAS_STANDINS
EXPORT void preload_longjmp(void *to, int value) __asm__("longjmp");
EXPORT void preload_old_longjmp(void *to, int value) __asm__("_longjmp");
EXPORT void preload_siglongjmp(void *to, int value) __asm__("siglongjmp");
EXPORT void preload_checked_longjmp(void *to, int value) __asm__("__longjmp_chk");

static inline __attribute__((__always_inline__)) void jump(jump_function **known, const char *name,
                                                           void *to, int value)
{
    if (*known == NULL) {
        find_function(known, name);
    }
    if (own != NULL) {
        own->jumped = true;
    }
    (*known)(to, value);
}

EXPORT void preload_longjmp(void *to, int value)
{
    jump(&next.longjmp, "longjmp", to, value);
}

EXPORT void preload_old_longjmp(void *to, int value)
{
    jump(&next.old_longjmp, "_longjmp", to, value);
}

EXPORT void preload_siglongjmp(void *to, int value)
{
    jump(&next.siglongjmp, "siglongjmp", to, value);
}

EXPORT void preload_checked_longjmp(void *to, int value)
{
    jump(&next.checked_longjmp, "__longjmp_chk", to, value);
}
#endif

/* >>filters of system calls (seccomp): a program that forbids itself some of them may end with the
 * first one that this library makes. So it looks at the filter before that holds, and does without. */

static const filter_call sampling_calls[] = {
    { SYS_clock_gettime, { CLOCK_THREAD_CPUTIME_ID } },
    { SYS_timer_settime, { 0 } },
    { SYS_getpid, { 0 } },
    { SYS_rt_sigreturn, { 0 } },
};

#define THERE ((uint64_t)AT_FDCWD & UINT32_MAX)
#define IN_MEMORY (PROT_READ | PROT_WRITE)

static const filter_call beginning_calls[] = {
    { SYS_gettid, { 0 } },
    { SYS_prctl, { PR_GET_NAME } },
    { SYS_openat, { THERE, 0, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644 } },
#if !defined(__GLIBC__) && defined(SYS_open)
    { SYS_open, { 0, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644 } },
#endif
    { SYS_prlimit64, { 0, RLIMIT_FSIZE } },
    { SYS_fallocate, { 3, 0, 0, PROFILE_BYTES } },
    { SYS_mmap, { 0, PROFILE_BYTES, IN_MEMORY, MAP_SHARED | MAP_FIXED } },
    { SYS_madvise, { 0, 4096, MADV_WIPEONFORK } },
    { SYS_close, { 3 } },
    { SYS_fcntl, { 3, F_OFD_SETLK } },
#ifdef SYS_link                 /* processors that came later have only calls with a folder */
    { SYS_readlink, { 0 } },
    { SYS_link, { 0 } },
    { SYS_unlink, { 0 } },
#else
    { SYS_readlinkat, { THERE } },
    { SYS_linkat, { THERE, 0, THERE } },
    { SYS_unlinkat, { THERE } },
#endif
    { SYS_uname, { 0 } },
    { SYS_read, { 3 } },
    { SYS_fstat, { 3 } },
#ifdef SYS_newfstatat
    { SYS_newfstatat, { THERE } },
#endif
    { SYS_getrandom, { 0, 8, 1 } },
    { SYS_brk, { 0 } },
    { SYS_sched_getaffinity, { 0 } },
    { SYS_sigaltstack, { 0 } },
    { SYS_rt_sigaction, { 64 } },
    { SYS_rt_sigprocmask, { SIG_UNBLOCK } },
    { SYS_timer_create, { 0 } },
    { SYS_timer_delete, { 0 } },
    { SYS_munmap, { 0, PROFILE_BYTES } },
};

#define ALLOWED(filter, calls) filter_allows(filter, calls, sizeof calls / sizeof calls[0])

/* everybody: the filter is for all threads. Then no thread can be told in time, so all of their
 * profiles end here. */
static void stop_sampling(bool everybody)
{
    note(&board->silenced);
    if (own != NULL && !own->busy && is_awake()) {
        own->busy = true;
        end_sampling(own);
        own->busy = false;
    }
    for (size_t i = 0; everybody && i < BOARD_THREADS; i++) {
        if (seats[i].signal != 0 && seats[i].profile.sampling && is_awake()) {
            (void)next.syscall(SYS_timer_delete, (long)seats[i].profile.sampler_timer);
            awake = NULL;
        }
    }
}

/* filter: NULL: only reading and writing is left to the thread. */
static void before_filter(const filter_program *filter, bool everybody)
{
    int error = errno;
    if (awake == NULL) {
        return;
    }
    filtered = true;
    if (filter == NULL || !ALLOWED(filter, beginning_calls)) {
        sealed = true;
        note(&board->sealed);
    }
    if (filter == NULL || !ALLOWED(filter, sampling_calls)) {
        stop_sampling(everybody);
    }
    errno = error;
}

/* What a program asks that tests only whether there are filters is NULL. */
EXPORT int prctl(int option, ...)
{
    unsigned long words[4];
    va_list list;
    va_start(list, option);
    for (size_t i = 0; i < 4; i++) {
        words[i] = va_arg(list, unsigned long);
    }
    va_end(list);
    if (next.prctl == NULL) {
        find_function(&next.prctl, "prctl");
    }
    if (option == PR_SET_SECCOMP && words[0] == FILTER_MODE_STRICT) {
        before_filter(NULL, false);
    } else if (option == PR_SET_SECCOMP && words[0] == FILTER_MODE_PROGRAM && words[1] != 0) {
        before_filter((const filter_program *)words[1], false);
    }
    return next.prctl(option, words[0], words[1], words[2], words[3]);
}

/* libseccomp and others have no other function for it. */
EXPORT long syscall(long number, ...)
{
    long words[6];
    va_list list;
    va_start(list, number);
    for (size_t i = 0; i < 6; i++) {
        words[i] = va_arg(list, long);
    }
    va_end(list);
    if (next.syscall == NULL) {
        find_function(&next.syscall, "syscall");
    }
    if (number == SYS_seccomp && words[0] == FILTER_SET_STRICT) {
        before_filter(NULL, false);
    } else if (number == SYS_seccomp && words[0] == FILTER_SET_PROGRAM && words[2] != 0) {
        before_filter((const filter_program *)words[2],
                      (words[1] & FILTER_FOR_ALL_THREADS) != 0);
    }
    return next.syscall(number, words[0], words[1], words[2], words[3], words[4], words[5]);
}

/* >>users: a daemon that root starts gives up its rights, often before its first wait. The folder
 * and the board go to the user that it becomes. */

static void give_folder(uid_t user)
{
    char path[sizeof folder + 16];
    int error = errno;
    if (awake != NULL && (is_awake() || with_children) && user != (uid_t)-1 && geteuid() == 0) {
        (void)snprintf(path, sizeof path, "%s/" BOARD_FILE, folder);
        if (chown(path, user, (gid_t)-1) == 0) {
            (void)chown(folder, user, (gid_t)-1);
        }
    }
    errno = error;
}

EXPORT int setuid(uid_t user)
{
    if (next.setuid == NULL) {
        find_function(&next.setuid, "setuid");
    }
    give_folder(user);
    return next.setuid(user);
}

EXPORT int seteuid(uid_t user)
{
    if (next.seteuid == NULL) {
        find_function(&next.seteuid, "seteuid");
    }
    give_folder(user);
    return next.seteuid(user);
}

EXPORT int setreuid(uid_t real, uid_t effective)
{
    if (next.setreuid == NULL) {
        find_function(&next.setreuid, "setreuid");
    }
    give_folder(effective);
    return next.setreuid(real, effective);
}

EXPORT int setresuid(uid_t real, uid_t effective, uid_t saved)
{
    if (next.setresuid == NULL) {
        find_function(&next.setresuid, "setresuid");
    }
    give_folder(effective);
    return next.setresuid(real, effective, saved);
}

/* >>exec: a wrapper that becomes the program, as env and many scripts do, gives the library back to
 * it. Children that run exec do not: their process is another one. */

extern char **environ;

#define EXEC_WORDS 65536       /* arguments or variables; with more of them exec is left alone */

static pid_t watched_process;  /* 0: none */
static char given_preload[sizeof folder + 64];
static char given_folder[sizeof folder + 32];
static char given_options[96];

static bool has_name(const char *entry, const char *name)
{
    size_t length = strlen(name);
    return strncmp(entry, name, length) == 0 && entry[length] == '=';
}

static size_t count_words(char *const *words)
{
    size_t count = 0;
    while (words != NULL && words[count] != NULL) {
        count++;
    }
    return count;
}

static bool read_kind(const char *path, unsigned char kind[20])
{
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    ssize_t count = file >= 0 ? read(file, kind, 20) : 0;
    if (file >= 0) {
        (void)close(file);
    }
    return count == 20;
}

/* Whether the loader of that program takes this library: of another kind it would say that it does
 * not. What is no such file is found in PATH, or has an interpreter. */
static bool takes_library(const char *path)
{
    unsigned char ours[20];
    unsigned char its[20];
    if (!read_kind("/proc/self/exe", ours) || !read_kind(path, its)) {
        return true;
    }
    return memcmp(its, "\177ELF", 4) != 0 ||
           (its[4] == ours[4] && its[5] == ours[5] && memcmp(its + 18, ours + 18, 2) == 0);
}

/* As the user that it is now: the loader would say that it can't. */
static bool can_load_library(void)
{
    return euidaccess(given_preload + sizeof "LD_PRELOAD", R_OK) == 0;
}

/* The profiles of a program that becomes another one end here. */
static void tell_end(void)
{
    if (board != NULL && board->profiles > 0 && getpid() == board->program) {
        board->became = 1;
    }
}

static bool goes_along(const char *path, char *const *variables)
{
    tell_end();
    return watched_process != 0 && !sealed && getpid() == watched_process && next.execve != NULL &&
           next.execvpe != NULL && count_words(variables) < EXEC_WORDS && can_load_library() &&
           (path == NULL || takes_library(path));
}

/* The file that execvp runs: a name without a slash is looked for in PATH. NULL: nobody knows. */
static const char *find_program(const char *name, char path[1024])
{
    const char *folders = getenv("PATH");
    while (strchr(name, '/') == NULL && folders != NULL) {
        int length = (int)strcspn(folders, ":");
        int written = snprintf(path, 1024, "%.*s/%s", length, folders, name);
        if (length > 0 && written < 1024 && euidaccess(path, X_OK) == 0) {
            return path;
        }
        folders = folders[length] != '\0' ? folders + length + 1 : NULL;
    }
    return strchr(name, '/') != NULL ? name : NULL;
}

/* Which rows of BOARD_LOOPS the next program links by itself: as its file says, bit by bit. */

static const board_loop loops[] = BOARD_LOOPS;

#define SEGMENTS_MOST 32

typedef struct program_file {
    int file;
    ElfW(Ehdr) head;
    ElfW(Phdr) segments[SEGMENTS_MOST];
} program_file;

static bool read_part(const program_file *p, void *to, size_t bytes, uint64_t at)
{
    return pread(p->file, to, bytes, (off_t)at) == (ssize_t)bytes;
}

static bool read_segments(program_file *p)
{
    return read_part(p, &p->head, sizeof p->head, 0) &&
           memcmp(p->head.e_ident, "\177ELF", 4) == 0 &&
           p->head.e_phentsize == sizeof p->segments[0] && p->head.e_phnum <= SEGMENTS_MOST &&
           read_part(p, p->segments, p->head.e_phnum * sizeof p->segments[0], p->head.e_phoff);
}

/* Where in the file that lies which is loaded at an address. */
static uint64_t place_in_file(const program_file *p, uint64_t address)
{
    for (size_t i = 0; i < p->head.e_phnum; i++) {
        const ElfW(Phdr) *s = &p->segments[i];
        if (s->p_type == PT_LOAD && address - s->p_vaddr < s->p_filesz) {
            return s->p_offset + (address - s->p_vaddr);
        }
    }
    return 0;
}

static uint32_t loop_of(const char *name)
{
    for (size_t i = 0; i < sizeof loops / sizeof loops[0]; i++) {
        if (begins_with(name, loops[i].begin)) {
            return 1u << i;
        }
    }
    return 0;
}

/* libevent has functions of common names, like event_new. The loader looks for them in the order of
 * the libraries, and ours would get the calls of another library's. So only these stand before it:
 * they have none. (chroprof run reads them all before it starts a program.) */
static bool may_precede(const char *name)
{
    static const char *const begins[] = {
        "libc.so", "libm.so", "libpthread.so", "libdl.so", "librt.so", "libresolv.so", "libz.so",
        "libssl.so", "libcrypto.so", "libstdc++.so", "libgcc_s.so", "libtinfo.so", "libutil.so",
        "libsasl2.so", "libutempter.so", "libminiupnpc.so", "libnatpmp.so",
    };
    for (size_t i = 0; i < sizeof begins / sizeof begins[0]; i++) {
        if (begins_with(name, begins[i])) {
            return true;
        }
    }
    return is_loop_library(name);
}

static uint32_t loops_in(const program_file *p, const ElfW(Phdr) *dynamic)
{
    const size_t count = (size_t)(dynamic->p_filesz / sizeof(ElfW(Dyn)));
    uint64_t names = 0;
    uint32_t found = 0;
    bool preceded = false;
    for (int round = 0; round < 2; round++) {
        for (size_t i = 0; i < count; i++) {
            ElfW(Dyn) entry;
            if (!read_part(p, &entry, sizeof entry, dynamic->p_offset + i * sizeof entry) ||
                entry.d_tag == DT_NULL) {
                break;
            }
            if (round == 0 && entry.d_tag == DT_STRTAB) {
                names = place_in_file(p, entry.d_un.d_ptr);
            } else if (round == 1 && entry.d_tag == DT_NEEDED && names > 0) {
                char name[32] = "";
                (void)pread(p->file, name, sizeof name - 1, (off_t)(names + entry.d_un.d_val));
                found |= preceded && begins_with(name, "libevent") ? 0 : loop_of(name);
                preceded = preceded || !may_precede(name);
            }
        }
    }
    return found;
}

static uint32_t linked_loops(const char *path)
{
    program_file p;
    uint32_t found = 0;
    p.file = path != NULL ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
    if (p.file < 0) {
        return 0;
    }
    if (read_segments(&p)) {
        for (size_t i = 0; i < p.head.e_phnum; i++) {
            found |= p.segments[i].p_type == PT_DYNAMIC ? loops_in(&p, &p.segments[i]) : 0;
        }
    }
    (void)close(p.file);
    return found;
}

/* Ours, and where they are there those for the libraries that it links. */
static void give_libraries(char *preload, const char *path)
{
    const uint32_t linked = linked_loops(path);
    memcpy(preload, given_preload, strlen(given_preload) + 1);
    for (size_t i = 0; i < sizeof loops / sizeof loops[0]; i++) {
        char library[sizeof folder + 64];
        (void)snprintf(library, sizeof library, ":%s/%s", folder, loops[i].ours);
        if ((linked >> i & 1) != 0 && strstr(preload, library) == NULL &&
            euidaccess(library + 1, R_OK) == 0) {
            strcat(preload, library);
        }
    }
}

/* Its variables, with those that lead to this library. preload has room for what the program itself
 * preloads behind it, and takes the place of that. */
static void give_variables(char **to, char *const *from, char *preload, const char *path)
{
    bool placed = false;
    give_libraries(preload, path);
    *to++ = given_folder;
    *to++ = given_options;
    for (; from != NULL && *from != NULL; from++) {
        bool ours = has_name(*from, "LD_PRELOAD");
        if (ours) {
            strcat(strcat(preload, ":"), *from + sizeof "LD_PRELOAD");
        }
        if (!ours || !placed) {
            *to++ = ours ? preload : *from;
        }
        placed = placed || ours;
    }
    if (!placed) {
        *to++ = preload;
    }
    *to = NULL;
}

/* Room for that on the stack, in the function that calls exec. */
static size_t preload_bytes(char *const *variables)
{
    size_t bytes = BOARD_LIBRARIES * sizeof given_preload;
    for (; variables != NULL && *variables != NULL; variables++) {
        bytes += has_name(*variables, "LD_PRELOAD") ? strlen(*variables) + 1 : 0;
    }
    return bytes;
}

EXPORT int execve(const char *path, char *const *words, char *const *variables)
{
    if (next.execve == NULL) {
        find_function(&next.execve, "execve");
    }
    if (!goes_along(path, variables)) {
        return next.execve(path, words, variables);
    }
    char *given[count_words(variables) + 4];
    char preload[preload_bytes(variables)];
    give_variables(given, variables, preload, path);
    return next.execve(path, words, given);
}

EXPORT int execvpe(const char *name, char *const *words, char *const *variables)
{
    if (next.execvpe == NULL) {
        find_function(&next.execvpe, "execvpe");
    }
    if (!goes_along(name, variables)) {
        return next.execvpe(name, words, variables);
    }
    char path[1024];
    char *given[count_words(variables) + 4];
    char preload[preload_bytes(variables)];
    give_variables(given, variables, preload, find_program(name, path));
    return next.execvpe(name, words, given);
}

EXPORT int fexecve(int file, char *const *words, char *const *variables)
{
    if (next.fexecve == NULL) {
        find_function(&next.fexecve, "fexecve");
    }
    if (!goes_along(NULL, variables)) {
        return next.fexecve(file, words, variables);
    }
    char *given[count_words(variables) + 4];
    char preload[preload_bytes(variables)];
    give_variables(given, variables, preload, NULL);
    return next.fexecve(file, words, given);
}

EXPORT int execv(const char *path, char *const *words)
{
    return execve(path, words, environ);
}

EXPORT int execvp(const char *name, char *const *words)
{
    return execvpe(name, words, environ);
}

/* How many arguments there are, up to NULL; `list` begins behind the first one. */
static size_t count_arguments(const char *first, va_list list)
{
    size_t count = first != NULL;
    while (first != NULL && va_arg(list, char *) != NULL) {
        count++;
    }
    return count;
}

static void take_arguments(char **words, const char *first, size_t count, va_list list)
{
    words[0] = (char *)(uintptr_t)first;
    for (size_t i = 1; i <= count; i++) {
        words[i] = va_arg(list, char *);
    }
}

EXPORT int execl(const char *path, const char *first, ...)
{
    va_list list;
    va_start(list, first);
    size_t count = count_arguments(first, list);
    va_end(list);
    char *words[count + 1];
    va_start(list, first);
    take_arguments(words, first, count, list);
    va_end(list);
    return execve(path, words, environ);
}

EXPORT int execlp(const char *name, const char *first, ...)
{
    va_list list;
    va_start(list, first);
    size_t count = count_arguments(first, list);
    va_end(list);
    char *words[count + 1];
    va_start(list, first);
    take_arguments(words, first, count, list);
    va_end(list);
    return execvpe(name, words, environ);
}

/* The variables stand behind the NULL. */
EXPORT int execle(const char *path, const char *first, ...)
{
    va_list list;
    va_start(list, first);
    size_t count = count_arguments(first, list);
    va_end(list);
    char *words[count + 1];
    va_start(list, first);
    take_arguments(words, first, count, list);
    char *const *variables = va_arg(list, char *const *);
    va_end(list);
    return execve(path, words, variables);
}

/* >>AddressSanitizer: its library ends the program where another one is loaded before it. Ours takes
 * no memory and no function of its, so it asks for no such check. A program may have the same
 * function, which comes first. */

EXPORT const char *__asan_default_options(void);

EXPORT const char *__asan_default_options(void)
{
    return "verify_asan_link_order=0";
}

/* >>start and end */

static void remove_variable(char **variables, const char *name)
{
    char **to = variables;
    for (char **from = variables; *from != NULL; from++) {
        if (!has_name(*from, name)) {
            *to++ = *from;
        }
    }
    *to = NULL;
}

/* How much of LD_PRELOAD is ours: libraries in the folder, which stand first. */
static size_t our_libraries(const char *preload)
{
    size_t length = strlen(folder);
    size_t at = 0;
    while (strncmp(preload + at, folder, length) == 0 && preload[at + length] == '/') {
        at += strcspn(preload + at, ":");
        if (preload[at] == '\0') {
            break;
        }
        at++;
    }
    return at;
}

/* Children load what the user wanted them to load. */
static void remove_libraries(char **variables)
{
    char *entry = NULL;
    char *rest;
    for (char **at = variables; *at != NULL && entry == NULL; at++) {
        entry = has_name(*at, "LD_PRELOAD") ? *at + sizeof "LD_PRELOAD" : NULL;
    }
    rest = entry != NULL ? entry + our_libraries(entry) : NULL;
    if (rest != NULL && (*rest != '\0' || (rest > entry && rest[-1] == ':'))) {
        memmove(entry, rest, strlen(rest) + 1);
    } else {
        remove_variable(variables, "LD_PRELOAD");
    }
}

/* Takes out of the environment what led here, and keeps it for a program that this one becomes. */
static void clean_environment(char **variables)
{
    const char *preload = getenv("LD_PRELOAD");
    const char *options = getenv(BOARD_OPTIONS);
    size_t length = preload != NULL ? strcspn(preload, ":") : 0;
    if (length < sizeof folder + 32 && options != NULL) {
        (void)snprintf(given_preload, sizeof given_preload, "LD_PRELOAD=%.*s", (int)length,
                       preload);
        (void)snprintf(given_folder, sizeof given_folder, BOARD_FOLDER "=%s", folder);
        (void)snprintf(given_options, sizeof given_options, BOARD_OPTIONS "=%s", options);
        watched_process = getpid();
    }
    remove_libraries(variables);
    remove_variable(variables, BOARD_FOLDER);
    remove_variable(variables, BOARD_OPTIONS);
}

static void read_options(void)
{
    const char *text = getenv(BOARD_OPTIONS);
    char *end = NULL;
    if (text != NULL) {
        stall_ns = strtoull(text, &end, 10);
        wall_clock = strtoul(end, &end, 10) != 0;
        with_children = strtoul(end, &end, 10) != 0;
        with_tables = strtoul(end, &end, 10) != 0;
    }
}

static void *new_page(int file, int flags)
{
    void *page = mmap(NULL, (size_t)sysconf(_SC_PAGESIZE), PROT_READ | PROT_WRITE, flags, file, 0);
    return page != MAP_FAILED ? page : NULL;
}

static preload_board *open_board(void)
{
    char path[sizeof folder + 16];
    preload_board *found = NULL;
    int file;
    (void)snprintf(path, sizeof path, "%s/" BOARD_FILE, folder);
    file = open(path, O_RDWR | O_CLOEXEC);
    if (file >= 0) {
        found = (preload_board *)new_page(file, MAP_SHARED);
        (void)close(file);
    }
    return found;
}

/* A page that a forked child finds empty. */
static uint32_t *make_awake(void)
{
    void *page = new_page(-1, MAP_PRIVATE | MAP_ANONYMOUS);
    bool wiped = page != NULL && madvise(page, (size_t)sysconf(_SC_PAGESIZE), MADV_WIPEONFORK) == 0;
    return wiped ? (uint32_t *)page : NULL;
}

__attribute__((__constructor__)) static void start(void)
{
    const char *given = getenv(BOARD_FOLDER);
    uint32_t *page;
    int error = errno;
    find_functions();
    (void)known_link("/proc/self/exe", program_path, sizeof program_path - 1);
    unwind_find_libraries();
    (void)dlerror();                        /* of a function that is not there */
    if (given == NULL || strlen(given) >= sizeof folder) {
        return;
    }
    memcpy(folder, given, strlen(given) + 1);
    read_options();
    if (!with_children) {
        clean_environment(environ);
    }
    board = open_board();
    page = board != NULL ? make_awake() : NULL;
    if (page != NULL && pthread_key_create(&at_thread_end, end_profile) == 0) {
        note(&board->loaded);
        begin_standins();
        __atomic_store_n(page, 1, __ATOMIC_SEQ_CST);
        awake = page;                       /* only now: whoever sees it may use the board */
    }
    errno = error;
}

__attribute__((__destructor__)) static void finish(void)
{
    if (own != NULL) {
        end_profile(own);
    }
}
