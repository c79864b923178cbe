/* stacks.h - stacks of this library's own: for what a wait does now and then, and for timer signals */

#ifndef PRELOAD_STACKS_H
#define PRELOAD_STACKS_H

#include "run.h"
#include "next.h"
#include "seats.h"

/* >>stacks. What waits may be a coroutine with a stack of 4 KiB. A profile needs five times that to
 * begin, and a timer signal needs as much. So each seat has two stacks, which stay with it: one to
 * go aside to, and one that timer signals run on. */

#define ASIDE_BYTES ((size_t)128 << 10)
#define SIGNAL_BYTES ((size_t)(sizeof(void *) < 8 ? 1 : 8) << 20)   /* handlers run there as well */
#define LEAST_SIGNAL_BYTES ((size_t)128 << 10)
#define BIG_SIGNAL_BYTES ((size_t)32 << 10)     /* from which on timer signals use the program's */

/* Memory is taken as it is used. A program whose address space is limited may need it all. */
static size_t bytes_for_signals(void)
{
    struct rlimit limit;
    return getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur == RLIM_INFINITY
           ? SIGNAL_BYTES : LEAST_SIGNAL_BYTES;
}

/* The page below each can't be written. Not where system calls are filtered: these might be. */
static void make_stacks(seat *s)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    void *low = MAP_FAILED;
    if (s->stacks == NULL && !filtered) {
        s->signal_bytes = bytes_for_signals();
        low = mmap(NULL, ASIDE_BYTES + s->signal_bytes, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    }
    if (low != MAP_FAILED) {
        s->stacks = (char *)low;
        (void)madvise(low, ASIDE_BYTES + s->signal_bytes, MADV_NOHUGEPAGE);
        (void)mprotect(s->stacks, page, PROT_NONE);
        (void)mprotect(s->stacks + ASIDE_BYTES, page, PROT_NONE);
    }
}

/* >>the thread's own stack. As long as there is room, everything is done there: a collector of
 * garbage that stops the thread by a signal looks for the stack where the signal came. */

#define MAIN_STACK_BYTES ((rlim_t)8 << 20)      /* the system leaves more free, if the limit does */

/* For the main thread the C library would read a file. It ends where the program's name is. */
static void find_main_stack(seat *s)
{
    struct rlimit limit;
    const uintptr_t high = (uintptr_t)getauxval(AT_EXECFN);
    if (!filtered && getrlimit(RLIMIT_STACK, &limit) == 0) {
        const rlim_t most = MAIN_STACK_BYTES;
        const rlim_t bytes = limit.rlim_cur < most ? limit.rlim_cur : most;
        s->own_low = high - (bytes < high ? (uintptr_t)bytes : high);
        s->own_high = high;
    }
}

static void find_own_stack(seat *s)
{
    pthread_attr_t attributes;
    void *low = NULL;
    size_t size = 0;
    s->own_low = s->own_high = 0;
    if (is_main) {
        find_main_stack(s);
    } else if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
        (void)pthread_attr_getstack(&attributes, &low, &size);
        (void)pthread_attr_destroy(&attributes);
        s->own_low = (uintptr_t)low;
        s->own_high = s->own_low + size;
    }
}

static inline bool is_on_own_stack(const seat *s, uintptr_t stack)
{
    return stack - s->own_low < s->own_high - s->own_low;
}

/* Whether a thread that is here on its own stack has little left of it. */
static inline bool is_near_end(const seat *s, uintptr_t stack)
{
    return is_on_own_stack(s, stack) && stack - s->own_low < STACK_BYTES;
}

/* >>signals, all of which can wait but those of faults */

static void all_but_faults(sigset_t *set)
{
    static const int faults[] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGSYS };
    (void)sigfillset(set);
    for (size_t k = 0; k < sizeof faults / sizeof *faults; k++) {
        (void)sigdelset(set, faults[k]);
    }
}

static void block_signals(seat *s)
{
    sigset_t most;
    all_but_faults(&most);
    s->blocks = !filtered && next.pthread_sigmask != NULL &&
                next.pthread_sigmask(SIG_BLOCK, &most, &s->mask) == 0;
}

static void open_signals(seat *s)
{
    if (s->blocks) {
        s->blocks = false;
        (void)next.pthread_sigmask(SIG_SETMASK, &s->mask, NULL);
    }
}

/* >>aside. The frame is found by tables and by frame pointers alike, so debuggers see through it. */

#if defined(__GCC_HAVE_DWARF2_CFI_ASM) && \
    (defined(__x86_64__) || defined(__i386__) || defined(__aarch64__))
#define HAS_ASIDE 1
__attribute__((__visibility__("hidden")))
void chroprof_run_on_stack(void (*function)(void *), void *argument, void *top);

__asm__(".text\n"
        ".balign 16\n"
        ".type chroprof_run_on_stack, %function\n"
        "chroprof_run_on_stack:\n"
        ".cfi_startproc\n"
#if defined(__x86_64__)
        "push %rbp\n"
        ".cfi_def_cfa_offset 16\n"
        ".cfi_offset %rbp, -16\n"
        "mov %rsp, %rbp\n"
        ".cfi_def_cfa_register %rbp\n"
        "mov %rdx, %rsp\n"
        "mov %rdi, %rax\n"
        "mov %rsi, %rdi\n"
        "call *%rax\n"
        "leave\n"
        ".cfi_def_cfa %rsp, 8\n"
        "ret\n"
#elif defined(__i386__)
        "push %ebp\n"
        ".cfi_def_cfa_offset 8\n"
        ".cfi_offset %ebp, -8\n"
        "mov %esp, %ebp\n"
        ".cfi_def_cfa_register %ebp\n"
        "mov 16(%ebp), %esp\n"
        "sub $12, %esp\n"
        "push 12(%ebp)\n"
        "call *8(%ebp)\n"
        "leave\n"
        ".cfi_def_cfa %esp, 4\n"
        "ret\n"
#else
        "stp x29, x30, [sp, #-16]!\n"
        ".cfi_def_cfa_offset 16\n"
        ".cfi_offset x29, -16\n"
        ".cfi_offset x30, -8\n"
        "mov x29, sp\n"
        ".cfi_def_cfa_register x29\n"
        "mov x9, x0\n"
        "mov x0, x1\n"
        "mov sp, x2\n"
        "blr x9\n"
        "mov sp, x29\n"
        ".cfi_def_cfa_register sp\n"
        "ldp x29, x30, [sp], #16\n"
        ".cfi_restore x29\n"
        ".cfi_restore x30\n"
        ".cfi_def_cfa_offset 0\n"
        "ret\n"
#endif
        ".cfi_endproc\n"
        ".size chroprof_run_on_stack, .-chroprof_run_on_stack\n");
#else
#define HAS_ASIDE 0
#endif

static bool needs_room(const seat *s)
{
    const uintptr_t stack = (uintptr_t)__builtin_frame_address(0);
    return HAS_ASIDE && s->stacks != NULL && (!is_on_own_stack(s, stack) || is_near_end(s, stack));
}

/* Runs this where there is room; signals are blocked. The end of the thread (pthread_cancel) waits:
 * what follows frames outwards must not begin on a stack of ours. */
static void step_aside(seat *s, void (*function)(void *), void *argument)
{
#if HAS_ASIDE
    if (needs_room(s)) {
        int before;
        (void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
        chroprof_run_on_stack(function, argument, s->stacks + ASIDE_BYTES);
        (void)pthread_setcancelstate(before, &before);
        return;
    }
#endif
    function(argument);
}

/* Once at a time: the seat is busy. */
static void aside(seat *s, void (*function)(void *), void *argument)
{
    if (needs_room(s)) {
        block_signals(s);
        step_aside(s, function, argument);
        open_signals(s);
    } else {
        function(argument);
    }
}

/* >>the stack of timer signals. A thread that has no alternate stack for signals gets ours, and
 * does not see it. A handler of its own that wants one (SA_ONSTACK) runs there as well. */

static __thread char *lent __attribute__((__tls_model__("initial-exec")));   /* NULL: not ours */

/* A program that goes to the system itself may have put another one in its place. */
static bool is_lent(void)
{
    stack_t now;
    return lent != NULL && next.sigaltstack(NULL, &now) == 0 &&
           (now.ss_flags & SS_DISABLE) == 0 && now.ss_sp == lent;
}

/* Size of the alternate stack that the thread has then; 0: it has none. */
static size_t lend_stack(seat *s)
{
    stack_t stack, ours;
    lent = NULL;
    if (next.sigaltstack == NULL || next.sigaltstack(NULL, &stack) != 0) {
        return 0;
    }
    memset(&ours, 0, sizeof ours);
    if (s->stacks != NULL) {
        ours.ss_sp = s->stacks + ASIDE_BYTES + (size_t)sysconf(_SC_PAGESIZE);
        ours.ss_size = s->signal_bytes - (size_t)sysconf(_SC_PAGESIZE);
    }
    if ((stack.ss_flags & SS_DISABLE) == 0) {
        lent = stack.ss_sp == ours.ss_sp ? (char *)ours.ss_sp : NULL;   /* in a forked child */
        return stack.ss_size;
    }
    if (s->stacks == NULL || next.sigaltstack(&ours, NULL) != 0) {
        return 0;
    }
    lent = (char *)ours.ss_sp;
    return ours.ss_size;
}

/* Where a thread ends in a handler that runs there, it can't be had back: the seat gets others. */
static void take_back_stack(seat *s)
{
    stack_t none;
    memset(&none, 0, sizeof none);
    none.ss_flags = SS_DISABLE;
    if (is_lent() && next.sigaltstack(&none, NULL) != 0) {
        s->stacks = NULL;
    }
    lent = NULL;
}

static void set_on_stack(int number, bool on)
{
    struct sigaction action;
    if (number != 0 && next.sigaction(number, NULL, &action) == 0) {
        action.sa_flags = on ? action.sa_flags | SA_ONSTACK : action.sa_flags & ~SA_ONSTACK;
        (void)next.sigaction(number, &action, NULL);
    }
}

/* On a small stack that the program sets now its crash handler runs, and no timer signal. */
static int replace_lent(const stack_t *set)
{
    const int number = own != NULL && set->ss_size < BIG_SIGNAL_BYTES ? own->signal : 0;
    int result;
    set_on_stack(number, false);
    result = next.sigaltstack(set, NULL);
    if (result != 0) {
        int error = errno;
        set_on_stack(number, true);
        errno = error;
    }
    lent = result == 0 ? NULL : lent;
    return result;
}

EXPORT int sigaltstack(const stack_t *set, stack_t *old)
{
    int result = 0;
    if (next.sigaltstack == NULL) {
        find_function(&next.sigaltstack, "sigaltstack");
    }
    if (asks || !is_lent()) {
        return next.sigaltstack(set, old);
    }
    if (set != NULL && (set->ss_flags & SS_DISABLE) == 0) {
        result = replace_lent(set);
    }
    if (result == 0 && old != NULL) {
        memset(old, 0, sizeof *old);
        old->ss_flags = SS_DISABLE;
    }
    return result;
}

#endif
