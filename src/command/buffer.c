/* buffer.c - see buffer.h */

#include "buffer.h"

#include <stdlib.h>
#include <string.h>

#include "message.h"

#define BUFFER_FIRST ((size_t)256 << 10)

bool buffer_grow(byte_buffer *b)
{
    size_t capacity = b->capacity > 0 ? b->capacity * 2 : BUFFER_FIRST;
    char *bytes = (char *)realloc(b->bytes, capacity);
    if (bytes == NULL) {
        tool_message("not enough memory for %llu bytes of input", (unsigned long long)capacity);
        return false;
    }
    b->bytes = bytes;
    b->capacity = capacity;
    return true;
}

int buffer_add(void *user, const void *bytes, size_t count)
{
    byte_buffer *b = (byte_buffer *)user;
    while (b->bytes == NULL || b->capacity - b->used < count) {
        if (!buffer_grow(b)) {
            return 1;
        }
    }
    if (count > 0) {
        memcpy(b->bytes + b->used, bytes, count);
    }
    b->used += count;
    return 0;
}
