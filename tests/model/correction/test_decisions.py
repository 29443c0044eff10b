"""``Correction`` with a person's decisions: changes accepted, rejected, taken back.

No network is needed.
"""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from model.correction.correction import KEPT_TRACES, Correction, SentenceCorrection
from model.text.changes import find_changes

# Source, target, and the confidence of each change.
SENTENCES = (
    ("고갱이 왓다", "고객이 왔다", (0.9, 0.4)),
    ("비가 온다", "비가 온다", ()),
    ("또 왓다 갓다", "또 왔다 갔다", (0.6, 0.2)),
)
MINIMUM = 0.5


def sentence_of(
    start: int, source: str, target: str, confidences: Sequence[float], looked
) -> SentenceCorrection:
    proposed = tuple(
        replace(change, fix_probability=confidence, keep_probability=0.0)
        for change, confidence in zip(find_changes(source, target), confidences, strict=True)
    )
    return SentenceCorrection(start, source, proposed, MINIMUM, False, looked)


class Looked:
    """In place of a network: remembers the texts it received."""

    def __init__(self):
        self.texts = []

    def __call__(self, source, text):
        self.texts.append(text)
        return object()


@pytest.fixture
def looked() -> Looked:
    return Looked()


@pytest.fixture
def correction(looked) -> Correction:
    sentences, start = [], 0
    for source, target, confidences in SENTENCES:
        sentences.append(sentence_of(start, source, target, confidences, looked))
        start += len(source) + 1
    return Correction(" ".join(source for source, *_ in SENTENCES), tuple(sentences))


def test_numbers_count_the_proposals_of_all_sentences(correction):
    assert [change.right for change in correction.proposed] == ["객", "왔", "왔", "갔"]
    assert correction.with_decisions(accepted=[1]).text == "고객이 왔다 비가 온다 또 왔다 갓다"
    assert correction.with_decisions(accepted=[3]).text == "고객이 왓다 비가 온다 또 왔다 갔다"
    assert correction.with_decisions(rejected=[0]).text == "고갱이 왓다 비가 온다 또 왔다 갓다"
    assert correction.with_decisions([1, 3], [0, 2]).text == "고갱이 왔다 비가 온다 또 왓다 갔다"


def test_what_is_decided_holds_at_every_threshold(correction):
    decided = correction.with_decisions(accepted=[3], rejected=[0])
    for minimum in (0.0, 0.3, 0.7, 1.0):
        made = [change.right for change in decided.with_minimum_confidence(minimum).changes]
        assert made[-1] == "갔"
        assert "객" not in made


def test_a_rejection_beats_an_acceptance_of_the_same_number(correction):
    assert correction.with_decisions([0], [0]).text == correction.with_decisions((), [0]).text


@pytest.mark.parametrize("numbers", [[-1], [4], [10**30], [-(10**30), 99], [0.5]])
def test_a_number_that_is_no_proposal_decides_nothing(correction, numbers):
    assert correction.with_decisions(numbers, numbers) == correction


def test_after_a_rejection_it_is_looked_up_anew_and_the_way_back_costs_nothing(correction, looked):
    before = correction.sentences[0].trace
    undone = correction.with_decisions(rejected=[0])
    assert undone.sentences[0].trace is not before
    assert looked.texts == ["고객이 왓다", "고갱이 왓다"]
    assert undone.with_decisions().sentences[0].trace is before
    assert correction.with_minimum_confidence(0.8).sentences[0].trace is before
    assert len(looked.texts) == 2


def test_a_sentence_keeps_a_bounded_number_of_traces(looked):
    sentence = sentence_of(0, "갱 갱 갱 갱", "객 객 객 객", [0.9] * 4, looked)
    correction = Correction(sentence.source, (sentence,))
    for number in range(16):
        chosen = [place for place in range(4) if number >> place & 1]
        assert correction.with_decisions(rejected=chosen).sentences[0].trace
        assert len(sentence._traces) <= KEPT_TRACES
    assert len(looked.texts) == 16
