// The scope guard under CHROPROF_DISABLE: nothing is left of it (compared as disabled.c).
#define CHROPROF_DISABLE
#include "../../chroprof.h"

int work(int x);

#ifdef WITH_CALLS
CHROPROF_SITE(site, "guarded");
#endif

int work(int x)
{
#ifdef WITH_CALLS
    static chroprof *const profile = 0;
    chroprof_scope scope(profile, &site);
    chroprof_running(nothing, none());
#endif
    return x * 3 + 1;
}
