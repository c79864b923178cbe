/* A callback loop on poll(2): which of its two callbacks blocks it? */
/* build: cc -O2 FILE -o OUT ; needs: none */
#define CHROPROF_IMPLEMENTATION /* chroprof */
#include "../chroprof.h" /* chroprof */
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static chroprof prof; /* chroprof */
static unsigned char memory[1 << 18]; /* chroprof */
CHROPROF_SITE(site_line, "on_line"); /* chroprof */
CHROPROF_SITE(site_timer, "on_timer"); /* chroprof */

static void work(int rounds)
{
    for (volatile int i = 0; i < rounds; i = i + 1) {}
}

int main(int argc, char **argv)
{
    if (argc != 1 && (argc != 3 || strcmp(argv[1], "--json") != 0))
        return fprintf(stderr, "usage: %s [--json FILE]\n", argv[0]), 2;
    FILE *child = popen("for i in 1 2 3 4 5 6 7 8 9; do sleep 0.1; echo line $i; done", "r");
    struct pollfd input = { child != NULL ? fileno(child) : -1, POLLIN, 0 };
    char line[7]; /* one line a call */
    chroprof_init(&prof, memory, sizeof(memory), NULL); /* chroprof */
    for (long size = child != NULL; size > 0;) {
        chroprof_idle_enter(&prof); /* chroprof */
        int ready = poll(&input, 1, 20);
        chroprof_idle_leave(&prof); /* chroprof */
        chroprof_enter(&prof, ready ? &site_line : &site_timer); /* chroprof */
        work(ready ? 5000000 : 100000);
        chroprof_leave(&prof); /* chroprof */
        size = ready ? read(input.fd, line, sizeof(line)) : 1;
    }
    chroprof_dump(&prof, CHROPROF_TEXT, stdout); /* chroprof */
    if (argc > 1 && (!freopen(argv[2], "w", stdout) || chroprof_dump(&prof, CHROPROF_JSON, stdout)))
        return perror(argv[2]), 1;
}
