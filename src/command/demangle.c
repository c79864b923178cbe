/* demangle.c - see demangle.h */

#include "demangle.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "../../chroprof.h"

#if defined(CHROPROF_LIBIBERTY)
extern char *cplus_demangle_v3(const char *name, int options);
extern char *rust_demangle(const char *name, int options);
#elif defined(CHROPROF_DEMANGLE)
extern char *__cxa_demangle(const char *name, char *buffer, size_t *size, int *status);
#endif

#if defined(CHROPROF_LIBIBERTY)

static char *demangle_any(const char *name)
{
    enum { WITH_PARAMETERS = 1, WITH_QUALIFIERS = 2 };
    char *readable = rust_demangle(name, 0);
    return readable != NULL ? readable
                            : cplus_demangle_v3(name, WITH_PARAMETERS | WITH_QUALIFIERS);
}

#elif defined(CHROPROF_DEMANGLE)

/* Cuts the hash that ends a name of Rust's older mangling: foo::bar::h0123456789abcdef. */
static char *demangle_without_hash(char *name)
{
    size_t length = name != NULL ? strlen(name) : 0;
    char *hash = length > 19 ? name + length - 19 : NULL;
    if (hash != NULL && strncmp(hash, "::h", 3) == 0 &&
        strspn(hash + 3, "0123456789abcdef") == 16) {
        *hash = '\0';
    }
    return name;
}

static char *demangle_any(const char *name)
{
    return name[1] == 'Z' ? demangle_without_hash(__cxa_demangle(name, NULL, NULL, NULL)) : NULL;
}

#else

static char *demangle_any(const char *name)
{
    (void)name;
    return NULL;
}

#endif

char *demangled(const char *name)
{
    bool mangled = name[0] == '_' && (name[1] == 'Z' || name[1] == 'R');
    return mangled && strnlen(name, DEMANGLE_LONGEST) < DEMANGLE_LONGEST ? demangle_any(name)
                                                                         : NULL;
}
