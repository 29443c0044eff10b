"""Stability of circuits by their reference, and the claims that hold, over the everyday sentences.

    python benchmarks/references.py stability
    python benchmarks/references.py claims

``stability`` searches the circuit of each change twice, against the two halves of a reference's sentences:
everyday ones, or corrupted ones. ``claims`` counts the claims that hold against the null of random parts.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

import click
import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from model import Corrector
from model.analysis import AblationValues, Edit, contrast_of_edit, corrupted_values, edits_of, exchanges
from model.analysis.ablation import CORRUPTED_MEAN, MEAN, REFERENCES, ZERO, everyday_pairs, reference_values
from model.analysis.circuits import Circuit, find_circuit
from model.analysis.claims import CLAIMS, verified_explanation
from model.analysis.patching import Exchanges

CHANGES = 7  # of which both halves of every reference are searched


def everyday_edits(corrector: Corrector) -> Iterator[tuple[Edit, Exchanges]]:
    """The first change of each everyday sentence, where a character beside it can be exchanged."""
    for wrong, right in everyday_pairs():
        for edit in edits_of(wrong, right)[:1]:
            try:
                contrast_of_edit(corrector, edit)
                yield edit, exchanges(corrector, edit)
            except ValueError:
                continue


def halves(corrector: Corrector, edit: Edit, found: Exchanges, reference: str) -> list[AblationValues]:
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
    """References of ablation, and claims, over the everyday sentences."""


@main.command()
def stability() -> None:
    """Print a row for each reference, and one for the means against the corrupted ones."""
    corrector, rows = Corrector.load(), dict[str, list[tuple[float, float]]]()
    edits = [each for each, _ in zip(everyday_edits(corrector), range(CHANGES), strict=False)]
    for edit, found in edits:
        of_halves = {}
        for reference in REFERENCES:
            if reference != ZERO:  # which no sentences are needed for
                values = halves(corrector, edit, found, reference)
                of_halves[reference] = [find_circuit(corrector, edit, ablation=each) for each in values]
        pairs = of_halves | {"mean, mean of corrupted": [of_halves[MEAN][0], of_halves[CORRUPTED_MEAN][0]]}
        for name, (one, other) in pairs.items():
            if one.members and other.members:
                rows.setdefault(name, []).append(agreement(one, other))
    print("| two halves of | changes | Jaccard, median | lowest | highest | effects, median correlation |")
    print("|---|---|---|---|---|---|")
    for name, some in rows.items():
        shares, correlations = np.array(some).T
        numbers = np.median(shares), shares.min(), shares.max()
        shown = " | ".join(f"{each:.2f}" for each in numbers)
        print(f"| {name} | {len(some)} | {shown} | {np.median(correlations):.3f} |")


@main.command()
def claims() -> None:
    """Print for each claim how often it holds, and how many exchanges let the fix fall behind."""
    corrector = Corrector.load()
    edits = [*everyday_edits(corrector)]
    found = [verified_explanation(corrector, edit).claims for edit, _ in edits]
    print("| claim | holds | made |\n|---|---|---|")
    for name in CLAIMS:
        of_name = [each.holds for some in found for each in some if each.name == name]
        print(f"| {name} | {sum(of_name)} | {len(of_name)} |")
    scores = [np.concatenate([each.scores, *each.others.values()]) for _, each in edits]
    median, lowest = (
        sum(measure(each) < 0 for each in some)
        for measure, some in ((np.median, [each.scores for _, each in edits]), (np.min, scores))
    )
    print(f"\nOf {len(edits)} changes the fix falls behind in the median exchange of {median},")
    print(f"and in the lowest of all exchanges of {lowest}.")


if __name__ == "__main__":
    main()
