// chroprof_promise: every way into, out of and around a suspension, on a clock moved by hand. With
// CHROPROF_DISABLE the same program runs and its profile stays empty. Exit status 0: all right.
#define CHROPROF_IMPLEMENTATION
#include "../../chroprof.h"
#include "../../examples/adapters/chroprof_coroutines.h"
#include <cstring>
#include <exception>
#include <utility>

static chroprof prof;
static uint64_t now_ns;

static uint64_t by_hand(void *)
{
    return now_ns;
}

static chroprof *profile_of_this_thread()
{
    return &prof;
}

// A coroutine whose caller is resumed where it ends; Start says whether it begins at once.
template <auto Profile, class Start> struct routine {
    struct promise_type : chroprof_promise<promise_type, Profile, Start> {
        std::coroutine_handle<> caller = std::noop_coroutine();
        int yielded = 0;
        struct transfer {
            bool await_ready() noexcept { return false; }
            std::coroutine_handle<> await_suspend(std::coroutine_handle<promise_type> done) noexcept
            {
                return done.promise().caller;
            }
            void await_resume() noexcept {}
        };
        routine get_return_object()
        {
            return routine(std::coroutine_handle<promise_type>::from_promise(*this));
        }
        transfer final_suspend() noexcept { return {}; }
        void return_void() { this->finish(CHROPROF_COMPLETED); }
        void unhandled_exception() { this->finish(CHROPROF_FAILED); }
        auto yield_value(int value)
        {
            yielded = value;
            return this->pause(std::suspend_always());
        }
    };
    explicit routine(std::coroutine_handle<promise_type> handle) : self(handle) {}
    routine(routine &&other) noexcept : self(std::exchange(other.self, nullptr)) {}
    ~routine()
    {
        if (self)
            self.destroy();
    }
    bool await_ready() { return false; }
    std::coroutine_handle<> await_suspend(std::coroutine_handle<> handle)
    {
        self.promise().caller = handle;
        return self;
    }
    void await_resume() {}
    std::coroutine_handle<promise_type> self;
};
using task = routine<&prof, std::suspend_always>;
using eager = routine<profile_of_this_thread, std::suspend_never>;

// Awaiters that are reached by a member and by a free operator, that tell who waits, and that stay.
struct by_member {
    std::suspend_always operator co_await() { return {}; }
};
struct by_function {};
static std::suspend_always operator co_await(by_function)
{
    return {};
}
struct fixed : std::suspend_always {        // neither moved nor copied
    fixed() = default;
    fixed(const fixed &) = delete;
    fixed &operator=(const fixed &) = delete;
};
struct by_fixed {
    fixed operator co_await() { return {}; }
};
struct throws : std::suspend_always {       // so it has not suspended
    void await_suspend(std::coroutine_handle<>) { throw 2; }
};
static std::coroutine_handle<> parked;
struct park : std::suspend_always {
    void await_suspend(std::coroutine_handle<> handle) { parked = handle; }
};
struct stays {
    bool await_ready() { return false; }
    bool await_suspend(std::coroutine_handle<>) { return false; }
    int await_resume() { return 7; }
};

static task child()
{
    now_ns += 1000;
    co_await park();
    now_ns += 20;
}

static task parent()
{
    std::suspend_always lasting;
    now_ns += 300;
    co_await lasting;
    now_ns += 300;
    co_await by_member();
    now_ns += 300;
    co_await by_function();
    now_ns += 300;
    co_await by_fixed();
    try {
        co_await throws();
    } catch (int) {
        now_ns += 70;
    }
    now_ns += 300;
    if (co_await stays() != 7)
        co_return;
    co_yield 5;
    now_ns += 300;
    co_await std::suspend_never();
    co_await child();
    now_ns += 4;
}

static eager starts()
{
    now_ns += 50;
    co_await std::suspend_always();
    throw 1;
}

static int failed;

static void check(bool right, int line)
{
    if (!right) {
        fprintf(stderr, "coroutines.cc:%d\n", line);
        failed = 1;
    }
}
#define CHECK(x) check(x, __LINE__)

#ifdef CHROPROF_DISABLE
static void profile_is_right()
{
    chroprof_totals totals;
    chroprof_read_totals(&prof, &totals);
    CHECK(totals.events == 0);
}
#else
static chroprof_rank rank(const char *name)
{
    chroprof_rank ranks[8], none = {};
    size_t count = chroprof_ranks(&prof, ranks, 8, CHROPROF_BY_EXEC);
    for (size_t i = 0; i < count; i++)
        if (strcmp(ranks[i].name, name) == 0)
            return ranks[i];
    return none;
}

static void profile_is_right()
{
    chroprof_totals totals;
    chroprof_path paths[8];
    chroprof_rank a = rank("parent"), b = rank("child"), c = rank("starts");
    chroprof_read_totals(&prof, &totals);
    CHECK(a.exec_ns == 6 * 300 + 70 + 4 && a.calls == 2 && a.completed == 1 && a.cancelled == 1);
    // To begin with, after five suspensions, after two that did not happen and after the child.
    CHECK(a.slices == 9 && strstr(a.file, "coroutines.cc") && a.line > 0);
    CHECK(b.exec_ns == 1020 && b.completed == 1 && b.slices == 2);
    CHECK(c.exec_ns == 50 && c.failed == 1 && c.slices == 2);
    CHECK(totals.anomalies == 0 && totals.live == 0 && totals.depth == 0);
    CHECK(totals.uninstrumented_ns == 8 * 9 && totals.idle_ns == 0);
    CHECK(chroprof_paths(&prof, paths, 8) == 3);
    for (size_t i = 0; i < 3; i++)
        CHECK(strcmp(paths[i].name, "child") == 0 ? paths[i].parent != 0 : paths[i].parent == 0);
    CHECK(chroprof_check(&prof) == NULL);
}
#endif

int main()
{
    static unsigned char memory[1 << 17];
    chroprof_options options = {};
    options.clock = by_hand;
    if (chroprof_init(&prof, memory, sizeof memory, &options) != CHROPROF_OK)
        return 2;
    {
        task first = parent(), never = parent();
        for (int i = 0; i < 6; i++) {
            now_ns += 9;
            first.self.resume();
        }
        CHECK(first.self.promise().yielded == 5 && !first.self.done());
        now_ns += 9;
        parked.resume();
        CHECK(first.self.done());
        eager second = starts();
        now_ns += 9;
        second.self.resume();
        CHECK(second.self.done());
    }
    return profile_is_right(), failed;
}
