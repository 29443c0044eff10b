"""Hangul syllables as (initial, medial, final) jamo, and particles that fit a word.

A precomposed syllable is ``0xAC00 + (initial * 21 + medial) * 28 + final``, where final 0 means "no coda"
(The Unicode Standard, section 3.12 "Conjoining Jamo Behavior").

A particle's form follows the last sound of the word before it, as it is read aloud (한글 맞춤법,
표준국어대사전): 은, 이, 을, 과 follow a consonant and 는, 가, 를, 와 a vowel; 으로 follows a consonant except
ㄹ, and 로 a vowel or ㄹ. Figures and Latin letters are read in Korean, by the name of the last one: 3 is 삼
and L is 엘. The last 0 of a round number is read as 영, which gives the right form: 영 ends in a consonant
that is not ㄹ, and so do 십, 백, 천, 만 and 억.
"""

import re
from functools import cache
from itertools import product

INITIALS = "ㄱㄲㄴㄷㄸㄹㅁㅂㅃㅅㅆㅇㅈㅉㅊㅋㅌㅍㅎ"  # 19
MEDIALS = "ㅏㅐㅑㅒㅓㅔㅕㅖㅗㅘㅙㅚㅛㅜㅝㅞㅟㅠㅡㅢㅣ"  # 21
FINALS = ("", *"ㄱㄲㄳㄴㄵㄶㄷㄹㄺㄻㄼㄽㄾㄿㅀㅁㅂㅄㅅㅆㅇㅈㅊㅋㅌㅍㅎ")  # 28, the first is "no coda"

FIRST_SYLLABLE, LAST_SYLLABLE = 0xAC00, 0xD7A3
SYLLABLE_COUNT = LAST_SYLLABLE - FIRST_SYLLABLE + 1  # 11,172
# The 2,350 syllables of ordinary Korean text: rows 16 to 40 of KS X 1001, 94 each, of two bytes.
KS_X_1001_SYLLABLES = b"".join(map(bytes, product(range(0xB0, 0xC9), range(0xA1, 0xFF)))).decode("euc-kr")

_INITIAL_INDEX = {jamo: index for index, jamo in enumerate(INITIALS)}
_MEDIAL_INDEX = {jamo: index for index, jamo in enumerate(MEDIALS)}
_FINAL_INDEX = {jamo: index for index, jamo in enumerate(FINALS)}


def is_syllable(character: str) -> bool:
    """Whether ``character`` is one precomposed Hangul syllable (가 … 힣).

    >>> is_syllable("값"), is_syllable("ㄱ")
    (True, False)
    """
    return len(character) == 1 and FIRST_SYLLABLE <= ord(character) <= LAST_SYLLABLE


def is_hangul(character: str) -> bool:
    """Whether ``character`` is a syllable, or a single jamo (ㄱ … ㅣ).

    >>> is_hangul("ㄱ"), is_hangul("a")
    (True, False)
    """
    return is_syllable(character) or (len(character) == 1 and "ㄱ" <= character <= "ㅣ")


def indices(syllable: str) -> tuple[int, int, int]:
    """Positions of a syllable's jamo in ``INITIALS``, ``MEDIALS`` and ``FINALS``.

    >>> indices("값")
    (0, 0, 18)
    """
    offset = ord(syllable) - FIRST_SYLLABLE
    if not 0 <= offset < SYLLABLE_COUNT:
        raise ValueError(f"not a precomposed Hangul syllable: {syllable!r}")
    return offset // 588, offset % 588 // 28, offset % 28


@cache  # the forms of the norm's words are put together from tens of thousands
def decompose(syllable: str) -> tuple[str, str, str]:
    """``"값" -> ("ㄱ", "ㅏ", "ㅄ")``; the final is ``""`` without a coda.

    >>> decompose("값")
    ('ㄱ', 'ㅏ', 'ㅄ')
    """
    initial, medial, final = indices(syllable)
    return INITIALS[initial], MEDIALS[medial], FINALS[final]


@cache
def compose(initial: str, medial: str, final: str = "") -> str:
    """``("ㄱ", "ㅏ", "ㅄ") -> "값"``.

    Raises ValueError for another character than an initial, medial or final.

    >>> compose("ㄱ", "ㅏ", "ㅄ")
    '값'
    """
    try:
        offset = (_INITIAL_INDEX[initial] * 21 + _MEDIAL_INDEX[medial]) * 28 + _FINAL_INDEX[final]
    except KeyError as error:
        raise ValueError(f"cannot compose {initial!r} + {medial!r} + {final!r}") from error
    return chr(FIRST_SYLLABLE + offset)


_CLUSTERS = str.maketrans(
    {
        **{double: plain * 2 for double, plain in zip("ㄲㄸㅃㅆㅉ", "ㄱㄷㅂㅅㅈ", strict=True)},
        **dict(
            zip(
                "ㄳㄵㄶㄺㄻㄼㄽㄾㄿㅀㅄ",
                "ㄱㅅ ㄴㅈ ㄴㅎ ㄹㄱ ㄹㅁ ㄹㅂ ㄹㅅ ㄹㅌ ㄹㅍ ㄹㅎ ㅂㅅ".split(),
                strict=True,
            )
        ),
    }
)


def spoken_letters(text: str) -> str:
    """The jamo of a text without the silent ㅇ, and each of two letters by itself.

    Words that differ only in where a syllable ends have the same.

    >>> spoken_letters("하꾜"), spoken_letters("학교"), spoken_letters("먹어")
    ('ㅎㅏㄱㄱㅛ', 'ㅎㅏㄱㄱㅛ', 'ㅁㅓㄱㅓ')
    """
    return "".join(map(_spoken, text)).translate(_CLUSTERS)


def _spoken(character: str) -> str:
    if not is_syllable(character):
        return character
    initial, medial, final = decompose(character)
    return ("" if initial == "ㅇ" else initial) + medial + final


def syllables_with_coda(*finals: str) -> str:
    """All syllables that end in one of ``finals`` (``""``: in none), to search for in a text.

    >>> len(syllables_with_coda("ㄴ", "ㄹ"))
    798
    """
    wanted = {_FINAL_INDEX[final] for final in finals}
    return "".join(chr(FIRST_SYLLABLE + i) for i in range(SYLLABLE_COUNT) if i % 28 in wanted)


DIGIT_NAMES = dict(zip("0123456789", "영일이삼사오육칠팔구", strict=True))
LETTER_NAMES = dict(
    zip(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZ",
        "에이 비 시 디 이 에프 지 에이치 아이 제이 케이 엘 엠 엔 오 피 큐 아르 에스 티 유 브이 더블유 "
        "엑스 와이 제트".split(),
        strict=True,
    )
)


def last_coda(word: str) -> str:
    """The final consonant of the last syllable that is heard, ``""`` after a vowel; marks are silent.

    Raises ValueError for a word that ends in something without a Korean name here, such as hanja.
    """
    heard = [character for character in word if character.isalnum()]
    if not heard:
        raise ValueError(f"nothing of {word!r} is read aloud")
    name = DIGIT_NAMES.get(heard[-1]) or LETTER_NAMES.get(heard[-1].upper()) or heard[-1]
    return decompose(name[-1])[2]


def particle(forms: str, word: str) -> str:
    """Of ``forms``, "after a consonant/after a vowel" such as 은/는 or 으로/로, the one that follows
    ``word``.

    >>> particle("은/는", "책"), particle("으로/로", "3")
    ('은', '으로')
    """
    after_consonant, after_vowel = forms.split("/")
    coda = last_coda(word)
    if coda == "ㄹ" and after_vowel.startswith("로"):
        return after_vowel
    return after_consonant if coda else after_vowel


# (the form, whether it follows a consonant). 는 is missing: behind a consonant it ends a verb (먹는). A
# syllable with ㄹ before 로 counts as a vowel.
_FOLLOWS = {
    **dict.fromkeys(("은", "이", "을", "과", "으로"), True),
    **dict.fromkeys(("가", "를", "와", "로"), False),
}
_LAST = re.compile(
    rf"[가-힣]({'|'.join(sorted(_FOLLOWS, key=len, reverse=True))})(?:[는도만]|부터|서|"
    rf"써)?(?![0-9A-Za-z가-힣])"
)


def misshapen(text: str) -> int:
    """The number of words that end like a particle of the wrong shape, such as 이 after a vowel.

    A guess without a lexicon: 사과 counts, too, as if it were 사 with 과. It is for comparing two spellings
    of one word.

    >>> misshapen("언니이 학교으로 친구를 만났다."), misshapen("언니가 학교로 친구를 만났다.")
    (2, 0)
    """
    found = 0
    for match in _LAST.finditer(text):
        form = match[1]
        coda = decompose(text[match.start()])[2]
        is_consonant = bool(coda) and not (coda == "ㄹ" and form in ("로", "으로"))
        found += is_consonant != _FOLLOWS[form]
    return found
