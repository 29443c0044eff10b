"""The two-set (두벌식) input method: from syllables to the keys that write them, and from keys to what appears.

Source: KS X 5002 for the keys. What becomes of a consonant is known only from the next key: after 가 a ㄱ is a final
(각) until a vowel follows, which takes it away as its own initial (가가). So a key that is struck too early, too
late or twice does not change one letter but how the letters around it are joined.
"""

from functools import lru_cache

from model.text.hangul import FINALS, INITIALS, compose, decompose, is_syllable
from model.text.keyboard import JOINED, STROKES, is_vowel

# Ends the syllable that is being put together, as an arrow key, a click or a moment's wait does. It writes nothing.
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


def compose_strokes(strokes: str) -> str:
    """What a two-set input method writes for these keys, one jamo a key; anything but a jamo is left out.

    >>> compose_strokes("ㅎㅏㄱㄱㅛㄱㅇㅔ")
    '학굑에'
    >>> compose_strokes("ㅂㅓㅅㅡㅔㅇ")
    '버스ㅔㅇ'
    """
    written: list[str] = [""]  # the last one is still being put together
    for stroke in strokes:
        if not "ㄱ" <= stroke <= "ㅣ":
            written.append("")
        else:
            written[-1:] = (
                _with_vowel(written[-1], stroke) if is_vowel(stroke) else _with_consonant(written[-1], stroke)
            )
    return "".join(written)


@lru_cache(maxsize=65536)
def _with_consonant(current: str, key: str) -> tuple[str, ...]:
    """The unfinished syllable and what follows it after a consonant: 가 and ㄱ are 각, 값 and ㄱ are 값 ㄱ."""
    if is_syllable(current):
        initial, medial, final = decompose(current)
        longer = JOINED.get(final + key) if final else key
        if longer is not None and longer in FINALS:
            return (compose(initial, medial, longer),)
    return current, key


@lru_cache(maxsize=65536)
def _with_vowel(current: str, key: str) -> tuple[str, ...]:
    """The unfinished syllable and what follows it after a vowel: 각 and ㅏ are 가 가, 고 and ㅏ are 과."""
    if is_syllable(current):
        initial, medial, final = decompose(current)
        if final:
            *kept, moved = tuple(STROKES.get(final, final))
            return compose(initial, medial, "".join(kept)), compose(moved, key)
        if longer := JOINED.get(medial + key):
            return (compose(initial, longer),)
    elif current in tuple(INITIALS):
        return (compose(current, key),)
    elif current and (longer := JOINED.get(current + key)):
        return (longer,)
    return current, key
