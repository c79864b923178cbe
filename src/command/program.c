/* program.c - see program.h */
#define _GNU_SOURCE 1          /* memmem */

#include "program.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "block.h"
#include "content.h"
#include "message.h"

/* >>finding */

static bool is_program(const char *path)
{
    struct stat facts;
    return stat(path, &facts) == 0 && S_ISREG(facts.st_mode) && access(path, X_OK) == 0;
}

static bool found_in(const char *folder, size_t length, const char *name, char *path, size_t size)
{
    int written = length == 0 ? snprintf(path, size, "./%s", name)
                              : snprintf(path, size, "%.*s/%s", (int)length, folder, name);
    return written > 0 && (size_t)written < size && is_program(path);
}

/* A word that names no program, and what its giver may have meant. */
static void no_program(const char *name)
{
    char here[4096];
    struct stat facts;
    content got = content_of_file(name);
    (void)snprintf(here, sizeof here, "./%s", name);
    if (got == CONTENT_BLOCK || got == CONTENT_JSON) {
        tool_message("%s: there is no such program in PATH, but this file is a profile; read it "
                     "with chroprof dump or chroprof report", name);
    } else if (is_program(here)) {
        tool_message("%s: there is no such program in PATH; for the one in this folder give "
                     "%s", name,
                     here);
    } else if (block_is_process(name)) {
        tool_message("%s: there is no such program in PATH; for a running process with a "
                     "profile use chroprof top %s", name, name);
    } else if (stat(here, &facts) == 0 && S_ISREG(facts.st_mode)) {
        tool_message("%s: there is no such program in PATH, and the file of this name in this "
                     "folder may not be executed (see: ls -l %s)", name, name);
    } else {
        tool_message("%s: there is no such program in PATH (see: echo $PATH)", name);
    }
}

/* A path that is there or not, but no program. */
static const char *why_no_program(const char *path)
{
    struct stat facts;
    if (stat(path, &facts) != 0) {
        return errno == ENOENT ? "No such file or directory; check its path (see: ls)"
                               : strerror(errno);
    }
    return S_ISDIR(facts.st_mode) ? "this is a directory, not a program"
           : "this is not a program, or not executable (see: chmod +x)";
}

bool program_find(const char *name, char *path, size_t size)
{
    const char *folders = getenv("PATH");
    if (strchr(name, '/') != NULL) {
        (void)snprintf(path, size, "%s", name);
        if (!is_program(name)) {
            tool_message("%s: %s", name, why_no_program(name));
            return false;
        }
        return true;
    }
    for (folders = folders != NULL ? folders : "/usr/bin:/bin"; *name != '\0';) {
        size_t length = strcspn(folders, ":");
        if (found_in(folders, length, name, path, size)) {
            return true;
        }
        if (folders[length] == '\0') {
            break;
        }
        folders += length + 1;
    }
    no_program(name);
    return false;
}

/* >>judging: the head of an ELF file, of this machine's byte order */

#define HEAD_BYTES 4096

typedef struct program_head {
    unsigned char bytes[HEAD_BYTES];
    size_t count;
} program_head;

static bool read_head(const char *path, program_head *head)
{
    FILE *file = fopen(path, "rb");
    memset(head, 0, sizeof *head);
    if (file != NULL) {
        head->count = fread(head->bytes, 1, sizeof head->bytes - 1, file);
        (void)fclose(file);
    }
    return file != NULL && head->count > 64;
}

static bool is_elf(const program_head *head)
{
    return memcmp(head->bytes, "\177ELF", 4) == 0;
}

/* A number of 1 to 8 bytes; 0 beyond what was read. */
static uint64_t head_number(const program_head *head, uint64_t at, size_t bytes)
{
    uint64_t value = 0;
    uint32_t half = 0;
    uint16_t quarter = 0;
    if (at + bytes > head->count) {
        return 0;
    }
    if (bytes == sizeof quarter) {
        memcpy(&quarter, head->bytes + at, bytes);
        return quarter;
    }
    if (bytes == sizeof half) {
        memcpy(&half, head->bytes + at, bytes);
        return half;
    }
    memcpy(&value, head->bytes + at, bytes);
    return value;
}

/* Class, byte order and processor: as of this command itself. */
static bool is_of_this_kind(const program_head *head, const program_head *ours)
{
    return memcmp(head->bytes + 4, ours->bytes + 4, 2) == 0 &&
           memcmp(head->bytes + 18, ours->bytes + 18, 2) == 0;
}

/* Where the segment is that names a loader; a static program has none. Beyond what was read nobody
 * knows. 0: there is none. */
static uint64_t loader_segment(const program_head *head)
{
    bool wide = head->bytes[4] == 2;
    uint64_t at = head_number(head, wide ? 32 : 28, wide ? 8 : 4);
    uint64_t bytes = head_number(head, wide ? 54 : 42, 2);
    uint64_t count = head_number(head, wide ? 56 : 44, 2);
    for (; count > 0; count--, at += bytes) {
        if (at >= head->count || head_number(head, at, 4) == 3) {      /* PT_INTERP */
            return at;
        }
    }
    return 0;
}

bool program_is_go(const char *path)
{
    static char bytes[1 << 20];
    static const char mark[] = "\xFF Go buildinf:";
    size_t count;
    bool found = false;
    FILE *file = fopen(path, "rb");
    while (file != NULL && !found && (count = fread(bytes, 1, sizeof bytes, file)) > 0) {
        found = memmem(bytes, count, mark, sizeof mark - 1) != NULL;
    }
    if (file != NULL) {
        (void)fclose(file);
    }
    return found;
}

static int judge_elf(const char *path, const program_head *head)
{
    program_head ours;
    struct stat facts;
    bool setuid = stat(path, &facts) == 0 && (facts.st_mode & (S_ISUID | S_ISGID)) != 0;
    if (setuid && geteuid() != 0) {
        tool_message("%s runs with the rights of its owner (setuid), so the system loads nothing "
                     "into it; as that user, run a copy without the setuid bit", path);
        return PROGRAM_NOT;
    }
    if (read_head("/proc/self/exe", &ours) && !is_of_this_kind(head, &ours)) {
        tool_message("%s is built for another processor or word size than this command; build "
                     "chroprof for the same one", path);
        return PROGRAM_NOT;
    }
    if (!setuid && loader_segment(head) != 0) {
        return PROGRAM_PRELOAD;
    }
    tool_message("%s is %s, so no library can be loaded into it: it is watched from outside, as "
                 "chroprof attach does, and all times are estimates", path,
                 setuid ? "setuid" : "linked statically");
    return PROGRAM_OUTSIDE;
}

/* The interpreter that a script names. */
static bool interpreter_of(const program_head *head, char *path, size_t size)
{
    const char *from = (const char *)head->bytes + 2;
    size_t length;
    if (memcmp(head->bytes, "#!", 2) != 0) {
        return false;
    }
    from += strspn(from, " \t");
    length = strcspn(from, " \t\n");
    if (length == 0 || length >= size) {
        return false;
    }
    memcpy(path, from, length);
    path[length] = '\0';
    return true;
}

/* The first word after env, in PATH. */
static bool env_names(const program_head *head, char *path, size_t size)
{
    static const char *const places[] = { "#!/usr/bin/env ", "#! /usr/bin/env " };
    const char *folders = getenv("PATH");
    char name[256];
    const char *from = NULL;
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        size_t length = strlen(places[i]);
        from = memcmp(head->bytes, places[i], length) == 0 ? (const char *)head->bytes + length : from;
    }
    if (from == NULL || strncmp(from, "-S ", 3) == 0) {
        from = from != NULL ? from + 3 : "";
    }
    (void)snprintf(name, sizeof name, "%.*s", (int)strcspn(from, " \t\r\n"), from);
    while (name[0] != '\0' && folders != NULL) {
        size_t length = strcspn(folders, ":");
        if (found_in(folders, length, name, path, size)) {
            return true;
        }
        folders = folders[length] == ':' ? folders + length + 1 : NULL;
    }
    return false;
}

bool program_interpreter(const char *script, char *path, size_t size)
{
    program_head head;
    (void)read_head(script, &head);
    return head.count > 2 && (env_names(&head, path, size) || interpreter_of(&head, path, size));
}

int program_way(const char *path)
{
    char interpreter[256];
    program_head head;
    for (int scripts = 0; scripts < 4; scripts++) {
        (void)read_head(path, &head);
        if (is_elf(&head)) {
            return judge_elf(path, &head);
        }
        if (!interpreter_of(&head, interpreter, sizeof interpreter)) {
            return PROGRAM_PRELOAD;
        }
        path = interpreter;
    }
    return PROGRAM_PRELOAD;
}

bool program_loader(const char *path, char *binary, char *loader, size_t size)
{
    char interpreter[256];
    program_head head;
    for (int scripts = 0; scripts < 4; scripts++) {
        (void)read_head(path, &head);
        if (is_elf(&head)) {
            break;
        }
        if (!interpreter_of(&head, interpreter, sizeof interpreter)) {
            return false;
        }
        path = interpreter;
    }
    uint64_t segment = is_elf(&head) ? loader_segment(&head) : 0;
    bool wide = head.bytes[4] == 2;
    uint64_t at = segment > 0 ? head_number(&head, segment + (wide ? 8 : 4), wide ? 8 : 4) : 0;
    if (at == 0 || at >= head.count || head.bytes[at] != '/' ||
        strlen((const char *)head.bytes + at) >= size) {
        return false;
    }
    memcpy(loader, head.bytes + at, strlen((const char *)head.bytes + at) + 1);
    (void)snprintf(binary, PROGRAM_PATH, "%s", path);
    return true;
}
