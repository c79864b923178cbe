"""Three tasks sleep until the loop, which another one blocks from then on, is late to wake them: they
were ready when they were due. For tests/bindings.sh; the argument is the adapter's folder."""
import asyncio
import os
import sys
import time

sys.path.insert(0, sys.argv[1])
import chroprof_asyncio


async def sleeper():
    await asyncio.sleep(0.1)


async def blocker():               # begins in the same iteration as they do, after them
    time.sleep(0.35)


async def main():
    await asyncio.gather(sleeper(), sleeper(), sleeper(), blocker())

profile = chroprof_asyncio.Profile(os.environ["CHROPROF_LIBRARY"])
chroprof_asyncio.run(main(), profile)
rows = {row.name.decode(): row for row in profile.rows()}
late, blame = rows["sleeper"].delay_ns, rows["blocker"].blame_ns
assert late >= 700_000_000, f"three times 250 ms or more, not {late} ns in all"
assert blame >= 700_000_000, f"the blame of it is {blame} ns"
