"""Korean by ear: one key for all spellings that a listener could not tell apart.

The rules are those of the Standard Pronunciation (표준 발음법), whose articles (제…항) are named beside
them, and besides what most speakers do: they no longer tell ㅐ from ㅔ, lose ㅎ between vowels, and let a
coda take the place of the next onset.
"""

import re
from collections.abc import Iterable
from itertools import product
from typing import NamedTuple

from model.hangul import compose, decompose

_HANGUL = re.compile("([가-힣]+)")

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
# 제13항, 제14항, 제12항 4: what stays of a coda before a vowel, and what moves.
_MOVES = {coda: ("", coda) for coda in "ㄱㄲㄴㄷㄹㅁㅂㅅㅆㅈㅊㅋㅌㅍ"} | {
    "ㄳ": ("ㄱ", "ㅆ"), "ㄵ": ("ㄴ", "ㅈ"), "ㄺ": ("ㄹ", "ㄱ"), "ㄻ": ("ㄹ", "ㅁ"), "ㄼ": ("ㄹ", "ㅂ"),
    "ㄽ": ("ㄹ", "ㅆ"), "ㄾ": ("ㄹ", "ㅌ"), "ㄿ": ("ㄹ", "ㅍ"), "ㅄ": ("ㅂ", "ㅆ"), "ㄶ": ("", "ㄴ"), "ㅀ": ("", "ㄹ"),
}  # fmt: skip
_WITHOUT_H = {"ㅎ": "", "ㄶ": "ㄴ", "ㅀ": "ㄹ"}
_ASPIRATED = {"ㄱ": "ㅋ", "ㄷ": "ㅌ", "ㅂ": "ㅍ", "ㅈ": "ㅊ"}
_TENSE = {"ㄱ": "ㄲ", "ㄷ": "ㄸ", "ㅂ": "ㅃ", "ㅅ": "ㅆ", "ㅈ": "ㅉ"}
_LAX = {tense: lax for lax, tense in _TENSE.items()}
_NASAL = {"ㄱ": "ㅇ", "ㄷ": "ㄴ", "ㅂ": "ㅁ"}
# Onsets in front of which these codas cannot be heard.
_SWALLOWS = {"ㄱ": "ㄲㅋ", "ㄷ": "ㄸㅌㅆㅉㅊ", "ㅂ": "ㅃㅍ"}

_SAME_VOWEL = {"ㅐ": "ㅔ", "ㅒ": "ㅖ", "ㅙ": "ㅚ", "ㅞ": "ㅚ"}
_WITHOUT_GLIDE = {"ㅑ": "ㅏ", "ㅕ": "ㅓ", "ㅛ": "ㅗ", "ㅠ": "ㅜ", "ㅖ": "ㅔ"}


class Ear(NamedTuple):
    """One way to read where there are several."""

    across_spaces: bool = False  # two words in one breath (밥 먹다 [밤먹따])
    moves_as_heard: bool = (
        False  # 제15항: before a word of its own a coda moves as it is heard (맛없다 [마덥따])
    )
    inserts_n: bool = False  # 제29항 (담요 [담뇨])
    ui_as_e: bool = False  # 제5항 다만 4: the particle 의 [에]; else 의 inside a word is [이]
    other_of_cluster: bool = False  # 제10항 다만, 제11항 다만 (밟고 [밥꼬], 맑게 [말께])
    keeps_n: bool = False  # 제20항 다만 (생산량 [생산냥])


# A change is short: no more than two choices meet in it.
EARS = tuple(Ear(*each) for each in product((False, True), repeat=len(Ear._fields)) if sum(each) <= 2)


def sound_alike(one: str, other: str) -> bool:
    """Whether some way to read two texts makes them the same to the ear."""
    if len("".join(one.split())) != len("".join(other.split())):
        return False  # no rule takes a syllable away
    return any(reading(one, ear) == reading(other, ear) for ear in EARS)


def reading(text: str, ear: Ear = EARS[0]) -> str:
    """How a text sounds, as a key to compare by: texts that sound alike have the same. It is no
    transcription, for what writers confuse it does not distinguish (the tense onset after ㄴ, ㄹ, ㅁ, ㅇ)."""
    text = re.sub("(?<=[가-힣])의", "에" if ear.ui_as_e else "이", text)
    if ear.across_spaces:
        text = "".join(text.split())
    pieces = _HANGUL.split(text)
    pieces[1::2] = (_read(map(decompose, piece), ear) for piece in pieces[1::2])
    return "".join(pieces)


def carried_over(coda: str) -> frozenset[str]:
    """The onsets that a coda may become in the syllable behind it when that begins with a vowel: by liaison
    alone, so ㅎ, which is lost, has none."""
    if coda not in _MOVES:
        return frozenset()
    return frozenset((_MOVES[coda][1], _HEARD[coda]))


def _read(syllables: Iterable[tuple[str, str, str]], ear: Ear) -> str:
    initials, medials, finals = (list(jamo) for jamo in zip(*syllables, strict=True))
    for here, after in enumerate(range(1, len(initials))):
        follows = initials[after], medials[after], finals[after]
        finals[here], initials[after] = _meet(finals[here], *follows, ear)
    finals[-1] = _heard(finals[-1], "", ear)
    medials = map(_vowel, initials, medials)
    return "".join(map(compose, initials, medials, finals))


def _vowel(initial: str, medial: str) -> str:
    """제4항, 제5항: a vowel as it is heard behind this onset."""
    medial = _SAME_VOWEL.get(medial, medial)
    if initial == "ㅇ":
        return medial
    if medial == "ㅢ":
        return "ㅣ"
    return _WITHOUT_GLIDE.get(medial, medial) if initial in "ㅈㅉㅊ" or medial == "ㅖ" else medial


def _meet(coda: str, initial: str, medial: str, final: str, ear: Ear) -> tuple[str, str]:
    """What becomes of a coda and of the onset of the syllable (initial, medial, final) that follows."""
    if ear.inserts_n and coda and initial == "ㅇ" and medial in "ㅣㅑㅕㅛㅠㅖㅒ":
        initial = "ㄹ" if _HEARD[coda] == "ㄹ" else "ㄴ"
    before_i = medial == "ㅣ" or (medial == "ㅕ" and final in ("", "ㅆ"))
    if coda in ("ㄷ", "ㅌ", "ㄾ") and initial in "ㅇㅎ" and before_i:  # 제17항
        return "ㄹ" if coda == "ㄾ" else "", "ㅈ" if (coda, initial) == ("ㄷ", "ㅇ") else "ㅊ"
    if coda in _WITHOUT_H:
        coda, initial = _melt(coda, initial)
    elif initial == "ㅎ":
        coda, initial = _aspirate(coda, before_i)
    if initial == "ㅇ" and coda in _MOVES:
        coda, initial = ("", _heard(coda, "", ear)) if ear.moves_as_heard else _MOVES[coda]
    return _assimilate(_heard(coda, initial, ear), initial, ear)


def _melt(coda: str, initial: str) -> tuple[str, str]:
    """제12항 for ㅎ in the coda."""
    if initial in ("ㄱ", "ㄷ", "ㅂ", "ㅈ"):
        return _WITHOUT_H[coda], _ASPIRATED[initial]
    if initial == "ㅅ":
        return _WITHOUT_H[coda], "ㅆ"
    left = _WITHOUT_H[coda]
    return (left, "ㅇ") if initial in ("ㅇ", "ㅎ") else (left or "ㄷ", initial)


def _aspirate(coda: str, before_i: bool) -> tuple[str, str]:
    """제12항 1 for ㅎ in the onset: it melts with a stop and is lost behind anything else."""
    if coda in ("ㅈ", "ㄵ") and before_i:
        return _MOVES[coda][0], "ㅊ"
    if coda == "ㄼ":
        return "ㄹ", "ㅍ"
    if _HEARD[coda] not in _NASAL:
        return coda, "ㅇ"
    return "ㄹ" if coda == "ㄺ" else "", _ASPIRATED[_HEARD[coda]]


def _heard(coda: str, initial: str, ear: Ear) -> str:
    """What is heard of a coda before this onset, "" for none."""
    if ear.other_of_cluster and (coda == "ㄼ" or (coda == "ㄺ" and initial in ("ㄱ", "ㄲ"))):
        return "ㅂ" if coda == "ㄼ" else "ㄹ"
    return _HEARD[coda]


def _assimilate(coda: str, initial: str, ear: Ear) -> tuple[str, str]:
    """제18항–제20항, 제23항–제28항, and the place of the onset, which 제21항 admits to nobody."""
    if initial == "ㄹ" and coda and coda != "ㄹ":
        initial = "ㄹ" if coda == "ㄴ" and not ear.keeps_n else "ㄴ"
    if coda in _NASAL:
        coda = _NASAL[coda] if initial in "ㄴㅁ" else coda
        initial = _TENSE.get(initial, initial) if coda in _TENSE else initial
    if (coda, initial) in (("ㄴ", "ㄹ"), ("ㄹ", "ㄴ")):
        return "ㄹ", "ㄹ"
    if initial in "ㄱㄲㅋ":
        coda = {"ㄴ": "ㅇ", "ㅁ": "ㅇ", "ㄷ": "ㄱ"}.get(coda, coda)
    elif initial in "ㅂㅃㅍㅁ":
        coda = {"ㄴ": "ㅁ", "ㄷ": "ㅂ"}.get(coda, coda)
    if initial in _SWALLOWS.get(coda, ""):
        return "", initial
    return coda, _LAX.get(initial, initial) if coda else initial
