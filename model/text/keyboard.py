"""The two-set (두벌식) Hangul keyboard of KS X 5002: which keys are neighbours, what shift gives, which jamo take two keys.

Source: KS X 5002 for the jamo of each key. How far the rows are shifted against each other is not the
standard's but that of ordinary keyboards: a quarter and three quarters of a key to the right of the top row.
"""

from functools import cache

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
    """Whether ``jamo`` is a medial (ㅏ … ㅣ in the compatibility block)."""
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
    results that are one jamo again count (ㅘ -> ㅙ ㅚ). Raises ValueError for what is on no key.

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
