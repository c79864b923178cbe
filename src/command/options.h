/* options.h - what every subcommand has: its row of the table, options, operands, help. */

#ifndef COMMAND_OPTIONS_H
#define COMMAND_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

/* One of the words that a value can be; the last of several has no name. */
typedef struct choice {
    const char *name;
    int value;
} choice;

/* One option of a subcommand. */
typedef struct tool_option {
    const char *name;          /* without the dashes */
    char letter;               /* '\0': none */
    const char *value;         /* how the help names its value; NULL: takes none */
    const char *help;          /* may hold newlines */
    /* Stores the value (NULL for an option without one) in its field and returns NULL, or says what
     * it would have taken. */
    const char *(*set)(void *field, const char *value);
    size_t at;                 /* where the field is in the subcommand's own struct */
    const choice *choices;     /* the words that its value can be, for a shell; NULL: any */
} tool_option;

/* One subcommand. --help is an option of each. */
typedef struct tool_command {
    const char *name;
    const char *operands;      /* for the usage line */
    const char *needed[2];     /* the names of those that must be there; NULL: no more */
    const char *summary;       /* one line */
    const char *text;          /* what its --help says below the options */
    const tool_option *options;
    size_t option_count;
    int (*run)(const struct tool_command *command, int count, char **words);
} tool_command;

#define OPTIONS_OF(rows) rows, sizeof (rows) / sizeof (rows)[0]

/* A search for the nearest name among several. */
typedef struct nearest {
    const char *typed;
    size_t typed_length;
    const char *best;          /* NULL: nothing near enough */
    size_t best_score;
} nearest;

nearest nearest_begin(const char *typed, size_t length);

void nearest_try(nearest *search, const char *name);

/* Parses words[0..count): options go to target, the rest to operands, at most `most` of them; those
 * that are not there stay as they are. false: there is nothing to run, because the words are wrong,
 * which a message says, or help was asked for, which is shown; *result is what to return. */
bool take_words(const tool_command *command, int count, char **words, void *target,
                const char **operands, int most, int *result);

/* Parses the options before the first operand and returns where that is: what follows belongs to
 * another program. -1: there is nothing to run, as above. */
int take_leading_words(const tool_command *command, int count, char **words, void *target,
                       int *result);

void show_help(const tool_command *command);

/* The options in the order of the help, --help behind them; NULL: there are no more. */
const tool_option *option_at(const tool_command *command, size_t i);

extern const choice color_choices[];

/* Looks text up among choices; false if it is none of them. */
bool choose(const choice *choices, const char *text, int *value);

/* What options store: true in a bool, the value in a const char *; in an int when to color (see
 * terminal.h); in a uint64_t a number of rows, or the nanoseconds of a duration. */
const char *set_flag(void *field, const char *value);
const char *set_text(void *field, const char *value);
const char *set_color(void *field, const char *value);
const char *set_rows(void *field, const char *value);
const char *set_duration(void *field, const char *value);

#endif
