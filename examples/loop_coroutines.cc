// C++20 coroutines: each is a future below the coroutine that called it; delay, and who caused it.
// build: c++ -std=c++20 -O2 FILE -o OUT ; needs: g++
// Copy timed and profiled: a base that brings your promise_type's initial_suspend (eager: name
// suspend_never). Lost: await_suspend's own work counts as loop; free operator co_await, co_yield.
#include <chrono>
#include <coroutine>
#include <cstring>
#include <poll.h>
#define CHROPROF_IMPLEMENTATION // chroprof
#include "../chroprof.h" // chroprof
static chroprof prof; // chroprof
template <class A> struct timed { // chroprof
    A awaiter; // chroprof
    uint64_t id, away = 0; // chroprof
    bool await_ready() { return awaiter.await_ready(); } // chroprof
    auto await_suspend(auto handle) { // chroprof
        if (!away++) chroprof_paused(&prof, id); // chroprof
        return awaiter.await_suspend(handle); // chroprof
    }
    decltype(auto) await_resume() { // chroprof
        if (away) chroprof_running(&prof, id); // chroprof
        return awaiter.await_resume(); // chroprof
    }
};
template <class A> timed(A, uint64_t) -> timed<A>; // chroprof
template <class P, class Initial = std::suspend_always> struct profiled { // chroprof
    uint64_t id = 0; // chroprof
    auto initial_suspend(const char *name = __builtin_FUNCTION(), // chroprof
        const char *file = __builtin_FILE(), unsigned line = __builtin_LINE()) { // chroprof
        id = (uintptr_t)std::coroutine_handle<P>::from_promise(*(P *)this).address(); // chroprof
        chroprof_pending(&prof, id, chroprof_site_make(&prof, name, file, line)); // chroprof
        return timed<Initial>{ {}, id, 1 }; // chroprof
    }
    auto await_transform(auto &&a) { return timed<decltype(a)>{ (decltype(a))a, id }; } // chroprof
    template <class A> requires requires(A &&a) { ((A &&)a).operator co_await(); } // chroprof
    auto await_transform(A &&a) { return timed{ ((A &&)a).operator co_await(), id }; } // chroprof
    void finish(chroprof_state how) noexcept { // chroprof
        if (id) chroprof_event(&prof, how, id, nullptr, chroprof_now(&prof)); // chroprof
        id = 0; // chroprof
    }
    ~profiled() { finish(CHROPROF_CANCELLED); } // chroprof
};

struct task : std::suspend_always {
    struct promise_type : profiled<promise_type> { // chroprof
        std::coroutine_handle<> caller = std::noop_coroutine();
        struct transfer : std::suspend_always {
            auto await_suspend(auto done) noexcept { return done.promise().caller; }
        };
        task get_return_object() { return { {}, decltype(task::self)::from_promise(*this) }; }
        transfer final_suspend() noexcept {
            finish(CHROPROF_COMPLETED); // chroprof
            return {};
        }
        void return_void() {}
        void unhandled_exception() { finish(CHROPROF_FAILED); } // chroprof
    };
    std::coroutine_handle<promise_type> self;
    ~task() { self.destroy(); }
    auto await_suspend(std::coroutine_handle<> caller) {
        self.promise().caller = caller;
        return self;
    }
};

static task resolve() // the culprit: a call that blocks
{
    poll(nullptr, 0, 6);
    co_return;
}

static task session(bool remote)
{
    for (;;) {
        co_await std::suspend_always();
        if (remote) co_await resolve();
    }
}

int main(int argc, char **argv)
{
    if (argc != 1 && (argc != 3 || strcmp(argv[1], "--json") != 0))
        return fprintf(stderr, "usage: %s [--json FILE]\n", argv[0]), 2;
    chroprof_init(&prof, new char[1 << 20], 1 << 20, nullptr); // chroprof
    std::chrono::nanoseconds idle{};
    task sessions[] = { session(true), session(false), session(false), session(false) };
    for (int round = 0; round < 50; round++) {
        chroprof_idle_enter(&prof); // chroprof
        auto start = std::chrono::steady_clock::now();
        poll(nullptr, 0, 25);
        idle += std::chrono::steady_clock::now() - start;
        chroprof_idle_leave(&prof); // chroprof
        for (auto &s : sessions) chroprof_ready(&prof, (uintptr_t)s.self.address()); // chroprof
        for (auto &s : sessions) s.self.resume();
    }
    chroprof_dump(&prof, CHROPROF_TEXT, stdout); // chroprof
    fprintf(stderr, "independent idle: %lld\n", (long long)idle.count());
    if (argc > 1 && (!freopen(argv[2], "w", stdout) || chroprof_dump(&prof, CHROPROF_JSON, stdout)))
        return perror(argv[2]), 2;
}
