/* stacks.h - stacks of this library's own: for what a wait does now and then, and for timer signals */

#ifndef PRELOAD_STACKS_H
#define PRELOAD_STACKS_H

#include "run.h"
#include "next.h"
#include "seats.h"

/* >>stacks. What waits may be a coroutine with a stack of 4 KiB. A profile needs five times that to
 * begin, and a timer signal needs as much. So each seat has two stacks, which stay with it: one to
 * go aside to, and one that timer signals run on. */

#define ASIDE_BYTES ((size_t)128 << 10)         /* handlers of the program may run there as well */
#define SIGNAL_BYTES ((size_t)128 << 10)
#define BIG_SIGNAL_BYTES ((size_t)32 << 10)     /* from which on timer signals use the program's */

/* The page below each can't be written. Not where system calls are filtered: these might be. */
static void make_stacks(seat *s)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    void *low = MAP_FAILED;
    if (s->stacks == NULL && !filtered) {
        low = mmap(NULL, ASIDE_BYTES + SIGNAL_BYTES, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    }
    if (low != MAP_FAILED) {
        s->stacks = (char *)low;
        (void)mprotect(s->stacks, page, PROT_NONE);
        (void)mprotect(s->stacks + ASIDE_BYTES, page, PROT_NONE);
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

/* Runs this on the seat's own stack, once at a time: the seat is busy, or has no thread's profile
 * yet. The end of the thread (pthread_cancel) waits: what follows frames outwards must not begin
 * there. */
static void aside(seat *s, void (*function)(void *), void *argument)
{
#if HAS_ASIDE
    if (s->stacks != NULL) {
        int before;
        (void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
        chroprof_run_on_stack(function, argument, s->stacks + ASIDE_BYTES);
        (void)pthread_setcancelstate(before, &before);
        return;
    }
#endif
    function(argument);
}

/* >>the stack of timer signals. A thread that has no alternate stack for signals gets ours, and
 * does not see it. A handler of its own that wants one (SA_ONSTACK) runs there as well. */

static __thread bool lent __attribute__((__tls_model__("initial-exec")));    /* ours is in place */

static void lend_stack(seat *s)
{
    stack_t stack, ours;
    if (s->stacks == NULL || next.sigaltstack == NULL || next.sigaltstack(NULL, &stack) != 0) {
        lent = false;
        return;
    }
    memset(&ours, 0, sizeof ours);
    ours.ss_sp = s->stacks + ASIDE_BYTES + (size_t)sysconf(_SC_PAGESIZE);
    ours.ss_size = SIGNAL_BYTES - (size_t)sysconf(_SC_PAGESIZE);
    if ((stack.ss_flags & SS_DISABLE) != 0) {
        lent = next.sigaltstack(&ours, NULL) == 0;
    } else {
        lent = stack.ss_sp == ours.ss_sp;           /* in a forked child it is in place */
    }
}

/* Where a thread ends in a handler that runs there, it can't be had back: the seat gets others. */
static void take_back_stack(seat *s)
{
    stack_t none;
    memset(&none, 0, sizeof none);
    none.ss_flags = SS_DISABLE;
    if (lent && next.sigaltstack(&none, NULL) != 0) {
        s->stacks = NULL;
    }
    lent = false;
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
    lent = result != 0;
    return result;
}

EXPORT int sigaltstack(const stack_t *set, stack_t *old)
{
    int result = 0;
    if (next.sigaltstack == NULL) {
        find_function(&next.sigaltstack, "sigaltstack");
    }
    if (!lent || asks) {
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
