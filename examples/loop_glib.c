/* Every source of a GLib main loop by its name: a server, its clients, an autosave, a dialog. */
/* build: cc -O2 FILE -o OUT $(pkg-config --cflags --libs glib-2.0) ; needs: libglib2.0-dev */
/* Sources of GLib's own kinds, also those of libraries, have their names; a callback may iterate
 * the loop. Not seen: what else was ready, so there is no delay. Uninstrumented: other sources
 * (GDBus, sockets) without CHROPROF_SCOPE. A source without a name shows an address. */
#include <glib.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>
#define CHROPROF_IMPLEMENTATION /* chroprof */
#include "../chroprof.h" /* chroprof */
#include "adapters/chroprof_glib.h" /* chroprof */

static chroprof prof; /* chroprof */
static unsigned char memory[1 << 20]; /* chroprof */

static int clients;

static gboolean on_message(GIOChannel *channel, GIOCondition condition, gpointer reply)
{
    char text[8];
    int fd = g_io_channel_unix_get_fd(channel); /* one message each: goes in its own dispatch */
    return condition && read(fd, text, 4) == 4 && reply && write(fd, reply, 4) != 4;
}

static gboolean on_client(gpointer request)
{
    int fds[2];
    socketpair(AF_UNIX, SOCK_STREAM, 0, fds);
    for (int i = 0; i < 2; i++) {
        GIOChannel *channel = g_io_channel_unix_new(fds[i]);
        g_io_channel_set_close_on_unref(channel, TRUE);
        guint id = g_io_add_watch(channel, G_IO_IN, on_message, i == 0 ? NULL : "pong");
        g_source_set_name_by_id(id, i == 0 ? "reply" : "request");
        g_io_channel_unref(channel);
    }
    clients++;
    return write(fds[0], request, 4) == 4;
}

static gboolean on_busy(gpointer us) /* autosave is the culprit, worker has a loop of its own */
{
    gint64 end = g_get_monotonic_time() + GPOINTER_TO_INT(us);
    while (g_get_monotonic_time() < end) {}
    return G_SOURCE_CONTINUE;
}

static gboolean on_dialog(gpointer rounds) /* iterates the loop, which calls it again in there */
{
    for (int i = GPOINTER_TO_INT(rounds); i > 0 && g_main_depth() == 1; i--)
        g_main_context_iteration(NULL, TRUE);
    return G_SOURCE_CONTINUE;
}

static gpointer worker(gpointer context)
{
    GSource *source = g_timeout_source_new(10);
    g_source_set_callback(source, on_busy, GINT_TO_POINTER(1000), NULL);
    g_source_attach(source, context);
    return g_main_loop_run(g_main_loop_new(context, FALSE)), NULL;
}

int main(int argc, char **argv)
{
    if (argc != 1 && (argc != 3 || g_strcmp0(argv[1], "--json")))
        return fprintf(stderr, "usage: %s [--json FILE]\n", argv[0]), 2;
    chroprof_init(&prof, memory, sizeof memory, NULL); /* chroprof */
    chroprof_glib(&prof, NULL); /* chroprof */
    guint dialog = g_timeout_add(300, on_dialog, GINT_TO_POINTER(60));
    g_source_set_can_recurse(g_main_context_find_source_by_id(NULL, dialog), TRUE);
    g_source_set_name_by_id(dialog, "dialog");
    g_source_set_name_by_id(g_timeout_add(5, on_client, "ping"), "client");
    g_source_set_name_by_id(g_timeout_add(60, on_busy, GINT_TO_POINTER(12000)), "autosave");
    g_thread_new("worker", worker, g_main_context_new());
    while (clients < 250)
        g_main_context_iteration(NULL, TRUE);
    chroprof_dump(&prof, CHROPROF_TEXT, stdout); /* chroprof */
    if (argc > 1 && (!freopen(argv[2], "w", stdout) || chroprof_dump(&prof, CHROPROF_JSON, stdout)))
        return perror(argv[2]), 1;
}
