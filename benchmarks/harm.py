"""Does a correction do harm? Thousands of composed texts, and what has to hold for each.

    python benchmarks/harm.py [--texts 2000] [--seed 0] [--model transformer] [--out violations.csv]

Prints for each invariant how many texts it was checked on and how many violate it, then some of these. Ends with 1 where
there is one. ``--out`` writes all: the invariant, the recipe of the text, the text, what became of it, and what is wrong.
"""

import csv
import os
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain, zip_longest
from pathlib import Path
from typing import NamedTuple

import click

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.composed_texts import ComposedText, compose
from benchmarks.invariants import OF_ONE_CORRECTION, is_settled, repeats

TOGETHER = 256  # texts, so that neither traces nor texts fill the memory
SETTLED, REPEATS = "settled after one pass", "repetitions stay"


class Violation(NamedTuple):
    invariant: str
    recipe: str
    text: str
    corrected: str
    what: str


def check(corrector, texts: Sequence[ComposedText]) -> tuple[Counter, list[Violation]]:
    """(how many texts each invariant was checked on, all violations). ``corrector`` is any model.Corrector."""
    checked: Counter[str] = Counter()
    violations: list[Violation] = []
    for start in range(0, len(texts), TOGETHER):
        some = texts[start : start + TOGETHER]
        violations += _violations(corrector, some)
        checked.update(dict.fromkeys((*OF_ONE_CORRECTION, SETTLED), len(some)))
        checked[REPEATS] += sum(text.repetition is not None for text in some)
    return checked, violations


def _violations(corrector, texts: Sequence[ComposedText]) -> Iterator[Violation]:
    corrections = corrector.correct_batch([text.text for text in texts])
    # A text that was left alone is settled already.
    changed = [each.text for each, text in zip(corrections, texts, strict=True) if each.text != text.text]
    again = _corrected(corrector, changed)
    units = _corrected(corrector, [text.repetition.unit for text in texts if text.repetition])
    for text, correction in zip(texts, corrections, strict=True):
        found = {name: list(holds(text, correction)) for name, holds in OF_ONE_CORRECTION.items()}
        found[SETTLED] = list(is_settled(text, correction, again.get(correction.text, correction.text)))
        if text.repetition:
            found[REPEATS] = list(repeats(text, correction, units[text.repetition.unit]))
        for name, wrong in found.items():
            if wrong:
                yield Violation(name, text.recipe, text.text, correction.text, "; ".join(wrong))


def _corrected(corrector, texts: Sequence[str]) -> dict[str, str]:
    return {text: each.text for text, each in zip(texts, corrector.correct_batch(texts), strict=True)}


def report(checked: Counter, violations: Sequence[Violation]) -> Iterator[str]:
    """The lines of a table, by invariant, and of the recipes that violate it."""
    yield "| invariant | texts | violated | in |"
    yield "|---|---:|---:|---|"
    for name, texts in checked.items():
        recipes = Counter(each.recipe for each in violations if each.invariant == name)
        where = ", ".join(f"{recipe} {count}" for recipe, count in recipes.most_common())
        yield f"| {name} | {texts:,} | {recipes.total():,} | {where} |"


def of_each_invariant(violations: Sequence[Violation], count: int) -> list[Violation]:
    """``count`` of them at most: the first of each invariant, then the second of each …"""
    by_invariant: dict[str, list[Violation]] = {}
    for each in violations:
        by_invariant.setdefault(each.invariant, []).append(each)
    in_turns = chain.from_iterable(zip_longest(*by_invariant.values()))
    return [each for each in in_turns if each is not None][:count]


@click.command()
@click.option("--texts", default=2000, show_default=True)
@click.option("--seed", default=0, show_default=True)
@click.option("--model", default="transformer", show_default=True, help="Name or path of a model folder.")
@click.option("--show", default=20, show_default=True, help="Print this many violations.")
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), help="A CSV of all violations.")
def main(texts, seed, model, show, out):
    """Print which invariants hold."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    from model import Corrector

    corrector = Corrector.load(model)
    started = time.perf_counter()
    checked, violations = check(corrector, compose(seed, texts))
    taken = time.perf_counter() - started
    click.echo("\n".join(report(checked, violations)))
    click.echo(
        f"\n{corrector.name} {corrector.fingerprint}, minimum {corrector.minimum_confidence}: {taken:.0f} s"
    )
    for each in of_each_invariant(violations, show):
        click.echo(f"\n{each.invariant} ({each.recipe}): {each.what}\n  {each.text!r}\n  {each.corrected!r}")
    if out:
        with out.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([Violation._fields, *violations])
    sys.exit(bool(violations))


if __name__ == "__main__":
    main()
