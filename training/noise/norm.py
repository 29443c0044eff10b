"""Training pairs for each article of the Korean spelling norm, and right look-alikes.

The words are in ``model/norm``, the sentences in the ``norm_*.toml`` files of this folder.
``norm_slots.toml`` has lists of words by the name of their slot, and frames for single words. The others have
a table for a kind of ``model/norm``: ``sentences`` with a mistake and ``stay`` without one, a template a
line, and how often the kind comes (``weight``). A line, or a word of a slot, that begins with ``*`` is held
out of practice.

A template: ``<사람>[은/는] 감기가 다 {나았다|낳았다}.`` has a slot, a particle that agrees with the word
before it, and a place with the right form first. ``{맞는 말}`` would be a place without a mistake.
"""

import math
import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import accumulate
from typing import NamedTuple

from model.norm.kinds import WHOLE_FORMS, Entry, Kind, RowIndex, Rule, Stem, kinds, rows
from model.text.hangul import particle
from training.noise import read_toml, words_of

_FILES = ("sentences", "spaces")
LARGEST_SHARE = 8.0  # a kind with many words comes at most so many times as often as one with one word
SENTENCE_SHARE = 0.5  # of the pairs of a kind that has words and sentences are made of its sentences
OPENED_SHARE = 0.4  # begin with a few more words
SHORTEST_ROW = 2  # characters of the right spelling
RIGHT_WORD_SHARE = 0.4  # of the sentences that are right already show a word that people often get wrong

# Endings of each principal part, with the text behind them.
_ENDINGS = {
    name: [(end, rest) for end, _, rest in (each.partition("|") for each in endings)]
    for name, endings in words_of("norm").items()
}


class NormPair(NamedTuple):
    """A phrase or sentence with one mistake, and without it; twice the same if nothing is mistaken."""

    wrong: str
    right: str
    article: str
    name: str  # of the kind


class Template:
    """One sentence with slots."""

    _PARTS = re.compile(r"<([^>]+)>|\{([^}]*)\}|\[([^/\]]+/[^\]]+)\]|([^<{\[]+)")

    def __init__(self, text: str):
        self.text = text
        matches = self._PARTS.finditer(text)
        self.parts = [(match.lastindex or 0, match[match.lastindex or 0]) for match in matches]
        self.places = [i for i, (kind, value) in enumerate(self.parts) if kind == 2 and "|" in value]

    def fill(self, slots: Mapping[str, Sequence[str]], rng: random.Random) -> tuple[str, str]:
        """Draw (wrong, right), with one of its places wrong; twice the same if it has no place for a mistake.

        >>> Template("<과일>[을/를] {먹었다|먹엇다}.").fill({"과일": ["사과"]}, random.Random(0))
        ('사과를 먹엇다.', '사과를 먹었다.')
        """
        mistaken = rng.choice(self.places) if self.places else None
        right = wrong = ""
        for index, (kind, value) in enumerate(self.parts):
            one = other = value
            if kind == 1:
                one = other = rng.choice(slots[value])
            elif kind == 2:
                one, *others = value.split("|")
                other = rng.choice(others) if index == mistaken else one
            elif kind == 3:
                one = other = particle(value, right[-1])
            right += one
            wrong += other
        return wrong, right


@dataclass(frozen=True)
class NormPractice:
    """The words and sentences of one kind that are practised, or measured on."""

    kind: Kind
    entries: tuple[Entry, ...]
    sentences: tuple[Template, ...]
    stay: tuple[Template, ...]
    weight: float

    @property
    def has_mistakes(self) -> bool:
        return bool(self.entries or self.sentences)


def norm_pair(rng: random.Random, held_out: bool = False, practice: NormPractice | None = None) -> NormPair:
    """Draw one mistake of a word or in a sentence that is practised, or of those that are ``held_out``.

    Args:
        practice: One of ``practices(held_out)``; without it one is drawn.

    >>> pair = norm_pair(random.Random(0))
    >>> pair.wrong != pair.right
    True
    """
    practice = practice or _draw(rng, held_out, mistaken=True)
    return _pair(*_mistaken(practice, rng, held_out), practice, rng)


def norm_counterexample(rng: random.Random, held_out: bool = False) -> NormPair:
    """Draw a right sentence for both sides: one that looks like a mistake, or one with a word that people get
    wrong.

    >>> pair = norm_counterexample(random.Random(0))
    >>> pair.wrong == pair.right
    True
    """
    if rng.random() < RIGHT_WORD_SHARE:
        practice = _draw(rng, held_out, mistaken=True)
        _, right = _mistaken(practice, rng, held_out)
    else:
        practice = _draw(rng, held_out, mistaken=False)
        _, right = rng.choice(practice.stay).fill(slots(held_out), rng)
    return _pair(right, right, practice, rng)


def norm_in(text: str, rng: random.Random) -> tuple[str, str] | None:
    """(wrong, ``text``): a mistake of a practised word or of a rule, made in a right text.

    None if it has no room for one.

    Words that are held out are not touched. Of the kinds that have room one is drawn, each as likely as the
    next.

    >>> norm_in("며칠 뒤에 갈게.", random.Random(0))
    ('며칠뒤에 갈게.', '며칠 뒤에 갈게.')
    """
    by_kind = _row_sites(text, held_out=False)
    kept = [site for sites in _row_sites(text, held_out=True).values() for site in sites]
    rules = {name: kind.rules for name, kind in kinds().items() if kind.rules}
    names = sorted(rules.keys() | by_kind.keys())
    for name in rng.sample(names, len(names)):
        sites = by_kind.get(name, []) + _rule_sites(rules.get(name, ()), text)
        free = [
            site for site in sites if not any(site[0] < end and start < site[1] for start, end, _ in kept)
        ]
        if free:
            start, end, wrong = rng.choice(free)
            return text[:start] + wrong + text[end:], text
    return None


_Site = tuple[int, int, str]  # start, end, and the wrong spelling for it


def _row_sites(text: str, held_out: bool) -> dict[str, list[_Site]]:
    """The sites of rows in a correct text, by their kinds."""
    by_kind: dict[str, list[_Site]] = {}
    for start, found in _rows(held_out).sites(text):
        for row in found:
            by_kind.setdefault(row.name, []).append((start, start + len(row.right), row.wrong))
    return by_kind


def _rule_sites(rules: Sequence[Rule], text: str) -> list[_Site]:
    return [
        (*match.span(), wrong)
        for rule in rules
        for match in rule.pattern.finditer(text)
        for wrong in rule.spellings(match)
    ]


@cache
def _rows(held_out: bool) -> RowIndex:
    return RowIndex((row for row in rows() if row.held_out == held_out), SHORTEST_ROW)


@cache
def _choices(held_out: bool, mistaken: bool) -> tuple[list[NormPractice], list[float]]:
    """The practices to draw from, and their cumulated weights."""
    chosen = [each for each in practices(held_out) if (each.has_mistakes if mistaken else each.stay)]
    return chosen, list(accumulate(each.weight if mistaken else 1.0 for each in chosen))


def _draw(rng: random.Random, held_out: bool, mistaken: bool) -> NormPractice:
    choices, weights = _choices(held_out, mistaken)
    return rng.choices(choices, cum_weights=weights)[0]


def _mistaken(practice: NormPractice, rng: random.Random, held_out: bool) -> tuple[str, str]:
    share = SENTENCE_SHARE if practice.entries and practice.sentences else bool(practice.sentences)
    if rng.random() < share:
        return rng.choice(practice.sentences).fill(slots(held_out), rng)
    return _of_word(rng.choice(practice.entries), rng)


def _of_word(entry: Entry, rng: random.Random) -> tuple[str, str]:
    """(wrong, right) of a word with some words beside it."""
    beside = rng.choice(entry.beside) if entry.beside else ""
    if entry.is_predicate:
        wrong, right = rng.choice(_clauses(entry))
        return (f"{beside} {wrong}", f"{beside} {right}") if beside else (wrong, right)
    wrong, right = rng.choice(entry.wrong), entry.right
    if entry.word_class == "adverbs" and beside:
        return f"{wrong} {beside}.", f"{right} {beside}."
    # Its particle agrees with the word as it is written: 케익은, but 케이크는.
    frame = rng.choice(_frames(entry.word_class))
    return frame.fill({"@": (wrong,)}, rng)[1], frame.fill({"@": (right,)}, rng)[1]


def _pair(wrong: str, right: str, practice: NormPractice, rng: random.Random) -> NormPair:
    if rng.random() < OPENED_SHARE:
        opening = rng.choice(slots(False)["말머리"])
        wrong, right = f"{opening} {wrong}", f"{opening} {right}"
    return NormPair(wrong, right, practice.kind.article, practice.kind.name)


@cache
def _clauses(entry: Entry) -> tuple[tuple[str, str], ...]:
    """(wrong, right) of a predicate with the text behind it; only forms in which the two differ."""
    return tuple(
        (wrong, right)
        for spelling in entry.wrong
        for wrong, right in zip(_forms(spelling, entry), _forms(entry.right, entry), strict=True)
        if wrong != right
    )


def _forms(parts: str, entry: Entry) -> list[str]:
    stem, of_verb = Stem.of(parts), entry.word_class != "adjectives"

    def forms(behind: str) -> list[str]:
        return [stem.form(part, end) + rest for part in WHOLE_FORMS for end, rest in _ENDINGS[part + behind]]

    usual = [*forms(""), *(stem.past + end + rest for end, rest in _ENDINGS["past"])]
    return [*usual, stem.formal + "니다.", stem.formal + "니까?", *(forms("_of_verbs") if of_verb else ())]


@cache
def practices(held_out: bool) -> tuple[NormPractice, ...]:
    """The practice of every kind, or the part that is held out of it.

    Raises ValueError for sentences of a kind that ``model/norm`` lacks.
    """
    written = {name: fields for file in _FILES for name, fields in read_toml(f"norm_{file}").items()}
    if unknown := set(written) - set(kinds()):
        raise ValueError(f"sentences for kinds that model/norm does not have: {sorted(unknown)}")
    made = []
    for name, kind in kinds().items():
        fields = written.get(name, {})
        entries = tuple(each for each in kind.entries if each.held_out == held_out)
        sentences, stay = (_templates(fields.get(key, ""), held_out) for key in ("sentences", "stay"))
        size = len(entries) + len(sentences)
        weight = min(LARGEST_SHARE, math.sqrt(size)) * fields.get("weight", 1.0)
        made.append(NormPractice(kind, entries, sentences, stay, weight))
    return tuple(made)


@cache
def slots(held_out: bool) -> dict[str, tuple[str, ...]]:
    """The words of each slot; of a slot without held-out ones, all."""
    slots = read_toml("norm_slots")["slots"]
    lists = {name: [word.strip() for word in text.split(",")] for name, text in slots.items()}
    return {name: _chosen(words, held_out) or _chosen(words, not held_out) for name, words in lists.items()}


@cache
def _frames(word_class: str) -> tuple[Template, ...]:
    """Sentences for a single word, whose slot is ``<@>``."""
    return tuple(map(Template, _lines(read_toml("norm_slots")["frames"][word_class])))


def _chosen(words: Sequence[str], held_out: bool) -> tuple[str, ...]:
    return tuple(word.removeprefix("*") for word in words if word.startswith("*") == held_out)


def _templates(text: str, held_out: bool) -> tuple[Template, ...]:
    return tuple(map(Template, _chosen(_lines(text), held_out)))


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]
