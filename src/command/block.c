/* block.c - see block.h */

#include "block.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "buffer.h"
#include "content.h"
#include "hide.h"
#include "input.h"
#include "made_names.h"
#include "message.h"
#include "origin.h"
#include "profile.h"
#include "values.h"

/* >>block files */

/* What to go back to when a file is cut shorter while it is being copied. */
static sigjmp_buf *block_gone(void)
{
    static sigjmp_buf gone;
    return &gone;
}

static void block_on_bus_error(int number)
{
    siglongjmp(*block_gone(), number);
}

/* The copy, or 0 bytes of it if the file shrank meanwhile. */
static chroprof_result block_snapshot(const void *live, size_t size, void *copy, bool just_ended)
{
    struct sigaction action;
    struct sigaction old;
    chroprof_result result = CHROPROF_ERR_TRUNCATED;
    memset(&action, 0, sizeof action);
    action.sa_handler = block_on_bus_error;
    (void)sigaction(SIGBUS, &action, &old);
    if (sigsetjmp(*block_gone(), 1) == 0) {
        result = just_ended ? chroprof_snapshot_ended(live, size, copy, size)
                            : chroprof_snapshot(live, size, copy, size);
    }
    (void)sigaction(SIGBUS, &old, NULL);
    return result;
}

chroprof_result block_view(block_file *file)
{
    chroprof_result result = chroprof_open(&file->view, file->copy, file->size);
    hide_ids_of(&file->view);
    return result;
}

/* Opens a file as a view of a copy. */
static chroprof_result block_take(block_file *file, int fd, size_t size)
{
    void *live = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
    chroprof_result result = CHROPROF_ERR_FILE;
    if (live == MAP_FAILED) {
        return result;
    }
    file->copy = calloc(1, size);
    file->size = size;
    if (file->copy != NULL) {
        result = block_snapshot(live, size, file->copy, file->just_ended);
    }
    (void)munmap(live, size);
    result = result == CHROPROF_OK ? block_view(file) : result;
    if (result == CHROPROF_OK && !file->nameless) {
        char *names = made_names_in(fd, size);
        made_names_keep(file->copy, size, names != NULL ? names : made_names_beside(file->place));
    }
    return result;
}

chroprof_result block_read(block_file *file)
{
    struct stat facts;
    chroprof_result result = CHROPROF_ERR_FILE;
    int fd = open(file->place, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    file->why = NULL;
    if (fd < 0) {                           /* a pipe has no block, and must not hold us */
        return result;
    }
    if (fstat(fd, &facts) == 0) {
        if (!S_ISREG(facts.st_mode)) {
            file->why = S_ISDIR(facts.st_mode)
                        ? "this is a directory; give a file with a profile (chroprof serve shows a folder)"
                        : S_ISFIFO(facts.st_mode)
                        ? pipe_problem()
                        : "this is not a plain file; give a file with a profile";
        } else {
            result = facts.st_size > 0 ? block_take(file, fd, (size_t)facts.st_size)
                                       : CHROPROF_ERR_FORMAT;
        }
    }
    (void)close(fd);
    return result;
}

uint64_t block_sequence(int fd)
{
    uint64_t sequence;
    return pread(fd, &sequence, sizeof sequence, 64) == sizeof sequence ? sequence : 0;
}

const char *block_problem(const block_file *file, chroprof_result result)
{
    if (file->why != NULL) {
        return file->why;
    }
    switch (result) {
    case CHROPROF_ERR_FILE: return errno != 0 ? input_problem(errno) : "it could not be read";
    case CHROPROF_ERR_FORMAT:
        return "this is not a profile; give a file of chroprof_map or chroprof run -o";
    case CHROPROF_ERR_VERSION:
        return "this was written by another version of chroprof; use the command of that version";
    case CHROPROF_ERR_BYTE_ORDER:
        return "this comes from a machine with the other byte order; write JSON there, and give "
               "that";
    case CHROPROF_ERR_CORRUPT:
        return "this profile is damaged: parts of it contradict each other";
    case CHROPROF_ERR_TRUNCATED:
        return "this is only the beginning of a profile; copy the whole file again";
    default: return chroprof_result_text(result);
    }
}

void block_close(block_file *file)
{
    if (file->copy != NULL) {
        made_names_keep(file->copy, 0, NULL);
    }
    free(file->copy);
    file->copy = NULL;
}

/* >>block processes: whose number is given; the system lists what a process has mapped */

typedef struct block_search {
    const char *pid;
    block_file *file;          /* the first profile that was found */
    size_t found;
    bool quiet;
} block_search;

/* The file of a line of /proc/PID/maps that is mapped shared; NULL: none. */
static char *block_mapped_file(char *line)
{
    char *path = strchr(line, '/');
    char *mode = strchr(line, ' ');
    line[strcspn(line, "\n")] = '\0';
    return path != NULL && mode != NULL && strncmp(mode, " rw-s", 5) == 0 ? path : NULL;
}

/* Where the file of such a line can be opened: by its name; under the process's own root, if that
 * is another one than ours; by the mapping itself, if the file has no name any more. */
static void block_locate(block_file *file, const char *pid, const char *line, const char *path)
{
    int range = (int)strcspn(line, " ");
    (void)snprintf(file->found, sizeof file->found, "%s", path);
    if (ends_in(path, " (deleted)")) {
        (void)snprintf(file->found_place, sizeof file->found_place, "/proc/%s/map_files/%.*s", pid,
                       range, line);
    } else {
        (void)snprintf(file->found_place, sizeof file->found_place, "/proc/%s/root%s", pid, path);
    }
    file->name = file->found;
    file->place = same_file(path, file->found_place) ? file->found : file->found_place;
}

/* Takes the first profile; of further ones it says that they are there. */
static void block_consider(block_search *search, const char *line, const char *path)
{
    static block_file other;
    block_file *file = search->found == 0 ? search->file : &other;
    if (search->found > 0 && strcmp(path, search->file->found) == 0) {
        return;
    }
    block_locate(file, search->pid, line, path);
    if (block_read(file) != CHROPROF_OK) {
        block_close(file);
        return;
    }
    if (search->found == 1 && !search->quiet) {
        tool_message("process %s has several profiles; give one of these files:",
                     search->pid);
        tool_line("  %s", search->file->name);
    }
    if (search->found++ > 0) {
        if (!search->quiet) {
            tool_line("  %s", other.name);
        }
        block_close(&other);
    }
}

void block_nobody(const char *pid)
{
    tool_message("%s: there is no file with this name and no process with this number (see: ps -e)",
                 pid);
}

/* The program of a chroprof run: its only child. */
static bool block_child(const char *pid, char child[32])
{
    char path[96];
    char more;
    FILE *children;
    int count = 0;
    (void)snprintf(path, sizeof path, "/proc/%.20s/exe", pid);
    if (!same_file(path, "/proc/self/exe")) {
        return false;
    }
    (void)snprintf(path, sizeof path, "/proc/%.20s/task/%.20s/children", pid, pid);
    children = fopen(path, "r");
    if (children != NULL) {
        count = fscanf(children, "%20[0-9] %c", child, &more);
        (void)fclose(children);
    }
    return count == 1;
}

static void block_search_maps(block_search *search, FILE *maps)
{
    char line[4096 + 128];
    while (fgets(line, sizeof line, maps) != NULL) {
        const char *path = block_mapped_file(line);
        if (path != NULL) {
            block_consider(search, line, path);
        }
    }
    (void)fclose(maps);
}

static FILE *block_maps(const char *pid)
{
    char path[64];
    (void)snprintf(path, sizeof path, "/proc/%.20s/maps", pid);
    return fopen(path, "r");
}

/* runner: the chroprof run whose program it is; NULL: none was asked for. */
static bool block_of_process(block_file *file, const char *pid, const char *runner)
{
    char child[32];
    block_search search = { pid, file, 0, false };
    FILE *maps = block_maps(pid);
    if (maps == NULL && errno == ENOENT) {
        block_nobody(pid);
    } else if (maps == NULL) {
        tool_message("process %s: %s; run this command as the user of that process", pid,
                     strerror(errno));
    }
    if (maps == NULL) {
        return false;
    }
    block_search_maps(&search, maps);
    if (search.found == 0 && block_child(pid, child)) {
        return block_of_process(file, child, pid);
    }
    if (search.found == 0 && runner != NULL) {
        tool_message("the program of chroprof run %s has had no event loop so far", runner);
    } else if (search.found == 0) {
        tool_message("process %s has no profile; watch it as it is with chroprof attach %s (in top "
                     "and report: --attach), start the program with chroprof run, or call "
                     "chroprof_map in it", pid, pid);
    }
    return search.found == 1;
}

bool block_of_a_process(const char *pid)
{
    static block_file file;
    char child[32];
    block_search search = { pid, &file, 0, true };
    FILE *maps = block_maps(pid);
    if (maps != NULL) {
        block_search_maps(&search, maps);
    }
    block_close(&file);
    return search.found > 0 || (maps != NULL && block_child(pid, child));
}

bool block_is_process(const char *operand)
{
    return operand[0] != '\0' && operand[strspn(operand, "0123456789")] == '\0' &&
           access(operand, F_OK) != 0;
}

/* >>block streams */

bool block_of_bytes(block_file *file, const char *name, const char *bytes, size_t count)
{
    chroprof_result result;
    content got = content_of(bytes, count);
    if (got != CONTENT_BLOCK) {
        content_refuse(name, got, CONTENT_BLOCK);
        return false;
    }
    file->name = file->place = name;
    file->why = NULL;
    file->stream = true;
    file->size = count;
    file->copy = calloc(1, count);
    if (file->copy == NULL) {
        tool_message("%s: not enough memory to copy it", name);
        return false;
    }
    result = chroprof_snapshot(bytes, count, file->copy, count);
    result = result == CHROPROF_OK ? block_view(file) : result;
    if (result != CHROPROF_OK) {
        tool_message("%s: %s", name, block_problem(file, result));
    } else {
        made_names_keep(file->copy, count, made_names_behind(bytes, count));
    }
    return result == CHROPROF_OK;
}

static bool block_of_stream(block_file *file, const char *operand)
{
    input in;
    byte_buffer b = { NULL, 0, 0 };
    bool ok = input_open(&in, operand);
    if (ok) {
        ok = load_input(&in, &b);
        ok = input_close(&in, ok) && ok && block_of_bytes(file, in.name, b.bytes, b.used);
    }
    free(b.bytes);
    return ok;
}

/* Of JSON that is broken it says where, and not which command would read it. */
static void block_refuse(const char *operand)
{
    content got = content_of_file(operand);
    profile_text p;
    bool good = true;
    if (got == CONTENT_JSON) {
        good = profile_load(&p, operand);
        profile_free(&p);
    }
    if (good) {
        content_refuse(operand, got, CONTENT_BLOCK);
    }
}

bool block_open(block_file *file, const char *operand)
{
    chroprof_result result;
    file->stream = false;
    if (block_is_process(operand)) {
        return block_of_process(file, operand, NULL);
    }
    if (input_is_stream(operand)) {
        return block_of_stream(file, operand);
    }
    file->name = file->place = operand;
    errno = 0;
    result = block_read(file);
    if (result == CHROPROF_ERR_FORMAT) {
        block_refuse(operand);
    } else if (result != CHROPROF_OK) {
        tool_message("%s: %s", operand, block_problem(file, result));
    }
    return result == CHROPROF_OK;
}

bool block_is_owned(const char *out)
{
    static block_file file;
    chroprof_origin origin;
    memset(&origin, 0, sizeof origin);
    file.name = file.place = out;
    if (block_read(&file) == CHROPROF_OK) {
        block_origin(&file, &origin);
    }
    block_close(&file);
    if (origin.alive) {
        tool_message("%s: process %" PRIu64 " keeps its profile there; write to another file", out,
                     origin.pid);
    }
    return origin.alive;
}
