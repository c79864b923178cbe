/* chroprof_libunwind.h in C and C++: called with the context of a signal handler it finds this
 * function's callers, out to main's, without frame pointers. Exit status 0: right. */
#include <signal.h>
#define CHROPROF_IMPLEMENTATION
#include "../../chroprof.h"
#include "../../examples/adapters/chroprof_libunwind.h"

static uintptr_t found[64], whole, cut;
static volatile uintptr_t caller;

static void on_signal(int number, siginfo_t *info, void *context)
{
    (void)number, (void)info;
    whole = chroprof_libunwind(NULL, context, found, 64);
    cut = chroprof_libunwind(NULL, context, found, 2);
}

static __attribute__((noinline)) void inner(void)
{
    caller = (uintptr_t)__builtin_return_address(0);
    raise(SIGUSR1);
}

int main(void)
{
    struct sigaction action;
    uintptr_t seen = 0;
    memset(&action, 0, sizeof action);
    action.sa_flags = SA_SIGINFO;
    action.sa_sigaction = on_signal;
    if (sigaction(SIGUSR1, &action, NULL) != 0)
        return 1;
    inner();
    for (uintptr_t i = 0; i < whole; i++)
        seen += found[i] == caller;
    return whole >= 5 && cut == 2 && seen == 1 ? 0 : 2;
}
