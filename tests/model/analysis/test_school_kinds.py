"""Kinds of mistakes in a teacher's words, by example."""

from pathlib import Path

import pytest

from model.analysis.school_kinds import _BY_NAME, _OF_FORM, SCHOOL_KINDS, reason_of
from model.norm.articles import explained
from model.norm.kinds import kinds
from model.text.changes import find_changes
from tests.examples import examples
from ui.wording import table
from viz.browser.texts import LANGUAGES


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
