"""Spacing mistakes: examples and counter-examples of each rule, and what all of them keep."""

import random

import pytest

from training.noise.draft import Draft
from training.noise.spacing import SPACING_RULES, WEIGHTS, drop_all_spaces, misspace, misspace_once
from training.noise.word_parts import particle_start, suffix_start

SENTENCE = (
    "저는 학교에서 공부할 수 있는 책 두 권을 안 사고 싶지 않은데, It's 3 개 OK? 🙂 책상 및 의자 등도요."
)
RULES = {**SPACING_RULES, "drop_all_spaces": drop_all_spaces}


def fired(rule: str, text: str) -> str:
    """The sentence after ``rule`` has acted wherever it can."""
    draft = Draft(text)
    RULES[rule](draft, random.Random(0), 1.0)
    assert {edit.rule for edit in draft.edits} <= {rule}
    assert len(draft.cells) == len(text)
    return draft.wrong


EXAMPLES = [
    ("space_dropped", "나는 집에 갔다.", "나는집에갔다."),
    ("space_dropped", "왔다. 그리고 갔다", "왔다.그리고갔다"),
    ("space_dropped", "그는 “예” 했다", "그는“예”했다"),
    ("space_inserted", "사람", "사 람"),
    ("space_inserted", "고맙다", "고 맙 다"),
    ("space_inserted", "A는 좋다", "A는 좋 다"),
    ("dependent_noun_joined", "할 수 있다", "할수 있다"),
    ("dependent_noun_joined", "아는 것이 힘", "아는것이 힘"),
    ("dependent_noun_joined", "떠난 지 오래", "떠난지 오래"),
    ("dependent_noun_joined", "갈 데가 없다", "갈데가 없다"),
    ("dependent_noun_joined", "먹을 만큼 먹어라", "먹을만큼 먹어라"),
    ("dependent_noun_joined", "웃을 뿐이다", "웃을뿐이다"),
    ("dependent_noun_joined", "그럴 리가 없다", "그럴리가 없다"),
    ("dependent_noun_joined", "비 때문에 졌다", "비때문에 졌다"),
    ("auxiliary_joined", "먹고 싶다", "먹고싶다"),
    ("auxiliary_joined", "하고 있다", "하고있다"),
    ("auxiliary_joined", "하지 않다", "하지않다"),
    ("auxiliary_joined", "하게 되다", "하게되다"),
    ("auxiliary_joined", "가야 합니다", "가야합니다"),
    ("auxiliary_joined", "가지 못했다", "가지못했다"),
    ("auxiliary_joined", "먹으면 돼요", "먹으면돼요"),
    ("auxiliary_joined", "비가 오는가 보다", "비가 오는가보다"),
    ("negation_joined", "안 돼", "안돼"),
    ("negation_joined", "못 가", "못가"),
    ("negation_joined", "밥을 안 먹어", "밥을 안먹어"),
    ("unit_noun_joined", "두 개", "두개"),
    ("unit_noun_joined", "사람 세 명이", "사람 세명이"),
    ("unit_noun_joined", "첫 번째로", "첫번째로"),
    ("unit_noun_joined", "몇 가지를", "몇가지를"),
    ("listing_joined", "책상 등", "책상등"),
    ("listing_joined", "책상 등이 있다", "책상등이 있다"),
    ("listing_joined", "규칙 및 예", "규칙및예"),
    ("listing_joined", "국장 겸 과장", "국장겸 과장"),
    ("title_joined", "민수 씨가 왔다", "민수씨가 왔다"),
    ("title_joined", "김 선생님", "김선생님"),
    ("title_joined", "이 박사는", "이박사는"),
    ("particle_split", "학교에서 왔다", "학교 에서 왔다"),
    ("particle_split", "너만큼 큰", "너 만큼 큰"),
    ("particle_split", "집까지 간다", "집 까지 간다"),
    ("particle_split", "저는 학생입니다.", "저 는 학생 입니다."),
    ("suffix_split", "공부합니다.", "공부 합니다."),
    ("suffix_split", "사용되는 말", "사용 되는 말"),
    ("suffix_split", "감사드립니다!", "감사 드립니다!"),
    ("drop_all_spaces", "나는 3 개를 먹어 봤다.", "나는3개를먹어봤다."),
    ("drop_all_spaces", "할 수 있다", "할수있다"),
    ("drop_all_spaces", "a b c", "abc"),
]


@pytest.mark.parametrize(("rule", "right", "wrong"), EXAMPLES)
def test_rule_makes(rule, right, wrong):
    assert fired(rule, right) == wrong


COUNTER_EXAMPLES = [
    ("space_dropped", "먹어 보다"),  # 제47항 permits 먹어보다
    ("space_dropped", "올 듯하다"),  # and 올듯하다
    ("space_dropped", "3 개"),  # 제43항 다만 permits 3개
    ("space_dropped", "삼 학년"),
    ("space_dropped", "좀 더"),  # 제46항 permits 좀더
    ("space_dropped", "못 하다"),
    ("space_dropped", "Azure Data - Studio"),  # no Hangul beside the space
    ("space_dropped", "값 - 이름"),
    ("space_inserted", "3개 A는 B를"),  # one Hangul syllable beside what is none
    ("space_inserted", "해보"),  # 해 보다 is right as well
    ("dependent_noun_joined", "예쁜 수건"),
    ("dependent_noun_joined", "나는 거의"),
    ("dependent_noun_joined", "올 듯하다"),
    ("dependent_noun_joined", "큰 지역"),
    ("auxiliary_joined", "먹어 보다"),
    ("auxiliary_joined", "도와 주다"),
    ("auxiliary_joined", "할 만하다"),
    ("negation_joined", "못 하다"),
    ("negation_joined", "집안 일"),
    ("unit_noun_joined", "3 개"),
    ("unit_noun_joined", "두 시"),
    ("unit_noun_joined", "한 번"),
    ("unit_noun_joined", "한 장소"),
    ("listing_joined", "높은 등산로"),
    ("title_joined", "작은 씨앗"),
    ("particle_split", "먹는 높은 있을 하지만 해도"),
    ("particle_split", "에서 3은 B가"),
    ("suffix_split", "말하다 못하다 최대한"),
    ("suffix_split", "좋아하는 그럴듯한"),
    ("drop_all_spaces", "띄어쓰기"),
]


@pytest.mark.parametrize(("rule", "text"), COUNTER_EXAMPLES)
def test_rule_leaves_alone(rule, text):
    assert fired(rule, text) == text


@pytest.mark.parametrize("rule", RULES)
def test_rate_zero_does_nothing(rule):
    draft = Draft(SENTENCE)
    RULES[rule](draft, random.Random(1), 0.0)
    assert draft.wrong == SENTENCE
    assert draft.edits == []


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("rate", [0.3, 1.0])
def test_only_spaces_change_and_each_edit_is_one_cell(rule, rate):
    draft = Draft(SENTENCE)
    RULES[rule](draft, random.Random(3), rate)
    assert draft.wrong.replace(" ", "") == SENTENCE.replace(" ", "")
    assert all(edit.end - edit.start == 1 and edit.family == "spacing" for edit in draft.edits)
    assert "  " not in draft.wrong
    for cell, character in zip(draft.cells, SENTENCE, strict=True):
        assert cell in ({" ", ""} if character == " " else {character, character + " "})


@pytest.mark.parametrize("run", [*RULES.values(), misspace])
def test_same_seed_same_result(run):
    drafts = [Draft(SENTENCE), Draft(SENTENCE)]
    for draft in drafts:
        run(draft, random.Random(7), 0.3)
    assert drafts[0] == drafts[1]


def test_rules_read_the_correct_text_and_keep_what_others_wrote():
    draft = Draft("할 수 있는 사람")
    draft.put("slip", "typing", 0, ["핧"])
    draft.put("slip", "typing", 2, ["쑤"])
    draft.put("gone", "native", 7, [""])
    SPACING_RULES["dependent_noun_joined"](draft, random.Random(0), 1.0)
    SPACING_RULES["space_inserted"](draft, random.Random(0), 1.0)
    assert draft.wrong == "핧쑤 있 는 람"


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


def test_misspace_makes_more_mistakes_at_a_higher_rate():
    def mistakes(rate: float) -> int:
        drafts = [Draft(SENTENCE) for _ in range(50)]
        for seed, draft in enumerate(drafts):
            misspace(draft, random.Random(seed), rate)
        return sum(len(draft.edits) for draft in drafts)

    assert 0 == mistakes(0.0) < mistakes(0.05) < mistakes(0.3)


@pytest.mark.parametrize(
    ("word", "particle"),
    [
        ("학교에서는", "에서는"),
        ("도서관으로", "으로"),
        ("서울로", "로"),  # 로 follows a vowel or ㄹ
        ("사람를", ""),  # not the form that follows a coda
        ("저는", "는"),
        ("하는", ""),
        ("그대로", ""),
        ("에서", ""),
    ],
)
def test_particle_start(word, particle):
    start = particle_start(word)
    assert (word[start:] if start else "") == particle


@pytest.mark.parametrize(
    ("word", "suffix"),
    [("공부하는데", "하는데"), ("시작됐다", "됐다"), ("말하다", ""), ("무제한", ""), ("하다", "")],
)
def test_suffix_start(word, suffix):
    start = suffix_start(word)
    assert (word[start:] if start else "") == suffix


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
