"""Kinds of mistakes in a teacher's words, by example."""

import pytest

from model.analysis.school_kinds import _BY_NAME, _OF_FORM, SCHOOL_KINDS, reason_of
from model.norm.kinds import kinds
from model.text.changes import find_changes
from ui.wording import table
from viz.browser.texts import LANGUAGES


@pytest.mark.parametrize(
    ("typed", "right", "expected"),
    [
        ("역활", "역할", ["word"]),
        ("소홀이", "소홀히", ["i_hi"]),
        ("안되요", "안 돼요", ["dwae", "spacing"]),
        ("뵈요", "봬요", ["dwae"]),
        ("금새", "금세", ["word"]),
        ("할수 있다", "할 수 있다", ["spacing"]),
        ("갈께요", "갈게요", ["ending"]),
        ("거러가요", "걸어가요", ["sound"]),
        ("강기", "감기", ["sound"]),
        ("날싸", "날씨", ["slip"]),
        ("왔다,", "왔다.", ["punctuation"]),
        ("나비", "고양이", ["other"]),
    ],
)
def test_kinds_by_example(typed, right, expected):
    changes = find_changes(typed, right)
    assert [list(reason_of(each, typed, right).kinds) for each in changes][:1] == [expected]


def test_every_kind_has_a_name_and_a_reason_in_each_language():
    for language in LANGUAGES:
        texts = table(language)
        assert all(texts[f"mistake_{kind}"] and texts[f"mistake_{kind}_why"] for kind in SCHOOL_KINDS)


def test_only_kinds_of_the_norm_are_named():
    assert {*_BY_NAME, *_OF_FORM} <= kinds().keys()
