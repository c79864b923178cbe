/* exec.c - a program that this one becomes gets the library back */

#include "run.h"
#include "next.h"
#include "seats.h"
#include "given.h"

#define EXEC_WORDS 65536       /* arguments or variables; with more of them exec is left alone */

static size_t count_words(char *const *words)
{
    size_t count = 0;
    while (words != NULL && words[count] != NULL) {
        count++;
    }
    return count;
}

static bool read_kind(const char *path, unsigned char kind[20])
{
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    ssize_t count = file >= 0 ? read(file, kind, 20) : 0;
    if (file >= 0) {
        (void)close(file);
    }
    return count == 20;
}

/* Whether the loader of that program takes this library: of another kind it would say that it does
 * not. What is no such file is found in PATH, or has an interpreter. */
static bool takes_library(const char *path)
{
    unsigned char ours[20];
    unsigned char its[20];
    if (!read_kind("/proc/self/exe", ours) || !read_kind(path, its)) {
        return true;
    }
    return memcmp(its, "\177ELF", 4) != 0 ||
           (its[4] == ours[4] && its[5] == ours[5] && memcmp(its + 18, ours + 18, 2) == 0);
}

/* As the user that it is now: the loader would say that it can't. */
static bool can_load_library(void)
{
    return euidaccess(given_preload + sizeof "LD_PRELOAD", R_OK) == 0;
}

/* The profiles of a program that becomes another one end here. */
static void tell_end(void)
{
    if (board != NULL && board->profiles > 0 && getpid() == board->program) {
        board->became = 1;
    }
}

static bool goes_along(const char *path, char *const *variables)
{
    tell_end();
    return watched_process != 0 && !sealed && getpid() == watched_process && next.execve != NULL &&
           next.execvpe != NULL && count_words(variables) < EXEC_WORDS && can_load_library() &&
           (path == NULL || takes_library(path));
}

/* The file that execvp runs: a name without a slash is looked for in PATH. NULL: nobody knows. */
static const char *find_program(const char *name, char path[1024])
{
    const char *folders = getenv("PATH");
    while (strchr(name, '/') == NULL && folders != NULL) {
        int length = (int)strcspn(folders, ":");
        int written = snprintf(path, 1024, "%.*s/%s", length, folders, name);
        if (length > 0 && written < 1024 && euidaccess(path, X_OK) == 0) {
            return path;
        }
        folders = folders[length] != '\0' ? folders + length + 1 : NULL;
    }
    return strchr(name, '/') != NULL ? name : NULL;
}

/* Which rows of BOARD_LOOPS the next program links by itself: as its file says, bit by bit. */

static const board_loop loops[] = BOARD_LOOPS;

#define SEGMENTS_MOST 32

typedef struct program_file {
    int file;
    ElfW(Ehdr) head;
    ElfW(Phdr) segments[SEGMENTS_MOST];
} program_file;

static bool read_part(const program_file *p, void *to, size_t bytes, uint64_t at)
{
    return pread(p->file, to, bytes, (off_t)at) == (ssize_t)bytes;
}

static bool read_segments(program_file *p)
{
    return read_part(p, &p->head, sizeof p->head, 0) &&
           memcmp(p->head.e_ident, "\177ELF", 4) == 0 &&
           p->head.e_phentsize == sizeof p->segments[0] && p->head.e_phnum <= SEGMENTS_MOST &&
           read_part(p, p->segments, p->head.e_phnum * sizeof p->segments[0], p->head.e_phoff);
}

/* Where in the file that lies which is loaded at an address. */
static uint64_t place_in_file(const program_file *p, uint64_t address)
{
    for (size_t i = 0; i < p->head.e_phnum; i++) {
        const ElfW(Phdr) *s = &p->segments[i];
        if (s->p_type == PT_LOAD && address - s->p_vaddr < s->p_filesz) {
            return s->p_offset + (address - s->p_vaddr);
        }
    }
    return 0;
}

static uint32_t loop_of(const char *name)
{
    for (size_t i = 0; i < sizeof loops / sizeof loops[0]; i++) {
        if (begins_with(name, loops[i].begin)) {
            return 1u << i;
        }
    }
    return 0;
}

/* libevent has functions of common names, like event_new. The loader looks for them in the order of
 * the libraries, and ours would get the calls of another library's. So only these stand before it:
 * they have none. (chroprof run reads them all before it starts a program.) */
static bool may_precede(const char *name)
{
    static const char *const begins[] = {
        "libc.so", "libm.so", "libpthread.so", "libdl.so", "librt.so", "libresolv.so", "libz.so",
        "libssl.so", "libcrypto.so", "libstdc++.so", "libgcc_s.so", "libtinfo.so", "libutil.so",
        "libsasl2.so", "libutempter.so", "libminiupnpc.so", "libnatpmp.so",
    };
    for (size_t i = 0; i < sizeof begins / sizeof begins[0]; i++) {
        if (begins_with(name, begins[i])) {
            return true;
        }
    }
    return is_loop_library(name);
}

static uint32_t loops_in(const program_file *p, const ElfW(Phdr) *dynamic)
{
    const size_t count = (size_t)(dynamic->p_filesz / sizeof(ElfW(Dyn)));
    uint64_t names = 0;
    uint32_t found = 0;
    bool preceded = false;
    for (int round = 0; round < 2; round++) {
        for (size_t i = 0; i < count; i++) {
            ElfW(Dyn) entry;
            if (!read_part(p, &entry, sizeof entry, dynamic->p_offset + i * sizeof entry) ||
                entry.d_tag == DT_NULL) {
                break;
            }
            if (round == 0 && entry.d_tag == DT_STRTAB) {
                names = place_in_file(p, entry.d_un.d_ptr);
            } else if (round == 1 && entry.d_tag == DT_NEEDED && names > 0) {
                char name[32] = "";
                (void)pread(p->file, name, sizeof name - 1, (off_t)(names + entry.d_un.d_val));
                found |= preceded && begins_with(name, "libevent") ? 0 : loop_of(name);
                preceded = preceded || !may_precede(name);
            }
        }
    }
    return found;
}

static uint32_t linked_loops(const char *path)
{
    program_file p;
    uint32_t found = 0;
    p.file = path != NULL ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
    if (p.file < 0) {
        return 0;
    }
    if (read_segments(&p)) {
        for (size_t i = 0; i < p.head.e_phnum; i++) {
            found |= p.segments[i].p_type == PT_DYNAMIC ? loops_in(&p, &p.segments[i]) : 0;
        }
    }
    (void)close(p.file);
    return found;
}

/* Ours, and where they are there those for the libraries that it links. */
static void give_libraries(char *preload, const char *path)
{
    const uint32_t linked = linked_loops(path);
    memcpy(preload, given_preload, strlen(given_preload) + 1);
    for (size_t i = 0; i < sizeof loops / sizeof loops[0]; i++) {
        char library[sizeof folder + 64];
        (void)snprintf(library, sizeof library, ":%s/%s", folder, loops[i].ours);
        if ((linked >> i & 1) != 0 && strstr(preload, library) == NULL &&
            euidaccess(library + 1, R_OK) == 0) {
            strcat(preload, library);
        }
    }
}

/* Its variables, with those that lead to this library. preload has room for what the program itself
 * preloads behind it, and takes the place of that. */
static void give_variables(char **to, char *const *from, char *preload, const char *path)
{
    bool placed = false;
    give_libraries(preload, path);
    *to++ = given_folder;
    *to++ = given_options;
    for (; from != NULL && *from != NULL; from++) {
        bool ours = has_name(*from, "LD_PRELOAD");
        if (ours) {
            strcat(strcat(preload, ":"), *from + sizeof "LD_PRELOAD");
        }
        if (!ours || !placed) {
            *to++ = ours ? preload : *from;
        }
        placed = placed || ours;
    }
    if (!placed) {
        *to++ = preload;
    }
    *to = NULL;
}

/* Room for that on the stack, in the function that calls exec. */
static size_t preload_bytes(char *const *variables)
{
    size_t bytes = BOARD_LIBRARIES * sizeof given_preload;
    for (; variables != NULL && *variables != NULL; variables++) {
        bytes += has_name(*variables, "LD_PRELOAD") ? strlen(*variables) + 1 : 0;
    }
    return bytes;
}

EXPORT int execve(const char *path, char *const *words, char *const *variables)
{
    if (next.execve == NULL) {
        find_function(&next.execve, "execve");
    }
    if (!goes_along(path, variables)) {
        return next.execve(path, words, variables);
    }
    char *given[count_words(variables) + 4];
    char preload[preload_bytes(variables)];
    give_variables(given, variables, preload, path);
    return next.execve(path, words, given);
}

EXPORT int execvpe(const char *name, char *const *words, char *const *variables)
{
    if (next.execvpe == NULL) {
        find_function(&next.execvpe, "execvpe");
    }
    if (!goes_along(name, variables)) {
        return next.execvpe(name, words, variables);
    }
    char path[1024];
    char *given[count_words(variables) + 4];
    char preload[preload_bytes(variables)];
    give_variables(given, variables, preload, find_program(name, path));
    return next.execvpe(name, words, given);
}

EXPORT int fexecve(int file, char *const *words, char *const *variables)
{
    if (next.fexecve == NULL) {
        find_function(&next.fexecve, "fexecve");
    }
    if (!goes_along(NULL, variables)) {
        return next.fexecve(file, words, variables);
    }
    char *given[count_words(variables) + 4];
    char preload[preload_bytes(variables)];
    give_variables(given, variables, preload, NULL);
    return next.fexecve(file, words, given);
}

EXPORT int execv(const char *path, char *const *words)
{
    return execve(path, words, environ);
}

EXPORT int execvp(const char *name, char *const *words)
{
    return execvpe(name, words, environ);
}

/* How many arguments there are, up to NULL; `list` begins behind the first one. */
static size_t count_arguments(const char *first, va_list list)
{
    size_t count = first != NULL;
    while (first != NULL && va_arg(list, char *) != NULL) {
        count++;
    }
    return count;
}

static void take_arguments(char **words, const char *first, size_t count, va_list list)
{
    words[0] = (char *)(uintptr_t)first;
    for (size_t i = 1; i <= count; i++) {
        words[i] = va_arg(list, char *);
    }
}

EXPORT int execl(const char *path, const char *first, ...)
{
    va_list list;
    va_start(list, first);
    size_t count = count_arguments(first, list);
    va_end(list);
    char *words[count + 1];
    va_start(list, first);
    take_arguments(words, first, count, list);
    va_end(list);
    return execve(path, words, environ);
}

EXPORT int execlp(const char *name, const char *first, ...)
{
    va_list list;
    va_start(list, first);
    size_t count = count_arguments(first, list);
    va_end(list);
    char *words[count + 1];
    va_start(list, first);
    take_arguments(words, first, count, list);
    va_end(list);
    return execvpe(name, words, environ);
}

/* The variables stand behind the NULL. */
EXPORT int execle(const char *path, const char *first, ...)
{
    va_list list;
    va_start(list, first);
    size_t count = count_arguments(first, list);
    va_end(list);
    char *words[count + 1];
    va_start(list, first);
    take_arguments(words, first, count, list);
    char *const *variables = va_arg(list, char *const *);
    va_end(list);
    return execve(path, words, variables);
}
