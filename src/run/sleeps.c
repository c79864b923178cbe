/* sleeps.c - other calls that a timer signal must not cut short */

#include "run.h"
#include "next.h"
#include "seats.h"
#include "signals.h"
#include "waits.h"
#include "rests.h"

/* >>calls that no handler restarts, also one with SA_RESTART: in a callback a timer signal cuts
 * them short, and they go on with the time that is left. Reads and writes of sockets that have a
 * time limit of their own (SO_RCVTIMEO) are left out: nobody knows what is left of that. */

EXPORT int nanosleep(const struct timespec *time, struct timespec *left)
{
    static const chroprof_site site = { "code after nanosleep", NULL, 0 };
    const struct timespec *given = time;
    struct timespec rest;
    wait_time w;
    seat *s = begin_rest(&w, PAUSES(), OF_FILES);
    int result;
    if (next.nanosleep == NULL) {
        find_function(&next.nanosleep, "nanosleep");
    }
    do {
        result = next.nanosleep(given, &rest);
    } while (goes_on_for(&w, result, time, &given));
    end_wait(s, &w, result, &site);
    if (result != 0 && errno == EINTR && left != NULL) {
        *left = rest;
    }
    return result;
}

/* It returns its error. A clock of CPU time tells by itself what is left. */
EXPORT int clock_nanosleep(clockid_t clock, int flags, const struct timespec *time,
                           struct timespec *left)
{
    static const chroprof_site site = { "code after clock_nanosleep", NULL, 0 };
    const bool relative = (flags & TIMER_ABSTIME) == 0;
    struct timespec rest;
    wait_time w;
    int error = errno;
    seat *s = begin_rest(&w, PAUSES(), OF_FILES);
    int result;
    if (next.clock_nanosleep == NULL) {
        find_function(&next.clock_nanosleep, "clock_nanosleep");
    }
    do {
        result = next.clock_nanosleep(clock, flags, time, relative ? &rest : left);
        time = relative && result == EINTR ? &rest : time;
        errno = result;
    } while (goes_on(&w, result == 0 ? 0 : -1));
    end_wait(s, &w, result == 0 ? 0 : -1, &site);
    if (relative && result == EINTR && left != NULL) {
        *left = rest;
    }
    errno = error;
    return result;
}

/* Whether timer signals cut sleeps of this thread short. */
static bool is_cut(void)
{
    return wall_clock && own != NULL && own->signal != 0;
}

EXPORT int usleep(useconds_t us)
{
    static const chroprof_site site = { "code after usleep", NULL, 0 };
    const struct timespec time = timespec_of((int64_t)us * 1000);
    wait_time w;
    seat *s = begin_rest(&w, PAUSES(), OF_FILES);
    int result;
    if (next.usleep == NULL) {
        find_function(&next.usleep, "usleep");
    }
    result = is_cut() ? nanosleep(&time, NULL) : next.usleep(us);
    end_wait(s, &w, result, &site);
    return result;
}

EXPORT unsigned sleep(unsigned seconds)
{
    static const chroprof_site site = { "code after sleep", NULL, 0 };
    struct timespec time = { (time_t)seconds, 0 };
    int error = errno;
    wait_time w;
    seat *s = begin_rest(&w, PAUSES(), OF_FILES);
    unsigned left = 0;
    if (next.sleep == NULL) {
        find_function(&next.sleep, "sleep");
    }
    if (!is_cut()) {
        left = next.sleep(seconds);
    } else if (nanosleep(&time, &time) != 0) {
        left = (unsigned)time.tv_sec;
    } else {
        errno = error;
    }
    end_wait(s, &w, 0, &site);
    return left;
}

/* No timer signal comes in these: a signal of the program must end them, whenever it arrives. */
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
    w.error = errno;
    wait_from_now(&w);
    do {
        result = next.sigwaitinfo(set, info);
    } while (goes_on(&w, result));
    return result;
}

EXPORT int sigtimedwait(const sigset_t *set, siginfo_t *info, const struct timespec *time)
{
    const struct timespec *left = time;
    sigset_t copy;
    wait_time w;
    bool all;
    int result;
    if (next.sigtimedwait == NULL) {
        find_function(&next.sigtimedwait, "sigtimedwait");
    }
    set = without_ours(set, &copy, &all);
    w.error = errno;
    wait_from_now(&w);
    do {
        result = next.sigtimedwait(set, info, left);
    } while (goes_on_for(&w, result, time, &left));
    return result;
}

/* Not every C library has sem_clockwait and pthread_cond_clockwait: a program may ask for them. */
#if defined(__GLIBC__) && __GLIBC__ * 1000 + __GLIBC_MINOR__ >= 2030
#define HAS_CLOCKWAITS 1
#else
#define HAS_CLOCKWAITS 0
#endif

static const chroprof_site semaphore_site = { "code after sem_wait", NULL, 0 };

EXPORT int sem_timedwait(sem_t *semaphore, const struct timespec *until)
{
    wait_time w;
    seat *s = begin_rest(&w, WAITS_FOR_WORK(), OF_WORK);
    int result;
    if (next.sem_timedwait == NULL) {
        find_function(&next.sem_timedwait, "sem_timedwait");
    }
    do {
        result = next.sem_timedwait(semaphore, until);
    } while (goes_on(&w, result));
    end_wait(s, &w, result, &semaphore_site);
    return result;
}

#if HAS_CLOCKWAITS

EXPORT int sem_clockwait(sem_t *semaphore, clockid_t clock, const struct timespec *until);

EXPORT int sem_clockwait(sem_t *semaphore, clockid_t clock, const struct timespec *until)
{
    wait_time w;
    seat *s = begin_rest(&w, WAITS_FOR_WORK(), OF_WORK);
    int result;
    if (next.sem_clockwait == NULL) {
        find_function(&next.sem_clockwait, "sem_clockwait");
    }
    do {
        result = next.sem_clockwait(semaphore, clock, until);
    } while (goes_on(&w, result));
    end_wait(s, &w, result, &semaphore_site);
    return result;
}

#endif

EXPORT int semop(int set, struct sembuf *steps, size_t count)
{
    wait_time w;
    int result;
    if (next.semop == NULL) {
        find_function(&next.semop, "semop");
    }
    w.error = errno;
    wait_from_now(&w);
    do {
        result = next.semop(set, steps, count);
    } while (goes_on(&w, result));
    return result;
}

EXPORT int semtimedop(int set, struct sembuf *steps, size_t count, const struct timespec *time)
{
    const struct timespec *left = time;
    wait_time w;
    int result;
    if (next.semtimedop == NULL) {
        find_function(&next.semtimedop, "semtimedop");
    }
    w.error = errno;
    wait_from_now(&w);
    do {
        result = next.semtimedop(set, steps, count, left);
    } while (goes_on_for(&w, result, time, &left));
    return result;
}

EXPORT int msgsnd(int queue, const void *message, size_t size, int flags)
{
    wait_time w;
    int result;
    if (next.msgsnd == NULL) {
        find_function(&next.msgsnd, "msgsnd");
    }
    w.error = errno;
    wait_from_now(&w);
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
    w.error = errno;
    wait_from_now(&w);
    do {
        result = next.msgrcv(queue, message, size, kind, flags);
    } while (goes_on(&w, result));
    return result;
}

/* >>a worker's waits for work. Timer signals do not cut these short. */

static const chroprof_site condition_site = { "code after pthread_cond_wait", NULL, 0 };

EXPORT int sem_wait(sem_t *semaphore)
{
    wait_time w;
    seat *s = begin_rest(&w, WAITS_FOR_WORK(), OF_WORK);
    int result;
    if (next.sem_wait == NULL) {
        find_function(&next.sem_wait, "sem_wait");
    }
    result = next.sem_wait(semaphore);
    end_wait(s, &w, result, &semaphore_site);
    return result;
}

EXPORT int pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex)
{
    wait_time w;
    seat *s = begin_rest(&w, WAITS_FOR_WORK(), OF_WORK);
    int result;
    if (next.pthread_cond_wait == NULL) {
        find_function(&next.pthread_cond_wait, "pthread_cond_wait");
    }
    result = next.pthread_cond_wait(condition, mutex);
    end_wait(s, &w, 0, &condition_site);
    return result;
}

EXPORT int pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex,
                                  const struct timespec *until)
{
    wait_time w;
    seat *s = begin_rest(&w, WAITS_FOR_WORK(), OF_WORK);
    int result;
    if (next.pthread_cond_timedwait == NULL) {
        find_function(&next.pthread_cond_timedwait, "pthread_cond_timedwait");
    }
    result = next.pthread_cond_timedwait(condition, mutex, until);
    end_wait(s, &w, 0, &condition_site);
    return result;
}

#if HAS_CLOCKWAITS

EXPORT int pthread_cond_clockwait(pthread_cond_t *condition, pthread_mutex_t *mutex,
                                  clockid_t clock, const struct timespec *until);

EXPORT int pthread_cond_clockwait(pthread_cond_t *condition, pthread_mutex_t *mutex,
                                  clockid_t clock, const struct timespec *until)
{
    wait_time w;
    seat *s = begin_rest(&w, WAITS_FOR_WORK(), OF_WORK);
    int result;
    if (next.pthread_cond_clockwait == NULL) {
        find_function(&next.pthread_cond_clockwait, "pthread_cond_clockwait");
    }
    result = next.pthread_cond_clockwait(condition, mutex, clock, until);
    end_wait(s, &w, 0, &condition_site);
    return result;
}

#endif
