"""Codas that move or melt into the next syllable: 표준 발음법 제12–17항, 제29항."""

import random

from model.text.hangul import compose, decompose
from training.noise.draft import Draft
from training.noise.pronunciation_sites import (
    K_CODAS,
    P_CODAS,
    T_CODAS,
    boundary_table,
    rewrite,
    rewrite_across_space,
    word_table,
)
from training.noise.pronunciation_words import N_INSERTED

_H_CODAS = {"ㅎ": "", "ㄶ": "ㄴ", "ㅀ": "ㄹ"}  # what is left when ㅎ goes
_ASPIRATED = {"ㄱ": "ㅋ", "ㄷ": "ㅌ", "ㅂ": "ㅍ", "ㅈ": "ㅊ"}

# 제13항 and 제14항: what stays and what moves.
_MOVES = {coda: ("", coda) for coda in "ㄱㄲㄴㄷㄹㅁㅂㅅㅆㅈㅊㅋㅌㅍ"} | {
    "ㄳ": ("ㄱ", "ㅆ"),
    "ㄵ": ("ㄴ", "ㅈ"),
    "ㄺ": ("ㄹ", "ㄱ"),
    "ㄻ": ("ㄹ", "ㅁ"),
    "ㄼ": ("ㄹ", "ㅂ"),
    "ㄽ": ("ㄹ", "ㅆ"),
    "ㄾ": ("ㄹ", "ㅌ"),
    "ㄿ": ("ㄹ", "ㅍ"),
    "ㅄ": ("ㅂ", "ㅆ"),
}
# 제15항: the sound that stands for a coda and moves in its place.
_HEARD_CODA = (
    dict.fromkeys(K_CODAS, "ㄱ")
    | dict.fromkeys(T_CODAS, "ㄷ")
    | dict.fromkeys(P_CODAS, "ㅂ")
    | dict.fromkeys("ㄹㄼㄽㄾ", "ㄹ")
    | {"ㄴ": "ㄴ", "ㄵ": "ㄴ", "ㅁ": "ㅁ", "ㄻ": "ㅁ"}
)


def _palatalise(coda, initial, medial, final):
    stays = "ㄹ" if coda == "ㄾ" else ""
    if initial == "ㅎ" and coda == "ㄷ" and (medial == "ㅣ" or (medial == "ㅕ" and final in ("", "ㅆ"))):
        return stays, "ㅊ", medial
    if initial == "ㅇ" and (medial == "ㅣ" or (medial == "ㅕ" and final in ("", "ㅆ"))):
        return stays, "ㅈ" if coda == "ㄷ" else "ㅊ", medial
    return None


def _aspirate(coda, initial, medial, final):
    if coda in _H_CODAS:
        return (_H_CODAS[coda], _ASPIRATED[initial], medial) if initial in ("ㄱ", "ㄷ", "ㅈ") else None
    if initial != "ㅎ" or _palatalise(coda, initial, medial, final):
        return None
    if coda in "ㅈㄵ" and medial in "ㅣㅕ":
        return "ㄴ" if coda == "ㄵ" else "", "ㅊ", medial
    stays = {"ㄺ": "ㄹ", "ㄼ": "ㄹ", "ㄵ": "ㄴ"}.get(coda, "")
    heard = "ㅂ" if coda == "ㄼ" else "ㅈ" if coda == "ㄵ" else _HEARD_CODA[coda]
    return stays, _ASPIRATED[heard], medial


def _h_before_s(coda, initial, medial, final):
    return (_H_CODAS[coda], "ㅆ", medial) if initial == "ㅅ" else None


def _lose_h(coda, initial, medial, final):
    if initial == "ㅇ" or (initial == "ㄴ" and coda != "ㅎ"):
        return _H_CODAS[coda], initial, medial
    return None


def _weaken_h(coda, initial, medial, final):
    if initial != "ㅎ":
        return None
    return (coda, "ㅇ", medial) if coda in ("", "ㅇ") else ("", coda, medial)


def _weaken_jeonhwa(coda, initial, medial, final):
    # 전화 loses its glide as well; 저나 is how it is written by ear.
    weakened = _weaken_h(coda, initial, medial, final)
    return (*weakened[:2], "ㅏ") if weakened and medial == "ㅘ" else weakened


def _move(coda, initial, medial, final):
    return (*_MOVES[coda], medial) if initial == "ㅇ" else None


def _move_heard(coda, initial, medial, final):
    return ("", _HEARD_CODA[coda], medial) if initial == "ㅇ" else None


def _move_before_content(coda, initial, medial, final):
    # No ending or particle begins with these, so a word of its own must begin here.
    begins_word = (medial, final) in {("ㅓ", "ㅄ"), ("ㅗ", "ㅅ"), ("ㅟ", ""), ("ㅏ", "ㅍ"), ("ㅏ", "ㄴ")}
    return _move_heard(coda, initial, medial, final) if begins_word else None


def _move_after_prefix(coda, initial, medial, final):
    # 첫, 헛 stand before words only. Before these vowels ㄴ comes in (제29항), though not in 첫인상.
    if medial in ("ㅑ", "ㅕ", "ㅛ", "ㅠ") or (medial == "ㅣ" and final != "ㄴ"):
        return None
    return _move_heard(coda, initial, medial, final)


def _insert_n(coda, initial, medial, final):
    if initial != "ㅇ" or medial not in "ㅣㅑㅕㅛㅠㅖㅒ":
        return None
    return coda, "ㄹ" if _HEARD_CODA.get(coda) == "ㄹ" else "ㄴ", medial


def _with_n(pair: str) -> str:
    """``"솔잎" -> "맆"``: the second syllable with the consonant put in."""
    initial, medial, final = decompose(pair[1])
    _, heard, medial = _insert_n(decompose(pair[0])[2], initial, medial, final)
    return compose(heard, medial, final)


_PALATALISED = boundary_table(_palatalise, "ㄷㅌㄾ")
_ASPIRATION = boundary_table(_aspirate, [*_H_CODAS, *K_CODAS, *T_CODAS, *P_CODAS, "ㄼ", "ㄵ"])
_H_BEFORE_S = boundary_table(_h_before_s, _H_CODAS)
_H_LOST = boundary_table(_lose_h, _H_CODAS)
_H_WEAK = boundary_table(_weaken_h, ["", "ㄴ", "ㄹ", "ㅁ", "ㅇ"], {"전": _weaken_jeonhwa})
_LIAISON = boundary_table(_move, _MOVES)
_LIAISON_OF_HEARD = boundary_table(_move_heard, _HEARD_CODA)
_CONTENT_LIAISON = boundary_table(
    _move_before_content,
    "ㅅㅈㅊㅋㅌㅍㄳㅄㄺ",
    {"첫": _move_after_prefix, "헛": _move_after_prefix},
)
_N_ACROSS_SPACE = boundary_table(_insert_n, [*_HEARD_CODA, "ㅇ"])
_N_INSERTED = word_table({pair: pair[0] + _with_n(pair) for pair in N_INSERTED.split()})


def palatalisation(draft: Draft, rng: random.Random, rate: float) -> None:
    """제17항: ㄷ, ㅌ, ㄾ before 이 turn into ㅈ, ㅊ; ㄷ + 히 into 치 (같이→가치, 굳이→구지, 닫혀→다쳐)."""
    rewrite(draft, rng, rate, "palatalisation", _PALATALISED)


def aspiration(draft: Draft, rng: random.Random, rate: float) -> None:
    """제12항 1: ㅎ melts with the plosive beside it (좋다→조타, 많고→만코, 축하→추카, 못하다→모타다)."""
    rewrite(draft, rng, rate, "aspiration", _ASPIRATION)


def aspiration_across_space(draft: Draft, rng: random.Random, rate: float) -> None:
    """제12항 1 붙임 2: two words said in one breath (옷 한 벌→오 탄 벌, 못 해→모 태)."""
    rewrite_across_space(draft, rng, rate, "aspiration_across_space", _ASPIRATION)


def h_before_s(draft: Draft, rng: random.Random, rate: float) -> None:
    """제12항 2: ㅎ and ㅅ together are heard as ㅆ (좋습니다→조씁니다, 많소→만쏘)."""
    rewrite(draft, rng, rate, "h_before_s", _H_BEFORE_S)


def h_loss(draft: Draft, rng: random.Random, rate: float) -> None:
    """제12항 3 붙임, 4: ㅎ is silent before a vowel; in ㄶ, ㅀ also before ㄴ (좋아→조아, 많이→만이)."""
    rewrite(draft, rng, rate, "h_loss", _H_LOST)


def h_weakening(draft: Draft, rng: random.Random, rate: float) -> None:
    """Casual ㅎ between voiced sounds, which 제12항 does not admit (은행→으냉, 고향→고양, 전화→저나)."""
    rewrite(draft, rng, rate, "h_weakening", _H_WEAK)


def liaison(draft: Draft, rng: random.Random, rate: float) -> None:
    """제13항, 제14항: the last coda moves before a vowel, ㅅ of two tensed (옷이→오시, 값이→갑씨)."""
    rewrite(draft, rng, rate, "liaison", _LIAISON)


def liaison_before_content(draft: Draft, rng: random.Random, rate: float) -> None:
    """제15항: before a word of its own the coda moves as it is heard (맛없다→마덦다, 겉옷→거돗)."""
    rewrite(draft, rng, rate, "liaison_before_content", _CONTENT_LIAISON)


def liaison_across_space(draft: Draft, rng: random.Random, rate: float) -> None:
    """제15항 over a space, which stays where it was (안 올→아 놀, 옷 안→오 단, 꽃 위→꼬 뒤)."""
    rewrite_across_space(draft, rng, rate, "liaison_across_space", _LIAISON_OF_HEARD)


def n_insertion(draft: Draft, rng: random.Random, rate: float) -> None:
    """제29항: ㄴ comes in before 이, 야, 여, 요, 유 in compounds (꽃잎→꽃닢, after ㄹ 서울역→서울력)."""
    rewrite(draft, rng, rate, "n_insertion", _N_INSERTED)


def n_insertion_across_space(draft: Draft, rng: random.Random, rate: float) -> None:
    """제29항 붙임 2: the same between two words said in one breath (안 열→안 녈, 할 일→할 릴)."""
    rewrite_across_space(draft, rng, rate, "n_insertion_across_space", _N_ACROSS_SPACE)
