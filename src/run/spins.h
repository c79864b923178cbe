/* spins.h - what keeps a loop awake whose waits return at once */

#ifndef PRELOAD_SPINS_H
#define PRELOAD_SPINS_H

#include "run.h"
#include "next.h"
#include "seats.h"
#include "stacks.h"

#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/select.h>

/* >>spins: the header counts the waits that return at once. After thousands of them the results of
 * one are looked at, in the thread of the loop but rarely: which file was ready, what it is, and
 * whether anybody asked for that. CPU time tells that these waits did not sleep. */

#define SPIN_LOOKS 8192u       /* waits that return at once, before the first look */
#define ALWAYS_TOLD 0x18u      /* errors and hang-ups, asked for or not */
#define SPIN_LEAST 2048u       /* waits until the header is asked again how many did */
#define SPIN_SURE 200u         /* waits at which a file still has to be ready */
#define SPIN_DOUBLES 6u        /* times that as many more are waited for before the next one */

/* CPU time of this thread since its profile began. False: it may not be asked for. */
static bool note_cpu(seat *s)
{
    uint64_t ns;
    if (filtered || sealed || !thread_cpu(&ns) || ns < s->cpu_before_ns) {
        return false;
    }
    s->cpu_ns = ns - s->cpu_before_ns;
    chroprof_set_cpu_clock(&s->profile, s->cpu_ns);
    return true;
}

static void add_text(char *to, size_t size, const char *text)
{
    size_t used = strlen(to);
    size_t length = strnlen(text, size - used - 1);
    memcpy(to + used, text, length);
    to[used + length] = '\0';
}

static void add_number(char *to, size_t size, int number)
{
    char text[16];
    char *at = text + sizeof text - 1;
    *at = '\0';
    do {
        *--at = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0);
    add_text(to, size, at);
}

/* The bits of poll and epoll are the same. */
static void add_events(char *to, size_t size, uint32_t events, const char *prefix)
{
    static const struct { uint32_t bit; char name[8]; } names[] = {
        { 0x001, "IN" }, { 0x002, "PRI" }, { 0x004, "OUT" }, { 0x008, "ERR" }, { 0x010, "HUP" },
        { 0x020, "NVAL" }, { 0x2000, "RDHUP" }
    };
    bool first = true;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if ((events & names[i].bit) != 0) {
            add_text(to, size, first ? "" : "|");
            add_text(to, size, prefix);
            add_text(to, size, names[i].name);
            first = false;
        }
    }
}

static void add_socket(char *to, size_t size, int file)
{
    union { struct sockaddr any; struct sockaddr_in v4; struct sockaddr_in6 v6; } name;
    socklen_t length = sizeof name;
    int listens = 0;
    socklen_t bytes = sizeof listens;
    memset(&name, 0, sizeof name);
    if (getsockopt(file, SOL_SOCKET, SO_ACCEPTCONN, &listens, &bytes) != 0 || listens == 0) {
        add_text(to, size, "a socket");
        return;
    }
    add_text(to, size, "a listening socket");
    if (getsockname(file, &name.any, &length) == 0 &&
        (name.any.sa_family == AF_INET || name.any.sa_family == AF_INET6)) {
        add_text(to, size, ", port ");
        add_number(to, size, ntohs(name.any.sa_family == AF_INET ? name.v4.sin_port
                                                                 : name.v6.sin6_port));
    }
}

static void add_file(char *to, size_t size, int file)
{
    static const struct { char begin[28], what[16]; } kinds[] = {
        { "pipe:", "a pipe" }, { "anon_inode:[eventfd]", "an eventfd" },
        { "anon_inode:[timerfd]", "a timerfd" }, { "anon_inode:[signalfd]", "a signalfd" },
        { "anon_inode:inotify", "inotify" }, { "/dev/tty", "a terminal" },
        { "/dev/pts/", "a terminal" }, { "/", "a file" }
    };
    char path[40] = "/proc/self/fd/";
    char link[64];
    ssize_t length;
    add_text(to, size, "fd ");
    add_number(to, size, file);
    add_number(path, sizeof path, file);
    length = readlink(path, link, sizeof link - 1);
    if (length <= 0) {
        return;
    }
    link[length] = '\0';
    add_text(to, size, ", ");
    if (begins_with(link, "socket:")) {
        add_socket(to, size, file);
        return;
    }
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (begins_with(link, kinds[i].begin)) {
            add_text(to, size, kinds[i].what);
            return;
        }
    }
    add_text(to, size, "what it is nobody knows");
}

/* The file that an epoll watches with this data, and the events it was asked for. -1: not one. */
static int find_watched(int epoll, uint64_t data, uint32_t *asked)
{
    char path[40] = "/proc/self/fdinfo/";
    char text[4096];
    ssize_t length;
    int file;
    int found = -1;
    add_number(path, sizeof path, epoll);
    file = open(path, O_RDONLY | O_CLOEXEC);
    length = file >= 0 ? read(file, text, sizeof text - 1) : -1;
    if (file >= 0) {
        (void)close(file);
    }
    text[length > 0 ? length : 0] = '\0';
    for (const char *at = strstr(text, "tfd:"); at != NULL; at = strstr(at + 1, "tfd:")) {
        int target = 0;
        unsigned events = 0;
        unsigned long long its = 0;
        if (sscanf(at, "tfd: %d events: %x data: %llx", &target, &events, &its) == 3 &&
            its == data) {
            if (found >= 0) {
                return -1;                  /* two with the same data */
            }
            found = target;
            *asked = events;
        }
    }
    return found;
}

typedef struct watched_look {
    int epoll, found;
    uint64_t data;
    uint32_t *asked;
} watched_look;

static void watched_aside(void *argument)
{
    watched_look *l = (watched_look *)argument;
    l->found = find_watched(l->epoll, l->data, l->asked);
}

static int watched_file(seat *s, int epoll, uint64_t data, uint32_t *asked)
{
    watched_look l = { epoll, -1, data, asked };
    s->busy = true;
    aside(s, watched_aside, &l);
    s->busy = false;
    return l.found;
}

/* How much lies there to be read; -1: that is not known, as of a listening socket. */
static int bytes_at(int file)
{
    int bytes = -1;
    return ioctl(file, FIONREAD, &bytes) == 0 ? bytes : -1;
}

static bool is_ready(int file, short events)
{
    static const struct timespec none = { 0, 0 };
    struct pollfd one = { file, events, 0 };
    struct timespec left = none;            /* the system may write there */
    return syscall(SYS_ppoll, &one, (nfds_t)1, &left, NULL, KERNEL_MASK_BYTES) == 1 &&
           (one.revents & events) != 0;
}

/* A server that is busy has something ready at every wait as well, and takes it. So only what is
 * still there at the next waits keeps the loop awake. */
static void suspect(seat *s, int file, uint32_t events, uint32_t asked, const char *prefix)
{
    char *text = s->awake;
    text[0] = '\0';
    add_file(text, sizeof s->awake, file);
    add_text(text, sizeof s->awake, ": ");
    add_events(text, sizeof s->awake, events, prefix);
    if ((asked & ~ALWAYS_TOLD & 0xffff) == 0) {
        add_text(text, sizeof s->awake, ", with no events asked for");
    }
    if (s->no_files && file == s->refused) {
        add_text(text, sizeof s->awake, "; accept fails: EMFILE");
    }
    s->suspect = file;
    s->suspect_events = (short)(events & 0x7fff);
    s->suspect_bytes = bytes_at(file);
    s->suspect_waits = SPIN_SURE;
    s->plain_back = 0;
}

/* Before a wait: is it still there? */
static __attribute__((__noinline__)) void confirm_spin(seat *s)
{
    int error = errno;
    if (filtered || sealed) {
        s->suspect_waits = 0;
    } else if (!is_ready(s->suspect, s->suspect_events) || bytes_at(s->suspect) != s->suspect_bytes) {
        s->suspect_waits = 0;
        chroprof_kept_awake(&s->profile, "");
    } else if (--s->suspect_waits == 0) {
        chroprof_kept_awake(&s->profile, s->awake);
    }
    errno = error;
}

/* No file was ready. error: of a wait that failed. */
static void tell_nothing_ready(seat *s, int result, int error)
{
    char text[96] = "a timeout of 0";
    if (result < 0 && error == EINTR) {
        memcpy(text, "signals", sizeof "signals");
    } else if (result < 0) {
        memcpy(text, "an error of the wait, ", sizeof "an error of the wait, ");
        add_number(text, sizeof text, error);
    }
    chroprof_kept_awake(&s->profile, text);
}

static void tell_epoll(seat *s, int epoll, const struct epoll_event *events, int count, int error)
{
    uint32_t asked = UINT32_MAX;
    struct epoll_event first;
    int file;
    if (count <= 0) {
        tell_nothing_ready(s, count, error);
        return;
    }
    memcpy(&first, events, sizeof first);
    file = watched_file(s, epoll, first.data.u64, &asked);
    if (file < 0 && s->no_files && is_ready(s->refused, POLLIN)) {
        file = s->refused;                  /* without files nobody can ask the epoll */
    }
    if (file >= 0) {
        suspect(s, file, first.events, asked, "EPOLL");
    }
}

static void tell_poll(seat *s, const struct pollfd *files, nfds_t count, int result, int error)
{
    if (result <= 0) {
        tell_nothing_ready(s, result, error);
        return;
    }
    for (nfds_t i = 0; i < count; i++) {
        if (files[i].revents != 0) {
            suspect(s, files[i].fd, (uint16_t)files[i].revents, (uint16_t)files[i].events, "POLL");
            return;
        }
    }
}

static bool is_in(int file, const fd_set *files)
{
    return files != NULL && FD_ISSET(file, files);
}

static void tell_select(seat *s, int count, const fd_set *read, const fd_set *write, int result,
                        int error)
{
    if (result <= 0) {
        tell_nothing_ready(s, result, error);
        return;
    }
    for (int file = 0; file < count && file < FD_SETSIZE; file++) {
        if (is_in(file, read) || is_in(file, write)) {
            uint32_t events = is_in(file, read) ? POLLIN : POLLOUT;
            suspect(s, file, events, events, "POLL");
            return;
        }
    }
}

/* Is it time for a look? Only where the thread ran in these waits, and may ask. As long as fewer
 * returned at once than that takes, so many more waits are not counted. */
static __attribute__((__noinline__)) bool looks_at_spin(seat *s)
{
    const uint64_t before_ns = s->spin_ns, cpu_before_ns = s->spin_cpu_ns;
    chroprof_totals t;
    chroprof_read_totals(&s->profile, &t);
    if (t.at_once < s->spin_next) {
        const uint64_t left = s->spin_next - t.at_once;
        s->spin_left = left > SPIN_LEAST ? left : SPIN_LEAST;
        return false;
    }
    if (!note_cpu(s)) {
        s->spin_left = UINT64_MAX;
        return false;
    }
    s->spin_doubles += s->spin_doubles < SPIN_DOUBLES;
    s->spin_left = (uint64_t)SPIN_LOOKS << s->spin_doubles;
    s->spin_next = t.at_once + s->spin_left;
    s->spin_ns = t.at_once_ns;
    s->spin_cpu_ns = s->cpu_ns;
    return cpu_before_ns != 0 && s->cpu_ns - cpu_before_ns > (t.at_once_ns - before_ns) / 2;
}

static inline __attribute__((__always_inline__)) bool is_spinning(seat *s)
{
    return s != NULL && s->spin_left-- == 0 && s == own && looks_at_spin(s);
}

#endif
