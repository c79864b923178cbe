/* chroprof - profiles of event loops, on the command line.
 *
 *     cd src/command && cc -O2 -o chroprof *.c
 *
 * Each subcommand has a file of its name, which ends in its row of the table below. */

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../../chroprof.h"
#include "commands.h"
#include "message.h"
#include "options.h"

const tool_command *const tool_commands[] = {
    &run_command, &attach_command, &replay_command, &record_command, &dump_command, &top_command, &check_command,
    &diff_command, &merge_command, &report_command, &serve_command, &symbolize_command,
    &trace_command, &whatif_command, &completion_command
};
const size_t tool_command_count = sizeof tool_commands / sizeof tool_commands[0];

static const tool_command *command_named(const char *name)
{
    for (size_t i = 0; i < tool_command_count; i++) {
        if (strcmp(tool_commands[i]->name, name) == 0) {
            return tool_commands[i];
        }
    }
    return NULL;
}

static int unknown_command(const char *name)
{
    nearest search = nearest_begin(name, name[0] != '-' ? strlen(name) : 0);
    if (access(name, F_OK) == 0) {
        tool_message("%s is a file, not a command; chroprof dump %s reports a profile, chroprof run "
                     "%s profiles a program", name, name, name);
        return TOOL_USAGE;
    }
    for (size_t i = 0; i < tool_command_count; i++) {
        nearest_try(&search, tool_commands[i]->name);
    }
    tool_message("unknown %s %s%s%s%s (see: chroprof --help)",
                 name[0] == '-' ? "option" : "command", name,
                 search.best != NULL ? "; did you mean " : "",
                 search.best != NULL ? search.best : "", search.best != NULL ? "?" : "");
    return TOOL_USAGE;
}

static int print_help(FILE *out)
{
    (void)fputs("usage: chroprof COMMAND ...\n\n"
                "Finds what blocks an event loop, whom it delays, and the line of code.\n\n"
                "commands:\n", out);
    for (size_t i = 0; i < tool_command_count; i++) {
        (void)fprintf(out, "  %-10s %s\n", tool_commands[i]->name, tool_commands[i]->summary);
    }
    (void)fputs("\n"
                "  chroprof COMMAND --help   options and examples of a command\n"
                "  chroprof --version        version\n"
                "\n"
                "exit codes: 0 done, 1 bad input or output, 2 wrong usage; diff, run and\n"
                "whatif have their own\n", out);
    return out == stderr ? TOOL_USAGE : TOOL_OK;
}

static int help_about(const char *name)
{
    const tool_command *command = command_named(name);
    if (command == NULL) {
        return unknown_command(name);
    }
    show_help(command);
    return TOOL_OK;
}

static int run_words(int count, char **words)
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
    int result;
    if (count > 1 && strcmp(words[1], "run") != 0) {
        (void)signal(SIGXFSZ, SIG_IGN);     /* a file beyond the limit is an error like others */
    }
    result = count > 1 ? run_words(count - 1, words + 1) : print_help(stderr);
    if (fflush(stdout) != 0 && result == TOOL_OK) {
        tool_message("(standard output): %s", strerror(errno));
        result = TOOL_INPUT;
    } else if (ferror(stdout) && result == TOOL_OK) {
        tool_message("(standard output): not all of it could be written");
        result = TOOL_INPUT;
    }
    return result;
}
