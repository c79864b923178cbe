/* run_left.c - see run_left.h */

#include "run_left.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "message.h"

/* Has it a file of the folder in its memory? Not if it is dead, or another user's. */
static bool has_folder(pid_t pid, const char *folder)
{
    char path[40];
    char line[1200];
    bool found = false;
    FILE *maps;
    (void)snprintf(path, sizeof path, "/proc/%ld/maps", (long)pid);
    maps = fopen(path, "r");
    while (maps != NULL && !found && fgets(line, sizeof line, maps) != NULL) {
        found = strstr(line, folder) != NULL;
    }
    if (maps != NULL) {
        (void)fclose(maps);
    }
    return found;
}

/* When it began, in the system's ticks; 0: it is not known, or not there any more. */
static unsigned long long start_of(const char *pid)
{
    char path[40];
    char facts[1024];
    const char *at;
    size_t length;
    FILE *file;
    (void)snprintf(path, sizeof path, "/proc/%.20s/stat", pid);
    file = fopen(path, "r");
    length = file != NULL ? fread(facts, 1, sizeof facts - 1, file) : 0;
    if (file != NULL) {
        (void)fclose(file);
    }
    facts[length] = '\0';
    at = strrchr(facts, ')');               /* behind the name: it is the 20th from there */
    for (int k = 0; at != NULL && k < 20; k++) {
        at = strchr(at + 1, ' ');
    }
    return at != NULL ? strtoull(at, NULL, 10) : 0;
}

/* *one: the first of them; 0: there is none. */
static size_t find_once(const char *folder, pid_t *one)
{
    const unsigned long long own = start_of("self");
    DIR *all = opendir("/proc");
    const struct dirent *entry;
    size_t count = 0;
    *one = 0;
    while (all != NULL && (entry = readdir(all)) != NULL) {
        char *end;
        pid_t pid = (pid_t)strtol(entry->d_name, &end, 10);
        if (*end == '\0' && pid > 0 && pid != getpid() && start_of(entry->d_name) >= own &&
            has_folder(pid, folder)) {
            *one = *one == 0 ? pid : *one;
            count++;
        }
    }
    if (all != NULL) {
        (void)closedir(all);
    }
    return count;
}

/* Of a process that forks and ends, as daemons do twice, only the next look sees the new one. */
static size_t find_left(const char *folder, pid_t *one)
{
    size_t count = 0;
    for (int looks = 0; looks < 3 && count == 0; looks++) {
        count = find_once(folder, one);
    }
    return count;
}

size_t run_left_count(const char *folder)
{
    pid_t one;
    return find_left(folder, &one);
}

/* >>waiting for them */

static volatile sig_atomic_t waits, enough;

bool run_left_enough(int number)
{
    if (waits == 0 || (number != SIGINT && number != SIGQUIT)) {
        return false;
    }
    enough = 1;
    return true;
}

size_t run_left_wait(const char *folder, volatile pid_t *one, bool *waited)
{
    const struct timespec moment = { 0, 100000000 };
    pid_t pid = 0;
    size_t count = find_left(folder, &pid);
    waits = 1;
    *waited = count > 0;
    if (count > 0) {
        tool_message("the program has ended, but %zu process%s that it forked go%s on (%ld): this "
                     "waits for that; Ctrl-C reports what there is", count, count == 1 ? "" : "es",
                     count == 1 ? "es" : "", (long)pid);
    }
    while (count > 0 && enough == 0) {
        *one = pid;
        (void)nanosleep(&moment, NULL);
        if (!has_folder(pid, folder)) {
            count = find_left(folder, &pid);
        }
    }
    *one = 0;
    waits = 0;
    return count > 0 ? find_left(folder, &pid) : 0;
}
