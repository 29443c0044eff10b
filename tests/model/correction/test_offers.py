"""Words typed in the English layout beside the corrections of a sentence: offered, and never made by
themselves.
"""

from dataclasses import replace

import pytest

from model.correction.confidence import Confidence, Trees
from model.correction.features import FIRST
from model.correction.ngrams import NGrams
from model.correction.proposing import as_if_right, find_offers, with_offers
from model.correction.words import Words
from model.text.changes import apply_changes, find_changes
from model.text.protected import Passage, verbatim_spans

WORDS = Words({"가고": 30, "오늘": 30, "드니": 3, "저는": 9})
TEXT = "`dhsmf` 나 rkrh 있어, 않돼 dhsmf"


def read_as_if_right(text: str):
    part = Passage.of(text, verbatim_spans(text))
    offers = find_offers(part, WORDS)
    return offers, as_if_right(part, offers)


def test_the_network_reads_the_hangul():
    offers, part = read_as_if_right(TEXT)
    assert [(each.wrong, each.right) for each in offers] == [("rkrh", "가고"), ("dhsmf", "오늘")]
    assert part.text == "`dhsmf` 나 가고 있어, 않돼 오늘"
    assert [part.text[a:b] for a, b in part.verbatim] == ["`dhsmf`"]


def test_a_sentence_without_such_a_word_is_read_as_it_is():
    part = Passage.of("go 나 있어")
    assert as_if_right(part, find_offers(part, WORDS)) is part


def test_a_short_word_that_is_seldom_met_is_not_offered():
    offers, _ = read_as_if_right("그 emsl 말")  # 드니, three times in the table
    assert not offers


def test_the_rest_is_corrected_as_if_they_were_right():
    offers, part = read_as_if_right(TEXT)
    mended = find_changes(part.text, "`dhsmf` 나 가고 있어, 안 돼 오늘")
    changes = with_offers(mended, offers)
    assert apply_changes(TEXT, changes) == "`dhsmf` 나 가고 있어, 안 돼 오늘"
    for change in changes:
        assert TEXT[change.source_start : change.source_end] == change.wrong
    rest = [change for change in changes if not change.is_english_layout]
    assert apply_changes(TEXT, rest) == "`dhsmf` 나 rkrh 있어, 안 돼 dhsmf"


def test_a_change_that_touches_an_offer_is_left_out():
    offers, part = read_as_if_right(TEXT)
    joined = find_changes(part.text, part.text.replace("가고 있어", "가고있어"))
    assert with_offers(joined, offers) == offers


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
