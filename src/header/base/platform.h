/* base/platform.h */
#pragma once
#include "../interface/config.h"
#include "../interface/events.h"

/* >>platform: what differs between compilers, systems and processors, and nothing else. */

#include <string.h>
#ifndef CHROPROF_NO_CLOCK
#include <time.h>
#if defined(_WIN32)
#include <windows.h>
#elif !defined(CLOCK_MONOTONIC)
#error "chroprof: clock_gettime is hidden. Define _POSIX_C_SOURCE=200809L before all includes \
(or compile as gnu99), or define CHROPROF_NO_CLOCK and give options.clock."
#endif
#endif
#if defined(__unix__) || defined(__APPLE__)
#include <unistd.h>
#endif
#ifndef CHROPROF_NO_STDIO
#include <errno.h>
#include <stdlib.h>
/* The terminal of a stream, and mapped files: more than standard C, which a strict build hides. */
#if (defined(__unix__) || defined(__APPLE__)) \
    && (!defined(__STRICT_ANSI__) || defined(_POSIX_C_SOURCE) || defined(_GNU_SOURCE))
#define CHROPROF__TERMINAL 1
#include <sys/ioctl.h>
#ifndef CHROPROF_NO_MMAP
#define CHROPROF__MAPS 1
#endif
#endif
#endif

#ifdef CHROPROF__MAPS
#if defined(_POSIX_C_SOURCE) && _POSIX_C_SOURCE < 200112L
#error "chroprof: mapped files need a newer POSIX. Define _POSIX_C_SOURCE=200809L before all \
includes, or define CHROPROF_NO_MMAP."
#endif
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#ifdef O_CLOEXEC
#define CHROPROF__CLOEXEC O_CLOEXEC
#else
#define CHROPROF__CLOEXEC 0                 /* POSIX before 2008 */
#endif
#if defined(MADV_WIPEONFORK) && defined(MAP_ANONYMOUS)
#define CHROPROF__FORKS 1
#endif
/* A file's owner is known by a lock. Who asks has its system calls by number too. */
#if defined(__linux__) && (defined(__GNUC__) || defined(__TINYC__))
#define CHROPROF__HOLDS 1
#endif
#endif

/* The sampler: on 64-bit Linux by a timer of one thread, whose system calls it makes by itself;
 * elsewhere, if asked to, by one of the process. */
#if defined(__linux__) && !defined(CHROPROF_ITIMER)
#define CHROPROF__THREAD_TIMER 1
#else
#define CHROPROF__THREAD_TIMER 0
#endif
#if (defined(__linux__) || ((defined(__unix__) || defined(__APPLE__)) && \
    defined(CHROPROF_ITIMER))) && defined(__LP64__) && defined(__GNUC__) && \
    !defined(CHROPROF_NO_SAMPLER) && !defined(CHROPROF_NO_CLOCK) && \
    (!defined(__STRICT_ANSI__) || defined(_GNU_SOURCE) || \
    (defined(_POSIX_C_SOURCE) && _POSIX_C_SOURCE >= 200809L))
#define CHROPROF__SAMPLES 1
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#ifndef SA_RESTART
#error "chroprof: the sampler needs SA_RESTART, which is hidden. Define _POSIX_C_SOURCE=200809L \
before all includes, or define CHROPROF_NO_SAMPLER."
#endif
#if defined(__linux__)
#include <ucontext.h>
#endif
#if !CHROPROF__THREAD_TIMER
#include <sched.h>
#include <sys/time.h>
#endif
#else
#define CHROPROF__SAMPLES 0
#endif

/* syscall(2), which a strict build hides. */
#if defined(CHROPROF__EPOLL) || defined(CHROPROF__HOLDS) || \
    (CHROPROF__SAMPLES && CHROPROF__THREAD_TIMER)
#include <sys/syscall.h>
extern long chroprof__system(long number, ...) __asm__("syscall");
#endif

#if defined(__GNUC__)
#define CHROPROF__LIKELY(x) __builtin_expect(!!(x), 1)
#define CHROPROF__RARELY(x) __builtin_expect(!!(x), 0)
#define CHROPROF__INLINE static inline __attribute__((__always_inline__, __unused__))
#define CHROPROF__COLD static __attribute__((__noinline__, __cold__, __unused__))
#define CHROPROF__COLD_API CHROPROF_API __attribute__((__cold__))
#define CHROPROF__NOINLINE static __attribute__((__noinline__, __unused__))
#define CHROPROF__UNUSED __attribute__((__unused__))
#define CHROPROF__PREFETCH(address) __builtin_prefetch(address)
/* The compiler reads memory again from here on. */
#define CHROPROF__READ_AGAIN() __asm__ __volatile__("" ::: "memory")
/* The compiler keeps it once, not as what it was made from as well. */
#define CHROPROF__ONE_WORD(x) __asm__("" : "+r"(x))
/* What a function of the system is called in object files. */
#define CHROPROF__QUOTED(prefix) #prefix
#define CHROPROF__LABEL_OF(prefix, name) CHROPROF__QUOTED(prefix) name
#define CHROPROF__LABEL(name) CHROPROF__LABEL_OF(__USER_LABEL_PREFIX__, name)
#else
#define CHROPROF__LIKELY(x) (x)
#define CHROPROF__RARELY(x) (x)
#define CHROPROF__INLINE static inline
#define CHROPROF__COLD static
#define CHROPROF__COLD_API CHROPROF_API
#define CHROPROF__NOINLINE static
#define CHROPROF__UNUSED
#define CHROPROF__PREFETCH(address) ((void)(address))
#define CHROPROF__READ_AGAIN() ((void)0)
#define CHROPROF__ONE_WORD(x) ((void)0)
#endif

/* What is not an event is compiled for size: at -O2 a quarter less code from gcc, a third from
 * clang, and clang is done in half the time. A dump takes 10 to 25 % longer, from clang 20 to 50 %.
 * gcc hands "cold" down to what only cold functions call, clang wants to be told of each. */
#ifdef __clang__
#define CHROPROF__COLD_BEGIN \
    _Pragma("clang attribute push(__attribute__((__cold__)), apply_to = function)")
#define CHROPROF__COLD_END _Pragma("clang attribute pop")
#else
#define CHROPROF__COLD_BEGIN
#define CHROPROF__COLD_END
#endif

#if (defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__) || defined(_MSC_VER)
#define CHROPROF__LITTLE 1
#else
#define CHROPROF__LITTLE 0
#endif

/* Stores before it are seen before stores after it, by a signal handler, a reader of the mapped
 * block in another process, and whoever opens the block after a crash. */
#if defined(__x86_64__) || defined(__i386__)
#define CHROPROF__STORE_FENCE() __asm__ __volatile__("" ::: "memory")
#elif defined(__GNUC__) && defined(__ATOMIC_RELEASE)
#define CHROPROF__STORE_FENCE() __atomic_thread_fence(__ATOMIC_RELEASE)
#elif defined(_MSC_VER)
#define CHROPROF__STORE_FENCE() MemoryBarrier()
#else
#define CHROPROF__STORE_FENCE() ((void)0)
#endif

/* Loads before it are done before loads after it: for who reads a block that others write. */
#if defined(__GNUC__) && defined(__ATOMIC_ACQUIRE) && !defined(__x86_64__) && !defined(__i386__)
#define CHROPROF__LOAD_FENCE() __atomic_thread_fence(__ATOMIC_ACQUIRE)
#else
#define CHROPROF__LOAD_FENCE() CHROPROF__STORE_FENCE()
#endif

/* A word of a block, whatever lies there. */
#if defined(__GNUC__)
typedef uint64_t __attribute__((__may_alias__)) chroprof__word;
#else
typedef uint64_t chroprof__word;
#endif

#ifndef CHROPROF_ASSERT
#define CHROPROF_ASSERT(x) ((void)0)
#endif

/* What tells this thread from all others that live: each has an errno of its own. 0: not known, as
 * on a bare machine. */
CHROPROF__NOINLINE uint64_t chroprof__thread(void)
{
#if defined(errno) && (defined(__unix__) || defined(__APPLE__) || defined(_WIN32))
    return (uint64_t)(uintptr_t)&errno;
#else
    return 0;
#endif
}

#if !defined(CHROPROF_NO_CLOCK) && !defined(CHROPROF_NO_TSC) && defined(__GNUC__) && \
    (defined(__x86_64__) || defined(__aarch64__))
#define CHROPROF__HAS_COUNTER 1
#else
#define CHROPROF__HAS_COUNTER 0
#endif

/* Does the fast path tell by the stack who begins a task? */
#if CHROPROF__SAMPLES && CHROPROF__HAS_COUNTER && defined(__OPTIMIZE__)
#define CHROPROF__KNOWS_CALLERS 1
#else
#define CHROPROF__KNOWS_CALLERS 0
#endif

#if CHROPROF__HAS_COUNTER && defined(__x86_64__)
CHROPROF__INLINE uint64_t chroprof__counter(void)
{
    uint64_t ticks;                         /* rdtsc clears the upper halves of both */
    __asm__ __volatile__("rdtsc\n\tshlq $32, %%rdx\n\torq %%rdx, %%rax" : "=a"(ticks) : :
                         "rdx", "cc");
    return ticks;
}

/* What the processor says of itself. Tests let it be another one. */
#ifndef CHROPROF__CPUID
#define CHROPROF__CPUID(a, b, c, d)                                                                \
    __asm__ __volatile__("cpuid" : "+a"(a), "=b"(b), "=c"(c), "=d"(d))
#endif

/* CPUID leaf 0x80000007, EDX bit 8: the counter's rate does not follow the core's frequency
 * (AMD64 Architecture Programmer's Manual, volume 3, appendix E). */
static bool chroprof__counter_is_invariant(void)
{
    uint32_t a = 0x80000000u, b, c, d;
    CHROPROF__CPUID(a, b, c, d);
    if (a < 0x80000007u)                    /* a processor older than that */
        return false;
    a = 0x80000007u;
    CHROPROF__CPUID(a, b, c, d);
    return (d >> 8 & 1) != 0;
}

static uint64_t chroprof__counter_hz(void)
{
    return 0;                               /* unknown: calibrate */
}
#elif CHROPROF__HAS_COUNTER
CHROPROF__INLINE uint64_t chroprof__counter(void)
{
    uint64_t ticks;
    __asm__ __volatile__("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
}

static bool chroprof__counter_is_invariant(void)
{
    return true;                            /* by architecture: Arm ARM, the Generic Timer */
}

static uint64_t chroprof__counter_hz(void)
{
    uint64_t hz;
    __asm__ __volatile__("mrs %0, cntfrq_el0" : "=r"(hz));
    return hz;
}
#endif

#ifndef CHROPROF_NO_CLOCK
#if defined(_WIN32)
static uint64_t chroprof__monotonic_ns(void *user)
{
    LARGE_INTEGER count, hz;
    (void)user;
    QueryPerformanceCounter(&count);
    QueryPerformanceFrequency(&hz);
    uint64_t c = (uint64_t)count.QuadPart, f = (uint64_t)hz.QuadPart;
    return c / f * 1000000000u + c % f * 1000000000u / f;
}

static uint64_t chroprof__calendar_ns(void)
{
    FILETIME t;
    GetSystemTimeAsFileTime(&t);            /* 100 ns since 1601 */
    return (((uint64_t)t.dwHighDateTime << 32 | t.dwLowDateTime) - 116444736000000000u) * 100u;
}
#else
CHROPROF__NOINLINE uint64_t chroprof__posix_ns(clockid_t which)
{
    struct timespec t;
    if (clock_gettime(which, &t) != 0)
        return 0;
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint64_t chroprof__monotonic_ns(void *user)
{
    (void)user;
    return chroprof__posix_ns(CLOCK_MONOTONIC);
}

static uint64_t chroprof__calendar_ns(void)
{
    return chroprof__posix_ns(CLOCK_REALTIME);
}
#endif
#endif

#ifdef CHROPROF__MAPS
/* What the system says of a process; all 0: nothing. */
typedef struct chroprof__process {
    char state;
    bool exiting;              /* its first thread runs no code of the program any more */
    uint64_t threads;
    uint64_t start;            /* in the system's own count */
} chroprof__process;

CHROPROF__COLD chroprof__process chroprof__process_of(uint64_t pid)
{
    char path[32], text[1024];
    enum { EXITING = 4 };                   /* of the kernel's flags */
    chroprof__process out = { 0, false, 0, 0 };
    (void)snprintf(path, sizeof(path), "/proc/%llu/stat", (unsigned long long)pid);
    int file = open(path, O_RDONLY | CHROPROF__CLOEXEC);
    ssize_t count = file < 0 ? -1 : read(file, text, sizeof(text) - 1);
    if (file >= 0)
        close(file);
    text[count > 0 ? count : 0] = '\0';
    const char *at = strrchr(text, ')');    /* the name before it may hold anything */
    for (int field = 3; at && (at = strchr(at + 1, ' ')) != NULL; field++) {
        if (field == 3)
            out.state = at[1];
        if (field == 9)
            out.exiting = (strtoull(at, NULL, 10) & EXITING) != 0;
        if (field == 20)
            out.threads = strtoull(at, NULL, 10);
        if (field == 22)
            out.start = strtoull(at, NULL, 10);
    }
    return out;
}
#endif
