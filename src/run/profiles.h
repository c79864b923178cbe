/* profiles.h - a thread gets its profile, and gives it back */

#ifndef PRELOAD_PROFILES_H
#define PRELOAD_PROFILES_H

#include "run.h"
#include "next.h"
#include "seats.h"
#include "futures.h"
#include "stacks.h"
#include "signals.h"
#include "loops.h"
#include "spins.h"

/* >>beginning and ending a profile */

/* A number behind a text. */
static char *put_number(char *at, unsigned long value)
{
    char digits[24];
    size_t count = 0;
    do {
        digits[count++] = (char)('0' + value % 10);
        value /= 10;
    } while (value > 0);
    while (count > 0) {
        *at++ = digits[--count];
    }
    return at;
}

/* FOLDER/PID-TID.chroprof */
static void name_file(char *path, pid_t process, pid_t thread)
{
    size_t length = strlen(folder);
    char *at = path + length;
    memcpy(path, folder, length);
    *at++ = '/';
    at = put_number(at, (unsigned long)process);
    *at++ = '-';
    at = put_number(at, (unsigned long)thread);
    memcpy(at, ".chroprof", sizeof ".chroprof");
}

/* >>spares: files for a daemon that locks itself into a folder (chroot) before its loops begin, as
 * it can't reach ours then. */

#define SPARES 16
#define SPARE_NUMBERS 4194305  /* the system gives no thread such a number */

static void *spares[SPARES];   /* atomic; NULL: there is none, or a thread has it */
static pid_t spares_of;

static bool may_be_large(size_t bytes)
{
    struct rlimit limit;
    return getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur >= bytes;
}

static void *make_spare(pid_t thread)
{
    char path[sizeof folder + 80];
    void *block = MAP_FAILED;
    int file;
    name_file(path, getpid(), thread);
    file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (file >= 0 && fallocate(file, 0, 0, PROFILE_BYTES) == 0) {
        block = mmap(NULL, PROFILE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    }
    if (file >= 0) {
        (void)close(file);
    }
    return block != MAP_FAILED ? block : NULL;
}

static void make_spares(void)
{
    int error = errno;
    if (is_awake() && !sealed && spares_of != getpid() && may_be_large(PROFILE_BYTES)) {
        spares_of = getpid();
        for (int i = 0; i < SPARES; i++) {
            __atomic_store_n(&spares[i], make_spare(SPARE_NUMBERS + i), __ATOMIC_RELEASE);
        }
    }
    errno = error;
}

static void *take_spare(void)
{
    void *block = NULL;
    for (size_t i = 0; block == NULL && spares_of == getpid() && i < SPARES; i++) {
        block = __atomic_exchange_n(&spares[i], NULL, __ATOMIC_ACQ_REL);
    }
    return block;
}

EXPORT int chroot(const char *path)
{
    if (next.chroot == NULL) {
        find_function(&next.chroot, "chroot");
    }
    make_spares();
    return next.chroot(path);
}

static chroprof_result map_profile(seat *s)
{
    char path[sizeof folder + 80];
    char thread[17] = "";
    chroprof_options options;
    chroprof_result result;
    void *spare;
    memset(&options, 0, sizeof options);
    (void)prctl(PR_GET_NAME, thread);
    options.name = thread;
    options.stall_ns = stall_ns;
    options.max_samples = SAMPLES;
    name_file(path, getpid(), (pid_t)syscall(SYS_gettid));
    if (s->profile.mapped != NULL) {
        return chroprof_fork_child(&s->profile, path);
    }
    result = chroprof_map(&s->profile, path, s->number < SEATS ? PROFILE_BYTES : PROFILE_BYTES / 4,
                          &options);
    spare = result == CHROPROF_ERR_FILE ? take_spare() : NULL;
    return spare != NULL ? chroprof_init(&s->profile, spare, PROFILE_BYTES, &options) : result;
}

/* Whether a profile can begin on the stack of this thread, if it can't on another one. */
static bool has_stack(const seat *s, uintptr_t stack)
{
    return (HAS_ASIDE && s->stacks != NULL) || is_main ||
           (s->own_high != s->own_low && !is_near_end(s, stack));
}

static void refuse(chroprof_result why)
{
    note(&board->refused);
    board->refused_why = (int32_t)why;
    board->refused_error = errno;
}

/* The main thread's profile begins where the library was loaded, before its first event: the time
 * to its first wait is the program's start. */
static void begin_earlier(seat *s)
{
    const uint64_t ticks = chroprof_now(&s->profile) - loaded_at;
    if (loaded_at != 0 && chroprof_to_ns(&s->profile, ticks) <= MOST_START_NS &&
        chroprof_began(&s->profile, loaded_at)) {
        s->cpu_before_ns = loaded_cpu_ns;
    }
}

/* A row of the board for this thread; nobody looks at the other one. */
static void take_call(seat *s)
{
    static board_call nowhere;
    const int32_t thread = (int32_t)syscall(SYS_gettid);
    board_call *row = board_call_of(board, thread);
    int32_t nobody = 0;
    s->call = __atomic_compare_exchange_n(&row->thread, &nobody, thread, false, __ATOMIC_ACQUIRE,
                                          __ATOMIC_RELAXED) || nobody == thread ? row : &nowhere;
    s->call->inside = INSIDE_NONE;
    s->call->names = NAMES_NONE;
}

static void leave_call(seat *s)
{
    int32_t thread = (int32_t)syscall(SYS_gettid);
    (void)__atomic_compare_exchange_n(&s->call->thread, &thread, 0, false, __ATOMIC_RELEASE,
                                      __ATOMIC_RELAXED);
}

/* In registered.h: what began before the profile. */
static void tell_early_futures(seat *s);

typedef struct beginning {
    seat *s;
    uintptr_t stack;           /* of the wait that it is for */
    bool done;
} beginning;

static void begin_aside(void *argument)
{
    beginning *b = (beginning *)argument;
    seat *s = b->s;
    chroprof_result result;
    take_call(s);
    s->busy = true;
    s->error = &errno;
    s->signal = 0;
    s->waits = s->slice = s->inside = s->jumped = s->exits = s->timed = false;
    s->returned = s->task_until = s->plain_back = 0;
    s->spin_next = s->spin_left = SPIN_LOOKS;
    s->spin_ns = s->spin_cpu_ns = 0;
    s->spin_doubles = s->suspect_waits = 0;
    s->no_files = false;
    s->depth = 0;
    clear_futures(s);
    begin_loops(s, b->stack);
    errno = 0;
    result = map_profile(s);
    if (result == CHROPROF_OK) {
        s->generation = generation;
        note(&board->profiles);
        s->ready_set = 0;
        s->ready_count = 0;
        s->accepts = false;
        s->cpu_before_ns = 0;
        if (!filtered) {
            (void)thread_cpu(&s->cpu_before_ns);
        }
        if (is_main && s->profile.mapped != NULL) {
            begin_earlier(s);
        }
        begin_sampling(s, b->stack);
    } else {
        refuse(result);
    }
    s->busy = false;
    b->done = result == CHROPROF_OK;
}

static bool begin_profile(seat *s)
{
    beginning b = { s, (uintptr_t)__builtin_frame_address(0), false };
    if (own == NULL) {
        find_own_stack(s);
    }
    make_stacks(s);
    if (!has_stack(s, b.stack)) {
        refuse(CHROPROF_ERR_SAMPLER_STACK);
        return false;
    }
    block_signals(s);
    step_aside(s, begin_aside, &b);
    own = b.done ? s : NULL;
    open_signals(s);
    return b.done;
}

typedef struct seat_part {
    seat seats[SEATS];
    thread_loops loops[SEATS];
    future_table futures[SEATS];
} seat_part;

/* One more part of the seats. false: there is none. */
static bool add_seats(size_t number)
{
    static seat_part first;
    seat *none = NULL;
    void *memory = number == 0 ? &first
                   : mmap(NULL, sizeof(seat_part), PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    seat_part *part = (seat_part *)memory;
    if (memory == MAP_FAILED) {
        return false;
    }
    for (uint32_t i = 0; i < SEATS; i++) {
        part->seats[i].number = (uint32_t)number + i;
        part->seats[i].loops = &part->loops[i];
        part->seats[i].futures = &part->futures[i];
    }
    if (!__atomic_compare_exchange_n(&seat_parts[number / SEATS], &none, part->seats, false,
                                     __ATOMIC_RELEASE, __ATOMIC_RELAXED) && number != 0) {
        (void)munmap(memory, sizeof(seat_part));        /* another thread was faster */
    }
    return true;
}

static seat *free_seat(void)
{
    for (size_t i = 0; i < BOARD_THREADS && (seat_at(i) != NULL || add_seats(i)); i++) {
        uint32_t nobody = 0;
        if (__atomic_compare_exchange_n(&seat_at(i)->taken, &nobody, 1, false, __ATOMIC_ACQUIRE,
                                        __ATOMIC_RELAXED)) {
            return seat_at(i);
        }
    }
    refuse(CHROPROF_ERR_LIMIT);
    return NULL;
}

static void leave_seat(seat *s)
{
    __atomic_store_n(&s->taken, 0, __ATOMIC_RELEASE);
}

static void end_loops_aside(void *of)
{
    end_loops((seat *)of);
}

/* exit() was called, or main has returned: before the destructors, and before most of what the program
 * wants to be called then. */
static void exit_begins(void)
{
    seat *s = own;
    if (s != NULL && !s->busy && !s->exits && is_awake() && s->generation == generation) {
        s->busy = true;
        aside(s, end_loops_aside, s);
        s->busy = false;
    }
}

/* Its first wait: if it works later, and never waits again, its work is in no profile. */
static void note_once(void)
{
    uint32_t place = __atomic_fetch_add(&board->once_count, 1, __ATOMIC_RELAXED);
    board_once *row = place < BOARD_ONCE ? &board->once[place] : NULL;
    if (row == NULL || filtered || !thread_cpu(&row->cpu_ns)) {
        return;
    }
    (void)prctl(PR_GET_NAME, row->name);
    row->thread = (int32_t)syscall(SYS_gettid);
    __atomic_store_n(&row->process, (int32_t)getpid(), __ATOMIC_RELEASE);
    once = row;
    (void)pthread_setspecific(at_thread_end, row);
}

static void end_once(board_once *row)
{
    uint64_t ns;
    if (row->process == (int32_t)getpid() && !filtered && thread_cpu(&ns) && ns > row->cpu_ns) {
        row->worked_ns = ns - row->cpu_ns;
    }
}

/* The profile of this thread. The main thread gets one at its first wait, others at their second: a
 * thread of a pool may wait once. */
static seat *take_seat(void)
{
    seat *s;
    if (excluded || sealed) {
        return NULL;
    }
    waits++;
    if (waits == 1) {
        is_main = getpid() == (pid_t)syscall(SYS_gettid);
    }
    if (!is_main && waits < (board->dropped == 0 ? 2 : WAITS_LATER)) {
        if (waits == 1 && !excluded) {
            note_once();
        }
        return NULL;
    }
    if (once != NULL) {
        __atomic_store_n(&once->process, 0, __ATOMIC_RELEASE);
        once = NULL;
    }
    excluded = true;                        /* also while a signal handler interrupts this */
    s = own != NULL ? own : free_seat();
    if (s == NULL) {
        return NULL;
    }
    if (!begin_profile(s)) {
        leave_seat(s);
        own = NULL;
        return NULL;
    }
    if (is_main) {
        tell_early_futures(s);
    }
    if (is_main && !knows_exit) {
        knows_exit = true;
        (void)atexit(exit_begins);
    }
    (void)pthread_setspecific(at_thread_end, s);
    excluded = false;
    return s;
}

static bool hold_kept(void)
{
    for (int tries = 0; tries < 1000; tries++) {
        uint32_t nobody = 0;
        if (__atomic_compare_exchange_n(&board->keeping, &nobody, 1, false, __ATOMIC_ACQUIRE,
                                        __ATOMIC_RELAXED)) {
            return true;
        }
    }
    return false;                           /* perhaps somebody was killed there */
}

static bool is_same(const board_kept *a, const board_kept *b)
{
    return a->process == b->process && a->thread == b->thread;
}

/* The row for a thread: its own, as numbers come again; a free one; that of least weight. */
static board_kept *row_to_keep(const board_kept *mine)
{
    board_kept *least = &board->kept[0];
    for (size_t i = 0; i < BOARD_KEPT; i++) {
        board_kept *row = &board->kept[i];
        if (is_same(row, mine)) {
            return row;
        }
        if (least->process != 0 && (row->process == 0 || row->weight < least->weight)) {
            least = row;
        }
    }
    return least;
}

/* Programs may start a thread for each of their clients. So of those that have ended only some keep
 * their files. */
static void keep_heaviest(uint64_t weight)
{
    char path[sizeof folder + 80];
    board_kept mine = { weight, (int32_t)getpid(), (int32_t)syscall(SYS_gettid) };
    board_kept other;
    board_kept *row;
    if (hold_kept()) {
        row = row_to_keep(&mine);
        other = *row;
        if (other.weight <= weight || is_same(&other, &mine)) {
            *row = mine;
            mine = other;
            mine.process = is_same(&other, row) ? 0 : other.process;
        }
        __atomic_store_n(&board->keeping, 0, __ATOMIC_RELEASE);
    }
    if (mine.process != 0) {
        name_file(path, mine.process, mine.thread);
        (void)unlink(path);
        note(&board->dropped);
    }
}

/* Those with a stall, the longest first; then the busiest. A thread of a pool may wait for work in a
 * way that is no loop's: it has few iterations. */
static uint64_t weight_of(const seat *s)
{
    chroprof_totals t;
    chroprof_read_totals(&s->profile, &t);
    return t.stalls > 0 && t.iterations >= 10 ? UINT64_MAX / 2 + t.callback_max_ns
                                              : t.elapsed_ns - t.idle_ns;
}

static void end_aside(void *of)
{
    uint64_t weight;
    seat *s = (seat *)of;
    if (!s->exits) {
        end_loops(s);
    }
    note_cpu(s);
    chroprof_tick(&s->profile);
    if (sealed) {                           /* perhaps it must not even give memory back */
        return;
    }
    end_sampling(s);
    weight = weight_of(s);
    if (s->profile.mapped != NULL) {        /* else it is a spare one, which stays */
        chroprof_unmap(&s->profile);
        keep_heaviest(weight);
    }
    clear_futures(s);
    leave_call(s);
    s->busy = false;
}

static void end_profile(void *of)
{
    seat *s = (seat *)of;
    if (once != NULL) {
        end_once(once);
        return;
    }
    excluded = true;
    own = NULL;
    if (s->busy || s->generation != generation || !is_awake()) {
        return;
    }
    s->busy = true;
    aside(s, end_aside, s);
    if (!s->busy) {
        leave_seat(s);
    }
}

/* A forked child that is not watched waits like a loop. */
static void note_sleeper(void)
{
    static uint32_t sleeping;
    if (board != NULL && !with_children && __atomic_load_n(&sleeping, __ATOMIC_RELAXED) < 2 &&
        __atomic_add_fetch(&sleeping, 1, __ATOMIC_RELAXED) == 2) {
        note(&board->sleepers);
    }
}

/* A forked child with --children: it has one thread, and nobody else has been here yet. */
static bool wake_child(void)
{
    uint32_t asleep = 0;
    seat *s;
    if (awake == NULL || !with_children) {
        return false;
    }
    if (__atomic_compare_exchange_n(awake, &asleep, 1, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
        generation++;
        waits = 0;
        loaded_at = 0;
        signals_held = 0;
        for (size_t i = 0; (s = seat_at(i)) != NULL; i++) {
            s->signal = 0;                  /* timers are not inherited */
            s->plain_back = 0;
            clear_futures(s);
        }
    }
    return true;
}

#endif
