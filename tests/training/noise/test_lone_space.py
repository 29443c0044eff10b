"""One misplaced space: where it may be, where it may not, and that rare kinds are practised as often as
frequent ones.
"""

import random
from collections import Counter

import pytest

from training.corpus.selection import find_spacing_faults
from training.noise import drill as lone_space
from training.noise.drill import LoneSpaces, lone_spaces, look_alike, look_alikes

SENTENCES = [
    "어제 도서관 앞에서 친구를 만나러 왔어요.",
    "그 사람은 밥을 먹은 후에 안 가고 책 두 권을 읽은 것 같다.",
    "우리가 좋아하는 사람들이 모두 학교에 모였습니다.",
    "날씨가 추워지면 아무것도 하지 못하고 집에서 영화 보고 쉰다.",
    "비가 오지만 계속 걸었다.",
]


@pytest.mark.parametrize(
    ("kind", "right", "wrong"),
    [
        ("position_joined", "책상 위에 있다", "책상위에 있다"),
        ("position_joined", "건물 안으로 갔다", "건물안으로 갔다"),
        ("purpose_joined", "친구를 만나러 왔어요", "친구를 만나러왔어요"),
        ("purpose_joined", "밥을 먹으러 나갔다", "밥을 먹으러나갔다"),
        ("object_joined", "친구를 만났다", "친구를만났다"),
        ("subject_joined", "친구가 왔다", "친구가왔다"),
        ("place_joined", "학교에서 만나자", "학교에서만나자"),
        ("manner_joined", "지하철로 가자", "지하철로가자"),
        ("genitive_joined", "나라의 미래", "나라의미래"),
        ("adverb_joined", "이미 늦었다", "이미늦었다"),
        ("bare_object_joined", "영화 보고 갈까", "영화보고 갈까"),
        ("modifier_joined", "계시는 분들은", "계시는분들은"),
        ("modifier_joined", "좋아하는 사람", "좋아하는사람"),
        ("clause_joined", "비가 오지만 간다", "비가 오지만간다"),
        ("numeral_joined", "두 번째 줄", "두번째 줄"),
        ("become_split", "날이 밝아졌다", "날이 밝아 졌다"),
        ("feeling_split", "좋아하는 노래", "좋아 하는 노래"),
        ("plural_split", "사람들이 많다", "사람 들이 많다"),
        ("measure_split", "한 개씩 줘", "한 개 씩 줘"),
        ("one_word_split", "아무것도 없다", "아무 것도 없다"),
        ("negative_split", "가지 못했다", "가지 못 했다"),
        ("final_split", "있습니다", "있 습니다"),
        ("suffix_split", "걱정하지 마", "걱정 하지 마"),
        ("particle_split", "학교에서", "학교 에서"),
    ],
)
def test_kinds(kind, right, wrong):
    made = [
        right[:place] + (right[place + 1 :] if right[place] == " " else " " + right[place:])
        for place in lone_spaces(right, kind)
    ]
    assert made == [wrong]


@pytest.mark.parametrize(
    "text",
    [
        "먹어 보다",  # an auxiliary verb: 제47항
        "적어 두었다",
        "아는 척하다",
        "대기 오염 검사",  # nouns: 제50항
        "서울 대학교",
        "마음 속",
        "여러 가지",
        "일부러 가",
        "배가 고프다 못해",
    ],
)
def test_no_space_is_left_out_where_the_norm_leaves_the_choice_or_another_word_results(text):
    dropped = {text[place] for kind in lone_space.DROPPED for place in lone_spaces(text, kind)}
    assert dropped <= ({" "} if text.startswith("배가") else set())


def test_exactly_one_space_is_wrong():
    rng = random.Random(0)
    drill = LoneSpaces(SENTENCES)
    for _ in range(500):
        wrong, right = drill.pair(rng)
        assert right in SENTENCES and abs(len(wrong) - len(right)) == 1
        assert wrong.replace(" ", "") == right.replace(" ", "")
        assert "  " not in wrong and wrong == wrong.strip()


def test_a_text_without_a_place_has_no_pair():
    assert LoneSpaces(["네", ""]).pair(random.Random(0)) is None


def test_rare_kinds_are_practised_as_often_as_frequent_ones():
    drill = LoneSpaces(SENTENCES)
    rng = random.Random(1)
    wrong = Counter(drill.pair(rng)[0] for _ in range(3000))
    kinds = len(drill.texts)
    for rare in ("만나러왔어요", "좋아 하는", "추워 지면", "영화보고"):
        share = sum(count for text, count in wrong.items() if rare in text) / 3000
        assert share > 0.6 / kinds


def test_look_alikes_are_right():
    assert len(set(look_alikes())) == len(look_alikes()) > 100
    assert look_alike(random.Random(0)) in look_alikes()
    assert not any(find_spacing_faults(look_alikes()))
