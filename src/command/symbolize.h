/* symbolize.h - chroprof symbolize: the native rows of a profile's "stacks" gain function, file,
 * line and inlined calls. Everything else stays byte by byte as it was. report, trace and dump do
 * it by themselves. */

#ifndef COMMAND_SYMBOLIZE_H
#define COMMAND_SYMBOLIZE_H

#include <stdbool.h>

#include "code.h"
#include "profile.h"

/* Replaces the profile's text. A profile without samples stays as it is. debug: the folder of
 * separate debug information; NULL: the usual one. false, with a message. */
bool profile_symbolize(profile_text *p, const char *debug);

/* Opens the file of separate debug information, which goes by the build id; its name goes to path.
 * debug as above. false: there is none. */
bool open_debug_file(code_module *m, const char *debug, const char *id, char *path, size_t size);

#endif
