/* Every source of a GLib main loop by its name: a server, its clients, an autosave, a dialog. */
/* build: cc -O2 FILE -o OUT $(pkg-config --cflags --libs glib-2.0) ; needs: libglib2.0-dev */
/* Copy dispatch(), which goes into the tables of GLib's own sources, libraries' too, and
 * wait_for(), whose barrier lets a callback iterate the loop (what that runs is its child).
 * Lost: what else was ready, so no delay, no blame. Sources without a name are one site. */
#include <glib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#define CHROPROF_IMPLEMENTATION /* chroprof */
#include "../chroprof.h" /* chroprof */

static chroprof prof; /* chroprof */
static struct { GSourceFuncs *table, real; } kinds[] = { /* chroprof */
    { &g_timeout_funcs, {0} }, { &g_idle_funcs, {0} }, { &g_io_watch_funcs, {0} } }; /* chroprof */
static long idle_us, dispatched;

static gboolean dispatch(GSource *source, GSourceFunc callback, gpointer data)
{
    const char *name = g_source_get_name(source) ? g_source_get_name(source) : "unnamed";
    int kind = 0;
    while (kinds[kind].table != source->source_funcs) kind++;
    dispatched++;
    chroprof_enter(&prof, chroprof_site_make(&prof, name, NULL, 0)); /* chroprof */
    gboolean keep = kinds[kind].real.dispatch(source, callback, data);
    chroprof_leave(&prof); /* chroprof */
    return keep;
}

static gint wait_for(GPollFD *fds, guint count, gint timeout)
{
    chroprof_loop_enter(&prof); /* chroprof */
    chroprof_idle_enter(&prof); /* chroprof */
    gint64 start = g_get_monotonic_time();
    gint ready = g_poll(fds, count, timeout);
    idle_us += g_get_monotonic_time() - start;
    chroprof_loop_leave(&prof); /* chroprof */
    return ready;
}

static gboolean on_message(GIOChannel *channel, GIOCondition condition, gpointer reply)
{
    char text[8];
    int fd = g_io_channel_unix_get_fd(channel); /* one message each: goes in its own dispatch */
    return condition && read(fd, text, 4) == 4 && reply && write(fd, reply, 4) != 4;
}

static void watch(int fd, const char *name, gpointer reply)
{
    GIOChannel *channel = g_io_channel_unix_new(fd);
    g_io_channel_set_close_on_unref(channel, TRUE);
    g_source_set_name_by_id(g_io_add_watch(channel, G_IO_IN, on_message, reply), name);
    g_io_channel_unref(channel);
}

static gboolean on_client(gpointer request)
{
    int fds[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, fds) != 0) return G_SOURCE_REMOVE;
    watch(fds[1], "request", "pong");
    watch(fds[0], "reply", NULL);
    return write(fds[0], request, 4) == 4;
}

static gboolean on_autosave(gpointer us) /* the culprit */
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

int main(int argc, char **argv)
{
    if (argc != 1 && (argc != 3 || strcmp(argv[1], "--json") != 0))
        return fprintf(stderr, "usage: %s [--json FILE]\n", argv[0]), 2;
    chroprof_init(&prof, g_malloc(1 << 20), 1 << 20, NULL); /* chroprof */
    for (guint i = 0; i < G_N_ELEMENTS(kinds); i++) {
        kinds[i].real = *kinds[i].table; /* chroprof */
        kinds[i].table->dispatch = dispatch; /* chroprof */
    }
    g_main_context_set_poll_func(NULL, wait_for); /* chroprof */
    guint dialog = g_timeout_add(300, on_dialog, GINT_TO_POINTER(60));
    g_source_set_can_recurse(g_main_context_find_source_by_id(NULL, dialog), TRUE);
    g_source_set_name_by_id(dialog, "dialog");
    g_source_set_name_by_id(g_timeout_add(5, on_client, "ping"), "client");
    g_source_set_name_by_id(g_timeout_add(60, on_autosave, GINT_TO_POINTER(12000)), "autosave");
    for (gint64 end = g_get_monotonic_time() + 1500000; g_get_monotonic_time() < end;)
        g_main_context_iteration(NULL, TRUE);
    chroprof_dump(&prof, CHROPROF_TEXT, stdout); /* chroprof */
    fprintf(stderr, "independent idle: %ld000\ndispatched: %ld\n", idle_us, dispatched);
    if (argc > 1 && (!freopen(argv[2], "w", stdout) || chroprof_dump(&prof, CHROPROF_JSON, stdout)))
        return perror(argv[2]), 2;
}
