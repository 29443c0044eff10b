"""Proposed changes of a text: from candidates, after a second reading, as offers."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from model.correction.candidates import Stretch
from model.correction.confidence import Chosen, Confidence, Trees
from model.correction.counts import NGrams, Words
from model.correction.features import FIRST
from model.correction.proposing import (
    Edits,
    after_second_reading,
    agreeing,
    as_if_right,
    changes_of,
    find_edits,
    find_offers,
    made,
    with_edits,
)
from model.text.changes import Change, apply_changes, find_changes
from model.text.passages import Passage
from model.text.protected import verbatim_spans
from model.text.tokenizer import split_sentences


def test_changes_beside_each_other_are_one_and_as_sure_as_the_least_sure():
    source = "저에요."
    left_alone = Stretch(0, 1, "저", {"저": -0.5, "거": -1.0})
    changed = Stretch(1, 2, "에", {"예": -0.1, "에": -3.0})
    end = Stretch(3, 4, ".", {"!": -0.5, ".": -1.0})

    def proposed(*chosen, accepts=lambda change: True):
        return changes_of(source, [Chosen(*each) for each in chosen], accepts)

    one, other = proposed((left_alone, "거", 0.9), (changed, "예", 0.8), (end, "!", 0.6))
    assert (one.wrong, one.right, one.confidence, one.instead_of) == ("저에", "거예", 0.8, "저예")
    assert (other.wrong, other.right, other.confidence, other.instead_of) == (".", "!", 0.6, None)
    # A stretch that the network would have left alone makes no neighbour less sure.
    (one,) = proposed((left_alone, "거", 0.6), (changed, "예", 0.8))
    assert (one.wrong, one.right, one.confidence, one.instead_of) == ("에", "예", 0.8, None)
    assert proposed() == ()
    # A refused change is not proposed, though each part of it might be.
    (one,) = proposed(
        (left_alone, "거", 0.9), (changed, "예", 0.8), (end, "!", 0.6), accepts=lambda c: c.right == "!"
    )
    assert (one.wrong, one.right, one.target_start) == (".", "!", 3)


def proposal(source, wrong, right, confidence, at=0):
    """A change of ``wrong`` at its ``at``-th place in ``source``, counted from 0."""
    start = -1
    for _ in range(at + 1):
        start = source.index(wrong, start + 1)
    return Change(start, start + len(wrong), 0, 0, wrong, right, known_confidence=confidence)


def confidences(source, *changes):
    spans = split_sentences(source)
    mine = [
        tuple(c.moved(-start, 0) for c in changes if start <= c.source_start < end) for start, end in spans
    ]
    found = agreeing(source, spans, mine)
    return [round(change.confidence, 2) for changes in found for change in changes]


TWICE = "그러게 왜 그랬담 그러게 왜 그랬담"


@pytest.mark.parametrize(
    ("source", "changes", "expected"),
    [
        (TWICE, [("담", "다", 0.3, 0), ("담", "다", 0.9, 1)], [0.3, 0.3]),
        (TWICE, [("담", "다", 0.9, 1)], [0.0]),  # the other place was left alone
        (TWICE, [("담", "다", 0.3, 0), ("담", "닥", 0.9, 1)], [0.0, 0.0]),  # another change of the same words
        ("옷이 헤졌다, 흩날렸다. 옷이 헤졌다!", [("헤", "해", 0.9, 0), ("헤", "해", 0.7, 1)], [0.7, 0.7]),
        # behind another word
        ("왜 그랬담 또 그랬담", [("담", "다", 0.3, 0), ("담", "다", 0.9, 1)], [0.3, 0.9]),
        ("갈수 있다. 갈수 없다.", [("수", " 수", 0.9, 0)], [0.0]),  # both begin a sentence
        ("갈 수있다. 갈 수없다.", [("수있", "수 있", 0.9, 0)], [0.9]),
        ("그랬담.", [("담", "다", 0.9, 0)], [0.9]),
    ],
)
def test_a_change_is_as_sure_as_at_the_least_sure_of_its_places(source, changes, expected):
    assert confidences(source, *(proposal(source, *each[:3], at=each[3]) for each in changes)) == expected


WORDS = Words({"가고": 30, "오늘": 30, "드니": 3, "저는": 9})
TEXT = "`dhsmf` 나 rkrh 있어, 않돼 dhsmf"


def read_as_if_right(text: str):
    part = Passage.of(text, verbatim_spans(text))
    offers = find_offers(part, WORDS)
    return offers, as_if_right(part, offers)


def test_a_short_word_that_is_seldom_met_is_not_offered():
    offers, _ = read_as_if_right("그 emsl 말")  # 드니, three times in the table
    assert not offers


def test_the_rest_is_corrected_as_if_they_were_right():
    offers, part = read_as_if_right(TEXT)
    mended = find_changes(part.text, "`dhsmf` 나 가고 있어, 안 돼 오늘")
    changes = with_edits(mended, Edits(offers))
    assert apply_changes(TEXT, changes) == "`dhsmf` 나 가고 있어, 안 돼 오늘"
    for change in changes:
        assert TEXT[change.source_start : change.source_end] == change.wrong
    rest = [change for change in changes if not change.is_english_layout]
    assert apply_changes(TEXT, rest) == "`dhsmf` 나 rkrh 있어, 안 돼 dhsmf"


def test_particles_are_mended_and_placeholders_are_read_as_figures():
    text = "PC을 켜고 파일 %d개를 연다"
    part = Passage.of(text)
    edits = find_edits(part, WORDS)
    read = as_if_right(part, edits.all)
    assert read.text == "PC를 켜고 파일 3개를 연다"
    changes = with_edits(find_changes(read.text, "PC를 켜고 파일 3개를 열다"), edits)
    assert apply_changes(text, changes) == "PC를 켜고 파일 %d개를 열다"
    assert all(text[change.source_start : change.source_end] == change.wrong for change in changes)
    beside = find_changes(read.text, "PC를 켜고 파일 3가를 연다")
    assert with_edits(beside, edits) == edits.shown  # a counter follows a placeholder as it follows a figure


@pytest.fixture
def knowing(tiny_corrector, monkeypatch):
    """A corrector that knows a few words, and whose network writes anything."""
    judge = Confidence(WORDS, NGrams.count(["오늘 가고 있어"]), Trees(FIRST, 0.0, ()))
    monkeypatch.setattr(tiny_corrector, "confidence", judge)
    return tiny_corrector


@pytest.mark.parametrize("text", ["방이 rkrh 없어요", "dhsmf", "dhsmf. wjsms 방이"])
def test_an_offer_is_made_by_a_person_alone(knowing, text):
    found = knowing.correct(text)
    offers = [n for n, change in enumerate(found.proposed) if change.is_english_layout]
    assert offers
    for minimum in (0.0, 0.5, 1.0):
        made = found.with_minimum_confidence(minimum).changes
        assert not any(change.is_english_layout for change in made)
    accepted = found.with_minimum_confidence(1.0).with_decisions(accepted=offers)
    assert [change.is_english_layout for change in accepted.changes] == [True] * len(offers)
    assert accepted.text == apply_changes(text, [found.proposed[n] for n in offers])


def test_what_is_drawn_is_a_pass_over_the_text_that_is_shown(knowing):
    found = knowing.correct("방이 rkrh 없어요").with_minimum_confidence(1.0)
    (number,) = (n for n, change in enumerate(found.proposed) if change.is_english_layout)
    for each in (found, found.with_decisions(accepted=[number])):
        trace = each.trace
        assert "".join(trace.source_tokens[:-1]).replace("␣", " ") == found.source
        assert "".join(trace.target_tokens[:-1]).replace("␣", " ") == each.text
        own = knowing.trace(found.source, each.text)
        assert (trace.cross_attention == own.cross_attention).all()


SOURCE = "배개가 너무 높아요 그래 서"


def proposed(source: str, target: str, *confidences: float) -> list[Change]:
    changes = find_changes(source, target)
    assert len(changes) == len(confidences)
    return [replace(c, known_confidence=sure) for c, sure in zip(changes, confidences, strict=True)]


def test_what_stays_unsure_stays_a_proposal():
    source = "배개가 높아 요 그래 서"
    first = proposed(source, "베개가 높아요 그래서", 0.3, 0.5, 0.99)
    once = apply_changes(source, made(first, 0.8))
    second = proposed(once, "베개가 높아 요 그래서", 0.97)
    changes = after_second_reading(source, first, second, 0.8)
    assert [(c.wrong, c.right, c.confidence) for c in changes] == [
        ("배", "베", 0.97),
        (" ", "", 0.5),
        (" ", "", 0.99),
    ]


def test_a_change_of_a_change_is_as_sure_as_the_least_sure_of_both():
    first = proposed("이바램 옷 을", "이바람 옷을", 0.9, 0.5)
    once = apply_changes("이바램 옷 을", made(first, 0.8))
    second = proposed(once, "이바름 옷 을", 0.85)
    changes = after_second_reading("이바램 옷 을", first, second, 0.8)
    assert [(c.wrong, c.right, c.confidence) for c in changes] == [("램", "름", 0.85), (" ", "", 0.5)]


def test_what_began_at_the_other_of_two_equal_syllables_has_a_confidence():
    source = "먹던지 말던지 알아라라."
    first = proposed(source, "먹든지 말든지 알아라라.", 0.98, 0.83)
    once = apply_changes(source, made(first, 0.8))
    second = proposed(once, "먹든지 말든지 알아라.", 0.96)
    assert second[0].source_start == 11
    *_, last = after_second_reading(source, first, second, 0.8)
    assert (last.source_start, last.confidence) == (10, 0.83)  # the least sure of all, since it touches none


@pytest.fixture
def reading(tiny_corrector, monkeypatch):
    """The tiny corrector with a given function in place of one reading of a text."""
    monkeypatch.setattr(tiny_corrector, "confidence", SimpleNamespace(words=Words({})))
    monkeypatch.setattr(tiny_corrector, "config", replace(tiny_corrector.config, minimum_confidence=0.8))

    def with_reading(one_reading):
        monkeypatch.setattr(tiny_corrector, "_one_reading", one_reading)
        return tiny_corrector

    return with_reading


def test_a_corrected_sentence_is_read_until_nothing_more_is_sure(reading):
    """A network that mends one letter at a time."""
    steps = {"가나다": "라나다", "라나다": "라마다", "라마다": "라마바", "라마바": "라마바"}
    read = []

    def one_reading(sentences, keep_passes):
        read.append([part.text for part in sentences])
        return [
            (tuple(proposed(part.text, steps[part.text], *[0.9] * (part.text != steps[part.text]))), None)
            for part in sentences
        ]

    correction = reading(one_reading).correct("가나다")
    assert correction.text == "라마바" == reading(one_reading).correct(correction.text).text
    assert read == [["가나다"], ["라나다"], ["라마다"], ["라마바"], ["라마바"]]


def test_what_never_settles_stays_as_it_was_typed(reading):
    def swapped(sentences, keep_passes):
        return [(tuple(proposed(part.text, part.text[::-1], 0.9, 0.9)), None) for part in sentences]

    assert reading(swapped).correct("가나").text == "가나"
