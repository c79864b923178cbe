/* whatif.h - what a change would bring, computed from the steps of a loop; for whatif*.c alone.
 *
 * A job is what the running stack does from empty to empty: what the loop called. Jobs come
 * from outside at an instant that is known only within an interval, or from other jobs. A replay
 * puts them through the loop again: a poll, then all that came. */

#ifndef COMMAND_WHATIF_H
#define COMMAND_WHATIF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "timeline.h"

#define WHATIF_NONE UINT32_MAX
#define WHATIF_PLACEMENTS 72u  /* of the arrivals, at random */
#define WHATIF_FEWEST 100u     /* finishes of a kind whose percentiles are told */

/* >>whatif loop: what the steps tell */

typedef enum job_comes {
    JOB_OUTSIDE,               /* at an instant of its own */
    JOB_LATER,                 /* from outside, some time after a mark of another job */
    JOB_SAME, JOB_NEXT         /* another job released it: for the same iteration, or the next */
} job_comes;

typedef struct whatif_job {
    uint32_t iteration;
    uint32_t found;            /* the iteration whose poll found it */
    uint32_t site, life;       /* of its base frame; life WHATIF_NONE: a call without an id */
    uint32_t first_piece, pieces;
    uint64_t begin_ns, end_ns;
    uint64_t gap_ns, tail_ns;  /* uninstrumented: before it, and behind it if it is the last */
    uint64_t ready_ns;         /* when ready was told; 0: never */
    uint64_t since_ns;         /* since when it was, if it was told late; 0: not known */
    uint64_t tells_ns;         /* the first of those that it tells of; 0: none */
    uint32_t ready_job, ready_iteration;
    uint32_t before;           /* the slice before, of its life; or the job that created it */
    uint64_t after_ns;         /* when that one let it go */
    job_comes comes;
    bool thinks;               /* a client sends it some time after an answer */
    uint32_t after;            /* unless it comes from outside */
} whatif_job;

/* A stretch of a job with one path on top. */
typedef struct whatif_piece {
    uint32_t site;             /* WHATIF_NONE: no task's */
    uint64_t ns;
} whatif_piece;

typedef struct whatif_life {
    uint32_t site;             /* WHATIF_NONE: it never ran */
    uint32_t created_job, created_iteration, first_job, last_job, finish_job;
    uint64_t created_ns, last_ns, finished_ns;      /* 0: not known, or not yet */
    uint64_t ready_ns, since_ns;
    uint32_t ready_job, ready_iteration;
    uint32_t slices;
} whatif_life;

typedef struct whatif_iteration {
    uint64_t enter_ns, leave_ns;    /* of the wait before it */
    bool at_once;
    uint32_t jobs;
} whatif_iteration;

/* What happens in the middle of a job: another job is released, a life begins or ends. */
typedef enum mark_kind { MARK_RELEASE, MARK_CREATE, MARK_FINISH } mark_kind;

typedef struct whatif_mark {
    mark_kind kind;
    uint32_t target;           /* a job or a life */
    uint32_t next;             /* of the same job */
    double part;               /* of the job that has passed */
} whatif_mark;

typedef struct whatif_site {
    char *name, *file;
    uint64_t line;
    uint64_t ready;            /* slices of it whose readiness was told */
    uint64_t exec_ns;
    uint64_t slices, lives;
    bool follows;              /* its later slices come some time after the ones before */
} whatif_site;

typedef struct whatif_loop {
    const char *source;
    const profile_text *profile;
    uint64_t run_ns;           /* of the whole profile, of which the steps may be the end */
    bool cut, stepped;         /* older steps are gone; there are steps */
    uint64_t stall_ns;
    uint32_t *site_of_path;
    size_t path_count;
    whatif_site *sites;
    size_t site_count;
    whatif_job *jobs;
    size_t job_count, job_room;
    whatif_piece *pieces;
    size_t piece_count, piece_room;
    whatif_life *lives;
    size_t life_count, life_room;
    whatif_iteration *iterations;
    size_t iteration_count, iteration_room;
    whatif_mark *marks;
    size_t mark_count, mark_room;
    uint32_t *first_mark, *last_mark;      /* by job */
    uint64_t begin_ns, end_ns, idle_ns, nested_idle_ns, uninstrumented_ns, untracked_ns;
    uint64_t poll_ns;          /* what a poll takes that returns at once */
    uint64_t wake_ns;          /* what ends a wait had come so much before its end; 0: not told */
    uint64_t blind;            /* first slices long after a creation, without ready */
    uint64_t left_out;         /* jobs whose beginning or end the steps do not have */
    bool closed;               /* arrivals follow the slices before them, or answers */
    uint32_t clients;          /* that wait for their answers; 0: not known */
    bool eager;                /* they send as soon as they can have */
} whatif_loop;

/* The jobs of a ring. false, with a message. */
bool whatif_read(whatif_loop *l, const timeline *ring, const profile_text *p);

void whatif_free(whatif_loop *l);

/* Room for one more row of a list. false: no memory. */
bool whatif_room(void **rows, size_t *room, size_t count, size_t size);

/* Who released whom, and the marks; after all jobs are there. false: no memory. */
bool whatif_link(whatif_loop *l);

/* Links anew: so many clients, each of whom sends a request some time after an answer: the fewest that
 * explain what came. Which client it was is not known: the one whose answer is the oldest. eager: they
 * send at once, so the one that was answered last has just missed the poll, and there is one more than
 * a poll finds but in rare cases, as the start is. false: no memory. */
bool whatif_link_clients(whatif_loop *l, bool eager);

/* >>whatif arrivals */

typedef struct whatif_arrivals {
    uint64_t *at_ns;           /* by job: of those from outside */
    uint32_t *order;           /* those with an instant of their own, by it */
    uint64_t *scratch;         /* room for as many */
    size_t count;
} whatif_arrivals;

/* How what came in one interval lies in it. */
typedef enum arrival_shape { ARRIVE_EVENLY, ARRIVE_IN_BUNCHES, ARRIVE_REGULARLY } arrival_shape;

typedef struct arrival_model {
    arrival_shape shape;
    double period_ns, jitter;  /* of regular ones; jitter: a part of the period */
    double stretch;            /* how much longer a gap is, by how much longer its work is */
    uint32_t *bunches;         /* how many came at once where the loop waited */
    size_t bunch_count;
    double bunch_mean;
    double bunched;            /* how much counts of busy time spread, in those of random arrivals */
    double follows;            /* how much of the arrivals follows what was finished; 1: all */
    double calm;               /* arrivals an idle second, by those of a busy one */
    double calm_least;         /* the same, if of what ended a wait all but one came as it ended */
    double calm_error;         /* by chance, if it were 1: a part of it */
    bool one_a_poll;           /* no poll found more than one, though many should have */
} arrival_model;

/* What the waits tell of the arrivals. false: no memory. */
bool arrivals_study(arrival_model *m, const whatif_loop *l);

/* One random placement; the same number gives the same one. */
void arrivals_place(whatif_arrivals *a, const whatif_loop *l, const arrival_model *m,
                    arrival_shape shape, uint64_t number);

/* Pauses of clients anew: each is that of another request of the first half. */
void arrivals_think_anew(whatif_arrivals *a, const whatif_loop *l, uint64_t number);

/* Arrivals of the second half anew: those of the first half, once more. */
void arrivals_come_anew(whatif_arrivals *a, const whatif_loop *l);

/* >>whatif replay */

typedef enum batch_order { ORDER_FIFO, ORDER_SHORTEST, ORDER_PRIORITY } batch_order;

typedef struct whatif_change {
    double *factor;            /* by site */
    bool *moved;               /* by site: its work goes on elsewhere */
    uint64_t moved_ns;         /* and ends so much later */
    uint64_t split_ns;         /* 0: none */
    double load;
    batch_order order;
    uint32_t first;            /* the site with priority */
    uint64_t from_ns;          /* what finishes earlier does not count */
} whatif_change;

typedef struct kind_figures {
    double count, p50, p99, p999, delay_p99, hidden;
    double seen_p50, seen_p99;      /* from where the profile begins to count */
} kind_figures;

typedef struct loop_figures {
    double utilization, iteration_p50, iteration_p99, iteration_max, stalls, finished_per_s;
    double saturates_at;
    kind_figures *kinds;       /* by site */
} loop_figures;

/* Of one placement. false: no memory. */
bool whatif_replay(const whatif_loop *l, const whatif_arrivals *a, const whatif_change *c,
                   loop_figures *out);

/* What was measured: seen_p50 and seen_p99 by site, and counts, of what ended later than that. false:
 * no memory. */
bool whatif_measured(const whatif_loop *l, uint64_t from_ns, kind_figures *kinds);

/* The value that so many permille of values are below; changes their order. */
uint64_t whatif_quantile(uint64_t *values, size_t count, unsigned permille);

/* The length of a job under a change; moved: a part of it goes on elsewhere. */
uint64_t whatif_length(const whatif_loop *l, const whatif_change *c, const whatif_job *job,
                       bool *moved);

/* >>whatif capacity */

/* Busy time against arrivals, by slots of time: a line through them, and where it meets a full slot. */
typedef struct capacity_figures {
    bool known;                /* else what comes is too even to tell, or too little, or closed */
    double full_at, error;     /* times the mean load; error: of 95 % */
    double slot_ns;
} capacity_figures;

void whatif_capacity(const whatif_loop *l, capacity_figures *out);

/* Without steps: how busy the loop was in each window, as if all its work came with the load. */
typedef struct window_capacity {
    bool known;                /* 20 windows or more */
    size_t count;
    double width_ns;
    double work, tenth;        /* a part of all time, and of the busiest tenth of the windows */
    double full_at, error;     /* times the mean load; error: of 95 %, by how much windows differ */
} window_capacity;

/* false, with a message: the profile has no windows that can be read. */
bool whatif_window_capacity(const profile_text *p, window_capacity *out);

/* >>whatif answer */

/* What the steps tell of the loop as it is, for any number of questions. Opening it decides for one
 * model of what comes. */
typedef struct whatif_study {
    const whatif_loop *l;
    size_t placements;         /* 3 at least, WHATIF_PLACEMENTS at most */
    arrival_model model;
    whatif_arrivals arrivals;
    whatif_change none;
    kind_figures *measured;    /* by site */
    loop_figures rows[WHATIF_PLACEMENTS];
    loop_figures before;
    double deviation;
    double error_open, error_closed;       /* of the second half, from the first; 0: not judged */
    bool doubtful;             /* open is used, and closed would do as well */
    bool fits;
    char reason[240];          /* why not */
} whatif_study;

/* false: no memory. Close it in any case. */
bool whatif_study_open(whatif_study *s, whatif_loop *l, size_t placements);
void whatif_study_close(whatif_study *s);

/* No change at first. false: no memory. */
bool whatif_change_open(whatif_change *c, const whatif_loop *l);
void whatif_change_close(whatif_change *c);

typedef struct whatif_answer {
    bool full;                 /* more comes than the loop can take */
    char reason[240];          /* why there is none, or what to know of it */
    loop_figures after, low, high;
} whatif_answer;

bool whatif_answer_open(whatif_answer *a, const whatif_loop *l);
void whatif_answer_close(whatif_answer *a);

/* Of a study that fits, else figures are 0. false: no memory. */
bool whatif_ask(whatif_study *s, const whatif_change *change, whatif_answer *a);

void whatif_json(const whatif_study *s, const whatif_answer *a, FILE *out);

typedef struct whatif_view {
    unsigned columns;
    bool ascii, color;
    uint64_t rows;
    const char *change;        /* in words */
} whatif_view;

void whatif_text(const whatif_study *s, const whatif_answer *a, const whatif_view *v, FILE *out);

#endif
