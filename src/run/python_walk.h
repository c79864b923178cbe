/* python_walk.h - functions in Python in the stacks of this program's own threads; see python.h.
 *
 * A handler of a timer signal reads the interpreter's structures with process_vm_readv, of this very
 * process: what can't be read is an error and no signal. chroprof run tries that system call before,
 * in a process of its own, and none is made once the program has forbidden itself any. */

#ifndef PRELOAD_PYTHON_WALK_H
#define PRELOAD_PYTHON_WALK_H

#include <stdbool.h>
#include <stdint.h>

enum { PYTHON_NATIVE = 160 };  /* frames of code that are looked for */

/* What a thread needs for it. */
typedef struct python_room python_room;

/* Functions of the call of the interpreter's loop that the thread waited in: the innermost first. */
enum { PYTHON_NOTED = 32 };
typedef struct python_noted {
    uintptr_t cframe, current;
    uint32_t count, offset;    /* offset: of the innermost one's instruction */
    uint64_t frames[PYTHON_NOTED], codes[PYTHON_NOTED];
} python_noted;

/* The stack that was walked, to be filled: addresses, and records as of unwind_walk. */
uintptr_t *python_addresses(python_room *room);

/* Once: where the table of names goes, a folder; may: the system call does no harm. Not in a handler. */
void python_begin(const char *folder, bool may);

/* What the program is: 0: no Python is loaded, or python_begin said no; else its version as Py_Version
 * has it, 1 for one before 3.11. */
uint32_t python_version(void);

/* For the calling thread; *room: what it had before, or NULL. It is NULL afterwards if there is no
 * Python, or one of another version. Not in a handler. */
void python_thread_begin(python_room **room);

/* No more system calls. */
void python_seal(void);

/* The thread waits. *known: it did so there before. Not in a handler. */
void python_note(python_room *room, python_noted *noted, bool known, uintptr_t low, uintptr_t high);

/* The walked stack with functions in Python in it; outside: the first of its frames that was there
 * before the task, 0: none is known. Returns how many there are. */
uint32_t python_weave(python_room *room, uint32_t count, uint32_t outside,
                      const python_noted *noted, uintptr_t *addresses, uintptr_t *records,
                      uint32_t capacity);

/* The program's own innermost function that the calling thread is in, at most size bytes; false: none
 * is known. Not in a handler. */
bool python_within(python_room *room, char *out, uint32_t size);

#endif
