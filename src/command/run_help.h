/* run_help.h - what chroprof run --help says below its options' line */

#ifndef COMMAND_RUN_HELP_H
#define COMMAND_RUN_HELP_H

extern const char run_text[];

#endif
