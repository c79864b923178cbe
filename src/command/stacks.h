/* stacks.h - the tree of sampled stacks, tasks and the functions that ran for them, as arrays. */

#ifndef COMMAND_STACKS_H
#define COMMAND_STACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "json.h"
#include "numbers.h"
#include "profile.h"

typedef struct module_row {
    uint64_t id;
    uint64_t file;             /* how many of those before it have a path */
    json_text path, build_id;  /* without their quotes */
    uint64_t base;             /* that was added to its addresses */
} module_row;

/* In the order of their ids. */
typedef struct module_list {
    module_row *rows;
    size_t count;
} module_list;

/* false, with a message. */
bool modules_read(module_list *l, const profile_text *p);

/* NULL: there is none with this id. */
const module_row *module_of(const module_list *l, uint64_t id);

/* The module that a row names: UINT64_MAX for a number below 0, which no module has. */
bool read_module_number(const json_reader *whole, json_text value, uint64_t *id);

#define STACK_DEPTH 1024       /* of chroprof's own: what is deeper in a file begins anew */

typedef struct stack_frame {
    uint64_t id;
    size_t parent;             /* index of a frame before this one; SIZE_MAX: none */
    json_text name;            /* what symbolize found, else what the program knew; may be empty */
    json_text module;          /* of native code without a name: that of its file */
    json_text file, inlined;   /* inlined: a list, or empty */
    uint64_t line, weight, cpu;
    size_t depth;              /* frames up to it, at most STACK_DEPTH */
    uint64_t path;             /* of a task */
    uint64_t module_id;        /* UINT64_MAX: not known */
    uint64_t address;          /* of the instruction, as the module's file counts */
    size_t root;               /* the task that it runs for */
    size_t named, placed;      /* the frame itself, or the next outer one below the task, that is
                                  native and has a name, or has a file; rather one outside of the
                                  C library, and none of chroprof's own. SIZE_MAX: none */
    bool task, native, idle;
    bool cut;                  /* in place of the outer frames that a sample lacks */
    bool libc;                 /* of the C library: whoever called it is to be named */
    bool script;               /* of a program in JavaScript or Python, by its own names */
    bool python;               /* the second of these: its line is the one that ran, not the first */
    bool own;                  /* of the libraries of chroprof run: nobody wrote it who reads this */
} stack_frame;

typedef struct stack_tree {
    stack_frame *frames;
    size_t count;
    module_list modules;
    uint64_t period, cost;     /* of the sampler, ns */
    bool cpu;                  /* its period is CPU time */
} stack_tree;

void stacks_free(stack_tree *s);

/* SIZE_MAX: there is none. */
size_t stack_index(const stack_tree *s, uint64_t id);

/* The file's name without its folders. */
json_text module_name(const stack_tree *s, uint64_t id);

/* Is its name a place in its file, as "server+0x1613d0"? */
bool stack_is_place(const stack_frame *frame, json_text name);

/* Without samples the tree is empty. false, with a message. */
bool stacks_read(stack_tree *s, const profile_text *p);

typedef struct sample_row {
    uint64_t at, duration, weight, cpu, stack;
    json_text state;
} sample_row;

bool read_sample_row(json_reader *r, sample_row *sample);

#define STACK_CALLS 32         /* of one address: the function and what it was inlined into */

typedef struct stack_call {
    json_text name, file;
    uint64_t line;
} stack_call;

typedef struct stack_calls {
    stack_call calls[STACK_CALLS];         /* from the inside out */
    size_t count;
} stack_calls;

/* Those of a frame below its task, where what ran the task stands above it: main, into which the rest
 * was inlined, is no function of the slice. */
bool stack_slice_calls(const profile_text *p, const stack_tree *s, const stack_frame *frame,
                       stack_calls *c);

/* The calls that a frame stands for: the function that ran, then what it was inlined into. */
bool stack_calls_of(const profile_text *p, const stack_frame *frame, stack_calls *c);

#endif
