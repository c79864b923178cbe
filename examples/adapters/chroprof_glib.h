/* chroprof_glib.h - profiles a GLib main context by chroprof.h. Include it in one file of the
 * program, after chroprof.h, and call once, before any loop runs:
 *
 *     chroprof_glib(&prof, NULL);          NULL: the default context
 *
 * What you get: the context's wait is idle. Each dispatch of a timeout, an idle, an I/O channel, a
 * child, a signal or a descriptor is a callback with the name of its source (g_source_set_name). A
 * source without a name shows where its callback is: "unnamed chroprof__glib_wait+1234". This tells
 * which function that is:  gdb -batch -ex "info symbol chroprof__glib_wait+1234" PROGRAM
 *
 * A callback may iterate the context and be called again in there. What runs in such a nested loop
 * is a callback like any other, and neither its time nor the loop's waits are the outer one's. If
 * nothing runs in it, it is the outer callback that waits: findings say so, and it is blocked.
 *
 * How: functions of this file replace those in GLib's own tables (g_timeout_funcs and others), so
 * sources of libraries are seen as well. Tables that were copied before the call are not.
 *
 * What you don't get: sources with other tables (sockets, GDBus, GDK) count as uninstrumented; begin
 * their callbacks by CHROPROF_SCOPE. In a nested loop they count as callbacks if they find something
 * ready and take 50 us or more. There is no delay, because GLib does not tell what is ready.
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

#define CHROPROF__GLIB_KEPT 16         /* waits */
#define CHROPROF__GLIB_CODE_NS 50000   /* between two waits: a callback ran that has no name */

static struct {
    chroprof *profile;
    GMainContext *context;                  /* NULL: none yet */
    GPollFunc poll;                         /* the context's own */
    guint depth;                            /* callbacks that run, inside each other */
    gboolean is_loop;                       /* the innermost one iterates, and others ran in there */
    gint ready;                             /* what the last wait found */
    guint count;                            /* its waits of which nobody knows yet whose they are: */
    struct { uint64_t begin, end; } kept[CHROPROF__GLIB_KEPT];
} chroprof__glib;

/* No time goes back: what the program told meanwhile stays where it is. */
static void chroprof__glib_tell(chroprof_state state, uint64_t at)
{
    uint64_t last = chroprof_last_event(chroprof__glib.profile);
    chroprof_event(chroprof__glib.profile, state, 0, NULL, at > last ? at : last);
}

/* Others run in a loop that a callback iterates: its waits were idle. */
static void chroprof__glib_is_loop(void)
{
    guint i;
    for (i = 0; i < chroprof__glib.count; i++) {
        chroprof__glib_tell(CHROPROF_LOOP_ENTER, chroprof__glib.kept[i].begin);
        chroprof__glib_tell(CHROPROF_IDLE_ENTER, chroprof__glib.kept[i].begin);
        chroprof__glib_tell(CHROPROF_IDLE_LEAVE, chroprof__glib.kept[i].end);
        chroprof__glib_tell(CHROPROF_LOOP_LEAVE, chroprof__glib.kept[i].end);
    }
    chroprof__glib.count = 0;
    chroprof__glib.is_loop = 1;
}

/* Nothing has run in it, and the callback returns: that has waited. */
static void chroprof__glib_has_waited(void)
{
    uint64_t now = chroprof_now(chroprof__glib.profile);
    guint i;
    for (i = 0; i < chroprof__glib.count; i++) {
        chroprof_waited(chroprof__glib.profile, "poll", NULL,
                        now - (chroprof__glib.kept[i].end - chroprof__glib.kept[i].begin));
    }
    chroprof__glib.count = 0;
}

/* Whether the callback's last wait woke one that has no name. */
static int chroprof__glib_ran(uint64_t now)
{
    guint last = chroprof__glib.count - 1;
    return chroprof__glib.count > 0 && chroprof__glib.ready > 0 &&
           chroprof_to_ns(chroprof__glib.profile, now - chroprof__glib.kept[last].end) >
               CHROPROF__GLIB_CODE_NS;
}

/* A callback iterates. */
static gint chroprof__glib_keep(GPollFD *fds, guint count, gint ms)
{
    uint64_t begin = chroprof_now(chroprof__glib.profile);
    gint ready = chroprof__glib.poll(fds, count, ms);
    if (chroprof__glib.count == CHROPROF__GLIB_KEPT) {
        chroprof__glib_has_waited();        /* of that many waits each would have run something */
    }
    chroprof__glib.kept[chroprof__glib.count].begin = begin;
    chroprof__glib.kept[chroprof__glib.count++].end = chroprof_now(chroprof__glib.profile);
    return ready;
}

static gint chroprof__glib_rest(GPollFD *fds, guint count, gint ms)
{
    gint ready;
    chroprof_loop_enter(chroprof__glib.profile);
    chroprof_idle_enter(chroprof__glib.profile);
    ready = chroprof__glib.poll(fds, count, ms);
    chroprof_loop_leave(chroprof__glib.profile);
    return ready;
}

static gint chroprof__glib_wait(GPollFD *fds, guint count, gint ms)
{
    if (chroprof__glib.depth > 0 && !chroprof__glib.is_loop) {
        if (ms == 0) {
            return chroprof__glib.poll(fds, count, ms);     /* a look, which takes no time */
        }
        if (!chroprof__glib_ran(chroprof_now(chroprof__glib.profile))) {
            chroprof__glib.ready = chroprof__glib_keep(fds, count, ms);
            return chroprof__glib.ready;
        }
        chroprof__glib_is_loop();
    }
    return chroprof__glib_rest(fds, count, ms);
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

/* A callback begins. Returns whether another one runs that iterates. */
static gboolean chroprof__glib_begin(void)
{
    if (chroprof__glib.depth > 0) {
        chroprof__glib_is_loop();
        chroprof_loop_enter(chroprof__glib.profile);
    }
    chroprof__glib.is_loop = 0;
    return chroprof__glib.depth++ > 0;
}

/* A dispatch as GLib's tables have it. */
typedef gboolean (*chroprof__glib_dispatch)(GSource *source, GSourceFunc call, gpointer data);

static gboolean chroprof__glib_run(chroprof__glib_dispatch dispatch, GSource *source,
                                   GSourceFunc call, gpointer data)
{
    gboolean stays, nested;
    if (g_source_get_context(source) != chroprof__glib.context) {
        return dispatch(source, call, data);
    }
    nested = chroprof__glib_begin();
    chroprof_enter(chroprof__glib.profile, chroprof__glib_site(source, call));
    stays = dispatch(source, call, data);
    chroprof__glib_has_waited();
    chroprof_leave(chroprof__glib.profile);
    chroprof__glib.depth--;
    chroprof__glib.is_loop = nested;
    if (nested) {
        chroprof_loop_leave(chroprof__glib.profile);
    }
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
