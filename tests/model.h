/* model.h - the slow reference: every figure recomputed from plain, ever-growing lists
 *
 * Written from the definitions, not from chroprof.h: it shares the public enums and structs with it
 * and nothing else. It keeps every interval, future, slice, delay, callback and iteration there
 * ever was; a path is the list of its sites; blame and delay come from a walk over all ready
 * futures for every interval. Only the capacities are emulated. It is for the manual clock: one
 * tick is one ns. */
#ifndef MODEL_H
#define MODEL_H

#include "../chroprof.h"

/* Where time goes. Numbers from 0 are indices of model.paths. */
enum { MODEL_LOOP = -1, MODEL_IDLE = -2, MODEL_UNTRACKED = -3 };

/* The site "(other)"; numbers from 0 are indices of model.sites. */
enum { MODEL_OTHER = -1 };

/* One rule broken on purpose, to prove that a comparison can fail. */
typedef enum model_mutant {
    MODEL_SOUND,
    MODEL_MISBILLS_ONE_TICK, /* once, one tick of a path goes to the loop */
    MODEL_NEVER_FOLDS,
    MODEL_FORGETS_PAST_BLAME,
    MODEL_LOSES_A_PAUSE,               /* running of the future on top begins no new slice */
    MODEL_KEEPS_CALLBACKS_IN_BARRIERS, /* a callback also counts what runs above a barrier */
    MODEL_MUTANTS
} model_mutant;

typedef enum model_end {
    MODEL_LIVE,
    MODEL_COMPLETED,
    MODEL_FAILED,
    MODEL_CANCELLED,
    MODEL_ABANDONED,
    MODEL_DROPPED,
    MODEL_STILLBORN,
    MODEL_FORGOTTEN /* by a reset */
} model_end;

typedef struct model_site {
    char *name, *file;
    uint32_t line;
} model_site;

typedef struct model_path {
    int *chain;
} model_path; /* its sites, from the root down */

typedef struct model_edge {
    int parent, site, path;
} model_edge;

typedef struct model_interval {
    uint64_t start, end, blame;
    int place;
} model_interval;

/* One event, and the interval up to it. base: how many frames lay below the innermost loop's.
 * slice: that the interval was billed to, -1: none. */
typedef struct model_step {
    uint64_t start, at, id;
    uint32_t state;
    int place, depth, base, slice;
} model_step;

/* A stall, and the steps inside it: [first, end). */
typedef struct model_stall {
    chroprof_stall_kind kind;
    uint64_t start, length;
    int first, end, base;
} model_stall;

/* What a site, or a place below 0, was on top of a future's delay. */
typedef struct model_share {
    int site;
    uint64_t ticks;
} model_share;

typedef struct model_future {
    uint64_t id; /* 0: an enter-frame */
    int path;
    model_end end;
    chroprof_state state;
    bool wants_ready; /* ready was said while it ran */
    bool has_run;
    uint64_t born, died, since;
    uint64_t late;                  /* exec after its end, of frames that stayed */
    int delay;                      /* index of the delay under way */
    uint64_t exec, stacked, waited; /* on top, on the stack, and ready while events said so */
    model_share *behind;            /* who was on top while it was ready */
} model_future;

/* What a poll is taken to have found, and the most that it can have waited before. */
typedef struct model_found {
    int path;
    uint64_t most;
} model_found;

typedef struct model_activation {
    int future;
    uint64_t length;
    bool ended;
} model_activation;

typedef enum model_frame_kind {
    MODEL_FRAME_FUTURE,
    MODEL_FRAME_UNKNOWN,
    MODEL_FRAME_ENTER,
    MODEL_FRAME_BARRIER
} model_frame_kind;

typedef struct model_frame {
    model_frame_kind kind;
    uint64_t id;
    int future, slice; /* -1: none */
    uint64_t callback; /* of a base frame */
    uint64_t pushed;
    int step; /* of the event that pushed it */
} model_frame;

typedef struct model {
    model_mutant mutant;
    uint64_t capacity[CHROPROF_TABLE_COUNT];
    uint64_t window_ns, stall_ns, max_step_ns;
    bool on, started, idle, in_iteration, begun;
    int polls; /* how many there were; when the last two were, did the last wait? */
    uint64_t poll, poll_before;
    bool waited;
    model_found *found;
    uint64_t billed; /* the last interval */
    uint64_t at_once, at_once_ns, start;
    uint64_t last, elapsed, iteration_start, events, old_blame, hidden, hidden_since;
    uint64_t anomalies[CHROPROF_ANOMALY_COUNT], dropped[CHROPROF_TABLE_COUNT];
    bool ever_dropped, other_used, misbilled, strings_full;
    bool was_hidden;    /* then the ring does not tell who was ready or on the stack, */
    uint64_t hidden_at; /* of futures that were born by then */
    int *slow;          /* sites with futures that finished, in that order */
    model_site *sites;
    model_path *paths;
    model_edge *edges;
    model_interval *intervals;
    model_future *futures;
    int *live; /* indices of the futures that are live, enter-frames too */
    model_activation *slices, *delays;
    model_frame *stack;
    uint64_t *callbacks, *iterations;
    model_step *steps;
    model_stall *stalls;    /* an iteration takes the place of the callback that is most of it */
    int iteration_step;     /* the event that began the iteration */
    int iteration_callback; /* its longest stall, -1: none */
} model;

/* Same options as the profile's init; capacities that it shared out itself are read from p. */
void model_init(model *m, const chroprof_options *options, const chroprof *p);
void model_free(model *m);
void model_event(model *m, chroprof_state state, uint64_t id, const chroprof_site *site,
                 uint64_t now);
void model_live_event(model *m, chroprof_state state, uint64_t id, const chroprof_site *site);
void model_stillborn(model *m, const chroprof_site *site, chroprof_state finish);
void model_ready_since(model *m, uint64_t id, uint64_t when);
void model_set_enabled(model *m, bool on);
void model_reset(model *m);

/* Holds every public figure of p against the model, prints each difference (err may be NULL) and
 * returns how many there are. */
int model_compare(const model *m, const chroprof *p, FILE *err);

/* The cheap part of it: what chroprof_read_totals says of time, blame and counts. */
int model_compare_totals(const model *m, const chroprof *p, FILE *err);

/* Both conservation laws from the public figures of p alone, and chroprof_check. Returns how many
 * statements are false. */
int model_laws(const chroprof *p, FILE *err);

/* As far as chroprof_read_totals alone can tell them. */
int model_laws_of_totals(const chroprof *p, FILE *err);

#endif
