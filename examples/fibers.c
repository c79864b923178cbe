/* Sampled stacks of fibers: the sampler is told which stack the thread is on. Which function of a
 * fiber takes the time? */
/* build: cc -O2 -fno-omit-frame-pointer -rdynamic FILE -o OUT ; needs: none */
#define CHROPROF_IMPLEMENTATION
#include "../chroprof.h"
#include <ucontext.h>

enum { FIBERS = 2, STACK = 256 * 1024 };

static chroprof prof;
static unsigned char memory[1 << 20];
static ucontext_t loop, fibers[FIBERS];
static char stacks[FIBERS][STACK];
CHROPROF_SITE(site_fiber, "fiber");

void render(void);
void fiber_main(int number);

/* Not static: -rdynamic shows its name. */
__attribute__((noinline)) void render(void)
{
    for (volatile long k = 0; k < 3000000; k = k + 1) {}
}

void fiber_main(int number)
{
    for (;;) {
        render();
        swapcontext(&fibers[number], &loop);
    }
}

static void resume(int number)
{
    chroprof_enter(&prof, &site_fiber);
    chroprof_sampler_stack(&prof, stacks[number], STACK);
    swapcontext(&loop, &fibers[number]);
    chroprof_sampler_stack(&prof, NULL, 0);
    chroprof_leave(&prof);
}

int main(void)
{
    chroprof_sampler_totals seen;
    chroprof_sampler_options options = { CHROPROF_SAMPLER_CPU, 2000000, false, 0, 0, NULL, NULL,
                                         false };
    chroprof_init(&prof, memory, sizeof memory, NULL);
    chroprof_result result = chroprof_sampler_start(&prof, &options);
    if (result != CHROPROF_OK)
        return fprintf(stderr, "no sampler: %s\n", chroprof_result_text(result)), 1;
    for (int k = 0; k < FIBERS; k++) {
        getcontext(&fibers[k]);
        fibers[k].uc_stack.ss_sp = stacks[k];
        fibers[k].uc_stack.ss_size = STACK;
        makecontext(&fibers[k], (void (*)(void))fiber_main, 1, k);
    }
    for (int k = 0; k < 1000; k++) { /* until enough was seen */
        resume(k % FIBERS);
        chroprof_read_sampler(&prof, &seen);
        if (seen.samples >= 20 && k > 20)
            break;
    }
    chroprof_sampler_stop(&prof);
    return chroprof_dump(&prof, CHROPROF_TEXT, stdout) != 0;
}
