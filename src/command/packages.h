/* packages.h - which package of the distribution has the names that a stripped file lacks. */

#ifndef COMMAND_PACKAGES_H
#define COMMAND_PACKAGES_H

#include <stdbool.h>
#include <stddef.h>

/* In words, as the end of a sentence. Where nobody knows the package, how to find out. */
void package_of_names(const char *path, char *words, size_t size);

#endif
