"""A table of what Kiwi, a morphological analyser, said about the words of a corpus. It replaces Kiwi during training.

Kiwi's model takes 84 MB and may not fit where a model is trained. Training still needs to know which words are nouns
(``training/noise/compounds.py``) and how a stem and an ending are joined (``training/noise/everyday.py``). The table has the most
frequent analysis of each word, whatever stood beside it, and the result of each join that was asked for.
"""

import json
import lzma
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

_PARTS = re.compile(r"\w+|[^\w\s]")  # words, and signs one by one
UNKNOWN, SIGN = "UN", "SW"  # tags of Kiwi for an unknown word and for a sign


class Cut(NamedTuple):
    """One morpheme, named as Kiwi's tokens are."""

    tag: str
    start: int
    end: int


class MorphemeTable:
    """Answers ``tokenize`` and ``join`` as a Kiwi does, from what was learnt.

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
        """Write the table as JSON, compressed by LZMA. Words that are cut alike stand together, which compresses better."""
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
    return "+".join(f"{form}/{tag}" for form, tag in morphemes)


def words_of(text: str, cuts: Iterable[tuple[str, int, int]]) -> Iterable[tuple[str, tuple]]:
    """Each word of a text with its morphemes, counted from where the word begins; signs are left out."""
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
