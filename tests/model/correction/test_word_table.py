"""Words are found in the sorted text of their file, as in a dictionary of it."""

import random

import pytest

from model.correction.words import WordTable

SYLLABLES = "가나다라마"


def table(counts: dict[str, int]) -> WordTable:
    return WordTable("".join(f"{word} {count}\n" for word, count in sorted(counts.items())))


@pytest.mark.parametrize("size", [0, 1, 2, 3, 50])
def test_every_word_is_found_and_no_other(size):
    rng = random.Random(size)
    words = ["".join(rng.choices(SYLLABLES, k=rng.randint(1, 4))) for _ in range(size)]
    counts = {word: rng.randint(0, 10**6) for word in words}
    found = table(counts)
    assert dict(found) == counts and len(found) == len(counts) and dict(found.items()) == counts
    assert {word: found[word] for word in counts} == counts
    others = {"", "힣", "가" * 9, *(word[:-1] for word in counts), *(f"{word}가" for word in counts)} - set(
        counts
    )
    assert not [word for word in others if word in found]


@pytest.mark.parametrize("text", ["집", "집\n", "집 \n", "집 a\n", "집 3", "집 3\n\n", "집 3 4\n", " 3\n"])
def test_a_text_of_another_form_is_refused(text):
    with pytest.raises(ValueError, match="no word and number"):
        WordTable(f"가 1\n{text}")
