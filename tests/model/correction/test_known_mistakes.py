"""``find_known_mistakes``: misspellings of the norm's tables that the network missed."""

import pytest

from model.correction.counts import Words
from model.correction.mending import find_known_mistakes
from model.norm import without_held_out
from model.text.changes import apply_changes


def mended(text: str, **counts: int) -> str:
    found = find_known_mistakes(text, Words(counts))
    return apply_changes(text, [change for mistake in found for change in mistake.changes])


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("뒷풀이를 했다.", "뒤풀이를 했다."),
        ("생크림 케잌을 샀다.", "생크림 케이크를 샀다."),  # the particle follows the new last sound
        ("악세사리와 뱃지", "액세서리와 배지"),
        ("맨처음 본 바다", "맨 처음 본 바다"),
        ("며칠 뒤에 뒤풀이를 했다.", "며칠 뒤에 뒤풀이를 했다."),
        ("집에서 마나님을 만났다.", "집에서 마나님을 만났다."),  # the beginning of 많아, misspelt
    ],
)
def test_misspellings_of_the_tables_are_mended(text, right):
    assert mended(text) == right


def test_words_of_the_training_sentences_stay():
    assert mended("뒷풀이를 했다.", 뒷풀이=3) == mended("뒷풀이를 했다.", 뒷풀이를=3) == "뒷풀이를 했다."
    assert mended("뒷풀이를 했다.", 뒷=3) == "뒤풀이를 했다."


def test_a_known_long_word_needs_less_of_the_network():
    unknown, known = (find_known_mistakes("뒷풀이를 했다.", Words(counts)) for counts in ({}, {"뒤풀이": 2}))
    assert known[0].least < unknown[0].least


def test_held_out_words_can_be_left_to_the_network():
    assert find_known_mistakes("대쉬를 했다.", Words({}))
    with without_held_out():
        assert not find_known_mistakes("대쉬를 했다.", Words({}))


def test_own_words_stay(shipped):
    assert shipped.with_words(["또아리"]).correct("또아리를 얹었다.").text == "또아리를 얹었다."


def test_what_the_list_made_says_so_and_keeps_the_probability_of_the_network(shipped):
    (change,) = shipped.correct("우유값이 올랐다.").sentences[0].changes
    assert change.from_list and change.fix_probability < 0.1
    (change,) = shipped.correct("밥을 머거요.").sentences[0].changes
    assert not change.from_list
