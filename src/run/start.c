/* start.c - the constructor and its opposite */

#include "run.h"
#include "next.h"
#include "seats.h"
#include "profiles.h"
#include "registered.h"
#include "given.h"

/* >>AddressSanitizer: its library ends the program where another one is loaded before it. Ours takes
 * no memory and no function of its, so it asks for no such check. A program may have the same
 * function, which comes first. */

EXPORT const char *__asan_default_options(void);

EXPORT const char *__asan_default_options(void)
{
    return "verify_asan_link_order=0";
}

/* >>start and end */

static void remove_variable(char **variables, const char *name)
{
    char **to = variables;
    for (char **from = variables; *from != NULL; from++) {
        if (!has_name(*from, name)) {
            *to++ = *from;
        }
    }
    *to = NULL;
}

/* How much of LD_PRELOAD is ours: libraries in the folder, which stand first. */
static size_t our_libraries(const char *preload)
{
    size_t length = strlen(folder);
    size_t at = 0;
    while (strncmp(preload + at, folder, length) == 0 && preload[at + length] == '/') {
        at += strcspn(preload + at, ":");
        if (preload[at] == '\0') {
            break;
        }
        at++;
    }
    return at;
}

/* Children load what the user wanted them to load. */
static void remove_libraries(char **variables)
{
    char *entry = NULL;
    char *rest;
    for (char **at = variables; *at != NULL && entry == NULL; at++) {
        entry = has_name(*at, "LD_PRELOAD") ? *at + sizeof "LD_PRELOAD" : NULL;
    }
    rest = entry != NULL ? entry + our_libraries(entry) : NULL;
    if (rest != NULL && (*rest != '\0' || (rest > entry && rest[-1] == ':'))) {
        memmove(entry, rest, strlen(rest) + 1);
    } else {
        remove_variable(variables, "LD_PRELOAD");
    }
}

/* Takes out of the environment what led here, and keeps it for a program that this one becomes. */
static void clean_environment(char **variables)
{
    const char *preload = getenv("LD_PRELOAD");
    const char *options = getenv(BOARD_OPTIONS);
    size_t length = preload != NULL ? strcspn(preload, ":") : 0;
    if (length < sizeof folder + 32 && options != NULL) {
        (void)snprintf(given_preload, sizeof given_preload, "LD_PRELOAD=%.*s", (int)length,
                       preload);
        (void)snprintf(given_folder, sizeof given_folder, BOARD_FOLDER "=%s", folder);
        (void)snprintf(given_options, sizeof given_options, BOARD_OPTIONS "=%s", options);
        watched_process = getpid();
    }
    remove_libraries(variables);
    remove_variable(variables, BOARD_FOLDER);
    remove_variable(variables, BOARD_OPTIONS);
}

static void read_options(void)
{
    const char *text = getenv(BOARD_OPTIONS);
    char *end = NULL;
    if (text != NULL) {
        stall_ns = strtoull(text, &end, 10);
        wall_clock = strtoul(end, &end, 10) != 0;
        with_children = strtoul(end, &end, 10) != 0;
        with_tables = strtoul(end, &end, 10) != 0;
        python_begin(folder, strtoul(end, &end, 10) != 0);
    }
}

static void *new_pages(int file, int flags, size_t size)
{
    void *page = mmap(NULL, size, PROT_READ | PROT_WRITE, flags, file, 0);
    return page != MAP_FAILED ? page : NULL;
}

static preload_board *open_board(void)
{
    char path[sizeof folder + 16];
    preload_board *found = NULL;
    int file;
    (void)snprintf(path, sizeof path, "%s/" BOARD_FILE, folder);
    file = open(path, O_RDWR | O_CLOEXEC);
    if (file >= 0) {
        found = (preload_board *)new_pages(file, MAP_SHARED, sizeof *found);
        (void)close(file);
    }
    return found;
}

/* A page that a forked child finds empty. */
static uint32_t *make_awake(void)
{
    void *page = new_pages(-1, MAP_PRIVATE | MAP_ANONYMOUS, (size_t)sysconf(_SC_PAGESIZE));
    bool wiped = page != NULL && madvise(page, (size_t)sysconf(_SC_PAGESIZE), MADV_WIPEONFORK) == 0;
    return wiped ? (uint32_t *)page : NULL;
}

__attribute__((__constructor__)) static void start(void)
{
    const char *given = getenv(BOARD_FOLDER);
    uint32_t *page;
    int error = errno;
    find_functions();
    find_program_path();
    unwind_find_libraries();
    (void)dlerror();                        /* of a function that is not there */
    if (given == NULL || strlen(given) >= sizeof folder) {
        return;
    }
    memcpy(folder, given, strlen(given) + 1);
    read_options();
    if (!with_children) {
        clean_environment(environ);
    }
    board = open_board();
    page = board != NULL ? make_awake() : NULL;
    loaded_at = chroprof_now(NULL);
    (void)thread_cpu(&loaded_cpu_ns);
    if (page != NULL && pthread_key_create(&at_thread_end, end_profile) == 0) {
        note(&board->loaded);
        begin_standins();
        __atomic_store_n(page, 1, __ATOMIC_SEQ_CST);
        awake = page;                       /* only now: whoever sees it may use the board */
    }
    errno = error;
}

__attribute__((__destructor__)) static void finish(void)
{
    if (own != NULL) {
        end_profile(own);
    }
}
