"""What stands twice in a text is corrected twice, or not at all."""

import pytest

from model.correction.proposing import agreeing
from model.text.changes import Change
from model.text.tokenizer import Span, split_sentences


def proposal(source, wrong, right, confidence, at=0):
    """A change of the ``at``-th place of ``source`` where ``wrong`` stands."""
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
        (
            "왜 그랬담 또 그랬담",
            [("담", "다", 0.3, 0), ("담", "다", 0.9, 1)],
            [0.3, 0.9],
        ),  # behind another word
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
