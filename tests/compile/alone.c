/* One file that is user and implementation, the implementation's include being the second (or, with
 * -DIMPLEMENTATION_FIRST, the first) of several. -DCHROPROF_API=static makes all of it private. */
#ifndef IMPLEMENTATION_FIRST
#include "../../chroprof.h"
#endif
#define CHROPROF_IMPLEMENTATION
#include "../../chroprof.h"
#include "../../chroprof.h"
#undef CHROPROF_IMPLEMENTATION
#include "../../chroprof.h"

CHROPROF_SITE(site, "alone");

static unsigned char memory[1 << 16];

int main(void)
{
    chroprof profile;
    chroprof_totals totals;
    memset((void *)&profile, 0xaa, sizeof profile);
    chroprof_enter(&profile, &site);
    chroprof_read_totals(&profile, &totals);
    if (totals.callbacks != 0 || !strstr(chroprof_why_off(&profile), "never initialized"))
        return 3;
    if (chroprof_init(&profile, memory, sizeof memory, NULL) != CHROPROF_OK)
        return 1;
    chroprof_enter(&profile, &site);
    chroprof_leave(&profile);
    chroprof_read_totals(&profile, &totals);
#ifdef CHROPROF_DISABLE
    return totals.callbacks == 0 ? 0 : 2;
#else
    return totals.callbacks == 1 ? 0 : 2;
#endif
}
