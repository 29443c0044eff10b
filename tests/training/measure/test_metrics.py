"""Measures of corrections worked out by hand, and the calibration of their confidence."""

import math
from dataclasses import dataclass, replace

import pytest

from model.analysis.statistics import wilson_interval
from training.measure.metrics import (
    THRESHOLDS,
    EditCounts,
    Outcome,
    best_threshold,
    edit_counts,
    none_if_nan,
    reliability,
    repaired,
    score,
    sort_into_bins,
    threshold_table,
)
from training.noise.pairs import NoisyPair


@pytest.mark.parametrize(
    ("source", "hypothesis", "reference", "expected"),
    [
        ("감배를 피울 생각읃", "담배를 피운 생각은", "담배를 피울 생각은", EditCounts(tp=2, fp=1)),
        ("감배", "밤배", "담배", EditCounts(fp=1, fn=1)),  # the right place, the wrong repair
        ("손니미", "손님미", "손님이", EditCounts(fp=1, fn=1)),  # half of one region
        ("안갔다", "안 갔다", "안 갔다", EditCounts(tp=1)),  # an insertion
        ("맞는 문장", "맡는 문장", "맞는 문장", EditCounts(fp=1)),
        ("", "가", "가", EditCounts(tp=1)),
    ],
)
def test_edit_counts(source, hypothesis, reference, expected):
    assert edit_counts(source, hypothesis, reference) == expected


def test_counts_of_nothing_are_undefined_not_perfect():
    assert math.isnan(EditCounts().precision)
    assert math.isnan(EditCounts(fn=3).precision)
    assert EditCounts(fn=3).recall == EditCounts(fn=3).f() == 0
    assert math.isnan(EditCounts(fp=3).recall)
    assert EditCounts(fp=3).precision == EditCounts(fp=3).f() == 0
    assert none_if_nan(EditCounts().f()) is None


def test_wilson_interval():
    # Newcombe 1998, table I: 81 of 263 gives .2553 to .3662, 0 of 20 gives 0 to .1611.
    assert wilson_interval(81, 263) == pytest.approx((0.2553, 0.3662), abs=5e-5)
    assert wilson_interval(0, 20) == pytest.approx((0, 0.1611), abs=5e-5)
    assert wilson_interval(20, 20)[1] == 1
    assert all(map(math.isnan, wilson_interval(0, 0)))


@pytest.mark.parametrize(
    ("hypothesis", "spans_repaired"),
    [
        ("담배를 피울 생각은", {(0, 1): True, (8, 9): True, (9, 10): True}),
        ("감배를 피울 생각은", {(0, 1): False, (1, 2): True, (9, 10): True}),
        ("담배를 피울생각은", {(6, 7): False, (5, 7): False, (5, 6): True, (7, 8): True}),  # a space missing
        ("담배를 피 울 생각은", {(4, 5): False, (5, 6): False, (3, 4): True, (6, 7): True}),  # one too many
    ],
)
def test_repaired_looks_only_at_the_span(hypothesis, spans_repaired):
    made = repaired(hypothesis, "담배를 피울 생각은", list(spans_repaired))
    assert made == list(spans_repaired.values())


def counts_of(scores) -> EditCounts:
    return EditCounts(*(scores[f"{name}s"] for name in ("true_positive", "false_positive", "false_negative")))


def test_score_by_hand():
    scores = score(
        [
            ("감배", "담배", "담배"),  # repaired
            ("안갔다", "안갔다", "안 갔다"),  # missed
            ("비가 온다", "비가 온다", "비가 온다"),  # right, left alone
            ("눈", "논", "눈"),  # right, and spoilt
        ]
    )
    names = ("count", "exact", "cer_before", "cer_after", "clean")
    assert [scores[name] for name in names] == [4, 2, 2 / 12, 2 / 12, 2]
    assert counts_of(scores) == EditCounts(tp=1, fp=1, fn=1)
    assert scores["exact_match"] == scores["clean_untouched"] == scores["f0.5"] == 0.5
    assert scores["cer_reduction"] == 0
    assert scores["exact_match_95"] == list(wilson_interval(2, 4))


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
OUTCOMES = list(map(Outcome, PAIRS, CORRECTIONS))


def test_bins_by_hand():
    found = reliability(OUTCOMES)
    bins = {(each["from"], each["to"]): each for each in found["bins"] if each["changes"]}
    assert set(bins) == {(0.4, 0.5), (0.8, 0.9), (0.95, 0.99)}
    assert bins[0.4, 0.5]["mean_confidence"] == pytest.approx(0.425)
    assert bins[0.4, 0.5]["right"] == 0.5
    assert found["changes"] == 4
    # (2 * |.5 - .425| + 1 * |0 - .85| + 1 * |1 - .97|) / 4
    assert found["expected_calibration_error"] == pytest.approx((0.15 + 0.85 + 0.03) / 4)


@pytest.mark.parametrize("confidence", [-0.01, 1.01, math.nan])
def test_what_is_no_probability_is_refused(confidence):
    with pytest.raises(ValueError, match="between 0 and 1"):
        sort_into_bins([(confidence, True)])


def test_thresholds_score_the_same_decoding():
    table = {row.pop("minimum_confidence"): row for row in threshold_table(OUTCOMES)}
    assert list(table) == list(THRESHOLDS)
    assert counts_of(table[0.0]) == EditCounts(tp=2, fp=2, fn=1)
    assert counts_of(table[0.4]) == EditCounts(tp=2, fp=2, fn=1)  # a change as sure as the minimum is made
    assert counts_of(table[0.5]) == EditCounts(tp=1, fp=1, fn=2)
    assert counts_of(table[0.9]) == EditCounts(tp=1, fp=0, fn=2)
    assert [table[minimum]["clean_untouched"] for minimum in (0.0, 0.5)] == [0, 1]
    same = [(each.wrong, made.text, each.right) for made, each in zip(CORRECTIONS, PAIRS, strict=True)]
    assert table[CORRECTIONS[0].minimum] == score(same)


def test_the_best_threshold_does_not_hang_on_chance():
    counts = {0.5: (700, 100, 300), 0.6: (7000, 1000, 3001), 0.7: (7000, 1001, 3000), 0.8: (600, 100, 400)}
    table = [
        {"minimum_confidence": minimum, "f0.5": EditCounts(*found).f()} for minimum, found in counts.items()
    ]
    assert best_threshold(table) == 0.6
    # Of two that do about the same it is the better one, the lower here.
    assert best_threshold(table[:2]) == 0.5
