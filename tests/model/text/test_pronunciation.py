"""Pronunciation: readings of a text, and whether two spellings sound alike."""

import itertools
import random

import pytest

from model.text.hangul import FINALS, INITIALS, MEDIALS, compose
from model.text.pronunciation import RULES, WAYS_TO_READ, reading, sound_alike


@pytest.mark.parametrize(
    "spellings",
    [
        "꽃이 꼬치", "꽃 꼳 꼿", "꽃만 꼰만", "꽃도 꼳또 꼬또", "값도 갑또", "앉아 안자", "않아 아나",
        "잃어 이러",
        "놓는 논는", "뚫는 뚤른", "닳지 달치", "맞히다 마치다", "읽히다 일키다", "넓히다 널피다", "굳이 구지",
        "핥이다 할치다", "협력 혐녁", "칼날 칼랄", "종로 종노", "김밥 김빱", "주의 주이",
        "은행 으냉", "나의 나에",
    ],
)  # fmt: skip
def test_spellings_of_one_sound(spellings):
    for one, other in itertools.combinations(spellings.split(), 2):
        assert sound_alike(one, other), (one, other)


def test_every_pair_of_syllables_can_be_read_by_every_ear():
    rng = random.Random(5)
    ways = [choices._replace(without=rule) for choices in WAYS_TO_READ for rule in ("", *RULES)]
    for final, initial in itertools.product(FINALS, INITIALS):
        text = compose("ㅁ", "ㅏ", final) + compose(initial, rng.choice(MEDIALS), rng.choice(FINALS))
        for choices in rng.sample(ways, 4):
            assert len(reading(text, choices)) == 2


def test_a_reading_sounds_like_its_text():
    rng = random.Random(6)
    for _ in range(300):
        text = "".join(
            compose(rng.choice(INITIALS), rng.choice("ㅏㅓㅗㅜ"), rng.choice(FINALS)) for _ in range(3)
        )
        assert sound_alike(reading(text), text), text


def test_what_is_no_syllable_is_kept_and_parts_words():
    assert reading("국 3물ㅋ!") == "국 3물ㅋ!"
    assert reading("") == ""
    assert sound_alike("밤 먹다", "밥 먹다")  # in one breath
    assert not sound_alike("밤. 먹다", "밥. 먹다")
