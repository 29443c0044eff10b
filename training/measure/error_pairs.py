"""``python -m training pairs``: pairs of a wrong and a right sentence, for commands that read ``src,tgt``."""

import random
from pathlib import Path

import click

from model.stored.folder import ASSETS
from training.corpus.corpus import read_pairs, write_pairs
from training.measure.evaluate import open_corpus, sample_pairs
from training.noise.pairs import make_pair

OWN_SETS = ASSETS.parent / "benchmarks"  # sets of sentences that were written for this project
EVERYDAY = tuple(
    OWN_SETS / f"{name}.csv"
    for name in ("everyday", "everyday_unseen", "everyday_spaces", "everyday_spaces_unseen")
)

TypedPair = tuple[str, str]  # wrong, right


def own_pairs(generated: int, seed: int) -> tuple[list[TypedPair], list[TypedPair]]:
    """Pairs of our own everyday sentences in two halves that share no right sentence.

    Each right sentence is paired with its typed versions and with ``generated`` versions by the training's error generator. A survey
    orders heads by the first half and judges them on the other.
    """
    typed: dict[str, list[str]] = {}
    for path in EVERYDAY:
        for pair in read_pairs(path):
            typed.setdefault(pair.target, []).append(pair.source)
    sentences = sorted(typed)
    random.Random(seed).shuffle(sentences)
    middle = len(sentences) // 2
    first, last = (
        [pair for right in half for pair in _pairs_of(right, typed[right], generated, seed)]
        for half in (sentences[:middle], sentences[middle:])
    )
    return first, last


def _pairs_of(right: str, typed: list[str], generated: int, seed: int) -> list[TypedPair]:
    made = (make_pair(right, random.Random(f"{seed} {number} {right}")).wrong for number in range(generated))
    return [(wrong, right) for wrong in dict.fromkeys([*typed, *made])]


@click.command("pairs")
@click.argument("out", type=click.Path(dir_okay=False, path_type=Path))
@click.argument("file", required=False, type=click.Path(exists=True, path_type=Path))
@click.option("--sentences", default=1500, show_default=True, help="Rows of FILE.")
@click.option("--generated", default=2, show_default=True, help="Without FILE: errors made in each sentence.")
@click.option("--seed", default=0, show_default=True)
def command(out: Path, file: Path | None, sentences: int, generated: int, seed: int) -> None:
    """Write pairs to OUT: of the sentences in FILE with generated errors; without FILE of our own everyday sentences,
    as they were typed and with generated errors."""
    if file is None:
        pairs = [pair for half in own_pairs(generated, seed) for pair in half]
    else:
        pairs = [(pair.wrong, pair.right) for pair in sample_pairs(open_corpus(file), seed, sentences)]
    write_pairs(out, pairs)
    click.echo(f"{len(pairs)} pairs, {sum(wrong != right for wrong, right in pairs)} of them with errors")
