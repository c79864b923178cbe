/* What each option flag promises, asked at run time: exit status 0, or the line that failed. */
#define CHROPROF_IMPLEMENTATION
#include "../../chroprof.h"

#define EXPECT(condition)                                                                          \
    do {                                                                                           \
        if (!(condition))                                                                          \
            return __LINE__ % 256;                                                                 \
    } while (0)

static unsigned char memory[1 << 16];

static int count_bytes(void *user, const void *bytes, size_t count)
{
    (void)bytes;
    *(size_t *)user += count;
    return 0;
}

/* 0 and some bytes, or -1 and none if the format was left out */
static int writes(chroprof *p, chroprof_format format, int left_out)
{
    size_t bytes = 0;
    int result = chroprof_write(p, format, count_bytes, &bytes);
    return left_out ? result == -1 && bytes == 0 : result == 0 && bytes > 0;
}

/* Bit f is set if format f was left out. */
static unsigned left_out_formats(void)
{
    unsigned set = 1u << 5 | 1u << 6; /* the formats of earlier versions */
#ifdef CHROPROF_NO_TEXT
    set |= 1u << CHROPROF_TEXT;
#endif
#ifdef CHROPROF_NO_JSON
    set |= 1u << CHROPROF_JSON;
#endif
#ifdef CHROPROF_NO_FOLDED
    set |= 1u << CHROPROF_FOLDED;
#endif
#ifdef CHROPROF_NO_PROMETHEUS
    set |= 1u << CHROPROF_PROMETHEUS | 1u << CHROPROF_PROMETHEUS_ALL;
#endif
#ifdef CHROPROF_NO_PPROF
    set |= 1u << CHROPROF_PPROF;
#endif
    return set;
}

int main(void)
{
    static const chroprof_site site = { "flags", __FILE__, 1 };
    chroprof_options options = { 0 };
    chroprof p;
    uint64_t id;
    int format;
#ifdef CHROPROF_NO_CLOCK
    EXPECT(chroprof_init(&p, memory, sizeof memory, NULL) == CHROPROF_ERR_CLOCK);
#else
    EXPECT(chroprof_init(&p, memory, sizeof memory, NULL) == CHROPROF_OK);
    EXPECT(chroprof_now(&p) > 0);
#endif
    options.clock = chroprof_clock_manual;
    EXPECT(chroprof_init(&p, memory, sizeof memory, &options) == CHROPROF_OK);
    chroprof_event(&p, CHROPROF_ENTER, 0, &site, 1000);
    chroprof_event(&p, CHROPROF_LEAVE, 0, NULL, 5001000);
    for (id = 16; id <= 48; id += 16)
        chroprof_event(&p, CHROPROF_PENDING, id, &site, 5002000);
    for (id = 16; id <= 48; id += 16)
        chroprof_event(&p, CHROPROF_RUNNING, id, NULL, 5003000);
    EXPECT(chroprof_check(&p) == NULL);
    for (id = 48; id >= 16; id -= 16)
        chroprof_event(&p, CHROPROF_PAUSED, id, NULL, 5004000);
    EXPECT(chroprof_check(&p) == NULL);
    for (format = CHROPROF_TEXT; format <= CHROPROF_PROMETHEUS_ALL; format++)
        EXPECT(writes(&p, (chroprof_format)format, (int)(left_out_formats() >> format & 1u)));
#if defined(CHROPROF_NO_STDIO) && defined(CHROPROF_NO_MMAP) && defined(EOF)
    EXPECT(!"stdio.h was included");
#endif
    return 0;
}
