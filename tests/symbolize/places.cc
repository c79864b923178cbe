// Places in C++: a method, a template that is inlined, a lambda.
#include <cstddef>
#include "noted.h"

namespace outer_space {

struct machine {
    NOINLINE int turn(int n)
    {
        return n + note("outer_space::machine::turn(int)", __LINE__, NULL, 0, NULL, 0);
    }
};

template <typename T> INLINED T twice(T n, int line)
{
    return 2 * n + note("int outer_space::twice<int>(int, int)", __LINE__,
        "outer_space::work(int)", line, NULL, 0);
}

NOINLINE int work(int n)
{
    return twice(n, __LINE__) + 1;
}

}

int cpp_places(int n)
{
    outer_space::machine m;
    return m.turn(n) + outer_space::work(n);
}
