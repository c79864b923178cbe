/* replayed.h - a stream of events as a profile in memory. */

#ifndef COMMAND_REPLAYED_H
#define COMMAND_REPLAYED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "block.h"

/* The block that it gets, and the first width of the windows, unless the user wants others. */
#define REPLAY_MEMORY ((size_t)64 << 20)
#define REPLAY_WINDOW_NS UINT64_C(1000000)

/* The profile's name: FILE without its folders and endings. */
const char *replayed_name(const char *source);

/* All of a stream, as a block that is not in a file. false, with a message. */
bool replayed_block(block_file *file, const char *source, const char *bytes, size_t count);

#endif
