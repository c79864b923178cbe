/* chroprof - profiles of event loops, on the command line.
 *
 *     cc -O2 -o chroprof examples/chroprof.c
 *
 * Uses the public interface of chroprof.h and POSIX, nothing else. Subcommands are rows of one
 * table, below; each has a file of its own in examples/command. */

#define _DEFAULT_SOURCE            /* the terminal's size */
#define _POSIX_C_SOURCE 200809L

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#define CHROPROF_IMPLEMENTATION
#include "../chroprof.h"

#include "command/tool.h"
#include "command/sheet.h"
#include "command/input.h"
#include "command/events.h"
#include "command/replay.h"
#include "command/block.h"
#include "command/merge.h"
#include "command/screen.h"
#include "command/sample.h"
#include "command/top.h"
#include "command/json.h"
#include "command/profile.h"
#include "command/elf.h"
#include "command/code.h"
#include "command/symbolize.h"
#include "command/stacks.h"
#include "command/code_text.h"
#include "command/columns.h"
#include "command/report.h"
#include "command/trace.h"
#include "command/trace_code.h"
#include "command/numbers.h"
#include "command/difference.h"
#include "command/diff.h"

#define COUNT(array) (sizeof (array) / sizeof (array)[0])

static const tool_command commands[] = {
    { "replay", "FILE [options]",
      "Reads a stream of events and reports where the loop's time went.", replay_text,
      replay_options, COUNT(replay_options), replay_run },
    { "dump", "FILE|PID [options]",
      "Reports a profile that lies in a file, while its program runs or after its end.",
      dump_text, dump_options, COUNT(dump_options), dump_run },
    { "top", "FILE|PID [options]",
      "Shows live who holds the loop of a running program, and what it does now.", top_text,
      top_options, COUNT(top_options), top_run },
    { "check", "FILE|PID",
      "Holds every law against a profile in a file.", check_text, check_options,
      COUNT(check_options), check_run },
    { "diff", "A B [options]",
      "Says what changed between two profiles, and what of it is more than noise.", diff_text,
      diff_options, COUNT(diff_options), diff_run },
    { "merge", "FILE|PID|@LIST|- ... [-o OUT]",
      "Adds up many loops, processes or machines as one profile.", merge_text,
      merge_options, COUNT(merge_options), merge_command },
    { "report", "[BEFORE] IN [-o OUT.html]",
      "Makes a page for the browser of a profile, or of two to compare.", report_text,
      report_options, COUNT(report_options), report_run },
    { "symbolize", "IN [-o OUT.json]",
      "Names the functions, files and lines of a profile's native stacks.", symbolize_text,
      symbolize_options, COUNT(symbolize_options), symbolize_run },
    { "trace", "IN [-o OUT.json]",
      "Writes a profile as a trace for Perfetto, chrome://tracing and speedscope.", trace_text,
      trace_options, COUNT(trace_options), trace_run }
};

static const tool_command *command_named(const char *name)
{
    for (size_t i = 0; i < COUNT(commands); i++) {
        if (strcmp(commands[i].name, name) == 0) {
            return &commands[i];
        }
    }
    return NULL;
}

static int unknown_command(const char *name)
{
    nearest search = nearest_begin(name, strlen(name));
    for (size_t i = 0; i < COUNT(commands); i++) {
        nearest_try(&search, commands[i].name);
    }
    (void)fprintf(stderr, "chroprof: unknown command %s", name);
    if (search.best != NULL) {
        (void)fprintf(stderr, "; did you mean %s?", search.best);
    }
    (void)fputs(" (see: chroprof --help)\n", stderr);
    return TOOL_USAGE;
}

static int print_help(FILE *out)
{
    (void)fputs("usage: chroprof COMMAND ...\n\n"
                "Which tasks occupy an event loop, which make the others wait, and where.\n\n"
                "commands:\n", out);
    for (size_t i = 0; i < COUNT(commands); i++) {
        (void)fprintf(out, "  %-10s %s\n", commands[i].name, commands[i].summary);
    }
    (void)fputs("\n"
                "  chroprof COMMAND --help   options and examples of a command\n"
                "  chroprof --version        version\n"
                "\n"
                "exit codes: 0 done, 1 bad input or output, 2 usage; diff has its own\n", out);
    return out == stderr ? TOOL_USAGE : TOOL_OK;
}

static int help_about(const char *name)
{
    const tool_command *command = command_named(name);
    if (command == NULL) {
        return unknown_command(name);
    }
    help_command(command);
    return TOOL_OK;
}

static int run_command(int count, char **words)
{
    const tool_command *command = command_named(words[0]);
    if (command != NULL) {
        return command->run(command, count - 1, words + 1);
    }
    if (strcmp(words[0], "--version") == 0 || strcmp(words[0], "-V") == 0) {
        (void)puts("chroprof " CHROPROF_VERSION);
        return TOOL_OK;
    }
    if (strcmp(words[0], "--help") == 0 || strcmp(words[0], "-h") == 0) {
        return print_help(stdout);
    }
    if (strcmp(words[0], "help") == 0) {
        return count > 1 ? help_about(words[1]) : print_help(stdout);
    }
    return unknown_command(words[0]);
}

int main(int count, char **words)
{
    int result = count > 1 ? run_command(count - 1, words + 1) : print_help(stderr);
    if (fflush(stdout) != 0 && result == TOOL_OK) {
        tool_message("(standard output): %s", strerror(errno));
        result = TOOL_INPUT;
    }
    return result;
}
