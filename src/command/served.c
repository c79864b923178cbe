/* served.c - see served.h */

#include "served.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../chroprof.h"
#include "block.h"
#include "content.h"
#include "hash.h"
#include "input.h"
#include "json.h"
#include "message.h"
#include "origin.h"
#include "page.h"
#include "profile.h"
#include "symbolize.h"
#include "values.h"

/* >>served operands */

static bool served_keep(served *s, const char *name, const char *place, bool folder)
{
    served_operand *operand = &s->operands[s->count];
    operand->name = strdup(name);
    operand->place = strdup(place);
    operand->folder = folder;
    s->count++;
    if (operand->name == NULL || operand->place == NULL) {
        tool_message("%s: not enough memory for its name", name);
        return false;
    }
    return true;
}

/* What the process has mapped now is what is shown, even when it has ended. */
static bool served_add_process(served *s, const char *pid)
{
    block_file file;
    bool ok;
    memset(&file, 0, sizeof file);
    ok = block_open(&file, pid) && served_keep(s, file.name, file.place, false);
    block_close(&file);
    return ok;
}

/* Whether a file has a profile now; if not, a message says why. */
static bool served_is_good(const char *operand)
{
    content got = content_of_file(operand);
    profile_text p;
    block_file file;
    chroprof_result result;
    bool good;
    if (got == CONTENT_JSON) {
        good = profile_load(&p, operand);
        profile_free(&p);
        return good;
    }
    if (got != CONTENT_BLOCK) {
        content_refuse(operand, got, CONTENT_JSON);
        return false;
    }
    memset(&file, 0, sizeof file);
    file.name = file.place = operand;
    errno = 0;
    result = block_read(&file);
    if (result != CHROPROF_OK) {
        tool_message("%s: %s", operand, block_problem(&file, result));
    }
    block_close(&file);
    return result == CHROPROF_OK;
}

bool served_add(served *s, const char *operand)
{
    struct stat facts;
    if (block_is_process(operand)) {
        return served_add_process(s, operand);
    }
    if (stat(operand, &facts) != 0) {
        tool_message("%s: %s", operand, input_problem(errno));
        return false;
    }
    if (!S_ISDIR(facts.st_mode) && (!S_ISREG(facts.st_mode) || input_is_stream(operand))) {
        tool_message("%s: a profile that is to be read again and again must be a plain file, a "
                     "process, or lie in a folder", operand);
        return false;
    }
    return (S_ISDIR(facts.st_mode) || served_is_good(operand)) &&
           served_keep(s, operand, operand, S_ISDIR(facts.st_mode));
}

void served_free(served *s)
{
    for (size_t i = 0; i < s->count; i++) {
        free(s->operands[i].name);
        free(s->operands[i].place);
    }
    s->count = 0;
}

/* >>served places */

typedef struct served_place {
    const char *name;          /* for people */
    const char *place;         /* where to open it; NULL: a link that is not followed */
    uint64_t key;              /* of the name */
} served_place;

/* Takes a profile; false: no more are needed. */
typedef bool served_take(void *user, const served_place *at);

static bool served_one(const char *name, const char *place, served_take *take, void *user)
{
    const served_place at = { name, place, hash_bytes(name, strlen(name)) };
    return take(user, &at);
}

/* What a file may have that is read for a page: more than a profile of any program that was seen. */
#define SERVED_MOST (UINT64_C(256) << 20)

/* NULL: it may be read. A file with holes is as large as it says, whatever it takes on the disk. */
static const char *left_out(const char *place)
{
    struct stat facts;
    if (place == NULL) {
        return "a link that leads out of this folder is not followed; give the file itself to "
               "chroprof serve";
    }
    return stat(place, &facts) == 0 && (uint64_t)facts.st_size > SERVED_MOST
           ? "this file is larger than 256 MiB; use chroprof report" : NULL;
}

static bool is_profile(const char *name, const char *place)
{
    content got = content_of_file(place);
    return got == CONTENT_BLOCK || (got == CONTENT_JSON && ends_in(name, ".json"));
}

/* What a link of a folder leads to: another name in it. "": it leads out of the folder. */
static void link_inside(int folder, const char *entry, char target[256])
{
    ssize_t length = readlinkat(folder, entry, target, 255);
    const char *name;
    target[length > 0 ? length : 0] = '\0';
    name = strncmp(target, "./", 2) == 0 ? target + 2 : target;
    memmove(target, name, strlen(name) + 1);
    if (strchr(target, '/') != NULL || target[0] == '.') {
        target[0] = '\0';
    }
}

/* A file of a folder is opened once and for all, and not through a link that leads out of it:
 * whatever somebody puts in its place meanwhile, nothing outside of the folder is read. (Elsewhere
 * than on Linux it is opened again by its name.) */
static bool served_entry(int folder, const char *name, const char *entry, served_take *take,
                         void *user)
{
    char opened[64];
    char target[256];
    const char *place;
    bool more = true;
    int fd = openat(folder, entry, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0 && errno == ELOOP) {
        link_inside(folder, entry, target);
        if (target[0] == '\0') {
            return !(ends_in(entry, ".chroprof") || ends_in(entry, ".json")) ||
                   served_one(name, NULL, take, user);
        }
        fd = openat(folder, target, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    }
    if (fd < 0) {
        return true;
    }
    (void)snprintf(opened, sizeof opened, "/proc/%ld/fd/%d", (long)getpid(), fd);
    place = access(opened, F_OK) == 0 ? opened : name;
    if (is_profile(entry, place)) {
        more = served_one(name, place, take, user);
    }
    (void)close(fd);
    return more;
}

static bool served_folder(const served_operand *folder, served_take *take, void *user)
{
    DIR *entries = opendir(folder->place);
    const struct dirent *entry;
    char name[4096 + 256];
    const char *slash = ends_in(folder->name, "/") ? "" : "/";
    bool more = true;
    while (more && entries != NULL && (entry = readdir(entries)) != NULL) {
        int length = snprintf(name, sizeof name, "%s%s%s", folder->name, slash, entry->d_name);
        if (entry->d_name[0] != '.' && length < (int)sizeof name) {
            more = served_entry(dirfd(entries), name, entry->d_name, take, user);
        }
    }
    if (entries != NULL) {
        (void)closedir(entries);
    }
    return more;
}

static void served_each(const served *s, served_take *take, void *user)
{
    bool more = true;
    for (size_t i = 0; more && i < s->count; i++) {
        const served_operand *operand = &s->operands[i];
        more = operand->folder ? served_folder(operand, take, user)
                               : served_one(operand->name, operand->place, take, user);
    }
}

static const char *state_of(const chroprof_origin *origin)
{
    return origin->ended ? "ended" : !origin->mapped ? "stored" : origin->alive ? "runs" : "died";
}

/* >>served list */

#define SERVED_ROWS 1000       /* in the list; it says how many there are */

/* Takes the name that only we know from the begin of a message. */
static void hide_place(char *problem, const char *place)
{
    size_t length = strlen(place);
    if (strncmp(problem, place, length) == 0 && problem[length] == ':') {
        char *rest = problem + length + 1;
        rest += strspn(rest, " ");
        memmove(problem, rest, strlen(rest) + 1);
    }
}

typedef struct served_rows {
    FILE *out;
    unsigned count;            /* of all, of which the first SERVED_ROWS are written */
} served_rows;

/* What the loop was busy of the last so many ns, as far as windows tell it. */
static void put_last(FILE *out, const chroprof *view, uint64_t ns, const char *name)
{
    chroprof_window rows[256];
    size_t all = chroprof_windows(view, NULL, 0);
    size_t count = chroprof_windows_from(view, all > 256 ? (uint32_t)(all - 256) : 0, rows, 256);
    double busy = 0;
    double spent = 0;
    for (size_t i = count < 256 ? count : 256; i > 0 && spent < (double)ns; i--) {
        double length = (double)(rows[i - 1].end_ns - rows[i - 1].start_ns);
        double part = length > (double)ns - spent ? ((double)ns - spent) / length : 1;
        if (length > 2 * (double)ns) {
            return;                         /* one window says nothing of a part of it */
        }
        busy += part * (double)rows[i - 1].busy_ns;
        spent += part * length;
    }
    if (spent > 0) {
        (void)fprintf(out, ",\"busy_%s_ppm\":%.0f", name, 1e6 * busy / spent);
    }
}

/* The longest stall of the last minute. */
static void put_stall(FILE *out, const chroprof *view, uint64_t now)
{
    chroprof_stall stall;
    uint64_t cursor = 0;
    uint64_t longest = 0;
    while (chroprof_next_stall(view, &cursor, &stall)) {
        uint64_t end = stall.start_ns + stall.length_ns;
        bool late = now < UINT64_C(60000000000) || end > now - UINT64_C(60000000000);
        longest = late && stall.length_ns > longest ? stall.length_ns : longest;
    }
    (void)fprintf(out, ",\"stall_ns\":%" PRIu64, longest);
}

/* The name of a process itself: its file may have another one, which a link leads to. */
static void put_own_name(FILE *out, const chroprof_origin *origin)
{
    char path[64];
    char name[32];
    size_t length = 0;
    FILE *file;
    (void)snprintf(path, sizeof path, "/proc/%" PRIu64 "/comm", origin->pid);
    file = origin->alive && !origin->ended ? fopen(path, "r") : NULL;
    if (file != NULL) {
        length = fread(name, 1, sizeof name - 1, file);
        (void)fclose(file);
    }
    length -= length > 0 && name[length - 1] == '\n';
    name[length] = '\0';
    if (length > 0 && strncmp(name, origin->program, length) != 0) {
        (void)fputs(",\"own\":", out);
        json_put(out, name);
    }
}

static void put_block(FILE *out, const block_file *file)
{
    chroprof_origin origin;
    chroprof_totals totals;
    chroprof_finding finding;
    const char *state;
    block_origin(file, &origin);
    chroprof_read_totals(&file->view, &totals);
    finding.text[0] = '\0';
    finding.kind = CHROPROF_FINDING_COUNT;
    (void)chroprof_findings(&file->view, &finding, 1);
    state = state_of(&origin);
    state = strcmp(state, "runs") == 0 && finding.kind == CHROPROF_FINDING_HANGS ? "hangs" : state;
    (void)fprintf(out, ",\"state\":\"%s\",\"pid\":%" PRIu64 ",\"elapsed_ns\":%" PRIu64
                  ",\"busy_ns\":%" PRIu64 ",\"program\":", state, origin.pid, totals.elapsed_ns,
                  totals.busy_ns);
    json_put(out, origin.program);
    put_own_name(out, &origin);
    put_last(out, &file->view, UINT64_C(10000000000), "10s");
    put_last(out, &file->view, UINT64_C(60000000000), "60s");
    put_stall(out, &file->view, totals.elapsed_ns);
    (void)fputs(",\"name\":", out);
    json_put(out, origin.name);
    (void)fputs(",\"finding\":", out);
    json_put(out, finding.text);
}

/* What the loading of JSON says; "": nothing. It can be large, and does not change, so what is known
 * of a file is kept until it is another one. */
static const char *json_problem(const served_place *at)
{
    static struct {
        uint64_t stamp;
        char problem[240];
    } known[SERVED_ROWS];
    struct stat facts;
    uint64_t words[5] = { at->key };
    uint64_t stamp;
    size_t row;
    profile_text p;
    if (stat(at->place, &facts) == 0) {
        words[1] = (uint64_t)facts.st_ino;
        words[2] = (uint64_t)facts.st_size;
        words[3] = (uint64_t)facts.st_mtim.tv_sec;
        words[4] = (uint64_t)facts.st_mtim.tv_nsec;
    }
    stamp = hash_bytes((const char *)words, sizeof words) | 1;
    row = stamp % SERVED_ROWS;
    if (known[row].stamp != stamp) {
        known[row].stamp = stamp;
        tool_keep(known[row].problem, sizeof known[row].problem);
        if (profile_load(&p, at->place)) {
            known[row].problem[0] = '\0';
        }
        tool_keep(NULL, 0);
        hide_place(known[row].problem, at->place);
        profile_free(&p);
    }
    return known[row].problem;
}

static bool put_row(void *user, const served_place *at)
{
    served_rows *rows = (served_rows *)user;
    block_file file;
    chroprof_result result;
    if (rows->count++ >= SERVED_ROWS) {
        return true;
    }
    memset(&file, 0, sizeof file);
    file.name = at->name;
    file.place = at->place;
    (void)fprintf(rows->out, "%s\n{\"key\":\"%016" PRIx64 "\",\"file\":",
                  rows->count > 1 ? "," : "", at->key);
    json_put(rows->out, at->name);
    if (left_out(at->place) != NULL) {
        (void)fprintf(rows->out, ",\"problem\":\"%s\"}", left_out(at->place));
        return true;
    }
    if (content_of_file(at->place) == CONTENT_JSON) {
        const char *problem = json_problem(at);
        (void)fputs(*problem != '\0' ? ",\"problem\":" : ",\"state\":\"stored\"", rows->out);
        if (*problem != '\0') {
            json_put(rows->out, problem);
        }
        (void)fputc('}', rows->out);
        return true;
    }
    errno = 0;
    result = block_read(&file);
    if (result == CHROPROF_OK) {
        put_block(rows->out, &file);
    } else {
        (void)fputs(",\"problem\":", rows->out);
        json_put(rows->out, block_problem(&file, result));
    }
    (void)fputc('}', rows->out);
    block_close(&file);
    return true;
}

void served_list(const served *s, FILE *out)
{
    served_rows rows = { out, 0 };
    (void)fputs("{\"profiles\":[", out);
    served_each(s, put_row, &rows);
    (void)fprintf(out, "\n],\"count\":%u}\n", rows.count);
}

/* >>served profile */

typedef struct served_search {
    uint64_t key;
    FILE *out;                 /* NULL: only whether it is there */
    served_answer *answer;
} served_search;

/* What the loading would say is for the client, without a name that only we know. */
static void answer_with(const served_search *search, const served_place *at)
{
    served_answer *answer = search->answer;
    profile_text p;
    chroprof_origin origin;
    memset(&p, 0, sizeof p);
    if (left_out(at->place) != NULL) {
        (void)snprintf(answer->problem, sizeof answer->problem, "%s", left_out(at->place));
        return;
    }
    tool_keep(answer->problem, sizeof answer->problem);
    answer->good = profile_load(&p, at->place) && profile_symbolize(&p, NULL) &&
                   page_write_profile(search->out, &p);
    tool_keep(NULL, 0);
    hide_place(answer->problem, at->place);
    if (answer->good && p.block.copy != NULL) {
        block_origin(&p.block, &origin);
        answer->state = state_of(&origin);
    }
    profile_free(&p);
}

static bool try_place(void *user, const served_place *at)
{
    const served_search *search = (const served_search *)user;
    if (at->key != search->key) {
        return true;
    }
    search->answer->found = true;
    if (search->out != NULL) {
        answer_with(search, at);
    }
    return false;
}

void served_profile(const served *s, uint64_t key, FILE *out, served_answer *answer)
{
    served_search search = { key, out, answer };
    memset(answer, 0, sizeof *answer);
    answer->state = "stored";
    served_each(s, try_place, &search);
}

bool served_knows(const served *s, uint64_t key)
{
    served_answer answer;
    served_profile(s, key, NULL, &answer);
    return answer.found;
}
