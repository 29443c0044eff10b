"""Error rules of pronunciation (표준 발음법): words written as they are heard.

The rules are in ``pronunciation.toml``, in their order, each with its weight and article. Almost every
article about consonants maps a coda and the onset behind it, and the file states it in these letters. A table
of plain dict lookups is made of it, because the generator runs some thirty rules over every sentence of a
training.
"""

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from model.text.hangul import (
    FINALS,
    FIRST_SYLLABLE,
    INITIALS,
    LAST_SYLLABLE,
    MEDIALS,
    compose,
    decompose,
    is_syllable,
)
from model.text.pronunciation import TENSE
from training.noise import read_toml
from training.noise.draft import Draft, ErrorRule

FAMILY = "pronunciation"
_FILE = read_toml("pronunciation")
_LISTS = _FILE["lists"]

# The shift of the left syllable's code point, and the new right syllable, None where it stays.
Hit = tuple[int, str | None]


class LetterChange(NamedTuple):
    """One line of ``letters``: a coda and the onset behind it, and both as they are heard."""

    left: str  # codas, or whole syllables
    right: str  # onsets, or whole syllables
    vowels: str  # of the right syllable; "" for any
    codas: str  # of the right syllable; "" for any
    heard: tuple[str, str, str] | None  # coda, onset, vowel; None where both stay as they are

    @classmethod
    def of(cls, line: str) -> "LetterChange":
        """Read a line. Raises ValueError for one in another form.

        >>> LetterChange.of("ㄷ ㅎ/ㅕ/-ㅆ → - ㅊ")
        LetterChange(left='ㄷ', right='ㅎ', vowels='ㅕ', codas='-ㅆ', heard=('-', 'ㅊ', ''))
        """
        before, arrow, after = line.partition("→")
        sides, heard = before.split(), after.split()
        if not arrow or len(sides) != 2 or len(heard) not in (0, 2):
            raise ValueError(f"a change should be CODA ONSET → CODA ONSET, received {line!r}")
        right, vowels, codas = (*sides[1].split("/"), "", "")[:3]
        onset, _, vowel = heard[1].partition("/") if heard else ("", "", "")
        return cls(sides[0], right, vowels, codas, (heard[0], onset, vowel) if heard else None)

    def fits_left(self, coda: str, syllable: str = "*") -> bool:
        """Whether the change acts behind this coda, or this whole syllable."""
        return self.left == "*" or syllable in self.left or (coda or "-") in self.left

    def fits_right(self, right: str) -> bool:
        """Whether the change acts before the syllable ``right``, "" for the end of a word."""
        onset, vowel, coda = decompose(right) if right else ("$", "", "")
        if self.right.startswith("^"):
            return onset not in self.right
        if onset not in self.right and (right or "$") not in self.right:
            return False
        return vowel in (self.vowels or vowel) and (coda or "-") in (self.codas or coda or "-")

    def hit(self, coda: str, right: str) -> Hit | None:
        """The change of a coda and the syllable behind it, both of which it fits."""
        if self.heard is None:
            return None
        onset, vowel, end = decompose(right) if right else ("", "", "")
        own = self.left.find(coda or "-")
        new_coda = _at(self.heard[0], own, coda)
        new_onset = _at(self.heard[1], self.right.find(onset) if len(self.right) > 1 else own, onset)
        new = compose(new_onset, self.heard[2] or vowel, end) if right else ""
        return FINALS.index(new_coda) - FINALS.index(coda), None if new == right else new


def _at(letters: str, place: int, old: str) -> str:
    """The letter at a place of several; a single one is for all. ``=`` is the old one, ``-`` is none."""
    letter = letters[place] if len(letters) > 1 else letters
    return {"=": old, "-": ""}.get(letter, letter)


class Followers(dict[str, Hit | None]):
    """Right-hand syllables of one coda -> (shift of the left code point, new right syllable or None).

    Filled on first sight of each right-hand syllable; None means that no change fits.
    """

    def __init__(self, coda: str, changes: Sequence[LetterChange] = ()):
        super().__init__()
        self.coda, self.changes = coda, changes
        self.at_end = self._hit("")

    def __missing__(self, right: str) -> Hit | None:
        if not is_syllable(right):
            return self.at_end
        self[right] = hit = self._hit(right)
        return hit

    def _hit(self, right: str) -> Hit | None:
        change = next((each for each in self.changes if each.fits_right(right)), None)
        return change.hit(self.coda, right) if change else None


Table = Mapping[str, Followers]


def letter_table(lines: str, words: str = "") -> Table:
    """Left syllable -> ``Followers``, for every syllable that the changes fit, or for some words alone.

    >>> letter_table("ㄱ ㄴㅁ → ㅇ =")["국"]["물"] == (ord("궁") - ord("국"), None)
    True
    """
    changes = [LetterChange.of(line) for line in lines.strip().splitlines()]
    fitting = ([each for each in changes if each.fits_left(coda)] for coda in FINALS)
    rows = [Followers(coda, own) for coda, own in zip(FINALS, fitting, strict=True)]
    points = range(FIRST_SYLLABLE, LAST_SYLLABLE + 1)
    table = {chr(point): row for point in points if (row := rows[(point - FIRST_SYLLABLE) % 28]).changes}
    for syllable in filter(is_syllable, "".join(each.left for each in changes)):
        coda = decompose(syllable)[2]
        table[syllable] = Followers(coda, [each for each in changes if each.fits_left(coda, syllable)])
    if not words:
        return table
    chosen: dict[str, Followers] = {}
    for left, right in map(tuple, words.split()):
        chosen.setdefault(left, Followers(table[left].coda))[right] = table[left][right]
    return chosen


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


Act = Callable[[str, Draft, random.Random, float], None]  # rule's name, draft, chance, rate


_WORDS_IN_UI = frozenset(_LISTS["ui_words"].split())
# Syllables that may carry -(으)ㄹ; 를 is a particle.
_L_SYLLABLES = frozenset(compose(i, m, "ㄹ") for i in INITIALS for m in MEDIALS) - {"를"}


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


def _after_l(rule: str, draft: Draft, rng: random.Random, rate: float) -> None:
    cells = draft.cells
    padded = [*cells, " ", " "]
    for index, left in enumerate(cells):
        if left not in _L_SYLLABLES:
            continue
        right, allowed = index + 1, _FILE["endings_of_l"] if left in _LISTS["future"] else {}
        if padded[right] == " ":
            right, allowed = index + 2, _FILE["nouns_after_l"]
        after = allowed.get(padded[right])
        if after is None or (is_syllable(padded[right + 1]) and padded[right + 1] not in after):
            continue
        if rng.random() < rate:
            initial, medial, final = decompose(padded[right])
            draft.put(rule, FAMILY, right, [compose(TENSE[initial], medial, final)])


def _other_vowels(line: str) -> dict[str, str]:
    """``"ㅈㅉㅊ ㅕ → ㅓ"``: every syllable with one of these onsets and this vowel -> with the other one."""
    onsets, old, _, new = line.split()
    chosen = set(INITIALS) - set(onsets) if onsets.startswith("^") else set(onsets)
    return {compose(onset, old, coda): compose(onset, new, coda) for onset in chosen for coda in FINALS}


_IN_CODE: dict[str, Act] = {
    "tensification_after_l": _after_l,
    "ui_not_first": partial(_ui, False),
    "ui_particle": partial(_ui, True),
}


def _rules() -> Iterator[tuple[str, ErrorRule]]:
    """The rules of ``pronunciation.toml`` with their names, in its order."""
    first_of: dict[str, Table] = {}
    for name, fields in _FILE["rules"].items():
        if name in _IN_CODE:
            act = _IN_CODE[name]
        elif "syllables" in fields:
            act = partial(_single, _other_vowels(fields["syllables"]))
        else:
            first, *more = fields.get("letters", [""])
            table = first_of[fields["as"]] if "as" in fields else letter_table(first, fields.get("words", ""))
            first_of[name] = table
            tables = [table, *map(letter_table, more)]
            is_across = fields.get("across_space", False)
            act = partial(_across_space, table) if is_across else partial(_inside, tables)
        yield name, partial(act, name)


PRONUNCIATION_RULES = dict(_rules())
# 1: 표준 발음법 prescribes it; below 1: it only permits it, or it is casual speech.
WEIGHTS: dict[str, float] = {name: fields["weight"] for name, fields in _FILE["rules"].items()}
PRESCRIBED = {name: weight for name, weight in WEIGHTS.items() if weight == 1.0}


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
