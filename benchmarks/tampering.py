"""Visitors who tamper with what their browser sends, and one honest visitor beside them who has to be answered.

    python benchmarks/tampering.py [--address http://127.0.0.1:8501] [--states 300] [--links 300] [--changes 10000]
        [--connections 200]

Needs a running app. Sends, one kind after the other: states of components that are of another type or endless;
links with nonsense in every setting, paths in place of a model's name among them; many changes of one widget without
waiting for an answer; connections that are opened and say nothing; messages that are none. After each kind an honest visitor
types a sentence. Ends with 1 where a page showed an error, or where the honest visitor got no answer. Not sent is a state that
is no JSON at all: Streamlit itself raises then, in each further run of that one session.
"""

import asyncio
import random
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from urllib.parse import urlencode

import click

sys.path.insert(0, str(Path(__file__).parents[1]))

from hostile_texts import CONTROLS, FORMULAS, MARKUP
from visitor import FIRST, GONE, Visitor, wait_for_the_network

from ui.shell.declared import defaults

PATIENCE = 300  # seconds for one run of the page
LARGEST = 60_000  # bytes of a link: a server reads no longer ones
PATHS = ("../../etc/passwd", "/etc/passwd", "..\\..\\x", "runs/../../x", "file:///etc/passwd", "~root", "\0")
NUMBERS = ("-1", "1e308", "nan", "9" * 400, "0x10", "1.5", "²", "١", "", " ", "1,2,3", "1;2")
JSON = ("null", "true", "1", "1e999", "-0.5", '""', "[]", "{}", "[[[[]]]]", '{"text": 1}', '{"text": null}', '{"text": []}',
        '{"text": {"text": "x"}}', '{"click": "x"}', '{"click": {"x": "y", "y": null}}', '{"click": {"x": 1e999, "y": -5}}',
        '{"click": {"custom": {"layer": -1}}}', '{"asked": {"what": "choose", "number": true}}',
        '{"asked": {"what": [], "number": 10000000000000000000000}}', '{"asked": 5}', "NaN", "[" * 500 + "]" * 500, '"\\ud800"')  # fmt: skip


@asynccontextmanager
async def visitor_of(address: str, query: str = "") -> AsyncIterator[Visitor]:
    """A visitor whose page has been drawn."""
    visitor = Visitor(address, query)
    try:
        await visitor.open(PATIENCE)
        while not (await visitor.next_run(PATIENCE)).finished:
            pass
        yield visitor
    finally:
        await visitor.close()


async def finished_run(visitor: Visitor) -> int:
    """Errors on the page after the next run that came to its end."""
    while not (seen := await visitor.next_run(PATIENCE)).finished:
        pass
    return seen.errors


async def states(address: str, count: int, rng: random.Random) -> int:
    """Errors on the page. The visitor comes back where the server has closed the connection."""
    errors, done = 0, 0
    while done < count:
        with suppress(*GONE):
            async with visitor_of(address) as visitor:
                while done < count:
                    done += 1
                    values = {id_: rng.choice(JSON) for id_ in visitor.components.values()}
                    await visitor.send_states(values | {"no such widget": "[[{}]]"})
                    errors += await finished_run(visitor)
    return errors


async def links(address: str, count: int, rng: random.Random) -> int:
    """Errors on the page of links in which every setting may be nonsense."""
    errors, nonsense = 0, (*PATHS, *NUMBERS, *MARKUP, *FORMULAS, CONTROLS)
    for _ in range(count):
        query = urlencode({name: rng.choice(nonsense) for name in defaults() if rng.random() < 0.5})
        visitor = Visitor(address, query[:LARGEST])
        await visitor.open(PATIENCE)
        errors += await finished_run(visitor)
        await visitor.close()
    return errors


async def changes(address: str, count: int, rng: random.Random) -> int:
    """One widget changes again and again, and nobody waits for the answers."""
    async with visitor_of(address) as visitor:

        async def listen() -> None:
            while (await visitor.next_run(PATIENCE)).finished >= 0:
                pass

        listening = asyncio.create_task(listen())
        for number in range(count):
            await visitor.type(f"고갱이 왔다 {rng.randrange(10**9)} {number}")
        await visitor.type(FIRST)
        listening.cancel()
        with suppress(asyncio.CancelledError):
            await listening
        return await finished_run(visitor)


async def connections(address: str, count: int, rng: random.Random) -> int:
    """Many connections at once, of which some send bytes that are no message. An error is what a page shows: none does."""
    visitors = [Visitor(address) for _ in range(count)]
    for visitor in visitors:
        with suppress(*GONE):
            await visitor.open(PATIENCE)
            if rng.random() < 0.3:
                await visitor.send_bytes(rng.randbytes(rng.randint(1, 10_000)))
    await asyncio.gather(*(visitor.close() for visitor in visitors), return_exceptions=True)
    return 0


async def honest(address: str) -> float:
    """Seconds until a sentence that an honest visitor types is answered."""
    async with visitor_of(address) as visitor:
        number, begun = str(random.randrange(10**9)), time.monotonic()
        await visitor.type(f"고갱님이 왔다 {number}")
        while True:
            seen = await visitor.next_run(PATIENCE)
            if seen.finished and number in seen.shown:
                return time.monotonic() - begun


async def tamper(address: str, plan: dict[Callable[..., Awaitable[int]], int], seed: int) -> bool:
    """Do each of the ``plan`` so many times; whether something went wrong."""
    await wait_for_the_network(address, PATIENCE)
    before, wrong = await honest(address), False
    click.echo(f"an honest visitor alone: answered after {before:.2f} s")
    for kind, count in plan.items():
        begun = time.monotonic()
        errors = await kind(address, count, random.Random(seed))
        taken = time.monotonic() - begun
        try:
            after = f"{await honest(address):.2f} s"
        except GONE:
            after, wrong = "never", True
        click.echo(
            f"{count:,} {kind.__name__}: {errors} errors on pages, {taken:.0f} s; an honest visitor after it: {after}"
        )
        wrong |= bool(errors)
    return wrong


@click.command()
@click.option("--address", default="http://127.0.0.1:8501", show_default=True)
@click.option("--states", "of_states", default=300, show_default=True)
@click.option("--links", "of_links", default=300, show_default=True)
@click.option("--changes", "of_changes", default=10_000, show_default=True)
@click.option("--connections", "of_connections", default=200, show_default=True)
@click.option("--seed", default=0, show_default=True)
def main(address, of_states, of_links, of_changes, of_connections, seed):
    """Print what went wrong."""
    plan = {states: of_states, links: of_links, changes: of_changes, connections: of_connections}
    sys.exit(asyncio.run(tamper(address, plan, seed)))


if __name__ == "__main__":
    main()
