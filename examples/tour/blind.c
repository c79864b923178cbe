/* A blind spot: the callback that blocks for 300 ms is not instrumented; the other one is. */
#include "tour.h"

CHROPROF_SITE(site_request, "on_request");

static void on_reload(void)
{
    work(300000);
}

int main(int argc, char **argv)
{
    start(argc, argv);
    for (int k = 1; k <= 300; k++) {
        idle(5000);
        call(&site_request, 400);
        if (k % 60 == 0)
            on_reload();
    }
    finish(argc);
    return 0;
}
