"""Features of candidate corrections for the decision trees of the confidence.

The first features are the network's probabilities and two counts from the training sentences: of the words
before and after the change, and of its runs of characters (``counts``). The second take longer:
the morphemes (``morphemes``), the article of the norm that the change follows (``model.norm``) and the shape
of particles.
"""

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple
from unicodedata import normalize

from rapidfuzz.distance import Levenshtein

from model.correction.candidates import Stretch
from model.correction.counts import ORDER, NGrams, Words, touching
from model.correction.morphemes import analyse, longest_known
from model.norm import article_of
from model.text.changes import find_changes
from model.text.hangul import misshapen

LEAST_LOG = math.log(1e-5)  # smaller probabilities count as this one
ALONE = 20.0  # the lead of a phrase that has no other candidate beside it


class Features(NamedTuple):
    """The features of one candidate for the first trees."""

    # Natural logarithms of the network's probabilities, at least LEAST_LOG:
    fix: float  # that the network writes the candidate
    keep: float  # that it keeps the source
    other: float  # that it writes the most probable other candidate
    network: float  # the network's own confidence, fix · (1 − keep)
    wrong_count: float  # ``counts.Known`` of the words of the source
    wrong_beginning: float
    wrong_beginning_count: float
    right_count: float  # ``counts.Known`` of the words of the candidate
    right_beginning: float
    right_beginning_count: float
    spaces: float  # 0 letters alone, 1 spaces alone, 2 letters and spaces
    length: float  # characters
    jamo: float  # the fewest jamo that differ
    changes: float  # stretches of the sentence in which the network wrote something else
    sentence: float  # log probability of its answers in all other stretches together
    candidates: float  # how many the stretch has
    written: float  # 1 if it is the network's own answer
    phrase_kept: float  # how much more usual the phrase is than the source's (``NGrams.scores``)
    phrase_other: float  # the same, compared with the most usual other candidate
    phrase: float  # how usual it is, per character


# 1: a larger value never makes a candidate less sure. -1: a larger value never makes it surer. The trees are
# free in the others.
MONOTONE = {
    "fix": 1,
    "keep": -1,
    "network": 1,
    "wrong_count": -1,
    "right_count": 1,
    "sentence": 1,
    "phrase_kept": 1,
    "phrase_other": 1,
    "morphemes_kept": 1,
    "morphemes_other": 1,
    "unknown_kept": 1,
    "unknown": -1,
    "whole_kept": -1,
    "whole": 1,
    "norm": 1,
    "misshapen": -1,
}


class SecondFeatures(NamedTuple):
    """The further features for the second trees.

    The first seven are of ``morphemes``, for the candidate with the words around it.
    """

    morphemes_kept: float  # how much more usual they are than those of the source
    morphemes_other: float  # the same, compared with the most usual other candidate
    morphemes: float  # how usual they are, per morpheme
    # How many morphemes are not in the lexicon. A word that is in it (파종) is seldom a slip, even if a
    # similar word (포장) is far more usual.
    unknown_kept: float  # in the source
    unknown: float
    # ``longest_known`` at that place. It is 2 for 탁본, a word that must not be replaced by another (반복),
    # and 1 for 아경, which is no word.
    whole_kept: float  # in the source
    whole: float
    norm: float  # 1 if an article of the norm makes exactly this change, -1 if one makes the opposite
    misshapen: float  # particles whose shape does not fit the word before, minus those of the source


FIRST, SECOND = Features._fields, (*Features._fields, *SecondFeatures._fields)


class Rated(NamedTuple):
    """A candidate of the stretch with this number, and its features."""

    stretch: int
    text: str
    features: Features


def features(source: str, stretches: Sequence[Stretch], words: Words, ngrams: NGrams) -> list[Rated]:
    """The features of all candidates of one sentence that would change it.

    For each, the other stretches are as the network wrote them.
    """
    sentence = OneStretch(source, stretches)
    spans = {
        (number, text): sentence.span(number, text)
        for number, stretch in enumerate(stretches)
        for text in stretch.candidates
    }
    usual = dict(zip(spans, ngrams.scores(list(spans.values())).tolist(), strict=True))
    logs = [{text: max(log, LEAST_LOG) for text, log in stretch.candidates.items()} for stretch in stretches]
    certain = [mine[stretch.written] for mine, stretch in zip(logs, stretches, strict=True)]
    changed = sum(stretch.is_changed for stretch in stretches)
    rated = []
    for number, (mine, stretch) in enumerate(zip(logs, stretches, strict=True)):
        keep = mine[stretch.kept]
        wrong = words.known(touching(source, stretch.start, stretch.end))
        for text, fix in mine.items():
            if text == stretch.kept:
                continue
            others = [each for each in mine if each not in (text, stretch.kept)]
            whole, start, stop = spans[number, text]
            right = words.known(touching(whole, start, start + len(text)))
            phrase = usual[number, text]
            row = Features(
                fix=fix,
                keep=keep,
                other=max((mine[each] for each in others), default=LEAST_LOG),
                network=math.exp(fix) * (1 - math.exp(keep)),
                wrong_count=wrong.whole,
                wrong_beginning=wrong.beginning,
                wrong_beginning_count=wrong.beginning_count,
                right_count=right.whole,
                right_beginning=right.beginning,
                right_beginning_count=right.beginning_count,
                spaces=_spaces(stretch.kept, text),
                length=max(len(stretch.kept), len(text)),
                jamo=Levenshtein.distance(*(normalize("NFD", each) for each in (stretch.kept, text))),
                changes=changed,
                sentence=sum(certain) - certain[number],
                candidates=len(mine),
                written=text == stretch.written,
                phrase_kept=phrase - usual[number, stretch.kept],
                phrase_other=_ahead(phrase, (usual[number, each] for each in others)),
                phrase=phrase / max(stop - start, 1),
            )
            rated.append(Rated(number, text, row))
    return rated


def second_features(
    source: str, stretches: Sequence[Stretch], asked: Sequence[Rated]
) -> list[SecondFeatures]:
    """The further features of the candidates ``asked``."""
    sentence = OneStretch(source, stretches)
    places = {
        (number, text): sentence.nearby(number, text)
        for number in sorted({each.stretch for each in asked})
        for text in stretches[number].candidates
    }
    logs = dict(zip(places, analyse([text for text, *_ in places.values()]).tolist(), strict=True))
    found = []
    for number, text, _ in asked:
        kept = stretches[number].kept
        log, count, unknown = logs[number, text]
        log_kept, _, unknown_kept = logs[number, kept]
        others = (logs[number, each][0] for each in stretches[number].candidates if each not in (text, kept))
        found.append(
            SecondFeatures(
                log - log_kept,
                _ahead(log, others),
                log / max(count, 1),
                unknown_kept,
                unknown,
                longest_known(*places[number, kept]),
                longest_known(*places[number, text]),
                _norm(kept, text, *sentence.around(number)),
                misshapen(places[number, text][0]) - misshapen(places[number, kept][0]),
            )
        )
    return found


def _norm(kept: str, text: str, before: str, after: str) -> int:
    if article_of(kept, text, before, after):
        return 1
    return -1 if article_of(text, kept, before, after) else 0


def _ahead(usual: float, others: Iterable[float]) -> float:
    """How much more usual a candidate is than the most usual other one; ALONE without others."""
    return usual - max(others, default=usual - ALONE)


Place = tuple[str, int, int]  # some words, and where something in them begins and ends


class OneStretch:
    """A source in which all stretches but one are as the network wrote them."""

    def __init__(self, source: str, stretches: Sequence[Stretch]):
        self.source, self.stretches = source, stretches
        self._parts, done = [], 0  # the text before each stretch, and the network's answer for it
        for stretch in stretches:
            self._parts += [source[done : stretch.start], stretch.written]
            done = stretch.end
        self._parts.append(source[done:])

    def span(self, number: int, text: str) -> tuple[str, int, int]:
        """The sentence with ``text`` in one stretch, where that text begins, and where the last n-gram that
        touches it ends.
        """
        before, after = self.around(number)
        whole, start = f"{before}{text}{after}", len(before)
        return whole, start, min(start + len(text) + ORDER - 1, len(whole) + 1)

    def nearby(self, number: int, text: str) -> Place:
        """``text`` in one stretch with the rest of its words and one more word on either side."""
        return _words_around(*self.around(number), text)

    def typed(self, number: int) -> Place:
        """One stretch of the source with the words around it."""
        stretch = self.stretches[number]
        return _words_around(self.source[: stretch.start], self.source[stretch.end :], stretch.kept)

    def around(self, number: int) -> tuple[str, str]:
        return "".join(self._parts[: 2 * number + 1]), "".join(self._parts[2 * number + 2 :])


def _words_around(before: str, after: str, text: str) -> Place:
    first = " ".join(before.split(" ")[-2:])
    return first + text + " ".join(after.split(" ")[:2]), len(first), len(first) + len(text)


def _spaces(kept: str, text: str) -> int:
    changes = find_changes(kept, text)
    wrong, right = ("".join(parts) for parts in zip(*((c.wrong, c.right) for c in changes), strict=True))
    if not wrong.strip() and not right.strip():
        return 1
    return 2 if " " in wrong + right else 0
