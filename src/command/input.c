/* input.c - see input.h */

#include "input.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "message.h"
#include "values.h"

/* What the tool returns if it could not be started at all, as in a shell. */
#define TOOL_MISSING 127

/* The child: packed bytes come in as its standard input, so that the file's name never matters. */
static void run_unpacker(const char *tool, int packed, const int unpacked[2])
{
    if (dup2(packed, STDIN_FILENO) >= 0 && dup2(unpacked[1], STDOUT_FILENO) >= 0) {
        (void)close(unpacked[0]);
        (void)execlp(tool, tool, "-dc", (char *)NULL);
    }
    _exit(TOOL_MISSING);
}

/* Puts the tool between the file and us. */
static bool start_unpacker(input *in)
{
    int ends[2];
    if (pipe(ends) != 0) {
        return false;
    }
    in->child = fork();
    if (in->child == 0) {
        run_unpacker(in->tool, in->fd, ends);
    }
    (void)close(ends[1]);
    (void)close(in->fd);
    in->fd = ends[0];
    return in->child > 0;
}

static uint64_t plain_size(int fd)
{
    struct stat facts;
    bool plain = fstat(fd, &facts) == 0 && S_ISREG(facts.st_mode) && facts.st_size > 0;
    return plain ? (uint64_t)facts.st_size : 0;
}

static const char *unpacker_of(const char *name)
{
    return ends_in(name, ".xz") ? "xz" : ends_in(name, ".gz") ? "gzip" : NULL;
}

/* What a shell gives for <(command), or somebody for standard input. */
static bool is_open_already(const char *name)
{
    return strncmp(name, "/dev/fd/", 8) == 0 || strncmp(name, "/proc/self/fd/", 14) == 0 ||
           strcmp(name, "/dev/stdin") == 0;
}

bool input_is_stream(const char *name)
{
    return strcmp(name, "-") == 0 || unpacker_of(name) != NULL || is_open_already(name);
}

/* Some devices never end. A terminal does, and one that is empty says so. */
static bool is_device(int fd)
{
    struct stat facts;
    struct stat empty;
    return fstat(fd, &facts) == 0 && (S_ISCHR(facts.st_mode) || S_ISBLK(facts.st_mode)) &&
           isatty(fd) != 1 &&
           (stat("/dev/null", &empty) != 0 || facts.st_rdev != empty.st_rdev);
}

/* A named one, which opening would wait for. */
static bool is_pipe(const char *name)
{
    struct stat facts;
    return !is_open_already(name) && stat(name, &facts) == 0 && S_ISFIFO(facts.st_mode);
}

static bool *must_be_file(void)
{
    static bool must;
    return &must;
}

void input_must_be_file(void)
{
    *must_be_file() = true;
}

const char *pipe_problem(void)
{
    return *must_be_file() ? "this is a pipe; write it to a file and give that"
                           : "this is a pipe; give - and redirect the pipe to standard input";
}

const char *input_problem(int error)
{
    return error == EISDIR ? "this is a directory; give a file"
           : error == EACCES ? "Permission denied; run this command as a user who may read it"
           : error == ENOENT ? "No such file or directory; check its path (see: ls)"
           : strerror(error);
}

bool input_open(input *in, const char *name)
{
    memset(in, 0, sizeof *in);
    in->name = name;
    if (strcmp(name, "-") == 0) {
        in->name = "(standard input)";
        in->fd = dup(STDIN_FILENO);
    } else if (is_pipe(name)) {
        tool_message("%s: %s", name, pipe_problem());
        return false;
    } else {
        in->fd = open(name, O_RDONLY);
        in->tool = unpacker_of(name);
    }
    if (in->fd < 0 || (in->tool != NULL && !start_unpacker(in))) {
        tool_message("%s: %s", in->name, input_problem(errno));
        return false;
    }
    if (is_device(in->fd)) {
        tool_message("%s: this is a device; give a file", in->name);
        return input_close(in, false) && false;
    }
    in->size = in->tool == NULL ? plain_size(in->fd) : 0;
    return true;
}

ssize_t input_read(input *in, char *bytes, size_t capacity)
{
    ssize_t count;
    do {
        count = read(in->fd, bytes, capacity);
    } while (count < 0 && errno == EINTR);
    if (count < 0) {
        tool_message("%s: %s", in->name, input_problem(errno));
        return -1;
    }
    in->taken += (uint64_t)count;
    return count;
}

/* How the tool ended. false, with a message, if it did not unpack everything. */
static bool unpacker_succeeded(const input *in)
{
    int status = 0;
    while (waitpid(in->child, &status, 0) < 0 && errno == EINTR) {
    }
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
        return true;
    }
    if (WIFEXITED(status) && WEXITSTATUS(status) == TOOL_MISSING) {
        tool_message("%s: this needs the program %s, which could not be started; install it, or "
                     "unpack the file elsewhere", in->name, in->tool);
    } else {
        tool_message("%s: %s could not unpack all of it; the file may be damaged", in->name,
                     in->tool);
    }
    return false;
}

bool input_close(input *in, bool complete)
{
    (void)close(in->fd);
    if (in->child == 0) {
        return true;
    }
    if (!complete) {
        (void)waitpid(in->child, NULL, 0);
        return true;
    }
    return unpacker_succeeded(in);
}

bool looks_packed(const input *in, const byte_buffer *b)
{
    static const char xz[] = { (char)0xFD, '7', 'z', 'X', 'Z' };
    static const char gzip[] = { (char)0x1F, (char)0x8B };
    bool is_xz = b->used >= sizeof xz && memcmp(b->bytes, xz, sizeof xz) == 0;
    bool is_gzip = b->used >= sizeof gzip && memcmp(b->bytes, gzip, sizeof gzip) == 0;
    if (is_xz || is_gzip) {
        tool_message("%s: this is packed by %s; give the file a name that ends in .%s, or unpack "
                     "it first", in->name, is_xz ? "xz" : "gzip", is_xz ? "xz" : "gz");
    }
    return is_xz || is_gzip;
}

bool load_input(input *in, byte_buffer *b)
{
    ssize_t count;
    do {
        if (b->used == b->capacity && !buffer_grow(b)) {
            return false;
        }
        count = input_read(in, b->bytes + b->used, b->capacity - b->used);
        b->used += count > 0 ? (size_t)count : 0;
    } while (count > 0);
    return count == 0 && !looks_packed(in, b);
}

bool same_file(const char *a, const char *b)
{
    struct stat facts_a;
    struct stat facts_b;
    return stat(a, &facts_a) == 0 && stat(b, &facts_b) == 0 && S_ISREG(facts_a.st_mode) &&
           facts_a.st_dev == facts_b.st_dev && facts_a.st_ino == facts_b.st_ino;
}
