"""Kiwi's analysis of texts: right ones score higher, and any text has an answer."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from model.correction.morphemes import analyse
from tests.hostile_texts import hostile_texts


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
