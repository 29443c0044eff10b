"""Is a confidence true? Bins, the calibration error and thresholds, on corrections made by hand."""

import math
from dataclasses import dataclass, replace

import pytest

from training.measure.metrics import (
    EDGES,
    THRESHOLDS,
    EditCounts,
    best_threshold,
    judge,
    reliability,
    score,
    sort_into_bins,
    threshold_table,
)
from training.noise.pairs import NoisyPair


@dataclass(frozen=True)
class Proposal:
    source_start: int
    source_end: int
    right: str
    confidence: float
    is_weighed: bool = True


@dataclass(frozen=True)
class FakeCorrection:
    source: str
    proposed: tuple[Proposal, ...]
    minimum: float = 0.5

    @property
    def text(self) -> str:
        text = self.source
        for each in reversed(self.proposed):
            if each.confidence >= self.minimum:
                text = text[: each.source_start] + each.right + text[each.source_end :]
        return text

    def with_minimum_confidence(self, minimum):
        return replace(self, minimum=minimum)


def pair(wrong, right):
    return NoisyPair(wrong, right, "given", ())


# Two right proposals (0.97 and 0.4), one in the right place with the wrong text, one that spoils a sentence.
PAIRS = [
    pair("감배를 피울 생각읃", "담배를 피울 생각은"),
    pair("손니미", "손님이"),
    pair("맞는 문장", "맞는 문장"),
]
CORRECTIONS = [
    FakeCorrection("감배를 피울 생각읃", (Proposal(0, 1, "담", 0.97), Proposal(9, 10, "은", 0.4))),
    FakeCorrection("손니미", (Proposal(1, 3, "님미", 0.85),)),
    FakeCorrection("맞는 문장", (Proposal(0, 1, "맡", 0.45),)),
]


def test_what_is_offered_without_a_confidence_is_not_judged():
    offer = Proposal(0, 1, "담", 0.0, is_weighed=False)
    assert judge(FakeCorrection("감배", (offer,)), "담배") == []


def test_a_proposal_is_right_if_the_reference_makes_the_same_edit():
    judged = [judge(made, each.right) for made, each in zip(CORRECTIONS, PAIRS, strict=True)]
    assert judged == [[(0.97, True), (0.4, True)], [(0.85, False)], [(0.45, False)]]


def test_bins_by_hand():
    found = reliability(CORRECTIONS, PAIRS)
    bins = {(each.low, each.high): each for each in found.bins if each.count}
    assert set(bins) == {(0.4, 0.5), (0.8, 0.9), (0.95, 0.99)}
    assert bins[0.4, 0.5].mean_confidence == pytest.approx(0.425)
    assert bins[0.4, 0.5].share_right == 0.5
    assert found.count == 4
    # (2 * |.5 - .425| + 1 * |0 - .85| + 1 * |1 - .97|) / 4
    assert found.expected_calibration_error == pytest.approx((0.15 + 0.85 + 0.03) / 4)


def test_bins_cover_0_to_1_and_count_everything_once():
    judged = [(i / 1000, i % 3 == 0) for i in range(1001)] + [(edge, True) for edge in EDGES]
    found = sort_into_bins(judged)
    assert [each.low for each in found.bins] + [1.0] == list(EDGES)
    assert found.count == len(judged)
    for each in found.bins:
        assert each.low <= each.mean_confidence <= each.high
        assert each.right <= each.count


def test_an_edge_belongs_to_the_bin_above_it_and_1_to_the_last():
    counts = [each.count for each in sort_into_bins([(edge, True) for edge in EDGES]).bins]
    assert counts == [1] * (len(counts) - 1) + [2]


def test_a_true_confidence_has_no_calibration_error_and_a_vain_one_all_of_it():
    assert sort_into_bins([(0.5, True), (0.5, False)] * 10).expected_calibration_error == pytest.approx(0)
    assert sort_into_bins([(1.0, False)] * 10).expected_calibration_error == 1


@pytest.mark.parametrize("confidence", [-0.01, 1.01, math.nan])
def test_what_is_no_probability_is_refused(confidence):
    with pytest.raises(ValueError, match="between 0 and 1"):
        sort_into_bins([(confidence, True)])


def test_nothing_proposed_is_undefined_not_perfect():
    found = reliability([], [])
    assert math.isnan(found.expected_calibration_error)
    document = found.as_json()
    assert document["expected_calibration_error"] is None
    assert all(each["right"] is each["mean_confidence"] is None for each in document["bins"])


def test_as_many_corrections_as_pairs():
    with pytest.raises(ValueError, match="shorter"):
        reliability(CORRECTIONS, PAIRS[:-1])


def test_thresholds_score_the_same_decoding():
    table = threshold_table(CORRECTIONS, PAIRS)
    assert list(table) == list(THRESHOLDS)
    assert table[0.0].edits == EditCounts(tp=2, fp=2, fn=1)
    assert table[0.4].edits == EditCounts(tp=2, fp=2, fn=1)  # a change as sure as the minimum is made
    assert table[0.5].edits == EditCounts(tp=1, fp=1, fn=2)
    assert table[0.9].edits == EditCounts(tp=1, fp=0, fn=2)
    assert [table[minimum].untouched for minimum in (0.0, 0.5)] == [0, 1]
    same = [(each.wrong, made.text, each.right) for made, each in zip(CORRECTIONS, PAIRS, strict=True)]
    assert table[CORRECTIONS[0].minimum] == score(same)


def test_a_higher_threshold_never_makes_more_edits():
    made = [s.edits.tp + s.edits.fp for s in threshold_table(CORRECTIONS, PAIRS).values()]
    assert made == sorted(made, reverse=True)


def test_the_best_threshold_has_the_highest_f():
    table = threshold_table(CORRECTIONS, PAIRS)
    best = best_threshold(table)
    assert table[best].edits.f(0.5) == max(scores.edits.f(0.5) for scores in table.values())
    assert best == 0.95  # 0.9 and 0.95 do the same: of two the higher one


def test_the_best_threshold_does_not_hang_on_chance():
    table = threshold_table(CORRECTIONS, PAIRS)
    counts = {0.5: (700, 100, 300), 0.6: (7000, 1000, 3001), 0.7: (7000, 1001, 3000), 0.8: (600, 100, 400)}
    for minimum, found in counts.items():
        table[minimum] = replace(table[minimum], edits=EditCounts(*found))
    assert best_threshold({minimum: table[minimum] for minimum in counts}) == 0.6
    # Of two that do about the same it is the better one, the lower here.
    assert best_threshold({minimum: table[minimum] for minimum in (0.5, 0.6)}) == 0.5


def test_the_best_threshold_where_f_is_undefined():
    nothing = [FakeCorrection("맞는 문장", ())]
    assert best_threshold(threshold_table(nothing, PAIRS[2:])) == 0.5  # the middle
    with pytest.raises(ValueError, match="empty"):
        best_threshold({})
