"""Pieces of correct sentences for generated notes, and made-up names.

With names the network practises to copy a word that it does not know, syllable by syllable. Half of the
made-up names follow 외래어 표기법 (국립국어원) for foreign names: simple vowels, no tense initials (제4항),
and as codas only ㄱ, ㄴ, ㄹ, ㅁ, ㅂ, ㅅ and ㅇ (제3항). The other half are any syllables of KS X 1001,
because names need not follow a pattern. Half of the names with several short words are Vietnamese (the
commonest family, middle and given names, spelt by 외래어 표기법 제3장), because in Korean classes these are
the most frequent names with spaces. Without them a network takes the spaces for mistakes.
"""

import random
import re
from collections.abc import Sequence

from model.text.hangul import KS_X_1001_SYLLABLES, compose, particle
from training.noise import read_lines, words_of
from training.noise.word_parts import particle_start

INITIALS = "ㄱㄴㄷㄹㅁㅂㅅㅇㅈㅊㅋㅌㅍㅎ"
VOWELS = "ㅏㅐㅑㅓㅔㅕㅗㅛㅜㅠㅡㅣ"
CODAS = ("",) * 7 + tuple("ㄱㄴㄹㅁㅂㅅㅇ")
LONGEST = 5  # syllables of a name of one word
PARTS_SHARE = 0.4  # of the names have two or three short parts, as 응우옌 티 란 has
LIST_SHARE = 0.15  # of the names are in a list with others
_LISTS, LISTS_OF_NOTES = words_of("pieces"), words_of("notes")
FAMILY_NAMES, MIDDLE_NAMES, GIVEN_NAMES = (_LISTS[f"{part}_names"] for part in ("family", "middle", "given"))
FOLLOWERS = _LISTS["followers"]  # particles and titles behind a name


def simple_syllables(
    rng: random.Random, count: int, vowels: str = VOWELS, codas: Sequence[str] = CODAS
) -> str:
    """So many syllables of simple sounds, which mean nothing.

    >>> simple_syllables(random.Random(0), 2)
    '홋사'
    """
    return "".join(compose(*map(rng.choice, (INITIALS, vowels, codas))) for _ in range(count))


def made_up_name(rng: random.Random) -> str:
    """A word of 2 to LONGEST syllables that means nothing.

    >>> made_up_name(random.Random(0))
    '사죠펙뷰쟈'
    """
    count = rng.randint(2, LONGEST)
    if rng.random() < 0.5:
        return "".join(rng.choices(KS_X_1001_SYLLABLES, k=count))
    return simple_syllables(rng, count)


def _vietnamese_name(rng: random.Random) -> str:
    """Family name, perhaps a middle name, given name."""
    middle = rng.choices(MIDDLE_NAMES, k=rng.random() < 0.8)
    return " ".join([rng.choice(FAMILY_NAMES), *middle, rng.choice(GIVEN_NAMES)])


def name_in_parts(rng: random.Random) -> str:
    """A Vietnamese name, or two or three words of 1 to 3 simple syllables, apart or with ·, that mean
    nothing.

    >>> name_in_parts(random.Random(0))
    '죠펙 천데'
    """
    if rng.random() < 0.5:
        return _vietnamese_name(rng)
    parts = (simple_syllables(rng, rng.randint(1, 3)) for _ in range(rng.choice((2, 2, 3))))
    return rng.choice((" ", " ", " ", "·")).join(parts)


def made_up_phrase(rng: random.Random) -> str:
    """Such a name, or a list of some, with a particle that agrees with it, with 씨, or alone.

    >>> made_up_phrase(random.Random(2))
    '묍뉜에게'
    """
    count = rng.choice((2, 3)) if rng.random() < LIST_SHARE else 1
    names = [(name_in_parts if rng.random() < PARTS_SHARE else made_up_name)(rng) for _ in range(count)]
    follower = rng.choice(FOLLOWERS)
    return ", ".join(names) + (particle(follower, names[-1]) if "/" in follower else follower)


LONGEST_SENTENCE = 50  # characters; a longer sentence gives a phrase of it
MOST_WORDS = 5  # of a phrase
ATTEMPTS = 6  # draws of a sentence, until one has such a piece
OF_NOTES = 0.35  # of the phrases are of ``notes.txt``: rightly spelt notes on lists and doors
MADE_UP = 0.2  # of the names are made up, the others are common ones

NAMES = _LISTS["names"]
NOUNS = _LISTS["nouns"]  # topics of notes, so that not every list is of the words that long sentences have
_RUN = re.compile("[가-힣A-Za-z0-9]+(?: [가-힣A-Za-z0-9]+)*")
_HANGUL = re.compile("[가-힣]+")
# Words that a phrase does not begin with: a word that belongs to the one before it.
_LEANS = re.compile(f"(?:{'|'.join(_LISTS['leans'])})")
_OBJECT = ("을", "를", "에서", "에게", "으로")  # particles by which a noun is known with some safety


# A note is a list of texts. Signs, names and figures are plain ones: they are typed right, and stay.
class Prose(str):
    """A part of a note that may be misspelt, and is mended."""


class Verbatim(str):
    """A part that a machine reads: it stays as it is, even where it is misspelt."""


def _whole(words: list[str], start: int, end: int) -> list[str]:
    """``words[start:end]``, extended by the words that its first and last one belong to: never 수 alone out
    of 할 수 있다.
    """
    while 0 < start < end and _LEANS.match(words[start]):
        start -= 1
    while 0 < end < len(words) and (words[end - 1] in _LISTS["leads"] or _LEANS.match(words[end])):
        end += 1
    return words[start:end]


class Pieces:
    """Draws sentences, phrases, nouns and names for one note.

    >>> Pieces(["내일 도서관에서 책을 빌리자."], random.Random(6)).phrase(most=2)
    '책을 빌리자'
    """

    def __init__(self, sentences: Sequence[str], rng: random.Random):
        self.sentences, self.rng = sentences, rng

    def sentence(self) -> str:
        """One of the sentences, as it is; of those that are too long a phrase."""
        for _ in range(ATTEMPTS):
            text = self.rng.choice(self.sentences)
            if len(text) <= LONGEST_SENTENCE:
                return text
        return self.phrase()

    def phrase(self, most: int = MOST_WORDS) -> str:
        """A few words of a sentence in a row, without signs between them, or a phrase of ``notes.txt``."""
        if self.rng.random() < OF_NOTES:
            return self.rng.choice(read_lines("notes.txt"))
        for _ in range(ATTEMPTS):
            runs = [run.group().split(" ") for run in _RUN.finditer(self.rng.choice(self.sentences))]
            words = self.rng.choice(runs) if runs else []
            count = min(self.rng.randint(1 + (most > 3), most), len(words))
            start = len(words) - count if self.rng.random() < 0.5 else self.rng.randint(0, len(words) - count)
            text = " ".join(_whole(words, start, start + count))
            if any("가" <= character <= "힣" for character in text) and len(text) <= LONGEST_SENTENCE:
                return text
        return self.rng.choice(NOUNS)

    def noun(self) -> str:
        """A noun of the sentences, or of those that notes are about.

        >>> Pieces(["내일 도서관에서 책을 빌리자."], random.Random(1)).noun()
        '도서관'
        """
        for _ in range(ATTEMPTS if self.rng.random() < 0.5 else 0):
            word = self.rng.choice(self.rng.choice(self.sentences).split(" "))
            if _HANGUL.fullmatch(word) and (start := particle_start(word)) > 1 and word[start:] in _OBJECT:
                return word[:start]
        return self.rng.choice(NOUNS)

    def entry(self) -> str:
        """The text of a cell or behind a colon: a phrase, or a noun."""
        return self.phrase(3) if self.rng.random() < 0.6 else self.noun()

    def name(self) -> str:
        return made_up_name(self.rng) if self.rng.random() < MADE_UP else self.rng.choice(NAMES)

    def listed(self, name: str) -> str:
        """One word of a list of ``LISTS_OF_NOTES``."""
        return self.rng.choice(LISTS_OF_NOTES[name])

    def one(self, *choices: str) -> str:
        """One of these, each as likely as the next."""
        return self.rng.choice(choices)
