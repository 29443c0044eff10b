"""Hostile texts through the library: one answer each, only spelling touched, and no answer that takes for ever.

    python benchmarks/hostile.py [--texts 10000] [--seed 0]

Each text is timed beside an ordinary one of the same length, sentence for sentence with errors. Ends with 1 where
a text raised something or lost a protected character, and where one took more than five times as long as its
ordinary neighbour, both times being the better of three.
"""

import os
import random
import sys
import time
from pathlib import Path

import click

sys.path.insert(0, str(Path(__file__).parents[1]))

from hostile_texts import hostile_texts
from made_sentences import pair_of

from model import Corrector
from model.protected import protected

TIMES = 5.0  # as long as ordinary text may take
SHORT = 0.02  # seconds; below that a ratio of two times says nothing
LENGTHS = (16, 40, 64, 128, 200, 500, 1000, 2000)


def ordinary_text(rng: random.Random, characters: int) -> str:
    text = ""
    while len(text) < characters:
        text += pair_of(rng, rng.randint(20, 60)).wrong + " "
    return text[:characters]


def seconds(corrector: Corrector, text: str, times: int) -> float:
    best = float("inf")
    for _ in range(times):
        started = time.perf_counter()
        corrector.correct(text)
        best = min(best, time.perf_counter() - started)
    return best


@click.command()
@click.option("--texts", default=10_000, show_default=True)
@click.option("--seed", default=0, show_default=True)
def main(texts, seed):
    """Print what went wrong and the slowest texts."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    corrector = Corrector.load()
    for _ in corrector.warm_up():
        pass
    rng = random.Random(seed)
    usual = {n: seconds(corrector, ordinary_text(rng, n), 3) for n in LENGTHS}
    wrong, ratios = [], []
    for number, text in enumerate(hostile_texts(seed, texts)):
        started = time.perf_counter()
        try:
            correction = corrector.correct(text)
        except Exception as error:  # noqa: BLE001  whatever it is, it is what is looked for
            wrong.append((number, repr(error)))
            continue
        taken = time.perf_counter() - started
        if protected(correction.text) != protected(correction.source):
            wrong.append((number, "a protected character was touched"))
        allowed = usual[min((n for n in LENGTHS if n >= len(text)), default=LENGTHS[-1])]
        if taken > max(TIMES * allowed, SHORT):
            taken = seconds(corrector, text, 3)
        ratios.append((taken / allowed if taken > SHORT else 0.0, number, len(text), taken))
    ratios.sort(reverse=True)
    click.echo(f"{texts:,} texts, {len(wrong)} went wrong {wrong[:5]}; load {os.getloadavg()[0]:.1f}")
    click.echo("ordinary text: " + ", ".join(f"{n} characters {1e3 * s:.0f} ms" for n, s in usual.items()))
    for ratio, number, length, taken in ratios[:5]:
        click.echo(
            f"text {number}: {length} characters, {1e3 * taken:.0f} ms, {ratio:.1f} times an ordinary text"
        )
    sys.exit(bool(wrong) or ratios[0][0] > TIMES)


if __name__ == "__main__":
    main()
