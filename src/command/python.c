/* python.c - see python.h */

#define _GNU_SOURCE 1
#include "python.h"

#include <inttypes.h>

#include "../run/python.h"
#include "message.h"

#if PYTHON_KNOWN

#include <errno.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

static bool try_to_read(void)
{
    static const struct rlimit none = { 0, 0 };
    uint64_t from = 4711;
    uint64_t to = 0;
    struct iovec there = { &from, sizeof from };
    struct iovec here = { &to, sizeof to };
    (void)setrlimit(RLIMIT_CORE, &none);
    return process_vm_readv(getpid(), &here, 1, &there, 1, 0) == (ssize_t)sizeof to && to == from;
}

bool python_can_read(void)
{
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        _exit(try_to_read() ? 0 : 1);
    }
    while (child > 0 && waitpid(child, &status, 0) < 0) {
        if (errno != EINTR) {
            return false;
        }
    }
    return child > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

#else

bool python_can_read(void)
{
    return false;
}

#endif

void python_tell(uint32_t version, bool may)
{
    if (version == 0) {
        return;
    }
    if (python_layout_of(version) != NULL) {
        tool_message("functions in Python have no names: %s", !PYTHON_KNOWN
                     ? "those of x86-64 alone are known" : may ? "there was no room for them"
                     : "here no program may read memory by process_vm_readv (seccomp)");
    } else if (version == 1) {
        tool_message("functions in Python have no names: those of CPython 3.11 are known, and this is "
                     "an older one");
    } else {
        tool_message("functions in Python have no names: those of CPython 3.11 are known, and this is "
                     "%" PRIu32 ".%" PRIu32, version >> 24, version >> 16 & 0xFF);
    }
}
