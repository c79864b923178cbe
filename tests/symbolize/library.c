/* A shared library: an exported function, a static one, and one that is inlined into it. */
#include <stddef.h>
#include "noted.h"

static INLINED int deep(int n, int line)
{
    return n + note("deep", __LINE__, "hidden", line, NULL, 0);
}

static NOINLINE int hidden(int n)
{
    return 2 * deep(n, __LINE__) + 1;
}

NOINLINE int library_exported(int n)
{
    return n + note("library_exported", __LINE__, NULL, 0, NULL, 0) + hidden(n);
}

int library_entry(int n)
{
    return library_exported(n) + note("library_entry", __LINE__, NULL, 0, NULL, 0);
}
