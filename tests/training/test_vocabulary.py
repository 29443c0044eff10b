from model.text import hangul
from model.text.tokenizer import Tokenizer
from training.corpus.selection import ASCII, COMPATIBILITY_JAMO, KS_X_1001_SYLLABLES, choose_characters

BASE = choose_characters([])


def test_ks_x_1001_has_2350_syllables():
    assert len(set(KS_X_1001_SYLLABLES)) == 2350
    assert all(map(hangul.is_syllable, KS_X_1001_SYLLABLES))
    assert (KS_X_1001_SYLLABLES[0], KS_X_1001_SYLLABLES[-1]) == ("가", "힝")
    assert not {"씂", "깄", "똠", "펲", "힣"} & set(KS_X_1001_SYLLABLES)  # well-known absentees


def test_the_vocabulary_of_an_empty_corpus():
    assert set(BASE) == {*KS_X_1001_SYLLABLES, *ASCII, *COMPATIBILITY_JAMO}
    assert len(BASE) == 2350 + 95 + 51
    assert list(BASE) == sorted(BASE)
    assert {" ", "~", "ㄱ", "ㅣ", "ㅋ"} <= set(BASE)
    assert Tokenizer(BASE).vocab_size == len(BASE) + 4


def test_what_a_corpus_must_hold_often_enough():
    for extra in ("똠", "…", "“", "℃"):
        assert extra in choose_characters([extra] * 20)
        assert extra not in choose_characters([extra] * 19)
        assert extra in choose_characters([extra * 2], minimum_count=2)


def test_letters_of_other_scripts_and_invisible_characters_stay_outside():
    text = "漢字абвéñα\u200b\u3000\n\t\xa0" * 50
    assert choose_characters([text]) == BASE
