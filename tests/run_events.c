/* run_events.c - a small program on libevent whose events tests/run_command.sh counts: under
 * chroprof run they are futures, although nothing here tells of them.
 *
 *     run_events                what ends in which way is certain, whatever the machine does
 *     run_events random SEED FILE    events of all kinds are added, taken back, made ready, freed
 *                               by chance; how often their callback ran goes into the file */

#include <event2/event.h>
#include <event2/thread.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define FIRST 5 /* the profile has begun by then */

static struct event_base *base;
static struct event *late, *never, *freed, *file, *self, *user, *twins[2], *taken;
static int ends[2];
static int rounds, lates, nevers, files, selves, users, onces, pairs;

static void after_ms(struct event *event, int ms)
{
    struct timeval time = { ms / 1000, ms % 1000 * 1000 };
    (void)event_add(event, &time);
}

/* One event, again and again: from its own callback. */
static void on_late(int fd, short what, void *argument)
{
    (void)fd;
    (void)what;
    (void)argument;
    if (++lates < 5) {
        after_ms(late, 30);
    }
}

static void on_never(int fd, short what, void *argument)
{
    (void)fd;
    (void)what;
    (void)argument;
    nevers++;
}

static void on_file(int fd, short what, void *argument)
{
    char byte;
    (void)what;
    (void)argument;
    files += (int)read(fd, &byte, 1);
}

/* A persistent one that takes itself back. */
static void on_self(int fd, short what, void *argument)
{
    (void)fd;
    (void)what;
    (void)argument;
    if (++selves == 3) {
        (void)event_del(self);
    }
}

static void on_user(int fd, short what, void *argument)
{
    (void)fd;
    (void)argument;
    users += what == EV_READ;
}

static void on_once(int fd, short what, void *argument)
{
    (void)fd;
    (void)what;
    (void)argument;
    onces++;
}

/* Two events that nobody can tell apart. */
static void on_twin(int fd, short what, void *argument)
{
    (void)fd;
    (void)what;
    (void)argument;
    pairs++;
}

static void begin_all(void)
{
    struct timeval time = { 0, 20000 };
    late = event_new(base, -1, 0, on_late, NULL);
    after_ms(late, 30);
    never = event_new(base, -1, 0, on_never, &never);
    after_ms(never, 3600000);
    after_ms(never, 1800000); /* still the same one */
    freed = event_new(base, -1, 0, on_never, &freed);
    after_ms(freed, 3600000);
    file = event_new(base, ends[0], EV_READ | EV_PERSIST, on_file, NULL);
    (void)event_add(file, NULL);
    self = event_new(base, -1, EV_PERSIST, on_self, NULL);
    after_ms(self, 10);
    user = event_new(base, -1, 0, on_user, NULL);
    event_active(user, EV_READ, 1);
    (void)event_base_once(base, -1, EV_TIMEOUT, on_once, NULL, &time);
    for (int i = 0; i < 2; i++) {
        twins[i] = event_new(base, -1, 0, on_twin, NULL);
        after_ms(twins[i], 10);
    }
}

/* Events of a base that goes. */
static void free_base(void)
{
    struct event_base *other = event_base_new();
    struct event *lost = event_new(other, -1, 0, on_never, &lost);
    (void)event_base_loop(other, EVLOOP_NONBLOCK);
    after_ms(lost, 3600000);
    event_base_free(other);
    free(lost);
}

/* Another thread takes one back. */
static void *take_back(void *argument)
{
    (void)event_del(taken);
    return argument;
}

static void let_take(void)
{
    pthread_t thread;
    taken = event_new(base, -1, 0, on_never, &taken);
    after_ms(taken, 3600000);
    if (pthread_create(&thread, NULL, take_back, NULL) == 0) {
        (void)pthread_join(thread, NULL);
    }
}

static void on_tick(int fd, short what, void *argument)
{
    (void)fd;
    (void)what;
    (void)argument;
    rounds++;
    if (rounds == FIRST) {
        begin_all();
    } else if (rounds > FIRST && rounds <= FIRST + 6) {
        (void)!write(ends[1], "x", 1);
    } else if (rounds == FIRST + 8) {
        (void)event_del(never);
        event_free(freed);
        free_base();
        let_take();
    } else if (rounds > FIRST + 8 && lates == 5 && files == 6 && selves == 3 && onces == 1 &&
               pairs == 2) {
        event_free(file);
        event_base_loopbreak(base);
    }
}

#define MANY 40

static struct event *many[MANY];
static unsigned long chance_state;
static long runs;
static bool goes_on;

static unsigned chance(unsigned below)
{
    chance_state = chance_state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(chance_state >> 33) % below;
}

static void on_random(int fd, short what, void *argument);

static void renew(int at)
{
    static const short kinds[] = { 0, EV_PERSIST, EV_READ | EV_PERSIST, EV_READ };
    short kind = kinds[chance(4)];
    if (many[at] != NULL) {
        event_free(many[at]);
    }
    many[at] = event_new(base, kind & EV_READ ? ends[0] : -1, kind, on_random,
                         chance(4) == 0 ? NULL : &many[at]);
}

/* One of the things that a program may do with an event. */
static void do_something(void)
{
    int at = (int)chance(MANY);
    switch (chance(8)) {
    case 0: renew(at); break;
    case 1: (void)event_del(many[at]); break;
    case 2: event_active(many[at], EV_TIMEOUT, 1); break;
    case 3: (void)event_remove_timer(many[at]); break;
    case 4:
        (void)event_base_once(base, -1, EV_TIMEOUT, on_random, chance(2) == 0 ? NULL : &runs, NULL);
        break;
    default: after_ms(many[at], 1 + (int)chance(4)); break;
    }
}

static void on_random(int fd, short what, void *argument)
{
    char byte;
    (void)argument;
    runs++;
    if ((what & EV_READ) != 0 && fd >= 0) {
        (void)!read(fd, &byte, 1);
    }
    for (unsigned i = chance(3); i > 0 && goes_on; i--) {
        do_something();
    }
}

/* At its end nothing waits but what event_base_once has made. */
static void on_random_tick(int fd, short what, void *argument)
{
    (void)fd;
    (void)what;
    (void)argument;
    rounds++;
    goes_on = rounds >= FIRST && rounds < 120;
    for (int i = 0; i < 10 && goes_on; i++) {
        do_something();
        (void)!write(ends[1], "x", chance(2));
    }
    for (int i = 0; i < MANY && rounds == 120; i++) {
        event_free(many[i]);
    }
    if (rounds == 130) {
        event_base_loopbreak(base);
    }
}

static int run_random(char **words)
{
    struct timeval time = { 0, 3000 };
    struct event *ticks;
    FILE *file = fopen(words[3], "w");
    chance_state = strtoul(words[2], NULL, 10);
    base = event_base_new();
    (void)evutil_make_socket_nonblocking(ends[0]);
    for (int i = 0; i < MANY; i++) {
        renew(i);
    }
    ticks = event_new(base, -1, EV_PERSIST, on_random_tick, NULL);
    (void)event_add(ticks, &time);
    (void)event_base_dispatch(base);
    event_free(ticks);
    event_base_free(base);
    if (file == NULL || fprintf(file, "%ld\n", runs) < 0 || fclose(file) != 0) {
        return 1;
    }
    return 7;
}

int main(int count, char **words)
{
    struct event *ticks;
    struct timeval time = { 0, 5000 };
    if (evthread_use_pthreads() != 0 || pipe(ends) != 0) {
        return 1;
    }
    if (count > 3) {
        return run_random(words);
    }
    base = event_base_new();
    ticks = event_new(base, -1, EV_PERSIST, on_tick, NULL);
    (void)event_add(ticks, &time);
    printf("loop %d\n", event_base_dispatch(base));
    printf("%d lates, %d nevers, %d files, %d selves, %d users, %d onces, %d twins\n", lates,
           nevers, files, selves, users, onces, pairs);
    event_free(ticks);
    event_base_free(base);
    return 3;
}
