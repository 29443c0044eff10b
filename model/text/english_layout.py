"""Finds words that were typed while the keyboard was in its English layout: dkssud for 안녕.

The same keys write both, by KS X 5002 and the QWERTY layout. The keys alone do not tell which was meant, so such a word is only
offered, and only if its keys write whole syllables that make a known word.
"""

import re
from collections.abc import Callable, Iterable, Iterator

from model.text.changes import Change
from model.text.hangul import is_syllable
from model.text.input_method import compose_strokes
from model.text.keyboard import ROWS, SHIFTED
from model.text.sentences import Span

LEAST_SYLLABLES = 2  # one syllable is too often an English word: go, so, to, for

_LETTERS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
_LOWER = {
    letter: jamo
    for letters, (row, _) in zip(_LETTERS, ROWS, strict=True)
    for letter, jamo in zip(letters, row, strict=True)
}
# A capital letter counts only where the shift key writes another jamo: nobody writes Dkssud.
_JAMO = _LOWER | {letter.upper(): SHIFTED[jamo] for letter, jamo in _LOWER.items() if jamo in SHIFTED}

# A whole word of letters. One of these marks beside it shows that it is part of a name, a path or a contraction.
_WORD = re.compile(r"(?<![\w'’&@#/\\.+=$%*~^-])[A-Za-z]{4,}(?![\w'’&@#/\\+=$%*~^(-]|[.:]\w)")

# Words, names and short forms in Latin letters whose keys also write a known word of Hangul, as `work` writes 재가. There are few,
# because their letters have to lie on the left and on the right half of the keyboard by turns.
_LATIN_WORDS = frozenset(
    "ahem claus cleo cork didn diem dirk dork dory enfp entp flcl goth gotham gowns rhcp rory roth rudi shelf soso thrown togo "
    "work".split()
)


def hangul_of(word: str) -> str | None:
    """The syllables that the keys of ``word`` write in the two-set layout; None where they write anything else.

    >>> hangul_of("dkssudgktpdy")
    '안녕하세요'
    >>> hangul_of("hello") is None
    True
    """
    if not word or any(letter not in _JAMO for letter in word):
        return None
    written = compose_strokes("".join(_JAMO[letter] for letter in word))
    return written if all(map(is_syllable, written)) else None


def find_in_english_layout(
    text: str, verbatim: Iterable[Span], knows: Callable[[str], bool]
) -> tuple[Change, ...]:
    """Words of Latin letters that may be meant as Hangul, each as a change to the Hangul that its keys write.

    The changes are those between ``text`` and the text with all of them made.
    ``verbatim``: spans of the text that are no prose, such as addresses. ``knows`` says whether a word of Hangul is known.

    >>> [(c.wrong, c.right) for c in find_in_english_layout("지금 rkrh 있어, ok?", (), {"가고"}.__contains__)]
    [('rkrh', '가고')]
    """
    changes, drift = [], 0
    for start, end, hangul in _words(text, tuple(verbatim)):
        if knows(hangul):
            first = start + drift
            drift += len(hangul) - (end - start)
            changes.append(
                Change(
                    start, end, first, first + len(hangul), text[start:end], hangul, is_english_layout=True
                )
            )
    return tuple(changes)


def _words(text: str, verbatim: tuple[Span, ...]) -> Iterator[tuple[int, int, str]]:
    """(start, end, Hangul) of the words that could have been meant as Hangul."""
    for found in _WORD.finditer(text):
        word, (start, end) = found.group(), found.span()
        if word.isupper() or word.casefold() in _LATIN_WORDS:
            continue
        if any(start < last and first < end for first, last in verbatim):
            continue
        hangul = hangul_of(word)
        if hangul is not None and len(hangul) >= LEAST_SYLLABLES:
            yield start, end, hangul
