/* run_glib.c - a small program on GLib's main loop, for tests/run_command.sh; the callback that is
 * named is slow once.
 *
 *     run_glib NAME             timer, idle, file, child or signal
 *
 * It prints what it saw of itself: the test compares that with and without chroprof run. */

#include <glib-unix.h>
#include <glib.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char *slow_one;
static GMainLoop *loop;
static int pipe_ends[2];
static int rounds, idles, bytes, children, signals;

/* Uses 300 ms of CPU time, the first time that this one is called in the fifth round or later. */
static void slow_if(const char *name)
{
    static volatile unsigned long sink;
    struct timespec now;
    long end = 0;
    if (rounds < 5 || slow_one == NULL || strcmp(slow_one, name) != 0) {
        return;
    }
    slow_one = NULL;
    do {
        for (unsigned long i = 0; i < 1000000; i++) {
            sink = sink + i;
        }
        (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
        end = end > 0 ? end : now.tv_sec * 1000 + now.tv_nsec / 1000000 + 300;
    } while (now.tv_sec * 1000 + now.tv_nsec / 1000000 < end);
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
    if (rounds == 6) {
        (void)raise(SIGUSR1);
        start_child();
    }
    if (rounds >= 40 && children == 1) {
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
    g_main_loop_run(loop);
    g_main_loop_unref(loop);
    printf("idles %s, bytes %s, %d children, %d signals\n", idles >= 35 ? "all" : "less",
           bytes >= 35 ? "all" : "less", children, signals);
    return 5;
}
