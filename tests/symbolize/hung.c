/* Hangs in a function of its own, after an event: ./hung FILE */
#include "chroprof.h"

CHROPROF_SITE(site_request, "request");

static chroprof prof;
static volatile unsigned long sink = 1;

static __attribute__((noinline)) void endless_search(void)
{
    while (sink != 0)
        sink = sink * 3 | 1;
}

int main(int count, char **words)
{
    if (count < 2 || chroprof_map(&prof, words[1], 1 << 20, NULL) != CHROPROF_OK ||
        chroprof_sampler_start(&prof, NULL) != CHROPROF_OK)
        return 1;
    chroprof_enter(&prof, &site_request);
    endless_search();
    chroprof_leave(&prof);
    return 0;
}
