/* tests/inside_life.h - part of test_inside.c: what the public calls of life and events do around
 * an event: handles, switching off and on, the time of on_stall, arguments without sense. */
#ifndef INSIDE_LIFE_H
#define INSIDE_LIFE_H

static uint64_t *life_time(void)
{
    static uint64_t now;
    return &now;
}

static uint64_t life_clock(void *user)
{
    (void)user;
    return *life_time();
}

/* It is 5000, and a step of more than 1000 is a long one. */
static chroprof *under_a_clock(void)
{
    chroprof_options o;
    memset(&o, 0, sizeof o);
    o.clock = life_clock;
    o.max_step_ns = 1000;
    o.window_ns = 50;
    *life_time() = 5000;
    return fresh(&o);
}

/* However long on_stall took, it was the loop's, and nobody's slice or turn. */
TEST(the_time_of_on_stall_is_the_loops)
{
    static const struct { uint32_t depth, floor; } rows[] = {
        { 0, 0 }, { 2, 0 }, { 2, 2 }, { 4, 2 }
    };
    uint32_t k, i;
    for (k = 0; k < 4; k++) {
        chroprof *p = under_a_clock();
        chroprof__core *c = p->core;
        chroprof__frame before[5];
        uint64_t loop, seq, edits;
        uint32_t account;
        if (k > 0)
            chroprof_enter(p, &A);
        if (k == 1)
            chroprof_enter(p, &B);
        if (k > 1)
            chroprof_loop_enter(p);
        if (k > 2)
            chroprof_enter(p, &B);
        if (k > 2)
            chroprof_enter(p, &C);
        *life_time() = 5100;
        chroprof_tick(p);
        CHECK_EQ(c->depth, rows[k].depth);
        CHECK_EQ(c->floor, rows[k].floor);
        memcpy(before, p->frames, sizeof before);
        loop = path(0).exec;
        account = c->account;
        seq = c->seq;
        edits = c->edits;
        *life_time() = 10100;
        chroprof__bill_callback(p);
        CHECK_EQ(c->last, 5100);
        CHECK_EQ(path(0).exec, loop + 5000);
        CHECK_EQ(path(CHROPROF__UNTRACKED).exec, 0);
        CHECK_EQ(c->account, account);
        CHECK_EQ(c->event_state, CHROPROF_TICK);
        CHECK_EQ(c->event_id, 0);
        CHECK_EQ(c->max_step_ticks, 1000);
        CHECK_EQ(c->seq, seq + 2);
        CHECK_EQ(c->edits, edits + 2);
        for (i = 0; i < 5; i++) {
            bool top = i > 0 && i == c->depth, base = i == c->floor + 1 && i <= c->depth;
            CHECK_EQ(frame(i).start, before[i].start + (top ? 5000 : 0));
            CHECK_EQ(frame(i).excluded, before[i].excluded + (base ? 5000 : 0));
            CHECK_EQ(frame(i).pushed, before[i].pushed);
        }
        laws(p);
        orderly(p);
        *life_time() = 11101;               /* a long step counts as one again */
        chroprof_tick(p);
        CHECK_EQ(path(CHROPROF__UNTRACKED).exec, 1001);
        laws(p);
    }
}

/* Half of all numbers are ahead, the others as long ago as that. */
TEST(ready_since_when)
{
    static const struct { uint64_t when; uint64_t delay; bool ahead; } rows[] = {
        { 5100, 60, false }, { 5099, 61, false }, { 5040, 120, false }, { 5000, 160, false },
        { 4999, 160, false }, { 0, 160, false }, { 5101, 60, true }, { 9000, 60, true },
        { 5100 - (UINT64_C(1) << 63), 60, true }, { 5101 - (UINT64_C(1) << 63), 160, false }
    };
    size_t k;
    for (k = 0; k < sizeof rows / sizeof *rows; k++) {
        chroprof *p = under_a_clock();
        chroprof_pending(p, 1, &A);
        *life_time() = 5100;
        chroprof_ready_since(p, 1, rows[k].when);
        CHECK_EQ(p->core->seq % 2, 0);
        *life_time() = 5160;
        chroprof_tick(p);
        harness_equal(__FILE__, (int)k, "delay of row number (the line)",
                      rank_of(p, "accept").delay_ns, rows[k].delay);
        if (rows[k].ahead)
            only(p, READY_AHEAD, 1);
        else
            orderly(p);
        laws(p);
    }
}

TEST(ready_since_without_an_id)
{
    chroprof *p = under_a_clock();
    chroprof_ready_since(p, 0, 5000);
    only(p, ID_ZERO, 1);
    CHECK_EQ(totals_of(p).events, 1);
    chroprof_ready_since(p, 0, 5001);
    CHECK_ANOMALY(p, ID_ZERO, 2);
    CHECK_ANOMALY(p, READY_AHEAD, 1);
    CHECK_EQ(totals_of(p).live, 0);
    laws(p);
}

/* Only a finish makes a stillborn, and only of a site; each call is an event. */
TEST(stillborns_of_each_state)
{
    int state;
    for (state = 0; state < 40; state++) {
        bool good = state == CHROPROF_COMPLETED || state == CHROPROF_FAILED ||
                    state == CHROPROF_CANCELLED;
        chroprof *p = under_a_clock();
        *life_time() = 5010;
        chroprof_stillborn(p, NULL, (chroprof_state)made_up(state));
        CHECK_EQ(totals_of(p).events, 1);
        CHECK_EQ(totals_of(p).elapsed_ns, 10);
        CHECK_EQ(p->core->seq % 2, 0);
        CHECK_ANOMALY(p, SITE_NULL, 1);
        CHECK_ANOMALY(p, BAD_STATE, good ? 0 : 1);
        CHECK_EQ(used(PATHS), 0);
        *life_time() = 5030;
        chroprof_stillborn(p, &A, (chroprof_state)made_up(state));
        CHECK_EQ(totals_of(p).events, 2);
        CHECK_EQ(totals_of(p).elapsed_ns, 30);
        CHECK_EQ(totals_of(p).loop_ns, 30);
        CHECK_ANOMALY(p, SITE_NULL, 1);
        CHECK_ANOMALY(p, BAD_STATE, good ? 0 : 2);
        CHECK_EQ(used(PATHS), good);
        if (good)
            CHECK_EQ(rank_of(p, "accept").stillborn, 1);
        laws(p);
    }
}

/* What an event in progress is about is told to those who find it cut short. */
static void check_event(const chroprof *p, int state, uint64_t id, uint64_t *events)
{
    const chroprof__core *c = p->core;
    CHECK_EQ(c->event_state, (uint32_t)state);
    CHECK_EQ(c->event_id, id);
    CHECK_EQ(c->event_now, *life_time());
    CHECK_EQ(c->seq, 2 * ++*events);
    CHECK_EQ(c->edits, 0);
    CHECK_EQ(c->last, *life_time() - 5000);
    *life_time() += 7;
}

TEST(each_call_is_an_event_of_its_own)
{
    int sampling;
    for (sampling = 0; sampling < 2; sampling++) {
        chroprof *p = under_a_clock();
        uint64_t events = 0;
        p->sampling = sampling != 0;
        chroprof__set_taking(p, true);
        CHECK_EQ(p->on, !sampling);
#define CALL(call, state, id) chroprof_##call; check_event(p, CHROPROF_##state, id, &events)
        CALL(pending(p, 7, &A), PENDING, 7);
        CALL(pending(p, 8, &B), PENDING, 8);
        CALL(ready(p, 7), READY, 7);
        CALL(ready_since(p, 8, *life_time()), READY, 8);
        CALL(running(p, 7), RUNNING, 7);
        CALL(switch(p, 8), SWITCH, 8);
        CALL(paused(p, 8), PAUSED, 8);
        CALL(enter(p, &C), ENTER, 0);
        CALL(leave(p), LEAVE, 0);
        CALL(loop_enter(p), LOOP_ENTER, 0);
        CALL(loop_leave(p), LOOP_LEAVE, 0);
        CALL(idle_enter(p), IDLE_ENTER, 0);
        CALL(tick(p), TICK, 0);
        CALL(idle_leave(p), IDLE_LEAVE, 0);
        CALL(completed(p, 7), COMPLETED, 7);
        CALL(failed(p, 8), FAILED, 8);
        CALL(pending(p, 9, &D), PENDING, 9);
        CALL(cancelled(p, 9), CANCELLED, 9);
        CALL(stillborn(p, &D, CHROPROF_FAILED), FAILED, 0);
#undef CALL
        CHECK_EQ(rank_of(p, "accept").completed, 1);
        CHECK_EQ(rank_of(p, "reply").failed, 1);
        CHECK_EQ(rank_of(p, "timer").cancelled, 1);
        CHECK_EQ(rank_of(p, "timer").stillborn, 1);
        CHECK_EQ(rank_of(p, "query").completed, 1);
        CHECK_EQ(rank_of(p, "accept").exec_ns, 7);
        CHECK_EQ(rank_of(p, "reply").exec_ns, 7);
        CHECK_EQ(rank_of(p, "query").exec_ns, 7);
        CHECK_EQ(totals_of(p).idle_ns, 14);
        orderly(p);
        laws(p);
        p->sampling = false;
        chroprof__set_taking(p, true);
    }
}

/* While the profile is off, or in on_stall, nothing is taken; only the latter is counted. */
TEST(events_that_are_not_taken)
{
    int inside;
    for (inside = 0; inside < 2; inside++) {
        chroprof *p = under_a_clock();
        uint64_t seq;
        chroprof_pending(p, 7, &A);
        if (inside)
            p->in_callback = true;
        else
            chroprof_set_enabled(p, false);
        chroprof__set_taking(p, false);
        seq = p->core->seq;
        *life_time() = 5050;
        chroprof_pending(p, 8, &B);
        chroprof_ready(p, 7);
        chroprof_ready_since(p, 7, 5000);
        chroprof_running(p, 7);
        chroprof_paused(p, 7);
        chroprof_switch(p, 7);
        chroprof_completed(p, 7);
        chroprof_failed(p, 7);
        chroprof_cancelled(p, 7);
        chroprof_stillborn(p, &A, CHROPROF_FAILED);
        chroprof_enter(p, &A);
        chroprof_leave(p);
        chroprof_loop_enter(p);
        chroprof_loop_leave(p);
        chroprof_idle_enter(p);
        chroprof_idle_leave(p);
        chroprof_tick(p);
        chroprof_event(p, CHROPROF_ENTER, 0, &A, 5060);
        chroprof_sample(p, 5060, 1);
        CHECK_EQ(p->core->seq, seq);
        CHECK_EQ(p->core->edits % 2, 0);
        CHECK_EQ(p->core->last, 0);
        CHECK_EQ(anomalies_of(p, CHROPROF_ANOMALY_EVENT_IN_CALLBACK), inside ? 18 : 0);
        CHECK_EQ(totals_of(p).live, 1);
        CHECK_EQ(sampler(p)->samples, 0);
        p->in_callback = false;
    }
}

/* Samples by hand have the time that they say, not before the last one nor beyond the end. */
TEST(samples_by_hand_at_the_ends_of_time)
{
    static const struct { uint64_t now, at; } rows[] = {
        { 5000, 0 }, { 5007, 7 }, { 5006, 7 }, { 0, 7 },
        { 5000 + CHROPROF__END_OF_TIME - 2, CHROPROF__END_OF_TIME - 2 },
        { 5000 + CHROPROF__END_OF_TIME - 1, CHROPROF__END_OF_TIME - 1 },
        { 5000 + CHROPROF__END_OF_TIME, CHROPROF__END_OF_TIME - 1 },
        { 5001 + CHROPROF__END_OF_TIME, CHROPROF__END_OF_TIME - 1 },
        { 5002 + CHROPROF__END_OF_TIME, CHROPROF__END_OF_TIME - 1 }
    };
    chroprof *p = under_a_clock();
    chroprof view;
    size_t k;
    chroprof_enter(p, &A);
    for (k = 0; k < sizeof rows / sizeof *rows; k++) {
        const chroprof__sample *row = chroprof__sample_rows(p->core) + k;
        chroprof_sample(p, rows[k].now, k + 1);
        harness_equal(__FILE__, (int)k, "time of sample number (the line)", row->time, rows[k].at);
        CHECK(row->weight == 1 && row->cpu_ns == k + 1 && row->state == CHROPROF_SAMPLE_BUSY);
        CHECK_EQ(p->core->edits, 2 * (k + 1));
        CHECK_EQ(sampler(p)->samples, k + 1);
        CHECK_EQ(chroprof_open(&view, p->core, (size_t)p->core->block_bytes), CHROPROF_OK);
    }
    CHECK_EQ(p->core->seq, 2);
    harness_keep_none();
}

/* >>while the sampler runs */

#if CHROPROF__SAMPLES
/* On a fiber's stack, else on the thread's; each without its end. */
TEST(where_a_stack_ends)
{
    static const struct { uintptr_t address, end; } rows[] = {
        { 0, 0 }, { 999, 0 }, { 1000, 2000 }, { 1499, 2000 }, { 1500, 1600 }, { 1599, 1600 },
        { 1600, 2000 }, { 1999, 2000 }, { 2000, 0 }, { 2999, 0 }, { 3000, 0 }
    };
    static chroprof__sampler s;
    size_t k;
    s.low = 1000;
    s.high = 2000;
    s.fiber_low = 1500;
    s.fiber_high = 1600;
    for (k = 0; k < sizeof rows / sizeof *rows; k++)
        CHECK_EQ(chroprof__stack_end(&s, rows[k].address), rows[k].end);
    s.fiber_low = 3000;
    s.fiber_high = 3001;
    CHECK_EQ(chroprof__stack_end(&s, 3000), 3001);
    CHECK_EQ(chroprof__stack_end(&s, 3001), 0);
    CHECK_EQ(chroprof__stack_end(&s, 1500), 2000);
}

/* Two words above what was looked at before, on a whole word, below the end. */
TEST(where_a_frame_record_can_lie)
{
    static const struct { uintptr_t frame, above, end; bool can; } rows[] = {
        { 1000, 999, 1016, true }, { 1000, 1000, 1016, false }, { 1000, 999, 1015, false },
        { 1000, 992, 2000, true }, { 1004, 992, 2000, false }, { 1001, 992, 2000, false },
        { 1007, 992, 2000, false }, { 1008, 992, 2000, true }, { 8, 0, 24, true },
        { 8, 0, 23, false }, { 8, 0, 15, false }, { 8, 0, 0, false }, { 0, 0, 2000, false },
        { 2000, 992, 2000, false }, { 1984, 992, 2000, true }, { 1992, 992, 2000, false }
    };
    size_t k;
    for (k = 0; k < sizeof rows / sizeof *rows; k++)
        harness_equal(__FILE__, (int)k, "record of row number (the line)",
                      chroprof__is_record(rows[k].frame, rows[k].above, rows[k].end), rows[k].can);
}
#else
TEST(where_a_stack_ends) { SKIP("no native stacks here"); }
TEST(where_a_frame_record_can_lie) { SKIP("no native stacks here"); }
#endif

/* >>off and on */

/* Everything on the stack is paused, hidden or not; futures in the first slot and the last too. */
TEST(what_is_left_when_a_profile_is_switched_off)
{
    chroprof_options o;
    chroprof *p;
    uint64_t id = 0, first, last;
    int way;
    memset(&o, 0, sizeof o);
    o.clock = life_clock;
    o.max_depth = 2;
    o.max_futures = 5;
    for (way = 0; way < 2; way++) {
        *life_time() = 5000;
        p = fresh(&o);
        for (id = 1; chroprof__hash_index(id, p->slots) != 0; id++) {}
        first = id;
        for (id = 1; chroprof__hash_index(id, p->slots) != p->slots - 1; id++) {}
        last = id;
        chroprof_pending(p, first, &A);
        chroprof_pending(p, last, &B);
        CHECK(p->futures[0].id == first && p->futures[p->slots - 1].id == last);
        chroprof_ready(p, first);
        *life_time() = 5010;
        if (way == 0) {                     /* the last one runs in a frame that is hidden */
            chroprof_enter(p, &C);
            chroprof_enter(p, &D);
            chroprof_running(p, last);
            CHECK_EQ(p->core->hidden, 1);
        } else {
            chroprof_ready(p, last);
            chroprof_idle_enter(p);
        }
        *life_time() = 5030;
        chroprof_set_enabled(p, false);
        CHECK_EQ(p->core->event_state, CHROPROF_TICK);
        CHECK_EQ(p->core->event_id, 0);
        CHECK_EQ(p->core->depth, 0);
        CHECK_EQ(p->core->hidden, 0);
        CHECK_EQ(p->core->account, CHROPROF__LOOP);
        CHECK_EQ(p->core->ready, 0);
        CHECK_EQ(p->core->pass_active, 0);
        CHECK_EQ(p->core->enabled, 0);
        CHECK(!p->taking && !p->on && !p->detour);
        CHECK_EQ(p->futures[0].state, CHROPROF_PENDING);
        CHECK_EQ(p->futures[0].since, 30);
        CHECK_EQ(p->futures[p->slots - 1].state, way == 0 ? CHROPROF_PAUSED : CHROPROF_PENDING);
        CHECK_EQ(p->futures[p->slots - 1].since, 30);
        CHECK_EQ(rank_of(p, "accept").delay_ns, 30);
        CHECK_EQ(rank_of(p, "reply").delay_ns, way == 0 ? 0 : 20);
        CHECK_EQ(totals_of(p).untracked_ns, way == 0 ? 20 : 0);
        CHECK_EQ(totals_of(p).idle_ns, way == 0 ? 0 : 20);
        CHECK_EQ(totals_of(p).elapsed_ns, 30);
        laws(p);
        *life_time() = 9000;                /* no profile time */
        chroprof_tick(p);
        chroprof_set_enabled(p, true);
        CHECK(p->taking && p->on && !p->detour && p->core->enabled == 1);
        CHECK_EQ(p->core->edits % 2, 0);
        *life_time() = 9007;
        chroprof_tick(p);
        CHECK_EQ(totals_of(p).elapsed_ns, 37);
        laws(p);
    }
}

/* Under the manual clock the next event says when it is on again. */
TEST(on_again_under_the_manual_clock)
{
    chroprof *p = fresh(NULL);
    at(p, 100, ENTER, 0, &A);
    at(p, 130, TICK, 0, NULL);
    chroprof_set_enabled(p, false);
    chroprof_event(p, CHROPROF_TICK, 0, NULL, 500);
    CHECK_EQ(totals_of(p).elapsed_ns, 30);
    CHECK_EQ(totals_of(p).depth, 0);
    chroprof_set_enabled(p, true);
    CHECK_EQ(p->core->started, 0);
    CHECK_EQ(p->core->horizon, 30);
    at(p, 1000, ENTER, 0, &B);
    at(p, 1004, LEAVE, 0, NULL);
    CHECK_EQ(totals_of(p).elapsed_ns, 34);
    CHECK_EQ(rank_of(p, "accept").exec_ns, 30);
    CHECK_EQ(rank_of(p, "reply").exec_ns, 4);
    orderly(p);
}

/* Neither call does anything where it may not, or where all is as it is to be. */
TEST(switching_and_resetting_where_it_may_not_be)
{
    static unsigned char before[HARNESS_MEMORY];
    chroprof *p = scene();
    chroprof nothing, handle;
    const size_t bytes = (size_t)p->core->block_bytes;
    int k;
    memset(&nothing, 0, sizeof nothing);
    chroprof_set_enabled(NULL, false);
    chroprof_set_enabled(&nothing, true);
    chroprof_reset(NULL);
    chroprof_reset(&nothing);
    CHECK(!nothing.taking && !nothing.on);
    memcpy(before, p->core, bytes);
    for (k = 0; k < 3; k++) {
        handle = *p;
        handle.view = k == 0;
        handle.in_callback = k == 1;
        if (k < 2) {
            chroprof_reset(&handle);
            chroprof_set_enabled(&handle, false);
        }
        chroprof_set_enabled(&handle, true);
        CHECK(handle.taking && handle.on && !handle.detour);
        CHECK(memcmp(before, p->core, bytes) == 0);
    }
    CHECK_EQ(chroprof_now(p), p->core->epoch + 150);
    handle.view = true;
    CHECK_EQ(chroprof_now(&handle), 0);
    CHECK_EQ(chroprof_now(&nothing), 0);
    CHECK_EQ(chroprof_now(NULL), 0);
}

/* A site for a name, of this profile alone. */
TEST(sites_are_made_where_they_may_be)
{
    chroprof *p = scene();
    const chroprof_site *site;
    chroprof handle = *p, nothing;
    memset(&nothing, 0, sizeof nothing);
    CHECK(chroprof_site_make(NULL, "n", "f", 1) == NULL);
    CHECK(chroprof_site_make(&nothing, "n", "f", 1) == NULL);
    CHECK(chroprof_site_make(p, NULL, "f", 1) == NULL);
    handle.view = true;
    CHECK(chroprof_site_make(&handle, "n", "f", 1) == NULL);
    CHECK_EQ(p->core->edits, 0);
    site = chroprof_site_make(p, "n", NULL, 17);
    CHECK(site != NULL);
    CHECK_STR(site->name, "n");
    CHECK_STR(site->file, "");
    CHECK_EQ(site->line, 17);
    CHECK_EQ(p->core->edits, 2);
    CHECK(chroprof_site_make(p, "n", "", 17) == site);
    CHECK(chroprof_site_make(p, "n", "", 18) != site);
}

/* >>what there is from the start */

TEST(rows_of_a_new_profile)
{
    static const char *const names[] = { "(loop)", "(idle)", "(untracked)", "(other)" };
    chroprof_options o;
    chroprof *p;
    chroprof__core *c;
    uint32_t k;
    memset(&o, 0, sizeof o);
    o.max_histograms = 5;
    o.name = "a name";
    memset(harness_memory(), 0x5a, HARNESS_MEMORY);
    p = fresh(&o);
    c = p->core;
    CHECK_EQ(used(STRINGS), 39);
    CHECK_STR(chroprof__string(c, 0), "");
    CHECK_STR(chroprof__string(c, 1), "...");
    for (k = 0; k < 4; k++) {
        const chroprof__site *row = chroprof__sites(c) + k;
        CHECK_STR(chroprof__string(c, row->name), names[k]);
        CHECK_STR(chroprof__string(c, row->file), "");
        CHECK(row->line == 0 && row->hash == k && row->cut == 0 && row->first_path == 0);
    }
    for (k = 0; k < 4; k++)
        CHECK_EQ(path(k).site, k < 3 ? k : 0);
    CHECK_EQ(frame(0).kind, CHROPROF__BARRIER);
    CHECK_EQ(frame(1).kind, 0);
    CHECK_EQ(table(HISTOGRAMS).rows, 6);
    for (k = 0; k < 6; k++) {
        CHECK_EQ(chroprof__histogram_rows(c)[k].slice.min, UINT64_MAX);
        CHECK_EQ(chroprof__histogram_rows(c)[k].delay.min, UINT64_MAX);
        CHECK_EQ(chroprof__histogram_total(&chroprof__histogram_rows(c)[k].slice), 0);
    }
    CHECK_STR(c->name, "a name");
    CHECK_EQ(c->pointer_bytes, sizeof(void *));
    CHECK_EQ(c->layout, 2);
    CHECK_EQ(c->order, 0x01020304);
    CHECK_EQ(c->core_bytes, sizeof *c);
    CHECK_EQ(c->start_unix_ns, 0);
    CHECK_EQ(c->manual, 1);
    CHECK_EQ(c->calibrated, 1);
    CHECK_EQ(c->factor, UINT64_C(1) << 32);
    CHECK_EQ(c->enabled, 1);
    CHECK(p->taking && p->on && !p->detour && !p->view);
    CHECK_EQ(c->window_ns, 100000000);
    CHECK_EQ(c->stall_ns, 20000000);
    CHECK_EQ(c->max_step_ns, UINT64_C(3600000000000));
}

#ifndef CHROPROF_NO_CLOCK
/* Calendar time of profile time 0, and of the 0 of the monotonic clock, which is the same here. */
TEST(when_a_profile_began)
{
    chroprof_options o;
    chroprof *p;
    memset(&o, 0, sizeof o);
    o.clock = life_clock;
    *life_time() = 5000;
    pretend()->seconds = 1000;
    p = fresh(&o);
    pretend()->seconds = 0;
    CHECK_EQ(p->core->start_unix_ns, UINT64_C(1000000000000));
    CHECK_EQ(p->core->boot_ns, 0);
    CHECK_EQ(p->core->manual, 0);
    CHECK_EQ(p->core->started, 1);
    CHECK_EQ(p->core->epoch, 5000);
    CHECK(p->clock == life_clock);
}
#else
TEST(when_a_profile_began) { SKIP("no calendar here"); }
#endif

/* Of all tables that are the host's, sizes are told with the first start in any memory. */
TEST(a_profile_in_memory_of_any_alignment)
{
    static union { uint64_t word; unsigned char bytes[CHROPROF_MEMORY_MIN + 200]; } memory;
    chroprof_options o;
    uint32_t skip, k;
    memset(&o, 0, sizeof o);
    o.clock = chroprof_clock_manual;
    for (skip = 0; skip < 130; skip++) {
        unsigned char *begin = memory.bytes + skip;
        chroprof p;
        memset(&memory, 0x5a, sizeof memory);
        CHECK_EQ(chroprof_init(&p, begin, CHROPROF_MEMORY_MIN, &o), CHROPROF_OK);
        CHECK_EQ((uintptr_t)p.core % 64, 0);
        CHECK((unsigned char *)p.core >= begin && (unsigned char *)p.core < begin + 64);
        for (k = 0; begin + k < (unsigned char *)p.core; k++)
            CHECK_EQ(begin[k], 0);
        for (k = 0; k < skip; k++)
            CHECK_EQ(memory.bytes[k], 0x5a);
        for (k = skip + CHROPROF_MEMORY_MIN; k < sizeof memory; k++)
            CHECK_EQ(memory.bytes[k], 0x5a);
        CHECK_EQ(chroprof_init(&p, begin, CHROPROF_MEMORY_MIN - 1, &o), CHROPROF_ERR_MEMORY);
        CHECK(p.core == NULL && !p.taking);
    }
}

/* Which of several errors is told, and that nothing is left in the handle. */
TEST(init_says_what_comes_first)
{
    chroprof_options o;
    chroprof p;
    void *memory = harness_memory();
    memset(&o, 0, sizeof o);
    o.clock = chroprof_clock_manual;
    CHECK_EQ(chroprof_init(NULL, memory, HARNESS_MEMORY, &o), CHROPROF_ERR_ARGUMENT);
    memset(&p, 0x5a, sizeof p);
    CHECK_EQ(chroprof_init(&p, NULL, HARNESS_MEMORY, &o), CHROPROF_ERR_ARGUMENT);
    CHECK(p.core == NULL && !p.taking && !p.view);
    o.max_depth = 65001;
    memset(&p, 0x5a, sizeof p);
    CHECK_EQ(chroprof_init(&p, memory, 10, &o), CHROPROF_ERR_LIMIT);
    CHECK(p.core == NULL && !p.taking && !p.view);
    o.max_depth = 65000;
    memset(&p, 0x5a, sizeof p);
    CHECK_EQ(chroprof_init(&p, memory, 10, &o), CHROPROF_ERR_MEMORY);
    CHECK(p.core == NULL && !p.taking && !p.view);
    CHECK_EQ(chroprof_memory_size(&o) > CHROPROF_MEMORY_MIN, true);
    o.max_depth = 65001;
    CHECK_EQ(chroprof_memory_size(&o), 0);
}

#define LIFE_CASES                                                                                 \
    CASE(the_time_of_on_stall_is_the_loops),                                                       \
    CASE(ready_since_when),                                                                        \
    CASE(ready_since_without_an_id),                                                               \
    CASE(stillborns_of_each_state),                                                                \
    CASE(each_call_is_an_event_of_its_own),                                                        \
    CASE(events_that_are_not_taken),                                                               \
    CASE(samples_by_hand_at_the_ends_of_time),                                                     \
    CASE(where_a_stack_ends),                                                                      \
    CASE(where_a_frame_record_can_lie),                                                            \
    CASE(what_is_left_when_a_profile_is_switched_off),                                             \
    CASE(on_again_under_the_manual_clock),                                                         \
    CASE(switching_and_resetting_where_it_may_not_be),                                             \
    CASE(sites_are_made_where_they_may_be),                                                        \
    CASE(rows_of_a_new_profile),                                                                   \
    CASE(when_a_profile_began),                                                                    \
    CASE(a_profile_in_memory_of_any_alignment),                                                    \
    CASE(init_says_what_comes_first)

#endif
