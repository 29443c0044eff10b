"""Chooses the form of a Korean particle by the last sound of the word before it, as it is read aloud.

한글 맞춤법 and 표준국어대사전: 은, 이, 을, 과 follow a consonant and 는, 가, 를, 와 a vowel; 으로 follows a
consonant except ㄹ, and 로 a vowel or ㄹ. Figures and Latin letters are read in Korean, by the name of the last
one: 3 is 삼 and L is 엘. The last 0 of a round number is read as 영, which gives the right form: 영 ends in a
consonant that is not ㄹ, and so do 십, 백, 천, 만 and 억.
"""

import re

from model.text import hangul

DIGIT_NAMES = dict(zip("0123456789", "영일이삼사오육칠팔구", strict=True))
LETTER_NAMES = dict(
    zip(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZ",
        "에이 비 시 디 이 에프 지 에이치 아이 제이 케이 엘 엠 엔 오 피 큐 아르 에스 티 유 브이 더블유 엑스 와이 제트".split(),
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
    return hangul.decompose(name[-1])[2]


def particle(forms: str, word: str) -> str:
    """Of ``forms``, "after a consonant/after a vowel" such as 은/는 or 으로/로, the one that follows ``word``.

    >>> particle("은/는", "책"), particle("으로/로", "3")
    ('은', '으로')
    """
    after_consonant, after_vowel = forms.split("/")
    coda = last_coda(word)
    if coda == "ㄹ" and after_vowel.startswith("로"):
        return after_vowel
    return after_consonant if coda else after_vowel


# (the form, whether it follows a consonant). 는 is missing: behind a consonant it ends a verb (먹는). A syllable with ㄹ before 로
# counts as a vowel.
_FOLLOWS = {
    **dict.fromkeys(("은", "이", "을", "과", "으로"), True),
    **dict.fromkeys(("가", "를", "와", "로"), False),
}
_LAST = re.compile(
    rf"[가-힣]({'|'.join(sorted(_FOLLOWS, key=len, reverse=True))})(?:[는도만]|부터|서|써)?(?![0-9A-Za-z가-힣])"
)


def misshapen(text: str) -> int:
    """How many words end in what looks like a particle of the wrong shape, such as 이 after a vowel.

    A guess without a lexicon: 사과 counts, too, as if it were 사 with 과. It is for comparing two spellings of one word.

    >>> misshapen("언니이 학교으로 친구를 만났다."), misshapen("언니가 학교로 친구를 만났다.")
    (2, 0)
    """
    found = 0
    for match in _LAST.finditer(text):
        form = match[1]
        coda = hangul.decompose(text[match.start()])[2]
        is_consonant = bool(coda) and not (coda == "ㄹ" and form in ("로", "으로"))
        found += is_consonant != _FOLLOWS[form]
    return found
