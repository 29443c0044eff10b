"""Codas that change where they stand, and what they do to the next onset: 표준 발음법 제8–11항, 제18–21항."""

import random

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

_NEUTRAL = {"ㄲ": "ㄱ", "ㅋ": "ㄱ", "ㅅ": "ㄷ", "ㅆ": "ㄷ", "ㅈ": "ㄷ", "ㅊ": "ㄷ", "ㅌ": "ㄷ", "ㅍ": "ㅂ"}
_SIMPLE = {
    "ㄳ": "ㄱ", "ㄵ": "ㄴ", "ㄶ": "ㄴ", "ㄺ": "ㄱ", "ㄻ": "ㅁ", "ㄼ": "ㄹ",
    "ㄽ": "ㄹ", "ㄾ": "ㄹ", "ㄿ": "ㅂ", "ㅀ": "ㄹ", "ㅄ": "ㅂ",
}  # fmt: skip
_NASAL = dict.fromkeys(K_CODAS, "ㅇ") | dict.fromkeys([*T_CODAS, "ㅎ"], "ㄴ") | dict.fromkeys(P_CODAS, "ㅁ")


def _neutralise(coda, initial, medial, final):
    return None if initial == "ㅇ" else (_NEUTRAL[coda], initial, medial)


def _write_siot(coda, initial, medial, final):
    return None if initial in ("ㅇ", "ㅎ") else ("ㅅ", initial, medial)


def _absorb(coda, initial, medial, final):
    return ("", initial, medial) if initial in ("ㄸ", "ㅆ", "ㅉ") else None


def _simplify(coda, initial, medial, final):
    if initial in ("ㅇ", "ㅎ") or (coda in "ㄶㅀ" and initial not in ("", "ㄴ")):
        return None
    return _SIMPLE[coda], initial, medial


def _simplify_verb_lk(coda, initial, medial, final):
    if initial in ("ㄱ", "ㄲ"):
        return "ㄹ", initial, medial
    return _simplify(coda, initial, medial, final)


def _simplify_balp(coda, initial, medial, final):
    return None if initial in ("ㅇ", "ㅎ") else ("ㅂ", initial, medial)


def _simplify_neolp(coda, initial, medial, final):
    if (initial in ("ㅈ", "ㅉ") and medial in "ㅜㅓ") or (initial in ("ㄷ", "ㄸ") and medial == "ㅜ"):
        return "ㅂ", initial, medial  # 넓죽하다, 넓적하다, 넓둥글다
    return _simplify(coda, initial, medial, final)


def _nasalise(coda, initial, medial, final):
    return (_NASAL[coda], initial, medial) if initial in ("ㄴ", "ㅁ") else None


def _l_as_n(coda, initial, medial, final):
    return (coda, "ㄴ", medial) if initial == "ㄹ" else None


def _liquidise(coda, initial, medial, final):
    if coda == "ㄴ":
        return ("ㄹ", "ㄹ", medial) if initial == "ㄹ" else None
    return ("ㄹ", "ㄹ", medial) if initial == "ㄴ" else None


def _assimilate_place(coda, initial, medial, final):
    if initial in ("ㄱ", "ㄲ", "ㅋ"):
        return "ㅇ" if coda in "ㄴㅁ" else "ㄱ", initial, medial
    if initial in ("ㅂ", "ㅃ", "ㅍ", "ㅁ") and coda != "ㅁ":
        if coda == "ㄴ":
            return "ㅁ", initial, medial
        return None if initial == "ㅁ" else ("ㅂ", initial, medial)
    return None


_NEUTRALISED = boundary_table(_neutralise, _NEUTRAL)
_SIOT = boundary_table(_write_siot, "ㄷㅆㅈㅊㅌ")
_ABSORBED = boundary_table(_absorb, T_CODAS)
_SIMPLIFIED = boundary_table(
    _simplify,
    _SIMPLE,
    {"밟": _simplify_balp, "넓": _simplify_neolp} | dict.fromkeys("맑밝읽늙굵묽긁붉갉얽", _simplify_verb_lk),
)
_NASALISED = boundary_table(_nasalise, _NASAL)
_L_AS_N = boundary_table(_l_as_n, "ㅁㅇㄱㅂ")
# 제20항 다만: these keep ㄴ and turn ㄹ into ㄴ.
_N_KEPT = word_table({
    "산량": "산냥", "단력": "단녁", "견례": "견녜", "견란": "견난", "진란": "진난", "근류": "근뉴",
    "단로": "단노", "판력": "판녁", "신란": "신난",
})  # fmt: skip
_LIQUIDISED = boundary_table(_liquidise, "ㄴㄹㄾㅀ")
_PLACE = boundary_table(_assimilate_place, "ㄴㅁㄷㅅㅆㅈㅊㅌ")


def coda_neutralisation(draft: Draft, rng: random.Random, rate: float) -> None:
    """제8항, 제9항: only seven codas are heard, except before a vowel (꽃→꼳, 부엌→부억, 있다→읻다)."""
    rewrite(draft, rng, rate, "coda_neutralisation", _NEUTRALISED)


def coda_as_siot(draft: Draft, rng: random.Random, rate: float) -> None:
    """한글 맞춤법 제7항 stretched too far: a coda heard as ㄷ is written ㅅ (빛→빗, 있다→잇다, 곧→곳)."""
    rewrite(draft, rng, rate, "coda_as_siot", _SIOT)


def coda_absorbed(draft: Draft, rng: random.Random, rate: float) -> None:
    """제30항 1 ([내까] for 냇가) stretched: ㄷ as heard is lost before ㄸ, ㅆ, ㅉ (있따→이따, 했씀→해씀)."""
    rewrite(draft, rng, rate, "coda_absorbed", _ABSORBED)


def cluster_simplification(draft: Draft, rng: random.Random, rate: float) -> None:
    """제10항, 제11항: of two codas one is heard (값→갑, 넓다→널다, 밟다→밥다, 닭→닥, 삶→삼, 맑게→말게)."""
    rewrite(draft, rng, rate, "cluster_simplification", _SIMPLIFIED)


def nasalisation(draft: Draft, rng: random.Random, rate: float) -> None:
    """제18항, for ㅎ 제12항 3: a stop before ㄴ, ㅁ turns nasal (국물→궁물, 합니다→함니다, 놓는→논는)."""
    rewrite(draft, rng, rate, "nasalisation", _NASALISED)


def nasalisation_across_space(draft: Draft, rng: random.Random, rate: float) -> None:
    """제18항 붙임: the same between two words said in one breath (밥 먹다→밤 먹다, 못 나가→몬 나가)."""
    rewrite_across_space(draft, rng, rate, "nasalisation_across_space", _NASALISED)


def l_as_n(draft: Draft, rng: random.Random, rate: float) -> None:
    """제19항: ㄹ after ㅁ, ㅇ, ㄱ, ㅂ is heard as ㄴ (담력→담녁, 대통령→대통녕, 협력→협녁)."""
    rewrite(draft, rng, rate, "l_as_n", _L_AS_N)


def liquidisation(draft: Draft, rng: random.Random, rate: float) -> None:
    """제20항: ㄴ beside ㄹ is heard as ㄹ (신라→실라, 칼날→칼랄); 다만: 생산량→생산냥."""
    rewrite(draft, rng, rate, "liquidisation", _N_KEPT)
    rewrite(draft, rng, rate, "liquidisation", _LIQUIDISED)


def place_assimilation(draft: Draft, rng: random.Random, rate: float) -> None:
    """Wrong by 제21항, yet heard: a coda moves to the next onset's place (감기→강기, 신문→심문)."""
    rewrite(draft, rng, rate, "place_assimilation", _PLACE)
