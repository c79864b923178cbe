/* options.c - see options.h */

#include "options.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "message.h"
#include "terminal.h"
#include "values.h"

/* >>nearest: the name somebody probably meant */

#define NEAREST_LONGEST 32

/* Insertions, deletions, changes and swaps of neighbors that turn a into b. */
static size_t nearest_distance(const char *a, size_t a_length, const char *b, size_t b_length)
{
    size_t row[NEAREST_LONGEST + 1][NEAREST_LONGEST + 1];
    for (size_t i = 0; i <= a_length; i++) {
        for (size_t k = 0; k <= b_length; k++) {
            if (i == 0 || k == 0) {
                row[i][k] = i + k;
                continue;
            }
            row[i][k] = smaller(row[i - 1][k], row[i][k - 1]) + 1;
            row[i][k] = smaller(row[i][k], row[i - 1][k - 1] + (a[i - 1] != b[k - 1]));
            if (i > 1 && k > 1 && a[i - 1] == b[k - 2] && a[i - 2] == b[k - 1]) {
                row[i][k] = smaller(row[i][k], row[i - 2][k - 2] + 1);
            }
        }
    }
    return row[a_length][b_length];
}

/* How far name is from what was typed; the beginning of a name counts as near. */
static size_t nearest_score(const char *typed, size_t typed_length, const char *name)
{
    size_t length = strlen(name);
    if (typed_length > NEAREST_LONGEST || length > NEAREST_LONGEST) {
        return SIZE_MAX;
    }
    if (typed_length >= 2 && typed_length < length && memcmp(typed, name, typed_length) == 0) {
        return 1;
    }
    return nearest_distance(typed, typed_length, name, length);
}

nearest nearest_begin(const char *typed, size_t length)
{
    nearest search = { typed, length, NULL, (length > 3 ? length / 3 : 1) + 1 };
    return search;
}

void nearest_try(nearest *search, const char *name)
{
    size_t score = nearest_score(search->typed, search->typed_length, name);
    if (score < search->best_score) {
        search->best = name;
        search->best_score = score;
    }
}

/* >>help */

static const tool_option help_row = { "help", 'h', NULL, "shows this help", NULL, 0, NULL };

const tool_option *option_at(const tool_command *command, size_t i)
{
    return i < command->option_count ? &command->options[i]
           : i == command->option_count ? &help_row : NULL;
}

#define HELP_INDENT 26

static void help_text(const char *text)
{
    for (; *text != '\0'; text++) {
        (void)putchar(*text);
        if (*text == '\n') {
            (void)printf("%*s", HELP_INDENT, "");
        }
    }
    (void)putchar('\n');
}

static void help_option(const tool_option *option)
{
    char left[80];
    const char *value = option->value != NULL ? option->value : "";
    char letter[8] = "    ";
    if (option->letter != '\0') {
        (void)snprintf(letter, sizeof letter, "-%c, ", option->letter);
    }
    (void)snprintf(left, sizeof left, "  %s--%s%s%s", letter, option->name,
                   *value != '\0' ? " " : "", value);
    if (strlen(left) + 2 > HELP_INDENT) {
        (void)printf("%s\n%*s", left, HELP_INDENT, "");
    } else {
        (void)printf("%-*s", HELP_INDENT, left);
    }
    help_text(option->help);
}

void show_help(const tool_command *command)
{
    (void)printf("usage: chroprof %s %s\n\n%s\n", command->name, command->operands,
                 command->summary);
    (void)puts("\noptions:");
    for (size_t i = 0; option_at(command, i) != NULL; i++) {
        help_option(option_at(command, i));
    }
    (void)fputs(command->text, stdout);
}

/* >>options */

#define TOOL_HELP (-1)         /* help was asked for, and shown */

static int usage_error(const tool_command *command, const char *problem, const char *word,
                       const char *hint, const char *meant)
{
    tool_line("chroprof %s: %s %s%s%s (see: chroprof %s --help)", command->name, problem, word,
              meant != NULL ? hint : "", meant != NULL ? meant : "", command->name);
    return TOOL_USAGE;
}

/* The option that a word begins with, -x or --name. */
static const tool_option *find_option(const tool_command *command, const char *word, size_t length)
{
    const tool_option *option;
    for (size_t i = 0; (option = option_at(command, i)) != NULL; i++) {
        bool is_it = word[1] != '-' ? option->letter == word[1]
                     : strlen(option->name) == length - 2 &&
                       memcmp(option->name, word + 2, length - 2) == 0;
        if (is_it) {
            return option;
        }
    }
    return NULL;
}

static int unknown_option(const tool_command *command, const char *word, size_t length)
{
    const tool_option *option;
    char hint[80] = "";
    nearest search = nearest_begin(word + 2, word[1] == '-' ? length - 2 : 0);
    for (size_t i = 0; word[1] == '-' && (option = option_at(command, i)) != NULL; i++) {
        nearest_try(&search, option->name);
    }
    if (search.best != NULL) {
        (void)snprintf(hint, sizeof hint, "; did you mean --%s?", search.best);
    }
    return usage_error(command, "unknown option", word, hint, "");
}

static int set_option(const tool_command *command, const tool_option *option, void *target,
                      const char *word, const char *value)
{
    const char *expected = option->set((char *)target + option->at, value);
    bool apart = value != NULL && strchr(word, '=') == NULL;
    if (expected == NULL) {
        return TOOL_OK;
    }
    tool_line("chroprof %s: %s%s%s: %s (see: chroprof %s --help)", command->name, word,
              apart ? " " : "", apart ? value : "", expected, command->name);
    return TOOL_USAGE;
}

/* Takes the option in words[*index] and, where it stands apart, its value behind it. A value that
 * stands apart is not --, which ends the options. */
static int take_option(const tool_command *command, int count, char **words, int *index,
                       void *target)
{
    const char *word = words[*index];
    bool is_long = word[1] == '-';
    const char *equals = is_long ? strchr(word, '=') : NULL;
    size_t length = equals != NULL ? (size_t)(equals - word) : strlen(word);
    const tool_option *option = find_option(command, word, length);
    const char *value = equals != NULL ? equals + 1 : !is_long && word[2] != '\0' ? word + 2 : NULL;
    if (option == NULL) {
        return unknown_option(command, word, length);
    }
    if (option->value == NULL && value != NULL) {
        return usage_error(command, "no value is allowed after", word, "", NULL);
    }
    if (option == &help_row) {
        show_help(command);
        return TOOL_HELP;
    }
    if (option->value != NULL && value == NULL) {
        if (*index + 1 >= count || strcmp(words[*index + 1], "--") == 0) {
            return usage_error(command, "a value is missing after", word, ": ", option->value);
        }
        value = words[++*index];
    }
    return set_option(command, option, target, word, value);
}

static int take_operands(const tool_command *command, int count, char **words, void *target,
                         const char **operands, int most)
{
    bool only_operands = false;
    int given = 0;
    for (int i = 0; i < count; i++) {
        if (!only_operands && strcmp(words[i], "--") == 0) {
            only_operands = true;
        } else if (!only_operands && words[i][0] == '-' && words[i][1] != '\0') {
            int result = take_option(command, count, words, &i, target);
            if (result != TOOL_OK) {
                return result;
            }
        } else if (given == most) {
            return usage_error(command, "unexpected argument", words[i], "", NULL);
        } else if (words[i][0] == '\0') {
            return usage_error(command, "an argument is empty;", "is the program running?", "", NULL);
        } else {
            operands[given++] = words[i];
        }
    }
    if (given < 2 && command->needed[given] != NULL) {
        return usage_error(command, "missing argument", command->needed[given], "", NULL);
    }
    return TOOL_OK;
}

bool take_words(const tool_command *command, int count, char **words, void *target,
                const char **operands, int most, int *result)
{
    *result = take_operands(command, count, words, target, operands, most);
    if (*result == TOOL_HELP) {
        *result = TOOL_OK;
        return false;
    }
    return *result == TOOL_OK;
}

int take_leading_words(const tool_command *command, int count, char **words, void *target,
                       int *result)
{
    int at = 0;
    *result = TOOL_OK;
    for (; at < count && words[at][0] == '-' && words[at][1] != '\0'; at++) {
        if (strcmp(words[at], "--") == 0) {
            at++;
            break;
        }
        *result = take_option(command, count, words, &at, target);
        if (*result != TOOL_OK) {
            *result = *result == TOOL_HELP ? TOOL_OK : *result;
            return -1;
        }
    }
    if (at < count) {
        return at;
    }
    *result = usage_error(command, "missing argument", command->needed[0], "", NULL);
    return -1;
}

bool choose(const choice *choices, const char *text, int *value)
{
    for (; choices->name != NULL; choices++) {
        if (strcmp(choices->name, text) == 0) {
            *value = choices->value;
            return true;
        }
    }
    return false;
}

/* >>setters */

const char *set_flag(void *field, const char *value)
{
    (void)value;
    *(bool *)field = true;
    return NULL;
}

const char *set_text(void *field, const char *value)
{
    *(const char **)field = value;
    return NULL;
}

const choice color_choices[] = {
    { "auto", COLOR_AUTO }, { "always", COLOR_ALWAYS }, { "never", COLOR_NEVER }, { NULL, 0 }
};

const char *set_color(void *field, const char *value)
{
    return choose(color_choices, value, (int *)field) ? NULL : "expected auto, always or never";
}

const char *set_rows(void *field, const char *value)
{
    bool ok = read_count(value, 1, 1000000, (uint64_t *)field);
    return ok ? NULL : "expected a number of rows from 1 to 1000000";
}

const char *set_duration(void *field, const char *value)
{
    return read_duration(value, (uint64_t *)field)
           ? NULL : "expected a duration such as 500us or 20ms";
}
