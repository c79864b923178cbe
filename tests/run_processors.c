/* run_processors.c - a system of 64 processors, for tests/run_command.sh: a library to be preloaded
 * that answers so whoever asks. The thread is on the last one. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <sched.h>
#include <sys/types.h>
#include <unistd.h>

enum { PROCESSORS = 64 };

long sysconf(int name)
{
    typedef long asks(int name);
    asks *of_system = (asks *)dlsym(RTLD_NEXT, "sysconf");
    return name == _SC_NPROCESSORS_ONLN || name == _SC_NPROCESSORS_CONF ? PROCESSORS
                                                                        : of_system(name);
}

int get_nprocs(void)
{
    return PROCESSORS;
}

int get_nprocs_conf(void)
{
    return PROCESSORS;
}

int sched_getcpu(void)
{
    return PROCESSORS - 1;
}

int sched_getaffinity(pid_t pid, size_t size, cpu_set_t *set)
{
    (void)pid;
    CPU_ZERO_S(size, set);
    for (int k = 0; k < PROCESSORS; k++)
        CPU_SET_S((size_t)k, size, set);
    return 0;
}
