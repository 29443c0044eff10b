"""Correction rules as data for JavaScript: patterns, thresholds, marks and keys."""

import re
from re import _constants as codes  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

from model.analysis.school_kinds import school_kind
from model.correction.rules import portable_rules
from model.norm.kinds import kinds

# The classes of Python's \w, \s and \d.
WORD = r"\p{L}\p{N}_"
SPACE = r"\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
_CATEGORIES = {
    codes.CATEGORY_WORD: WORD,
    codes.CATEGORY_SPACE: SPACE,
    codes.CATEGORY_DIGIT: r"\p{Nd}",
}
_NEGATED = {
    codes.CATEGORY_NOT_WORD: WORD,
    codes.CATEGORY_NOT_SPACE: SPACE,
    codes.CATEGORY_NOT_DIGIT: r"\p{Nd}",
}
_BOUNDARY = rf"(?:(?<=[{WORD}])(?![{WORD}])|(?<![{WORD}])(?=[{WORD}]))"


def javascript(pattern: re.Pattern) -> dict[str, str]:
    """The source and the flags of the expression that finds the same in JavaScript; ``g`` is among the flags.

    Raises:
        ValueError: other expressions.

    Example:
        >>> javascript(re.compile(r"(?<!\\d)[a-c]+?$"))["source"]
        '(?<![\\\\p{Nd}])[a-c]+?(?:(?=\\\\n(?![^]))|(?![^]))'
    """
    tree = parser.parse(pattern.pattern, pattern.flags)
    flags = "gu" + ("i" if pattern.flags & re.IGNORECASE else "")
    return {"source": _Writer(pattern.flags).sequence(tree), "flags": flags}


class _Writer:
    def __init__(self, flags: int):
        self.flags = flags

    def sequence(self, tree: Any) -> str:
        return "".join(self.item(code, value) for code, value in tree)

    def item(self, code: Any, value: Any) -> str:
        name = str(code).lower()
        write = getattr(self, f"_{name}", None)
        if write is None:
            raise ValueError(f"{name} is not translated")
        return write(value)

    def _literal(self, value: int) -> str:
        return _character(value)

    def _not_literal(self, value: int) -> str:
        return f"[^{_character(value)}]"

    def _any(self, _: None) -> str:
        return "[^]" if self.flags & re.DOTALL else r"[^\n]"

    def _in(self, items: list) -> str:
        return _set(items)

    def _branch(self, value: tuple) -> str:
        return "(?:" + "|".join(map(self.sequence, value[1])) + ")"

    def _subpattern(self, value: tuple) -> str:
        group, added, removed, inside = value
        if added or removed:
            raise ValueError("flags should stand for the whole expression")
        return f"({'?:' if group is None else ''}{self.sequence(inside)})"

    def _max_repeat(self, value: tuple, lazy: str = "") -> str:
        least, most, inside = value
        text = self.sequence(inside)
        if len(inside) > 1 or inside[0][0] in (codes.MAX_REPEAT, codes.MIN_REPEAT):
            text = f"(?:{text})"
        short = {(0, codes.MAXREPEAT): "*", (1, codes.MAXREPEAT): "+", (0, 1): "?"}
        end = "" if most is codes.MAXREPEAT else most
        return text + short.get((least, most), f"{{{least},{end}}}") + lazy

    def _min_repeat(self, value: tuple) -> str:
        return self._max_repeat(value, "?")

    def _assert(self, value: tuple, sign: str = "=") -> str:
        direction, inside = value
        return f"(?{'<' if direction < 0 else ''}{sign}{self.sequence(inside)})"

    def _assert_not(self, value: tuple) -> str:
        return self._assert(value, "!")

    def _groupref(self, value: int) -> str:
        return f"(?:\\{value})"

    def _at(self, value: Any) -> str:
        lines = bool(self.flags & re.MULTILINE)
        places = {
            codes.AT_BEGINNING: r"(?<![^\n])" if lines else "(?<![^])",
            codes.AT_BEGINNING_STRING: "(?<![^])",
            codes.AT_END: r"(?![^\n])" if lines else r"(?:(?=\n(?![^]))|(?![^]))",
            codes.AT_END_STRING: "(?![^])",
            codes.AT_BOUNDARY: _BOUNDARY,
        }
        if value not in places:
            raise ValueError(f"{str(value).lower()} is not translated")
        return places[value]


def _set(items: list) -> str:
    r"""A class. \W, \S or \D in it becomes a separate class beside it; in a negated class a look-ahead."""
    negated = bool(items) and items[0][0] is codes.NEGATE
    plain, lacking = "", []
    for code, value in items[negated:]:
        if code is codes.LITERAL:
            plain += _character(value)
        elif code is codes.RANGE:
            plain += f"{_character(value[0])}-{_character(value[1])}"
        elif value in _CATEGORIES:
            plain += _CATEGORIES[value]
        else:
            lacking.append(_NEGATED[value])
    if not lacking:
        return f"[{'^' if negated else ''}{plain}]"
    if negated:  # no plain character, and one that is in each of the classes
        held = "".join(f"(?=[{each}])" for each in lacking)
        return f"(?:{f'(?![{plain}])' if plain else ''}{held}[^])"
    return "(?:" + "|".join(([f"[{plain}]"] if plain else []) + [f"[^{each}]" for each in lacking]) + ")"


def _character(code: int) -> str:
    text = chr(code)
    return text if text.isascii() and text.isalnum() else f"\\u{{{code:x}}}"


def rules() -> dict[str, Any]:
    """``model.correction.rules.portable_rules`` as JSON, its patterns in JavaScript.

    The articles of the norm stand at the numbers that rows have: a teacher's kind, the article, its content
    in Korean and in English.

    Example:
        >>> rules()["patterns"]["boundary"]["flags"]
        'gu'
    """
    known = portable_rules()._asdict()
    articles = [[school_kind(each.name), each.article, each.ko, each.en] for each in kinds().values()]
    patterns = {name: javascript(each) for name, each in known["patterns"].items()}
    return known | {"patterns": patterns, "keys": known["keys"] | {"articles": articles}}
