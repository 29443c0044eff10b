"""Stability of circuits: by the reference of their ablation, and over sentences with one kind of mistake.

    python benchmarks/references.py halves
    python benchmarks/references.py kinds PAIRS

``halves`` searches the circuit of each change twice, against the two halves of a reference's sentences:
everyday ones, or corrupted ones. ``kinds`` searches one circuit of many sentences and measures it on as many
others. Some five minutes of one core each.
"""

import json
import sys
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

import click
import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from model import Corrector
from model.analysis import (
    AblationValues,
    Edit,
    contrast_of_edit,
    corrupted_values,
    edits_of,
    exchanges,
    faithfulness,
    find_circuit,
    find_common_circuit,
)
from model.analysis.ablation import CORRUPTED_MEAN, MEAN, REFERENCES, ZERO, everyday_pairs, reference_values
from model.analysis.circuits import Circuit, holds
from model.analysis.contrasts import CleanRun
from model.analysis.kinds import kind_of
from model.analysis.patching import Exchanges

CHANGES = 7  # of which both halves of every reference are searched
LONGEST = 45  # characters of a sentence of ``kinds``
ALONE, MEASURED = 6, 20  # sentences whose own circuits are measured, and on how many others


def everyday_edits(corrector: Corrector) -> Iterator[tuple[Edit, Exchanges]]:
    """The first change of each everyday sentence, where a character beside it can be exchanged."""
    for wrong, right in everyday_pairs():
        for edit in edits_of(wrong, right)[:1]:
            try:
                contrast_of_edit(corrector, edit)
                yield edit, exchanges(corrector, edit)
            except ValueError:
                continue


def halves_of(corrector: Corrector, edit: Edit, found: Exchanges, reference: str) -> list[AblationValues]:
    """The ablation values from each half (seed 0) of the sentences of a reference."""
    rng, network, tokenizer = np.random.default_rng(0), corrector.patched, corrector.tokenizer
    if "corrupted" not in reference:
        pairs = [everyday_pairs()[at] for at in rng.permutation(len(everyday_pairs()))]
        return [reference_values(corrector, edit, reference, pairs[half::2]) for half in (0, 1)]
    values, order = [], rng.permutation(len(found.runs))
    for chosen in (order[::2], order[1::2]):
        if reference != CORRUPTED_MEAN:  # the median run of the half
            chosen = chosen[np.argsort(found.scores[chosen])[[(len(chosen) - 1) // 2]]]
        values.append(corrupted_values(network, tokenizer, *(found.runs[at] for at in chosen.tolist())))
    return values


def agreement(one: Circuit, other: Circuit) -> tuple[float, float]:
    """The Jaccard index of the members, and the correlation of the effects of all nodes."""
    members = {*one.members}, {*other.members}
    effects = [dict(zip(each.nodes, each.effects, strict=True)) for each in (one, other)]
    correlation = np.corrcoef([[each[node] for node in one.nodes] for each in effects])[0, 1]
    return len(members[0] & members[1]) / len(members[0] | members[1]), float(correlation)


@click.group()
def main() -> None:
    """How stable circuits are."""


@main.command()
def halves() -> None:
    """Print a row for each reference, and one for the means against the corrupted ones."""
    corrector, rows = Corrector.load(), dict[str, list[tuple[float, float]]]()
    for edit, found in islice(everyday_edits(corrector), CHANGES):
        circuits = {
            reference: [find_circuit(corrector, edit, ablation=each) for each in values]
            for reference in REFERENCES
            if reference != ZERO  # for which no sentences are needed
            for values in [halves_of(corrector, edit, found, reference)]
        }
        circuits["mean, mean of corrupted"] = [circuits[MEAN][0], circuits[CORRUPTED_MEAN][0]]
        for name, (one, other) in circuits.items():
            if one.members and other.members:
                rows.setdefault(name, []).append(agreement(one, other))
    print("| two halves of | changes | Jaccard, median | lowest | highest | effects, median correlation |")
    print("|---|---|---|---|---|---|")
    for name, some in rows.items():
        shares, correlations = np.array(some).T
        numbers = np.median(shares), shares.min(), shares.max()
        shown = " | ".join(f"{each:.2f}" for each in numbers)
        print(f"| {name} | {len(some)} | {shown} | {np.median(correlations):.3f} |")


def corrected_edits(corrector: Corrector, pairs: Path, kind: str) -> Iterator[Edit]:
    """The changes of one kind in random order (seed 0), where the network finds the fix likelier."""
    rows = [json.loads(line) for line in pairs.read_text("utf-8").splitlines()]
    for at in np.random.default_rng(0).permutation(len(rows)).tolist():
        wrong, right = rows[at]["wrong"], rows[at]["right"]
        edits = edits_of(wrong, right) if len(wrong) <= LONGEST else ()
        if len(edits) != 1 or kind_of(edits[0].change, wrong, right) != kind:
            continue
        try:
            run = CleanRun(corrector, edits[0])
        except ValueError:
            continue
        if run.scores([()])[0] > 0:
            yield edits[0]


@main.command()
@click.argument("pairs", type=click.Path(exists=True, path_type=Path))
@click.option("--kind", "kinds", multiple=True, default=("sound", "jamo"))
@click.option("--sentences", default=200, help="Half of them are searched, half held out.")
def kinds(pairs: Path, kinds: Sequence[str], sentences: int) -> None:
    """Print a row for each kind of mistake in PAIRS, JSON lines with "wrong" and "right"."""
    corrector = Corrector.load()
    print("| kind | searched | parts | share | p | held out | without a circuit | within the goal | alone |")
    print("|---|---|---|---|---|---|---|---|---|")
    for kind in kinds:
        edits = [*islice(corrected_edits(corrector, pairs, kind), sentences)]
        searched, others = edits[: len(edits) // 2], edits[len(edits) // 2 :]
        found = find_common_circuit(corrector, searched)
        shares = faithfulness(corrector, others, found.members)
        own = [find_circuit(corrector, edit).members for edit in searched[:ALONE]]
        alone = [faithfulness(corrector, others[:MEASURED], members) for members in own if members]
        print(
            f"| {kind} | {len(searched)} | {len(found.members)} of {len(found.nodes)} "
            f"| {found.faithfulness:.2f} | {found.p:.3f} | {_quartiles(shares)} of {len(others)} "
            f"| {np.isnan(shares).sum()} | {np.mean(holds(shares[~np.isnan(shares)], found.goal)):.0%} "
            f"| {_quartiles(np.concatenate(alone))} |",
            flush=True,
        )


def _quartiles(shares: np.ndarray) -> str:
    low, middle, high = np.nanquantile(shares, [0.25, 0.5, 0.75])
    return f"{middle:.2f} ({low:.2f} to {high:.2f})"


if __name__ == "__main__":
    main()
