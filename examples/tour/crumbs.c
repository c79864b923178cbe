/* Crumbs: no call is long, but one that takes 20 us runs thousands of times per second. */
#include "tour.h"

CHROPROF_SITE(site_request, "on_request");
CHROPROF_SITE(site_progress, "update_progress");

int main(int argc, char **argv)
{
    start(argc, argv);
    for (int k = 0; k < 300; k++) {
        idle(1000);
        call(&site_request, 400);
        for (int i = 0; i < 150; i++)
            call(&site_progress, 20);
    }
    finish(argc);
    return 0;
}
