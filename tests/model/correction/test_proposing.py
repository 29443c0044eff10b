"""Proposed changes: from candidates, after a second reading, with offers, and agreeing in a whole text."""

import math
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
from model.text.tokenizer import Span, split_sentences


class Choosing:
    """In place of a Confidence: it takes the last candidate of every stretch, or the first."""

    words = Words({})  # none is known, so no word of Latin letters is taken for Hangul

    def __init__(self, last):
        self.last = last

    def choose(self, source, stretches):
        for each in stretches:
            texts = [text for text in each.candidates if text != each.kept]
            if texts:
                yield Chosen(each, texts[-1 if self.last else 0], 0.8)


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


def test_what_is_chosen_is_proposed_with_the_probabilities_of_its_own_pass(
    tiny_corrector, load_tiny, tiny_folder, monkeypatch
):
    # A network with random weights keeps no word and is sure of nothing; and nothing is made, so each
    # sentence is read once.
    monkeypatch.setattr("model.correction.mending.spares_words", lambda change, source: True)
    monkeypatch.setattr("model.correction.proposing.PROBABILITY_OF_LOSS", 0.0)
    corrector = load_tiny(tiny_folder, minimum_confidence=0.9)
    texts = ["손니미 왔는데 방이 없으면", "전 오래 씂 수 깄는 겍 필요해요.", "방이 업쓰며 너떠캐요?"]
    first, last = [], []
    for found, judge in ((first, Choosing(last=False)), (last, Choosing(last=True))):
        corrector.confidence = judge
        found += [each.with_minimum_confidence(0.0) for each in corrector.correct_batch(texts)]
    others = [c for correction in last for c in correction.proposed if c.instead_of is not None]
    assert others  # else the network was too sure for this test
    for correction in (*first, *last):
        (sentence,) = correction.sentences
        trace = sentence.trace
        assert correction.proposed == find_changes(correction.source, correction.text)
        for change in correction.proposed:
            assert correction.text[change.target_start : change.target_end] == change.right
            rows = slice(change.target_start, max(change.target_end, change.target_start + 1))
            written = math.exp(trace.log_probabilities[rows].sum())
            assert change.fix_probability == pytest.approx(written, abs=1e-4)
            assert change.known_confidence == 0.8
    assert [one.text for one in first] != [other.text for other in last]


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


def test_a_change_of_several_words_counts_where_all_of_them_stand():
    source = "집에 있 어서 갔다. 집에 있 어야 한다. 집에 있 어서 왔다."
    first, last = proposal(source, " 어서", "어서", 0.9), proposal(source, " 어서", "어서", 0.6, at=1)
    assert confidences(source, first, last) == [0.6, 0.6]


def test_what_nothing_weighs_stays_as_it_is():
    change = Change(3, 4, 3, 4, "갓", "갔")
    assert agreeing("집에 갓다", [Span(0, 5)], [(change,)]) == [(change,)]
    source = "나 갓다. 나 갓다."
    (found,), nothing = agreeing(source, split_sentences(source), [(change,), ()])
    assert not found.is_weighed and nothing == ()


WORDS = Words({"가고": 30, "오늘": 30, "드니": 3, "저는": 9})
TEXT = "`dhsmf` 나 rkrh 있어, 않돼 dhsmf"


def read_as_if_right(text: str):
    part = Passage.of(text, verbatim_spans(text))
    offers = find_offers(part, WORDS)
    return offers, as_if_right(part, offers)


def test_the_network_reads_the_hangul_and_a_change_that_touches_an_offer_is_left_out():
    offers, part = read_as_if_right(TEXT)
    assert [(each.wrong, each.right) for each in offers] == [("rkrh", "가고"), ("dhsmf", "오늘")]
    assert part.text == "`dhsmf` 나 가고 있어, 않돼 오늘"
    assert [part.text[a:b] for a, b in part.verbatim] == ["`dhsmf`"]
    joined = find_changes(part.text, part.text.replace("가고 있어", "가고있어"))
    assert with_edits(joined, Edits(offers)) == offers


def test_a_sentence_without_such_a_word_is_read_as_it_is():
    part = Passage.of("go 나 있어")
    assert as_if_right(part, find_offers(part, WORDS)) is part


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


def test_nothing_is_offered_by_a_model_that_knows_no_words(tiny_corrector):
    assert not any(change.is_english_layout for change in tiny_corrector.correct("방이 rkrh").proposed)


def test_a_change_may_not_claim_to_be_weighed(knowing):
    (offer,) = (c for c in knowing.correct("dhsmf").proposed if c.is_english_layout)
    assert not offer.is_weighed
    with pytest.raises(ValueError, match="no confidence"):
        _ = replace(offer).confidence


SOURCE = "배개가 너무 높아요 그래 서"


def proposed(source: str, target: str, *confidences: float) -> list[Change]:
    changes = find_changes(source, target)
    assert len(changes) == len(confidences)
    return [replace(c, known_confidence=sure) for c, sure in zip(changes, confidences, strict=True)]


def test_both_readings_become_changes_of_what_was_typed():
    first = proposed(SOURCE, "베개가 너무 높아요 그래서", 0.3, 0.99)
    once = apply_changes(SOURCE, made(first, 0.8))
    second = proposed(once, "베개가 너무 높아요 그래서", 0.97)
    changes = after_second_reading(SOURCE, first, second, 0.8)
    assert apply_changes(SOURCE, changes) == "베개가 너무 높아요 그래서"
    assert [c.confidence for c in changes] == [0.97, 0.99]
    target = apply_changes(SOURCE, changes)
    for change in changes:
        assert target[change.target_start : change.target_end] == change.right


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
    """The corrector with this in place of a reading; its changes count as weighed."""
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
