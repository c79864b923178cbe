/* terminal.c - see terminal.h */

#include "terminal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

uint32_t terminal_columns(FILE *out)
{
#ifdef TIOCGWINSZ
    struct winsize size;
    if (ioctl(fileno(out), TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
        return size.ws_col < 60 ? 60 : size.ws_col > 200 ? 200 : size.ws_col;
    }
#endif
    (void)out;
    return 80;
}

bool ascii_wanted(bool asked)
{
    static const char *const names[] = { "LC_ALL", "LC_CTYPE", "LANG" };
    for (size_t i = 0; !asked && i < sizeof names / sizeof names[0]; i++) {
        const char *locale = getenv(names[i]);
        if (locale != NULL && *locale != '\0') {
            return strcmp(locale, "C") == 0 || strcmp(locale, "POSIX") == 0;
        }
    }
    return asked;
}

bool color_wanted(int when, FILE *out)
{
    const char *terminal = getenv("TERM");
    const char *refused = getenv("NO_COLOR");
    if (when != COLOR_AUTO) {
        return when == COLOR_ALWAYS;
    }
    return isatty(fileno(out)) == 1 && (refused == NULL || *refused == '\0') &&
           terminal != NULL && strcmp(terminal, "dumb") != 0;
}
