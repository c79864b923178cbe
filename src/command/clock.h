/* clock.h - the time, for intervals and by the calendar. */

#ifndef COMMAND_CLOCK_H
#define COMMAND_CLOCK_H

#include <stdint.h>

double seconds_now(void);

uint64_t unix_now(void);

#endif
