"""Measures, each against an example worked out by hand."""

import math

import pytest

from training.measure.metrics import (
    EditCounts,
    Scores,
    character_error_rate,
    edit_counts,
    edits,
    none_if_nan,
    repaired,
    score,
    wilson_interval,
)


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


def test_edits_are_spans_of_the_source_and_what_replaces_them():
    assert edits("감배 를 피웟다", "담배를 피웠다") == {(0, 1, "담"), (2, 3, ""), (6, 7, "웠")}
    assert edits("가", "가") == set()


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


def test_score_by_hand():
    scores = score(
        [
            ("감배", "담배", "담배"),  # repaired
            ("안갔다", "안갔다", "안 갔다"),  # missed
            ("비가 온다", "비가 온다", "비가 온다"),  # right, left alone
            ("눈", "논", "눈"),  # right, and spoilt
        ]
    )
    assert scores == Scores(
        count=4,
        exact=2,
        cer_before=2 / 12,
        cer_after=2 / 12,
        edits=EditCounts(tp=1, fp=1, fn=1),
        clean=2,
        untouched=1,
    )
    assert scores.exact_match == scores.clean_untouched == scores.edits.f() == 0.5
    assert scores.as_json()["exact_match_95"] == list(wilson_interval(2, 4))


def test_the_share_of_character_errors_that_is_gone():
    scores = score([("감배", "담배", "담배"), ("안갔다", "안갔다", "안 갔다")])
    assert scores.cer_reduction == pytest.approx(0.5) == scores.as_json()["cer_reduction"]
    assert score([("감배", "김베", "담배")]).cer_reduction == -1  # two errors where one was
    assert math.isnan(score([("담배", "감배", "담배")]).cer_reduction)  # there was nothing to reduce


def test_a_hypothesis_that_differs_in_the_full_stop_is_not_exact():
    assert score([("감배.", "담배", "담배.")]).exact == 0


def test_score_of_nothing_is_legal_json():
    document = score([]).as_json()
    assert document["count"] == document["clean"] == 0
    assert document["exact_match_95"] == [None, None]
    for name in (
        "exact_match",
        "cer_before",
        "cer_after",
        "cer_reduction",
        "precision",
        "recall",
        "f0.5",
        "clean_untouched",
    ):
        assert document[name] is None
