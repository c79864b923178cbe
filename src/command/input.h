/* input.h - a stream of bytes from a file, from standard input ("-"), or from a packed file through
 * the tool that unpacks it, which is started without a shell. */

#ifndef COMMAND_INPUT_H
#define COMMAND_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "buffer.h"

typedef struct input {
    const char *name;          /* for messages */
    const char *tool;          /* that unpacks it, NULL: none */
    int fd;
    pid_t child;               /* of the tool, 0: none */
    uint64_t size;             /* of a plain file, else 0 */
    uint64_t taken;            /* bytes read so far */
} input;

/* Standard input, what the shell has opened, or a file whose name says that it is packed. */
bool input_is_stream(const char *name);

/* From now on standard input is nothing to read a profile from: messages do not propose it. */
void input_must_be_file(void);

/* What is said of a named pipe. */
const char *pipe_problem(void);

/* What the system said of a file that can't be read, and what a person may do about it. */
const char *input_problem(int error);

/* false, with a message, if it cannot be read. */
bool input_open(input *in, const char *name);

/* Bytes read, 0 at the end, -1 with a message. */
ssize_t input_read(input *in, char *bytes, size_t capacity);

/* complete: the end was reached; otherwise the tool is left to end by its broken pipe. */
bool input_close(input *in, bool complete);

/* All of it. false, with a message. */
bool load_input(input *in, byte_buffer *b);

/* Packed data under a plain name is told from a text that is merely malformed. */
bool looks_packed(const input *in, const byte_buffer *b);

/* Whether both are names of one plain file. */
bool same_file(const char *a, const char *b);

#endif
