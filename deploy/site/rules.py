"""Correction rules as data for JavaScript: patterns, thresholds, marks and keys."""

import re
from typing import Any

from model.analysis.kinds import school_kind
from model.correction.rules import portable_rules
from model.norm.articles import Article, explained
from model.norm.kinds import kinds
from model.text.hangul import KS_X_1001_SYLLABLES

# The classes of Python's \w, \s and \d, as members of a class in JavaScript.
_WORD = r"\p{L}\p{N}_"
_MEMBERS = {
    r"\w": _WORD,
    r"\s": r"\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000",
    r"\d": r"\p{Nd}",
}
_START, _END = "(?<![^])", "(?![^])"
_WRITTEN = {
    **{name: f"[{members}]" for name, members in _MEMBERS.items()},
    **{name.upper(): f"[^{members}]" for name, members in _MEMBERS.items()},
    r"\b": rf"(?:(?<=[{_WORD}])(?![{_WORD}])|(?<![{_WORD}])(?=[{_WORD}]))",
    r"\A": _START,
    r"\Z": _END,
}
_ESCAPE = r"\\(?:u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|.)"
_CLASS = rf"\[\^?\]?(?:{_ESCAPE}|[^\]\\])*\]"
_MEMBER = re.compile(rf"{_ESCAPE}|.", re.DOTALL)
_TOKEN = re.compile(rf"{_ESCAPE}|{_CLASS}|\(\?<?.|.", re.DOTALL)
_SPACED = re.compile(rf"({_ESCAPE}|{_CLASS})|\s+|#[^\n]*", re.DOTALL)  # of an expression with re.VERBOSE
_GROUPS = ("(?:", "(?=", "(?!", "(?<=", "(?<!")


def javascript(pattern: re.Pattern) -> dict[str, str]:
    """The source and the flags of the expression that finds the same in JavaScript; ``g`` is among the flags.

    Raises:
        ValueError: other expressions.

    Example:
        >>> javascript(re.compile(r"(?<!\\d)[a-c]+?$"))["source"]
        '(?<![\\\\p{Nd}])[a-c]+?(?:(?=\\\\n(?![^]))|(?![^]))'
    """
    lines, text = bool(pattern.flags & re.MULTILINE), pattern.pattern
    if pattern.flags & re.VERBOSE:
        text = _SPACED.sub(lambda found: found[1] or "", text)
    places = {
        "^": r"(?<![^\n])" if lines else _START,
        "$": r"(?![^\n])" if lines else rf"(?:(?=\n{_END})|{_END})",
        ".": "[^]" if pattern.flags & re.DOTALL else r"[^\n]",
    }
    written = _TOKEN.sub(lambda found: places.get(found[0]) or _token(found[0]), text)
    return {"source": written, "flags": "gu" + ("i" if pattern.flags & re.IGNORECASE else "")}


def _token(token: str) -> str:
    if token.startswith(r"[^\W"):  # a character of words, without some
        return f"(?:(?![{_MEMBER.sub(_member, token[4:-1])}])[{_WORD}])"
    if token[0] == "[":
        negated = "^" if token[1] == "^" else ""
        return f"[{negated}{_MEMBER.sub(_member, token[1 + len(negated) : -1])}]"
    if token[0] == "\\":
        return _WRITTEN.get(token) or _character(token)
    if token.startswith("(?") and token not in _GROUPS:
        raise ValueError(f"{token} is not translated")
    return token


def _member(found: re.Match) -> str:
    return _MEMBERS.get(found[0]) or (_character(found[0]) if found[0][0] == "\\" else found[0])


def _character(escape: str) -> str:
    """An escape of one character, or a reference to a group."""
    if escape[1].isdigit():
        return f"(?:{escape})"
    if escape[1] in "nrtfvux":
        return escape
    if escape[1].isalpha():
        raise ValueError(f"{escape} is not translated")
    return rf"\u{{{ord(escape[1]):x}}}"


def rules() -> dict[str, Any]:
    """``model.correction.rules.portable_rules`` as JSON, its patterns in JavaScript.

    The articles of the norm have the numbers that rows and rules give: a teacher's kind where both spellings
    sound the same, the one where they do not, the article and its content, both in Korean and in English.
    ``reasons`` has the same of each pair of patterns ``reason_0_right`` and ``reason_0_wrong``.

    Example:
        >>> rules()["patterns"]["boundary"]["flags"]
        'gu'
    """
    known = portable_rules()._asdict()
    of_norm = [Article(each.article, each.name, each.ko, each.en) for each in kinds().values()]
    told = {"articles": of_norm, "reasons": [article for _, _, article in explained()]}
    written = {name: [_told(each) for each in articles] for name, articles in told.items()}
    patterns = {name: javascript(each) for name, each in known["patterns"].items()}
    return known | {"patterns": patterns, "keys": known["keys"] | written | {"in_use": KS_X_1001_SYLLABLES}}


def _told(article: Article) -> list[str]:
    heard, other = (school_kind(article.kind, by_ear) for by_ear in (True, False))
    return [heard, other, *article.told("ko"), *article.told("en")]
