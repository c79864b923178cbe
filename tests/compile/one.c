/* A small program that writes one format, into a stream and by a writer: what else is linked? */
#include "../../chroprof.h"

static unsigned char memory[1 << 16];

static int count_bytes(void *user, const void *bytes, size_t count)
{
    (void)bytes;
    *(size_t *)user += count;
    return 0;
}

int main(void)
{
    static chroprof p;
    size_t written = 0;
    chroprof_init(&p, memory, sizeof memory, NULL);
    chroprof_tick(&p);
#ifdef SAMPLE
    chroprof_sample(&p, 0, 0);
#endif
    return chroprof_dump(&p, FORMAT, stdout) != 0 ||
           chroprof_write(&p, FORMAT, count_bytes, &written) != 0 || written == 0;
}
