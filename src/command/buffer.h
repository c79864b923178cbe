/* buffer.h - bytes in memory that grow as they are added. */

#ifndef COMMAND_BUFFER_H
#define COMMAND_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct byte_buffer {
    char *bytes;
    size_t used, capacity;
} byte_buffer;

bool buffer_grow(byte_buffer *b);

int buffer_add(void *user, const void *bytes, size_t count);

#endif
