/* values.c - see values.h */

#include "values.h"

#include <string.h>

size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

bool digits_before(const char **at, const char *end, uint64_t *value)
{
    const char *start = *at;
    uint64_t sum = 0;
    for (; *at < end && **at >= '0' && **at <= '9'; (*at)++) {
        uint64_t digit = (uint64_t)(**at - '0');
        if (sum > (UINT64_MAX - digit) / 10) {
            return false;
        }
        sum = sum * 10 + digit;
    }
    *value = sum;
    return *at != start;
}

bool read_digits(const char **at, uint64_t *value)
{
    return digits_before(at, *at + strlen(*at), value);
}

bool read_count(const char *text, uint64_t least, uint64_t most, uint64_t *value)
{
    return read_digits(&text, value) && *text == '\0' && *value >= least && *value <= most;
}

/* A number and one of the units; the factor of a missing unit is that of the unit "". */
typedef struct tool_unit {
    const char *name;
    uint64_t factor;
} tool_unit;

static bool read_with_unit(const char *text, const tool_unit *units, uint64_t *value)
{
    uint64_t number;
    if (!read_digits(&text, &number)) {
        return false;
    }
    for (; units->name != NULL; units++) {
        if (strcmp(text, units->name) == 0) {
            *value = number * units->factor;
            return number <= UINT64_MAX / units->factor;
        }
    }
    return false;
}

bool read_size(const char *text, size_t *value)
{
    static const tool_unit units[] = {
        { "", 1 }, { "K", 1024 }, { "KiB", 1024 }, { "M", 1024 * 1024 }, { "MiB", 1024 * 1024 },
        { "G", 1024 * 1024 * 1024 }, { "GiB", 1024 * 1024 * 1024 }, { NULL, 0 }
    };
    uint64_t bytes;
    if (!read_with_unit(text, units, &bytes) || bytes > SIZE_MAX) {
        return false;
    }
    *value = (size_t)bytes;
    return true;
}

bool read_duration(const char *text, uint64_t *ns)
{
    static const tool_unit units[] = {
        { "ns", 1 }, { "us", 1000 }, { "ms", 1000000 }, { "s", 1000000000 }, { NULL, 0 }
    };
    return read_with_unit(text, units, ns);
}

bool read_seconds(const char *text, uint64_t *ns)
{
    uint64_t whole;
    uint64_t part = 0;
    uint64_t unit = 1000000000;
    if (read_duration(text, ns)) {
        return true;
    }
    if (!read_digits(&text, &whole) || whole > 1000000000) {
        return false;
    }
    for (text += *text == '.'; *text >= '0' && *text <= '9' && unit > 1; text++) {
        unit /= 10;
        part += (uint64_t)(*text - '0') * unit;
    }
    *ns = whole * 1000000000 + part;
    return *text == '\0';
}

bool ends_in(const char *text, const char *ending)
{
    size_t length = strlen(text);
    size_t part = strlen(ending);
    return length >= part && strcmp(text + length - part, ending) == 0;
}

bool read_percent(const char *text, uint64_t *tenths)
{
    uint64_t whole;
    uint64_t tenth = 0;
    if (!read_digits(&text, &whole) || whole > 1000000) {
        return false;
    }
    if (*text == '.') {
        text++;
        if (!read_digits(&text, &tenth) || tenth > 9) {
            return false;
        }
    }
    *tenths = whole * 10 + tenth;
    return strcmp(text, "%") == 0 || *text == '\0';
}
