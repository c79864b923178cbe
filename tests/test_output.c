/* tests/test_output.c - what is written: JSON that Python reads and whose sums hold, folded stacks
 * by the rules of their readers, a text that fits its width; hostile names, failing writers,
 * another locale. Files go to $SCRATCH (or build/). */
#define _DEFAULT_SOURCE
#define _XOPEN_SOURCE 700 /* terminals */
#include "harness.h"
#include "../examples/adapters/chroprof_query.h"
#include "golden.h"

#include <errno.h>
#include <locale.h>
#if !defined(_WIN32)
#include <fcntl.h>
#include <unistd.h>
#endif
#if defined(__linux__) || defined(__APPLE__)
#include <sys/ioctl.h>
#endif

static const chroprof_site A = { "aaa", "host.c", 1 };
static const chroprof_site B = { "bbb", "host.c", 2 };
static const chroprof_site C = { "ccc", "host.c", 3 };

/* ---- scenes ---- */

/* Some of everything: a tree, idle, stalls, delay, live futures, anomalies, stillborn. */
static uint64_t play_rounds(chroprof *p, uint64_t now, uint64_t first, uint64_t count)
{
    uint64_t id;
    for (id = first; id < first + count; id++) {
        chroprof_event(p, CHROPROF_IDLE_ENTER, 0, NULL, now += 30000);
        chroprof_event(p, CHROPROF_IDLE_LEAVE, 0, NULL, now += 1000000);
        chroprof_event(p, CHROPROF_ENTER, 0, &A, now += 700);
        chroprof_event(p, CHROPROF_PENDING, id, &B, now += 40000 * (id % 9));
        chroprof_event(p, CHROPROF_READY, id, NULL, now += 100);
        chroprof_event(p, CHROPROF_COMPLETED, 0, &C, now += 100);
        chroprof_event(p, CHROPROF_LEAVE, 0, NULL, now += 5000);
        chroprof_event(p, CHROPROF_RUNNING, id, NULL, now += 300);
        chroprof_event(p, CHROPROF_ENTER, 0, &C, now += 1000000 * (id % 30));
        chroprof_event(p, CHROPROF_LEAVE, 0, NULL, now += 20000);
        chroprof_event(p, id % 4 == 0 ? CHROPROF_PAUSED : CHROPROF_COMPLETED, id, NULL, now);
    }
    return now;
}

static chroprof *rich(void)
{
    chroprof_options options = { 0 };
    chroprof *p;
    uint64_t now;
    options.name = "the \"rich\" scene";
    options.max_futures = 20;
    p = fresh(&options);
    now = play_rounds(p, 0, 1, 150);
    chroprof_event(p, CHROPROF_PAUSED, 999, NULL, now);
    chroprof_event(p, CHROPROF_LEAVE, 0, NULL, now);
    chroprof_event(p, CHROPROF_RUNNING, 777, NULL, now);
    chroprof_event(p, CHROPROF_PAUSED, 777, NULL, now + 12345);
    laws(p);
    return p;
}

/* Slices of so many ms and a sample with so much CPU time in each, in tenths of a ms. */
static uint64_t sampled_slices(chroprof *p, uint64_t now, const chroprof_site *site, int count,
                               uint64_t ms, uint64_t tenths)
{
    for (; count > 0; count--) {
        chroprof_event(p, CHROPROF_ENTER, 0, site, now += 1000000);
        chroprof_sample(p, now += ms * 1000000, tenths * 100000);
        chroprof_event(p, CHROPROF_LEAVE, 0, NULL, now);
    }
    return now;
}

/* A site that waits, one that samples met too often, one that they met too seldom, and more sites
 * with a latency than a page shows. */
static chroprof *sampled(void)
{
    static char names[12][16];
    chroprof *p = fresh(NULL);
    uint64_t now = sampled_slices(p, 0, &A, 10, 2, 15);
    now = sampled_slices(p, now, &B, 8, 1, 20);
    now = sampled_slices(p, now, &C, 7, 1, 5);
    for (uint64_t k = 0; k < 12; k++) {
        chroprof_site site = { names[k], "query.c", (uint32_t)k + 1 };
        snprintf(names[k], sizeof names[k], "query %u", (unsigned)(k * 5 % 12));
        chroprof_event(p, CHROPROF_PENDING, k + 1, &site, now);
        now += k == 0 ? 1000000 : 0;
        chroprof_event(p, CHROPROF_RUNNING, k + 1, NULL, now += 1000 * (k * 5 % 12));
        chroprof_event(p, CHROPROF_COMPLETED, k + 1, NULL, now += 100);
    }
    laws(p);
    return p;
}

/* Frames on the stack, one of them a future that ran before. */
static chroprof *under_way(void)
{
    chroprof *p = rich();
    at(p, UINT64_C(9000000000), ENTER, 0, &A);
    at(p, UINT64_C(9001000000), RUNNING, 4, NULL);
    at(p, UINT64_C(9002000000), READY, 8, NULL);
    at(p, UINT64_C(9090000000), TICK, 0, NULL);
    return p;
}

/* 4 s: half of it aaa, a quarter idle, a quarter loop. */
static chroprof *quarters(void)
{
    const uint64_t second = 1000000000;
    chroprof *p = fresh(NULL);
    chroprof_event(p, CHROPROF_ENTER, 0, &A, 0);
    chroprof_event(p, CHROPROF_LEAVE, 0, NULL, 2 * second);
    chroprof_event(p, CHROPROF_IDLE_ENTER, 0, NULL, 3 * second);
    chroprof_event(p, CHROPROF_IDLE_LEAVE, 0, NULL, 4 * second);
    laws(p);
    return p;
}

enum { NAMES = 21, LONG_NAME = 1000 };

static const char *hostile_name(int i)
{
    static char huge[LONG_NAME + 1];
    static const char *const names[NAMES - 1] = {
        "",
        " ",
        "quote\"back\\slash/",
        "new\nline\r\n",
        "tab\tbell\x07null\x01",
        "esc\x1b[31m\x1b]0;t\x07",
        "\xff\xfe",
        "cut \xc3",
        "cut \xe2\x82",
        "lone \x80\xbf tail",
        "surrogate \xed\xa0\x80",
        "overlong \xc0\xaf",
        "beyond \xf4\x90\x80\x80",
        "delete \x7f",
        "semi;colon;1 2",
        "ends in 12",
        "\xc3\xa4\xc3\xb6\xe2\x82\xac \xf0\x9d\x84\x9e",
        "%s%n%d",
        "</script><b>",
        "line\xe2\x80\xa8sep",
    };
    if (i < NAMES - 1)
        return names[i];
    memset(huge, 'n', LONG_NAME);
    return huge;
}

/* A site for each hostile name, each with a child of the first one's name, and stalls. */
static chroprof *hostile(void)
{
    chroprof_options options = { 0 };
    chroprof *p;
    uint64_t now = 0;
    int i;
    options.stall_ns = 1000;
    options.string_bytes = 40000;
    options.name = "n\"\n\xff\x1b";
    p = fresh(&options);
    for (i = 0; i < NAMES; i++) {
        chroprof_site site;
        site.name = hostile_name(i);
        site.file = hostile_name((i + 1) % (NAMES - 1));
        site.line = UINT32_MAX;
        chroprof_event(p, CHROPROF_ENTER, 0, &site, now += 1000);
        chroprof_event(p, CHROPROF_PENDING, 1 + (uint64_t)i, &site, now += 1000000);
        chroprof_event(p, CHROPROF_LEAVE, 0, NULL, now += 1000000);
    }
    laws(p);
    return p;
}

/* Figures near the top of their range. */
static chroprof *enormous(void)
{
    chroprof_options options = { 0 };
    chroprof *p;
    options.max_step_ns = UINT64_MAX;
    p = fresh(&options);
    chroprof_event(p, CHROPROF_PENDING, UINT64_MAX, &A, 0);
    chroprof_event(p, CHROPROF_RUNNING, UINT64_MAX, NULL, 0);
    chroprof_event(p, CHROPROF_PAUSED, UINT64_MAX, NULL, UINT64_C(1) << 61);
    chroprof_event(p, CHROPROF_IDLE_ENTER, 0, NULL, UINT64_C(1) << 61);
    chroprof_event(p, CHROPROF_IDLE_LEAVE, 0, NULL, (UINT64_C(1) << 61) + (UINT64_C(1) << 60));
    laws(p);
    return p;
}

/* ---- JSON ---- */

static void save(const char *path, const void *bytes, size_t count)
{
    FILE *file = fopen(path, "wb");
    CHECK(file != NULL);
    CHECK_EQ(fwrite(bytes, 1, count, file), count);
    CHECK_EQ(fclose(file), 0);
}

static void first_line(const char *path, char *line, int size)
{
    FILE *file = fopen(path, "r");
    line[0] = '\0';
    if (file == NULL)
        return;
    if (fgets(line, size, file) == NULL)
        line[0] = '\0';
    fclose(file);
}

static void need_python(void)
{
    if (system("python3 -c 1 >/dev/null 2>&1") != 0)
        SKIP("needs python3");
}

/* What check_json.py says about the profile; names: a file of site names, or "". */
static void check_json(chroprof *p, const char *names)
{
    char path[512];
    char said[512];
    char command[2048];
    const harness_output *json = written(p, CHROPROF_JSON);
    snprintf(path, sizeof path, "%s", scratch("output.json"));
    save(path, json->bytes, json->used);
    snprintf(command, sizeof command, "python3 tests/check_json.py %s %s >%s", path, names,
             scratch("output.said"));
    if (system(command) != 0) {
        first_line(scratch("output.said"), said, sizeof said);
        harness_fail(__FILE__, __LINE__, "%s: %s", path, said);
    }
}

TEST(json_of_nothing)
{
    need_python();
    check_json(fresh(NULL), "");
}

TEST(json_of_the_rich_scene)
{
    need_python();
    check_json(rich(), "");
}

TEST(json_of_the_smallest_block)
{
    static unsigned char block[CHROPROF_MEMORY_MIN];
    chroprof_options options = { 0 };
    chroprof p;
    need_python();
    options.clock = chroprof_clock_manual;
    CHECK_EQ(chroprof_init(&p, block, sizeof block, &options), CHROPROF_OK);
    play_rounds(&p, 0, 1, 500);
    laws(&p);
    check_json(&p, "");
}

TEST(json_under_way)
{
    need_python();
    check_json(under_way(), "");
}

TEST(json_of_hostile_names)
{
    char names[512];
    FILE *file;
    int i;
    need_python();
    snprintf(names, sizeof names, "%s", scratch("output.names"));
    file = fopen(names, "w");
    CHECK(file != NULL);
    for (i = 0; i < NAMES; i++) {
        const unsigned char *name = (const unsigned char *)hostile_name(i);
        for (; *name != '\0'; name++)
            fprintf(file, "%02x", *name);
        fprintf(file, "\n");
    }
    CHECK_EQ(fclose(file), 0);
    check_json(hostile(), names);
}

TEST(json_of_enormous_figures)
{
    need_python();
    check_json(enormous(), "");
    CHECK(strstr(written(enormous(), CHROPROF_JSON)->bytes, "2305843009213693952") != NULL);
}

/* ---- folded ---- */

typedef struct folded_sum {
    uint64_t all;
    uint64_t found;
    size_t lines;
} folded_sum;

/* One line "frame;..;frame INT": the rules of its readers. */
static void check_folded_line(const char *line, size_t length)
{
    size_t i = length;
    CHECK(length > 2);
    while (i > 0 && line[i - 1] >= '0' && line[i - 1] <= '9')
        i--;
    CHECK(i < length && i > 1 && line[i - 1] == ' ');
    i--;
    CHECK(line[0] != ';' && line[i - 1] != ';');
    for (; i > 0; i--) {
        CHECK((unsigned char)line[i - 1] >= 0x20 && line[i - 1] != 0x7f);
        CHECK(!(line[i - 1] == ';' && line[i] == ';'));
    }
}

/* No frame ends in a blank and digits: some readers take two numbers for two profiles. */
static void check_folded_frames(const char *line, size_t length)
{
    const char *end = line + length;
    const char *s;
    while (end[-1] != ' ')
        end--;
    for (s = line; s < end; s++) {
        const char *digits = s;
        if (s[0] != ';' && s + 1 != end)
            continue;
        while (digits > line && digits[-1] >= '0' && digits[-1] <= '9')
            digits--;
        CHECK(digits == s || digits == line || digits[-1] != ' ');
    }
}

/* Checks all lines; adds up those that begin with chain and a blank. */
static folded_sum read_folded(const char *text, const char *chain)
{
    folded_sum sum = { 0, 0, 0 };
    while (*text != '\0') {
        const char *end = strchr(text, '\n');
        const char *number;
        CHECK(end != NULL);
        check_folded_line(text, (size_t)(end - text));
        check_folded_frames(text, (size_t)(end - text));
        for (number = end; number[-1] != ' '; number--)
            continue;
        sum.all += strtoull(number, NULL, 10);
        if (strncmp(text, chain, strlen(chain)) == 0 && number == text + strlen(chain) + 1)
            sum.found += strtoull(number, NULL, 10);
        sum.lines++;
        text = end + 1;
    }
    return sum;
}

/* The one root frame all lines begin with. */
static void folded_root(const char *text, char *root, size_t size)
{
    size_t length = strcspn(text, ";\n");
    const char *line;
    CHECK(length > 0 && length < size);
    memcpy(root, text, length);
    root[length] = '\0';
    for (line = text; *line != '\0'; line = strchr(line, '\n') + 1)
        CHECK(strncmp(line, root, length) == 0 && line[length] == ';');
}

TEST(folded_of_the_rich_scene)
{
    static const char *const chains[3] = { "aaa", "aaa;bbb", "aaa;bbb;ccc" };
    char root[256];
    char chain[512];
    chroprof *p = rich();
    const char *text = written(p, CHROPROF_FOLDED)->bytes;
    int i;
    folded_root(text, root, sizeof root);
    for (i = 0; i < 3; i++) {
        snprintf(chain, sizeof chain, "%s;%s", root, chains[i]);
        CHECK_EQ(read_folded(text, chain).found, path_of(p, chains[i]).exec_ns / 1000);
    }
    CHECK_IN(read_folded(text, "").all, totals_of(p).busy_ns / 1000 - 5,
             totals_of(p).elapsed_ns / 1000);
}

TEST(folded_of_hostile_names)
{
    const char *text = written(hostile(), CHROPROF_FOLDED)->bytes;
    char root[256];
    folded_root(text, root, sizeof root);
    CHECK(read_folded(text, "").lines >= NAMES);
    CHECK(strstr(text, "semi:colon") != NULL);
    CHECK(strstr(text, "ends in 12") == NULL);
}

TEST(folded_of_nothing)
{
    read_folded(written(fresh(NULL), CHROPROF_FOLDED)->bytes, "");
}

/* ---- text ---- */

/* Bytes of the character at text; 0 if it is not UTF-8. */
static size_t character(const char *text, uint32_t *code)
{
    static const uint32_t least[5] = { 0, 0, 0x80, 0x800, 0x10000 };
    const unsigned char *s = (const unsigned char *)text;
    size_t bytes = s[0] < 0x80 ? 1 : s[0] < 0xc2 ? 0 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;
    size_t i;
    *code = bytes < 2 ? s[0] : s[0] & (0xffu >> (bytes + 1));
    for (i = 1; i < bytes; i++) {
        if ((s[i] & 0xc0) != 0x80)
            return 0;
        *code = *code << 6 | (s[i] & 0x3fu);
    }
    if (bytes > 1 && (*code < least[bytes] || *code > 0x10ffff || (*code >> 11) == 0x1b))
        return 0;
    return bytes;
}

/* Valid UTF-8, no control bytes, no line longer than width characters. Returns the longest. */
static size_t check_lines(const char *text, size_t width)
{
    size_t column = 0;
    size_t longest = 0;
    while (*text != '\0') {
        uint32_t code;
        size_t bytes = character(text, &code);
        if (bytes == 0)
            harness_fail(__FILE__, __LINE__, "not UTF-8: %02x", (unsigned)(unsigned char)*text);
        if ((code < 0x20 && code != '\n') || (code >= 0x7f && code < 0xa0))
            harness_fail(__FILE__, __LINE__, "a control character: %02x", (unsigned)code);
        column = code == '\n' ? 0 : column + 1;
        longest = column > longest ? column : longest;
        text += bytes;
    }
    CHECK_EQ(column, 0);
    CHECK_IN(longest, 1, width);
    return longest;
}

/* For a text that is looked at at once. */
static harness_output *emptied(void)
{
    static harness_output output;
    output.used = 0;
    output.bytes[0] = '\0';
    return &output;
}

static const char *report(chroprof *p, uint32_t columns, bool ascii, bool color)
{
    static harness_output output;
    chroprof_text_options options;
    memset(&options, 0, sizeof options);
    output.used = 0;
    output.bytes[0] = '\0';
    options.width = columns;
    options.ascii = ascii;
    options.color = color;
    CHECK_EQ(chroprof_write_text(p, &options, harness_collect, &output), 0);
    return output.bytes;
}

static void check_widths(chroprof *p)
{
    static const uint32_t widths[5] = { 60, 80, 97, 120, 200 };
    int i;
    for (i = 0; i < 5; i++) {
        const char *text;
        check_lines(report(p, widths[i], false, false), widths[i]);
        text = report(p, widths[i], true, false);
        check_lines(text, widths[i]);
        for (; *text != '\0'; text++)
            CHECK(*text == '\n' || (*text >= ' ' && *text <= '~'));
    }
}

TEST(text_fits_its_width)
{
    check_widths(rich());
    check_widths(quarters());
    check_widths(fresh(NULL));
    check_widths(sampled());
}

TEST(text_of_hostile_names_fits_its_width)
{
    check_widths(hostile());
}

TEST(text_of_enormous_figures_fits_its_width)
{
    check_widths(enormous());
}

/* Pieces of names of one, two and no columns, and what takes as many. */
static const char *const strange[][2] = { { "\xE6\xBC\xA2", "==" },
                                          { "\xF0\x9F\x98\x80", "==" },
                                          { "\xED\x95\x9C", "==" },
                                          { "\xEF\xBC\xA1", "==" },
                                          { "\xF0\xA0\x80\x80", "==" },
                                          { "\xCC\x81", "" },
                                          { "\xD6\xB7", "" },
                                          { "\xE0\xB8\xB1", "" },
                                          { "\xE3\x82\x99", "" },
                                          { "\xEF\xB8\x8F", "" },
                                          { "\xE2\x80\x8B", "\xEF\xBF\xBD" },
                                          { "\xC3\xA9", "=" },
                                          { "\xD0\xB6", "=" },
                                          { "\xCE\xB1", "=" } };
enum { STRANGE = sizeof strange / sizeof *strange };

/* The text of a run of sites with such names (0), or with those that take as many columns (1). */
static const char *text_of_strange_names(int which)
{
    char names[20][200];
    chroprof_options o = { 0 };
    chroprof *p;
    uint64_t t = 0;
    size_t i, k;
    o.stall_ns = 1000000;
    p = fresh(&o);
    for (i = 0; i < 20; i++) {
        chroprof_site site = { names[i], names[i], 1 };
        strcpy(names[i], "n");
        for (k = 0; k < 1 + i % 4; k++) {
            strcat(names[i], strange[(i * 5 + k * 3) % STRANGE][which]);
            strcat(names[i], k % 2 == 0 ? "_" : "z");
        }
        snprintf(names[i] + strlen(names[i]), 2, "%c", (int)('a' + i));
        chroprof_event(p, CHROPROF_ENTER, 0, &site, t += 100);
        chroprof_event(p, CHROPROF_PENDING, i + 1, &site, t += 1000);
        chroprof_event(p, CHROPROF_LEAVE, 0, NULL, t += 2000000 * (20 - i));
    }
    return report(p, 200, false, false);
}

/* What follows a name stands where it stands behind a plain one of as many columns. */
TEST(names_of_any_script_keep_the_columns)
{
    static char expected[1 << 18], got[1 << 18];
    size_t used = 0;
    const char *at;
    CHECK(strlen(text_of_strange_names(1)) < sizeof expected);
    strcpy(expected, text_of_strange_names(1));
    for (at = text_of_strange_names(0); *at != '\0' && used + 10 < sizeof got;) {
        size_t k = 0;
        while (k < STRANGE && strncmp(at, strange[k][0], strlen(strange[k][0])) != 0)
            k++;
        if (k < STRANGE) {
            memcpy(got + used, strange[k][1], strlen(strange[k][1]));
            used += strlen(strange[k][1]);
            at += strlen(strange[k][0]);
        } else {
            got[used++] = *at++;
        }
    }
    got[used] = '\0';
    CHECK_STR(got, expected);
}

TEST(text_uses_the_width)
{
    chroprof *p = rich();
    CHECK(check_lines(report(p, 120, false, false), 120) > 80);
    CHECK_IN(check_lines(report(p, 0, false, false), 80), 70, 80);
}

static void strip_color(char *text)
{
    char *to = text;
    while (*text != '\0') {
        if (*text == '\x1b') {
            CHECK(text[1] == '[');
            text += strcspn(text, "m") + 1;
        } else {
            *to++ = *text++;
        }
    }
    *to = '\0';
}

TEST(text_in_colour_is_the_same_text)
{
    static char colored[1 << 16];
    static char plain[1 << 16];
    snprintf(colored, sizeof colored, "%s", report(rich(), 80, false, true));
    snprintf(plain, sizeof plain, "%s", report(rich(), 80, false, false));
    CHECK(strstr(colored, "\x1b[") != NULL);
    CHECK(strstr(plain, "\x1b") == NULL);
    strip_color(colored);
    CHECK_STR(colored, plain);
}

/* The line that begins with word, copied. */
static const char *line_of(const char *text, const char *word)
{
    static char line[512];
    const char *s;
    for (s = text; s != NULL && *s != '\0'; s = strchr(s, '\n') + 1)
        if (strncmp(s, word, strlen(word)) == 0) {
            snprintf(line, sizeof line, "%.*s", (int)strcspn(s, "\n"), s);
            return line;
        }
    harness_fail(__FILE__, __LINE__, "no line begins with \"%s\"", word);
    return NULL;
}

static void check_says(const char *line, const char *words)
{
    if (strstr(line, words) == NULL)
        harness_fail(__FILE__, __LINE__, "%s is not in \"%.100s\"", words, line);
}

TEST(text_says_the_figures)
{
    const char *text = report(quarters(), 80, false, false);
    check_says(line_of(text, "elapsed"), "elapsed 4.00s");
    check_says(line_of(text, "elapsed"), "busy 50.0%");
    check_says(line_of(text, "elapsed"), "uninstrumented 25.0%");
    check_says(line_of(text, "elapsed"), "idle 25.0%");
    check_says(line_of(text, "aaa"), "50.0%");
    check_says(line_of(text, "aaa"), "2.00s");
    CHECK(strstr(text, "ANOMALIES") == NULL);
}

TEST(text_says_what_went_wrong)
{
    const char *text = report(rich(), 120, false, false);
    CHECK(strstr(text, "max_futures") != NULL);
    CHECK(strstr(text, "paused of an unknown id") != NULL);
    CHECK(strstr(text, "leave without an enter-frame") != NULL);
    CHECK(strstr(text, "the \"rich\" scene") != NULL);
}

TEST(text_shows_the_top_sites)
{
    chroprof_text_options options;
    harness_output *output = emptied();
    chroprof *p = rich();
    memset(&options, 0, sizeof options);
    options.top = 1;
    options.by = CHROPROF_BY_CALLS;
    CHECK_EQ(chroprof_write_text(p, &options, harness_collect, output), 0);
    CHECK(strstr(output->bytes, "SITES  by calls") != NULL);
    check_lines(output->bytes, 80);
}

TEST(text_by_default_is_plain)
{
    const char *text = written(rich(), CHROPROF_TEXT)->bytes;
    check_lines(text, 80);
    CHECK(strstr(text, "\x1b") == NULL);
}

/* ---- shapes of the text ---- */

/* `count` sites of such names and files, each with an exec of its own; deep: one in the other. */
static chroprof *shaped(size_t name, size_t file, uint32_t count, bool deep)
{
    static char names[250][100], files[250][100];
    chroprof *p = fresh(NULL);
    uint64_t now = 0;
    uint32_t k;
    for (k = 0; k < count; k++) {
        chroprof_site site;
        snprintf(names[k], sizeof names[k], "n%u", (unsigned)k);
        memset(names[k] + strlen(names[k]), 'x', name);
        names[k][name + 2] = '\0';
        snprintf(files[k], sizeof files[k], "%u/", (unsigned)k);
        memset(files[k] + strlen(files[k]), 'f', file);
        files[k][file] = '\0';
        site.name = names[k];
        site.file = files[k];
        site.line = k % 2 ? UINT32_MAX : 7;
        chroprof_event(p, CHROPROF_ENTER, 0, &site, now += 100);
        now += 100000 + 1000 * (k * 7 % count);
        if (!deep)
            chroprof_event(p, CHROPROF_LEAVE, 0, NULL, now);
    }
    chroprof_event(p, CHROPROF_TICK, 0, NULL, now);
    laws(p);
    return p;
}

TEST(text_of_any_shape_fits_its_width)
{
    static const size_t names[] = { 1, 14, 33, 90 }, files[] = { 0, 4, 16, 60 };
    uint32_t columns;
    size_t n, f;
    for (n = 0; n < 4; n++)
        for (f = 0; f < 4; f++) {
            chroprof *p = shaped(names[n], files[f], 6, n % 2 == 0);
            for (columns = 60; columns <= 200; columns += 4) {
                const char *text = report(p, columns, columns % 8 == 0, false);
                check_lines(text, columns);
                check_says(line_of(text, "SITES"), "by exec");
                CHECK(strstr(text, "n0") != NULL && strstr(text, "n5") != NULL);
            }
        }
}

TEST(text_of_more_paths_than_it_shows)
{
    const char *text = report(shaped(3, 9, 60, false), 80, false, false);
    CHECK(strstr(text, "36 more paths") != NULL);
    CHECK(strstr(text, "40 more ") != NULL);
    text = report(shaped(3, 9, 25, false), 80, false, false);
    CHECK(strstr(text, "1 more path ") != NULL);
}

/* Futures that leak without taking time are what a reader looks for. */
TEST(text_of_paths_shows_what_leaks)
{
    static const chroprof_site busy = { "busy", "a.c", 1 }, leak = { "leaking", "a.c", 2 };
    chroprof *p = fresh(NULL);
    uint64_t now = 0, id;
    const char *text;
    for (id = 1; id <= 40; id++) {
        chroprof_event(p, CHROPROF_ENTER, 0, &busy, now += 100);
        chroprof_event(p, CHROPROF_PENDING, id, &leak, now += 100);
        chroprof_event(p, CHROPROF_LEAVE, 0, NULL, now += 100000);
    }
    chroprof_event(p, CHROPROF_TICK, 0, NULL, now);
    text = strstr(report(p, 80, false, false), "PATHS");
    CHECK(text != NULL && strstr(text, "leaking") != NULL);
    CHECK(text != NULL && strstr(text, "more path") == NULL);
}

/* The nearest to the root lose their lines, none loses its name. */
TEST(text_of_a_deep_tree_fits)
{
    uint32_t columns;
    chroprof *p = shaped(1, 9, 24, true);
    for (columns = 60; columns <= 200; columns += 20) {
        const char *text = report(p, columns, false, false);
        check_lines(text, columns);
        CHECK(strstr(text, "\xe2\x80\xa6") != NULL || columns > 100);
        CHECK(strstr(text, "n23") != NULL);
    }
}

static void look_at(chroprof *p, chroprof_order by, uint32_t columns, uint32_t top,
                    const char *words)
{
    harness_output *output = emptied();
    chroprof_text_options options;
    memset(&options, 0, sizeof options);
    options.by = by;
    options.width = columns;
    options.top = top;
    CHECK_EQ(chroprof_write_text(p, &options, harness_collect, output), 0);
    if (strstr(output->bytes, words) == NULL)
        harness_fail(__FILE__, __LINE__, "\"%s\" is not in the text", words);
    columns = columns == 0 ? 80 : columns < 60 ? 60 : columns > 200 ? 200 : columns;
    check_lines(output->bytes, columns);
}

TEST(text_takes_any_look)
{
    chroprof *p = shaped(3, 9, 45, false);
    look_at(p, CHROPROF_BY_BLAME, 100, 100, "5 more");
    look_at(p, (chroprof_order)made_up(99), 80, 3, "by exec");
    look_at(p, CHROPROF_BY_SLICE_MAX, 1, 40, "by slice max");
    look_at(p, CHROPROF_BY_WITH_CHILDREN, 100000, 0, "by with children");
    look_at(p, CHROPROF_BY_DELAY, 60, 41, "delay");
    look_at(p, CHROPROF_BY_CALLS, 0, 1, "44 more");
}

/* What is left out has no exec at all. */
TEST(text_of_sites_without_exec)
{
    chroprof *p = fresh(NULL);
    at(p, 0, ENTER, 0, &A);
    at(p, 500, LEAVE, 0, NULL);
    at(p, 500, PENDING, 1, &B);
    look_at(p, CHROPROF_BY_EXEC, 80, 1, "1 more");
}

/* Shares of the rows between two lines of a text: from behind the line that begins with `first` to
 * the line that begins with `last`. */
static double sum_of_shares(const char *text, const char *first, const char *last)
{
    const char *s = strstr(text, first);
    double sum = 0;
    CHECK(s != NULL);
    for (s = strchr(s, '\n') + 1; strncmp(s, last, strlen(last)) != 0; s = strchr(s, '\n') + 1) {
        const char *percent = strchr(s, '%');
        CHECK(percent != NULL && percent < strchr(s, '\n'));
        while (percent[-1] != ' ' && percent[-1] != '<')
            percent--;
        sum += percent[-1] == '<' ? 0 : strtod(percent, NULL);
    }
    return sum;
}

/* What is no site has a row of its own, so that the shares add up to all of the time and blame to
 * delay. */
TEST(text_adds_up)
{
    int k;
    for (k = 0; k < 3; k++) {
        chroprof *p = k == 0 ? rich() : k == 1 ? quarters() : shaped(3, 9, 60, false);
        const char *text = report(p, 120, false, false);
        double sum = sum_of_shares(text, "site  ", "total ");
        CHECK(sum > 98 && sum < 102);
        check_says(line_of(text, "total "), "100.0%");
    }
    check_says(line_of(report(quarters(), 80, false, false), "(uninstrumented)"), "25.0%");
    check_says(line_of(report(quarters(), 80, false, false), "(idle)"), "25.0%");
    check_says(line_of(report(rich(), 80, false, false), "(uninstrumented)"), "45.0\xc2\xb5s");
    check_says(line_of(report(rich(), 80, false, false), "delay"), "0.000810 task-seconds");
}

/* Two calls and a future below one callback: its edges say which is which, merged ones too. */
TEST(text_tells_calls_from_creations)
{
    static uint64_t block[1 << 14];
    static chroprof merged;
    chroprof_options options = { 0 };
    chroprof *p = fresh(NULL);
    chroprof_path paths[4];
    const char *text;
    int k, i;
    at(p, 0, ENTER, 0, &A);
    at(p, 1000, ENTER, 0, &B);
    at(p, 3000, LEAVE, 0, NULL);
    at(p, 3000, ENTER, 0, &B);
    at(p, 4000, PENDING, 7, &C);
    at(p, 5000, LEAVE, 0, NULL);
    at(p, 5000, PENDING, 8, &C);
    at(p, 6000, LEAVE, 0, NULL);
    at(p, 6000, RUNNING, 8, NULL);
    at(p, 7000, COMPLETED, 8, NULL);
    at(p, 7000, RUNNING, 7, NULL);
    at(p, 8000, PAUSED, 7, NULL);
    options.clock = chroprof_clock_manual;
    CHECK_EQ(chroprof_init(&merged, block, sizeof block, &options), CHROPROF_OK);
    CHECK_EQ(chroprof_merge(&merged, p), CHROPROF_OK);
    CHECK_EQ(chroprof_merge(&merged, p), CHROPROF_OK);
    for (k = 0; k < 2; k++, p = &merged) {
        CHECK_EQ(chroprof_paths(p, paths, 4), 4);
        for (i = 0; i < 4; i++)
            CHECK_EQ(paths[i].entered, paths[i].name[0] == 'c' ? 0 : paths[i].calls);
        text = report(p, 80, false, false);
        CHECK(strstr(text, "\xe2\x94\x80 bbb") != NULL);
        CHECK(strstr(text, "\xe2\x94\x84 ccc") != NULL);
        CHECK(strstr(text, "\xe2\x94\x80 ccc") == NULL && strstr(text, "\xe2\x94\x84 bbb") == NULL);
        CHECK(strstr(report(p, 80, true, false), ". ccc") != NULL);
    }
}

TEST(text_names_the_cure)
{
    chroprof_anomaly rows[CHROPROF_ANOMALY_COUNT];
    char words[200];
    const char *text = report(rich(), 200, false, false);
    size_t k, count = chroprof_anomalies(rich(), rows, CHROPROF_ANOMALY_COUNT);
    for (k = 0; k < count; k++) {
        CHECK(*rows[k].text != '\0' && *rows[k].cure != '\0');
        CHECK(rows[k].cure[strlen(rows[k].cure) - 1] == '.');
        snprintf(words, sizeof words, "\n         %s\n", rows[k].cure);
        CHECK((strstr(text, words) != NULL) == (rows[k].count > 0));
    }
}

static void send_from_callback(void *user, const chroprof_stall *stall)
{
    (void)stall;
    chroprof_event((chroprof *)user, CHROPROF_TICK, 0, NULL, 0);
}

/* Every kind but THREAD, which needs a second one: the text tells where it was met first and last.
 * */
TEST(every_anomaly_has_a_place)
{
    chroprof *p = harness_profile();
    chroprof_options o;
    chroprof_anomaly row;
    uint64_t seed = 5, t = 0;
    const char *text;
    int k;
    memset(&o, 0, sizeof o);
    o.on_stall = send_from_callback;
    o.on_stall_user = p;
    p = fresh(&o);
    for (k = 0; k < 40000; k++) {
        t += random_below(&seed, 3000000);
        t += random_below(&seed, 3000) == 0 ? UINT64_C(4000000000000) : 0;
        t -= random_below(&seed, 1000) == 0 && t > 50000000 ? UINT64_C(50000000) : 0;
        chroprof_event(p, (chroprof_state)random_below(&seed, CHROPROF_NEXT + 3),
                       random_below(&seed, 12), random_below(&seed, 2) ? &A : NULL, t);
        if (random_below(&seed, 100) == 0)
            chroprof_ready_since(p, random_below(&seed, 12), UINT64_MAX >> 1);
    }
    text = strstr(report(p, 200, false, false), "\nANOMALIES");
    CHECK(text != NULL);
    for (k = 0; chroprof_read_anomaly(p, (chroprof_anomaly_kind)k, &row); k++) {
        const char *at = k == CHROPROF_ANOMALY_THREAD ? NULL : strstr(text, row.text);
        if (k == CHROPROF_ANOMALY_THREAD)
            continue;
        CHECK(row.count > 1 && row.placed && at != NULL);
        at += strlen(row.text);
        CHECK(strncmp(at, "\n         first at ", 19) == 0);
        at = strchr(at + 1, '\n');
        CHECK(at != NULL && strncmp(at, "\n         last at ", 18) == 0);
        at = strchr(at + 1, '\n');
        CHECK(at != NULL && strncmp(at + 10, row.cure, strlen(row.cure)) == 0);
    }
}

TEST(text_names_where_anomalies_were_met)
{
    chroprof *p = fresh(NULL);
    at(p, 0, PENDING, 4, &A);
    at(p, 0, ENTER, 0, &B);
    at(p, 1000000, PAUSED, 4, NULL);
    look_at(p, CHROPROF_BY_EXEC, 100, 0, "\n         at 1.00ms, id 4, task aaa  host.c:1\n");
    at(p, 3000000, PAUSED, 9, NULL);
    at(p, 4000000, PAUSED, 8, NULL);
    look_at(p, CHROPROF_BY_EXEC, 100, 0,
            "\n         first at 3.00ms, id 9, inside bbb  host.c:2\n");
    look_at(p, CHROPROF_BY_EXEC, 100, 0, "\n         last at 4.00ms, id 8, inside bbb  host.c:2\n");
    look_at(p, CHROPROF_BY_EXEC, 60, 0, "id 8, inside bbb  host.c:2\n");
}

/* Slices of one name and line, but of two files, stay apart; those of one file add up, wherever
 * they stand. */
TEST(stall_slices_of_one_place_count_as_one)
{
    chroprof_options options = { 0 };
    chroprof_site here = { "same", "here.c", 1 }, there = { "same", "there.c", 1 };
    chroprof *p;
    options.stall_ns = 100;
    p = fresh(&options);
    at(p, 0, ENTER, 0, &A);
    at(p, 0, ENTER, 0, &here);
    at(p, 400, LEAVE, 0, NULL);
    at(p, 400, ENTER, 0, &there);
    at(p, 700, LEAVE, 0, NULL);
    at(p, 700, ENTER, 0, &here);
    at(p, 950, LEAVE, 0, NULL);
    at(p, 950, ENTER, 0, &B);
    at(p, 2000, LEAVE, 0, NULL);
    at(p, 2000, LEAVE, 0, NULL);
    look_at(p, CHROPROF_BY_EXEC, 120, 0, "bbb 53%, same 33%, same 15%\n");
}

/* Our own clock: what an event costs is measured and said. */
TEST(text_says_what_it_cost)
{
    static chroprof p;
    CHECK_EQ(chroprof_init(&p, harness_memory(), HARNESS_MEMORY, NULL), CHROPROF_OK);
    chroprof_enter(&p, &A);
    chroprof_leave(&p);
    look_at(&p, CHROPROF_BY_EXEC, 100, 0, " cost ");
    look_at(&p, CHROPROF_BY_EXEC, 100, 0, " of elapsed\n");
    look_at(&p, CHROPROF_BY_EXEC, 100, 0, "started 20");
}

/* A number and its unit, in ns; *at goes behind both. */
static double figure(const char **at)
{
    static const struct {
        const char *unit;
        double ns;
    } units[] = {
        { "ns", 1 },
        { "\xC2\xB5s", 1e3 },
        { "ms", 1e6 },
        { "s", 1e9 },
    };
    char *end;
    double value = strtod(*at, &end);
    size_t k = 0;
    while (k < 4 && strncmp(end, units[k].unit, strlen(units[k].unit)) != 0)
        k++;
    CHECK(end != *at && k < 4);
    *at = end + strlen(units[k].unit);
    return value * units[k].ns;
}

static void expect(const char **at, const char *words)
{
    if (strncmp(*at, words, strlen(words)) != 0)
        harness_fail(__FILE__, __LINE__, "\"%s\" is not where \"%.60s\" is", words, *at);
    *at += strlen(words);
}

/* The cost in all is that of an event, which has one digit behind the dot, times the events. */
static void check_cost_line(chroprof *p, const char *events)
{
    const char *at = line_of(report(p, 80, false, false), "events");
    double each, all, percent;
    char *end;
    at += strcspn(at, "0123456789");
    expect(&at, events);
    expect(&at, " cost ");
    CHECK(at[strspn(at, "0123456789")] == '.');
    CHECK(strncmp(at + strspn(at, "0123456789") + 2, "ns ", 3) == 0);
    each = figure(&at);
    expect(&at, " each: ");
    all = figure(&at);
    if (all < 0.89 * each * atof(events) || all > 1.11 * each * atof(events))
        harness_fail(__FILE__, __LINE__, "%s events of %f ns cost %f ns", events, each, all);
    expect(&at, ", ");
    at += *at == '<';
    percent = strtod(at, &end);
    CHECK(percent > 0 && end - strchr(at, '.') == 3);
    CHECK_STR(end, "% of elapsed");
}

/* Of 999, 1000, 1999, 2000 events: thousands and what is left of them. */
TEST(the_cost_of_all_events_is_that_of_each)
{
    static chroprof p;
    uint64_t events;
    size_t k;
    CHECK_EQ(chroprof_init(&p, harness_memory(), HARNESS_MEMORY, NULL), CHROPROF_OK);
    chroprof_tick(&p);
    for (k = 0; k < 20; k++)
        if (strstr(report(&p, 80, false, false), "each: ") == NULL)
            SKIP("no clock of our own, or none that always moves in an event");
    for (k = 0; k < 4; k++) {
        static const uint64_t counts[] = { 999, 1000, 1999, 2000 };
        char text[24];
        chroprof_set_enabled(&p, true);
        for (events = totals_of(&p).events; events + 1 < counts[k]; events++)
            chroprof_tick(&p);
        chroprof_set_enabled(&p, false); /* the last event; a report is none then */
        CHECK_EQ(totals_of(&p).events, counts[k]);
        snprintf(text, sizeof text, "%u", (unsigned)counts[k]);
        check_cost_line(&p, text);
    }
}

/* ---- whole pages, as they lie in tests/golden ---- */

static void page(const char *name, const char *text)
{
    golden(name, text, strlen(text));
}

TEST(pages_of_the_rich_scene)
{
    chroprof *p = rich();
    page("rich-60-ascii.txt", report(p, 60, true, false));
    page("rich-72.txt", report(p, 72, false, false));
    page("rich-80.txt", report(p, 80, false, false));
    page("rich-100-colour.txt", report(p, 100, false, true));
    page("rich-120.txt", report(p, 120, false, false));
    page("rich-200.txt", report(p, 200, false, false));
}

/* One column more shows more: compare rich-72.txt, -80.txt, -120.txt. */
TEST(pages_at_the_last_width_before_more)
{
    chroprof *p = rich();
    page("rich-71.txt", report(p, 71, false, false));
    page("rich-79.txt", report(p, 79, false, false));
    page("rich-119.txt", report(p, 119, false, false));
    page("rich-129.txt", report(p, 129, false, false));
    page("rich-130.txt", report(p, 130, false, false));
}

/* A wide page shows more of each site beside its CPU time. */
TEST(pages_with_cpu_time)
{
    chroprof *p = sampled();
    page("sampled-60-ascii.txt", report(p, 60, true, false));
    page("sampled-80.txt", report(p, 80, false, false));
    page("sampled-120.txt", report(p, 120, false, false));
    page("sampled-160.txt", report(p, 160, false, false));
}

/* Samples tell a part within the root of their number: 400 of 4 s within 0.2 s. */
TEST(cpu_figures_carry_their_error)
{
    static const struct {
        int count;
        uint64_t ms, tenths;
        const char *text, *ascii;
    } cases[] = { { 400, 10, 97, "  3.9±0.2s          -", "  3.9~0.2s          -" },
                  { 400, 10, 25, "  1.0±0.2s   3.0±0.2s", "  1.0~0.2s   3.0~0.2s" },
                  { 16, 25, 150, " 240±100ms          -", " 240~100ms          -" },
                  { 16, 25, 40, "         -  340±100ms", "         -  340~100ms" },
                  { 6000, 48, 480, "4.8±0.1min          -", "4.8~0.1min          -" },
                  { 7, 1, 10, "         -          -", "         -          -" } };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        chroprof *p = fresh(NULL);
        (void)sampled_slices(p, 0, &A, cases[k].count, cases[k].ms, cases[k].tenths);
        CHECK(strstr(report(p, 80, false, false), cases[k].text) != NULL);
        CHECK(strstr(report(p, 80, true, false), cases[k].ascii) != NULL);
    }
}

static uint64_t play_turns(chroprof *p, uint64_t now, int count)
{
    for (int k = 0; k < count; k++) {
        chroprof_event(p, CHROPROF_ENTER, 0, k % 8 < 4 ? &A : &B, now);
        chroprof_event(p, CHROPROF_LEAVE, 0, NULL, now += 30000000);
        chroprof_event(p, CHROPROF_IDLE_ENTER, 0, NULL, now);
        chroprof_event(p, CHROPROF_IDLE_LEAVE, 0, NULL, now += 10000000);
    }
    return now;
}

/* The last callbacks of a run whose windows have doubled many times. */
enum { PART_MEMORY = 1 << 18 };
static chroprof *part(int callbacks, uint32_t max_events)
{
    static uint64_t older[PART_MEMORY / 8], newer[PART_MEMORY / 8];
    static chroprof profile, before, view;
    chroprof_options options = { 0 };
    options.max_windows = 16;
    options.max_stalls = 48;
    options.max_events = max_events;
    options.clock = chroprof_clock_manual;
    chroprof *p = &profile;
    CHECK_EQ(chroprof_init(p, harness_memory(), PART_MEMORY, &options), CHROPROF_OK);
    uint64_t now = play_turns(p, 0, 20000);
    CHECK_EQ(chroprof_snapshot(harness_memory(), PART_MEMORY, older, sizeof older), CHROPROF_OK);
    CHECK_EQ(chroprof_open(&before, older, sizeof older), CHROPROF_OK);
    (void)play_turns(p, now, callbacks);
    CHECK_EQ(chroprof_difference(p, &before, newer, sizeof newer), CHROPROF_OK);
    CHECK_EQ(chroprof_open(&view, newer, sizeof newer), CHROPROF_OK);
    return &view;
}

/* Its windows are those of its own time, or it says why there are none. */
TEST(text_of_a_part_of_a_long_run)
{
    const char *text = report(part(12, 0), 80, false, false);
    check_says(line_of(text, "TIME"), "in windows of 100ms; full block: 80%");
    page("part-80.txt", text);
    text = report(part(50, 64), 80, false, false);
    check_says(line_of(text, "TIME"), "too wide by now for a part of 2.00 s, and its");
    CHECK(strstr(text, "      last 64 events reach back only 610 ms. Raise max_events.") != NULL);
    check_widths(part(12, 0));
    check_widths(part(50, 64));
}

/* A window that is busy throughout is a peak of 100 %, wherever the columns of the strip part it. */
TEST(text_peak_is_of_a_window)
{
    for (uint64_t busy = 1; busy < 30; busy += 7) {
        chroprof_options options = { 0 };
        options.window_ns = 400000000;
        chroprof *p = fresh(&options);
        chroprof_event(p, CHROPROF_IDLE_ENTER, 0, NULL, 0);
        for (uint64_t k = 0; k < 31; k++) {
            uint64_t end = (k + 1) * options.window_ns;
            if (k == busy) {
                chroprof_event(p, CHROPROF_ENTER, 0, &A, end - options.window_ns);
                chroprof_event(p, CHROPROF_LEAVE, 0, NULL, end);
                chroprof_event(p, CHROPROF_IDLE_ENTER, 0, NULL, end);
            }
            chroprof_event(p, CHROPROF_TICK, 0, NULL, end);
        }
        check_says(line_of(report(p, 80, false, false), "all busy"), "3.2% 100.0%");
    }
}

/* Branches of three levels, each with more behind it or not, of which some are cold. */
static chroprof *branches(void)
{
    static const char tree[] = "a(b(cd)e(f(g)h)i)j(k(l)m)n";
    static char names[32][2];
    chroprof *p = fresh(NULL);
    uint64_t now = 0;
    size_t k;
    for (k = 0; tree[k] != '\0'; k++) {
        chroprof_site site;
        now += 100 + 37 * (k * 5 % 13);
        if (tree[k] == ')')
            chroprof_event(p, CHROPROF_LEAVE, 0, NULL, now);
        if (tree[k] == '(' || tree[k] == ')')
            continue;
        names[k][0] = tree[k];
        site.name = names[k];
        site.file = "tree.c";
        site.line = (uint32_t)k + 1;
        chroprof_event(p, CHROPROF_ENTER, 0, &site, now);
        now += 1000 + 100 * (k * 7 % 10);
        if (tree[k + 1] != '(')
            chroprof_event(p, CHROPROF_LEAVE, 0, NULL, now);
    }
    chroprof_event(p, CHROPROF_TICK, 0, NULL, now);
    laws(p);
    return p;
}

TEST(pages_of_other_scenes)
{
    page("hostile-100.txt", report(hostile(), 100, false, false));
    page("enormous-130.txt", report(enormous(), 130, false, false));
    page("quarters-80.txt", report(quarters(), 80, false, false));
    page("nothing-80.txt", report(fresh(NULL), 80, false, false));
    page("under-way-120.txt", report(under_way(), 120, false, false));
    page("branches-80.txt", report(branches(), 80, false, false));
    page("branches-120-ascii.txt", report(branches(), 120, true, false));
    page("deep-90.txt", report(shaped(14, 16, 20, true), 90, false, false));
    page("many-97.txt", report(shaped(33, 30, 60, false), 97, false, false));
}

/* ---- folded and Prometheus, further shapes ---- */

/* The last line but for loop is the whole chain, its frames in the order of creation. */
TEST(folded_of_a_very_deep_chain)
{
    char want[4000] = "loop";
    size_t used = 4;
    uint32_t k;
    for (k = 0; k < 200; k++)
        used += (size_t)snprintf(want + used, sizeof want - used, ";n%u%.*s", (unsigned)k,
                                 k < 10    ? 2
                                 : k < 100 ? 1
                                           : 0,
                                 "xx");
    used += (size_t)snprintf(want + used, sizeof want - used, " ");
    CHECK(strstr(written(shaped(2, 0, 200, true), CHROPROF_FOLDED)->bytes, want) != NULL);
}

/* Lines of folded stacks, and the most frames that one has below the root. */
typedef struct folded_lines {
    uint32_t count, frames, most;
} folded_lines;

static int count_frames(void *user, const void *bytes, size_t count)
{
    folded_lines *lines = (folded_lines *)user;
    const char *text = (const char *)bytes;
    for (; count > 0; count--, text++) {
        lines->frames += *text == ';';
        lines->most = lines->frames > lines->most ? lines->frames : lines->most;
        lines->count += *text == '\n';
        lines->frames = *text == '\n' ? 0 : lines->frames;
    }
    return 0;
}

/* Paths have at most 512 sites, so that text and folded stacks cost no more than 512 steps each: the
 * rest of a chain begins at the root, with all of its time. */
TEST(a_chain_of_thousands)
{
    enum { MOST = 512, CHAIN = 6 * MOST };
    chroprof_options options;
    chroprof *p;
    chroprof_path path;
    chroprof_site site = { NULL, "deep.c", 1 };
    uint64_t cursor = 0, now = 0, sum = 0;
    uint32_t k, steps, up, rows = 0;
    char name[16];
    folded_lines lines = { 0, 0, 0 };
    memset(&options, 0, sizeof options);
    options.clock = chroprof_clock_manual;
    options.max_sites = options.max_paths = options.max_depth = CHAIN;
    options.max_edges = 2 * CHAIN;
    options.string_bytes = 20 * CHAIN;
    options.max_histograms = options.max_futures = 1;
    p = fresh(&options);
    for (k = 0; k < CHAIN; k++) {
        snprintf(name, sizeof name, "n%u", (unsigned)k);
        site.name = name;
        chroprof_event(p, CHROPROF_ENTER, 0, &site, now += 1000);
    }
    chroprof_event(p, CHROPROF_TICK, 0, NULL, now += 1000);
    laws(p);
    for (; chroprof_next_path(p, &cursor, &path); rows++) {
        for (steps = 0, up = path.id; up != 0; steps++)
            (void)chroprof_path_name(p, up, &up, NULL);
        CHECK_IN(steps, 1, MOST);
        CHECK_EQ(path.exec_ns, 1000);
        CHECK_EQ(path.with_children_ns / 1000 + steps, MOST + 1);
        sum += path.exec_ns;
    }
    CHECK_EQ(rows, CHAIN);
    CHECK_EQ(sum, totals_of(p).busy_ns);
    CHECK_EQ(chroprof_write(p, CHROPROF_FOLDED, count_frames, &lines), 0);
    CHECK_EQ(lines.count, CHAIN);
    CHECK_EQ(lines.most, MOST);
}

TEST(folded_of_names_that_need_care)
{
    chroprof_site dots = { "a.b 1.2", "", 0 }, empty = { "", "", 1 };
    chroprof_site lines = { "x\xe2\x80\xa9y\xe2\x80\xa8z 7", "", 2 };
    chroprof *p = fresh(NULL);
    const char *text;
    at(p, 0, ENTER, 0, &dots);
    at(p, 2000, ENTER, 0, &empty);
    at(p, 4000, ENTER, 0, &lines);
    at(p, 6000, LEAVE, 0, NULL);
    text = written(p, CHROPROF_FOLDED)->bytes;
    CHECK(strstr(text, "loop;a.b_1.2 2\n") != NULL);
    CHECK(strstr(text, "loop;a.b_1.2;(empty) 2\n") != NULL);
    CHECK(strstr(text, "loop;a.b_1.2;(empty);x y z_7 2\n") != NULL);
}

static const char *exposition(chroprof *p, const chroprof_prometheus_options *options)
{
    static harness_output output;
    output.used = 0;
    CHECK_EQ(chroprof_write_prometheus(p, options, harness_collect, &output), 0);
    return output.bytes;
}

static size_t times(const char *text, const char *part)
{
    size_t count = 0;
    for (text = strstr(text, part); text != NULL; text = strstr(text + 1, part))
        count++;
    return count;
}

TEST(prometheus_takes_any_limit)
{
    chroprof_prometheus_options options = { 1000, CHROPROF_BY_EXEC };
    chroprof_options small = { 0 };
    chroprof *p = shaped(2, 0, 120, false);
    const char *text;
    CHECK(chroprof_site_make(p, "never used", "", 0) != NULL);
    CHECK(strstr(exposition(p, NULL), "n119") != NULL);
    text = exposition(p, &options);
    CHECK_EQ(times(text, "\nchroprof_exec_seconds_total{"), 101);
    CHECK(strstr(text, "{name=\"(other)\",") != NULL);
    CHECK(strstr(text, "never used") == NULL);
    small.max_sites = 2;
    options.top = 1;
    p = fresh(&small);
    at(p, 0, ENTER, 0, &A);
    at(p, 3000, ENTER, 0, &B);
    at(p, 5000, ENTER, 0, &C);
    at(p, 9000, LEAVE, 0, NULL);
    text = exposition(p, &options);
    CHECK(strstr(text, "chroprof_exec_seconds_total{name=\"aaa\",file=\"host.c\",line=\"1\"} "
                       "0.000003000\n") != NULL);
    CHECK(strstr(text, "chroprof_exec_seconds_total{name=\"(other)\",file=\"\",line=\"0\"} "
                       "0.000006000\n") != NULL);
    CHECK(strstr(text, "start_time_seconds") == NULL);
}

/* Lines that are no comments, of the text that chroprof_write makes. */
static size_t series(chroprof *p, chroprof_format format)
{
    harness_output *output = emptied();
    CHECK_EQ(chroprof_write(p, format, harness_collect, output), 0);
    return times(output->bytes, "\nchroprof_");
}

/* What a site costs a server that scrapes it. */
TEST(prometheus_has_few_series_a_site)
{
    size_t few = series(shaped(2, 0, 20, false), CHROPROF_PROMETHEUS);
    size_t all = series(shaped(2, 0, 20, false), CHROPROF_PROMETHEUS_ALL);
    CHECK_EQ(series(shaped(2, 0, 30, false), CHROPROF_PROMETHEUS) - few, 10 * 13);
    CHECK_EQ(series(shaped(2, 0, 30, false), CHROPROF_PROMETHEUS_ALL) - all, 10 * 33);
}

TEST(prometheus_knows_the_start)
{
    static chroprof p;
    CHECK_EQ(chroprof_init(&p, harness_memory(), HARNESS_MEMORY, NULL), CHROPROF_OK);
    CHECK(strstr(exposition(&p, NULL), "\nchroprof_start_time_seconds 1") != NULL ||
          strstr(exposition(&p, NULL), "\nchroprof_start_time_seconds 2") != NULL);
}

#if !defined(_WIN32)
/* A stream in memory has no number, so no terminal. */
TEST(a_dump_into_memory)
{
    static char bytes[100000];
    FILE *out = fmemopen(bytes, sizeof bytes, "w");
    CHECK(out != NULL);
    CHECK_EQ(chroprof_dump(quarters(), CHROPROF_TEXT, out), 0);
    fclose(out);
    CHECK(strstr(bytes, "elapsed 4.00s") != NULL && strchr(bytes, 27) == NULL);
}

#ifdef TIOCSWINSZ
/* A terminal of its own: the report takes its width and has colours. */
TEST(a_dump_into_a_terminal)
{
    struct winsize size = { 24, 97, 0, 0 };
    static char bytes[100000];
    size_t used = 0;
    ssize_t count;
    FILE *out;
    int host = posix_openpt(O_RDWR | O_NOCTTY);
    if (host < 0 || grantpt(host) != 0 || unlockpt(host) != 0)
        SKIP("no terminals here");
    CHECK_EQ(ioctl(host, TIOCSWINSZ, &size), 0);
    out = fopen(ptsname(host), "w");
    CHECK(out != NULL);
    unsetenv("NO_COLOR");
    setenv("TERM", "xterm", 1);
    CHECK_EQ(chroprof_dump(fresh(NULL), CHROPROF_TEXT, out), 0); /* less than a pipe holds */
    while (strstr(bytes, "none was used yet") == NULL &&
           (count = read(host, bytes + used, sizeof bytes - 1 - used)) > 0)
        used += (size_t)count;
    fclose(out);
    close(host);
    CHECK(strchr(bytes, 27) != NULL);
    CHECK(strstr(bytes, "none was used yet") != NULL);
}
#else
TEST(a_dump_into_a_terminal)
{
    SKIP("needs terminals");
}
#endif

TEST(a_stream_that_failed_before)
{
    FILE *out = fopen("/dev/null", "r");
    CHECK(out != NULL);
    CHECK_EQ(fputc('x', out), EOF);
    CHECK_EQ(chroprof_dump(quarters(), (chroprof_format)made_up(99), out), -1);
    CHECK_EQ(errno, EIO);
    fclose(out);
}
#else
TEST(a_dump_into_memory)
{
    SKIP("needs fmemopen");
}
TEST(a_dump_into_a_terminal)
{
    SKIP("needs terminals");
}
TEST(a_stream_that_failed_before)
{
    SKIP("needs /dev/null");
}
#endif

/* ---- writers that fail ---- */

typedef struct faulty {
    size_t room;
    size_t used;
    bool failed;
    bool called_again;
} faulty;

static int take_some(void *user, const void *bytes, size_t count)
{
    faulty *f = (faulty *)user;
    (void)bytes;
    f->called_again = f->called_again || f->failed;
    f->failed = count > f->room - f->used;
    f->used += f->failed ? 0 : count;
    return f->failed;
}

/* A profile whose reports are short: each of their bytes is tried, or one in SHARE. */
static chroprof *small(void)
{
    chroprof_options options = { 0 };
    chroprof *p;
    options.max_windows = 4;
    options.max_stalls = 4;
    p = fresh(&options);
    play_rounds(p, 0, 1, 12);
    return p;
}

static void fail_everywhere(chroprof_format format)
{
    chroprof *p = small();
    size_t total = written(p, format)->used;
    size_t k;
    CHECK(total > 50);
    for (k = 0; k < total; k += harness_number("SHARE")) {
        faulty f = { 0, 0, false, false };
        f.room = k;
        CHECK_EQ(chroprof_write(p, format, take_some, &f), -1);
        CHECK(f.failed && !f.called_again && f.used <= k);
    }
    laws(p);
}

TEST(a_writer_that_fails_at_any_byte_of_the_text)
{
    fail_everywhere(CHROPROF_TEXT);
}

TEST(a_writer_that_fails_at_any_byte_of_the_json)
{
    fail_everywhere(CHROPROF_JSON);
}

TEST(a_writer_that_fails_at_any_byte_of_the_folded)
{
    fail_everywhere(CHROPROF_FOLDED);
}

TEST(a_format_that_does_not_exist)
{
    faulty f = { 1000000, 0, false, false };
    chroprof *p = small();
    CHECK_EQ(chroprof_write(p, (chroprof_format)made_up(99), take_some, &f), -1);
    CHECK_EQ(chroprof_write(p, (chroprof_format)made_up(5), take_some, &f), -1);
    CHECK_EQ(chroprof_write(p, (chroprof_format)made_up(6), take_some, &f), -1);
    CHECK_EQ(f.used, 0);
    errno = 0;
    CHECK_EQ(chroprof_dump(p, (chroprof_format)made_up(99), stdout), -1);
    CHECK(errno != 0);
}

#ifdef __linux__
/* The file that runs, without its folders; a replay is of no program here. */
TEST(the_program_has_its_name)
{
    static chroprof p;
    char path[4096];
    ssize_t count = readlink("/proc/self/exe", path, sizeof path - 1);
    chroprof_origin origin;
    CHECK(count > 0);
    path[count] = '\0';
    CHECK_EQ(chroprof_init(&p, harness_memory(), HARNESS_MEMORY, NULL), CHROPROF_OK);
    chroprof_read_origin(&p, &origin);
    CHECK_STR(origin.program, strrchr(path, '/') + 1);
    chroprof_read_origin(fresh(NULL), &origin);
    CHECK_STR(origin.program, "");
    chroprof_read_origin(NULL, &origin);
    CHECK_STR(origin.program, "");
}
#endif

/* asks(QUERY, GOOD, FORMAT, SECONDS): what chroprof_parse_query makes of it */
static void asks(const char *query, bool good, chroprof_format format, uint32_t seconds)
{
    chroprof_query q;
    memset(&q, 0x5a, sizeof q);
    CHECK_EQ(chroprof_parse_query(query, &q), good);
    CHECK_EQ(q.format, format);
    CHECK_EQ(q.seconds, seconds);
    CHECK(q.content_type != NULL);
}

TEST(queries_of_a_page)
{
    static const char *const names[] = { "format=text", "format=json", "format=folded",
                                         "format=prometheus", "format=pprof" };
    for (int i = 0; i < 5; i++)
        asks(names[i], true, (chroprof_format)i, 0);
    asks("format=prometheus-all", true, CHROPROF_PROMETHEUS_ALL, 0);
    asks(NULL, true, CHROPROF_TEXT, 0);
    asks("", true, CHROPROF_TEXT, 0);
    asks("seconds=5&format=json", true, CHROPROF_JSON, 5);
    asks("&&format=json&&x&seconds=86400&y=2", true, CHROPROF_JSON, 86400);
    asks("formats=none&second=x", true, CHROPROF_TEXT, 0);
    asks("format=firefox", false, CHROPROF_TEXT, 0); /* of the command, not the page */
    asks("format=trace&seconds=3", false, CHROPROF_TEXT, 3);
    asks("format=jso", false, CHROPROF_TEXT, 0);
    asks("format=jsonx&seconds=5", false, CHROPROF_TEXT, 5);
    asks("format=&seconds=7", false, CHROPROF_TEXT, 7);
    asks("format=json&seconds=", false, CHROPROF_JSON, 0);
    asks("format=json&seconds=86401", false, CHROPROF_JSON, 0);
    asks("seconds=99999999999999999999&format=json", false, CHROPROF_JSON, 0);
    asks("seconds=-1", false, CHROPROF_TEXT, 0);
    asks("seconds=1.5", false, CHROPROF_TEXT, 0);
    asks("seconds=5s", false, CHROPROF_TEXT, 0);
    asks("top=101&format=prometheus", false, CHROPROF_PROMETHEUS, 0);
}

/* A limit on the series is of Prometheus alone. */
TEST(queries_with_a_limit_on_the_series)
{
    static harness_output all, few;
    chroprof_query q;
    chroprof *p = fresh(NULL);
    at(p, 10, ENTER, 0, &A);
    at(p, 30, LEAVE, 0, NULL);
    at(p, 40, ENTER, 0, &B);
    at(p, 50, LEAVE, 0, NULL);
    CHECK(chroprof_parse_query("format=prometheus&top=1", &q) && q.top == 1);
    memset(&few, 0, sizeof few);
    memset(&all, 0, sizeof all);
    CHECK_EQ(chroprof_query_write(&q, p, harness_collect, &few), 0);
    CHECK(strstr(few.bytes, "name=\"(other)\"") != NULL);
    q.top = 0;
    CHECK_EQ(chroprof_query_write(&q, p, harness_collect, &all), 0);
    CHECK(strstr(all.bytes, "name=\"(other)\"") == NULL);
}

TEST(queries_know_what_http_calls_a_format)
{
    chroprof_query q;
    chroprof_parse_query("format=json", &q);
    CHECK_STR(q.content_type, "application/json");
    chroprof_parse_query("format=prometheus", &q);
    CHECK_STR(q.content_type, "text/plain; version=0.0.4; charset=utf-8");
    chroprof_parse_query("format=prometheus-all", &q);
    CHECK_STR(q.content_type, "text/plain; version=0.0.4; charset=utf-8");
    chroprof_parse_query("format=pprof", &q);
    CHECK_STR(q.content_type, "application/octet-stream");
    chroprof_parse_query("format=folded", &q);
    CHECK_STR(q.content_type, "text/plain; charset=utf-8");
}

/* A stream that takes nothing. */
static FILE *full_disk(void)
{
#if defined(__unix__) || defined(__APPLE__)
    FILE *full = fopen("/dev/full", "w");
    if (full != NULL)
        return full;
#endif
    SKIP("no /dev/full");
    return NULL;
}

TEST(a_full_disk)
{
    FILE *full = full_disk();
    setvbuf(full, NULL, _IONBF, 0);
    errno = 0;
    CHECK_EQ(chroprof_dump(rich(), CHROPROF_JSON, full), -1);
    CHECK_EQ(errno, ENOSPC);
    fclose(full);
}

TEST(a_full_disk_behind_a_buffer)
{
    FILE *full = full_disk();
    errno = 0;
    CHECK_EQ(chroprof_dump(small(), CHROPROF_FOLDED, full), -1);
    CHECK_EQ(errno, ENOSPC);
    fclose(full);
}

/* ---- dump, tick, locale ---- */

static size_t dump_to_file(chroprof *p, chroprof_format format, char *bytes, size_t size)
{
    FILE *file = tmpfile();
    size_t count;
    CHECK(file != NULL);
    CHECK_EQ(chroprof_dump(p, format, file), 0);
    rewind(file);
    count = fread(bytes, 1, size - 1, file);
    bytes[count] = '\0';
    fclose(file);
    return count;
}

TEST(dump_is_write_into_a_stream)
{
    static char dumped[1 << 20];
    int format;
#if defined(__unix__) || defined(__APPLE__)
    unsetenv("COLUMNS");
#endif
    for (format = CHROPROF_TEXT; format <= CHROPROF_FOLDED; format++) {
        CHECK(dump_to_file(hostile(), (chroprof_format)format, dumped, sizeof dumped) > 0);
        CHECK(strcmp(dumped, "") != 0);
        if (format == CHROPROF_FOLDED)
            CHECK_STR(dumped, written(hostile(), CHROPROF_FOLDED)->bytes);
        if (format == CHROPROF_TEXT)
            check_lines(dumped, 80);
    }
}

static uint64_t moving_clock(void *user)
{
    return *(uint64_t *)user;
}

TEST(a_dump_brings_a_live_profile_up_to_now)
{
    chroprof_options options = { 0 };
    static uint64_t now; /* the profile is kept when the case has ended */
    chroprof *p;
    now = 5000;
    options.clock = moving_clock;
    options.clock_user = &now;
    p = fresh(&options);
    chroprof_enter(p, &A);
    now += 7777;
    CHECK_EQ(rank_of(p, "aaa").exec_ns, 0);
    check_says(written(p, CHROPROF_JSON)->bytes, "\"exec_ns\":7777");
    CHECK_EQ(rank_of(p, "aaa").exec_ns, 7777);
    chroprof_set_enabled(p, false);
    now += 1111;
    written(p, CHROPROF_TEXT);
    CHECK_EQ(totals_of(p).elapsed_ns, 7777);
}

static bool decimal_comma(void)
{
    char command[1024];
    char folder[256];
    snprintf(folder, sizeof folder, "%s", scratch("locale"));
    snprintf(command, sizeof command,
             "mkdir -p %s && localedef -i de_DE -f UTF-8 %s/de_DE.UTF-8 >%s/log 2>&1", folder,
             folder, folder);
#if defined(__unix__) || defined(__APPLE__)
    if (system(command) == -1)
        return false;
    setenv("LOCPATH", folder, 1);
#endif
    return setlocale(LC_ALL, "de_DE.UTF-8") != NULL &&
           strcmp(localeconv()->decimal_point, ",") == 0;
}

/* The calendar time of the start is not the same in two runs. */
static void without_start(char *text)
{
    static const char key[] = "\"start_unix_ns\"";
    char *start = strstr(text, key);
    char *line = strstr(text, "\nstarted ");
    if (start != NULL)
        for (start += sizeof key; *start != ',' && *start != '\n'; start++)
            *start = '0';
    if (line != NULL)
        for (line++; *line != '\n'; line++)
            *line = '-';
}

static void written_copy(chroprof_format format, char *copy, size_t size)
{
    const harness_output *output = written(rich(), format);
    CHECK(output->used < size);
    memcpy(copy, output->bytes, output->used + 1);
    without_start(copy);
}

TEST(a_locale_with_a_decimal_comma)
{
    static char before[1 << 20];
    static char after[1 << 20];
    int format;
    for (format = CHROPROF_TEXT; format <= CHROPROF_FOLDED; format++) {
        written_copy((chroprof_format)format, before, sizeof before);
        if (!decimal_comma())
            SKIP("localedef can't make de_DE.UTF-8 (package locales)");
        written_copy((chroprof_format)format, after, sizeof after);
        setlocale(LC_ALL, "C");
        CHECK(strcmp(before, after) == 0);
    }
}

/* Flame graphs add up by name: a task is neither idle time nor the loop's. */
TEST(sites_with_names_of_our_own_rows)
{
    static const char *const names[] = { "(idle)", "(uninstrumented)", "(untracked)" };
    chroprof *p = fresh(NULL);
    const char *text;
    uint64_t k;
    for (k = 0; k < 3; k++) {
        const chroprof_site *site = chroprof_site_make(p, names[k], "", 0);
        CHECK(site == chroprof_site_make(p, names[k], "", 0));
        at(p, k * 10000, ENTER, 0, site);
        at(p, k * 10000 + 7000, LEAVE, 0, NULL);
    }
    text = written(p, CHROPROF_FOLDED)->bytes;
    CHECK(strstr(text, "site (idle) 7\n") != NULL &&
          strstr(text, "site (uninstrumented) 7\n") != NULL);
    CHECK(strstr(text, "site (untracked) 7\n") != NULL);
    CHECK(strstr(text, ";(idle) 7\n") == NULL && strstr(text, ";(uninstrumented) 7\n") == NULL);
}

static const test_case cases[] = {
    CASE(sites_with_names_of_our_own_rows),
    CASE(json_of_nothing),
    CASE(json_of_the_rich_scene),
    CASE(json_of_the_smallest_block),
    CASE(json_under_way),
    CASE(json_of_hostile_names),
    CASE(json_of_enormous_figures),
    CASE(folded_of_the_rich_scene),
    CASE(folded_of_hostile_names),
    CASE(folded_of_nothing),
    CASE(text_fits_its_width),
    CASE(text_of_hostile_names_fits_its_width),
    CASE(text_of_enormous_figures_fits_its_width),
    CASE(names_of_any_script_keep_the_columns),
    CASE(text_uses_the_width),
    CASE(text_in_colour_is_the_same_text),
    CASE(text_says_the_figures),
    CASE(text_says_what_went_wrong),
    CASE(text_shows_the_top_sites),
    CASE(text_by_default_is_plain),
    CASE(text_of_any_shape_fits_its_width),
    CASE(text_of_more_paths_than_it_shows),
    CASE(text_of_a_deep_tree_fits),
    CASE(text_takes_any_look),
    CASE(text_of_sites_without_exec),
    CASE(text_adds_up),
    CASE(text_tells_calls_from_creations),
    CASE(text_names_the_cure),
    CASE(every_anomaly_has_a_place),
    CASE(text_names_where_anomalies_were_met),
    CASE(stall_slices_of_one_place_count_as_one),
    CASE(text_says_what_it_cost),
    CASE(the_cost_of_all_events_is_that_of_each),
    CASE(pages_of_the_rich_scene),
    CASE(pages_at_the_last_width_before_more),
    CASE(pages_with_cpu_time),
    CASE(cpu_figures_carry_their_error),
    CASE(text_of_a_part_of_a_long_run),
    CASE(text_peak_is_of_a_window),
    CASE(text_of_paths_shows_what_leaks),
    CASE(pages_of_other_scenes),
    CASE(folded_of_a_very_deep_chain),
    CASE(a_chain_of_thousands),
    CASE(folded_of_names_that_need_care),
    CASE(prometheus_takes_any_limit),
    CASE(prometheus_has_few_series_a_site),
    CASE(prometheus_knows_the_start),
    CASE(a_dump_into_memory),
    CASE(a_dump_into_a_terminal),
    CASE(a_stream_that_failed_before),
    CASE(a_writer_that_fails_at_any_byte_of_the_text),
    CASE(a_writer_that_fails_at_any_byte_of_the_json),
    CASE(a_writer_that_fails_at_any_byte_of_the_folded),
    CASE(a_format_that_does_not_exist),
#ifdef __linux__
    CASE(the_program_has_its_name),
#endif
    CASE(queries_of_a_page),
    CASE(queries_with_a_limit_on_the_series),
    CASE(queries_know_what_http_calls_a_format),
    CASE(a_full_disk),
    CASE(a_full_disk_behind_a_buffer),
    CASE(dump_is_write_into_a_stream),
    CASE(a_dump_brings_a_live_profile_up_to_now),
    CASE(a_locale_with_a_decimal_comma),
};

TEST_MAIN(cases)
