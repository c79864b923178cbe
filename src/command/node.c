/* node.c - see node.h */

#include "node.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "elf.h"
#include "message.h"
#include "program.h"

/* The second has interpreted functions told apart; node knows both since 12. */
#define NODE_ASKED "--perf-basic-prof --interpreted-frames-native-stack"
#define NODE_OLDEST 12

static void map_path(char *path, size_t size, pid_t process)
{
    (void)snprintf(path, size, "/tmp/perf-%ld.map", (long)process);
}

/* Does it have the function that node begins with, of its own or of its library? Other programs of
 * that name are not started only to be asked. */
static bool is_node(const char *path)
{
    static const char start[] = "_ZN4node5Start";
    elf_file file;
    elf_symbols symbols;
    bool found = false;
    if (elf_file_open(&file, path) != NULL) {
        return false;
    }
    memset(&symbols, 0, sizeof symbols);
    elf_exports_read(&symbols, &file);
    for (size_t i = 0; !found && i + sizeof start <= symbols.name_bytes; i++) {
        found = memcmp(symbols.names + i, start, sizeof start - 1) == 0;
    }
    elf_symbols_free(&symbols);
    elf_file_close(&file);
    return found;
}

/* "'" in it would end the quotes. */
static long version_of(const char *node)
{
    char command[PROGRAM_PATH + 64], answer[64] = "";
    FILE *from;
    if (strchr(node, '\'') != NULL) {
        return 0;
    }
    (void)snprintf(command, sizeof command, "NODE_OPTIONS= timeout -s KILL 5 '%s' --version "
                   "2>/dev/null </dev/null", node);     /* it may be another program */
    from = popen(command, "r");
    if (from != NULL) {
        (void)!fgets(answer, sizeof answer, from);
        (void)pclose(from);
    }
    return answer[0] == 'v' ? strtol(answer + 1, NULL, 10) : 0;
}

bool node_can_name(const char *program)
{
    char node[PROGRAM_PATH];
    const char *before = getenv("NODE_OPTIONS");
    const char *name;
    if (before != NULL && strstr(before, "--perf-") != NULL) {
        return false;
    }
    if (!program_interpreter(program, node, sizeof node)) {
        (void)snprintf(node, sizeof node, "%s", program);
    }
    name = strrchr(node, '/') != NULL ? strrchr(node, '/') + 1 : node;
    return (strcmp(name, "node") == 0 || strcmp(name, "nodejs") == 0) &&
           is_node(node) && version_of(node) >= NODE_OLDEST;
}

void node_ask(void)
{
    char path[64], options[8192];
    const char *before = getenv("NODE_OPTIONS");
    int length = snprintf(options, sizeof options, "%s%s" NODE_ASKED,
                          before != NULL ? before : "", before != NULL ? " " : "");
    map_path(path, sizeof path, getpid());
    if ((size_t)length < sizeof options && access("/tmp", W_OK | X_OK) == 0 &&
        (access(path, F_OK) != 0 || access(path, W_OK) == 0)) {
        (void)setenv("NODE_OPTIONS", options, 1);
    }
}

void node_forget(pid_t process, const char *kept)
{
    char path[64];
    map_path(path, sizeof path, process);
    if (kept == NULL) {
        (void)unlink(path);
    } else if (access(path, R_OK) == 0) {
        tool_message("the names of JavaScript in %s are read from %s; remove it when you are done "
                     "(chroprof symbolize %s -o OUT.json keeps them)", kept, path, kept);
    }
}
