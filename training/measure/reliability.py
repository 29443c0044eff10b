"""Measures whether a confidence can be trusted: how often changes of each confidence are right, and what a threshold gives.

Everything here reads corrections (``model.Correction``) beside the pairs they were made of: ``proposed``
has every change the network wanted, and ``with_minimum_confidence`` the correction another threshold gives,
so that one decoding pass answers for all thresholds.
"""

import math
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from training.measure.metrics import Scores, edits, none_if_nan, score, share
from training.noise.pairs import NoisyPair

if TYPE_CHECKING:
    from model import Correction

EDGES = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1.0)
THRESHOLDS = tuple(step / 20 for step in range(20))


@dataclass(frozen=True)
class Bin:
    """The proposed changes with ``low <= confidence < high``; the last bin has its upper edge too."""

    low: float
    high: float
    count: int
    right: int  # of them, those that the reference makes as well
    confidence_sum: float

    @property
    def mean_confidence(self) -> float:
        return share(self.confidence_sum, self.count)

    @property
    def share_right(self) -> float:
        return share(self.right, self.count)

    def as_json(self) -> dict:
        return {
            "from": self.low,
            "to": self.high,
            "changes": self.count,
            "mean_confidence": none_if_nan(self.mean_confidence),
            "right": none_if_nan(self.share_right),
        }


@dataclass(frozen=True)
class Reliability:
    """The reliability diagram (Guo et al. 2017, section 2) as numbers."""

    bins: tuple[Bin, ...]

    @property
    def count(self) -> int:
        return sum(each.count for each in self.bins)

    @property
    def expected_calibration_error(self) -> float:
        """How far confidence and truth lie apart, averaged over all changes (Naeini et al. 2015):
        the difference of the share right and the mean confidence, weighted by the size of the bin."""
        apart = [abs(each.right - each.confidence_sum) for each in self.bins]
        return share(math.fsum(apart), self.count)

    def as_json(self) -> dict:
        return {
            "changes": self.count,
            "expected_calibration_error": none_if_nan(self.expected_calibration_error),
            "bins": [each.as_json() for each in self.bins],
        }


def reliability(corrections: Iterable["Correction"], pairs: Iterable[NoisyPair]) -> Reliability:
    """Compare the confidence of every proposed change with whether it is right."""
    judged = [
        verdict
        for correction, pair in zip(corrections, pairs, strict=True)
        for verdict in judge(correction, pair.right)
    ]
    return sort_into_bins(judged)


def judge(correction: "Correction", reference: str) -> list[tuple[float, bool]]:
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


def sort_into_bins(judged: Iterable[tuple[float, bool]], edges: Sequence[float] = EDGES) -> Reliability:
    """Count (confidence, right) by ``edges``, which ascend from 0 to 1; empty bins stay in the list.

    Raises ValueError for a confidence that is no probability.
    """
    members: list[list[tuple[float, bool]]] = [[] for _ in edges[1:]]
    for confidence, right in judged:
        if not 0 <= confidence <= 1:
            raise ValueError(f"a confidence lies between 0 and 1, received {confidence}")
        members[min(bisect_right(edges, confidence), len(members)) - 1].append((confidence, right))
    return Reliability(
        tuple(
            Bin(
                low=edges[i],
                high=edges[i + 1],
                count=len(inside),
                right=sum(right for _, right in inside),
                confidence_sum=math.fsum(confidence for confidence, _ in inside),
            )
            for i, inside in enumerate(members)
        )
    )


def threshold_table(
    corrections: Sequence["Correction"],
    pairs: Sequence[NoisyPair],
    thresholds: Iterable[float] = THRESHOLDS,
) -> dict[float, Scores]:
    """The scores of the same decoding at each minimum confidence, in the order given."""
    return {
        minimum: score(
            (pair.wrong, correction.with_minimum_confidence(minimum).text, pair.right)
            for correction, pair in zip(corrections, pairs, strict=True)
        )
        for minimum in thresholds
    }


def best_threshold(table: dict[float, Scores]) -> float:
    """The threshold with the highest F0.5 to three digits; of several, the one in their middle.

    The fourth digit is chance, even over thousands of sentences, and on a few sentences many thresholds do the same. The one in
    the middle is farthest from where it becomes worse. Of two in the middle the better one is taken, or, if they are equal, the
    higher one, which changes less. If nothing was wanted and nothing done, F0.5 is undefined and ranks below every number.
    Raises ValueError for an empty table.
    """
    if not table:
        raise ValueError("there is no threshold to choose from: the table is empty")
    measures = {minimum: scores.edits.f(0.5) for minimum, scores in table.items()}
    ranks = {at: -1.0 if math.isnan(measure) else measure for at, measure in measures.items()}
    highest = round(max(ranks.values()), 3)
    best = sorted(minimum for minimum, rank in ranks.items() if round(rank, 3) == highest)
    middle = best[(len(best) - 1) // 2 : len(best) // 2 + 1]
    return max(middle, key=lambda minimum: (ranks[minimum], minimum))
