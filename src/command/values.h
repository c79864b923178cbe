/* values.h - numbers, sizes and times as people write them. false: the text is no such value. */

#ifndef COMMAND_VALUES_H
#define COMMAND_VALUES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

size_t smaller(size_t a, size_t b);

/* Digits before an end; *at is then behind them, or at the one that made it 2^64 or more. */
bool digits_before(const char **at, const char *end, uint64_t *value);

/* The same of a C string. */
bool read_digits(const char **at, uint64_t *value);

bool read_count(const char *text, uint64_t least, uint64_t most, uint64_t *value);

bool read_size(const char *text, size_t *value);

bool read_duration(const char *text, uint64_t *ns);

/* Seconds with or without decimals, or a number with one of the units above. */
bool read_seconds(const char *text, uint64_t *ns);

bool ends_in(const char *text, const char *ending);

/* 5, 2.5, 15%: in tenths of a percent. */
bool read_percent(const char *text, uint64_t *tenths);

#endif
