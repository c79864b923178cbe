/* seats.h - what all parts share: the seats of the threads, the board, the options */

#ifndef PRELOAD_SEATS_H
#define PRELOAD_SEATS_H

#include "run.h"

/* >>seats: a thread's profile, and what this library knows about the thread. */

typedef struct callback_frame {
    uintptr_t stack;           /* where it was called */
    uint64_t id;               /* of the future that it is; 0: it is none */
    uint16_t row;              /* that the future had, and has if it waits again */
    uint8_t end;               /* chroprof_state, once it returns */
} callback_frame;

typedef struct seat {
    chroprof profile;
    uint32_t number;           /* of the seat */
    struct thread_loops *loops;
    struct future_table *futures;
    uint32_t taken;            /* by a thread; atomic */
    uint32_t generation;       /* of the process that it belongs to */
    int signal;                /* of its sampler; 0: none */
    volatile bool hides;       /* the program believes that it has blocked that signal */
    volatile uint32_t cuts;    /* of its sampler's, that cut a system call short */
    union {
        struct {
            volatile bool busy;            /* an event is under way: who interrupts it sends none */
            volatile bool waits;           /* the thread is in one of the waits */
            volatile bool jumped;          /* since the last callback ended: some may be left */
            bool exits;                    /* the loop is over */
            volatile uint32_t depth;       /* of the callbacks that run */
        };
        uint32_t state;                    /* 0: none of the four */
        uint64_t special;                  /* 0: no callback either */
    };
    int *error;                /* errno of its thread */
    uintptr_t plain_back;      /* where the loop's wait was called that needs no decision; 0: none */
    int what;                  /* this wait is for: OF_... */
    bool timed;                /* a wait had a time-out that is not 0 */
    volatile bool slice;       /* the site has been entered */
    volatile bool inside;      /* that wait is of a loop in a callback */
    board_call *call;          /* what the board shows of it */
    uint8_t kind;              /* wait_kind of it; TASK_WAIT: */
    uint64_t since;            /* when it began */
    char within[24];           /* and the function that the loop called, if no callback has a name */
    uint64_t spin_next;        /* waits that returned at once, at which one is looked at */
    uint64_t spin_left;        /* waits until it is asked how many did */
    uint64_t cpu_before_ns;    /* CPU time of the thread before its profile, */
    uint64_t cpu_ns;           /* and since then, when it was asked for */
    uint64_t spin_ns, spin_cpu_ns;         /* their time, and CPU time, at the last look */
    uint32_t spin_doubles;
    uint32_t suspect_waits;    /* at which this file still has to be ready; 0: none is suspected */
    int suspect, suspect_bytes;
    short suspect_events;
    char awake[96];            /* what is to be said of it */
    bool no_files;             /* accept has failed for want of them, */
    int refused;               /* at this one, which listens */
    bool accepts;              /* it has called accept: waits take note of */
    uint32_t ready_count;      /* files that the last poll found readable, */
    int ready[4];              /* which; -1: accept has taken its client */
    uint64_t ready_set;        /* the same of select: those below 64 */
    uint64_t task_until;       /* when the last wait of a task ended */
    uint64_t returned;         /* when the function that ran it did; 0: it runs, or is not known */
    uintptr_t stack;           /* where that wait was called */
    callback_frame callbacks[CALLBACK_DEPTH];      /* that run, outermost first */
    uint32_t left;             /* futures that ended where nobody could tell; atomic */
    uint32_t left_seen;        /* of these */
    unwind_thread unwind;
    char *stacks;              /* of this library (stacks.h); NULL: it has none */
    size_t signal_bytes;       /* of the one for timer signals */
    uintptr_t own_low, own_high;           /* the thread's own stack; equal: not known */
    bool blocks;               /* signals are blocked for a moment, */
    sigset_t mask;             /* and these are for the program */
} seat;

/* Seats come in parts. The first is there at once; few programs need a second one. */
#define SEATS 64               /* in each */

static seat *seat_parts[BOARD_THREADS / SEATS];    /* atomic */

/* NULL: nobody has sat there, or further on. */
static inline seat *seat_at(size_t number)
{
    seat *part = number < BOARD_THREADS
                 ? __atomic_load_n(&seat_parts[number / SEATS], __ATOMIC_ACQUIRE) : NULL;
    return part != NULL ? part + number % SEATS : NULL;
}

static __thread seat *own __attribute__((__tls_model__("initial-exec")));
static __thread uint32_t waits __attribute__((__tls_model__("initial-exec")));
static __thread bool is_main __attribute__((__tls_model__("initial-exec")));
static __thread board_once *once __attribute__((__tls_model__("initial-exec")));
static __thread bool asks __attribute__((__tls_model__("initial-exec")));   /* the header does */
static __thread bool excluded __attribute__((__tls_model__("initial-exec")));

/* 1 in a process that is watched. The system wipes its page in a forked child. */
static uint32_t *awake;
static uint32_t generation = 1;
static bool knows_exit;        /* it asked the C library to be told of it */
static uint64_t loaded_at;     /* by the clock of profiles; 0: not known */
static uint64_t loaded_cpu_ns; /* and the CPU time of the main thread */
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

/* A process with this seat: whoever has one has been awake. */
static inline bool is_seat_awake(const seat *s)
{
    return __atomic_load_n(awake, __ATOMIC_RELAXED) == 1 && s->generation == generation;
}

/* False: it can't be known. */
static bool thread_cpu(uint64_t *ns)
{
    struct timespec cpu = { 0, 0 };
    const bool known = clock_gettime(CLOCK_THREAD_CPUTIME_ID, &cpu) == 0;
    *ns = (uint64_t)cpu.tv_sec * 1000000000u + (uint64_t)cpu.tv_nsec;
    return known;
}

static void note(uint32_t *count)
{
    (void)__atomic_fetch_add(count, 1, __ATOMIC_RELAXED);
}

#endif
