/* elf.c - see elf.h */

#include "elf.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

enum { ELF_NULL = 0, ELF_NOTE = 7, ELF_NOBITS = 8, ELF_SYMTAB = 2, ELF_DYNSYM = 11 };
enum { ELF_BUILD_ID = 3, ELF_FUNCTION = 2, ELF_SEGMENT_NOTE = 4 };

typedef struct elf_section {
    uint64_t type, offset, size, link;
} elf_section;

bool elf_bytes(const elf_file *f, uint64_t at, void *bytes, size_t count)
{
    return at <= f->size && count <= f->size - at &&
           pread(f->fd, bytes, count, (off_t)at) == (ssize_t)count;
}

uint64_t elf_number(const elf_file *f, const unsigned char *bytes, size_t count)
{
    uint64_t value = 0;
    for (size_t i = 0; i < count; i++) {
        value = value << 8 | bytes[f->big ? i : count - 1 - i];
    }
    return value;
}

uint64_t elf_field(const elf_file *f, const unsigned char *bytes, const elf_place *place)
{
    return f->wide ? elf_number(f, bytes + place->wide_at, place->wide)
                   : elf_number(f, bytes + place->narrow_at, place->narrow);
}

/* Of the file's header. */
static const elf_place elf_section_at = { 32, 4, 40, 8 };
static const elf_place elf_section_size = { 46, 2, 58, 2 };
static const elf_place elf_section_count = { 48, 2, 60, 2 };
static const elf_place elf_segment_at = { 28, 4, 32, 8 };
static const elf_place elf_segment_size = { 42, 2, 54, 2 };
static const elf_place elf_segment_count = { 44, 2, 56, 2 };

/* Of a section's header, and of a segment's. */
static const elf_place elf_offset = { 16, 4, 24, 8 };
static const elf_place elf_size = { 20, 4, 32, 8 };
static const elf_place elf_link = { 24, 4, 40, 4 };
static const elf_place elf_segment_bytes = { 16, 4, 32, 8 };

/* Of a symbol. */
static const elf_place elf_symbol_section = { 14, 2, 6, 2 };
static const elf_place elf_symbol_value = { 4, 4, 8, 8 };
static const elf_place elf_symbol_size = { 8, 4, 16, 8 };

static bool elf_section_read(const elf_file *f, uint64_t index, elf_section *section)
{
    unsigned char header[64];
    if (index >= f->section_count ||
        !elf_bytes(f, f->section_at + index * f->section_size, header, f->wide ? 64 : 40)) {
        return false;
    }
    section->type = elf_number(f, header + 4, 4);
    section->offset = elf_field(f, header, &elf_offset);
    section->size = elf_field(f, header, &elf_size);
    section->link = elf_field(f, header, &elf_link);
    return true;
}

/* What a section holds, with a zero byte behind it; NULL: nothing, or more than the file. */
static unsigned char *elf_load(const elf_file *f, const elf_section *section, uint64_t most)
{
    unsigned char *bytes = NULL;
    if (section->size > 0 && section->size <= most && section->size <= f->size) {
        bytes = (unsigned char *)malloc((size_t)section->size + 1);
    }
    if (bytes != NULL && !elf_bytes(f, section->offset, bytes, (size_t)section->size)) {
        free(bytes);
        bytes = NULL;
    }
    if (bytes != NULL) {
        bytes[section->size] = '\0';
    }
    return bytes;
}

/* >>elf build id */

static void elf_set_id(elf_file *f, const unsigned char *id, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        (void)snprintf(f->build_id + 2 * i, 3, "%02x", id[i]);
    }
}

/* Looks through the notes of one section: each its lengths, type, name and content. */
static bool elf_find_id(elf_file *f, const unsigned char *notes, uint64_t size)
{
    uint64_t at = 0;
    while (at < size && size - at >= 16) {
        const unsigned char *note = notes + at;
        uint64_t name = elf_number(f, note, 4);
        uint64_t count = elf_number(f, note + 4, 4);
        bool is_id = elf_number(f, note + 8, 4) == ELF_BUILD_ID && name == 4 &&
                     memcmp(note + 12, "GNU", 4) == 0;
        if (is_id && count > 0 && count <= ELF_ID_BYTES && count <= size - at - 16) {
            elf_set_id(f, note + 16, (size_t)count);
            return true;
        }
        at += 12 + (name + 3) / 4 * 4 + (count + 3) / 4 * 4;
    }
    return false;
}

static void elf_read_id(elf_file *f)
{
    elf_section section;
    bool found = false;
    for (uint64_t i = 0; !found && elf_section_read(f, i, &section); i++) {
        unsigned char *notes = section.type == ELF_NOTE ? elf_load(f, &section, ELF_MOST_NOTES)
                                                        : NULL;
        found = notes != NULL && elf_find_id(f, notes, section.size);
        free(notes);
    }
}

/* >>elf files */

void elf_file_close(elf_file *f)
{
    if (f->fd >= 0) {
        (void)close(f->fd);
    }
    f->fd = -1;
}

static bool elf_read_header(elf_file *f)
{
    unsigned char header[64] = { 0 };
    if (!elf_bytes(f, 0, header, 52) || memcmp(header, "\177ELF", 4) != 0) {
        return false;
    }
    f->wide = header[4] == 2;
    f->big = header[5] == 2;
    if (f->wide && !elf_bytes(f, 0, header, 64)) {
        return false;
    }
    f->section_at = elf_field(f, header, &elf_section_at);
    f->section_size = elf_field(f, header, &elf_section_size);
    f->section_count = elf_field(f, header, &elf_section_count);
    f->segment_at = elf_field(f, header, &elf_segment_at);
    f->segment_size = elf_field(f, header, &elf_segment_size);
    f->segment_count = elf_field(f, header, &elf_segment_count);
    return true;
}

/* The headers of so many sections or segments lie inside the file. */
static bool elf_headers_fit(const elf_file *f, uint64_t at, uint64_t count, uint64_t each)
{
    return at <= f->size && count <= (f->size - at) / each;
}

/* Where there are too many sections for the file's header, the first one tells how many. */
static bool elf_count_sections(elf_file *f)
{
    uint64_t each = f->wide ? 64 : 40;
    elf_section first;
    if (f->section_count == 0 && f->section_at != 0) {
        f->section_count = 1;
        f->section_count = f->section_size == each && elf_section_read(f, 0, &first) ? first.size
                                                                                     : 0;
    }
    return f->section_count == 0 ||
           (f->section_size == each && elf_headers_fit(f, f->section_at, f->section_count, each));
}

/* Takes some bytes of those that are left; false: there are not so many. */
static bool elf_take(uint64_t *left, uint64_t bytes)
{
    bool enough = bytes <= *left;
    *left -= enough ? bytes : 0;
    return enough;
}

static bool elf_sections_fit(const elf_file *f)
{
    uint64_t left = f->size;
    elf_section section;
    for (uint64_t i = 0; elf_section_read(f, i, &section); i++) {
        if (section.type != ELF_NULL && section.type != ELF_NOBITS &&
            !elf_take(&left, section.size)) {
            return false;
        }
    }
    return true;
}

/* The same of the segments of notes, in which libdw looks for the build id. */
static bool elf_segments_fit(const elf_file *f)
{
    uint64_t left = f->size;
    uint64_t each = f->wide ? 56 : 32;
    unsigned char header[56];
    if (f->segment_count == 0) {
        return true;
    }
    if (f->segment_size != each ||
        !elf_headers_fit(f, f->segment_at, f->segment_count, each)) {
        return false;
    }
    for (uint64_t i = 0; i < f->segment_count; i++) {
        if (!elf_bytes(f, f->segment_at + i * each, header, (size_t)each) ||
            (elf_number(f, header, 4) == ELF_SEGMENT_NOTE &&
             !elf_take(&left, elf_field(f, header, &elf_segment_bytes)))) {
            return false;
        }
    }
    return true;
}

/* What kept an open file from being used; NULL: nothing. */
static const char *elf_problem(elf_file *f)
{
    struct stat facts;
    if (fstat(f->fd, &facts) != 0 || !S_ISREG(facts.st_mode)) {
        return "this is not a plain file";
    }
    f->size = facts.st_size > 0 ? (uint64_t)facts.st_size : 0;
    if (!elf_read_header(f)) {
        return "this is not an ELF file";
    }
    return elf_count_sections(f) && elf_sections_fit(f) && elf_segments_fit(f)
           ? NULL : "this ELF file is malformed";
}

const char *elf_file_open(elf_file *f, const char *path)
{
    struct stat facts;
    const char *problem;
    memset(f, 0, sizeof *f);
    f->fd = -1;
    if (stat(path, &facts) != 0) {
        return strerror(errno);
    }
    if (!S_ISREG(facts.st_mode)) {
        return "this is not a plain file";
    }
    f->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (f->fd < 0) {
        return strerror(errno);
    }
    problem = elf_problem(f);
    if (problem != NULL) {
        elf_file_close(f);
        return problem;
    }
    elf_read_id(f);
    return NULL;
}

/* >>elf symbols: its functions by address */

void elf_symbols_free(elf_symbols *s)
{
    free(s->list);
    free(s->names);
    memset(s, 0, sizeof *s);
}

static void elf_add_symbols(elf_symbols *s, const elf_file *f, const unsigned char *table,
                            uint64_t bytes)
{
    size_t each = f->wide ? 24 : 16;
    for (; bytes >= each; bytes -= each, table += each) {
        elf_symbol *symbol = &s->list[s->count];
        bool defined = elf_field(f, table, &elf_symbol_section) != 0;
        symbol->name = (size_t)elf_number(f, table, 4);
        symbol->address = elf_field(f, table, &elf_symbol_value);
        symbol->size = elf_field(f, table, &elf_symbol_size);
        if (defined && table[f->wide ? 4 : 12] % 16 == ELF_FUNCTION &&
            symbol->name < s->name_bytes) {
            s->count++;
            s->nim = s->nim || strcmp((const char *)s->names + symbol->name, "NimMain") == 0;
        }
    }
}

static int elf_lower_first(const void *a, const void *b)
{
    const elf_symbol *x = (const elf_symbol *)a;
    const elf_symbol *y = (const elf_symbol *)b;
    if (x->address != y->address) {
        return x->address < y->address ? -1 : 1;
    }
    return x->size < y->size ? -1 : x->size > y->size;
}

static bool elf_symbols_from(elf_symbols *s, const elf_file *f, const elf_section *section)
{
    elf_section strings;
    unsigned char *table = elf_load(f, section, ELF_MOST_BYTES);
    if (table != NULL && elf_section_read(f, section->link, &strings)) {
        s->names = elf_load(f, &strings, ELF_MOST_BYTES);
        s->name_bytes = (size_t)strings.size;
    }
    if (s->names != NULL) {
        s->list = (elf_symbol *)calloc((size_t)(section->size / 16) + 1, sizeof *s->list);
    }
    if (s->list != NULL) {
        elf_add_symbols(s, f, table, section->size);
        qsort(s->list, s->count, sizeof *s->list, elf_lower_first);
    }
    free(table);
    if (s->count == 0) {
        elf_symbols_free(s);
    }
    return s->count > 0;
}

/* The first table of this type: a sound file has no other. */
static bool elf_symbols_of(elf_symbols *s, const elf_file *f, uint64_t type)
{
    elf_section section;
    for (uint64_t i = 0; elf_section_read(f, i, &section); i++) {
        if (section.type == type) {
            return elf_symbols_from(s, f, &section);
        }
    }
    return false;
}

void elf_symbols_read(elf_symbols *s, const elf_file *f)
{
    memset(s, 0, sizeof *s);
    if (!elf_symbols_of(s, f, ELF_SYMTAB)) {
        (void)elf_symbols_of(s, f, ELF_DYNSYM);
    }
}

void elf_exports_read(elf_symbols *s, const elf_file *f)
{
    memset(s, 0, sizeof *s);
    (void)elf_symbols_of(s, f, ELF_DYNSYM);
}

uint64_t elf_export(const elf_file *f, const char *name)
{
    elf_section section, strings;
    size_t each = f->wide ? 24 : 16;
    uint64_t value = 0;
    uint64_t i = 0;
    unsigned char *table, *names = NULL;
    while (elf_section_read(f, i, &section) && section.type != ELF_DYNSYM) {
        i++;
    }
    table = elf_section_read(f, i, &section) ? elf_load(f, &section, ELF_MOST_BYTES) : NULL;
    if (table != NULL && elf_section_read(f, section.link, &strings)) {
        names = elf_load(f, &strings, ELF_MOST_BYTES);
    }
    for (uint64_t at = 0; names != NULL && value == 0 && section.size - at >= each; at += each) {
        uint64_t text = elf_number(f, table + at, 4);
        bool defined = elf_field(f, table + at, &elf_symbol_section) != 0;
        if (defined && text < strings.size && strcmp((const char *)names + text, name) == 0) {
            value = elf_field(f, table + at, &elf_symbol_value);
        }
    }
    free(table);
    free(names);
    return value;
}

const char *elf_function(const elf_symbols *s, uint64_t address)
{
    size_t low = 0;
    size_t high = s->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (s->list[middle].address <= address) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    if (low == 0 || address - s->list[low - 1].address >= s->list[low - 1].size) {
        return NULL;
    }
    return (const char *)s->names + s->list[low - 1].name;
}
