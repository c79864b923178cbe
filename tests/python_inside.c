/* python_inside.c - the woven stack of the calling thread, as the library of chroprof run has it in a
 * signal handler. A shared library for python_recursion.py, built with unwind.c and python_walk.c. */
#define _GNU_SOURCE 1
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include "../src/run/python.h"
#include "../src/run/unwind.h"

enum { CAPACITY = 400 };

static unwind_thread thread;
static uintptr_t frames[2 * CAPACITY];
static volatile unsigned count, storms;
static long main_thread;

static void walk(int number, siginfo_t *info, void *context)
{
    (void)info;
    if (syscall(SYS_gettid) == main_thread) {
        memset(frames, 0, sizeof frames);
        count = unwind_walk(&thread, context, frames, CAPACITY);
        storms += number == SIGPROF;
    }
}

/* folder: for the names. 0: there is no Python that is known. */
int begin(const char *folder)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = walk;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    main_thread = syscall(SYS_gettid);
    python_begin(folder, true);
    unwind_find_libraries();
    if (!unwind_begin(&thread) || thread.python == NULL) {
        return 0;
    }
    (void)sigfillset(&action.sa_mask);
    (void)sigaction(SIGUSR2, &action, NULL);
    (void)sigaction(SIGPROF, &action, NULL);
    return 1;
}

/* The addresses of the stack here; returns how many. */
unsigned take(uint64_t *out, unsigned most)
{
    unsigned taken;
    (void)raise(SIGUSR2);
    taken = count < most ? count : most;
    for (unsigned i = 0; i < taken; i++) {
        out[i] = frames[i];
    }
    return taken;
}

/* From now on at every millisecond of CPU time, until the process has ended. */
void storm(void)
{
    const struct itimerval timer = { { 0, 1000 }, { 0, 1000 } };
    (void)setitimer(ITIMER_PROF, &timer, NULL);
}

unsigned storms_so_far(void)
{
    return storms;
}

/* "name (file:line)"; NULL: no function in Python. */
const char *name_of(const python_names *names, uint64_t address)
{
    static char text[900];
    const char *name, *file;
    if (!python_is_address(address)) {
        return NULL;
    }
    name = names->text + names->rows[python_row_of(address)].text;
    file = name + strlen(name) + 1;
    (void)snprintf(text, sizeof text, "%s (%s:%u)", name,
                   strrchr(file, '/') != NULL ? strrchr(file, '/') + 1 : file,
                   (unsigned)python_line_of(address));
    return text;
}
