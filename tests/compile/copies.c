/* A program with the implementation, and (-DLIBRARY) a shared library with a private copy of another
 * version, whose structs are larger: each must call its own. The library is built of another header,
 * -DHEADER. Exit status 0: all right. */
#define CHROPROF_IMPLEMENTATION
#ifdef HEADER
#include HEADER
#else
#include "../../chroprof.h"
#endif
#include <string.h>

#ifdef __cplusplus
#define VISIBLE extern "C" __attribute__((visibility("default")))
#else
#define VISIBLE __attribute__((visibility("default")))
#endif

VISIBLE size_t library_sizes(void);
VISIBLE const char *library_version(void);
VISIBLE void library_work(void);
VISIBLE uint64_t library_calls(void);

CHROPROF_SITE(site_outer, "outer");

/* Two calls: one by name, and a scope, which is inline code, in C++ of a class. */
static void work(chroprof *p)
{
    chroprof_enter(p, &site_outer);
    {
        CHROPROF_SCOPE(p, "inner");
    }
    chroprof_leave(p);
}

static uint64_t memory[1 << 13];

/* The calls of a profile, or 0 if it is broken. */
static uint64_t calls(const chroprof *p)
{
    chroprof_totals totals;
    chroprof_read_totals(p, &totals);
    return chroprof_check(p) == NULL ? totals.events / 2 : 0;
}

#ifdef LIBRARY
static chroprof own;

size_t library_sizes(void)
{
    return sizeof(chroprof) + sizeof(chroprof_totals);
}

const char *library_version(void)
{
    return CHROPROF_VERSION;
}

void library_work(void)
{
    if (own.core == NULL)
        (void)chroprof_init(&own, memory, sizeof memory, NULL);
    work(&own);
}

uint64_t library_calls(void)
{
    return calls(&own);
}
#else
int main(void)
{
    chroprof own;
    if (chroprof_init(&own, memory, sizeof memory, NULL) != CHROPROF_OK)
        return 1;
    if (library_sizes() <= sizeof(chroprof) + sizeof(chroprof_totals) ||
        strcmp(library_version(), CHROPROF_VERSION) == 0)
        return 2;
    for (int i = 0; i < 10; i++) {
        work(&own);
        library_work();
        library_work();
    }
    if (calls(&own) != 20)
        return 3;
    return library_calls() == 40 ? 0 : 4;
}
#endif
