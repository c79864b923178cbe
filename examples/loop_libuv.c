/* libuv: a UDP service and its client on loopback. Which callback blocks their loop? */
/* build: cc -O2 FILE -o OUT $(pkg-config --cflags --libs libuv) ; needs: libuv1-dev */
/* libuv has no hook around its wait (a prepare and check pair spans I/O callbacks too), so its
 * epoll_wait is replaced, for one loop in one thread. Callbacks without CHROPROF_SCOPE are
 * uninstrumented. Not seen: what is due, so there is no delay (requests: loop_libuv_work.c). */
#include <string.h>
#include <uv.h>
#define CHROPROF_IMPLEMENTATION /* chroprof */
#include "../chroprof.h" /* chroprof */

static chroprof prof; /* chroprof */
static unsigned char memory[1 << 20]; /* chroprof */
CHROPROF_EPOLL_IDLE(&prof); /* chroprof */

static struct sockaddr_in address;
static uv_udp_t service;
static int sent, dialogs, open_dialogs;
static char buffer[65536];

static void on_alloc(uv_handle_t *handle, size_t hint, uv_buf_t *buf)
{
    *buf = uv_buf_init(buffer, handle && hint < sizeof(buffer) ? (unsigned)hint : sizeof(buffer));
}

static void on_request(uv_udp_t *udp, ssize_t size, const uv_buf_t *buf,
                       const struct sockaddr *from, unsigned flags)
{
    CHROPROF_SCOPE(&prof, "on_request"); /* chroprof */
    volatile unsigned sum = flags;
    for (ssize_t i = 0; udp && from && i < size * 200; i++)
        sum = sum * 31 + (unsigned char)buf->base[i % size];
}

static void on_send(uv_timer_t *timer)
{
    CHROPROF_SCOPE(&prof, "on_send"); /* chroprof */
    uv_buf_t request = uv_buf_init(buffer, 8192);
    uv_udp_try_send(&service, &request, 1, (struct sockaddr *)&address);
    sent += uv_is_active((uv_handle_t *)timer);
}

static void on_dialog(uv_timer_t *timer) /* waits for two more ticks of this very timer */
{
    CHROPROF_SCOPE(&prof, "on_dialog"); /* chroprof */
    int until = ++dialogs + 2;
    open_dialogs++;
    chroprof_loop_enter(&prof); /* chroprof */
    while (open_dialogs == 1 && dialogs < until && sent < 75)
        uv_run(timer->loop, UV_RUN_ONCE);
    chroprof_loop_leave(&prof); /* chroprof */
    open_dialogs--;
}

int main(int argc, char **argv)
{
    uv_loop_t *loop = uv_default_loop();
    uv_timer_t client, dialog;
    if (argc != 1 && (argc != 3 || strcmp(argv[1], "--json") != 0))
        return fprintf(stderr, "usage: %s [--json FILE]\n", argv[0]), 2;
    chroprof_init(&prof, memory, sizeof(memory), NULL); /* chroprof */
    uv_loop_configure(loop, UV_METRICS_IDLE_TIME);
    uv_udp_init(loop, &service);
    uv_ip4_addr("127.0.0.1", 0, &address);
    uv_udp_bind(&service, (struct sockaddr *)&address, 0);
    uv_udp_getsockname(&service, (struct sockaddr *)&address, &(int){ sizeof(address) });
    uv_udp_recv_start(&service, on_alloc, on_request);
    uv_timer_init(loop, &client);
    uv_timer_start(&client, on_send, 20, 20);
    uv_timer_init(loop, &dialog);
    uv_timer_start(&dialog, on_dialog, 130, 130);
    while (sent < 75)
        uv_run(loop, UV_RUN_ONCE);
    chroprof_dump(&prof, CHROPROF_TEXT, stdout); /* chroprof */
    fprintf(stderr, "independent idle: %llu\n", (unsigned long long)uv_metrics_idle_time(loop));
    if (argc > 1 && (!freopen(argv[2], "w", stdout) || chroprof_dump(&prof, CHROPROF_JSON, stdout)))
        return perror(argv[2]), 1;
}
