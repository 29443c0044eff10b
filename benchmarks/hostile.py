"""Hostile texts: one answer each, only spelling touched, and no answer that takes for ever.

    python benchmarks/hostile.py [--texts 10000] [--timed 1000] [--seed 0]
    python benchmarks/hostile.py --through command
    python benchmarks/hostile.py --through page --address http://127.0.0.1:8501

Through the library all texts are corrected, many together. Then some, of each kind equally many, are corrected alone and compared with
ordinary texts of about their length, full of errors, in processor time, which other work on the machine changes little. Ends with 1
where a text raised something or lost a protected character, and where one took more than five times as long as the median of the ordinary ones.
A text that seems too slow is timed three times more, and the best counts; below 0.04 s nothing counts. Through the command line there has to be one line for each line and no traceback; through the page
one run without an error for each text, typed by several visitors at once.
"""

import asyncio
import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median

import click

sys.path.insert(0, str(Path(__file__).parents[1]))

from hostile_texts import hostile_texts
from made_sentences import pair_of
from visitor import Visitor, wait_for_the_network

from model.text.protected import protected

TIMES = 5.0  # a text may take this many times as long as an ordinary one
PATIENCE = 300  # seconds for one run of the page
SHORT = 0.04  # processor seconds; below that a ratio of two times says nothing
TOGETHER = 64  # texts
ORDINARY = 9  # texts of each length, of which the median counts
LENGTHS = (16, 40, 64, 128, 200, 500, 1000, 2000)


def ordinary_text(rng: random.Random, characters: int) -> str:
    text = ""
    while len(text) < characters:
        text += pair_of(rng, rng.randint(20, 60)).wrong + " "
    return text[:characters]


def seconds(corrector, text: str, times: int) -> float:
    best = float("inf")
    for _ in range(times):
        started = time.process_time()
        corrector.correct(text)
        best = min(best, time.process_time() - started)
    return best


def through_the_library(texts: int, timed: int, seed: int) -> bool:
    """Prints what went wrong and the slowest texts; returns whether something was."""
    from model import Corrector

    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    corrector = Corrector.load()
    corrector.warm_up()
    wrong = what_goes_wrong(corrector, list(hostile_texts(seed, texts)))
    click.echo(f"{texts:,} texts, {len(wrong)} went wrong {wrong[:5]}")
    ratios = slowest_texts(corrector, list(hostile_texts(seed, timed)), random.Random(seed))
    return bool(wrong) or ratios[0][0] > TIMES


def what_goes_wrong(corrector, texts: list[str]) -> list[tuple[int, str]]:
    """The numbers of the texts that raised something or lost a protected character, and what it was."""
    wrong = []
    for start in range(0, len(texts), TOGETHER):
        some = texts[start : start + TOGETHER]
        try:
            corrections = corrector.correct_batch(some)
            assert len(corrections) == len(some)
        except Exception as error:  # noqa: BLE001  whatever it is, it is what is looked for
            wrong.append((start, repr(error)))
            continue
        wrong += [
            (start + i, "a protected character was touched")
            for i, each in enumerate(corrections)
            if protected(each.text) != protected(each.source)
        ]
        if start // 1000 != (start + TOGETHER) // 1000:
            click.echo(f"{start + len(some):,} texts, {len(wrong)} went wrong", err=True)
    return wrong


def slowest_texts(corrector, texts: list[str], rng: random.Random) -> list[tuple]:
    """(times an ordinary text, number, length, seconds) of each text, the slowest first; prints the first five."""
    usual = {
        n: median(seconds(corrector, ordinary_text(rng, n), 3) for _ in range(ORDINARY)) for n in LENGTHS
    }
    ratios = []
    for number, text in enumerate(texts):
        allowed = usual[min((n for n in LENGTHS if n >= len(text)), default=LENGTHS[-1])]
        taken = seconds(corrector, text, 1)
        if taken > max(TIMES * allowed, SHORT):
            taken = seconds(corrector, text, 3)
        ratios.append((taken / allowed if taken > SHORT else 0.0, number, len(text), taken))
    ratios.sort(reverse=True)
    click.echo(f"{len(texts):,} alone; load {os.getloadavg()[0]:.1f}; ordinary text: ", nl=False)
    click.echo(", ".join(f"{n} characters {1e3 * s:.0f} ms of processor" for n, s in usual.items()))
    for ratio, number, length, taken in ratios[:5]:
        click.echo(
            f"text {number}: {length} characters, {1e3 * taken:.0f} ms, {ratio:.1f} times an ordinary text"
        )
    return ratios


def through_the_command(texts: int, seed: int) -> bool:
    """All texts as lines of standard input, at once."""
    lines = [text.replace("\n", " ") for text in hostile_texts(seed, texts)]
    done = subprocess.run(
        [sys.executable, "-m", "model", "correct"],
        cwd=Path(__file__).parents[1],
        input="".join(f"{line}\n" for line in lines).encode("utf-8", "surrogatepass"),
        capture_output=True,
        check=False,
    )
    answers, traceback = done.stdout.count(b"\n"), b"Traceback" in done.stderr
    click.echo(f"{texts:,} lines, {answers:,} answers, status {done.returncode}, traceback: {traceback}")
    return answers != texts or bool(done.returncode) or traceback


def through_the_page(texts: int, visitors: int, seed: int, address: str) -> bool:
    """All texts, typed by several visitors, each of whom waits for an answer before the next one."""
    errors, slowest = asyncio.run(type_all(hostile_texts(seed, texts), visitors, address))
    click.echo(f"{texts:,} texts typed, {errors} errors on the page, the slowest run {slowest:.1f} s")
    return bool(errors)


async def type_all(texts: Iterator[str], visitors: int, address: str) -> tuple[int, float]:
    await wait_for_the_network(address, PATIENCE)
    found = await asyncio.gather(*(type_some(texts, address) for _ in range(visitors)))
    return sum(errors for errors, _ in found), max(slowest for _, slowest in found)


async def type_some(texts: Iterator[str], address: str) -> tuple[int, float]:
    """Take texts as long as there are some; how many errors the page showed, and the seconds of its slowest run."""
    visitor, errors, slowest = Visitor(address), 0, 0.0
    await visitor.open(PATIENCE)
    while not visitor.area:
        await visitor.next_run(PATIENCE)
    for text in texts:
        begun = time.monotonic()
        await visitor.type(text)
        while not (seen := await visitor.next_run(PATIENCE)).finished:
            pass
        errors += seen.errors
        slowest = max(slowest, time.monotonic() - begun)
    await visitor.close()
    return errors, slowest


@click.command()
@click.option("--texts", default=10_000, show_default=True)
@click.option("--timed", default=1000, show_default=True, help="Texts that the library also corrects alone.")
@click.option("--visitors", default=8, show_default=True, help="Of the page, at once.")
@click.option("--seed", default=0, show_default=True)
@click.option(
    "--through", type=click.Choice(["library", "command", "page"]), default="library", show_default=True
)
@click.option("--address", default="http://127.0.0.1:8501", show_default=True, help="Of the page.")
def main(texts, timed, visitors, seed, through, address):
    """Print what went wrong."""
    match through:
        case "library":
            sys.exit(through_the_library(texts, timed, seed))
        case "command":
            sys.exit(through_the_command(texts, seed))
        case "page":
            sys.exit(through_the_page(texts, visitors, seed, address))


if __name__ == "__main__":
    main()
