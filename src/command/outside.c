/* outside.c - see outside.h */

#define _GNU_SOURCE 1          /* pipe2 */

#include "outside.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif
#include <sys/wait.h>
#include <unistd.h>

#include "commands.h"
#include "message.h"

/* Where only ancestors may trace, the observer may as well. */
void outside_begin(const outside *o)
{
    int32_t observer = 0;
    (void)close(o->gate[1]);
    if (read(o->gate[0], &observer, sizeof observer) == (ssize_t)sizeof observer &&
        observer > 0) {
#ifdef PR_SET_PTRACER
        (void)prctl(PR_SET_PTRACER, (unsigned long)observer, 0, 0, 0);
#endif
    }
}

/* Does not return. In a group of its own: who presses Ctrl-C means the program. */
static void become_observer(const outside *o, pid_t child, const sigset_t *mask)
{
    char stall[32], pid[32], nothing;
    char option_stall[] = "--stall", option_out[] = "-o", option_report[] = "--report";
    char *words[8];
    int count = 0;
    (void)setpgid(0, 0);
    (void)signal(SIGTTOU, SIG_IGN);         /* its report may go to the terminal */
    (void)sigprocmask(SIG_SETMASK, mask, NULL);
    (void)close(o->gate[0]);
    (void)close(o->gate[1]);
    (void)close(o->born[1]);
    (void)snprintf(stall, sizeof stall, "%" PRIu64 "us", (o->stall_ns + 999) / 1000);
    (void)snprintf(pid, sizeof pid, "%ld", (long)child);
    if (o->stall_ns > 0) {
        words[count++] = option_stall;
        words[count++] = stall;
    }
    if (o->out_name != NULL) {
        words[count++] = option_out;
        words[count++] = (char *)(uintptr_t)o->out_name;
    }
    if (o->report_name != NULL) {
        words[count++] = option_report;
        words[count++] = (char *)(uintptr_t)o->report_name;
    }
    words[count++] = pid;
    words[count] = NULL;
    while (read(o->born[0], &nothing, 1) > 0) {}   /* until exec has closed the other end */
    exit(attach_command.run(&attach_command, count, words));
}

bool outside_open(outside *o)
{
    return !o->wanted || (pipe2(o->gate, O_CLOEXEC) == 0 && pipe2(o->born, O_CLOEXEC) == 0);
}

void outside_start(outside *o, pid_t child, const sigset_t *mask)
{
    int32_t observer;
    if (!o->wanted) {
        return;
    }
    o->observer = child > 0 ? fork() : -1;
    if (o->observer == 0) {
        become_observer(o, child, mask);
    }
    if (o->observer < 0 && child > 0) {
        tool_message("run: nobody watches the program: %s", strerror(errno));
    }
    observer = (int32_t)o->observer;
    (void)!write(o->gate[1], &observer, sizeof observer);
    for (int i = 0; i < 2; i++) {
        (void)close(o->gate[i]);
        (void)close(o->born[i]);
    }
}

void outside_end(const outside *o)
{
    int status;
    while (o->observer > 0 && waitpid(o->observer, &status, 0) < 0 && errno == EINTR) {}
}
