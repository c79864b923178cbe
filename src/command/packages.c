/* packages.c - see packages.h */

#include "packages.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "values.h"

#define DPKG_LISTS "/var/lib/dpkg/info"    /* PACKAGE.list or PACKAGE:ARCHITECTURE.list */

/* Is one of the lines this path, with /usr or without? */
static bool list_has(const char *list, const char *path)
{
    static const char usr[] = "/usr";
    char line[4096];
    const char *within = strncmp(path, usr, sizeof usr - 1) == 0 ? path + sizeof usr - 1 : path;
    FILE *in = fopen(list, "r");
    bool found = false;
    while (in != NULL && !found && fgets(line, sizeof line, in) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        found = strcmp(line, path) == 0 || strcmp(line, within) == 0 ||
                (strncmp(line, usr, sizeof usr - 1) == 0 &&
                 strcmp(line + sizeof usr - 1, path) == 0);
    }
    if (in != NULL) {
        (void)fclose(in);
    }
    return found;
}

/* The file behind a link may be another package's. */
static bool find_package(const char *link, char *name, size_t size)
{
    char path[PATH_MAX];
    DIR *lists = opendir(DPKG_LISTS);
    const struct dirent *entry;
    bool found = false;
    if (realpath(link, path) == NULL) {
        (void)snprintf(path, sizeof path, "%s", link);
    }
    while (lists != NULL && !found && (entry = readdir(lists)) != NULL) {
        char list[4096];
        (void)snprintf(list, sizeof list, DPKG_LISTS "/%s", entry->d_name);
        found = ends_in(entry->d_name, ".list") && list_has(list, path);
        if (found) {
            (void)snprintf(name, size, "%.*s", (int)strcspn(entry->d_name, ":"), entry->d_name);
        }
    }
    if (lists != NULL) {
        (void)closedir(lists);
    }
    if (found && ends_in(name, ".list")) {
        name[strlen(name) - strlen(".list")] = '\0';
    }
    return found;
}

void package_of_names(const char *path, char *words, size_t size)
{
    char name[256];
    if (find_package(path, name, sizeof name)) {
        (void)snprintf(words, size, "look for the package %.200s-dbgsym", name);
    } else if (access(DPKG_LISTS, F_OK) != 0 && access("/usr/bin/rpm", X_OK) == 0) {
        (void)snprintf(words, size, "look for its -debuginfo package");
    } else {
        (void)snprintf(words, size, "it is stripped");
    }
}
