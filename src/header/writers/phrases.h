/* writers/phrases.h */
#pragma once
#include "../interface/types.h"
#include "../interface/reading.h"
#include "../interface/sampler.h"
#include "../writers/words.h"

/* >>findings: what stands out, in sentences that a person can act on. Owns the rules of what is
 * worth a sentence and in which order. Relies on the public reads alone, so a view, a difference
 * and a merged profile have findings too. The text report, the JSON and the command show them. */

enum {
    CHROPROF__FINDS_EARLY_MS = 100,    /* a shorter profile is mostly the program's start */
    CHROPROF__FINDS_WINDOWS = 128,     /* RISING looks at so many at most */
    CHROPROF__FINDS_NAME = 40,         /* bytes of a name, so that the whole sentence fits */
    CHROPROF__FINDS_FILE = 28,
    CHROPROF__FINDS_CAUSE = 90,
    CHROPROF__FINDS_FRAMES = 12        /* of a sampled stack, from its innermost */
};

/* Places in the list, the first ones last. What is grave stands further in front. */
enum {
    CHROPROF__PLACE_FULL = 20,
    CHROPROF__PLACE_SATURATES = 27,    /* after FINE, which it may go with */
    CHROPROF__PLACE_FINE = 28,         /* after what makes a loop slow, before what lacks detail */
    CHROPROF__PLACE_ORDER = 29,
    CHROPROF__PLACE_FULL_GRAVE = 29,   /* time is billed to another name, not only detail lost */
    CHROPROF__PLACE_COST = 35,
    CHROPROF__PLACE_BROKEN_OFF = 36,   /* a server may be killed while it is well */
    CHROPROF__PLACE_QUEUES = 38,
    CHROPROF__PLACE_LEAKS = 40,
    CHROPROF__PLACE_STUTTERS = 44,     /* after the stalls */
    CHROPROF__PLACE_STALL = 45,
    CHROPROF__PLACE_DELAYS = 47,
    CHROPROF__PLACE_OCCUPIES = 50, CHROPROF__PLACE_UNINSTRUMENTED = 50,
    CHROPROF__PLACE_RISING = 52,       /* says more than the average that OCCUPIES has */
    CHROPROF__PLACE_PREEMPTED = 53,    /* changes what OCCUPIES means */
    CHROPROF__PLACE_STALL_GRAVE = 60,
    CHROPROF__PLACE_UNINSTRUMENTED_GRAVE = 65,     /* explains the longest stall, too */
    CHROPROF__PLACE_SPINS = 70,        /* nothing else that is said of the loop is true then */
    CHROPROF__PLACE_ORDER_GRAVE = 75,
    CHROPROF__PLACE_NO_IDLE = 80,      /* waits and work can't be told apart */
    CHROPROF__PLACE_HANGS = 90
};

/* One reading of a profile for its findings. */
typedef struct chroprof__inquiry {
    const chroprof *p;
    chroprof_totals totals;
    uint64_t work;                 /* that is not idle */
    chroprof_rank top[2];          /* by exec; zero where there are fewer */
    chroprof_stall stall;          /* the longest one that was kept; length 0: none */
    bool lost;                     /* a full table forgot futures: they are unknown since */
    bool bare;                     /* chroprof run made it: there is no code to be changed */
    bool leaks;                    /* LEAKS tells of a site */
    bool occupies;                 /* OCCUPIES tells of the first site */
    uint32_t hung;                 /* HANGS tells of this site; 0: of none */
    uint64_t stall_ns, max_events;
    chroprof_finding *out;
    size_t capacity, count;
    uint64_t keys[CHROPROF_FINDING_COUNT];     /* of those found, largest first */
    char no_text[1];               /* empty: gcc makes writable data of a pair of literals */
} chroprof__inquiry;

/* What may be a finding, and what is said of it so far. Each function that makes one says what the
 * sentence needs, and why. */
typedef struct chroprof__case {
    chroprof_finding_kind kind;
    uint32_t place;                /* the larger comes first; equal ones by their share */
    uint32_t site, line;
    const char *name, *file;       /* of what the sentence is about */
    uint64_t share, share_of;
    uint64_t value_ns, at_ns;
    chroprof__phrase said;
} chroprof__case;

/* Parts in a million, rounded down; whole 0: none. */
static uint32_t chroprof__ppm(uint64_t part, uint64_t whole)
{
    for (; whole >> 32 || part >> 43; part >>= 1)
        whole >>= 1;
    uint64_t ppm = whole ? part * 1000000 / whole : 0;
    return ppm < UINT32_MAX ? (uint32_t)ppm : UINT32_MAX;
}

/* Is it at least so many parts in a million? */
static bool chroprof__is_part(uint64_t part, uint64_t whole, uint32_t least_ppm)
{
    return chroprof__ppm(part, whole) >= least_ppm;
}

/* A case about so much of the elapsed time. site NULL: about the loop's own. */
static chroprof__case chroprof__case_of(const chroprof__inquiry *q, chroprof_finding_kind kind,
                                        uint32_t place, const chroprof_rank *site, uint64_t ns)
{
    chroprof__case c;
    memset(&c, 0, sizeof(c));               /* what is behind the text is 0 as well */
    c.kind = kind;
    c.place = place;
    c.share = c.value_ns = ns;
    c.share_of = q->totals.elapsed_ns;
    c.name = site ? site->name : "uninstrumented code";
    c.file = site ? site->file : "";
    c.line = site ? site->line : 0;
    c.site = site ? site->id : 0;
    return c;
}

/* What sentences are made of. */

/* One code point of a name, as UTF-8 that no terminal obeys, with a NUL. */
static void chroprof__safe_code(const char **name, char *out)
{
    uint32_t code = chroprof__next_code(name);
    bool safe = code >= 0x20 && code != CHROPROF__NO_CODE && !chroprof__steers(code);
    out[chroprof__encode(safe ? code : '?', out)] = 0;
}

/* A name in at most `most` bytes; a longer one loses its middle. */
static void chroprof__say_name(chroprof__phrase *s, const char *name, uint32_t most)
{
    char code[5];
    const char *at = name;
    size_t bytes = 0, before = 0;
    for (; *at != 0; bytes += strlen(code))
        chroprof__safe_code(&at, code);
    size_t head = bytes <= most ? bytes : (most - 3) / 2, tail = bytes <= most ? bytes
                                                                               : bytes - head;
    for (at = name; *at != 0; before += strlen(code)) {
        chroprof__safe_code(&at, code);
        if (before + strlen(code) <= head || before >= tail)
            chroprof__say_text(s, code);
        else if (before <= head)
            chroprof__say_text(s, "...");
    }
}

/* More of the sentence: figures as chroprof__say says them, */
static void chroprof__tell(chroprof__case *c, const char *text, const uint64_t *figures)
{
    chroprof__say(&c->said, text, figures);
}

/* what to do, where that fits: a sentence that breaks off tells nothing, */
static void chroprof__tell_cure(chroprof__case *c, const char *text)
{
    if (strlen(text) < sizeof(c->said.text) - c->said.used)
        chroprof__tell(c, text, NULL);
}

/* a name, */
static void chroprof__tell_name(chroprof__case *c, const char *name, uint32_t most)
{
    chroprof__say_name(&c->said, name, most);
}

/* and what it is about: name (file:line) */
static void chroprof__tell_site(chroprof__case *c)
{
    const char *base = chroprof__base_name(c->file);
    const uint64_t line[] = { c->line };
    chroprof__tell_name(c, *c->name ? c->name : "(empty)", CHROPROF__FINDS_NAME);
    if (*base == 0)
        return;
    chroprof__tell(c, " (", NULL);
    chroprof__tell_name(c, base, CHROPROF__FINDS_FILE);
    chroprof__tell(c, c->line ? ":%d)" : ")", line);
}

/* A name of the C library or of the kernel's code tells nobody where to look. */
static bool chroprof__is_c_library(const char *module)
{
    static const char begins[][12] = {
        "libc.", "libc-", "libm.", "libm-", "libpthread", "libthr.", "libsystem_", "ld-",
        "linux-vdso"
    };
    const char *base = chroprof__base_name(module);
    size_t k = 0;
    while (k < sizeof(begins) / sizeof(begins[0]) && strncmp(base, begins[k], strlen(begins[k])))
        k++;
    return k < sizeof(begins) / sizeof(begins[0]);
}

/* The innermost function with a name; own: of the program, or else of a library; not own: of the C
 * library, if that is innermost, so that it may wait. "": none is known, as outside of the process
 * that was sampled. */
static const char *chroprof__sampled_function(const chroprof *p, uint32_t stack, bool own)
{
    chroprof_stack_frame frames[CHROPROF__FINDS_FRAMES];
    chroprof_origin origin;
    const char *name = "";
    size_t count = chroprof_stack(p, stack, frames, CHROPROF__FINDS_FRAMES);
    if (count == 0)                         /* the origin asks the system */
        return name;
    chroprof_read_origin(p, &origin);
    for (size_t k = 0; k < count && k < CHROPROF__FINDS_FRAMES; k++) {
        const char *module = frames[k].module;
        bool of_c = chroprof__is_c_library(module);
        if (frames[k].kind != CHROPROF_FRAME_NATIVE || (own && of_c))
            continue;
        if (!own && !of_c)                  /* what the C library was called by does not wait */
            break;
        if (frames[k].name[0] == 0)
            continue;
        bool of_program = strcmp(chroprof__base_name(module), origin.program) == 0;
        name = *name == 0 || of_program ? frames[k].name : name;
        if (!own || of_program)
            break;
    }
    return name;
}

/* Takes the case into the list. */
static void chroprof__report(chroprof__inquiry *q, const chroprof__case *c)
{
    uint32_t share_ppm = chroprof__ppm(c->share, c->share_of);
    uint64_t key = (uint64_t)c->place << 32 | share_ppm;
    size_t k = q->count;
    for (q->count++; k > 0 && q->keys[k - 1] < key; k--) {
        q->keys[k] = q->keys[k - 1];
        if (k < q->capacity)
            q->out[k] = q->out[k - 1];
    }
    q->keys[k] = key;
    if (k >= q->capacity)
        return;
    q->out[k].kind = c->kind;
    q->out[k].site = c->site;
    q->out[k].share_ppm = share_ppm;
    q->out[k].value_ns = c->value_ns;
    q->out[k].at_ns = c->at_ns;
    memcpy(q->out[k].text, c->said.text, sizeof c->said.text);
}
