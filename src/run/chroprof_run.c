/* chroprof_run.c - the library that chroprof run loads into a program before its own libraries.
 *
 *     cc -O2 -fPIC -shared -fvisibility=hidden -fexceptions -fno-omit-frame-pointer \
 *        -Wl,-z,now -o chroprof_run.so chroprof_run.c unwind.c filter.c \
 *        python_walk.c
 *
 * It wraps the functions in which event loops wait. The main thread gets a profile in a file of its
 * own at its first wait, others at their second. The loop's own wait is idle; one inside a callback
 * is that task, blocked (loops.h). What the thread does until the next wait is one slice of a site
 * that is named after the wait, and the sampler sees its functions.
 *
 * The program must not notice it. So it allocates nothing, keeps errno and adds no descriptor. It
 * removes its variables from the environment, so that children do not find them. It exports only
 * the functions below that are marked EXPORT. If something goes wrong, the program goes on without
 * a profile, and the board says why.
 *
 * It is one unit, in this order: a wait, its call and its return must be in the frame of one
 * function, so parts are inlined into each other. Each includes what it relies on. */

#include "run.h"
#include "next.h"
#include "seats.h"
#include "stacks.h"
#include "futures.h"
#include "signals.h"
#include "loops.h"
#include "spins.h"
#include "profiles.h"
#include "waits.h"
#include "rests.h"
#include "waits.c"
#include "sleeps.c"
#include "names.c"
#include "standins.h"
#include "modules.h"
#include "registered.h"
#include "jumps.c"
#include "seccomp.c"
#include "users.c"
#include "given.h"
#include "exec.c"
#include "start.c"
