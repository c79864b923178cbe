/* tests/command_trace.h - the trace of a profile, as chroprof trace writes it. Behind harness.h.
 *
 * The command is B/chroprof, as make builds it; B is build if it is not set. */
#ifndef COMMAND_TRACE_H
#define COMMAND_TRACE_H

#include "harness.h"

static inline const char *command_path(void)
{
    static char path[256];
    const char *folder = getenv("B");
    snprintf(path, sizeof path, "%s/chroprof", folder != NULL ? folder : "build");
    return path;
}

static inline bool has_command(void)
{
    FILE *file = fopen(command_path(), "rb");
    if (file != NULL)
        fclose(file);
    return file != NULL;
}

/* A file that holds bytes. */
static inline void save_bytes(const char *path, const void *bytes, size_t count)
{
    FILE *out = fopen(path, "wb");
    CHECK(out != NULL);
    CHECK_EQ(fwrite(bytes, 1, count, out), count);
    CHECK_EQ(fclose(out), 0);
}

/* Writes the trace of a file to another one. */
static inline void command_trace(const char *in, const char *out)
{
    char command[1400];
    snprintf(command, sizeof command, "%s trace '%s' -o '%s' 2>'%s.log'", command_path(), in, out,
             out);
    fflush(stdout);
    if (system(command) != 0)
        harness_fail(__FILE__, __LINE__, "%s", command);
}

/* All of a file, until the next call. */
static inline const char *text_of_file(const char *path)
{
    static char *text;
    FILE *in = fopen(path, "rb");
    long size;
    CHECK(in != NULL);
    CHECK(fseek(in, 0, SEEK_END) == 0 && (size = ftell(in)) >= 0);
    rewind(in);
    free(text);
    text = (char *)calloc((size_t)size + 1, 1);
    CHECK(text != NULL);
    CHECK_EQ(fread(text, 1, (size_t)size, in), (size_t)size);
    fclose(in);
    return text;
}

/* The trace of the JSON of a profile, until the next call. */
static inline const char *trace_of(chroprof *p)
{
    char json[300], trace[300];
    FILE *out;
    snprintf(json, sizeof json, "%s", scratch("of.json"));
    snprintf(trace, sizeof trace, "%s", scratch("of.trace"));
    out = fopen(json, "wb");
    CHECK(out != NULL);
    CHECK_EQ(chroprof_dump(p, CHROPROF_JSON, out), 0);
    CHECK_EQ(fclose(out), 0);
    command_trace(json, trace);
    return text_of_file(trace);
}

static inline unsigned count_of(const char *text, const char *part)
{
    unsigned count = 0;
    for (; (text = strstr(text, part)) != NULL; text++)
        count++;
    return count;
}

#endif
