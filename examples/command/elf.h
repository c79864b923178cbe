/* elf.h - what chroprof symbolize must know of an ELF file itself: its build id, and which function
 * of its symbol tables an address is in. Files of either byte order and of 32 or 64 bits; every
 * offset in them is distrusted. */

enum { ELF_NOTE = 7, ELF_SYMTAB = 2, ELF_DYNSYM = 11, ELF_BUILD_ID = 3, ELF_FUNCTION = 2 };

#define ELF_MOST_BYTES (UINT64_C(1) << 31)    /* of a table that is read into memory */
#define ELF_MOST_NOTES (UINT64_C(1) << 20)    /* bytes of notes that are looked through */
#define ELF_ID_BYTES 64

typedef struct elf_file {
    int fd;                    /* -1: closed */
    bool wide, big;            /* of 64 bits; the most significant byte first */
    uint64_t section_at;       /* of the first section header */
    uint64_t section_size, section_count;
    char build_id[2 * ELF_ID_BYTES + 1];
} elf_file;

typedef struct elf_section {
    uint64_t type, offset, size, link;
} elf_section;

static bool elf_bytes(const elf_file *f, uint64_t at, void *bytes, size_t count)
{
    return at <= INT64_MAX && pread(f->fd, bytes, count, (off_t)at) == (ssize_t)count;
}

static uint64_t elf_number(const elf_file *f, const unsigned char *bytes, size_t count)
{
    uint64_t value = 0;
    for (size_t i = 0; i < count; i++) {
        value = value << 8 | bytes[f->big ? i : count - 1 - i];
    }
    return value;
}

/* The field at one place in files of 32 bits, at another in those of 64. */
static uint64_t elf_field(const elf_file *f, const unsigned char *bytes, size_t narrow_at,
                          size_t narrow, size_t wide_at, size_t wide)
{
    return f->wide ? elf_number(f, bytes + wide_at, wide)
                   : elf_number(f, bytes + narrow_at, narrow);
}

static bool elf_section_read(const elf_file *f, uint64_t index, elf_section *section)
{
    unsigned char header[64];
    if (index >= f->section_count || f->section_at > INT64_MAX ||
        !elf_bytes(f, f->section_at + index * f->section_size, header, f->wide ? 64 : 40)) {
        return false;
    }
    section->type = elf_number(f, header + 4, 4);
    section->offset = elf_field(f, header, 16, 4, 24, 8);
    section->size = elf_field(f, header, 20, 4, 32, 8);
    section->link = elf_field(f, header, 24, 4, 40, 4);
    return true;
}

/* >>elf build id */

static void elf_set_id(elf_file *f, const unsigned char *id, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        (void)snprintf(f->build_id + 2 * i, 3, "%02x", id[i]);
    }
}

/* Looks through one section of notes: each its lengths, type, name and content. */
static bool elf_find_id(elf_file *f, const elf_section *notes)
{
    unsigned char note[16 + ELF_ID_BYTES];
    uint64_t at = 0;
    while (at < notes->size && at < ELF_MOST_NOTES &&
           elf_bytes(f, notes->offset + at, note, 16)) {
        uint64_t name = elf_number(f, note, 4);
        uint64_t count = elf_number(f, note + 4, 4);
        bool is_id = elf_number(f, note + 8, 4) == ELF_BUILD_ID && name == 4 &&
                     memcmp(note + 12, "GNU", 4) == 0;
        if (is_id && count > 0 && count <= ELF_ID_BYTES &&
            elf_bytes(f, notes->offset + at + 16, note + 16, (size_t)count)) {
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
    for (uint64_t i = 0; elf_section_read(f, i, &section); i++) {
        if (section.type == ELF_NOTE && elf_find_id(f, &section)) {
            return;
        }
    }
}

/* >>elf files */

static void elf_close(elf_file *f)
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
    f->section_at = elf_field(f, header, 32, 4, 40, 8);
    f->section_size = elf_field(f, header, 46, 2, 58, 2);
    f->section_count = elf_field(f, header, 48, 2, 60, 2);
    return true;
}

/* NULL, or why it cannot be used. Nothing but a plain file is opened: the name comes from outside,
 * and opening a device or a pipe may have effects. */
static const char *elf_open(elf_file *f, const char *path)
{
    struct stat facts;
    memset(f, 0, sizeof *f);
    f->fd = -1;
    if (stat(path, &facts) != 0) {
        return strerror(errno);
    }
    if (!S_ISREG(facts.st_mode)) {
        return "this is no plain file";
    }
    f->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (f->fd < 0) {
        return strerror(errno);
    }
    if (fstat(f->fd, &facts) != 0 || !S_ISREG(facts.st_mode) || !elf_read_header(f)) {
        elf_close(f);
        return "this is no ELF file";
    }
    elf_read_id(f);
    return NULL;
}

/* >>elf symbols: its functions by address */

typedef struct elf_symbol {
    uint64_t address, size;
    size_t name;               /* offset in names */
} elf_symbol;

typedef struct elf_symbols {
    elf_symbol *list;
    size_t count;
    unsigned char *names;      /* ends in a zero byte */
    size_t name_bytes;
} elf_symbols;

static void elf_symbols_free(elf_symbols *s)
{
    free(s->list);
    free(s->names);
    memset(s, 0, sizeof *s);
}

static unsigned char *elf_load(const elf_file *f, const elf_section *section)
{
    unsigned char *bytes = NULL;
    if (section->size > 0 && section->size < ELF_MOST_BYTES) {
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

static void elf_add_symbols(elf_symbols *s, const elf_file *f, const unsigned char *table,
                            uint64_t bytes)
{
    size_t each = f->wide ? 24 : 16;
    for (; bytes >= each; bytes -= each, table += each) {
        elf_symbol *symbol = &s->list[s->count];
        bool defined = elf_field(f, table, 14, 2, 6, 2) != 0;
        symbol->name = (size_t)elf_number(f, table, 4);
        symbol->address = elf_field(f, table, 4, 4, 8, 8);
        symbol->size = elf_field(f, table, 8, 4, 16, 8);
        s->count += defined && table[f->wide ? 4 : 12] % 16 == ELF_FUNCTION &&
                    symbol->name < s->name_bytes;
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
    unsigned char *table = elf_load(f, section);
    bool ok = table != NULL && elf_section_read(f, section->link, &strings);
    s->names = ok ? elf_load(f, &strings) : NULL;
    s->list = (elf_symbol *)calloc((size_t)(section->size / 16) + 1, sizeof *s->list);
    ok = ok && s->names != NULL && s->list != NULL;
    if (ok) {
        s->name_bytes = (size_t)strings.size;
        elf_add_symbols(s, f, table, section->size);
        qsort(s->list, s->count, sizeof *s->list, elf_lower_first);
    }
    free(table);
    if (!ok || s->count == 0) {
        elf_symbols_free(s);
    }
    return s->count > 0;
}

/* The table of all symbols, or, in a stripped file, of those that other files may use. */
static void elf_symbols_read(elf_symbols *s, const elf_file *f)
{
    static const uint64_t types[] = { ELF_SYMTAB, ELF_DYNSYM };
    elf_section section;
    memset(s, 0, sizeof *s);
    for (size_t k = 0; k < sizeof types / sizeof types[0]; k++) {
        for (uint64_t i = 0; elf_section_read(f, i, &section); i++) {
            if (section.type == types[k] && elf_symbols_from(s, f, &section)) {
                return;
            }
        }
    }
}

/* The function that the address is in; NULL: in none that has a name. The nearest one below would
 * be a lie in a stripped file. */
static const char *elf_function(const elf_symbols *s, uint64_t address)
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
