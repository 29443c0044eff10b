"""Vowels as they are heard: 표준 발음법 제5항."""

import random

from model.text.hangul import FINALS, INITIALS, compose, is_syllable
from training.noise.draft import Draft
from training.noise.pronunciation_sites import FAMILY, replace_syllables
from training.noise.pronunciation_words import UI_AT_END

_WORDS_IN_UI = frozenset(UI_AT_END.split())
_GLIDE_LOST = {
    compose(initial, "ㅕ", final): compose(initial, "ㅓ", final) for initial in "ㅈㅉㅊ" for final in FINALS
}
_YE_AS_E = {
    compose(initial, "ㅖ", final): compose(initial, "ㅔ", final)
    for initial in INITIALS
    if initial not in "ㅇㄹ"
    for final in FINALS
}
_UI_AS_I = {
    compose(initial, "ㅢ", final): compose(initial, "ㅣ", final)
    for initial in INITIALS
    if initial != "ㅇ"
    for final in FINALS
}


def palatal_glide(draft: Draft, rng: random.Random, rate: float) -> None:
    """제5항 다만 1: 져, 쪄, 쳐 are heard as 저, 쩌, 처 (가져→가저, 다쳤다→다첬다)."""
    replace_syllables(draft, rng, rate, "palatal_glide", _GLIDE_LOST)


def ye_as_e(draft: Draft, rng: random.Random, rate: float) -> None:
    """제5항 다만 2: ㅖ other than in 예, 례 may be heard as ㅔ (시계→시게, 은혜→은헤)."""
    replace_syllables(draft, rng, rate, "ye_as_e", _YE_AS_E)


def ui_after_consonant(draft: Draft, rng: random.Random, rate: float) -> None:
    """제5항 다만 3: ㅢ after a consonant is heard as ㅣ (희망→히망, 무늬→무니)."""
    replace_syllables(draft, rng, rate, "ui_after_consonant", _UI_AS_I)


def ui_not_first(draft: Draft, rng: random.Random, rate: float) -> None:
    """제5항 다만 4: 의 that is not a word's first syllable may be heard as 이 (주의→주이, 무의식→무이식)."""
    for index, particle in _ui_sites(draft):
        if not particle and rng.random() < rate:
            draft.put("ui_not_first", FAMILY, index, ["이"])


def ui_particle(draft: Draft, rng: random.Random, rate: float) -> None:
    """제5항 다만 4: the particle 의 may be heard as 에 (우리의→우리에, 나의 집→나에 집)."""
    for index, particle in _ui_sites(draft):
        if particle and rng.random() < rate:
            draft.put("ui_particle", FAMILY, index, ["에"])


def _ui_sites(draft: Draft) -> list[tuple[int, bool]]:
    """Places of 의 after another syllable, and whether it looks like the particle.

    It looks like one at the end of a word, unless it and the syllable before are a word in 의.
    """
    cells = draft.cells
    sites = []
    for index in range(1, len(cells)):
        if cells[index] != "의" or not is_syllable(cells[index - 1]):
            continue
        ends_word = index + 1 == len(cells) or not is_syllable(cells[index + 1])
        sites.append((index, ends_word and cells[index - 1] + "의" not in _WORDS_IN_UI))
    return sites
