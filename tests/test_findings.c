/* tests/test_findings.c - what chroprof_findings says first, of what a loop did.
 *
 * Each row of the table is a little program under the manual clock, and the kinds of findings
 *            that it
 * must give, in this order. Times are in ms, N* repeats what stands in the parentheses after it:
 *   i idle   u uninstrumented   a to h: the task of that letter, entered and left
 *   w K      K tasks become ready and wait; y: they run, for no time, and complete
 *   l K      K futures are created that never finish, 1 ms apart; k K: as many that do finish
 *   z K      K times a leave without an enter
 *   A to H   the task is entered and stays there for so long; q T: T ms without any event
 *   I T      idle is entered and stays; U T: as u, to the end
 *   m n o    task a, sampled each ms, of which it had 1, 0.5, 0.4 of CPU time
 * SEED=n replays the random streams, ROUNDS=n asks for more of them. */
#include "harness.h"
#if defined(__unix__)
#include <signal.h>
#endif

/* >>programs */

static const chroprof_site tasks[8] = { { "a", "app.c", 1 }, { "b", "app.c", 2 },
                                        { "c", "app.c", 3 }, { "d", "app.c", 4 },
                                        { "e", "app.c", 5 }, { "f", "app.c", 6 },
                                        { "g", "app.c", 7 }, { "h", "app.c", 8 } };
static const chroprof_site waiter = { "waiter", "queue.c", 30 };
static const chroprof_site leaky = { "leaky", "conn.c", 40 };

typedef struct program {
    chroprof *p;
    uint64_t now, ids, first_waiting, waiting;
    const char *at;
} program;

static void event(program *g, chroprof_state state, uint64_t id, const chroprof_site *site)
{
    chroprof_event(g->p, state, id, site, g->now);
}

static void span(program *g, chroprof_state enter, chroprof_state leave, const chroprof_site *site,
                 uint64_t ns)
{
    event(g, enter, 0, site);
    g->now += ns;
    event(g, leave, 0, NULL);
}

static void make_wait(program *g, uint64_t count)
{
    g->first_waiting = g->ids + 1;
    for (g->waiting = 0; g->waiting < count; g->waiting++) {
        event(g, CHROPROF_PENDING, ++g->ids, &waiter);
        event(g, CHROPROF_READY, g->ids, NULL);
    }
}

static void let_run(program *g)
{
    for (; g->waiting > 0; g->waiting--, g->first_waiting++) {
        event(g, CHROPROF_RUNNING, g->first_waiting, NULL);
        event(g, CHROPROF_COMPLETED, g->first_waiting, NULL);
    }
}

static void create(program *g, uint64_t count, bool finish)
{
    for (; count > 0; count--) {
        event(g, CHROPROF_PENDING, ++g->ids, &leaky);
        if (finish)
            event(g, CHROPROF_COMPLETED, g->ids, NULL);
        span(g, CHROPROF_IDLE_ENTER, CHROPROF_IDLE_LEAVE, NULL, 1000000);
    }
}

static void disorder(program *g, uint64_t count)
{
    for (; count > 0; count--)
        event(g, CHROPROF_LEAVE, 0, NULL);
}

static void stay(program *g, chroprof_state state, const chroprof_site *site, uint64_t ns)
{
    event(g, state, 0, site);
    g->now += ns;
    event(g, CHROPROF_TICK, 0, NULL);
}

static void sampled(program *g, int task, uint64_t count, uint64_t cpu_ns)
{
    event(g, CHROPROF_ENTER, 0, &tasks[task]);
    for (; count > 0; count--) {
        g->now += 1000000;
        event(g, CHROPROF_TICK, 0, NULL);
        chroprof_sample(g->p, g->now, cpu_ns);
    }
    event(g, CHROPROF_LEAVE, 0, NULL);
}

static void one_word(program *g, char word, double number)
{
    uint64_t count = (uint64_t)number, ns = (uint64_t)(number * 1000000 + 0.5);
    if (word >= 'a' && word <= 'h')
        span(g, CHROPROF_ENTER, CHROPROF_LEAVE, &tasks[word - 'a'], ns);
    else if (word >= 'A' && word <= 'H')
        stay(g, CHROPROF_ENTER, &tasks[word - 'A'], ns);
    else
        switch (word) {
        case 'i': span(g, CHROPROF_IDLE_ENTER, CHROPROF_IDLE_LEAVE, NULL, ns); break;
        case 'u':
            g->now += ns;
            event(g, CHROPROF_TICK, 0, NULL);
            break;
        case 'w': make_wait(g, count); break;
        case 'y': let_run(g); break;
        case 'l': create(g, count, false); break;
        case 'k': create(g, count, true); break;
        case 'z': disorder(g, count); break;
        case 'm': sampled(g, 0, count, 1000000); break;
        case 'n': sampled(g, 0, count, 500000); break;
        case 'o': sampled(g, 0, count, 400000); break;
        case 'p': sampled(g, 1, count, 900000); break;
        case 'r': sampled(g, 1, count, 890000); break;
        case 's': sampled(g, 1, count, 510000); break;
        case 't': sampled(g, 1, count, 490000); break;
        case 'q':
            g->now += ns;
            event(g, CHROPROF_TICK, 0, NULL);
            break;
        case 'I': stay(g, CHROPROF_IDLE_ENTER, NULL, ns); break;
        case 'U': stay(g, CHROPROF_TICK, NULL, ns); break;
        default: harness_fail(__FILE__, __LINE__, "no word '%c' in programs", word);
        }
}

/* Up to the end or the parenthesis that closes it. */
static void run_words(program *g)
{
    while (*g->at != '\0' && *g->at != ')') {
        char *end;
        if (*g->at == ' ') {
            g->at++;
        } else if (*g->at >= '0' && *g->at <= '9') {
            unsigned long times = strtoul(g->at, &end, 10);
            const char *body = end + 2; /* after "*(" */
            for (; times > 0; times--) {
                g->at = body;
                run_words(g);
            }
            g->at++;
        } else {
            char word = *g->at++;
            double number = strtod(g->at, &end);
            g->at = end;
            one_word(g, word, number);
        }
    }
}

/* Returns the time at which it ends; from 0 on, or going on at such a time. */
static uint64_t run_program(chroprof *p, const char *text, uint64_t now)
{
    program g = { p, now, now, 0, 0, text };
    chroprof_event(p, CHROPROF_TICK, 0, NULL, g.now);
    run_words(&g);
    return g.now;
}

/* >>truth: what stands out in which program */

typedef enum space {
    AMPLE,
    FEW_SITES,
    FEW_PATHS,
    FEW_FUTURES,
    SHALLOW,
    FEW_HISTOGRAMS,
    FEW_BYTES
} space;

typedef struct truth {
    const char *program, *kinds; /* what is found, in this order */
    const char *first;           /* how the first sentence begins, may be NULL */
    space room;
} truth;

static const truth truths[] = {
    /* too little to say */
    { "", "FINE", "It is too early to say: the profile covers 0 ns and has one event.", AMPLE },
    { "a5", "FINE", "It is too early to say: the profile covers 5.00 ms and has 3 events.", AMPLE },
    { "i50 a49.9", "FINE", "It is too early to say: the profile covers 99.9 ms", AMPLE },
    { "A60", "FINE", "It is too early to say: the profile covers 60.0 ms and has 3 events", AMPLE },
    { "u99.9 a20", "FINE", "It is too early to say: the profile covers 120 ms", AMPLE },
    { "u499 a20", "FINE", "It is too early to say: the profile covers 519 ms", AMPLE },
    /* nothing stands out */
    { "I1000", "FINE", "Nothing stands out in 1.00 s: the loop was idle for 100.0% of it.", AMPLE },
    { "1000*(i9.5 a0.5)", "FINE",
      "Nothing stands out in 10.0 s: the loop was idle for 95.0% of "
      "it, "
      "and a (app.c:1) took the most of all tasks, 5.0%.",
      AMPLE },
    { "1000*(i5 a1 b1 c1 d1)", "FINE", NULL, AMPLE },
    { "1000*(a1 b1 c1 i0.1)", "FINE SATURATES",
      "No task stands out in 3.10 s, but the loop was idle for "
      "only "
      "3.2% of it, and a (app.c:1) took the most of all tasks, 32.3%; the next took 32.3%.",
      AMPLE },
    { "100*(i9 a0.5) a20", "FINE", NULL, AMPLE },
    /* how much more load it takes: from 60 % of the run, a second of work and 100 iterations on */
    { "1000*(i4 a3 b3)", "FINE SATURATES", NULL, AMPLE },
    { "1000*(i4.01 a3 b3)", "FINE", NULL, AMPLE },
    { "101*(i6 a5 b5)", "STUTTERS SATURATES", NULL, AMPLE },
    { "99*(i6 a5 b5)", "STUTTERS", NULL, AMPLE },
    { "99*(i8 a6 b6)", "STUTTERS", NULL, AMPLE },
    /* one site occupies the loop, and not: its share, its part of the work, its lead */
    { "1000*(i8 a2)", "OCCUPIES",
      "a (app.c:1) occupies the loop most: 20.0% of the run, 2.00 s in "
      "1000 slices, the longest 2.00 ms.",
      AMPLE },
    { "1000*(i8.01 a2)", "FINE", NULL, AMPLE },
    { "1000*(i4.6 a2 b1.6 c1.4)", "OCCUPIES", NULL, AMPLE },
    { "1000*(i4.6 a2 b1.61 c1.4)", "FINE", NULL, AMPLE },
    { "1000*(a3 b1 c1 d1 e1 f1 g1 h1)", "OCCUPIES", NULL, AMPLE },
    { "1000*(a2.3 b1 c1 d1 e1 f1 g1 h1)", "FINE", NULL, AMPLE },
    { "i60 a20 i60", "FINE", NULL, AMPLE },
    { "1000*(a1)", "OCCUPIES", "a (app.c:1) occupies the loop most: 100.0% of the run", AMPLE },
    /* partly instrumented, of every degree */
    { "1000*(i8 u2 a0)", "UNINSTRUMENTED",
      "20.0% of the run (2.00 s) is uninstrumented. Call "
      "chroprof_enter and chroprof_leave around the callbacks that have no site.",
      AMPLE },
    { "1000*(i8 a1 u1)", "UNINSTRUMENTED", NULL, AMPLE },
    { "1000*(i8 a1 u0.99)", "FINE", NULL, AMPLE },
    { "1000*(i5 a1 u3)", "UNINSTRUMENTED", NULL, AMPLE },
    { "1000*(i5 a3 u1)", "OCCUPIES UNINSTRUMENTED", NULL, AMPLE },
    { "1000*(i5 a3 u0.9)", "OCCUPIES", NULL, AMPLE },
    { "1000*(i1 a3 u6)", "UNINSTRUMENTED OCCUPIES SATURATES", NULL, AMPLE },
    { "1000*(i1 a6 u3)", "OCCUPIES UNINSTRUMENTED SATURATES", NULL, AMPLE },
    { "1000*(i2 a6 u2)", "OCCUPIES UNINSTRUMENTED SATURATES", NULL, AMPLE },
    { "1000*(i2 a6.1 u1.9)", "OCCUPIES SATURATES", NULL, AMPLE },
    { "U5000", "UNINSTRUMENTED", "No task ran in 5.00 s, so nothing is instrumented yet.", AMPLE },
    { "1000*(i1) U200", "UNINSTRUMENTED", NULL, AMPLE },
    /* nobody reports idle */
    { "1000*(a0.1 u0.9)", "NO_IDLE",
      "No idle time is reported: 90.0% of the run (900 ms) counts as uninstrumented. Call "
      "chroprof_idle_enter and chroprof_idle_leave around the wait of the loop, such as poll. If a "
      "library waits in epoll_wait, use CHROPROF_EPOLL_IDLE.",
      AMPLE },
    { "2500*(a0.8 u0.2)", "NO_IDLE OCCUPIES", NULL, AMPLE },
    { "2500*(a0.81 u0.19)", "OCCUPIES", NULL, AMPLE },
    { "2495*(a0.8 u0.2)", "OCCUPIES", NULL, AMPLE },
    { "1000*(u9 a30)", "NO_IDLE OCCUPIES STALL", NULL, AMPLE },
    /* stalls: whose, at which length, and in how many slices */
    { "100*(i9 a0.5) a20.1", "STALL",
      "The loop was blocked for 20.1 ms at 00:00.950: a "
      "(app.c:1) took "
      "100.0% of it. Split its work into several slices, or move it off the loop.",
      AMPLE },
    { "100*(i9 a0.5) a99 100*(i9 b0.5)", "STALL", NULL, AMPLE },
    { "100*(i5 a5) a94.9 50*(i1 b0.5)", "OCCUPIES STALL", NULL, AMPLE },
    { "100*(i5 a5) a95 50*(i1 b0.5)", "STALL OCCUPIES", NULL, AMPLE },
    { "100*(i9 a1) u300 100*(i9 a1)", "STALL UNINSTRUMENTED",
      "The loop was blocked for 301 ms at "
      "00:00.999: uninstrumented code took 99.7% of it. Call chroprof_enter",
      AMPLE },
    { "i10 a1 u300 i700 20*(i5 a5) 200*(i4 u5 a0.2)", "UNINSTRUMENTED STALL",
      "42.6% of the run "
      "(1.30 "
      "s) is uninstrumented, 300 ms of it in the stall at 00:00.010.",
      AMPLE },
    { "100*(i9 a1) 30*(u9 a1) 10*(i9 a1)", "STALL UNINSTRUMENTED", NULL, AMPLE },
    { "20*(i50 30*(a2))", "OCCUPIES STALL", NULL, AMPLE },
    { "100*(i50 a1) 300*(a2) i1", "STALL",
      "The loop was blocked for 601 ms at 00:05.099: a "
      "(app.c:1) took 100.0% of it in 301 slices. Let the loop poll between them.",
      AMPLE },
    { "100*(i5 a1) a150 b150 i10 c10", "STALL OCCUPIES",
      "The loop was blocked for 301 ms at "
      "00:00.599, the longest of 3 stalls: a (app.c:1) took 50.2% of it, and b 49.8%.",
      AMPLE },
    /* on the loop, but not on the processor; known only where all of it was sampled */
    { "25*(i2 m2)", "OCCUPIES", NULL, AMPLE },
    { "50*(i2 n2)", "PREEMPTED OCCUPIES",
      "a (app.c:1) held the loop for 100 ms, but used only "
      "50.0 ms of CPU time: it waited or was preempted for the rest.",
      AMPLE },
    { "50*(i2 m1 n1)", "OCCUPIES", NULL, AMPLE },
    { "25*(i2 o2)", "OCCUPIES", NULL, AMPLE },
    { "51*(i2 o1)", "PREEMPTED OCCUPIES", NULL, AMPLE },
    { "25*(i2 a2) 25*(i2 o2)", "OCCUPIES", NULL, AMPLE },
    { "25*(i2 o2) 25*(i2 a2)", "OCCUPIES", NULL, AMPLE },
    { "50*(i2 o2 b3)", "PREEMPTED OCCUPIES", NULL, AMPLE },
    { "500*(i10 o2 i8)", "PREEMPTED", NULL, AMPLE },
    /* and what the others had of the processor meanwhile */
    { "50*(i2 o2)", "PREEMPTED OCCUPIES",
      "a (app.c:1) held the loop for 100 ms, but used only 40.0 ms of CPU time: it waited or was "
      "preempted for the rest. Look for blocking calls in it, and for other programs on its processor.",
      AMPLE },
    { "51*(i2 o2 p1)", "PREEMPTED OCCUPIES",
      "a (app.c:1) held the loop for 102 ms, but used only 40.8 ms of CPU time: it waited or was "
      "preempted for the rest. Other tasks kept theirs: look for blocking calls in it.",
      AMPLE },
    { "50*(i2 o2) 49*(i2 p1)", "PREEMPTED OCCUPIES",
      "a (app.c:1) held the loop for 100 ms, but used only 40.0 ms of CPU time: it waited or was "
      "preempted for the rest. Look for blocking calls in it, and for",
      AMPLE },
    { "51*(i2 o2 r1)", "PREEMPTED OCCUPIES",
      "a (app.c:1) held the loop for 102 ms, but used only 40.8 ms of CPU time: it waited or was "
      "preempted for the rest. Look for blocking calls in it, and for",
      AMPLE },
    { "51*(i2 o2 s1)", "PREEMPTED OCCUPIES",
      "a (app.c:1) held the loop for 102 ms, but used only 40.8 ms of CPU time: it waited or was "
      "preempted for the rest. Look for blocking calls in it, and for",
      AMPLE },
    { "51*(i2 o2 t1)", "PREEMPTED OCCUPIES",
      "a (app.c:1) held the loop for 102 ms, but used only 40.8 ms of CPU time: it waited or was "
      "preempted for the rest. Other tasks lost theirs too: look for other programs on its processor.",
      AMPLE },
    { "50*(i9 m1) o30 i9", "STALL",
      "The loop was blocked for 31.0 ms at 00:00.499: a (app.c:1) took 100.0% of it. 18.0 ms of it "
      "were off CPU: look for blocking calls, and for other programs on its processor.",
      AMPLE },
    { "60*(i9 p1) o30 i9", "STALL",
      "The loop was blocked for 31.0 ms at 00:00.599: a (app.c:1) took 96.8% of it. 18.1 ms of it "
      "were off CPU: look for blocking calls, and for other programs on its processor.",
      AMPLE },
    { "60*(i9 t1) o30 i9", "STALL",
      "The loop was blocked for 31.0 ms at 00:00.599: a (app.c:1) took 96.8% of it. 18.5 ms of it "
      "were off CPU. Other tasks lost CPU time too: look for other programs on its processor.",
      AMPLE },
    /* ready tasks wait */
    { "100*(i50 w1 a10 y)", "DELAYS STUTTERS",
      "Ready tasks waited 1.00 task-seconds; a (app.c:1) "
      "caused 100.0% of it. Make its slices shorter, or run it less often.",
      AMPLE },
    { "100*(i50 w1 a5 y i45)", "STUTTERS", NULL, AMPLE },
    { "100*(i50 w1 a10 y i40)", "DELAYS STUTTERS", NULL, AMPLE },
    { "100*(i50 w1 a10 y i41)", "STUTTERS", NULL, AMPLE },
    { "100*(i5 w10 a4 y)", "OCCUPIES DELAYS", NULL, AMPLE },
    { "100*(i5 w10 a2 b2 y)", "FINE", NULL, AMPLE },
    { "100*(i5 w10 a1 y b3)", "OCCUPIES DELAYS", NULL, AMPLE },
    { "100*(i9 w10 u1 y)", "UNINSTRUMENTED DELAYS", NULL, AMPLE },
    { "100*(i1 w10 i9 y)", "DELAYS",
      "Ready tasks waited 9.00 task-seconds; idle time caused "
      "100.0% of it.",
      AMPLE },
    /* inside a task, and not back */
    { "100*(i5 a2) A1000", "HANGS OCCUPIES",
      "The loop has been inside a (app.c:1) for 1.00 s, "
      "since 00:00.700, and is not back.",
      AMPLE },
    { "100*(i5 a2) A999.9", "OCCUPIES", NULL, AMPLE },
    { "i5 a600 i5 A1200", "HANGS STALL OCCUPIES", NULL, AMPLE },
    { "i5 a601 i5 A1200", "STALL OCCUPIES", NULL, AMPLE },
    { "100*(i5 a2) i5 U1100", "HANGS UNINSTRUMENTED",
      "The loop has been inside uninstrumented "
      "code for "
      "1.10 s, since 00:00.705",
      AMPLE },
    { "1000*(i9 a1) A100 B2000", "HANGS", "The loop has been inside b (app.c:2) for 2.00 s",
      AMPLE },
    { "1000*(i9 a1) A1500 b1", "OCCUPIES", NULL, AMPLE },
    { "1000*(i9 a1) I5000", "FINE", NULL, AMPLE },
    /* futures that do not finish */
    { "l1000", "LEAKS", "1000 of 1000 futures of leaky (conn.c:40) did not finish", AMPLE },
    { "l300", "LEAKS", "300 of 300 futures of leaky (conn.c:40) did not finish", AMPLE },
    { "l299", "FINE", NULL, AMPLE },
    /* a leak that slows its own program: the last quarter has a twentieth of them */
    { "25*(l36 i1) 25*(l36 i1) 25*(l8 i29) 25*(l4 i33)", "LEAKS", NULL, AMPLE },
    { "k2000", "FINE", NULL, AMPLE },
    { "l1000 k111", "LEAKS", NULL, AMPLE },
    /* a part of them, where the others finish soon */
    { "100*(l1 k9)", "LEAKS", "100 of 1000 futures of leaky (conn.c:40) did not finish", AMPLE },
    { "99*(l1 k9)", "FINE", NULL, AMPLE },
    { "l100 k900", "FINE", NULL, AMPLE },
    { "k900 l100", "FINE", NULL, AMPLE },
    { "l1500 i3000", "FINE", NULL, AMPLE },
    { "i3000 l1500", "FINE", NULL, AMPLE },
    { "40*(l50 a30)", "OCCUPIES STALL LEAKS", NULL, AMPLE },
    /* more and more */
    { "80*(i80 a10 b1) 20*(i20 b70)", "RISING STALL STUTTERS",
      "b (app.c:2) rises from 1.1% (the 2.00 s after 00:00.800) to 59.3% (the last 2.00 s).",
      AMPLE },
    { "84*(i90 a10) 24*(i80 a20)", "RISING STUTTERS", NULL, AMPLE },
    /* stays that are no stalls, but come all the time: each of two, and of a loop of many */
    { "100*(i188 a12)", "STUTTERS",
      "a (app.c:1) holds the loop for about 12.0 ms or more at least 2 times a second, 6.0% of the "
      "run in all. Split its work, or call it less often.",
      AMPLE },
    { "100*(i192 a8)", "FINE", NULL, AMPLE },
    { "200*(i60 a12 i48 b12)", "STUTTERS", NULL, AMPLE },
    { "800*(i9 a1) 130*(i50 a12)", "STUTTERS", NULL, AMPLE },
    { "200*(i80 a3 b3 c3 d3)", "STUTTERS",
      "The loop does not wait for about 12.0 ms or more at least 5 times a second, which is 6.5% of "
      "the run. Its tasks together take so long.",
      AMPLE },
    { "84*(i90 a9.9 i0.1) 24*(i80.1 a19.9)", "STUTTERS", NULL, AMPLE },
    { "84*(i89.9 a10.1) 24*(i80 a20)", "STUTTERS", NULL, AMPLE },
    { "25*(i95 a5) 25*(i85 a15) 25*(i80 a20) 33*(i70 a20)", "RISING STUTTERS", NULL, AMPLE },
    { "25*(i95 a5) 25*(i80 a20) 25*(i90 a10) 33*(i78 a20)", "STUTTERS", NULL, AMPLE },
    { "40*(i90 a10) 2*(a10 i90 a90 i10)", "STALL STUTTERS", NULL, AMPLE },
    { "10*(i90 a10) 3*(i20 a80)", "OCCUPIES STALL", NULL, AMPLE },
    { "12*(i90 a10) 5*(i20 a80)", "RISING OCCUPIES STALL", NULL, AMPLE },
    { "20*(i20 a80) 80*(i90 a10)", "OCCUPIES STALL", NULL, AMPLE },
    { "40*(i100) 400*(i6 a4)", "OCCUPIES", NULL, AMPLE }, /* the load began late */
    { "a0.001 40*(i100) 400*(i6 a4)", "OCCUPIES", NULL, AMPLE },
    { "40*(i100) 200*(i9 a1) 200*(i5 a5)", "RISING", NULL, AMPLE },
    /* calls out of order */
    { "z10 100*(i5 a1)", "ORDER",
      "10 times: leave without an enter-frame on top, ignored. Pair "
      "each "
      "enter with one leave",
      AMPLE },
    { "z9 100*(i5 a1)", "FINE", NULL, AMPLE },
    { "z10 2495*(i5 a1)", "ORDER", NULL, AMPLE },
    { "z10 2500*(i5 a1)", "FINE", NULL, AMPLE },
    { "100*(z1 i5 a5)", "OCCUPIES ORDER", NULL, AMPLE },
    /* profiling is a visible part of the work */
    { "600*(i0.1 100*(a0.0005))", "FINE", NULL, AMPLE },
    { "2000*(i0.01 100*(a0.0005))", "OCCUPIES COST", NULL, AMPLE },
    { "2000*(i0.01 100*(a0.0009))", "OCCUPIES", NULL, AMPLE },
    /* full tables: those that only lack detail come last */
    { "100*(i5 a1 b1 c1 d1 e1 f1)", "FULL", NULL, FEW_SITES },
    { "100*(i5 a1 b1 c1 d1 e1 f1)", "FULL", NULL, FEW_PATHS },
    { "100*(i5 a1 b1 c1 d1 e1 f1)", "FINE FULL", NULL, FEW_HISTOGRAMS },
    { "100*(i5 a1 b1 c1 d1 e1 f1)", "FINE FULL", NULL, FEW_BYTES },
    { "100*(i5 w40 a1 y b1 c1)", "DELAYS FULL", NULL, FEW_FUTURES },
    { "l400", "FULL", NULL, FEW_FUTURES },
    { "l3000", "LEAKS FULL", NULL, FEW_FUTURES },
    { "200*(l10 k10)", "LEAKS FULL", "2000 of 4000 futures of leaky (conn.c:40) did not finish",
      FEW_FUTURES },
    { "1000*(i9 k1) l1500", "FULL", NULL, FEW_FUTURES }, /* they may be under way */
    { "l1500 i3000", "FULL", NULL, FEW_FUTURES },        /* they may be connections */
    { "100*(i5 a2 b1)", "OCCUPIES", NULL, FEW_SITES },
    { "i100 A1 B1 C1 D1 E1 F1 I100", "FULL", NULL, SHALLOW },
};

static const char *kind_name(chroprof_finding_kind kind)
{
    switch (kind) {
#define KIND_NAME(name)                                                                            \
    case CHROPROF_FINDING_##name: return #name;
        CHROPROF_FINDINGS(KIND_NAME)
#undef KIND_NAME
    default: return "?";
    }
}

static const char *kinds_of(const chroprof *p)
{
    static char text[200];
    chroprof_finding rows[CHROPROF_FINDING_COUNT];
    size_t count = chroprof_findings(p, rows, CHROPROF_FINDING_COUNT), used = 0, i;
    text[0] = '\0';
    for (i = 0; i < count; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", i ? " " : "",
                                 kind_name(rows[i].kind));
    return text;
}

static void print_findings(const chroprof *p)
{
    chroprof_finding rows[CHROPROF_FINDING_COUNT];
    size_t count = chroprof_findings(p, rows, CHROPROF_FINDING_COUNT), i;
    for (i = 0; i < count; i++)
        printf("    %-14s %7u ppm  %s\n", kind_name(rows[i].kind), rows[i].share_ppm, rows[i].text);
}

/* Says what is not as it should be and goes on, so that one run shows all; the number of those. */
static size_t hold_truth(const chroprof *p, const char *words, const char *kinds, const char *first)
{
    chroprof_finding row;
    CHECK(chroprof_findings(p, &row, 1) > 0);
    if (strcmp(kinds_of(p), kinds) == 0 && (!first || strncmp(row.text, first, strlen(first)) == 0))
        return 0;
    printf("  \"%s\" gives %s, not %s: %s\n", words, kinds_of(p), kinds, first ? first : "");
    print_findings(p);
    return 1;
}

static chroprof *fresh_in(space room)
{
    chroprof_options o;
    memset(&o, 0, sizeof o);
    o.max_sites = room == FEW_SITES ? 3 : 0;
    o.max_paths = room == FEW_PATHS ? 3 : 0;
    o.max_futures = room == FEW_FUTURES ? 16 : 8192;
    o.max_depth = room == SHALLOW ? 3 : 0;
    o.max_histograms = room == FEW_HISTOGRAMS ? 2 : 0;
    o.string_bytes = room == FEW_BYTES ? 8 : 0;
    o.max_windows = 43; /* what a sentence compares hangs on their width */
    return fresh(&o);
}

static void hold_findings(const chroprof *p);

TEST(truth_table)
{
    size_t i, wrong = 0;
    for (i = 0; i < sizeof truths / sizeof *truths; i++) {
        chroprof *p = fresh_in(truths[i].room);
        run_program(p, truths[i].program, 0);
        laws(p);
        wrong += hold_truth(p, truths[i].program, truths[i].kinds, truths[i].first);
        hold_findings(p);
    }
    CHECK_EQ(wrong, 0);
}

/* >>views: what others see of a program */

static union {
    uint64_t word;
    unsigned char bytes[HARNESS_MEMORY];
} copies[2];

static void open_copy(chroprof *view, int k)
{
    CHECK_EQ(chroprof_snapshot(harness_memory(), HARNESS_MEMORY, copies[k].bytes, HARNESS_MEMORY),
             CHROPROF_OK);
    CHECK_EQ(chroprof_open(view, copies[k].bytes, HARNESS_MEMORY), CHROPROF_OK);
}

/* A view finds what the program itself does, to the letter. */
TEST(views_agree)
{
    chroprof_finding own[CHROPROF_FINDING_COUNT], seen[CHROPROF_FINDING_COUNT];
    size_t i, k;
    for (i = 0; i < sizeof truths / sizeof *truths; i += 3) {
        chroprof *p = fresh_in(truths[i].room), view;
        run_program(p, truths[i].program, 0);
        open_copy(&view, 0);
        size_t count = chroprof_findings(p, own, CHROPROF_FINDING_COUNT);
        CHECK_EQ(chroprof_findings(&view, seen, CHROPROF_FINDING_COUNT), count);
        for (k = 0; k < count; k++) {
            CHECK_EQ(seen[k].kind, own[k].kind);
            CHECK_STR(seen[k].text, own[k].text);
        }
    }
}

/* A mean leaves room that those times do not have. */
TEST(a_loop_that_is_full_at_times_has_no_room)
{
    chroprof *p = fresh_in(AMPLE);
    chroprof_finding rows[CHROPROF_FINDING_COUNT];
    size_t count;
    run_program(p, "200*(i5 a1 b1) 1000*(a2 b2 i0.1) 200*(i5 a1 b1)", 0);
    count = chroprof_findings(p, rows, CHROPROF_FINDING_COUNT);
    CHECK_EQ(count, 2);
    CHECK_EQ(rows[1].kind, CHROPROF_FINDING_SATURATES);
    CHECK(strstr(rows[1].text, "full at times") != NULL && strstr(rows[1].text, "room") == NULL);
}

/* So many iterations, 1 us each; waits of so many ns. One of two sites runs in all of them. */
static const char *spun(uint64_t iterations, uint64_t wait_ns, chroprof_finding *first)
{
    static const chroprof_site often = { "poll_queue", NULL, 0 }, seldom = { "on_timer", NULL, 0 };
    chroprof *p = fresh_in(AMPLE);
    uint64_t at = 0, i;
    for (i = 0; i < iterations; i++) {
        chroprof_event(p, CHROPROF_IDLE_ENTER, 0, NULL, at);
        chroprof_event(p, CHROPROF_IDLE_LEAVE, 0, NULL, at += wait_ns);
        chroprof_event(p, CHROPROF_ENTER, 0, &often, at);
        chroprof_event(p, CHROPROF_LEAVE, 0, NULL, at += 500);
        if (i % 16 == 0) {
            chroprof_event(p, CHROPROF_ENTER, 0, &seldom, at);
            chroprof_event(p, CHROPROF_LEAVE, 0, NULL, at += 100);
        }
    }
    CHECK(chroprof_findings(p, first, 1) >= 1);
    return first->text;
}

/* The header alone knows a spin by how long waits are, and in which site's iterations. */
TEST(a_spin_is_told_with_its_site)
{
    chroprof_finding first;
    const char *text = spun(300000, 600, &first);
    CHECK_EQ(first.kind, CHROPROF_FINDING_SPINS);
    CHECK(strstr(text, "poll_queue runs in most of them") != NULL);
    CHECK(strstr(text, "a second") != NULL && strstr(text, "on_timer") == NULL);
    (void)spun(1000, 5000000, &first); /* it sleeps */
    CHECK(first.kind != CHROPROF_FINDING_SPINS);
}

typedef struct pair {
    const char *before, *after, *kinds;
} pair;

/* Of a difference only the second program is seen. */
static const pair differences[] = { { "1000*(i1 a9)", "1000*(i9 b0.5)", "FINE" },
                                    { "1000*(i9 b0.5)", "1000*(i1 a9)", "OCCUPIES SATURATES" },
                                    { "i5 a300", "100*(i9 a1)", "FINE" },
                                    { "100*(i9 a1)", "i5 a300 i5", "STALL OCCUPIES" },
                                    { "z50 100*(i9 a1)", "100*(i9 a1)", "FINE" },
                                    { "100*(i9 a1)", "z50 100*(i9 a1)", "ORDER" },
                                    { "1000*(i9 a1)", "A2000", "HANGS OCCUPIES" },
                                    { "1000*(i9 a1) A900", "U2000", "HANGS OCCUPIES" },
                                    { "1000*(i9 a1)", "U2000", "HANGS UNINSTRUMENTED" },
                                    { "1000*(i5 u5)", "100*(i9 a1)", "FINE" },
                                    { "100*(i9 a1)", "", "FINE" } };

TEST(differences_tell_of_the_time_between)
{
    size_t i, wrong = 0;
    for (i = 0; i < sizeof differences / sizeof *differences; i++) {
        chroprof *p = fresh_in(AMPLE), older, between;
        uint64_t now = run_program(p, differences[i].before, 0);
        open_copy(&older, 0);
        run_program(p, differences[i].after, now);
        CHECK_EQ(chroprof_difference(p, &older, copies[1].bytes, HARNESS_MEMORY), CHROPROF_OK);
        CHECK_EQ(chroprof_open(&between, copies[1].bytes, HARNESS_MEMORY), CHROPROF_OK);
        wrong += hold_truth(&between, differences[i].after, differences[i].kinds, NULL);
    }
    CHECK_EQ(wrong, 0);
}

/* A hang that began before a part lasts longer than that. */
TEST(a_part_inside_a_hang)
{
    chroprof *p = fresh_in(AMPLE), older, between;
    chroprof_finding row;
    uint64_t now = run_program(p, "100*(i9 a1) A500", 0);
    open_copy(&older, 0);
    run_program(p, "q2000", now);
    CHECK_EQ(chroprof_difference(p, &older, copies[1].bytes, HARNESS_MEMORY), CHROPROF_OK);
    CHECK_EQ(chroprof_open(&between, copies[1].bytes, HARNESS_MEMORY), CHROPROF_OK);
    CHECK(chroprof_findings(&between, &row, 1) > 0);
    CHECK(strstr(row.text, "The loop was inside a (app.c:1) all these 2.00 s, and is not") != NULL);
}

/* A full table drops futures whose finishes come all the same: that is no leak. */
TEST(dropped_futures_that_finish_are_no_leak)
{
    static uint64_t memory[1 << 15];
    chroprof p;
    chroprof_options o = { 0 };
    chroprof_finding found[8];
    uint64_t id, now = 0;
    size_t count, i;
    o.clock = chroprof_clock_manual;
    o.max_futures = 64;
    CHECK_EQ(chroprof_init(&p, memory, sizeof memory, &o), CHROPROF_OK);
    for (id = 1; id <= 20000; id++) {
        chroprof_event(&p, CHROPROF_PENDING, id, &leaky, now += 100000);
        if (id > 200)
            chroprof_event(&p, CHROPROF_COMPLETED, id - 200, NULL, now);
    }
    count = chroprof_findings(&p, found, 8);
    CHECK_IN(count, 1, 8);
    for (i = 0; i < count; i++)
        CHECK(found[i].kind != CHROPROF_FINDING_LEAKS);
}

/* A merged profile has the sums of both, and no course of time. */
static const pair merges[] = { { "1000*(i9 a1)", "1000*(i9 b1)", "FINE" },
                               { "1000*(i5 a5)", "1000*(i9 b1)", "OCCUPIES" },
                               { "60*(i90 b10)", "20*(i20 b80)", "OCCUPIES STALL" },
                               { "100*(i9 a1)", "i5 a300 i5", "STALL OCCUPIES" },
                               { "100*(i9 a1)", "A2000", "OCCUPIES" },
                               { "1000*(i9 a1)", "z50", "ORDER" },
                               { "1000*(i9 a1)", "", "FINE" } };

TEST(merged_ones_have_the_sums_of_both)
{
    size_t i, wrong = 0;
    for (i = 0; i < sizeof merges / sizeof *merges; i++) {
        chroprof target, one;
        chroprof_options o = { 0 };
        o.clock = chroprof_clock_manual;
        CHECK_EQ(chroprof_init(&target, copies[1].bytes, HARNESS_MEMORY, &o), CHROPROF_OK);
        run_program(fresh_in(AMPLE), merges[i].before, 0);
        open_copy(&one, 0);
        CHECK_EQ(chroprof_merge(&target, &one), CHROPROF_OK);
        run_program(fresh_in(AMPLE), merges[i].after, 0);
        open_copy(&one, 0);
        CHECK_EQ(chroprof_merge(&target, &one), CHROPROF_OK);
        wrong += hold_truth(&target, merges[i].after, merges[i].kinds, NULL);
    }
    CHECK_EQ(wrong, 0);
}

/* >>the report */

/* What a site does to the loop is said once before the figures, so that the leak, the fifth of six
 * findings, stands there too. Nothing is left out: the rest comes at the end. */
TEST(the_report_has_every_finding_and_none_hides_another)
{
    chroprof *p = fresh_in(AMPLE);
    chroprof_finding rows[CHROPROF_FINDING_COUNT];
    const char *text, *figures, *last;
    size_t count, i;
    run_program(p,
                "480*(i8 w1 a1 y l1) 160*(w1 a25 y l3) 130*(w1 a34 y l3) 80*(w1 a57 y l4) "
                "a400 i5",
                0);
    count = chroprof_findings(p, rows, CHROPROF_FINDING_COUNT);
    CHECK_EQ(count, 6);
    CHECK_EQ(rows[0].kind, CHROPROF_FINDING_STALL);
    CHECK_EQ(rows[1].kind, CHROPROF_FINDING_RISING);
    CHECK_EQ(rows[2].kind, CHROPROF_FINDING_OCCUPIES);
    CHECK_EQ(rows[4].kind, CHROPROF_FINDING_LEAKS);
    CHECK_EQ(rows[5].kind, CHROPROF_FINDING_SATURATES);
    text = written(p, CHROPROF_TEXT)->bytes;
    figures = strstr(text, "elapsed ");
    last = strstr(text, "\nMORE FINDINGS");
    CHECK(figures != NULL && last > figures);
    CHECK(strstr(text, "  2 more: see MORE FINDINGS below") < figures);
    CHECK(strstr(text, "did not finish") < figures);
    CHECK(strstr(text, "occupies the loop most") > last);
    for (i = 0; i < count; i++) {
        rows[i].text[30] = 0;
        CHECK(strstr(text, rows[i].text) != NULL);
    }
}

/* >>what waits for a pool: futures that come at once and finish one after the other do; those that
 * take as long as each other do not. */

static bool says_queues(uint64_t first_ns, uint64_t each_ns, unsigned at_a_time)
{
    chroprof *p = fresh_in(AMPLE);
    chroprof_finding rows[CHROPROF_FINDING_COUNT];
    program g = { p, 0, 0, 0, 0, NULL };
    bool found = false;
    size_t count;
    for (g.ids = 1; g.ids <= 40; g.ids++)
        event(&g, CHROPROF_PENDING, g.ids, &waiter);
    span(&g, CHROPROF_IDLE_ENTER, CHROPROF_IDLE_LEAVE, NULL, first_ns);
    for (g.ids = 1; g.ids <= 40; g.ids++) {
        if (g.ids % at_a_time == 1 % at_a_time)
            span(&g, CHROPROF_IDLE_ENTER, CHROPROF_IDLE_LEAVE, NULL, each_ns);
        event(&g, CHROPROF_RUNNING, g.ids, NULL);
        event(&g, CHROPROF_COMPLETED, g.ids, NULL);
    }
    count = chroprof_findings(p, rows, CHROPROF_FINDING_COUNT);
    for (size_t k = 0; k < count && k < CHROPROF_FINDING_COUNT; k++)
        found = found || rows[k].kind == CHROPROF_FINDING_QUEUES;
    return found;
}

TEST(futures_that_are_served_one_after_the_other_queue)
{
    CHECK(says_queues(0, 25000000, 1));
    CHECK(!says_queues(0, 1000000, 1)); /* below a tenth of a second */
    CHECK(!says_queues(800000000, 5000000, 1));
    CHECK(says_queues(0, 250000000, 10)); /* a pool of ten threads, four rounds */
}

/* >>the call */

TEST(the_list_is_cut_at_its_end)
{
    chroprof *p = fresh_in(AMPLE);
    chroprof_finding rows[CHROPROF_FINDING_COUNT + 1];
    run_program(p, "i5 a600 i5 z30 A1300", 0);
    CHECK_EQ(chroprof_findings(p, NULL, 0), 4);
    memset(rows, 0x5a, sizeof rows);
    CHECK_EQ(chroprof_findings(p, rows, 2), 4);
    CHECK_EQ(rows[0].kind, CHROPROF_FINDING_HANGS);
    CHECK_EQ(rows[0].value_ns, 1300000000);
    CHECK_EQ(rows[1].kind, CHROPROF_FINDING_STALL);
    CHECK_EQ(rows[1].value_ns, 600000000);
    CHECK_EQ(rows[1].at_ns, 5000000);
    CHECK_EQ(rows[1].site, rank_of(p, "a").id);
    CHECK_EQ(rows[2].site, 0x5a5a5a5a);
    CHECK_EQ(chroprof_findings(NULL, rows, 2), 0);
    memset(p, 0, sizeof *p);
    CHECK_EQ(chroprof_findings(p, rows, 2), 0);
}

/* However long and strange a name is, the sentence is whole and safe to print. */
TEST(names_are_cut_and_made_safe)
{
    static const char *const names[] = {
        "a_rather_long_name_of_a_handler_that_somebody_generated_from_a_template<int, int>",

        ("\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e\xe3\x81\xae\xe9\x95\xb7\xe3\x81\x84\xe5\x90\x8d\xe5\x89\x8d"
         "\xe3\x81\xa7\xe3\x81\x99\xe3\x81\xa8\xe3\x81\xa6\xe3\x82\x82\xe9\x95\xb7\xe3\x81\x84"),
        "bell\a esc\x1b[31m rlo\xe2\x80\xae bad\xff\xc3",
        "",
        "%s%t9%p99",
        "100.0% of the run"
    };
    size_t i, k;
    for (i = 0; i < sizeof names / sizeof *names; i++) {
        chroprof_site site = { names[i], "folder/an_even_longer_name_of_a_file_with_many_words.cpp",
                               9 };
        chroprof *p = fresh_in(AMPLE);
        chroprof_finding row;
        uint64_t now;
        for (now = 0; now < 2000000000; now += 10000000) {
            chroprof_event(p, CHROPROF_ENTER, 0, &site, now);
            chroprof_event(p, CHROPROF_LEAVE, 0, NULL, now + 9000000);
        }
        CHECK(chroprof_findings(p, &row, 1) > 0);
        CHECK_EQ(row.kind, CHROPROF_FINDING_OCCUPIES);
        CHECK_EQ(row.text[strlen(row.text) - 1], '.');
        CHECK(strstr(row.text, "...") || strlen(names[i]) < 41);
        CHECK(strstr(row.text, "s.cpp:9)") != NULL);
        for (k = 0; row.text[k] != '\0'; k++)
            CHECK((unsigned char)row.text[k] >= 0x20 && row.text[k] != 0x7F);
    }
}

static void find_in_callback(void *user, const chroprof_stall *stall)
{
    chroprof_finding row;
    chroprof *p = harness_profile();
    if (stall->length_ns > 100000000 && chroprof_findings(p, &row, 1) > 0)
        memcpy(user, row.text, sizeof row.text);
}

TEST(a_stall_can_be_told_from_its_callback)
{
    chroprof_options o = { 0 };
    char text[240] = "";
    chroprof *p;
    o.on_stall = find_in_callback;
    o.on_stall_user = text;
    p = fresh(&o);
    run_program(p, "100*(i9 a1) b200 i10", 0);
    CHECK(strstr(text, "blocked for 200 ms at 00:01.000: b (app.c:2) took 100.0%") != NULL);
}

static const chroprof_site site_of_disorder = { "reply", "app.c", 9 };

/* Ten calls of this kind in a loop of a second, then the finding. */
static void find_disorder(chroprof_state state, uint64_t id, const char *text)
{
    chroprof *p = fresh_in(AMPLE);
    chroprof_finding rows[CHROPROF_FINDING_COUNT];
    size_t i, count;
    uint64_t now = run_program(p, "100*(i5 a1)", 0);
    chroprof_event(p, CHROPROF_PENDING, 77, &site_of_disorder, now);
    chroprof_event(p, CHROPROF_RUNNING, 77, NULL, now);
    for (i = 0; i < 10; i++)
        chroprof_event(p, state, id, NULL, now + i);
    chroprof_event(p, CHROPROF_COMPLETED, 77, NULL, now + 10);
    count = chroprof_findings(p, rows, CHROPROF_FINDING_COUNT);
    for (i = 0; i < count && rows[i].kind != CHROPROF_FINDING_ORDER;)
        i++;
    CHECK(i < count);
    CHECK_STR(rows[i].text, text);
}

/* A stall of many sites, of a callback that is all of it or a part: the ring is blamed if it was too
 * short. */
TEST(a_stall_of_many_sites)
{
    static const chroprof_site sites[20] = {
        { "s0", "s.c", 1 },  { "s1", "s.c", 1 },  { "s2", "s.c", 1 },  { "s3", "s.c", 1 },
        { "s4", "s.c", 1 },  { "s5", "s.c", 1 },  { "s6", "s.c", 1 },  { "s7", "s.c", 1 },
        { "s8", "s.c", 1 },  { "s9", "s.c", 1 },  { "s10", "s.c", 1 }, { "s11", "s.c", 1 },
        { "s12", "s.c", 1 }, { "s13", "s.c", 1 }, { "s14", "s.c", 1 }, { "s15", "s.c", 1 },
        { "s16", "s.c", 1 }, { "s17", "s.c", 1 }, { "s18", "s.c", 1 }, { "s19", "s.c", 1 }
    };
    int whole, times, i;
    for (whole = 0; whole < 3;
         whole++) { /* 2: before the first iteration, so it is not summed up */
        for (times = 1; times < 100; times += 98) {
            chroprof_finding rows[CHROPROF_FINDING_COUNT];
            chroprof_options o;
            size_t count, k;
            uint64_t t = 1000;
            memset(&o, 0, sizeof o);
            o.max_events = 512;
            chroprof *p = fresh(&o);
            if (whole < 2) {
                chroprof_event(p, CHROPROF_IDLE_ENTER, 0, NULL, t);
                chroprof_event(p, CHROPROF_IDLE_LEAVE, 0, NULL, t += 1000);
            }
            if (whole)
                chroprof_event(p, CHROPROF_ENTER, 0, &tasks[0], t);
            for (i = 0; i < 20 * times; i++) {
                chroprof_event(p, CHROPROF_ENTER, 0, &sites[i % 20], t);
                t += 200000000 / (uint64_t)times + (i % 20 == 7 ? 1000 : 0);
                chroprof_event(p, CHROPROF_LEAVE, 0, NULL, t);
            }
            if (whole)
                chroprof_event(p, CHROPROF_LEAVE, 0, NULL, t);
            chroprof_event(p, CHROPROF_IDLE_ENTER, 0, NULL, t);
            chroprof_event(p, CHROPROF_IDLE_LEAVE, 0, NULL, t += 1000000000);
            count = chroprof_findings(p, rows, CHROPROF_FINDING_COUNT);
            for (k = 0; k < count && rows[k].kind != CHROPROF_FINDING_STALL; k++)
                ;
            CHECK(k < count);
            CHECK((strstr(rows[k].text, "max_events") != NULL) == (whole == 2 && times > 1));
            CHECK((strstr(rows[k].text, "s7") != NULL) == (whole < 2 || times == 1));
            hold_findings(p);
        }
    }
}

TEST(disorder_is_told_with_its_last_place)
{
    find_disorder(CHROPROF_LEAVE, 0,
                  "10 times: leave without an enter-frame on top, ignored. Last in reply. Pair "
                  "each enter with one leave, and finish futures by chroprof_completed.");
    find_disorder(CHROPROF_READY, 1234567890123,
                  "10 times: ready of an unknown id, ignored. Last with id 1234567890123, in "
                  "reply. Report chroprof_pending first, and nothing after its finish.");
    find_disorder(CHROPROF_RUNNING, 77,
                  "10 times: running of the future already on top, a new slice begins. Last with "
                  "id 77, in reply. Pair running with paused, enter with leave, on early returns "
                  "too.");
}

TEST(text_and_json_begin_with_them)
{
    chroprof *p = fresh_in(AMPLE);
    chroprof_finding row;
    const char *text;
    run_program(p, "100*(i5 a2) A1000", 0);
    CHECK(chroprof_findings(p, &row, 1) > 0);
    text = written(p, CHROPROF_JSON)->bytes;
    CHECK(strstr(text, "\"findings\":[\n{\"kind\":\"hangs\",\"text\":\"The loop has "
                       "been inside") != NULL);
    CHECK(strstr(text, row.text) != NULL);
    text = written(p, CHROPROF_TEXT)->bytes;
    CHECK(strstr(text, "The loop has been inside a (app.c:1) for 1.00 s") != NULL);
    CHECK(strstr(text, "The loop has been") < strstr(text, "elapsed"));
}

/* >>random: whatever a program does, no sentence contradicts a figure. What stands in it is
    read back
 * and asked of the public reads; nothing here is shared with what wrote it. */

typedef struct figures {
    const chroprof *p;
    chroprof_totals t;
    chroprof_rank ranks[32];
    size_t count;
    const char *at; /* what of the sentence is still to be read */
} figures;

static const chroprof_rank *rank_by_id(const figures *f, uint32_t id)
{
    size_t i;
    for (i = 0; i < f->count; i++)
        if (f->ranks[i].id == id)
            return &f->ranks[i];
    return NULL;
}

/* Goes on behind these words. */
static void says(figures *f, const char *words)
{
    const char *found = strstr(f->at, words);
    if (found == NULL)
        harness_fail(__FILE__, __LINE__, "no \"%s\" in \"%s\"", words, f->at);
    f->at = found + strlen(words);
}

static bool has(const figures *f, const char *words)
{
    return strstr(f->at, words) != NULL;
}

/* The number here; *half is half a unit of its last digit. */
static double number_here(figures *f, double *half)
{
    char *end;
    const char *point;
    double value = strtod(f->at, &end);
    CHECK(end != f->at);
    *half = 0.5;
    for (point = f->at; point < end && *point != '.';)
        point++;
    for (point++; point < end; point++)
        *half /= 10;
    f->at = end;
    return value;
}

static void near(const char *what, double said, double is, double half)
{
    double off = said > is ? said - is : is - said;
    if (off > half * 1.0001 + 1e-9)
        harness_fail(__FILE__, __LINE__, "%s: %g is said, %g it is", what, said, is);
}

static double unit_here(figures *f)
{
    static const struct {
        const char *name;
        double ns;
    } units[] = { { " ns", 1 },
                  { " \xC2\xB5s", 1e3 },
                  { " ms", 1e6 },
                  { " s", 1e9 },
                  { " min", 6e10 },
                  { " h", 3.6e12 },
                  { " d", 8.64e13 },
                  { " y", 31556952e9 },
                  { " task-seconds", 1e9 },
                  { "k task-seconds", 1e12 },
                  { "M task-seconds", 1e15 } };
    size_t i;
    for (i = 0; i < sizeof units / sizeof *units; i++)
        if (strncmp(f->at, units[i].name, strlen(units[i].name)) == 0 &&
            !(f->at[strlen(units[i].name)] >= 'a' && f->at[strlen(units[i].name)] <= 'z'))
            return units[i].ns;
    harness_fail(__FILE__, __LINE__, "no unit in \"%s\"", f->at);
    return 0;
}

static void says_time(figures *f, uint64_t ns)
{
    double half, value = number_here(f, &half), unit = unit_here(f);
    near("time", value * unit, (double)ns, half * unit);
}

static void says_share(figures *f, uint64_t part, uint64_t whole)
{
    double half, value, is = whole != 0 ? 100.0 * (double)part / (double)whole : 0;
    bool less = *f->at == '<';
    f->at += less;
    value = number_here(f, &half);
    CHECK(*f->at == '%');
    if (less)
        CHECK(part > 0 && is < 0.05001);
    else
        near("share", value, is, half + 0.0001);
}

static void says_count(figures *f, uint64_t count)
{
    static const char prefixes[] = "kMGT";
    double half, value = number_here(f, &half), unit = 1;
    const char *prefix = *f->at != '\0' ? strchr(prefixes, *f->at) : NULL;
    for (; prefix != NULL && prefix >= prefixes; prefix--)
        unit *= 1000;
    near("count", value * unit, (double)count, unit > 1 ? half * unit : 0);
}

static void says_moment(figures *f, uint64_t ns)
{
    unsigned long minutes, ms;
    char *end;
    minutes = strtoul(f->at, &end, 10);
    CHECK(*end == ':');
    ms = (unsigned long)(strtod(end + 1, &end) * 1000 + 0.5);
    f->at = end;
    CHECK_EQ(minutes * 60000 + ms, ns / 1000000);
}

static void says_site(figures *f, uint32_t id)
{
    const chroprof_rank *r = rank_by_id(f, id);
    char text[100];
    CHECK(r != NULL);
    snprintf(text, sizeof text, r->file[0] ? "%s (%s:%u)" : "%s", r->name[0] ? r->name : "(empty)",
             r->file, (unsigned)r->line);
    says(f, text);
}

static void hold_occupant(figures *f, const chroprof_finding *x)
{
    const chroprof_rank *r = &f->ranks[0];
    CHECK_EQ(x->site, r->id);
    CHECK(f->count == 1 || f->ranks[1].exec_ns <= r->exec_ns / 5 * 4 + 5);
    CHECK(r->exec_ns * 5 >= f->t.elapsed_ns - 5);
    says_site(f, r->id);
    says(f, "most: ");
    says_share(f, r->exec_ns, f->t.elapsed_ns);
    says(f, "run, ");
    says_time(f, r->exec_ns);
    if (r->slices == 1) {
        says(f, "in one slice.");
        return;
    }
    says(f, " in ");
    says_count(f, r->slices);
    says(f, "longest ");
    says_time(f, r->slice_max_ns);
}

static const chroprof_stall *longest_stall(const chroprof *p)
{
    static chroprof_stall rows[512];
    const chroprof_stall *longest = NULL;
    size_t i, count = chroprof_stalls(p, rows, 512);
    for (i = 0; i < count; i++)
        if (longest == NULL || rows[i].length_ns > longest->length_ns)
            longest = &rows[i];
    return longest;
}

/* Start and exit are nobody's. */
static uint64_t loop_of(const chroprof_totals *t)
{
    return t->uninstrumented_ns - t->start_ns - t->exit_ns;
}

static void hold_uninstrumented(figures *f, const chroprof_finding *x)
{
    CHECK_EQ(x->value_ns, loop_of(&f->t));
    if (strncmp(x->text, "No task", 7) == 0) {
        CHECK(f->t.busy_ns == 0 && f->t.idle_ns == 0 && f->t.iterations == 0);
        says(f, "No task ran in ");
        says_time(f, f->t.elapsed_ns);
        return;
    }
    CHECK(f->t.idle_ns > 0 || f->t.iterations > 0 || f->t.idle || f->t.in_iteration);
    CHECK(loop_of(&f->t) * 4 >= f->t.uninstrumented_ns + f->t.busy_ns - 4);
    says_share(f, loop_of(&f->t), f->t.elapsed_ns);
    says(f, "(");
    says_time(f, loop_of(&f->t));
    if (has(f, "in the stall")) {
        const chroprof_stall *s = longest_stall(f->p);
        CHECK(s != NULL && s->shares[0].site == 0);
        says(f, "uninstrumented, ");
        says_time(f, s->shares[0].exec_ns);
        says(f, "at ");
        says_moment(f, s->start_ns);
    }
}

static void hold_no_idle(figures *f)
{
    CHECK(f->t.idle_ns == 0 && f->t.iterations == 0 && !f->t.idle && f->t.busy_ns > 0);
    says(f, "reported: ");
    says_share(f, loop_of(&f->t), f->t.elapsed_ns);
    says(f, "(");
    says_time(f, loop_of(&f->t));
}

static void hold_stall(figures *f, const chroprof_finding *x)
{
    const chroprof_stall *s = longest_stall(f->p);
    CHECK(s != NULL);
    CHECK_EQ(x->value_ns, s->length_ns);
    says(f, "blocked for ");
    says_time(f, s->length_ns);
    says(f, "at ");
    says_moment(f, x->at_ns);
    if (f->t.stalls > 1) {
        says(f, s->length_ns < f->t.iteration_max_ns || s->length_ns < f->t.callback_max_ns
                    ? ", the longest kept of "
                    : ", the longest of ");
        says_count(f, f->t.stalls);
    }
    if (has(f, "No site explains")) {
        chroprof_options o;
        chroprof_read_options(f->p, &o);
        CHECK(s->share_count == 0 ||
              (s->rest_ns > s->shares[0].exec_ns && s->kind == CHROPROF_STALL_CALLBACK));
        CHECK(has(f, "max_events") == (s->events > o.max_events));
        return;
    }
    if (has(f, "took 100.0% of it") || has(f, "% of it")) {
        says(f, " took ");
        says_share(f, s->shares[0].exec_ns, s->length_ns);
    }
}

static void hold_delays(figures *f, const chroprof_finding *x)
{
    uint64_t most = f->t.uninstrumented_blame_ns;
    size_t i;
    most = f->t.idle_blame_ns > most ? f->t.idle_blame_ns : most;
    most = f->t.untracked_blame_ns > most ? f->t.untracked_blame_ns : most;
    for (i = 0; i < f->count; i++)
        most = f->ranks[i].blame_ns > most ? f->ranks[i].blame_ns : most;
    CHECK_EQ(x->value_ns, most);
    if (x->site != 0)
        CHECK_EQ(rank_by_id(f, x->site)->blame_ns, most);
    says(f, "waited ");
    says_time(f, f->t.delay_ns);
    if (x->site != 0)
        says_site(f, x->site);
    says(f, "caused ");
    says_share(f, most, f->t.blame_ns);
}

static void hold_hang(figures *f, const chroprof_finding *x)
{
    uint64_t cursor = 0, last_ns = UINT64_MAX;
    chroprof_step step;
    chroprof_frame frame;
    while (chroprof_next_step(f->p, &cursor, &step))
        last_ns = step.state == CHROPROF_TICK ? last_ns : step.at_ns;
    CHECK(!f->t.idle);
    CHECK(f->t.callback_max_ns * 2 <= x->value_ns + 1);
    CHECK_EQ(x->at_ns, last_ns);
    if (x->site != 0) {
        CHECK(chroprof_frames(f->p, &frame, 1) > 0);
        CHECK_STR(frame.name, rank_by_id(f, x->site)->name);
        says(f, "inside ");
        says_site(f, x->site);
    }
    says(f, x->at_ns != 0 ? " for " : " all these ");
    says_time(f, f->t.elapsed_ns - x->at_ns);
    if (x->at_ns == 0)
        return;
    says(f, "since ");
    says_moment(f, x->at_ns);
}

static void hold_preempted(figures *f, const chroprof_finding *x)
{
    const chroprof_rank *r = rank_by_id(f, x->site);
    CHECK(r != NULL && r->cpu_ns <= r->exec_ns / 2 + 1);
    says_site(f, x->site);
    says(f, " for ");
    says_time(f, r->exec_ns);
    says(f, "only ");
    says_time(f, r->cpu_ns);
}

static void hold_leak(figures *f, const chroprof_finding *x)
{
    const chroprof_rank *r = rank_by_id(f, x->site);
    CHECK(r != NULL);
    says_count(f, r->calls - r->completed - r->failed - r->cancelled);
    says(f, "of ");
    says_count(f, r->calls);
}

static void hold_queue(figures *f, const chroprof_finding *x)
{
    const chroprof_rank *r = rank_by_id(f, x->site);
    CHECK(r != NULL && r->waiting_ns >= r->lifetime_ns / 2);
    says_site(f, x->site);
    says(f, "up to ");
    says_time(f, r->latency_max_ns);
    says(f, "loop: ");
    says_count(f, r->completed + r->failed);
}

/* Below a stall, and no more of them than there are stays. */
static void hold_stutters(figures *f, const chroprof_finding *x)
{
    const chroprof_rank *r = rank_by_id(f, x->site);
    uint64_t stays = r != NULL ? r->slices : f->t.iterations;
    uint64_t longest = r != NULL ? r->slice_max_ns : f->t.iteration_max_ns;
    CHECK(x->value_ns <= longest && x->value_ns >= 4000000);
    if (r != NULL) {
        says_site(f, x->site);
        CHECK_EQ(x->share_ppm, r->exec_ns * 1000000 / f->t.elapsed_ns);
    }
    CHECK(x->value_ns * (stays / 100) <= f->t.elapsed_ns);
    says(f, r != NULL ? "loop for about " : "wait for about ");
    says_time(f, x->value_ns);
}

static void hold_rise(figures *f, const chroprof_finding *x)
{
    static uint64_t exec[HARNESS_ROWS];
    static chroprof_window w[HARNESS_ROWS];
    size_t last = chroprof_windows(f->p, w, HARNESS_ROWS) - 1, i;
    size_t first = last > 128 ? last - 128 : 0, quarter;
    uint64_t before = 0, recent = 0, peak = 0;
    CHECK_EQ(chroprof_site_windows(f->p, x->site, exec, HARNESS_ROWS), last + 1);
    for (i = first; i < last; i++)
        peak = exec[i] > peak ? exec[i] : peak;
    while (first < last && exec[first] <= peak / 100)
        first++;
    quarter = (last - first) / 4;
    first = last - 4 * quarter;
    for (i = 0; i < quarter; i++) {
        before += exec[first + i];
        recent += exec[last - 1 - i];
    }
    says_site(f, x->site);
    says(f, "rises from ");
    says_share(f, before, w[first + quarter].start_ns - w[first].start_ns);
    says(f, "(the ");
    says_time(f, w[first + quarter].start_ns - w[first].start_ns);
    says(f, "after ");
    says_moment(f, w[first].start_ns);
    says(f, "to ");
    says_share(f, recent, w[last].start_ns - w[last - quarter].start_ns);
    says(f, "last ");
    says_time(f, w[last].start_ns - w[last - quarter].start_ns);
}

static void hold_cost(figures *f, const chroprof_finding *x)
{
    says_count(f, f->t.events);
    says(f, "in ");
    says_time(f, f->t.busy_ns + f->t.uninstrumented_ns);
    says_site(f, x->site);
    says(f, "calls, ");
    says_count(f, rank_by_id(f, x->site)->calls);
}

static void hold_full(figures *f)
{
    chroprof_table rows[CHROPROF_TABLE_COUNT];
    size_t count = chroprof_tables(f->p, rows, CHROPROF_TABLE_COUNT), i;
    for (i = 0; i < count && strncmp(f->at, rows[i].option, strlen(rows[i].option)) != 0;)
        i++;
    CHECK(i < count && rows[i].dropped > 0);
    says(f, "small at ");
    says_count(f, rows[i].capacity);
    says(f, ": ");
    says_count(f, rows[i].dropped);
    if (has(f, "See what leaks first.")) /* the finding before it; no room would do */
        return;
    says(f, "Set it to ");
    says_count(f, rows[i].advice);
}

/* The id and the task at which it was met last, each only if there is one. */
static void hold_last_place(figures *f, const chroprof_anomaly *row)
{
    char text[100] = "";
    bool task = row->last.path != 0 || row->last.top > 2;
    CHECK_EQ(has(f, "Last "), row->placed && (row->last.id != 0 || task));
    if (!has(f, "Last "))
        return;
    if (row->last.id != 0)
        snprintf(text, sizeof text, " with id %.0f%s", (double)row->last.id, task ? "," : "");
    says(f, "Last");
    says(f, text);
    if (task) {
        snprintf(text, sizeof text, " in %s. ", row->last.name);
        says(f, text);
    }
}

static void hold_disorder(figures *f)
{
    chroprof_anomaly rows[CHROPROF_ANOMALY_COUNT];
    size_t i, most = 0;
    chroprof_anomalies(f->p, rows, CHROPROF_ANOMALY_COUNT);
    for (i = 1; i < CHROPROF_ANOMALY_COUNT; i++)
        most = rows[i].count > rows[most].count ? i : most;
    says_count(f, rows[most].count);
    says(f, "times: ");
    says(f, rows[most].text);
    if (has(f, "; ")) {
        says(f, "; ");
        says_share(f, f->t.untracked_ns, f->t.elapsed_ns);
    }
    hold_last_place(f, &rows[most]);
}

static void hold_spin(figures *f, const chroprof_finding *x)
{
    CHECK_EQ(x->value_ns, f->t.at_once_ns);
    CHECK(f->t.at_once * 10 + 9 >= f->t.iterations * 9);
    says(f, "spins: ");
    says_share(f, f->t.at_once < f->t.iterations ? f->t.at_once : f->t.iterations, f->t.iterations);
}

/* Waits that return at once are no rest. */
static uint64_t asleep(const chroprof_totals *t)
{
    return t->idle_ns - (t->at_once_ns > t->elapsed_ns / 100 ? t->at_once_ns : 0);
}

static void hold_fine(figures *f)
{
    if (has(f, "too early")) {
        says(f, "covers ");
        says_time(f, f->t.elapsed_ns);
        CHECK(f->t.elapsed_ns < 1000000000);
        return;
    }
    CHECK(longest_stall(f->p) == NULL);
    CHECK(f->count < 1 || f->ranks[0].exec_ns * 5 < f->t.elapsed_ns + 5 || f->count > 1 ||
          f->t.untracked_ns > 0);
    says(f, "stands out in ");
    says_time(f, f->t.elapsed_ns);
    says(f, has(f, "only ") ? "only " : "idle for ");
    says_share(f, asleep(&f->t), f->t.elapsed_ns);
    if (f->count > 0 && f->ranks[0].exec_ns > 0) {
        says_site(f, f->ranks[0].id);
        says(f, "tasks, ");
        says_share(f, f->ranks[0].exec_ns, f->t.elapsed_ns);
    }
}

static void hold_saturation(figures *f, const chroprof_finding *x)
{
    uint64_t all = f->t.elapsed_ns - f->t.start_ns - f->t.exit_ns;
    CHECK(x->value_ns * 10 + 10 >= all * 6);
    says(f, has(f, "full at times") ? "tenth, and for " : "load: it was busy for ");
    says_share(f, x->value_ns, all);
}

static void hold_figures(figures *f, const chroprof_finding *x)
{
    f->at = x->text;
    switch (x->kind) {
    case CHROPROF_FINDING_OCCUPIES: hold_occupant(f, x); break;
    case CHROPROF_FINDING_RISING: hold_rise(f, x); break;
    case CHROPROF_FINDING_UNINSTRUMENTED: hold_uninstrumented(f, x); break;
    case CHROPROF_FINDING_NO_IDLE: hold_no_idle(f); break;
    case CHROPROF_FINDING_STALL: hold_stall(f, x); break;
    case CHROPROF_FINDING_DELAYS: hold_delays(f, x); break;
    case CHROPROF_FINDING_HANGS: hold_hang(f, x); break;
    case CHROPROF_FINDING_LEAKS: hold_leak(f, x); break;
    case CHROPROF_FINDING_QUEUES: hold_queue(f, x); break;
    case CHROPROF_FINDING_PREEMPTED: hold_preempted(f, x); break;
    case CHROPROF_FINDING_COST: hold_cost(f, x); break;
    case CHROPROF_FINDING_FULL: hold_full(f); break;
    case CHROPROF_FINDING_ORDER: hold_disorder(f); break;
    case CHROPROF_FINDING_SPINS: hold_spin(f, x); break;
    case CHROPROF_FINDING_SATURATES: hold_saturation(f, x); break;
    case CHROPROF_FINDING_STUTTERS: hold_stutters(f, x); break;
    default:
        CHECK_EQ(x->kind, CHROPROF_FINDING_FINE);
        hold_fine(f);
        break;
    }
}

static unsigned long seen[CHROPROF_FINDING_COUNT];

static void hold_findings(const chroprof *p)
{
    static figures f;
    chroprof_finding rows[CHROPROF_FINDING_COUNT];
    size_t count = chroprof_findings(p, rows, CHROPROF_FINDING_COUNT), i;
    bool kinds[CHROPROF_FINDING_COUNT] = { false };
    memset(&f, 0, sizeof f);
    f.p = p;
    chroprof_read_totals(p, &f.t);
    f.count = chroprof_ranks(p, f.ranks, 32, CHROPROF_BY_EXEC);
    CHECK(count > 0 && count <= CHROPROF_FINDING_COUNT);
    for (i = 0; i < count; i++) {
        CHECK(!kinds[rows[i].kind]);
        kinds[rows[i].kind] = true;
        seen[rows[i].kind]++;
        harness()->event = rows[i].text;
        CHECK(strlen(rows[i].text) < 239 && rows[i].text[strlen(rows[i].text) - 1] == '.');
        hold_figures(&f, &rows[i]);
        harness()->event = NULL;
    }
}

/* One phase of a run: words that make one kind of finding or another likely, at random. */
static void any_phase(program *g, uint64_t *seed)
{
    static const char words[] = "iiiiuuabcdefghabcwyylkzmno";
    char picked[6];
    double numbers[6];
    uint64_t rounds_left = 1 + random_below(seed, 60);
    uint64_t scale = random_below(seed, 4);
    size_t count = 1 + (size_t)random_below(seed, 6), i;
    for (i = 0; i < count; i++) {
        picked[i] = words[(size_t)random_below(seed, sizeof words - 1)];
        numbers[i] = (double)random_below(seed, 1000) / (scale == 0 ? 10 : scale == 1 ? 1000 : 100);
        numbers[i] *= strchr("wlkzmno", picked[i]) ? 0.1 : 1;
    }
    for (; rounds_left > 0; rounds_left--)
        for (i = 0; i < count; i++)
            one_word(g, picked[i], numbers[i]);
}

/* Any event, in order or not. */
static void any_events(program *g, uint64_t *seed)
{
    uint64_t left = random_below(seed, 200);
    for (; left > 0; left--) {
        chroprof_state state = (chroprof_state)random_below(seed, CHROPROF_NEXT + 1);
        const chroprof_site *site = &tasks[random_below(seed, 8)];
        g->now += random_below(seed, random_below(seed, 4) ? 2000000 : 40000000);
        event(g, state, random_below(seed, 20), random_below(seed, 3) ? site : NULL);
    }
}

static void any_end(program *g, uint64_t *seed)
{
    static const char ends[] = "ABCDUI";
    uint64_t pick = random_below(seed, 12);
    if (pick < sizeof ends - 1)
        one_word(g, ends[pick], (double)random_below(seed, 4000));
}

static chroprof *any_run(uint64_t seed)
{
    chroprof_options o;
    program g;
    uint64_t phases = random_below(&seed, 8);
    memset(&o, 0, sizeof o);
    o.max_sites = random_below(&seed, 8) == 0 ? 3 : 0;
    o.max_futures = random_below(&seed, 8) == 0 ? 16 : 4096;
    o.max_depth = random_below(&seed, 8) == 0 ? 3 : 0;
    o.max_events = random_below(&seed, 2) ? 64 : 4096;
    o.max_stalls = 64;
    o.stall_ns = random_below(&seed, 4) == 0 ? 200000000 : 0;
    memset(&g, 0, sizeof g);
    g.p = fresh(&o);
    event(&g, CHROPROF_TICK, 0, NULL);
    if (random_below(&seed, 16) == 0)
        create(&g, 900 + random_below(&seed, 900), false);
    for (; phases > 0; phases--)
        if (random_below(&seed, 6) == 0)
            any_events(&g, &seed);
        else
            any_phase(&g, &seed);
    any_end(&g, &seed);
    return g.p;
}

TEST(no_sentence_contradicts_a_figure)
{
    unsigned long i, runs = share(300);
    int kind;
    random_seed(1);
    for (i = 0; i < runs; i++)
        hold_findings(any_run(harness()->seed + i));
    for (kind = 0; kind < CHROPROF_FINDING_COUNT && getenv("SEEN") != NULL; kind++)
        printf("  %-14s %lu\n", kind_name((chroprof_finding_kind)kind), seen[kind]);
}

/* A checker that shares no code with the header asks each figure of the JSON. */
TEST(no_sentence_contradicts_the_json)
{
#if defined(__unix__) && !defined(CHROPROF_NO_JSON)
    unsigned long i, runs = share(300);
    FILE *checker;
    if (system("python3 -c 'pass' >/dev/null 2>&1") != 0)
        SKIP("no python3");
    checker = popen("python3 tests/check_findings.py", "w");
    CHECK(checker != NULL);
    (void)signal(SIGPIPE, SIG_IGN);
    random_seed(1);
    for (i = 0; i < runs; i++) {
        const harness_output *json = written(any_run(harness()->seed + i), CHROPROF_JSON);
        if (fwrite(json->bytes, 1, json->used, checker) != json->used)
            break;
    }
    CHECK_EQ(pclose(checker), 0);
#else
    SKIP("needs python3");
#endif
}

static const test_case cases[] = {
    CASE(truth_table),
    CASE(views_agree),
    CASE(a_loop_that_is_full_at_times_has_no_room),
    CASE(a_spin_is_told_with_its_site),
    CASE(differences_tell_of_the_time_between),
    CASE(a_part_inside_a_hang),
    CASE(dropped_futures_that_finish_are_no_leak),
    CASE(merged_ones_have_the_sums_of_both),
    CASE(the_report_has_every_finding_and_none_hides_another),
    CASE(futures_that_are_served_one_after_the_other_queue),
    CASE(the_list_is_cut_at_its_end),
    CASE(names_are_cut_and_made_safe),
    CASE(a_stall_can_be_told_from_its_callback),
    CASE(a_stall_of_many_sites),
    CASE(disorder_is_told_with_its_last_place),
    CASE(text_and_json_begin_with_them),
    CASE(no_sentence_contradicts_a_figure),
    CASE(no_sentence_contradicts_the_json),
};

TEST_MAIN(cases)
