/* hash.h - one hash for all tables. Not for what must resist an attacker. */

#ifndef COMMAND_HASH_H
#define COMMAND_HASH_H

#include <stddef.h>
#include <stdint.h>

uint64_t hash_mix(uint64_t hash, uint64_t word);

uint64_t hash_bytes(const char *bytes, size_t length);

#endif
