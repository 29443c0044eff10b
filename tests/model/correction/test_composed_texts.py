"""Composed texts of the benchmarks, and the checks of a correction's invariants."""

import doctest

import pytest

from benchmarks import composed_texts, harm
from benchmarks.composed_texts import ComposedPart, ComposedText, Repetition, compose
from benchmarks.harm import (
    is_settled,
    lost_words,
    no_evidence_against,
    no_word_is_lost,
    order_stays,
    protected_spans_stay,
    repeats,
)
from model.correction.correction import Correction, SentenceCorrection
from model.text.changes import Change
from model.text.tokenizer import normalise

TEXTS = compose(seed=4, count=450)


def corrected(text: str, *changes: Change) -> Correction:
    """``text`` with just these changes."""
    return Correction(text, (SentenceCorrection(0, text, changes, 0.0, False, lambda *_: None),))


def change(
    text: str, wrong: str, right: str, fix: float = 0.9, keep: float = 0.1, at: int | None = None
) -> Change:
    start = text.index(wrong) if at is None else at
    return Change(start, start + len(wrong), start, start + len(right), wrong, right, fix, keep)


def prose(text: str) -> ComposedText:
    return ComposedText("sentences", (ComposedPart(0, text, "prose"),))


def test_parts_stand_where_they_say_and_a_correction_that_changes_nothing_violates_nothing():
    for text in TEXTS:
        assert text.text == normalise(text.text)
        assert all(text.text[part.start : part.end] == part.text for part in text.parts)
        if what := text.repetition:
            assert text.text == what.between.join([what.unit] * what.times)
        untouched = corrected(text.text)
        for holds in (no_word_is_lost, no_evidence_against, protected_spans_stay, order_stays):
            assert not list(holds(text, untouched)), text
        assert not list(is_settled(text, untouched, text.text))
        assert not text.repetition or not list(repeats(text, untouched, text.repetition.unit))


@pytest.mark.parametrize(
    ("source", "target", "lost"),
    [
        ("* 않된다", "* 된다", ["않된다"]),
        ("| 민수 | 비고 |", "| 수 | 비고 |", ["민수"]),
        ("할수있다 " * 5, "할수있다 " * 4, ["할수있다"]),
        ("날으는 새, 녹슬은 못", "나는 새, 녹슨 못", []),
        ("몇일 뒤에 설겆이를 할께", "며칠 뒤에 설거지를 할게", []),
    ],
)
def test_a_word_is_lost_where_a_third_of_its_letters_is(source, target, lost):
    assert lost_words(source, target) == lost


def test_a_change_against_the_evidence_is_seen():
    text = "엄마께 전화"
    against = change(text, "엄마께", "엄하게", fix=0.001, keep=0.99)
    assert list(no_evidence_against(prose(text), corrected(text, against)))
    assert not list(no_evidence_against(prose(text), corrected(text, change(text, "엄마께", "엄하게"))))


BESIDE_A_SPAN = (
    ComposedPart(0, "안되요", "prose"),
    ComposedPart(3, " ", "mark"),
    ComposedPart(4, "#할수있다", "hashtag"),
)
MARKED_UP = (
    ComposedPart(0, "<b>", "mark-up"),
    ComposedPart(3, "안되요", "prose"),
    ComposedPart(6, "</b>", "mark-up"),
)


@pytest.mark.parametrize(
    ("parts", "wrong", "right", "at", "violated"),
    [
        (BESIDE_A_SPAN, "안되요", "안 돼요", 0, False),  # the prose
        (BESIDE_A_SPAN, "할수있다", "할 수 있다", 5, True),  # the hashtag
        (BESIDE_A_SPAN, "", " ", 6, True),  # inside it
        (BESIDE_A_SPAN, " ", "", 3, True),  # prose joined to it
        (BESIDE_A_SPAN, "", " ", 3, False),
        (MARKED_UP, "안되요", "안 돼요", 3, False),
        (MARKED_UP, "안되요", "안 돼요 ", 3, True),  # a space before a tag
    ],
)
def test_a_change_of_a_protected_span_is_seen(parts, wrong, right, at, violated):
    text = ComposedText("made", parts)
    correction = corrected(text.text, change(text.text, wrong, right, at=at))
    assert bool(list(protected_spans_stay(text, correction))) == violated


@pytest.mark.parametrize(("wrong", "right"), [("\n", " "), ("*", "-"), (".", ""), (".", ". 그.")])
def test_a_lost_mark_is_seen(wrong, right):
    text = "* 밥을 먹었다.\n잤다"
    assert list(order_stays(prose(text), corrected(text, change(text, wrong, right))))


def test_what_is_corrected_further_is_seen():
    assert list(is_settled(prose("안되"), corrected("안되"), "안 돼"))


def test_a_lost_repetition_is_seen():
    what = Repetition("그래", " ", 3)
    text = ComposedText("repeated", (ComposedPart(0, "그래 그래 그래", "prose"),), what)
    assert list(repeats(text, corrected(text.text, change(text.text, "그래 ", "")), "그래"))
    assert not list(repeats(text, corrected(text.text), "그래"))


@pytest.mark.parametrize("module", [composed_texts, harm])
def test_examples_are_true(module):
    failed, attempted = doctest.testmod(module)
    assert attempted and not failed
