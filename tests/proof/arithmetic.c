/* Time: addition, ticks to ns, ns to ticks, percentages; the histogram. All 64-bit values. */
#include "proof.h"

/* Products of two unknowns are hard for a solver: here the whole range of one, a few of the other. */
void prove_ticks_to_ns_floors(void)
{
    uint64_t value = any_u64(), shift = any_u32() % 32;
    PROVE(chroprof__scale(value, UINT64_C(1) << shift) == value >> (32 - shift));
}

void prove_the_manual_clock_is_exact(void)
{
    uint64_t value = any_u64();
    PROVE(chroprof__scale(value, UINT64_C(1) << 32) == value);
    if (value < UINT64_C(1) << 62)
        PROVE(chroprof__unscale(value, UINT64_C(1) << 32) == value);
}

void prove_subtraction_stops_at_zero(void)
{
    uint64_t a = any_u64(), b = any_u64(), c = chroprof__minus(a, b);
    PROVE(c <= a);
    PROVE(a < b ? c == 0 : c + b == a);
}

/* Every 64-bit length has a bucket inside the table; longer ones never have a lower one. */
void prove_buckets_are_in_order(void)
{
    uint64_t a = any_u64(), b = any_u64();
    ASSUME(a <= b);
    PROVE(chroprof__bucket(b) < CHROPROF__BUCKETS);
    PROVE(chroprof__bucket(a) <= chroprof__bucket(b));
}

/* The middle of a bucket is within 1/16 of all that it holds, from 2^5 to 2^45 ticks. */
void prove_buckets_are_within_a_sixteenth(void)
{
    uint64_t value = any_u64();
    ASSUME(value >> 45 == 0 && value >= 32);
    uint64_t middle = chroprof__bucket_value(chroprof__bucket(value));
    uint64_t off = value > middle ? value - middle : middle - value;
    PROVE(off <= value / 16);
}

/* Below 2^5 it is within 2 ticks. */
void prove_small_buckets_are_within_two_ticks(void)
{
    uint64_t value = any_u64();
    ASSUME(value < 32);
    uint64_t middle = chroprof__bucket_value(chroprof__bucket(value));
    PROVE((value > middle ? value - middle : middle - value) <= 2);
}

void prove_every_bucket_holds_its_middle(void)
{
    uint32_t bucket = any_u32();
    ASSUME(bucket < CHROPROF__BUCKETS);
    PROVE(chroprof__bucket(chroprof__bucket_value(bucket)) == bucket);
}

/* Any key, tables of several sizes. */
void prove_an_index_is_in_its_table(void)
{
    static const uint32_t sizes[] = { 1, 2, 3, 7, 8, 202, 1000003, 1u << 28, UINT32_MAX };
    uint64_t key = any_u64();
    uint32_t n = sizes[any_u32() % 9];
    PROVE(chroprof__hash_index(key, n) < n);
}

/* Decimal digits: as many as there should be, the last one that of the value. */
void prove_digits_fit(void)
{
    char digits[5], *end = digits + sizeof digits;
    uint64_t value = any_u32() & 0xFFFF;
    ptrdiff_t count = end - chroprof__digits_before(value, end);
    PROVE(count == (value < 10 ? 1 : value < 100 ? 2 : value < 1000 ? 3 : value < 10000 ? 4 : 5));
    PROVE(end[-1] == (char)('0' + (int)(value % 10)));
}
