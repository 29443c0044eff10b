"""A second reading: a corrected sentence is read again, until nothing more in it is sure.

The network is less sure of a change when other mistakes stand beside it. It doubts 배개가 in a sentence with a second mistake and is
sure of it once that one is mended. So correcting a corrected sentence would change it again. To avoid this, the sentence is read again
as corrected, and what is sure now becomes a change of the typed sentence. The last reading finds nothing, therefore correcting a
corrected sentence changes nothing. A right sentence is read once.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from model.text.changes import Change, apply_changes, find_changes, in_order


def made(changes: Iterable[Change], minimum: float) -> list[Change]:
    """The changes that are sure enough. Their offsets in the target stay those of the text with all ``changes``."""
    return [change for change in changes if change.confidence >= minimum]


def after_second_reading(
    source: str, first: Sequence[Change], second: Sequence[Change], minimum: float
) -> tuple[Change, ...]:
    """The changes of ``source`` after both readings: ``first`` of it, ``second`` of the text with what ``first`` is sure of.

    What the second reading is not sure of is left out; what the first was unsure of stays a proposal.
    """
    sure = made(first, minimum)
    once = apply_changes(source, sure)
    again = made(second, minimum)
    twice = find_changes(source, apply_changes(once, again))
    before = {(change.source_start, change.source_end, change.right): change for change in sure}
    known = [
        replace(before[key], target_start=change.target_start, target_end=change.target_end)
        if (key := (change.source_start, change.source_end, change.right)) in before
        else _weighed(change, sure, in_order(again))
        for change in twice
    ]
    unsure = [
        change
        for change in first
        if change.confidence < minimum and not any(_meet(change, each) for each in known)
    ]
    return in_order([*known, *unsure])


def _weighed(change: Change, first: Iterable[Change], second: Iterable[Change]) -> Change:
    """A change of both readings. Its confidence is the lowest of what it is made of, its probabilities those of the second reading."""
    mine = [each for each in first if _meet(change, each)]
    others = [
        each
        for each in second
        if each.target_start <= change.target_end and change.target_start <= each.target_end
    ]
    # Where a syllable stands twice, the change of both readings may begin at the other one and touch none of its parts.
    parts = [*mine, *others] or [*first, *second]
    least = min(parts, key=lambda each: each.confidence)
    last = min(others or parts, key=lambda each: each.confidence)
    return replace(
        change,
        fix_probability=last.fix_probability,
        keep_probability=last.keep_probability,
        known_confidence=least.confidence,
        instead_of=last.instead_of,
    )


def _meet(one: Change, other: Change) -> bool:
    """Whether two changes of one source touch."""
    return one.source_start <= other.source_end and other.source_start <= one.source_end
