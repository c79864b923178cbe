"""asyncio: a server whose tasks are futures, named by their coroutine functions.

needs: Python 3.8, and make libchroprof. The binding is examples/adapters/chroprof_asyncio.py.
Lost: plain callbacks (call_soon, call_later, protocols) are uninstrumented time. asyncio wakes a
task by such a callback, so some of that time is before each slice.
"""
import asyncio
import os
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "adapters"))
import chroprof_asyncio  # chroprof

profile = chroprof_asyncio.Profile(  # chroprof
    os.environ.get("CHROPROF_LIBRARY", os.path.join(HERE, "../build/libchroprof.so")))  # chroprof
hit = profile.site("cache hit", __file__, 0)  # chroprof
cache = {}


def digest(rounds):
    value = 0
    for number in range(rounds):
        value = (value * 31 + number) % 65521
    return value


def lookup(key):
    """A future, which has its result already if the key was asked for before."""
    if key not in cache:
        cache[key] = asyncio.ensure_future(query(key))
    elif cache[key].done():
        profile.stillborn(hit, chroprof_asyncio.COMPLETED)  # chroprof
    return cache[key]


async def query(key):
    await asyncio.sleep(0.005)
    if key == "bad":
        raise KeyError(key)
    return digest(100)


async def client(number):
    for turn in range(20):
        await asyncio.sleep(0.02)
        await lookup(turn % 5)


async def thumbnail():
    for _ in range(20):
        await asyncio.sleep(0.02)
        digest(60000)


async def hanging():
    await asyncio.sleep(3600)


async def main():
    failing = lookup("bad")
    try:
        await asyncio.wait_for(hanging(), 0.05)
    except asyncio.TimeoutError:
        pass
    await asyncio.gather(thumbnail(), *map(client, range(5)))
    await asyncio.gather(failing, return_exceptions=True)


class Watch(chroprof_asyncio.Waits):
    """The time spent waiting, by another clock, for the test."""
    idle = 0

    def select(self, timeout=None):
        began = time.monotonic_ns()
        try:
            return super().select(timeout)
        finally:
            Watch.idle += time.monotonic_ns() - began


def run():
    if len(sys.argv) not in (1, 3) or (len(sys.argv) == 3 and sys.argv[1] != "--json"):
        print(f"usage: {sys.argv[0]} [--json FILE]", file=sys.stderr)
        return 2
    chroprof_asyncio.Waits = Watch
    chroprof_asyncio.run(main(), profile)  # chroprof
    print(profile.text())  # chroprof
    print(f"independent idle: {Watch.idle}", file=sys.stderr)
    try:
        if len(sys.argv) == 3:
            with open(sys.argv[2], "w", encoding="utf-8") as out:
                out.write(profile.text(chroprof_asyncio.JSON))
    except OSError as error:
        print(f"{sys.argv[2]}: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(run())
