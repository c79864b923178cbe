/* whatif_streams.c - event streams whose truth is known, and what chroprof whatif says of them.
 *
 *     whatif_streams COMMAND FOLDER [FROM [COUNT [show]]]
 *
 * Each number is a stream: a poll loop, arrivals of one kind (Poisson, bursts, periodic, correlated),
 * services of one kind (constant, gamma, heavy-tailed), a load, and a change. The same requests go
 * through the loop with the change; that is the truth. The loop here shares no code with the command.
 * Prints "cases N refused N median N inside N hidden N closed N", in tenths of percents; closed: how
 * many were taken for clients that wait for answers, which none is. */
#define _POSIX_C_SOURCE 200809L

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REQUESTS = 6000, POLL_NS = 1500, WAKE_NS = 800 };

/* >>chance */

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

/* Of whole shape. */
static double gamma_of(int shape, double mean)
{
    double sum = 0;
    for (int i = 0; i < shape; i++) {
        sum += exponential(mean / shape);
    }
    return sum;
}

/* Pareto with exponent 1.8, cut at 60 times its mean. */
static double heavy(double mean)
{
    double least = mean * 0.8 / 1.8, x = least / pow(1 - chance(), 1 / 1.8);
    return x < 60 * mean ? x : 60 * mean;
}

/* >>streams */

typedef struct request {
    double at, a, b; /* ns: its arrival, its two parts */
    double end, hidden, begun;
} request;

typedef struct trial {
    int arrivals, services, change;
    bool calls; /* plain calls in place of futures */
    double load, factor_a, factor_b, times, split;
} trial;

static const char *const arrival_names[] = { "poisson", "bursts", "periodic", "correlated" };
static const char *const service_names[] = { "constant", "gamma", "heavy" };

static double service(int kind, double mean)
{
    return kind == 0 ? mean : kind == 1 ? gamma_of(4, mean) : heavy(mean);
}

static void make_services(request *r, const trial *t)
{
    double a = 20000, b = t->services == 2 ? 100000 : 300000;
    for (int i = 0; i < REQUESTS; i++) {
        r[i].a = floor(service(t->services, a)) + 1;
        r[i].b = chance() < 0.1 ? floor(service(t->services, b)) + 1 : 0;
    }
}

/* Bursts of one to nine at one instant; gaps that are nearly alike; or a rate that is high and low
 * in turn, for some hundred requests each. */
static void make_arrivals(request *r, const trial *t)
{
    double sum = 0, mean, at = 0, rate = 1;
    int left = 0;
    for (int i = 0; i < REQUESTS; i++) {
        sum += r[i].a + r[i].b;
    }
    mean = sum / REQUESTS / t->load;
    for (int i = 0; i < REQUESTS; i++) {
        if (t->arrivals == 1) {
            if (left-- == 0) {
                left = (int)(chance() * 9);
                at += exponential(5 * mean);
            }
        } else if (t->arrivals == 2) {
            at += mean * (0.95 + 0.1 * chance());
        } else if (t->arrivals == 3) {
            if (left-- == 0) {
                left = 50 + (int)(chance() * 100);
                rate = rate > 1 ? 0.7 : 1.35;
            }
            at += exponential(mean / rate * 0.94);
        } else {
            at += exponential(mean);
        }
        r[i].at = floor(at);
    }
}

/* The loop; out: NULL, or where the events go. */
static double run(request *r, const trial *t, FILE *out)
{
    double now = 0, busy = 0, entered;
    static double left[REQUESTS];
    static int batch[REQUESTS], next[REQUESTS];
    int i = 0, count = 0, carried = 0, done = 0;
    unsigned long long k;
    while (done < REQUESTS) {
        entered = now;
        if (out != NULL) {
            fprintf(out, "%.0f idle_enter 0\n", now);
        }
        now = carried == 0 && r[i].at > now ? r[i].at + WAKE_NS : now + POLL_NS;
        if (out != NULL) {
            fprintf(out, "%.0f idle_leave 0\n", now);
        }
        (void)entered;
        count = carried;
        memcpy(batch, next, sizeof(int) * (size_t)carried);
        carried = 0;
        for (; i < REQUESTS && r[i].at <= now; i++) {
            batch[count++] = i;
            left[i] = -1;
            r[i].hidden = now - r[i].at;
            if (out != NULL && !t->calls) {
                k = (unsigned long long)i + 1;
                fprintf(out, "%.0f pending %llu request s.c 1\n%.0f ready %llu\n", now, k, now, k);
            }
        }
        for (int n = 0; n < count; n++) {
            request *q = &r[batch[n]];
            double a = q->a * t->factor_a, b = q->b * t->factor_b, begun = now, part;
            k = (unsigned long long)batch[n] + 1;
            left[batch[n]] = left[batch[n]] < 0 ? a + b : left[batch[n]];
            part = t->split > 0 && left[batch[n]] > t->split ? t->split : left[batch[n]];
            if (out != NULL) {
                fprintf(out, t->calls ? "%.0f enter 0 request s.c 1\n" : "%.0f running %llu\n", now,
                        k);
                fprintf(out, "%.0f enter 0 A s.c 2\n", now);
                fprintf(out, "%.0f leave 0\n", now + a);
                if (b > 0) {
                    fprintf(out, "%.0f enter 0 B s.c 3\n%.0f leave 0\n", now + a, now + a + b);
                }
                fprintf(out, t->calls ? "%.0f leave 0\n" : "%.0f completed %llu\n", now + a + b, k);
            }
            q->begun = begun;
            now += part;
            busy += part;
            left[batch[n]] -= part;
            if (left[batch[n]] > 0.5) {
                next[carried++] = batch[n];
            } else {
                q->end = now;
                done++;
            }
        }
    }
    if (out != NULL) {
        fprintf(out, "%.0f idle_enter 0\n", now);
    }
    return busy / now;
}

/* >>truth and answer */

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double latency(const request *r, double part)
{
    static double values[REQUESTS];
    for (int i = 0; i < REQUESTS; i++) {
        values[i] = r[i].end - r[i].at;
    }
    qsort(values, REQUESTS, sizeof *values, compare);
    return values[(int)(part * REQUESTS)];
}

static double mean_hidden(const request *r)
{
    double sum = 0;
    for (int i = 0; i < REQUESTS; i++) {
        sum += r[i].hidden;
    }
    return sum / REQUESTS;
}

/* A number of the site "request" of one of the four results. */
static double figure(const char *json, const char *result, const char *key)
{
    char word[40];
    const char *at;
    snprintf(word, sizeof word, "\"%s\": {", result);
    at = strstr(json, word);
    at = at != NULL ? strstr(at, "{\"name\": \"request\"") : NULL;
    snprintf(word, sizeof word, "\"%s\": ", key);
    at = at != NULL ? strstr(at, word) : NULL;
    return at != NULL ? strtod(at + strlen(word), NULL) : -1;
}

static void make_trial(trial *t)
{
    memset(t, 0, sizeof *t);
    t->factor_a = t->factor_b = t->times = 1;
    t->arrivals = (int)(chance() * 4);
    t->services = (int)(chance() * 3);
    t->change = (int)(chance() * 5);
    t->calls = chance() < 0.5;
    t->load = 0.3 + 0.6 * chance();
    if (t->arrivals == 3 && t->load > 0.7) {
        t->load -= 0.2; /* else it is full for a time */
    }
}

/* The change, in the words of the command. */
static void change(trial *t, char *words, size_t size)
{
    words[0] = '\0';
    switch (t->change) {
    case 1:
        t->factor_b = chance() < 0.3 ? 0 : 0.2 + 0.6 * chance();
        snprintf(words, size, "--site B --factor %.3f", t->factor_b);
        break;
    case 2:
        t->factor_a = 0.3 + chance() * (t->load < 0.7 ? 1 : 0.7);
        snprintf(words, size, "--site A --factor %.3f", t->factor_a);
        break;
    case 3:
        t->times = t->load < 0.75 ? 0.7 + 0.5 * chance() : 0.6 + 0.4 * chance();
        snprintf(words, size, "--load %.3f", t->times);
        break;
    case 4:
        t->split = 100000;
        snprintf(words, size, "--split 100us");
        break;
    default: break;
    }
    /* as the command reads it */
    if (strchr(words, '.') != NULL) {
        double value = strtod(strrchr(words, ' ') + 1, NULL);
        t->factor_b = t->change == 1 ? value : t->factor_b;
        t->factor_a = t->change == 2 ? value : t->factor_a;
        t->times = t->change == 3 ? value : t->times;
    }
}

static request *copy(const request *r)
{
    request *other = (request *)malloc(sizeof *r * REQUESTS);
    memcpy(other, r, sizeof *r * REQUESTS);
    return other;
}

static double off(double value, double truth)
{
    return fabs(value - truth) / truth;
}

int main(int argc, char **argv)
{
    static char json[1 << 16], words[100], file[500], line[1200];
    int from = argc > 3 ? atoi(argv[3]) : 0, count = argc > 4 ? atoi(argv[4]) : 100;
    double *errors = (double *)calloc((size_t)count + 1, sizeof *errors);
    double *hiddens = (double *)calloc((size_t)count + 1, sizeof *hiddens);
    int cases = 0, refused = 0, inside = 0, closed = 0;
    bool show = argc > 5;
    if (argc < 3) {
        return 2;
    }
    snprintf(file, sizeof file, "%s/whatif.events", argv[2]);
    for (int n = from; n < from + count; n++) {
        request *r = (request *)calloc(REQUESTS, sizeof *r), *q;
        trial t, plain;
        FILE *out = fopen(file, "w"), *in;
        double before, p50, p99, low, high, truth, hidden;
        size_t used;
        state = (uint64_t)n * 7919 + 17;
        make_trial(&t);
        make_services(r, &t);
        make_arrivals(r, &t);
        plain = t;
        q = copy(r);
        before = run(r, &plain, out);
        fclose(out);
        change(&t, words, sizeof words);
        for (int i = 0; i < REQUESTS; i++) {
            q[i].at = floor(q[i].at / t.times);
        }
        (void)run(q, &t, NULL);
        truth = latency(q, 0.99);
        hidden = mean_hidden(r);
        snprintf(line, sizeof line, "%s whatif %s --json %s 2>/dev/null", argv[1], file, words);
        in = popen(line, "r");
        used = fread(json, 1, sizeof json - 1, in);
        json[used] = '\0';
        pclose(in);
        p50 = figure(json, "after", "latency_p50_ns");
        p99 = figure(json, "after", "latency_p99_ns");
        low = figure(json, "low", "latency_p99_ns");
        high = figure(json, "high", "latency_p99_ns");
        closed += strstr(json, "\"model\": \"closed\"") != NULL;
        if (p99 <= 0) {
            refused++;
        } else {
            errors[cases] = off(p99, truth);
            hiddens[cases++] = off(figure(json, "before", "hidden_ns"), hidden);
            inside += low <= truth && truth <= high;
        }
        if (show) {
            printf("%4d %-10s %-8s %s load %.2f %-22s p50 %5.1f %%, p99 %8.0f true %8.0f %5.1f %% "
                   "[%.0f %.0f] %s hidden %.1f %%\n",
                   n, arrival_names[t.arrivals], service_names[t.services],
                   t.calls ? "call" : "fut ", before, words, 100 * off(p50, latency(q, 0.5)), p99,
                   truth, 100 * off(p99, truth), low, high,
                   p99 <= 0                        ? "REFUSED"
                   : low <= truth && truth <= high ? "in"
                                                   : "OUT",
                   100 * off(figure(json, "before", "hidden_ns"), hidden));
            fflush(stdout);
        }
        free(r);
        free(q);
    }
    qsort(errors, (size_t)cases, sizeof *errors, compare);
    qsort(hiddens, (size_t)cases, sizeof *hiddens, compare);
    printf("cases %d refused %d median %.0f inside %.0f hidden %.0f closed %d\n", cases, refused,
           1000 * errors[cases / 2], cases > 0 ? 1000.0 * inside / cases : 0,
           1000 * hiddens[cases / 2], closed);
    free(errors);
    free(hiddens);
    return 0;
}
