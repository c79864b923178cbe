/* What perf_map_split makes of lines that V8 and CPython write, and of others, and which line an
 * address has. */
#include "../src/command/perf_map.c"

typedef struct expected {
    const char *entry, *function, *file;
    uint64_t line;
    const char *language;
} expected;

static const expected rows[] = {
    { "JS:*handle /srv/app.js:2:22", "handle", "/srv/app.js", 2, "javascript" },
    { "JS:~get size /srv/my app.js:12:3", "get size", "/srv/my app.js", 12, "javascript" },
    { "JS:^ /srv/app.js:3:35", "(anonymous)", "/srv/app.js", 3, "javascript" },
    { "JS:+load file:///srv/app.mjs:7:1", "load", "/srv/app.mjs", 7, "javascript" },
    { "JS:~listOnTimeout node:internal/timers:524:25", "listOnTimeout", "node:internal/timers", 524,
      "javascript" },
    { "LazyCompile:*old /srv/app.js:9:1", "old", "/srv/app.js", 9, "javascript" },
    { "JS:*bare", "bare", "", 0, "javascript" },
    { "JS:", "(anonymous)", "", 0, "javascript" },
    { "py::Server.get:/srv/app.py", "Server.get", "/srv/app.py", 0, "python" },
    { "py::alone", "alone", "", 0, "python" },
    { "Builtin:ArrayMap", "Builtin:ArrayMap", "", 0, "" },
    { "TRACE_12::app.lua:4", "TRACE_12::app.lua:4", "", 0, "" }
};

/* Maps of any lines: an address has the name of the last line that covers it. */
static uint32_t drawn = 1;

static uint32_t draw(uint32_t below)
{
    drawn = drawn * 1664525u + 1013904223u;
    return (drawn >> 8) % below;
}

static const char *by_lines(const perf_map *m, uint64_t address)
{
    for (size_t i = m->count; i > 0; i--) {
        const perf_entry *e = &m->entries[i - 1];
        if (address >= e->address && address - e->address < e->size) {
            return m->text + e->name;
        }
    }
    return NULL;
}

static int wrong_lookups(void)
{
    static const char odd[] = "0123456789abcdef xX-\n\n";
    int wrong = 0;
    for (int round = 0; round < 2000; round++) {
        char *text = (char *)malloc(2000);
        size_t used = 0;
        perf_map m;
        for (uint32_t lines = draw(40); lines > 0 && used < 1900; lines--) {
            used += (size_t)sprintf(text + used, "%x %x f%u\n", draw(300), draw(60), lines);
        }
        for (uint32_t spoils = round % 3 == 0 ? draw(8) : 0; spoils > 0 && used > 0; spoils--) {
            text[draw((uint32_t)used)] = odd[draw(sizeof odd - 1)];
        }
        text[used] = '\0';
        perf_map_of_text(&m, text);
        for (uint64_t address = 0; address < 400; address++) {
            wrong += perf_map_name(&m, address) != by_lines(&m, address);
        }
        perf_map_free(&m);
    }
    if (wrong > 0) {
        printf("%d names of addresses are wrong\n", wrong);
    }
    return wrong;
}

/* As many lines as node writes, each looked for: in steps of lines that would be 4e10. */
static int wrong_in_many(void)
{
    const uint32_t lines = 200000;
    char *text = (char *)malloc((size_t)lines * 40 + 1);
    size_t used = 0;
    int wrong = 0;
    perf_map m;
    for (uint32_t k = 0; k < lines; k++) {
        used += (size_t)sprintf(text + used, "%x 10 f%x\n", k * 32, k);
    }
    perf_map_of_text(&m, text);
    for (uint32_t k = 0; k < lines; k++) {
        const char *name = perf_map_name(&m, k * 32 + 15);
        wrong += name == NULL || strtoul(name + 1, NULL, 16) != k ||
                 perf_map_name(&m, k * 32 + 16) != NULL;
    }
    perf_map_free(&m);
    return wrong;
}

int main(void)
{
    static made_code made;
    int wrong = wrong_lookups() + wrong_in_many();
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const expected *row = &rows[i];
        perf_map_split(row->entry, &made);
        if (strcmp(made.function, row->function) != 0 || strcmp(made.file, row->file) != 0 ||
            made.line != row->line || strcmp(made.language, row->language) != 0) {
            printf("%s: %s, %s:%d, %s\n", row->entry, made.function, made.file, (int)made.line,
                   made.language);
            wrong++;
        }
    }
    return wrong != 0;
}
