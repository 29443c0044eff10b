"""Morphological analysis of a text by Kiwi, or by a table in its place.

Kiwi (Lee 2024) has a language model of morphemes, trained on far more text than our network and our tables of
words, and it knows stems, particles and endings. It only rates the network's candidates; it proposes nothing
itself. It takes a second to load and keeps 230 MB, so a worker loads it once its network is there.

Kiwi's model takes 84 MB and may not fit where a model is trained. Training still needs to know which words
are nouns (``training/noise/spacing.py``) and how a stem and an ending are joined
(``training/noise/everyday.py``). A ``MorphemeTable`` has the most frequent analysis of each word, regardless
of its neighbours, and the results of the joins that training uses.
"""

import json
import lzma
import os
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, lru_cache
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

import numpy as np

_PARTS = re.compile(r"\w+|[^\w\s]")  # words, and signs one by one
UNKNOWN, SIGN = "UN", "SW"  # tags of Kiwi for an unknown word and for a sign


class Cut(NamedTuple):
    """One morpheme, named as Kiwi's tokens are."""

    tag: str
    start: int
    end: int


class MorphemeTable:
    """Answers ``tokenize`` and ``join`` as a Kiwi does, from a table.

    >>> table = MorphemeTable({"책이": (("NNG", 0, 1), ("JKS", 1, 2))}, {"책/NNG+이/JKS": "책이"})
    >>> table.tokenize("새 책이")
    [Cut(tag='UN', start=0, end=1), Cut(tag='NNG', start=2, end=3), Cut(tag='JKS', start=3, end=4)]
    >>> table.join([("책", "NNG"), ("이", "JKS")])
    '책이'
    """

    def __init__(self, words: Mapping[str, Sequence[tuple[str, int, int]]], joins: Mapping[str, str]):
        self.words, self.joins = words, joins

    def tokenize(self, text: str) -> list[Cut]:
        found = []
        for part in _PARTS.finditer(text):
            word, start = part[0], part.start()
            is_sign = len(word) == 1 and not word.isalnum()
            usual = ((SIGN if is_sign else UNKNOWN, 0, len(word)),)
            found += [Cut(tag, start + a, start + b) for tag, a, b in self.words.get(word, usual)]
        return found

    def join(self, morphemes: Sequence[tuple[str, str]]) -> str:
        """Raises KeyError for morphemes that were not joined when the table was made."""
        return self.joins[join_key(morphemes)]

    def write(self, path: Path) -> None:
        """Write the table as JSON, compressed by LZMA.

        Words that are cut alike share a line, which compresses better.
        """
        alike = defaultdict(list)
        for word, cut in sorted(self.words.items()):
            alike[" ".join(f"{tag} {start} {end}" for tag, start, end in cut)].append(word)
        text = json.dumps(
            {"words": {cut: " ".join(words) for cut, words in alike.items()}, "joins": self.joins},
            ensure_ascii=False,
        )
        path.write_bytes(lzma.compress(text.encode()))

    @classmethod
    def read(cls, path: Path) -> "MorphemeTable":
        content = json.loads(lzma.decompress(path.read_bytes()))
        words: dict[str, tuple[tuple[str, int, int], ...]] = {}
        for text, alike in content["words"].items():
            parts = text.split(" ")
            cut = tuple(
                (tag, int(start), int(end))
                for tag, start, end in zip(parts[::3], parts[1::3], parts[2::3], strict=True)
            )
            words |= dict.fromkeys(alike.split(" "), cut)
        return cls(words, content["joins"])


def join_key(morphemes: Iterable[tuple[str, str]]) -> str:
    """The key of a join in the table.

    >>> join_key([("책", "NNG"), ("이", "JKS")])
    '책/NNG+이/JKS'
    """
    return "+".join(f"{form}/{tag}" for form, tag in morphemes)


def words_of(text: str, cuts: Iterable[tuple[str, int, int]]) -> Iterable[tuple[str, tuple]]:
    """Each word of a text with its morphemes, counted from where the word begins; signs are left out.

    >>> list(words_of("새 책이", [("MM", 0, 1), ("NNG", 2, 3), ("JKS", 3, 4)]))
    [('새', (('MM', 0, 1),)), ('책이', (('NNG', 0, 1), ('JKS', 1, 2)))]
    """
    cuts = list(cuts)
    for part in _PARTS.finditer(text):
        start, end = part.span()
        own = tuple((tag, a - start, b - start) for tag, a, b in cuts if start <= a < end)
        if own and part[0].isalnum():
            yield part[0], own


def usual_cuts(counts: Counter) -> dict[str, tuple]:
    """For each word the cut that it had most often, from counts of (word, cut)."""
    best: dict[str, tuple[int, tuple]] = {}
    for (word, cut), count in counts.items():
        if word not in best or count > best[word][0]:
            best[word] = count, cut
    return {word: cut for word, (_, cut) in best.items()}


# Names a file of a ``MorphemeTable`` that replaces Kiwi; an environment variable, so that processes inherit
# it.
TABLE_VARIABLE = "MORPHEME_TABLE"
_loading = Lock()


def analyse(texts: Sequence[str]) -> np.ndarray:
    """(N, 3) for each text: the natural logarithm of the probability of its likeliest analysis, the number of
    its morphemes, and how many of these are not in Kiwi's lexicon.

    The first call loads Kiwi: about a second, and 230 MB that the process keeps.

    >>> analyse(["지붕을 개최했다", "지붕을 개초했다"])[:, 2].tolist()
    [0.0, 1.0]
    """
    return np.array([_analyse(text)[:3] for text in texts], float).reshape(-1, 3)


def longest_known(text: str, start: int, end: int) -> int:
    """How many characters the longest morpheme of the lexicon has that ``text[start:end]`` is a part of; 0
    without one. For an empty place it is the morpheme that goes on from before the place to behind it.

    >>> longest_known("비문을 탁본했다.", 4, 5), longest_known("그는 아경을 썼다.", 3, 4)
    (2, 1)
    """
    places = ((each.start, each.end) for each in _analyse(text)[3] if each.tag != UNKNOWN)
    if start == end:
        return max((stop - first for first, stop in places if first < start < stop), default=0)
    return max((stop - first for first, stop in places if first < end and start < stop), default=0)


_NOUN = re.compile(r"NN[GP] (?:XSN |NNB )?(?=(?:J[A-Z]+ |VCP |E[A-Z]+ )*\Z)")


def is_of_noun(text: str, start: int, end: int) -> bool:
    """Whether ``text[start:end]`` is a part of a word's noun: one of the lexicon of two syllables or more,
    and perhaps a suffix.

    >>> [is_of_noun("모든 관련설을", 5, 6), is_of_noun("모든 관련설을", 6, 7), is_of_noun("밥을 먹어", 0, 1)]
    [True, False, False]
    """
    first, last = text.rfind(" ", 0, start) + 1, f"{text} ".find(" ", end)
    cuts = [each for each in _analyse(text)[3] if first <= each.start < last and each.tag[0] != "S"]
    found = _NOUN.match("".join(f"{each.tag} " for each in cuts))
    if not found or cuts[0].end - cuts[0].start < 2:
        return False
    last = cuts[found[0].count(" ") - 1].end
    return start < last and text[last - 1] != "님"  # of a person: 생선님 is a slip


def is_tagged(text: str, start: int, end: int, tags: tuple[str, ...]) -> bool:
    """Whether ``text[start:end]`` is a part of morphemes whose tags begin with one of ``tags`` alone.

    >>> is_tagged("밥을 먹어", 3, 5, ("V", "E")), is_tagged("밥을 먹어", 1, 4, ("V", "E"))
    (True, False)
    """
    cuts = [each for each in _analyse(text)[3] if each.start < end and start < each.end]
    return bool(cuts) and all(each.tag.startswith(tags) for each in cuts)


# A sentence is read again once it is corrected, and again with each key: most of its words have been analysed
# then.
@lru_cache(maxsize=4096)
def _analyse(text: str) -> tuple[float, int, int, tuple[Cut, ...]]:
    """As ``analyse``, and the morphemes; the tag of those that are not in the lexicon is UNKNOWN."""
    found, log = load_kiwi().analyze(text)[0]
    cuts = tuple(Cut(UNKNOWN if each.oov else each.tag, each.start, each.end) for each in found)
    return log, len(cuts), sum(each.tag == UNKNOWN for each in cuts), cuts


def cut(text: str) -> list[tuple[str, int, int]]:
    """(tag, start, end) of each morpheme of the likeliest analysis: 책이 is a noun from 0 to 1 and a particle
    from 1 to 2.
    """
    return [(token.tag, token.start, token.end) for token in load_kiwi().tokenize(text)]


def join(morphemes: Sequence[tuple[str, str]]) -> str:
    """(form, tag) of morphemes as one text: 그립 and 어요 are 그리워요.

    The tags are those of Kiwi.
    """
    return load_kiwi().join(morphemes)


def load_kiwi() -> Any:
    """Kiwi, loaded once in a process; or the table that replaces it."""
    with _loading:  # else two threads would load it at once
        return _load()


@cache
def _load() -> Any:
    if table := os.environ.get(TABLE_VARIABLE):
        return MorphemeTable.read(Path(table))
    from kiwipiepy import Kiwi

    # The dictionaries of names and of words with spaces in them gained nothing and take as long and as much
    # memory again.
    kiwi = Kiwi(num_workers=1, load_default_dict=False, load_multi_dict=False, load_typo_dict=False)
    kiwi.analyze("")  # the first call reads the language model
    return kiwi
