"""The two-set input method: what it writes for keys, and the keys of a word."""

import random

import pytest

from model.text.hangul import FINALS, INITIALS, MEDIALS, compose
from model.text.keyboard import PAUSE, compose_strokes, spell


@pytest.mark.parametrize(
    ("strokes", "written"),
    [
        ("ㅇㅓㅈㅔ", "어제"),
        ("ㄱㅏㅅㅣ", "가시"),  # the final goes to the next vowel
        ("ㅂㅏㅂㅇㅣ", "밥이"),
        ("ㄷㅏㄹㄱㅇㅣ", "닭이"),
        ("ㄷㅏㄹㄱㅣ", "달기"),  # of two, the second goes
        ("ㅇㅏㄴㅎㅏ", "안하"),
        ("ㅇㅏㄴㅎㄷㅏ", "않다"),
        ("ㅇㅣㅆㅓ", "이써"),
        ("ㅗㅏ", "ㅘ"),
        ("ㅗㅏㅏ", "ㅘㅏ"),
        ("ㄱㅗㅏ", "과"),
        ("ㄱㅏㅗ", "가ㅗ"),
        ("ㅡㅣㅅㅏ", "ㅢ사"),
        ("ㄱㅅ", "ㄱㅅ"),  # some systems make ㄳ of them; phones do not
        ("ㅋㅋㅋ", "ㅋㅋㅋ"),
        ("ㅂㅏㅃㅏ", "바빠"),  # ㅃ is no final
        ("ㄱㅏㅂㅅㄱ", "값ㄱ"),
        ("ㅎㅏㄱㄱㅛㄱㅇㅔ", "학굑에"),
        ("ㅎㅏㄱㄱㅛㅇ" + PAUSE + "ㅔ", "학굥ㅔ"),
        (PAUSE + "ㅂㅏ" + PAUSE + "ㅂ" + PAUSE, "바ㅂ"),
        ("", ""),
    ],
)
def test_the_input_method_writes(strokes, written):
    assert compose_strokes(strokes) == written


def test_the_keys_of_a_word_write_the_word():
    rng = random.Random(0)
    for _ in range(3000):
        word = "".join(
            compose(*map(rng.choice, (INITIALS, MEDIALS, FINALS))) for _ in range(rng.randint(1, 5))
        )
        assert compose_strokes(spell(word)) == word
