/* tests/bare/main.c - a firmware in 16 KiB of RAM with no C library: a superloop with two tasks and
 * an interrupt's work, a clock of its own, the laws asked after every round, every format written.
 * Prints how much stack each took, then its counts. */
#include "../../chroprof.h"
#include "semihosting.h"

CHROPROF_SITE(site_adc, "adc");
CHROPROF_SITE(site_radio, "radio");
CHROPROF_SITE(site_blink, "blink");

enum { ROUNDS = 2000, RADIO = 1, BLINK = 2 };

static unsigned char memory[10 << 10];
static uint64_t now_ns;

static uint64_t clock_ns(void *user)
{
    (void)user;
    return now_ns += 125; /* a timer of 8 MHz */
}

/* >>stack: painted below the one in use; what lost its colour was used */

extern uint32_t bare_bss_end[], bare_stack_top[];
static const uint32_t paint = 0xC01053D5u;

__attribute__((noinline)) static void paint_stack(void)
{
    uint32_t here = 0;
    uint32_t *word;
    for (word = bare_bss_end; (uintptr_t)word + 64 < (uintptr_t)&here; word++)
        *(volatile uint32_t *)word = paint;
}

static void print_stack(const char *what)
{
    const uint32_t *word = bare_bss_end;
    char digits[8] = "       ";
    uint32_t bytes;
    size_t k = 7;
    while (*(const volatile uint32_t *)word == paint)
        word++;
    if (word == bare_bss_end)
        bare_print("FAIL bare: the stack met the block\n");
    bytes = (uint32_t)((uintptr_t)bare_stack_top - (uintptr_t)word);
    do {
        digits[--k] = (char)('0' + (int)(bytes % 10));
        bytes /= 10;
    } while (bytes > 0);
    bare_print("# stack ");
    bare_print(digits);
    bare_print(" bytes: ");
    bare_print(what);
    bare_print("\n");
}

/* >>output */

static int count_bytes(void *user, const void *bytes, size_t count)
{
    (void)bytes;
    *(size_t *)user += count;
    return 0;
}

/* Every format that is compiled in; false: one of them wrote nothing. */
static bool write_all(chroprof *p)
{
    static const char names[][12] = { "text", "json", "folded", "prometheus", "pprof" };
    int format;
    for (format = CHROPROF_TEXT; format <= CHROPROF_PPROF; format++) {
        size_t bytes = 0;
        paint_stack();
        if (chroprof_write(p, (chroprof_format)format, count_bytes, &bytes) != 0)
            continue;
        if (bytes == 0)
            return false;
        print_stack(names[format]);
    }
    return true;
}

/* >>work */

static void run_task(chroprof *p, uint64_t id, uint64_t ns)
{
    chroprof_running(p, id);
    now_ns += ns;
    chroprof_paused(p, id);
}

static void one_round(chroprof *p, uint64_t round)
{
    chroprof_idle_enter(p);
    now_ns += 500000;
    chroprof_idle_leave(p);
    chroprof_ready(p, RADIO);
    chroprof_enter(p, &site_adc);
    now_ns += 20000;
    chroprof_leave(p);
    run_task(p, RADIO, 100000 + round % 16 * 1000);
    if (round % 10 == 0)
        run_task(p, BLINK, 5000);
}

/* NULL, or what is wrong */
static const char *judge(const chroprof *p)
{
    chroprof_rank ranks[4];
    chroprof_totals t;
    chroprof_read_totals(p, &t);
    if (t.elapsed_ns != t.busy_ns + t.idle_ns + t.uninstrumented_ns)
        return "elapsed is not busy + idle + loop";
    if (t.elapsed_ns != now_ns - 125) /* profile time 0 was the first reading */
        return "elapsed is not the clock's time";
    if (t.delay_ticks != t.blame_ticks || t.delay_ticks == 0)
        return "delay is not blame";
    if (chroprof_ranks(p, ranks, 4, CHROPROF_BY_EXEC) != 3 || ranks[0].line != site_radio.line)
        return "radio is not first of three";
    if (ranks[0].slices != ROUNDS || ranks[1].calls != ROUNDS || t.anomalies != 0)
        return "the counts are wrong";
    return NULL;
}

static const char *run(void)
{
    static chroprof profile;
    chroprof_options options = { 0 };
    uint64_t round;
    options.clock = clock_ns;
    options.max_futures = 2;
    options.max_sites = 4;
    options.max_paths = 4;
    if (chroprof_init(&profile, memory, sizeof memory, &options) != CHROPROF_OK)
        return "chroprof_init";
    chroprof_pending(&profile, RADIO, &site_radio);
    chroprof_pending(&profile, BLINK, &site_blink);
    paint_stack();
    for (round = 0; round < ROUNDS; round++) {
        const char *broken = chroprof_check(&profile);
        if (broken != NULL)
            return broken;
        one_round(&profile, round);
    }
    print_stack("events and chroprof_check");
    chroprof_tick(&profile);
    if (!write_all(&profile))
        return "chroprof_write";
    return judge(&profile);
}

int main(void);

int main(void)
{
    const char *wrong = run();
    if (wrong == NULL) {
        bare_print("ok firmware\n1 passed, 0 failed, 0 skipped\n");
        return 0;
    }
    bare_print("FAIL firmware: ");
    bare_print(wrong);
    bare_print("\n0 passed, 1 failed, 0 skipped\n");
    return 1;
}
