"""Hangul syllables: decomposition into jamo and composition, as in Unicode."""

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


def test_impossible_jamo_are_refused_by_name():
    with pytest.raises(ValueError, match="'ㅏ'"):
        hangul.compose("ㅏ", "ㄱ")
    with pytest.raises(ValueError, match="'a'"):
        hangul.indices("a")
