/* dump.c - chroprof dump: reports a profile that lies in a file, or in a process. */

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "../../chroprof.h"
#include "block.h"
#include "commands.h"
#include "formats.h"
#include "gain.h"
#include "hide.h"
#include "message.h"
#include "options.h"
#include "origin.h"
#include "output.h"
#include "profile.h"
#include "symbolize.h"
#include "values.h"

typedef struct dump {
    const char *source;        /* operand */
    format_options out;
    uint64_t for_ns;           /* only what happens in the next ns; 0: all */
    profile_text profile;
} dump;

/* Waits, and leaves of the profile what happened meanwhile. */
static bool dump_wait(block_file *file, uint64_t ns)
{
    const struct timespec pause = { (time_t)(ns / 1000000000u), (long)(ns % 1000000000u) };
    void *copy = file->copy;
    chroprof older = file->view;
    chroprof_result result;
    (void)nanosleep(&pause, NULL);
    file->copy = NULL;
    errno = 0;
    result = block_read(file);
    if (result == CHROPROF_OK) {
        result = chroprof_difference(&file->view, &older, file->copy, file->size);
    }
    if (result == CHROPROF_OK) {
        result = block_view(file);
    }
    free(copy);
    if (result != CHROPROF_OK) {
        tool_message("%s: after the wait: %s", file->name, block_problem(file, result));
    }
    return result == CHROPROF_OK;
}

static const char *set_for(void *field, const char *value)
{
    uint64_t *ns = (uint64_t *)field;
    bool ok = read_seconds(value, ns) && *ns > 0 && *ns <= UINT64_C(86400000000000);
    return ok ? NULL : "expected a number of seconds, at most 86400";
}

static const char dump_text[] =
    "\n"
    "A number that is not the name of a file is a process, whose profile is read. If\n"
    "it has several, give one of their files. - is standard input. The state of the\n"
    "program, and what it runs, go to standard error.\n"
    "\n"
    "JSON works as input for --format json, folded, pprof, firefox and trace. In\n"
    "these formats sampled code has functions and lines. In folded and pprof the\n"
    "exact time of a task is divided by the samples of its code. By CPU time they\n"
    "know nothing of the time that it slept: that stands under (off CPU).\n"
    "\n"
    "examples:\n"
    "  chroprof dump server.chroprof\n"
    "  chroprof dump $(pidof server) --format json -o now.json\n"
    "  chroprof dump server.chroprof --for 10 --format pprof -o 10s.pb\n"
    "  chroprof dump server.chroprof --hide-ids -f json -o for-others.json\n";

static const tool_option dump_options[] = {
    { "format", 'f', "FORMAT", "text (default), json, folded, prometheus,\n"
      "prometheus-all (every series), pprof, firefox or\ntrace", set_format,
      offsetof(dump, out), format_choices },
    FORMAT_OUT(dump, out),
    { "for", '\0', "SECONDS", "only what happens in the next SECONDS", set_for,
      offsetof(dump, for_ns), NULL },
    HIDE_IDS,
    FORMAT_TEXT(dump, out)
};

/* The profile as a block, or as text if that is what the format is made of. */
static bool dump_load(dump *run)
{
    profile_text *p = &run->profile;
    bool made = format_is_made(run->out.format);
    if (made && run->for_ns == 0) {
        return profile_load(p, run->source);
    }
    if (!block_open(&p->block, run->source)) {
        return false;
    }
    if (run->for_ns > 0 && p->block.stream) {
        tool_message("%s: --for needs a file or a process, because it reads it twice",
                     p->block.name);
        return false;
    }
    if (run->for_ns > 0 && !dump_wait(&p->block, run->for_ns)) {
        return false;
    }
    if (made) {
        return profile_of_block(p);
    }
    dump_origin(&p->block);
    return true;
}

static bool dump_made(void *user, FILE *out)
{
    const dump *run = (const dump *)user;
    return write_made(run->out.format, &run->profile, out);
}

/* Samples tell which code held the loop: that comes first. */
static bool dump_sampled(const chroprof *view)
{
    chroprof_sampler_totals s;
    chroprof_read_sampler(view, &s);
    return s.samples > 0;
}

static int dump_write(dump *run)
{
    const char *name = run->out.out;
    block_file *block = &run->profile.block;
    FILE *out;
    int result;
    if (!output_is_stdout(name) && block_is_owned(name)) {
        return TOOL_INPUT;
    }
    if (format_is_made(run->out.format)) {
        return profile_symbolize(&run->profile, NULL) &&
               (run->out.format != CHROPROF_JSON || gain_add(&run->profile, false))
               ? output_write(name, dump_made, run) : TOOL_INPUT;
    }
    run->out.causes = dump_sampled(&block->view);
    result = output_open(name, block->name, &out);
    return result != TOOL_OK ? result
           : output_close(name, out, write_view(&run->out, &block->view, block->name, true, out));
}

static int dump_run(const tool_command *command, int count, char **words)
{
    static dump run;
    int result;
    if (!take_words(command, count, words, &run, &run.source, 1, &result)) {
        return result;
    }
    result = !format_is_readable(&run.out) ? TOOL_USAGE
             : output_possible(run.out.out) && dump_load(&run) ? dump_write(&run) : TOOL_INPUT;
    profile_free(&run.profile);
    return result;
}

const tool_command dump_command = {
    "dump", "FILE|PID|- [options]", { "FILE or PID" },
    "Reports the profile of a program that runs or has ended.",
    dump_text, OPTIONS_OF(dump_options), dump_run
};
