"""The two-set (두벌식) Hangul keyboard: its keys, its input method, and its English layout.

Source: KS X 5002 for the jamo of each key. How far the rows are shifted against each other is not the
standard's but that of ordinary keyboards: a quarter and three quarters of a key to the right of the top row.

The role of a consonant is known only from the next key: after 가 a ㄱ is a final (각) until a vowel follows,
which takes it away as its own initial (가가). So a key that is struck too early, too late or twice does not
change one letter but how the letters around it are joined.

The same keys write Hangul and, by the QWERTY layout, Latin letters: dkssud for 안녕. The keys alone do not
show which was meant, so such a word is only offered, and only if its keys write whole syllables that make a
known word.
"""

import re
from collections.abc import Callable, Iterable
from functools import cache, lru_cache

from model.text.changes import Change, in_order
from model.text.hangul import FINALS, INITIALS, MEDIALS, compose, decompose, is_syllable
from model.text.tokenizer import Span, matches_apart

ROWS = (  # (the row's jamo from left to right, how many keys the row is shifted to the right)
    ("ㅂㅈㄷㄱㅅㅛㅕㅑㅐㅔ", 0.0),
    ("ㅁㄴㅇㄹㅎㅗㅓㅏㅣ", 0.25),
    ("ㅋㅌㅊㅍㅠㅜㅡ", 0.75),
)
SHIFTED = dict(zip("ㅂㅈㄷㄱㅅㅐㅔ", "ㅃㅉㄸㄲㅆㅒㅖ", strict=True))
UNSHIFTED = {upper: lower for lower, upper in SHIFTED.items()}

# fmt: off
STROKES = {  # jamo typed with two keys, one after the other
    "ㅘ": "ㅗㅏ", "ㅙ": "ㅗㅐ", "ㅚ": "ㅗㅣ", "ㅝ": "ㅜㅓ", "ㅞ": "ㅜㅔ", "ㅟ": "ㅜㅣ", "ㅢ": "ㅡㅣ",
    "ㄳ": "ㄱㅅ", "ㄵ": "ㄴㅈ", "ㄶ": "ㄴㅎ", "ㄺ": "ㄹㄱ", "ㄻ": "ㄹㅁ", "ㄼ": "ㄹㅂ", "ㄽ": "ㄹㅅ",
    "ㄾ": "ㄹㅌ", "ㄿ": "ㄹㅍ", "ㅀ": "ㄹㅎ", "ㅄ": "ㅂㅅ",
}
# fmt: on
JOINED = {strokes: jamo for jamo, strokes in STROKES.items()}

_PLACES = {jamo: (x + shift, y) for y, (row, shift) in enumerate(ROWS) for x, jamo in enumerate(row)}
_REACH = 1.3  # in keys; the six keys around a key are 1.0 to 1.25 away, the next ones 1.6 and more


def is_vowel(jamo: str) -> bool:
    """Whether ``jamo`` is a medial (ㅏ … ㅣ in the compatibility block).

    >>> is_vowel("ㅏ"), is_vowel("ㄱ")
    (True, False)
    """
    return "ㅏ" <= jamo <= "ㅣ"


def _side_by_side(jamo: str) -> tuple[str, ...]:
    """Neighbours of a key without shift; ㅅ/ㅛ and the like are left out, they break the syllable up."""
    x, y = _PLACES[jamo]
    return tuple(
        other
        for other, (other_x, other_y) in _PLACES.items()
        if other != jamo
        and is_vowel(other) == is_vowel(jamo)
        and (other_x - x) ** 2 + (other_y - y) ** 2 < _REACH**2
    )


@cache
def neighbours(jamo: str) -> tuple[str, ...]:
    """Jamo that appear when the finger lands one key beside the right one.

    Shift stays held (ㄲ -> ㄸ ㅆ ㅇ ㄹ). Of a jamo typed with two keys one key goes astray, and only
    results that are one jamo again count (ㅘ -> ㅙ ㅚ). Raises ValueError for a jamo on no key.

    >>> neighbours("ㄱ")
    ('ㄷ', 'ㅅ', 'ㅇ', 'ㄹ')
    """
    if jamo in _PLACES:
        return _side_by_side(jamo)
    if jamo in UNSHIFTED:
        return tuple(SHIFTED.get(other, other) for other in _side_by_side(UNSHIFTED[jamo]))
    if jamo not in STROKES:
        raise ValueError(f"not a jamo of the two-set keyboard: {jamo!r}")
    first, second = tuple(STROKES[jamo])
    astray = [other + second for other in _side_by_side(first)]
    astray += [first + other for other in _side_by_side(second)]
    return tuple(JOINED[strokes] for strokes in astray if strokes in JOINED)


# Ends the syllable that is being put together, as an arrow key, a click or a moment's wait does. It writes
# nothing.
PAUSE = "\x1f"


@lru_cache(maxsize=16384)
def strokes_of(syllable: str) -> tuple[str, str, str]:
    """The keys of a syllable's initial, medial and final, one jamo a key: 왔 is ㅇ, ㅗㅏ and ㅆ.

    >>> strokes_of("닭")
    ('ㄷ', 'ㅏ', 'ㄹㄱ')
    """
    initial, medial, final = decompose(syllable)
    return initial, STROKES.get(medial, medial), STROKES.get(final, final)


def spell(word: str) -> str:
    """The keys that write a word of syllables, one after the other.

    >>> spell("학교에")
    'ㅎㅏㄱㄱㅛㅇㅔ'
    """
    return "".join("".join(strokes_of(syllable)) for syllable in word)


_TWO_VOWELS, _TWO_CONSONANTS = (
    "|".join(strokes for strokes in JOINED if (strokes[0] in MEDIALS) == vowels) for vowels in (True, False)
)
# A syllable by its keys: a consonant is its final unless a vowel follows. Else two keys that write one vowel,
# or a character that no key writes.
TYPED_SYLLABLE = re.compile(
    rf"([{INITIALS}])({_TWO_VOWELS}|[{MEDIALS}])((?:{_TWO_CONSONANTS}|[{''.join(FINALS)}])(?![ㅏ-ㅣ]))?"
    rf"|(?:{_TWO_VOWELS})|[^ㄱ-ㅣ]"
)


def compose_strokes(strokes: str) -> str:
    """The text that a two-set input method writes for these keys, one jamo a key; other characters are left
    out.

    >>> compose_strokes("ㅎㅏㄱㄱㅛㄱㅇㅔ")
    '학굑에'
    >>> compose_strokes("ㅂㅓㅅㅡㅔㅇ")
    '버스ㅔㅇ'
    """
    return TYPED_SYLLABLE.sub(_composed, strokes)


def _composed(found: re.Match[str]) -> str:
    initial, medial, final = found.groups(default="")
    if initial:
        return compose(initial, JOINED.get(medial, medial), JOINED.get(final, final))
    return JOINED.get(found[0], "")


LEAST_SYLLABLES = 2  # one syllable is too often an English word: go, so, to, for

_LETTERS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
_LOWER = {
    letter: jamo
    for letters, (row, _) in zip(_LETTERS, ROWS, strict=True)
    for letter, jamo in zip(letters, row, strict=True)
}
# A capital letter counts only where the shift key writes another jamo: Dkssud is not typed.
KEY_JAMO = _LOWER | {letter.upper(): SHIFTED[jamo] for letter, jamo in _LOWER.items() if jamo in SHIFTED}

# A whole word of letters. One of these marks beside it shows that it is part of a name, a path or a
# contraction.
LATIN_WORD = re.compile(r"(?<![\w'’&@#/\\.+=$%*~^-])[A-Za-z]{4,}(?![\w'’&@#/\\+=$%*~^(-]|[.:]\w)")

# Words, names and short forms in Latin letters whose keys also write a known word of Hangul, as `work` writes
# 재가. They are few, because their letters have to lie on the left and on the right half of the keyboard by
# turns.
LATIN_WORDS = frozenset(
    "ahem claus cleo cork didn diem dirk dork dory enfp entp flcl goth gotham gowns rhcp rory roth "
    "rudi shelf soso thrown togo "
    "work".split()
)


def hangul_of(word: str) -> str | None:
    """The syllables that the keys of ``word`` write in the two-set layout; None where they write anything
    else.

    >>> hangul_of("dkssudgktpdy")
    '안녕하세요'
    >>> hangul_of("hello") is None
    True
    """
    if not word or any(letter not in KEY_JAMO for letter in word):
        return None
    written = compose_strokes("".join(KEY_JAMO[letter] for letter in word))
    return written if all(map(is_syllable, written)) else None


def find_in_english_layout(
    text: str, verbatim: Iterable[Span], knows: Callable[[str], bool]
) -> tuple[Change, ...]:
    """Words of Latin letters that may be meant as Hangul, each as a change to the Hangul that its keys write.

    The changes are those between ``text`` and the text with all of them made. ``verbatim``: spans of the text
    that are no prose, such as addresses. ``knows`` says whether a word of Hangul is known.

    >>> [(c.wrong, c.right) for c in find_in_english_layout("지금 rkrh 있어, ok?", (), {"가고"}.__contains__)]
    [('rkrh', '가고')]
    """
    changes = []
    for found in matches_apart(LATIN_WORD, text, verbatim):
        word = found[0]
        hangul = None if word.isupper() or word.casefold() in LATIN_WORDS else hangul_of(word)
        if hangul is not None and len(hangul) >= LEAST_SYLLABLES and knows(hangul):
            changes.append(Change(*found.span(), 0, 0, word, hangul, is_english_layout=True))
    return in_order(changes)
