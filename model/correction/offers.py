"""Words that were typed in the English keyboard layout. They are offered beside the corrections of a sentence, never made.

The network is given the Hangul that the keys write, so that the rest of the sentence is corrected well.
Only the person who typed the word knows what was meant. So an offer has no probability, and it is not made at any minimum confidence.
"""

import math
from collections.abc import Iterable, Sequence

from model.correction.words import Words
from model.text.anchors import Passage
from model.text.changes import Change, apply_changes, in_order
from model.text.english_layout import find_in_english_layout
from model.text.sentences import Span

LEAST_COUNT = {2: 5}  # how often a word of so many syllables should stand in the training sentences
LEAST_COUNT_LONGER = 2


def find_offers(part: Passage, words: Words) -> tuple[Change, ...]:
    """The words of a sentence that may have been typed in the English layout."""
    return find_in_english_layout(part.text, part.verbatim, lambda word: _is_known(word, words))


def _is_known(word: str, words: Words) -> bool:
    least = LEAST_COUNT.get(len(word), LEAST_COUNT_LONGER)
    return words.known([word]).whole >= math.log1p(least)


def as_if_right(part: Passage, offers: Sequence[Change]) -> Passage:
    """The sentence with all offers accepted, as the network is to read it."""
    if not offers:
        return part
    verbatim = []
    for start, end in part.verbatim:
        drift = _drift(each for each in offers if each.source_end <= start)
        verbatim.append(Span(start + drift, end + drift))
    return Passage.of(apply_changes(part.text, offers), verbatim)


def with_offers(changes: Iterable[Change], offers: Sequence[Change]) -> tuple[Change, ...]:
    """``changes``, found in the sentence ``as_if_right``, moved to their places in the sentence as typed, together with the offers.

    A change that touches an offer is left out: it would make no sense if the offer is declined.
    """
    rest = [change for change in changes if not any(_touches(change, offer) for offer in offers)]
    moved = [
        change.moved(-_drift(each for each in offers if each.target_end <= change.source_start), 0)
        for change in rest
    ]
    return in_order([*moved, *offers])


def _touches(change: Change, offer: Change) -> bool:
    """Whether a change touches what an offer wrote. Both places are counted in the sentence ``as_if_right``."""
    return change.source_start <= offer.target_end and offer.target_start <= change.source_end


def _drift(offers: Iterable[Change]) -> int:
    return sum(len(offer.right) - len(offer.wrong) for offer in offers)
