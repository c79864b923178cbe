/* seccomp.c - programs that forbid themselves system calls */

#include "run.h"
#include "next.h"
#include "seats.h"
#include "signals.h"

/* >>filters of system calls (seccomp): a program that forbids itself some of them may end with the
 * first one that this library makes. So it looks at the filter before that holds, and does without. */

static const filter_call sampling_calls[] = {
    { SYS_clock_gettime, { CLOCK_THREAD_CPUTIME_ID } },
    { SYS_timer_settime, { 0 } },
    { SYS_getpid, { 0 } },
    { SYS_rt_sigreturn, { 0 } },
};

/* What it asks when it has interrupted a wait, by the clock on the wall. */
static const filter_call waiting_calls[] = {
    { SYS_rt_sigprocmask, { SIG_BLOCK } },
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
    seat *s;
    note(&board->silenced);
    if (own != NULL && !own->busy && is_awake()) {
        own->busy = true;
        end_sampling(own);
        own->busy = false;
    }
    for (size_t i = 0; everybody && (s = seat_at(i)) != NULL; i++) {
        if (s->signal != 0 && s->profile.sampling && is_awake()) {
            chroprof_sampler_halt(&s->profile);
            awake = NULL;
        }
    }
}

/* filter: NULL: only reading and writing is left to the thread. */
static void before_filter(const filter_program *filter, bool everybody)
{
    unwind_seal();
    python_seal();
    int error = errno;
    if (awake == NULL) {
        return;
    }
    filtered = true;
    if (filter == NULL || !ALLOWED(filter, beginning_calls)) {
        sealed = true;
        note(&board->sealed);
    }
    if (filter == NULL || !ALLOWED(filter, sampling_calls) ||
        (wall_clock && !ALLOWED(filter, waiting_calls))) {
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
