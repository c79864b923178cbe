/* interface/macros.h */
#pragma once
#include "../interface/config.h"
#include "../interface/kinds.h"
#include "../interface/types.h"
#include "../interface/events.h"

/* >>macros */

#ifdef __cplusplus
#define CHROPROF__C extern "C"
#define CHROPROF__CONST constexpr const
#else
#define CHROPROF__C
#define CHROPROF__CONST const
#endif

/* Defines a site of this source line: CHROPROF_SITE(site_accept, "accept"); The name is a constant
 * for all futures of this line. For names made at run time use chroprof_site_make. */
#define CHROPROF_SITE(variable, name)                                       \
    static CHROPROF__CONST chroprof_site variable CHROPROF__SITE_UNUSED = { \
        name, __FILE__, __LINE__                                            \
    }
#ifndef CHROPROF_DISABLE
#define CHROPROF__SITE_UNUSED
#else                                   /* for wrappers that take a site; nothing is emitted */
#define CHROPROF__SITE_UNUSED CHROPROF__ATTRIBUTES((__unused__))
#ifdef __cplusplus
#define chroprof_site_make(p, name, file, line) (static_cast<const chroprof_site *>(nullptr))
#else
#define chroprof_site_make(p, name, file, line) ((const chroprof_site *)0)
#endif
#define chroprof_pending(p, id, site) ((void)0)
#define chroprof_ready(p, id) ((void)0)
#define chroprof_ready_since(p, id, when) ((void)0)
#define chroprof_running(p, id) ((void)0)
#define chroprof_paused(p, id) ((void)0)
#define chroprof_switch(p, id) ((void)0)
#define chroprof_completed(p, id) ((void)0)
#define chroprof_failed(p, id) ((void)0)
#define chroprof_cancelled(p, id) ((void)0)
#define chroprof_stillborn(p, site, finish) ((void)0)
#define chroprof_enter(p, site) ((void)0)
#define chroprof_leave(p) ((void)0)
#define chroprof_next(p, site) ((void)0)
#define chroprof_loop_enter(p) ((void)0)
#define chroprof_loop_leave(p) ((void)0)
#define chroprof_idle_enter(p) ((void)0)
#define chroprof_idle_leave(p) ((void)0)
#ifdef CHROPROF_WAIT_CALLS
#define chroprof_leave_for_idle(p) ((void)0)
#define chroprof_enter_from_idle(p, site) ((void)0)
#endif
#define chroprof_tick(p) ((void)0)
#define chroprof_exiting(p, since) ((void)0)
#define chroprof_waited(p, call, within, since) ((void)0)
#define chroprof_add_wait(p, seen) (CHROPROF_OK)
#define chroprof_name_held(p, kind, at_ns, ppm, code) (CHROPROF_OK)
#define chroprof_kept_awake(p, by) ((void)0)
#define chroprof_event(p, state, id, site, now) ((void)0)
#define chroprof_sample(p, now, cpu_delta_ns) ((void)0)
#define chroprof_sample_stack(p, now, cpu_delta_ns, addresses, count) (CHROPROF_OK)
#endif

#ifdef __cplusplus
/* A symbol of the class could be that of another copy. */
#define CHROPROF__SCOPE_CALL inline CHROPROF__ATTRIBUTES((__always_inline__))

/* Enters here and leaves at the end of the block, also by an exception:
 *     chroprof_scope s(&prof, &site); */
class chroprof_scope {
public:
#ifndef CHROPROF_DISABLE
    CHROPROF__SCOPE_CALL chroprof_scope(chroprof *chroprof__p, const chroprof_site *chroprof__where)
        : profile(chroprof__p)
    {
        chroprof_enter(chroprof__p, chroprof__where);
    }
    CHROPROF__SCOPE_CALL ~chroprof_scope() { chroprof_leave(profile); }
private:
    chroprof *profile;
#else
    template <class A, class B> chroprof_scope(const A &, const B &) {}
    ~chroprof_scope() {}
private:
#endif
    chroprof_scope(const chroprof_scope &);
    chroprof_scope &operator=(const chroprof_scope &);
};
#endif

#define CHROPROF__JOIN_(a, b) a##b
#define CHROPROF__JOIN(a, b) CHROPROF__JOIN_(a, b)

/* One line at the top of a callback: CHROPROF_SCOPE(&prof, "on_readable"); It enters a site of this
 * line and leaves it at the end of the block, also by an early return. In C++, and in C compilers
 * with __attribute__((cleanup)), such as gcc and clang. Elsewhere it is not defined: use
 * chroprof_enter and chroprof_leave. At most one per line. */
#if defined(CHROPROF_DISABLE)
#define CHROPROF_SCOPE(p, name) ((void)0)
#elif defined(__cplusplus)
#define CHROPROF_SCOPE(p, name)                                                                    \
    CHROPROF_SITE(CHROPROF__JOIN(chroprof__site_, __LINE__), name);                                \
    const chroprof_scope CHROPROF__JOIN(chroprof__scope_, __LINE__)(                               \
        p, &CHROPROF__JOIN(chroprof__site_, __LINE__))
#elif defined(__GNUC__)
static inline __attribute__((__unused__)) void chroprof__scope_end(chroprof *const *chroprof__p)
{
    chroprof_leave(*chroprof__p);
}

static inline __attribute__((__unused__)) chroprof *chroprof__scope_begin(
    chroprof *chroprof__p, const chroprof_site *chroprof__where)
{
    chroprof_enter(chroprof__p, chroprof__where);
    return chroprof__p;
}

#define CHROPROF_SCOPE(p, name)                                                                    \
    CHROPROF_SITE(CHROPROF__JOIN(chroprof__site_, __LINE__), name);                                \
    chroprof *const CHROPROF__JOIN(chroprof__scope_, __LINE__)                                     \
        __attribute__((__cleanup__(chroprof__scope_end), __unused__)) =                            \
            chroprof__scope_begin(p, &CHROPROF__JOIN(chroprof__site_, __LINE__))
#endif

/* Libraries must see it, -fvisibility=hidden or not. */
#define CHROPROF__VISIBLE CHROPROF__C CHROPROF__ATTRIBUTES((__visibility__("default")))

/* Names in the helpers may be those of the program around them. */
#if defined(__GNUC__)
#define CHROPROF__QUIET_BEGIN \
    _Pragma("GCC diagnostic push") _Pragma("GCC diagnostic ignored \"-Wshadow\"") \
    _Pragma("GCC diagnostic ignored \"-Wredundant-decls\"")
#define CHROPROF__QUIET_END _Pragma("GCC diagnostic pop")
#else
#define CHROPROF__QUIET_BEGIN
#define CHROPROF__QUIET_END
#endif
