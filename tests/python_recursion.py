"""Is the woven stack what Python itself says? This program wanders at random through calls of every
kind; at some of them it asks an observer (tests/python_stacks.c) for its stack from outside, while it
waits for the answer, and compares that with its own frames.
    python3.11 python_recursion.py OBSERVER SAMPLES [SEED]
An OBSERVER that ends in .so (tests/python_inside.c) is loaded, and walks in a signal handler."""
import asyncio
import contextlib
import ctypes
import functools
import mmap
import os
import random
import re
import subprocess
import sys
import tempfile
import threading

observer, samples = sys.argv[1], int(sys.argv[2])
seed = int(sys.argv[3]) if len(sys.argv) > 3 else random.randrange(1 << 30)
chance = random.Random(seed)
to_observer = from_observer = None
done = wrong = 0


def own_stack(frame):
    rows = []
    while frame is not None:
        code = frame.f_code
        rows.append("%s (%s:%d)" % (code.co_qualname, os.path.basename(code.co_filename),
                                    frame.f_lineno))
        frame = frame.f_back
    return rows


def compare():
    """This very line reads the answer, so this is where the observer finds it."""
    global done, wrong
    expected = own_stack(sys._getframe())
    asked = b"%d\n" % threading.get_native_id()
    if inside:
        number = inside.take(addresses, len(addresses))                         # inside
        got = names_of(number)
    else:
        reply = os.write(to_observer, asked) and os.read(from_observer, 1 << 16)    # outside
        got = reply.decode().rstrip("\n").rstrip(";").split(";")
    expected[0] = expected[0].rsplit(":", 1)[0] + ":%d)" % place
    done += 1
    if got != expected:
        wrong += 1
        if wrong <= 3:
            print("differs, seed", seed, "\n  observer:", got[:200], "\n  python:  ", expected[:200])


inside = ctypes.PyDLL(observer) if observer.endswith(".so") else None
mark = "# inside" if inside else "# outside"
place = next(number for number, line in enumerate(open(__file__), 1) if line.rstrip().endswith(mark))
addresses = (ctypes.c_uint64 * 400)()
table = None


def names_of(number):
    found = [inside.name_of(table, address) for address in addresses[:number]]
    return [name.decode() for name in found if name]


def begin_inside():
    """The observer in this process; from then on signals come at every millisecond as well."""
    global table
    inside.name_of.restype = ctypes.c_char_p
    inside.name_of.argtypes = [ctypes.c_void_p, ctypes.c_uint64]
    with tempfile.TemporaryDirectory() as folder:
        if not inside.begin(os.fsencode(folder)):
            return False
        with open(os.path.join(folder, "%d.names" % os.getpid()), "rb") as file:
            table = mmap_of(file)
    return True


def mmap_of(file):
    memory = mmap.mmap(file.fileno(), 0, mmap.MAP_SHARED, mmap.PROT_READ)
    libc = ctypes.CDLL(None)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int,
                          ctypes.c_long]
    return libc.mmap(None, len(memory), mmap.PROT_READ, mmap.MAP_SHARED, file.fileno(), 0)


def plain(depth):
    go(depth - 1)


def generator(depth):
    yield 1
    go(depth - 1)
    yield 2


def generators(depth):
    for _ in generator(depth):
        pass


def delegating(depth):
    def inner():
        yield from generator(depth)
    return list(inner())


def raising(depth):
    try:
        go(depth - 1)
        raise KeyError(depth)
    except KeyError:
        go(depth - 2)
    finally:
        go(depth - 3)


@contextlib.contextmanager
def context(depth):
    go(depth - 1)
    yield


def with_context(depth):
    with context(depth):
        go(depth - 2)


def by_c(depth):
    which = chance.randrange(6)
    if which == 0:
        sorted([2, 1], key=lambda x: go(depth - 1) or x)
    elif which == 1:
        list(map(lambda x: go(depth - 1), [1]))
    elif which == 2:
        re.sub("a", lambda m: go(depth - 1) or "b", "a")
    elif which == 3:
        functools.reduce(lambda a, b: go(depth - 1), [1, 2])
    elif which == 4:
        exec("go(depth - 1)", {"go": go, "depth": depth})
    else:
        [go(depth - 1) for _ in range(1)]


class Odd:
    def __init__(self, depth):
        self.depth = depth

    def __getattr__(self, name):
        go(self.depth - 1)
        return 0

    @property
    def value(self):
        go(self.depth - 1)
        return 1

    def __del__(self):
        go(self.depth - 4)

    def __eq__(self, other):
        go(self.depth - 2)
        return True


def odd(depth):
    one = Odd(depth)
    return one.value + one.missing + [one].count(Odd(depth - 2))


def defining(depth):
    class Inside:
        go(depth - 1)
    return Inside


async def coroutine(depth):
    await asyncio.sleep(0)
    await other_coroutine(depth)


async def other_coroutine(depth):
    async for _ in agenerator(depth):
        go(depth - 1)


async def agenerator(depth):
    yield 1
    go(depth - 1)


def looping(depth):
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        asyncio.run(coroutine(depth))


kinds = [plain, plain, generators, delegating, raising, with_context, by_c, odd, defining, looping]


compares = True


def wander():
    global compares
    compares = False
    go(10)


def go(depth):
    if done >= samples and compares:
        return
    if compares and (chance.random() < 0.15 or depth <= 0):
        compare()
    if depth > 0 and chance.random() < 0.9:
        chance.choice(kinds)(depth)


def idle_thread(end):
    x = 0
    while not end.is_set():
        x = sum(i for i in range(50)) + x % 7
        end.wait(0.001)


def begin_outside():
    """The observer as a process. None, or why there is none."""
    global to_observer, from_observer
    process = subprocess.Popen([observer, str(os.getpid())], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, bufsize=0)
    to_observer, from_observer = process.stdin.fileno(), process.stdout.fileno()
    first = os.read(from_observer, 1 << 16).decode()
    return None if first.startswith("ready") else first.strip()


def main():
    why = begin_outside() if not inside else None if begin_inside() else "no Python that is known"
    if why:
        print(why)
        return 77
    end = threading.Event()
    others = [threading.Thread(target=idle_thread, args=(end,)) for _ in range(3)]
    for thread in others:
        thread.start()
    while done < samples:
        go(chance.randrange(2, 14))
    end.set()
    for thread in others:
        thread.join()
    if inside:                  # at any instant, that of the interpreter's end as well
        inside.storm()
        while inside.storms_so_far() < samples:
            wander()
    print(done, "stacks,", wrong, "differ")
    return 1 if wrong else 0


sys.exit(main())
