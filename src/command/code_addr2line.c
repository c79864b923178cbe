/* code_addr2line.c - the addresses of a module go to one process of addr2line, which is
 * started without a shell; they come from a temporary file, so that neither side can wait for the
 * other. Empty where the command is built with libdw. */

#include "code.h"
#include "elf.h"
#include "message.h"
#include "values.h"

#ifndef CHROPROF_LIBDW

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <spawn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>


#define ADDR2LINE_LONGEST 65536

extern char **environ;

typedef struct addr2line {
    FILE *answers;
    pid_t child;
    char line[ADDR2LINE_LONGEST];
} addr2line;

static FILE *addr2line_questions(const code_query *queries, size_t count)
{
    FILE *out = tmpfile();
    for (size_t i = 0; out != NULL && i < count; i++) {
        (void)fprintf(out, "0x%" PRIx64 "\n", queries[i].address);
    }
    if (out != NULL && fflush(out) != 0) {
        (void)fclose(out);
        return NULL;
    }
    return out;
}

/* Starts it with its input and output where they belong; what it complains about is not shown. */
static int addr2line_spawn(pid_t *child, const char *path, int questions, const int ends[2])
{
    char words[][12] = { "addr2line", "-a", "-f", "-i", "-C", "-e" };
    char *arguments[] = { words[0], words[1], words[2], words[3], words[4], words[5],
                          strdup(path), NULL };
    posix_spawn_file_actions_t actions;
    int failed = arguments[6] == NULL ? ENOMEM : posix_spawn_file_actions_init(&actions);
    if (failed != 0) {
        free(arguments[6]);
        return failed;
    }
    (void)lseek(questions, 0, SEEK_SET);
    (void)posix_spawn_file_actions_adddup2(&actions, questions, STDIN_FILENO);
    (void)posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    (void)posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    (void)posix_spawn_file_actions_addclose(&actions, ends[0]);
    (void)posix_spawn_file_actions_addclose(&actions, ends[1]);
    failed = posix_spawnp(child, words[0], &actions, NULL, arguments, environ);
    (void)posix_spawn_file_actions_destroy(&actions);
    free(arguments[6]);
    return failed;
}

static bool addr2line_start(addr2line *a, const code_module *m, const code_query *queries,
                            size_t count)
{
    FILE *questions = addr2line_questions(queries, count);
    int ends[2];
    bool ok = questions != NULL && pipe(ends) == 0;
    if (ok) {
        ok = addr2line_spawn(&a->child, m->path, fileno(questions), ends) == 0;
        (void)close(ends[1]);
        a->answers = ok ? fdopen(ends[0], "r") : NULL;
        if (!ok) {
            (void)close(ends[0]);
        }
    }
    if (questions != NULL) {
        (void)fclose(questions);
    }
    return ok && a->answers != NULL;
}

/* One line without its end; false: there is none, or none so long. */
static bool addr2line_line(addr2line *a)
{
    size_t length;
    if (fgets(a->line, sizeof a->line, a->answers) == NULL) {
        return false;
    }
    length = strcspn(a->line, "\n");
    if (a->line[length] != '\n') {
        return false;
    }
    a->line[length] = '\0';
    return true;
}

/* FILE:LINE, with ?? and ? or 0 for what is not known, and remarks behind it. */
static uint64_t addr2line_place(char *place)
{
    char *colon = strrchr(place, ':');
    uint64_t line = 0;
    const char *digits = colon != NULL ? colon + 1 : "";
    (void)read_digits(&digits, &line);
    if (colon != NULL) {
        *colon = '\0';
    }
    return line;
}

/* Without a line its function is the nearest one below, which the symbols must confirm. */
static void addr2line_take(const code_module *m, code_query *q, code_texts *t, const char *function,
                           char *place)
{
    uint64_t line = addr2line_place(place);
    bool placed = strcmp(place, "??") != 0;
    bool named = strcmp(function, "??") != 0;
    if (named && placed) {
        code_call(t, q, function, place, line);
    } else if (named && elf_function(&m->symbols, q->address) != NULL) {
        code_symbol(m, q, t, function);
    }
}

static bool addr2line_is_address(const char *line, uint64_t address)
{
    char *end;
    return strncmp(line, "0x", 2) == 0 && strtoull(line, &end, 16) == address && *end == '\0';
}

/* The answer to each address is the address, then a function and a place for each call. */
static void addr2line_answers(addr2line *a, const code_module *m, code_query *queries, size_t count,
                              code_texts *t)
{
    static char function[ADDR2LINE_LONGEST];
    bool more = addr2line_line(a);
    for (size_t i = 0; i < count; i++) {
        if (!more || !addr2line_is_address(a->line, queries[i].address)) {
            break;
        }
        while ((more = addr2line_line(a)) &&
               !(i + 1 < count && addr2line_is_address(a->line, queries[i + 1].address))) {
            memcpy(function, a->line, sizeof function);
            if (!addr2line_line(a)) {
                break;
            }
            addr2line_take(m, &queries[i], t, function, a->line);
        }
        code_end(t, &queries[i]);
    }
}

static void addr2line_end(addr2line *a)
{
    (void)fclose(a->answers);
    while (waitpid(a->child, NULL, 0) < 0 && errno == EINTR) {
    }
}

void code_find(const code_module *m, code_query *queries, size_t count, code_texts *t)
{
    static addr2line a;
    static bool missed;
    if (addr2line_start(&a, m, queries, count)) {
        addr2line_answers(&a, m, queries, count, t);
        addr2line_end(&a);
    } else if (!missed) {
        missed = true;
        tool_message("addr2line could not be started, so there are no lines (package binutils; or "
                     "build the command with libdw-dev)");
    }
    for (size_t i = 0; i < count; i++) {
        if (queries[i].calls == 0) {
            code_by_symbols(m, &queries[i], t);
        }
    }
}

#endif
