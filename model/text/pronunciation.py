"""Pronunciation of Korean text as a key, which spellings that sound the same share.

The rules are those of the Standard Pronunciation (표준 발음법), whose articles (제…항) stand beside them, and
three habits of most speakers: ㅐ sounds like ㅔ, ㅎ is lost between vowels, and a coda takes the place of the
next onset.
"""

import re
from collections.abc import Iterable
from functools import lru_cache
from itertools import product
from typing import NamedTuple

from model.text.hangul import compose, decompose

_HANGUL = re.compile("([가-힣]+)")
# While a text is typed the same few words are compared again at each key, which took a tenth of the page's
# time.
_KEPT = 4096  # pairs

# 제8항–제11항: the one sound that is left of a coda where no vowel follows.
_HEARD = (
    dict.fromkeys("ㄱㄲㅋㄳㄺ", "ㄱ")
    | dict.fromkeys("ㄷㅅㅆㅈㅊㅌㅎ", "ㄷ")
    | dict.fromkeys("ㅂㅍㅄㄿ", "ㅂ")
    | dict.fromkeys("ㄴㄵㄶ", "ㄴ")
    | dict.fromkeys("ㄹㄼㄽㄾㅀ", "ㄹ")
    | dict.fromkeys("ㅁㄻ", "ㅁ")
    | {"ㅇ": "ㅇ", "": ""}
)
# 제13항, 제14항, 제12항 4: the part of a coda that stays before a vowel, and the part that moves.
_MOVES = {coda: ("", coda) for coda in "ㄱㄲㄴㄷㄹㅁㅂㅅㅆㅈㅊㅋㅌㅍ"} | {
    "ㄳ": ("ㄱ", "ㅆ"), "ㄵ": ("ㄴ", "ㅈ"), "ㄺ": ("ㄹ", "ㄱ"), "ㄻ": ("ㄹ", "ㅁ"), "ㄼ": ("ㄹ", "ㅂ"),
    "ㄽ": ("ㄹ", "ㅆ"), "ㄾ": ("ㄹ", "ㅌ"), "ㄿ": ("ㄹ", "ㅍ"), "ㅄ": ("ㅂ", "ㅆ"), "ㄶ": ("", "ㄴ"),
    "ㅀ": ("", "ㄹ"),
}  # fmt: skip
_OF_STEMS = "ㅆㄵㄶㄼㄾㄿㅀ"  # codas of predicates, behind which 제15항 has no word of its own
_WITHOUT_H = {"ㅎ": "", "ㄶ": "ㄴ", "ㅀ": "ㄹ"}
_ASPIRATED = {"ㄱ": "ㅋ", "ㄷ": "ㅌ", "ㅂ": "ㅍ", "ㅈ": "ㅊ"}
TENSE = {"ㄱ": "ㄲ", "ㄷ": "ㄸ", "ㅂ": "ㅃ", "ㅅ": "ㅆ", "ㅈ": "ㅉ"}
_LAX = {tense: lax for lax, tense in TENSE.items()}
_NASAL = {"ㄱ": "ㅇ", "ㄷ": "ㄴ", "ㅂ": "ㅁ"}
# Onsets before which these codas are silent.
_SWALLOWS = {"ㄱ": "ㄲㅋ", "ㄷ": "ㄸㅌㅆㅉㅊ", "ㅂ": "ㅃㅍ"}

_SAME_VOWEL = {"ㅐ": "ㅔ", "ㅒ": "ㅖ", "ㅙ": "ㅚ", "ㅞ": "ㅚ"}
_WITHOUT_GLIDE = {"ㅑ": "ㅏ", "ㅕ": "ㅓ", "ㅛ": "ㅗ", "ㅠ": "ㅜ", "ㅖ": "ㅔ"}


# Rules that can be named as the cause of a change, the most telling first. The last ones take part in most
# words.
RULES = (
    "palatalisation",  # 구개음화 제17항 (같이 [가치])
    "aspiration",  # 거센소리되기 제12항 1 (좋다 [조타])
    "nasalisation",  # 비음화 제18항, 제19항 (국물 [궁물])
    "lateralisation",  # 유음화 제20항 (신라 [실라])
    "n_insertion",  # ㄴ 첨가 제29항 (담요 [담뇨])
    "tensification",  # 경음화 제23항–제28항 (국수 [국쑤])
    "h_loss",  # ㅎ 탈락 제12항 4 (좋아 [조아])
    "liaison",  # 연음 제13항–제15항 (밥이 [바비])
    "final",  # 음절 끝소리 제8항–제11항 (꽃 [꼳], 값 [갑])
    "vowel",  # vowels that most speakers no longer tell apart (웬, 왠), and ㅢ 제5항
)


class PronunciationChoices(NamedTuple):
    """The choices of a reader where a text can be pronounced in several ways."""

    across_spaces: bool = False  # two words in one breath (밥 먹다 [밤먹따])
    # 제15항: before a word of its own a coda moves as it is heard (맛없다 [마덥따])
    moves_as_heard: bool = False
    inserts_n: bool = False  # 제29항 (담요 [담뇨])
    ui_as_e: bool = False  # 제5항 다만 4: the particle 의 [에]; else 의 inside a word is [이]
    other_of_cluster: bool = False  # 제10항 다만, 제11항 다만 (밟고 [밥꼬], 맑게 [말께])
    keeps_n: bool = False  # 제20항 다만 (생산량 [생산냥])
    without: str = ""  # one of RULES, which is not applied
    is_standard: bool = False  # by the articles alone, without the habits of most speakers


_CHOICES = PronunciationChoices._fields.index("without")
# A change is short: no more than two choices meet in it.
WAYS_TO_READ = tuple(
    PronunciationChoices._make((*each, "", False))
    for each in product((False, True), repeat=_CHOICES)
    if sum(each) <= 2
)

# Where these are right depends on the word: 생산량 [생산냥], but 신라 [실라].
_OF_THE_STANDARD = tuple(each for each in WAYS_TO_READ if not each.keeps_n)


def portable_sounds() -> dict[str, object]:
    """The tables of this file by name, for a port to another language such as JavaScript.

    >>> portable_sounds()["heard"]["ㅋ"]
    'ㄱ'
    """
    return {
        "heard": _HEARD,
        "moves": _MOVES,
        "of_stems": _OF_STEMS,
        "without_h": _WITHOUT_H,
        "aspirated": _ASPIRATED,
        "tense": TENSE,
        "lax": _LAX,
        "nasal": _NASAL,
        "swallows": _SWALLOWS,
        "same_vowel": _SAME_VOWEL,
        "without_glide": _WITHOUT_GLIDE,
        "rules": RULES,
        "ways": [each._asdict() for each in WAYS_TO_READ],
    }


def sound_alike(one: str, other: str) -> bool:
    """Whether two texts sound the same in at least one way to read them.

    >>> sound_alike("궁물", "국물"), sound_alike("국물", "구멍")
    (True, False)
    """
    return _choices_for(one, other) is not None


@lru_cache(_KEPT)
def sound_the_same(one: str, other: str) -> bool:
    """Whether two texts have the same pronunciation by the Standard Pronunciation.

    Fewer do than ``sound_alike``: ㅐ and ㅔ differ, and so do the onsets of 달걀 and 달꺌.

    >>> sound_the_same("조아", "좋아"), sound_the_same("개", "게"), sound_the_same("않아서", "앉아서")
    (True, False, False)
    """
    standard = (choices._replace(is_standard=True) for choices in _OF_THE_STANDARD)
    return any(reading(one, choices) == reading(other, choices) for choices in standard)


@lru_cache(_KEPT)
def rules_between(one: str, other: str) -> tuple[str, ...]:
    """The RULES that are needed for two texts to sound alike; none for texts that do not sound alike.

    Two spellings may also sound alike by a rule that has no name here, such as the place of a nasal
    (감기, 강기).

    >>> rules_between("궁물", "국물")
    ('nasalisation',)
    """
    choices = _choices_for(one, other)
    if choices is None:
        return ()
    without = {rule: choices._replace(without=rule) for rule in RULES}
    return tuple(rule for rule, fewer in without.items() if reading(one, fewer) != reading(other, fewer))


@lru_cache(_KEPT)
def _choices_for(one: str, other: str) -> PronunciationChoices | None:
    """The first reading that makes two texts sound alike, None where there is none."""
    if len("".join(one.split())) != len("".join(other.split())):
        return None  # no rule takes a syllable away
    return next(
        (choices for choices in WAYS_TO_READ if reading(one, choices) == reading(other, choices)), None
    )


def reading(text: str, choices: PronunciationChoices = WAYS_TO_READ[0]) -> str:
    """The pronunciation of a text as a key: texts that sound alike have the same key.

    It is no transcription: differences that writers do not hear are left out (the tense onset
    after ㄴ, ㄹ, ㅁ, ㅇ).

    >>> reading("국물") == reading("궁물")
    True
    """
    if choices.without != "vowel":
        text = re.sub("(?<=[가-힣])의", "에" if choices.ui_as_e else "이", text)
    if choices.across_spaces:
        text = "".join(text.split())
    pieces = _HANGUL.split(text)
    pieces[1::2] = (_read(map(decompose, piece), choices) for piece in pieces[1::2])
    return "".join(pieces)


def carried_over(coda: str) -> frozenset[str]:
    """The onsets that a coda may become before a vowel, by liaison alone: ㅎ, which is lost, becomes none.

    >>> sorted(carried_over("ㄱ")), sorted(carried_over("ㅎ"))
    (['ㄱ'], [])
    """
    if coda not in _MOVES:
        return frozenset()
    return frozenset((_MOVES[coda][1], _HEARD[coda]))


def _read(syllables: Iterable[tuple[str, str, str]], choices: PronunciationChoices) -> str:
    initials, medials, finals = (list(jamo) for jamo in zip(*syllables, strict=True))
    for here, after in enumerate(range(1, len(initials))):
        follows = initials[after], medials[after], finals[after]
        finals[here], initials[after] = _meet(finals[here], *follows, choices)
    finals[-1] = _heard(finals[-1], "", choices)
    if choices.without != "vowel":
        medials = [_vowel(*each, choices.is_standard) for each in zip(initials, medials, strict=True)]
    return "".join(map(compose, initials, medials, finals))


def _vowel(initial: str, medial: str, is_standard: bool) -> str:
    """제4항, 제5항: the sound of a vowel behind this onset."""
    if not is_standard or medial == "ㅞ":
        medial = _SAME_VOWEL.get(medial, medial)
    if initial == "ㅇ" or (is_standard and (initial, medial) == ("ㄹ", "ㅖ")):
        return medial
    if medial == "ㅢ":
        return "ㅣ"
    return _WITHOUT_GLIDE.get(medial, medial) if initial in "ㅈㅉㅊ" or medial == "ㅖ" else medial


def _meet(coda: str, initial: str, medial: str, final: str, choices: PronunciationChoices) -> tuple[str, str]:
    """A coda and the onset of the next syllable (initial, medial, final), as they sound together."""
    is_ending = choices.is_standard and final in ("", "ㅆ")  # 이, 았, 었: no word of its own
    if (
        choices.inserts_n
        and choices.without != "n_insertion"
        and coda
        and initial == "ㅇ"
        and medial in "ㅣㅑㅕㅛㅠㅖㅒ"
        and not (is_ending and medial in "ㅣㅕ")
    ):
        initial = "ㄹ" if _HEARD[coda] == "ㄹ" else "ㄴ"
    before_i = medial == "ㅣ" or (medial == "ㅕ" and final in ("", "ㅆ"))
    palatal = coda in ("ㄷ", "ㅌ", "ㄾ") and initial in "ㅇㅎ" and before_i  # 제17항
    if palatal and choices.without != "palatalisation":
        return "ㄹ" if coda == "ㄾ" else "", "ㅈ" if (coda, initial) == ("ㄷ", "ㅇ") else "ㅊ"
    if coda in _WITHOUT_H:
        coda, initial = _melt(coda, initial, choices)
    elif initial == "ㅎ":
        coda, initial = _aspirate(coda, before_i, choices)
    if initial == "ㅇ" and coda in _MOVES and choices.without != "liaison":
        as_heard = choices.moves_as_heard and choices.without != "final"  # else it is heard as it is written
        if choices.is_standard and (coda in _OF_STEMS or medial not in "ㅏㅓㅗㅜㅟ" or is_ending):
            as_heard = False
        coda, initial = ("", _heard(coda, "", choices)) if as_heard else _MOVES[coda]
    return _assimilate(_heard(coda, initial, choices), initial, choices)


def _melt(coda: str, initial: str, choices: PronunciationChoices) -> tuple[str, str]:
    """제12항 for ㅎ in the coda."""
    left = _WITHOUT_H[coda]
    if initial in _ASPIRATED and choices.without != "aspiration":
        return left, _ASPIRATED[initial]
    if initial == "ㅅ" and choices.without != "tensification":
        return left, "ㅆ"
    if initial in ("ㅇ", "ㅎ"):
        return left, "ㅎ" if choices.without == "h_loss" else "ㅇ"
    return left or "ㄷ", initial


def _aspirate(coda: str, before_i: bool, choices: PronunciationChoices) -> tuple[str, str]:
    """제12항 1 for ㅎ in the onset: it melts with a stop and is lost behind anything else."""
    palatal = before_i and coda in ("ㅈ", "ㄵ")
    if not (palatal or coda == "ㄼ" or _HEARD[coda] in _NASAL):
        return coda, "ㅎ" if choices.is_standard or choices.without == "h_loss" else "ㅇ"
    if choices.without == "aspiration":
        return coda, "ㅎ"
    if palatal:
        return _MOVES[coda][0], "ㅊ"
    if coda == "ㄼ":
        return "ㄹ", "ㅍ"
    return "ㄹ" if coda == "ㄺ" else "", _ASPIRATED[_HEARD[coda]]


def _heard(coda: str, initial: str, choices: PronunciationChoices) -> str:
    """The sound of a coda before this onset, "" for none."""
    if choices.without == "final":
        return coda
    if choices.other_of_cluster and coda == "ㄼ" and not choices.is_standard:
        return "ㅂ"
    if choices.other_of_cluster and coda == "ㄺ" and initial in ("ㄱ", "ㄲ"):
        return "ㄹ"
    return _HEARD[coda]


def _assimilate(coda: str, initial: str, choices: PronunciationChoices) -> tuple[str, str]:
    """제18항–제20항, 제23항–제28항; and by habit, not by the standard, the place of a nasal (감기 [강기])."""
    nasal, lateral, tense = (
        choices.without != rule for rule in ("nasalisation", "lateralisation", "tensification")
    )
    if initial == "ㄹ" and coda and coda != "ㄹ":
        becomes_l = coda == "ㄴ" and not choices.keeps_n
        initial = "ㄹ" if becomes_l or not nasal else "ㄴ"
    if coda in _NASAL:
        coda = _NASAL[coda] if nasal and initial in "ㄴㅁ" else coda
        initial = TENSE.get(initial, initial) if tense and coda in TENSE else initial
    if lateral and (coda, initial) in (("ㄴ", "ㄹ"), ("ㄹ", "ㄴ")):
        return "ㄹ", "ㄹ"
    if choices.is_standard:
        return ("", initial) if initial in _SWALLOWS.get(coda, "") else (coda, initial)
    if initial in "ㄱㄲㅋ":
        coda = {"ㄴ": "ㅇ", "ㅁ": "ㅇ", "ㄷ": "ㄱ"}.get(coda, coda)
    elif initial in "ㅂㅃㅍㅁ":
        coda = {"ㄴ": "ㅁ", "ㄷ": "ㅂ"}.get(coda, coda)
    if initial in _SWALLOWS.get(coda, ""):
        return "", initial
    return coda, _LAX.get(initial, initial) if tense and coda else initial
