/* attach.h - chroprof attach: what its parts share. A program is watched from outside: /proc tells
 * what its threads do, and one that runs is stopped for as long as it takes to copy its registers
 * and the used part of its stack. Nothing in it changes. */

#ifndef COMMAND_ATTACH_H
#define COMMAND_ATTACH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define ATTACH_FRAMES 200
#define ATTACH_NATIVE 120              /* frames of code that are looked for at most */
#define ATTACH_COPY (256u << 10)       /* bytes of a stack that are copied at most */
#define ATTACH_SITES 16                /* places where a thread waits that are remembered */
#define ATTACH_WORDS 64
#define ATTACH_STACKS (1 << 16)        /* different ones that are kept */
#define ATTACH_WAITS 256               /* stacks that a thread waits in, in epoll, poll or select */

enum { ATTACH_RUNS = -1 };             /* in place of the number of a system call */
enum { ATTACH_STACK = 7, ATTACH_CODE = 16 };   /* numbers of registers, on x86-64 */

/* What the kernel shows of a thread without stopping it. */
typedef struct attach_facts {
    long call;                 /* the system call that it sleeps in, or ATTACH_RUNS */
    uint64_t first;            /* argument of it */
    uint64_t stack, code;      /* registers in it */
    bool timed;                /* it may have a time that a stop would begin anew */
    uint64_t cpu_ns, queue_ns; /* time on a processor, and waiting for one */
    uint64_t timeslices;       /* how often it got one */
} attach_facts;

/* A place where a thread slept. Words of the stack tell whether it is the same again. */
typedef struct attach_site {
    attach_facts key;
    uint32_t stack;            /* number; 0: a free row */
    uint32_t words;
    uint64_t python;           /* attach_python_mark */
    uint32_t at[ATTACH_WORDS]; /* bytes above key.stack */
    uint64_t value[ATTACH_WORDS];
} attach_site;

/* One look at a thread. */
typedef struct attach_row {
    uint64_t at_ns;
    uint64_t cpu_ns, queue_ns; /* since the thread began */
    uint32_t stack;            /* number; 0: not known */
    int32_t call;              /* as above */
    bool same;                 /* surely it made no wait since the row before */
    bool ran;                  /* and had not just been woken up */
    bool awake;                /* it ran, or was about to */
    int32_t met;               /* a wait that it surely made since the row before, plus one; 0: none */
} attach_row;

typedef struct attach_wait {
    uint32_t stack;
    int32_t call;
} attach_wait;

typedef struct attach_log {
    attach_row *rows;
    size_t count, room;
    attach_wait waits[ATTACH_WAITS];   /* each stack once */
    size_t wait_count;
    bool spins;                /* its waits return at once: in them it computes */
    bool starts;               /* at the first look the program had only begun */
    uint32_t first;            /* a stack, */
    size_t outer;              /* and how many of its outermost frames all others have, too */
} attach_log;

typedef struct attach_thread {
    pid_t tid;
    char name[17];
    int call_file, sched_file;
    bool gone, main, loop;     /* it has ended; it waited as loops do, or is the main one */
    bool held;                 /* we trace it: a stop is awaited, or its next system call */
    bool asked;                /* to stop, and has not yet */
    bool soon;                 /* asked within 2 ms after seen_ns */
    uint64_t seen_ns;          /* when it was seen outside of any wait that has a time */
    bool watched;              /* its next system calls are looked at */
    bool waited;               /* a wait was among them, or too many calls */
    long met;                  /* that wait, plus one; 0: none since the last look */
    unsigned calls;            /* how many there were */
    bool spins;                /* its wait returns at once */
    char ready[300];           /* what wakes it; "": nobody knows */
    uint64_t next_ns;          /* of the next look */
    attach_facts last, seen;   /* at the look before, and at this one */
    long wait_call;            /* the wait that was met last, with a time rather than without, */
    uint64_t wait_args[6];
    unsigned waits, looks;     /* how many were; those among them whose time was 0 */
    attach_site sites[ATTACH_SITES];
    unsigned next_site;
    uint64_t datagram_file;    /* that it was last asked of, plus one, */
    bool datagram;             /* and the answer */
    attach_log log;
} attach_thread;

/* Registers and a copy of the stack of a thread that was stopped. */
typedef struct attach_image {
    uint64_t registers[17];    /* in the order of DWARF; the last one is the program counter */
    uint64_t code, stack, frame;
    long call;
    long left;                 /* the call that it was about to come back from; -1: none */
    unsigned char copy[ATTACH_COPY];
    size_t copied;
} attach_image;

typedef struct attach_costs {
    uint64_t stops, long_stops, stopped_ns, longest_ns, watched_calls;
} attach_costs;

/* attach_proc.c */
uint64_t attach_now(void);
bool attach_open(attach_thread *t, pid_t pid, pid_t tid);
void attach_close(attach_thread *t);
bool attach_look(attach_thread *t, attach_facts *facts);
size_t attach_threads(pid_t pid, pid_t *out, size_t most);
bool attach_is_stopped(pid_t pid);

/* Has its main thread ended? Its parent may not have asked yet how. */
bool attach_is_dead(pid_t pid);
/* One number for the program that the process is; another one after exec. 0: it has ended. */
uint64_t attach_program(pid_t pid);
/* Nobody else watches it; false: another chroprof attach does. */
bool attach_claim(pid_t pid);
/* How long ago it began; 0: not known. */
uint64_t attach_age(pid_t pid);
bool attach_status(pid_t pid, const char *key, char *out, size_t size);
bool attach_is_wait(long call);
bool attach_is_epoll(long call);
/* Another one in which a loop may wait. */
bool attach_may_be_wait(long call);
bool attach_call_is_futex(long call);
/* What is no wait by its number, but by where it is: numbers of no system calls. */
enum { ATTACH_CONDITION = 1 << 20, ATTACH_DATAGRAM };
/* Is it a call for a datagram, of a socket that anybody may send to? */
bool attach_takes_datagram(pid_t pid, long call, uint64_t file);
/* For a signal, or a child's end. */
bool attach_call_is_for_others(long call);
/* Has the program an epoll? */
bool attach_has_epoll(pid_t pid);
bool attach_is_restart(long call);
/* Of those that a stop ends with EINTR: does it wait for a time that begins anew with it? (poll, futex
 * and sleeping go on with what is left.) a: its arguments. */
bool attach_has_time(long call, const unsigned long long *a);

/* The wait that the kernel goes on with so. */
long attach_restarted(void);
/* Is it one to sleep in? Woken up in it, a thread has not run yet. */
bool attach_sleeps(long call);
const char *attach_call_name(long call);

/* attach_stop.c */
/* Why the program can't be watched, and what to do; NULL: it can. */
const char *attach_refusal(pid_t pid);
bool attach_copy(attach_thread *t, pid_t pid, attach_image *image, attach_costs *costs, bool watch);
void attach_settle(attach_thread *t, attach_costs *costs);
/* System calls that a stop has ended before their time, which the program can see. */
uint64_t attach_cuts(void);
void attach_release(attach_thread *t);
size_t attach_read(pid_t pid, uint64_t from, void *to, size_t size);

/* attach_spin.c: what makes the thread's waits return at once; false: nobody knows. epoll: the program
 * has one, so a poll that takes no time may be a callback's. */
bool attach_awake(pid_t pid, const attach_thread *t, bool epoll, char *out, size_t size);
/* Poll's list where it is so long that looking at it is the work; 0: it is not. */
uint64_t attach_crowd(const attach_thread *t);
/* Does that wait take no time? */
bool attach_is_look(pid_t pid, long call, const uint64_t *args);

/* attach_scan.c: the return address of the function that this code is in, and where it lies, from
 * here up the stack; false: not found. */
bool attach_caller(pid_t pid, const attach_image *image, uint64_t stack, uint64_t code,
                   uint64_t *place, uint64_t *back);
/* The same, where it is sure that the call leads to this function, which has a name. */
bool attach_called_from(pid_t pid, const attach_image *image, uint64_t stack, uint64_t code,
                        uint64_t *place, uint64_t *back);
/* Is it behind a call of a function, direct or by a pointer? */
bool attach_is_behind_call(pid_t pid, uint64_t back);
uint64_t attach_frame_pointer(const attach_image *image, uint64_t from, uint64_t to);

/* attach_unwind.c */
bool attach_unwind_begin(pid_t pid);
/* Only the modules. */
void attach_modules_begin(pid_t pid);
/* tops: for each frame an address above its part of the stack, and not above its caller's; 0: not
 * known. Room for ATTACH_NATIVE each. */
size_t attach_unwind(const attach_image *image, uint64_t *frames, uint64_t *tops);
/* The same of a thread that was not stopped: its other registers are not known, and a function whose
 * rules need them is left by the call that led to it. 0: not up to where the thread begins. */
size_t attach_unwind_asleep(const attach_image *image, uint64_t *frames, uint64_t *tops);
/* Did the last one end where the thread begins? */
bool attach_is_whole(void);
void attach_unwind_end(void);
uint32_t attach_keep(const uint64_t *frames, size_t count);
size_t attach_stack(uint32_t number, const uint64_t **frames);

typedef struct attach_module {
    const char *path;
    char build_id[160];
    uint64_t base, start, end;
    bool program, loops, libc; /* what it is */
} attach_module;
bool attach_find(uint64_t address, attach_module *out);
/* Each by number, and where its file can be opened; false: there are no more. */
bool attach_module_at(size_t number, attach_module *out, char *real, size_t size);
/* The function's name, or file+0xoffset. */
void attach_name(uint64_t address, char *out, size_t size);
/* Reads what is to be known of the code of these frames: when the program has ended, it is too late. */
void attach_learn(const uint64_t *frames, size_t count);
/* The name of the symbol that the address is in; NULL: none. */
const char *attach_symbol(uint64_t address);

/* attach_python.c */
/* Looks for an interpreter of Python, and says so if it is one whose functions are not known. */
void attach_python_begin(pid_t pid);
/* While the thread is stopped. */
void attach_python_read(pid_t tid);
/* Of a thread that sleeps: "get_user (app.py:41)", the program's own innermost function, or its name
 * alone where there is no room for more. false: there is none. */
bool attach_python_within(pid_t pid, pid_t tid, char *out, size_t size);
/* One number for all that was read last; 0: no function in Python. */
uint64_t attach_python_mark(void);
/* Puts what was read last into the stack of that thread; frames: room for ATTACH_FRAMES. */
size_t attach_python_weave(uint64_t *frames, const uint64_t *tops, size_t count);
bool attach_python_is_in(const uint64_t *frames, size_t count);
/* A function of the program itself: neither of Python nor of a package that was installed. */
bool attach_python_is_own(uint64_t address);
void attach_python_name(uint64_t address, char *out, size_t size);
/* Among the frames inside the loop the program's own outermost function in Python; if it has none, the
 * outermost one. false: none. */
typedef struct attach_function {
    const char *name, *file;
    uint32_t line;             /* where it begins */
} attach_function;
bool attach_python_holder(const uint64_t *frames, size_t inside, attach_function *out);
/* From there on: the innermost own one, and what it called. */
void attach_python_way(const uint64_t *frames, size_t inside, char *out, size_t size);
/* As made_names.h has them. */
char *attach_python_names(void);

/* attach_loop.c */
typedef struct attach_activation {
    uint64_t least_ns, most_ns, cpu_ns, queue_ns, at_ns;
    uint32_t stack;            /* that most of its rows had */
    long call;
    bool open;                 /* it had not ended, or had begun before the first look */
} attach_activation;

enum { ATTACH_ACTIVATIONS = 16 };

typedef struct attach_report {
    attach_activation activations[ATTACH_ACTIVATIONS]; /* the longest ones */
    size_t count;
    uint64_t stalls;
} attach_report;

struct chroprof;
/* Does the stack end in the C library's function of a wait, or a wait without one? */
bool attach_ends_in_wait(uint32_t stack);
/* Is it a call of the C library by main itself? */
bool attach_is_main_alone(uint32_t stack);
/* Is it in pthread_join, by its name? */
bool attach_is_join(uint32_t stack);
/* Does a loop wait there at a condition? */
bool attach_is_condition(uint32_t stack);
void attach_find_own_wait(attach_log *log);
/* The sleep of a loop that only looks at its files, or a worker's wait for work: one more wait of it.
 * only_looks: all of its waits that were watched took no time. */
void attach_find_rest(attach_log *log, bool only_looks, bool epoll);
/* The symbol of a library of templates, of which the program's own file has functions: std, boost,
 * asio. */
bool attach_is_template(const char *symbol);
bool attach_is_idle(uint32_t stack, const attach_log *log);
/* Frames inside the loop's own function; the stack's innermost come first. */
size_t attach_inside(uint32_t stack, const attach_log *log);
/* The same, where the loop's wait is known. 0: none, or it is not known. */
size_t attach_inside_of(const uint64_t *frames, size_t count, const uint64_t *idle,
                        size_t idle_count);
/* What runs in a stack: the outermost function inside the loop that is the program's own. */
/* The same, if it is one in Python. */
bool attach_holder_python(const attach_log *log, uint32_t stack, attach_function *out);
const char *attach_holder(const attach_log *log, uint32_t stack, char *name, size_t size);
/* The way from there to what was running or waiting, shortened: "keysCommand > stringmatchlen". */
void attach_way(const attach_log *log, uint32_t stack, char *out, size_t size);
void attach_note(attach_log *log, const attach_row *row);
/* Where the program had only begun, its looks before the first wait go; how long they lasted. */
uint64_t attach_skip_start(attach_log *log);
/* goes_on: what was under way at the last look still is, as far as is known. */
void attach_feed(struct chroprof *p, const attach_log *log, uint64_t stall_ns, bool goes_on,
                 attach_report *out);

#endif
