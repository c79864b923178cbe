/* A leak: each request sets a timeout, and nobody cancels it when the request is done. */
#include "tour.h"

CHROPROF_SITE(site_request, "request");
CHROPROF_SITE(site_timeout, "timeout");

int main(int argc, char **argv)
{
    start(argc, argv);
    for (uint64_t k = 1; k <= 1500; k++) {
        uint64_t request = 2 * k, timeout = 2 * k + 1;
        idle(2000);
        chroprof_pending(&prof, request, &site_request);
        chroprof_pending(&prof, timeout, &site_timeout);
        chroprof_running(&prof, request);
        work(300);
        chroprof_completed(&prof, request);     /* chroprof_cancelled(&prof, timeout) is missing */
    }
    finish(argc);
    return 0;
}
