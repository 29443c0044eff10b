"""Names a change by its place in the source, and finds the change that a question names."""

from collections.abc import Sequence

from model.text.changes import Change

Span = tuple[int, int]  # source_start and source_end of a change


def nearest(changes: Sequence[Change], span: Span) -> Change:
    """The change at ``span``, or else the one that begins and ends nearest to it.

    A question has only the two texts, which are aligned again to find ``changes``. Where one of two equal syllables
    was deleted, this alignment may delete the other one.

    Raises ValueError where there are no changes.
    """
    if not changes:
        raise ValueError(f"nothing changes at {span}")  # no word of the texts: it may reach a log
    return min(changes, key=lambda each: abs(each.source_start - span[0]) + abs(each.source_end - span[1]))
