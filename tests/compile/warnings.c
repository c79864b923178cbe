/* A program of somebody who asks for more warnings than others: the declarations, the macros that
 * stand in its code, and, with PRIVATE, the implementation give none, whatever its own names are.
 * Exit status 0: all right. */
extern int p, site, profile, name, request, result, headers, out, count;

#ifdef LIBRARIES
#include <event2/buffer.h>
#include <event2/event.h>
#include <event2/http.h>
#include <glib.h>
#define UNW_LOCAL_ONLY
#include <libunwind.h>
#endif
#ifdef LIBEV
#include <ev.h>
#endif
#if defined(__linux__)
#include <signal.h>
#include <sys/epoll.h> /* what CHROPROF_EPOLL_IDLE declares is declared already */
#endif

#define CHROPROF_IMPLEMENTATION
#ifdef PRIVATE
#define CHROPROF_API static
#endif
#include "../../chroprof.h"
#ifdef LIBRARIES
#include "../../examples/adapters/chroprof_evhttp.h"
#include "../../examples/adapters/chroprof_glib.h"
#include "../../examples/adapters/chroprof_libunwind.h"
#endif
#ifdef LIBEV
#include "../../examples/adapters/chroprof_libev.h"
#endif

#ifdef __cplusplus
#define NOWHERE nullptr
#else
#define NOWHERE NULL
#endif

static chroprof prof;
static unsigned char memory[1 << 16];
CHROPROF_SITE(everything, "everything");
CHROPROF_EPOLL_IDLE(&prof);

/* A name that is the same for the whole run may be any constant; one made at run time is another at
 * the next call, where the site would still be the first: it does not compile. */
#ifdef RUN_TIME_SCOPE
static void named(const char *called)
{
    CHROPROF_SCOPE(&prof, called);
}
#elif defined(RUN_TIME_SITE)
static void named(const char *called)
{
    CHROPROF_SITE(made, called);
    chroprof_stillborn(&prof, &made, CHROPROF_COMPLETED);
}
#else
static void named(const char *called)
{
    CHROPROF_SCOPE(&prof, __func__);
    (void)called; /* with CHROPROF_DISABLE nothing is evaluated */
    if (!chroprof_site_make(&prof, called, __FILE__, 2))
        return;
    chroprof_stillborn(&prof, chroprof_site_make(&prof, called, __FILE__, 1), CHROPROF_COMPLETED);
}
#endif

int main(void)
{
    CHROPROF_SITE(local, "local");
    CHROPROF_SCOPE(&prof, "main");
#ifdef LIBRARIES
    if (prof.core) { /* not yet: for the compiler alone */
        chroprof_evhttp(NOWHERE, NOWHERE, &prof, memory, sizeof memory);
        chroprof_glib(&prof, NOWHERE);
        return chroprof_libunwind(NOWHERE, NOWHERE, NOWHERE, 0) > 0;
    }
#endif
#ifdef LIBEV
    if (prof.core)
        chroprof_libev(&prof, NOWHERE);
    if (chroprof_libev_due() > 0)
        return 3;
#endif
    if (chroprof_init(&prof, memory, sizeof memory, NOWHERE) != CHROPROF_OK)
        return 1;
    chroprof_enter(&prof, &local);
    chroprof_stillborn(&prof, &everything, CHROPROF_COMPLETED);
    named("made");
    chroprof_leave(&prof);
    return chroprof_check(&prof) == NOWHERE ? 0 : 2;
}
