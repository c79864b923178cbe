/* A program for tests/top.py: serves for a while, hangs, and ends as it is told.
 *     watched FILE serve|hang|end|hostile|sampled|clients */
#define _DEFAULT_SOURCE
#include <string.h>
#include <unistd.h>
#include "../chroprof.h"

CHROPROF_SITE(site_culprit, "slow_query");
CHROPROF_SITE(site_serve, "serve");
CHROPROF_SITE(site_stuck, "stuck_in_lock");
CHROPROF_SITE(site_query, "query");
CHROPROF_SITE(site_hostile, "\033]0;owned\007\033[2J\033[31mred\xff\xe2\x80\xae\n");
CHROPROF_SITE(site_wide, "\xe6\x8e\xa5\xe7\xb6\x9a\xe3\x82\x92\xe5\x87\xa6\xe7\x90\x86"
                         "\xe3\x81\x99\xe3\x82\x8b"); /* seven characters, fourteen columns */

static chroprof prof;

static void callback(const chroprof_site *site, useconds_t us)
{
    chroprof_enter(&prof, site);
    (void)usleep(us);
    chroprof_leave(&prof);
}

static void turn(int number, bool hostile)
{
    chroprof_idle_enter(&prof);
    (void)usleep(2000);
    chroprof_idle_leave(&prof);
    callback(&site_serve, 500);
    callback(hostile ? &site_hostile : &site_culprit, number % 10 == 0 ? 30000 : 3000);
    if (hostile) {
        callback(&site_wide, 2000);
    }
}

/* A sample says half a ms of CPU time of each ms; futures wait and finish. */
static void sampled_callback(uint64_t number)
{
    chroprof_pending(&prof, number, &site_query);
    chroprof_enter(&prof, &site_culprit);
    (void)usleep(1000);
    chroprof_sample(&prof, chroprof_now(&prof), 500000);
    chroprof_leave(&prof);
    chroprof_running(&prof, number);
    chroprof_completed(&prof, number);
}

/* Requests that come by chance, on a clock of its own: what clients saw is the same each time. */
static void clients(void)
{
    uint64_t now = 1000, state = 1;
    uint64_t due = now;
    for (uint64_t i = 0; i < 1500; i++) {
        state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        due +=
            1 + ((state >> 40) & 1023) * ((state >> 50) & 1023); /* 0 to 1 ms, 0.26 in the mean */
        chroprof_event(&prof, CHROPROF_IDLE_ENTER, 0, NULL, now);
        now = due > now ? due : now + 1000;
        chroprof_event(&prof, CHROPROF_IDLE_LEAVE, 0, NULL, now);
        chroprof_event(&prof, CHROPROF_ENTER, 0, &site_query, now);
        now += 60000 + ((state >> 30) & 1023) * 60;
        if (i == 1400) {
            chroprof_event(&prof, CHROPROF_PENDING, 77, &site_serve, now);
            now += 25000000; /* a stall */
        }
        chroprof_event(&prof, CHROPROF_LEAVE, 0, NULL, now);
    }
}

static void many_sites(void)
{
    char name[32];
    for (int i = 0; i < 40; i++) {
        (void)snprintf(name, sizeof name, "handler_%02d", i);
        callback(chroprof_site_make(&prof, name, "handlers.c", (uint32_t)i + 1), 0);
    }
}

int main(int count, char **words)
{
    const char *what = count > 2 ? words[2] : "";
    chroprof_options options;
    memset(&options, 0, sizeof options);
    options.name = "watched";
    options.clock = strcmp(what, "clients") == 0 ? chroprof_clock_manual : NULL;
    if (count < 3 || chroprof_map(&prof, words[1], 1 << 20, &options) != CHROPROF_OK) {
        return 1;
    }
    if (options.clock != NULL) {
        clients();
        chroprof_unmap(&prof);
        return 0;
    }
    many_sites();
    for (uint64_t i = 1; i <= 40 && strcmp(what, "sampled") == 0; i++) {
        sampled_callback(i);
    }
    for (int i = 0;
         i < 100000 && (i < 100 || (strcmp(what, "end") != 0 && strcmp(what, "sampled") != 0));
         i++) {
        turn(i, strcmp(what, "hostile") == 0);
        if (strcmp(what, "hang") == 0 && i == 100) {
            chroprof_enter(&prof, &site_serve);
            chroprof_enter(&prof, &site_stuck);
            (void)pause();
        }
    }
    chroprof_unmap(&prof);
    return 0;
}
