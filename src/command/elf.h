/* elf.h - what chroprof symbolize must know of an ELF file itself: its build id, and which function
 * of its symbol tables an address is in. Files of either byte order and of 32 or 64 bits; every
 * offset in them is distrusted.
 *
 * In a sound file no two sections share bytes. elf_file_open() refuses a file whose sections are
 * together longer than the file, so that whoever reads each section once, as we and libdw do, reads
 * no more than the file holds. */

#ifndef COMMAND_ELF_H
#define COMMAND_ELF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ELF_MOST_BYTES (UINT64_C(1) << 31)    /* of a table that is read into memory */
#define ELF_MOST_NOTES (UINT64_C(1) << 20)    /* bytes of a section of notes */
#define ELF_ID_BYTES 64

typedef struct elf_file {
    int fd;                    /* -1: closed */
    bool wide, big;            /* of 64 bits; the most significant byte first */
    uint64_t size;             /* of the file */
    uint64_t section_at;       /* of the first section header */
    uint64_t section_size, section_count;
    uint64_t segment_at, segment_size, segment_count;    /* the same of the program headers */
    char build_id[2 * ELF_ID_BYTES + 1];
} elf_file;

void elf_file_close(elf_file *f);

/* NULL, or why it cannot be used. Nothing but a plain file is opened: the name comes from outside,
 * and opening a device or a pipe may have effects. */
const char *elf_file_open(elf_file *f, const char *path);

/* Bytes of the file; false: it has none there. */
bool elf_bytes(const elf_file *f, uint64_t at, void *bytes, size_t count);

uint64_t elf_number(const elf_file *f, const unsigned char *bytes, size_t count);

/* Where a field lies, and its bytes: in files of 32 bits (narrow), and in those of 64. */
typedef struct elf_place {
    uint8_t narrow_at, narrow, wide_at, wide;
} elf_place;

uint64_t elf_field(const elf_file *f, const unsigned char *bytes, const elf_place *place);

typedef struct elf_symbol {
    uint64_t address, size;
    size_t name;               /* offset in names */
} elf_symbol;

typedef struct elf_symbols {
    elf_symbol *list;
    size_t count;
    unsigned char *names;      /* ends in a zero byte */
    size_t name_bytes;
    bool nim;                  /* a program that Nim's compiler made */
} elf_symbols;

void elf_symbols_free(elf_symbols *s);

/* The table of all symbols, or, in a stripped file, of those that other files may use. */
void elf_symbols_read(elf_symbols *s, const elf_file *f);

/* Only the table of those that other files may use. */
void elf_exports_read(elf_symbols *s, const elf_file *f);

/* What other files see under this name, code or data: where it lies. 0: nothing. */
uint64_t elf_export(const elf_file *f, const char *name);

/* The function that the address is in; NULL: in none that has a name. The nearest one below would
 * be a lie in a stripped file. */
const char *elf_function(const elf_symbols *s, uint64_t address);

#endif
