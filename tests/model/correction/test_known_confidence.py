"""The confidence that knows words: which candidate it chooses, how sure it is, and when the second trees are
asked.
"""

import math
from dataclasses import replace

import numpy as np
import pytest

from model.correction.confidence import Confidence, Trees
from model.correction.features import (
    FIRST,
    SECOND,
)
from tests.known_words import (
    CONFIDENCE,
    FIRST_STRETCH,
    NGRAMS,
    WORDS,
    probability,
    stretch,
)


def test_leaves_add_up_to_log_odds():
    ((_, text, confidence),) = CONFIDENCE.choose("하꾜에", [FIRST_STRETCH])
    assert (text, confidence) == ("학교", pytest.approx(probability(0.25 + 1.0 + 0.5)))
    unknown = replace(FIRST_STRETCH, candidates={"학꾜": math.log(0.9), "하꾜": math.log(0.1)})
    ((_, text, confidence),) = CONFIDENCE.choose("하꾜에", [unknown])
    assert (text, confidence) == ("학꾜", pytest.approx(probability(0.25 - 2.0 + 0.0)))
    assert CONFIDENCE.choose("하꾜에", ()) == []


def test_the_likeliest_candidate_is_chosen_whatever_the_network_put_first():
    second = replace(
        FIRST_STRETCH, candidates={"학꾜": math.log(0.6), "학교": math.log(0.3), "하꾜": math.log(0.05)}
    )
    ((found, text, _),) = CONFIDENCE.choose("하꾜에", [second])
    assert text == "학교" and found.written == "학꾜"


@pytest.mark.parametrize(("known", "expected"), [("학교", ["학교"]), ("학꾜", [])])
def test_what_the_network_would_have_left_alone_takes_better_odds_than_evens(known, expected):
    kept = replace(FIRST_STRETCH, candidates={"하꾜": math.log(0.6), known: math.log(0.3)})
    assert [text for _, text, _ in CONFIDENCE.choose("하꾜에", [kept])] == expected


SURE, UNSURE, HOPELESS = (FIRST.index("fix"), -9.0, 0.0, 4.0), 0.5, -4.0  # log odds


@pytest.mark.parametrize(("first", "is_asked"), [(SURE, False), (UNSURE, True), (HOPELESS, False)])
def test_second_trees_are_asked_where_the_first_leave_doubt(first, is_asked, asked):
    second = Trees(SECOND, 0.0, ((SECOND.index("morphemes_kept"), 15.0, -1.5, 1.5),))
    confidence = Confidence(WORDS, NGRAMS, Trees(FIRST, 0.0, (first,)), second)
    ((_, text, found),) = confidence.choose("하꾜에", [FIRST_STRETCH])
    assert bool(asked) == is_asked
    if is_asked:
        assert (text, found) == ("학교", pytest.approx(probability(1.5)))
    else:
        assert not 0.1 < found < 0.9
        without = replace(confidence, second=None)
        assert without.choose("하꾜에", [FIRST_STRETCH]) == confidence.choose("하꾜에", [FIRST_STRETCH])


@pytest.mark.parametrize(
    ("wrong", "right", "written", "more_usual", "is_believed"),
    [
        ("탁본", "반복", 0.6, 12.0, False),  # the trees alone
        ("탁본", "반복", 0.8, 12.0, True),  # the network, too
        ("탁본", "반복", 0.6, 15.0, True),  # the analyser, too
        ("몇일", "며칠", 0.6, 12.0, True),  # the norm, too
        ("하꾜", "학교", 0.6, 12.0, True),  # 하꾜 is no word
    ],
)
def test_a_word_is_replaced_by_a_word_if_not_the_trees_alone_are_sure(
    wrong, right, written, more_usual, is_believed, monkeypatch
):
    rows = {wrong: (-more_usual, 3, wrong == "하꾜"), right: (0, 3, 0)}
    monkeypatch.setattr(
        "model.correction.features.analyse",
        lambda texts: np.array([next(row for word, row in rows.items() if word in text) for text in texts]),
    )
    monkeypatch.setattr("model.correction.features.longest_known", lambda *_: 2)
    confidence = Confidence(WORDS, NGRAMS, Trees(FIRST, 0.0, (UNSURE,)), Trees(SECOND, 3.0, ()))
    source = f"그는 {wrong} 보았다"
    ((_, text, found),) = confidence.choose(source, [stretch(source, wrong, **{right: written, wrong: 0.1})])
    assert (text, found) == (right, pytest.approx(probability(3.0 if is_believed else 0.0)))
