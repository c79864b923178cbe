"""A task runs another loop inside, three times: one in which a task sleeps is a loop, so nobody is
blocked; one that waits for a thread's answer alone is the outer task waiting. For tests/bindings.sh;
the argument is the adapter's folder."""
import asyncio
import os
import sys

sys.path.insert(0, sys.argv[1])
import chroprof_asyncio

profile = chroprof_asyncio.Profile(os.environ["CHROPROF_LIBRARY"])
inner = chroprof_asyncio.Loop(profile)


def run_inside(what):
    """As nest_asyncio does."""
    outer = asyncio.events._get_running_loop()
    asyncio.events._set_running_loop(None)
    try:
        inner.run_until_complete(what)
    finally:
        asyncio.events._set_running_loop(outer)


async def sleeper():
    await asyncio.sleep(0.2)


async def opens_loop():
    run_inside(sleeper())


async def waits_alone():
    answer = inner.create_future()
    inner.call_later(0.2, answer.set_result, None)
    run_inside(answer)


async def main():
    for _ in range(3):
        await asyncio.gather(opens_loop())
        await asyncio.gather(waits_alone())

chroprof_asyncio.run(main(), profile)
inner.close()
rows = {row.name.decode(): row for row in profile.rows()}
text = profile.text()
assert rows["waits_alone"].exec_ns >= 550_000_000, rows["waits_alone"].exec_ns
assert rows["sleeper"].completed == 3, text
said = " ".join(text.split())
assert "waits in select" in said and "opens_loop waits" not in said, text
assert "unexpected" not in text, text
