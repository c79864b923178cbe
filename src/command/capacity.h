/* capacity.h - how many rows the tables of a profile have. */

#ifndef COMMAND_CAPACITY_H
#define COMMAND_CAPACITY_H

/* An option's setter: OPTION=N into a chroprof_options. */
const char *set_capacity(void *field, const char *value);

#endif
