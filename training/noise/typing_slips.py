"""Error rules of typing: one jamo of a syllable replaced, dropped, added, swapped, shifted.

Each rule is ``rule(draft, rng, rate)``: every place where it can act fires with probability ``rate``. A rule
reads the cells as they are now. It touches only cells that are one precomposed syllable and that no rule of
this family has touched. It never brings back the correct character that another family changed. Whatever it
does violates 한글 맞춤법 제1항 (a word is written in its standard form).

A slip can by chance give another correct word (수 -> 숙); no rule here looks words up.
"""

import random
from collections.abc import Callable, Iterable
from functools import lru_cache, partial

from model.text.hangul import FINALS, INITIALS, MEDIALS, compose, decompose, is_syllable
from model.text.keyboard import JOINED, SHIFTED, STROKES, UNSHIFTED, neighbours
from training.noise import rates_of
from training.noise.draft import Draft, ErrorRule

FAMILY = "typing"

# The syllables that one may turn into, one inner tuple for each kind of change. First the kind is drawn, then
# the result. Otherwise the 27 codas would crowd out the 18 other initials.
Groups = tuple[tuple[str, ...], ...]

# 표준 발음법 제4항 붙임: ㅚ may be pronounced [ㅞ]. ㅐ/ㅔ, ㅒ/ㅖ and ㅙ/ㅞ have merged in today's speech,
# though 제4항 and 제5항 keep them apart.
HOMOPHONES = {"ㅐ": "ㅔ", "ㅔ": "ㅐ", "ㅒ": "ㅖ", "ㅖ": "ㅒ", "ㅚ": "ㅙㅞ", "ㅙ": "ㅚㅞ", "ㅞ": "ㅙㅚ"}


def _parts(
    syllable: str, initials: Iterable[str] = "", medials: Iterable[str] = "", finals: Iterable[str] = ()
) -> Groups:
    """Syllables with another initial, medial or coda; illegal and unchanged ones are left out."""
    initial, medial, final = decompose(syllable)
    groups = (
        tuple(compose(other, medial, final) for other in initials if other in INITIALS and other != initial),
        tuple(compose(initial, other, final) for other in medials if other in MEDIALS and other != medial),
        tuple(compose(initial, medial, other) for other in finals if other in FINALS and other != final),
    )
    return tuple(group for group in groups if group)


def _replaced(syllable: str) -> Groups:
    """A jamo replaced by any that is legal there: 담배 -> 감배, 생각은 -> 생각읃 (한글 맞춤법 제1항)."""
    has_coda = decompose(syllable)[2] != ""
    return _parts(syllable, INITIALS, MEDIALS, FINALS[1:] if has_coda else ())


def _neighbour(syllable: str) -> Groups:
    """A jamo replaced by that of a key beside it (KS X 5002): 나라 -> 마라, 가 -> 거."""
    initial, medial, final = decompose(syllable)
    return _parts(syllable, neighbours(initial), neighbours(medial), neighbours(final) if final else ())


def _dropped(syllable: str) -> Groups:
    """A key not struck: 면 -> 며, 값 -> 갑, 과 -> 고, 강화 -> 앙화 (한글 맞춤법 제1항).

    ㅇ takes the place of a lost initial, so that the result is a syllable still.
    """
    _, medial, final = decompose(syllable)
    return _parts(syllable, "ㅇ", STROKES.get(medial, ""), ("", *STROKES.get(final, "")))


def _added(syllable: str) -> Groups:
    """A key struck too many (한글 맞춤법 제1항): 수 -> 숙, 다시 -> 닶시, 안 -> 않, 고 -> 과.

    An open syllable gets any coda; a coda or medial grows into a compound that begins with it.
    """
    _, medial, final = decompose(syllable)
    # A compound begins with the jamo it grows from; "" begins nothing here, an open syllable takes any coda.
    grown = [JOINED[strokes] for strokes in JOINED if strokes[0] in (medial, final)]
    return _parts(syllable, medials=grown, finals=grown if final else FINALS)


def _homophone(syllable: str) -> Groups:
    """A vowel that sounds the same, ㅐ/ㅔ, ㅒ/ㅖ, ㅚ/ㅙ/ㅞ: 내 -> 네 (표준 발음법 제4항, 제5항)."""
    return _parts(syllable, medials=HOMOPHONES.get(decompose(syllable)[1], ""))


def _shifted(syllable: str) -> Groups:
    """Shift missed or held too long (KS X 5002): 까지 -> 가지, 있다 -> 잇다, 예 -> 에."""
    turned = [[{**SHIFTED, **UNSHIFTED}.get(jamo, "-")] for jamo in decompose(syllable)]
    return _parts(syllable, *turned)


CHOICES: dict[str, Callable[[str], Groups]] = {
    "jamo_replaced": _replaced,
    "jamo_neighbour": _neighbour,
    "jamo_dropped": _dropped,
    "jamo_added": _added,
    "vowel_homophone": _homophone,
    "shift_slip": _shifted,
}


@lru_cache(maxsize=6 * 4096)
def _choices(rule: str, syllable: str) -> Groups:
    return CHOICES[rule](syllable)


def _sites(draft: Draft) -> list[int]:
    """Positions that hold one syllable, held one in the correct text, and that no slip has touched."""
    taken = {i for edit in draft.edits if edit.family == FAMILY for i in range(edit.start, edit.end)}
    return [
        i
        for i, (cell, correct) in enumerate(zip(draft.cells, draft.text, strict=True))
        if is_syllable(cell) and is_syllable(correct) and i not in taken
    ]


def _change(draft: Draft, rng: random.Random, rule: str, position: int) -> bool:
    """Let ``rule`` act on one syllable; False where it has nothing to do."""
    groups, correct = _choices(rule, draft.cells[position]), draft.text[position]
    if draft.cells[position] != correct:  # another family was here: do not undo it
        groups = tuple(kept for group in groups if (kept := tuple(s for s in group if s != correct)))
    if not groups:
        return False
    draft.put(rule, FAMILY, position, [rng.choice(rng.choice(groups))])
    return True


def _change_each(rule: str, draft: Draft, rng: random.Random, rate: float) -> None:
    for position in _sites(draft):
        if rng.random() < rate:
            _change(draft, rng, rule, position)


def _exchanges(first: str, second: str) -> list[list[str]]:
    """Both syllables after two of their jamo have changed places, in every legal way."""
    one, two = decompose(first), decompose(second)
    results = []
    for part in range(3):  # the same part of both; an empty coda makes it a move: 한다 -> 하단
        if one[part] != two[part]:
            left, right = list(one), list(two)
            left[part], right[part] = two[part], one[part]
            results.append([compose(*left), compose(*right)])
    coda, initial = one[2], two[0]  # struck one right after the other: 한국 -> 학눅
    if coda != initial and coda in tuple(INITIALS) and initial in FINALS:
        results.append([compose(one[0], one[1], initial), compose(coda, two[1], two[2])])
    return results


def _swap(draft: Draft, rng: random.Random, position: int) -> bool:
    """Exchange jamo of the syllables at ``position`` and after it; False where nothing can be exchanged."""
    correct = list(draft.text[position : position + 2])
    exchanges = [pair for pair in _exchanges(*draft.cells[position : position + 2]) if pair != correct]
    if not exchanges:
        return False
    draft.put("jamo_swapped", FAMILY, position, rng.choice(exchanges))
    return True


def _jamo_swapped(draft: Draft, rng: random.Random, rate: float) -> None:
    """Two jamo of neighbouring syllables exchanged (한글 맞춤법 제1항): 한국 -> 학눅, 하는 -> 한느."""
    sites = set(_sites(draft))
    for position in sorted(sites):
        if {position, position + 1} <= sites and rng.random() < rate and _swap(draft, rng, position):
            sites -= {position, position + 1}


TYPING_RULES: dict[str, ErrorRule] = {
    "jamo_swapped": _jamo_swapped,
    **{name: partial(_change_each, name) for name in CHOICES},
}

WEIGHTS = rates_of("typing_slips")


def _slip_at(draft: Draft, rng: random.Random, position: int, may_swap: bool) -> set[int]:
    """One slip at ``position``; returns the positions it took.

    Ends because any jamo can be replaced.
    """
    while True:
        rule = rng.choices(tuple(WEIGHTS), tuple(WEIGHTS.values()))[0]
        if rule == "jamo_swapped":
            if may_swap and _swap(draft, rng, position):
                return {position, position + 1}
        elif _change(draft, rng, rule, position):
            return {position}


def _draw(sites: list[int], weights: list[float] | None, rng: random.Random) -> int:
    if weights is None:
        return rng.choice(sites)
    return rng.choices(sites, weights=[weights[site] for site in sites])[0]


def slip(draft: Draft, rng: random.Random, count: int, within: tuple[int, int] | None = None) -> int:
    """Make ``count`` slips at distinct random syllables and return how many were made.

    Fewer only where fewer syllables are left. The kind of each is drawn by ``WEIGHTS`` among the kinds its
    syllable can have; a swap takes two syllables and is drawn only while enough are left for the others.
    Syllables are drawn by the draft's weights, where it has them, and only those of the span ``within``.

    >>> draft = Draft("나무를 심자")
    >>> slip(draft, random.Random(0), 1), draft.wrong
    (1, '나무를 삼자')
    """
    if count < 0:
        raise ValueError(f"count should be 0 or more, received {count}")
    free = _sites(draft)
    if within:
        free = [site for site in free if within[0] <= site < within[1]]
    planned = min(count, len(free))
    for left in range(planned, 0, -1):
        position = _draw(free, draft.weights, rng)
        may_swap = len(free) > left and position + 1 in free
        taken = _slip_at(draft, rng, position, may_swap)
        free = [site for site in free if site not in taken]
    return planned
