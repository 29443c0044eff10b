"""The two-set keyboard: its input method, and words typed in the English layout."""

from functools import cache
from pathlib import Path

import pytest

from model.correction.counts import Words
from model.correction.proposing import find_offers
from model.stored.folder import ASSETS, DEFAULT_MODEL, WORDS_FILE
from model.text.changes import Change, apply_changes
from model.text.keyboard import (
    PAUSE,
    ROWS,
    compose_strokes,
    find_in_english_layout,
    neighbours,
)
from model.text.passages import Passage
from model.text.protected import verbatim_spans
from tests.examples import examples

EXAMPLES = list(examples(Path(__file__).with_name("keyboard.txt")))
PAUSES = [
    ("ㅎㅏㄱㄱㅛㅇ" + PAUSE + "ㅔ", "학굥ㅔ"),
    (PAUSE + "ㅂㅏ" + PAUSE + "ㅂ" + PAUSE, "바ㅂ"),
    ("", ""),
]


@pytest.mark.parametrize(
    ("strokes", "written"), [each[1:] for each in EXAMPLES if each[0] == "strokes"] + PAUSES
)
def test_the_input_method_writes(strokes, written):
    assert compose_strokes(strokes) == written


@cache
def known() -> Words:
    """The words that the shipped model knows."""
    return Words.read(ASSETS / DEFAULT_MODEL / WORDS_FILE)


def offered(text: str) -> tuple[Change, ...]:
    return find_offers(Passage.of(text, verbatim_spans(text)), known())


@pytest.mark.parametrize(("typed", "meant"), [each[1:] for each in EXAMPLES if each[0] == "meant"])
def test_words_that_are_offered(typed, meant):
    text = f"그때 {typed}, 하고 말했다"
    (change,) = offered(text)
    assert (change.wrong, change.right, change.is_english_layout) == (typed, meant, True)
    assert apply_changes(text, [change]) == f"그때 {meant}, 하고 말했다"
    assert not change.is_weighed  # no network has judged it


def test_words_that_are_never_offered():
    lines = [line for section, line, _ in EXAMPLES if section == "latin"]
    for word in " ".join(lines).split(" "):
        for form in (word, word.capitalize(), word.upper()):
            assert not offered(f"그때 {form}, 하고 말했다"), form
    assert not any(map(offered, lines))


@pytest.mark.parametrize("text", [line for section, line, _ in EXAMPLES if section == "no prose"])
def test_what_is_no_word_of_prose_is_not_offered(text):
    assert not offered(text)


def test_several_words_have_their_places_in_the_text_with_all_of_them():
    text = "dhsmf, wlrma 그래"
    changes = find_in_english_layout(text, (), lambda word: True)
    target = apply_changes(text, changes)
    assert target == "오늘, 지금 그래"
    assert [target[c.target_start : c.target_end] for c in changes] == ["오늘", "지금"]
    assert [text[c.source_start : c.source_end] for c in changes] == ["dhsmf", "wlrma"]


def test_neighbours_lie_beside_each_other_on_the_keyboard():
    assert set(neighbours("ㅇ")) == set("ㄷㄱㄴㄹㅌㅊ")  # D: E R above, S F beside, X C below
    assert set(neighbours("ㅗ")) == set("ㅛㅕㅓㅠㅜ")  # H: Y U above, J beside, B N below
    assert set(neighbours("ㄲ")) == set("ㄸㅆㅇㄹ")
    assert set(neighbours("ㅘ")) == set("ㅙㅚ") and neighbours("ㅄ") == ()
    for jamo in "".join(row for row, _ in ROWS):
        assert all(jamo in neighbours(other) for other in neighbours(jamo))
    with pytest.raises(ValueError, match="'가'"):
        neighbours("가")
