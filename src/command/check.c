/* check.c - chroprof check: holds every law against a profile in a file. */

#include "../../chroprof.h"
#include "block.h"
#include "commands.h"
#include "message.h"
#include "options.h"

static const char check_text[] =
    "\n"
    "If the profile opens and every law and invariant holds, this prints nothing and\n"
    "returns 0. Otherwise it names the first one that is broken.\n"
    "\n"
    "examples:\n"
    "  chroprof check server.chroprof.prev\n";

static int check_run(const tool_command *command, int count, char **words)
{
    static block_file file;
    const char *source;
    const char *broken;
    int result;
    if (!take_words(command, count, words, NULL, &source, 1, &result)) {
        return result;
    }
    if (!block_open(&file, source)) {
        return TOOL_INPUT;
    }
    broken = chroprof_check(&file.view);
    if (broken != NULL) {
        tool_message("%s: the profile is not consistent: %s", file.name, broken);
    }
    block_close(&file);
    return broken == NULL ? TOOL_OK : TOOL_INPUT;
}

const tool_command check_command = {
    "check", "FILE|PID|-", { "FILE or PID" },
    "Verifies that a profile in a file is consistent.",
    check_text, NULL, 0, check_run
};
