/* input.h - a stream of bytes from a file, from standard input ("-"), or from a packed file through
 * the tool that unpacks it, which is started without a shell. */

typedef struct input {
    const char *name;          /* for messages */
    const char *tool;          /* that unpacks it, NULL: none */
    int fd;
    pid_t child;               /* of the tool, 0: none */
    uint64_t size;             /* of a plain file, else 0 */
    uint64_t taken;            /* bytes read so far */
} input;

static bool ends_in(const char *text, const char *ending)
{
    size_t length = strlen(text);
    size_t part = strlen(ending);
    return length >= part && strcmp(text + length - part, ending) == 0;
}

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

/* false, with a message, if it cannot be read. */
static bool input_open(input *in, const char *name)
{
    memset(in, 0, sizeof *in);
    in->name = name;
    if (strcmp(name, "-") == 0) {
        in->name = "(standard input)";
        in->fd = dup(STDIN_FILENO);
    } else {
        in->fd = open(name, O_RDONLY);
        in->tool = ends_in(name, ".xz") ? "xz" : ends_in(name, ".gz") ? "gzip" : NULL;
    }
    if (in->fd < 0 || (in->tool != NULL && !start_unpacker(in))) {
        tool_message("%s: %s", in->name, strerror(errno));
        return false;
    }
    in->size = in->tool == NULL ? plain_size(in->fd) : 0;
    return true;
}

/* Bytes read, 0 at the end, -1 with a message. */
static ssize_t input_read(input *in, char *bytes, size_t capacity)
{
    ssize_t count;
    do {
        count = read(in->fd, bytes, capacity);
    } while (count < 0 && errno == EINTR);
    if (count < 0) {
        tool_message("%s: %s", in->name, strerror(errno));
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
        tool_message("%s: needs the program %s, which could not be started; install it, or unpack "
                     "the file elsewhere", in->name, in->tool);
    } else {
        tool_message("%s: %s could not unpack all of it", in->name, in->tool);
    }
    return false;
}

/* complete: the end was reached; otherwise the tool is left to end by its broken pipe. */
static bool input_close(input *in, bool complete)
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
