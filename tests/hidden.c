/* A program for tests/hide_ids.sh: futures whose ids are easily known again, in every place that a
 * report may show: slow, in stalls, out of order, live, running.
 *     hidden FILE ID..     at most 16 ids, at least 3; then it waits for the end of its input,
 *                          sending events */
#define _DEFAULT_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/select.h>
#include <unistd.h>
#include "../chroprof.h"

CHROPROF_SITE(request, "request");
CHROPROF_SITE(query, "query");
static chroprof prof;

static void serve(uint64_t id, uint64_t child, useconds_t us)
{
    chroprof_idle_leave(&prof);
    chroprof_pending(&prof, id, &request);
    chroprof_ready(&prof, id);
    chroprof_enter(&prof, &query);
    (void)usleep(us);
    chroprof_leave(&prof);
    chroprof_running(&prof, id);
    chroprof_pending(&prof, child, &query);
    chroprof_running(&prof, child);
    (void)usleep(us);
    chroprof_completed(&prof, child);
    chroprof_completed(&prof, id);
    chroprof_paused(&prof, id); /* out of order */
    chroprof_idle_enter(&prof);
}

int main(int count, char **words)
{
    uint64_t ids[16];
    int n = count - 2;
    char byte;
    chroprof_options options;
    memset(&options, 0, sizeof options);
    options.stall_ns = 1000000;
    if (n < 3 || n > 16 || chroprof_map(&prof, words[1], 1 << 20, &options) != CHROPROF_OK) {
        (void)fprintf(stderr, "%s\n", chroprof_why_off(&prof));
        return 1;
    }
    for (int i = 0; i < n; i++) {
        ids[i] = strtoull(words[i + 2], NULL, 0);
    }
    chroprof_idle_enter(&prof);
    for (int k = 0; k < 30; k++) {
        serve(ids[k % (n - 1)], ids[(k + 1) % (n - 1)], k % 8 == 0 ? 3000 : 100);
    }
    chroprof_pending(&prof, ids[n - 1], &request);
    chroprof_running(&prof, ids[n - 1]);
    (void)printf("ready\n");
    (void)fflush(stdout);
    for (bool more = true; more;) {
        fd_set in;
        struct timeval wait = { 0, 2000 };
        FD_ZERO(&in);
        FD_SET(0, &in);
        chroprof_pending(&prof, ids[0], &query);
        chroprof_running(&prof, ids[0]);
        more = select(1, &in, NULL, NULL, &wait) == 0 || read(0, &byte, 1) > 0;
        chroprof_completed(&prof, ids[0]);
    }
    return 0; /* not unmapped: as one that was killed */
}
