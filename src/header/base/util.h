/* base/util.h */
#pragma once
#include "../base/platform.h"

/* >>util */

/* An index below n that any 64-bit key is spread over evenly: multiplicative hashing (Knuth, TAOCP
 * 3, 6.4) of counters and addresses, with the shift against strides that a lone multiplication
 * lines up (stride 288 took 37 probes on average, now 1.4); the second multiplication replaces a
 * modulo (Lemire, "Fast random integer generation in an interval", 2019), so n need be no power of
 * two. */
CHROPROF__INLINE uint32_t chroprof__hash_index(uint64_t key, uint32_t n)
{
    uint64_t h = (key ^ key >> 5) * UINT64_C(0x9E3779B97F4A7C15);
    return (uint32_t)(((h >> 32) * n) >> 32);
}

/* What another hand (a handler, an interrupt) may change or read at any instruction. */
CHROPROF__INLINE uint64_t chroprof__peek64(const uint64_t *word)
{
    return *(const volatile uint64_t *)word;
}

CHROPROF__INLINE void chroprof__poke64(uint64_t *word, uint64_t value)
{
    *(volatile uint64_t *)word = value;
}

static uint64_t chroprof__minus(uint64_t a, uint64_t b)      /* never below 0 */
{
    return a > b ? a - b : 0;
}

static uint64_t chroprof__or(uint64_t value, uint64_t otherwise)
{
    return value ? value : otherwise;
}

CHROPROF__INLINE void chroprof__raise(uint64_t *maximum, uint64_t value)
{
    if (value > *maximum)
        *maximum = value;
}

static void chroprof__lower(uint64_t *figure, uint64_t most)
{
    if (*figure > most)
        *figure = most;
}

/* floor(value * factor / 2^32). */
CHROPROF__INLINE uint64_t chroprof__scale(uint64_t value, uint64_t factor)
{
    uint64_t whole = factor >> 32, part = factor & UINT32_MAX;
    return value * whole + (value >> 32) * part + ((value & UINT32_MAX) * part >> 32);
}

/* floor(value * 2^32 / factor), saturating. Cold: with it all that takes ticks in is made small,
 * also where an idle ends while the sampler runs. */
CHROPROF__COLD uint64_t chroprof__unscale(uint64_t value, uint64_t factor)
{
    uint64_t quotient = value / factor, rest = value % factor;
    if (quotient >> 31)
        return UINT64_MAX >> 1;
    for (int bit = 0; bit < 32; bit++) {
        rest <<= 1;
        quotient = quotient << 1 | (rest >= factor);
        rest -= rest >= factor ? factor : 0;
    }
    return quotient;
}

CHROPROF__INLINE uint32_t chroprof__log2(uint64_t value)     /* value > 0 */
{
#if defined(__GNUC__)
    return 63u ^ (uint32_t)__builtin_clzll(value);
#else
    uint32_t result = 0;
    for (; value > 1; value >>= 1, result++) {}
    return result;
#endif
}

static void chroprof__copy_text(char *to, size_t size, const char *from)
{
    size_t n = 0;
    if (from)
        for (; from[n] && n + 1 < size; n++)
            to[n] = from[n];
    memset(to + n, 0, size - n);
}

/* Text n of those that stand one after the other. */
CHROPROF__COLD const char *chroprof__nth_text(const char *texts, uint32_t n)
{
    for (; n > 0; n--)
        texts += strlen(texts) + 1;
    return texts;
}

/* The figure at an offset of a row or a public struct. */
static uint64_t *chroprof__field(const void *row, uint16_t offset)
{
    return (uint64_t *)((uintptr_t)row + offset);
}

/* How the largest of some rows are kept: how many, the bytes of one, and where the figure lies. */
typedef struct chroprof__largest {
    uint32_t most;
    uint16_t size, figure;
} chroprof__largest;
#define CHROPROF__LARGEST(most, type, figure)                                                      \
    { most, (uint16_t)sizeof(type), (uint16_t)offsetof(type, figure) }

/* Puts a row among the largest, which stand in falling order of their figure; of equal ones the
 * older stays before. Returns how many there are. */
CHROPROF__COLD uint32_t chroprof__keep_largest(const chroprof__largest *how, void *rows,
                                               uint32_t count, const void *row)
{
    char *first = (char *)rows;
    const size_t size = how->size;
    uint64_t value = *chroprof__field(row, how->figure);
    uint32_t k = count;
    while (k > 0 && *chroprof__field(first + (k - 1) * size, how->figure) < value)
        k--;
    if (k == how->most)
        return count;
    count += count < how->most;
    memmove(first + (k + 1) * size, first + k * size, (count - 1 - k) * size);
    memcpy(first + k * size, row, size);
    return count;
}

/* The root, rounded down. */
CHROPROF__UNUSED static uint64_t chroprof__root(uint64_t value)
{
    uint64_t root = 0;
    for (uint64_t bit = UINT64_C(1) << 31; bit > 0; bit >>= 1)
        if ((root + bit) * (root + bit) <= value)
            root += bit;
    return root;
}

/* round(weight * part / whole), part <= whole. */
static uint64_t chroprof__weigh(uint64_t weight, uint64_t part, uint64_t whole)
{
    for (; whole >> 31; whole >>= 1)
        part >>= 1;
    return weight / whole * part + (weight % whole * part + whole / 2) / whole;
}
