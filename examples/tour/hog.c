/* A hog: one callback in a hundred takes 300 ms, and all others wait. */
#include "tour.h"

CHROPROF_SITE(site_request, "on_request");
CHROPROF_SITE(site_export, "export_all");

int main(int argc, char **argv)
{
    start(argc, argv);
    for (int k = 1; k <= 300; k++) {
        idle(5000);
        call(&site_request, 400);
        if (k % 100 == 0)
            call(&site_export, 300000);
    }
    finish(argc);
    return 0;
}
