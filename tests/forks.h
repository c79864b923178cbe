/* tests/forks.h - does a child get the guard pages that its parent asked for? */
#ifndef FORKS_H
#define FORKS_H

#include "harness.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

/* Is a page with that advice empty in a child? Emulators say yes to it and do nothing. */
static inline bool wipes_on_fork(void)
{
#if defined(MADV_WIPEONFORK) && defined(MAP_ANONYMOUS)
    void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    volatile char *byte = (volatile char *)page;
    bool wiped = false;
    int status = -1;
    pid_t child;
    CHECK(page != MAP_FAILED);
    *byte = 1;
    if (madvise(page, 4096, MADV_WIPEONFORK) == 0) {
        fflush(stdout);
        child = fork();
        CHECK(child >= 0);
        if (child == 0)
            _exit(*byte);
        while (waitpid(child, &status, 0) < 0 && errno == EINTR) {}
        wiped = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    }
    munmap(page, 4096);
    return wiped;
#else
    return false;
#endif
}

/* A case needs children whose guard is gone. */
static inline void need_wiped_children(void)
{
    if (!wipes_on_fork())
        SKIP("an emulator: it says yes to MADV_WIPEONFORK and does nothing");
}

#endif
