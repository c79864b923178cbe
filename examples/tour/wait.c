/* A wait that looks like work: the program does not report when its loop waits for events. */
#include "tour.h"

CHROPROF_SITE(site_request, "on_request");

int main(int argc, char **argv)
{
    start(argc, argv);
    for (int k = 0; k < 300; k++) {
        wait_for_events(5000);          /* should stand between idle_enter and idle_leave */
        call(&site_request, 400);
    }
    finish(argc);
    return 0;
}
