/* tests/golden.h - whole outputs, compared with those that lie in tests/golden. GOLDEN=1 in the
 * environment writes them anew: read the difference before it is committed. */
#ifndef GOLDEN_H
#define GOLDEN_H

#include "harness.h"

static inline void golden_write(const char *path, const char *bytes, size_t count)
{
    FILE *file = fopen(path, "wb");
    CHECK(file != NULL);
    CHECK_EQ(fwrite(bytes, 1, count, file), count);
    CHECK_EQ(fclose(file), 0);
}

static inline size_t golden_read(const char *path, char *bytes, size_t size)
{
    FILE *file = fopen(path, "rb");
    size_t used;
    if (file == NULL)
        harness_fail(__FILE__, __LINE__, "cannot read %s", path);
    used = fread(bytes, 1, size, file);
    fclose(file);
    CHECK(used < size);
    return used;
}

/* The first line that differs is told. */
static inline void golden(const char *name, const char *bytes, size_t count)
{
    static char want[1 << 16];
    char path[80];
    size_t length, i = 0, line = 0;
    FILE *here = fopen("chroprof.h", "rb");
    if (here == NULL)
        SKIP("does not run in the folder of chroprof.h");
    fclose(here);
    snprintf(path, sizeof path, "tests/golden/%s", name);
    if (getenv("GOLDEN") != NULL)
        golden_write(path, bytes, count);
    length = golden_read(path, want, sizeof want - 1);
    want[length] = '\0';
    for (; i < count && i < length && bytes[i] == want[i]; i++)
        line = bytes[i] == '\n' ? i + 1 : line;
    if (i < count || i < length)
        harness_fail(__FILE__, __LINE__, "%s: byte %lu, \"%.*s\", not \"%.*s\"", path,
                     (unsigned long)i, (int)strcspn(bytes + line, "\n"), bytes + line,
                     (int)strcspn(want + line, "\n"), want + line);
}

#endif
