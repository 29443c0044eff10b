"""All pronunciation rules together: the standard pronunciation at rate 1, and what always holds."""

import random

import pytest

from model.text.hangul import is_syllable
from training.noise.draft import Draft
from training.noise.pronunciation import (
    PRESCRIBED,
    PRONUNCIATION_RULES,
    WEIGHTS,
    as_heard,
    word_table,
    write_as_heard,
)

SENTENCES = (
    "안녕하세요, 예약하려고 전화를 드렸어요.",
    "다시는 여기에 안 올 거예요! 꽃잎이 값없이 흩어졌다…",
    "Intune 관리 콘솔에는 설정이 4가지 있습니다 🙂 ㅋㅋ ㅎ",
    "닭을 밟지 않고 넓은 앞마당의 희망을 읽는 것은 싫었습니다.",
    " 못 해  옷 안\n밖에 \t한여름 의의 ",
    "",
    "값",
)


def heard(text: str, **extra: float) -> str:
    draft = Draft(text)
    write_as_heard(draft, random.Random(0), 1.0, {**PRESCRIBED, **extra})
    return draft.wrong


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("그룹에 고객님을 초대하고 싶습니다", "그루베 고갱니믈 초대하고 십씀니다"),
        ("손님이 왔는데 방이 없으면 어떡해요?", "손니미 완는데 방이 업쓰면 어떠캐요?"),
        ("예약하려고 전화를 드렸어요", "예야카려고 전화를 드려써요"),
        ("체크아웃하시면", "체크아우타시면"),
        ("올 거예요", "올 꺼예요"),
        ("할 것을", "할 꺼슬"),
        ("재판매 사업자", "재판매 사업짜"),
        ("닫혀 같이", "다처 가치"),
        ("국물 신라 독립 협력", "궁물 실라 동닙 혐녁"),
        ("값이 앉아 않는 앓는", "갑씨 안자 안는 알른"),
        ("좋아요 많이 싫어", "조아요 마니 시러"),
        ("축하합니다 좋습니다", "추카함니다 조씀니다"),
        ("넓다 밟다 없다 맑게 닭과", "널따 밥따 업따 말께 닥꽈"),
        ("밟는 읽는 없는 놓는", "밤는 잉는 엄는 논는"),
        ("꽃잎 한여름 색연필 서울역 십육", "꼰닙 한녀름 생년필 서울력 심뉵"),
        ("맛없다 헛웃음 넓죽하다 문의", "마덥따 허두슴 넙쭈카다 무니"),
    ],
)
def test_prescribed_rules_chain_to_the_standard_pronunciation(text, expected):
    assert heard(text) == "".join(as_heard(text)) == expected


def test_optional_rules_join_when_they_are_given_a_weight():
    assert heard("다시는 여기에 안 올 거예요", liaison_across_space=1.0) == "다시느 녀기에 아 놀 꺼예요"
    assert heard("못 일", n_insertion_across_space=1.0, nasalisation_across_space=1.0) == "몬 닐"
    assert heard("사람의 문의", ui_particle=1.0, ui_not_first=1.0) == "사라메 무니"
    assert heard("했습니다", coda_absorbed=1.0) == heard("했습니다").replace("핻", "해")


def test_every_rule_is_weighted():
    assert list(WEIGHTS) == list(PRONUNCIATION_RULES)
    assert all(0 < weight <= 1 for weight in WEIGHTS.values())


@pytest.mark.parametrize("text", SENTENCES)
@pytest.mark.parametrize("rate", [0.3, 1.0])
def test_what_holds_for_every_draft(text, rate):
    draft = Draft(text)
    write_as_heard(draft, random.Random(7), rate)
    assert len(draft.cells) == len(text)
    for index, (was, now) in enumerate(zip(text, draft.cells, strict=True)):
        assert is_syllable(now) if is_syllable(was) else now == was
        assert now == was or draft.touched(index, index + 1)
    assert all(edit.family == "pronunciation" and edit.rule in PRONUNCIATION_RULES for edit in draft.edits)


@pytest.mark.parametrize("rule", PRONUNCIATION_RULES)
def test_each_recorded_edit_changed_its_ends(rule):
    for text in SENTENCES:
        draft = Draft(text)
        PRONUNCIATION_RULES[rule](draft, random.Random(0), 1.0)
        for edit in draft.edits:
            assert 1 <= edit.end - edit.start <= 3
            assert draft.cells[edit.start] != text[edit.start]
            assert draft.cells[edit.end - 1] != text[edit.end - 1]


def test_rate_0_changes_nothing_and_the_seed_decides_the_rest():
    text = SENTENCES[3]
    untouched, first, again = Draft(text), Draft(text), Draft(text)
    write_as_heard(untouched, random.Random(1), 0.0)
    write_as_heard(first, random.Random(1), 0.5)
    write_as_heard(again, random.Random(1), 0.5)
    assert untouched.edits == []
    assert first.wrong != text
    assert (first.wrong, first.edits) == (again.wrong, again.edits)
    others = {write_with_seed(text, seed) for seed in range(20)}
    assert len(others) > 10


def write_with_seed(text: str, seed: int) -> str:
    draft = Draft(text)
    write_as_heard(draft, random.Random(seed), 0.5)
    return draft.wrong


def test_cells_that_other_rules_emptied_or_filled_are_left_alone():
    draft = Draft("옷이 옷이")
    draft.put("drop", "typing", 1, [""])
    draft.put("add", "typing", 4, ["이ㅣ"])
    write_as_heard(draft, random.Random(0), 1.0, {"liaison": 1.0})
    assert draft.cells == ["옷", "", " ", "옷", "이ㅣ"]


@pytest.mark.parametrize("rate", [-0.1, 1.5])
def test_a_rate_outside_0_to_1_is_refused(rate):
    with pytest.raises(ValueError, match=str(rate)):
        write_as_heard(Draft("옷이"), random.Random(0), rate)


def test_a_word_table_may_change_no_more_than_the_first_coda():
    with pytest.raises(ValueError, match="발"):
        word_table({"발전": "불쩐"})
