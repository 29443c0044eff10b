"""Pairs in which one mistake against one article of the norm is made, and sentences that only look like such a mistake."""

import random
from collections.abc import Callable
from functools import cache
from itertools import accumulate
from typing import NamedTuple

from model.norm.kinds import Entry, Rule, kinds, rows
from training.noise.native_table import Mistake, by_beginning, sites
from training.noise.norm.inflected import clauses
from training.noise.norm.table import NormPractice, frames, practices, slots

SENTENCE_SHARE = 0.5  # of the pairs of a kind that has words and sentences are made of its sentences
OPENED_SHARE = 0.4  # begin with a few more words
SHORTEST_ROW = 2  # characters of what is right
RIGHT_WORD_SHARE = 0.4  # of the sentences that are right already show a word that people often get wrong


class NormPair(NamedTuple):
    """A phrase or sentence with one mistake, and without it; twice the same if there is nothing to mend."""

    wrong: str
    right: str
    article: str
    name: str


def norm_pair(rng: random.Random, held_out: bool = False) -> NormPair:
    """One mistake of a word or in a sentence that is practised, or in one of those that are ``held_out``.

    >>> pair = norm_pair(random.Random(0))
    >>> pair.wrong != pair.right
    True
    """
    practice = _draw(rng, held_out, _has_mistakes)
    return _pair(*_mistaken(practice, rng, held_out), practice, rng)


def norm_counterexample(rng: random.Random, held_out: bool = False) -> NormPair:
    """A right sentence on both sides: one that looks like a mistake, or one with a word that people get wrong."""
    if rng.random() < RIGHT_WORD_SHARE:
        practice = _draw(rng, held_out, _has_mistakes)
        _, right = _mistaken(practice, rng, held_out)
    else:
        practice = _draw(rng, held_out, _has_stay)
        _, right = rng.choice(practice.stay).fill(slots(held_out), rng)
    return _pair(right, right, practice, rng)


def norm_in(text: str, rng: random.Random) -> tuple[str, str] | None:
    """(wrong, ``text``): a mistake of a practised word or of a rule, made in a right text. None if no mistake has room in it.

    Words that are held out are not touched. Of the kinds that have room one is drawn, each as likely as the next.
    """
    of_rows = _standing(text, held_out=False)
    kept_out = [place for places in _standing(text, held_out=True).values() for place in places]
    names = sorted(_rules().keys() | of_rows.keys())
    for name in rng.sample(names, len(names)):
        found = of_rows.get(name, []) + _ruled(name, text)
        free = [
            each for each in found if not any(each[0] < end and start < each[1] for start, end, _ in kept_out)
        ]
        if free:
            start, end, wrong = rng.choice(free)
            return text[:start] + wrong + text[end:], text
    return None


Mistaken = tuple[int, int, str]  # start, end and what is written there instead


def _standing(text: str, held_out: bool) -> dict[str, list[Mistaken]]:
    """Where rows stand in a correct text, by their kinds."""
    places: dict[str, list[Mistaken]] = {}
    for start, found in sites(text, _rows(held_out), SHORTEST_ROW):
        for row in found:
            places.setdefault(row.name, []).append((start, start + len(row.right), row.wrong))
    return places


def _ruled(name: str, text: str) -> list[Mistaken]:
    return [
        (*match.span(), wrong)
        for rule in _rules().get(name, ())
        for match in rule.pattern.finditer(text)
        for wrong in rule.spellings(match)
    ]


@cache
def _rules() -> dict[str, tuple[Rule, ...]]:
    return {name: kind.rules for name, kind in kinds().items() if kind.rules}


def _has_mistakes(practice: NormPractice) -> bool:
    return bool(practice.entries or practice.sentences)


def _has_stay(practice: NormPractice) -> bool:
    return bool(practice.stay)


@cache
def _drawn_from(held_out: bool, wanted: Callable) -> tuple[list[NormPractice], list[float]]:
    found = [each for each in practices(held_out) if wanted(each)]
    return found, list(accumulate(each.weight if wanted is _has_mistakes else 1.0 for each in found))


def _draw(rng: random.Random, held_out: bool, wanted: Callable) -> NormPractice:
    found, weights = _drawn_from(held_out, wanted)
    return rng.choices(found, cum_weights=weights)[0]


def _mistaken(practice: NormPractice, rng: random.Random, held_out: bool) -> tuple[str, str]:
    share = SENTENCE_SHARE if practice.entries and practice.sentences else bool(practice.sentences)
    if rng.random() < share:
        return rng.choice(practice.sentences).fill(slots(held_out), rng)
    return _of_word(rng.choice(practice.entries), rng)


def _of_word(entry: Entry, rng: random.Random) -> tuple[str, str]:
    """(wrong, right) of a word with some words beside it."""
    beside = rng.choice(entry.beside) if entry.beside else ""
    if entry.is_predicate:
        wrong, right = rng.choice(clauses(entry))
        return (f"{beside} {wrong}", f"{beside} {right}") if beside else (wrong, right)
    wrong, right = rng.choice(entry.wrong), entry.right
    if entry.word_class == "adverbs" and beside:
        return f"{wrong} {beside}.", f"{right} {beside}."
    # Its particle agrees with what is written: 케익은, but 케이크는.
    frame = rng.choice(frames(entry.word_class))
    return frame.fill({"@": (wrong,)}, rng)[1], frame.fill({"@": (right,)}, rng)[1]


def _pair(wrong: str, right: str, practice: NormPractice, rng: random.Random) -> NormPair:
    if rng.random() < OPENED_SHARE:
        opening = rng.choice(slots(False)["말머리"])
        wrong, right = f"{opening} {wrong}", f"{opening} {right}"
    return NormPair(wrong, right, practice.kind.article, practice.kind.name)


@cache
def _rows(held_out: bool) -> dict[str, list[Mistake]]:
    kept = [each for each in rows() if each.held_out == held_out]
    articles = {name: kind.article for name, kind in kinds().items()}
    mistakes = [Mistake(row.name, row.right, row.wrong, articles[row.name], row.boundary) for row in kept]
    return by_beginning(mistakes, SHORTEST_ROW)
