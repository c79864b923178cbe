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
#include "guard.h"
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

typedef enum served_look {
    LOOK,                      /* what it is decides */
    TAKE,
    PASS
} served_look;

/* What is done with each place. */
typedef struct served_walk {
    void *user;
    bool (*take)(void *user, const served_place *at);   /* a profile; false: no more are needed */
    bool (*wants)(void *user, uint64_t key);            /* NULL: all. The others are not touched */
    served_look (*look)(void *user, const served_place *at);    /* before it is read; NULL: LOOK */
} served_walk;

static bool served_one(const char *name, const char *place, const served_walk *walk)
{
    const served_place at = { name, place, hash_bytes(name, strlen(name)) };
    return (walk->wants != NULL && !walk->wants(walk->user, at.key)) || walk->take(walk->user, &at);
}

/* Of the memory that one profile may take, a file may have an eighth: its text, its parts and its page
 * come on top. */
#define SERVED_PART 8

/* Why a place is not read at all, in `why`. A file with holes is as large as it says, whatever it takes
 * on the disk. */
static bool left_out(const served *s, const char *place, char *why, size_t size)
{
    struct stat facts;
    size_t most = s->memory / SERVED_PART;
    if (place == NULL) {
        (void)snprintf(why, size, "a link that leads out of this folder is not followed; give the "
                       "file itself to chroprof serve");
        return true;
    }
    if (stat(place, &facts) != 0 || (uint64_t)facts.st_size <= most) {
        return false;
    }
    (void)snprintf(why, size, "this file is larger than %zu MiB; give serve more --memory, or use "
                   "chroprof report", most >> 20);
    return true;
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
static bool served_entry(int folder, const char *name, const char *entry, const served_walk *walk)
{
    char opened[64];
    char target[256];
    const char *place;
    served_place at;
    served_look look;
    bool more = true;
    int fd = openat(folder, entry, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0 && errno == ELOOP) {
        link_inside(folder, entry, target);
        if (target[0] == '\0') {
            return !(ends_in(entry, ".chroprof") || ends_in(entry, ".json")) ||
                   served_one(name, NULL, walk);
        }
        fd = openat(folder, target, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    }
    if (fd < 0) {
        return true;
    }
    (void)snprintf(opened, sizeof opened, "/proc/%ld/fd/%d", (long)getpid(), fd);
    place = access(opened, F_OK) == 0 ? opened : name;
    at.place = place;
    at.name = name;
    at.key = hash_bytes(name, strlen(name));
    look = walk->look != NULL ? walk->look(walk->user, &at) : LOOK;
    if (look == TAKE || (look == LOOK && is_profile(entry, place))) {
        more = walk->take(walk->user, &at);
    }
    (void)close(fd);
    return more;
}

static bool served_folder(const served_operand *folder, const served_walk *walk)
{
    DIR *entries = opendir(folder->place);
    const struct dirent *entry;
    char name[4096 + 256];
    const char *slash = ends_in(folder->name, "/") ? "" : "/";
    bool more = true;
    while (more && entries != NULL && (entry = readdir(entries)) != NULL) {
        int length = snprintf(name, sizeof name, "%s%s%s", folder->name, slash, entry->d_name);
        if (entry->d_name[0] != '.' && length < (int)sizeof name &&
            (walk->wants == NULL || walk->wants(walk->user, hash_bytes(name, (size_t)length)))) {
            more = served_entry(dirfd(entries), name, entry->d_name, walk);
        }
    }
    if (entries != NULL) {
        (void)closedir(entries);
    }
    return more;
}

static void served_each(const served *s, const served_walk *walk)
{
    bool more = true;
    for (size_t i = 0; more && i < s->count; i++) {
        const served_operand *operand = &s->operands[i];
        more = operand->folder ? served_folder(operand, walk)
                               : served_one(operand->name, operand->place, walk);
    }
}

static const char *state_of(const chroprof_origin *origin)
{
    return origin->ended ? "ended" : !origin->mapped ? "stored" : origin->alive ? "runs" : "died";
}

/* >>served list */

#define SERVED_ROWS 1000       /* in the list; it says how many there are */
#define SERVED_SECONDS 3       /* for a row */

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

/* >>served known: what reading a file said or did. It can take long, and the file does not change, so
 * it is kept until that is another one. The server has it, and so have its children, as it was. */

#define SERVED_KNOWN 4096
#define SERVED_PROBES 8

typedef struct served_known {
    uint64_t stamp;            /* 0: a free row */
    char problem[240];         /* "": it can be read */
} served_known;

static served_known *known_row(uint64_t stamp)
{
    static served_known rows[SERVED_KNOWN];
    served_known *first = &rows[stamp % SERVED_KNOWN];
    for (size_t i = 0; i < SERVED_PROBES; i++) {
        served_known *row = &rows[(stamp + i) % SERVED_KNOWN];
        if (row->stamp == stamp || row->stamp == 0) {
            return row;
        }
    }
    return first;
}

static void know(uint64_t stamp, const char *problem)
{
    served_known *row = known_row(stamp);
    row->stamp = stamp;
    (void)snprintf(row->problem, sizeof row->problem, "%s", problem);
}

/* Of a file as it is now. A block that is written may keep all of these. */
static uint64_t stamp_of(const served_place *at)
{
    struct stat facts;
    uint64_t words[5] = { at->key };
    if (at->place != NULL && stat(at->place, &facts) == 0) {
        words[1] = (uint64_t)facts.st_ino;
        words[2] = (uint64_t)facts.st_size;
        words[3] = (uint64_t)facts.st_mtim.tv_sec;
        words[4] = (uint64_t)facts.st_mtim.tv_nsec;
    }
    return hash_bytes((const char *)words, sizeof words) | 1;
}

/* >>served pieces: what a child writes of the list. A row that brings it to its end is the one that it
 * began last. */

enum { PIECE_TEXT = 't', PIECE_BEGIN = 'b', PIECE_KNOWN = 'k', PIECE_END = 'e' };

typedef struct served_piece {
    uint64_t kind, stamp, length;           /* bytes that follow */
} served_piece;

static void put_piece(FILE *out, int kind, uint64_t stamp, const char *bytes, size_t length)
{
    const served_piece piece = { (uint64_t)kind, stamp, length };
    (void)fwrite(&piece, sizeof piece, 1, out);
    (void)fwrite(bytes, 1, length, out);
}

typedef struct served_rows {
    const served *s;
    FILE *pieces;
    FILE *out;                 /* the row under way */
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

/* The longest stall of the last minute, or what hangs now for longer; 0 ns: nothing does. */
static void put_stall(FILE *out, const chroprof *view, uint64_t now, uint64_t hung_ns)
{
    chroprof_stall stall;
    uint64_t cursor = 0;
    uint64_t longest = hung_ns;
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
    put_stall(out, &file->view, totals.elapsed_ns,
              strcmp(state, "hangs") == 0 ? finding.value_ns : 0);
    (void)fputs(",\"name\":", out);
    json_put(out, origin.name);
    (void)fputs(",\"finding\":", out);
    json_put(out, finding.text);
}

/* What the loading of JSON says; "": nothing. */
static void json_problem(served_rows *rows, const served_place *at, uint64_t stamp)
{
    char problem[sizeof known_row(0)->problem];
    profile_text p;
    tool_keep(problem, sizeof problem);
    if (profile_load(&p, at->place)) {
        problem[0] = '\0';
    }
    tool_keep(NULL, 0);
    hide_place(problem, at->place);
    profile_free(&p);
    know(stamp, problem);
    put_piece(rows->pieces, PIECE_KNOWN, stamp, problem, strlen(problem));
}

static void put_problem(FILE *out, const char *problem)
{
    (void)fputs(*problem != '\0' ? ",\"problem\":" : ",\"state\":\"stored\"", out);
    if (*problem != '\0') {
        json_put(out, problem);
    }
}

/* What is not known may be read. Then the server knows which one is. */
static served_look begin_place(void *user, const served_place *at)
{
    const served_rows *rows = (const served_rows *)user;
    uint64_t stamp = stamp_of(at);
    if (known_row(stamp)->stamp == stamp) {
        return TAKE;
    }
    if (rows->s->hurry) {
        return ends_in(at->name, ".chroprof") || ends_in(at->name, ".json") ? TAKE : PASS;
    }
    put_piece(rows->pieces, PIECE_BEGIN, stamp, "", 0);
    (void)fflush(rows->pieces);
    guard_allow(rows->s->seconds < SERVED_SECONDS ? rows->s->seconds : SERVED_SECONDS);
    return LOOK;
}

static void put_file(served_rows *rows, const served_place *at)
{
    uint64_t stamp = stamp_of(at);
    const served_known *known = known_row(stamp);
    char why[160];
    block_file file;
    chroprof_result result;
    if (left_out(rows->s, at->place, why, sizeof why)) {
        put_problem(rows->out, why);
        return;
    }
    if (known->stamp != stamp && begin_place(rows, at) == TAKE) {
        put_problem(rows->out, "not read yet, because others take long");
        return;
    }
    if (known->stamp != stamp && content_of_file(at->place) == CONTENT_JSON) {
        json_problem(rows, at, stamp);
        known = known_row(stamp);
    }
    if (known->stamp == stamp) {
        put_problem(rows->out, known->problem);
        return;
    }
    memset(&file, 0, sizeof file);
    file.name = at->name;
    file.place = at->place;
    errno = 0;
    result = block_read(&file);
    if (result == CHROPROF_OK) {
        put_block(rows->out, &file);
    } else {
        put_problem(rows->out, block_problem(&file, result));
    }
    block_close(&file);
}

static bool put_row(void *user, const served_place *at)
{
    served_rows *rows = (served_rows *)user;
    char *bytes = NULL;
    size_t count = 0;
    if (rows->count++ >= SERVED_ROWS) {
        return true;
    }
    rows->out = open_memstream(&bytes, &count);
    if (rows->out == NULL) {
        return false;
    }
    (void)fprintf(rows->out, "%s\n{\"key\":\"%016" PRIx64 "\",\"file\":",
                  rows->count > 1 ? "," : "", at->key);
    json_put(rows->out, at->name);
    put_file(rows, at);
    (void)fputc('}', rows->out);
    if (fclose(rows->out) == 0) {
        put_piece(rows->pieces, PIECE_TEXT, 0, bytes, count);
    }
    free(bytes);
    return true;
}

void served_list(const served *s, FILE *out)
{
    served_rows rows = { s, out, NULL, 0 };
    const served_walk walk = { &rows, put_row, NULL, begin_place };
    char end[64];
    int length;
    guard_allow(s->seconds);
    served_each(s, &walk);
    length = snprintf(end, sizeof end, "\n],\"count\":%u}\n", rows.count);
    put_piece(out, PIECE_END, 0, end, (size_t)length);
}

/* >>served list, as the server has it */

void served_begin(served_listing *l)
{
    static const char head[] = "{\"profiles\":[";
    l->rest.used = l->text.used = 0;
    l->stamp = 0;
    l->whole = false;
    (void)buffer_add(&l->text, head, strlen(head));
}

/* Takes a piece off what came; 0: it is not all there. */
static size_t take_piece(served_listing *l, const char *at, size_t left)
{
    served_piece piece;
    char problem[sizeof known_row(0)->problem];
    if (left < sizeof piece) {
        return 0;
    }
    memcpy(&piece, at, sizeof piece);
    if (piece.length > left - sizeof piece) {
        return 0;
    }
    at += sizeof piece;
    if (piece.kind == PIECE_BEGIN) {
        l->stamp = piece.stamp;
    } else if (piece.kind == PIECE_KNOWN) {
        (void)snprintf(problem, sizeof problem, "%.*s", (int)piece.length, at);
        know(piece.stamp, problem);
    } else {
        l->whole = piece.kind == PIECE_END;
        l->stamp = 0;
        (void)buffer_add(&l->text, at, (size_t)piece.length);
    }
    return sizeof piece + (size_t)piece.length;
}

bool served_collect(served_listing *l, const char *bytes, size_t count)
{
    size_t at = 0;
    size_t length = 1;
    if (buffer_add(&l->rest, bytes, count) != 0) {
        return false;
    }
    while (length > 0) {
        length = take_piece(l, l->rest.bytes + at, l->rest.used - at);
        at += length;
    }
    memmove(l->rest.bytes, l->rest.bytes + at, l->rest.used - at);
    l->rest.used -= at;
    return true;
}

bool served_blame(const served *s, const served_listing *l, guard_end end)
{
    char why[160];
    if (l->stamp == 0) {
        return false;
    }
    served_why(s, end, why, sizeof why);
    know(l->stamp, why);
    return true;
}

void served_why(const served *s, guard_end end, char *why, size_t size)
{
    if (end == GUARD_SLOW) {
        (void)snprintf(why, size, "reading this takes too long; give serve more than --time %us, or "
                       "use chroprof report", s->seconds);
    } else {
        (void)snprintf(why, size, "reading this takes too much memory, or fails; give serve more "
                       "--memory, or use chroprof check");
    }
}

/* >>served profile */

typedef struct served_search {
    const served *s;
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
    if (left_out(search->s, at->place, answer->problem, sizeof answer->problem)) {
        return;
    }
    tool_keep(answer->problem, sizeof answer->problem);
    answer->good = profile_load(&p, at->place) && profile_symbolize(&p, NULL) &&
                   page_write_profile(search->out, &p);
    tool_keep(NULL, 0);
    hide_place(answer->problem, at->place);
    if (answer->good && p.block.copy != NULL) {
        block_origin(&p.block, &origin);
        (void)snprintf(answer->state, sizeof answer->state, "%s", state_of(&origin));
    }
    profile_free(&p);
}

static bool is_searched(void *user, uint64_t key)
{
    return key == ((const served_search *)user)->key;
}

static bool try_place(void *user, const served_place *at)
{
    const served_search *search = (const served_search *)user;
    search->answer->found = true;
    if (search->out != NULL) {
        answer_with(search, at);
    }
    return false;
}

void served_profile(const served *s, uint64_t key, bool figures, FILE *out)
{
    served_answer answer;
    served_search search = { s, key, figures ? out : NULL, &answer };
    const served_walk walk = { &search, try_place, is_searched, NULL };
    memset(&answer, 0, sizeof answer);
    (void)snprintf(answer.state, sizeof answer.state, "stored");
    guard_allow(s->seconds);
    served_each(s, &walk);
    (void)fwrite(&answer, sizeof answer, 1, out);
}
