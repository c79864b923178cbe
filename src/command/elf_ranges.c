/* elf_ranges.c - see elf_ranges.h */

#include "elf_ranges.h"

#include <stdlib.h>
#include <string.h>

enum { SEGMENT_LOAD = 1, SEGMENT_EH_FRAME = 0x6474e550 };
enum { ENCODED_HEADER = 0x1b, ENCODED_COUNT = 0x03, ENCODED_TABLE = 0x3b };  /* as linkers write */
enum { PAIR = 8, CIE_BYTES = 64 };

typedef struct segment {
    uint64_t type, offset, address, size;
} segment;

/* Of a segment's header. */
static const elf_place segment_offset = { 4, 4, 8, 8 };
static const elf_place segment_address = { 8, 4, 16, 8 };
static const elf_place segment_size = { 16, 4, 32, 8 };

static bool read_segment(const elf_file *f, uint64_t index, segment *out)
{
    unsigned char header[56];
    if (index >= f->segment_count || f->segment_size != (f->wide ? 56 : 32) ||
        !elf_bytes(f, f->segment_at + index * f->segment_size, header, (size_t)f->segment_size)) {
        return false;
    }
    out->type = elf_number(f, header, 4);
    out->offset = elf_field(f, header, &segment_offset);
    out->address = elf_field(f, header, &segment_address);
    out->size = elf_field(f, header, &segment_size);
    return true;
}

/* The bytes that are loaded to an address. */
static bool bytes_at(const elf_file *f, uint64_t address, void *bytes, size_t count)
{
    segment s;
    for (uint64_t i = 0; read_segment(f, i, &s); i++) {
        if (s.type == SEGMENT_LOAD && address >= s.address && address - s.address <= s.size &&
            count <= s.size - (address - s.address)) {
            return elf_bytes(f, s.offset + (address - s.address), bytes, count);
        }
    }
    return false;
}

static uint64_t signed_number(const elf_file *f, const unsigned char *bytes)
{
    return (uint64_t)(int64_t)(int32_t)(uint32_t)elf_number(f, bytes, 4);
}

/* Addresses have 32 bits in files of 32. */
static uint64_t relative(const elf_file *f, uint64_t base, const unsigned char *bytes)
{
    uint64_t address = base + signed_number(f, bytes);
    return f->wide ? address : address & UINT32_MAX;
}

void elf_ranges_free(elf_ranges *r)
{
    free(r->table);
    memset(r, 0, sizeof *r);
}

void elf_ranges_read(elf_ranges *r, const elf_file *f)
{
    unsigned char head[12];
    segment s;
    uint64_t i = 0;
    uint64_t count;
    memset(r, 0, sizeof *r);
    r->file = f;
    while (read_segment(f, i, &s) && s.type != SEGMENT_EH_FRAME) {
        i++;
    }
    if (i >= f->segment_count || s.size < sizeof head || s.size > ELF_MOST_BYTES ||
        s.size > f->size || !elf_bytes(f, s.offset, head, sizeof head) || head[0] != 1 ||
        head[1] != ENCODED_HEADER || head[2] != ENCODED_COUNT || head[3] != ENCODED_TABLE) {
        return;
    }
    count = elf_number(f, head + 8, 4);
    if (count == 0 || count > (s.size - sizeof head) / PAIR) {
        return;
    }
    r->table = (unsigned char *)malloc((size_t)count * PAIR);
    if (r->table != NULL && elf_bytes(f, s.offset + sizeof head, r->table, (size_t)count * PAIR)) {
        r->count = (size_t)count;
        r->from = s.address;
    }
}

/* >>ranges rows: how long a function is stands in its row of .eh_frame, in a form that the row of
 * its unit tells */

static bool skip_leb(const unsigned char *bytes, size_t *at)
{
    while (*at < CIE_BYTES && (bytes[*at] & 0x80) != 0) {
        ++*at;
    }
    return ++*at < CIE_BYTES;
}

/* 0: it is not known. */
static size_t width_of(const elf_file *f, unsigned encoding)
{
    switch (encoding & 0x0f) {
    case 0x00: return f->wide ? 8 : 4;
    case 0x03: case 0x0b: return 4;
    case 0x04: case 0x0c: return 8;
    default: return 0;
    }
}

/* Of the letters behind z, up to R. */
static size_t width_by_letters(const elf_file *f, const unsigned char *bytes, size_t letters,
                               size_t at)
{
    for (; bytes[letters] != 'R'; letters++) {
        size_t pointer = bytes[letters] == 'P' && at < CIE_BYTES ? width_of(f, bytes[at]) : 0;
        if (bytes[letters] == 'P' && pointer == 0) {
            return 0;
        }
        if (strchr("PLSB", bytes[letters]) == NULL || bytes[letters] == '\0') {
            return 0;
        }
        at += (bytes[letters] == 'L') + (pointer > 0 ? 1 + pointer : 0);
    }
    return at < CIE_BYTES ? width_of(f, bytes[at]) : 0;
}

/* How many bytes the addresses of the rows of a unit have, by the unit's row. 0: not known. */
static size_t address_width(const elf_file *f, uint64_t unit)
{
    unsigned char bytes[CIE_BYTES + 1] = { 0 };
    size_t at = 10;            /* length, id, version, z */
    if (!bytes_at(f, unit, bytes, CIE_BYTES) || bytes[9] != 'z') {
        return 0;
    }
    while (at < CIE_BYTES && bytes[at] != '\0') {
        at++;
    }
    at++;
    if (at >= CIE_BYTES || !skip_leb(bytes, &at) || !skip_leb(bytes, &at)) {
        return 0;
    }
    if (bytes[8] == 1) {
        at++;                  /* the register of the return address */
    } else if (!skip_leb(bytes, &at)) {
        return 0;
    }
    return at < CIE_BYTES && skip_leb(bytes, &at) ? width_by_letters(f, bytes, 10, at) : 0;
}

/* 0: it is not known. */
static uint64_t row_length(const elf_file *f, uint64_t row)
{
    unsigned char head[8];
    unsigned char length[8];
    uint64_t back;
    size_t width;
    if (!bytes_at(f, row, head, sizeof head) || elf_number(f, head, 4) == UINT32_MAX) {
        return 0;
    }
    back = elf_number(f, head + 4, 4);
    width = back > 0 && back <= row + 4 ? address_width(f, row + 4 - back) : 0;
    return width > 0 && bytes_at(f, row + 8 + width, length, width)
           ? elf_number(f, length, width) : 0;
}

bool elf_range_of(const elf_ranges *r, uint64_t address, uint64_t *begin)
{
    size_t low = 0;
    size_t high = r->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (relative(r->file, r->from, r->table + middle * PAIR) <= address) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    if (low == 0) {
        return false;
    }
    *begin = relative(r->file, r->from, r->table + (low - 1) * PAIR);
    return address - *begin < row_length(r->file,
                                         relative(r->file, r->from,
                                                  r->table + (low - 1) * PAIR + 4));
}
