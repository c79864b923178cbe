/* A program for tests/record_command.sh, on a clock that counts ns by itself so that every figure is exact.
 *     recorded FILE EVENTS RING GO [busy]
 * Lives for a while, resets its profile, says "ready" and waits for the file GO. Then so many random
 * events, "done", and it waits for the end of its standard input. busy: on the clock of the machine,
 * without a pause longer than some 100 us, and without an end until then. */
#define _DEFAULT_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/select.h>
#include <time.h>
#include <unistd.h>
#include "../chroprof.h"

enum { FUTURES = 40, DEPTH = 12 };

typedef struct life {
    bool lives, ready, running;
} life;

static chroprof prof;
static uint64_t now, seed = 88172645463325252u;
static life lives[FUTURES];
static uint64_t stack[DEPTH]; /* ids from the bottom up; 0: a call */
static size_t depth;

static uint64_t random_below(uint64_t most)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed % most;
}

static const chroprof_site *site(uint64_t number)
{
    static const char *const names[] = { "accept", "parse it", "a\\b", "query", "reply", "" };
    return chroprof_site_make(&prof, names[number % 6], number % 4 ? "server.c" : "", 7);
}

static void send(chroprof_state state, uint64_t id, const chroprof_site *at)
{
    now += 1 + random_below(2000);
    chroprof_event(&prof, state, id, at, now);
}

/* What is on top ends or waits. */
static void pop(void)
{
    uint64_t id = stack[--depth];
    if (id == 0) {
        send(CHROPROF_LEAVE, 0, NULL);
        return;
    }
    lives[id - 1].running = false;
    lives[id - 1].lives = random_below(3) > 0;
    send(lives[id - 1].lives ? CHROPROF_PAUSED : CHROPROF_COMPLETED, id, NULL);
}

static void push(void)
{
    uint64_t id = 1 + random_below(FUTURES);
    life *one = &lives[id - 1];
    if (depth == DEPTH || one->running || random_below(3) == 0) {
        return;
    }
    if (!one->lives) {
        send(CHROPROF_PENDING, id, site(random_below(6)));
        one->lives = true;
    } else if (random_below(2) == 0 && !one->ready) {
        if (random_below(2) == 0) {
            send(CHROPROF_READY, id, NULL);
        } else {
            send(CHROPROF_TICK, 0, NULL);
            chroprof_ready_since(&prof, id, now - random_below(3000));
        }
        one->ready = true;
    } else {
        send(CHROPROF_RUNNING, id, NULL);
        one->ready = false;
        one->running = true;
        stack[depth++] = id;
    }
}

static void step(void)
{
    switch (random_below(8)) {
    case 0:
    case 1:
    case 2: push(); break;
    case 3:
    case 4:
        if (depth > 0)
            pop();
        break;
    case 5:
        if (depth < DEPTH) {
            send(CHROPROF_ENTER, 0, site(random_below(6)));
            stack[depth++] = 0;
        }
        break;
    case 6:
        if (depth == 0) {
            send(CHROPROF_IDLE_ENTER, 0, NULL);
            send(CHROPROF_IDLE_LEAVE, 0, NULL);
        }
        break;
    default:
        if (random_below(2) > 0)
            send(CHROPROF_TICK, 0, NULL);
        else
            send(CHROPROF_COMPLETED, random_below(2) * 1000, site(random_below(6)));
    }
}

/* Tasks of 36 paths, 400 at once, which come and go. */
static void serve(unsigned turn)
{
    static uint64_t ids[400], next = 1;
    uint64_t *id = &ids[turn * 7919u % 400u];
    chroprof_enter(&prof, site(turn % 6));
    if (*id == 0) {
        *id = next++;
        chroprof_pending(&prof, *id, site(next / 400 % 6));
    } else {
        chroprof_running(&prof, *id);
        if (turn % 3 > 0) {
            chroprof_paused(&prof, *id);
        } else {
            chroprof_completed(&prof, *id);
            *id = 0;
        }
    }
    chroprof_leave(&prof);
}

static void serve_until_the_end(void)
{
    struct timeval moment;
    fd_set in;
    unsigned turn = 0;
    do {
        for (int k = 0; k < 32; k++) {
            serve(turn++);
        }
        moment.tv_sec = 0;
        moment.tv_usec = 100;
        FD_ZERO(&in);
        FD_SET(0, &in);
        chroprof_idle_enter(&prof);
        (void)select(1, &in, NULL, NULL, &moment);
        chroprof_idle_leave(&prof);
    } while (!FD_ISSET(0, &in));
}

static void say(const char *word)
{
    (void)puts(word);
    (void)fflush(stdout);
}

int main(int count, char **words)
{
    const struct timespec moment = { 0, 1000000 };
    chroprof_options options;
    memset(&options, 0, sizeof options);
    options.clock = count > 5 ? NULL : chroprof_clock_manual;
    options.max_events = count > 4 ? (uint32_t)strtoul(words[3], NULL, 10) : 0;
    if (count < 5 || chroprof_map(&prof, words[1], 1 << 24, &options) != CHROPROF_OK) {
        return 1;
    }
    if (count > 5) {
        say("ready");
        serve_until_the_end();
        return 0;
    }
    for (int i = 0; i < 3000 || depth < 3; i++) {
        step();
    }
    chroprof_reset(&prof);
    say("ready");
    while (access(words[4], F_OK) != 0) {
        (void)nanosleep(&moment, NULL);
    }
    for (long i = 0; i < strtol(words[2], NULL, 10); i++) {
        step();
        if (i % 200 == 0) {
            (void)nanosleep(&moment, NULL);
        }
    }
    say("done");
    (void)getchar();
    return 0;
}
