/* sleeps.c - other calls that a timer signal must not cut short */

#include "run.h"
#include "next.h"
#include "seats.h"
#include "signals.h"
#include "waits.h"

/* >>calls that no handler restarts, also one with SA_RESTART: in a callback a timer signal cuts
 * them short, and they go on with the time that is left. Reads and writes of sockets that have a
 * time limit of their own (SO_RCVTIMEO) are left out: nobody knows what is left of that. */

EXPORT int nanosleep(const struct timespec *time, struct timespec *left)
{
    const struct timespec *given = time;
    struct timespec rest;
    wait_time w;
    int result;
    if (next.nanosleep == NULL) {
        find_function(&next.nanosleep, "nanosleep");
    }
    w.error = errno;
    wait_from_now(&w);
    do {
        result = next.nanosleep(given, &rest);
    } while (goes_on_for(&w, result, time, &given));
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
    w.error = errno;
    wait_from_now(&w);
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

/* Whether timer signals cut sleeps of this thread short. */
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

EXPORT int sem_timedwait(sem_t *semaphore, const struct timespec *until)
{
    wait_time w;
    int result;
    if (next.sem_timedwait == NULL) {
        find_function(&next.sem_timedwait, "sem_timedwait");
    }
    w.error = errno;
    wait_from_now(&w);
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
    w.error = errno;
    wait_from_now(&w);
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
