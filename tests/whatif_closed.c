/* whatif_closed.c - clients that wait for their answers: what chroprof whatif says of a change, and
 * what they really see then.
 *
 *     whatif_closed COMMAND FOLDER [COUNT [show]]
 *
 * Each number is a server with 1, 4, 16 or 64 clients, each of which asks again some time after its
 * answer: at once, after a fixed pause, or after a random one. The same clients meet the changed
 * server; that is the truth. Prints "cases N refused N within N wrong N open N": p50 and p99 within 20 %; open: how many were taken
 * for arrivals that do not depend on answers. */
#define _POSIX_C_SOURCE 200809L

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REQUESTS = 6000, POLL_NS = 1500, WAKE_NS = 800, CLIENTS_MOST = 64 };

typedef struct server {
    int clients, thinks; /* thinks: 0 not at all, 1 a fixed pause, 2 a random one */
    double think, a, b, rare;
    bool futures;
} server;

static uint64_t state;
static double latencies[REQUESTS];

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

static double pause_of(const server *s)
{
    return s->thinks == 0   ? 2000 + exponential(3000)
           : s->thinks == 1 ? s->think * (0.98 + 0.04 * chance())
                            : floor(exponential(s->think)) + 2000;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The first `limit` requests, in the order of their arrival. */
static void run(const server *s, uint64_t seed, double factor, FILE *out)
{
    static double sent[CLIENTS_MOST];
    static int batch[CLIENTS_MOST];
    double now = 0;
    int done = 0;
    state = seed;
    for (int c = 0; c < s->clients; c++) {
        sent[c] = pause_of(s) * chance();
    }
    while (done < REQUESTS) {
        int count = 0;
        double first = 1e300;
        for (int c = 0; c < s->clients; c++) {
            first = sent[c] < first ? sent[c] : first;
        }
        if (out != NULL) {
            fprintf(out, "%.0f idle_enter 0\n", now);
        }
        now = first > now ? floor(first) + WAKE_NS : now + POLL_NS;
        if (out != NULL) {
            fprintf(out, "%.0f idle_leave 0\n", now);
        }
        for (int c = 0; c < s->clients; c++) {
            int k = count;
            if (sent[c] > now) {
                continue;
            }
            for (count++; k > 0 && sent[batch[k - 1]] > sent[c]; k--) {
                batch[k] = batch[k - 1];
            }
            batch[k] = c;
        }
        for (int k = 0; k < count && out != NULL && s->futures; k++) {
            fprintf(out, "%.0f pending %d request c.c 1\n%.0f ready %d\n", now, done + k + 1, now,
                    done + k + 1);
        }
        for (int k = 0; k < count && done < REQUESTS; k++) {
            double a = service(s->a), b = chance() < s->rare ? service(s->b) : 0;
            if (out != NULL) {
                fprintf(out, s->futures ? "%.0f running %d\n" : "%.0f enter 0 request c.c 1\n", now,
                        done + 1);
                fprintf(out, "%.0f enter 0 A c.c 2\n%.0f leave 0\n", now, now + a);
                if (b > 0) {
                    fprintf(out, "%.0f enter 0 B c.c 3\n%.0f leave 0\n", now + a, now + a + b);
                }
                fprintf(out, s->futures ? "%.0f completed %d\n" : "%.0f leave 0\n", now + a + b,
                        done + 1);
            }
            now += a + floor(b * factor);
            latencies[done++] = now - sent[batch[k]];
            sent[batch[k]] = floor(now + pause_of(s));
        }
    }
    if (out != NULL) {
        fprintf(out, "%.0f idle_enter 0\n", now);
    }
    qsort(latencies, REQUESTS, sizeof *latencies, compare);
}

static double figure(const char *json, const char *key)
{
    const char *at = strstr(json, "\"after\": {");
    at = at != NULL ? strstr(at, "{\"name\": \"request\"") : NULL;
    at = at != NULL ? strstr(at, key) : NULL;
    return at != NULL ? strtod(at + strlen(key), NULL) : -1;
}

static void make_server(server *s, int number)
{
    static const int clients[] = { 1, 4, 16, 64 };
    double work;
    state = (uint64_t)number * 15485863 + 3;
    s->clients = clients[number % 4];
    s->thinks = number / 4 % 3;
    s->futures = chance() < 0.5;
    s->a = 10000 + 30000 * chance();
    s->rare = 0.05 + 0.15 * chance();
    s->b = (0.5 + chance()) * s->a / s->rare;
    work = s->a + s->rare * s->b;
    s->think = s->clients * work * (0.7 + 1.5 * chance());
}

int main(int argc, char **argv)
{
    static const char *const words[] = { "at once", "fixed", "random" };
    static char json[1 << 16];
    char file[500], line[1200];
    int count = argc > 3 ? atoi(argv[3]) : 24, refused = 0, within = 0, wrong = 0, open = 0;
    if (argc < 3) {
        return 2;
    }
    snprintf(file, sizeof file, "%s/closed.events", argv[2]);
    for (int n = 0; n < count; n++) {
        server s;
        double p50, p99, true50, true99, old99, factor = n % 2 == 0 ? 0.5 : 0.25;
        FILE *out = fopen(file, "w"), *in;
        make_server(&s, n);
        run(&s, 77 + (uint64_t)n, 1, out);
        old99 = latencies[REQUESTS * 99 / 100];
        fclose(out);
        run(&s, 1077 + (uint64_t)n, factor, NULL);
        true50 = latencies[REQUESTS / 2];
        true99 = latencies[REQUESTS * 99 / 100];
        snprintf(line, sizeof line, "%s whatif %s --site B --factor %.2f --json 2>/dev/null",
                 argv[1], file, factor);
        in = popen(line, "r");
        json[fread(json, 1, sizeof json - 1, in)] = '\0';
        pclose(in);
        p50 = figure(json, "\"latency_p50_ns\": ");
        p99 = figure(json, "\"latency_p99_ns\": ");
        open += p99 > 0 && strstr(json, "\"model\": \"open\"") != NULL;
        if (p99 <= 0) {
            refused++;
        } else if (fabs(p50 / true50 - 1) <= 0.2 && fabs(p99 / true99 - 1) <= 0.2) {
            within++;
        } else {
            wrong++;
        }
        if (argc > 4) {
            printf(
                "%3d %2d clients %-8s %s p50 %7.0f true %7.0f, p99 %8.0f true %8.0f was %8.0f %s %.90s\n",
                n, s.clients, words[s.thinks], s.futures ? "fut " : "call", p50, true50, p99,
                true99, old99,
                p99 <= 0                             ? "refused"
                : strstr(json, "\"closed\"") != NULL ? "closed"
                                                     : "open",
                p99 <= 0 ? strstr(json, "reason") : "");
        }
    }
    printf("cases %d refused %d within %d wrong %d open %d\n", count, refused, within, wrong, open);
    return 0;
}
