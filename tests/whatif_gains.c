/* whatif_gains.c - programs with two or three planted costs: does chroprof whatif --all name first
 * the one whose removal brings most?
 *
 *     whatif_gains COMMAND FOLDER [COUNT [show]]
 *
 * Each number is a program: requests that arrive at random into a poll loop, each with a cost "parse"
 * and some with a cost "render"; and in two of three programs a callback "flush" of its own arrivals.
 * Each cost is really removed in turn, and the same arrivals go through the loop: that is the truth,
 * how much shorter latency p99 is, over all kinds that finished 100 times. Costs whose truth differs
 * by less than 3 points are equally right. Prints "programs N right N share N": how many --all names
 * right, and how many the largest share would. */
#define _POSIX_C_SOURCE 200809L

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ITEMS = 6000, POLL_NS = 1500, WAKE_NS = 800, COSTS = 3, KINDS = 2, FEWEST = 100 };

static const char *const names[COSTS] = { "parse", "render", "flush" };

typedef struct item {
    double at, end;
    double ns[COSTS];
    int kind; /* 0: a request, 1: a flush */
} item;

static uint64_t state;

static double chance(void)
{
    uint64_t x = (state += UINT64_C(0x9E3779B97F4A7C15));
    x = (x ^ x >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ x >> 27) * UINT64_C(0x94D049BB133111EB);
    return (double)((x ^ x >> 31) >> 11) / 9007199254740992.0;
}

static double exponential(double mean)
{
    return -mean * log(1 - chance());
}

static double service(double mean)
{
    double sum = 0;
    for (int i = 0; i < 4; i++) {
        sum += exponential(mean / 4);
    }
    return floor(sum) + 1;
}

/* The loop without one of its costs (-1: with all); out: NULL, or where the events go. */
static void run(item *items, int count, int removed, FILE *out)
{
    double now = 0;
    for (int i = 0, from = 0; i < count; from = i) {
        if (out != NULL) {
            fprintf(out, "%.0f idle_enter 0\n", now);
        }
        now = items[i].at > now ? items[i].at + WAKE_NS : now + POLL_NS;
        if (out != NULL) {
            fprintf(out, "%.0f idle_leave 0\n", now);
        }
        for (; i < count && items[i].at <= now; i++) {
            if (out != NULL && items[i].kind == 0) {
                fprintf(out, "%.0f pending %d request g.c 1\n%.0f ready %d\n", now, i + 1, now,
                        i + 1);
            }
        }
        for (int k = from; k < i; k++) {
            if (out != NULL && items[k].kind == 0) {
                fprintf(out, "%.0f running %d\n", now, k + 1);
            }
            for (int c = 0; c < COSTS; c++) {
                double ns = c == removed ? 0 : items[k].ns[c];
                if (out != NULL && ns > 0) {
                    fprintf(out, "%.0f enter 0 %s g.c %d\n%.0f leave 0\n", now, names[c], c + 2,
                            now + ns);
                }
                now += ns;
            }
            items[k].end = now;
            if (out != NULL && items[k].kind == 0) {
                fprintf(out, "%.0f completed %d\n", now, k + 1);
            }
        }
    }
    if (out != NULL) {
        fprintf(out, "%.0f idle_enter 0\n", now);
    }
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static int by_arrival(const void *a, const void *b)
{
    return compare(&((const item *)a)->at, &((const item *)b)->at);
}

/* The mean latency p99 of all finished ones, each kind's own. */
static double worth(const item *items, int count)
{
    static double values[ITEMS];
    double sum = 0;
    for (int kind = 0; kind < KINDS; kind++) {
        size_t n = 0;
        for (int i = 0; i < count; i++) {
            if (items[i].kind == kind) {
                values[n++] = items[i].end - items[i].at;
            }
        }
        qsort(values, n, sizeof *values, compare);
        sum += n >= FEWEST ? (double)n * values[n * 99 / 100] : 0;
    }
    return sum;
}

/* How many costs it has: two, or three. */
static int make_program(item *items, int number)
{
    double mean[COSTS], rare, load, flushes, sum = 0, at = 0;
    state = (uint64_t)number * 104729 + 5;
    rare = 0.02 + 0.2 * chance();
    mean[0] = 10000 + 50000 * chance();
    mean[1] = (0.3 + 2 * chance()) * mean[0] / rare;
    mean[2] = 200000 + 800000 * chance();
    flushes = number % 3 == 0 ? 0 : 0.01 + 0.05 * chance();
    load = 0.45 + 0.35 * chance();
    for (int i = 0; i < ITEMS; i++) {
        bool flush = chance() < flushes;
        memset(&items[i], 0, sizeof items[i]);
        items[i].kind = flush;
        items[i].ns[0] = flush ? 0 : service(mean[0]);
        items[i].ns[1] = !flush && chance() < rare ? service(mean[1]) : 0;
        items[i].ns[2] = flush ? service(mean[2]) : 0;
        sum += items[i].ns[0] + items[i].ns[1] + items[i].ns[2];
    }
    for (int i = 0; i < ITEMS; i++) {
        items[i].at = floor(at += exponential(sum / ITEMS / load));
    }
    qsort(items, ITEMS, sizeof *items, by_arrival);
    return flushes > 0 ? 3 : 2;
}

/* The site that --all names first; COSTS: none. */
static int ask(const char *command, const char *file)
{
    static char json[1 << 16];
    char line[1200];
    const char *at;
    FILE *in;
    snprintf(line, sizeof line, "%s whatif %s --all --factor 0 --json", command, file);
    in = popen(line, "r");
    json[fread(json, 1, sizeof json - 1, in)] = '\0';
    pclose(in);
    at = strstr(json, "\"factor_ppm\"");
    at = at != NULL ? strstr(at, "{\"name\": \"") : NULL;
    for (int c = 0; at != NULL && c < COSTS; c++) {
        if (strncmp(at + 10, names[c], strlen(names[c])) == 0) {
            return c;
        }
    }
    return COSTS;
}

static int largest_share(const item *items)
{
    double ns[COSTS] = { 0, 0, 0 };
    int most = 0;
    for (int i = 0; i < ITEMS; i++) {
        for (int c = 0; c < COSTS; c++) {
            ns[c] += items[i].ns[c];
        }
    }
    for (int c = 1; c < COSTS; c++) {
        most = ns[c] > ns[most] ? c : most;
    }
    return most;
}

int main(int argc, char **argv)
{
    static item items[ITEMS];
    char file[500];
    int count = argc > 3 ? atoi(argv[3]) : 20, right = 0, share = 0;
    if (argc < 3) {
        return 2;
    }
    snprintf(file, sizeof file, "%s/gains.events", argv[2]);
    for (int n = 0; n < count; n++) {
        double brings[COSTS + 1] = { 0, 0, 0, -1 }, before, best = 0;
        int costs = make_program(items, n), first, most = largest_share(items);
        FILE *out = fopen(file, "w");
        run(items, ITEMS, -1, out);
        fclose(out);
        before = worth(items, ITEMS);
        for (int c = 0; c < costs; c++) {
            run(items, ITEMS, c, NULL);
            brings[c] = 1 - worth(items, ITEMS) / before;
            best = brings[c] > best ? brings[c] : best;
        }
        first = ask(argv[1], file);
        right += brings[first] > best - 0.03;
        share += brings[most] > best - 0.03;
        if (argc > 4) {
            printf("%2d parse %.2f render %.2f flush %.2f, named %s, largest %s%s\n", n, brings[0],
                   brings[1], brings[2], first < COSTS ? names[first] : "none", names[most],
                   brings[first] > best - 0.03 ? "" : " WRONG");
        }
    }
    printf("programs %d right %d share %d\n", count, right, share);
    return 0;
}
