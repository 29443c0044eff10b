"""Pairs with one misplaced space: its places by kind, rare kinds, look-alikes."""

import random
from collections import Counter
from pathlib import Path

import pytest

from model.correction.morphemes import load_kiwi
from tests.examples import examples
from training.corpus.selection import spacing_faults
from training.noise import drill as lone_space
from training.noise import read_lines
from training.noise.drill import LoneSpaces, lone_spaces, look_alike

SENTENCES = [
    "어제 도서관 앞에서 친구를 만나러 왔어요.",
    "그 사람은 밥을 먹은 후에 안 가고 책 두 권을 읽은 것 같다.",
    "우리가 좋아하는 사람들이 모두 학교에 모였습니다.",
    "날씨가 추워지면 아무것도 하지 못하고 집에서 영화 보고 쉰다.",
    "비가 오지만 계속 걸었다.",
]


@pytest.mark.parametrize(
    ("kind", "right", "wrong"), list(examples(Path(__file__).with_name("lone_spaces.txt")))
)
def test_a_kind_has_one_place(kind, right, wrong):
    def other(place: int) -> str:
        return right[:place] + (right[place + 1 :] if right[place] == " " else " " + right[place:])

    kinds = lone_space.DROPPED if kind == "none" else [kind]
    made = [other(place) for each in kinds for place in lone_spaces(right, each)]
    assert made == ([] if kind == "none" else [wrong])


def test_exactly_one_space_is_wrong():
    rng = random.Random(0)
    drill = LoneSpaces(SENTENCES)
    for _ in range(500):
        wrong, right = drill.pair(rng)
        assert right in SENTENCES and abs(len(wrong) - len(right)) == 1
        assert wrong.replace(" ", "") == right.replace(" ", "")
        assert "  " not in wrong and wrong == wrong.strip()


def test_rare_kinds_are_practised_as_often_as_frequent_ones():
    drill = LoneSpaces(SENTENCES)
    rng = random.Random(1)
    wrong = Counter(drill.pair(rng)[0] for _ in range(3000))
    kinds = len(drill.texts)
    for rare in ("만나러왔어요", "좋아 하는", "추워 지면", "영화보고"):
        share = sum(count for text, count in wrong.items() if rare in text) / 3000
        assert share > 0.6 / kinds


def test_look_alikes_are_right():
    texts = read_lines("look_alikes.txt")
    assert len(set(texts)) == len(texts) > 100
    assert look_alike(random.Random(0)) in texts
    assert not any(any(spacing_faults(text, load_kiwi().tokenize(text))) for text in texts)
