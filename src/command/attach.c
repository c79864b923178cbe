/* attach.c - chroprof attach: watches a program that runs, from outside, and reports what blocks
 * its loops; see attach.h */

#define _GNU_SOURCE 1

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../../chroprof.h"
#include "../run/board.h"
#include "attach_live.h"
#include "attach_state.h"
#include "block.h"
#include "commands.h"
#include "formats.h"
#include "message.h"
#include "options.h"
#include "output.h"
#include "program.h"
#include "values.h"

static const char *set_attach_stall(void *field, const char *value)
{
    uint64_t *ns = (uint64_t *)field;
    uint64_t ms;
    if (read_count(value, 1, 3600000, &ms)) {
        *ns = ms * 1000000;
        return NULL;
    }
    return read_duration(value, ns) && *ns > 0
           ? NULL : "expected milliseconds, or a duration such as 500us or 1s";
}

static const char *set_for(void *field, const char *value)
{
    uint64_t *ns = (uint64_t *)field;
    uint64_t seconds;
    if (read_count(value, 1, 8640000, &seconds)) {
        *ns = seconds * 1000000000u;
        return NULL;
    }
    return read_duration(value, ns) && *ns > 0
           ? NULL : "expected seconds, or a duration such as 500ms or 2m";
}

static const char *set_rate(void *field, const char *value)
{
    return read_count(value, 1, 1000, (uint64_t *)field) ? NULL : "expected 1 to 1000 a second";
}

#ifdef __linux__
static void stop_attach(int number)
{
    attach_stopped = number;
}

/* >>command */

static bool is_go(pid_t pid)
{
    char path[40];
    (void)snprintf(path, sizeof path, "/proc/%ld/exe", (long)pid);
    return program_is_go(path);
}

static bool has_process(pid_t pid)
{
    char text[64];
    return attach_status(pid, "Name:", text, sizeof text);
}

/* Code that V8 makes has names only in a map that it writes if it was asked to at the start. */
static void tell_node(pid_t pid)
{
    char path[64];
    char link[512];
    ssize_t count;
    const char *name;
    (void)snprintf(path, sizeof path, "/proc/%ld/exe", (long)pid);
    count = readlink(path, link, sizeof link - 1);
    link[count > 0 ? count : 0] = '\0';
    name = last_part(link);
    (void)snprintf(path, sizeof path, "/tmp/perf-%ld.map", (long)pid);
    if ((strcmp(name, "node") == 0 || strcmp(name, "nodejs") == 0) && access(path, R_OK) != 0) {
        tool_message("attach: its functions in JavaScript have no names; node writes them to %s if "
                     "it is started with --perf-basic-prof --interpreted-frames-native-stack", path);
    }
}

/* Stopped itself, it would keep a thread stopped. */
static void catch_signals(void)
{
    static const int ends[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
    static const int others[] = { SIGPIPE, SIGTSTP, SIGTTOU, SIGTTIN };
    sigset_t child;
    (void)sigemptyset(&child);
    (void)sigaddset(&child, SIGCHLD);
    (void)sigprocmask(SIG_BLOCK, &child, NULL);
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        bool ignored = signal(ends[i], stop_attach) == SIG_IGN && i >= 2;
        if (ignored) {                      /* nohup */
            (void)signal(ends[i], SIG_IGN);
        }
        (void)signal(others[i], SIG_IGN);
    }
}

static bool begin_attach(attach *a, const char *word)
{
    uint64_t pid;
    const char *why;
    if (!read_count(word, 1, INT32_MAX, &pid) || !has_process((pid_t)pid)) {
        tool_message("attach: there is no process %s (see: ps -e)", word);
        return false;
    }
    a->pid = (pid_t)pid;
    (void)attach_status(a->pid, "Name:", a->program, sizeof a->program);
    a->process = is_go(a->pid);
    if (a->process && a->o.live_name != NULL) {
        tool_message("attach: %s is a Go program, no thread of it is a loop that top could show: "
                     "chroprof attach %s tells its functions", a->program, word);
        return false;
    }
    catch_signals();
    why = a->pid == getpid() ? "this is chroprof itself" : attach_refusal(a->pid);
    if (why != NULL) {
        tool_message("attach: process %s can't be watched: %s", word, why);
        return false;
    }
    a->period_ns = a->o.rate > 0 ? 1000000000u / a->o.rate : 19000000u;
    a->random = attach_now() | 1;
    if (!attach_unwind_begin(a->pid)) {
        tool_message("attach: /proc/%s/maps can't be read: run this as its user or as root", word);
        return false;
    }
    a->program_mark = attach_program(a->pid);
    attach_python_begin(a->pid);
    tell_node(a->pid);
    a->begin_ns = attach_now();
    return true;
}

/* It has a profile: nothing has to be watched, and its figures are exact. */
static int report_profile(const attach *a, const char *pid)
{
    static block_file file;
    static format_options text;
    char option[] = "-o";
    char *words[] = { (char *)(uintptr_t)pid, option, (char *)(uintptr_t)a->o.report_name, NULL };
    int result = block_open(&file, pid) ? TOOL_OK : TOOL_INPUT;
    if (result == TOOL_OK) {
        tool_message("attach: process %s has a profile, %s: this is read, which is exact and costs "
                     "the program nothing", pid, file.name);
        text.format = CHROPROF_TEXT;
        text.causes = true;
        (void)write_view(&text, &file.view, file.name, true, stderr);
        result = a->o.out_name != NULL ? output_write(a->o.out_name, attach_write_copy, &file)
                                       : TOOL_OK;
        block_close(&file);
    }
    return result == TOOL_OK && a->o.report_name != NULL
           ? report_command.run(&report_command, 3, words) : result;
}

static int run_attach_on(attach *a, const char *word)
{
    if (a->o.live_name == NULL && block_is_process(word) && block_of_a_process(word)) {
        return report_profile(a, word);
    }
    if (!begin_attach(a, word)) {
        return TOOL_INPUT;
    }
    attach_watch(a);
    if (a->o.live_name == NULL) {
        return attach_report_all(a);
    }
    attach_write_live(a);
    return TOOL_OK;
}

int attach_write(const char *pid, const char *name, uint64_t every_ns)
{
    static attach a;
    a.o.stall_ns = 20000000;
    a.o.live_name = name;
    a.o.live_ns = every_ns;
    return run_attach_on(&a, pid);
}
#endif

static const char attach_text[] =
    "\n"
    "Nothing is loaded into the program and nothing in it changes. At random moments,\n"
    "every 19 ms on average, each of its threads is looked at. One that runs is stopped\n"
    "as long as it takes to copy its registers and its stack, some 50 us. Each thread\n"
    "that waits in epoll, poll or select is a loop; the report goes to standard error.\n"
    "\n"
    "All times are estimates. How long a callback blocked the loop is told as the least\n"
    "and the greatest length that fit what was seen. For exact figures start the program\n"
    "with chroprof run, or build chroprof.h in.\n"
    "\n"
    "A wait of a known loop (libuv, GLib, libevent, libev, sd-event) is idle; of others\n"
    "the shallowest wait of a thread. A deeper wait is a callback that is blocked.\n"
    "\n"
    "Functions of CPython 3.11 have their names: in the stack they stand in place of the\n"
    "interpreter's own function that runs them. Their lines are those that ran. A program\n"
    "in another version has native names, and a message says so.\n"
    "\n"
    "You need the right to trace the program: be its user, or root. Only one program\n"
    "can: not while gdb or strace do. Ctrl-C ends this command; the program goes on.\n"
    "If this command is killed (kill -9) while a thread is stopped, one system call of\n"
    "that thread may return EINTR.\n"
    "\n"
    "No thread of a Go program is a loop, as goroutines move between threads: what is\n"
    "told is its functions by CPU time, of all threads together.\n"
    "\n"
    "examples:\n"
    "  chroprof attach 4711\n"
    "  chroprof attach --for 30s -o now.chroprof $(pidof redis-server)\n";

static const tool_option attach_rows[] = {
    { "for", '\0', "S", "end after S seconds, or a duration such as 500ms\n"
      "(default: until Ctrl-C or the program's end)", set_for, offsetof(attach_options, for_ns),
      NULL },
    { "out", 'o', "FILE", "keep the profile of the busiest loop; the others go\nto FILE.2, FILE.3",
      set_text, offsetof(attach_options, out_name), NULL },
    { "report", '\0', "PAGE", "also write a page for a browser (the busiest loop)", set_text,
      offsetof(attach_options, report_name), NULL },
    { "rate", '\0', "HZ", "looks a second at each loop, 1 to 1000 (default: 53)", set_rate,
      offsetof(attach_options, rate), NULL },
    { "threads", '\0', "LIST", "only these threads, by number: 4711,4713", set_text,
      offsetof(attach_options, threads), NULL },
    { "stall", '\0', "MS", "blocking the loop longer than this is a stall\n"
      "(default 20 ms); a plain number is in ms", set_attach_stall,
      offsetof(attach_options, stall_ns), NULL }
};

static int run_attach(const tool_command *command, int count, char **words)
{
    static attach_options o;
    const char *pid = NULL;
    int result;
    o.stall_ns = 20000000;
    if (!take_words(command, count, words, &o, &pid, 1, &result)) {
        return result;
    }
    if (!output_possible(o.out_name) || !output_possible(o.report_name)) {
        return TOOL_USAGE;
    }
#ifdef __linux__
    static attach a;
    a.o = o;
    return run_attach_on(&a, pid);
#else
    tool_message("attach: needs Linux");
    return TOOL_INPUT;
#endif
}

const tool_command attach_command = {
    "attach", "[options] PID", { "PID" },
    "Watches a running program from outside and reports what blocks it.",
    attach_text, OPTIONS_OF(attach_rows), run_attach
};
