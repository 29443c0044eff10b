"""What the browser's correction lacks: exact corrections with and without the morphological analyser, side by side.

    python benchmarks/browser_cost.py [FILE…] [--sentences 1000] [--seed 0]

Without FILE the development sets of ``benchmarks/`` are read. Of a FILE of right sentences (.jsonl, .txt) a sample is given errors by
the training's own generator. ``tests/browser/test_site_answers.py`` shows that the browser writes what Python without the analyser
writes, so Python is asked here.
"""

import csv
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import click

sys.path.insert(0, str(Path(__file__).parents[1]))

from deploy.site.stored import light_corrector
from model import Corrector
from model.stored.folder import DEFAULT_MODEL

FOLDER = Path(__file__).parent
TOGETHER = 512  # rows


def rows_of_sets() -> Iterator[tuple[str, str]]:
    """(wrong, right) of all development sets."""
    for path in sorted([*FOLDER.glob("*.csv"), *(FOLDER / "sets").glob("*.csv")]):
        with path.open(encoding="utf-8", newline="") as file:
            yield from ((row["src"], row["tgt"]) for row in csv.DictReader(file))


def rows_of_corpus(path: Path, count: int, seed: int) -> Iterator[tuple[str, str]]:
    from training.measure.evaluate import open_corpus, sample_pairs

    yield from ((pair.wrong, pair.right) for pair in sample_pairs(open_corpus(path), seed, count))


def corrected(corrector: Corrector, texts: list[str]) -> Iterable[str]:
    for start in range(0, len(texts), TOGETHER):
        yield from (found.text for found in corrector.correct_batch(texts[start : start + TOGETHER]))


@click.command()
@click.argument("files", nargs=-1, type=click.Path(exists=True, path_type=Path))
@click.option("--sentences", default=1000, show_default=True)
@click.option("--seed", default=0, show_default=True)
@click.option("--model", default=DEFAULT_MODEL, show_default=True)
def main(files: tuple[Path, ...], sentences: int, seed: int, model: str) -> None:
    """Print a Markdown row for each source of pairs."""
    sources = {"development sets": list(rows_of_sets())} if not files else {}
    sources |= {path.name: list(rows_of_corpus(path, sentences, seed)) for path in files}
    whole, light = Corrector.load(model), light_corrector(model)
    click.echo(
        "| pairs | of them | same text | exact with the analyser | exact without |\n|---|---|---|---|---|"
    )
    for name, pairs in sources.items():
        wrong, right = (list(side) for side in zip(*pairs, strict=True))
        one, other = (list(corrected(each, wrong)) for each in (whole, light))
        same, *exact = (
            sum(a == b for a, b in zip(each, wanted, strict=True)) / len(pairs)
            for each, wanted in ((one, other), (one, right), (other, right))
        )
        click.echo(f"| {name} | {len(pairs):,} | {same:.1%} | {exact[0]:.1%} | {exact[1]:.1%} |")


if __name__ == "__main__":
    main()
