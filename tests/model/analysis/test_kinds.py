"""Kinds of mistakes: by the difference of two spellings, and in a teacher's words."""

from pathlib import Path

import pytest

from model.analysis.kinds import _BY_NAME, _OF_FORM, SCHOOL_KINDS, kind_of, kinds_of, reason_of, sound_rules
from model.norm.articles import explained
from model.norm.kinds import kinds
from model.text.changes import Change, find_changes
from tests.examples import examples
from ui.wording import table
from viz.browser.texts import LANGUAGES


@pytest.mark.parametrize(
    ("section", "typed", "corrected"), list(examples(Path(__file__).with_name("kinds.txt")))
)
def test_kinds_and_rules_by_example(section, typed, corrected):
    kinds, _, rules = section.partition(" / ")
    about = [(change, typed, corrected) for change in find_changes(typed, corrected)]
    assert ["+".join(kinds_of(*each)) for each in about] == kinds.split()
    assert [kind_of(*each) for each in about] == [each.split("+")[-1] for each in kinds.split()]
    if rules:
        assert ["+".join(sound_rules(*each)) or "-" for each in about] == rules.split()
    if set(kinds.split()) <= {"sound", "liaison", "spacing"}:  # the same in the other direction
        back = {kind_of(each, corrected, typed) for each in find_changes(corrected, typed)}
        assert back == set(kinds.split())


def test_a_change_that_stands_elsewhere_is_refused():
    change = Change(1, 2, 1, 2, "가", "다")
    with pytest.raises(ValueError, match=r"received one of source\[1:2\] to target\[1:2\]") as refused:
        kind_of(change, "가나", "가다")
    assert not set("가나다") & set(str(refused.value))  # a log may hold it


@pytest.mark.parametrize(
    ("expected", "typed", "right"), list(examples(Path(__file__).with_name("school_kinds.txt")))
)
def test_kinds_by_example(expected, typed, right):
    change = find_changes(typed, right)[0]
    assert list(reason_of(change, typed, right).kinds) == expected.split(" ")


@pytest.mark.parametrize(
    ("typed", "right", "why", "rules"),
    [
        ("궁물", "국물", "mistake_sound_rules_why", ("nasalisation",)),
        ("늦개", "늦게", "mistake_alike_rules_why", ("vowel",)),
        ("강기", "감기", "mistake_alike_why", ()),
        ("날싸", "날씨", "mistake_slip_why", ()),
    ],
)
def test_spellings_sound_the_same_only_where_their_pronunciation_is_equal(typed, right, why, rules):
    reason = reason_of(find_changes(typed, right)[0], typed, right)
    assert (reason.why, reason.rules) == (why, rules)


@pytest.mark.parametrize(
    ("expected", "typed", "right"), list(examples(Path(__file__).with_name("reasons.txt")))
)
def test_a_well_known_mistake_has_the_reason_of_a_teacher(expected, typed, right):
    kinds, _, word = expected.partition(": ")
    (change,) = find_changes(typed, right)
    reason = reason_of(change, typed, right)
    assert list(reason.kinds) == kinds.split(" ")
    assert reason.article is not None and word in f"{reason.article.article} {reason.article.ko}"


@pytest.mark.parametrize(
    ("typed", "right", "ending"),
    [
        ("빨레.", "빨래.", "rae"),
        ("부대에서 군데.", "부대에서 군대.", "dae_hearsay"),
        ("가개", "가게", "ge_adverb"),
    ],
)
def test_a_noun_is_not_explained_as_an_ending(typed, right, ending):
    article = reason_of(find_changes(typed, right)[0], typed, right).article
    assert article is None or article.kind != ending


def test_every_kind_has_a_name_and_a_reason_in_each_language():
    for language in LANGUAGES:
        texts = table(language)
        assert all(texts[f"mistake_{kind}"] and texts[f"mistake_{kind}_why"] for kind in SCHOOL_KINDS)


def test_only_kinds_of_the_norm_are_named():
    reasons = {each.article.kind for each in explained()}
    assert {*_BY_NAME, *_OF_FORM} <= kinds().keys() | reasons and not reasons & kinds().keys()
