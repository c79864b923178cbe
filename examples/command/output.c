/* output.c - see output.h */

#include "output.h"

#include <errno.h>
#include <string.h>

#include "input.h"
#include "message.h"

bool output_is_stdout(const char *name)
{
    return name == NULL || strcmp(name, "-") == 0;
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
        tool_message("%s: %s", name, strerror(errno));
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
