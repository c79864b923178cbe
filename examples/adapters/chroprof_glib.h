/* chroprof_glib.h - profiles a GLib main context by chroprof.h. Include it in one file of the
 * program, after chroprof.h, and call once, before any loop runs:
 *
 *     chroprof_glib(&prof, NULL);          NULL: the default context
 *
 * What you get: the context's wait is idle. Each dispatch of a timeout, an idle, an I/O channel, a
 * child, a signal or a descriptor is a callback with the name of its source (g_source_set_name). A
 * source without a name shows where its callback is: "unnamed chroprof__glib_wait+1234". This tells
 * which function that is:  gdb -batch -ex "info symbol chroprof__glib_wait+1234" PROGRAM
 * A callback may iterate the context and be called again in there.
 *
 * How: functions of this file replace those in GLib's own tables (g_timeout_funcs and others), so
 * sources of libraries are seen as well. Tables that were copied before the call are not.
 *
 * What you don't get: sources with other tables (sockets, GDBus, GDK) count as uninstrumented; begin
 * their callbacks by CHROPROF_SCOPE. There is no delay, because GLib does not tell what is ready.
 *
 * Limits: one context in each file that includes this; its thread is the profile's thread. Loops of
 * other contexts go on as before. The context must live to the end of the program: another one at
 * its address would be taken for it.
 *
 * Cost: 1400 instructions per wait and dispatch, 1300 more for a source without a name.
 *
 * License: as chroprof.h. */

#ifndef CHROPROF_GLIB_H
#define CHROPROF_GLIB_H

/* The compiler keeps to itself what it holds of our style. CHROPROF_STRICT: it tells. */
#if defined(__GNUC__) && !defined(CHROPROF_STRICT)
#pragma GCC system_header
#endif

#include <glib.h>
#ifdef G_OS_UNIX
#include <glib-unix.h>
#endif
#ifndef CHROPROF_H
#include "chroprof.h"
#endif

#ifdef CHROPROF_DISABLE

static void chroprof_glib(chroprof *profile, GMainContext *context)
{
    (void)profile;
    (void)context;
}

#else

static struct {
    chroprof *profile;
    GMainContext *context;                  /* NULL: none yet */
    GPollFunc poll;                         /* the context's own */
} chroprof__glib;

static gint chroprof__glib_wait(GPollFD *fds, guint count, gint ms)
{
    gint ready;
    chroprof_loop_enter(chroprof__glib.profile);
    chroprof_idle_enter(chroprof__glib.profile);
    ready = chroprof__glib.poll(fds, count, ms);
    chroprof_loop_leave(chroprof__glib.profile);
    return ready;
}

/* Whether a source has no name, or the one that GLib gives to all of a kind. */
static int chroprof__glib_says_nothing(const char *name)
{
    return name == NULL || g_strcmp0(name, "GIdleSource") == 0 ||
           g_strcmp0(name, "GChildWatchSource") == 0 || g_str_has_prefix(name, "GIOChannel");
}

static const chroprof_site *chroprof__glib_site(GSource *source, GSourceFunc call)
{
    const char *name = g_source_get_name(source);
    char own[64];
    if (chroprof__glib_says_nothing(name)) {
        g_snprintf(own, sizeof(own), "%s chroprof__glib_wait%+" G_GINTPTR_MODIFIER "d",
                   name != NULL ? name : "unnamed", (gintptr)call - (gintptr)&chroprof__glib_wait);
        name = own;
    }
    return chroprof_site_make(chroprof__glib.profile, name, NULL, 0);
}

/* A dispatch as GLib's tables have it. */
typedef gboolean (*chroprof__glib_dispatch)(GSource *source, GSourceFunc call, gpointer data);

static gboolean chroprof__glib_run(chroprof__glib_dispatch dispatch, GSource *source,
                                   GSourceFunc call, gpointer data)
{
    gboolean stays;
    if (g_source_get_context(source) != chroprof__glib.context) {
        return dispatch(source, call, data);
    }
    chroprof_enter(chroprof__glib.profile, chroprof__glib_site(source, call));
    stays = dispatch(source, call, data);
    chroprof_leave(chroprof__glib.profile);
    return stays;
}

/* Each of GLib's tables needs a function of its own, which knows what stood there before. */
#ifdef G_OS_UNIX
#define CHROPROF__GLIB_KINDS(X)                                                                    \
    X(idle) X(timeout) X(io_watch) X(child_watch) X(unix_signal) X(unix_fd_source)
#else
#define CHROPROF__GLIB_KINDS(X) X(idle) X(timeout) X(io_watch) X(child_watch)
#endif
#define CHROPROF__GLIB_KIND(kind)                                                                  \
    static chroprof__glib_dispatch chroprof__glib_##kind;                                          \
    static gboolean chroprof__glib_on_##kind(GSource *source, GSourceFunc call, gpointer data)     \
    {                                                                                              \
        return chroprof__glib_run(chroprof__glib_##kind, source, call, data);                      \
    }
#define CHROPROF__GLIB_HOOK(kind)                                                                  \
    chroprof__glib_##kind = g_##kind##_funcs.dispatch;                                             \
    g_##kind##_funcs.dispatch = chroprof__glib_on_##kind;

CHROPROF__GLIB_KINDS(CHROPROF__GLIB_KIND)

/* A second call does nothing. */
static void chroprof_glib(chroprof *profile, GMainContext *context)
{
    if (chroprof__glib.context != NULL) {
        return;
    }
    chroprof__glib.profile = profile;
    chroprof__glib.context = context != NULL ? context : g_main_context_default();
    chroprof__glib.poll = g_main_context_get_poll_func(chroprof__glib.context);
    g_main_context_set_poll_func(chroprof__glib.context, chroprof__glib_wait);
    CHROPROF__GLIB_KINDS(CHROPROF__GLIB_HOOK)
}

#endif
#endif
