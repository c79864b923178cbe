/* content.c - see content.h */

#include "content.h"

#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include "message.h"

/* The mark of a block, of either byte order, stands in its first 128 bytes. */
static bool has_block_mark(const char *bytes, size_t count)
{
    for (size_t at = 0; at + 8 <= count && at < 128; at++) {
        if (memcmp(bytes + at, "CHRPROF1", 8) == 0 || memcmp(bytes + at, "1FORPRHC", 8) == 0) {
            return true;
        }
    }
    return false;
}

/* Passes over bytes of a set and the blank behind them; NULL: there are none. */
static const char *pass_field(const char *at, const char *end, const char *set)
{
    const char *start = at;
    while (at < end && *at != '\0' && strchr(set, *at) != NULL) {
        at++;
    }
    return at > start && at < end && *at == ' ' ? at + 1 : NULL;
}

/* A line of events: TIMESTAMP_NS KIND FUTURE_ID ... */
static bool is_event(const char *at, const char *end)
{
    at = pass_field(at, end, "0123456789");
    at = at != NULL ? pass_field(at, end, "abcdefghijklmnopqrstuvwxyz_") : NULL;
    return at != NULL && at < end && *at >= '0' && *at <= '9';
}

content content_of(const char *bytes, size_t count)
{
    const char *at = bytes;
    const char *end = bytes + count;
    if (count == 0) {
        return CONTENT_EMPTY;
    }
    if (has_block_mark(bytes, count)) {
        return CONTENT_BLOCK;
    }
    while (at < end && *at != '\0' && strchr(" \t\r\n", *at) != NULL) {
        at++;
    }
    if (at < end && (*at == '{' || *at == '[')) {
        return CONTENT_JSON;
    }
    for (; at < end && *at == '#'; at++) {
        const char *newline = (const char *)memchr(at, '\n', (size_t)(end - at));
        at = newline != NULL ? newline : end - 1;
    }
    return is_event(at, end) ? CONTENT_EVENTS : CONTENT_OTHER;
}

content content_of_file(const char *name)
{
    char begin[4096];
    struct stat facts;
    ssize_t count = -1;
    int fd;
    if (stat(name, &facts) != 0 || !S_ISREG(facts.st_mode)) {
        return CONTENT_OTHER;
    }
    fd = open(name, O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        count = read(fd, begin, sizeof begin);
        (void)close(fd);
    }
    return count >= 0 ? content_of(begin, (size_t)count) : CONTENT_OTHER;
}

void content_refuse(const char *name, content got, content wanted)
{
    if (got == CONTENT_EMPTY) {
        tool_message("%s: the input is empty; give a profile, or write it again", name);
    } else if (wanted == CONTENT_EVENTS && got == CONTENT_JSON) {
        tool_message("%s: this is JSON, not a stream of events; use chroprof report", name);
    } else if (wanted == CONTENT_EVENTS && got == CONTENT_OTHER) {
        tool_message("%s: this is not a stream of events; chroprof replay --help shows the format",
                     name);
    } else if (wanted == CONTENT_EVENTS) {
        tool_message("%s: this is a profile, not a stream of events; use chroprof dump", name);
    } else if (got == CONTENT_EVENTS) {
        tool_message("%s: this is a stream of events; use chroprof replay", name);
    } else if (got == CONTENT_JSON) {
        tool_message("%s: this is JSON; use chroprof report for a page of it, or give a PID or a "
                     "file of chroprof_map here (diff, trace, symbolize and dump --format folded "
                     "read JSON, too)", name);
    } else {
        tool_message("%s: this is not a profile; give a file of chroprof_map or chroprof run -o, "
                     "or JSON of one", name);
    }
}
