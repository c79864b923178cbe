/* block.h - profiles that lie in files, of programs that run, hang, ended or were killed. The file
 * is mapped, copied by chroprof_snapshot, and let go. */

#ifndef COMMAND_BLOCK_H
#define COMMAND_BLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../../chroprof.h"

typedef struct block_file {
    const char *name;          /* of the file, for people */
    const char *place;         /* where to open it */
    char found[4096];          /* both, where a process was given */
    char found_place[4096 + 64];
    void *copy;
    size_t size;
    const char *why;           /* it could not be read, if the system did not say */
    bool just_ended;           /* the program, as its parent has seen */
    bool nameless;             /* names of functions are not wanted */
    bool stream;               /* it came through a pipe, and can't be read again */
    chroprof view;
} block_file;

chroprof_result block_read(block_file *file);

/* Counts up by two an event, and lies in the block that fd is, where chroprof.h asserts that it does.
 * 0: it cannot be read. */
uint64_t block_sequence(int fd);

/* Opens the copy; its ids are hidden if that was asked for. */
chroprof_result block_view(block_file *file);

/* Why block_read() failed; errno was 0 before it. */
const char *block_problem(const block_file *file, chroprof_result result);

void block_close(block_file *file);

/* Whether an operand is a process: a number that is not the name of a file. */
bool block_is_process(const char *operand);

/* Whether the process with that number has profiles, or is a chroprof run whose program has. */
bool block_of_a_process(const char *pid);

/* Says that it is neither of them. */
void block_nobody(const char *pid);

/* A file, a process, - for standard input, or a file that is packed. false, with a message. */
bool block_open(block_file *file, const char *operand);

/* The same of bytes that were read already; the file keeps a copy. */
bool block_of_bytes(block_file *file, const char *name, const char *bytes, size_t count);

/* Is the file for output the profile of a program that runs? Cut short, it would kill that one;
 * replaced, its profile would be lost. */
bool block_is_owned(const char *out);

#endif
