"""Reasons for well-known mistakes, as a teacher gives them, read from ``reasons.toml``.

Rows and rules of the other files correct, train and explain at once. These explain only: a row may make the
right change by an article that does not tell why (어의없다 → 어이없다 has nothing to do with -없다).
"""

import re
import tomllib
from functools import cache, lru_cache
from pathlib import Path
from typing import NamedTuple

from model.norm.articles import BESIDE, Article, article_of
from model.norm.kinds import expression


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
    "'어의'가 아니라 '어이'예요: 어이없다, 어이가 없다."
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
