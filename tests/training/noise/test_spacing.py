"""Spacing rules: the spaces they drop and insert, those they leave, and compounds that may be joined."""

import random

import pytest

from tests.training.noise.cases import cases
from training.noise.draft import Draft
from training.noise.drill import SpaceDrill
from training.noise.pairs import Writer, make_pair
from training.noise.spacing import (
    COMMON_RULES,
    SPACING_RULES,
    WEIGHTS,
    drop_all_spaces,
    free_spaces,
    misspace,
    misspace_commonly,
    misspace_once,
    space_dropped,
)
from training.noise.word_parts import particle_start, suffix_start
from training.run.examples import ExampleMaker, ExampleSettings

SENTENCE = (
    "저는 학교에서 공부할 수 있는 책 두 권을 안 사고 싶지 않은데, It's 3 개 OK? 🙂 책상 및 의자 등도요."
)
RULES = {**SPACING_RULES, **COMMON_RULES, "drop_all_spaces": drop_all_spaces}


def fired(rule: str, text: str) -> str:
    """The sentence after ``rule`` has acted wherever it can."""
    draft = Draft(text)
    RULES[rule](draft, random.Random(0), 1.0)
    assert {edit.rule for edit in draft.edits} <= {rule}
    assert len(draft.cells) == len(text)
    return draft.wrong


EXAMPLES = {
    "space_dropped": (
        "나는 집에 갔다.→나는집에갔다., 왔다. 그리고 갔다→왔다.그리고갔다, 그는 “예” 했다→그는“예”했다"
    ),
    "space_inserted": "사람→사 람, 고맙다→고 맙 다, A는 좋다→A는 좋 다",
    "dependent_noun_joined": (
        "할 수 있다→할수 있다, 아는 것이 힘→아는것이 힘, 떠난 지 오래→떠난지 오래, "
        "갈 데가 없다→갈데가 없다, 먹을 만큼 먹어라→먹을만큼 먹어라, 웃을 뿐이다→웃을뿐이다, "
        "그럴 리가 없다→그럴리가 없다, 비 때문에 졌다→비때문에 졌다"
    ),
    "auxiliary_joined": (
        "먹고 싶다→먹고싶다, 하고 있다→하고있다, 하지 않다→하지않다, 하게 되다→하게되다, "
        "가야 합니다→가야합니다, 가지 못했다→가지못했다, 먹으면 돼요→먹으면돼요, "
        "비가 오는가 보다→비가 오는가보다"
    ),
    "negation_joined": "안 돼→안돼, 못 가→못가, 밥을 안 먹어→밥을 안먹어",
    "unit_noun_joined": "두 개→두개, 사람 세 명이→사람 세명이, 첫 번째로→첫번째로, 몇 가지를→몇가지를",
    "listing_joined": (
        "책상 등→책상등, 책상 등이 있다→책상등이 있다, 규칙 및 예→규칙및예, 국장 겸 과장→국장겸 과장"
    ),
    "title_joined": "민수 씨가 왔다→민수씨가 왔다, 김 선생님→김선생님, 이 박사는→이박사는",
    "particle_split": (
        "학교에서 왔다→학교 에서 왔다, 너만큼 큰→너 만큼 큰, 집까지 간다→집 까지 간다, "
        "저는 학생입니다.→저 는 학생 입니다."
    ),
    "suffix_split": "공부합니다.→공부 합니다., 사용되는 말→사용 되는 말, 감사드립니다!→감사 드립니다!",
    "drop_all_spaces": "나는 3 개를 먹어 봤다.→나는3개를먹어봤다., 할 수 있다→할수있다, a b c→abc",
    "free_noun_joined": (
        "밥을 먹은 후에 갔다→밥을 먹은후에 갔다, 고등학교 때 친구→고등학교때 친구, "
        "방학 동안 쉬었다→방학동안 쉬었다, 자기 전에 읽는다→자기전에 읽는다, "
        "아는 사람이 없다→아는사람이 없다, 많이 아플 텐데→많이 아플텐데"
    ),
    "determiner_joined": (
        "그 사람은 간다→그사람은 간다, 여러 가지 방법→여러가지 방법, 이런 일은 없다→이런일은 없다, "
        "아무 데나 앉아라→아무데나 앉아라"
    ),
    "guess_joined": "비가 오나 봐요→비가 오나봐요, 늦을까 봐 뛰었다→늦을까봐 뛰었다",
    "ending_split": (
        "일어나자마자 씻었다→일어나자 마자 씻었다, 갈수록 춥다→갈 수록 춥다, "
        "언제 갈지 모르겠다→언제 갈 지 모르겠다"
    ),
    "compound_split": (
        "집에 돌아왔다→집에 돌아 왔다, 나를 쳐다본다→나를 쳐다 본다, "
        "개가 신발을 물어뜯었다→개가 신발을 물어 뜯었다"
    ),
}


@pytest.mark.parametrize(("rule", "right", "wrong"), cases(EXAMPLES))
def test_rule_makes(rule, right, wrong):
    assert fired(rule, right) == wrong


COUNTER_EXAMPLES = {
    # The norm permits 먹어보다 and 올듯하다 (제47항), 3개 (제43항 다만) and 좀더 (제46항), too.
    "space_dropped": "먹어 보다, 올 듯하다, 3 개, 삼 학년, 좀 더, 못 하다, Azure Data - Studio, 값 - 이름",
    "space_inserted": "3개 A는 B를, 해보",
    "dependent_noun_joined": "예쁜 수건, 나는 거의, 올 듯하다, 큰 지역",
    "auxiliary_joined": "먹어 보다, 도와 주다, 할 만하다",
    "negation_joined": "못 하다, 집안 일",
    "unit_noun_joined": "3 개, 두 시, 한 번, 한 장소",
    "listing_joined": "높은 등산로",
    "title_joined": "작은 씨앗",
    "particle_split": "먹는 높은 있을 하지만 해도, 에서 3은 B가",
    "suffix_split": "말하다 못하다 최대한, 좋아하는 그럴듯한",
    "drop_all_spaces": "띄어쓰기",
}


@pytest.mark.parametrize(("rule", "text"), cases(COUNTER_EXAMPLES))
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


def with_marks(text: str) -> str:
    """The text with ␣ for each free space."""
    free = free_spaces(text)
    return "".join("␣" if index in free else character for index, character in enumerate(text))


@pytest.mark.parametrize(
    "marked",
    [
        "대기␣오염␣수준은 위험하다.",
        "신제품␣발표회 때문에 바빠.",
        "개발자␣회의␣자료를 보냈다.",
        "객체␣지향적인 코드를 쓴다.",
        "회의␣자료 준비해 줘.",  # 자료 준비하다: a noun and a verb
        "사흘 째 단식␣농성을 한다.",  # 째: a suffix alone
    ],
)
def test_two_common_nouns_may_be_joined(marked):
    assert with_marks(marked.replace("␣", " ")) == marked


@pytest.mark.parametrize(
    "text",
    [
        "오늘 아침 회의는 끝났다.",  # time
        "도로 주변 공사가 끝났다.",  # place
        "엄마 친구 아들이 왔다.",  # persons
        "김민수 학생이 왔다.",  # a name
        "책 값이 올랐다.",  # one syllable
        "학교 앞에서 만나자.",
        "밥을 먹고 학교에 갔다.",
        "할 수 있는 것은 다 했다.",
        "",
    ],
)
def test_everything_else_is_written_apart(text):
    assert not free_spaces(text)


def test_free_spaces_are_not_taken_for_mistakes():
    draft = Draft("대기 오염 수준은 위험하다.")
    space_dropped(draft, random.Random(1), rate=1.0)
    assert draft.wrong == "대기 오염 수준은위험하다."


def test_who_leaves_out_every_space_leaves_out_these_too():
    draft = Draft("대기 오염 수준은 위험하다.")
    drop_all_spaces(draft, random.Random(1), 1.0)
    assert draft.wrong == "대기오염수준은위험하다."


LONG = "그 사람은 밥을 먹은 후에 안 가고 책 두 권을 읽은 것 같다."


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
