/* next.h - what the program meant to call */

#ifndef PRELOAD_NEXT_H
#define PRELOAD_NEXT_H

#include "run.h"

/* >>functions that the program meant to call. Until the constructor has found them, and where a
 * function is not there, the system call does. */

typedef int set_action(int, const struct sigaction *, struct sigaction *);
typedef void (*signal_handler)(int);
typedef void jump_function(void *, int);

static struct {
    int (*epoll_create)(int);
    int (*epoll_create1)(int);
    int (*epoll_wait)(int, struct epoll_event *, int, int);
    int (*epoll_pwait)(int, struct epoll_event *, int, int, const sigset_t *);
    int (*epoll_pwait2)(int, struct epoll_event *, int, const struct timespec *, const sigset_t *);
    int (*poll)(struct pollfd *, nfds_t, int);
    int (*ppoll)(struct pollfd *, nfds_t, const struct timespec *, const sigset_t *);
    int (*select)(int, fd_set *, fd_set *, fd_set *, struct timeval *);
    int (*pselect)(int, fd_set *, fd_set *, fd_set *, const struct timespec *, const sigset_t *);
    int (*accept)(int, struct sockaddr *, socklen_t *);
    int (*accept4)(int, struct sockaddr *, socklen_t *, int);
    set_action *sigaction;
    int (*sigaltstack)(const stack_t *, stack_t *);
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
    int (*pthread_cond_wait)(pthread_cond_t *, pthread_mutex_t *);
    int (*pthread_cond_timedwait)(pthread_cond_t *, pthread_mutex_t *, const struct timespec *);
    int (*pthread_cond_clockwait)(pthread_cond_t *, pthread_mutex_t *, clockid_t,
                                  const struct timespec *);
    int (*sem_wait)(sem_t *);
    int (*sem_timedwait)(sem_t *, const struct timespec *);
    int (*sem_clockwait)(sem_t *, clockid_t, const struct timespec *);
    int (*semop)(int, struct sembuf *, size_t);
    int (*semtimedop)(int, struct sembuf *, size_t, const struct timespec *);
    int (*msgsnd)(int, const void *, size_t, int);
    ssize_t (*msgrcv)(int, void *, size_t, long, int);
    int (*getaddrinfo)(const char *, const char *, const struct addrinfo *, struct addrinfo **);
    int (*getnameinfo)(const struct sockaddr *, socklen_t, char *, socklen_t, char *, socklen_t,
                       int);
    struct hostent *(*gethostbyname)(const char *);
    struct hostent *(*gethostbyaddr)(const void *, socklen_t, int);
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

/* Before 2.36 dlsym finds the oldest version of a function there. Some have one for another kind of
 * object than all that is called beside it: conditions, and semaphores. */
static void *next_version(void *found, const char *name)
{
#if defined(__GLIBC__)
    const bool of_condition = strcmp(name, "pthread_cond_wait") == 0 ||
                              strcmp(name, "pthread_cond_timedwait") == 0;
    Dl_info its, other;
    void *version = !of_condition && strcmp(name, "sem_wait") != 0 ? NULL
                    : dlvsym(RTLD_NEXT, name, of_condition ? "GLIBC_2.3.2" : "GLIBC_2.1");
    if (version != NULL && version != found && dladdr(version, &its) != 0 &&
        (dladdr(found, &other) == 0 || its.dli_fbase == other.dli_fbase)) {
        return version;
    }
#else
    (void)name;
#endif
    return found;
}

static void find_function(void *field, const char *name)
{
    void *found = next_version(dlsym(RTLD_NEXT, name), name);
    memcpy(field, &found, sizeof found);
}

static void find_functions(void)
{
    find_function(&next.epoll_create, "epoll_create");
    find_function(&next.epoll_create1, "epoll_create1");
    find_function(&next.epoll_wait, "epoll_wait");
    find_function(&next.epoll_pwait, "epoll_pwait");
    find_function(&next.epoll_pwait2, "epoll_pwait2");
    find_function(&next.poll, "poll");
    find_function(&next.ppoll, "ppoll");
    find_function(&next.select, "select");
    find_function(&next.pselect, "pselect");
    find_function(&next.accept, "accept");
    find_function(&next.accept4, "accept4");
    find_function(&next.sigaction, "sigaction");
    find_function(&next.sigaltstack, "sigaltstack");
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
    find_function(&next.pthread_cond_wait, "pthread_cond_wait");
    find_function(&next.pthread_cond_timedwait, "pthread_cond_timedwait");
    find_function(&next.pthread_cond_clockwait, "pthread_cond_clockwait");
    find_function(&next.sem_wait, "sem_wait");
    find_function(&next.sem_timedwait, "sem_timedwait");
    find_function(&next.sem_clockwait, "sem_clockwait");
    find_function(&next.semop, "semop");
    find_function(&next.semtimedop, "semtimedop");
    find_function(&next.msgsnd, "msgsnd");
    find_function(&next.msgrcv, "msgrcv");
    find_function(&next.getaddrinfo, "getaddrinfo");
    find_function(&next.getnameinfo, "getnameinfo");
    find_function(&next.gethostbyname, "gethostbyname");
    find_function(&next.gethostbyaddr, "gethostbyaddr");
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

#endif
