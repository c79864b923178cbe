/* chroprof_coroutines.h - coroutines of C++20 as futures of chroprof.h, each below the one that
 * called it. Include it after chroprof.h, in any number of files. chroprof_promise is a base for
 * your promise type and brings initial_suspend and await_transform:
 *
 *     struct promise_type : chroprof_promise<promise_type, &prof> {
 *         void return_void() { finish(CHROPROF_COMPLETED); }
 *         void unhandled_exception() { finish(CHROPROF_FAILED); }
 *         ...                                    without an initial_suspend of its own
 *     };
 *
 * The second argument is a chroprof *, or a function that returns one. A third one is what
 * initial_suspend suspends on: std::suspend_never for coroutines that start at once, otherwise
 * std::suspend_always.
 *
 * What you get: the site is the coroutine's function. The id, for chroprof_ready, is the address of
 * the coroutine's handle. A coroutine is paused while it awaits. One that is destroyed before
 * finish() was cancelled.
 *
 * What to know: a co_yield is not seen unless yield_value returns pause(awaiter). The work of an
 * await_suspend counts as uninstrumented. In a class template say this->finish(...).
 *
 * License: as chroprof.h. */

#ifndef CHROPROF_COROUTINES_H
#define CHROPROF_COROUTINES_H

/* The compiler keeps to itself what it holds of our style. CHROPROF_STRICT: it tells. */
#if defined(__GNUC__) && !defined(CHROPROF_STRICT)
#pragma GCC system_header
#endif

#include <coroutine>
#include <type_traits>
#ifndef CHROPROF_H
#include "chroprof.h"
#endif

#ifdef CHROPROF_DISABLE

template <class Promise, auto Profile, class Initial = std::suspend_always>
struct chroprof_promise {
    Initial initial_suspend() { return {}; }
    template <class Awaiter> Awaiter pause(Awaiter awaiter) { return awaiter; }
    void finish(chroprof_state) noexcept {}
};

#else

template <class Promise, auto Profile, class Initial = std::suspend_always>
class chroprof_promise {
    uint64_t id = 0;

    static chroprof *profile() noexcept
    {
        if constexpr (requires { Profile(); })
            return Profile();
        else
            return Profile;
    }

    /* Pauses it. An await_suspend that throws has not suspended: it runs on with the exception. */
    struct going {
        uint64_t id;                        /* 0: it was not running, or it has gone */
        explicit going(uint64_t from) : id(from)
        {
            if (id)
                chroprof_paused(profile(), id);
        }
        ~going()
        {
            if (id)
                chroprof_running(profile(), id);
        }
        going(const going &) = delete;
        going &operator=(const going &) = delete;
    };

    template <class Awaiter> struct awaiting {
        Awaiter awaiter;                    /* a value, or a reference to what outlives it */
        uint64_t id;
        bool away;                          /* it is not running, so it has to be when it is back */

        bool await_ready() { return awaiter.await_ready(); }
        auto await_suspend(std::coroutine_handle<Promise> handle)
        {
            going leave(away ? 0 : id);
            away = true;                    /* beyond the next call this may be gone */
            if constexpr (std::is_void_v<decltype(awaiter.await_suspend(handle))>) {
                awaiter.await_suspend(handle);
                leave.id = 0;
            } else {
                auto where = awaiter.await_suspend(handle);
                leave.id = 0;
                return where;
            }
        }
        decltype(auto) await_resume()
        {
            if (away)
                chroprof_running(profile(), id);
            return awaiter.await_resume();
        }
    };

public:
    /* Creates the future; the default arguments are those of the coroutine. */
    auto initial_suspend(const char *name = __builtin_FUNCTION(),
                         const char *file = __builtin_FILE(), unsigned line = __builtin_LINE())
    {
        Promise &promise = static_cast<Promise &>(*this);
        id = reinterpret_cast<uintptr_t>(
            std::coroutine_handle<Promise>::from_promise(promise).address());
        chroprof_pending(profile(), id, chroprof_site_make(profile(), name, file, line));
        return awaiting<Initial>{ {}, id, true };
    }

    /* What co_await suspends on: paused while it is away. An awaiter need not be movable. */
    template <class A> auto await_transform(A &&a)
    {
        if constexpr (requires { static_cast<A &&>(a).operator co_await(); })
            return awaiting<decltype(static_cast<A &&>(a).operator co_await())>{
                static_cast<A &&>(a).operator co_await(), id, false };
        else if constexpr (requires { operator co_await(static_cast<A &&>(a)); })
            return awaiting<decltype(operator co_await(static_cast<A &&>(a)))>{
                operator co_await(static_cast<A &&>(a)), id, false };
        else
            return awaiting<A &&>{ static_cast<A &&>(a), id, false };
    }

    /* The same for an awaiter that is handed over: yield_value may return it. */
    template <class Awaiter> auto pause(Awaiter awaiter)
    {
        return awaiting<Awaiter>{ static_cast<Awaiter &&>(awaiter), id, false };
    }

    /* Completed, failed or cancelled: in return_void or final_suspend, and in unhandled_exception.
     * What is said first holds. */
    void finish(chroprof_state how) noexcept
    {
        if (id)
            chroprof_event(profile(), how, id, nullptr, chroprof_now(profile()));
        id = 0;
    }

    chroprof_promise() = default;
    chroprof_promise(const chroprof_promise &) = delete;
    chroprof_promise &operator=(const chroprof_promise &) = delete;
    ~chroprof_promise() { finish(CHROPROF_CANCELLED); }
};

#endif
#endif
