/* screen.c - see screen.h */

#include "screen.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/select.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#define SCREEN_BEGIN "\033[?1049h\033[?25l\033[?7l"      /* other page, no cursor, no wrapping */
#define SCREEN_END "\033[?7h\033[?25h\033[?1049l"

screen_signals *screen_signalled(void)
{
    static screen_signals signals;
    return &signals;
}

screen *the_screen(void)
{
    static screen only;
    return &only;
}

/* >>screen state. Only calls that a signal handler may make. */

void screen_write(const char *bytes, size_t count)
{
    while (count > 0) {
        ssize_t done = write(STDOUT_FILENO, bytes, count);
        if (done < 0 && errno != EINTR && errno != EAGAIN) {
            return;
        }
        if (done > 0) {
            bytes += done;
            count -= (size_t)done;
        }
    }
}

void screen_leave(void)
{
    screen *s = the_screen();
    if (!s->full) {
        return;
    }
    s->full = false;
    screen_write(SCREEN_END, sizeof SCREEN_END - 1);
    if (s->keys) {
        (void)tcsetattr(STDIN_FILENO, TCSAFLUSH, &s->before);
    }
}

void screen_measure(screen *s)
{
    s->columns = 80;
    s->rows = 24;
#ifdef TIOCGWINSZ
    struct winsize size;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 && size.ws_row > 0) {
        s->columns = size.ws_col;
        s->rows = size.ws_row;
    }
#endif
}

static void screen_enter(void)
{
    screen *s = the_screen();
    struct termios raw = s->before;
    raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
    raw.c_cc[VMIN] = 0;
    raw.c_cc[VTIME] = 0;
    if (s->keys) {
        (void)tcsetattr(STDIN_FILENO, TCSADRAIN, &raw);
    }
    screen_write(SCREEN_BEGIN, sizeof SCREEN_BEGIN - 1);
    s->full = true;
    screen_measure(s);
}

/* >>screen signals */

static void screen_on_signal(int number)
{
    screen_signals *signals = screen_signalled();
    if (number == SIGTSTP) {
        signals->stop = 1;
    } else if (number == SIGCONT) {
        signals->continued = 1;
    } else if (number == SIGWINCH) {
        signals->resized = 1;
    } else {
        signals->end = number;
    }
}

/* A fault of ours must not leave the terminal as it is now. */
static void screen_on_fault(int number)
{
    screen_leave();
    (void)signal(number, SIG_DFL);
    (void)raise(number);
}

static void screen_handle(const int *numbers, size_t count, void (*handler)(int), sigset_t *held)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    for (size_t i = 0; i < count; i++) {
        struct sigaction old;
        if (sigaction(numbers[i], NULL, &old) == 0 && old.sa_handler == SIG_IGN &&
            numbers[i] == SIGHUP) {
            continue;                       /* nohup */
        }
        (void)sigaction(numbers[i], &action, NULL);
        if (held != NULL) {
            (void)sigaddset(held, numbers[i]);
        }
    }
}

static void screen_catch(screen *s)
{
    static const int wanted[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGCONT, SIGWINCH };
    static const int faults[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT };
    sigset_t held;
    (void)sigemptyset(&held);
    screen_handle(wanted, sizeof wanted / sizeof wanted[0], screen_on_signal, &held);
    screen_handle(faults, sizeof faults / sizeof faults[0], screen_on_fault, NULL);
    (void)sigprocmask(SIG_BLOCK, &held, &s->waiting);
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        (void)sigdelset(&s->waiting, wanted[i]);
    }
}

void screen_end_by(int number)
{
    sigset_t one;
    screen_leave();
    (void)signal(number, SIG_DFL);
    (void)sigemptyset(&one);
    (void)sigaddset(&one, number);
    (void)raise(number);
    (void)sigprocmask(SIG_UNBLOCK, &one, NULL);
}

void screen_stop(void)
{
    bool full = the_screen()->full;
    screen_leave();
    (void)raise(SIGSTOP);
    if (full) {
        screen_enter();
    }
}

void screen_begin(bool full)
{
    screen *s = the_screen();
    s->keys = full && tcgetattr(STDIN_FILENO, &s->before) == 0;
    screen_catch(s);
    (void)atexit(screen_leave);
    if (full) {
        screen_enter();
    }
}

/* >>screen keys */

/* The rest of an escape sequence, which comes in one piece. */
static int screen_sequence(const char *bytes, size_t count)
{
    static const struct { const char *bytes; int key; } known[] = {
        { "[A", KEY_UP }, { "[B", KEY_DOWN }, { "[C", KEY_RIGHT }, { "[D", KEY_LEFT },
        { "OA", KEY_UP }, { "OB", KEY_DOWN }, { "OC", KEY_RIGHT }, { "OD", KEY_LEFT },
        { "[5~", KEY_PAGE_UP }, { "[6~", KEY_PAGE_DOWN }, { "[H", KEY_HOME }, { "[F", KEY_END },
        { "OH", KEY_HOME }, { "OF", KEY_END }, { "[1~", KEY_HOME }, { "[4~", KEY_END }
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (strlen(known[i].bytes) == count && memcmp(known[i].bytes, bytes, count) == 0) {
            return known[i].key;
        }
    }
    return count == 0 ? KEY_ESCAPE : KEY_NONE;
}

/* How many bytes of an escape sequence belong together. */
static size_t screen_sequence_length(const char *bytes, size_t count)
{
    size_t used = 1;
    if (count > 1 && (bytes[1] == '[' || bytes[1] == 'O')) {
        for (used = 2; used < count && (bytes[used] < '@' || bytes[used] > '~'); used++) {
        }
        used += used < count;
    }
    return used;
}

/* Does it end within an escape sequence, or with the key that begins one? */
static bool screen_is_cut(const char *bytes, size_t count)
{
    size_t i = count;
    while (i > 0 && bytes[i - 1] != KEY_ESCAPE) {
        i--;
    }
    if (i == 0) {
        return false;
    }
    const size_t length = screen_sequence_length(bytes + i - 1, count - i + 1);
    const char last = bytes[count - 1];
    return i - 1 + length == count && (length < 3 || last < '@' || last > '~');
}

/* What has been pressed. The rest of a sequence may come a moment later. */
static size_t screen_read(char *bytes, size_t size)
{
    struct pollfd more = { STDIN_FILENO, POLLIN, 0 };
    size_t count = 0;
    do {
        ssize_t got = read(STDIN_FILENO, bytes + count, size - count);
        if (got == 0 || (got < 0 && errno == EIO)) {
            screen_signalled()->end = SIGHUP;   /* the terminal has gone */
        }
        if (got <= 0) {
            break;
        }
        count += (size_t)got;
    } while (count < size && screen_is_cut(bytes, count) && poll(&more, 1, 50) > 0);
    return count;
}

void screen_keys(void (*take)(void *user, int key), void *user)
{
    char bytes[1024];
    const size_t count = screen_read(bytes, sizeof bytes);
    for (size_t i = 0; i < count;) {
        if (bytes[i] != KEY_ESCAPE) {
            take(user, (unsigned char)bytes[i++]);
            continue;
        }
        size_t length = screen_sequence_length(bytes + i, count - i);
        take(user, screen_sequence(bytes + i + 1, length - 1));
        i += length;
    }
}

bool screen_wait(double seconds)
{
    const screen *s = the_screen();
    struct timespec most;
    fd_set readable;
    seconds = seconds > 0 ? seconds : 0;
    most.tv_sec = (time_t)seconds;
    most.tv_nsec = (long)((seconds - (double)most.tv_sec) * 1e9);
    FD_ZERO(&readable);
    if (s->keys) {
        FD_SET(STDIN_FILENO, &readable);
    }
    return pselect(s->keys ? STDIN_FILENO + 1 : 0, &readable, NULL, NULL, &most, &s->waiting) > 0 &&
           s->keys;
}
