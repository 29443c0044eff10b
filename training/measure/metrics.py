"""Metrics of corrections: edit precision and recall, character error rate, calibration.

All are pure functions. Scores take (source, hypothesis, reference) texts: ``source`` is the typed text,
``hypothesis`` a model's correction, ``reference`` the right text. Characters are Unicode characters of NFC
text, so one Hangul syllable counts once. A share of nothing is ``nan`` here and ``None`` in JSON, never a
flattering 0 or 1.

Calibration takes outcomes, pairs with their corrections, and tells how often changes of each confidence are
right, and the scores at each threshold. ``proposed`` has every change the
network wanted, and ``with_minimum_confidence`` the correction another threshold gives, so that one decoding
pass answers for all thresholds.
"""

import math
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import Any

import numpy as np
from rapidfuzz.distance import Levenshtein

from model import Correction
from model.analysis.statistics import wilson_interval
from model.text.changes import Change, find_changes


@dataclass(frozen=True)
class Outcome:
    """A pair with a ``wrong`` and a ``right`` text, and the model's correction of the wrong one."""

    pair: Any  # NoisyPair, or a row of another set
    correction: Correction

    @property
    def text(self) -> str:
        return self.correction.text

    @property
    def correct(self) -> bool:
        return self.text == self.pair.right

    def at(self, minimum: float) -> "Outcome":
        """The same answer of the network with another minimum confidence."""
        return Outcome(self.pair, self.correction.with_minimum_confidence(minimum))

    @property
    def elsewhere(self) -> list[Change]:
        """The changes of words that were right."""
        return changes_elsewhere(self.pair.wrong, self.pair.right, self.text)


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
        """The share of made edits that are right; nan where none was made.

        >>> EditCounts(tp=3, fp=1, fn=2).precision
        0.75
        """
        return share(self.tp, self.tp + self.fp)

    @property
    def recall(self) -> float:
        """The share of wanted edits that were made; nan where none is wanted.

        >>> EditCounts(tp=3, fp=1, fn=1).recall
        0.75
        """
        return share(self.tp, self.tp + self.fn)

    def f(self, beta: float = 0.5) -> float:
        """The F measure (van Rijsbergen 1979, chapter 7): beta 0.5 weighs precision twice as much as
        recall, the custom of grammatical error correction since the CoNLL-2014 shared task (Ng et al.).

        >>> round(EditCounts(tp=3, fp=1, fn=3).f(), 3)
        0.682
        """
        weighted = (1 + beta**2) * self.tp
        return share(weighted, weighted + beta**2 * self.fn + self.fp)


Scores = dict[str, Any]  # the measures of a set of sentences


def score(triples: Iterable[tuple[str, str, str]]) -> Scores:
    """All measures of (source, hypothesis, reference) triples, by the names of ``evaluation.json``.

    ``clean`` are the triples whose source was right already. ``cer_reduction`` is the share of the character
    errors that is gone, negative where more were made than repaired. A share of nothing is None.

    >>> found = score([("머거요", "먹어요", "먹어요"), ("가요", "가요", "가요"), ("나", "너", "나")])
    >>> found["exact"], found["cer_after"], found["clean_untouched"]
    (2, 0.16666666666666666, 0.5)
    """
    triples = list(triples)
    sources, hypotheses, references = zip(*triples, strict=True) if triples else ((), (), ())
    count, exact = len(triples), sum(map(str.__eq__, hypotheses, references))
    before, after = (character_error_rate(texts, references) for texts in (sources, hypotheses))
    edits = sum((edit_counts(*triple) for triple in triples), EditCounts())
    clean = [hypothesis == reference for source, hypothesis, reference in triples if source == reference]
    return {
        "count": count,
        "exact": exact,
        "exact_match": none_if_nan(share(exact, count)),
        "exact_match_95": [none_if_nan(bound) for bound in wilson_interval(exact, count)],
        "cer_before": none_if_nan(before),
        "cer_after": none_if_nan(after),
        "cer_reduction": none_if_nan(share(before - after, before)),
        "true_positives": edits.tp,
        "false_positives": edits.fp,
        "false_negatives": edits.fn,
        "precision": none_if_nan(edits.precision),
        "recall": none_if_nan(edits.recall),
        "f0.5": none_if_nan(edits.f(0.5)),
        "clean": len(clean),
        "clean_untouched": none_if_nan(share(sum(clean), len(clean))),
    }


def score_outcomes(outcomes: Iterable[Outcome]) -> Scores:
    """All measures of these corrections.

    >>> score_outcomes([])["count"]
    0
    """
    return score((each.pair.wrong, each.text, each.pair.right) for each in outcomes)


def edit_counts(source: str, hypothesis: str, reference: str) -> EditCounts:
    """Compare the edits source -> hypothesis with the edits source -> reference.

    An edit is one region of the source in which every character changes, with its replacement. It is
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
    """The edits that turn ``source`` into ``target``: (start, end, replacement) with offsets in ``source``.

    >>> edits("손니미", "손님이")
    {(1, 3, '님이')}
    """
    return edits_of(find_changes(source, target))


def edits_of(changes: Iterable[Change]) -> set[tuple[int, int, str]]:
    """Changes as ``edits`` has them.

    >>> edits_of([Change(0, 1, 0, 1, "가", "나")])
    {(0, 1, '나')}
    """
    return {(change.source_start, change.source_end, change.right) for change in changes}


def changes_elsewhere(wrong: str, right: str, corrected: str) -> list[Change]:
    """The changes from ``wrong`` to ``corrected`` that lie in no word that ``right`` changes, too.

    >>> changes_elsewhere("밥을 안먹고 갔다", "밥을 안 먹고 갔다", "법을 안 먹고 갔다")[0].right
    '법'
    """
    needed = [_words_around(wrong, change) for change in find_changes(wrong, right)]
    return [
        change
        for change in find_changes(wrong, corrected)
        if not any(start <= change.source_start and change.source_end <= end for start, end in needed)
    ]


def _words_around(text: str, change: Change) -> tuple[int, int]:
    """From the beginning of the word that a change begins in to the end of the one that it ends in."""
    start = max(text.rfind(space, 0, change.source_start) for space in " \n\t") + 1
    ends = [text.find(space, change.source_end) for space in " \n\t"]
    return start, min((end for end in ends if end >= 0), default=len(text))


def repaired(hypothesis: str, reference: str, spans: Iterable[tuple[int, int]]) -> list[bool]:
    """For each span of characters of the reference: does the hypothesis agree with it there?

    It disagrees if a character of the span is missing or another one, and if something surplus stands inside
    the span or at its edges. Nobody can tell to which side of an edge the surplus belongs, so it counts
    against the model.

    >>> repaired("먹어오", "먹어요", [(0, 2), (2, 3)])
    [True, False]
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
    both = zip(hypotheses, references, strict=True)
    return share(sum(Levenshtein.distance(*pair) for pair in both), sum(map(len, references)))


def bootstrap_interval(
    parts: Sequence[int], wholes: Sequence[int], rounds: int = 1000
) -> tuple[float, float]:
    """The 95% percentile interval of ``sum(parts) / sum(wholes)`` over resampled sentences (Efron 1979).

    ``parts`` and ``wholes`` hold a number for each sentence, as its changed and its right words: the words of
    one sentence are no independent sample. The same numbers give the same interval; ``(nan, nan)`` of none.

    >>> bootstrap_interval([0, 0, 0], [5, 6, 7])
    (0.0, 0.0)
    """
    counts = np.array([parts, wholes], float)
    if not counts[1].sum():
        return math.nan, math.nan
    rows = np.random.default_rng(0).integers(0, counts.shape[1], (rounds, counts.shape[1]))
    part, whole = counts[:, rows].sum(2)
    low, high = np.nanpercentile(part / whole, (2.5, 97.5))
    return float(low), float(high)


def share(part: float, whole: float) -> float:
    """``part / whole``; ``nan`` of nothing.

    >>> share(1, 4)
    0.25
    """
    return part / whole if whole else math.nan


def none_if_nan(value: float) -> float | None:
    """JSON has no ``nan`` (RFC 8259, section 6)."""
    return None if math.isnan(value) else value


EDGES = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1.0)
THRESHOLDS = tuple(step / 20 for step in range(20))


def reliability(outcomes: Iterable[Outcome]) -> dict[str, Any]:
    """Compare the confidence of every proposed change with whether it is right: see ``sort_into_bins``."""
    return sort_into_bins(chain.from_iterable(judge(each.correction, each.pair.right) for each in outcomes))


def judge(correction: Correction, reference: str) -> list[tuple[float, bool]]:
    """(confidence, right) of each proposed change that has a confidence.

    Right means what it means in ``metrics.edit_counts``: the reference, too, replaces just this span
    of the source, by just this text.
    """
    wanted = edits(correction.source, reference)
    return [
        (change.confidence, (change.source_start, change.source_end, change.right) in wanted)
        for change in correction.proposed
        if change.is_weighed
    ]


def sort_into_bins(judged: Iterable[tuple[float, bool]], edges: Sequence[float] = EDGES) -> dict[str, Any]:
    """The reliability diagram (Guo et al. 2017, section 2) as numbers, by the names of ``evaluation.json``.

    It counts (confidence, right) by ``edges``, which ascend from 0 to 1; empty bins stay in the list, and the
    last one has its upper edge, too. The calibration error (Naeini et al. 2015) is how far confidence and
    truth lie apart, averaged over all changes. Raises ValueError for a confidence that is no probability.

    >>> sort_into_bins([(0.5, True), (0.5, False)])["expected_calibration_error"]
    0.0
    """
    members: list[list[tuple[float, bool]]] = [[] for _ in edges[1:]]
    for confidence, right in judged:
        if not 0 <= confidence <= 1:
            raise ValueError(f"a confidence lies between 0 and 1, received {confidence}")
        members[min(bisect_right(edges, confidence), len(members)) - 1].append((confidence, right))
    bins, apart = [], []
    for (low, high), inside in zip(pairwise(edges), members, strict=True):
        true, sure = sum(is_right for _, is_right in inside), math.fsum(each for each, _ in inside)
        apart.append(abs(true - sure))
        means = {"mean_confidence": sure, "right": true}
        shares = {name: none_if_nan(share(total, len(inside))) for name, total in means.items()}
        bins.append({"from": low, "to": high, "changes": len(inside), **shares})
    count = sum(map(len, members))
    error = none_if_nan(share(math.fsum(apart), count))
    return {"changes": count, "expected_calibration_error": error, "bins": bins}


def threshold_table(outcomes: Sequence[Outcome]) -> list[Scores]:
    """The scores of the same decoding at each of THRESHOLDS, its ``minimum_confidence``."""
    return [
        {"minimum_confidence": minimum} | score_outcomes(each.at(minimum) for each in outcomes)
        for minimum in THRESHOLDS
    ]


def best_threshold(table: Sequence[Scores]) -> float:
    """The threshold with the highest F0.5 to three digits; of several, the one in their middle.

    The fourth digit is chance, even over thousands of sentences, and on a few sentences many thresholds do
    the same. The one in the middle is farthest from where it becomes worse. Of two in the middle the better
    one is taken, or, if they are equal, the higher one, which changes less. If nothing was wanted and nothing
    done, F0.5 is undefined and ranks below every number. Raises ValueError for an empty table.
    """
    if not table:
        raise ValueError("there is no threshold to choose from: the table is empty")
    ranks = {row["minimum_confidence"]: -1.0 if row["f0.5"] is None else row["f0.5"] for row in table}
    highest = round(max(ranks.values()), 3)
    best = sorted(minimum for minimum, rank in ranks.items() if round(rank, 3) == highest)
    middle = best[(len(best) - 1) // 2 : len(best) // 2 + 1]
    return max(middle, key=lambda minimum: (ranks[minimum], minimum))
