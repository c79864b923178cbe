/* run_glib.c - a small program on GLib's main loop, for tests/run_command.sh; the callback that is
 * named is slow once.
 *
 *     run_glib NAME             timer, idle, file, child, signal, source, socket or own
 *
 * It prints what it saw of itself: the test compares that with and without chroprof run. */

#include <gio/gio.h>
#include <glib-unix.h>
#include <glib.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "run_slow.h"

static const char *slow_one;
static GMainLoop *loop;
static int pipe_ends[2];
static int rounds, idles, bytes, children, signals, sources, messages, owns;
static GSocket *sockets[2];

/* Works slowly, the first time that this one is called in the fifth round or later. */
static void slow_if(const char *name)
{
    if (rounds >= 5 && slow_one != NULL && strcmp(slow_one, name) == 0) {
        slow_one = NULL;
        spend_slowly();
    }
}

static gboolean on_idle(gpointer data)
{
    idles += *(int *)data;
    slow_if("idle");
    return G_SOURCE_REMOVE;
}

static gboolean on_file(gint fd, GIOCondition condition, gpointer data)
{
    char byte;
    (void)data;
    bytes += condition == G_IO_IN && read(fd, &byte, 1) == 1;
    slow_if("file");
    return G_SOURCE_CONTINUE;
}

static void on_child(GPid child, gint status, gpointer data)
{
    (void)data;
    children += child > 0 && status == 0;
    slow_if("child");
}

static gboolean on_signal(gpointer data)
{
    (void)data;
    signals++;
    slow_if("signal");
    return G_SOURCE_CONTINUE;
}

/* Of a source that the program makes of GLib's, one of GIO's, and one of its own kind. */
static gboolean on_source(gpointer data)
{
    sources += *(int *)data == 1;
    slow_if("source");
    return G_SOURCE_CONTINUE;
}

static gboolean on_socket(GSocket *socket, GIOCondition condition, gpointer data)
{
    char byte;
    messages += condition == G_IO_IN && data == (gpointer)sockets &&
                g_socket_receive(socket, &byte, 1, NULL, NULL) == 1;
    slow_if("socket");
    return G_SOURCE_CONTINUE;
}

static void on_own(int a, double b, int c, double d, int e, int f, int g, int h)
{
    owns += a == 1 && b == 2.5 && c == 3 && d == 4.5 && e == 5 && f == 6 && g == 7 && h == 8;
    slow_if("own");
}

typedef void own_callback(int, double, int, double, int, int, int, int);

static gboolean is_due(GSource *source)
{
    return g_source_get_time(source) >= g_source_get_ready_time(source);
}

static gboolean prepare_own(GSource *source, gint *ms)
{
    *ms = 5;
    return is_due(source);
}

static gboolean dispatch_own(GSource *source, GSourceFunc called, gpointer data)
{
    (void)data;
    g_source_set_ready_time(source, g_source_get_time(source) + 10000);
    ((own_callback *)(void (*)(void))called)(1, 2.5, 3, 4.5, 5, 6, 7, 8);
    return G_SOURCE_CONTINUE;
}

static void add_source(GSource *source, void (*called)(void), gpointer data)
{
    g_source_set_callback(source, (GSourceFunc)called, data, NULL);
    (void)g_source_attach(source, NULL);
    g_source_unref(source);
}

static void add_sources(void)
{
    static GSourceFuncs own_kind = { prepare_own, is_due, dispatch_own, NULL, NULL, NULL };
    static int one = 1;
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0) {
        sockets[0] = g_socket_new_from_fd(ends[0], NULL);
        sockets[1] = g_socket_new_from_fd(ends[1], NULL);
        add_source(g_socket_create_source(sockets[0], G_IO_IN, NULL), (void (*)(void))on_socket,
                   sockets);
    }
    add_source(g_timeout_source_new(10), (void (*)(void))on_source, &one);
    add_source(g_source_new(&own_kind, sizeof(GSource)), (void (*)(void))on_own, NULL);
}

static void start_child(void)
{
    char program[] = "true";
    char *words[] = { program, NULL };
    GPid child;
    if (g_spawn_async(NULL, words, NULL, G_SPAWN_SEARCH_PATH | G_SPAWN_DO_NOT_REAP_CHILD, NULL,
                      NULL, &child, NULL)) {
        (void)g_child_watch_add(child, on_child, NULL);
    }
}

static gboolean on_timer(gpointer data)
{
    static int one = 1;
    (void)data;
    rounds++;
    slow_if("timer");
    (void)g_idle_add(on_idle, &one);
    if (write(pipe_ends[1], "x", 1) != 1) {
        puts("not written");
    }
    (void)g_socket_send(sockets[1], "x", 1, NULL, NULL);
    if (rounds == 6) {
        (void)raise(SIGUSR1);
        start_child();
    }
    if (rounds >= 40 && children == 1 && signals == 1 && owns >= 8 && sources >= 8) {
        g_main_loop_quit(loop);
    }
    return rounds < 400;
}

int main(int count, char **words)
{
    slow_one = count > 1 ? words[1] : "timer";
    if (pipe(pipe_ends) != 0) {
        return 1;
    }
    loop = g_main_loop_new(NULL, FALSE);
    (void)g_timeout_add(5, on_timer, NULL);
    (void)g_unix_fd_add(pipe_ends[0], G_IO_IN, on_file, NULL);
    (void)g_unix_signal_add(SIGUSR1, on_signal, NULL);
    add_sources();
    g_main_loop_run(loop);
    g_main_loop_unref(loop);
    printf("idles %s, bytes %s, %d children, %d signals, %s\n", idles >= 35 ? "all" : "less",
           bytes >= 35 ? "all" : "less", children, signals,
           messages >= 35 ? "all messages" : "fewer messages");
    return 5;
}
