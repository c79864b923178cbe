/* hash.c - see hash.h */

#include "hash.h"

#include <string.h>

uint64_t hash_mix(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * UINT64_C(0x9E3779B97F4A7C15);
    return hash ^ (hash >> 29);
}

uint64_t hash_bytes(const char *bytes, size_t length)
{
    uint64_t hash = length;
    uint64_t word = 0;
    for (; length >= sizeof word; length -= sizeof word, bytes += sizeof word) {
        memcpy(&word, bytes, sizeof word);
        hash = hash_mix(hash, word);
    }
    word = 0;
    if (length > 0) {                       /* what is empty may be NULL */
        memcpy(&word, bytes, length);
    }
    return hash_mix(hash, word);
}
