"""Slips of one key: struck too late, too early, twice or not at all, as the two-set input method writes them.

Each function is given a word, the index of one of its syllables and a source of chance. It returns what is written then,
or None where it has nothing to do there. Letters are often left loose: a consonant that finds no vowel in time stays alone.
Whatever they write violates 한글 맞춤법 제1항 (a word is written in its standard form) and 제2항 of its 부록, by which
jamo are put together to syllables.
"""

import random

from model.text.hangul import decompose
from model.text.input_method import PAUSE, compose_strokes, spell, strokes_of
from model.text.keyboard import UNSHIFTED, is_vowel
from training.noise.known_words import known_words

APART_SHARE = 0.6  # of broken syllables have nothing to do with the one before: 학교ㅇㅔ, not 학굥ㅔ
LOOSE_SHARE = 0.04  # of words of at most LONGEST_LOOSE syllables are not put together at all
LONGEST_LOOSE = 4
UNSHIFTED_SHARE = 0.6  # of shifted keys that are struck twice are struck once without shift: 했ㅅ어요
SHORTEST_LOSING = 3  # syllables of a word that may lose a key and still be known
SHORTEST_LOSING_FIRST = 4  # the shortest word that may lose its first initial: ㅐ용 might be 내용 or 대용


def has_loose_jamo(text: str) -> bool:
    """Whether a consonant or a vowel stands alone in ``text``."""
    return any("ㄱ" <= character <= "ㅣ" for character in text)


def composition_broken(word: str, index: int, rng: random.Random) -> str:
    """The input method stops within a syllable: 어제 -> ㅇㅓ제, 밥 -> 바ㅂ, 학교에서 -> 학교ㅇㅔ서 or 학굥ㅔ서.

    Now and then it puts nothing of a short word together: 버스 -> ㅂㅓㅅㅡ.
    """
    if len(word) <= LONGEST_LOOSE and rng.random() < LOOSE_SHARE:
        return compose_strokes(PAUSE.join(jamo for syllable in word for jamo in strokes_of(syllable) if jamo))
    keys = "".join(strokes_of(word[index]))
    cut = rng.randrange(1, len(keys))
    before = PAUSE if rng.random() < APART_SHARE else ""
    return compose_strokes(
        f"{spell(word[:index])}{before}{keys[:cut]}{PAUSE}{keys[cut:]}{spell(word[index + 1 :])}"
    )


def _span(word: str, index: int) -> tuple[str, int, int]:
    """The keys of the word, and which of them write the syllable at ``index``."""
    start = len(spell(word[:index]))
    return spell(word), start, start + len(spell(word[index]))


def strokes_swapped(word: str, index: int, rng: random.Random) -> str | None:
    """A key is struck before the one that it should follow: 버스에 -> 버스ㅔㅇ, 있는데 -> 있ㄴ느데, 한국 -> 학눅."""
    keys, start, end = _span(word, index)
    places = [i for i in range(start, min(end, len(keys) - 1)) if keys[i] != keys[i + 1]]
    if not places:
        return None
    i = rng.choice(places)
    return compose_strokes(keys[:i] + keys[i + 1] + keys[i] + keys[i + 2 :])


def stroke_repeated(word: str, index: int, rng: random.Random) -> str | None:
    """A key is struck twice: 하나 -> ㅎ하나, 사과 -> 삭과, 학교에 -> 학굥에, 했어요 -> 했ㅅ어요, 밥 -> 밥ㅂ.

    The vowel at the end of a word is left alone: who writes 네ㅔ means to draw it out.
    """
    keys, start, end = _span(word, index)
    if index == len(word) - 1 and not decompose(word[index])[2]:
        end -= len(strokes_of(word[index])[1])
    i = rng.randrange(start, end)
    again = keys[i]
    if again in UNSHIFTED and rng.random() < UNSHIFTED_SHARE:
        again = UNSHIFTED[again]
    return compose_strokes(keys[: i + 1] + again + keys[i + 1 :])


def stroke_dropped(word: str, index: int, rng: random.Random) -> str | None:
    """A key is not struck, so that its neighbour stays loose: 안녕하세요 -> 안녕ㅎ세요, 학교에서 -> 학교ㅔ서.

    Only in a word that is known, and not where all letters find a place again: in 달가 nobody sees 다리가.
    """
    last = index == len(word) - 1
    if len(word) < SHORTEST_LOSING or not known_words().is_common(word):
        return None
    keys, start, end = _span(word, index)
    places = [i for i in range(start, end) if is_vowel(keys[i]) and not last]
    if index or len(word) >= SHORTEST_LOSING_FIRST:
        places.append(start)
    i = rng.choice(places)
    written = compose_strokes(keys[:i] + keys[i + 1 :])
    return written if has_loose_jamo(written) else None
