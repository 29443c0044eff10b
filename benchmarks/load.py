"""Load benchmark: visitors who each type a new sentence every three seconds.

    streamlit run app.py
    python benchmarks/load.py --visitors 30 --seconds 60 [--address http://127.0.0.1:8501]

Every sentence holds another number, which no correction touches: a sentence is corrected when a corrected
text with this number arrives, and its pictures are there when a run of the page that has drawn it has come to
its end. The times are from typing to that. A sentence is overtaken when the visitor typed the next one first
and that one was answered. It is lost when neither happened within ``PATIENCE`` seconds. Where the page says
that it is too busy to answer, the visitor reads it and types on. A visitor who loses the connection comes
back with the same session.

Locust is built for requests over HTTP. A page of Streamlit answers over one connection with its own
messages, which ``visitor.py`` speaks; of Locust only its table of times would be used.
"""

import asyncio
import json
import os
import random
import statistics
import sys
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import click

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.visitor import GONE, Visitor
from training.corpus.corpus import read_pairs

SENTENCES = Path(__file__).with_name("everyday.csv")
TEXTS = Path(__file__).parents[1] / "assets" / "texts" / "ko" / "app.json"
BUSY = json.loads(TEXTS.read_text("utf-8"))["engine_busy"]
EVERY, PATIENCE = 3.0, 60.0  # seconds


@dataclass
class Figures:
    """Of all visitors together."""

    opened: list[float] = field(default_factory=list)  # seconds until the first page was drawn
    corrected: list[float] = field(default_factory=list)  # seconds until the corrected text
    pictured: list[float] = field(default_factory=list)  # seconds until the pictures, too
    sizes: list[int] = field(default_factory=list)  # bytes of a run that came to its end
    typed: int = 0
    overtaken: int = 0  # before they were corrected
    told: int = 0  # sentences that the page was too busy to answer
    lost: int = 0
    errors: int = 0  # red boxes and exceptions on a page
    back: int = 0  # connections that broke and were opened again
    gone: int = 0  # visitors who never came in, or did not come back


@dataclass
class Stay:
    """One visitor and the sentences that wait for their answer: the last one is the one typed last."""

    visitor: Visitor
    figures: Figures
    waiting: dict[str, float] = field(default_factory=dict)  # time of typing by the number in the sentence
    corrected: set[str] = field(default_factory=set)  # those of them whose text is there
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    async def come(self) -> bool:
        """Open the page; False where that fails ten times."""
        for _ in range(10):
            try:
                await self.visitor.open(PATIENCE)
                return True
            except GONE:
                await asyncio.sleep(0.5)
        self.figures.gone += 1
        return False

    async def first_page(self) -> bool:
        started = time.monotonic()
        while await self.come():
            try:
                while not self.visitor.area:
                    await self.visitor.next_run(PATIENCE)
            except GONE:
                continue
            self.figures.opened.append(time.monotonic() - started)
            return True
        return False

    async def type(self, text: str, number: str) -> None:
        self.waiting[number] = time.monotonic()
        self.figures.typed += 1
        try:
            await self.visitor.type(text)
        except GONE:  # ``listen`` opens the page again, which brings the text along
            return

    async def listen(self) -> None:
        """Receive the page's messages, until cancelled."""
        while True:
            try:
                seen = await self.visitor.next_run()
            except GONE:
                self.figures.back += 1
                if not await self.come():
                    return
                continue
            self.figures.errors += seen.errors
            for at, text in seen.corrected:
                for number in [each for each in self.waiting if each in text and each not in self.corrected]:
                    self.figures.corrected.append(at - self.waiting[number])
                    self.corrected.add(number)
            shown = [number for number in self.waiting if number in seen.shown] if seen.finished else []
            if shown:
                self.figures.pictured.append(time.monotonic() - self.waiting[shown[-1]])
                self.figures.sizes.append(seen.size)
                for number in list(self.waiting):
                    del self.waiting[number]
                    self.figures.overtaken += number not in self.corrected
                    if number == shown[-1]:
                        break
                self.changed.set()
            elif seen.finished and BUSY in seen.shown:
                self.figures.told += len(self.waiting)
                self.waiting.clear()
                self.changed.set()

    async def wait_for_the_last(self) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(PATIENCE):
                while self.waiting:
                    self.changed.clear()
                    await self.changed.wait()
        self.figures.lost += len(set(self.waiting) - self.corrected)


def sentences(seed: int) -> list[str]:
    rows = [pair.source for pair in read_pairs(SENTENCES)]
    random.Random(seed).shuffle(rows)
    return rows


async def visit(number: int, delay: float, seconds: float, stay: Stay) -> None:
    await asyncio.sleep(delay)
    if not await stay.first_page():
        return
    listening = asyncio.create_task(stay.listen())
    rows, ends, turn = sentences(number), time.monotonic() + seconds, 0
    while time.monotonic() < ends:
        begun = time.monotonic()
        own = f"{number + 1:04}{turn + 1000:04}"
        await stay.type(f"{rows[turn % len(rows)].rstrip('.?!')} {own}", own)
        turn += 1
        await asyncio.sleep(max(0.0, begun + EVERY - time.monotonic()))
    await stay.wait_for_the_last()
    listening.cancel()
    with suppress(asyncio.CancelledError):
        await listening  # raises an earlier error
    await stay.visitor.close()


async def visit_all(visitors: int, seconds: float, address: str) -> Figures:
    """The figures of ``visitors`` who type for some ``seconds``."""
    figures = Figures()
    stays = [Stay(Visitor(address.rstrip("/")), figures) for _ in range(visitors)]
    delays = [EVERY * number / visitors for number in range(visitors)]
    await asyncio.gather(*(visit(i, delays[i], seconds, stay) for i, stay in enumerate(stays)))
    return figures


def row(name: str, values: list[float], unit: str = "s") -> str:
    if not values:
        return f"{name:24} none"
    high = statistics.quantiles(values, n=20)[-1] if len(values) > 1 else values[0]
    return f"{name:24} median {statistics.median(values):8.2f} {unit}, 95th percentile {high:8.2f} {unit}"


VISITORS = click.IntRange(1, 1000)
SECONDS = click.option("--seconds", default=60.0, show_default=True, type=click.FloatRange(1, 3600))


@click.command()
@click.option("--visitors", default=30, show_default=True, type=VISITORS)
@SECONDS
@click.option("--address", default="http://127.0.0.1:8501", show_default=True)
def main(visitors: int, seconds: float, address: str) -> None:
    """Print how long the visitors waited; exit with 1 if a sentence or a visitor was lost or saw an error."""
    figures = asyncio.run(visit_all(visitors, seconds, address))
    print_figures(visitors, seconds, figures)
    sys.exit(bool(figures.lost or figures.errors or figures.gone))


def print_figures(visitors: int, seconds: float, figures: Figures) -> None:
    click.echo(
        f"{visitors} visitors, a sentence every {EVERY:g} s each, {seconds:g} s; "
        f"{os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}"
    )
    click.echo(row("first page", figures.opened))
    click.echo(row("its corrected text", figures.corrected))
    click.echo(row("and its pictures", figures.pictured))
    click.echo(row("its bytes", [size / 1000 for size in figures.sizes], "kB"))
    click.echo(
        f"{figures.typed} typed, {len(figures.corrected)} corrected, {len(figures.pictured)} with pictures, "
        f"{figures.overtaken} overtaken, {figures.told} told to wait, {figures.lost} lost; "
        f"{figures.errors} errors on pages, {figures.back} connections opened again, "
        f"{figures.gone} visitors gone"
    )
    click.echo(
        f"{len(figures.corrected) / seconds:.1f} texts and "
        f"{len(figures.pictured) / seconds:.1f} pages a second"
    )


if __name__ == "__main__":
    main()
