"""Spacing rules: the spaces they drop and insert, those they leave, and compounds that may be joined."""

import random

import pytest

from training.noise.draft import Draft
from training.noise.drill import SpaceDrill
from training.noise.pairs import Writer, make_pair
from training.noise.spacing import (
    COMMON_RULES,
    SPACING_RULES,
    WEIGHTS,
    free_spaces,
    misspace,
    misspace_commonly,
    misspace_once,
)
from training.run.examples import ExampleMaker, ExampleSettings


def test_a_space_another_rule_took_is_not_taken_again():
    draft = Draft("할 수 있다")
    SPACING_RULES["dependent_noun_joined"](draft, random.Random(0), 1.0)
    SPACING_RULES["space_dropped"](draft, random.Random(0), 1.0)
    assert [(edit.rule, edit.start) for edit in draft.edits] == [
        ("dependent_noun_joined", 1),
        ("space_dropped", 3),
    ]


def test_a_place_gets_one_inserted_space():
    draft = Draft("학교에서")
    SPACING_RULES["particle_split"](draft, random.Random(0), 1.0)
    SPACING_RULES["space_inserted"](draft, random.Random(0), 1.0)
    assert draft.wrong == "학 교 에 서"
    assert len(draft.edits) == 3


def test_misspace_runs_every_rule():
    assert WEIGHTS.keys() == SPACING_RULES.keys()
    seen = set()
    for seed in range(200):
        draft = Draft("민수 씨는 학교에서 공부할 수 있는 책 두 권 등을 안 사고 싶다.")
        misspace(draft, random.Random(seed), 0.15)
        seen |= {edit.rule for edit in draft.edits}
    assert seen | {"suffix_split"} == SPACING_RULES.keys()


def test_one_space_wrong_and_each_rule_in_turn():
    drafts = [Draft("학교에서 민수 씨는 두 개를 안 사고 싶다.") for _ in range(60)]
    for seed, draft in enumerate(drafts):
        misspace_once(draft, random.Random(seed))
    assert {len(draft.edits) for draft in drafts} == {1}
    assert {edit.rule for draft in drafts for edit in draft.edits} >= {
        "title_joined",
        "unit_noun_joined",
        "negation_joined",
        "auxiliary_joined",
        "particle_split",
    }


def test_one_space_wrong_where_no_space_can_be():
    draft = Draft("3")
    misspace_once(draft, random.Random(0))
    assert draft.wrong == "3"


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


def test_at_rate_one_all_joins_are_made_and_at_rate_zero_nothing_is_done():
    everything, nothing = Draft(LONG), Draft(LONG)
    misspace_commonly(everything, random.Random(0), 1.0)
    misspace_commonly(nothing, random.Random(0), 0.0)
    assert everything.wrong == "그사람은 밥을 먹은후에 안가고 책 두권을 읽은것 같다."
    assert nothing.wrong == LONG


@pytest.mark.parametrize("family", ["typing", "pronunciation", "native", "spacing", "mixed"])
def test_a_writer_who_misspaces_does_so_beside_any_error(family):
    rules = set()
    for seed in range(20):
        pair = make_pair(LONG, random.Random(seed), family, Writer(misspaces=True))
        rules |= {edit.rule for edit in pair.edits} & set(COMMON_RULES)
        assert pair.right == LONG
    assert {"free_noun_joined", "determiner_joined"} <= rules


def test_a_right_sentence_stays_right():
    assert make_pair(LONG, random.Random(0), "clean", Writer(misspaces=True)).wrong == LONG


def test_the_share_of_such_writers():
    def lacking(share: float) -> float:
        maker = ExampleMaker([LONG], ExampleSettings(space_share=share, mix={"native": 1.0}))
        rng = random.Random(0)
        wrong = [pair[0] for _ in range(300) for pair in maker.pairs(LONG, rng)]
        return sum("먹은후" in text or "그사람" in text for text in wrong) / len(wrong)

    assert lacking(0.0) < 0.2
    assert lacking(1.0) > 0.6


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


def test_where_no_sentence_has_room_nothing_is_drilled():
    settings = ExampleSettings(space_drill_share=1.0, mix={"clean": 1.0})
    assert SpaceDrill(["바다"]).pair(random.Random(0)) is None
    assert [*ExampleMaker(["바다"], settings).pairs("바다", random.Random(0))] == [("바다", "바다")]


def test_some_of_the_drilled_phrases_stay_right():
    settings = ExampleSettings(space_drill_share=1.0, mix={"clean": 1.0})
    maker, rng = ExampleMaker([LONG], settings), random.Random(0)
    drilled = [[*maker.pairs(LONG, rng)][1] for _ in range(200)]
    assert 0.05 < sum(wrong == right for wrong, right in drilled) / 200 < 0.3
