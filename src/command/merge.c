/* merge.c - chroprof merge: many profiles that lie in files become one, in memory that does
 * not depend on how many there are. */

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../chroprof.h"
#include "block.h"
#include "capacity.h"
#include "commands.h"
#include "content.h"
#include "formats.h"
#include "hide.h"
#include "input.h"
#include "message.h"
#include "options.h"
#include "output.h"

typedef struct merging {
    format_options out;
    chroprof_options options;
    bool strict;
    uint64_t merged, failed;
    chroprof profile;
    void *memory;
} merging;

/* >>merge input */

/* Adds what was opened, if its own laws hold. */
static bool merge_view(merging *m, const block_file *file)
{
    chroprof_result result;
    const char *broken = chroprof_check(&file->view);
    if (broken != NULL) {
        tool_message("%s: the profile is not consistent: %s", file->name, broken);
        return false;
    }
    result = chroprof_merge(&m->profile, &file->view);
    if (result != CHROPROF_OK) {
        tool_message("%s: %s", file->name, chroprof_result_text(result));
    }
    return result == CHROPROF_OK;
}

/* One file or process. What can't be read is named and left out. */
static void merge_one(merging *m, const char *name)
{
    static block_file file;
    if (block_open(&file, name) && merge_view(m, &file)) {
        m->merged++;
    } else {
        m->failed++;
    }
    block_close(&file);
}

/* Somebody may give a profile in place of the list; said once, in place of many missing files. */
static bool is_profile_itself(const char *list, const char *line, size_t length)
{
    content got = content_of(line, length);
    bool is_it = got == CONTENT_BLOCK || (got == CONTENT_JSON && access(line, F_OK) != 0);
    if (is_it) {
        tool_message("%s: this is a profile, not a list of names; give it as FILE",
                     list);
    }
    return is_it;
}

/* A name a line; empty lines are passed over. */
static bool merge_list(merging *m, const char *list)
{
    bool standard = strcmp(list, "-") == 0;
    FILE *names = standard ? stdin : fopen(list, "r");
    const char *name = standard ? "(standard input)" : list;
    char *line = NULL;
    size_t room = 0;
    ssize_t length;
    bool good = names != NULL;
    bool refused = false;
    while (good && !(m->strict && m->failed > 0) && (length = getline(&line, &room, names)) > 0) {
        line[strcspn(line, "\r\n")] = '\0';
        refused = is_profile_itself(name, line, (size_t)length);
        if (refused) {
            break;
        }
        if (line[0] != '\0') {
            merge_one(m, line);
        }
    }
    good = good && ferror(names) == 0;
    if (!good) {
        tool_message("%s: %s", name, input_problem(errno));
    }
    if (names != NULL && !standard) {
        (void)fclose(names);
    }
    free(line);
    return good && !refused;
}

/* False: nothing is to be written. */
static bool merge_operands(merging *m, const char *const *operands)
{
    for (int i = 0; operands[i] != NULL && !(m->strict && m->failed > 0); i++) {
        const char *name = operands[i];
        bool list = strcmp(name, "-") == 0 || name[0] == '@';
        if (!list) {
            merge_one(m, name);
        } else if (!merge_list(m, name[0] == '@' ? name + 1 : name)) {
            m->failed++;
        }
    }
    if (m->failed > 0) {
        tool_message("%" PRIu64 " profile%s merged, %" PRIu64 " left out", m->merged,
                     m->merged == 1 ? "" : "s", m->failed);
    }
    return m->merged > 0 && !(m->strict && m->failed > 0);
}

/* >>merge output */

static uint32_t merge_used(const chroprof_table *tables, chroprof_table_kind kind)
{
    return tables[kind].used > 0 ? (uint32_t)tables[kind].used : 1;
}

/* Capacities that just hold what is there, so that the file is no larger than need be. */
static chroprof_options merge_tight(const merging *m)
{
    chroprof_options o = m->options;
    chroprof_table tables[CHROPROF_TABLE_COUNT];
    (void)chroprof_tables(&m->profile, tables, CHROPROF_TABLE_COUNT);
    o.max_sites = merge_used(tables, CHROPROF_TABLE_SITES);
    o.max_paths = merge_used(tables, CHROPROF_TABLE_PATHS);
    o.max_edges = merge_used(tables, CHROPROF_TABLE_EDGES);
    o.max_histograms = merge_used(tables, CHROPROF_TABLE_HISTOGRAMS);
    o.string_bytes = merge_used(tables, CHROPROF_TABLE_STRINGS);
    o.max_samples = merge_used(tables, CHROPROF_TABLE_SAMPLES);
    o.max_stack_frames = merge_used(tables, CHROPROF_TABLE_STACKS) + 1;
    return o;
}

/* Has the caller this file open for writing, as behind /dev/stdout? */
static bool merge_is_open(const struct stat *file)
{
    bool open = false;
    for (int fd = 0; fd < 256 && !open; fd++) {
        struct stat facts;
        open = fstat(fd, &facts) == 0 && facts.st_dev == file->st_dev &&
               facts.st_ino == file->st_ino && (fcntl(fd, F_GETFL) & O_ACCMODE) != O_RDONLY;
    }
    return open;
}

/* The file that a rename may replace, to be freed. NULL: OUT must stay what it is, for it is a
 * device, a pipe, open already or a link that leads nowhere. */
static char *merge_replaced(const char *out, mode_t *mode)
{
    struct stat facts;
    bool link = lstat(out, &facts) == 0 && S_ISLNK(facts.st_mode);
    bool there = stat(out, &facts) == 0;
    *mode = there ? facts.st_mode & 0777 : 0;
    if (!link) {
        return !there || S_ISREG(facts.st_mode) ? strdup(out) : NULL;
    }
    return there && S_ISREG(facts.st_mode) && !merge_is_open(&facts) ? realpath(out, NULL) : NULL;
}

/* The block goes beside its file by another name first, so that nobody reads half of it and the
 * old one outlives a failure; behind a link, too, which stays one. */
static int merge_write(const char *out, const void *block, size_t size)
{
    char part[4096];
    mode_t mode;
    FILE *file;
    bool good;
    char *replaced = merge_replaced(out, &mode);
    (void)snprintf(part, sizeof part, "%s.part.%ld", replaced != NULL ? replaced : "", (long)getpid());
    file = replaced != NULL ? fopen(part, "wbx") : fopen(out, "wb");
    if (file != NULL && replaced != NULL && mode != 0) {
        (void)fchmod(fileno(file), mode);
    }
    good = file != NULL && fwrite(block, 1, size, file) == size;
    good = file != NULL && fclose(file) == 0 && good;
    good = good && (replaced == NULL || rename(part, replaced) == 0);
    if (!good) {
        tool_message("%s: %s", out, strerror(errno));
        if (replaced != NULL && file != NULL) {
            (void)unlink(part);
        }
    }
    free(replaced);
    return good ? TOOL_OK : TOOL_INPUT;
}

static int merge_block(merging *m)
{
    chroprof_options o = merge_tight(m);
    size_t size = chroprof_memory_size(&o);
    void *block = calloc(1, size);
    chroprof tight;
    int result = TOOL_INPUT;
    if (block == NULL || chroprof_init(&tight, block, size, &o) != CHROPROF_OK ||
        chroprof_merge(&tight, &m->profile) != CHROPROF_OK) {
        tool_message("not enough memory for a block of %zu bytes", size);
    } else {
        result = merge_write(m->out.out, block, size);
    }
    free(block);
    return result;
}

static bool merge_report(void *user, FILE *out)
{
    merging *m = (merging *)user;
    return write_view(&m->out, &m->profile, "", false, out);
}

static int merge_output(merging *m)
{
    const char *name = m->out.out;
    if (!output_is_stdout(name) && block_is_owned(name)) {
        return TOOL_INPUT;
    }
    return m->out.given || output_is_stdout(name) ? output_write(name, merge_report, m)
                                                  : merge_block(m);
}

/* >>merge run */

static const char merge_text[] =
    "\n"
    "FILE is a profile of chroprof_map or chroprof run -o. A number that is not the\n"
    "name of a file is a process. - reads names from standard input, @LIST from a\n"
    "file, one per line. Sites with the same name, file and line become one; paths\n"
    "are matched by their chains of sites. Times and counts add up. Percentiles are\n"
    "those of all profiles, within 1/8. The windows and stalls of a profile follow\n"
    "those of the one before. Memory does not depend on the number of files.\n"
    "\n"
    "Without --format OUT is a profile again: it can be merged, dumped and compared.\n"
    "Without OUT the report of the merged profile goes to standard output.\n"
    "\n"
    "exit codes: 0 done, 1 a profile was left out or OUT can't be written, 2 wrong\n"
    "usage\n"
    "\n"
    "examples:\n"
    "  chroprof merge loop1.chroprof loop2.chroprof\n"
    "  find /var/lib/fleet -name '*.chroprof' | chroprof merge - -o fleet.chroprof\n"
    "  chroprof merge @monday.list --format pprof -o monday.pb\n";

static const tool_option merge_options[] = {
    FORMAT_OUT(merging, out),
    { "format", 'f', "FORMAT", "text, json, folded, prometheus, prometheus-all,\n"
      "pprof, firefox or trace instead of a block", set_format, offsetof(merging, out), format_choices },
    FORMAT_TEXT(merging, out),
    { "strict", '\0', NULL, "stop at the first profile that can't be read, write\nnothing",
      set_flag, offsetof(merging, strict), NULL },
    HIDE_IDS,
    { "set", '\0', "OPTION=N", "capacity of one table, such as max_paths=100000; the\n"
      "report names the option of a full table", set_capacity,
      offsetof(merging, options), NULL },
    { "window", '\0', "TIME", "first width of the time windows; it doubles when their\n"
      "table is full (default 100ms)", set_duration, offsetof(merging, options.window_ns), NULL },
    { "name", '\0', "NAME", "name of the profile (default: merged)", set_text,
      offsetof(merging, options.name), NULL }
};

/* What is given stays; the rest is room for large programs. */
static void merge_room(chroprof_options *o)
{
    const struct { uint32_t *option, value; } rooms[] = {
        { &o->max_futures, 1 }, { &o->max_depth, 1 }, { &o->max_sites, 4096 },
        { &o->max_paths, 32768 }, { &o->max_edges, 65536 }, { &o->max_histograms, 1024 },
        { &o->max_windows, 240 }, { &o->max_stalls, 64 }, { &o->string_bytes, 1 << 19 },
        { &o->max_samples, 4096 }, { &o->max_stack_frames, 1 << 15 }, { &o->max_slow, 256 },
        { &o->max_incidents, 64 }
    };
    for (size_t i = 0; i < sizeof rooms / sizeof rooms[0]; i++) {
        if (*rooms[i].option == 0) {
            *rooms[i].option = rooms[i].value;
        }
    }
    o->clock = chroprof_clock_manual;
    if (o->name == NULL) {
        o->name = "merged";
    }
}

/* The profile that the others are added to. */
static bool merge_begin(merging *m)
{
    chroprof_result result = CHROPROF_ERR_LIMIT;
    size_t size;
    merge_room(&m->options);
    size = chroprof_memory_size(&m->options);
    if (size > 0) {
        m->memory = malloc(size);
        result = chroprof_init(&m->profile, m->memory, size, &m->options);
    }
    if (result != CHROPROF_OK) {
        tool_message("%s (see --set)", m->memory == NULL && size > 0
                                           ? "not enough memory" : chroprof_result_text(result));
    }
    return result == CHROPROF_OK;
}

static int merge_files(merging *m, const char *const *operands)
{
    int result = TOOL_USAGE;
    if (merge_begin(m)) {
        result = merge_operands(m, operands) ? merge_output(m) : TOOL_INPUT;
        result = result == TOOL_OK && m->failed > 0 ? TOOL_INPUT : result;
    }
    free(m->memory);
    return result;
}

static int merge_run(const tool_command *command, int count, char **words)
{
    static merging m;
    const char **operands = (const char **)calloc((size_t)count + 1, sizeof *operands);
    int result = TOOL_INPUT;
    if (operands == NULL) {
        tool_message("%s", strerror(errno));
        return result;
    }
    input_must_be_file();
    if (take_words(command, count, words, &m, operands, count, &result)) {
        result = m.out.given && !format_is_readable(&m.out) ? TOOL_USAGE : merge_files(&m, operands);
    }
    free(operands);
    return result;
}

const tool_command merge_command = {
    "merge", "FILE|PID|@LIST|- ... [-o OUT]", { "FILE, PID, @LIST or -" },
    "Adds up the profiles of many loops, processes or machines.",
    merge_text, OPTIONS_OF(merge_options), merge_run
};
