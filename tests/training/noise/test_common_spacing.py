"""The commonest spacing mistakes: which they are, and in which pairs they are made."""

import random

import pytest

from training.noise.draft import Draft
from training.noise.drill import SpaceDrill
from training.noise.pairs import make_pair
from training.noise.spacing import COMMON_RULES, misspace_commonly
from training.run.examples import ExampleMaker, ExampleSettings

SENTENCE = "그 사람은 밥을 먹은 후에 안 가고 책 두 권을 읽은 것 같다."


def fired(rule: str, text: str) -> str:
    draft = Draft(text)
    COMMON_RULES[rule](draft, random.Random(0), 1.0)
    return draft.wrong


@pytest.mark.parametrize(
    ("rule", "right", "wrong"),
    [
        ("free_noun_joined", "밥을 먹은 후에 갔다", "밥을 먹은후에 갔다"),
        ("free_noun_joined", "고등학교 때 친구", "고등학교때 친구"),
        ("free_noun_joined", "방학 동안 쉬었다", "방학동안 쉬었다"),
        ("free_noun_joined", "자기 전에 읽는다", "자기전에 읽는다"),
        ("free_noun_joined", "아는 사람이 없다", "아는사람이 없다"),
        ("free_noun_joined", "많이 아플 텐데", "많이 아플텐데"),
        ("determiner_joined", "그 사람은 간다", "그사람은 간다"),
        ("determiner_joined", "여러 가지 방법", "여러가지 방법"),
        ("determiner_joined", "이런 일은 없다", "이런일은 없다"),
        ("determiner_joined", "아무 데나 앉아라", "아무데나 앉아라"),
        ("guess_joined", "비가 오나 봐요", "비가 오나봐요"),
        ("guess_joined", "늦을까 봐 뛰었다", "늦을까봐 뛰었다"),
        ("ending_split", "일어나자마자 씻었다", "일어나자 마자 씻었다"),
        ("ending_split", "갈수록 춥다", "갈 수록 춥다"),
        ("compound_split", "집에 돌아왔다", "집에 돌아 왔다"),
        ("compound_split", "나를 쳐다본다", "나를 쳐다 본다"),
        ("compound_split", "개가 신발을 물어뜯었다", "개가 신발을 물어 뜯었다"),
        ("ending_split", "언제 갈지 모르겠다", "언제 갈 지 모르겠다"),
    ],
)
def test_rule_makes(rule, right, wrong):
    assert fired(rule, right) == wrong


@pytest.mark.parametrize(
    "text",
    [
        "그 때 그 날 이 것",  # joined these are words: 그때, 그날, 이것
        "그 동안 그 다음",
        "큰 일이 났다",
        "지난 날을 그린다",
        "한 동안 쉬었다",
        "여러 분 안녕하세요",
        "true이 아니면",
        "나 봐 달라고",  # 나: I
    ],
)
def test_what_would_be_another_word_is_left_alone(text):
    assert all(
        fired(rule, text) == text for rule in ("free_noun_joined", "determiner_joined", "guess_joined")
    )


def test_at_rate_one_all_joins_are_made_and_at_rate_zero_nothing_is_done():
    everything, nothing = Draft(SENTENCE), Draft(SENTENCE)
    misspace_commonly(everything, random.Random(0), 1.0)
    misspace_commonly(nothing, random.Random(0), 0.0)
    assert everything.wrong == "그사람은 밥을 먹은후에 안가고 책 두권을 읽은것 같다."
    assert nothing.wrong == SENTENCE


@pytest.mark.parametrize("family", ["typing", "pronunciation", "native", "spacing", "mixed"])
def test_a_writer_who_misspaces_does_so_beside_any_error(family):
    rules = set()
    for seed in range(20):
        pair = make_pair(SENTENCE, random.Random(seed), family, misspaces=True)
        rules |= {edit.rule for edit in pair.edits} & set(COMMON_RULES)
        assert pair.right == SENTENCE
    assert {"free_noun_joined", "determiner_joined"} <= rules


def test_a_right_sentence_stays_right():
    assert make_pair(SENTENCE, random.Random(0), "clean", misspaces=True).wrong == SENTENCE


def test_the_share_of_such_writers():
    def lacking(share: float) -> float:
        maker = ExampleMaker([SENTENCE], ExampleSettings(space_share=share, mix={"native": 1.0}))
        rng = random.Random(0)
        wrong = [pair[0] for _ in range(300) for pair in maker.pairs(SENTENCE, rng)]
        return sum("먹은후" in text or "그사람" in text for text in wrong) / len(wrong)

    assert lacking(0.0) < 0.2
    assert lacking(1.0) > 0.6


def test_a_drilled_phrase_has_one_misplaced_space():
    drill = SpaceDrill([SENTENCE, "비가 오나 봐요.", "일어나자마자 씻었다."])
    rng = random.Random(0)
    pairs = [drill.pair(rng) for _ in range(300)]
    for wrong, right in pairs:
        assert abs(len(wrong) - len(right)) == 1
        assert wrong.replace(" ", "") == right.replace(" ", "")
    # A rule with one place is practised as often as one with many.
    assert sum("오나봐" in wrong for wrong, _ in pairs) > 20
    assert sum("자 마자" in wrong for wrong, _ in pairs) > 20


def test_where_no_sentence_has_room_nothing_is_drilled():
    settings = ExampleSettings(space_drill_share=1.0, mix={"clean": 1.0})
    assert SpaceDrill(["바다"]).pair(random.Random(0)) is None
    assert [*ExampleMaker(["바다"], settings).pairs("바다", random.Random(0))] == [("바다", "바다")]


def test_some_of_the_drilled_phrases_stay_right():
    settings = ExampleSettings(space_drill_share=1.0, mix={"clean": 1.0})
    maker, rng = ExampleMaker([SENTENCE], settings), random.Random(0)
    drilled = [[*maker.pairs(SENTENCE, rng)][1] for _ in range(200)]
    assert 0.05 < sum(wrong == right for wrong, right in drilled) / 200 < 0.3
