/* writers/text_tables.h */
#pragma once
#include "../base/util.h"
#include "../writers/words.h"
#include "../writers/columns.h"
#include "../writers/text.h"

/* >>text tables: what SITES and PATHS share. Columns are data; rows that are no sites or paths make
 * every column that adds up do so on the page. */

enum { CHROPROF__COLUMNS = 13, CHROPROF__NEVER = 255, CHROPROF__ESTIMATE = 11 };
enum { CHROPROF__ALONE, CHROPROF__ADDS, CHROPROF__OF_DELAY, CHROPROF__SAMPLED };

/* A column is there from a width of the page on, and wherever it is the order. Those of CPU time
 * take their room from others. */
typedef struct chroprof__column {
    char above[6], title[10];
    char figure[4];            /* as chroprof__say takes it, its width included */
    uint8_t from[2];           /* without samples, with them */
    uint8_t kind;              /* ADDS: rows add up; OF_DELAY: and it is there if there was delay;
                                  SAMPLED: a time and, behind it in the row, its error */
    uint16_t offset;           /* in chroprof__shown_site or chroprof_path */
} chroprof__column;

typedef struct chroprof__grid {
    const chroprof__column *fields;
    uint32_t count;
    uint16_t order;            /* the offset of the column that rows go by */
    uint32_t figures_at, bar;  /* columns of the page */
    uint32_t exec, blame;      /* the columns of these; blame: beyond the last for none */
    uint64_t longest_ns;       /* that the longest bar stands for */
    uint64_t rows_left;        /* sites or paths that are not shown */
    uint64_t left[CHROPROF__COLUMNS];      /* their figures */
    uint64_t sum[CHROPROF__COLUMNS];       /* of the rows that are */
} chroprof__grid;

static uint32_t chroprof__column_width(const chroprof__column *c)
{
    uint32_t figure = (uint32_t)(c->figure[1] - '0');
    return c->kind == CHROPROF__SAMPLED ? (uint32_t)CHROPROF__ESTIMATE : figure;
}

/* A time to the place where its error begins, and that error in one digit, or in two up to 14, in
 * 10 columns at most: longer ones are told coarser. */
static void chroprof__show_estimate(chroprof__page *g, const uint64_t *figures)
{
    const chroprof__unit *u = chroprof__times;
    uint32_t decimals, zeros = 0, digits, wide;
    uint64_t step = chroprof__step_of(figures[0], &u, &decimals), error;
    chroprof__phrase s;
    s.used = 0;
    digits = figures[0] / 100 >= u->size ? 3 : figures[0] / 10 >= u->size ? 2 : 1;
    wide = digits + chroprof__columns_of(u->name) + 1;      /* without decimals */
    for (; (error = chroprof__round(figures[1], step)) > 14 ||
           (decimals > 0 && wide + 2 * decimals + 2 > 10); step *= 10)
        if (decimals > 0)
            decimals--;
        else
            zeros++;
    error = error > 0 ? error : 1;
    for (uint32_t k = 0; k < 2; k++) {
        chroprof__say_text(&s, k == 0 ? "" : "\xC2\xB1");
        chroprof__say_fixed(&s, k == 0 ? chroprof__round(figures[0], step) : error, decimals,
                            decimals + 1);
        chroprof__say_text(&s, zeros == 0 ? "" : zeros == 1 ? "0" : "00");
    }
    chroprof__say_text(&s, u->name + 1);
    chroprof__show_right(g, s.text, CHROPROF__ESTIMATE);
}

static void chroprof__grid_figure(chroprof__page *g, const chroprof__column *c, const void *row)
{
    const uint64_t *figures = chroprof__field(row, c->offset);
    if (c->kind != CHROPROF__SAMPLED)
        chroprof__print(g, c->figure, figures);
    else if (*figures == CHROPROF__NO_FIGURE)
        chroprof__show_right(g, "-", CHROPROF__ESTIMATE);
    else
        chroprof__show_estimate(g, figures);
}

static bool chroprof__column_shown(const chroprof__page *g, const chroprof__grid *grid,
                                   const chroprof__column *c)
{
    return c->offset == grid->order || (g->width >= c->from[g->sampled] &&
           (c->kind != CHROPROF__OF_DELAY || g->totals.delay_ns > 0));
}

/* Figures stand at the right end of the page, after a share and its bar. */
static void chroprof__grid_setup(const chroprof__page *g, chroprof__grid *grid,
                                 const chroprof__column *fields, size_t count, uint16_t order,
                                 uint32_t bar_from)
{
    memset(grid, 0, sizeof *grid);
    grid->fields = fields;
    grid->count = (uint32_t)count;
    grid->order = order;
    grid->bar = g->width < bar_from ? 0 : g->width < 120 ? 10 : 10 + (g->width - 120) / 8;
    grid->figures_at = g->width - 7 - grid->bar;
    for (size_t k = 0; k < count; k++)
        if (chroprof__column_shown(g, grid, fields + k))
            grid->figures_at -= chroprof__column_width(fields + k);
}

/* Two lines, each with what stands at its begin. */
static void chroprof__grid_head(chroprof__page *g, const chroprof__grid *grid, const char *first,
                                const char *second)
{
    for (uint32_t line = 0; line < 2; line++) {
        chroprof__style(g, CHROPROF__DIM);
        chroprof__show(g, line == 0 ? first : second);
        chroprof__blank_to(g, grid->figures_at);
        chroprof__show_right(g, line == 0 ? "share" : "of loop", 7);
        g->blanks += grid->bar;
        for (const chroprof__column *c = grid->fields; c < grid->fields + grid->count; c++)
            if (chroprof__column_shown(g, grid, c))
                chroprof__show_right(g, line == 0 ? c->above : c->title,
                                     chroprof__column_width(c));
        chroprof__newline(g);
    }
}

/* What a row adds to the sum of a column. */
static uint64_t chroprof__grid_known(const chroprof__grid *grid, uint32_t k, const void *row)
{
    uint64_t value = *chroprof__field(row, grid->fields[k].offset);
    return value != CHROPROF__NO_FIGURE ? value : 0;
}

/* A site or path that is there, whether it will be shown or not. */
static void chroprof__grid_count(chroprof__grid *grid, const void *row)
{
    for (uint32_t k = 0; k < grid->count; k++)
        grid->left[k] += chroprof__grid_known(grid, k, row);
    grid->rows_left++;
}

/* Two blanks and a bar, in eighths of a column or, in ASCII, in whole ones. */
static void chroprof__grid_bar(chroprof__page *g, const chroprof__grid *grid, uint64_t ns)
{
    uint32_t end = g->column + g->blanks + grid->bar, width = grid->bar > 0 ? grid->bar - 2 : 0;
    uint64_t eighths = chroprof__portion(width * 8u, ns, grid->longest_ns);
    if (width == 0)
        return;
    if (g->look.ascii)
        eighths = (eighths + 4) / 8 * 8;
    else if (eighths == 0 && ns > 0)
        eighths = 1;
    for (g->blanks += 2; eighths >= 8; eighths -= 8)
        chroprof__glyph(g, 0x2588);
    if (eighths > 0)
        chroprof__glyph(g, 0x2590 - (uint32_t)eighths);
    chroprof__blank_to(g, end);
}

/* The figures of a site or path, behind its name: the share of ns first, colored by heat. */
static void chroprof__grid_row(chroprof__page *g, chroprof__grid *grid, uint64_t ns,
                               const void *row)
{
    const uint64_t share[] = { ns, g->totals.elapsed_ns };
    uint64_t heat = chroprof__portion(100, ns, g->totals.elapsed_ns);
    chroprof__blank_to(g, grid->figures_at);
    chroprof__style(g, heat >= 25 ? CHROPROF__HOT : heat >= 10 ? CHROPROF__WARM : CHROPROF__PLAIN);
    chroprof__print(g, "%7p", share);
    chroprof__grid_bar(g, grid, ns);
    chroprof__style(g, CHROPROF__PLAIN);
    for (uint32_t k = 0; k < grid->count; k++) {
        if (chroprof__column_shown(g, grid, grid->fields + k))
            chroprof__grid_figure(g, grid->fields + k, row);
        grid->left[k] -= chroprof__grid_known(grid, k, row);
        grid->sum[k] += chroprof__grid_known(grid, k, row);
    }
    grid->rows_left--;
    chroprof__newline(g);
}

/* A row that is no site or path, and then part of the sum: only what adds up and is not zero. */
static void chroprof__grid_extra(chroprof__page *g, chroprof__grid *grid, const char *label,
                                 const uint64_t *values)
{
    const uint64_t share[] = { values[grid->exec], g->totals.elapsed_ns };
    chroprof__style(g, CHROPROF__DIM);
    chroprof__print(g, label, &grid->rows_left);
    chroprof__blank_to(g, grid->figures_at + (grid->blame < grid->count ? 0 : 7));
    if (grid->blame < grid->count)          /* the shares of sites add up, those of paths do not */
        chroprof__print(g, "%7p", share);
    g->blanks += grid->bar;
    for (uint32_t k = 0; k < grid->count; k++) {
        const chroprof__column *c = grid->fields + k;
        bool shown = chroprof__column_shown(g, grid, c);
        bool adds = c->kind == CHROPROF__ADDS || c->kind == CHROPROF__OF_DELAY;
        if (shown && adds && values[k] > 0)
            chroprof__print(g, c->figure, values + k);
        else
            g->blanks += shown ? chroprof__column_width(c) : 0;
        grid->sum[k] += values[k];
    }
    chroprof__newline(g);
}

static void chroprof__grid_other(chroprof__page *g, chroprof__grid *grid, const char *label,
                                 uint64_t exec_ns, uint64_t blame_ns)
{
    uint64_t values[CHROPROF__COLUMNS + 1];
    memset(values, 0, sizeof values);
    values[grid->exec] = exec_ns;
    values[grid->blame] = blame_ns;
    if (exec_ns > 0 || blame_ns > 0)
        chroprof__grid_extra(g, grid, label, values);
}
