"""A predicate of the norm in the forms of everyday sentences, right and misspelt.

Sentences with slots and with a place for one mistake.

``<사람>[은/는] 감기가 다 {나았다|낳았다}.`` has a slot, a particle that agrees with the word before it, and a place with
the right form first. ``{맞는 말}`` would be a place without a mistake.

The sentences in which the norm is practised, read from the ``.toml`` files beside this one.

``slots.toml`` has lists of words by the name of the slot and the frames for single words. The others have a table for a
kind of ``model/norm``: ``sentences`` with a mistake and ``stay`` without one, a template a line (see ``template.py``), and
how often the kind comes (``weight``). A line, or a word of a slot, that begins with ``*`` is held out of practice.

Pairs in which one mistake against one article of the norm is made, and sentences that only look like such a mistake.

Practice of the norm of Korean spelling, article by article. The words are in ``model/norm``, the sentences here.
"""

import math
import random
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import accumulate
from typing import NamedTuple

from model.norm.kinds import Entry, Kind, Rule, attach, formal, kinds, past, rows, stem
from model.text.hangul import particle
from training.noise.native import Mistake, by_beginning, sites

# What is joined to each principal part, and what is written behind it. "|" parts the two.
_PLAIN = "지| 않았어요., 지| 않은 것 같아요., 던| 날이 생각난다., 기| 때문이에요., 네요|., 고| 나서 보니 괜찮았다., 지만| 괜찮아요., 거든요|."
_PLAIN_OF_VERBS = "고| 있어요., 고| 싶어요., 는| 중이에요., 는| 사람이 많아요., 지| 마세요., 게| 되었어요., 기| 전에 말해 주세요., 자고| 했어요., 다가| 멈췄다., 더라|."
_LINKED = "면| 좋겠어요., 니까| 걱정하지 마세요., ㄹ| 거예요., ㄹ| 때가 많아요., ㄴ| 것 같아요., ㄹ| 줄 몰랐다., ㄹ| 것이다."
_LINKED_OF_VERBS = "ㄴ| 적이 있어요., ㄹ| 수 있어요., 려고| 해요., 려면| 시간이 필요해요., 며| 웃었다., 면서| 노래를 불렀다., ㄴ| 뒤에 쉬었다."
_INFINITIVE = "요|., 서| 다행이에요., 도| 괜찮아요., | 보였다., 야| 한다."
_INFINITIVE_OF_VERBS = "야| 해요., | 봤어요., | 보세요., 서| 미안해요., 도| 돼요."
_PAST = "어요|., 다|., 습니다|., 지만| 괜찮아요., 던| 것 같아요., 을| 거예요."


def _split(endings: str) -> list[tuple[str, str]]:
    return [(end, rest) for end, _, rest in (each.strip().partition("|") for each in endings.split(", "))]


@cache
def clauses(entry: Entry) -> tuple[tuple[str, str], ...]:
    """(wrong, right) of a predicate, with what follows; only forms in which the two differ."""
    return tuple(
        (wrong, right)
        for spelling in entry.wrong
        for wrong, right in zip(_forms(spelling, entry), _forms(entry.right, entry), strict=True)
        if wrong != right
    )


def _forms(parts: str, entry: Entry) -> list[str]:
    of_verb, found = entry.word_class == "verbs", stem(parts)
    forms = [attach(found.plain, end) + rest for end, rest in _split(_PLAIN)]
    forms += [attach(found.linked, end) + rest for end, rest in _split(_LINKED)]
    forms += [found.infinitive + end + rest for end, rest in _split(_INFINITIVE)]
    forms += [past(found.infinitive) + end + rest for end, rest in _split(_PAST)]
    forms += [formal(found) + "니다.", formal(found) + "니까?"]
    if of_verb:
        forms += [attach(found.plain, end) + rest for end, rest in _split(_PLAIN_OF_VERBS)]
        forms += [attach(found.linked, end) + rest for end, rest in _split(_LINKED_OF_VERBS)]
        forms += [found.infinitive + end + rest for end, rest in _split(_INFINITIVE_OF_VERBS)]
    return forms


_PARTS = re.compile(r"<([^>]+)>|\{([^}]*)\}|\[([^/\]]+/[^\]]+)\]|([^<{\[]+)")


class Template:
    """One sentence with slots."""

    def __init__(self, text: str):
        self.text = text
        matches = _PARTS.finditer(text)
        self.parts = [(found.lastindex or 0, found[found.lastindex or 0]) for found in matches]
        self.places = [i for i, (kind, value) in enumerate(self.parts) if kind == 2 and "|" in value]

    def fill(self, slots: Mapping[str, Sequence[str]], rng: random.Random) -> tuple[str, str]:
        """(wrong, right), with one of its places wrong; twice the same if it has no place for a mistake."""
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
                one = other = _particle(value, right[-1])
            right += one
            wrong += other
        return wrong, right


@cache
def _particle(forms: str, last: str) -> str:
    return particle(forms, last)


FILES = ("sentences", "spaces")
LARGEST_SHARE = 8.0  # a kind with many words comes at most so many times as often as one with one word


@dataclass(frozen=True)
class NormPractice:
    """What there is to practise, or to measure on, of one kind."""

    kind: Kind
    entries: tuple[Entry, ...]
    sentences: tuple[Template, ...]
    stay: tuple[Template, ...]
    weight: float


@cache
def practices(held_out: bool) -> tuple[NormPractice, ...]:
    """Of every kind that has any, what is practised, or what is held out of it."""
    written = _written()
    found = []
    for name, kind in kinds().items():
        fields = written.get(name, {})
        entries = tuple(each for each in kind.entries if each.held_out == held_out)
        sentences, stay = (_templates(fields.get(key, ""), held_out) for key in ("sentences", "stay"))
        size = len(entries) + len(sentences)
        weight = min(LARGEST_SHARE, math.sqrt(size)) * fields.get("weight", 1.0)
        found.append(NormPractice(kind, entries, sentences, stay, weight))
    return tuple(found)


@cache
def slots(held_out: bool) -> dict[str, tuple[str, ...]]:
    """The words of each slot; of a slot without held-out ones, all."""
    lists = {
        name: [word.strip() for word in text.split(",")] for name, text in _slots_file()["slots"].items()
    }
    return {name: _chosen(words, held_out) for name, words in lists.items()}


@cache
def frames(word_class: str) -> tuple[Template, ...]:
    """Sentences for a single word, which stands in the slot ``<@>``."""
    return tuple(Template(line) for line in _lines(_slots_file()["frames"][word_class]))


def _chosen(words: list[str], held_out: bool) -> tuple[str, ...]:
    chosen = [word.removeprefix("*") for word in words if word.startswith("*") == held_out]
    return tuple(chosen or [word.removeprefix("*") for word in words])


def _templates(text: str, held_out: bool) -> tuple[Template, ...]:
    lines = [line for line in _lines(text) if line.startswith("*") == held_out]
    return tuple(Template(line.removeprefix("*")) for line in lines)


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


def _read(name: str) -> dict:
    return tomllib.loads(files("training.noise.norm").joinpath(f"{name}.toml").read_text("utf-8"))


@cache
def _slots_file() -> dict:
    return _read("slots")


@cache
def _written() -> dict[str, dict]:
    found = {name: fields for file in FILES for name, fields in _read(file).items()}
    if unknown := set(found) - set(kinds()):
        raise ValueError(f"sentences for kinds that model/norm does not have: {sorted(unknown)}")
    return found


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


__all__ = ["NormPair", "norm_counterexample", "norm_in", "norm_pair"]
