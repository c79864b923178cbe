/* attach_stop.c - stops a thread, copies what unwinding needs, and lets it go on; see attach.h.
 *
 * Between two looks a thread is not traced, so signals, exec, fork and ends are between the program
 * and the kernel alone, and a debugger may come. The exception: of a thread that seems to stay in a
 * callback the next few system calls are looked at (PTRACE_SYSCALL), which tells whether it went
 * back to the loop's wait. When this command dies the kernel lets go of all threads. */

#define _GNU_SOURCE 1
#include "attach.h"

#ifdef __linux__

#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifndef PTRACE_EVENT_STOP
#define PTRACE_EVENT_STOP 128
#endif

#define PATIENCE_NS 60000000u  /* for a stop: a thread in the kernel may not be able to */
#define CALLS_MOST 4u          /* that are looked at after a look */
#define LONG_STOP_NS 2000000u
#define SOON_NS 2000000u       /* by so much a wait may last longer because of a stop */
#define SYSCALL_BYTES 2u       /* of the instruction, on x86-64 */

static uint64_t cuts;

uint64_t attach_cuts(void)
{
    return cuts;
}

size_t attach_read(pid_t pid, uint64_t from, void *to, size_t size)
{
    for (; size >= 256; size /= 2) {
        struct iovec here = { to, size };
        struct iovec there = { (void *)(uintptr_t)from, size };
        ssize_t count = process_vm_readv(pid, &here, 1, &there, 1, 0);
        if (count > 0) {
            return (size_t)count;
        }
    }
    return 0;
}

static long trace(int what, pid_t tid, long data)
{
    return ptrace((enum __ptrace_request)what, tid, NULL, (void *)data);
}

#if defined(__x86_64__)
typedef struct user_regs_struct registers;

static void read_registers(const registers *r, attach_image *m)
{
    const uint64_t dwarf[17] = { r->rax, r->rdx, r->rcx, r->rbx, r->rsi, r->rdi, r->rbp, r->rsp,
                                 r->r8, r->r9, r->r10, r->r11, r->r12, r->r13, r->r14, r->r15,
                                 r->rip };
    memcpy(m->registers, dwarf, sizeof dwarf);
    m->code = r->rip;
    m->stack = r->rsp;
    m->frame = r->rbp;
    m->left = (long)r->orig_rax;
    m->call = (long)r->orig_rax >= 0 && (long)r->rax < 0 && (long)r->rax >= -520
              ? (long)r->orig_rax : ATTACH_RUNS;
}

static void read_arguments(const registers *r, uint64_t *to)
{
    const uint64_t args[6] = { r->rdi, r->rsi, r->rdx, r->r10, r->r8, r->r9 };
    memcpy(to, args, sizeof args);
}

static long entered_call(const registers *r)
{
    return (long)r->rax == -ENOSYS ? (long)r->orig_rax : -1;
}

/* Ended by a stop alone, without having done anything: it may be executed again. */
static bool may_repeat(long call, const unsigned long long *a, bool soon)
{
    static const long calls[] = {
        SYS_epoll_wait, SYS_epoll_pwait, SYS_read, SYS_readv, SYS_recvfrom, SYS_recvmsg, SYS_accept,
        SYS_accept4, SYS_wait4, SYS_waitid, SYS_flock, SYS_msgrcv, SYS_semop, SYS_semtimedop,
        SYS_rt_sigtimedwait, SYS_io_getevents,
#ifdef SYS_epoll_pwait2
        SYS_epoll_pwait2,
#endif
#ifdef SYS_io_uring_enter
        SYS_io_uring_enter,
#endif
    };
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        if (calls[i] == call) {
            return soon || !attach_has_time(call, a);
        }
    }
    return call == SYS_futex && ((a[1] & 0x7F) != 0 || a[3] == 0);
}

/* A stop cuts some system calls short, although no signal came. Executed again, the program sees no
 * EINTR; but one with a time would wait for the whole of it again, which makes the program's timers
 * late, unless it has just begun: so an epoll_wait returns as if its time were up, and others keep
 * their EINTR. */
static bool hide_cut(registers *r, bool soon)
{
    const unsigned long long a[6] = { r->rdi, r->rsi, r->rdx, r->r10, r->r8, r->r9 };
    long call = (long)r->orig_rax;
    if ((long)r->rax != -EINTR || call < 0) {
        return false;
    }
    if (may_repeat(call, a, soon)) {
        r->rax = r->orig_rax;
        r->rip -= SYSCALL_BYTES;
        r->orig_rax = (unsigned long long)-1;   /* the kernel has nothing to restart */
        return true;
    }
    cuts++;
    if (!attach_is_epoll(call)) {
        return false;
    }
    r->rax = 0;
    return true;
}
#define ATTACH_CAN_STOP 1
#define ATTACH_WATCHES 1
#elif defined(__aarch64__)
typedef struct user_regs_struct registers;

static void read_registers(const registers *r, attach_image *m)
{
    m->code = r->pc;
    m->stack = r->sp;
    m->frame = r->regs[29];
    m->call = ATTACH_RUNS;
    m->left = -1;
}

static void read_arguments(const registers *r, uint64_t *to)
{
    for (size_t i = 0; i < 6; i++) {
        to[i] = r->regs[i];
    }
}

static long entered_call(const registers *r)
{
    return (long)r->regs[8];
}

static bool hide_cut(registers *r, bool soon)
{
    (void)r;
    (void)soon;
    return false;
}
#define ATTACH_CAN_STOP 1
#define ATTACH_WATCHES 0        /* the begin of a call does not differ from its end */
#else
#define ATTACH_CAN_STOP 0
#endif

#if ATTACH_CAN_STOP
static bool get_registers(pid_t tid, registers *r)
{
    struct iovec io = { r, sizeof *r };
    return ptrace(PTRACE_GETREGSET, tid, (void *)NT_PRSTATUS, &io) == 0;
}

static void set_registers(pid_t tid, registers *r)
{
    struct iovec io = { r, sizeof *r };
    (void)ptrace(PTRACE_SETREGSET, tid, (void *)NT_PRSTATUS, &io);
}

/* Its next stop or end; false: not within the time, it stays held. */
static bool await_stop(attach_thread *t, int *status, uint64_t patience_ns)
{
    uint64_t end = attach_now() + patience_ns;
    sigset_t child;
    (void)sigemptyset(&child);
    (void)sigaddset(&child, SIGCHLD);
    for (;;) {
        const struct timespec moment = { 0, 1000000 };
        pid_t got = waitpid(t->tid, status, __WALL | WNOHANG);
        if (got == t->tid) {
            return true;
        }
        if (got < 0 && errno == ECHILD) {
            t->held = t->watched = false;
            t->gone = true;
            return false;
        }
        if (attach_now() >= end) {
            return false;
        }
        (void)sigtimedwait(&child, NULL, &moment);
    }
}

/* The signal that a stop holds back: it goes on to the thread. 0: none. */
static int signal_of(int status)
{
    int number = WSTOPSIG(status) & 0x7F;
    return status >> 16 != 0 || (WSTOPSIG(status) & 0x80) != 0 ? 0 : number;
}

static bool is_end(attach_thread *t, int status)
{
    if (WIFSTOPPED(status)) {
        return false;
    }
    t->gone = true;
    t->held = t->watched = false;
    return true;
}

/* Is a signal about to be taken? Then a call that was cut short was cut by that. */
static bool has_signal(pid_t tid)
{
    char text[40];
    uint64_t blocked = 0;
    uint64_t waiting = 0;
    static const char *const keys[] = { "SigPnd:", "ShdPnd:" };
    if (attach_status(tid, "SigBlk:", text, sizeof text)) {
        blocked = strtoull(text, NULL, 16);
    }
    for (size_t i = 0; i < 2; i++) {
        if (attach_status(tid, keys[i], text, sizeof text)) {
            waiting |= strtoull(text, NULL, 16);
        }
    }
    return (waiting & ~blocked) != 0;
}

/* At a stop that we caused, or at the end of a call that we had cut short. */
static void mend_call(const attach_thread *t, int status)
{
    registers r;
    bool ours = status >> 16 == PTRACE_EVENT_STOP || WSTOPSIG(status) == (SIGTRAP | 0x80);
    if (ours && get_registers(t->tid, &r) && !has_signal(t->tid) && hide_cut(&r, t->soon)) {
        set_registers(t->tid, &r);
    }
}

/* From the stop that was asked for, if one was: let go at another one, the thread would still be
 * interrupted, in its next call. */
static void let_go(attach_thread *t, int status)
{
    int number = signal_of(status);
    if (t->asked && status >> 16 != PTRACE_EVENT_STOP) {
        t->watched = false;
        mend_call(t, status);
        (void)trace(PTRACE_CONT, t->tid, number);
        return;
    }
    mend_call(t, status);
    (void)trace(PTRACE_DETACH, t->tid, number);
    t->held = t->watched = t->asked = false;
}

static void note_wait(attach_thread *t, pid_t pid, long call, const registers *r)
{
    uint64_t args[6];
    bool look;
    if (attach_is_wait(call)) {
        read_arguments(r, args);
        look = attach_is_look(pid, call, args);
        if (!look || t->looks == t->waits) {    /* one that takes time is the loop's rather */
            t->wait_call = call;
            memcpy(t->wait_args, args, sizeof args);
        }
        t->waits++;
        t->looks += look;
    }
}

/* A stop of a watched thread at a system call: was that a wait, or one too many? */
static void note_call(attach_thread *t, int status, attach_costs *costs)
{
    registers r;
    long call;
    if (!t->watched || WSTOPSIG(status) != (SIGTRAP | 0x80) || !get_registers(t->tid, &r) ||
        (call = entered_call(&r)) < 0) {
        return;
    }
    costs->watched_calls++;
    note_wait(t, t->tid, call, &r);
    t->met = attach_is_wait(call) ? call + 1 : t->met;
    t->waited = t->waited || attach_is_wait(call) || ++t->calls >= CALLS_MOST;
}

/* Let go there, a thread would be interrupted in the call. */
static bool enters_call(const attach_thread *t, int status)
{
    registers r;
    return WSTOPSIG(status) == (SIGTRAP | 0x80) && get_registers(t->tid, &r) &&
           entered_call(&r) >= 0;
}

static void take_call(attach_thread *t, int status, attach_costs *costs)
{
    bool group = status >> 16 == PTRACE_EVENT_STOP && WSTOPSIG(status) != SIGTRAP;
    note_call(t, status, costs);
    t->waited = t->waited || group;         /* that stop is left to the kernel */
    if (t->waited && !enters_call(t, status)) {
        let_go(t, status);
    } else {
        t->asked = t->asked && status >> 16 != PTRACE_EVENT_STOP;
        mend_call(t, status);
        (void)trace(PTRACE_SYSCALL, t->tid, signal_of(status));
    }
}

void attach_settle(attach_thread *t, attach_costs *costs)
{
    int status;
    while (t->held && await_stop(t, &status, 0)) {
        if (is_end(t, status)) {
            return;
        }
        if (t->watched) {
            take_call(t, status, costs);
        } else {
            let_go(t, status);
        }
    }
}

/* To stop. */
static bool ask(attach_thread *t)
{
    t->asked = trace(PTRACE_INTERRUPT, t->tid, 0) == 0;
    t->soon = attach_now() - t->seen_ns < SOON_NS;
    return t->asked;
}

static bool hold(attach_thread *t)
{
    if (!t->held && trace(PTRACE_SEIZE, t->tid, PTRACE_O_TRACESYSGOOD) != 0) {
        t->gone = t->gone || errno == ESRCH;
        return false;
    }
    t->held = true;
    return ask(t);
}

static void copy_all(pid_t pid, attach_thread *t, attach_image *image)
{
    registers r;
    image->copied = 0;
    if (get_registers(t->tid, &r)) {
        read_registers(&r, image);
        note_wait(t, pid, image->left, &r);
        image->copied = attach_read(pid, image->stack, image->copy, sizeof image->copy);
        attach_python_read(t->tid);
    }
}

/* Without the time in which the thread ran on, or waited for a processor, before it stopped. */
static void count_stop(attach_thread *t, attach_costs *costs, uint64_t ns)
{
    attach_facts now;
    uint64_t moved = 0;
    if (ns > LONG_STOP_NS / 2 && attach_look(t, &now)) {
        moved = now.cpu_ns - t->seen.cpu_ns + (now.queue_ns - t->seen.queue_ns);
    }
    ns = ns > moved ? ns - moved : 0;
    costs->stops++;
    costs->stopped_ns += ns;
    costs->long_stops += ns > LONG_STOP_NS;
    costs->longest_ns = ns > costs->longest_ns ? ns : costs->longest_ns;
}

/* The stop that was asked for; system calls and signals may come first. */
static bool reach_stop(attach_thread *t, int *status, attach_costs *costs)
{
    uint64_t end = attach_now() + PATIENCE_NS;
    do {
        uint64_t now = attach_now();
        if (now >= end || !await_stop(t, status, end - now) || is_end(t, *status)) {
            return false;
        }
        if (*status >> 16 == PTRACE_EVENT_STOP) {
            return true;
        }
        note_call(t, *status, costs);
        mend_call(t, *status);
    } while (trace(PTRACE_CONT, t->tid, signal_of(*status)) == 0);
    return false;
}

bool attach_copy(attach_thread *t, pid_t pid, attach_image *image, attach_costs *costs, bool watch)
{
    uint64_t begin;
    int status;
    bool ours;
    attach_settle(t, costs);
    if (t->gone || (t->held && !t->watched)) {
        return false;                       /* it can't stop yet, in the kernel */
    }
    begin = attach_now();
    if (!hold(t) || !reach_stop(t, &status, costs)) {
        return false;
    }
    ours = WSTOPSIG(status) == SIGTRAP;     /* else the whole program is stopped */
    if (ours) {
        copy_all(pid, t, image);
    }
    count_stop(t, costs, attach_now() - begin);
    if (watch && ours && ATTACH_WATCHES) {
        t->watched = true;
        t->asked = false;
        t->calls = 0;
        mend_call(t, status);
        (void)trace(PTRACE_SYSCALL, t->tid, 0);
    } else {
        let_go(t, status);
    }
    return ours && image->copied > 0;
}

/* Does it wait for a processor, or have one? Then it will stop, on a busy machine later. */
static bool is_runnable(attach_thread *t)
{
    attach_facts f;
    return attach_look(t, &f) && f.call == ATTACH_RUNS;
}

/* At the end. One in a wait that has a time, or about to enter it, may come out of it by itself. One that
 * never stopped would be interrupted in its next call, so only one that stays in the kernel is left
 * like that. */
void attach_release(attach_thread *t)
{
    uint64_t end = attach_now() + 1000000000u;
    uint64_t late = end + UINT64_C(60000000000);
    attach_facts f;
    int status;
    while (t->held && !t->gone && !t->asked && attach_look(t, &f) && f.timed &&
           await_stop(t, &status, 300000000u) && !is_end(t, status)) {
        if (!enters_call(t, status)) {
            let_go(t, status);
        } else if (trace(PTRACE_SYSCALL, t->tid, 0) != 0) {
            break;
        }
    }
    while (t->held && !t->gone &&
           (attach_now() < end || (attach_now() < late && is_runnable(t)))) {
        if (!t->asked) {
            t->seen_ns = attach_now();
            t->seen_ns = attach_look(t, &f) && !f.timed ? t->seen_ns : 0;
            (void)ask(t);
        }
        if (await_stop(t, &status, 100000000u) && !is_end(t, status)) {
            let_go(t, status);
        }
    }
}
#else
void attach_settle(attach_thread *t, attach_costs *costs)
{
    (void)t;
    (void)costs;
}

bool attach_copy(attach_thread *t, pid_t pid, attach_image *image, attach_costs *costs, bool watch)
{
    (void)t;
    (void)pid;
    (void)image;
    (void)costs;
    (void)watch;
    return false;
}

void attach_release(attach_thread *t)
{
    (void)t;
}
#endif

/* Tries it: NULL, or what the system said. By a child: when that ends, the kernel lets go of the thread
 * without a stop, which could cut a wait short. */
static const char *try_stop(pid_t pid)
{
#if ATTACH_CAN_STOP
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        _exit(trace(PTRACE_SEIZE, pid, 0) == 0 ? 0 : errno);
    }
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (child < 0 || (WIFEXITED(status) && WEXITSTATUS(status) != 0)) {
        return strerror(child < 0 ? errno : WEXITSTATUS(status));
    }
    return NULL;
#else
    (void)pid;
    return "not known on this processor";
#endif
}

static const char *yama_advice(void)
{
    char scope = '0';
    FILE *file = fopen("/proc/sys/kernel/yama/ptrace_scope", "r");
    if (file != NULL) {
        scope = (char)fgetc(file);
        (void)fclose(file);
    }
    return scope == '3' ? "kernel.yama.ptrace_scope is 3: nobody may, until the next boot"
           : scope == '2' ? "kernel.yama.ptrace_scope is 2: run this as root (sudo)"
           : scope == '1' ? "kernel.yama.ptrace_scope is 1: run this as root (sudo), or set it to 0"
           : "run this as its user or as root (sudo); in a container give the capability SYS_PTRACE";
}

const char *attach_refusal(pid_t pid)
{
    static char text[400];
    char value[64];
    const char *why;
    if (attach_status(pid, "TracerPid:", value, sizeof value) && strcmp(value, "0") != 0) {
        (void)snprintf(text, sizeof text, "process %s traces it (gdb, strace, or another chroprof "
                       "attach), and only one can: end that one first", value);
        return text;
    }
    if (!attach_claim(pid)) {
        return "another chroprof attach watches it, and only one can: end that one first";
    }
    why = try_stop(pid);
    if (why == NULL) {
        return NULL;
    }
    (void)snprintf(text, sizeof text, "%s; %s", why, yama_advice());
    return text;
}

#endif
