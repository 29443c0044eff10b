"""Error rules of spacing: misplaced spaces, drilled phrases, joined compounds."""

import random

import pytest

from training.noise.drill import SpaceDrill
from training.noise.pairs import Writer, make_pair
from training.noise.spacing import (
    COMMON_RULES,
    free_spaces,
)


@pytest.mark.parametrize(
    "marked",
    [
        "대기␣오염␣수준은 위험하다.",
        "신제품␣발표회 때문에 바빠.",
        "개발자␣회의␣자료를 보냈다.",
        "객체␣지향적인 코드를 쓴다.",
        "회의␣자료 준비해 줘.",  # 자료 준비하다: a noun and a verb
        "사흘 째 단식␣농성을 한다.",  # 째: a suffix alone
        "오늘 아침 회의는 끝났다.",  # time
        "도로 주변 공사가 끝났다.",  # place
        "엄마 친구 아들이 왔다.",  # persons
        "김민수 학생이 왔다.",  # a name
        "책 값이 올랐다.",  # one syllable
        "밥을 먹고 학교에 갔다.",
        "할 수 있는 것은 다 했다.",
        "",
    ],
)
def test_two_common_nouns_alone_may_be_joined(marked):
    text = marked.replace("␣", " ")
    assert {i for i, character in enumerate(marked) if character == "␣"} == set(free_spaces(text))


LONG = "그 사람은 밥을 먹은 후에 안 가고 책 두 권을 읽은 것 같다."


@pytest.mark.parametrize("family", ["typing", "pronunciation", "native", "spacing", "mixed"])
def test_a_writer_who_misspaces_does_so_beside_any_error(family):
    rules = set()
    for seed in range(20):
        pair = make_pair(LONG, random.Random(seed), family, Writer(misspaces=True))
        rules |= {edit.rule for edit in pair.edits} & set(COMMON_RULES)
        assert pair.right == LONG
    assert {"free_noun_joined", "determiner_joined"} <= rules


def test_a_drilled_phrase_has_one_misplaced_space():
    drill = SpaceDrill([LONG, "비가 오나 봐요.", "일어나자마자 씻었다."])
    rng = random.Random(0)
    pairs = [drill.pair(rng) for _ in range(300)]
    for wrong, right in pairs:
        assert abs(len(wrong) - len(right)) == 1
        assert wrong.replace(" ", "") == right.replace(" ", "")
    # A rule with one place is practised as often as one with many.
    assert sum("오나봐" in wrong for wrong, _ in pairs) > 20
    assert sum("자 마자" in wrong for wrong, _ in pairs) > 20
