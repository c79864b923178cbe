/* Two users, one in C and one in C++, share the profile of an implementation in either. */
#include "../../chroprof.h"
#include "user.h"

static unsigned char memory[1 << 16];

int main(void)
{
    chroprof profile;
    if (chroprof_init(&profile, memory, sizeof memory, NULL) != CHROPROF_OK)
        return 1;
    return use_from_c(&profile) && use_from_cpp(&profile) ? 0 : 2;
}
