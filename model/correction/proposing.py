"""Proposed changes of sentences, made from candidates, a second reading and offers.

* ``changes_of``: changes with their probabilities.
* ``after_second_reading``: the network is less sure of a change when other mistakes are near it. So a mended
  sentence is read again, and a change that is sure now becomes a change of the typed sentence. Otherwise
  correcting a corrected sentence would change it again. A right sentence is read once.
* Edits before the reading. Offers: words that were typed in the English keyboard layout. The network is
  given the Hangul of the same keys, so that the rest of the sentence is corrected well. Only the person who
  typed the word knows which was meant, so an offer has no probability, and no minimum confidence makes it.
  Particles behind figures and Latin letters, figures in place of placeholders: ``model.text.readings``.
* ``agreeing``: the same change of the same words gets one confidence in a whole text, the lowest of all its
  places, so that it is made at all of them or at none.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

from model.activations.drafting import Produced
from model.correction.candidates import LEAST_PROBABILITY
from model.correction.confidence import Chosen
from model.correction.counts import Words
from model.text.changes import Change, apply_changes, find_changes, in_order, select_changes
from model.text.keyboard import find_in_english_layout
from model.text.passages import Passage
from model.text.protected import is_dialect
from model.text.readings import find_particles, find_stand_ins
from model.text.tokenizer import Span

# The least probability, by the network, of a change that removes letters or words.
PROBABILITY_OF_LOSS = 0.75
# The same if a word loses its first syllable. People seldom type that twice by mistake, but the name 남나무
# would become 나무.
PROBABILITY_OF_LOST_BEGINNING = 0.99
OFFERED = 0.5  # the most confidence of a change that is only offered


def changes_of(
    source: str, chosen: Iterable[Chosen], accepts: Callable[[Change], bool]
) -> tuple[Change, ...]:
    """The changes of ``source`` that the chosen candidates make, each with its confidence.

    Candidates that touch become one change, as in ``find_changes``. ``accepts`` decides on that whole change.
    """
    kept = _without_spoilers(list(chosen))
    parts = [Change(s.start, s.end, 0, 0, s.kept, text) for s, text, _ in kept]
    changes = find_changes(source, apply_changes(source, parts))
    return tuple(offered_in_dialect(_rated(each, kept), source) for each in select_changes(changes, accepts))


def offered_in_dialect(change: Change, source: str) -> Change:
    """``change``, no surer than an offer where it is of a dialect form in quotes."""
    if not is_dialect(change, source):
        return change
    return replace(change, known_confidence=min(change.confidence, OFFERED))


def _without_spoilers(chosen: Sequence[Chosen]) -> list[Chosen]:
    """Drop a choice for a stretch that the network left as it was, if it touches a surer choice for one that
    the network changed.

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
    """``change`` with both probabilities: that of the tokens ``produced`` in its place, and that of
    ``kept_id``, the token with which keeping the source would begin.
    """
    end = max(change.target_end, change.target_start + 1)
    written = sum(produced.log_probability(t, produced.ids[t]) for t in range(change.target_start, end))
    return replace(
        change,
        fix_probability=min(1.0, math.exp(written)),  # logarithms of float32 may sum to a little more than 0
        keep_probability=min(1.0, math.exp(produced.log_probability(change.target_start, kept_id))),
    )


def is_supported(change: Change, source: str) -> bool:
    """Whether the network still finds the change of ``source`` possible when all proposals for the sentence
    are made.

    A candidate's probability comes from a pass with other text before it. In the final text the candidate may
    be nonsense. A change that removes letters needs a higher probability: the trees prefer usual text, and
    나무 is far more usual than the name 남나무.

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
    """Whether fewer letters are written than were typed, or text with a space inside is replaced by other
    letters.
    """
    typed, written = ("".join(filter(str.isalnum, text)) for text in (change.wrong, change.right))
    divided = " " in change.wrong.strip() and change.wrong.split() != change.right.split()
    return len(written) < len(typed) or (divided and typed != written)


def made(changes: Iterable[Change], minimum: float) -> list[Change]:
    """The changes that are sure enough.

    Their offsets in the target stay those of the text with all ``changes``.
    """
    return [change for change in changes if change.confidence >= minimum]


def weighed(changes: Iterable[Change]) -> tuple[Change, ...]:
    """The changes that have a confidence; offers have none."""
    return select_changes(changes, lambda change: change.is_weighed)


def after_second_reading(
    source: str, first: Sequence[Change], second: Sequence[Change], minimum: float
) -> tuple[Change, ...]:
    """The changes of ``source`` after both readings: ``first`` of it, ``second`` of the text with what
    ``first`` is sure of.

    Unsure changes of the second reading are left out, those of the first stay proposals.
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
        if change.confidence < minimum and not any(meet(change, each) for each in known)
    ]
    return in_order([*known, *unsure])


def _weighed(change: Change, first: Iterable[Change], second: Iterable[Change]) -> Change:
    """A change of both readings.

    Its confidence is the lowest of its parts, its probabilities those of the second reading.
    """
    mine = [each for each in first if meet(change, each)]
    others = [
        each
        for each in second
        if each.target_start <= change.target_end and change.target_start <= each.target_end
    ]
    # Where a syllable comes twice, the change of both readings may begin at the other one and touch none of
    # its parts.
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


def meet(one: Change, other: Change) -> bool:
    """Whether two changes of one source touch."""
    return one.source_start <= other.source_end and other.source_start <= one.source_end


LEAST_COUNT = {2: 5}  # how often a word of so many syllables should occur in the training sentences
LEAST_COUNT_LONGER = 2


def find_offers(part: Passage, words: Words) -> tuple[Change, ...]:
    """The words of a sentence that may have been typed in the English layout."""
    return find_in_english_layout(part.text, part.verbatim, lambda word: _is_known(word, words))


def _is_known(word: str, words: Words) -> bool:
    least = LEAST_COUNT.get(len(word), LEAST_COUNT_LONGER)
    return words.known([word]).whole >= math.log1p(least)


class Edits(NamedTuple):
    """Changes of a sentence that are made before the network reads it, in order and apart from each other.

    ``shown`` are proposed with the network's: offers, and particles in another form or place. ``hidden`` are
    taken back: figures in place of placeholders.
    """

    shown: tuple[Change, ...] = ()
    hidden: tuple[Change, ...] = ()

    @property
    def all(self) -> tuple[Change, ...]:
        return in_order([*self.shown, *self.hidden])


PARTICLE_CONFIDENCE = 0.97  # of a particle that does not fit how the figures or letters before it are read


def find_edits(part: Passage, words: Words) -> Edits:
    """The edits of a sentence. A placeholder or particle that touches another edit is left out."""
    kept = (*part.verbatim, *part.kept)
    shown = find_offers(part, words)
    hidden = _apart(find_stand_ins(part.text, kept), shown)
    particles = _apart(find_particles(part.text, kept), (*shown, *hidden))
    rated = (replace(each, known_confidence=PARTICLE_CONFIDENCE, instead_of=each.wrong) for each in particles)
    return Edits((*shown, *rated), hidden)


def _apart(changes: Iterable[Change], others: Sequence[Change]) -> tuple[Change, ...]:
    return tuple(change for change in changes if not any(meet(change, other) for other in others))


def as_if_right(part: Passage, edits: Sequence[Change]) -> Passage:
    """The sentence with all edits made, as the network is to read it."""
    if not edits:
        return part
    verbatim, kept = (
        [
            Span(*(place + _drift(e for e in edits if e.source_end <= start) for place in (start, end)))
            for start, end in spans
        ]
        for spans in (part.verbatim, part.kept)
    )
    return Passage.of(apply_changes(part.text, edits), verbatim, kept)


def with_edits(changes: Iterable[Change], edits: Edits) -> tuple[Change, ...]:
    """``changes`` of the sentence ``as_if_right``, moved to their places in the sentence as typed, together
    with the shown edits.

    A change that touches an edit is left out: it would make no sense if the edit is declined.
    """
    rest = [change for change in changes if not any(_touches_edit(change, edit) for edit in edits.all)]
    moved = [
        change.moved(-_drift(each for each in edits.all if each.target_end <= change.source_start), 0)
        for change in rest
    ]
    return in_order([*moved, *edits.shown])


def _touches_edit(change: Change, edit: Change) -> bool:
    """Whether a change touches the text of an edit.

    Both places are counted in the sentence ``as_if_right``.
    """
    return change.source_start <= edit.target_end and edit.target_start <= change.source_end


def _drift(edits: Iterable[Change]) -> int:
    return sum(len(edit.right) - len(edit.wrong) for edit in edits)


_BEGINNING = ""  # takes the place of the word before the first one of a sentence


class _Word(NamedTuple):
    said: str  # its letters and digits, without punctuation
    start: int  # in the whole text
    end: int


class _Place(NamedTuple):
    """The key of a change: equal for the same change of the same words."""

    said: tuple[str, ...]  # the word before, then the words that the change touches
    offset: int  # from the beginning of the first touched word to the change, in characters
    wrong: str
    right: str


def agreeing(
    source: str, spans: Sequence[Span], proposed: Sequence[tuple[Change, ...]]
) -> list[tuple[Change, ...]]:
    """The changes that are ``proposed`` for each sentence of ``source``, with one confidence for the same
    change of the same words.

    ``spans`` are those of the sentences. Words count as the same only behind the same word. Their change gets
    the lowest confidence that it has at any place of these words. If one of the places lacks the change, it
    gets 0.

    >>> change = Change(2, 3, 2, 3, "갓", "갔", known_confidence=0.9)
    >>> unsure = replace(change, known_confidence=0.3)
    >>> proposed = [(change.moved(1, 1),), (unsure.moved(1, 1),)]
    >>> found = agreeing("집에 갓다. 집에 갓다.", [Span(0, 6), Span(7, 13)], proposed)
    >>> [each.confidence for (each,) in found]
    [0.3, 0.3]
    """
    if not any(proposed):
        return list(proposed)
    sentences = [list(_words(source, span)) for span in spans]
    said = Counter(pair for words in sentences for pair in _pairs(words))
    if max(said.values(), default=0) < 2:
        return list(proposed)
    places = [
        [_place(words, change.moved(span.start, 0)) for change in changes]
        for span, words, changes in zip(spans, sentences, proposed, strict=True)
    ]
    sure: dict[_Place, list[float]] = {}
    for mine, changes in zip(places, proposed, strict=True):
        for place, change in zip(mine, changes, strict=True):
            if place is not None and change.is_weighed:
                sure.setdefault(place, []).append(change.confidence)
    least = {
        place: min(found) if len(found) == count else 0.0
        for place, found in sure.items()
        if (count := _count(place.said, said, sentences)) > 1
    }
    return [
        tuple(
            replace(change, known_confidence=least[place]) if place in least and change.is_weighed else change
            for place, change in zip(mine, changes, strict=True)
        )
        for mine, changes in zip(places, proposed, strict=True)
    ]


def _words(source: str, span: Span) -> Iterator[_Word]:
    start = None
    for place in range(span.start, span.end + 1):
        if place < span.end and source[place].isalnum():
            start = place if start is None else start
        elif start is not None:
            yield _Word(source[start:place], start, place)
            start = None


def _pairs(words: Sequence[_Word]) -> Iterator[tuple[str, str]]:
    return pairwise((_BEGINNING, *(word.said for word in words)))


def _place(words: Sequence[_Word], change: Change) -> _Place | None:
    touched = [
        i
        for i, word in enumerate(words)
        if word.start <= change.source_end and change.source_start <= word.end
    ]
    if not touched:
        return None
    before = words[touched[0] - 1].said if touched[0] else _BEGINNING
    said = (before, *(words[i].said for i in touched))
    return _Place(said, change.source_start - words[touched[0]].start, change.wrong, change.right)


def _count(said: tuple[str, ...], pairs: Counter, sentences: Sequence[Sequence[_Word]]) -> int:
    """How often these words follow one another in the text."""
    # Words cannot follow one another more often than two of them do. For two words this is already the count.
    fewest = min(pairs[pair] for pair in pairwise(said))
    if fewest < 2 or len(said) == 2:
        return fewest
    lines = [(_BEGINNING, *(word.said for word in words)) for words in sentences]
    return sum(
        line[first : first + len(said)] == said
        for line in lines
        for first in range(len(line) - len(said) + 1)
    )
