"""The fast search against step-by-step decoding: equal texts, passes that drafts take, and seconds.

    python benchmarks/decoding.py FILE [--sentences 10000] [--alone 200]

FILE holds correct sentences (.txt or .jsonl), from which the training's own generator makes sentences with
errors. Every answer of ``model.plain.drafting`` is compared with that of ``model.network.decoding.greedy``, of which it has
to be an exact copy. Both get the same batches, one after the other, so that their seconds compare. Then some
sentences alone: step by step, and the fast search.
"""

import sys
import time
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from model.correction.mending import BATCH_SENTENCES
from model.network.compiled import CompiledNetwork
from model.network.loading import load_model_folder
from model.network.passes import KerasReading, compile_halves
from model.plain.drafting import settle
from model.stored.folder import DEFAULT_MODEL, find_model_folder
from training.measure.evaluate import open_corpus, sample_pairs


class CountedReading(KerasReading):
    """Counts how often each sentence is looked at."""

    def __init__(self, halves, sources):
        super().__init__(halves, sources)
        self.passes = np.zeros(len(sources), int)
        self._rows = np.arange(len(sources))

    def pass_over(self, drafts):
        self.passes[self._rows] += 1
        return super().pass_over(drafts)

    def keep(self, rows: Sequence[int]):
        self._rows = self._rows[list(rows)]
        super().keep(rows)


def seconds_of(work) -> tuple[float, Any]:
    started = time.perf_counter()
    result = work()
    return time.perf_counter() - started, result


def alone(network, space_id: int, sources: Sequence[Sequence[int]]) -> None:
    """Print the median milliseconds of each search for single sentences, and how many of their answers are equal."""
    graph = CompiledNetwork(network, space_id)
    graph.step_by_step(sources[:1])
    milliseconds, equal = defaultdict(list), 0
    for source in sources:
        answers = []
        for name, work in (
            ("step by step", lambda source=source: graph.step_by_step([source])[0]),
            ("drafts", lambda source=source: ids_of(graph.produce([source])[0])),
        ):
            seconds, answer = seconds_of(work)
            milliseconds[name].append(1000 * seconds)
            answers.append(answer)
        equal += answers[0] == answers[1]
    for name, found in milliseconds.items():
        click.echo(
            f"one sentence, {name}: {np.median(found):.1f} ms (95th percentile {np.percentile(found, 95):.1f})"
        )
    click.echo(f"{equal} of {len(sources)} answered alike by both")


def ids_of(produced) -> list[int] | None:
    return None if produced is None else produced.ids


@click.command()
@click.argument("file", type=click.Path(exists=True, path_type=Path))
@click.option("--sentences", default=10_000, show_default=True)
@click.option("--alone", "single", default=200, show_default=True)
@click.option("--model", default=DEFAULT_MODEL, show_default=True)
def main(file, sentences, single, model):
    """Print how many texts are equal, the passes of each family of errors, and the ratio of both times."""
    network, tokenizer, _ = load_model_folder(find_model_folder(model))
    space_id = tokenizer.encode_target(" ")[0]
    compiled, halves = CompiledNetwork(network, space_id), compile_halves(network, jit_compile=False)
    pairs = [
        p for p in sample_pairs(open_corpus(file), 0, sentences) if len(p.wrong) <= network.config.max_length
    ]
    if single:
        alone(network, space_id, [tokenizer.encode_source(pair.wrong) for pair in pairs[:single]])
    pairs.sort(key=lambda pair: len(pair.wrong))
    passes, ratios, equal = defaultdict(list), [], 0
    for first in range(0, len(pairs), BATCH_SENTENCES):
        batch = pairs[first : first + BATCH_SENTENCES]
        sources = [tokenizer.encode_source(pair.wrong) for pair in batch]
        slow, expected = seconds_of(lambda sources=sources: compiled.step_by_step(sources))
        started = time.perf_counter()
        reading = CountedReading(halves, sources)
        answers = settle(reading, sources, space_id)
        ratios.append(slow / (time.perf_counter() - started))
        for pair, answer, ids, count in zip(batch, answers, expected, reading.passes, strict=True):
            equal += ids_of(answer) == ids
            passes[pair.family].append(count)
    every = np.concatenate(list(passes.values()))
    click.echo(f"{equal:,} of {len(pairs):,} texts equal")
    for family, counts in (*passes.items(), ("all", every)):
        shares = [(np.array(counts) <= most).mean() for most in (1, 2, 3, 4, 10)]
        click.echo(
            f"{family:>14} {len(counts):6,} sentences, {np.mean(counts):5.2f} passes on average; within 1, 2, 3, 4, 10: "
            + " ".join(f"{share:6.1%}" for share in shares)
        )
    quarters = np.percentile(ratios[1:], (25, 50, 75))  # the first batch traces both graphs
    click.echo("step-by-step / drafts, seconds of a batch: " + " / ".join(f"{q:.2f}" for q in quarters))


if __name__ == "__main__":
    main()
