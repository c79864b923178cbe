/* block/items.h */
#pragma once
#include "../interface/kinds.h"
#include "../base/platform.h"
#include "../base/util.h"
#include "../block/rows.h"
#include "../block/core.h"
#include "../block/layout.h"

/* >>samples: where the loop was caught.
 * Owns the tables of samples, stacks, modules and walls, the ring in which signals wait, and the
 * hits of callbacks and iterations under way. A timer signal waits until the next event takes the
 * slow path; only then, in the loop's own code, it becomes a row. Nothing moves between a timer
 * signal and the event that ends its interval, so what they say of the stack holds for both. Relies
 * on >>block and >>clock, and on the running stack and the futures as they are. Called by each
 * event of the slow path, by whatever ends a stall, by chroprof_sample and the handler of
 * >>sampler, and by copies and merges for what they do to stacks. */

CHROPROF__INLINE uint64_t chroprof__item(uint32_t kind, uint64_t value)
{
    return (uint64_t)kind << 56 | (value & (UINT64_MAX >> 8));
}

CHROPROF__INLINE uint32_t chroprof__item_kind(uint64_t item)
{
    return (uint32_t)(item >> 56);
}

CHROPROF__INLINE uint64_t chroprof__item_value(uint64_t item)
{
    return item & (UINT64_MAX >> 8);
}

static bool chroprof__is_code(uint64_t item)
{
    return chroprof__item_kind(item) <= CHROPROF__RETURN;
}

static uint32_t chroprof__sample_capacity(const chroprof__core *c)
{
    return c->tables[CHROPROF_TABLE_SAMPLES].capacity;
}

static chroprof__note *chroprof__notes(chroprof__sampler *s)
{
    return (chroprof__note *)(void *)((char *)s + chroprof__aligned(sizeof(*s)));
}

static chroprof__caller *chroprof__callers(const chroprof__core *c)
{
    return (chroprof__caller *)(void *)((char *)(uintptr_t)c + chroprof__callers_at(c));
}

/* Profile time begins anew: all frames are of now. */
static void chroprof__date_callers(const chroprof__core *c)
{
    char *rows = (char *)chroprof__callers(c);
    uint64_t bytes = chroprof__caller_bytes(c);
    for (uint64_t at = 0; at < bytes; at += sizeof(chroprof__caller))
        ((chroprof__caller *)(void *)(rows + at))->since = 0;
}

/* Entry number k of the ring. */
CHROPROF__NOINLINE chroprof__entry *chroprof__ring(const chroprof__core *c, uint64_t k)
{
    char *first = (char *)chroprof__callers(c) +
                  chroprof__caller_bytes(c);
    uint64_t row = k % chroprof__entry_count(chroprof__sample_capacity(c));
    return (chroprof__entry *)(void *)(first + row * sizeof(chroprof__entry));
}

CHROPROF__NOINLINE uint64_t chroprof__random(chroprof__sampler *s)
{
    uint64_t z = s->draw.random + UINT64_C(0x9E3779B97F4A7C15); /* splitmix64 (Steele and others) */
    s->draw.random = z;
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}

/* Is an event or an edit under way, so that nothing but the ring may be touched? */
CHROPROF__INLINE bool chroprof__is_busy(const chroprof__core *c)
{
    return ((chroprof__peek64(&c->seq) | chroprof__peek64(&c->edits)) & 1) != 0;
}

#if CHROPROF__SAMPLES
/* A word of the stack, which no sanitizer knows to be one. */
#ifdef __clang__
__attribute__((__no_sanitize__("memory")))
#endif
__attribute__((__noinline__, __unused__, __no_sanitize_address__, __no_sanitize_thread__))
static uintptr_t chroprof__stack_word(uintptr_t address)
{
    return *(const volatile uintptr_t *)address;
}
#endif

/* ---- what a node holds: of code the module too, so that what lies at one address at different
 * times is not taken for the same */

enum { CHROPROF__ADDRESS_BITS = 48 };

static uint64_t chroprof__code_item(uint32_t kind, uint64_t address, uint32_t module)
{
    uint64_t value = address & (UINT64_MAX >> (64 - CHROPROF__ADDRESS_BITS));
    return chroprof__item(kind, value | (uint64_t)module << CHROPROF__ADDRESS_BITS);
}

/* An address, without what a processor or a tool hides above it. */
static uint64_t chroprof__item_address(uint64_t item)
{
    return item & (UINT64_MAX >> (64 - CHROPROF__ADDRESS_BITS));
}

static uint32_t chroprof__item_module(uint64_t item)
{
    return chroprof__is_code(item) ? (uint32_t)(item >> CHROPROF__ADDRESS_BITS & 0xFF) : 0;
}
