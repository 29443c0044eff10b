"""Typing slips: what each rule can make of a syllable, what it never makes, and what all of them keep."""

import random

import pytest

from model.text.hangul import FINALS, INITIALS, MEDIALS, compose, is_syllable
from model.text.keyboard import ROWS, SHIFTED, STROKES, neighbours
from tests.training.noise.cases import cases
from training.noise.draft import Draft
from training.noise.typing_slips import TYPING_RULES, WEIGHTS, slip

SENTENCE = "전 오래 쓸 수 있는 게 필요해요. It's 3개, OK? 🙂 비행기에서 담배를 피울 생각은 없었어요!"


def results(rule: str, text: str, seeds: int = 1500) -> set[str]:
    """What ``rule`` makes of ``text`` when it fires at each place half the time, over many seeds."""
    found = set()
    for seed in range(seeds):
        draft = Draft(text)
        TYPING_RULES[rule](draft, random.Random(seed), 0.5)
        found.add(draft.wrong)
    return found


EXAMPLES = {
    "jamo_replaced": "담배→감배, 은→읃, 쓸→씂, 있→깄, 강→궁",
    "jamo_neighbour": "나라→마라, 가→거, 강→간, 까→따",
    "jamo_dropped": "면→며, 값→갑, 과→고, 강화→앙화",
    "jamo_added": "수→숙, 게→겍, 때→땑, 다시→닶시, 안→않, 고→과",
    "jamo_swapped": "한국→학눅, 하는→한느, 감자→잠가",
    "vowel_homophone": "내→네, 계→걔, 돼→되, 웬→왠",
    "shift_slip": "까지→가지, 있다→잇다, 예→에, 밖→박",
}


@pytest.mark.parametrize(("rule", "right", "wrong"), cases(EXAMPLES))
def test_rule_can_make(rule, right, wrong):
    assert wrong in results(rule, right)


COUNTER_EXAMPLES = [
    ("jamo_replaced", "abc 3 ㅋㅋ", {"abc 3 ㅋㅋ"}),  # lone jamo are no syllables
    ("jamo_dropped", "아", {"아"}),
    ("jamo_added", "각", {"각", "갃"}),
    ("jamo_swapped", "가", {"가"}),
    ("jamo_swapped", "가 나", {"가 나"}),  # not across a space
    ("jamo_swapped", "가가", {"가가"}),
    ("vowel_homophone", "나무", {"나무"}),
    ("shift_slip", "하나", {"하나"}),
]


@pytest.mark.parametrize(("rule", "text", "allowed"), COUNTER_EXAMPLES)
def test_rule_makes_nothing_else(rule, text, allowed):
    assert results(rule, text, 200) <= allowed


def test_neighbour_rule_makes_neighbours_only():
    allowed = {"나", *(compose(other, "ㅏ") for other in neighbours("ㄴ"))}
    allowed |= {compose("ㄴ", other) for other in neighbours("ㅏ")}
    assert results("jamo_neighbour", "나") == allowed


def test_replaced_initials_are_not_crowded_out_by_codas():
    drafts = [Draft("감") for _ in range(900)]
    for seed, draft in enumerate(drafts):
        TYPING_RULES["jamo_replaced"](draft, random.Random(seed), 1.0)
    with_other_initial = sum(not "가" <= draft.wrong < "까" for draft in drafts)
    assert 240 < with_other_initial < 360  # one in three


@pytest.mark.parametrize("rule", TYPING_RULES)
def test_rate_zero_does_nothing(rule):
    draft = Draft(SENTENCE)
    TYPING_RULES[rule](draft, random.Random(1), 0.0)
    assert draft.wrong == SENTENCE
    assert draft.edits == []


@pytest.mark.parametrize("rule", TYPING_RULES)
def test_rate_one_gives_legal_changed_syllables_and_leaves_the_rest(rule):
    draft = Draft(SENTENCE)
    TYPING_RULES[rule](draft, random.Random(1), 1.0)
    assert len(draft.cells) == len(SENTENCE)
    assert draft.edits
    assert {edit.rule for edit in draft.edits} == {rule}
    touched = [i for edit in draft.edits for i in range(edit.start, edit.end)]
    assert len(touched) == len(set(touched))
    for i, (cell, correct) in enumerate(zip(draft.cells, SENTENCE, strict=True)):
        assert (cell != correct) == (i in touched)
        assert cell == correct or (is_syllable(cell) and is_syllable(correct))


@pytest.mark.parametrize("rule", TYPING_RULES)
def test_same_seed_same_result(rule):
    drafts = [Draft(SENTENCE), Draft(SENTENCE)]
    for draft in drafts:
        TYPING_RULES[rule](draft, random.Random(7), 0.3)
    assert drafts[0] == drafts[1]


def test_rules_skip_what_a_typing_rule_touched_and_what_is_not_one_syllable():
    draft = Draft("가나다라")
    draft.put("shift_slip", "typing", 0, ["까"])
    draft.put("space_inserted", "spacing", 1, ["나 "])
    draft.put("contraction", "native", 2, [""])
    for rule in TYPING_RULES.values():
        rule(draft, random.Random(1), 1.0)
    assert draft.cells[:3] == ["까", "나 ", ""]
    assert draft.cells[3] != "라"


def test_slip_does_not_undo_what_another_family_did():
    for seed in range(300):
        draft = Draft("게")
        draft.put("native_rule", "native", 0, ["께"])
        assert slip(draft, random.Random(seed), 1) == 1
        assert draft.wrong not in {"게", "께"}


@pytest.mark.parametrize("count", [0, 1, 2, 5, 24])
def test_slip_makes_exactly_count_edits(count):
    for seed in range(60):
        draft = Draft("비행기에서 담배를 피울 생각은 없었어요. 정말 그렇다니까요!")
        assert slip(draft, random.Random(seed), count) == count
        assert len(draft.edits) == count
        assert sum(cell != right for cell, right in zip(draft.cells, draft.text, strict=True)) >= count


def test_slip_makes_as_many_as_there_are_syllables():
    draft = Draft("ab 가나 12 다.")
    assert slip(draft, random.Random(0), 9) == 3
    assert slip(draft, random.Random(0), 1) == 0
    assert slip(Draft("no Hangul"), random.Random(0), 2) == 0
    assert slip(Draft(""), random.Random(0), 2) == 0


def test_slip_refuses_a_negative_count():
    with pytest.raises(ValueError, match="-1"):
        slip(Draft("가"), random.Random(0), -1)


def test_slip_draws_every_rule_and_the_heavy_ones_more_often():
    drawn = dict.fromkeys(WEIGHTS, 0)
    for seed in range(1500):
        draft = Draft("비행기에서 담배를 꽤 피울 생각은 없었어요")
        slip(draft, random.Random(seed), 1)
        drawn[draft.edits[0].rule] += 1
    assert WEIGHTS.keys() == TYPING_RULES.keys()
    assert min(drawn.values()) > 0
    assert max(drawn, key=drawn.get) == "jamo_replaced"
    assert min(drawn, key=drawn.get) in {"jamo_swapped", "shift_slip"}


def test_keyboard_holds_every_jamo_once():
    base = "".join(row for row, _ in ROWS)
    assert len(base) == 26
    assert {*base, *SHIFTED.values(), *STROKES} == {*INITIALS, *MEDIALS, *FINALS[1:]}


def test_neighbours_by_hand():
    assert set(neighbours("ㅇ")) == set("ㄷㄱㄴㄹㅌㅊ")  # D: E R above, S F beside, X C below
    assert set(neighbours("ㅂ")) == set("ㅈㅁ")
    assert set(neighbours("ㅗ")) == set("ㅛㅕㅓㅠㅜ")  # H: Y U above, J beside, B N below
    assert set(neighbours("ㄲ")) == set("ㄸㅆㅇㄹ")
    assert set(neighbours("ㅘ")) == set("ㅙㅚ")
    assert neighbours("ㅄ") == ()


def test_being_neighbours_is_mutual():
    for jamo in "".join(row for row, _ in ROWS):
        assert all(jamo in neighbours(other) for other in neighbours(jamo))


def test_neighbours_of_no_key():
    with pytest.raises(ValueError, match="'가'"):
        neighbours("가")
