"""Twins for patching: another sentence in which the same character was not, or need not be, corrected.

A twin is compared with the typed sentence position by position, so it says where each typed token stands in it. The question is the
same in both: log p(fix) - log p(keep) where the change begins.

S source tokens of the typed sentence; its decoder has read ``row + 1`` tokens where it is asked.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from model.analysis.contrasts import contrast_of_change
from model.analysis.edits import copy_positions
from model.correction.answers import Network
from model.text.changes import Change, find_changes
from model.trace.patches import Patch
from model.trace.taps import tap

# Frequent open syllables of different sounds; one of them stands in for a character beside the mistake.
SUBSTITUTES = "가나다리마사자하고도이"
NO_PLACE = -1


@dataclass(frozen=True)
class CorruptedRun:
    """The other sentence up to the row that is asked about.

    >>> twin = corrupted_by_sentence("머거요", "먹어요", *find_changes("머거요", "먹어요"), "또 머거")
    >>> twin.written, twin.source_places
    ('또 ', (2, 3, -1, -1))
    """

    source: str
    written: str  # what its decoder has written before the row
    source_places: tuple[int, ...]  # (S,) where each typed token stands in this sentence; NO_PLACE if nowhere
    target_places: tuple[int, ...]  # (row + 1,) the same for the tokens that the decoder has read


def corrupted_by_correction(source: str, target: str, row: int) -> CorruptedRun:
    """The right sentence as a twin: there is nothing to correct in it.

    >>> corrupted_by_correction("머거요", "먹어요", row=0).source
    '먹어요'
    """
    back = copy_positions(find_changes(target, source), len(target) + 1, len(source) + 1)
    return CorruptedRun(target, target[:row], tuple(back.tolist()), tuple(range(row + 1)))


def corrupted_by_sentence(
    source: str, target: str, change: Change, other: str, row: int | None = None
) -> CorruptedRun:
    """``other`` as a twin: any sentence that contains what was typed at the change. The two sentences are aligned there.

    ``row``: the row that is asked about, by default where the change begins.

    Raises ValueError where ``other`` does not contain it.

    >>> corrupted_by_sentence("머거요", "먹어요", *find_changes("머거요", "먹어요"), "머거라").target_places
    (0,)
    """
    row = change.target_start if row is None else row
    at = other.find(change.wrong) if change.wrong else -1
    if at < 0:
        raise ValueError("the other sentence should have what was typed at the change")
    shift = at - change.source_start
    places = tuple(
        place + shift if 0 <= place + shift < len(other) and place < len(source) else NO_PLACE
        for place in range(len(source) + 1)
    )
    read = at + row - change.target_start  # the row of ``other`` that is asked about
    moved = (place + read - row for place in range(1, row + 1))
    written = other[:at] + target[change.target_start : row]
    return CorruptedRun(other, written, places, (0, *(place if place >= 1 else NO_PLACE for place in moved)))


def corrupted_by_exchange(corrector: Network, source: str, target: str, change: Change) -> CorruptedRun:
    """The typed sentence with one character beside the mistake exchanged. Of all exchanges that are tried it is the one after which the fix
    has the lowest score.

    >>> twin = corrupted_by_exchange(corrector, "머거요", "먹어요", *find_changes("머거요", "먹어요"))
    >>> len(twin.source), twin.source[0]
    (3, '머')

    Raises ValueError as ``contrast_of_change`` does, and where there is no character to exchange.
    """
    contrast, tokenizer = contrast_of_change(corrector, source, target, change), corrector.tokenizer
    if len(tokenizer.encode_source(source)) != len(source) + 1:
        raise ValueError("a twin is made of characters, so each token should be one")
    # The typed character that the fix is compared with has to stay.
    kept = change.source_start + contrast.row - change.target_start
    around = range(max(change.source_start - 1, 0), min(change.source_end + 1, len(source)))
    tried = [
        (place, other)
        for place in around
        if place != kept and not source[place].isspace()
        for other in SUBSTITUTES
        if other != source[place] and not tokenizer.is_outside(other)
    ]
    if not tried:
        raise ValueError("the sentence has no character beside the mistake")
    ids = tokenizer.encode_source(source)
    scores = corrector.patched.passes(
        ids,
        tokenizer.encode_target(target)[: contrast.row + 1],
        [(_exchanged(corrector, ids, place, other),) for place, other in tried],
    ).score(contrast.written, contrast.instead)
    place, other = tried[int(scores.argmin())]
    twin = source[:place] + other + source[place + 1 :]
    return CorruptedRun(
        twin, target[: contrast.row], tuple(range(len(source) + 1)), tuple(range(contrast.row + 1))
    )


def _exchanged(corrector: Network, ids: Sequence[int], place: int, other: str) -> Patch:
    network = corrector.patched
    before, after = (
        network.vectors[each] for each in (ids[place], corrector.tokenizer.encode_source(other)[0])
    )
    start = network.stream_start(ids)[place]
    return Patch(
        tap("encoder", "residual"), 0, start + (after - before) * np.float32(np.sqrt(len(after))), place
    )
