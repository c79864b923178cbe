/* python_walk.c - see python_walk.h */

#define _GNU_SOURCE
#include "python_walk.h"

#include "unwind.h"

#if UNWIND_TABLES && defined(__x86_64__)

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "board.h"
#include "python.h"

enum { BLOCK = 1024, BLOCKS = 32, LINES = 512, BUSY = 10000 };

/* An address that was made, by function and place in it. */
typedef struct made_line {
    uint64_t key, made;
    uint32_t offset;
} made_line;

struct python_room {
    uint64_t number;           /* of the thread, as the kernel has it */
    pid_t process;
    uintptr_t addresses[2 * PYTHON_NATIVE];
    uint64_t at[BLOCKS];       /* what was read since the signal came */
    unsigned char bytes[BLOCKS][BLOCK];
    unsigned char table[PYTHON_TABLE];
    python_frame frames[PYTHON_FRAMES];
    unsigned char codes[PYTHON_FRAMES][PYTHON_CODE];   /* of them */
    struct iovec there[PYTHON_FRAMES];
    uint32_t code_count;       /* so many were read at once */
    made_line lines[LINES];
};

static struct {
    python_place place;        /* layout NULL: no Python is known */
    uint32_t version;
    uintptr_t low, high;       /* the interpreter's code */
    const char *folder;
    python_names *names;
    pid_t process;             /* whose names these are */
    bool may, sealed;
} python;

/* >>python reading */

static bool read_memory(pid_t process, uint64_t from, void *to, size_t size)
{
    struct iovec here = { to, size };
    struct iovec there = { (void *)(uintptr_t)from, size };
    return !__atomic_load_n(&python.sealed, __ATOMIC_RELAXED) &&
           process_vm_readv(process, &here, 1, &there, 1, 0) == (ssize_t)size;
}

/* In blocks that never cross a page, each once a signal. */
static bool read_blocks(void *user, uint64_t from, void *to, size_t size)
{
    python_room *room = (python_room *)user;
    for (unsigned char *at = (unsigned char *)to; size > 0;) {
        uint64_t begin = from - from % BLOCK;
        size_t place = (size_t)(begin / BLOCK % BLOCKS);
        size_t part = BLOCK - (size_t)(from % BLOCK);
        part = part < size ? part : size;
        if (room->at[place] != begin || begin == 0) {
            room->at[place] = 0;
            if (begin == 0 || !read_memory(room->process, begin, room->bytes[place], BLOCK)) {
                return false;
            }
            room->at[place] = begin;
        }
        memcpy(at, room->bytes[place] + from % BLOCK, part);
        at += part;
        from += part;
        size -= part;
    }
    return true;
}

/* The code objects of the frames, with one system call. What can't be read ends it. */
static void read_codes(python_room *room, uint32_t count)
{
    struct iovec *there = room->there;
    struct iovec here = { room->codes, count * sizeof room->codes[0] };
    ssize_t got = -1;
    for (uint32_t i = 0; i < count; i++) {
        there[i].iov_base = (void *)(uintptr_t)room->frames[i].code;
        there[i].iov_len = sizeof room->codes[0];
    }
    if (!__atomic_load_n(&python.sealed, __ATOMIC_RELAXED)) {
        got = process_vm_readv(room->process, &here, 1, there, count, 0);
    }
    room->code_count = got > 0 ? (uint32_t)((size_t)got / sizeof room->codes[0]) : 0;
}

/* Outside of a handler, which may come in between: without the blocks. */
static bool read_now(void *user, uint64_t from, void *to, size_t size)
{
    return read_memory(((const python_room *)user)->process, from, to, size);
}

static python_place place_of(python_room *room, python_read *read)
{
    python_place p = python.place;
    p.read = read;
    p.user = room;
    return p;
}

/* >>python beginning */

static int find_code(struct dl_phdr_info *info, size_t unused, void *user)
{
    uintptr_t wanted = (uintptr_t)user;
    (void)unused;
    for (size_t i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *s = &info->dlpi_phdr[i];
        uintptr_t low = info->dlpi_addr + s->p_vaddr;
        if (s->p_type == PT_LOAD && (s->p_flags & PF_X) != 0 && wanted - low < s->p_memsz) {
            python.low = low;
            python.high = low + s->p_memsz;
            return 1;
        }
    }
    return 0;
}

static uint64_t address_of(const char *name)
{
    return (uint64_t)(uintptr_t)dlsym(RTLD_DEFAULT, name);
}

static void find_python(void)
{
    python_place *p = &python.place;
    const uint32_t *version = (const uint32_t *)(uintptr_t)address_of("Py_Version");
    uint64_t eval = address_of("_PyEval_EvalFrameDefault");
    p->runtime = address_of("_PyRuntime");
    p->code_type = address_of("PyCode_Type");
    p->text_type = address_of("PyUnicode_Type");
    p->bytes_type = address_of("PyBytes_Type");
    (void)dlerror();
    if (p->runtime == 0) {
        return;
    }
    python.version = version != NULL ? *version : 1;
    p->layout = PYTHON_KNOWN && version != NULL && eval != 0 && p->code_type != 0 &&
                p->text_type != 0 && p->bytes_type != 0 ? python_layout_of(*version) : NULL;
    if (p->layout != NULL) {
        (void)dl_iterate_phdr(find_code, (void *)(uintptr_t)eval);
    }
}

/* FOLDER/PID.names, for this process. */
static void make_names(void)
{
    char path[600];
    void *names = MAP_FAILED;
    int file;
    if ((size_t)snprintf(path, sizeof path, "%s/%ld.names", python.folder, (long)getpid()) >=
        sizeof path) {
        return;
    }
    file = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644);
    if (file >= 0 && fallocate(file, 0, 0, sizeof *python.names) == 0) {
        names = mmap(NULL, sizeof *python.names, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    }
    if (file >= 0) {
        (void)close(file);
    }
    if (names != MAP_FAILED) {
        python.process = getpid();
        ((python_names *)names)->magic = PYTHON_MAGIC;
        __atomic_store_n(&python.names, (python_names *)names, __ATOMIC_RELEASE);
    }
}

void python_begin(const char *folder, bool may)
{
    python.folder = folder;
    python.may = may;
}

uint32_t python_version(void)
{
    return python.version;
}

void python_thread_begin(python_room **room)
{
    static pid_t busy;         /* the process of the thread that is in here; a fork copies it */
    const pid_t own = getpid();
    void *made = *room;
    python_room *old = *room;
    pid_t other = 0;
    *room = NULL;
    if (python.folder == NULL || python.sealed) {
        return;
    }
    for (int k = 0; !__atomic_compare_exchange_n(&busy, &other, own, false, __ATOMIC_ACQUIRE,
                                                 __ATOMIC_RELAXED); k++) {
        if (k == BUSY) {
            return;                         /* it does without names */
        }
        if (other == own) {
            other = 0;
            (void)sched_yield();
        }
    }
    if (python.place.layout == NULL) {
        find_python();
    }
    if (python.may && python.place.layout != NULL && python.process != getpid()) {
        make_names();
    }
    if (python.process == getpid() && old == NULL) {
        made = mmap(NULL, sizeof *old, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        made = made != MAP_FAILED ? made : NULL;
    }
    if (python.process == getpid() && made != NULL) {
        old = (python_room *)made;
        old->process = getpid();
        old->number = (uint64_t)syscall(SYS_gettid);
        *room = old;
    }
    __atomic_store_n(&busy, 0, __ATOMIC_RELEASE);
}

void python_seal(void)
{
    __atomic_store_n(&python.sealed, true, __ATOMIC_RELAXED);
}

uintptr_t *python_addresses(python_room *room)
{
    return room->addresses;
}

/* >>python waits */

void python_note(python_room *room, python_noted *noted, bool known, uintptr_t low, uintptr_t high)
{
    python_place p = place_of(room, read_now);
    const python_layout *l = p.layout;
    python_frame frames[PYTHON_NOTED];
    uint64_t thread, frame, outer, outer_frame;
    uint64_t cframe = 0;
    uint32_t left = PYTHON_NOTED;
    if (known && noted->cframe >= low && noted->cframe < high - 2 * sizeof low &&
        *(const volatile uintptr_t *)(noted->cframe + l->current) == noted->current) {
        return;                             /* a word of this thread's own stack */
    }
    memset(noted, 0, sizeof *noted);
    thread = python_thread(&p, room->number);
    if (thread == 0 || !python_word(&p, thread + l->cframe, &cframe) ||
        cframe == thread + l->root_cframe || cframe < low || cframe >= high ||
        !python_word(&p, cframe + l->current, &frame) ||
        !python_word(&p, cframe + l->outer, &outer) ||
        !python_word(&p, outer + l->current, &outer_frame)) {
        return;
    }
    noted->cframe = (uintptr_t)cframe;
    noted->current = (uintptr_t)frame;
    if (python_eval(&p, cframe, frame, outer_frame, frames, &noted->count, PYTHON_NOTED, &left)) {
        noted->offset = frames[0].offset;
        for (uint32_t i = 0; i < noted->count; i++) {
            noted->frames[i] = frames[i].frame;
            noted->codes[i] = frames[i].code;
        }
    } else {
        noted->count = 0;
    }
}

/* How many of the outermost functions of a call of the interpreter's loop were there then. */
static uint32_t were_there(const python_noted *noted, const python_frame *frames, uint32_t count)
{
    uint32_t same = 0;
    while (same < count && same < noted->count &&
           frames[count - 1 - same].frame == noted->frames[noted->count - 1 - same] &&
           frames[count - 1 - same].code == noted->codes[noted->count - 1 - same]) {
        same++;
    }
    return same;
}

/* >>python weaving */

typedef struct weaving {
    python_room *room;
    python_place place;
    uint32_t native;           /* frames */
    uint32_t outside;          /* the first of these that was there before; beyond all: none */
    const python_noted *noted;
    uint32_t python;           /* frames */
    uint32_t inside;           /* those of that call of the interpreter's loop which were not there */
    uintptr_t *addresses, *records;
    uint32_t count, capacity;
    bool marked;
} weaving;

static void put(weaving *w, uintptr_t address, uintptr_t record, bool was_there)
{
    if (w->count == w->capacity) {
        return;
    }
    if (was_there && !w->marked && w->count > 0) {
        record = 1;
        w->marked = true;
    }
    w->addresses[w->count] = address;
    w->records[w->count++] = record;
}

static bool is_interpreter(uintptr_t address)
{
    return address >= python.low && address < python.high;
}

static void put_native(weaving *w, uint32_t i)
{
    const uintptr_t *all = w->room->addresses;
    put(w, all[i], all[PYTHON_NATIVE + i], i >= w->outside);
}

/* As python_made, with less to read. */
static uint64_t made_of(weaving *w, uint32_t k, bool *shown)
{
    python_room *room = w->room;
    const python_frame *f = &room->frames[k];
    python_code code;
    made_line *line;
    uint64_t key;
    *shown = true;
    if (k >= room->code_count) {
        return python_made(&w->place, f, python.names, room->table, shown);
    }
    if (!python_parse_code(&w->place, room->codes[k], &code)) {
        return 0;
    }
    key = python_key(f->code, &code);
    line = &room->lines[(key + f->offset) % LINES];
    *shown = !python_is_incomplete(f, &code);
    if (*shown && (line->key != key || line->offset != f->offset || line->made == 0)) {
        line->made = python_made(&w->place, f, python.names, room->table, shown);
        line->key = key;
        line->offset = f->offset;
    }
    return *shown ? line->made : 0;
}

/* The native frames inside of a function in Python; without the interpreter's own between that and
 * other code. */
static void put_inside(weaving *w, uint32_t from, uint32_t to, bool innermost)
{
    uint32_t inner = from;
    for (uint32_t i = from; i < to; i++) {
        inner = is_interpreter(w->room->addresses[i]) ? inner : i + 1;
    }
    for (uint32_t i = from; i < to; i++) {
        if (!is_interpreter(w->room->addresses[i]) || (innermost && (i < inner || inner == from))) {
            put_native(w, i);
        }
    }
}

/* Those of one call of the interpreter's loop, which runs in native frame `home`. Returns the next
 * function. */
static uint32_t put_python(weaving *w, uint32_t from, uint32_t home)
{
    const python_frame *frames = w->room->frames;
    const uint32_t begun = w->count;
    uint32_t end = from;
    while (end < w->python && frames[end].cframe == frames[from].cframe) {
        end++;
    }
    for (uint32_t k = from; k < end; k++) {
        bool shown;
        bool was_there = home > w->outside || (home == w->outside && k - from >= w->inside);
        uint64_t made = made_of(w, k, &shown);
        uintptr_t record = w->count == 0 ? w->room->addresses[PYTHON_NATIVE + home] : 0;
        if (made != 0) {
            put(w, (uintptr_t)made, record, was_there);
        } else if (shown) {
            put(w, w->room->addresses[home], record, was_there);
        }
    }
    if (w->count == begun) {
        put_native(w, home);
    }
    return end;
}

/* The native frame that a call of the interpreter's loop runs in: the records of functions are above
 * what they have on the stack. */
static uint32_t home_of(const weaving *w, uint64_t cframe, uint32_t from)
{
    const uintptr_t *records = w->room->addresses + PYTHON_NATIVE;
    uint32_t at = from;
    while (at < w->native && records[at] != 0 && records[at] <= cframe) {
        at++;
    }
    return at < w->native && records[at] != 0 ? at : w->native;
}

/* If the call of the interpreter's loop that the thread waited in goes on, and has returned from what
 * waited, the first function that was there is one of its own. What the native stack tells is less: all
 * that the interpreter calls has one return address. */
static void part_python(weaving *w)
{
    const python_frame *frames = w->room->frames;
    uint32_t from = 0, end, same;
    while (from < w->python && frames[from].cframe != w->noted->cframe) {
        from++;
    }
    for (end = from; end < w->python && frames[end].cframe == w->noted->cframe; end++) {
    }
    same = were_there(w->noted, frames + from, end - from);
    if (same == 0 || (same == end - from && same == w->noted->count &&
                      frames[from].offset == w->noted->offset)) {
        return;
    }
    w->outside = home_of(w, w->noted->cframe, 0);
    w->inside = end - from - same;
    w->inside += w->inside == 0 && from == 0;           /* the innermost one does the work */
}

uint32_t python_weave(python_room *room, uint32_t count, uint32_t outside,
                      const python_noted *noted, uintptr_t *addresses, uintptr_t *records,
                      uint32_t capacity)
{
    weaving w = { room, place_of(room, read_blocks), count, outside > 0 ? outside : UINT32_MAX,
                  noted, 0, 0, addresses, records, 0, capacity, false };
    uint32_t at = 0;
    int error = errno;
    memset(room->at, 0, sizeof room->at);
    w.python = python_stack(&w.place, python_thread(&w.place, room->number), room->frames,
                            PYTHON_FRAMES);
    read_codes(room, w.python);
    if (outside > 0 && noted != NULL && noted->count > 0) {
        part_python(&w);
    }
    for (uint32_t next = 0; next < w.python;) {
        uint32_t home = home_of(&w, room->frames[next].cframe, at);
        if (home == count) {
            break;
        }
        put_inside(&w, at, home, next == 0);
        next = put_python(&w, next, home);
        at = home + 1;
    }
    for (; at < count; at++) {
        put_native(&w, at);
    }
    errno = error;
    return w.count;
}

/* >>python names of waits */

/* "get_user (app.py:41)", or "get_user" where there is no room for more. */
static void write_name(const char *name, const char *file, uint32_t line, char *out, uint32_t size)
{
    if ((uint32_t)snprintf(out, size, "%s (%s:%u)", name, last_part(file), (unsigned)line) >= size) {
        (void)snprintf(out, size, "%s", name);
    }
}

bool python_within(python_room *room, char *out, uint32_t size)
{
    static unsigned char table[PYTHON_TABLE];
    static python_frame frames[PYTHON_FRAMES];
    static bool busy;
    python_place p = place_of(room, read_now);
    bool found = false;
    uint32_t count;
    if (__atomic_test_and_set(&busy, __ATOMIC_ACQUIRE)) {
        return false;
    }
    count = python_stack(&p, python_thread(&p, room->number), frames, PYTHON_FRAMES);
    for (uint32_t i = 0; i < count && !found; i++) {
        bool shown;
        uint64_t made = python_made(&p, &frames[i], python.names, table, &shown);
        const char *name = made != 0 ? python.names->text +
                                       python.names->rows[python_row_of(made)].text : "";
        const char *file = name + strlen(name) + 1;
        if (made != 0 && !python_is_library(file)) {
            write_name(name, file, python_line_of(made), out, size);
            found = true;
        }
    }
    __atomic_clear(&busy, __ATOMIC_RELEASE);
    return found;
}

#else

void python_begin(const char *folder, bool may)
{
    (void)folder;
    (void)may;
}

uint32_t python_version(void)
{
    return 0;
}

void python_thread_begin(python_room **room)
{
    *room = NULL;
}

void python_seal(void)
{
}

uintptr_t *python_addresses(python_room *room)
{
    (void)room;
    return NULL;
}

void python_note(python_room *room, python_noted *noted, bool known, uintptr_t low, uintptr_t high)
{
    (void)room;
    (void)noted;
    (void)known;
    (void)low;
    (void)high;
}

uint32_t python_weave(python_room *room, uint32_t count, uint32_t outside,
                      const python_noted *noted, uintptr_t *addresses, uintptr_t *records,
                      uint32_t capacity)
{
    (void)room;
    (void)count;
    (void)outside;
    (void)noted;
    (void)addresses;
    (void)records;
    (void)capacity;
    return 0;
}

bool python_within(python_room *room, char *out, uint32_t size)
{
    (void)room;
    (void)out;
    (void)size;
    return false;
}

#endif
