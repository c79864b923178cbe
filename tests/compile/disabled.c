/* Under CHROPROF_DISABLE a function full of calls (-DWITH_CALLS) must compile to the same bytes as
 * one without. The arguments name things that do not exist: they must not be evaluated, nor even
 * looked at. */
#define CHROPROF_DISABLE
#include "../../chroprof.h"

int work(int x);

#ifdef WITH_CALLS
CHROPROF_SITE(outside, "outside");
CHROPROF_EPOLL_IDLE(nothing);
#endif

int work(int x)
{
#ifdef WITH_CALLS
    CHROPROF_SITE(inside, "inside");
    CHROPROF_SCOPE(nothing, none());
    chroprof_pending(nothing, none(), &outside);
    chroprof_ready(nothing, none());
    chroprof_ready_since(nothing, none(), none());
    chroprof_running(nothing, none());
#endif
    x = x * 3 + 1;
#ifdef WITH_CALLS
    chroprof_paused(nothing, none());
    chroprof_switch(nothing, none());
    chroprof_completed(nothing, none());
    chroprof_failed(nothing, none());
    chroprof_cancelled(nothing, none());
    chroprof_stillborn(nothing, &outside, none());
    chroprof_enter(nothing, &inside);
    chroprof_leave(nothing);
    chroprof_loop_enter(nothing);
    chroprof_loop_leave(nothing);
    chroprof_idle_enter(nothing);
    chroprof_idle_leave(nothing);
    chroprof_tick(nothing);
    chroprof_event(nothing, CHROPROF_ENTER, none(), &inside, none());
    (void)chroprof_site_make(nothing, none(), none(), none());
#endif
    return x;
}
