/* copies/owner.h */
#pragma once
#include "../base/platform.h"
#include "../block/rows.h"
#include "../block/core.h"
#include "../public/setup.h"

/* >>owner: the program that made a block: is it there? Owns nothing. Called by >>snapshot, which
 * lets time go on if it is, and by >>map. */

#ifdef CHROPROF__MAPS
/* Has a process ended? Its first thread alone may have. Its memory and locks may take seconds to
 * go. */
static bool chroprof__has_left(const chroprof__process *now)
{
    return (now->state == 'Z' || now->exiting) && now->threads < 2;
}
#endif

/* Where the program is that made this block. Where its number can't be seen, as in another
 * container, only who has the same one and began at the same moment is taken for it. */
enum { CHROPROF__OWNER_GONE, CHROPROF__OWNER_HERE, CHROPROF__OWNER_UNSEEN };
CHROPROF__COLD int chroprof__find_owner(const chroprof__core *c)
{
    if (c->file.ended)
        return CHROPROF__OWNER_GONE;
#ifdef CHROPROF__MAPS
    char host[CHROPROF__NAME_BYTES] = "";
    if (c->process.pid == 0)
        return CHROPROF__OWNER_GONE;
    chroprof__name_host(host);
    chroprof__process now = chroprof__process_of(c->process.pid);
    bool same = now.start != 0 && now.start == c->file.owner_start;
    if (!same && strncmp(c->who.host, host, sizeof(host)) != 0)
        return CHROPROF__OWNER_UNSEEN;
    if (c->process.pid > INT32_MAX || (kill((pid_t)c->process.pid, 0) != 0 && errno == ESRCH) ||
        chroprof__has_left(&now))
        return CHROPROF__OWNER_GONE;
    return same || now.start == 0 || c->file.owner_start == 0 ? CHROPROF__OWNER_HERE
                                                         : CHROPROF__OWNER_GONE;
#else
    return CHROPROF__OWNER_UNSEEN;
#endif
}
