/* A C file that uses the header: every macro and a call of each group. The header comes first in
 * one build and last in another (-DHEADER_LAST), and it is included twice. */
#ifdef HEADER_LAST
#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#endif
#include "../../chroprof.h"
#include "../../chroprof.h"
#include "user.h"

CHROPROF_SITE(site_c, "from C");
#ifdef CHROPROF_DISABLE
CHROPROF_SITE(site_c_too, "two of them");
#endif

int use_from_c(chroprof *p)
{
    chroprof_totals totals;
    chroprof_enter(p, &site_c);
    chroprof_event(p, CHROPROF_PENDING, 1, &site_c, chroprof_now(p));
    chroprof_completed(p, 1);
    chroprof_leave(p);
    chroprof_read_totals(p, &totals);
    return totals.elapsed_ns == totals.busy_ns + totals.idle_ns + totals.uninstrumented_ns &&
           chroprof_check(p) == NULL;
}
