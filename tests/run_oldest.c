/* run_oldest.c - for tests/run_waits.sh: a library to preload with which dlsym(RTLD_NEXT) finds the
 * oldest version of a function that waits for a condition, as before glibc 2.36. x86-64. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <string.h>

/* The other one is called by a jump: it looks at who called it. */
void *dlsym(void *handle, const char *name)
{
    static void *(*other)(void *, const char *);
    void *oldest = NULL;
    if (other == NULL) {
        void *found = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5");
        memcpy(&other, &found, sizeof other);
    }
    if (handle == RTLD_NEXT && strncmp(name, "pthread_cond_", 13) == 0) {
        oldest = dlvsym(RTLD_NEXT, name, "GLIBC_2.2.5");
    }
    return oldest != NULL ? oldest : other(handle, name);
}
