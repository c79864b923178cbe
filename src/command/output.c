/* output.c - see output.h */

#include "output.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "input.h"
#include "message.h"

bool output_is_stdout(const char *name)
{
    return name == NULL || strcmp(name, "-") == 0;
}

bool output_is_readable(const char *name, const char *what)
{
    bool readable = !output_is_stdout(name) || isatty(STDOUT_FILENO) != 1;
    if (!readable) {
        tool_message("%s is not for a terminal; write it to a file with -o FILE", what);
    }
    return readable;
}

const char *output_problem(int error)
{
    return error == ENOENT ? "No such file or directory; make the folder first"
           : error == EACCES ? "Permission denied; write to another place"
           : error == EISDIR ? "this is a directory; give the name of a file"
           : strerror(error);
}

/* The folder that a file of this name lies in. */
static void folder_of(const char *name, char *folder, size_t size)
{
    const char *slash = strrchr(name, '/');
    (void)snprintf(folder, size, "%.*s", slash == NULL ? 1 : (int)(slash - name) + 1,
                   slash == NULL ? "." : name);
}

bool output_possible(const char *name)
{
    char folder[4096];
    struct stat facts;
    int error = 0;
    if (output_is_stdout(name)) {
        return true;
    }
    folder_of(name, folder, sizeof folder);
    if (stat(name, &facts) == 0) {
        error = S_ISDIR(facts.st_mode) ? EISDIR : access(name, W_OK) != 0 ? errno : 0;
    } else if (access(folder, W_OK | X_OK) != 0) {
        error = errno;
    }
    if (error != 0) {
        tool_message("%s: %s", name, output_problem(error));
    }
    return error == 0;
}

int output_open(const char *name, const char *source, FILE **out)
{
    *out = stdout;
    if (output_is_stdout(name)) {
        return TOOL_OK;
    }
    if (source != NULL && same_file(name, source)) {
        tool_message("%s is both input and output; write to another file", name);
        return TOOL_USAGE;
    }
    *out = fopen(name, "wb");
    if (*out == NULL) {
        tool_message("%s: %s", name, output_problem(errno));
        return TOOL_INPUT;
    }
    return TOOL_OK;
}

int output_close(const char *name, FILE *out, bool wrote)
{
    bool failed = fflush(out) != 0 || ferror(out);
    if (out != stdout) {
        failed = fclose(out) != 0 || failed;
    }
    if (failed) {
        tool_message("%s: %s", out == stdout ? "(standard output)" : name, strerror(errno));
    }
    return wrote && !failed ? TOOL_OK : TOOL_INPUT;
}

int output_write(const char *name, bool (*write)(void *user, FILE *out), void *user)
{
    FILE *out;
    int result = output_open(name, NULL, &out);
    return result == TOOL_OK ? output_close(name, out, write(user, out)) : result;
}

int output_bytes(void *user, const void *bytes, size_t count)
{
    return fwrite(bytes, 1, count, (FILE *)user) == count ? 0 : 1;
}
