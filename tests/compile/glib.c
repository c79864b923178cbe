/* chroprof_glib.h in C and C++: each kind of source that GLib has, one whose table is a copy, one of
 * another context, one that iterates the loop and is called again in there. Exit status 0: right. */
#include <glib-unix.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
#define CHROPROF_IMPLEMENTATION
#include "../../chroprof.h"
#include "../../examples/adapters/chroprof_glib.h"

static chroprof prof;
static unsigned char memory[1 << 18];

static GSourceFuncs copied;
static int calls;

static void called(void)
{
    calls++;
}
static gboolean on_source(gpointer data)
{
    called();
    return data != NULL;
}
static gboolean on_again(gpointer data)
{
    called();
    return data == NULL;
}
static gboolean on_other(gpointer data)
{
    calls += 2;
    return data != NULL;
}
static gboolean on_fd(int fd, GIOCondition what, gpointer data)
{
    called();
    return fd < 0 || what == 0 || data != NULL;
}
static gboolean on_channel(GIOChannel *channel, GIOCondition what, gpointer data)
{
    called();
    return channel == NULL || what == 0 || data != NULL;
}
static void on_child(GPid pid, int status, gpointer data)
{
    (void)pid, (void)status, (void)data;
    called();
}

static void run(int until)
{
    gint64 end = g_get_monotonic_time() + 10 * G_USEC_PER_SEC;
    while (calls < until && g_get_monotonic_time() < end)
        g_main_context_iteration(NULL, TRUE);
}

/* Iterates the loop until it was called once more, in there, and a source made there as well. */
static gboolean on_nested(gpointer data)
{
    called();
    if (g_main_depth() == 1) {
        run(calls + 1);
        g_source_set_name_by_id(g_idle_add(on_source, data), "inside");
        run(calls + 1);
    }
    return G_SOURCE_REMOVE;
}

static guint named(guint id, const char *name)
{
    g_source_set_name_by_id(id, name);
    return id;
}

/* One of each kind: 7 calls, of 6 names and of none. */
static void every_kind(void)
{
    int ends[2];
    GIOChannel *channel;
    GSource *copy = g_timeout_source_new(1);
    pid_t child = fork();
    if (child == 0)
        _exit(0);
    if (pipe(ends) != 0 || write(ends[1], "", 1) != 1)
        return;
    copied = g_timeout_funcs;
    g_source_set_funcs(copy, &copied);
    g_source_set_callback(copy, on_source, NULL, NULL);
    g_source_set_name(copy, "copy");
    g_source_attach(copy, NULL);
    g_source_unref(copy);
    channel = g_io_channel_unix_new(ends[0]);
    named(g_io_add_watch(channel, G_IO_IN, on_channel, NULL), "channel");
    g_io_channel_unref(channel);
    named(g_unix_fd_add(ends[0], G_IO_IN, on_fd, NULL), "fd");
    named(g_unix_signal_add(SIGUSR1, on_source, NULL), "signal");
    named(g_child_watch_add(child, on_child, NULL), "child");
    named(g_idle_add(on_source, NULL), "idle");
    g_timeout_add(1, on_source, NULL);
    raise(SIGUSR1);
}

#ifndef CHROPROF_DISABLE
/* How many sites, of any kind, tell by their name where on_other is. */
static int others(void)
{
    chroprof_rank rows[32];
    char place[64];
    int found = 0;
    size_t count = chroprof_ranks(&prof, rows, 32, CHROPROF_BY_EXEC);
    g_snprintf(place, sizeof place, " chroprof__glib_wait%+ld",
               (long)((intptr_t)&on_other - (intptr_t)&chroprof__glib_wait));
    for (size_t i = 0; i < count && i < 32; i++)
        found += g_str_has_suffix(rows[i].name, place);
    return found;
}
#endif

/* Without a name of theirs, two callbacks in two kinds of sources are four sites. */
static int without_names(void)
{
    size_t before = chroprof_ranks(&prof, NULL, 0, CHROPROF_BY_EXEC);
    int until = calls + 6;
    g_idle_add(on_source, NULL);
    g_idle_add(on_other, NULL);
    g_timeout_add(1, on_source, NULL);
    g_timeout_add(1, on_other, NULL);
    run(until);
#ifndef CHROPROF_DISABLE
    before += 3; /* one of them is known from every_kind */
#endif
#ifndef CHROPROF_DISABLE
    if (others() != 2)
        return 0;
#endif
    return calls == until && chroprof_ranks(&prof, NULL, 0, CHROPROF_BY_EXEC) == before;
}

/* What the loop of another context calls is none of ours. */
static int other_context(void)
{
    GMainContext *other = g_main_context_new();
    GSource *source = g_timeout_source_new(1);
    int before = calls;
    g_source_set_name(source, "other");
    g_source_set_callback(source, on_source, NULL, NULL);
    g_source_attach(source, other);
    g_source_unref(source);
    g_main_context_iteration(other, TRUE);
    g_main_context_unref(other);
    return calls == before + 1;
}

#ifndef CHROPROF_DISABLE
/* 7 kinds, nested twice, inside once. GLib names timeouts without a name itself, or not. */
static int seen(void)
{
    static const char names[] = " copy channel fd signal child idle inside nested ";
    chroprof_rank rows[16];
    chroprof_totals totals;
    size_t count = chroprof_ranks(&prof, rows, 16, CHROPROF_BY_CALLS), known = 0;
    chroprof_read_totals(&prof, &totals);
    for (size_t i = 0; i < count; i++) {
        bool twice = strcmp(rows[i].name, "nested") == 0;
        known += strstr(names, rows[i].name) != NULL;
        if (rows[i].completed != (twice ? 2u : 1u) || rows[i].live != 0)
            return 0;
    }
    return count == 9 && known == 8 && totals.anomalies == 0 && totals.idle_ns >= 5000000;
}
#else
static int seen(void)
{
    return chroprof_check(&prof) == NULL;
}
#endif

/* Iterates until another thread says that it is enough, which runs nothing in this one. */
static gint enough;
static gpointer on_thread(gpointer data)
{
    g_usleep(30000);
    g_atomic_int_set(&enough, 1);
    g_main_context_wakeup(NULL);
    return data;
}
static gboolean on_waiting(gpointer data)
{
    GThread *thread;
    g_atomic_int_set(&enough, 0);
    thread = g_thread_new("waking", on_thread, NULL);
    while (!g_atomic_int_get(&enough))
        g_main_context_iteration(NULL, TRUE);
    g_thread_join(thread);
    called();
    return data != NULL;
}

/* Iterates until others have run ten times in there, and looks at the context in between. */
static gboolean on_window(gpointer data)
{
    guint id = named(g_timeout_add(3, on_again, NULL), "in_window");
    while (g_main_context_iteration(NULL, FALSE)) {}
    run(calls + 10);
    g_source_remove(id);
    called();
    return data != NULL;
}

#ifndef CHROPROF_DISABLE
static uint64_t callbacks(void)
{
    chroprof_totals totals;
    chroprof_read_totals(&prof, &totals);
    return totals.anomalies == 0 ? totals.callbacks : 0;
}

/* The only wait of a task there is, in ns. */
static uint64_t waited(void)
{
    chroprof_task_wait rows[4];
    bool right = chroprof_task_waits(&prof, rows, 4) == 1 && strcmp(rows[0].name, "waiting") == 0 &&
                 strcmp(rows[0].call, "poll") == 0;
    return right ? rows[0].total_ns : 0;
}
#else
static uint64_t callbacks(void)
{
    return (uint64_t)calls;
}
static uint64_t waited(void)
{
    return 20000000;
}
#endif

/* A callback that iterates while nothing else runs has waited; one in which others run has not, and
 * those are callbacks like itself. A busy machine may begin to wait late. */
static int nested_loops(void)
{
    uint64_t before;
    int until, tries;
    for (tries = 0; tries == 0 || (waited() < 20000000 && tries < 50); tries++) {
        until = calls + 1;
        named(g_idle_add(on_waiting, NULL), "waiting");
        run(until);
    }
    before = callbacks();
    until = calls + 11;
    named(g_idle_add(on_window, NULL), "window");
    run(until);
    return waited() >= 20000000 && calls == until && callbacks() == before + 11;
}

int main(void)
{
    if (chroprof_init(&prof, memory, sizeof memory, NULL) != CHROPROF_OK)
        return 1;
    chroprof_glib(&prof, NULL);
    chroprof_glib(&prof, NULL); /* does nothing */
    every_kind();
    run(7);
    if (calls != 7)
        return 2;
    g_source_set_can_recurse(
        g_main_context_find_source_by_id(NULL, named(g_timeout_add(5, on_nested, NULL), "nested")),
        TRUE);
    run(10);
    if (calls != 10 || !other_context())
        return 3;
    if (chroprof_check(&prof) != NULL)
        return 4;
    if (!seen())
        return 5;
    if (!without_names())
        return 6;
    return nested_loops() ? 0 : 7;
}
