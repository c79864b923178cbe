/* elf_ranges.h - where the functions of an ELF file begin and end, by the table that exceptions
 * need (.eh_frame): stripped files have it as well. It knows no names. */

#ifndef COMMAND_ELF_RANGES_H
#define COMMAND_ELF_RANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "elf.h"

typedef struct elf_ranges {
    const elf_file *file;
    unsigned char *table;      /* of .eh_frame_hdr: pairs of a function and its row; NULL: none */
    size_t count;
    uint64_t from;             /* the address that the table's numbers are relative to */
} elf_ranges;

void elf_ranges_free(elf_ranges *r);

/* Without the table there are none. The file stays open meanwhile. */
void elf_ranges_read(elf_ranges *r, const elf_file *f);

/* Where the function begins that the address is in. false: that is not known. */
bool elf_range_of(const elf_ranges *r, uint64_t address, uint64_t *begin);

#endif
