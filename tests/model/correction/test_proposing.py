"""From what is chosen for each stretch to the changes of a sentence."""

import math

import pytest

from model.correction.candidates import Stretch
from model.correction.confidence import Chosen
from model.correction.proposing import changes_of
from model.correction.words import Words
from model.text.changes import find_changes


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
    # What the network would have left alone makes nothing beside it less sure.
    (one,) = proposed((left_alone, "거", 0.6), (changed, "예", 0.8))
    assert (one.wrong, one.right, one.confidence, one.instead_of) == ("에", "예", 0.8, None)
    assert proposed() == ()
    # What may not be proposed is not, though each part of it might.
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
