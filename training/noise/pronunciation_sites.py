"""Applies pronunciation rules to a draft, at each boundary between a syllable and what follows it.

Almost every article of 표준 발음법 about consonants says what happens to a coda in front of an
onset. A rule states that once, on letters, as a ``LetterRule``; here it becomes a table of plain dict
lookups, because the generator runs some thirty rules over every sentence that training sees.
"""

import random
from collections.abc import Callable, Iterable, Mapping

from model.text.hangul import FINALS, FIRST_SYLLABLE, LAST_SYLLABLE, compose, decompose, indices, is_syllable
from training.noise.draft import Draft

FAMILY = "pronunciation"

# Obstruent codas by the stop that each is heard as: ㄱ, ㄷ, ㅂ (제8-11항).
K_CODAS, T_CODAS, P_CODAS = "ㄱㄲㅋㄳㄺ", "ㄷㅅㅆㅈㅊㅌ", "ㅂㅍㅄㄿ"

# (coda, onset, vowel, coda after it) -> (new coda, new onset, new vowel), or None where nothing
# happens. The last three arguments are "" where the word ends. An onset ㅇ is silent.
LetterRule = Callable[[str, str, str, str], tuple[str, str, str] | None]


class Followers(dict):
    """What may follow one coda -> (shift of the left code point, new right syllable or None).

    Filled on first sight of each right-hand syllable; None means the rule does not apply.
    """

    def __init__(self, coda: str, change: LetterRule):
        super().__init__()
        self.coda, self.change = coda, change
        self.at_end = self._hit("", "", "", "")

    def __missing__(self, right: str):
        if not is_syllable(right):
            return self.at_end
        self[right] = hit = self._hit(right, *decompose(right))
        return hit

    def _hit(self, right: str, initial: str, medial: str, final: str):
        result = self.change(self.coda, initial, medial, final)
        if result is None:
            return None
        coda, new_initial, new_medial = result
        new_right = compose(new_initial, new_medial, final) if right else right
        return FINALS.index(coda) - FINALS.index(self.coda), None if new_right == right else new_right


Table = Mapping[str, Followers]


def boundary_table(
    change: LetterRule, codas: Iterable[str], by_syllable: Mapping[str, LetterRule] | None = None
) -> Table:
    """Left syllable -> ``Followers``, for every syllable that ends in one of ``codas``.

    ``by_syllable`` gives single left syllables (밟, 넓, …) a change of their own.
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


def unchanged(coda: str, initial: str, medial: str, final: str) -> None:
    """A ``LetterRule`` that never applies."""


def word_table(pairs: Mapping[str, str]) -> Table:
    """``{"발전": "발쩐"}`` as a table: for what depends on the word and not on its letters."""
    table: dict[str, Followers] = {}
    for word, spoken in pairs.items():
        (left, right), (new_left, new_right) = tuple(word), tuple(spoken)
        shift = ord(new_left) - ord(left)
        if indices(left)[:2] != indices(new_left)[:2]:
            raise ValueError(f"only the coda of the first syllable may change: {left!r} -> {new_left!r}")
        row = table.setdefault(left, Followers(decompose(left)[2], unchanged))
        row[right] = (shift, None if new_right == right else new_right)
    return table


def rewrite(draft: Draft, rng: random.Random, rate: float, rule: str, table: Table) -> None:
    """Apply ``table`` at each boundary inside a word and at each end of a word."""
    cells, last = draft.cells, len(draft.cells) - 1
    for index, left in enumerate(cells):
        row = table.get(left)
        if row is None:
            continue
        hit = row[cells[index + 1] if index < last else ""]
        if hit is not None and rng.random() < rate:
            _write(draft, rule, index, index + 1, hit)


def rewrite_across_space(draft: Draft, rng: random.Random, rate: float, rule: str, table: Table) -> None:
    """Apply ``table`` where exactly one space stands between two syllables; the space stays."""
    cells = draft.cells
    for index in range(1, len(cells) - 1):
        if cells[index] != " ":
            continue
        row = table.get(cells[index - 1])
        if row is None or not is_syllable(cells[index + 1]):
            continue
        hit = row[cells[index + 1]]
        if hit is not None and rng.random() < rate:
            _write(draft, rule, index - 1, index + 1, hit)


def _write(draft: Draft, rule: str, left: int, right: int, hit: tuple[int, str | None]) -> None:
    """Put only the cells that change, so that the recorded span is the smallest one."""
    shift, new_right = hit
    new_left = chr(ord(draft.cells[left]) + shift)
    if new_right is None:
        draft.put(rule, FAMILY, left, [new_left])
    elif shift == 0:
        draft.put(rule, FAMILY, right, [new_right])
    else:
        draft.put(rule, FAMILY, left, [new_left, *draft.cells[left + 1 : right], new_right])


def replace_syllables(
    draft: Draft, rng: random.Random, rate: float, rule: str, replacements: Mapping[str, str]
) -> None:
    """Replace single syllables wherever they stand."""
    for index, syllable in enumerate(draft.cells):
        new = replacements.get(syllable)
        if new is not None and rng.random() < rate:
            draft.put(rule, FAMILY, index, [new])
