/* One function with every instrumentation call and one without, under CHROPROF_DISABLE. Each lies
 * in a section of its own: the bench compares their machine code byte by byte. */
#define CHROPROF_DISABLE
#include "../chroprof.h"
#include "disabled.h"

#if defined(__GNUC__) && defined(__ELF__)
#define IN_SECTION(name) __attribute__((noinline, used, section(name)))
extern const unsigned char __start_bench_with[], __stop_bench_with[];
extern const unsigned char __start_bench_without[], __stop_bench_without[];

IN_SECTION("bench_with")
static uint64_t with_calls(chroprof *p, uint64_t id, uint64_t work)
{
    CHROPROF_SITE(site, "disabled");
    (void)p;
    (void)id;
    chroprof_pending(p, id, &site);
    chroprof_ready(p, id);
    chroprof_ready_since(p, id, chroprof_now(p));
    chroprof_running(p, id);
    work = work * 31 + 7;
    chroprof_paused(p, id);
    chroprof_switch(p, id);
    chroprof_enter(p, &site);
    chroprof_leave(p);
    chroprof_idle_enter(p);
    chroprof_idle_leave(p);
    chroprof_loop_enter(p);
    chroprof_loop_leave(p);
    chroprof_tick(p);
    chroprof_completed(p, id);
    chroprof_failed(p, id);
    chroprof_cancelled(p, id);
    return work;
}

IN_SECTION("bench_without")
static uint64_t without_calls(chroprof *p, uint64_t id, uint64_t work)
{
    (void)p;
    (void)id;
    return work * 31 + 7;
}

static size_t different(const unsigned char *a, size_t a_size, const unsigned char *b,
                        size_t b_size)
{
    size_t shorter = a_size < b_size ? a_size : b_size;
    size_t count = a_size + b_size - 2 * shorter;
    for (size_t i = 0; i < shorter; i++)
        count += a[i] != b[i];
    return count;
}

long disabled_bytes(void)
{
    const unsigned char *a = __start_bench_with;
    const unsigned char *b = __start_bench_without;
    if (with_calls(NULL, 1, 2) != without_calls(NULL, 1, 2))
        return -1;
    return (long)different(a, (size_t)(__stop_bench_with - a), b,
                           (size_t)(__stop_bench_without - b));
}
#else
long disabled_bytes(void)
{
    return -1;
}
#endif

void empty_call(chroprof *p, uint64_t id)
{
    (void)p;
    (void)id;
}
