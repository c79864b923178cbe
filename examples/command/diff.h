/* diff.h - chroprof diff: what changed between two profiles, what of it is more than noise, and
 * whether it got worse, for people and for build servers. difference.h does the reckoning. */

/* Its own exit codes: 1 is an answer. */
enum { DIFF_SAME = 0, DIFF_FAILS = 1, DIFF_TROUBLE = 2 };

typedef struct diff {
    const char *sources[2];
    int count;
    uint64_t fail_above_tenths;    /* of a percent */
    bool fails;                /* --fail-above was given */
    bool json, ascii, absolute, help;
    int color;
    uint64_t columns, most;
    diff_profile both[2];
    diff_noise noise[DIFF_MEASURES];
    diff_table sites, paths;
    sheet sheet;
} diff;

static const char *const diff_measures[DIFF_MEASURES] = { "slice", "rate", "p99", "blame" };
static const char *const diff_verdicts[] = { "alike", "worse", "better", "new", "gone" };

/* >>diff text */

/* x1.22; a dash where it is not known. */
static figure figure_factor(bool known, double change)
{
    figure f;
    double factor = exponential(change);
    int decimals = factor < 9.995 ? 2 : factor < 99.95 ? 1 : 0;
    if (!known) {
        (void)snprintf(f.text, sizeof f.text, "-");
    } else if (factor >= 1e5) {
        (void)snprintf(f.text, sizeof f.text, "x%.0e", factor);
    } else {
        (void)snprintf(f.text, sizeof f.text, "x%.*f", decimals, factor);
    }
    return f;
}

static void diff_profile_line(diff *d, int side)
{
    const diff_profile *p = &d->both[side];
    sheet *s = &d->sheet;
    const char *slash = strrchr(p->source, '/');
    sheet_styled(s, SHEET_BOLD, side == 0 ? "A  " : "B  ");
    sheet_cut(s, slash != NULL ? slash + 1 : p->source, 24);
    s->blanks += 2;
    sheet_cut(s, p->name, 24);
    sheet_text(s, "  elapsed ");
    sheet_text(s, figure_time(s, p->elapsed_ns).text);
    sheet_text(s, "  busy ");
    sheet_text(s, figure_percent(share_of(p->busy_ns, p->elapsed_ns)).text);
    sheet_text(s, "  pass p99 ");
    sheet_text(s, figure_time(s, p->pass_p99_ns).text);
    sheet_newline(s);
}

/* What all sites share, and from what factor on a change counts. */
static void diff_noise_lines(diff *d)
{
    const diff_noise *slice = &d->noise[DIFF_SLICE];
    const diff_noise *rate = &d->noise[DIFF_RATE];
    sheet *s = &d->sheet;
    char text[200];
    if (slice->rows < DIFF_LEAST_ROWS) {
        (void)snprintf(text, sizeof text, "%zu sites to compare: too few to know the machine's "
                       "part", slice->rows);
    } else if (d->absolute) {
        (void)snprintf(text, sizeof text, "changes as they are: nothing is taken for the "
                       "machine's");
    } else {
        (void)snprintf(text, sizeof text, "all: slices %s as long, %s as many (medians of %zu "
                       "sites, taken off)", figure_factor(true, slice->common).text,
                       figure_factor(true, rate->common).text, slice->rows);
    }
    sheet_text(s, text);
    sheet_newline(s);
    (void)snprintf(text, sizeof text, "noise: slices of steady length count from %s on",
                   figure_factor(true, DIFF_SIGMAS * slice->spread).text);
    sheet_text(s, text);
    sheet_newline(s);
}

/* Columns behind the name; those at the end go first if there is no room. */
typedef struct diff_column {
    const char *title;
    unsigned width;
} diff_column;

static const diff_column diff_columns[] = {
    { "loop A", 8 }, { "loop B", 8 }, { "points", 8 }, { "slice A", 9 }, { "slice B", 9 },
    { "slice", 8 }, { "p99", 8 }, { "rate", 8 }, { "blame", 8 }, { "a call", 8 }
};
enum { DIFF_COLUMNS = sizeof diff_columns / sizeof diff_columns[0] };

/* How many columns fit, and the width that is left to names. */
static int diff_fit(const diff *d, unsigned *name)
{
    unsigned room = d->sheet.columns;
    unsigned used = 0;
    int count = 0;
    while (count < DIFF_COLUMNS && used + diff_columns[count].width + 16 <= room) {
        used += diff_columns[count++].width;
    }
    *name = room - used;
    return count;
}

static uint64_t mean_of(uint64_t sum, uint64_t count)
{
    return count > 0 ? sum / count : 0;
}

/* Exec of a call, A to B, as it is. */
static figure diff_call(const diff_row *row)
{
    uint64_t a = mean_of(row->side[0].exec_ns, row->side[0].calls);
    uint64_t b = mean_of(row->side[1].exec_ns, row->side[1].calls);
    bool known = a > 0 && b > 0;
    return figure_factor(known, known ? logarithm((double)b / (double)a) : 0);
}

static figure diff_cell(const diff *d, const diff_row *row, int column)
{
    static const int measures[DIFF_COLUMNS] = { 0, 0, 0, 0, 0, DIFF_SLICE, DIFF_P99, DIFF_RATE,
                                                DIFF_BLAME, 0 };
    const diff_side *side = &row->side[column == 1 || column == 4];
    const diff_change *change = &row->changes[measures[column]];
    figure f;
    switch (column) {
    case 0: case 1: return figure_percent(share_in(row, column, d->both));
    case 2:
        (void)snprintf(f.text, sizeof f.text, "%+.1f",
                       share_in(row, 1, d->both) - share_in(row, 0, d->both));
        return f;
    case 3: case 4: return figure_time(&d->sheet, mean_of(side->exec_ns, side->slices));
    case 9: return diff_call(row);
    default: return figure_factor(change->known, change->change);
    }
}

static const char *diff_style(const diff_row *row, int column)
{
    static const int measures[DIFF_COLUMNS] = { -1, -1, -1, -1, -1, DIFF_SLICE, DIFF_P99,
                                                DIFF_RATE, DIFF_BLAME, -1 };
    const diff_change *change = measures[column] >= 0 ? &row->changes[measures[column]] : NULL;
    if (change == NULL || !change->beyond) {
        return SHEET_PLAIN;
    }
    return change->change > 0 ? SHEET_HOT : SHEET_GOOD;
}

static bool diff_beyond(const diff_row *row, int column)
{
    return strcmp(diff_style(row, column), SHEET_PLAIN) != 0;
}

/* A chain of sites, as much of its end as fits. */
static void diff_chain(sheet *s, const diff_row *row, unsigned width)
{
    const diff_row *chain[64];
    unsigned used = text_width(row->name);
    size_t count = 1;
    chain[0] = row;
    while (row->parent != NULL && count < 64 &&
           used + text_width(row->parent->name) + (row->parent->parent != NULL ? 6 : 3) <= width) {
        row = row->parent;
        used += text_width(row->name) + 3;
        chain[count++] = row;
    }
    if (row->parent != NULL && used + 3 <= width) {
        sheet_glyph(s, 0x2026, '~');
        sheet_text(s, " > ");
    }
    while (count-- > 0) {
        sheet_cut(s, chain[count]->name, width);
        if (count > 0) {
            sheet_text(s, " > ");
        }
    }
}

static void diff_name(diff *d, const diff_row *row, unsigned width)
{
    sheet *s = &d->sheet;
    char place[64];
    const char *slash = strrchr(row->file, '/');
    if (row->parent != NULL) {
        diff_chain(s, row, width - 1);
        return;
    }
    sheet_cut(s, row->name, width - 1);
    (void)snprintf(place, sizeof place, "%.40s:%llu", slash != NULL ? slash + 1 : row->file,
                   (unsigned long long)row->line);
    if (*row->file != '\0' && text_width(row->name) + 3 + text_width(place) <= width) {
        s->blanks += 2;
        sheet_styled(s, SHEET_DIM, place);
    }
}

static void diff_line(diff *d, const diff_row *row)
{
    sheet *s = &d->sheet;
    unsigned name;
    int count = diff_fit(d, &name);
    unsigned end = name;
    diff_name(d, row, name);
    for (int i = 0; i < count; i++) {
        figure f = diff_cell(d, row, i);
        end += diff_columns[i].width;
        sheet_style(s, diff_style(row, i));
        sheet_right(s, f.text, end - 1);
        if (diff_beyond(row, i)) {
            sheet_text(s, "!");
        }
        sheet_style(s, SHEET_PLAIN);
    }
    sheet_newline(s);
}

static void diff_header(diff *d, const char *title)
{
    sheet *s = &d->sheet;
    unsigned name;
    int count = diff_fit(d, &name);
    unsigned end = name;
    sheet_newline(s);
    sheet_styled(s, SHEET_BOLD, title);
    sheet_style(s, SHEET_DIM);
    for (int i = 0; i < count; i++) {
        end += diff_columns[i].width;
        sheet_right(s, diff_columns[i].title, end - 1);
    }
    sheet_style(s, SHEET_PLAIN);
    sheet_newline(s);
}

static size_t diff_count(const diff_table *table, diff_verdict verdict)
{
    size_t count = 0;
    for (size_t i = 0; i < table->count; i++) {
        count += table->rows[i].verdict == verdict;
    }
    return count;
}

/* The rows of one verdict; they stand together. */
static void diff_section(diff *d, const diff_table *table, diff_verdict verdict, const char *title)
{
    char text[64];
    size_t shown = 0;
    size_t all = diff_count(table, verdict);
    if (all == 0) {
        return;
    }
    diff_header(d, title);
    for (size_t i = 0; i < table->count && shown < d->most; i++) {
        if (table->rows[i].verdict == verdict) {
            diff_line(d, &table->rows[i]);
            shown++;
        }
    }
    if (shown < all) {
        (void)snprintf(text, sizeof text, "%zu more (see --top)", all - shown);
        sheet_text(&d->sheet, text);
        sheet_newline(&d->sheet);
    }
}

static void diff_sections(diff *d, const diff_table *table, bool paths)
{
    static const diff_verdict verdicts[] = { DIFF_WORSE, DIFF_NEW, DIFF_BETTER, DIFF_GONE,
                                             DIFF_ALIKE };
    static const char *const titles[2][5] = {
        { "WORSE sites", "NEW sites", "BETTER sites", "GONE sites", "within noise" },
        { "WORSE paths", "NEW paths", "BETTER paths", "GONE paths", "within noise" }
    };
    for (int i = 0; i < (paths ? 4 : 5); i++) {
        diff_section(d, table, verdicts[i], titles[paths][i]);
    }
}

/* The last line says it all. */
static void diff_summary(diff *d)
{
    sheet *s = &d->sheet;
    size_t worse = diff_count(&d->sites, DIFF_WORSE);
    char text[64];
    sheet_newline(s);
    if (worse == 0) {
        sheet_styled(s, SHEET_GOOD, "No site got worse beyond noise.");
    } else {
        (void)snprintf(text, sizeof text, "%zu site%s got worse beyond noise, first ", worse,
                       worse == 1 ? "" : "s");
        sheet_style(s, SHEET_HOT);
        sheet_text(s, text);
        sheet_cut(s, d->sites.rows[0].name, 40);
        sheet_style(s, SHEET_PLAIN);
    }
    sheet_newline(s);
}

static void diff_print(diff *d)
{
    sheet *s = &d->sheet;
    s->columns = d->columns > 0 ? (unsigned)d->columns : terminal_columns(stdout);
    s->ascii = d->ascii;
    s->color = color_wanted(d->color, stdout);
    s->end = "\n";
    diff_profile_line(d, 0);
    diff_profile_line(d, 1);
    diff_noise_lines(d);
    diff_sections(d, &d->sites, false);
    diff_sections(d, &d->paths, true);
    diff_summary(d);
    (void)fwrite(s->bytes, 1, s->used, stdout);
}

/* >>diff json */

static void json_put(const char *text)
{
    (void)putchar('"');
    while (*text != '\0') {
        uint32_t code = sheet_next(&text);
        sheet one;
        memset(&one, 0, sizeof one);
        if (code < 0x20 || code == '"' || code == '\\') {
            (void)printf("\\u%04x", (unsigned)code);
            continue;
        }
        sheet_encode(&one, code);
        (void)fwrite(one.bytes, 1, one.used, stdout);
        free(one.bytes);
    }
    (void)putchar('"');
}

static void diff_json_profile(const diff_profile *p, const char *key)
{
    (void)printf("\"%s\":{\"source\":", key);
    json_put(p->source);
    (void)fputs(",\"name\":", stdout);
    json_put(p->name);
    (void)printf(",\"elapsed_ns\":%llu,\"busy_ns\":%llu,\"pass_p99_ns\":%llu,\"stalls\":%llu},\n",
                 (unsigned long long)p->elapsed_ns, (unsigned long long)p->busy_ns,
                 (unsigned long long)p->pass_p99_ns, (unsigned long long)p->stalls);
}

static void diff_json_side(const diff_side *s, const char *key)
{
    (void)printf(",\"%s\":{\"exec_ns\":%llu,\"slices\":%llu,\"calls\":%llu,\"slice_p99_ns\":%llu,"
                 "\"slice_max_ns\":%llu,\"delay_ns\":%llu,\"blame_ns\":%llu}", key,
                 (unsigned long long)s->exec_ns, (unsigned long long)s->slices,
                 (unsigned long long)s->calls, (unsigned long long)s->p99_ns,
                 (unsigned long long)s->max_ns, (unsigned long long)s->delay_ns,
                 (unsigned long long)s->blame_ns);
}

/* The chain of a path, the root first; of one that only a forged profile has, the end. */
static void diff_json_chain(const diff_row *row)
{
    const diff_row *chain[512];
    size_t count = 0;
    for (; row != NULL && count < 512; row = row->parent) {
        chain[count++] = row;
    }
    while (count-- > 0) {
        json_put(chain[count]->name);
        if (count > 0) {
            (void)putchar(',');
        }
    }
}

static void diff_json_changes(const diff_row *row)
{
    bool comma = false;
    (void)fputs(",\"changes\":{", stdout);
    for (int m = 0; m < DIFF_MEASURES; m++) {
        const diff_change *c = &row->changes[m];
        if (c->known) {
            (void)printf("%s\"%s\":{\"factor\":%.6g,\"noise_factor\":%.6g,\"beyond\":%s}",
                         comma ? "," : "", diff_measures[m], exponential(c->change),
                         exponential(DIFF_SIGMAS * c->noise), c->beyond ? "true" : "false");
            comma = true;
        }
    }
    (void)putchar('}');
}

static void diff_json_rows(const diff *d, const diff_table *table, bool paths)
{
    (void)printf("\"%s\":[", paths ? "paths" : "sites");
    for (size_t i = 0; i < table->count; i++) {
        const diff_row *row = &table->rows[i];
        (void)printf("%s\n{\"verdict\":\"%s\",\"name\":", i > 0 ? "," : "",
                     diff_verdicts[row->verdict]);
        json_put(row->name);
        (void)fputs(",\"file\":", stdout);
        json_put(row->file);
        (void)printf(",\"line\":%llu", (unsigned long long)row->line);
        if (paths) {
            (void)fputs(",\"path\":[", stdout);
            diff_json_chain(row);
            (void)putchar(']');
        }
        (void)printf(",\"share_a\":%.6g,\"share_b\":%.6g,\"excess\":%.6g,\"worse_percent\":%.6g",
                     share_in(row, 0, d->both), share_in(row, 1, d->both), row->excess,
                     row_worse(row));
        diff_json_changes(row);
        diff_json_side(&row->side[0], "a");
        diff_json_side(&row->side[1], "b");
        (void)putchar('}');
    }
    (void)fputs("\n]", stdout);
}

static void diff_json(const diff *d)
{
    (void)fputs("{\"chroprof_diff\":1,\n", stdout);
    diff_json_profile(&d->both[0], "a");
    diff_json_profile(&d->both[1], "b");
    (void)fputs("\"common\":{", stdout);
    for (int m = 0; m < DIFF_MEASURES; m++) {
        const diff_noise *n = &d->noise[m];
        (void)printf("%s\"%s\":{\"factor\":%.6g,\"spread\":%.6g,\"sites\":%zu}", m > 0 ? "," : "",
                     diff_measures[m], exponential(n->common), n->spread, n->rows);
    }
    (void)fputs("},\n", stdout);
    diff_json_rows(d, &d->sites, false);
    (void)fputs(",\n", stdout);
    diff_json_rows(d, &d->paths, true);
    (void)fputs("}\n", stdout);
}

/* >>diff run */

/* 5, 2.5, 15%: in tenths of a percent. */
static bool read_percent(const char *text, uint64_t *tenths)
{
    uint64_t whole;
    uint64_t tenth = 0;
    if (!read_digits(&text, &whole) || whole > 1000000) {
        return false;
    }
    if (*text == '.') {
        text++;
        if (!read_digits(&text, &tenth) || tenth > 9) {
            return false;
        }
    }
    *tenths = whole * 10 + tenth;
    return strcmp(text, "%") == 0 || *text == '\0';
}

static const char *set_diff_fail(void *target, const char *value)
{
    diff *d = (diff *)target;
    d->fails = true;
    return read_percent(value, &d->fail_above_tenths) ? NULL
                                                      : "expected a percentage as in 5 or 2.5";
}

static const char *set_diff_json(void *target, const char *value)
{
    (void)value;
    ((diff *)target)->json = true;
    return NULL;
}

static const char *set_diff_absolute(void *target, const char *value)
{
    (void)value;
    ((diff *)target)->absolute = true;
    return NULL;
}

static const char *set_diff_ascii(void *target, const char *value)
{
    (void)value;
    ((diff *)target)->ascii = true;
    return NULL;
}

static const char *set_diff_help(void *target, const char *value)
{
    (void)value;
    ((diff *)target)->help = true;
    return NULL;
}

static const char *set_diff_columns(void *target, const char *value)
{
    bool ok = read_count(value, 60, 500, &((diff *)target)->columns);
    return ok ? NULL : "expected a width from 60 to 500";
}

static const char *set_diff_top(void *target, const char *value)
{
    bool ok = read_count(value, 1, 1000000, &((diff *)target)->most);
    return ok ? NULL : "expected a number of rows from 1 to 1000000";
}

static const char *set_diff_color(void *target, const char *value)
{
    return choose(colors, value, &((diff *)target)->color) ? NULL
                                                           : "expected auto, always or never";
}

static const tool_option diff_options[] = {
    { "fail-above", '\0', "PCT", "exit code 1 if something got worse by more than PCT\n"
      "percent beyond noise", set_diff_fail },
    { "json", 'j', NULL, "for programs", set_diff_json },
    { "absolute", '\0', NULL, "take nothing off for the machine: for a quiet one, and\n"
      "changes that make every task slower", set_diff_absolute },
    { "top", 'n', "N", "rows of each kind (default 20)", set_diff_top },
    { "columns", 'w', "N", "width, 60 to 500 (default: the terminal's, else 80)",
      set_diff_columns },
    { "ascii", '\0', NULL, "plain ASCII", set_diff_ascii },
    { "color", '\0', "WHEN", "auto (default: on a terminal), always or never", set_diff_color },
    { "help", 'h', NULL, "this text", set_diff_help }
};

static const char diff_text[] =
    "\n"
    "A and B are profiles in files, processes by number, or written as CHROPROF_JSON (- for\n"
    "standard input). Sites are matched by name and file, without folders and lines; paths\n"
    "by their chain of sites. What got worse stands first, by what it takes of the loop.\n"
    "\n"
    "loop A, loop B    share of the loop; points: the difference\n"
    "slice A, slice B  average length of a stay in running; slice: the factor of change\n"
    "p99, rate, blame  of slices, as factors: the 99th percentile, how many a second, the\n"
    "                  delay of others during one. ! marks what is beyond noise\n"
    "a call            exec of a future, as a factor, nothing taken off\n"
    "\n"
    "What all sites share (the median of their changes) is taken for the machine's or the\n"
    "load's, and off the factors. A change counts if it is above 4 standard errors, made\n"
    "of: the number of slices and how uneven they are; half of what the longest tenth adds\n"
    "beyond the 90th percentile, as interruptions do; how much an eighth of the run differs\n"
    "from the others, by the root of 8; and the spread of all sites' changes between the\n"
    "two runs (by its median; at least 5% for slices, 15% for rates, 20% for p99 and\n"
    "blame; 15% with fewer than 4 sites). It must also matter: 0.2 points of the loop,\n"
    "50 us of p99, or 0.01 futures more that wait, on average. New and gone sites need 20\n"
    "slices and 0.2% of the loop. Nothing else is told from noise: for finer answers take\n"
    "longer runs, and a quieter machine.\n"
    "\n"
    "--fail-above compares with the change less those 4 standard errors; of a new site,\n"
    "with its points of the loop.\n"
    "\n"
    "exit codes: 0 done, 1 worse than --fail-above, 2 usage, input or output\n"
    "\n"
    "examples:\n"
    "  chroprof diff yesterday.json server.chroprof\n"
    "  chroprof diff main.json branch.json --fail-above 10\n";

static bool diff_reckon(diff *d)
{
    bool ok = diff_load(&d->both[0], d->sources[0]) && diff_load(&d->both[1], d->sources[1]);
    ok = ok && diff_keys(&d->both[0]) && diff_keys(&d->both[1]) &&
         diff_join(&d->both[0].sites, &d->both[1].sites, &d->sites) &&
         diff_join(&d->both[0].paths, &d->both[1].paths, &d->paths);
    for (int m = 0; ok && m < DIFF_MEASURES; m++) {
        ok = diff_estimate(&d->sites, m, d->both, d->absolute, &d->noise[m]);
    }
    if (ok) {
        diff_judge(&d->sites, d->noise, d->both);
        diff_judge(&d->paths, d->noise, d->both);
    }
    return ok;
}

static bool diff_exceeds(const diff *d, const diff_table *table)
{
    for (size_t i = 0; i < table->count; i++) {
        if (row_worse(&table->rows[i]) * 10 > (double)d->fail_above_tenths) {
            return true;
        }
    }
    return false;
}

static int diff_answer(diff *d)
{
    if (!diff_reckon(d)) {
        return DIFF_TROUBLE;
    }
    if (d->json) {
        diff_json(d);
    } else {
        diff_print(d);
    }
    if (fflush(stdout) != 0 || ferror(stdout)) {
        tool_message("(standard output): %s", strerror(errno));
        return DIFF_TROUBLE;
    }
    return d->fails && (diff_exceeds(d, &d->sites) || diff_exceeds(d, &d->paths)) ? DIFF_FAILS
                                                                                 : DIFF_SAME;
}

static int diff_run(const tool_command *command, int count, char **words)
{
    static diff d;
    int result;
    d.most = 20;
    result = parse_words(command, count, words, &d, d.sources, 2, &d.count);
    if (!shall_run(command, d.help, d.count == 0 ? "A" : d.count == 1 ? "B" : NULL, &result)) {
        return result;
    }
    result = diff_answer(&d);
    free(d.sites.rows);
    free(d.paths.rows);
    diff_free(&d.both[0]);
    diff_free(&d.both[1]);
    free(d.sheet.bytes);
    return result;
}
