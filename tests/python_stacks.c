/* python_stacks.c - the woven stack of a program in Python, as chroprof attach has it: for each line
 * of standard input that of the thread with this number, innermost first, "name file line;..." */
#define _GNU_SOURCE 1
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../src/command/attach.h"
#include "../src/run/python.h"

static attach_image image;

static void tell(uint64_t address)
{
    char name[900];
    if (python_is_address(address)) {
        attach_python_name(address, name, sizeof name);
        printf("%s;", name);
    }
}

int main(int count, char **words)
{
    static attach_costs costs;
    char line[64];
    pid_t pid = (pid_t)(count > 1 ? atoi(words[1]) : 0);
    const char *why = attach_refusal(pid);
    if (why != NULL || !attach_unwind_begin(pid)) {
        printf("refused: %s\n", why != NULL ? why : "no maps");
        return 1;
    }
    attach_python_begin(pid);
    puts("ready");
    fflush(stdout);
    while (fgets(line, sizeof line, stdin) != NULL) {
        uint64_t frames[ATTACH_FRAMES];
        uint64_t tops[ATTACH_NATIVE];
        attach_thread t;
        size_t frames_count = 0;
        if (attach_open(&t, pid, (pid_t)atoi(line)) &&
            attach_copy(&t, pid, &image, &costs, false)) {
            frames_count = attach_unwind(&image, frames, tops);
            frames_count = attach_python_weave(frames, tops, frames_count);
        }
        for (size_t i = 0; i < frames_count; i++) {
            tell(frames[i]);
        }
        putchar('\n');
        fflush(stdout);
        attach_release(&t);
        attach_close(&t);
    }
    attach_unwind_end();
    return 0;
}
