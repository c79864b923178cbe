/* folded.c - see folded.h */

#include "folded.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "paths.h"
#include "shares.h"
#include "stacks.h"

typedef struct folded {
    const profile_text *profile;
    FILE *out;
    path_tree paths;
    stack_tree stacks;
    share_list shares;
    size_t *chain;             /* as deep as any */
} folded;

/* Where the end of a name begins that holds nothing but blanks, digits and points. */
static const char *folded_tail(const char *name)
{
    const char *tail = name;
    for (; *name != '\0'; name++) {
        unsigned char c = (unsigned char)*name;
        if (c > ' ' && c != 0x7F && c != '.' && (c < '0' || c > '9')) {
            tail = name + 1;
        }
    }
    return tail;
}

static void folded_bytes(FILE *out, const char *name)
{
    const char *tail = folded_tail(name);
    for (; *name != '\0'; name++) {
        unsigned char c = (unsigned char)*name;
        const unsigned char *s = (const unsigned char *)name;
        bool control = s[0] == 0xC2 && s[1] >= 0x80 && s[1] < 0xA0;
        bool ends_line = s[0] == 0xE2 && s[1] == 0x80 && (s[2] == 0xA8 || s[2] == 0xA9);
        if (c <= ' ' || c == 0x7F || control || ends_line) {
            (void)fputc(name >= tail ? '_' : ' ', out);
            name += control ? 1 : ends_line ? 2 : 0;
        } else {
            (void)fputc(c == ';' ? ':' : c, out);
        }
    }
}

static void folded_frame(folded *f, json_text name)
{
    char *plain = json_plain(name);
    (void)fputc(';', f->out);
    folded_bytes(f->out, plain != NULL && *plain != '\0' ? plain : "(empty)");
    free(plain);
}

static void folded_root(folded *f)
{
    char *plain = json_plain(json_inside(f->profile->name));
    folded_bytes(f->out, plain != NULL && *plain != '\0' ? plain : "loop");
    free(plain);
}

/* The sites of a path from its root down. */
static void folded_path(folded *f, size_t path)
{
    size_t depth = 0;
    for (; path != SIZE_MAX; path = f->paths.rows[path].parent) {
        f->chain[depth++] = path;
    }
    while (depth-- > 0) {
        folded_frame(f, f->paths.rows[f->chain[depth]].name);
    }
}

static bool folded_code(folded *f, const stack_frame *frame)
{
    stack_calls c;
    if (!stack_slice_calls(f->profile, &f->stacks, frame, &c)) {
        return false;
    }
    while (c.count-- > 0) {
        json_text name = c.calls[c.count].name;
        folded_frame(f, name.length > 0 ? name : frame->module);
    }
    return true;
}

/* The functions that ran for the task of a stack, the outermost first. */
static bool folded_stack(folded *f, size_t frame)
{
    size_t depth = 0;
    if (frame == SHARE_OFF_CPU) {
        folded_frame(f, json_word(SHARE_OFF_CPU_NAME));
        return true;
    }
    for (; frame != SIZE_MAX && !f->stacks.frames[frame].task;
         frame = f->stacks.frames[frame].parent) {
        f->chain[depth++] = frame;
    }
    while (depth-- > 0) {
        const stack_frame *at = &f->stacks.frames[f->chain[depth]];
        if (at->native ? !folded_code(f, at) : (folded_frame(f, at->name), false)) {
            return false;
        }
    }
    return true;
}

static void folded_value(folded *f, uint64_t us)
{
    (void)fprintf(f->out, " %" PRIu64 "\n", us);
}

static void folded_idle(folded *f)
{
    if (f->paths.idle >= 1000) {
        folded_root(f);
        folded_frame(f, json_word("(idle)"));
        folded_value(f, f->paths.idle / 1000);
    }
}

static bool folded_rows(folded *f)
{
    uint64_t blame;
    for (size_t i = 0; i < f->shares.count; i++) {
        const share_row *row = &f->shares.rows[i];
        if (row->exec == 0) {
            continue;
        }
        folded_root(f);
        if (row->path < f->paths.count) {
            folded_path(f, row->path);
        } else {
            folded_frame(f, share_other(&f->paths, row->path, &blame));
        }
        if (!folded_stack(f, row->frame)) {
            return false;
        }
        folded_value(f, row->exec);
    }
    folded_idle(f);
    return true;
}

/* Each path is floored to microseconds before it is divided, so that its sum is that of the
 * header's own format. */
static bool folded_read(folded *f)
{
    if (!paths_read(&f->paths, f->profile) || !stacks_read(&f->stacks, f->profile)) {
        return false;
    }
    for (size_t i = 0; i < f->paths.count; i++) {
        f->paths.rows[i].exec /= 1000;
    }
    f->paths.loop /= 1000;
    f->paths.untracked /= 1000;
    f->chain = (size_t *)calloc(f->paths.count + f->stacks.count + 1, sizeof *f->chain);
    return f->chain != NULL && shares_read(&f->shares, &f->paths, &f->stacks, 1000);
}

bool folded_write(const profile_text *p, FILE *out)
{
    folded f;
    bool ok;
    memset(&f, 0, sizeof f);
    f.profile = p;
    f.out = out;
    ok = folded_read(&f) && folded_rows(&f);
    paths_free(&f.paths);
    stacks_free(&f.stacks);
    shares_free(&f.shares);
    free(f.chain);
    return ok;
}
