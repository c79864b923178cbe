// The same from C++, with the scope guard. An exception leaves the scope too.
#include <vector>
#include "../../chroprof.h"
#include "../../chroprof.h"
#include "user.h"

CHROPROF_SITE(site_cpp, "from C++");

static void throws(chroprof *p)
{
    chroprof_scope scope(p, &site_cpp);
    throw 1;
}

int use_from_cpp(chroprof *p)
{
    std::vector<chroprof_rank> ranks(16);
    chroprof_totals totals;
    try {
        throws(p);
    } catch (int) {
    }
    chroprof_read_totals(p, &totals);
    ranks.resize(chroprof_ranks(p, ranks.data(), ranks.size(), CHROPROF_BY_EXEC));
    return totals.depth == 0 && ranks.size() == 2 && ranks[0].completed + ranks[1].completed == 3;
}
