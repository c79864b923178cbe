/* attach_live.c - see attach_live.h */

#define _GNU_SOURCE 1
#include "attach_live.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "message.h"

#ifdef __linux__
/* In a group of its own: a terminal that stops or ends the group must not stop it while a thread is
 * held. If its parent ends, however that is, it lets the program go. */
static void become_observer(const attach_live *live, pid_t parent, const char *pid,
                            uint64_t every_ns)
{
    (void)setpgid(0, 0);
    (void)prctl(PR_SET_PDEATHSIG, SIGTERM, 0, 0, 0);
    if (getppid() == parent) {
        int result = attach_write(pid, live->file, every_ns);
        if (getppid() == parent) {
            _exit(result);
        }
    }
    (void)unlink(live->file);
    (void)rmdir(live->folder);
    _exit(1);
}

bool attach_live_begin(attach_live *live, const char *pid, uint64_t every_ns)
{
    const struct timespec moment = { 0, 20000000 };
    pid_t parent = getpid();
    (void)snprintf(live->folder, sizeof live->folder, "/tmp/chroprof-top-XXXXXX");
    if (mkdtemp(live->folder) == NULL) {
        tool_message("%s: %s", live->folder, strerror(errno));
        return false;
    }
    (void)snprintf(live->file, sizeof live->file, "%s/profile", live->folder);
    live->observer = fork();
    if (live->observer == 0) {
        become_observer(live, parent, pid, every_ns);
    }
    while (live->observer > 0 && access(live->file, F_OK) != 0) {
        if (attach_live_ended(live)) {
            break;
        }
        (void)nanosleep(&moment, NULL);
    }
    if (access(live->file, F_OK) != 0) {    /* it has said why */
        attach_live_end(live);
        return false;
    }
    return true;
}
#else
bool attach_live_begin(attach_live *live, const char *pid, uint64_t every_ns)
{
    (void)live;
    (void)pid;
    (void)every_ns;
    tool_message("attach: needs Linux");
    return false;
}
#endif

bool attach_live_ended(attach_live *live)
{
    if (live->observer > 0 && waitpid(live->observer, NULL, WNOHANG) == live->observer) {
        live->observer = 0;
    }
    return live->observer <= 0;
}

void attach_live_end(attach_live *live)
{
    if (live->observer > 0) {
        (void)kill(live->observer, SIGTERM);
        while (waitpid(live->observer, NULL, 0) < 0 && errno == EINTR) {}
        live->observer = 0;
    }
    if (live->file[0] != '\0') {
        (void)unlink(live->file);
        (void)rmdir(live->folder);
    }
}
