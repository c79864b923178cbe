/* content.h - what somebody gave, by its first bytes, so that a message can say what it got. */

#ifndef COMMAND_CONTENT_H
#define COMMAND_CONTENT_H

#include <stddef.h>

typedef enum content {
    CONTENT_EMPTY, CONTENT_BLOCK, CONTENT_JSON, CONTENT_EVENTS, CONTENT_OTHER
} content;

content content_of(const char *bytes, size_t count);

/* The same of a file; of what is no plain file nothing is read, as a pipe would lose it. */
content content_of_file(const char *name);

/* Says what the content is instead of what was wanted, and what to do. Wanted are CONTENT_BLOCK;
 * CONTENT_JSON, where a block would do as well; or CONTENT_EVENTS. */
void content_refuse(const char *name, content got, content wanted);

#endif
