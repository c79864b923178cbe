/* One round of the server in bench/loop.c. Included twice: with EVENT(call) as the call, and as
 * nothing. The functions are otherwise the same. */

/* A request becomes a future, is worked on and answered. */
static void NAME(answer)(server *s, connection *c, const char *from)
{
    uint64_t id = ++s->requests;
    (void)id;
    EVENT(chroprof_pending(&s->prof, id, &site_request));
    EVENT(chroprof_running(&s->prof, id));
    size_t count = make_answer(s, from);
    if (write(c->fd, s->answer, count) != (ssize_t)count)
        fail("write");
    EVENT(chroprof_completed(&s->prof, id));
}

static void NAME(on_readable)(server *s, connection *c)
{
    EVENT(chroprof_enter(&s->prof, &site_readable));
    ssize_t got = read(c->fd, c->bytes + c->got, sizeof c->bytes - c->got);
    size_t at = 0;
    if (got <= 0)
        fail("read");
    c->got += (size_t)got;
    for (; c->got - at >= REQUEST; at += REQUEST)
        NAME(answer)(s, c, c->bytes + at);
    c->got -= at;
    memmove(c->bytes, c->bytes + at, c->got);
    EVENT(chroprof_leave(&s->prof));
}

static void NAME(on_timer)(server *s)
{
    EVENT(chroprof_enter(&s->prof, &site_timer));
    set_timer(s);
    EVENT(chroprof_leave(&s->prof));
}

/* Serves so many requests; returns CPU nanoseconds a request. */
static double NAME(round)(server *s, uint64_t requests)
{
    struct epoll_event ready[MAX_CONNECTIONS];
    uint64_t end = s->requests + requests;
    double before = cpu_ns();
    while (s->requests < end) {
        EVENT(chroprof_idle_enter(&s->prof));
        int n = epoll_wait(s->epoll, ready, MAX_CONNECTIONS, -1);
        EVENT(chroprof_idle_leave(&s->prof));
        for (int k = 0; k < s->due; k++)
            NAME(on_timer)(s);
        for (int k = 0; k < n; k++)
            NAME(on_readable)(s, (connection *)ready[k].data.ptr);
    }
    return (cpu_ns() - before) / (double)requests;
}
