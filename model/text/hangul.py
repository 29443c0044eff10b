"""Hangul syllables as (initial, medial, final) jamo, by the arithmetic of the Unicode Standard.

Source: The Unicode Standard, section 3.12 "Conjoining Jamo Behavior". A precomposed syllable is
``0xAC00 + (initial * 21 + medial) * 28 + final`` where final 0 means "no coda".
"""

INITIALS = "ㄱㄲㄴㄷㄸㄹㅁㅂㅃㅅㅆㅇㅈㅉㅊㅋㅌㅍㅎ"  # 19
MEDIALS = "ㅏㅐㅑㅒㅓㅔㅕㅖㅗㅘㅙㅚㅛㅜㅝㅞㅟㅠㅡㅢㅣ"  # 21
FINALS = ("", *"ㄱㄲㄳㄴㄵㄶㄷㄹㄺㄻㄼㄽㄾㄿㅀㅁㅂㅄㅅㅆㅇㅈㅊㅋㅌㅍㅎ")  # 28, the first is "no coda"

FIRST_SYLLABLE, LAST_SYLLABLE = 0xAC00, 0xD7A3
SYLLABLE_COUNT = LAST_SYLLABLE - FIRST_SYLLABLE + 1  # 11,172

_INITIAL_INDEX = {jamo: index for index, jamo in enumerate(INITIALS)}
_MEDIAL_INDEX = {jamo: index for index, jamo in enumerate(MEDIALS)}
_FINAL_INDEX = {jamo: index for index, jamo in enumerate(FINALS)}


def is_syllable(character: str) -> bool:
    """Whether ``character`` is one precomposed Hangul syllable (가 … 힣)."""
    return len(character) == 1 and FIRST_SYLLABLE <= ord(character) <= LAST_SYLLABLE


def is_hangul(character: str) -> bool:
    """Whether ``character`` is a syllable, or a jamo that stands alone (ㄱ … ㅣ)."""
    return is_syllable(character) or (len(character) == 1 and "ㄱ" <= character <= "ㅣ")


def indices(syllable: str) -> tuple[int, int, int]:
    """Positions of a syllable's jamo in ``INITIALS``, ``MEDIALS`` and ``FINALS``."""
    offset = ord(syllable) - FIRST_SYLLABLE
    if not 0 <= offset < SYLLABLE_COUNT:
        raise ValueError(f"not a precomposed Hangul syllable: {syllable!r}")
    return offset // 588, offset % 588 // 28, offset % 28


def decompose(syllable: str) -> tuple[str, str, str]:
    """``"값" -> ("ㄱ", "ㅏ", "ㅄ")``; the final is ``""`` where there is no coda.

    >>> decompose("값")
    ('ㄱ', 'ㅏ', 'ㅄ')
    """
    initial, medial, final = indices(syllable)
    return INITIALS[initial], MEDIALS[medial], FINALS[final]


def compose(initial: str, medial: str, final: str = "") -> str:
    """``("ㄱ", "ㅏ", "ㅄ") -> "값"``. Raises ValueError for what is no initial, medial or final.

    >>> compose("ㄱ", "ㅏ", "ㅄ")
    '값'
    """
    try:
        offset = (_INITIAL_INDEX[initial] * 21 + _MEDIAL_INDEX[medial]) * 28 + _FINAL_INDEX[final]
    except KeyError as error:
        raise ValueError(f"cannot compose {initial!r} + {medial!r} + {final!r}") from error
    return chr(FIRST_SYLLABLE + offset)


def syllables_with_coda(*finals: str) -> str:
    """All syllables that end in one of ``finals`` (``""``: in none), to search for in a text."""
    wanted = {_FINAL_INDEX[final] for final in finals}
    return "".join(chr(FIRST_SYLLABLE + i) for i in range(SYLLABLE_COUNT) if i % 28 in wanted)
