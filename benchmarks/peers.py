"""Time of a correction, beside CTranslate2 and transformers on the same machine.

    python benchmarks/peers.py sentences [--rounds 20] [--lengths 32,128,512]
    python benchmarks/peers.py file [--sentences 10000] [--rounds 1]

Needs requirements.txt and benchmarks/requirements.txt; downloads no model. Each engine has a process of its
own. They take turns, sentence by sentence, each after a rest; a ratio is the median over rounds of (theirs /
ours in that round). All sentences are new and have errors. Ours includes the probabilities of every change
and, for single sentences, all attention maps as NumPy arrays. ``file`` also says how often CTranslate2, with
our weights, wrote the same text.
"""

import os
import random
import statistics
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import click

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.engines import LONGEST, CTranslate, Marian, Ours, parts_of
from benchmarks.sentences import pair_of, pairs_of_a_file
from benchmarks.server import Worker
from training.noise.pairs import NoisyPair

OURS, CTRANSLATE = "ours, all attention", "CTranslate2"
WITH_MAPS, WITHOUT_MAPS = "transformers, all attention", "transformers"
WARM_UP = 5  # sentences of each length that are not counted


def peers(stack: ExitStack) -> dict[str, Worker]:
    made: dict[str, tuple[Any, ...]] = {
        OURS: (Ours,),
        CTRANSLATE: (CTranslate,),
        WITH_MAPS: (Marian, True),
        WITHOUT_MAPS: (Marian, False),
    }
    return {name: stack.enter_context(Worker(*how)) for name, how in made.items()}


def turns(workers: dict[str, Worker], text: str) -> dict[str, float]:
    """Milliseconds of each engine, and of those that can read a long text whole."""
    found = {name: worker.call("correct", text)[0] for name, worker in workers.items()}
    if len(text) > LONGEST:
        for name in (CTRANSLATE, WITH_MAPS):
            found[f"{name}, text whole"] = workers[name].call("correct", text, True)[0]
    return {name: 1000 * seconds for name, seconds in found.items()}


def measure(workers: dict[str, Worker], pairs: Sequence[NoisyPair]) -> dict[str, list[float]]:
    """The milliseconds of each engine, one for each pair; the engines take turns."""
    rounds = [turns(workers, pair.wrong) for pair in pairs]
    return {name: [each[name] for each in rounds] for name in rounds[0]}


def show(tokens: int, found: dict[str, list[float]], pairs: Sequence[NoisyPair]) -> None:
    parts = len(parts_of(pairs[0].wrong))
    click.echo(f"\n{tokens} tokens" + (f", read in {parts} parts" if parts > 1 else ""))
    click.echo(
        f"{'':36}{'median ms':>10}{'lowest':>9}{'highest':>9}{'theirs / ours':>15}{'from':>7}{'to':>7}"
    )
    for name, values in found.items():
        line = f"{name:36}{statistics.median(values):10.1f}{min(values):9.1f}{max(values):9.1f}"
        if name != OURS:
            ratios = [theirs / ours for theirs, ours in zip(values, found[OURS], strict=True)]
            line += f"{statistics.median(ratios):15.2f}{min(ratios):7.2f}{max(ratios):7.2f}"
        click.echo(line)


def show_growth(medians: dict[int, dict[str, float]]) -> None:
    first = min(medians)
    click.echo(f"\ntimes the milliseconds of {first} tokens")
    for tokens in sorted(medians):
        grown = (
            f"{name} {value / medians[first][name.removesuffix(', text whole')]:.1f}"
            for name, value in medians[tokens].items()
        )
        click.echo(f"{tokens:5} tokens: " + "; ".join(grown))


def whole_numbers(_context: click.Context, _option: click.Parameter, text: str) -> list[int]:
    """Read "40,512" of an option. Raises click.BadParameter for other text."""
    try:
        return [int(word) for word in text.split(",")]
    except ValueError:
        raise click.BadParameter(f"whole numbers with commas between them, received {text!r}") from None


@click.group()
def main() -> None:
    """Compare with CTranslate2 and transformers."""


@main.command()
@click.option("--rounds", default=20, show_default=True)
@click.option("--lengths", default="32,128,512", show_default=True, callback=whole_numbers)
def sentences(rounds: int, lengths: list[int]) -> None:
    """Single sentences: milliseconds of each engine, and ratios."""
    rng = random.Random(0)
    click.echo(f"{os.cpu_count()} processors, {rounds} rounds; tokens count the end mark")
    medians = {}
    with ExitStack() as stack:
        workers = peers(stack)
        workers[OURS].call("warm_up")
        for tokens in lengths:
            for name in workers:
                for _ in range(WARM_UP):
                    workers[name].call("correct", pair_of(rng, tokens).wrong)
            pairs = [pair_of(rng, tokens) for _ in range(rounds)]
            found = measure(workers, pairs)
            medians[tokens] = {name: statistics.median(values) for name, values in found.items()}
            show(tokens, found, pairs)
    if len(lengths) > 1:
        show_growth(medians)


@main.command()
@click.option("--sentences", "count", default=10_000, show_default=True)
@click.option("--rounds", default=1, show_default=True, help="Files, each of new sentences.")
def file(count: int, rounds: int) -> None:
    """A file of sentences, in sentences a second: ``correct_batch`` and CTranslate2 at its best settings."""
    rng = random.Random(0)
    with Worker(Ours) as ours, Worker(CTranslate) as theirs:
        warm_up = [pair.wrong for pair in pairs_of_a_file(rng, 300)]
        ours.call("correct_file", warm_up)
        click.echo(f"{os.cpu_count()} processors; CTranslate2: {theirs.call('tune', warm_up)}")
        ratios = []
        for _ in range(rounds):
            texts = [pair.wrong for pair in pairs_of_a_file(rng, count)]
            (our_seconds, our_texts), (their_seconds, their_texts) = (
                worker.call("correct_file", texts) for worker in (ours, theirs)
            )
            ratios.append(their_seconds / our_seconds)
            same = sum(a == b for a, b in zip(our_texts, their_texts, strict=True))
            mean = statistics.mean(map(len, texts))
            click.echo(
                f"{count} sentences of {mean:.0f} characters on average: "
                f"ours {count / our_seconds:.0f} a second, "
                f"CTranslate2 {count / their_seconds:.0f}, ours / theirs {ratios[-1]:.2f}; "
                f"{same} texts the same"
            )
    if rounds > 1:
        click.echo(f"median of ours / theirs: {statistics.median(ratios):.2f}")


if __name__ == "__main__":
    main()
