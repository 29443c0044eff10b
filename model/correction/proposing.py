"""Turns the candidates that were chosen for a sentence into proposed changes, each with its probabilities."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from model.activations.drafting import Produced
from model.correction.candidates import LEAST_PROBABILITY
from model.correction.confidence import Chosen
from model.text.changes import Change, apply_changes, find_changes, select_changes

# What the network's probability of a change should be at least if the change removes letters or words.
PROBABILITY_OF_LOSS = 0.75
# The same if a word loses its first syllable. People seldom type that twice by mistake, but the name 남나무 would become 나무.
PROBABILITY_OF_LOST_BEGINNING = 0.99


def changes_of(
    source: str, chosen: Iterable[Chosen], accepts: Callable[[Change], bool]
) -> tuple[Change, ...]:
    """The changes of ``source`` that the chosen candidates make, each with its confidence.

    Candidates that touch become one change, as in ``find_changes``. ``accepts`` is asked about that whole change.
    """
    kept = without_spoilers(list(chosen))
    parts = [Change(s.start, s.end, 0, 0, s.kept, text) for s, text, _ in kept]
    changes = find_changes(source, apply_changes(source, parts))
    return tuple(_rated(change, kept) for change in select_changes(changes, accepts))


def without_spoilers(chosen: Sequence[Chosen]) -> list[Chosen]:
    """Drop a choice for a stretch that the network left as it was, if it touches a surer choice for one that the network changed.

    Together they would be one change, and that would be only as sure as the less sure of the two.
    """
    changed = [each for each in chosen if each.stretch.is_changed]
    return [
        each
        for each in chosen
        if each.stretch.is_changed
        or not any(
            other.confidence > each.confidence and _touches(each, other.stretch.start, other.stretch.end)
            for other in changed
        )
    ]


def _rated(change: Change, chosen: Sequence[Chosen]) -> Change:
    """The change with the confidence of the least sure of the stretches that it is made of."""
    touched = [each for each in chosen if _touches(each, change.source_start, change.source_end)]
    least = min(touched or chosen, key=lambda each: each.confidence)
    first_choice = all(each.text == each.stretch.written for each in touched)
    instead_of = None if first_choice else "".join(each.stretch.written for each in touched)
    return replace(change, known_confidence=least.confidence, instead_of=instead_of)


def _touches(chosen: Chosen, start: int, end: int) -> bool:
    return chosen.stretch.start <= end and start <= chosen.stretch.end


def with_probabilities(change: Change, produced: Produced, kept_id: int) -> Change:
    """``change`` with both probabilities: that of the tokens ``produced`` in its place, and that of ``kept_id``, the token with
    which keeping the source would begin.
    """
    end = max(change.target_end, change.target_start + 1)
    written = sum(produced.log_probability(t, produced.ids[t]) for t in range(change.target_start, end))
    return replace(
        change,
        fix_probability=min(1.0, math.exp(written)),  # logarithms of float32 may sum to a little more than 0
        keep_probability=min(1.0, math.exp(produced.log_probability(change.target_start, kept_id))),
    )


def is_supported(change: Change, source: str) -> bool:
    """Whether the network still finds the change of ``source`` possible when all proposals for the sentence are made.

    A candidate's probability comes from a pass with other text before it. In the final text the candidate may be nonsense. A change
    that removes letters needs a higher probability: the trees prefer usual text, and 나무 is far more usual than the name 남나무.

    >>> loss = Change(2, 3, 0, 0, "무", "", fix_probability=0.9, keep_probability=0.1)
    >>> is_supported(loss, "남나무이"), is_supported(replace(loss, fix_probability=0.7), "남나무이")
    (True, False)
    >>> is_supported(replace(loss, source_start=0, source_end=1, wrong="남"), "남나무이")
    False
    >>> is_supported(replace(loss, source_start=1, source_end=2, wrong="나"), "나나이")
    False
    """
    if _loses_beginning(change, source):
        least = PROBABILITY_OF_LOST_BEGINNING
    else:
        least = PROBABILITY_OF_LOSS if _loses(change) else LEAST_PROBABILITY
    return change.fix_probability is None or change.fix_probability >= least


def _loses_beginning(change: Change, source: str) -> bool:
    if change.right or not change.wrong.isalnum():
        return False
    start, end = change.source_start, change.source_end
    # 나나이 gives 나이 whichever 나 is removed, so the change may name the second. Move it back to the first.
    while start and source[start - 1] == source[end - 1]:
        start, end = start - 1, end - 1
    before, after = source[max(start - 1, 0) : start], source[change.source_end :][:1]
    return after.isalnum() and not before.isalnum()


def _loses(change: Change) -> bool:
    """Whether fewer letters are written than were typed, or text with a space inside is replaced by other letters."""
    typed, written = ("".join(filter(str.isalnum, text)) for text in (change.wrong, change.right))
    divided = " " in change.wrong.strip() and change.wrong.split() != change.right.split()
    return len(written) < len(typed) or (divided and typed != written)
