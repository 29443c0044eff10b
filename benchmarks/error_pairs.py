"""Sentences with generated errors as a CSV of pairs, for commands that read ``src,tgt``.

    python benchmarks/error_pairs.py FILE OUT.csv [--sentences 1500] [--seed 0]

FILE holds correct sentences (.txt or .jsonl); the training's own generator writes the errors, the same for the same seed.
"""

import csv
import sys
from pathlib import Path

import click

sys.path.insert(0, str(Path(__file__).parents[1]))

from training.measure.evaluate import open_corpus, sample_pairs


@click.command()
@click.argument("file", type=click.Path(exists=True, path_type=Path))
@click.argument("out", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--sentences", default=1500, show_default=True)
@click.option("--seed", default=0, show_default=True)
def main(file, out, sentences, seed):
    """Write the pairs, one a line, below the columns src and tgt."""
    pairs = sample_pairs(open_corpus(file), seed, sentences)
    with out.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(("src", "tgt"))
        writer.writerows((pair.wrong, pair.right) for pair in pairs)
    click.echo(f"{len(pairs)} pairs, {sum(pair.wrong != pair.right for pair in pairs)} of them with errors")


if __name__ == "__main__":
    main()
