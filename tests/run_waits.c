/* run_waits.c - small programs that wait in many ways, for tests/run_waits.sh.
 *
 *     run_waits WHAT            see the table at the end
 *     with -DWITH_UV, -DWITH_GLIB or -DWITH_EVENT, on that library: the programs of its part
 *
 * Each prints what it knows for sure: "idle MS" and "blocked MS", how long it waited at least as a
 * loop and inside callbacks. No wait ends early, so these are least values on any machine. */

#define _GNU_SOURCE
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <resolv.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ALONE __attribute__((__noinline__)) /* a function of its own on the stack */
#define SHOWN __asm__ volatile("")          /* behind a call: so it is no jump */

static int idle_ms, blocked_ms;

/* Uses so much CPU time. */
static ALONE void work(int ms)
{
    struct timespec now;
    long end = 0;
    do {
        (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
        end = end > 0 ? end : now.tv_sec * 1000000 + now.tv_nsec / 1000 + ms * 1000L;
    } while (now.tv_sec * 1000000 + now.tv_nsec / 1000 < end);
}

/* How many waits there were in how many seconds, and the CPU time of each. */
static void tell_waits(long waits, long seconds)
{
    struct timespec cpu;
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &cpu);
    printf("waits %ld\nseconds %ld\neach %ld\n", waits, seconds,
           (long)(((double)cpu.tv_sec * 1e9 + (double)cpu.tv_nsec) / (double)waits));
}

/* A client that waits for its answer. */
static ALONE void ask(int ms)
{
    blocked_ms += ms;
    (void)poll(NULL, 0, ms);
    SHOWN;
}

static ALONE void ask_deeper(int ms)
{
    ask(ms);
    SHOWN;
}

static ALONE void turn(int ms)
{
    idle_ms += ms;
    (void)poll(NULL, 0, ms);
    SHOWN;
}

#if defined(WITH_UV)

#include <uv.h>

static int rounds;
static uv_loop_t other;

static void on_login(uv_timer_t *timer)
{
    ask(100);
    if (++rounds == 5) {
        uv_timer_stop(timer);
    }
}

static void login(void)
{
    static uv_timer_t timer;
    uv_timer_init(uv_default_loop(), &timer);
    uv_timer_start(&timer, on_login, 20, 20);
    uv_run(uv_default_loop(), UV_RUN_DEFAULT);
}

/* A loop in a callback, until its own callback comes. Timers of libuv are due from when it last looked
 * at the clock: its waits may be shorter. */
static void on_reply(uv_timer_t *timer)
{
    (void)timer;
    idle_ms += 50;
}

static void on_ask(uv_timer_t *timer)
{
    static uv_timer_t reply;
    (void)timer;
    uv_update_time(&other);
    uv_timer_init(&other, &reply);
    uv_timer_start(&reply, on_reply, 100, 0);
    uv_run(&other, UV_RUN_DEFAULT);
}

static void inner(void)
{
    static uv_timer_t timers[4];
    uv_loop_init(&other);
    for (int i = 0; i < 4; i++) {
        uv_timer_init(uv_default_loop(), &timers[i]);
        uv_timer_start(&timers[i], on_ask, 20, 0);
    }
    uv_run(uv_default_loop(), UV_RUN_DEFAULT);
}

/* Two loops in one thread, by turns. */
static void on_turn(uv_timer_t *timer)
{
    (void)timer;
    idle_ms += 10;
}

static void turns(void)
{
    static uv_timer_t timers[2];
    uv_loop_init(&other);
    for (int i = 0; i < 10; i++) {
        uv_loop_t *loop = i % 2 == 0 ? uv_default_loop() : &other;
        uv_update_time(loop);
        uv_timer_init(loop, &timers[i % 2]);
        uv_timer_start(&timers[i % 2], on_turn, 20, 0);
        uv_run(loop, UV_RUN_DEFAULT);
    }
}

/* A callback that ends the process. */
static void on_last(uv_timer_t *timer)
{
    (void)timer;
    work(400);
    printf("idle 10\nblocked 400\n");
    exit(0);
}

static void last(void)
{
    static uv_timer_t timer;
    uv_timer_init(uv_default_loop(), &timer);
    uv_timer_start(&timer, on_last, 20, 0);
    uv_run(uv_default_loop(), UV_RUN_DEFAULT);
}

/* The function that runs the loop has returned. */
static void after(void)
{
    login();
    work(400);
}

#elif defined(WITH_GLIB)

typedef int called(void *);
extern unsigned g_timeout_add(unsigned ms, called *function, void *data);
extern void *g_main_loop_new(void *context, int running);
extern void g_main_loop_run(void *loop);
extern void g_main_loop_quit(void *loop);

static void *outer, *dialog;
static int rounds;

static int on_close(void *data)
{
    (void)data;
    g_main_loop_quit(dialog);
    return 0;
}

/* A dialog: the window behind it lives on. */
static int on_click(void *data)
{
    (void)data;
    idle_ms += 400;
    (void)g_timeout_add(400, on_close, NULL);
    dialog = g_main_loop_new(NULL, 0);
    g_main_loop_run(dialog);
    return 0;
}

static int on_redraw(void *data)
{
    (void)data;
    return 1;
}

static int on_end(void *data)
{
    (void)data;
    g_main_loop_quit(outer);
    return 0;
}

static void run_for(unsigned ms)
{
    outer = g_main_loop_new(NULL, 0);
    (void)g_timeout_add(ms, on_end, NULL);
    g_main_loop_run(outer);
}

static void click(void)
{
    (void)g_timeout_add(20, on_click, NULL);
    (void)g_timeout_add(16, on_redraw, NULL);
    run_for(600);
}

/* Looks at a file in the middle of its work, as clients of a display do. */
static int on_draw(void *data)
{
    struct pollfd none = { 0, 0, 0 };
    (void)data;
    for (int i = 0; i < 10; i++) {
        work(10);
        (void)poll(&none, 1, 0);
    }
    blocked_ms += 100;
    return ++rounds < 3;
}

static void draw(void)
{
    (void)g_timeout_add(30, on_draw, NULL);
    run_for(800);
}

#elif defined(WITH_EVENT)

#include <event2/event.h>

static struct event_base *outer, *other;
static int rounds;

static void on_tick(evutil_socket_t file, short what, void *data)
{
    (void)file;
    (void)what;
    (void)data;
}

/* Another base inside a callback, in which nothing comes: it is the callback that waits. */
static void on_alone(evutil_socket_t file, short what, void *data)
{
    const struct timeval time = { 0, 50000 };
    (void)file;
    (void)what;
    (void)data;
    for (int i = 0; i < 4; i++) {
        (void)event_base_loopexit(other, &time);
        (void)event_base_dispatch(other);
        blocked_ms += 40;
    }
    if (++rounds == 3) {
        (void)event_base_loopbreak(outer);
    }
}

/* One that has a timer of its own: a loop. */
static void on_inner(evutil_socket_t file, short what, void *data)
{
    const struct timeval often = { 0, 10000 };
    const struct timeval time = { 0, 200000 };
    struct event *tick = event_new(other, -1, EV_PERSIST, on_tick, NULL);
    (void)file;
    (void)what;
    (void)data;
    (void)event_add(tick, &often);
    (void)event_base_loopexit(other, &time);
    (void)event_base_dispatch(other);
    event_free(tick);
    idle_ms += 100;
    if (++rounds == 3) {
        (void)event_base_loopbreak(outer);
    }
}

static void run_bases(event_callback_fn called)
{
    const struct timeval time = { 0, 20000 };
    struct event *event;
    outer = event_base_new();
    other = event_base_new();
    event = event_new(outer, -1, EV_PERSIST, called, NULL);
    (void)event_add(event, &time);
    (void)event_base_dispatch(outer);
}

static void alone(void)
{
    run_bases(on_alone);
}

static void inner(void)
{
    run_bases(on_inner);
}

#else

/* A thread that waits for its clients in accept, and for its database in poll. */
static void *be_client(void *name)
{
    for (int i = 0; i < 4; i++) {
        int file = socket(AF_UNIX, SOCK_STREAM, 0);
        char answer;
        (void)usleep(100000);
        if (connect(file, (const struct sockaddr *)name, sizeof(struct sockaddr_un)) != 0 ||
            write(file, "x", 1) != 1 || read(file, &answer, 1) < 0) {
            abort();
        }
        (void)close(file);
    }
    return NULL;
}

static ALONE void serve(int file)
{
    ask(100);
    ask_deeper(20);
    (void)!write(file, "y", 1);
}

static ALONE void await_by_poll(int listener)
{
    struct pollfd client = { listener, POLLIN, 0 };
    (void)poll(&client, 1, -1);
    SHOWN;
}

static ALONE void await_by_select(int listener)
{
    fd_set clients;
    FD_ZERO(&clients);
    FD_SET(listener, &clients);
    (void)select(listener + 1, &clients, NULL, NULL, NULL);
    SHOWN;
}

/* await: where it waits for a client, one function further in; NULL: in accept. */
static void serve_clients(void (*await)(int))
{
    struct sockaddr_un name = { AF_UNIX, "" };
    int listener = socket(AF_UNIX, SOCK_STREAM, 0);
    pthread_t client;
    (void)snprintf(name.sun_path + 1, sizeof name.sun_path - 1, "run_waits %d", (int)getpid());
    if (bind(listener, (struct sockaddr *)&name, sizeof name) != 0 || listen(listener, 4) != 0 ||
        pthread_create(&client, NULL, be_client, &name) != 0) {
        abort();
    }
    for (int i = 0; i < 4; i++) {
        struct pollfd data = { -1, POLLIN, 0 };
        char byte;
        int file;
        if (await != NULL)
            await(listener);
        data.fd = file = accept(listener, NULL, NULL);
        if (await == NULL)
            (void)poll(&data, 1, -1);
        (void)!read(file, &byte, 1);
        serve(file);
        (void)close(file);
    }
    idle_ms += 300; /* the first wait may begin late */
    (void)pthread_join(client, NULL);
}

static void worker(void)
{
    serve_clients(NULL);
}
static void polls(void)
{
    serve_clients(await_by_poll);
}
static void selects(void)
{
    serve_clients(await_by_select);
}

/* A handler runs the loop itself until something comes. */
static ALONE void modal(int ms)
{
    idle_ms -= ms;
    blocked_ms += ms;
    turn(ms);
    SHOWN;
}

static ALONE void on_cursor(void)
{
    modal(150);
    SHOWN;
}

static void handler(void)
{
    for (int i = 0; i < 10; i++) {
        turn(20);
        if (i % 3 == 2) {
            on_cursor();
        }
    }
}

/* The same, but it does its other work meanwhile. */
static ALONE void process_events(void)
{
    for (int i = 0; i < 12; i++) {
        turn(10);
        work(1);
    }
}

static ALONE void on_script(void)
{
    process_events();
    SHOWN;
}

static void script(void)
{
    for (int i = 0; i < 6; i++) {
        turn(20);
        if (i % 2 == 1) {
            on_script();
        }
    }
}

/* A loop further in than the polls of a start-up; also by the same call. */
static ALONE void server(void)
{
    for (int i = 0; i < 40; i++) {
        idle_ms += 10;
        (void)poll(NULL, 0, 10);
    }
}

static ALONE void start_server(void)
{
    server();
    SHOWN;
}

static void startup(void)
{
    for (int i = 0; i < 3; i++) {
        idle_ms += 5;
        (void)poll(NULL, 0, 5);
    }
    start_server();
}

static ALONE void same_server(void)
{
    for (int i = 0; i < 40; i++) {
        turn(10);
    }
}

static void same(void)
{
    turn(5);
    turn(5);
    same_server();
}

/* Polls of a start-up that lie further in than the loop. */
static void resolver(void)
{
    ask_deeper(20);
    ask(20);
    ask(20);
    blocked_ms = 0;
    idle_ms = 0;
    for (int i = 0; i < 20; i++) {
        idle_ms += 10;
        (void)poll(NULL, 0, 10);
    }
}

/* The loop moves to another function, and back. */
static ALONE void second_loop(void)
{
    for (int i = 0; i < 60; i++) {
        idle_ms += 5;
        (void)poll(NULL, 0, 5);
    }
}

static ALONE void move(void)
{
    second_loop();
    SHOWN;
}

static void moves(void)
{
    for (int i = 0; i < 20; i++) {
        idle_ms += 5;
        (void)poll(NULL, 0, 5);
    }
    move();
    for (int i = 0; i < 20; i++) {
        idle_ms += 5;
        (void)poll(NULL, 0, 5);
    }
}

/* A list of files on the stack that grows and shrinks with the clients. */
static ALONE void wait_for_files(int count)
{
    struct pollfd files[count];
    for (int i = 0; i < count; i++) {
        files[i].fd = -1;
        files[i].events = POLLIN;
    }
    idle_ms += 10;
    (void)poll(files, (nfds_t)count, 10);
    SHOWN;
}

static void clients(void)
{
    for (int i = 0; i < 40; i++) {
        wait_for_files(1 + i * 37 % 200);
    }
}

/* A callback jumps out of its wait. */
static sigjmp_buf top;

static ALONE void on_abort(void)
{
    ask(50);
    siglongjmp(top, 1);
}

static void jumps(void)
{
    for (volatile int i = 0; i < 8; i = i + 1) {
        if (sigsetjmp(top, 0) == 0) {
            turn(20);
            on_abort();
        }
    }
}

/* Threads of a pool that wait once, and then for work by other means. */
static pthread_barrier_t all_here;

static void *wait_once(void *unused)
{
    (void)poll(NULL, 0, 5);
    (void)pthread_barrier_wait(&all_here);
    return unused;
}

static void pool(void)
{
    pthread_t threads[6];
    (void)pthread_barrier_init(&all_here, NULL, 7);
    for (int i = 0; i < 6; i++) {
        (void)pthread_create(&threads[i], NULL, wait_once, NULL);
    }
    for (int i = 0; i < 20; i++) {
        turn(10);
    }
    (void)pthread_barrier_wait(&all_here);
    for (int i = 0; i < 6; i++) {
        (void)pthread_join(threads[i], NULL);
    }
}

/* A client that waits for its answer in many short waits. */
static ALONE void on_query(void)
{
    for (int i = 0; i < 20; i++) {
        ask(5);
    }
    SHOWN;
}

static void slices(void)
{
    for (int i = 0; i < 30; i++) {
        turn(5);
        if (i % 10 == 9) {
            on_query();
        }
    }
    turn(5); /* the last ones end with the loop's next wait, not with the program */
}

/* A loop that only looks, and sleeps in between, as games do. */
static void pump(void)
{
    for (int i = 0; i < 20; i++) {
        (void)poll(NULL, 0, 0);
        idle_ms += 10;
        (void)usleep(10000);
    }
}

/* A thread that waits for work from another one, and in its work for an answer. */
static pthread_mutex_t jobs_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t jobs_come = PTHREAD_COND_INITIALIZER;
static int jobs; /* below 0: there will be none */

static ALONE int take_job(void)
{
    int taken;
    (void)pthread_mutex_lock(&jobs_lock);
    while (jobs == 0) {
        (void)pthread_cond_wait(&jobs_come, &jobs_lock);
    }
    taken = jobs;
    jobs = 0;
    (void)pthread_mutex_unlock(&jobs_lock);
    return taken;
}

static void *do_jobs(void *unused)
{
    while (take_job() > 0) {
        ask(5);
    }
    return unused;
}

static void work_for(void)
{
    const struct timespec pause = { 0, 50000000 };
    pthread_t thread;
    (void)pthread_create(&thread, NULL, do_jobs, NULL);
    for (int i = 0; i <= 12; i++) {
        (void)nanosleep(&pause, NULL);
        (void)pthread_mutex_lock(&jobs_lock);
        jobs = i < 12 ? 1 : -1;
        (void)pthread_cond_signal(&jobs_come);
        (void)pthread_mutex_unlock(&jobs_lock);
    }
    (void)pthread_join(thread, NULL);
    blocked_ms = 0; /* its profile begins in its second job */
}

/* Two threads share a loop: one waits for its files, the other one for its turn. */
static int turn_of; /* a thread, or below 0: the end */

static ALONE void wait_in_turn(int loop)
{
    struct epoll_event event;
    (void)epoll_wait(loop, &event, 1, 20);
}

static ALONE void share_loop(int loop, int me)
{
    for (int i = 0; i < 20; i++) {
        (void)pthread_mutex_lock(&jobs_lock);
        while (turn_of != me) {
            (void)pthread_cond_wait(&jobs_come, &jobs_lock);
        }
        (void)pthread_mutex_unlock(&jobs_lock);
        wait_in_turn(loop);
        (void)pthread_mutex_lock(&jobs_lock);
        turn_of = !me;
        (void)pthread_cond_broadcast(&jobs_come);
        (void)pthread_mutex_unlock(&jobs_lock);
    }
}

static void *share_too(void *loop)
{
    share_loop(*(const int *)loop, 1);
    return NULL;
}

static void shared(void)
{
    int loop = epoll_create1(0);
    pthread_t thread;
    (void)pthread_create(&thread, NULL, share_too, &loop);
    share_loop(loop, 0);
    (void)pthread_join(thread, NULL);
    idle_ms = 400;
    blocked_ms = 0;
}

/* Another thread answers: the loop waits for it in a function that is inlined. */
static sem_t asked, answered;

static void *answer(void *unused)
{
    const struct timespec pause = { 0, 30000000 };
    while (sem_wait(&asked) == 0) {
        (void)nanosleep(&pause, NULL);
        (void)sem_post(&answered);
    }
    return unused;
}

static void begin_answers(void)
{
    pthread_t thread;
    (void)sem_init(&asked, 0, 0);
    (void)sem_init(&answered, 0, 0);
    (void)pthread_create(&thread, NULL, answer, NULL);
}

static inline __attribute__((__always_inline__)) void ask_other(void)
{
    blocked_ms += 30;
    (void)sem_post(&asked);
    (void)sem_wait(&answered);
}

static void asks(void) /* at each turn, where the loop waits, too */
{
    begin_answers();
    for (int i = 0; i <= 10; i++) {
        idle_ms += 5;
        (void)poll(NULL, 0, 5);
        if (i < 10) {
            ask_other();
        }
    }
}

static void awaits(void) /* and one that waits one function further in */
{
    begin_answers();
    for (int i = 0; i <= 40; i++) {
        turn(5);
        if (i % 4 == 3) {
            ask_other();
        }
    }
}

/* A loop that looks once more before it runs its callback, which sleeps. */
static void drains(void)
{
    for (int i = 0; i <= 30; i++) {
        idle_ms += 5;
        (void)poll(NULL, 0, 5);
        (void)poll(NULL, 0, 0);
        if (i % 5 == 4) {
            blocked_ms += 50;
            (void)usleep(50000);
        }
    }
}

/* A thread that waits for work, and in its work in an epoll of its own. */
static bool ready; /* it waits for work */

static ALONE void query(int client)
{
    struct epoll_event event;
    (void)epoll_wait(client, &event, 1, 30);
    SHOWN;
}

static ALONE void do_query(int client)
{
    query(client);
    SHOWN;
}

static void *do_queries(void *unused)
{
    int client = epoll_create1(0);
    for (int i = 0; i < 10; i++) {
        (void)pthread_mutex_lock(&jobs_lock);
        while (jobs == 0) {
            ready = true;
            (void)pthread_cond_wait(&jobs_come, &jobs_lock);
        }
        jobs = 0;
        (void)pthread_mutex_unlock(&jobs_lock);
        do_query(client);
    }
    return unused;
}

static void queries(void)
{
    const struct timespec pause = { 0, 50000000 };
    int given = 0;
    pthread_t thread;
    (void)pthread_create(&thread, NULL, do_queries, NULL);
    while (given < 10) {
        (void)nanosleep(&pause, NULL);
        (void)pthread_mutex_lock(&jobs_lock);
        if (ready) {
            ready = false;
            jobs = 1;
            given++;
            (void)pthread_cond_signal(&jobs_come);
        }
        (void)pthread_mutex_unlock(&jobs_lock);
    }
    (void)pthread_join(thread, NULL);
    blocked_ms = 7 * 30; /* its profile begins in its second job */
}

/* What comes before the first wait, and after the last one. */
static void ends(void)
{
    work(200);
    for (int i = 0; i < 20; i++) {
        turn(10);
    }
    work(400);
}

static void at_exit(void)
{
    work(400);
}

static void late(void)
{
    (void)atexit(at_exit);
    work(200);
    for (int i = 0; i < 20; i++) {
        turn(10);
    }
}

/* Its first event takes long, and there is only one more. */
static void first(void)
{
    turn(20);
    blocked_ms = 400;
    work(400);
    turn(20);
}

/* Another thread has the lock for a long time. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t locked;

static void *hold(void *unused)
{
    for (int i = 0; i < 4; i++) {
        (void)pthread_mutex_lock(&lock);
        (void)pthread_barrier_wait(&locked);
        (void)usleep(400000);
        (void)pthread_mutex_unlock(&lock);
        (void)pthread_barrier_wait(&locked);
    }
    return unused;
}

static ALONE void on_locked(void)
{
    (void)pthread_mutex_lock(&lock);
    (void)pthread_mutex_unlock(&lock);
    SHOWN;
}

static void locks(void)
{
    pthread_t thread;
    (void)pthread_barrier_init(&locked, NULL, 2);
    (void)pthread_create(&thread, NULL, hold, NULL);
    for (int i = 0; i < 4; i++) {
        turn(10);
        (void)pthread_barrier_wait(&locked);
        on_locked();
        (void)pthread_barrier_wait(&locked);
    }
    turn(10);
    (void)pthread_join(thread, NULL);
}

/* The same of a thread that has a loop, so it is sampled, and works while it has the lock: until the
 * other one sleeps for that, and then for a while. */
static int orders[2];
static pid_t waiter;

static bool is_waiting(void)
{
    char path[64];
    long call = -1;
    unsigned long at = 0;
    bool known;
    FILE *file;
    (void)snprintf(path, sizeof path, "/proc/self/task/%ld/syscall", (long)waiter);
    file = fopen(path, "r");
    known = file != NULL && fscanf(file, "%ld %lx", &call, &at) == 2;
    if (file != NULL) {
        (void)fclose(file);
    }
    return known && call == SYS_futex && at == (unsigned long)&lock;
}

static ALONE void compress_block(void)
{
    do {
        work(10);
    } while (!is_waiting());
    work(120);
    SHOWN;
}

static void *pack(void *unused)
{
    struct pollfd ready = { orders[0], POLLIN, 0 };
    char order;
    (void)pthread_setname_np(pthread_self(), "packer");
    while (poll(&ready, 1, -1) == 1 && read(orders[0], &order, 1) == 1) {
        (void)pthread_mutex_lock(&lock);
        (void)pthread_barrier_wait(&locked);
        compress_block();
        (void)pthread_mutex_unlock(&lock);
    }
    return unused;
}

static ALONE void on_order(void)
{
    (void)!write(orders[1], "x", 1);
    (void)pthread_barrier_wait(&locked);
    on_locked();
    SHOWN;
}

static void holders(void)
{
    pthread_t thread;
    waiter = (pid_t)syscall(SYS_gettid);
    (void)pthread_barrier_init(&locked, NULL, 2);
    (void)!pipe(orders);
    (void)pthread_create(&thread, NULL, pack, NULL);
    for (int i = 0; i < 5; i++) {
        turn(10);
        on_order();
    }
    turn(10);
    (void)close(orders[1]);
    (void)pthread_join(thread, NULL);
}

/* A child says go on after a while. */
static ALONE void on_stop(void)
{
    pid_t child = fork();
    if (child == 0) {
        (void)usleep(400000);
        (void)kill(getppid(), SIGCONT);
        _exit(0);
    }
    (void)raise(SIGSTOP);
    (void)waitpid(child, NULL, 0);
}

static void stops(void)
{
    for (int i = 0; i < 4; i++) {
        turn(10);
        on_stop();
    }
    turn(10);
}

/* A file that blocks. */
static void reads(void)
{
    int ends[2];
    char byte;
    if (pipe(ends) != 0) {
        return;
    }
    for (int i = 0; i < 4; i++) {
        turn(10);
        if (fork() == 0) {
            (void)usleep(400000);
            _exit(write(ends[1], "x", 1) != 1);
        }
        (void)!read(ends[0], &byte, 1);
    }
    turn(10);
    while (wait(NULL) > 0) {}
}

/* The same, below the function that the loop calls. */
static int reader_ends[2];

static ALONE void read_slowly(void)
{
    char byte;
    (void)!read(reader_ends[0], &byte, 1);
    SHOWN;
}

static ALONE void on_reader(void)
{
    read_slowly();
    SHOWN;
}

static void reader(void)
{
    if (pipe(reader_ends) != 0) {
        return;
    }
    for (int i = 0; i < 2; i++) {
        turn(200);
        if (fork() == 0) {
            (void)usleep(400000);
            _exit(write(reader_ends[1], "x", 1) != 1);
        }
        on_reader();
    }
    turn(10);
    while (wait(NULL) > 0) {}
}

/* Two callbacks with frames of one size, which sleep in the same function. */
static ALONE void on_short(void)
{
    (void)usleep(30000);
    SHOWN;
}

static ALONE void on_long(void)
{
    (void)usleep(300000);
    SHOWN;
}

static void sleepers(void)
{
    void (*volatile callbacks[2])(void) = { on_short, on_long };
    for (int i = 0; i < 12; i++) {
        turn(100);
        callbacks[i % 4 == 3]();
    }
    turn(10);
    blocked_ms = 9 * 30 + 3 * 300;
}

/* After its last wait it waits for a thread: that is its exit. */
static void *sleep_long(void *unused)
{
    (void)usleep(900000);
    return unused;
}

static void joins(void)
{
    pthread_t thread;
    (void)pthread_create(&thread, NULL, sleep_long, NULL);
    for (int i = 0; i < 3; i++) {
        turn(10);
        work(40);
    }
    (void)pthread_join(thread, NULL);
}

/* A poll that the program's own C library does not see, as that library's own ones. */
static ALONE void on_poll_inside(void)
{
    const struct timespec time = { 0, 400000000 };
    blocked_ms += 400;
    (void)syscall(SYS_ppoll, NULL, 0, &time, NULL, 8);
    SHOWN;
}

static void inside(void)
{
    for (int i = 0; i < 4; i++) {
        turn(10);
        on_poll_inside();
    }
    turn(10);
}

/* A name that nobody answers for. */
static ALONE void on_lookup(void)
{
#ifdef __GLIBC__
    struct timespec begin;
    struct timespec now;
    struct addrinfo *found = NULL;
    const struct addrinfo hints = { .ai_family = AF_INET, .ai_socktype = SOCK_STREAM };
    struct sockaddr_in silent = { .sin_family = AF_INET };
    socklen_t size = sizeof silent;
    const int file = socket(AF_INET, SOCK_DGRAM, 0);
    silent.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    (void)bind(file, (struct sockaddr *)&silent, size);
    (void)getsockname(file, (struct sockaddr *)&silent, &size);
    (void)res_init();
    _res.nscount = 1;
    _res.nsaddr_list[0] = silent;
    _res.retrans = 1;
    _res.retry = 1;
    _res.options &= ~(unsigned long)(RES_DNSRCH | RES_DEFNAMES);
    (void)clock_gettime(CLOCK_MONOTONIC, &begin);
    if (getaddrinfo("nobody.example.", "80", &hints, &found) == 0) {
        freeaddrinfo(found);
    }
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    printf("lookup %ld\n",
           (now.tv_sec - begin.tv_sec) * 1000 + (now.tv_nsec - begin.tv_nsec) / 1000000);
    (void)close(file);
#endif
}

static void lookup(void)
{
    turn(10);
    on_lookup();
    turn(10);
    turn(10);
}

/* Nobody writes into this, and nobody comes back. */
static ALONE void on_license(void)
{
    int ends[2];
    char byte;
    (void)alarm(2);
    (void)!(pipe(ends) == 0 && read(ends[0], &byte, 1) == 1);
    SHOWN;
}

static void hang(void)
{
    turn(10);
    turn(10);
    on_license();
    turn(10);
}

/* A thread that waits once, and then works. */
static void *work_once(void *unused)
{
    (void)poll(NULL, 0, 5);
    work(300);
    return unused;
}

static void once(void)
{
    pthread_t thread;
    (void)pthread_create(&thread, NULL, work_once, NULL);
    for (int i = 0; i < 10; i++) {
        turn(10);
    }
    (void)pthread_join(thread, NULL);
    turn(10);
}

/* A client waits, and there is no file for it. */
static void no_files(void)
{
    struct sockaddr_in name = { .sin_family = AF_INET };
    socklen_t size = sizeof name;
    struct epoll_event event = { .events = EPOLLIN };
    struct rlimit limit = { 0, 0 };
    struct timespec now;
    struct timespec begin;
    long waits = 0;
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    int client = socket(AF_INET, SOCK_STREAM, 0);
    int loop = epoll_create1(0);
    name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    (void)bind(listener, (struct sockaddr *)&name, size);
    (void)listen(listener, 5);
    (void)getsockname(listener, (struct sockaddr *)&name, &size);
    (void)connect(client, (struct sockaddr *)&name, size);
    (void)epoll_ctl(loop, EPOLL_CTL_ADD, listener, &event);
    (void)epoll_wait(loop, &event, 1, 1000); /* the profile begins, and needs files */
    limit.rlim_max = limit.rlim_cur = (rlim_t)loop + 1;
    (void)setrlimit(RLIMIT_NOFILE, &limit);
    (void)clock_gettime(CLOCK_MONOTONIC, &begin);
    do {
        for (int i = 0; i < 100; i++, waits++) {
            (void)epoll_wait(loop, &event, 1, 1000);
            (void)accept(listener, NULL, NULL);
        }
        (void)clock_gettime(CLOCK_MONOTONIC, &now);
    } while (now.tv_sec - begin.tv_sec < 2 || waits < 40000);
    tell_waits(waits, (long)(now.tv_sec - begin.tv_sec));
}

/* A server that always has work, as its client sends the next request at once. */
static void busy(void)
{
    struct epoll_event event = { .events = EPOLLIN };
    int ends[2];
    int loop = epoll_create1(0);
    char byte = 0;
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) {
        return;
    }
    if (fork() == 0) {
        (void)close(ends[0]);
        for (int i = 0; i < 60000 && write(ends[1], &byte, 1) == 1 && read(ends[1], &byte, 1) == 1;
             i++) {}
        _exit(0);
    }
    (void)close(ends[1]);
    (void)epoll_ctl(loop, EPOLL_CTL_ADD, ends[0], &event);
    while (epoll_wait(loop, &event, 1, -1) == 1 && read(ends[0], &byte, 1) == 1 &&
           write(ends[0], &byte, 1) == 1) {}
    (void)wait(NULL);
}

/* Nothing is ready, and nobody waits for that: a busy poll. */
static void spin(void)
{
    struct timespec now;
    struct timespec begin;
    long waits = 0;
    (void)clock_gettime(CLOCK_MONOTONIC, &begin);
    do {
        for (int i = 0; i < 100; i++, waits++) {
            (void)poll(NULL, 0, 0);
        }
        (void)clock_gettime(CLOCK_MONOTONIC, &now);
    } while (now.tv_sec - begin.tv_sec < 2 || waits < 20000);
    tell_waits(waits, (long)(now.tv_sec - begin.tv_sec));
}

#endif

static const struct {
    const char *name;
    void (*run)(void);
} programs[] = {
#if defined(WITH_UV)
    { "login", login }, { "inner", inner }, { "turns", turns }, { "last", last }, { "after", after }
#elif defined(WITH_GLIB)
    { "click", click }, { "draw", draw }
#elif defined(WITH_EVENT)
    { "alone", alone }, { "inner", inner }
#else
    { "worker", worker },     { "handler", handler },   { "script", script },
    { "startup", startup },   { "same", same },         { "resolver", resolver },
    { "moves", moves },       { "clients", clients },   { "jumps", jumps },
    { "pool", pool },         { "ends", ends },         { "late", late },
    { "first", first },       { "spin", spin },         { "polls", polls },
    { "selects", selects },   { "locks", locks },       { "stops", stops },
    { "reads", reads },       { "no_files", no_files }, { "busy", busy },
    { "once", once },         { "inside", inside },     { "lookup", lookup },
    { "hang", hang },         { "joins", joins },       { "reader", reader },
    { "sleepers", sleepers }, { "slices", slices },     { "pump", pump },
    { "jobs", work_for },     { "shared", shared },     { "holders", holders },
    { "asks", asks },         { "awaits", awaits },     { "drains", drains },
    { "queries", queries }
#endif
};

int main(int count, char **words)
{
    for (size_t i = 0; i < sizeof programs / sizeof programs[0]; i++) {
        if (count > 1 && strcmp(words[1], programs[i].name) == 0) {
            programs[i].run();
            printf("idle %d\nblocked %d\n", idle_ms, blocked_ms);
            return 0;
        }
    }
    (void)turn;
    (void)tell_waits;
    (void)ask_deeper;
    (void)work;
    return 2;
}
