"""How sure the network was, in words: of what it changed, and of what it left undone."""

from collections.abc import Sequence

from model.changes import Change
from ui.numbers_text import probability
from ui.reading import Say, visible, what_happened

MOST = 5


def probabilities(say: Say, change: Change) -> str:
    """Of this change, and of leaving the text alone."""
    return say(
        "probabilities", fix=probability(change.fix_probability), keep=probability(change.keep_probability)
    )


def left_undone(proposed: Sequence[Change], made: Sequence[Change]) -> list[Change]:
    """What the network considered and did not do, the surest first."""
    spans = {(change.source_start, change.source_end) for change in made}
    undone = [change for change in proposed if (change.source_start, change.source_end) not in spans]
    return sorted(undone, key=lambda change: -change.confidence)


def describe(say: Say, undone: Sequence[Change], minimum: float | None = None) -> str:
    """At most MOST of these changes, each with its confidence, in one line.

    With the ``minimum`` that they did not reach, no confidence reads as if it had.
    """
    named = " · ".join(_named(say, change, minimum) for change in undone[:MOST])
    rest = say("considered_more", count=len(undone) - MOST) if len(undone) > MOST else ""
    return f"{say('considered', changes=named)} {rest}".strip()


def _named(say: Say, change: Change, minimum: float | None) -> str:
    return say(
        f"considered_{what_happened(change)}",
        wrong=visible(change.wrong),
        right=visible(change.right),
        confidence=probability(change.confidence, minimum),
    )
