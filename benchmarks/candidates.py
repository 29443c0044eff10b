"""What candidates can give, which of them were chosen, and what choosing costs.

    python benchmarks/candidates.py FILE... [--alone 300]

FILE holds correct sentences (.txt or .jsonl), from which the training's own generator makes sentences with errors, or pairs (.csv). Counted
are the pairs whose right sentence is the network's answer, and those for which it is the answer with other candidates, each where it is right;
and, of what is proposed with at least the model's minimum confidence, how much is right: what the network put first, what it put second,
and what it would have left alone. Sentences alone are corrected with candidates and without, in turns, so that their times compare.
"""

import sys
import time
from collections import Counter
from pathlib import Path

import click
import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from model import Corrector
from model.stored.folder import DEFAULT_MODEL
from model.text.changes import Change, apply_changes
from training.measure.confidence import right_there
from training.measure.evaluate import open_corpus, sample_pairs
from training.measure.metrics import edits

WARMING = 10  # sentences that are not counted


def count(corrector: Corrector, pairs) -> tuple[Counter, Counter]:
    """(pairs by where their right sentence is, at least, proposals by their rank and whether they are right)."""
    reached, proposals = Counter(), Counter()
    for pair, sentences in zip(pairs, corrector.stretches([pair.wrong for pair in pairs]), strict=True):
        wanted, written, best = edits(pair.wrong, pair.right), [], []
        for start, source, stretches in sentences:
            for stretch in stretches:
                right = right_there(stretch, start, wanted)
                places = stretch.start + start, stretch.end + start, 0, 0, stretch.kept
                written.append(Change(*places, stretch.written))
                best.append(Change(*places, right if right in stretch.candidates else stretch.written))
            for stretch, text, confidence in corrector.confidence.choose(source, stretches):
                if confidence >= corrector.minimum_confidence:
                    first = "first" if text == stretch.written else "second"
                    rank = f"put {first}" if stretch.is_changed else "would have left alone"
                    proposals[rank, text == right_there(stretch, start, wanted)] += 1
        answer = apply_changes(pair.wrong, written) == pair.right
        reached["are the answer"] += answer
        reached["are the answer with other candidates"] += (
            not answer and apply_changes(pair.wrong, best) == pair.right
        )
    return reached, proposals


def milliseconds(corrector: Corrector, texts) -> dict[str, np.ndarray]:
    corrector.warm_up()
    judge, found = corrector.confidence, {"without": [], "with": []}
    for text in texts:
        for name, confidence in (("without", None), ("with", judge)):
            corrector.confidence = confidence
            started = time.perf_counter()
            corrector.correct(text)
            found[name].append(1000 * (time.perf_counter() - started))
    corrector.confidence = judge
    return {name: np.array(values[WARMING:]) for name, values in found.items()}


@click.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@click.option(
    "--alone", default=300, show_default=True, help="Sentences of 28 to 36 characters that are timed."
)
@click.option("--model", default=DEFAULT_MODEL, show_default=True)
def main(files, alone, model):
    """Print all of it; a file at a time, then the times of sentences of the first one."""
    corrector = Corrector.load(model)
    for path in files:
        pairs = sample_pairs(open_corpus(path), 0)
        reached, proposals = count(corrector, pairs)
        click.echo(
            f"{path.name}, {len(pairs):,} pairs: "
            + ", ".join(f"{number:,} right sentences {where}" for where, number in reached.items())
        )
        for rank in ("put first", "put second", "would have left alone"):
            right, wrong = proposals[rank, True], proposals[rank, False]
            click.echo(f"  proposed of what the network {rank}: {right:,} right, {wrong:,} wrong")
    texts = [pair.wrong for pair in sample_pairs(open_corpus(files[0]), 0) if 28 <= len(pair.wrong) <= 36]
    if len(texts) <= WARMING:
        raise click.UsageError(
            f"{files[0]} has {len(texts)} sentences of 28 to 36 characters: too few to time"
        )
    found = milliseconds(corrector, texts[: alone + WARMING])
    for name, values in found.items():
        spread = f"median {np.median(values):.1f}, 95th percentile {np.percentile(values, 95):.1f}"
        click.echo(f"one sentence {name} candidates, words and phrases: {spread} ms")
    click.echo(f"with / without: {np.median(found['with'] / found['without']):.2f}")


if __name__ == "__main__":
    main()
