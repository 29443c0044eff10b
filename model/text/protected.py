"""What no correction may touch: digits, other scripts, symbols, brackets and quotation marks, and laughing (ㅋㅋ) and weeping (ㅠㅠ).

A change that would lose, alter or invent one of them is not proposed.
"""

import re

from model.text import hangul
from model.text.changes import Change, apply_changes

# Marks that end or join sentences may be corrected. All others (brackets, quotation marks, slashes, hyphens …) are protected.
_FREE_PUNCTUATION = frozenset(".,!?~…")
ENDS = frozenset(".!?…")  # of a sentence; the number of several together (!!!) stays as it is

_MARKUP = frozenset("*_`")  # the network cannot tell an opening one from a closing one
_OPENING, CLOSING = tuple("([{<‘“「『《"), tuple(")]}>’”」』》")  # tuples, because every text contains ""

# Outcries: laughing (ㅋㅋ, ㅎㅎ), weeping (ㅠㅠ, ㅜㅜ) and other jamo that are written twice or more often (ㅇㅇ, ㄷㄷ, ㅡㅡ).
# A single ㅋ, ㅎ, ㅠ or ㅜ counts only if no jamo stands beside it and no syllable behind it. In 네ㅎ it is a laugh. In ㅎㅏ나 and
# in 안녕ㅎ하세요 it is a slip.
# Words of consonants alone are initials (ㄱㅅ) or keys struck at random (ㅁㄴㅇㄹ).
_OUTCRY = re.compile(
    r"""
    [ㅋㅎ]{2,} | [ㅠㅜ]{2,} | ([ㄱ-ㅣ])\1+
    | (?<![ㄱ-ㅣ]) [ㅋㅎㅠㅜ] (?![ㄱ-ㅣ가-힣])
    | (?<![ㄱ-ㅣ가-힣]) [ㄱ-ㅎ]{2,} (?![ㄱ-ㅣ가-힣])
    """,
    re.VERBOSE,
)

_JAMO = re.compile("[ㄱ-ㅣ]")  # every outcry contains one, and most texts none


def spares_protected(change: Change) -> bool:
    """Whether a change neither loses, alters nor invents a protected character."""
    return protected(change.wrong) == protected(change.right)


def spares_outcries(change: Change, source: str) -> bool:
    """Whether the laughing and weeping in ``source`` stays as it is if this change alone is made."""
    if not _JAMO.search(source) and not _JAMO.search(change.right):
        return True
    return _outcry_texts(source) == _outcry_texts(apply_changes(source, [change]))


def spares_emphasis(change: Change, source: str) -> bool:
    """Whether a change adds no mark beside one that ends a sentence, and takes none of several.

    >>> spares_emphasis(Change(2, 2, 2, 3, "", "!"), "와!!"), spares_emphasis(Change(1, 1, 1, 2, "", "!"), "와")
    (False, True)
    """
    if not ENDS.issuperset(change.wrong + change.right):
        return True
    return ENDS.isdisjoint(
        source[max(change.source_start - 1, 0) : change.source_start] + source[change.source_end :][:1]
    )


def spares_gaps(change: Change, source: str) -> bool:
    """Whether a change puts no space beside white space, behind an opening bracket or before a closing one, and moves none
    beside mark-up.

    >>> spares_gaps(Change(1, 1, 1, 2, "", " "), "(가)"), spares_gaps(Change(5, 6, 5, 5, " ", ""), "**가** 나")
    (False, False)
    """
    before, after = source[: change.source_start][-1:], source[change.source_end :][:1]
    if change.moves_spaces and (before in _MARKUP or after in _MARKUP):
        return False
    if change.wrong or change.right.strip():
        return True
    return not (before.isspace() or after.isspace() or before in _OPENING or after in CLOSING)


def protected(text: str) -> str:
    """The characters no correction may touch: other scripts, digits, emoji, symbols, most punctuation.

    >>> protected("3시에 (봐)")
    '3()'
    """
    return "".join(filter(is_protected, text))


def is_protected(character: str) -> bool:
    return not (hangul.is_hangul(character) or _is_space(character) or character in _FREE_PUNCTUATION)


def _is_space(character: str) -> bool:
    # Python also counts the separators of ASCII tables and NEXT LINE, which nobody types for a space.
    return character.isspace() and character not in "\x1c\x1d\x1e\x1f\x85"


def outcries(text: str) -> list[tuple[int, int]]:
    """Where laughing, weeping and initials stand, in order and apart from each other.

    >>> outcries("그래 ㅋㅋ")
    [(3, 5)]
    """
    return [found.span() for found in _OUTCRY.finditer(text)]


def _outcry_texts(text: str) -> list[str]:
    return [text[start:end] for start, end in outcries(text)]
