/* code_libdw.c - the addresses of a module by elfutils' libdw, in this process. Empty without
 * CHROPROF_LIBDW. */

#include "code.h"
#include "demangle.h"
#include "demangle_nim.h"
#include "elf.h"

#ifdef CHROPROF_LIBDW

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>


#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>

typedef struct libdw_module {
    Dwfl_Module *module;
    Dwarf_Addr bias;
    Dwarf_Die *last;           /* the unit that was found by looking through all; NULL: none yet */
    Dwarf_Addr last_bias;
} libdw_module;

/* A name as people write it. Of the two that a function has, the linkage name tells more if it can
 * be read, but of Nim, whose compiler may have C++ in between. */
static void libdw_call(code_texts *t, code_query *q, const char *linkage, const char *name,
                       const char *file, uint64_t line)
{
    char *readable = linkage != NULL && !nim_file(file) ? demangled(linkage) : NULL;
    name = readable != NULL ? readable : name != NULL ? name : linkage;
    if (name != NULL) {
        code_call(t, q, name, file, line);
    }
    free(readable);
}

/* The file as an absolute path, as addr2line has it. */
static const char *libdw_path(const char *directory, const char *file)
{
    static char path[8192];
    if (file == NULL) {
        return "";
    }
    if (file[0] == '/' || directory == NULL) {
        return file;
    }
    (void)snprintf(path, sizeof path, "%s/%s", directory, file);
    return path;
}

static const char *libdw_directory(Dwarf_Die *unit)
{
    Dwarf_Attribute attribute;
    return dwarf_formstring(dwarf_attr(unit, DW_AT_comp_dir, &attribute));
}

static uint64_t libdw_number(Dwarf_Die *die, unsigned name)
{
    Dwarf_Attribute attribute;
    Dwarf_Word value = 0;
    return dwarf_formudata(dwarf_attr(die, name, &attribute), &value) == 0 ? value : 0;
}

static const char *libdw_linkage(Dwarf_Die *die)
{
    Dwarf_Attribute attribute;
    const char *name = dwarf_formstring(dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute));
    return name != NULL ? name : dwarf_formstring(
        dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &attribute));
}

/* Where a call stood that was inlined. */
static const char *libdw_call_file(Dwarf_Die *unit, Dwarf_Die *inlined)
{
    Dwarf_Files *files;
    size_t count;
    uint64_t index = libdw_number(inlined, DW_AT_call_file);
    if (dwarf_getsrcfiles(unit, &files, &count) != 0 || index >= count) {
        return "";
    }
    return libdw_path(libdw_directory(unit), dwarf_filesrc(files, (size_t)index, NULL, NULL));
}

/* One call for each function in the scopes, from the inside out. */
static void libdw_scopes(code_texts *t, code_query *q, Dwarf_Die *unit, Dwarf_Die *scopes,
                         int count, const char *file, uint64_t line)
{
    for (int i = 0; i < count; i++) {
        int tag = dwarf_tag(&scopes[i]);
        if (tag != DW_TAG_inlined_subroutine && tag != DW_TAG_subprogram) {
            continue;
        }
        libdw_call(t, q, libdw_linkage(&scopes[i]), dwarf_diename(&scopes[i]), file, line);
        if (tag == DW_TAG_subprogram) {
            break;
        }
        file = libdw_call_file(unit, &scopes[i]);
        line = libdw_number(&scopes[i], DW_AT_call_line);
    }
}

/* The unit that the address is in. Not every compiler writes the table by which units are looked
 * up; without it they are asked one by one, and neighbors first. */
static Dwarf_Die *libdw_unit(libdw_module *m, Dwarf_Addr address, Dwarf_Addr *bias)
{
    Dwarf_Die *unit = dwfl_module_addrdie(m->module, address, bias);
    if (unit != NULL) {
        return unit;
    }
    if (m->last != NULL && dwarf_haspc(m->last, address - m->last_bias) == 1) {
        *bias = m->last_bias;
        return m->last;
    }
    while ((unit = dwfl_module_nextcu(m->module, unit, bias)) != NULL) {
        if (dwarf_haspc(unit, address - *bias) == 1) {
            m->last = unit;
            m->last_bias = *bias;
            return unit;
        }
    }
    return NULL;
}

static void libdw_calls(code_texts *t, code_query *q, Dwarf_Die *unit, Dwarf_Addr address,
                        const char *symbol)
{
    Dwarf_Line *place = dwarf_getsrc_die(unit, address);
    Dwarf_Die *around = NULL;
    Dwarf_Die *scopes = NULL;
    const char *file = NULL;
    int line = 0;
    int count = 0;
    if (!q->place && dwarf_getscopes(unit, address, &around) > 0) {
        count = dwarf_getscopes_die(around, &scopes);
    }
    if (place != NULL && dwarf_lineno(place, &line) == 0 && line > 0) {
        file = dwarf_linesrc(place, NULL, NULL);
    }
    file = libdw_path(libdw_directory(unit), file);
    if (q->place) {
        libdw_call(t, q, symbol, NULL, file, line > 0 ? (uint64_t)line : 0);
    }
    libdw_scopes(t, q, unit, scopes, count, file, line > 0 ? (uint64_t)line : 0);
    free(scopes);
    free(around);
}

static void libdw_find(libdw_module *module, const code_module *m, code_query *q, code_texts *t)
{
    Dwarf_Addr address = q->address + module->bias;
    Dwarf_Addr bias;
    Dwarf_Die *unit = libdw_unit(module, address, &bias);
    const char *symbol = elf_function(&m->symbols, q->address);
    if (unit != NULL) {
        libdw_calls(t, q, unit, address - bias, symbol);
    }
    if (q->calls == 0 && symbol != NULL) {
        code_symbol(m, q, t, symbol);
    }
    code_end(t, q);
}

static bool libdw_open(libdw_module *module, Dwfl *dwfl, const char *path)
{
    memset(module, 0, sizeof *module);
    module->module = dwfl != NULL ? dwfl_report_offline(dwfl, path, path, -1) : NULL;
    return module->module != NULL && dwfl_report_end(dwfl, NULL, NULL) == 0 &&
           dwfl_module_getelf(module->module, &module->bias) != NULL;
}

void code_find(const code_module *m, code_query *queries, size_t count, code_texts *t)
{
    static char *debug_path;   /* NULL: the places where every system has debug information */
    static const Dwfl_Callbacks callbacks = {
        dwfl_build_id_find_elf, dwfl_standard_find_debuginfo, dwfl_offline_section_address,
        &debug_path
    };
    Dwfl *dwfl = dwfl_begin(&callbacks);
    libdw_module module;
    bool ok = libdw_open(&module, dwfl, m->path);
    for (size_t i = 0; i < count; i++) {
        if (ok) {
            libdw_find(&module, m, &queries[i], t);
        } else {
            code_by_symbols(m, &queries[i], t);
        }
    }
    dwfl_end(dwfl);
}

#endif
