"""Measures of corrections worked out by hand, and the calibration of their confidence."""

import math
from dataclasses import dataclass, replace

import pytest

from training.measure.metrics import (
    EDGES,
    THRESHOLDS,
    EditCounts,
    Outcome,
    best_threshold,
    character_error_rate,
    edit_counts,
    judge,
    none_if_nan,
    reliability,
    repaired,
    score,
    sort_into_bins,
    threshold_table,
    wilson_interval,
)
from training.noise.pairs import NoisyPair


@pytest.mark.parametrize(
    ("source", "hypothesis", "reference", "expected"),
    [
        ("감배를 피울 생각읃", "담배를 피울 생각은", "담배를 피울 생각은", EditCounts(tp=2)),
        ("감배를 피울 생각읃", "담배를 피울 생각읃", "담배를 피울 생각은", EditCounts(tp=1, fn=1)),
        ("감배를 피울 생각읃", "담배를 피운 생각은", "담배를 피울 생각은", EditCounts(tp=2, fp=1)),
        ("감배", "밤배", "담배", EditCounts(fp=1, fn=1)),  # the right place, the wrong repair
        ("손니미", "손님미", "손님이", EditCounts(fp=1, fn=1)),  # half of one region
        ("안갔다", "안 갔다", "안 갔다", EditCounts(tp=1)),  # an insertion
        ("학교 에", "학교에", "학교에", EditCounts(tp=1)),  # a deletion
        ("맞는 문장", "맞는 문장", "맞는 문장", EditCounts()),
        ("맞는 문장", "맡는 문장", "맞는 문장", EditCounts(fp=1)),
        ("", "가", "가", EditCounts(tp=1)),
    ],
)
def test_edit_counts(source, hypothesis, reference, expected):
    assert edit_counts(source, hypothesis, reference) == expected


def test_precision_recall_and_f():
    counts = EditCounts(tp=6, fp=2, fn=4)
    assert counts.precision == 0.75
    assert counts.recall == 0.6
    assert counts.f(1) == pytest.approx(2 * 0.75 * 0.6 / (0.75 + 0.6))
    assert counts.f(0.5) == pytest.approx(1.25 * 0.75 * 0.6 / (0.25 * 0.75 + 0.6))
    assert counts.f(0.5) > counts.f(1) > counts.f(2)  # precision is the better of the two here


def test_counts_of_nothing_are_undefined_not_perfect():
    assert math.isnan(EditCounts().precision)
    assert math.isnan(EditCounts(fn=3).precision)
    assert EditCounts(fn=3).recall == EditCounts(fn=3).f() == 0
    assert math.isnan(EditCounts(fp=3).recall)
    assert EditCounts(fp=3).precision == EditCounts(fp=3).f() == 0
    assert none_if_nan(EditCounts().f()) is None


def test_character_error_rate_is_pooled():
    # 1 of 2 characters, then 2 insertions missing of 8: 3 of 10, not the mean of 1/2 and 1/4.
    assert character_error_rate(["감배", "안갔다고했다"], ["담배", "안 갔다고 했다"]) == 0.3
    assert character_error_rate(["가나다라"], ["가"]) == 3
    assert math.isnan(character_error_rate([], []))
    with pytest.raises(ValueError, match="longer"):
        character_error_rate(["가"], ["가", "나"])


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
    assert scores["exact_match_95"] == list(wilson_interval(2, 4))


def test_the_share_of_character_errors_that_is_gone():
    scores = score([("감배", "담배", "담배"), ("안갔다", "안갔다", "안 갔다")])
    assert scores["cer_reduction"] == pytest.approx(0.5)
    assert score([("감배", "김베", "담배")])["cer_reduction"] == -1  # two errors where one was
    assert score([("담배", "감배", "담배")])["cer_reduction"] is None  # there was nothing to reduce


def test_score_of_nothing_is_legal_json():
    document = score([])
    assert document["count"] == document["clean"] == 0
    assert document["exact_match_95"] == [None, None]
    for (
        name
    ) in "exact_match cer_before cer_after cer_reduction precision recall f0.5 clean_untouched".split():
        assert document[name] is None


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


def test_what_is_offered_without_a_confidence_is_not_judged():
    offer = Proposal(0, 1, "담", 0.0, is_weighed=False)
    assert judge(FakeCorrection("감배", (offer,)), "담배") == []


def test_a_proposal_is_right_if_the_reference_makes_the_same_edit():
    judged = [judge(made, each.right) for made, each in zip(CORRECTIONS, PAIRS, strict=True)]
    assert judged == [[(0.97, True), (0.4, True)], [(0.85, False)], [(0.45, False)]]


def test_bins_by_hand():
    found = reliability(OUTCOMES)
    bins = {(each["from"], each["to"]): each for each in found["bins"] if each["changes"]}
    assert set(bins) == {(0.4, 0.5), (0.8, 0.9), (0.95, 0.99)}
    assert bins[0.4, 0.5]["mean_confidence"] == pytest.approx(0.425)
    assert bins[0.4, 0.5]["right"] == 0.5
    assert found["changes"] == 4
    # (2 * |.5 - .425| + 1 * |0 - .85| + 1 * |1 - .97|) / 4
    assert found["expected_calibration_error"] == pytest.approx((0.15 + 0.85 + 0.03) / 4)


def test_an_edge_belongs_to_the_bin_above_it_and_1_to_the_last():
    counts = [each["changes"] for each in sort_into_bins([(edge, True) for edge in EDGES])["bins"]]
    assert counts == [1] * (len(counts) - 1) + [2]


def test_a_true_confidence_has_no_calibration_error_and_a_vain_one_all_of_it():
    found = [sort_into_bins(judged * 10) for judged in ([(0.5, True), (0.5, False)], [(1.0, False)])]
    assert [each["expected_calibration_error"] for each in found] == [pytest.approx(0), 1]


@pytest.mark.parametrize("confidence", [-0.01, 1.01, math.nan])
def test_what_is_no_probability_is_refused(confidence):
    with pytest.raises(ValueError, match="between 0 and 1"):
        sort_into_bins([(confidence, True)])


def test_nothing_proposed_is_undefined_not_perfect():
    document = reliability([])
    assert document["expected_calibration_error"] is None
    assert all(each["right"] is each["mean_confidence"] is None for each in document["bins"])


def test_thresholds_score_the_same_decoding():
    table = threshold_table(OUTCOMES)
    assert list(table) == list(THRESHOLDS)
    assert counts_of(table[0.0]) == EditCounts(tp=2, fp=2, fn=1)
    assert counts_of(table[0.4]) == EditCounts(tp=2, fp=2, fn=1)  # a change as sure as the minimum is made
    assert counts_of(table[0.5]) == EditCounts(tp=1, fp=1, fn=2)
    assert counts_of(table[0.9]) == EditCounts(tp=1, fp=0, fn=2)
    assert [table[minimum]["clean_untouched"] for minimum in (0.0, 0.5)] == [0, 1]
    same = [(each.wrong, made.text, each.right) for made, each in zip(CORRECTIONS, PAIRS, strict=True)]
    assert table[CORRECTIONS[0].minimum] == score(same)


def test_the_best_threshold_has_the_highest_f():
    table = threshold_table(OUTCOMES)
    best = best_threshold(table)
    assert table[best]["f0.5"] == max(scores["f0.5"] for scores in table.values())
    assert best == 0.95  # 0.9 and 0.95 do the same: of two the higher one


def test_the_best_threshold_does_not_hang_on_chance():
    table = threshold_table(OUTCOMES)
    counts = {0.5: (700, 100, 300), 0.6: (7000, 1000, 3001), 0.7: (7000, 1001, 3000), 0.8: (600, 100, 400)}
    for minimum, found in counts.items():
        table[minimum] = {"f0.5": EditCounts(*found).f()}
    assert best_threshold({minimum: table[minimum] for minimum in counts}) == 0.6
    # Of two that do about the same it is the better one, the lower here.
    assert best_threshold({minimum: table[minimum] for minimum in (0.5, 0.6)}) == 0.5


def test_the_best_threshold_where_f_is_undefined():
    nothing = [Outcome(PAIRS[2], FakeCorrection("맞는 문장", ()))]
    assert best_threshold(threshold_table(nothing)) == 0.5  # the middle
    with pytest.raises(ValueError, match="empty"):
        best_threshold({})
