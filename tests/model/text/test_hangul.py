import unicodedata

import pytest

from model.text import hangul


def test_all_syllables_agree_with_the_decomposition_of_unicode():
    for code in range(0xAC00, 0xD7A4):
        syllable = chr(code)
        initial, medial, final = hangul.indices(syllable)
        conjoining = chr(0x1100 + initial) + chr(0x1161 + medial) + (chr(0x11A7 + final) if final else "")
        assert unicodedata.normalize("NFD", syllable) == conjoining
        assert hangul.compose(*hangul.decompose(syllable)) == syllable


def test_jamo_are_the_ones_people_type():
    assert hangul.decompose("값") == ("ㄱ", "ㅏ", "ㅄ")
    assert hangul.decompose("의") == ("ㅇ", "ㅢ", "")
    assert hangul.compose("ㅆ", "ㅡ", "ㄹ") == "쓸"


@pytest.mark.parametrize("character", ["", "a", "ㄱ", "\uabff", "\ud7a4", "가나"])
def test_what_is_no_syllable(character):
    assert not hangul.is_syllable(character)


def test_impossible_jamo_are_refused_by_name():
    with pytest.raises(ValueError, match="'ㅏ'"):
        hangul.compose("ㅏ", "ㄱ")
    with pytest.raises(ValueError, match="'a'"):
        hangul.indices("a")
