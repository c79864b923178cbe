/* top.c - chroprof top: a live view of a profile in a file. watch.h looks at it, this shows what
 * was seen: on a terminal as a full screen with keys, else as plain text, an interval a block. */

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "commands.h"
#include "input.h"
#include "message.h"
#include "options.h"
#include "screen.h"
#include "terminal.h"
#include "top.h"
#include "values.h"

/* >>top keys */

static void top_type(top *t, int key)
{
    size_t length = strlen(t->filter);
    if (key == KEY_ESCAPE) {
        t->typing = false;
        t->filter[0] = '\0';
    } else if (key == '\r' || key == '\n') {
        t->typing = false;
    } else if (key == KEY_BACKSPACE || key == 8) {
        t->filter[length > 0 ? length - 1 : 0] = '\0';
    } else if (key >= ' ' && key < 256 && length + 1 < sizeof t->filter) {
        t->filter[length] = (char)key;
        t->filter[length + 1] = '\0';
    }
    t->scroll = t->chosen = 0;
    t->choosing = false;
}

/* Moves to another row, which the table then shows; the first key chooses the first row. */
static void top_move(top *t, int key)
{
    size_t last = t->row_count > 0 ? t->row_count - 1 : 0;
    size_t page = t->lines > 1 ? t->lines - 1 : 1;
    size_t step = key == KEY_PAGE_UP || key == KEY_PAGE_DOWN ? page : 1;
    if (key == KEY_HOME || key == KEY_END) {
        t->chosen = key == KEY_HOME ? 0 : last;
    } else if (key == KEY_UP || key == KEY_PAGE_UP) {
        t->chosen -= step < t->chosen ? step : t->chosen;
    } else if (t->choosing || step > 1) {
        t->chosen = t->chosen + step < last ? t->chosen + step : last;
    }
    t->choosing = true;
    if (t->chosen < t->scroll) {
        t->scroll = t->chosen;
    } else if (t->lines > 0 && t->chosen >= t->scroll + t->lines) {
        t->scroll = t->chosen + 1 - t->lines;
    }
}

static void top_order(top *t, int key)
{
    for (int i = 0; i < TOP_ORDERS; i++) {
        t->sort = top_columns[i].key == key ? i : t->sort;
    }
    if (key == '<' || key == KEY_LEFT) {
        t->sort = (t->sort + TOP_ORDERS - 1) % TOP_ORDERS;
    } else if (key == '>' || key == KEY_RIGHT) {
        t->sort = (t->sort + 1) % TOP_ORDERS;
    }
}

static void top_interval(top *t, bool longer)
{
    if (longer && t->interval_ns < UINT64_C(60000000000)) {
        t->interval_ns *= 2;
    } else if (!longer && t->interval_ns > 200000000u) {
        t->interval_ns /= 2;
    }
}

static void top_obey(top *t, int key)
{
    switch (key) {
    case 'q': case 4: t->done = true; break;
    case '?': case 'h': t->helping = true; break;
    case ' ': t->paused = !t->paused; break;
    case '/': t->typing = true; t->filter[0] = '\0'; break;
    case 'a': t->all = !t->all; break;
    case '+': case '=': case '-': top_interval(t, key != '-'); break;
    case KEY_ESCAPE:
        if (!t->detail) {
            t->filter[0] = '\0';
        }
        t->detail = false;
        break;
    case '\r': case '\n': top_choose(t); break;
    case KEY_UP: case KEY_DOWN: case KEY_PAGE_UP: case KEY_PAGE_DOWN: case KEY_HOME: case KEY_END:
        if (!t->detail) {
            top_move(t, key);
        }
        break;
    default: top_order(t, key);
    }
}

static void top_take_key(void *user, int key)
{
    top *t = (top *)user;
    if (t->helping) {
        t->helping = false;
        t->done = key == 'q' ? false : t->done;
    } else if (t->typing) {
        top_type(t, key);
    } else {
        top_obey(t, key);
    }
}

/* >>top loop */

/* Between looks: a quarter of a second, for what runs now, unless that took more than a twentieth
 * of our time; at most an interval. */
static double top_pause(const top *t)
{
    double interval = (double)t->interval_ns / 1e9;
    double pause = 20 * t->watch.cost > 0.25 ? 20 * t->watch.cost : 0.25;
    return t->full && pause < interval ? pause : interval;
}

static void top_signals(top *t)
{
    screen_signals *signals = screen_signalled();
    if (signals->stop) {
        signals->stop = 0;
        screen_stop();
    }
    if (signals->continued || signals->resized) {
        signals->continued = signals->resized = 0;
        screen_measure(the_screen());
        if (t->full) {
            screen_write("\033[2J", 4);
        }
    }
    t->done = t->done || signals->end != 0;
}

/* Plain output is told at the end of an interval, and when the program ends or comes back. */
static bool top_worth_printing(const top *t, bool over, top_state before)
{
    return t->watch.state == TOP_RUNS ? over && t->watch.base != NULL
                                      : over || t->watch.state != before;
}

/* Looks, and shows what there is to show. */
static void top_step(top *t)
{
    top_state before = t->watch.now != NULL ? t->watch.state : TOP_RUNS;
    uint64_t programs = t->watch.restarts;
    bool over = !t->paused && watch_look(&t->watch, (double)t->interval_ns / 1e9);
    bool told = top_worth_printing(t, over, before);
    bool counts = t->full ? over && t->watch.base != NULL : told || t->watch.state != TOP_RUNS;
    if (t->watch.restarts != programs) {
        t->shown_stalls = 0;                /* the next program's time begins anew */
    }
    top_refresh(t);
    if (t->full) {
        top_draw(t);
    } else if (told) {
        top_print(t);
    }
    if (counts && t->count > 0 && --t->count == 0) {
        t->done = true;
    }
}

static void top_loop(top *t)
{
    while (!t->done) {
        double next = seconds_now() + top_pause(t);
        t->watch.over = t->process[0] != '\0' && attach_live_ended(&t->live);
        top_step(t);
        t->done = t->done || t->watch.over;
        while (!t->done && seconds_now() < next) {
            bool keys = screen_wait(next - seconds_now());
            if (keys) {
                screen_keys(top_take_key, t);
            }
            bool draw = keys || screen_signalled()->resized || screen_signalled()->continued;
            top_signals(t);
            if (draw && t->full) {
                top_refresh(t);
                top_draw(t);
            }
        }
    }
}

/* >>top run */

static const char *set_top_interval(void *field, const char *value)
{
    uint64_t ns;
    if (!read_seconds(value, &ns) || ns < 50000000 || ns > UINT64_C(86400000000000)) {
        return "expected a number of seconds from 0.05 to 86400";
    }
    *(uint64_t *)field = ns;
    return NULL;
}

static const char *set_top_count(void *field, const char *value)
{
    bool ok = read_count(value, 1, 1000000000, (uint64_t *)field);
    return ok ? NULL : "expected a number from 1 to 1000000000";
}

static const char *set_top_columns(void *field, const char *value)
{
    bool ok = read_count(value, 20, 500, (uint64_t *)field);
    return ok ? NULL : "expected a width from 20 to 500";
}

static const char *set_top_filter(void *field, const char *value)
{
    if (strlen(value) >= TOP_FILTER_BYTES) {
        return "expected a text of at most 63 bytes";
    }
    (void)snprintf((char *)field, TOP_FILTER_BYTES, "%s", value);
    return NULL;
}

static const choice top_orders[] = {
    { "exec", TOP_EXEC }, { "cpu", TOP_CPU }, { "off-cpu", TOP_OFF_CPU },
    { "children", TOP_CHILDREN }, { "slices", TOP_SLICES }, { "average", TOP_MEAN },
    { "p99", TOP_P99 }, { "max", TOP_MAX }, { "blame", TOP_BLAME }, { "delay", TOP_DELAY },
    { "latency-p50", TOP_LATENCY_P50 }, { "latency", TOP_LATENCY_P99 },
    { "latency-max", TOP_LATENCY_MAX }, { "calls", TOP_CALLS }, { "live", TOP_LIVE },
    { "name", TOP_NAME }, { NULL, 0 }
};

static const char *set_top_by(void *field, const char *value)
{
    return choose(top_orders, value, (int *)field)
           ? NULL : "expected exec, cpu, off-cpu, children, slices, average, p99, max, blame, "
                    "delay, latency-p50, latency (p99), latency-max, calls, live or name";
}

static const tool_option top_options[] = {
    { "delay", 'd', "SECONDS", "length of an interval (default 1), from 0.05", set_top_interval,
      offsetof(top, interval_ns), NULL },
    { "count", 'n', "COUNT", "quit after this many intervals", set_top_count,
      offsetof(top, count), NULL },
    { "by", 'b', "ORDER", "exec (default), cpu, off-cpu, children, slices,\n"
      "average, p99, max, blame, delay, latency-p50,\n"
      "latency (p99), latency-max, calls, live or name", set_top_by,
      offsetof(top, sort), top_orders },
    { "filter", '/', "TEXT", "only sites with this text in name or file", set_top_filter,
      offsetof(top, filter), NULL },
    { "attach", '\0', NULL, "watch a process without a profile from outside, as\n"
      "chroprof attach does (Linux)", set_flag, offsetof(top, attach), NULL },
    { "all", 'a', NULL, "since the start of the program, not the last\ninterval",
      set_flag, offsetof(top, all), NULL },
    { "rows", 'r', "N", "rows of plain output (default 20)", set_rows,
      offsetof(top, most_rows), NULL },
    { "columns", 'w', "N", "width of plain output, 20 to 500 (default 80)", set_top_columns,
      offsetof(top, columns_wanted), NULL },
    { "ascii", '\0', NULL, "plain ASCII", set_flag, offsetof(top, ascii), NULL },
    { "color", '\0', "WHEN", "auto (default: on a terminal), always or never", set_color,
      offsetof(top, color), color_choices }
};

static const char top_text[] =
    "\n"
    "Shows which sites held the loop in the last interval, which made the others\n"
    "wait, what runs now and since when, and new stalls. A program that hangs is\n"
    "named at once: time that no event has closed yet counts for what runs. When the\n"
    "program ends, top says so and follows the next program that uses the file.\n"
    "\n"
    "Keys: ? shows them, q quits; up and down choose a site, Enter shows its figures,\n"
    "stalls, callers and live futures. If the output is not a terminal, or a dumb\n"
    "one, each interval is a block of plain text. NO_COLOR: no colors.\n"
    "\n"
    "examples:\n"
    "  chroprof top server.chroprof\n"
    "  chroprof top $(pidof server) --by blame\n"
    "  chroprof top $(pidof redis-server) --attach\n"
    "  chroprof top server.chroprof -d 10 -n 6 >minute.txt\n";

static void top_begin(top *t)
{
    const char *terminal = getenv("TERM");
    t->full = isatty(STDOUT_FILENO) == 1 && terminal != NULL && strcmp(terminal, "dumb") != 0;
    t->sheet.ascii = ascii_wanted(t->ascii);
    t->sheet.color = color_wanted(t->color, stdout);
    screen_begin(t->full);
}

/* Looks four times an interval at what is written twice in it. */
static bool top_attach(top *t)
{
    if (!attach_live_begin(&t->live, t->operand, t->interval_ns / 2 < 500000000u
                                                 ? t->interval_ns / 2 : 500000000u)) {
        return false;
    }
    (void)snprintf(t->process, sizeof t->process, "process %s", t->operand);
    return block_open(&t->watch.target, t->live.file);
}

static void top_let_go(top *t)
{
    if (t->process[0] != '\0') {
        if (t->watch.over) {
            tool_message("%s has ended", t->process);
        }
        attach_live_end(&t->live);
    }
}

/* There must be something to follow at the beginning: a wrong name is no reason to wait. */
static int top_follow(top *t)
{
    bool attach = t->attach && block_is_process(t->operand) && !block_of_a_process(t->operand);
    if (attach ? !top_attach(t) : !block_open(&t->watch.target, t->operand)) {
        return TOOL_INPUT;
    }
    if (t->watch.target.stream) {
        tool_message("%s: top needs a file or a process, because it reads it again and again",
                     t->watch.target.name);
        return TOOL_INPUT;
    }
    block_close(&t->watch.target);
    top_begin(t);
    top_loop(t);
    screen_leave();
    top_let_go(t);
    watch_forget(&t->watch);
    free(t->rows);
    free(t->sheet.bytes);
    if (screen_signalled()->end != 0) {
        screen_end_by(screen_signalled()->end);
    }
    return TOOL_OK;
}

static int top_run(const tool_command *command, int count, char **words)
{
    static top t;
    int result;
    t.interval_ns = 1000000000;
    t.most_rows = 20;
    input_must_be_file();
    return take_words(command, count, words, &t, &t.operand, 1, &result) ? top_follow(&t) : result;
}

const tool_command top_command = {
    "top", "FILE|PID [options]", { "FILE or PID" },
    "Shows live what holds the loop of a program, and what runs now.",
    top_text, OPTIONS_OF(top_options), top_run
};
