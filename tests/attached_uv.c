/* tests/attached_uv.c - a program on libuv that chroprof attach watches: attached_uv hang|sync
 * SECONDS. hang: a callback that does not come back. sync: a client in a callback that waits for its
 * answer. It ends when it is told to, at the latest when the time is over; its exit status is 7. */
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <uv.h>

#define APART __attribute__((__noinline__))

static volatile sig_atomic_t told;
static time_t end;
static int ends[2];
static long sum;
static uv_loop_t loop;

static void take_end(int number)
{
    (void)number;
    told = 1;
}

static int goes_on(void)
{
    return !told && time(NULL) < end;
}

APART void parse_header(void)
{
    while (goes_on()) {
        for (long i = 0; i < 100000; i++) {
            sum += i ^ sum;
            __asm__ volatile("" : "+r"(sum));
        }
    }
    __asm__ volatile("");
}

APART void ask_server(void)
{
    struct pollfd one = { ends[0], POLLIN, 0 };
    (void)poll(&one, 1, 300);
    __asm__ volatile("");
}

static void on_request(uv_timer_t *timer)
{
    if (!goes_on()) {
        uv_close((uv_handle_t *)timer, NULL);
    } else if (timer->data != NULL) {
        parse_header();
    } else {
        ask_server();
    }
    __asm__ volatile("");
}

int main(int count, char **words)
{
    static uv_timer_t timer;
    struct sigaction action;
    if (count != 3 || pipe(ends) != 0 || uv_loop_init(&loop) != 0) {
        return 1;
    }
    memset(&action, 0, sizeof action);
    action.sa_handler = take_end;
    (void)sigaction(SIGTERM, &action, NULL);
    end = time(NULL) + atoi(words[2]);
    (void)uv_timer_init(&loop, &timer);
    timer.data = strcmp(words[1], "hang") == 0 ? words : NULL;
    (void)uv_timer_start(&timer, on_request, 20, 20);
    (void)printf("ready\n");
    (void)fflush(stdout);
    (void)uv_run(&loop, UV_RUN_DEFAULT);
    (void)printf("ended\n");
    return 7;
}
