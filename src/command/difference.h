/* difference.h - what chroprof diff knows: the sites and paths of two profiles, brought together by
 * content, and what of their changes is more than noise. diff.h shows it. */

#ifndef COMMAND_DIFFERENCE_H
#define COMMAND_DIFFERENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "json.h"
#include "profile.h"

/* A site's or path's figures in one profile. */
typedef struct diff_side {
    bool there;
    uint64_t exec_ns, slices, calls, live, blame_ns, delay_ns;
    uint64_t min_ns, p1_ns, p50_ns, p90_ns, p99_ns, max_ns, latency_p50_ns, latency_p99_ns;
    bool has_percentiles;
    double typical_ns, error;  /* a slice without interruptions, and the relative error of that; a
                                  path's by its site's */
} diff_side;

/* What is judged: exec per call and per slice, the shortest slice, calls per second, percentiles of
 * slices, delay of others during a slice, median latency. */
enum { DIFF_CALL, DIFF_SLICE, DIFF_MIN, DIFF_P50, DIFF_P90, DIFF_P99, DIFF_RATE, DIFF_LATENCY,
       DIFF_BLAME, DIFF_MEASURES };

#define DIFF_BUCKET 0.118      /* ln(9/8): what a percentile may differ by the width of a bucket */

typedef struct diff_change {
    bool known;
    double raw;                /* logarithm of B / A */
    double change;             /* of it, without what all rows share */
    double noise;              /* standard error of it */
    bool beyond;               /* it is more than noise, and matters */
} diff_change;

typedef enum diff_verdict { DIFF_ALIKE, DIFF_WORSE, DIFF_BETTER, DIFF_NEW, DIFF_GONE } diff_verdict;

typedef struct diff_row {
    uint64_t key;              /* of its content: equal in both profiles */
    char *name, *file;         /* of the site; owned by the profile that it was read from */
    uint64_t line;
    const struct diff_row *parent;   /* of a path; NULL: a root, or a site */
    uint64_t id, parent_id, site_id;
    diff_side side[2];         /* A, B */
    diff_change changes[DIFF_MEASURES];
    diff_verdict verdict;
    double excess;             /* part of B's loop that the change takes beyond what all share */
} diff_row;

typedef struct diff_table {
    diff_row *rows;
    size_t count;
} diff_table;

/* One profile. */
typedef struct diff_profile {
    const char *source;
    profile_text text;
    uint64_t elapsed_ns, busy_ns, iteration_p99_ns, callback_p99_ns, stalls;
    char *name;
    diff_table sites, paths;
} diff_profile;

void diff_free(diff_profile *d);

/* A file or a process. false, with a message. */
bool diff_load(diff_profile *d, const char *source);

/* The same of one that was read already; the text stays its owner's. */
bool diff_borrow(diff_profile *d, const profile_text *text);

/* Frees one of diff_borrow. */
void diff_give_back(diff_profile *d);

/* The same of a profile in memory. */
bool diff_load_view(diff_profile *d, chroprof *view, const char *source);

bool diff_keys(diff_profile *d);

/* Rows of both, by content. The rows of B take those of A into their side[0]; what only A has comes
 * behind. The strings stay with their profiles. */
bool diff_join(const diff_table *a, const diff_table *b, diff_table *out);

#define DIFF_SIGMAS 4.0
#define DIFF_LEAST_ROWS 4      /* fewer can't tell the machine from the change */
#define DIFF_FEW_ROWS 0.15     /* then this is the noise between runs */
#define DIFF_LEAST_SLICES 8

typedef struct diff_noise {
    double common;             /* logarithm of what all share */
    bool agreed;               /* most sites changed by about that */
    double spread;             /* between runs */
    size_t rows;
} diff_noise;

/* What all sites share in a measure, and how far they lie apart. false: no memory. */
bool diff_estimate(const diff_table *sites, int measure, const diff_profile *both,
                   bool absolute_change, diff_noise *out);

double share_in(const diff_row *row, int side, const diff_profile *both);

/* What a row counts: calls if enough of them ended in both runs, else slices (a task that runs all
 * the time). */
bool counts_calls(const diff_row *row);

/* The factor from which on a longer time per call is found in the sites with half of the exec time;
 * 0: nothing can be compared. Call it after diff_judge. false: no memory. */
bool diff_detects(const diff_table *sites, double *factor);

/* Of a whole row; a new site counts by its points of the loop. */
double row_worse(const diff_row *row);

/* Judges every row by the noise of the sites, and sorts them. */
void diff_judge(diff_table *table, const diff_noise *noise, const diff_profile *both);

#endif
