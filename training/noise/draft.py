"""``Draft``: a right sentence that is being made wrong. Every error rule reads it and writes into it.

Puts slips into the rarer words of a sentence more often than into its common ones.

A network soon mends slips in words that it reads all the time; it learns most from slips in rare words. If every syllable were equally
likely to be hit, most slips would fall on common words.
"""

import random
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from model.correction.words import find_words

FAMILIES = ("pronunciation", "typing", "native", "spacing")


@dataclass(frozen=True)
class Edit:
    """One thing one rule did. ``start:end`` is a span of characters of the CORRECT sentence."""

    rule: str  # e.g. "liaison"
    family: str  # one of FAMILIES
    start: int
    end: int


@dataclass
class Draft:
    """The right text, what stands at each of its characters now, and which rule changed it.

    ``cells[i]`` is what has become of ``text[i]``: usually one character; ``""`` after it was dropped; several characters after
    something was added beside it. Cells never move, so a later rule still knows which characters of the right sentence it
    touches.

    >>> draft = Draft("먹어요")
    >>> draft.put("liaison", "pronunciation", 0, ["머", "거"])
    >>> "".join(draft.cells), draft.edits[0].rule
    ('머거요', 'liaison')
    """

    text: str
    weights: list[float] | None = None  # how likely a slip is at each character; None: at all alike
    cells: list[str] = field(init=False)
    edits: list[Edit] = field(default_factory=list)

    def __post_init__(self):
        self.cells = list(self.text)

    @property
    def wrong(self) -> str:
        return "".join(self.cells)

    def touched(self, start: int, end: int) -> bool:
        """Whether an earlier rule already changed any character of ``start:end``."""
        return any(edit.start < end and start < edit.end for edit in self.edits)

    def put(self, rule: str, family: str, start: int, cells: list[str]) -> None:
        """Overwrite the cells from ``start`` on and record the edit. Equal cells are not recorded."""
        end = start + len(cells)
        if end > len(self.cells) or start < 0:
            raise ValueError(f"cells {start}:{end} lie outside a sentence of {len(self.cells)}")
        if self.cells[start:end] != cells:
            self.cells[start:end] = cells
            self.edits.append(Edit(rule, family, start, end))


# A word that is met a hundred times as often is mistyped a fifth as often. Chosen, not fitted.
EXPONENT = 0.35
# Particles, the longest first; without them 사과를 and 사과는 count as the same word.
PARTICLES = tuple(
    sorted(
        "은 는 이 가 을 를 에 의 도 로 으로 만 과 와 에서 에게 까지 부터 처럼 보다 이나 에는 에도 에서는 으로는 이라는 "
        "라는 이라고 입니다 이다 들 들은 들이 들을 들의".split(),
        key=len,
        reverse=True,
    )
)
SHORTEST_STEM = 2  # syllables that are left of a word without its particle


def stem(word: str) -> str:
    """The word without the particle at its end, where at least two syllables are left; no dictionary is asked."""
    for particle in PARTICLES:
        if word.endswith(particle) and len(word) - len(particle) >= SHORTEST_STEM:
            return word[: -len(particle)]
    return word


class Aim:
    """How often each word stands in some sentences, and how likely its syllables are to be mistyped."""

    def __init__(self, sentences: Iterable[str]):
        counts = Counter(stem(word) for text in sentences for _, word in find_words(text))
        self.counts = {word: count for word, count in counts.items() if count > 1}  # others count 1

    def count(self, word: str) -> int:
        """How often the word stands in the sentences, with any particle; 1 also for one that does not."""
        return self.counts.get(stem(word), 1)

    def weights(self, text: str) -> list[float]:
        """For each character of ``text`` how likely a slip is, above 0; 1 for what is in no word."""
        weights = [1.0] * len(text)
        for start, word in find_words(text):
            weight = self.count(word) ** -EXPONENT
            weights[start : start + len(word)] = [weight] * len(word)
        return weights


def choose_word(text: str, weights: list[float], rng: random.Random) -> tuple[int, int] | None:
    """The span of a word of two syllables or more, drawn by the weight of its syllables; None without such a word."""
    spans = [(start, start + len(word)) for start, word in find_words(text) if len(word) > 1]
    if not spans:
        return None
    return rng.choices(spans, weights=[sum(weights[slice(*span)]) for span in spans])[0]
