"""Error rules of pronunciation (표준 발음법): words written as they are heard.

All rules stand in their order, each with its weight.

Almost every article about consonants maps a coda and the onset behind it. A rule states that once, on
letters, as a ``LetterRule``. A table of plain dict lookups is made of it, because the generator runs some
thirty rules over every sentence of a training.

Words whose pronunciation their letters do not show are listed by the two syllables that meet in them. They
were chosen by hand from everyday words after the articles named there. A pair is listed only if it is rare in
words where it would be wrong (들일 is also in 받아들일, so it is left out).
"""

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType

from model.text.hangul import (
    FINALS,
    FIRST_SYLLABLE,
    INITIALS,
    LAST_SYLLABLE,
    MEDIALS,
    compose,
    decompose,
    indices,
    is_syllable,
)
from training.noise.draft import Draft

FAMILY = "pronunciation"

# Obstruent codas by the stop that each is heard as: ㄱ, ㄷ, ㅂ (제8-11항).
K_CODAS, T_CODAS, P_CODAS = "ㄱㄲㅋㄳㄺ", "ㄷㅅㅆㅈㅊㅌ", "ㅂㅍㅄㄿ"

# (coda, onset, vowel, coda after it) -> (new coda, new onset, new vowel), or None where nothing
# changes. The last three arguments are "" where the word ends. An onset ㅇ is silent.
Heard = tuple[str, str, str] | None
LetterRule = Callable[[str, str, str, str], Heard]
# The shift of the left syllable's code point, and the new right syllable, None where it stays.
Hit = tuple[int, str | None]


class Followers(dict[str, Hit | None]):
    """Right-hand syllables of one coda -> (shift of the left code point, new right syllable or None).

    Filled on first sight of each right-hand syllable; None means the rule does not apply.
    """

    def __init__(self, coda: str, change: LetterRule):
        super().__init__()
        self.coda, self.change = coda, change
        self.at_end = self._hit("", "", "", "")

    def __missing__(self, right: str) -> Hit | None:
        if not is_syllable(right):
            return self.at_end
        self[right] = hit = self._hit(right, *decompose(right))
        return hit

    def _hit(self, right: str, initial: str, medial: str, final: str) -> Hit | None:
        result = self.change(self.coda, initial, medial, final)
        if result is None:
            return None
        coda, new_initial, new_medial = result
        new_right = compose(new_initial, new_medial, final) if right else right
        return FINALS.index(coda) - FINALS.index(self.coda), None if new_right == right else new_right


Table = Mapping[str, Followers]


def _boundary_table(
    change: LetterRule, codas: Iterable[str], by_syllable: Mapping[str, LetterRule] | None = None
) -> Table:
    """Left syllable -> ``Followers``, for every syllable that ends in one of ``codas``.

    ``by_syllable`` gives single left syllables (밟, 넓, …) another change.
    """
    rows = {FINALS.index(coda): Followers(coda, change) for coda in codas}
    table = {
        chr(point): rows[final]
        for point in range(FIRST_SYLLABLE, LAST_SYLLABLE + 1)
        if (final := (point - FIRST_SYLLABLE) % 28) in rows
    }
    for syllable, own_change in (by_syllable or {}).items():
        table[syllable] = Followers(decompose(syllable)[2], own_change)
    return table


def _unchanged(coda: str, initial: str, medial: str, final: str) -> Heard:
    """A ``LetterRule`` that never applies."""
    return None


def word_table(pairs: Mapping[str, str]) -> Table:
    """``{"발전": "발쩐"}`` as a table: for pronunciations that depend on the word and not on its letters.

    >>> word_table({"발전": "발쩐"})["발"]["전"]
    (0, '쩐')
    """
    table: dict[str, Followers] = {}
    for word, spoken in pairs.items():
        (left, right), (new_left, new_right) = tuple(word), tuple(spoken)
        shift = ord(new_left) - ord(left)
        if indices(left)[:2] != indices(new_left)[:2]:
            raise ValueError(f"only the coda of the first syllable may change: {left!r} -> {new_left!r}")
        row = table.setdefault(left, Followers(decompose(left)[2], _unchanged))
        row[right] = (shift, None if new_right == right else new_right)
    return table


def _inside(tables: Sequence[Table], rule: str, draft: Draft, rng: random.Random, rate: float) -> None:
    """Apply the tables at each boundary inside a word and at each end of a word."""
    cells, last = draft.cells, len(draft.cells) - 1
    for table in tables:
        for index, left in enumerate(cells):
            row = table.get(left)
            if row is None:
                continue
            hit = row[cells[index + 1] if index < last else ""]
            if hit is not None and rng.random() < rate:
                _write(draft, rule, index, index + 1, hit)


def _across_space(table: Table, rule: str, draft: Draft, rng: random.Random, rate: float) -> None:
    """Apply ``table`` where exactly one space parts two syllables; the space stays."""
    cells = draft.cells
    for index in range(1, len(cells) - 1):
        row = table.get(cells[index - 1]) if cells[index] == " " else None
        if row is None or not is_syllable(cells[index + 1]):
            continue
        hit = row[cells[index + 1]]
        if hit is not None and rng.random() < rate:
            _write(draft, rule, index - 1, index + 1, hit)


def _single(
    replacements: Mapping[str, str], rule: str, draft: Draft, rng: random.Random, rate: float
) -> None:
    """Replace single syllables at any place."""
    for index, syllable in enumerate(draft.cells):
        new = replacements.get(syllable)
        if new is not None and rng.random() < rate:
            draft.put(rule, FAMILY, index, [new])


def _write(draft: Draft, rule: str, left: int, right: int, hit: Hit) -> None:
    """Put only the cells that change, so that the recorded span is the smallest one."""
    shift, new_right = hit
    new_left = chr(ord(draft.cells[left]) + shift)
    if new_right is None:
        draft.put(rule, FAMILY, left, [new_left])
    elif shift == 0:
        draft.put(rule, FAMILY, right, [new_right])
    else:
        draft.put(rule, FAMILY, left, [new_left, *draft.cells[left + 1 : right], new_right])


@dataclass(frozen=True)
class SoundRule:
    """One pronunciation rule; called on a draft, it fires at each of its places with probability ``rate``."""

    name: str
    weight: float  # 1: 표준 발음법 prescribes it; below 1: it only permits it, or it is casual speech
    act: Callable[[str, Draft, random.Random, float], None]

    def __call__(self, draft: Draft, rng: random.Random, rate: float) -> None:
        self.act(self.name, draft, rng, rate)


# 제29항: compounds in which ㄴ (after ㄹ: ㄹ) comes in before 이, 야, 여, 요, 유.
N_INSERTED = """
꽃잎 뭇잎 깻잎 솔잎 풀잎 떡잎 찻잎 연잎 뱃잎 한여 첫여 늦여 신여 학여 물여 른여 열여 십육 색연 울역 남역 산역
릉역 청역 천역 홑이 맨입 행열 막염 콩엿 물엿 담요 눈요 업용 습용 성용 정용 행용 용유 발유 설익 물약 알약 통약
볼일 별일 웬일 밭일 뒷일 헛일 옛일 앞일 훗일
"""

# 제26항: Sino-Korean words with ㄷ, ㅅ, ㅈ after ㄹ.
TENSE_SINO = """
발전 발달 발생 발송 발주 발신 발사 발상 발성 발산 결정 결제 결석 결승 결산 결사 결심 결실 결선 결손 결점
활동 활성 활주 실제 실수 실시 실습 실적 실전 실장 실상 실속 실신 실재 실존 실종 실직 실질 실세 일정 일주 일시
일상 일생 일제 일종 일직 일단 일등 일동 설정 설득 설사 출시 출전 출산 출석 출장 출동 출생 출신 출제 출중
철도 철수 철저 철조 물질 물자 절대 절도 절전 절정 절실 절수 열정 열심 열세 열대 열성 월세 월동 질서 질소
질적 필수 필승 필자 밀접 밀도 밀수 별도 별세 칠십 팔십 갈등 갈증 말살 몰두 몰수 불소 불시 불신 불순 탈세
탈수 탈진 탈주 탈당 할당 할증 달성 혈당 골절 골동 굴절 돌진 멸종 솔직 솔선 술수 알선 율동 칠성
"""

# 제28항, and Sino-Korean words that dictionaries give with a tense onset (성격[성ː껵]).
TENSE_COMPOUNDS = """
눈동 신바 손재 길가 발바 굴속 술잔 람결 믐달 침밥 강가 승달 등불 창살 강줄 글자 손가 발가 눈사 김밥 빔밥
밤길 산길 물병 손등 손바 방바 일자 안방 문자 성격 인기 조건 사건 안건 문법 헌법 장점 단점 관점 시점 초점 요점
춤법 평가 물가 대가 정가 증권 여권 인권 정권 효과 내과 치과 외과 안과
"""

# Words that end in 의: there it is no particle (제5항 다만 4).
UI_AT_END = """
주의 회의 강의 논의 의의 동의 합의 협의 정의 문의 편의 예의 결의 거의 유의 심의 항의 명의 건의 호의 성의 제의
토의 질의 열의 고의 창의 본의 상의 수의 임의 전의 악의 진의 하의 경의 대의 모의 신의
"""


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


def _ui(particle: bool, rule: str, draft: Draft, rng: random.Random, rate: float) -> None:
    """Replace 의, where it is a particle or where it is none."""
    for index, is_particle in _ui_sites(draft):
        if is_particle == particle and rng.random() < rate:
            draft.put(rule, FAMILY, index, ["에" if particle else "이"])


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


_NEUTRAL = {"ㄲ": "ㄱ", "ㅋ": "ㄱ", "ㅅ": "ㄷ", "ㅆ": "ㄷ", "ㅈ": "ㄷ", "ㅊ": "ㄷ", "ㅌ": "ㄷ", "ㅍ": "ㅂ"}
_SIMPLE = {
    "ㄳ": "ㄱ", "ㄵ": "ㄴ", "ㄶ": "ㄴ", "ㄺ": "ㄱ", "ㄻ": "ㅁ", "ㄼ": "ㄹ",
    "ㄽ": "ㄹ", "ㄾ": "ㄹ", "ㄿ": "ㅂ", "ㅀ": "ㄹ", "ㅄ": "ㅂ",
}  # fmt: skip
_NASAL = dict.fromkeys(K_CODAS, "ㅇ") | dict.fromkeys([*T_CODAS, "ㅎ"], "ㄴ") | dict.fromkeys(P_CODAS, "ㅁ")


def _neutralise(coda: str, initial: str, medial: str, final: str) -> Heard:
    return None if initial == "ㅇ" else (_NEUTRAL[coda], initial, medial)


def _write_siot(coda: str, initial: str, medial: str, final: str) -> Heard:
    return None if initial in ("ㅇ", "ㅎ") else ("ㅅ", initial, medial)


def _absorb(coda: str, initial: str, medial: str, final: str) -> Heard:
    return ("", initial, medial) if initial in ("ㄸ", "ㅆ", "ㅉ") else None


def _simplify(coda: str, initial: str, medial: str, final: str) -> Heard:
    if initial in ("ㅇ", "ㅎ") or (coda in "ㄶㅀ" and initial not in ("", "ㄴ")):
        return None
    return _SIMPLE[coda], initial, medial


def _simplify_verb_lk(coda: str, initial: str, medial: str, final: str) -> Heard:
    if initial in ("ㄱ", "ㄲ"):
        return "ㄹ", initial, medial
    return _simplify(coda, initial, medial, final)


def _simplify_balp(coda: str, initial: str, medial: str, final: str) -> Heard:
    return None if initial in ("ㅇ", "ㅎ") else ("ㅂ", initial, medial)


def _simplify_neolp(coda: str, initial: str, medial: str, final: str) -> Heard:
    if (initial in ("ㅈ", "ㅉ") and medial in "ㅜㅓ") or (initial in ("ㄷ", "ㄸ") and medial == "ㅜ"):
        return "ㅂ", initial, medial  # 넓죽하다, 넓적하다, 넓둥글다
    return _simplify(coda, initial, medial, final)


def _nasalise(coda: str, initial: str, medial: str, final: str) -> Heard:
    return (_NASAL[coda], initial, medial) if initial in ("ㄴ", "ㅁ") else None


def _l_as_n(coda: str, initial: str, medial: str, final: str) -> Heard:
    return (coda, "ㄴ", medial) if initial == "ㄹ" else None


def _liquidise(coda: str, initial: str, medial: str, final: str) -> Heard:
    if coda == "ㄴ":
        return ("ㄹ", "ㄹ", medial) if initial == "ㄹ" else None
    return ("ㄹ", "ㄹ", medial) if initial == "ㄴ" else None


def _assimilate_place(coda: str, initial: str, medial: str, final: str) -> Heard:
    if initial in ("ㄱ", "ㄲ", "ㅋ"):
        return "ㅇ" if coda in "ㄴㅁ" else "ㄱ", initial, medial
    if initial in ("ㅂ", "ㅃ", "ㅍ", "ㅁ") and coda != "ㅁ":
        if coda == "ㄴ":
            return "ㅁ", initial, medial
        return None if initial == "ㅁ" else ("ㅂ", initial, medial)
    return None


_NEUTRALISED = _boundary_table(_neutralise, _NEUTRAL)
_SIOT = _boundary_table(_write_siot, "ㄷㅆㅈㅊㅌ")
_ABSORBED = _boundary_table(_absorb, T_CODAS)
_SIMPLIFIED = _boundary_table(
    _simplify,
    _SIMPLE,
    {"밟": _simplify_balp, "넓": _simplify_neolp} | dict.fromkeys("맑밝읽늙굵묽긁붉갉얽", _simplify_verb_lk),
)
_NASALISED = _boundary_table(_nasalise, _NASAL)
_L_AS_N = _boundary_table(_l_as_n, "ㅁㅇㄱㅂ")
# 제20항 다만: these keep ㄴ and turn ㄹ into ㄴ.
_N_KEPT = word_table({
    "산량": "산냥", "단력": "단녁", "견례": "견녜", "견란": "견난", "진란": "진난", "근류": "근뉴",
    "단로": "단노", "판력": "판녁", "신란": "신난",
})  # fmt: skip
_LIQUIDISED = _boundary_table(_liquidise, "ㄴㄹㄾㅀ")
_PLACE = _boundary_table(_assimilate_place, "ㄴㅁㄷㅅㅆㅈㅊㅌ")


_H_CODAS = {"ㅎ": "", "ㄶ": "ㄴ", "ㅀ": "ㄹ"}  # the rest without ㅎ
_ASPIRATED = {"ㄱ": "ㅋ", "ㄷ": "ㅌ", "ㅂ": "ㅍ", "ㅈ": "ㅊ"}

# 제13항 and 제14항: the coda that stays, and the onset that moves.
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
# 제15항: the sound that represents a coda and moves in its place.
_HEARD_CODA = (
    dict.fromkeys(K_CODAS, "ㄱ")
    | dict.fromkeys(T_CODAS, "ㄷ")
    | dict.fromkeys(P_CODAS, "ㅂ")
    | dict.fromkeys("ㄹㄼㄽㄾ", "ㄹ")
    | {"ㄴ": "ㄴ", "ㄵ": "ㄴ", "ㅁ": "ㅁ", "ㄻ": "ㅁ"}
)


def _palatalise(coda: str, initial: str, medial: str, final: str) -> Heard:
    stays = "ㄹ" if coda == "ㄾ" else ""
    if initial == "ㅎ" and coda == "ㄷ" and (medial == "ㅣ" or (medial == "ㅕ" and final in ("", "ㅆ"))):
        return stays, "ㅊ", medial
    if initial == "ㅇ" and (medial == "ㅣ" or (medial == "ㅕ" and final in ("", "ㅆ"))):
        return stays, "ㅈ" if coda == "ㄷ" else "ㅊ", medial
    return None


def _aspirate(coda: str, initial: str, medial: str, final: str) -> Heard:
    if coda in _H_CODAS:
        return (_H_CODAS[coda], _ASPIRATED[initial], medial) if initial in ("ㄱ", "ㄷ", "ㅈ") else None
    if initial != "ㅎ" or _palatalise(coda, initial, medial, final):
        return None
    if coda in "ㅈㄵ" and medial in "ㅣㅕ":
        return "ㄴ" if coda == "ㄵ" else "", "ㅊ", medial
    stays = {"ㄺ": "ㄹ", "ㄼ": "ㄹ", "ㄵ": "ㄴ"}.get(coda, "")
    heard = "ㅂ" if coda == "ㄼ" else "ㅈ" if coda == "ㄵ" else _HEARD_CODA[coda]
    return stays, _ASPIRATED[heard], medial


def _h_before_s(coda: str, initial: str, medial: str, final: str) -> Heard:
    return (_H_CODAS[coda], "ㅆ", medial) if initial == "ㅅ" else None


def _lose_h(coda: str, initial: str, medial: str, final: str) -> Heard:
    if initial == "ㅇ" or (initial == "ㄴ" and coda != "ㅎ"):
        return _H_CODAS[coda], initial, medial
    return None


def _weaken_h(coda: str, initial: str, medial: str, final: str) -> Heard:
    if initial != "ㅎ":
        return None
    return (coda, "ㅇ", medial) if coda in ("", "ㅇ") else ("", coda, medial)


def _weaken_jeonhwa(coda: str, initial: str, medial: str, final: str) -> Heard:
    # 전화 loses its glide as well; 저나 is how it is written by ear.
    weakened = _weaken_h(coda, initial, medial, final)
    return (*weakened[:2], "ㅏ") if weakened and medial == "ㅘ" else weakened


def _move(coda: str, initial: str, medial: str, final: str) -> Heard:
    return (*_MOVES[coda], medial) if initial == "ㅇ" else None


def _move_heard(coda: str, initial: str, medial: str, final: str) -> Heard:
    return ("", _HEARD_CODA[coda], medial) if initial == "ㅇ" else None


def _move_before_content(coda: str, initial: str, medial: str, final: str) -> Heard:
    # No ending or particle begins with these, so another word must begin here.
    begins_word = (medial, final) in {("ㅓ", "ㅄ"), ("ㅗ", "ㅅ"), ("ㅟ", ""), ("ㅏ", "ㅍ"), ("ㅏ", "ㄴ")}
    return _move_heard(coda, initial, medial, final) if begins_word else None


def _move_after_prefix(coda: str, initial: str, medial: str, final: str) -> Heard:
    # 첫, 헛 precede words only. Before these vowels ㄴ comes in (제29항), though not in 첫인상.
    if medial in ("ㅑ", "ㅕ", "ㅛ", "ㅠ") or (medial == "ㅣ" and final != "ㄴ"):
        return None
    return _move_heard(coda, initial, medial, final)


def _insert_n(coda: str, initial: str, medial: str, final: str) -> Heard:
    if initial != "ㅇ" or medial not in "ㅣㅑㅕㅛㅠㅖㅒ":
        return None
    return coda, "ㄹ" if _HEARD_CODA.get(coda) == "ㄹ" else "ㄴ", medial


def _with_n(pair: str) -> str:
    """``"솔잎" -> "맆"``: the second syllable with the consonant put in."""
    initial, medial, final = decompose(pair[1])
    _, heard, medial = _insert_n(decompose(pair[0])[2], initial, medial, final) or ("", initial, medial)
    return compose(heard, medial, final)


_PALATALISED = _boundary_table(_palatalise, "ㄷㅌㄾ")
_ASPIRATION = _boundary_table(_aspirate, [*_H_CODAS, *K_CODAS, *T_CODAS, *P_CODAS, "ㄼ", "ㄵ"])
_H_BEFORE_S = _boundary_table(_h_before_s, _H_CODAS)
_H_LOST = _boundary_table(_lose_h, _H_CODAS)
_H_WEAK = _boundary_table(_weaken_h, ["", "ㄴ", "ㄹ", "ㅁ", "ㅇ"], {"전": _weaken_jeonhwa})
_LIAISON = _boundary_table(_move, _MOVES)
_LIAISON_OF_HEARD = _boundary_table(_move_heard, _HEARD_CODA)
_CONTENT_LIAISON = _boundary_table(
    _move_before_content,
    "ㅅㅈㅊㅋㅌㅍㄳㅄㄺ",
    {"첫": _move_after_prefix, "헛": _move_after_prefix},
)
_N_ACROSS_SPACE = _boundary_table(_insert_n, [*_HEARD_CODA, "ㅇ"])
_N_INSERTED = word_table({pair: pair[0] + _with_n(pair) for pair in N_INSERTED.split()})


_TENSE = {"ㄱ": "ㄲ", "ㄷ": "ㄸ", "ㅂ": "ㅃ", "ㅅ": "ㅆ", "ㅈ": "ㅉ"}


def _tense(coda: str, initial: str, medial: str, final: str) -> Heard:
    return (coda, _TENSE[initial], medial) if initial in _TENSE else None


def _tense_ending(coda: str, initial: str, medial: str, final: str) -> Heard:
    # 제24항 다만: not before the suffix 기 (굶기다, 옮겨).
    if initial == "ㅂ" or (coda == "ㄻ" and initial == "ㄱ" and medial in ("ㅣ", "ㅕ")):
        return None
    return _tense(coda, initial, medial, final)


def _tensed(syllable: str) -> str:
    initial, medial, final = decompose(syllable)
    return compose(_TENSE[initial], medial, final)


_TENSED = _boundary_table(_tense, K_CODAS + T_CODAS + P_CODAS + "ㄼ", {"덟": _unchanged})
_STEMS = _boundary_table(_tense_ending, "ㄵㄻㄾ", {"삶": _unchanged, "앎": _unchanged})
_SINO = word_table({pair: pair[0] + _tensed(pair[1]) for pair in TENSE_SINO.split()})
_COMPOUNDS = word_table({pair: pair[0] + _tensed(pair[1]) for pair in TENSE_COMPOUNDS.split()})

# Dependent nouns after -(으)ㄹ, each with the syllables that may come after it; 거기 and 수업 are left alone.
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
# Syllables that may carry -(으)ㄹ; 를 is a particle.
_L_SYLLABLES = frozenset(compose(i, m, "ㄹ") for i in INITIALS for m in MEDIALS) - {"를"}
# Syllables where ㄹ before those endings is -(으)ㄹ and not a stem's own (길게, 알지).
_FUTURE_SYLLABLES = frozenset("할될갈올볼을일줄릴실낼쓸둘칠킬질")


def _after_l(rule: str, draft: Draft, rng: random.Random, rate: float) -> None:
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
            draft.put(rule, FAMILY, right, [_tensed(padded[right])])


# (rule, weight). The rules are chained in an order that gives the standard pronunciation: first those
# that depend on the written letters (구개음화, ㅎ), then those that move a coda away, then those of the
# remaining codas. Weight 1: 표준 발음법 prescribes it. Below 1: it only permits it, or it is casual speech.
_ORDER = (
    # 제27항: after -(으)ㄹ, over a space or in an ending (할 것→할 껏, 올 거예요→올 꺼예요, 할게→할께).
    SoundRule("tensification_after_l", 1.0, _after_l),
    # 제17항: ㄷ, ㅌ, ㄾ before 이 turn into ㅈ, ㅊ; ㄷ + 히 into 치 (같이→가치, 굳이→구지, 닫혀→다쳐).
    SoundRule("palatalisation", 1.0, partial(_inside, (_PALATALISED,))),
    # 제12항 1: ㅎ melts with the plosive beside it (좋다→조타, 많고→만코, 축하→추카, 못하다→모타다).
    SoundRule("aspiration", 1.0, partial(_inside, (_ASPIRATION,))),
    # 제12항 1 붙임 2: two words in one breath (옷 한 벌→오 탄 벌, 못 해→모 태).
    SoundRule("aspiration_across_space", 0.3, partial(_across_space, _ASPIRATION)),
    # 제12항 2: ㅎ and ㅅ together are heard as ㅆ (좋습니다→조씁니다, 많소→만쏘).
    SoundRule("h_before_s", 1.0, partial(_inside, (_H_BEFORE_S,))),
    # 제12항 3 붙임, 4: ㅎ is silent before a vowel; in ㄶ, ㅀ also before ㄴ (좋아→조아, 많이→만이).
    SoundRule("h_loss", 1.0, partial(_inside, (_H_LOST,))),
    # Casual ㅎ between voiced sounds, which 제12항 does not admit (은행→으냉, 고향→고양, 전화→저나).
    SoundRule("h_weakening", 0.1, partial(_inside, (_H_WEAK,))),
    # 제5항 다만 4: 의 that is not a word's first syllable may be heard as 이 (주의→주이, 무의식→무이식).
    SoundRule("ui_not_first", 0.4, partial(_ui, False)),
    # 제5항 다만 4: the particle 의 may be heard as 에 (우리의→우리에, 나의 집→나에 집).
    SoundRule("ui_particle", 0.3, partial(_ui, True)),
    # 제29항: ㄴ comes in before 이, 야, 여, 요, 유 in compounds (꽃잎→꽃닢, after ㄹ 서울역→서울력).
    SoundRule("n_insertion", 1.0, partial(_inside, (_N_INSERTED,))),
    # 제29항 붙임 2: the same between two words in one breath (안 열→안 녈, 할 일→할 릴).
    SoundRule("n_insertion_across_space", 0.2, partial(_across_space, _N_ACROSS_SPACE)),
    # 제15항: before another word the coda moves as it is heard (맛없다→마덦다, 겉옷→거돗).
    SoundRule("liaison_before_content", 1.0, partial(_inside, (_CONTENT_LIAISON,))),
    # 제13항, 제14항: the last coda moves before a vowel, ㅅ of two tensed (옷이→오시, 값이→갑씨).
    SoundRule("liaison", 1.0, partial(_inside, (_LIAISON,))),
    # 제15항 over a space, which stays where it was (안 올→아 놀, 옷 안→오 단, 꽃 위→꼬 뒤).
    SoundRule("liaison_across_space", 0.4, partial(_across_space, _LIAISON_OF_HEARD)),
    # 제5항 다만 3: ㅢ after a consonant is heard as ㅣ (희망→히망, 무늬→무니).
    SoundRule("ui_after_consonant", 1.0, partial(_single, _UI_AS_I)),
    # 제5항 다만 1: 져, 쪄, 쳐 are heard as 저, 쩌, 처 (가져→가저, 다쳤다→다첬다).
    SoundRule("palatal_glide", 1.0, partial(_single, _GLIDE_LOST)),
    # 제5항 다만 2: ㅖ other than in 예, 례 may be heard as ㅔ (시계→시게, 은혜→은헤).
    SoundRule("ye_as_e", 0.5, partial(_single, _YE_AS_E)),
    # 제26항: ㄷ, ㅅ, ㅈ after ㄹ in frequent Sino-Korean words (발전→발쩐, 결정→결쩡).
    SoundRule("tensification_sino", 1.0, partial(_inside, (_SINO,))),
    # 제28항, and words whose dictionary pronunciation is tense (길가→길까, 김밥→김빱, 성격→성껵).
    SoundRule("tensification_compound", 1.0, partial(_inside, (_COMPOUNDS,))),
    # 제23항; for ㄵ, ㄻ of stems 제24항; for ㄼ, ㄾ 제25항 (국밥→국빱, 없다→없따, 앉고→앉꼬, 넓게→넓께).
    SoundRule("tensification", 1.0, partial(_inside, (_TENSED, _STEMS))),
    # 제23항 between two words in one breath (못 가→못 까, 꼭 기억→꼭 끼억).
    SoundRule("tensification_across_space", 0.3, partial(_across_space, _TENSED)),
    # 제10항, 제11항: of two codas one is heard (값→갑, 넓다→널다, 밟다→밥다, 닭→닥, 삶→삼, 맑게→말게).
    SoundRule("cluster_simplification", 1.0, partial(_inside, (_SIMPLIFIED,))),
    # 제8항, 제9항: only seven codas are heard, except before a vowel (꽃→꼳, 부엌→부억, 있다→읻다).
    SoundRule("coda_neutralisation", 1.0, partial(_inside, (_NEUTRALISED,))),
    # 제19항: ㄹ after ㅁ, ㅇ, ㄱ, ㅂ is heard as ㄴ (담력→담녁, 대통령→대통녕, 협력→협녁).
    SoundRule("l_as_n", 1.0, partial(_inside, (_L_AS_N,))),
    # 제18항, for ㅎ 제12항 3: a stop before ㄴ, ㅁ turns nasal (국물→궁물, 합니다→함니다, 놓는→논는).
    SoundRule("nasalisation", 1.0, partial(_inside, (_NASALISED,))),
    # 제18항 붙임: the same between two words in one breath (밥 먹다→밤 먹다, 못 나가→몬 나가).
    SoundRule("nasalisation_across_space", 0.4, partial(_across_space, _NASALISED)),
    # 제20항: ㄴ beside ㄹ is heard as ㄹ (신라→실라, 칼날→칼랄); 다만: 생산량→생산냥.
    SoundRule("liquidisation", 1.0, partial(_inside, (_N_KEPT, _LIQUIDISED))),
    # 한글 맞춤법 제7항 stretched too far: a coda heard as ㄷ is written ㅅ (빛→빗, 있다→잇다, 곧→곳).
    SoundRule("coda_as_siot", 0.3, partial(_inside, (_SIOT,))),
    # 제30항 1 ([내까] for 냇가) stretched: ㄷ as heard is lost before ㄸ, ㅆ, ㅉ (있따→이따, 했씀→해씀).
    SoundRule("coda_absorbed", 0.3, partial(_inside, (_ABSORBED,))),
    # Wrong by 제21항, yet heard: a coda moves to the next onset's place (감기→강기, 신문→심문).
    SoundRule("place_assimilation", 0.05, partial(_inside, (_PLACE,))),
)

PRONUNCIATION_RULES: Mapping[str, SoundRule] = MappingProxyType({rule.name: rule for rule in _ORDER})
WEIGHTS: Mapping[str, float] = MappingProxyType({rule.name: rule.weight for rule in _ORDER})

# Nothing that the norm merely permits, and nothing casual.
PRESCRIBED: Mapping[str, float] = MappingProxyType(
    {name: weight for name, weight in WEIGHTS.items() if weight == 1.0}
)


def as_heard(text: str) -> list[str]:
    """Each character of a text in the standard pronunciation.

    >>> "".join(as_heard("먹어요, 국물"))
    '머거요, 궁물'
    """
    draft = Draft(text)
    write_as_heard(draft, random.Random(0), 1.0, PRESCRIBED)
    return draft.cells


def write_as_heard(
    draft: Draft, rng: random.Random, rate: float, weights: Mapping[str, float] = WEIGHTS
) -> None:
    """Run every rule in order, each at ``rate`` times its weight; a rule not in ``weights`` is off.

    Raises ValueError for a rate outside 0..1.
    """
    if not 0 <= rate <= 1:
        raise ValueError(f"rate must lie in 0..1, got {rate!r}")
    for name, rule in PRONUNCIATION_RULES.items():
        share = rate * weights.get(name, 0.0)
        if share > 0:
            rule(draft, rng, share)
