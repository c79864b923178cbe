/* commands.h - the subcommands, each at the end of the file of its name: its options, its help and
 * what runs it. */

#ifndef COMMAND_COMMANDS_H
#define COMMAND_COMMANDS_H

#include "options.h"

/* All of them, in the order of the help. */
extern const tool_command *const tool_commands[];
extern const size_t tool_command_count;

extern const tool_command attach_command;
extern const tool_command check_command;
extern const tool_command completion_command;
extern const tool_command diff_command;
extern const tool_command dump_command;
extern const tool_command merge_command;
extern const tool_command record_command;
extern const tool_command replay_command;
extern const tool_command report_command;
extern const tool_command run_command;
extern const tool_command serve_command;
extern const tool_command symbolize_command;
extern const tool_command top_command;
extern const tool_command trace_command;
extern const tool_command whatif_command;

#endif
