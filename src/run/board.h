/* board.h - what chroprof run and its preloaded library tell each other: environment variables on
 * the way in, a shared file on the way back. */

#ifndef PRELOAD_BOARD_H
#define PRELOAD_BOARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The folder of the profiles and of the board. The library takes it, and itself in LD_PRELOAD, out
 * of the environment before main begins. */
#define BOARD_FOLDER "CHROPROF_RUN"
#define BOARD_OPTIONS "CHROPROF_RUN_OPTIONS"    /* "STALL_NS WALL CHILDREN TABLES PYTHON" */
#define BOARD_FILE "board"
#define BOARD_LIBRARY "chroprof_run.so"
#define BOARD_LIBRARIES 6      /* it, and the different ones of BOARD_LOOPS */
#define BOARD_SYMBOLS "symbols"
#define BOARD_THREADS 1024     /* that have profiles, in one process */
#define BOARD_ONCE 40          /* threads that waited once */
#define BOARD_CALLS 4096       /* threads with profiles, of all processes, that tell in which calls they are */
#define BOARD_KEPT 64          /* profiles of threads that have ended, of all processes */

/* Libraries that call callbacks, as their names begin, and which of ours is loaded for them. */
typedef struct board_loop {
    const char *begin, *ours;
} board_loop;

#define BOARD_LOOPS                                                                                \
    { { "libevent-", "chroprof_run_libevent.so" }, { "libevent.so", "chroprof_run_libevent.so" },  \
      { "libevent_core", "chroprof_run_libevent.so" }, { "libuv.so", "chroprof_run_libuv.so" },    \
      { "libev.so", "chroprof_run_libev.so" },                                                     \
      { "libglib-2.0.so", "chroprof_run_glib.so" },                                                \
      { "libsystemd.so", "chroprof_run_systemd.so" } }

/* A file's name without its folders. */
static inline const char *last_part(const char *path)
{
    return strrchr(path, '/') != NULL ? strrchr(path, '/') + 1 : path;
}

/* Whether a file is one of those libraries, or a part of one. */
static inline bool is_loop_library(const char *file)
{
    static const char *const begins[] = { "libevent-", "libevent_", "libevent.so", "libuv.so",
                                          "libev.so",
                                          "libglib-2.0.so", "libgio-2.0.so", "libsystemd.so" };
    for (size_t i = 0; i < sizeof begins / sizeof begins[0]; i++) {
        if (strncmp(file, begins[i], strlen(begins[i])) == 0) {
            return true;
        }
    }
    return false;
}

typedef struct board_kept {
    uint64_t weight;           /* those of least go first */
    int32_t process, thread;   /* 0: a free row */
} board_kept;

/* A thread that has waited once, and has no profile so far. */
typedef struct board_once {
    int32_t process, thread;   /* 0: it has one now */
    uint64_t cpu_ns;           /* its CPU time then, */
    uint64_t worked_ns;        /* and since, once it has ended */
    char name[16];
} board_once;

/* What the library itself tells of a thread's waits: chroprof run sees the others from outside. */
typedef enum board_inside { INSIDE_NONE, INSIDE_WAIT, INSIDE_TASK_WAIT } board_inside;

typedef enum board_names { NAMES_NONE, NAMES_OF_HOST, NAMES_OF_ADDRESS, NAMES_OLD, NAMES_OLD_ADDRESS }
    board_names;

typedef struct board_call {
    int32_t thread;            /* 0: a free row */
    uint8_t inside;            /* board_inside: one of the library's own, of a task or not */
    uint8_t names;             /* board_names: it looks one up, by whichever calls */
    uint16_t unused;
} board_call;

/* All of it zero at first. Threads and processes add to it with atomic operations. */
typedef struct preload_board {
    uint32_t loaded;           /* programs that loaded the library */
    uint32_t profiles;         /* that were begun */
    uint32_t refused;          /* that could not be begun */
    int32_t refused_why;       /* the last one's chroprof_result, */
    int32_t refused_error;     /* and its errno */
    uint32_t unsampled;        /* profiles without a sampler */
    int32_t unsampled_why;     /* chroprof_result */
    int32_t taken_signal;      /* of the sampler, that the program took for itself; 0: none */
    uint32_t sealed;           /* filters of system calls that let no more profiles begin, */
    uint32_t silenced;         /* and that let no sampler run */
    uint32_t dropped;          /* profiles of threads that have ended, of less weight than those
                                  kept */
    uint32_t became;           /* 1: a program with profiles may have become another one */
    int32_t program;           /* the process that chroprof run waits for */
    uint32_t keeping;          /* 1: somebody changes the rows below */
    uint32_t python;           /* version of an interpreter whose functions have no names; 0: none */
    uint32_t sleepers;         /* processes that the program forked, unwatched, that wait */
    uint32_t once_count;       /* of these rows, or more than there are */
    board_kept kept[BOARD_KEPT];
    board_once once[BOARD_ONCE];
    board_call calls[BOARD_CALLS];         /* one of a thread: board_call_of */
} preload_board;

/* The one row that a thread may have. */
static inline board_call *board_call_of(preload_board *board, int32_t thread)
{
    return &board->calls[(uint32_t)thread % BOARD_CALLS];
}

/* The file of functions of the program itself, for libraries that call it: this, the rows by
 * address, their texts. */
typedef struct board_symbol {
    uint64_t address;          /* as the program's file counts */
    uint32_t name, file;       /* offsets in the file of symbols */
    uint32_t line;             /* 0: not known */
    uint32_t unused;
} board_symbol;

typedef struct board_symbols {
    uint64_t device, inode;    /* of the program */
    uint64_t count;
} board_symbols;

#endif
