/* The header and what programs include beside it. HOSTILE: after macros of the names that others
 * take (macros.h), with the headers that the implementation asks for already there, as macros that
 * break those are no fault of it. Else after the real headers of HEADERS, a file of #include lines,
 * or, AFTER, before them. Declarations, implementation, adapters and the macros that stand in a
 * program's own code. */
#ifdef HOSTILE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#if defined(__unix__) || defined(__APPLE__)
#include <pthread.h>
#include <sched.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>
#endif
#ifdef __linux__
#include <sys/syscall.h>
#include <ucontext.h>
#endif
#ifdef _WIN32
#include <windows.h>
#endif
#ifdef CHROPROF_COROUTINES
#include <coroutine>
#include <type_traits>
#endif
#ifdef LIBRARIES
#ifdef LIBEV
#include <ev.h> /* not beside <event2/event.h>: macros of equal names */
#else
#include <event2/buffer.h>
#include <event2/event.h>
#include <event2/http.h>
#endif
#include <glib.h>
#define UNW_LOCAL_ONLY
#include <libunwind.h>
#endif
#include "macros.h"
#elif !defined(AFTER)
#include HEADERS
#endif

#define CHROPROF_IMPLEMENTATION
#include "../../chroprof.h"
#ifdef CHROPROF_COROUTINES
#include "../../examples/adapters/chroprof_coroutines.h"
#endif
#ifdef LIBRARIES
#ifdef LIBEV
#include "../../examples/adapters/chroprof_libev.h"
#else
#include "../../examples/adapters/chroprof_evhttp.h"
#endif
#include "../../examples/adapters/chroprof_glib.h"
#include "../../examples/adapters/chroprof_libunwind.h"
#endif
#ifdef AFTER
#include HEADERS
#endif

static unsigned char memory[1 << 16];
static chroprof prof;
CHROPROF_SITE(survivor, "survives");
#ifdef LIBRARIES
static int libraries(void)
{
    static chroprof_sampler_options with;
    with.unwind = chroprof_libunwind;
    chroprof_glib(&prof, NULL);
#ifdef LIBEV
    chroprof_libev(&prof, NULL);
    return with.unwind != NULL && chroprof_libev_due() > 0;
#else
    return with.unwind != NULL && chroprof_evhttp(NULL, "/", &prof, memory, sizeof memory) == 0;
#endif
}
#endif

int main(void)
{
    static chroprof_text_options look;
    look.width = 100;
#ifdef LIBRARIES
    if (look.width < 100) /* for the compiler alone */
        return libraries();
#endif
    if (chroprof_init(&prof, memory, sizeof memory, NULL) != CHROPROF_OK)
        return 1;
    chroprof_enter(&prof, &survivor);
    {
        CHROPROF_SCOPE(&prof, "inside");
        chroprof_tick(&prof);
    }
    chroprof_leave(&prof);
    return look.width == 100 && chroprof_check(&prof) == NULL ? 0 : 2;
}
