"""Chooses the characters that the network can produce."""

from collections import Counter
from collections.abc import Iterable

from model.text import hangul

# Modern Hangul syllables of KS X 1001, rows 16 to 40: what ordinary Korean text is written with.
KS_X_1001_SYLLABLES = tuple(
    bytes((lead, trail)).decode("euc-kr") for lead in range(0xB0, 0xC9) for trail in range(0xA1, 0xFF)
)
ASCII = tuple(map(chr, range(0x20, 0x7F)))
COMPATIBILITY_JAMO = tuple(map(chr, range(0x3131, 0x3164)))  # ㄱ … ㅣ, as in ㅋㅋ and ㅠㅠ


def choose_characters(sentences: Iterable[str], minimum_count: int = 20) -> tuple[str, ...]:
    """KS X 1001 syllables, ASCII and jamo, and whatever else of Hangul and punctuation the
    sentences hold at least ``minimum_count`` times, in code point order. Letters of other scripts
    (hanja, Cyrillic, …) stay outside: the network copies them verbatim.

    >>> "가" in choose_characters([]), "ㅋ" in choose_characters([]), "漢" in choose_characters(["漢字"] * 100)
    (True, True, False)
    """
    counts: Counter[str] = Counter()
    for sentence in sentences:
        counts.update(sentence)
    base = {*KS_X_1001_SYLLABLES, *ASCII, *COMPATIBILITY_JAMO}
    frequent = {
        character
        for character, count in counts.items()
        if count >= minimum_count and (hangul.is_syllable(character) or not character.isalpha())
    }
    return tuple(sorted(character for character in base | frequent if character.isprintable()))
