"""``Draft``: a sentence into which rules put errors; ``Aim``: more errors in rarer words.

A network soon mends slips in words that it reads all the time; it learns most from slips in rare words. If
every syllable were equally likely to be hit, most slips would fall on common words.
"""

import random
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from os.path import commonprefix

from model.correction.counts import find_words
from training.noise import words_of


@dataclass(frozen=True)
class Edit:
    """One change by one rule. ``start:end`` is a span of characters of the CORRECT sentence."""

    rule: str  # e.g. "liaison"
    family: str  # pronunciation, typing, native or spacing
    start: int
    end: int


@dataclass
class Draft:
    """A right text, the cell that each of its characters has become, and the edits by which it did.

    ``cells[i]`` replaces ``text[i]``: usually one character; ``""`` after it was dropped; several characters
    after one was added beside it. Cells never move, so a later rule still knows which characters of the right
    sentence it touches.

    >>> draft = Draft("먹어요")
    >>> draft.put("liaison", "pronunciation", 0, ["머", "거"])
    >>> "".join(draft.cells), draft.edits[0].rule
    ('머거요', 'liaison')
    """

    text: str
    weights: list[float] | None = None  # how likely a slip is at each character; None: all alike
    cells: list[str] = field(init=False)
    edits: list[Edit] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.cells = list(self.text)

    @property
    def wrong(self) -> str:
        return "".join(self.cells)

    def touched(self, start: int, end: int) -> bool:
        """Whether an earlier rule already changed any character of ``start:end``.

        >>> draft = Draft("먹어요")
        >>> draft.put("liaison", "pronunciation", 0, ["머", "거"])
        >>> draft.touched(1, 3), draft.touched(2, 3)
        (True, False)
        """
        return any(edit.start < end and start < edit.end for edit in self.edits)

    def put(self, rule: str, family: str, start: int, cells: list[str]) -> None:
        """Overwrite the cells from ``start`` on and record the edit.

        Equal cells are not recorded.

        Raises ValueError for cells outside the sentence.
        """
        end = start + len(cells)
        if end > len(self.cells) or start < 0:
            raise ValueError(f"cells {start}:{end} lie outside a sentence of {len(self.cells)}")
        if self.cells[start:end] != cells:
            self.cells[start:end] = cells
            self.edits.append(Edit(rule, family, start, end))


# ``rule(draft, rng, rate)``: each of its places gets its error with probability ``rate``.
ErrorRule = Callable[[Draft, random.Random, float], None]


def edits_of(rule: ErrorRule, text: str, rng: random.Random) -> list[Edit]:
    """All edits that a rule can make in a right text."""
    draft = Draft(text)
    rule(draft, rng, 1.0)
    return draft.edits


@lru_cache(maxsize=4096)
def changed_cells(right: str, wrong: str) -> tuple[int, list[str]]:
    """The first changed character of ``right``, and one cell for each changed one.

    Where characters are only added they join the cell before them, or after them at the very start.

    >>> changed_cells("며칠", "몇일"), changed_cells("안 돼", "안돼"), changed_cells("먹어", "먹어요")
    ((0, ['몇', '일']), (1, ['']), (1, ['어요']))
    """
    prefix = len(commonprefix((right, wrong)))
    suffix = len(commonprefix((right[prefix:][::-1], wrong[prefix:][::-1])))
    if prefix + suffix == len(right):
        prefix, suffix = (prefix - 1, suffix) if prefix else (0, suffix - 1)
    old, new = right[prefix : len(right) - suffix], wrong[prefix : len(wrong) - suffix]
    if old.replace(" ", "") == new:
        return prefix, ["" if character == " " else character for character in old]
    missing = [""] * (len(old) - len(new))
    if missing:
        return prefix, [*missing, *new] if old[0] == " " else [*new, *missing]
    return prefix, [*new[: len(old) - 1], new[len(old) - 1 :]]


# A word that is met a hundred times as often is mistyped a fifth as often. Chosen, not fitted.
_EXPONENT = 0.35
# Particles, the longest first; without them 사과를 and 사과는 count as the same word.
_PARTICLES = tuple(sorted(words_of("draft")["particles"], key=len, reverse=True))
_SHORTEST_STEM = 2  # syllables that are left of a word without its particle


def stem(word: str) -> str:
    """The word without the particle at its end, where at least two syllables are left; without a
    dictionary.

    >>> stem("학교에서"), stem("나는")
    ('학교', '나는')
    """
    for particle in _PARTICLES:
        if word.endswith(particle) and len(word) - len(particle) >= _SHORTEST_STEM:
            return word[: -len(particle)]
    return word


class Aim:
    """The frequency of each word in some sentences, and by it the likelihood of a slip in its syllables."""

    def __init__(self, sentences: Iterable[str]):
        counts = Counter(stem(word) for text in sentences for _, word in find_words(text))
        self.counts = {word: count for word, count in counts.items() if count > 1}  # others count 1

    def count(self, word: str) -> int:
        """The count of the word in the sentences, with any particle; 1 also for an unknown one.

        >>> Aim(["바다로 간다.", "바다가 좋다."]).count("바다는")
        2
        """
        return self.counts.get(stem(word), 1)

    def weights(self, text: str) -> list[float]:
        """The weight of a slip at each character of ``text``, above 0; 1 outside of words.

        >>> aim = Aim(["바다로 간다."] * 9)
        >>> aim.weights("바다 꽃")[0] < aim.weights("바다 꽃")[3]
        True
        """
        weights = [1.0] * len(text)
        for start, word in find_words(text):
            weight = self.count(word) ** -_EXPONENT
            weights[start : start + len(word)] = [weight] * len(word)
        return weights


def choose_word(text: str, weights: list[float], rng: random.Random) -> tuple[int, int] | None:
    """The span of a word of two syllables or more, drawn by the weight of its syllables; None without such a
    word.

    >>> choose_word("이 바다", [1.0] * 4, random.Random(0))
    (2, 4)
    """
    spans = [(start, start + len(word)) for start, word in find_words(text) if len(word) > 1]
    if not spans:
        return None
    return rng.choices(spans, weights=[sum(weights[slice(*span)]) for span in spans])[0]
