"""Onsets that are heard tense: 표준 발음법 제23–28항."""

import random

from model.text.hangul import INITIALS, MEDIALS, compose, decompose, is_syllable
from training.noise.draft import Draft
from training.noise.pronunciation_sites import (
    FAMILY,
    K_CODAS,
    P_CODAS,
    T_CODAS,
    boundary_table,
    rewrite,
    rewrite_across_space,
    unchanged,
    word_table,
)
from training.noise.pronunciation_words import TENSE_COMPOUNDS, TENSE_SINO

_TENSE = {"ㄱ": "ㄲ", "ㄷ": "ㄸ", "ㅂ": "ㅃ", "ㅅ": "ㅆ", "ㅈ": "ㅉ"}


def _tense(coda, initial, medial, final):
    return (coda, _TENSE[initial], medial) if initial in _TENSE else None


def _tense_ending(coda, initial, medial, final):
    # 제24항 다만: not before the suffix 기 (굶기다, 옮겨).
    if initial == "ㅂ" or (coda == "ㄻ" and initial == "ㄱ" and medial in ("ㅣ", "ㅕ")):
        return None
    return _tense(coda, initial, medial, final)


def _tensed(syllable: str) -> str:
    initial, medial, final = decompose(syllable)
    return compose(_TENSE[initial], medial, final)


_TENSED = boundary_table(_tense, K_CODAS + T_CODAS + P_CODAS + "ㄼ", {"덟": unchanged})
_STEMS = boundary_table(_tense_ending, "ㄵㄻㄾ", {"삶": unchanged, "앎": unchanged})
_SINO = word_table({pair: pair[0] + _tensed(pair[1]) for pair in TENSE_SINO.split()})
_COMPOUNDS = word_table({pair: pair[0] + _tensed(pair[1]) for pair in TENSE_COMPOUNDS.split()})

# Dependent nouns after -(으)ㄹ, each with what may come after it; the rest (거기, 수업) is left alone.
_NOUNS_AFTER_L = {
    "것": " 은을이도과만에입같처들의",
    "거": " 야예라다든고니나지는에냐죠",
    "게": " 요",
    "걸": " 요로",
    "건": " 가데지",
    "겁": "니",
    "데": " 가는도를에라",
    "듯": " 이하한합해",
    "바": " 를가와에는",
    "수": " 는도가를록밖만조",
    "적": " 에이은도",
    "줄": " 은을도",
    "곳": " 이을에은도",
    "생": "각",
    "사": "람",
}
_ENDINGS_OF_L = {"게": " 요", "걸": " 요", "수": "록", "지": " 도는를라"}
# What may carry -(으)ㄹ; 를 is a particle.
_L_SYLLABLES = frozenset(compose(i, m, "ㄹ") for i in INITIALS for m in MEDIALS) - {"를"}
# Syllables where ㄹ before those endings is -(으)ㄹ and not a stem's own (길게, 알지).
_FUTURE_SYLLABLES = frozenset("할될갈올볼을일줄릴실낼쓸둘칠킬질")


def tensification(draft: Draft, rng: random.Random, rate: float) -> None:
    """제23항; for ㄵ, ㄻ of stems 제24항; for ㄼ, ㄾ 제25항 (국밥→국빱, 없다→없따, 앉고→앉꼬, 넓게→넓께)."""
    rewrite(draft, rng, rate, "tensification", _TENSED)
    rewrite(draft, rng, rate, "tensification", _STEMS)


def tensification_across_space(draft: Draft, rng: random.Random, rate: float) -> None:
    """제23항 between two words said in one breath (못 가→못 까, 꼭 기억→꼭 끼억)."""
    rewrite_across_space(draft, rng, rate, "tensification_across_space", _TENSED)


def tensification_sino(draft: Draft, rng: random.Random, rate: float) -> None:
    """제26항: ㄷ, ㅅ, ㅈ after ㄹ in frequent Sino-Korean words (발전→발쩐, 결정→결쩡)."""
    rewrite(draft, rng, rate, "tensification_sino", _SINO)


def tensification_compound(draft: Draft, rng: random.Random, rate: float) -> None:
    """제28항, and words whose dictionary pronunciation is tense (길가→길까, 김밥→김빱, 성격→성껵)."""
    rewrite(draft, rng, rate, "tensification_compound", _COMPOUNDS)


def tensification_after_l(draft: Draft, rng: random.Random, rate: float) -> None:
    """제27항: after -(으)ㄹ, over a space or in an ending (할 것→할 껏, 올 거예요→올 꺼예요, 할게→할께)."""
    cells = draft.cells
    padded = [*cells, " ", " "]
    for index, left in enumerate(cells):
        if left not in _L_SYLLABLES:
            continue
        right, allowed = index + 1, _ENDINGS_OF_L if left in _FUTURE_SYLLABLES else {}
        if padded[right] == " ":
            right, allowed = index + 2, _NOUNS_AFTER_L
        after = allowed.get(padded[right])
        if after is None or (is_syllable(padded[right + 1]) and padded[right + 1] not in after):
            continue
        if rng.random() < rate:
            draft.put("tensification_after_l", FAMILY, right, [_tensed(padded[right])])
