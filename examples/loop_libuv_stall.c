/* libuv: a library blocks the loop. In which function, for which callback? */
/* build: cc -O2 -g FILE -o OUT -luv -lz -lunwind ; needs: libuv1-dev zlib1g-dev libunwind-dev */
/* A callback packs a log with zlib. The sampler looks at the stack every 19 ms of CPU time.
 * Libraries of a distribution have no frame pointers, so libunwind walks the stack, in the signal
 * handler. Without it you see the task and the innermost function. For the line that called it:
 * chroprof symbolize --format text FILE.json, or the page of chroprof report. Not seen: stalls
 * shorter than a period. For stalls that block without CPU time see CHROPROF_SAMPLER_WALL. */
#include <string.h>
#include <uv.h>
#include <zlib.h>
#define CHROPROF_IMPLEMENTATION /* chroprof */
#include "../chroprof.h" /* chroprof */
#define UNW_LOCAL_ONLY /* chroprof */
#include <libunwind.h> /* chroprof */
#include "adapters/chroprof_libunwind.h" /* chroprof */

static chroprof prof; /* chroprof */
static unsigned char memory[1 << 20]; /* chroprof */
CHROPROF_EPOLL_IDLE(&prof); /* chroprof */

enum { LOG_BYTES = 6 << 20 };
static unsigned char text[LOG_BYTES], packed[LOG_BYTES];
static unsigned used, state = 1;
static uLongf packed_bytes;

static void write_line(void)
{
    for (int i = 0; i < 64 && used < LOG_BYTES; i++) {
        state = state * 1664525u + 1013904223u;
        text[used++] = (unsigned char)"abcdefgh"[state >> 29];
    }
}

static void on_request(uv_timer_t *timer)
{
    CHROPROF_SCOPE(&prof, "on_request"); /* chroprof */
    for (int i = 0; i < 2000; i++)
        write_line();
    if (used == LOG_BYTES)
        uv_close((uv_handle_t *)timer, NULL);
}

static void on_rotate(uv_timer_t *timer)
{
    CHROPROF_SCOPE(&prof, "on_rotate"); /* chroprof */
    packed_bytes = LOG_BYTES;
    if (used == LOG_BYTES) {
        compress2(packed, &packed_bytes, text, LOG_BYTES, 9);
        uv_close((uv_handle_t *)timer, NULL);
    }
}

int main(int argc, char **argv)
{
    uv_loop_t *loop = uv_default_loop();
    uv_timer_t requests, rotation;
    if (argc != 1 && (argc != 3 || strcmp(argv[1], "--json") != 0))
        return fprintf(stderr, "usage: %s [--json FILE]\n", argv[0]), 2;
    chroprof_sampler_options sampling = { .unwind = chroprof_libunwind }; /* chroprof */
    chroprof_init(&prof, memory, sizeof memory, NULL); /* chroprof */
    if (chroprof_sampler_start(&prof, &sampling)) fputs("no sampler\n", stderr); /* chroprof */
    uv_loop_configure(loop, UV_METRICS_IDLE_TIME);
    uv_timer_init(loop, &requests);
    uv_timer_init(loop, &rotation);
    uv_timer_start(&requests, on_request, 2, 2);
    uv_timer_start(&rotation, on_rotate, 20, 20);
    uv_run(loop, UV_RUN_DEFAULT);
    chroprof_sampler_stop(&prof); /* chroprof */
    chroprof_dump(&prof, CHROPROF_TEXT, stdout); /* chroprof */
    fprintf(stderr, "independent idle: %llu\n", (unsigned long long)uv_metrics_idle_time(loop));
    if (argc > 1 && (!freopen(argv[2], "w", stdout) || chroprof_dump(&prof, CHROPROF_JSON, stdout)))
        return perror(argv[2]), 1;
}
