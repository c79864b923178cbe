/* hurt.c - loaded before the C library into a reader of profiles: files of some names do to it what a
 * reader's fault would do. Each begins with the first byte that is read of it. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void grow(void)
{
    size_t size = (size_t)1 << 24;
    for (char *more = malloc(size); more != NULL; more = malloc(size)) {
        memset(more, 1, size);
    }
    (void)raise(SIGABRT);
}

static void hurt(int fd)
{
    char link[64];
    char name[4096];
    ssize_t length;
    (void)snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    length = readlink(link, name, sizeof name - 1);
    name[length > 0 ? length : 0] = '\0';
    while (strstr(name, "/hang") != NULL) {
        (void)pause();
    }
    while (strstr(name, "/spin") != NULL) {}
    if (strstr(name, "/crash") != NULL) {
        (void)raise(SIGSEGV);
    }
    if (strstr(name, "/grow") != NULL) {
        grow();
    }
}

ssize_t read(int fd, void *bytes, size_t count)
{
    static ssize_t (*next)(int, void *, size_t);
    if (next == NULL) {
        *(void **)&next = dlsym(RTLD_NEXT, "read");
    }
    hurt(fd);
    return next(fd, bytes, count);
}
