/* tool.h - what every subcommand of chroprof uses: exit codes, messages, options, help.
 *
 * The files of examples/command are parts of examples/chroprof.c, which includes each of them
 * once, so that the command builds with one call of a C compiler. */

/* What the command returns. */
enum { TOOL_OK = 0, TOOL_INPUT = 1, TOOL_USAGE = 2 };

/* One option of a subcommand. set() stores the value (NULL for an option without one) in the
 * subcommand's own struct and returns NULL, or says what it would have taken. */
typedef struct tool_option {
    const char *name;          /* without the dashes */
    char letter;               /* '\0': none */
    const char *value;         /* how the help names its value; NULL: takes none */
    const char *help;          /* may hold newlines */
    const char *(*set)(void *target, const char *value);
} tool_option;

/* One subcommand. run() gets its options parsed into memory of its own choice. */
typedef struct tool_command {
    const char *name;
    const char *operands;      /* for the usage line */
    const char *summary;       /* one line */
    const char *text;          /* what its --help says below the options */
    const tool_option *options;
    size_t option_count;
    int (*run)(const struct tool_command *command, int count, char **words);
} tool_command;

/* Writes one line "chroprof: ..." on standard error. */
static void tool_message(const char *format, ...)
{
    va_list values;
    va_start(values, format);
    (void)fputs("chroprof: ", stderr);
    (void)vfprintf(stderr, format, values);
    (void)fputc('\n', stderr);
    va_end(values);
}

/* >>nearest: the name somebody probably meant */

#define NEAREST_LONGEST 32

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Insertions, deletions, changes and swaps of neighbours that turn a into b. */
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

/* A search for the nearest name among several. */
typedef struct nearest {
    const char *typed;
    size_t typed_length;
    const char *best;          /* NULL: nothing near enough */
    size_t best_score;
} nearest;

static nearest nearest_begin(const char *typed, size_t length)
{
    nearest search = { typed, length, NULL, length / 3 + 2 };
    return search;
}

static void nearest_try(nearest *search, const char *name)
{
    size_t score = nearest_score(search->typed, search->typed_length, name);
    if (score < search->best_score) {
        search->best = name;
        search->best_score = score;
    }
}

/* >>values: text to numbers. false if the text is no such value. */

static bool read_digits(const char **at, uint64_t *value)
{
    const char *start = *at;
    uint64_t sum = 0;
    for (; **at >= '0' && **at <= '9'; (*at)++) {
        uint64_t digit = (uint64_t)(**at - '0');
        if (sum > (UINT64_MAX - digit) / 10) {
            return false;
        }
        sum = sum * 10 + digit;
    }
    *value = sum;
    return *at != start;
}

static bool read_count(const char *text, uint64_t least, uint64_t most, uint64_t *value)
{
    return read_digits(&text, value) && *text == '\0' && *value >= least && *value <= most;
}

/* A number and one of the units; the factor of a missing unit is that of the unit "". */
typedef struct tool_unit {
    const char *name;
    uint64_t factor;
} tool_unit;

static bool read_with_unit(const char *text, const tool_unit *units, uint64_t *value)
{
    uint64_t number;
    if (!read_digits(&text, &number)) {
        return false;
    }
    for (; units->name != NULL; units++) {
        if (strcmp(text, units->name) == 0) {
            *value = number * units->factor;
            return number <= UINT64_MAX / units->factor;
        }
    }
    return false;
}

static bool read_size(const char *text, size_t *value)
{
    static const tool_unit units[] = {
        { "", 1 }, { "K", 1024 }, { "KiB", 1024 }, { "M", 1024 * 1024 }, { "MiB", 1024 * 1024 },
        { "G", 1024 * 1024 * 1024 }, { "GiB", 1024 * 1024 * 1024 }, { NULL, 0 }
    };
    uint64_t bytes;
    if (!read_with_unit(text, units, &bytes) || bytes > SIZE_MAX) {
        return false;
    }
    *value = (size_t)bytes;
    return true;
}

static bool read_duration(const char *text, uint64_t *ns)
{
    static const tool_unit units[] = {
        { "ns", 1 }, { "us", 1000 }, { "ms", 1000000 }, { "s", 1000000000 }, { NULL, 0 }
    };
    return read_with_unit(text, units, ns);
}

/* Seconds with or without decimals, or a number with one of the units above. */
static bool read_seconds(const char *text, uint64_t *ns)
{
    uint64_t whole;
    uint64_t part = 0;
    uint64_t unit = 1000000000;
    if (read_duration(text, ns)) {
        return true;
    }
    if (!read_digits(&text, &whole) || whole > 1000000000) {
        return false;
    }
    for (text += *text == '.'; *text >= '0' && *text <= '9' && unit > 1; text++) {
        unit /= 10;
        part += (uint64_t)(*text - '0') * unit;
    }
    *ns = whole * 1000000000 + part;
    return *text == '\0';
}

/* >>options */

static int usage_error(const tool_command *command, const char *problem, const char *word,
                       const char *hint, const char *meant)
{
    (void)fprintf(stderr, "chroprof %s: %s %s", command->name, problem, word);
    if (meant != NULL) {
        (void)fprintf(stderr, "%s%s", hint, meant);
    }
    (void)fprintf(stderr, " (see: chroprof %s --help)\n", command->name);
    return TOOL_USAGE;
}

static const tool_option *find_letter(const tool_command *command, char letter)
{
    for (size_t i = 0; i < command->option_count; i++) {
        if (command->options[i].letter == letter) {
            return &command->options[i];
        }
    }
    return NULL;
}

static const tool_option *find_name(const tool_command *command, const char *name, size_t length)
{
    for (size_t i = 0; i < command->option_count; i++) {
        const char *candidate = command->options[i].name;
        if (strlen(candidate) == length && memcmp(candidate, name, length) == 0) {
            return &command->options[i];
        }
    }
    return NULL;
}

static int unknown_option(const tool_command *command, const char *word, size_t length)
{
    nearest search = nearest_begin(word + 2, word[1] == '-' ? length - 2 : 0);
    for (size_t i = 0; word[1] == '-' && i < command->option_count; i++) {
        nearest_try(&search, command->options[i].name);
    }
    return usage_error(command, "unknown option", word, "; did you mean --", search.best);
}

static int set_option(const tool_command *command, const tool_option *option, void *target,
                      const char *word, const char *value)
{
    const char *expected = option->set(target, value);
    if (expected == NULL) {
        return TOOL_OK;
    }
    (void)fprintf(stderr, "chroprof %s: %s", command->name, word);
    if (value != NULL && strchr(word, '=') == NULL) {
        (void)fprintf(stderr, " %s", value);
    }
    (void)fprintf(stderr, ": %s (see: chroprof %s --help)\n", expected, command->name);
    return TOOL_USAGE;
}

/* Takes the option in words[*index] and, where it stands apart, its value behind it. */
static int take_option(const tool_command *command, int count, char **words, int *index,
                       void *target)
{
    const char *word = words[*index];
    bool is_long = word[1] == '-';
    const char *equals = is_long ? strchr(word, '=') : NULL;
    size_t length = equals != NULL ? (size_t)(equals - word) : strlen(word);
    const tool_option *option = is_long ? find_name(command, word + 2, length - 2)
                                        : find_letter(command, word[1]);
    const char *value = equals != NULL ? equals + 1 : NULL;
    if (option == NULL) {
        return unknown_option(command, word, length);
    }
    if (!is_long && word[2] != '\0') {
        value = word + 2;
    }
    if (option->value == NULL && value != NULL) {
        return usage_error(command, "no value is taken by", word, "", NULL);
    }
    if (option->value != NULL && value == NULL) {
        if (*index + 1 >= count) {
            return usage_error(command, "a value is missing after", word, ": ", option->value);
        }
        value = words[++*index];
    }
    return set_option(command, option, target, word, value);
}

/* Parses words[0..count): options go to target, the rest to operands. At most `most` operands. */
static int parse_words(const tool_command *command, int count, char **words, void *target,
                       const char **operands, int most, int *operand_count)
{
    bool only_operands = false;
    *operand_count = 0;
    for (int i = 0; i < count; i++) {
        if (!only_operands && strcmp(words[i], "--") == 0) {
            only_operands = true;
        } else if (!only_operands && words[i][0] == '-' && words[i][1] != '\0') {
            int result = take_option(command, count, words, &i, target);
            if (result != TOOL_OK) {
                return result;
            }
        } else if (*operand_count == most) {
            return usage_error(command, "one operand too many:", words[i], "", NULL);
        } else {
            operands[(*operand_count)++] = words[i];
        }
    }
    return TOOL_OK;
}

/* >>output */

/* The input has been read by now, so the output may have the same name. */
static int tool_output(const char *name, bool (*write)(void *user, FILE *out), void *user)
{
    bool to_stdout = name == NULL || strcmp(name, "-") == 0;
    FILE *out = to_stdout ? stdout : fopen(name, "wb");
    bool wrote;
    bool failed;
    if (out == NULL) {
        tool_message("%s: %s", name, strerror(errno));
        return TOOL_INPUT;
    }
    errno = 0;
    wrote = write(user, out);
    failed = fflush(out) != 0 || ferror(out);
    if (!to_stdout) {
        failed = fclose(out) != 0 || failed;
    }
    if (failed) {
        tool_message("%s: %s", to_stdout ? "(standard output)" : name, strerror(errno));
    }
    return wrote && !failed ? TOOL_OK : TOOL_INPUT;
}

/* >>help */

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

static void help_command(const tool_command *command)
{
    (void)printf("usage: chroprof %s %s\n\n%s\n", command->name, command->operands,
                 command->summary);
    if (command->option_count > 0) {
        (void)puts("\noptions:");
    }
    for (size_t i = 0; i < command->option_count; i++) {
        help_option(&command->options[i]);
    }
    (void)fputs(command->text, stdout);
}

/* After parse_words with that result: is there something to do? Not where it failed, where help was
 * asked for, which is shown, and where an operand is missing, of that name; *result is then what the
 * command returns. */
static bool shall_run(const tool_command *command, bool help, const char *missing, int *result)
{
    if (*result == TOOL_OK && help) {
        help_command(command);
        return false;
    }
    if (*result == TOOL_OK && missing != NULL) {
        *result = usage_error(command, "missing operand", missing, "", NULL);
    }
    return *result == TOOL_OK;
}
