/* A hang: a callback blocks on a lock that nobody releases. The program does nothing more, but its
 * file shows where it is. */
#include "tour.h"
#include <unistd.h>

CHROPROF_SITE(site_request, "on_request");
CHROPROF_SITE(site_lock, "take_lock");

int main(int argc, char **argv)
{
    start(argc, argv);
    for (int k = 0; k < 20; k++) {
        idle(5000);
        call(&site_request, 400);
    }
    finish(argc);
    chroprof_enter(&prof, &site_lock);
    for (;;)
        pause();
}
