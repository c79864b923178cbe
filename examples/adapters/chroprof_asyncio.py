"""chroprof_asyncio.py - profiles of Python's asyncio, through ctypes. Needs Python 3.8, and the
header as a shared library (make libchroprof). Copy it, and run your program in its loop:

    profile = chroprof_asyncio.Profile("libchroprof.so", file="server.chroprof")
    chroprof_asyncio.run(main(), profile)
    print(profile.text())

`chroprof top server.chroprof` shows the file meanwhile. Each task is a future, named by the
function of its coroutine: its steps are slices, it is ready from the moment at which what it waits
for is there (of a timer: at which it was due), and its parent is the task that created it. What
the collector does in the thread of the loop is a task of its own, "(garbage collection)". Plain
callbacks (call_soon, call_later, protocols) are uninstrumented time. A task may run a loop inside
(another one, or its own by nest_asyncio): that waits as a loop does as soon as it has run a task,
and until then its waits are waits of the task. It shows what a binding does;
see BINDINGS in chroprof.h.

Licence: as chroprof.h."""
import asyncio
import collections
import collections.abc
import ctypes
import gc
import itertools
import os
import selectors
import threading

VERSION = "0.3.0"              # of the chroprof.h whose structs and numbers are written down here
PENDING, READY, RUNNING, PAUSED, COMPLETED, FAILED, CANCELLED = range(7)
TEXT, JSON = 0, 1
U32, U64, TEXT_POINTER = ctypes.c_uint32, ctypes.c_uint64, ctypes.c_char_p


class Options(ctypes.Structure):
    """chroprof_options"""
    _fields_ = [(name, U32) for name in (
        "max_futures", "max_sites", "max_paths", "max_edges", "max_depth", "max_histograms",
        "max_samples", "max_windows", "max_stalls", "string_bytes", "max_stack_frames",
        "max_events", "max_slow", "max_incidents")] + [(name, U64) for name in (
            "window_ns", "stall_ns", "max_step_ns")] + [(name, ctypes.c_void_p) for name in (
                "clock", "clock_user", "on_stall", "on_stall_user")] + [("name", TEXT_POINTER)]


class Rank(ctypes.Structure):
    """chroprof_rank"""
    _fields_ = [("name", TEXT_POINTER), ("file", TEXT_POINTER), ("line", U32)] + [
        (name, U64) for name in (
            "exec_ns", "children_ns", "with_children_ns", "exec_max_ns", "slice_max_ns",
            "slice_p50_ns", "slice_p90_ns", "slice_p99_ns", "slice_p999_ns", "slices", "lifetime_ns",
            "waiting_ns", "delay_ns", "delay_p99_ns", "blame_ns", "found", "hidden_total_ns", "calls",
            "completed", "failed", "cancelled", "abandoned", "live", "stillborn", "dropped",
            "latency_p50_ns", "latency_p99_ns", "latency_max_ns", "measured", "slice_typical_ns",
            "slice_min_ns", "slice_p1_ns", "cpu_ns", "samples")] + [
                ("id", U32), ("has_percentiles", ctypes.c_bool)]


STRUCTS = {"chroprof_options": Options, "chroprof_rank": Rank}
WRITER = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)
# name: result, arguments behind the profile
CALLS = {
    "init": (ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t, ctypes.POINTER(Options)),
    "map": (ctypes.c_int, TEXT_POINTER, ctypes.c_size_t, ctypes.POINTER(Options)),
    "unmap": (None,),
    "site_make": (ctypes.c_void_p, TEXT_POINTER, TEXT_POINTER, U32),
    "event": (None, ctypes.c_int, U64, ctypes.c_void_p, U64),
    "now": (U64,),
    "to_ns": (U64, U64),
    "ready_since": (None, U64, U64),
    "pending": (None, U64, ctypes.c_void_p),
    "stillborn": (None, ctypes.c_void_p, ctypes.c_int),
    "enter": (None, ctypes.c_void_p),
    "ranks": (ctypes.c_size_t, ctypes.POINTER(Rank), ctypes.c_size_t, ctypes.c_int),
    "write": (ctypes.c_int, ctypes.c_int, WRITER, ctypes.c_void_p),
    **dict.fromkeys(("ready", "running", "paused"), (None, U64)),
    **dict.fromkeys(("completed", "failed", "cancelled"), (None, U64)),
    "waited": (None, TEXT_POINTER, TEXT_POINTER, U64),
    **dict.fromkeys(("leave", "idle_enter", "idle_leave", "loop_enter", "loop_leave"), (None,))}


class Mismatch(Exception):
    """The library has another layout than this file."""


def load(path):
    """The library; Mismatch if it is not the one that this file was written for."""
    # PyDLL keeps the interpreter's lock in a call: to get it back takes longer than an event
    library = ctypes.PyDLL(os.path.abspath(path))
    try:
        library.chroprof_version.restype = TEXT_POINTER
        library.chroprof_sizeof.restype = ctypes.c_size_t
        version = library.chroprof_version().decode()
    except AttributeError:
        raise Mismatch(f"{path} is no chroprof, or one before 0.3.0") from None
    if version != VERSION:
        raise Mismatch(f"{path} is chroprof {version}, this is a binding of {VERSION}")
    for name, struct in STRUCTS.items():
        size = library.chroprof_sizeof(name.encode())
        if size != ctypes.sizeof(struct):
            raise Mismatch(f"{path}: {name} has {size} bytes, this binding knows "
                           f"{ctypes.sizeof(struct)}")
    for name, (result, *arguments) in CALLS.items():
        call = getattr(library, "chroprof_" + name)
        call.restype, call.argtypes = result, [ctypes.c_void_p, *arguments]
    library.chroprof_result_text.restype = TEXT_POINTER
    return library


class Profile:
    """A profile in memory or, so that others can read it, in a file. All of its events come from
    the thread that made it."""

    def __init__(self, library, file=None, size=1 << 20, name="python", **options):
        self.library = load(library)
        self.handle = ctypes.create_string_buffer(self.library.chroprof_sizeof(b"chroprof"))
        for call in CALLS:
            setattr(self, call, self._bound(call))
        chosen = Options(name=name.encode(), **options)
        self.memory = None if file else ctypes.create_string_buffer(size)
        result = (self.map(os.fsencode(file), size, chosen) if file
                  else self.init(self.memory, size, chosen))
        if result != 0:
            raise OSError(self.library.chroprof_result_text(result).decode())
        self.thread = threading.get_ident()
        self.waits = False
        self.inside = []               # of each step that runs: which loop it has inside
        self.sites = {}
        self.collected = collections.deque()   # ids of tasks that nobody will finish
        self.collection = self.site("(garbage collection)", "", 0)
        gc.callbacks.append(self._on_collection)

    def _bound(self, name):
        call, handle = getattr(self.library, "chroprof_" + name), ctypes.addressof(self.handle)
        return lambda *arguments: call(handle, *arguments)

    def site(self, name, file, line):
        """The handle of a site, which is kept: to ask for it again costs a look into a dict."""
        key = name, file, line
        if key not in self.sites:
            self.sites[key] = self.site_make(name.encode("utf-8", "replace"),
                                             file.encode("utf-8", "replace"), line)
        return self.sites[key]

    def _on_collection(self, phase, _facts):
        if threading.get_ident() == self.thread and not self.waits:
            if phase == "start":
                self.enter(self.collection)
            else:
                self.leave()

    def moment(self, ago):
        """So many seconds ago, as the profile's clock counts."""
        ticks = 1 << 30
        return self.now() - int(ago * 1e9 * ticks / self.to_ns(ticks))

    def wait(self, timeout):
        """A loop waits now; what is to be called when it has."""
        if self.inside and self.inside[-1] is not LOOP:
            self.inside[-1], since = ALONE, self.now()
            return lambda: timeout != 0 and self.waited(b"select", None, since)
        nested = bool(self.inside)
        if nested:
            self.loop_enter()
        self.idle_enter()
        return self._end_nested if nested else self.idle_leave

    def _end_nested(self):
        self.idle_leave()
        self.loop_leave()

    def close(self):
        """Lets a file go; what it held until now stays in it."""
        gc.callbacks.remove(self._on_collection)
        self.unmap()

    def text(self, form=TEXT):
        """The report, or what another format is."""
        parts = []

        def take(_user, at, count):
            parts.append(ctypes.string_at(at, count))
            return 0

        self.write(form, WRITER(take), None)
        return b"".join(parts).decode()

    def rows(self):
        """The sites, by exec time."""
        rows = (Rank * self.ranks(None, 0, 0))()
        self.ranks(rows, len(rows), 0)
        return list(rows)


NONE, ALONE, LOOP = range(3)   # a loop inside a step: there is none; no task has run in it; one has


class Steps(collections.abc.Coroutine):
    """A coroutine whose steps are the slices of a future."""
    ids = itertools.count(1)       # not addresses, which are used again before the loop hears

    def __init__(self, loop, coroutine):
        self.loop, self.coroutine, self.id, self.over = loop, coroutine, next(self.ids), False
        code = getattr(coroutine, "cr_code", None)
        self.place = (getattr(coroutine, "__qualname__", type(coroutine).__name__),
                      code.co_filename if code else "", code.co_firstlineno if code else 0)
        self.__name__, self.__qualname__ = self.place[0].rpartition(".")[2], self.place[0]
        self.known = loop.profile      # the profile that has heard of it
        if self.known:
            self.known.pending(self.id, self.known.site(*self.place))

    def step(self, go, *values):
        """One step: up to the next time that it waits, or to its end."""
        profile = self.loop.profile
        if profile is None:
            return go(*values)
        nested = bool(profile.inside) and profile.inside[-1] is not NONE
        if nested:                     # what it does is not the outer task's
            profile.inside[-1] = LOOP
            profile.loop_enter()
        profile.inside.append(NONE)
        if self.known is profile:
            profile.running(self.id)
        else:                          # it is older than the profile
            profile.event(RUNNING, self.id, profile.site(*self.place), profile.now())
            self.known = profile
        end = profile.failed
        try:
            waits_for = go(*values)
            end = profile.paused
            return waits_for
        except StopIteration:
            end = profile.completed
            raise
        except asyncio.CancelledError:
            end = profile.cancelled
            raise
        finally:
            self.over = end is not profile.paused
            profile.inside.pop()
            end(self.id)
            if nested:
                profile.loop_leave()

    def send(self, value):
        return self.step(self.coroutine.send, value)

    def throw(self, *what):
        return self.step(self.coroutine.throw, *what)

    def close(self):
        self.coroutine.close()

    def __await__(self):
        return self.coroutine.__await__()

    def __del__(self):
        if self.known and not self.over:       # maybe in another thread, so the loop is to tell
            self.known.collected.append(self.id)


class Waits(selectors.DefaultSelector):
    """Where the loop waits."""
    loop = None

    def select(self, timeout=None):
        profile = self.loop.profile
        if profile is None:
            return super().select(timeout)
        while profile.collected:
            profile.cancelled(profile.collected.popleft())
        profile.waits = True
        self.loop.began = self.loop.time()
        end = profile.wait(timeout)
        try:
            return super().select(timeout)
        finally:
            end()
            profile.waits = False


class Timer(asyncio.TimerHandle):
    """What it wakes could run since it was due, if the loop did not wait then: a wait ends late."""
    __slots__ = ()

    def _run(self):
        self._loop.due = self.when() if self.when() < self._loop.began else None
        try:
            super()._run()
        finally:
            self._loop.due = None


class Loop(asyncio.SelectorEventLoop):
    """A loop that tells a profile; None: not now. It may be given one at any time."""

    def __init__(self, profile=None):
        waits = Waits()
        waits.loop, self.profile = self, profile
        self.due, self.began = None, 0     # of the timer that runs; the last wait
        super().__init__(waits)
        self.set_task_factory(lambda loop, coroutine, **more: asyncio.Task(
            Steps(loop, coroutine), loop=loop, **more))

    def call_soon(self, callback, *args, **more):
        """What a task waited for is there, or it has just been created."""
        task = getattr(callback, "__self__", None)
        steps = task.get_coro() if isinstance(task, asyncio.Task) else None
        if isinstance(steps, Steps) and steps.known and steps.known is self.profile:
            if self.due is None:
                self.profile.ready(steps.id)
            else:
                late = max(self.time() - self.due, 0)
                self.profile.ready_since(steps.id, self.profile.moment(late))
        return super().call_soon(callback, *args, **more)

    def call_at(self, when, callback, *args, **more):
        """Also what call_later and asyncio.sleep come to."""
        timer = super().call_at(when, callback, *args, **more)
        timer.__class__ = Timer
        return timer


def run(main, profile):
    """As asyncio.run()."""
    loop = Loop(profile)
    asyncio.set_event_loop(loop)
    try:
        return loop.run_until_complete(main)
    finally:
        rest = asyncio.all_tasks(loop)
        for task in rest:
            task.cancel()
        if rest:
            loop.run_until_complete(asyncio.gather(*rest, return_exceptions=True))
        loop.run_until_complete(loop.shutdown_asyncgens())
        asyncio.set_event_loop(None)
        loop.close()
