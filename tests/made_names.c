/* What perf_map_split makes of lines that V8 and CPython write, and of others. */
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

int main(void)
{
    static made_code made;
    int wrong = 0;
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
    return wrong;
}
