/* writers/phrases.h */
#pragma once
#include "../interface/types.h"
#include "../interface/reading.h"
#include "../interface/sampler.h"
#include "../writers/words.h"

/* >>findings: what stands out, in sentences that a person can act on. Owns the rules of what is
 * worth a sentence and in which order. Relies on the public reads alone, so a view, a difference
 * and a merged profile have findings too. The text report, the JSON and the command show them. */

/* What a kind needs before it is said, and its place. grave: its place if the figures of other
 * findings depend on it. All of the least values must be reached. */
typedef struct chroprof__finding_rule {
    uint8_t place, grave;          /* the larger comes first; equal ones by share_ppm */
    uint32_t share_ppm;            /* least share of the elapsed time */
    uint32_t part_ppm;             /* least part of what the sentence compares it with */
    uint32_t value_ms;
    uint32_t count;
} chroprof__finding_rule;

enum {
    CHROPROF__FINDS_EARLY_MS = 100,    /* a shorter profile is mostly the program's start */
    CHROPROF__FINDS_WINDOWS = 128,     /* RISING looks at so many at most */
    CHROPROF__FINDS_NAME = 40,         /* bytes of a name, so that the whole sentence fits */
    CHROPROF__FINDS_FILE = 28,
    CHROPROF__FINDS_CAUSE = 90,
    CHROPROF__FINDS_FRAMES = 12        /* of a sampled stack, from its innermost */
};

static const chroprof__finding_rule chroprof__finding_rules[CHROPROF_FINDING_COUNT] = {
    /* OCCUPIES: below 20 % of the run the loop has room for five times as much; below 25 % of the
     * time that was not idle it is one of many. It must lead the next site by a quarter. */
    { 50, 50, 200000, 250000, 0, 0 },
    /* RISING: it says more than the average that OCCUPIES has. Below 20 % of the last quarter it is
     * no load; 500000: in the first quarter at most half as much; 4 windows: fewer are a burst. */
    { 52, 52, 200000, 500000, 0, 4 },
    /* UNINSTRUMENTED: as a site, but from 10 % on, as it hides what else there is. grave: the
     * longest stall is a part of it, so it explains that too. */
    { 50, 65, 100000, 250000, 0, 0 },
    /* NO_IDLE: first of all but HANGS, since waits and work can't be told apart. Below 20 % the
     * loop may be too busy to wait; half a second may be the program's start. */
    { 80, 80, 200000, 0, 500, 0 },
    /* STALL: stall_ns is the user's own threshold. grave: from 100 ms on people notice. */
    { 45, 60, 0, 0, 0, 1 },
    /* DELAYS: a site that had 25 % of the blame, while 0.1 tasks waited on average (count is in
     * thousandths): with fewer the loop is nowhere near full. */
    { 47, 47, 0, 250000, 0, 100 },
    /* HANGS: a second without an event, in a task; what is shorter will be a stall. */
    { 90, 90, 0, 0, 1000, 0 },
    /* LEAKS: see chroprof__leaks. */
    { 40, 40, 0, 0, 0, 100 },
    /* PREEMPTED: it changes what OCCUPIES means. Half of its time without CPU; 50 samples know that
     * half within 15 points. */
    { 53, 53, 50000, 500000, 0, 50 },
    /* COST: from 2 % on it disturbs what is measured; see chroprof__find_cost. */
    { 35, 35, 20000, 0, 1, 0 },
    /* FULL: grave: time is billed to another name, not only detail lost. */
    { 20, 29, 0, 0, 0, 1 },
    /* ORDER: a few come with attaching to a program under way; 0.1 % of the events do not. grave:
     * much time is untracked for it. */
    { 29, 75, 0, 1000, 0, 10 },
    /* FINE: after what makes a loop slow, before what only lacks detail. */
    { 28, 28, 0, 0, 0, 0 },
    /* SPINS: it takes a processor, and nothing else that is said of the loop is true then. 5,000
     * waits a second, of all those nine in ten. */
    { 70, 70, 0, 900000, 0, 5000 },
    /* QUEUES: a tenth of a second is felt, ten futures are no accident; see chroprof__queues. */
    { 38, 38, 0, 0, 100, 10 },
    /* SATURATES: below 60 % there is room for much more. After FINE, which it may go with. */
    { 27, 27, 600000, 0, 1000, 100 },
    /* STUTTERS: twice a second is often, and 5 % of the run is felt. After the stalls. */
    { 44, 44, 50000, 0, 0, 2 }
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
    bool occupies;                 /* OCCUPIES tells of the first site */
    uint64_t stall_ns, max_events;
    chroprof_finding *out;
    size_t capacity, count;
    uint64_t keys[CHROPROF_FINDING_COUNT];     /* of those found, largest first */
} chroprof__inquiry;

/* What may be a finding: the figures that its rule judges, and those of its sentence. */
typedef struct chroprof__case {
    chroprof_finding_kind kind;
    bool grave;
    uint32_t site, line;
    const char *name, *file;       /* %s of the sentence */
    uint64_t share, share_of;
    uint64_t part, whole;
    uint64_t value_ns, at_ns, count;
    uint64_t n[5];                 /* %T0: n[0] as a time, and so on; see chroprof__say_case */
    const char *fact, *cure;       /* %f, %u: phrases with a %n, or without */
    const char *held;              /* %h: ", mostly in " this, if it is not NULL */
    const char *other;             /* %n: another site's, or that of a function; "": none */
} chroprof__case;

/* Parts in a million, rounded down; whole 0: none. */
static uint32_t chroprof__ppm(uint64_t part, uint64_t whole)
{
    for (; whole >> 32 || part >> 43; part >>= 1)
        whole >>= 1;
    uint64_t ppm = whole ? part * 1000000 / whole : 0;
    return ppm < UINT32_MAX ? (uint32_t)ppm : UINT32_MAX;
}

/* A case about so much of the elapsed time, n[0] of n[1], and if its rule asks for a part, of the
 * time that was not idle. site NULL: about the loop's own. */
static chroprof__case chroprof__case_of(const chroprof__inquiry *q, chroprof_finding_kind kind,
                                        const chroprof_rank *site, uint64_t ns)
{
    chroprof__case c;
    memset(&c, 0, sizeof(c));
    c.kind = kind;
    c.share = c.part = c.value_ns = c.n[0] = ns;
    c.whole = q->work;
    c.share_of = c.n[1] = q->totals.elapsed_ns;
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

/* name (file:line) */
static void chroprof__say_site(chroprof__phrase *s, const chroprof__case *c)
{
    const char *base = chroprof__base_name(c->file);
    chroprof__say_name(s, *c->name ? c->name : "(empty)", CHROPROF__FINDS_NAME);
    if (*base == 0)
        return;
    chroprof__say_text(s, " (");
    chroprof__say_name(s, base, CHROPROF__FINDS_FILE);
    chroprof__say_text(s, c->line ? ":" : "");
    if (c->line)
        chroprof__say_fixed(s, c->line, 0, 1);
    chroprof__say_text(s, ")");
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

/* Words with at most the other name in them, as %n. */
static void chroprof__say_phrase(chroprof__phrase *s, const chroprof__case *c, const char *words)
{
    char one[2] = { 0, 0 };
    for (; *words != 0; words++) {
        one[0] = *words;
        if (*words == '%')
            chroprof__say_name(s, c->other, CHROPROF__FINDS_FILE);
        else
            chroprof__say_text(s, one);
        words += *words == '%';
    }
}

/* A sentence with figures in it: %T0 says n[0] as chroprof__say_figure does, %p01 n[0] as a share
 * of n[1], %x0 tenths; %s is the site, %o its bare name, %n the other name, %w that with more of
 * it. */
static void chroprof__say_case(chroprof__phrase *s, const chroprof__case *c, const char *sentence)
{
    char one[2] = { 0, 0 };
    for (; *sentence != 0; sentence++) {
        one[0] = *sentence;
        if (*sentence != '%') {
            chroprof__say_text(s, one);
            continue;
        }
        char how = *++sentence;
        if (how == 'h') {
            chroprof__say_text(s, c->held ? ", mostly in " : "");
            chroprof__say_name(s, c->held ? c->held : "", CHROPROF__FINDS_CAUSE);
        } else if (how == 'f' || how == 'u') {
            chroprof__say_phrase(s, c, how == 'f' ? c->fact : c->cure);
        } else if (how == 's') {
            chroprof__say_site(s, c);
        } else if (how == 'o') {
            chroprof__say_text(s, c->name);
        } else if (how == 'n') {
            chroprof__say_name(s, c->other, CHROPROF__FINDS_FILE);
        } else if (how == 'w') {
            chroprof__say_name(s, c->other, CHROPROF__FINDS_CAUSE);
        } else if (how == 'p') {
            const uint64_t pair[] = { c->n[sentence[1] - '0'], c->n[sentence[2] - '0'] };
            chroprof__say_figure(s, how, pair);
            sentence += 2;
        } else {
            chroprof__say_figure(s, how == 'x' ? 'f' : how, c->n + (*++sentence - '0'));
        }
    }
}

/* Takes the case into the list if the rule of its kind allows it. The sentence: what was found,
 * more of it or NULL, what to do. */
static void chroprof__report(chroprof__inquiry *q, const chroprof__case *c, const char *fact,
                             const char *more, const char *cure)
{
    const chroprof__finding_rule *rule = chroprof__finding_rules + c->kind;
    uint32_t share_ppm = chroprof__ppm(c->share, c->share_of);
    uint64_t key = (uint64_t)(c->grave ? rule->grave : rule->place) << 32 | share_ppm;
    size_t k = q->count;
    chroprof__phrase said;
    if (share_ppm < rule->share_ppm || c->count < rule->count ||
        chroprof__ppm(c->part, c->whole) < rule->part_ppm || c->value_ns / 1000000 < rule->value_ms)
        return;
    memset(&said, 0, sizeof(said));         /* what is behind the text is 0 as well */
    chroprof__say_case(&said, c, fact);
    chroprof__say_case(&said, c, more ? more : "");
    chroprof__say_case(&said, c, cure);
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
    memcpy(q->out[k].text, said.text, sizeof said.text);
}
