/* A crowd: ten tasks are ready at once, and one of them makes the others wait. */
#include "tour.h"

CHROPROF_SITE(site_reply, "reply");
CHROPROF_SITE(site_compress, "compress");

int main(int argc, char **argv)
{
    start(argc, argv);
    for (uint64_t k = 0; k < 60; k++) {
        uint64_t first = 1 + 10 * k;
        idle(30000);
        for (uint64_t id = first; id < first + 10; id++) {
            chroprof_pending(&prof, id, id == first ? &site_compress : &site_reply);
            chroprof_ready(&prof, id);
        }
        for (uint64_t id = first; id < first + 10; id++) {
            chroprof_running(&prof, id);
            work(id == first ? 8000 : 200);
            chroprof_completed(&prof, id);
        }
    }
    finish(argc);
    return 0;
}
