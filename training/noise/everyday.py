"""Generator of right everyday sentences with spoken endings, from ``everyday.tsv``.

The corpora are mostly written language. These sentences have the endings of talk (방이 좁네요, 비가 올까 봐
우산을 샀어요) and the spaces of 한글 맞춤법. Each clause makes sense; two clauses together need not. Kiwi
joins stems and endings (Lee 2024, as in ``model/correction/morphemes.py``).
"""

import random
from functools import cache
from typing import NamedTuple

from model.correction.morphemes import join
from training.noise import read_lines, words_of


class Ending(NamedTuple):
    """An ending that is joined to a stem, and the words behind it."""

    joined: str
    behind: str


_LISTS = words_of("everyday")
_ENDINGS = {
    name: tuple(Ending(joined, behind) for joined, _, behind in (each.partition("|") for each in endings))
    for name, endings in _LISTS.items()
}


class Predicate(NamedTuple):
    """A verb or adjective, the words before it, and the nouns that it goes with."""

    before: tuple[str, ...]  # words before the stem: 비가 오-
    stem: str
    tag: str  # VV or VA, for Kiwi, with -I where it conjugates irregularly and -R where one might think so
    particle: str  # after the noun; "" where the nouns have their own
    nouns: tuple[str, ...]

    @property
    def is_verb(self) -> bool:
        return self.tag.startswith("VV")

    @property
    def can_be_negated(self) -> bool:
        """안 comes before 가다, but within 공부를 하다, and 있다 has another negation."""
        return self.stem == "하" or not self.stem.endswith(("하", "있", "없"))

    def endings(self, place: str) -> tuple[tuple[Ending, ...], tuple[Ending, ...]]:
        """Those of all words, and those of verbs or of adjectives, in a "middle" or a "final" clause.

        >>> [len(some) > 3 for some in predicates()[0].endings("final")]
        [True, True]
        """
        return _ENDINGS[place], _ENDINGS[f"{place}_of_{'verbs' if self.is_verb else 'adjectives'}"]


# With their tags; Kiwi makes 이 and 을 agree with the noun.
PARTICLES = {"이": "JKS", "을": "JKO", "에": "JKB", "에서": "JKB"}
_MARKS = ("", "", ".", ".", ".", "!", "?")
_BEGINS_SO, _NEGATED, _OF_TWO = 0.5, 0.15, 0.35  # shares of the clauses and sentences


@cache
def predicates() -> tuple[Predicate, ...]:
    """The rows of ``everyday.tsv``."""
    found = []
    for row in read_lines("everyday.tsv")[1:]:
        stem, tag, particle, nouns = row.split("\t")
        *before, own = stem.split(" ")
        found.append(Predicate(tuple(before), own, tag, particle, tuple(nouns.split(","))))
    return tuple(found)


def everyday_sentence(rng: random.Random) -> str:
    """One or two clauses, rightly spelt.

    >>> everyday_sentence(random.Random(3))
    '하루 종일 점심 먹고 잠이 왔을 때 물에 빠지는 걸 봤어요!'
    """
    words = [rng.choice(_LISTS["first"])] if rng.random() < _BEGINS_SO else []
    if rng.random() < _OF_TWO:
        words.append(_clause(rng, "middle"))
    words.append(_clause(rng, "final"))
    return " ".join(words) + rng.choice(_MARKS)


def _clause(rng: random.Random, place: str) -> str:
    said = rng.choice(predicates())
    ending = rng.choice(rng.choice(said.endings(place)))
    noun = rng.choice(said.nouns)
    words = [
        join([(noun, "NNG"), (said.particle, PARTICLES[said.particle])]) if said.particle else noun,
        *said.before,
    ]
    if said.can_be_negated and rng.random() < _NEGATED:
        words.append(rng.choice(("안", "안", "못")) if said.is_verb else "안")
    tag = "ETM" if ending.joined in ("은", "는", "을") else "EC"
    words.append(join([(said.stem, said.tag), (ending.joined, tag)]) + ending.behind)
    return " ".join(words)
