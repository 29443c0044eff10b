"""Hostile texts: one answer each, only spelling touched, and no answer that takes for ever.

    python benchmarks/hostile.py [--texts 10000] [--seed 0]
    python benchmarks/hostile.py --through command
    python benchmarks/hostile.py --through page --address http://127.0.0.1:8501

Through the library each text is compared with an ordinary one of about its length, full of errors, in processor time, which other
work on the machine changes little. Ends with 1 where a text raised something or lost a protected character, and where one took
more than five times as long as the ordinary one, both times being the better of three. Through the command line there has to be one line for each line
and no traceback; through the page one run without an error for each text.
"""

import asyncio
import os
import random
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path

import click

sys.path.insert(0, str(Path(__file__).parents[1]))

from hostile_texts import hostile_texts
from made_sentences import pair_of
from visitor import Visitor, wait_for_the_network

from model.protected import protected

TIMES = 5.0  # as long as ordinary text may take
PATIENCE = 300  # seconds for one run of the page
SHORT = 0.04  # processor seconds; below that a ratio of two times says nothing
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


def through_the_library(texts: int, seed: int) -> bool:
    """Prints what went wrong and the slowest texts; returns whether something was."""
    from model import Corrector

    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    corrector = Corrector.load()
    for _ in corrector.warm_up():
        pass
    rng = random.Random(seed)
    usual = {n: seconds(corrector, ordinary_text(rng, n), 3) for n in LENGTHS}
    wrong, ratios = [], []
    for number, text in enumerate(hostile_texts(seed, texts)):
        if number and number % 1000 == 0:
            click.echo(f"{number:,} texts, {len(wrong)} went wrong", err=True)
        started = time.process_time()
        try:
            correction = corrector.correct(text)
        except Exception as error:  # noqa: BLE001  whatever it is, it is what is looked for
            wrong.append((number, repr(error)))
            continue
        taken = time.process_time() - started
        if protected(correction.text) != protected(correction.source):
            wrong.append((number, "a protected character was touched"))
        allowed = usual[min((n for n in LENGTHS if n >= len(text)), default=LENGTHS[-1])]
        if taken > max(TIMES * allowed, SHORT):
            taken = seconds(corrector, text, 3)
        ratios.append((taken / allowed if taken > SHORT else 0.0, number, len(text), taken))
    ratios.sort(reverse=True)
    click.echo(f"{texts:,} texts, {len(wrong)} went wrong {wrong[:5]}; load {os.getloadavg()[0]:.1f}")
    click.echo(
        "ordinary text: "
        + ", ".join(f"{n} characters {1e3 * s:.0f} ms of processor" for n, s in usual.items())
    )
    for ratio, number, length, taken in ratios[:5]:
        click.echo(
            f"text {number}: {length} characters, {1e3 * taken:.0f} ms, {ratio:.1f} times an ordinary text"
        )
    return bool(wrong) or ratios[0][0] > TIMES


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


def through_the_page(texts: int, seed: int, address: str) -> bool:
    """All texts typed by one visitor, one after the other."""
    errors, slowest = asyncio.run(type_all(hostile_texts(seed, texts), address))
    click.echo(f"{texts:,} texts typed, {errors} errors on the page, the slowest run {slowest:.1f} s")
    return bool(errors)


async def type_all(texts: Iterable[str], address: str) -> tuple[int, float]:
    await wait_for_the_network(address, PATIENCE)
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
@click.option("--seed", default=0, show_default=True)
@click.option(
    "--through", type=click.Choice(["library", "command", "page"]), default="library", show_default=True
)
@click.option("--address", default="http://127.0.0.1:8501", show_default=True, help="Of the page.")
def main(texts, seed, through, address):
    """Print what went wrong."""
    match through:
        case "library":
            sys.exit(through_the_library(texts, seed))
        case "command":
            sys.exit(through_the_command(texts, seed))
        case "page":
            sys.exit(through_the_page(texts, seed, address))


if __name__ == "__main__":
    main()
