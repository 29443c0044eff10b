"""Candidate corrections of a sentence, read off the probabilities of one pass."""

import math

import numpy as np
import pytest

from model.activations.drafting import Produced
from model.correction.candidates import MOST, find_stretches
from model.text.tokenizer import END, Tokenizer

TOKENIZER = Tokenizer("가나다라마바사 .")


def ids_of(text):
    return TOKENIZER.encode_target(text)


def produced(text, others=()):
    """A pass over ``text``: its tokens have the rest beside ``others``, (place, character, probability)."""
    ids = ids_of(text)
    probabilities = np.full((len(ids), TOKENIZER.vocab_size), 1e-9)
    for place, character, probability in others:
        token = ids_of("")[0] if character == END else ids_of(character)[0]
        probabilities[place, token] = probability
    rows = np.arange(len(ids))
    probabilities[rows, ids] = 1 - probabilities.sum(1)
    return Produced(ids, np.log(probabilities).astype(np.float32), {})


def stretches(source, target, others=(), accepts=lambda change: True):
    return find_stretches(source, target, produced(target, others), TOKENIZER, accepts)


@pytest.mark.parametrize(
    ("target", "other", "expected"),
    [
        ("가나다", (1, " ", 0.2), "가 나다"),  # a space that was missing
        ("가 나다", (1, "나", 0.2), "가나다"),  # a space that was too much
        ("가나다", (1, "다", 0.2), "가다"),  # a character that was too much
        ("가나다", (3, ".", 0.2), "가나다."),  # something before the end
        ("가나.", (2, END, 0.2), "가나"),
        ("가나다", (1, END, 0.2), None),  # that would cut the sentence off
        ("가나다", (0, "라", 0.2), "라나다"),
    ],
)
def test_candidates_by_what_the_other_token_is(target, other, expected):
    texts = set()
    for found in stretches(target, target, [other]):
        texts |= {target[: found.start] + text + target[found.end :] for text in found.candidates}
    assert (expected in texts) if expected else texts == set()


def test_candidates_for_the_same_tokens_are_one_stretch_and_others_are_not():
    found = stretches("나나라마바", "가 다라마바", [(2, "사", 0.1), (4, "사", 0.1)])
    assert [(each.start, each.end) for each in found] == [(0, 2), (3, 4)]
    assert list(found[0].candidates) == ["가 다", "가 사", "나나"]
    # The answer's probability is that of all its tokens in the stretch.
    assert math.exp(found[0].candidates["가 다"]) == pytest.approx(0.9, rel=1e-4)


def test_offsets_follow_what_was_inserted_before():
    found = stretches("가나다라", "가 나다 마", [(2, "사", 0.1), (5, "바", 0.2)])
    assert [(each.kept, each.written) for each in found] == [("", " "), ("나", "나"), ("라", " 마")]
    space, _, last = found
    assert math.exp(last.candidates[" 바"]) == pytest.approx(0.2, rel=1e-3)
    assert (space.start, space.end, last.start, last.end) == (1, 1, 3, 4)


def test_what_was_left_out_may_have_been_kept():
    (found,) = stretches("가나다", "가다", [(1, "나", 0.3)])
    assert (found.start, found.end, found.kept, found.written) == (1, 3, "나다", "다")
    assert math.exp(found.candidates["나다"]) == pytest.approx(0.3, rel=1e-4)


def test_nonsense_makes_a_bounded_number():
    text = "가나다라마바사" * 8
    others = [
        (place, character, 0.05)
        for place in range(len(text))
        for character in "가나다라"
        if text[place] != character
    ]
    found = stretches(text, text, others)
    assert sum(len(each.candidates) - 1 for each in found) <= 2 * MOST
