"""Lookup of the spelling norm's article, or the teacher's reason, behind a correction.

Rows and rules of the norm correct, train and explain at once. The reasons of ``reasons.toml`` explain only: a
row may make the right change by an article that does not tell why (어의없다 → 어이없다 has nothing to do with
-없다).
"""

import re
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache, lru_cache
from os.path import commonprefix
from pathlib import Path
from typing import NamedTuple

from model.norm.kinds import Kind, Misspelling, Rule, expression, kinds, rows_from

BESIDE = 24  # characters of context on each side
_KNOWS_HELD_OUT: ContextVar[bool] = ContextVar("knows_held_out", default=True)


@dataclass(frozen=True)
class Article:
    """An article of the norm, the kind of mistake that breaks it, and its content in one line of each
    language.
    """

    article: str  # 한글 맞춤법 제30항
    kind: str  # by its name
    ko: str
    en: str

    def told(self, language: str) -> tuple[str, str]:
        """The name of the article and its content, in Korean ("ko") or else in English.

        >>> Article("한글 맞춤법 제27항 붙임 2", "", "", "Whole words.").told("en")
        ('Hangul Orthography, Article 27, Appendix 2', 'Whole words.')
        >>> in_english("외래어 표기법 제1장 제5항")
        'Loanword Orthography, Chapter 1, Article 5'
        """
        return (self.article, self.ko) if language == "ko" else (in_english(self.article), self.en)


_IN_ENGLISH = {
    r"표준국어대사전": "Standard Korean Language Dictionary",
    r"한글 맞춤법 ": "Hangul Orthography, ",
    r"표준어 규정 ": "Standard Language Regulations, ",
    r"외래어 표기법 ": "Loanword Orthography, ",
    r"제(\d+)장 ": r"Chapter \1, ",
    r"제(\d+)항": r"Article \1",
    r" 붙임": ", Appendix",
    r" 다만": ", proviso",
    r"(Article \d+) (\d)": r"\1, No. \2",
}


def in_english(article: str) -> str:
    """The name of an article of the norm in English."""
    for korean, english in _IN_ENGLISH.items():
        article = re.sub(korean, english, article)
    return article


def article_of(wrong: str, right: str, before: str, after: str) -> Article | None:
    """The article by which ``right`` is right and ``wrong`` is wrong.

    ``before`` and ``after``: the text around them, rightly spelt.

    None where no row or rule of the norm makes exactly this change.

    >>> article_of("몇일", "며칠", "", " 뒤").article
    '한글 맞춤법 제27항 붙임 2'
    >>> article_of("나무", "나비", "", "") is None
    True
    """
    before, after, held_out = before[-BESIDE:], after[:BESIDE], _KNOWS_HELD_OUT.get()
    found = _found(before, wrong, right, after, held_out)
    if found is None and " " in wrong + right and wrong.split() != right.split():
        spaced = spaced_as(right, wrong)  # 안되 for 안 돼: put the space right first
        found = _found(before, spaced, right, after, held_out) if spaced else None
    return found


def spoils(wrong: str, right: str, before: str, after: str) -> bool:
    """Whether a change to ``right`` makes a misspelling that a certain kind of the norm has.

    ``before`` and ``after``: the text around it.

    >>> spoils("길", "긷", "물을 ", "어 왔다."), spoils("긷", "길", "물을 ", "어 왔다.")
    (True, False)
    """
    before, after = before[-BESIDE:], after[:BESIDE]
    rows_there = _rows_that_make(before + right + after, before + wrong + after)
    return any(kinds()[row.name].is_certain for row in rows_there)


@contextmanager
def without_held_out() -> Iterator[None]:
    """Inside the ``with``, ``article_of`` ignores the words that training does not practise.

    The development sets ask for these words; while they are ignored, the sets measure learning, not
    a table.

    >>> article_of("메두기", "메뚜기", "", "").article
    '한글 맞춤법 제5항'
    >>> with without_held_out():
    ...     article_of("메두기", "메뚜기", "", "") is None
    True
    """
    before = _KNOWS_HELD_OUT.set(False)
    try:
        yield
    finally:
        _KNOWS_HELD_OUT.reset(before)


# The changes of a sentence recur with each key, and again once it is corrected.
@lru_cache(maxsize=4096)
def _found(before: str, wrong: str, right: str, after: str, held_out: bool) -> Article | None:
    text, mistaken = before + right + after, before + wrong + after
    if text == mistaken:
        return None
    by_row = max(_rows_that_make(mistaken, text), key=lambda row: len(row.right), default=None)
    if by_row:
        return _article(kinds()[by_row.name])
    span = len(before), len(before) + len(right)
    # A text without a rule's letters is found sooner than where its pattern occurs, which is seldom compiled.
    for _, kind, rule in (each for each in _rules() if each[0] in mistaken):
        for match in rule.pattern.finditer(text):
            start, end = match.span()
            if start <= span[1] and span[0] <= end:
                made = (text[:start] + each + text[end:] for each in rule.spellings(match))
                if mistaken in made:
                    return _article(kind)
    return None


@cache
def _rules() -> list[tuple[str, Kind, Rule]]:
    """All rules with their ``letters``."""
    of_all = ((kind, rule) for kind in kinds().values() for rule in kind.rules)
    return [(letters, kind, rule) for kind, rule in of_all for letters in rule.letters]


def _rows_that_make(mistaken: str, text: str) -> list[Misspelling]:
    """Rows whose wrong form stands in ``mistaken``, and whose right form there gives ``text``."""
    first = len(commonprefix((mistaken, text)))  # the first difference, behind which none of them begins
    return [row for start, row in _places(mistaken, first) if _mended(mistaken, start, row) == text]


def _mended(text: str, start: int, row: Misspelling) -> str:
    return text[:start] + row.right + text[start + len(row.wrong) :]


def spaced_as(right: str, wrong: str) -> str | None:
    """The letters of ``wrong`` with the spaces of ``right``; None where they have unequal numbers of letters.

    >>> spaced_as("안 돼", "안되"), spaced_as("먹어", "머거요")
    ('안 되', None)
    """
    letters = iter(wrong.replace(" ", ""))
    if len(wrong.replace(" ", "")) != len(right.replace(" ", "")):
        return None
    return "".join(" " if character == " " else next(letters) for character in right)


def _article(kind: Kind) -> Article:
    return Article(kind.article, kind.name, kind.ko, kind.en)


def misspellings(text: str) -> Iterator[tuple[int, Misspelling]]:
    """(start, row) for each place at which ``text`` has a row's wrong spelling and could have its right one.

    Wrong spellings of one syllable are left out, because they are parts of other words.

    >>> [(start, row.wrong, row.right) for start, row in misspellings("몇일 뒤")]
    [(0, '몇일', '며칠')]
    """
    return (place for place in _places(text, len(text)) if len(place[1].wrong) > 1)


def _places(text: str, last: int) -> Iterator[tuple[int, Misspelling]]:
    """The places up to ``last`` and their rows."""
    knows_held_out = _KNOWS_HELD_OUT.get()
    for start, character in enumerate(text[: last + 1]):
        index = rows_from(character)
        for beginning in dict.fromkeys((character, text[start : start + 2])) if index else ():
            for row in index.get(beginning, ()):
                if row.held_out and not knows_held_out:
                    continue
                if text.startswith(row.wrong, start) and row.occurs_at(_mended(text, start, row), start):
                    yield start, row


class Explained(NamedTuple):
    """A change that has a reason: patterns of the right words and, in their place, of the typed ones."""

    right: re.Pattern[str]
    wrong: re.Pattern[str]  # of the whole place
    article: Article  # its ``kind`` is the name of the reason


@cache
def explained() -> tuple[Explained, ...]:
    """All changes of ``reasons.toml``, in order."""
    tables = tomllib.loads(Path(__file__).with_name("reasons.toml").read_text("utf-8"))
    return tuple(
        Explained(
            re.compile(expression(right)),
            re.compile(rf"\A(?:{expression(wrong)})\Z"),
            Article(fields["article"], name, fields["ko"], fields["en"]),
        )
        for name, fields in tables.items()
        for right, wrong in fields["changes"]
    )


def explanation_of(wrong: str, right: str, before: str, after: str) -> Article | None:
    """The reason why ``right`` is right: that of a well-known mistake, else ``article_of``.

    ``before`` and ``after``: the text around them, rightly spelt.

    >>> explanation_of("의", "이", "정말 어", "없는 일").ko
    '‘어의’가 아니라 ‘어이’예요: 어이없다, 어이가 없다.'
    >>> explanation_of("업", "없", "쓸모", "는 일").article
    '한글 맞춤법 제26항'
    """
    known = _known(wrong, right, before[-BESIDE:], after[:BESIDE])
    return known or article_of(wrong, right, before, after)


@lru_cache(maxsize=4096)
def _known(wrong: str, right: str, before: str, after: str) -> Article | None:
    text, first, last = before + right + after, len(before), len(before) + len(right)
    for each in explained():
        for match in each.right.finditer(text):
            start, end = match.span()
            typed = text[start:first] + wrong + text[last:end]
            if start <= first and last <= end and each.wrong.match(typed):
                return each.article
    return None
