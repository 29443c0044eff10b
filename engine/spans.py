"""Names a change by its place in the source, and finds the change that a question names."""

from collections.abc import Sequence

from model.analysis.edits import changes_in_tokens
from model.correction.answers import Intervenes
from model.text.changes import Change

ChangeSpan = tuple[int, int]  # source_start and source_end of a change, counted in tokens of its trace


def change_at(corrector: Intervenes, source: str, target: str, span: ChangeSpan) -> Change:
    """The change between two texts whose tokens are at ``span``, or nearest to it; its own offsets count characters.

    Raises ValueError where nothing changes, or where the trace does not say where its tokens stand.
    """
    changes = corrector.changes(source, target)
    placed = changes_in_tokens(corrector.trace(source, target), changes) or ()
    return changes[placed.index(nearest(placed, span))]


def nearest(changes: Sequence[Change], span: ChangeSpan) -> Change:
    """The change at ``span``, or else the one that begins and ends nearest to it.

    A question has only the two texts, which are aligned again to find ``changes``. Where one of two equal syllables
    was deleted, this alignment may delete the other one.

    Raises ValueError where there are no changes.
    """
    if not changes:
        raise ValueError(f"nothing changes at {span}")  # no word of the texts: it may reach a log
    return min(changes, key=lambda each: abs(each.source_start - span[0]) + abs(each.source_end - span[1]))
