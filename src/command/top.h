/* top.h - what chroprof top has seen and how it is to be shown; for top*.c alone. */

#ifndef COMMAND_TOP_H
#define COMMAND_TOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../../chroprof.h"
#include "attach_live.h"
#include "sheet.h"
#include "watch.h"

enum { TOP_EXEC, TOP_CPU, TOP_OFF_CPU, TOP_CHILDREN, TOP_SLICES, TOP_MEAN, TOP_P99, TOP_MAX,
       TOP_BLAME, TOP_DELAY, TOP_LATENCY_P50, TOP_LATENCY_P99, TOP_LATENCY_MAX, TOP_CALLS, TOP_LIVE,
       TOP_NAME, TOP_ORDERS };

/* Columns in the order in which they stand. The one that sorts is always shown, the others while
 * there is room, those of the lowest rank first. */
typedef struct top_column {
    const char *title;
    unsigned width, rank;
    char key;
    const char *help;
} top_column;

extern const top_column top_columns[TOP_ORDERS];

#define TOP_FILTER_BYTES 64

typedef struct top {
    const char *operand;
    bool attach;               /* a process without a profile is to be watched from outside */
    char process[64];          /* its name then */
    attach_live live;          /* who does so */
    top_watch watch;
    uint64_t interval_ns, count;   /* count 0: without end */
    uint64_t most_rows, columns_wanted;
    int color, sort;
    bool ascii, all;
    bool full, paused, helping, typing, done;
    char filter[TOP_FILTER_BYTES];
    size_t scroll, lines;      /* lines: of the table, as it was drawn */
    size_t chosen;             /* a row, once a key has moved to one */
    bool choosing, detail;     /* detail: the page of the site below is shown */
    char site_name[1001], site_file[1001];     /* no name of a profile is longer */
    uint32_t site_line;
    uint64_t shown_stalls;     /* plain output: profile time up to which stalls were told */
    sheet sheet;
    top_row *rows;             /* of the interval, sorted, filtered */
    size_t row_count, site_count;
    chroprof_totals totals;    /* of the interval */
    bool since_start;          /* rows and totals are */
    bool sampled, latency;     /* columns that there are figures for */
    chroprof_finding finding;  /* the most important one of it; text "": none */
} top;

/* Seconds of the interval that is shown. */
double top_seconds(const top *t);

/* What a row is sorted by. */
double top_key(const top_row *r, int sort);

/* Makes the rows of what is to be shown. */
void top_refresh(top *t);

/* Shows the page of the chosen row. */
void top_choose(top *t);
void top_detail_page(top *t);

/* Is there anything for this column? */
bool top_useful(const top *t, int column);
figure top_cell(const top *t, const top_row *r, int column);

/* A line. */
void top_stall(top *t, const chroprof_stall *stall, bool inside);

/* The time of the day. */
figure top_clock(uint64_t unix_ns);

/* As a full screen, or as plain text. */
void top_draw(top *t);
void top_print(top *t);

#endif
