"""Articles of the spelling norm: the one that a correction follows; kinds and rows."""

import re
import unicodedata
from pathlib import Path

import pytest

from model.norm import article_of, without_held_out
from model.norm.articles import Article
from model.norm.kinds import Stem, attach, beginnings, kinds, read_kinds, rows, rows_of
from model.text.changes import find_changes
from tests.examples import examples


def article(wrong: str, right: str) -> str | None:
    """The article of the first change between two texts."""
    change = find_changes(wrong, right)[0]
    found = article_of(change.wrong, change.right, right[: change.target_start], right[change.target_end :])
    return found and found.article


@pytest.mark.parametrize(
    ("expected", "wrong", "right"), list(examples(Path(__file__).with_name("articles.txt")))
)
def test_the_article_of_a_change(expected, wrong, right):
    assert (article(wrong, right) or "none") == expected


def test_every_kind_explains_itself_in_a_line_of_each_language():
    for kind in kinds().values():
        assert re.match(r"(한글 맞춤법|표준어 규정|외래어 표기법) 제\d+|표준국어대사전$", kind.article), kind
        assert re.search("[가-힣]", kind.ko) and not re.search(r"\n", kind.ko), kind.name
        assert kind.en and "\n" not in kind.en, kind.name


def test_every_row_is_told_by_an_article():
    untold = [
        (row.right, row.wrong)
        for row in rows()
        if not isinstance(article_of(row.wrong, row.right, "", ""), Article)
    ]
    assert untold == []


def test_no_row_is_right_in_another():
    """The wrong side of a row is the right side of another only for words of another sense."""
    rights = {row.right: row.name for row in rows()}
    both = {(row.right, row.wrong) for row in rows() if row.wrong in rights}
    assert both <= REAL_WORDS, both - REAL_WORDS


# 거치다, 거칠다, 털다 and 살다 are words, 졸립니다 is of 졸리다.
REAL_WORDS = {("걷히니까", "거치니까"), ("걷히세", "거치세"), ("걷힌", "거친"), ("걷힐", "거칠")}
REAL_WORDS |= {("사려고", "살려고"), ("졸리", "졸립"), ("텃세", "터세")}


def test_principal_parts():
    assert Stem.of("만들·만들어") == ("만들", "만들", "만들어")
    assert Stem.of("잡·잡아").linked == "잡으"
    assert attach("만들", "ㅁ") == "만듦" and attach("만들", "니까") == "만드니까"
    assert Stem.of("잠그·잠가").past == "잠갔"
    assert ("잠근", "잠군") in beginnings("잠그·잠가", "잠구·잠궈")
    assert ("거친", "거칠은") in beginnings("거칠·거칠어", "거칠·거칠으·거칠어")


def kinds_of(tmp_path, text: str):
    path = tmp_path / "kinds.toml"
    path.write_text(text, "utf-8")
    return read_kinds([path])


def test_rows_say_where_their_words_begin_and_end(tmp_path):
    table = """[a]
article = "제1항"
rows = \"""
<역할/역활, 굳이>/구지|궂이, <왠지>/웬지, 뵈었/뵈였
# a comment, and a space at the end
<웬␣/왠␣, <아니요,/아니오,
\"""
"""
    assert [(row.right, row.wrong, row.boundary) for row in rows_of(kinds_of(tmp_path, table))] == [
        ("역할", "역활", "left"),
        ("굳이", "구지", "right"),
        ("굳이", "궂이", "right"),
        ("왠지", "웬지", "both"),
        ("뵈었", "뵈였", ""),
        ("웬 ", "왠 ", "left"),
        ("아니요,", "아니오,", "left"),
    ]


@pytest.mark.parametrize("entry", ["며칠", "며칠/", "/몇일", "며칠/며칠", "며칠/몇일|며칠"])
def test_an_entry_that_is_no_right_and_wrong_spelling_is_refused(tmp_path, entry):
    with pytest.raises(ValueError, match=f"a: '{re.escape(entry)}' should be right/wrong"):
        kinds_of(tmp_path, f'[a]\narticle = "제1항"\nrows = "{entry}"\n')


def test_what_is_held_out_of_practice_can_be_left_out_of_the_tables():
    def found(held_out: bool) -> int:
        chosen = [row for row in rows() if row.held_out == held_out]
        return sum(article_of(row.wrong, row.right, "", "") is not None for row in chosen)

    practised, held_out = found(False), found(True)
    with without_held_out():
        assert found(False) == practised
        assert found(True) < held_out / 2  # rules and longer rows may still find the article of some
    assert found(True) == held_out > 50


# Pairs of 한글 맞춤법 제57항 that homophones_57 has, and the other kinds of that article.
LISTED = (
    *("늘이 늘리", "다리 달이", "다치 닫히", "마치 맞히", "바치 받치 받히", "부치 붙이", "시키 식히"),
    *("안치 앉히", "저리 절이", "조리 졸이", "거치 걷히"),
)
OF_OTHERS = {"geureomeuro", "roseo_rosseo", "ikka_itda", "reo_ryeo", "buchida"}


def test_article_57_is_told_of_the_pairs_that_it_lists():
    citing = {kind.name for kind in kinds().values() if kind.article == "한글 맞춤법 제57항"}
    assert citing == {"homophones_57", *OF_OTHERS}
    for entry in kinds()["homophones_57"].entries:
        words = {each.split("·")[0] for each in (entry.right, *entry.wrong)}
        assert any(words <= {*pair.split()} for pair in LISTED), words


def test_a_loan_word_that_cites_tense_consonants_was_typed_with_one():
    tense = {*unicodedata.normalize("NFD", "까따빠싸짜")} - {*unicodedata.normalize("NFD", "가")}
    for entry in kinds()["loan_tense"].entries:
        right, *typed = (unicodedata.normalize("NFD", each) for each in (entry.right, *entry.wrong))
        count = lambda text: sum(map(text.count, tense))
        assert all(count(each) > count(right) for each in typed), entry
