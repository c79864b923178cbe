/* attach_unwind.c - from a copy of a stack to the functions that called each other, by libdw or by
 * frame pointers, and what lies at their addresses; see attach.h */

#define _GNU_SOURCE 1
#include "attach.h"

#ifdef __linux__

#include <elf.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../run/board.h"
#include "demangle.h"
#include "../run/python.h"
#include "elf.h"
#include "elf_ranges.h"
#include "perf_map.h"

static pid_t watched_pid;
static uint64_t program_mark;  /* attach_program */

/* >>modules, by /proc/PID/maps */

typedef struct module {
    char path[512];            /* "": code that the program itself has made */
    uint64_t low, high, base;
    char build_id[2 * ELF_ID_BYTES + 1];
    elf_symbols symbols;
    elf_file elf;              /* that the ranges are read from */
    elf_ranges ranges;
    bool read;                 /* build id, symbols and ranges were looked for */
} module;

enum { MODULES = 512 };

static module modules[MODULES];
static size_t module_count;
static uint64_t looked_at;     /* when the maps were read */
static char program_path[512]; /* of the program's own file; "": not known yet */

/* What is added to the addresses in the file, for the segment that lies here. */
static uint64_t bias_of(int file, uint64_t low, uint64_t offset)
{
    Elf64_Ehdr head;
    Elf64_Phdr part;
    if (pread(file, &head, sizeof head, 0) != sizeof head ||
        memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_ident[EI_CLASS] != ELFCLASS64) {
        return low - offset;
    }
    for (unsigned i = 0; i < head.e_phnum; i++) {
        if (pread(file, &part, sizeof part, (off_t)(head.e_phoff + i * sizeof part)) !=
            sizeof part) {
            break;
        }
        if (part.p_type == PT_LOAD && (part.p_flags & PF_X) != 0 &&
            offset < part.p_offset + part.p_filesz && offset + 4096 > part.p_offset) {
            return low - (part.p_vaddr - part.p_offset + offset);
        }
    }
    return low - offset;
}

static void real_path(const module *m, char *path, size_t size)
{
    (void)snprintf(path, size, "/proc/%ld/root%s", (long)watched_pid, m->path);
}

static void add_module(const char *path, uint64_t low, uint64_t high, uint64_t offset)
{
    char real[600];
    module *last = module_count > 0 ? &modules[module_count - 1] : NULL;
    int file;
    if (last != NULL && last->high == low && strcmp(last->path, path) == 0) {
        last->high = high;
        return;
    }
    if (module_count == MODULES) {
        return;
    }
    last = &modules[module_count++];
    memset(last, 0, sizeof *last);
    (void)snprintf(last->path, sizeof last->path, "%s", path);
    last->low = low;
    last->high = high;
    last->elf.fd = -1;
    real_path(last, real, sizeof real);
    file = path[0] == '/' ? open(real, O_RDONLY | O_CLOEXEC) : -1;
    last->base = file >= 0 ? bias_of(file, low, offset) : low;
    if (file >= 0) {
        (void)close(file);
    }
}

static void forget_modules(void)
{
    for (size_t i = 0; i < module_count; i++) {
        elf_symbols_free(&modules[i].symbols);
        elf_ranges_free(&modules[i].ranges);
        elf_file_close(&modules[i].elf);
    }
    module_count = 0;
}

static void read_maps(void)
{
    char path[40];
    char line[700];
    FILE *file;
    (void)snprintf(path, sizeof path, "/proc/%ld/maps", (long)watched_pid);
    file = fopen(path, "r");
    looked_at = attach_now();
    if (file == NULL) {
        return;
    }
    if (module_count > 0 && attach_program(watched_pid) != program_mark) {
        (void)fclose(file);                 /* it has become another program */
        return;
    }
    forget_modules();
    while (fgets(line, sizeof line, file) != NULL) {
        uint64_t low;
        uint64_t high;
        uint64_t offset;
        char rights[8];
        int at = 0;
        line[strcspn(line, "\n")] = '\0';
        if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %*s %*s %n", &low, &high, rights,
                   &offset, &at) >= 4 && at > 0 && strchr(rights, 'x') != NULL) {
            add_module(line + at, low, high, offset);
        }
    }
    (void)fclose(file);
}

static module *module_at(uint64_t address)
{
    for (size_t i = 0; i < module_count; i++) {
        if (address >= modules[i].low && address < modules[i].high) {
            return &modules[i];
        }
    }
    return NULL;
}

/* The same, after another look if it is in none. */
static module *find_module(uint64_t address)
{
    module *m = module_at(address);
    if (m == NULL && !python_is_address(address) && attach_now() - looked_at > 1000000000u) {
        read_maps();
        m = module_at(address);
    }
    return m;
}

static void read_symbols(module *m)
{
    char real[600];
    if (m->read) {
        return;
    }
    m->read = true;
    real_path(m, real, sizeof real);
    if (m->path[0] == '/' && elf_file_open(&m->elf, real) == NULL) {
        (void)snprintf(m->build_id, sizeof m->build_id, "%s", m->elf.build_id);
        elf_symbols_read(&m->symbols, &m->elf);
        elf_ranges_read(&m->ranges, &m->elf);
    }
}

void attach_learn(const uint64_t *frames, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        module *m = find_module(frames[i] - (i > 0));
        if (m != NULL) {
            read_symbols(m);
        }
    }
}

static void describe_module(const module *m, attach_module *out)
{
    char link[40];
    const char *name;
    (void)snprintf(link, sizeof link, "/proc/%ld/exe", (long)watched_pid);
    ssize_t count = program_path[0] == '\0'
                    ? readlink(link, program_path, sizeof program_path - 1) : 0;
    if (count > 0) {
        program_path[count] = '\0';
    }
    name = last_part(m->path);
    out->path = m->path;
    (void)snprintf(out->build_id, sizeof out->build_id, "%s", m->build_id);
    out->base = m->base;
    out->start = m->low;
    out->end = m->high;
    out->program = strcmp(m->path, program_path) == 0;
    out->loops = is_loop_library(name);
    out->libc = strncmp(name, "libc.so", 7) == 0 || strncmp(name, "libc-", 5) == 0 ||
                strncmp(name, "ld-", 3) == 0 || strncmp(name, "libpthread", 10) == 0;
}

bool attach_find(uint64_t address, attach_module *out)
{
    module *m = find_module(address);
    if (m == NULL) {
        return false;
    }
    read_symbols(m);
    describe_module(m, out);
    return true;
}

bool attach_module_at(size_t number, attach_module *out, char *real, size_t size)
{
    if (number >= module_count) {
        return false;
    }
    describe_module(&modules[number], out);
    real_path(&modules[number], real, size);
    return true;
}

static bool is_made(uint64_t address)
{
    const module *m = find_module(address);
    return m != NULL && m->path[0] == '\0';
}

/* The program writes it as it goes on. */
static const char *made_name(uint64_t address)
{
    static perf_map map;
    static uint64_t read_at;
    const char *name = perf_map_name(&map, address);
    if (name == NULL && attach_now() - read_at > 1000000000u) {
        perf_map_free(&map);
        perf_map_read(&map, (uint64_t)watched_pid);
        read_at = attach_now();
        name = perf_map_name(&map, address);
    }
    return name;
}

const char *attach_symbol(uint64_t address)
{
    module *m = find_module(address);
    if (m == NULL) {
        return NULL;
    }
    if (m->path[0] == '\0') {
        return made_name(address);
    }
    read_symbols(m);
    return elf_function(&m->symbols, address - m->base);
}

void attach_name(uint64_t address, char *out, size_t size)
{
    const char *symbol = python_is_address(address) ? NULL : attach_symbol(address);
    const module *m = find_module(address);
    char *readable = symbol != NULL ? demangled(symbol) : NULL;
    made_code made;
    if (python_is_address(address)) {
        attach_python_name(address, out, size);
    } else if (symbol != NULL && m != NULL && m->path[0] == '\0') {
        perf_map_split(symbol, &made);
        (void)snprintf(out, size, "%s", made.function);
    } else if (symbol != NULL) {
        (void)snprintf(out, size, "%s", readable != NULL ? readable : symbol);
    } else if (m != NULL && m->path[0] == '\0') {
        (void)snprintf(out, size, "code without a name");
    } else if (m != NULL) {
        uint64_t begin = address - m->base;
        (void)elf_range_of(&m->ranges, address - m->base, &begin);
        (void)snprintf(out, size, "%s+0x%" PRIx64, last_part(m->path), begin);
    } else {
        (void)snprintf(out, size, "0x%" PRIx64, address);
    }
    free(readable);
}

/* >>stacks, each kept once */

enum { STACKS = ATTACH_STACKS, WORDS = 1 << 22 };

typedef struct kept {
    uint32_t at, count;
} kept;

static kept stacks[STACKS];    /* number 0: none */
static uint64_t *words;
static uint32_t stack_count, word_count;
static uint32_t buckets[2 * STACKS];

uint32_t attach_keep(const uint64_t *frames, size_t count)
{
    uint64_t hash = count;
    uint32_t *bucket;
    for (size_t i = 0; i < count; i++) {
        hash = (hash ^ frames[i]) * UINT64_C(0x9E3779B97F4A7C15);
        hash ^= hash >> 29;
    }
    for (bucket = &buckets[hash % (2 * STACKS)]; *bucket != 0;
         bucket = bucket + 1 < buckets + 2 * STACKS ? bucket + 1 : buckets) {
        const kept *k = &stacks[*bucket];
        if (k->count == count && memcmp(words + k->at, frames, count * sizeof *frames) == 0) {
            return *bucket;
        }
    }
    words = words != NULL ? words : (uint64_t *)malloc(WORDS * sizeof *words);
    if (words == NULL || stack_count + 1 >= STACKS || word_count + count > WORDS || count == 0) {
        return 0;
    }
    *bucket = ++stack_count;
    stacks[stack_count].at = word_count;
    stacks[stack_count].count = (uint32_t)count;
    memcpy(words + word_count, frames, count * sizeof *frames);
    word_count += (uint32_t)count;
    return stack_count;
}

size_t attach_stack(uint32_t number, const uint64_t **frames)
{
    *frames = words != NULL ? words + stacks[number].at : NULL;
    return number != 0 ? stacks[number].count : 0;
}

/* >>unwinding */

static bool word_at(const attach_image *m, uint64_t address, uint64_t *out)
{
    if (address < m->stack || m->copied < 8 || address - m->stack > m->copied - 8) {
        return false;
    }
    memcpy(out, m->copy + (address - m->stack), 8);
    return true;
}

/* By frame pointers; [0] is there. */
static size_t walk_frames(const attach_image *m, uint64_t *frames, uint64_t *tops)
{
    uint64_t at = m->frame;
    uint64_t next;
    uint64_t back;
    size_t count = 1;
    tops[0] = 0;
    while (count < ATTACH_NATIVE && word_at(m, at, &next) && word_at(m, at + 8, &back) &&
           find_module(back) != NULL) {
        tops[count - 1] = at;
        tops[count] = 0;
        frames[count++] = back;
        if (next <= at) {
            break;
        }
        at = next;
    }
    return count;
}

#if defined(CHROPROF_LIBDW) && defined(__x86_64__)

#include <elfutils/libdwfl.h>
#include <elfutils/version.h>

static Dwfl *dwfl;
static const attach_image *image_now;
static uint64_t registers_now[17];
static uint64_t reported_at;

static bool whole;             /* the last stack was, up to where its thread begins */

enum { FRAME_POINTER = 6, STACK_POINTER = ATTACH_STACK, CODE_POINTER = ATTACH_CODE, BLIND = 8 };

typedef struct walk {
    uint64_t *frames;
    uint64_t *tops;
    size_t count;
} walk;

static pid_t next_thread(Dwfl *d, void *user, void **thread)
{
    (void)d;
    (void)user;
    if (*thread != NULL) {
        return 0;
    }
    *thread = &dwfl;
    return watched_pid;
}

static bool get_thread(Dwfl *d, pid_t tid, void *user, void **thread)
{
    (void)d;
    (void)tid;
    (void)user;
    *thread = &dwfl;
    return true;
}

static bool get_word(Dwfl *d, Dwarf_Addr address, Dwarf_Word *out, void *user)
{
    uint64_t value;
    (void)d;
    (void)user;
    if (!word_at(image_now, address, &value)) {
        return false;
    }
    *out = value;
    return true;
}

static bool set_registers(Dwfl_Thread *thread, void *user)
{
    Dwarf_Word all[17];
    (void)user;
    for (size_t i = 0; i < 17; i++) {
        all[i] = registers_now[i];
    }
    return dwfl_thread_state_registers(thread, 0, 17, all);
}

/* The stack pointer in a frame: above it is its part of the stack, below it the callee's. 0: this libdw
 * does not tell. */
static uint64_t stack_of(Dwfl_Frame *frame)
{
    Dwarf_Word stack = 0;
#if _ELFUTILS_PREREQ(0, 188)
    if (dwfl_frame_reg(frame, STACK_POINTER, &stack) != 0) {
        stack = 0;
    }
#else
    (void)frame;
#endif
    return stack;
}

static int take_frame(Dwfl_Frame *frame, void *user)
{
    walk *w = (walk *)user;
    Dwarf_Addr code;
    bool exact;
    if (!dwfl_frame_pc(frame, &code, &exact) || w->count == ATTACH_NATIVE) {
        return DWARF_CB_ABORT;
    }
    w->tops[w->count] = 0;
    if (w->count > 0) {
        w->tops[w->count - 1] = stack_of(frame);
    }
    w->frames[w->count++] = code;
    return DWARF_CB_OK;
}

/* libdw gives up, with -1, where a file lies in the memory under two names one after the other, as a
 * profile may that was renamed. What lies below that it knows then. */
static bool report_modules(void)
{
    reported_at = attach_now();
    dwfl_report_begin(dwfl);
    return dwfl_linux_proc_report(dwfl, watched_pid) <= 0 && dwfl_report_end(dwfl, NULL, NULL) == 0;
}

static bool begin_dwfl(void)
{
    static char *debug_path;
    static const Dwfl_Callbacks callbacks = { dwfl_linux_proc_find_elf,
                                              dwfl_standard_find_debuginfo, NULL, &debug_path };
    static const Dwfl_Thread_Callbacks threads = { next_thread, get_thread, get_word,
                                                   set_registers, NULL, NULL };
    dwfl = dwfl_begin(&callbacks);
    if (dwfl != NULL && (!report_modules() ||
                         !dwfl_attach_state(dwfl, NULL, watched_pid, &threads, NULL))) {
        dwfl_end(dwfl);
        dwfl = NULL;
    }
    return dwfl != NULL;
}

static bool has_rule(Dwarf_CFI *table, Dwarf_Addr address)
{
    Dwarf_Frame *rule = NULL;
    bool found = table != NULL && dwarf_cfi_addrframe(table, address, &rule) == 0;
    free(rule);
    return found;
}

/* false: the file has rules to unwind by, but none for this place. */
static bool is_unwindable(uint64_t code)
{
    static struct {
        uint64_t code;
        bool ok;
    } known[1024];
    size_t place = code % 1024;
    if (known[place].code != code) {
        Dwfl_Module *m = dwfl_addrmodule(dwfl, code);
        Dwarf_Addr eh_bias = 0;
        Dwarf_Addr debug_bias = 0;
        Dwarf_CFI *eh = m != NULL ? dwfl_module_eh_cfi(m, &eh_bias) : NULL;
        Dwarf_CFI *debug = m != NULL ? dwfl_module_dwarf_cfi(m, &debug_bias) : NULL;
        known[place].code = code;
        known[place].ok = (eh == NULL && debug == NULL) || has_rule(eh, code - eh_bias) ||
                          has_rule(debug, code - debug_bias);
    }
    return known[place].ok;
}

/* Where the stack of a frame begins; 0: not known. */
static uint64_t stack_at(const walk *w, size_t i)
{
    return i == 0 ? image_now->stack : w->tops[i - 1];
}

/* The first frame that was left by guess; as many as there are: none. */
static size_t guessed(const walk *w, size_t from)
{
    for (size_t i = from; i < w->count; i++) {
        if (stack_at(w, i) != 0 && !is_unwindable(w->frames[i] - (i > 0))) {
            return i;
        }
    }
    return w->count;
}

/* From there on by the words of the stack, until there are rules again; false: nothing is found. */
static bool walk_blind(walk *w, size_t from)
{
    uint64_t begin = stack_at(w, from);
    uint64_t stack = begin;
    uint64_t code = w->frames[from];
    for (size_t n = 0; n < BLIND && from + n + 1 < ATTACH_NATIVE; n++) {
        uint64_t place;
        uint64_t back;
        if (!attach_caller(watched_pid, image_now, stack, code, &place, &back)) {
            w->count = n > 0 ? from + n + 1 : w->count;
            return false;
        }
        if (is_unwindable(back - 1)) {
            memcpy(registers_now, image_now->registers, sizeof registers_now);
            registers_now[CODE_POINTER] = back;
            registers_now[STACK_POINTER] = place + 8;
            registers_now[FRAME_POINTER] = attach_frame_pointer(image_now, begin, place);
            w->count = from + n + 1;
            whole = dwfl_getthread_frames(dwfl, watched_pid, take_frame, w) == 0;
            return w->count > from + n + 1;
        }
        w->frames[from + n + 1] = code = back;
        w->tops[from + n] = stack = place + 8;
        w->tops[from + n + 1] = 0;
    }
    return false;
}

/* Do the rules say that nothing called this code? */
static bool is_start(uint64_t code)
{
    Dwfl_Module *m = dwfl_addrmodule(dwfl, code);
    Dwarf_Addr bias = 0;
    Dwarf_CFI *table = m != NULL ? dwfl_module_eh_cfi(m, &bias) : NULL;
    Dwarf_Frame *rule = NULL;
    Dwarf_Op memory[3];
    Dwarf_Op *ops = NULL;
    size_t count = 1;
    bool start = table != NULL && dwarf_cfi_addrframe(table, code - bias, &rule) == 0 &&
                 dwarf_frame_register(rule, CODE_POINTER, memory, &ops, &count) == 0 &&
                 count == 0 && ops == memory;
    free(rule);
    return start;
}

enum { MADE_WORDS = 256, MADE_TRIES = 8 };

/* Nobody knows the rules of code that the program has made: its caller is where the first word of its
 * stack leads that lies behind a call, and from which the rules lead to the start. */
static bool walk_behind_made(walk *w, size_t from)
{
    uint64_t begin = stack_at(w, from);
    size_t tries = 0;
    for (size_t n = 0; begin != 0 && n < MADE_WORDS && tries < MADE_TRIES; n++) {
        uint64_t place = begin + 8 * n;
        uint64_t back;
        if (!word_at(image_now, place, &back) || dwfl_addrmodule(dwfl, back - 1) == NULL ||
            !attach_is_behind_call(watched_pid, back)) {
            continue;
        }
        tries++;
        memcpy(registers_now, image_now->registers, sizeof registers_now);
        registers_now[CODE_POINTER] = back;
        registers_now[STACK_POINTER] = place + 8;
        registers_now[FRAME_POINTER] = attach_frame_pointer(image_now, begin, place);
        w->count = from + 1;
        w->tops[from] = place + 8;
        whole = dwfl_getthread_frames(dwfl, watched_pid, take_frame, w) == 0;
        if (w->count > from + 1 && is_start(w->frames[w->count - 1] - 1)) {
            return true;
        }
    }
    return false;
}

/* Where no caller of such code is found the stack is cut: a guess may lead anywhere. */
static void cut(walk *w)
{
    size_t count = w->count;
    for (size_t i = 0; i < w->count; i++) {
        const module *m = find_module(w->frames[i] - (i > 0));
        if (m == NULL || m->path[0] == '\0') {
            if (dwfl != NULL && walk_behind_made(w, i)) {
                return;
            }
            w->count = count;
            w->count = m == NULL && i > 0 ? i : i + 1;
            whole = false;
        }
    }
}

size_t attach_unwind(const attach_image *image, uint64_t *frames, uint64_t *tops)
{
    walk w = { frames, tops, 0 };
    image_now = image;
    whole = false;
    memcpy(registers_now, image->registers, sizeof registers_now);
    if (dwfl != NULL && dwfl_addrmodule(dwfl, image->code) == NULL &&
        !is_made(image->code) &&
        attach_now() - reported_at > 1000000000u) {
        (void)report_modules();
    }
    if (dwfl != NULL) {
        whole = dwfl_getthread_frames(dwfl, watched_pid, take_frame, &w) == 0;
    }
    for (size_t i = 0; (i = guessed(&w, i)) < w.count; i++) {
        if (!walk_blind(&w, i)) {
            whole = false;
            break;
        }
    }
    cut(&w);
    if (w.count < 2 && !is_made(image->code)) {
        frames[0] = image->code;
        w.count = walk_frames(image, frames, tops);
    }
    return w.count;
}

/* From the last frame on to the start; false: not found. Words that earlier calls left may look like
 * that of the call that led there, but no way to the start begins at them. */
static bool reaches_start(walk *w, unsigned depth)
{
    const size_t count = w->count;
    const uint64_t code = w->frames[count - 1];
    uint64_t place = stack_at(w, count - 1);
    uint64_t back;
    if (is_start(code - (count > 1))) {
        return true;
    }
    for (size_t n = 0; depth < BLIND && place != 0 && n < BLIND &&
         attach_called_from(watched_pid, image_now, place, code, &place, &back); n++) {
        memset(registers_now, 0, sizeof registers_now);
        registers_now[CODE_POINTER] = back;
        registers_now[STACK_POINTER] = place + 8;
        (void)word_at(image_now, place - 8, &registers_now[FRAME_POINTER]);
        w->count = count;
        w->tops[count - 1] = place + 8;
        (void)dwfl_getthread_frames(dwfl, watched_pid, take_frame, w);
        if (w->count > count && reaches_start(w, depth + 1)) {
            return true;
        }
        place += 8;
    }
    return false;
}

size_t attach_unwind_asleep(const attach_image *image, uint64_t *frames, uint64_t *tops)
{
    walk w = { frames, tops, attach_unwind(image, frames, tops) };
    bool found = dwfl != NULL && w.count > 0 && reaches_start(&w, 0);
    if (dwfl != NULL && !found && attach_now() - reported_at > 1000000000u) {
        (void)report_modules();             /* it may lead through a file that was loaded since */
        read_maps();
        w.count = attach_unwind(image, frames, tops);
        found = w.count > 0 && reaches_start(&w, 0);
    }
    return found ? w.count : 0;
}

bool attach_is_whole(void)
{
    return whole;
}

void attach_unwind_end(void)
{
    if (dwfl != NULL) {
        dwfl_end(dwfl);
        dwfl = NULL;
    }
}
#else
static bool begin_dwfl(void)
{
    return true;
}

size_t attach_unwind(const attach_image *image, uint64_t *frames, uint64_t *tops)
{
    frames[0] = image->code;
    return walk_frames(image, frames, tops);
}

size_t attach_unwind_asleep(const attach_image *image, uint64_t *frames, uint64_t *tops)
{
    (void)image;
    (void)frames;
    (void)tops;
    return 0;
}

bool attach_is_whole(void)
{
    return false;
}

void attach_unwind_end(void)
{
}
#endif

void attach_modules_begin(pid_t pid)
{
    watched_pid = pid;
    program_path[0] = '\0';
    program_mark = attach_program(pid);
    read_maps();
}

bool attach_unwind_begin(pid_t pid)
{
    attach_modules_begin(pid);
    (void)begin_dwfl();
    return module_count > 0;
}

#endif
