"""The project's own sentences as pairs with errors, for `python -m model heads`: nothing of them comes from a corpus.

    python benchmarks/own_pairs.py pairs.csv

Every right sentence of the everyday files stands there as somebody typed it, and with errors that the training's generator
makes. The sentences are shuffled and cut into halves, so that the first and the last half of the file share none: a survey can
order heads by the one and judge them on the other.
"""

import csv
import random
import sys
from pathlib import Path

import click

sys.path.insert(0, str(Path(__file__).parents[1]))

from training.noise.pairs import make_pair

FILES = ("everyday.csv", "everyday_unseen.csv", "everyday_spaces.csv", "everyday_spaces_unseen.csv")

TypedPair = tuple[str, str]  # wrong, right


@click.command()
@click.argument("out", type=click.Path(dir_okay=False, path_type=Path))
@click.option(
    "--generated", default=2, show_default=True, help="Times that errors are made in each sentence."
)
@click.option("--seed", default=0, show_default=True)
def main(out, generated, seed):
    """Write the pairs, one a line, below the columns src and tgt, and say how many each half has."""
    halves = own_pairs(generated, seed)
    with out.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(("src", "tgt"))
        for half in halves:
            writer.writerows(half)
    edited = [sum(wrong != right for wrong, right in half) for half in halves]
    click.echo(f"{len(halves[0])} + {len(halves[1])} pairs, of which {edited[0]} + {edited[1]} have errors")


def own_pairs(generated: int, seed: int) -> tuple[list[TypedPair], list[TypedPair]]:
    """Two halves that share no right sentence."""
    typed: dict[str, list[str]] = {}
    for name in FILES:
        with (Path(__file__).parent / name).open(encoding="utf-8", newline="") as stream:
            for row in csv.DictReader(stream):
                typed.setdefault(row["tgt"], []).append(row["src"])
    sentences = sorted(typed)
    random.Random(seed).shuffle(sentences)
    middle = len(sentences) // 2
    return tuple(
        [pair for right in half for pair in _pairs_of(right, typed[right], generated, seed)]
        for half in (sentences[:middle], sentences[middle:])
    )


def _pairs_of(right: str, typed: list[str], generated: int, seed: int) -> list[TypedPair]:
    made = (make_pair(right, random.Random(f"{seed} {number} {right}")).wrong for number in range(generated))
    return [(wrong, right) for wrong in dict.fromkeys([*typed, *made])]


if __name__ == "__main__":
    main()
