"""Features of candidate corrections: probabilities, words, morphemes, norm, particles."""

import math
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from model.correction.candidates import Stretch
from model.correction.features import (
    ALONE,
    LEAST_LOG,
    features,
    second_features,
)
from model.correction.morphemes import analyse
from tests.hostile_texts import hostile_texts
from tests.known_words import FIRST_STRETCH, NGRAMS, SECOND_STRETCH, SOURCE, WORDS, stretch


def rows_of(source, *stretches):
    return {(each.stretch, each.text): each.features for each in features(source, stretches, WORDS, NGRAMS)}


def test_the_features_of_candidates():
    rows = rows_of(SOURCE, FIRST_STRETCH, SECOND_STRETCH)
    assert set(rows) == {(0, "학교"), (0, "학꾜"), (1, "갔")}  # to keep the source is no change
    school, other, went = rows.values()
    assert school.fix == pytest.approx(math.log(0.7)) and school.keep == pytest.approx(math.log(0.1))
    assert school.other == pytest.approx(math.log(0.05)) and other.other == pytest.approx(math.log(0.7))
    assert school.network == pytest.approx(0.7 * 0.9)
    assert (school.written, other.written) == (1, 0) and school.candidates == 3
    assert (school.wrong_count, school.right_count, other.right_count) == (0.0, math.log(31), 0.0)
    assert went.right_count == math.log(9) and went.right_beginning == 1
    assert school.spaces == 0 and school.length == 2 and school.changes == 2
    assert went.jamo == 1  # ㅅ for ㅆ
    assert school.sentence == pytest.approx(math.log(0.9)) and went.sentence == pytest.approx(math.log(0.7))
    assert went.other == LEAST_LOG and went.phrase_other == ALONE


def test_a_phrase_is_compared_with_those_of_the_other_candidates():
    rows = rows_of(SOURCE, FIRST_STRETCH, SECOND_STRETCH)
    school, other = rows[0, "학교"], rows[0, "학꾜"]
    assert school.phrase_kept > 5 and school.phrase > other.phrase
    assert school.phrase_other == pytest.approx(-other.phrase_other)
    span, kept = (("학교에 갔다", 0, 6), ("하꾜에 갔다", 0, 6))  # all else as the network wrote it
    assert school.phrase_kept == pytest.approx(float(np.subtract(*NGRAMS.scores([span, kept]))))
    assert school.phrase == pytest.approx(float(NGRAMS.scores([span])[0]) / 6)


def test_a_space_concerns_the_words_on_both_sides():
    rows = rows_of("집에갔다", Stretch(2, 2, "", {" ": -0.1, "": -3.0}))
    row = rows[0, " "]
    assert row.spaces == 1 and row.wrong_count == 0 and row.right_count == math.log(9)
    rows = rows_of("집에갓다", Stretch(2, 3, "갓", {" 갔": -0.1, "갓": -3.0}))
    assert rows[0, " 갔"].spaces == 2


def test_morphemes_are_looked_at_with_the_words_around_them(asked):
    source = "우리 동네 하꾜에서 친구를 갓다"
    stretches = (
        stretch(source, "하꾜", 학교=0.7, 하꾜=0.1, 학꾜=0.05),
        stretch(source, "갓", 갔=0.9, 갓=0.05),
    )
    rated = features(source, stretches, WORDS, NGRAMS)
    school, other = second_features(source, stretches, rated[:2])
    assert asked == [
        f"동네 {text}에서 친구를" for text in ("학교", "하꾜", "학꾜")
    ]  # nothing of the other stretch
    assert school == (20, 10, -10 / 3, 1, 0, 2, 2, 0, 0) and other == (10, -10, -20 / 3, 1, 0, 2, 2, 0, 0)
    (went,) = second_features(source, stretches, rated[2:])
    assert went.morphemes_other == ALONE


@pytest.mark.parametrize(
    ("wrong", "right", "norm"),
    [("몇일", "며칠", 1), ("며칠", "몇일", -1), ("나무", "나비", 0)],
)
def test_a_change_that_the_norm_makes_is_known(asked, wrong, right, norm):
    source = f"저는 {wrong} 보았다"
    stretches = [stretch(source, wrong, **{right: 0.5, wrong: 0.4})]
    (found,) = second_features(source, stretches, features(source, stretches, WORDS, NGRAMS))
    assert found.norm == norm


def test_the_shape_of_a_particle_is_compared_with_that_of_the_source(asked):
    source = "언니이 왔다"
    stretches = [stretch(source, "이", 가=0.5, 이=0.4, 는=0.1)]
    mended = second_features(source, stretches, features(source, stretches, WORDS, NGRAMS))
    assert [each.misshapen for each in mended] == [-1, -1]


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("생각은 많은데", "생각읃 많은데"),
        ("고객님을 모시고", "고갱니믈 모시고"),
        ("이제 안 돼요", "이제 안 되요"),
    ],
)
def test_what_is_right_is_more_usual(right, wrong):
    (one, count, _), (other, _, _) = analyse([right, wrong])
    assert one > other + 2 and count >= 4


def test_no_text_has_no_morphemes():
    assert analyse([]).shape == (0, 3)
    np.testing.assert_array_equal(analyse(["", " "]), np.zeros((2, 3)))


def test_any_text_has_an_answer_and_the_same_in_every_thread():
    texts = [text[:128] for text in hostile_texts(seed=5, count=120)]
    expected = analyse(texts)
    assert np.isfinite(expected).all()
    with ThreadPoolExecutor(4) as threads:
        for found in threads.map(analyse, [texts] * 4):
            np.testing.assert_array_equal(found, expected)
