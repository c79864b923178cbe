/* whatif_fit.c - whether the model holds, and what it answers: one replay for each random placement of
 * the arrivals, before and after a change. */

#include "whatif.h"

#include <stdlib.h>
#include <string.h>

#include "numbers.h"

#define DEVIATION_MOST 0.10
#define UNINSTRUMENTED_MOST 0.20
#define BLIND_MOST 0.20
#define NESTED_MOST 0.10
#define WHOLE_AT_ONCE_MOST 0.15
#define FOLLOWS_MOST 0.5
#define CALM_MOST 1.12
#define CALM_LEAST 0.62
#define FULL 0.975             /* of a loop that is never idle nobody knows what else would come */
#define JUDGED 9u              /* replays that judge a model; no more than there are placements */
#define JUDGED_MOST 0.15
#define NO_MODEL 10.0
#define SURE_CLOSED 0.08       /* errors by which clients are believed in against the waits */
#define SURE_OPEN 0.40
#define OPEN_IS_OUT 2.0        /* or by this one alone: three times what was measured */
#define EAGER_IDLE 0.05
#define CLIENTS_PART 20        /* each client must have sent so many */
#define PIECES_MOST 10000000u  /* of a replay: more take gigabytes */

/* >>fit */

static bool refuse(whatif_study *s, const char *reason)
{
    (void)snprintf(s->reason, sizeof s->reason, "%s", reason);
    s->fits = false;
    return false;
}

static double most_finishes(const whatif_loop *l, const kind_figures *kinds)
{
    double most = 0;
    for (size_t s = 0; s < l->site_count; s++) {
        most = greater(most, kinds[s].count);
    }
    return most;
}

/* Does what comes hang on what the loop does? With arrivals from outside as much comes in a second
 * whether it waits or not. Who waits for an answer asks nothing meanwhile. */
static bool arrivals_fit(const arrival_model *m, whatif_study *s)
{
    bool regular = m->shape == ARRIVE_REGULARLY;
    if (m->follows > FOLLOWS_MOST || (regular && m->stretch > FOLLOWS_MOST)) {
        return refuse(s, "what comes goes with what was answered, however long that took, so "
                         "arrivals seem to depend on answers");
    }
    if (!regular && m->calm_least > CALM_MOST &&
        1 / m->calm_least < 1 - 2.2 * m->calm_error) {
        return refuse(s, "less comes in a busy second than in an idle one, so arrivals seem to "
                         "depend on answers");
    }
    if (regular ? m->calm < 1 && m->calm > 0 : m->calm < CALM_LEAST && m->follows < -0.1) {
        return refuse(s, "more comes in a busy second than in an idle one, so arrivals seem to "
                         "depend on answers");
    }
    return true;
}

/* chroprof run does not know the callbacks of every program: then all that a poll found is one, and
 * where a poll often finds the next at once, several requests may be in it. */
static bool parts_known(const whatif_loop *l)
{
    static const char whole[] = "code after ";
    size_t wholes = 0, at_once = 0;
    for (size_t i = 0; i < l->job_count; i++) {
        const whatif_site *site = l->jobs[i].site != WHATIF_NONE ? &l->sites[l->jobs[i].site] : NULL;
        wholes += site != NULL && site->file[0] == '\0' &&
                  strncmp(site->name, whole, sizeof whole - 1) == 0;
    }
    for (size_t i = 0; i < l->iteration_count; i++) {
        at_once += l->iterations[i].at_once;
    }
    return 2 * wholes < l->job_count ||
           (double)at_once <= WHOLE_AT_ONCE_MOST * (double)l->iteration_count;
}

/* What the steps themselves tell against the model. */
static bool steps_fit(whatif_study *s)
{
    const whatif_loop *l = s->l;
    double elapsed = (double)(l->end_ns - l->begin_ns);
    double jobs = (double)l->job_count;
    if (!l->stepped) {
        return refuse(s, "it has no steps, which tell what came when");
    }
    if (l->iteration_count < 2 || jobs == 0) {
        return refuse(s, "its steps have no loop iteration with a callback, between two waits that "
                         "are told (idle_enter, idle_leave)");
    }
    if (most_finishes(l, s->measured) < WHATIF_FEWEST) {
        return refuse(s, "too few steps: no kind of future finished 100 times in them");
    }
    if (!parts_known(l)) {
        return refuse(s, "all that a poll found is one callback (code after the wait), so how many "
                         "requests are in it, and what each took, is not known");
    }
    if ((double)(l->uninstrumented_ns + l->untracked_ns) > UNINSTRUMENTED_MOST * elapsed) {
        return refuse(s, "more than 20 % of the time is uninstrumented or untracked, so what a "
                         "callback costs is not known");
    }
    if ((double)l->nested_idle_ns > NESTED_MOST * elapsed) {
        return refuse(s, "callbacks wait inside for more than 10 % of the time");
    }
    if ((double)l->blind > BLIND_MOST * jobs) {
        return refuse(s, "futures run long after they were created, and ready is never told, so "
                         "when they could have run is not known");
    }
    return true;
}

/* Whether what comes is known to come whatever the loop does. */
static bool open_fits(whatif_study *s)
{
    const whatif_loop *l = s->l;
    if ((double)l->idle_ns < (1 - FULL) * (double)(l->end_ns - l->begin_ns)) {
        return refuse(s, "the loop is never idle, so how much more would come to a quicker one is "
                         "not known");
    }
    if (s->model.one_a_poll) {
        return refuse(s, "no poll found more than one event, however long the iteration before: "
                         "arrivals depend on answers, or the loop takes one event at a time");
    }
    return l->closed || arrivals_fit(&s->model, s);
}

static double error_of(double value, double truth)
{
    return truth > 0 ? absolute(value - truth) / truth : 0;
}

/* The largest error of a percentile of a kind with enough finishes. */
static double largest_error(const whatif_loop *l, const kind_figures *measured,
                            const kind_figures *replayed)
{
    double most = 0;
    for (size_t k = 0; k < l->site_count; k++) {
        const kind_figures *was = &measured[k], *is = &replayed[k];
        if (was->count >= WHATIF_FEWEST && is->count > 0) {
            most = greater(most, error_of(is->seen_p50, was->seen_p50));
            most = greater(most, error_of(is->seen_p99, was->seen_p99));
        }
    }
    return most;
}

static void measure_deviation(whatif_study *s)
{
    s->deviation = largest_error(s->l, s->measured, s->before.kinds);
    if (s->deviation > DEVIATION_MOST) {
        char reason[160];
        (void)snprintf(reason, sizeof reason, "unchanged, the model misses the measured "
                       "percentiles by %.0f %%", 100 * s->deviation);
        (void)refuse(s, reason);
    }
}

/* >>placements */

/* Figures as an array of real numbers, those of the loop first. */
static double *figure_at(loop_figures *f, size_t i)
{
    size_t loop = offsetof(loop_figures, kinds) / sizeof(double);
    size_t kind = sizeof(kind_figures) / sizeof(double);
    return i < loop ? (double *)(void *)f + i
                    : (double *)(void *)&f->kinds[(i - loop) / kind] + (i - loop) % kind;
}

static size_t figures_of(const whatif_loop *l)
{
    return offsetof(loop_figures, kinds) / sizeof(double) +
           l->site_count * sizeof(kind_figures) / sizeof(double);
}

static int compare_figures(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Most placements are as the waits tell, some as if they told wrong. */
static size_t likely_of(const whatif_study *s)
{
    return s->placements * 2 / 3;
}

static arrival_shape shape_of(const whatif_study *s, size_t k)
{
    static const arrival_shape others[3][2] = {
        { ARRIVE_IN_BUNCHES, ARRIVE_REGULARLY }, { ARRIVE_EVENLY, ARRIVE_REGULARLY },
        { ARRIVE_EVENLY, ARRIVE_IN_BUNCHES }
    };
    return k < likely_of(s) ? s->model.shape : others[s->model.shape][k % 2];
}

/* The middle of the likely rows; the least and greatest of all. NULL: not wanted. */
static void summarize(whatif_study *s, loop_figures *middle, loop_figures *low, loop_figures *high)
{
    size_t likely = likely_of(s);
    double values[WHATIF_PLACEMENTS];
    for (size_t i = 0; i < figures_of(s->l); i++) {
        for (size_t k = 0; k < s->placements; k++) {
            values[k] = *figure_at(&s->rows[k], i);
        }
        qsort(values, likely, sizeof *values, compare_figures);
        *figure_at(middle, i) = values[likely / 2];
        if (low != NULL) {
            qsort(values, s->placements, sizeof *values, compare_figures);
            *figure_at(low, i) = values[0];
            *figure_at(high, i) = values[s->placements - 1];
        }
    }
}

static bool replay_placements(whatif_study *s, const whatif_change *change)
{
    bool ok = true;
    for (size_t k = 0; ok && k < s->placements; k++) {
        arrivals_place(&s->arrivals, s->l, &s->model, shape_of(s, k), k + 1);
        ok = whatif_replay(s->l, &s->arrivals, change, &s->rows[k]);
    }
    return ok;
}

/* The range is wider by what the model misses where nothing is changed. */
static void widen(const whatif_study *s, whatif_answer *a)
{
    for (size_t i = 0; i < figures_of(s->l); i++) {
        *figure_at(&a->low, i) *= 1 - s->deviation;
        *figure_at(&a->high, i) *= 1 + s->deviation;
    }
}

/* >>changes */

bool whatif_change_open(whatif_change *c, const whatif_loop *l)
{
    memset(c, 0, sizeof *c);
    c->factor = (double *)calloc(l->site_count + 1, sizeof *c->factor);
    c->moved = (bool *)calloc(l->site_count + 1, sizeof *c->moved);
    for (size_t s = 0; c->factor != NULL && s < l->site_count; s++) {
        c->factor[s] = 1;
    }
    c->load = 1;
    c->order = ORDER_FIFO;
    c->first = WHATIF_NONE;
    return c->factor != NULL && c->moved != NULL;
}

void whatif_change_close(whatif_change *c)
{
    free(c->factor);
    free(c->moved);
    memset(c, 0, sizeof *c);
}

/* Each piece of a callback that is cut is an iteration of its own at worst. */
static bool split_fits(const whatif_study *s, const whatif_change *c)
{
    const whatif_loop *l = s->l;
    uint64_t pieces = 0;
    bool moved;
    for (size_t i = 0; c->split_ns > 0 && i < l->job_count && pieces <= PIECES_MOST; i++) {
        pieces += whatif_length(l, c, &l->jobs[i], &moved) / c->split_ns + 1;
    }
    return pieces <= PIECES_MOST;
}

/* >>study */

static bool figures_open(loop_figures *f, const whatif_loop *l)
{
    f->kinds = (kind_figures *)calloc(l->site_count + 1, sizeof *f->kinds);
    return f->kinds != NULL;
}

static void figures_close(loop_figures *f)
{
    free(f->kinds);
    f->kinds = NULL;
}

static bool study_room(whatif_study *s)
{
    const whatif_loop *l = s->l;
    bool ok = whatif_change_open(&s->none, l) && figures_open(&s->before, l);
    s->measured = (kind_figures *)calloc(l->site_count + 1, sizeof *s->measured);
    s->arrivals.at_ns = (uint64_t *)calloc(l->job_count + 1, sizeof *s->arrivals.at_ns);
    s->arrivals.order = (uint32_t *)calloc(l->job_count + 1, sizeof *s->arrivals.order);
    s->arrivals.scratch = (uint64_t *)calloc(l->job_count + 1, sizeof *s->arrivals.scratch);
    for (size_t k = 0; ok && k < s->placements; k++) {
        ok = figures_open(&s->rows[k], l);
    }
    return ok && s->measured != NULL && s->arrivals.at_ns != NULL && s->arrivals.order != NULL &&
           s->arrivals.scratch != NULL;
}

/* What the first half tells must give what the second half had. error: the middle of some draws. */
static bool judge(whatif_study *s, const kind_figures *second, bool clients, double *error)
{
    const whatif_loop *l = s->l;
    double errors[JUDGED];
    bool ok = true;
    s->none.from_ns = l->begin_ns + (l->end_ns - l->begin_ns) / 2;
    for (size_t k = 0; ok && k < JUDGED; k++) {
        arrivals_place(&s->arrivals, l, &s->model, s->model.shape, k + 1);
        if (clients) {
            arrivals_think_anew(&s->arrivals, l, k + 1);
        } else {
            arrivals_come_anew(&s->arrivals, l);
        }
        ok = whatif_replay(l, &s->arrivals, &s->none, &s->rows[k]);
        errors[k] = ok ? largest_error(l, second, s->rows[k].kinds) : 1;
    }
    s->none.from_ns = 0;
    qsort(errors, ok ? JUDGED : 0, sizeof *errors, compare_figures);
    *error = errors[JUDGED / 2];
    return ok;
}

/* Clients who wait for answers, with pauses of the first half drawn anew; else, where the loop is next
 * to never idle, ones that send at once. Many clients beside what came are no explanation. */
static bool try_clients(whatif_study *s, whatif_loop *l, const kind_figures *second, double *error)
{
    bool full = (double)l->idle_ns < EAGER_IDLE * (double)(l->end_ns - l->begin_ns);
    bool ok = whatif_link_clients(l, false) && judge(s, second, true, error);
    if (ok && full) {
        double eager = NO_MODEL;
        ok = whatif_link_clients(l, true) && judge(s, second, true, &eager);
        ok = ok && (eager < *error || whatif_link_clients(l, false));
        *error = eager < *error ? eager : *error;
    }
    /* a loop that takes one event at a time looks like one client who never waits */
    if ((l->clients <= 2 && full) || (double)l->clients * CLIENTS_PART > (double)l->job_count) {
        *error = NO_MODEL;
    }
    return ok;
}

/* As if no client had been thought of. */
static bool drop_clients(whatif_loop *l)
{
    l->clients = 0;
    l->eager = false;
    return whatif_link(l);
}

/* Both models are tried on the first half and judged on the second, and the one that gives what that
 * had is used. Of open arrivals the halves differ by chance, the more the busier the loop is, so
 * where the waits speak for them, clients must explain them much better. false: no memory. */
static bool weigh_models(whatif_study *s, whatif_loop *l, const kind_figures *second)
{
    bool fits = open_fits(s), closed;
    bool ok = judge(s, second, false, &s->error_open) &&
              try_clients(s, l, second, &s->error_closed);
    closed = s->error_closed <= JUDGED_MOST &&
             (!fits || (s->error_closed < SURE_CLOSED && s->error_open > SURE_OPEN) ||
              s->error_open > OPEN_IS_OUT);
    s->doubtful = fits && !closed && s->error_closed <= JUDGED_MOST &&
                  s->error_closed < s->error_open;
    s->fits = fits || closed;
    return ok && (closed || drop_clients(l));
}

/* Connections that have futures of their own tell themselves whether they wait for answers. */
static bool choose_model(whatif_study *s, whatif_loop *l)
{
    kind_figures *second;
    bool ok;
    if (l->closed) {
        (void)open_fits(s);
        return true;
    }
    second = (kind_figures *)calloc(l->site_count + 1, sizeof *second);
    ok = second != NULL &&
         whatif_measured(l, l->begin_ns + (l->end_ns - l->begin_ns) / 2, second);
    if (ok && most_finishes(l, second) >= WHATIF_FEWEST) {
        ok = weigh_models(s, l, second);
    } else if (ok) {
        (void)open_fits(s);
    }
    free(second);
    return ok;
}

bool whatif_study_open(whatif_study *s, whatif_loop *l, size_t placements)
{
    bool ok;
    memset(s, 0, sizeof *s);
    s->l = l;
    s->placements = placements;
    s->fits = true;
    ok = study_room(s) && whatif_measured(l, 0, s->measured) && arrivals_study(&s->model, l);
    if (ok && steps_fit(s)) {
        ok = choose_model(s, l);
    }
    if (ok && s->fits) {
        ok = replay_placements(s, &s->none);
        if (ok) {
            summarize(s, &s->before, NULL, NULL);
            measure_deviation(s);
        }
    }
    return ok;
}

void whatif_study_close(whatif_study *s)
{
    for (size_t k = 0; k < WHATIF_PLACEMENTS; k++) {
        figures_close(&s->rows[k]);
    }
    figures_close(&s->before);
    whatif_change_close(&s->none);
    free(s->measured);
    free(s->arrivals.at_ns);
    free(s->arrivals.order);
    free(s->arrivals.scratch);
    free(s->model.bunches);
    memset(s, 0, sizeof *s);
}

/* >>answer */

bool whatif_answer_open(whatif_answer *a, const whatif_loop *l)
{
    memset(a, 0, sizeof *a);
    return figures_open(&a->after, l) && figures_open(&a->low, l) && figures_open(&a->high, l);
}

void whatif_answer_close(whatif_answer *a)
{
    figures_close(&a->after);
    figures_close(&a->low);
    figures_close(&a->high);
}

bool whatif_ask(whatif_study *s, const whatif_change *change, whatif_answer *a)
{
    a->full = false;
    a->reason[0] = '\0';
    if (s->fits && !split_fits(s, change)) {
        (void)refuse(s, "such short pieces are more than 10 million; cut after a longer time");
    }
    if (!s->fits) {
        (void)snprintf(a->reason, sizeof a->reason, "%s", s->reason);
        return true;
    }
    if (!replay_placements(s, change)) {
        return false;
    }
    summarize(s, &a->after, &a->low, &a->high);
    widen(s, a);
    if (s->doubtful) {
        (void)snprintf(a->reason, sizeof a->reason, "clients who wait for their answers would explain "
                       "what came as well as open arrivals; if they do, a quicker loop gets more "
                       "requests, and latency falls less");
    }
    a->full = !s->l->closed && a->after.saturates_at < change->load;
    if (a->full) {
        (void)snprintf(a->reason, sizeof a->reason, "more would come than the loop can take, so "
                       "latency would grow without end; what is shown is of this stretch alone");
    }
    return true;
}
