/* completion.c - what a shell needs to complete the words of this command, written from the same
 * tables as the help. */

#include <stdio.h>
#include <string.h>

#include "../../chroprof.h"
#include "commands.h"
#include "message.h"
#include "options.h"

/* >>words: what stands where */

/* What an operand of a subcommand or the value of an option is. */
typedef enum word_kind { ANY_WORD, A_FILE, A_FOLDER, A_PROFILE, A_PROGRAM, A_SHELL } word_kind;

static word_kind operand_kind(const tool_command *command)
{
    return command == &attach_command ? ANY_WORD
           : command == &run_command ? A_PROGRAM : command == &completion_command ? A_SHELL
           : command == &replay_command ? A_FILE : A_PROFILE;
}

static word_kind value_kind(const tool_option *option)
{
    static const char *const files[] = { "OUT", "FILE", "PAGE", "HTML", "A" };
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        if (strcmp(option->value, files[i]) == 0) {
            return A_FILE;
        }
    }
    return strcmp(option->value, "DIR") == 0 ? A_FOLDER : ANY_WORD;
}

/* The inside of a text in single quotes: newlines are blanks, each of `escaped` has a backslash
 * before it, and `quote` stands for a single quote. */
static void put_quoted(const char *text, const char *escaped, const char *quote)
{
    for (; *text != '\0'; text++) {
        if (*text == '\'') {
            (void)fputs(quote, stdout);
            continue;
        }
        if (strchr(escaped, *text) != NULL) {
            (void)putchar('\\');
        }
        (void)putchar(*text == '\n' ? ' ' : *text);
    }
}

static void put_choices(const choice *choices)
{
    for (const char *blank = ""; choices->name != NULL; choices++, blank = " ") {
        (void)printf("%s%s", blank, choices->name);
    }
}

/* --name and -x of an option, with `between` where both are. */
static void put_names(const tool_option *option, const char *between)
{
    (void)printf("--%s", option->name);
    if (option->letter != '\0') {
        (void)printf("%s-%c", between, option->letter);
    }
}

static void put_commands(void)
{
    for (size_t i = 0; i < tool_command_count; i++) {
        (void)printf("%s ", tool_commands[i]->name);
    }
}

/* >>bash */

static void bash_options(const tool_command *command)
{
    const tool_option *option;
    (void)printf("    %s)\n        options=\"", command->name);
    for (size_t i = 0; (option = option_at(command, i)) != NULL; i++) {
        (void)fputs(i > 0 ? " " : "", stdout);
        put_names(option, " ");
    }
    (void)fputs("\"\n        values=\"", stdout);
    for (size_t i = 0; (option = option_at(command, i)) != NULL; i++) {
        if (option->value != NULL) {
            put_names(option, " ");
            (void)putchar(' ');
        }
    }
    (void)fputs("\"\n        case $before in\n", stdout);
    for (size_t i = 0; (option = option_at(command, i)) != NULL; i++) {
        if (option->choices != NULL) {
            (void)fputs("        ", stdout);
            put_names(option, "|");
            (void)fputs(") words=\"", stdout);
            put_choices(option->choices);
            (void)fputs("\" ;;\n", stdout);
        }
    }
    (void)fputs("        esac\n        ;;\n", stdout);
}

static const char bash_head[] =
    "\"\n"
    "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}\n"
    "    local options= values= words= i\n"
    "    COMPREPLY=()\n"
    "    if [ \"$word\" = = ]; then word=        # --option=value is three words here\n"
    "    elif [ \"$before\" = = ]; then before=${COMP_WORDS[COMP_CWORD-2]}; fi\n"
    "    if [ \"$COMP_CWORD\" = 1 ]; then\n"
    "        COMPREPLY=($(compgen -W \"$commands help --help --version\" -- \"$word\"))\n"
    "        return\n"
    "    fi\n"
    "    case ${COMP_WORDS[1]} in\n"
    "    help) words=$commands ;;\n";

/* No answer means that the shell completes the name of a file. */
static const char bash_end[] =
    "    esac\n"
    "    if [ -n \"$words\" ]; then\n"
    "        COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
    "        return\n"
    "    fi\n"
    "    case \" $values \" in *\" $before \"*) return ;; esac\n"
    "    case ${COMP_WORDS[1]} in\n"
    "    run)                                   # the words of a program are its own\n"
    "        for ((i = 2; i < COMP_CWORD; i++)); do\n"
    "            case ${COMP_WORDS[i]} in\n"
    "            -*) ;;\n"
    "            *) break ;;\n"
    "            esac\n"
    "            case \" $values \" in\n"
    "            *\" ${COMP_WORDS[i]} \"*)\n"
    "                i=$((i + 1))\n"
    "                [ \"${COMP_WORDS[i]}\" != = ] || i=$((i + 1))\n"
    "                ;;\n"
    "            esac\n"
    "        done\n"
    "        if [ \"$i\" -lt \"$COMP_CWORD\" ]; then\n"
    "            ! declare -F _command_offset >/dev/null || _command_offset \"$i\"\n"
    "            return\n"
    "        fi\n"
    "        case $word in\n"
    "        -* | */*) ;;\n"
    "        *) COMPREPLY=($(compgen -c -- \"$word\")) ;;\n"
    "        esac\n"
    "        ;;\n"
    "    completion) COMPREPLY=($(compgen -W 'bash zsh fish' -- \"$word\")) ;;\n"
    "    replay) ;;\n"
    "    *)\n"
    "        case $word in\n"
    "        [0-9]*) COMPREPLY=($(compgen -W \"$(ps -e -o pid= 2>/dev/null)\" -- \"$word\")) ;;\n"
    "        esac\n"
    "        ;;\n"
    "    esac\n"
    "    case $word in\n"
    "    -*) COMPREPLY=($(compgen -W \"$options\" -- \"$word\")) ;;\n"
    "    esac\n"
    "}\n"
    "complete -o bashdefault -o default -F _chroprof chroprof\n";

static void write_bash(void)
{
    (void)puts("# bash completion of chroprof " CHROPROF_VERSION ", by chroprof completion bash");
    (void)fputs("_chroprof()\n{\n    local commands=\"", stdout);
    put_commands();
    (void)fputs(bash_head, stdout);
    for (size_t i = 0; i < tool_command_count; i++) {
        bash_options(tool_commands[i]);
    }
    (void)fputs(bash_end, stdout);
}

/* >>zsh */

static const char *zsh_action(word_kind kind)
{
    static const char *const actions[] = {
        " ", "_files", "_files -/", "_chroprof_profiles", "_command_names -e", "(bash zsh fish)"
    };
    return actions[kind];
}

static void zsh_option(const tool_option *option)
{
    const char *takes = option->value != NULL ? "=" : "";
    bool again = strcmp(option->name, "set") == 0;
    (void)fputs("            '", stdout);
    if (again) {
        (void)fputs("*", stdout);
    }
    if (option->letter != '\0') {
        (void)printf("(-%c --%s)'{-%c%s,--%s%s}'", option->letter, option->name, option->letter,
                     option->value != NULL ? "+" : "", option->name, takes);
    } else {
        (void)printf("--%s%s", option->name, takes);
    }
    (void)putchar('[');
    put_quoted(option->help, "[]", "'\\''");
    (void)putchar(']');
    if (option->choices != NULL) {
        (void)printf(":%s:(", option->value);
        put_choices(option->choices);
        (void)putchar(')');
    } else if (option->value != NULL) {
        (void)printf(":%s:%s", option->value, zsh_action(value_kind(option)));
    }
    (void)puts("' \\");
}

static void zsh_command(const tool_command *command)
{
    const tool_option *option;
    word_kind kind = operand_kind(command);
    (void)printf("    %s)\n        _arguments -s -S \\\n", command->name);
    for (size_t i = 0; (option = option_at(command, i)) != NULL; i++) {
        zsh_option(option);
    }
    (void)printf("            '%s:%s:%s'%s\n        ;;\n", kind == A_PROGRAM ? "(-)1" : "*",
                 kind == A_PROGRAM ? "program" : kind == A_SHELL ? "shell" : "profile",
                 zsh_action(kind), kind == A_PROGRAM ? " '*::arguments:_normal'" : "");
}

static void write_zsh(void)
{
    (void)puts("#compdef chroprof\n"
               "# zsh completion of chroprof " CHROPROF_VERSION ", by chroprof completion zsh\n"
               "_chroprof_profiles()\n"
               "{\n"
               "    if [[ $PREFIX = [0-9]* ]]; then _pids; else _files; fi\n"
               "}\n"
               "_chroprof()\n"
               "{\n"
               "    local -a commands\n"
               "    commands=(");
    for (size_t i = 0; i < tool_command_count; i++) {
        (void)printf("        '%s:", tool_commands[i]->name);
        put_quoted(tool_commands[i]->summary, ":", "'\\''");
        (void)puts("'");
    }
    (void)puts("        'help:Shows the help of a command.'\n"
               "    )\n"
               "    if ((CURRENT == 2)); then\n"
               "        _describe -t commands command commands\n"
               "        _arguments --help'[shows the help]' --version'[shows the version]'\n"
               "        return\n"
               "    fi\n"
               "    shift words\n"
               "    ((CURRENT--))\n"
               "    case $words[1] in\n"
               "    help) _describe -t commands command commands ;;");
    for (size_t i = 0; i < tool_command_count; i++) {
        zsh_command(tool_commands[i]);
    }
    (void)puts("    esac\n"
               "}\n"
               "_chroprof \"$@\"");
}

/* >>fish */

static void fish_option(const char *command, const tool_option *option)
{
    (void)printf("complete -c chroprof -n '__chroprof_is %s'", command);
    if (option->letter != '\0') {
        (void)printf(" -s %c", option->letter);
    }
    (void)printf(" -l %s", option->name);
    if (option->choices != NULL) {
        (void)fputs(" -x -a '", stdout);
        put_choices(option->choices);
        (void)putchar('\'');
    } else if (option->value != NULL) {
        (void)fputs(value_kind(option) == ANY_WORD ? " -x" : " -r", stdout);
    }
    (void)fputs(" -d '", stdout);
    put_quoted(option->help, "\\", "\\'");
    (void)puts("'");
}

/* The words of a program are completed as if they stood alone. */
static void fish_program(const tool_command *command)
{
    const tool_option *option;
    (void)fputs(" -a '(__fish_complete_subcommand --fcs-skip=2", stdout);
    for (size_t i = 0; (option = option_at(command, i)) != NULL; i++) {
        if (option->value != NULL) {
            (void)putchar(' ');
            put_names(option, " ");
        }
    }
    (void)fputs(")'", stdout);
}

static void fish_operands(const tool_command *command)
{
    word_kind kind = operand_kind(command);
    (void)printf("complete -c chroprof -n '__chroprof_is %s'", command->name);
    if (kind == A_PROGRAM) {
        fish_program(command);
    } else if (kind == A_PROFILE) {
        (void)fputs(" -a '(string match -qr \"^[0-9]\" -- (commandline -ct); and "
                    "__fish_complete_pids)'", stdout);
    } else if (kind == A_SHELL) {
        (void)fputs(" -f -a 'bash zsh fish'", stdout);
    }
    (void)putchar('\n');
}

static void fish_command(const tool_command *command)
{
    const tool_option *option;
    (void)printf("complete -c chroprof -n __fish_use_subcommand -f -a %s -d '", command->name);
    put_quoted(command->summary, "\\", "\\'");
    (void)puts("'");
    for (size_t i = 0; (option = option_at(command, i)) != NULL; i++) {
        fish_option(command->name, option);
    }
    fish_operands(command);
}

static void write_fish(void)
{
    (void)puts("# fish completion of chroprof " CHROPROF_VERSION ", by chroprof completion fish\n"
               "function __chroprof_is\n"
               "    set -l words (commandline -opc)\n"
               "    test (count $words) -gt 1; and contains -- $words[2] $argv\n"
               "end\n"
               "complete -c chroprof -n __fish_use_subcommand -f -l help -s h -d 'shows the help'\n"
               "complete -c chroprof -n __fish_use_subcommand -f -l version -s V "
                "-d 'shows the version'\n"
               "complete -c chroprof -n __fish_use_subcommand -f -a help -d "
               "'Shows the help of a command.'");
    for (size_t i = 0; i < tool_command_count; i++) {
        fish_command(tool_commands[i]);
    }
    (void)fputs("complete -c chroprof -n '__chroprof_is help' -f -a '", stdout);
    put_commands();
    (void)puts("'");
}

/* >>command */

static int completion_run(const tool_command *command, int count, char **words)
{
    static const struct { const char *name; void (*write)(void); } shells[] = {
        { "bash", write_bash }, { "zsh", write_zsh }, { "fish", write_fish }
    };
    const char *shell = NULL;
    int result;
    if (!take_words(command, count, words, NULL, &shell, 1, &result)) {
        return result;
    }
    for (size_t i = 0; i < sizeof shells / sizeof shells[0]; i++) {
        if (strcmp(shells[i].name, shell) == 0) {
            shells[i].write();
            return TOOL_OK;
        }
    }
    tool_line("chroprof completion: %s: expected bash, zsh or fish", shell);
    return TOOL_USAGE;
}

static const char completion_text[] =
    "\n"
    "make install puts them where the shells look for them. To try them in this\n"
    "shell, or to install them by hand:\n"
    "\n"
    "examples:\n"
    "  . <(chroprof completion bash)\n"
    "  chroprof completion zsh >~/.zfunc/_chroprof\n"
    "  chroprof completion fish >~/.config/fish/completions/chroprof.fish\n";

const tool_command completion_command = {
    "completion", "bash|zsh|fish", { "SHELL" },
    "Writes the completions of this command for a shell.",
    completion_text, NULL, 0, completion_run
};
