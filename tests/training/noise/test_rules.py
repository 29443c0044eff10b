"""Error rules of all families: their outcomes in ``rules.txt``, and invariants."""

import random
from collections import defaultdict
from functools import cache
from itertools import product
from pathlib import Path

import pytest

from model.text.hangul import is_syllable
from tests.examples import examples
from training.noise import native, pronunciation, spacing, strokes, typing_slips
from training.noise.draft import Draft

FAMILIES = {
    "spacing": spacing.SPACING_RULES | spacing.COMMON_RULES | {"drop_all_spaces": spacing.drop_all_spaces},
    "native": native.NATIVE_RULES,
    "pronunciation": pronunciation.PRONUNCIATION_RULES,
    "strokes": strokes.STROKE_RULES,
    "typing": typing_slips.TYPING_RULES,
}
RULES = [f"{family} {name}" for family, rules in FAMILIES.items() for name in rules]
# Rules of these families draw their outcomes: the number of drafts to collect them from, and the rate there.
DRAWN = {"native": (40, 1.0), "strokes": (300, 1.0), "typing": (700, 0.5)}
SENTENCES = (
    "저는 학교에서 공부할 수 있는 책 두 권을 안 사고 싶지 않은데, It's 3 개 OK? 🙂 책상 및 의자 등도요.",
    "어제 친구와 학교에서 도서관까지 걸었어요. It's 3개, OK? 🙂 사람은 모두 시간이 없다고 했어요!",
    "닭을 밟지 않고 넓은 앞마당의 희망을 읽는 것은 싫었습니다.",
    "며칠 뒤에 하려고 했던 일이 안 되면 제가 도와드릴게요, 걱정하지 않아도 돼요.",
    " 못 해  옷 안\n밖에 \t한여름 의의 ",
)


def written(rule: str, text: str, seed: int = 0, rate: float = 1.0) -> Draft:
    family, name = rule.split(" ")
    draft = Draft(text)
    FAMILIES[family][name](draft, random.Random(seed), rate)
    return draft


@cache
def outcomes(rule: str, text: str) -> set[str]:
    """Each text that a rule makes of ``text``, over many seeds where it is drawn."""
    drafts, rate = DRAWN.get(rule.split(" ")[0], (1, 1.0))
    return {written(rule, text, seed, rate).wrong for seed in range(drafts)}


EXAMPLES: dict[str, list[tuple[str, str]]] = defaultdict(list)
for _rule, *_pair in examples(Path(__file__).with_name("rules.txt")):
    EXAMPLES[_rule].append(tuple(_pair))


def keeps_syllables(draft: Draft) -> bool:
    pairs = zip(draft.text, draft.cells, strict=True)
    return all(is_syllable(cell) if is_syllable(was) else cell == was for was, cell in pairs)


def keeps_all_but_spaces(draft: Draft) -> bool:
    return draft.wrong.replace(" ", "") == draft.text.replace(" ", "")


KEEPS = {"pronunciation": keeps_syllables, "typing": keeps_syllables, "spacing": keeps_all_but_spaces}


def test_every_rule_has_a_weight_and_an_example_of_what_it_makes():
    assert EXAMPLES.keys() == {*RULES}
    assert all(text != wrong for pairs in EXAMPLES.values() for text, wrong in pairs[:1])
    for module, rules in (
        (spacing, spacing.SPACING_RULES),
        (pronunciation, FAMILIES["pronunciation"]),
        (strokes, FAMILIES["strokes"]),
        (typing_slips, FAMILIES["typing"]),
    ):
        assert module.WEIGHTS.keys() == rules.keys()


@pytest.mark.parametrize("rule", RULES)
def test_a_rule_makes_its_examples_and_leaves_the_others(rule):
    for text, wrong in EXAMPLES[rule]:
        made = outcomes(rule, text)
        assert wrong in made and (made == {text} or wrong != text), (text, made)


@pytest.mark.parametrize("rule", RULES)
def test_at_rate_0_nothing_happens_and_a_seed_makes_the_same_draft(rule):
    for text in SENTENCES:
        assert written(rule, text, rate=0.0) == Draft(text)
        assert written(rule, text, seed=7, rate=0.4) == written(rule, text, seed=7, rate=0.4)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("rate", [0.3, 1.0])
def test_the_record_names_what_changed(rule, rate):
    family, name = rule.split(" ")
    for text in SENTENCES:
        draft = written(rule, text, seed=3, rate=rate)
        assert KEEPS.get(family, lambda draft: True)(draft)
        assert len(draft.cells) == len(text)
        assert {each.family for each in draft.edits} <= {"typing" if family == "strokes" else family}
        assert {each.rule for each in draft.edits} <= {name} or name == "native_table"
        changed = {place for place, cell in enumerate(draft.cells) if cell != text[place]}
        assert changed <= {place for each in draft.edits for place in range(each.start, each.end)}
        assert all({each.start, each.end - 1} & changed or family == "native" for each in draft.edits)


@pytest.mark.parametrize("rule", RULES)
def test_a_cell_that_another_rule_emptied_or_filled_stays(rule):
    text = SENTENCES[0]
    for edit, cell in product(written(rule, text, seed=3).edits, ("", "이ㅣ")):
        draft = Draft(text)
        draft.put("earlier", "typing", edit.start, [cell])
        family, name = rule.split(" ")
        FAMILIES[family][name](draft, random.Random(3), 1.0)
        assert draft.cells[edit.start].rstrip(" ") == cell


@pytest.mark.parametrize("rule", RULES)
def test_what_is_no_word_of_hangul_stays(rule):
    alone = ["ㄱㅅ해요ㅋ"] if rule.startswith("strokes") else []
    for text in ("", "OK,3:00🙂(A4)", "漢字", "ㅋㅋㅋ", *alone):
        assert {written(rule, text, seed).wrong for seed in range(3)} == {text}
