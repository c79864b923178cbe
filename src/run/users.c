/* users.c - programs that give up the rights of root */

#include "run.h"
#include "next.h"
#include "seats.h"

/* >>users: a daemon that root starts gives up its rights, often before its first wait. The folder
 * and the board go to the user that it becomes. */

static void give_folder(uid_t user)
{
    char path[sizeof folder + 16];
    int error = errno;
    if (awake != NULL && (is_awake() || with_children) && user != (uid_t)-1 && geteuid() == 0) {
        (void)snprintf(path, sizeof path, "%s/" BOARD_FILE, folder);
        if (chown(path, user, (gid_t)-1) == 0) {
            (void)chown(folder, user, (gid_t)-1);
        }
    }
    errno = error;
}

EXPORT int setuid(uid_t user)
{
    if (next.setuid == NULL) {
        find_function(&next.setuid, "setuid");
    }
    give_folder(user);
    return next.setuid(user);
}

EXPORT int seteuid(uid_t user)
{
    if (next.seteuid == NULL) {
        find_function(&next.seteuid, "seteuid");
    }
    give_folder(user);
    return next.seteuid(user);
}

EXPORT int setreuid(uid_t real, uid_t effective)
{
    if (next.setreuid == NULL) {
        find_function(&next.setreuid, "setreuid");
    }
    give_folder(effective);
    return next.setreuid(real, effective);
}

EXPORT int setresuid(uid_t real, uid_t effective, uid_t saved)
{
    if (next.setresuid == NULL) {
        find_function(&next.setresuid, "setresuid");
    }
    give_folder(effective);
    return next.setresuid(real, effective, saved);
}
