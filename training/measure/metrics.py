"""How good corrections are: pure functions on (source, hypothesis, reference) texts.

``source`` is what was written, ``hypothesis`` what a model made of it, ``reference`` what is right.
Characters are Unicode characters of NFC text, so one Hangul syllable counts once. A share of
nothing is ``nan`` here and ``None`` in JSON, never a flattering 0 or 1.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rapidfuzz.distance import Levenshtein

from model.text.changes import find_changes

Z_95 = 1.959963984540054  # the standard normal quantile that leaves 2.5% on each side


@dataclass(frozen=True)
class EditCounts:
    """Edits a model made that are right (``tp``), that are not (``fp``), and that it missed (``fn``)."""

    tp: int = 0
    fp: int = 0
    fn: int = 0

    def __add__(self, other: "EditCounts") -> "EditCounts":
        return EditCounts(self.tp + other.tp, self.fp + other.fp, self.fn + other.fn)

    @property
    def precision(self) -> float:
        return share(self.tp, self.tp + self.fp)

    @property
    def recall(self) -> float:
        return share(self.tp, self.tp + self.fn)

    def f(self, beta: float = 0.5) -> float:
        """The F measure (van Rijsbergen 1979, chapter 7): beta 0.5 weighs precision twice as much as
        recall, the custom of grammatical error correction since the CoNLL-2014 shared task (Ng et al.)."""
        weighted = (1 + beta**2) * self.tp
        return share(weighted, weighted + beta**2 * self.fn + self.fp)


@dataclass(frozen=True)
class Scores:
    """The measures of a set of sentences."""

    count: int  # sentences
    exact: int  # of them, those whose hypothesis equals the reference
    cer_before: float  # character error rate of the sources
    cer_after: float  # character error rate of the hypotheses
    edits: EditCounts
    clean: int  # sentences whose source was right already
    untouched: int  # of them, those left as they were

    @property
    def exact_match(self) -> float:
        return share(self.exact, self.count)

    @property
    def exact_match_interval(self) -> tuple[float, float]:
        return wilson_interval(self.exact, self.count)

    @property
    def cer_reduction(self) -> float:
        """The share of the character errors that is gone; negative where more were made than repaired."""
        return share(self.cer_before - self.cer_after, self.cer_before)

    @property
    def clean_untouched(self) -> float:
        return share(self.untouched, self.clean)

    def as_json(self) -> dict:
        low, high = self.exact_match_interval
        return {
            "count": self.count,
            "exact": self.exact,
            "exact_match": none_if_nan(self.exact_match),
            "exact_match_95": [none_if_nan(low), none_if_nan(high)],
            "cer_before": none_if_nan(self.cer_before),
            "cer_after": none_if_nan(self.cer_after),
            "cer_reduction": none_if_nan(self.cer_reduction),
            "true_positives": self.edits.tp,
            "false_positives": self.edits.fp,
            "false_negatives": self.edits.fn,
            "precision": none_if_nan(self.edits.precision),
            "recall": none_if_nan(self.edits.recall),
            "f0.5": none_if_nan(self.edits.f(0.5)),
            "clean": self.clean,
            "clean_untouched": none_if_nan(self.clean_untouched),
        }


def score(triples: Iterable[tuple[str, str, str]]) -> Scores:
    """All measures of (source, hypothesis, reference) triples.

    >>> found = score([("머거요", "먹어요", "먹어요"), ("가요", "가요", "가요")])
    >>> found.exact_match, found.cer_after
    (1.0, 0.0)
    """
    triples = list(triples)
    sources, hypotheses, references = zip(*triples, strict=True) if triples else ((), (), ())
    clean = [hypothesis == reference for source, hypothesis, reference in triples if source == reference]
    return Scores(
        count=len(triples),
        exact=sum(map(str.__eq__, hypotheses, references)),
        cer_before=character_error_rate(sources, references),
        cer_after=character_error_rate(hypotheses, references),
        edits=sum((edit_counts(*triple) for triple in triples), EditCounts()),
        clean=len(clean),
        untouched=sum(clean),
    )


def edit_counts(source: str, hypothesis: str, reference: str) -> EditCounts:
    """Compare the edits source -> hypothesis with the edits source -> reference.

    An edit is one region of the source in which every character changes, with what replaces it. It is
    right if the reference has an edit of the same span and the same replacement, the rule of the M2
    scorer (Dahlmeier & Ng 2012) and of ERRANT (Bryant et al. 2017). They take words for units; Korean
    errors live inside words and across spaces, so here the units are characters, and touching
    characters form ONE edit. That is strict: of 손니미 -> 손님이 the edit is 니미 -> 님이, and a
    hypothesis 손님미 has one wrong edit and misses one. Where an insertion could stand at several
    places (ㅋ in ㅋㅋ), the alignment of ``find_changes`` decides, for both sides in the same way.

    >>> edit_counts("손니미", "손님미", "손님이")
    EditCounts(tp=0, fp=1, fn=1)
    """
    made, wanted = edits(source, hypothesis), edits(source, reference)
    right = len(made & wanted)
    return EditCounts(right, len(made) - right, len(wanted) - right)


def edits(source: str, target: str) -> set[tuple[int, int, str]]:
    """What turns ``source`` into ``target``: (start, end, replacement) with offsets in ``source``.

    >>> edits("손니미", "손님이")
    {(1, 3, '님이')}
    """
    changes = find_changes(source, target)
    return {(change.source_start, change.source_end, change.right) for change in changes}


def repaired(hypothesis: str, reference: str, spans: Iterable[tuple[int, int]]) -> list[bool]:
    """For each span of characters of the reference: does the hypothesis agree with it there?

    It disagrees if a character of the span is missing or another one, and if something surplus stands inside the span or
    at its edges. Nobody can tell to which side of an edge the surplus belongs, so it counts against the model.
    """
    differences = [(change.target_start, change.target_end) for change in find_changes(hypothesis, reference)]
    return [not any(_overlap(start, end, low, high) for low, high in differences) for start, end in spans]


def _overlap(start: int, end: int, low: int, high: int) -> bool:
    if low == high:  # something surplus, standing before character ``low`` of the reference
        return start <= low <= end
    return low < end and start < high


def character_error_rate(hypotheses: Sequence[str], references: Sequence[str]) -> float:
    """Total edit distance (Levenshtein 1966) over the total length of the references, in characters.

    Pooled, so that long sentences weigh more; it can exceed 1. ``nan`` if the references are empty.
    Raises ValueError if the two sequences differ in length.

    >>> round(character_error_rate(["머거요"], ["먹어요"]), 2)
    0.67
    """
    distance = sum(
        Levenshtein.distance(hypothesis, reference)
        for hypothesis, reference in zip(hypotheses, references, strict=True)
    )
    return share(distance, sum(map(len, references)))


def wilson_interval(successes: int, count: int, z: float = Z_95) -> tuple[float, float]:
    """The score interval of a proportion (Wilson 1927), 95% by default; ``(nan, nan)`` for no trials.

    Unlike the normal approximation it stays inside 0..1 and is honest at 0% and 100%.

    >>> low, high = wilson_interval(8, 10)
    >>> round(low, 2), round(high, 2)
    (0.49, 0.94)
    """
    if not count:
        return math.nan, math.nan
    proportion = successes / count
    centre = proportion + z**2 / (2 * count)
    spread = z * math.sqrt(proportion * (1 - proportion) / count + z**2 / (4 * count**2))
    scale = 1 + z**2 / count
    return max(0.0, (centre - spread) / scale), min(1.0, (centre + spread) / scale)


def share(part: float, whole: float) -> float:
    """``part / whole``; ``nan`` of nothing."""
    return part / whole if whole else math.nan


def none_if_nan(value: float) -> float | None:
    """JSON has no ``nan`` (RFC 8259, section 6)."""
    return None if math.isnan(value) else value
