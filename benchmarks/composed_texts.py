"""Generator of test texts: prose among marks, repetitions, code, names and addresses.

The same seed composes the same texts. The prose is that of the files beside this one, the wrong and the right
side alike.

Example:
    >>> [text] = compose(seed=0, count=1)
    >>> text.text == "".join(part.text for part in text.parts)
    True
    >>> kind, text = span("inline", random.Random(1))
    >>> kind in PROTECTED
    True
"""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from benchmarks.sentences import WORDS
from training.corpus.corpus import read_pairs

PROTECTED = frozenset(
    ("address", "path", "hashtag", "mention", "file name", "code", "JSON", "mark-up", "password")
)

_WORDS = WORDS["harm"]
JOINED, NAMES, TITLES = _WORDS["joined"], _WORDS["names"], _WORDS["titles"]


def name_with_title(rng: random.Random) -> str:
    return rng.choice(NAMES) + rng.choice(TITLES)


# Spans inside a sentence and whole lines that no correction may touch: place, kind, and a text in which {0}
# and {1} are joined words.
SPANS = Path(__file__).with_name("harm_spans.tsv")


@cache
def _spans(place: str) -> tuple[list[str], ...]:
    rows = (line.split("\t") for line in SPANS.read_text("utf-8").splitlines())
    return tuple(row[1:] for row in rows if row[0] == place)


def span(place: str, rng: random.Random) -> tuple[str, str]:
    """(kind, text) of a span inside a sentence ("inline"), or of a whole line of code or JSON ("line")."""
    kind, text = rng.choice(_spans(place))
    words = rng.choice(JOINED), rng.choice(JOINED)
    return kind, text.format(*words, number=rng.randint(1, 99), name=rng.choice(NAMES))


FOLDER = Path(__file__).parent
MOST_REPETITIONS = 20


@dataclass(frozen=True)
class ComposedPart:
    """One piece of a composed text. ``start`` is where it begins there."""

    start: int
    text: str
    kind: str  # "prose", "name", "mark", or one of PROTECTED

    @property
    def end(self) -> int:
        return self.start + len(self.text)

    @property
    def is_protected(self) -> bool:
        """Whether no correction may touch it: an address, a tag, code …"""
        return self.kind in PROTECTED


@dataclass(frozen=True)
class Repetition:
    """``times`` times the same ``unit``, with ``between`` between each two."""

    unit: str
    between: str
    times: int


@dataclass(frozen=True)
class ComposedText:
    """A text and its parts.

    ``recipe`` names their order; ``repetition`` is set only if the whole text is one.
    """

    recipe: str
    parts: tuple[ComposedPart, ...]
    repetition: Repetition | None = None

    @property
    def text(self) -> str:
        return "".join(part.text for part in self.parts)

    @property
    def protected(self) -> tuple[ComposedPart, ...]:
        return tuple(part for part in self.parts if part.is_protected)


Piece = tuple[str, str]  # (kind, text)
Random = random.Random


@cache
def own_sentences() -> tuple[str, ...]:
    """Both sides of all pairs in the files of this folder, each once, sorted."""
    pairs = [pair for path in sorted(FOLDER.glob("*.csv")) for pair in read_pairs(path)]
    return tuple(sorted({side for pair in pairs for side in (pair.source, pair.target)}))


def prose(rng: Random) -> str:
    return rng.choice(own_sentences())


def few_words(rng: Random) -> str:
    """One to three neighbouring words of a sentence, without the mark at its end."""
    words = prose(rng).rstrip(".!?…~").split()
    length = min(rng.randint(1, 3), len(words))
    start = rng.randint(0, len(words) - length)
    return " ".join(words[start : start + length])


def sentences(rng: Random) -> list[Piece]:
    pieces = [("prose", prose(rng))]
    for _ in range(rng.randint(0, 3)):
        pieces += [("mark", rng.choice((" ", " ", "\n", "\n\n"))), ("prose", prose(rng))]
    return pieces


def listed(rng: Random) -> list[Piece]:
    """Lines behind the same bullet, or behind numbers."""
    bullet = rng.choice(_WORDS["bullets"])
    say = rng.choice((prose, few_words))
    pieces: list[Piece] = []
    for number in range(1, rng.randint(2, 5)):
        pieces += [("mark", ("\n" if pieces else "") + bullet.format(number)), ("prose", say(rng))]
    return pieces


def table(rng: Random) -> list[Piece]:
    bar = rng.choice((" | ", "\t", ",", ";", " / "))
    columns = rng.randint(2, 4)
    pieces: list[Piece] = [("mark", "| ")] if bar == " | " else []
    for row in range(rng.randint(1, 3)):
        if row:
            pieces.append(("mark", " |\n| " if bar == " | " else "\n"))
        for column in range(columns):
            cell = few_words(rng) if rng.random() < 0.8 else name_with_title(rng)
            pieces += [("mark", bar)] * bool(column) + [("prose", cell)]
    return pieces + ([("mark", " |")] if bar == " | " else [])


def beside_a_span(rng: Random) -> list[Piece]:
    """A sentence with an address, a hashtag, a path … before it, behind it or between two of its words."""
    words = prose(rng).split(" ")
    place = rng.choice((0, len(words), rng.randint(0, len(words))))
    pieces: list[Piece] = [span("inline", rng)]
    if place:
        pieces = [("prose", " ".join(words[:place])), ("mark", " "), *pieces]
    if place < len(words):
        pieces += [("mark", " "), ("prose", " ".join(words[place:]))]
    return pieces


def marked_up(rng: Random) -> list[Piece]:
    """Prose inside tags or the signs of Markdown."""
    tag = rng.choice(_WORDS["tags"])
    opening, closing = (mark.format(tag) for mark in rng.choice(_WORDS["mark_up"]))
    inside = rng.choice((prose, few_words))(rng)
    pieces: list[Piece] = [("mark-up", opening), ("prose", inside), ("mark-up", closing)]
    return pieces + ([("mark", " "), ("prose", prose(rng))] if rng.random() < 0.5 else [])


def coded(rng: Random) -> list[Piece]:
    """A line of code or JSON, alone or under a sentence."""
    code = span("line", rng)
    return [code] if rng.random() < 0.4 else [("prose", prose(rng)), ("mark", "\n"), code]


def noted(rng: Random) -> list[Piece]:
    """A few words between marks, as in notes."""
    pieces: list[Piece] = []
    for _ in range(rng.randint(1, 4)):
        before, _, after = rng.choice(_WORDS["note_marks"]).partition("|")
        if pieces:
            pieces.append(("mark", " "))
        is_prose = rng.random() < 0.8
        words = ("prose", few_words(rng)) if is_prose else ("mention", f"@{rng.choice(NAMES)}")
        pieces += [("mark", before), words, ("mark", after)]
    return [piece for piece in pieces if piece[1]]


def named(rng: Random) -> list[Piece]:
    """A name and a sentence, some with a laugh."""
    pieces: list[Piece] = [("name", name_with_title(rng)), ("mark", rng.choice((": ", ", ", " - ")))]
    pieces.append(("prose", prose(rng)))
    if rng.random() < 0.5:
        pieces.append(("mark", rng.choice((" ㅋㅋ", " ㅠㅠ", " ㅎㅎ", " ^^", " 👍"))))
    return pieces


def repetition(rng: Random) -> Repetition:
    makers = (prose, " "), (prose, "\n"), (few_words, " "), (few_words, ", "), (few_words, "\n")
    unit, between = rng.choice([(make(rng), between) for make, between in makers])
    return Repetition(unit, between, rng.randint(2, MOST_REPETITIONS))


RECIPES: dict[str, Callable[[Random], list[Piece]]] = {
    make.__name__: make for make in (sentences, listed, table, beside_a_span, marked_up, coded, noted, named)
}


def compose(seed: int, count: int) -> list[ComposedText]:
    """``count`` texts; each recipe in turn, and every ninth a repetition."""
    rng, names = random.Random(seed), [*RECIPES, "repeated"]
    return [_composed(names[number % len(names)], rng) for number in range(count)]


def _composed(recipe: str, rng: Random) -> ComposedText:
    if recipe in RECIPES:
        return ComposedText(recipe, _placed(RECIPES[recipe](rng)))
    what = repetition(rng)
    pieces = [("prose", what.unit), ("mark", what.between)] * what.times
    return ComposedText(recipe, _placed(pieces[:-1]), what)


def _placed(pieces: Sequence[Piece]) -> tuple[ComposedPart, ...]:
    parts, start = [], 0
    for kind, text in pieces:
        parts.append(ComposedPart(start, text, kind))
        start += len(text)
    return tuple(parts)
