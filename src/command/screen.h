/* screen.h - the terminal as a full screen: keys without echo, sizes, and its old state again
 * however the program ends. POSIX termios and the escape sequences that every terminal knows. */

#ifndef COMMAND_SCREEN_H
#define COMMAND_SCREEN_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <termios.h>

enum {
    KEY_NONE, KEY_ESCAPE = 27, KEY_BACKSPACE = 127,
    KEY_UP = 256, KEY_DOWN, KEY_LEFT, KEY_RIGHT, KEY_PAGE_UP, KEY_PAGE_DOWN, KEY_HOME, KEY_END
};

typedef struct screen {
    struct termios before;
    bool full;                 /* the terminal is ours just now */
    bool keys;                 /* standard input is a terminal */
    unsigned columns, rows;
    sigset_t waiting;          /* the signals that get through while we wait */
} screen;

/* What signals say; they get through only while the screen waits. */
typedef struct screen_signals {
    volatile sig_atomic_t end; /* the signal that asks for the end, 0: none */
    volatile sig_atomic_t stop, resized, continued;
} screen_signals;

screen_signals *screen_signalled(void);

screen *the_screen(void);

void screen_write(const char *bytes, size_t count);

void screen_leave(void);

void screen_measure(screen *s);

/* Ends as the signal would have ended it. */
void screen_end_by(int number);

/* Ctrl-Z: the shell gets its terminal back until it says go on. */
void screen_stop(void);

/* full: take the terminal; false: only catch what ends the program, for plain output. */
void screen_begin(bool full);

/* Hands every key that has arrived to take(). */
void screen_keys(void (*take)(void *user, int key), void *user);

/* Waits so many seconds at most, for keys and signals. True if there are keys to take. */
bool screen_wait(double seconds);

#endif
