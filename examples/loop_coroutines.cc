// C++20 coroutines: each is a future below the coroutine that called it. Which one delays others?
// build: c++ -std=c++20 -O2 FILE -o OUT ; needs: g++
// chroprof_promise brings initial_suspend, which replaces the plain one, and await_transform; call
// its finish() when a coroutine ends. Not seen: the work of an await_suspend, which is
// uninstrumented. For co_yield and more see adapters/chroprof_coroutines.h.
#include <chrono>
#include <coroutine>
#include <cstdio>
#include <cstring>
#include <exception>
#include <poll.h>
#define CHROPROF_IMPLEMENTATION // chroprof
#include "../chroprof.h" // chroprof
#include "adapters/chroprof_coroutines.h" // chroprof

static chroprof prof; // chroprof
static unsigned char memory[1 << 20]; // chroprof

struct task {
    struct promise_type
        : chroprof_promise<promise_type, &prof> // chroprof
    {
        std::coroutine_handle<> caller = std::noop_coroutine();
        std::exception_ptr error;
        struct transfer : std::suspend_always {
            auto await_suspend(auto done) noexcept { return done.promise().caller; }
        };
        task get_return_object() { return { decltype(task::self)::from_promise(*this) }; }
        // plain: std::suspend_always initial_suspend() { return {}; }
        transfer final_suspend() noexcept { return {}; }
        void return_void()
        {
            finish(CHROPROF_COMPLETED); // chroprof
        }
        void unhandled_exception()
        {
            error = std::current_exception();
            finish(CHROPROF_FAILED); // chroprof
        }
    };
    std::coroutine_handle<promise_type> self;
    ~task() { self.destroy(); }
    bool await_ready() { return false; }
    auto await_suspend(std::coroutine_handle<> caller)
    {
        self.promise().caller = caller;
        return self;
    }
    void await_resume()
    {
        if (self.promise().error) std::rethrow_exception(self.promise().error);
    }
};

static task resolve(int round) // the culprit: a call that blocks, and now and then fails
{
    poll(nullptr, 0, 6);
    if (round % 7 == 0) throw "no such host";
    co_return;
}

static task session(bool remote, int &errors)
{
    for (int round = 1;; round++) {
        co_await std::suspend_always();
        try {
            if (remote) co_await resolve(round);
        } catch (const char *) {
            errors++;
        }
    }
}

int main(int argc, char **argv)
{
    if (argc != 1 && (argc != 3 || strcmp(argv[1], "--json") != 0))
        return fprintf(stderr, "usage: %s [--json FILE]\n", argv[0]), 2;
    chroprof_init(&prof, memory, sizeof memory, nullptr); // chroprof
    std::chrono::nanoseconds idle{};
    int errors = 0;
    task sessions[] = { session(true, errors), session(false, errors), session(false, errors),
                        session(false, errors) };
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
    fprintf(stderr, "independent idle: %lld\nerrors: %d\n", (long long)idle.count(), errors);
    if (argc > 1 && (!freopen(argv[2], "w", stdout) || chroprof_dump(&prof, CHROPROF_JSON, stdout)))
        return perror(argv[2]), 1;
}
