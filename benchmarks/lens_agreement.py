"""How often does a lens after each sub-layer say what the network says in the end, and when does it see the fix?

    python benchmarks/lens_agreement.py [--edits 1000]

The sentences are the project's own (``own_pairs``): everyday ones as somebody typed them, and with generated errors. An edit
is a change from the typed to the right sentence. Only those count whose fix the network prefers in the end.
"""

import random
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import click
import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.own_pairs import own_pairs
from model.analysis.lenses import JAMO, SIDES, Decided, when_decided
from model.correction.corrector import Corrector
from model.stored.folder import of_weights
from model.text import hangul
from model.text.changes import Change, find_changes

Agreements = dict[str, list[np.ndarray]]  # what is counted -> for each case (places,) of 0 and 1


@click.command()
@click.option("--edits", default=1000, show_default=True)
@click.option("--model", default="transformer", show_default=True)
@click.option("--seed", default=0, show_default=True)
def main(edits, model, seed):
    """Print the shares at each place of the decoder and of the encoder."""
    corrector = Corrector.load(model)
    pairs = [pair for half in own_pairs(2, seed) for pair in half if pair[0] != pair[1]]
    random.Random(seed).shuffle(pairs)
    counts, asked, sentences = measured(corrector, pairs, edits)
    click.echo(f"{asked} edits in {sentences} sentences, weights {of_weights(corrector.fingerprint)}\n")
    layers = corrector.config.num_layers
    click.echo(
        table(
            counts,
            ("the final character at an edit", "at all other characters", "the fix beats what was typed"),
            decoder_places(layers),
        )
    )
    for side, places in zip(SIDES, (encoder_places(layers), decoder_places(layers)), strict=True):
        click.echo(
            "\n" + table(counts, [f"{side} {part}{how}" for part in JAMO for how in ("", ", typed")], places)
        )


def measured(
    corrector: Corrector, pairs: Iterable[tuple[str, str]], edits: int
) -> tuple[Agreements, int, int]:
    """(counts, edits, sentences) of as many pairs as it takes."""
    counts: Agreements = defaultdict(list)
    asked = sentences = 0
    for wrong, right in pairs:
        if asked >= edits:
            break
        if len(wrong) > corrector.config.max_length:
            continue
        changes = find_changes(wrong, right)
        decided = when_decided(corrector, wrong, right, changes)
        preferred = [
            (change, number)
            for change, number in zip(changes, decided.changes, strict=True)
            if number is not None and decided.scores[-1, number] > 0
        ]
        asked, sentences = asked + len(preferred), sentences + bool(preferred)
        count_characters(counts, decided, [number for _, number in preferred])
        for change, number in preferred:
            counts["the fix beats what was typed"].append(decided.scores[:, number] > 0)
            for name, found in jamo_of(decided, change):
                counts[name].append(found)
    return counts, asked, sentences


def count_characters(counts: Agreements, decided: Decided, numbers: Sequence[int]) -> None:
    """Count after which sub-layers the likeliest character is already the final one."""
    rows = {decided.questions[number].row for number in numbers}
    same = decided.likeliest[..., 0] == decided.likeliest[-1, :, 0]
    for row, found in enumerate(same.T):
        counts["the final character at an edit" if row in rows else "at all other characters"].append(found)


def jamo_of(decided: Decided, change: Change) -> Iterator[tuple[str, np.ndarray]]:
    """For each jamo that a change replaces: after which sub-layers the fix's jamo is read, and after which the typed one."""
    if len(change.wrong) != len(change.right):
        return
    for place, (typed, fixed) in enumerate(zip(change.wrong, change.right, strict=True)):
        if not (hangul.is_syllable(typed) and hangul.is_syllable(fixed)):
            continue
        positions = {"encoder": change.source_start + place, "decoder": change.target_start + place}
        for part, before, after in zip(JAMO, hangul.indices(typed), hangul.indices(fixed), strict=True):
            if before == after:
                continue
            for side, position in positions.items():
                read = decided.jamo[f"{side} {part}"].likeliest[:, position]
                yield f"{side} {part}", read == after
                yield f"{side} {part}, typed", read == before


def decoder_places(layers: int) -> list[str]:
    parts = ("self-attention", "encoder-decoder attention", "feed-forward")
    return ["start", *(f"{n} {part}" for n in range(1, layers + 1) for part in parts)]


def encoder_places(layers: int) -> list[str]:
    return [
        "start",
        *(f"{n} {part}" for n in range(1, layers + 1) for part in ("self-attention", "feed-forward")),
    ]


def table(counts: Agreements, names: Sequence[str], places: Sequence[str]) -> str:
    """A row for each place, a column for each of ``names``."""
    shares = {name: np.mean(counts[name], axis=0) for name in names}
    lines = ["| after | " + " | ".join(f"{name} ({len(counts[name])})" for name in names) + " |"]
    lines.append("|---" * (len(names) + 1) + "|")
    for number, place in enumerate(places):
        lines.append(f"| {place} | " + " | ".join(f"{shares[name][number]:.2f}" for name in names) + " |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
