/* run_names.c - loops of poll whose callbacks are hard to name: chroprof run must name them.
 *   run_names inlined     the callback's time is all in a helper that is inlined into it
 *   run_names deep        at the end of a recursion that is deeper than the sampler keeps
 *   run_names shallow     two thirds of it at its beginning
 *   run_names deeper      two thirds at the end
 *   run_names hang [S]    a callback computes until the program kills itself: after 1.5 s or S
 *   run_names sleepy      a callback computes for a tenth and sleeps for the rest
 *   run_names phases      a callback has many parts, none of which is much of it
 *   run_names twofold     a callback blocks the loop three times, another one once and for less
 *   run_names forks       two children that wait as loops do
 * Each prints its number. How long they compute is counted in CPU time, so that a busy machine
 * gives as many samples. */
#define _GNU_SOURCE
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define APART __attribute__((__noinline__))

static volatile unsigned long sum;

static inline __attribute__((__always_inline__)) double cpu_time(void)
{
    struct timespec t;
    for (unsigned long i = 0; i < 20000; i++)
        sum += i;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static APART void handle_mail(void)
{
    double end = cpu_time() + 0.3;
    while (cpu_time() < end) {}
}

static APART int descend_tree(int depth, double seconds)
{
    if (depth > 0) {
        int result = descend_tree(depth - 1, seconds);
        sum++; /* so that this call is no jump */
        return result + 1;
    }
    for (double end = cpu_time() + seconds; cpu_time() < end;) {}
    return 0;
}

/* Once so that its callers are kept, and once so that they are not. */
static APART void descend_twice(double shallow, double deep)
{
    sum += (unsigned long)descend_tree(10, shallow);
    sum += (unsigned long)descend_tree(90, deep);
}

static APART void parse_forever(double seconds)
{
    for (double end = cpu_time() + seconds; cpu_time() < end;) {}
    raise(SIGKILL);
}

static APART void parse_little(void)
{
    for (double end = cpu_time() + 0.1; cpu_time() < end;) {}
}

static APART void sleep_and_parse(void)
{
    struct timespec second = { 1, 500000000 };
    parse_little();
    nanosleep(&second, NULL);
    sum++;
}

#define PHASE(name)                                                                                \
    static APART void phase_##name(void)                                                           \
    {                                                                                              \
        for (double end = cpu_time() + 0.1; cpu_time() < end;) {}                                  \
        sum++;                                                                                     \
    }
PHASE(a)
PHASE(b)
PHASE(c)
PHASE(d)
PHASE(e)
PHASE(f)
PHASE(g)
PHASE(h)
PHASE(i)
PHASE(j)

static APART void run_phases(void)
{
    phase_a();
    phase_b();
    phase_c();
    phase_d();
    phase_e();
    phase_f();
    phase_g();
    phase_h();
    phase_i();
    phase_j();
    sum++;
}

static APART void read_mails(void)
{
    for (double end = cpu_time() + 0.3; cpu_time() < end;) {}
    sum++;
}

static APART void write_index(void)
{
    for (double end = cpu_time() + 0.15; cpu_time() < end;) {}
    sum += 2;
}

static APART void fork_waiters(void)
{
    for (int i = 0; i < 2; i++) {
        pid_t child = fork();
        if (child == 0) {
            for (int k = 0; k < 5; k++)
                poll(NULL, 0, 1);
            _exit(0);
        }
        waitpid(child, NULL, 0);
    }
}

int main(int count, char **words)
{
    const char *what = count > 1 ? words[1] : "";
    double seconds = count > 2 ? atof(words[2]) : 1.5;
    printf("%ld\n", (long)getpid());
    fflush(stdout);
    for (int i = 0; i < 6; i++) {
        poll(NULL, 0, 5);
        if (strcmp(what, "twofold") == 0 && i == 2)
            write_index();
        else if (strcmp(what, "twofold") == 0 && i > 0 && i < 5)
            read_mails();
        if (i != 3 || strcmp(what, "twofold") == 0)
            continue;
        if (strcmp(what, "inlined") == 0)
            handle_mail();
        else if (strcmp(what, "deep") == 0)
            descend_twice(0.3, 0.3);
        else if (strcmp(what, "shallow") == 0)
            descend_twice(0.4, 0.2);
        else if (strcmp(what, "deeper") == 0)
            descend_twice(0.2, 0.4);
        else if (strcmp(what, "hang") == 0)
            parse_forever(seconds);
        else if (strcmp(what, "sleepy") == 0)
            sleep_and_parse();
        else if (strcmp(what, "phases") == 0)
            run_phases();
        else
            fork_waiters();
    }
    return 0;
}
