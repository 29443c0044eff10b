"""Counts from the training sentences: of words, and of runs of characters.

``words.txt.gz`` in a model folder holds a word and its count a line: text that can be read. As a dictionary
the shipped words would take 30 MB and a tenth of a second, before the first sentence is answered. A sentence
needs some ten words, and each is looked up in the sorted text by bisection.

``ngrams.npz`` holds the counts of runs of up to five characters as a tree: after each run the characters that
follow it. They are a character n-gram language model with Witten-Bell smoothing and Kneser-Ney counts. The
network saw each training sentence only a few times and has few parameters to remember them with. A table of
counts forgets nothing. The model interpolates: the distribution after a long run is mixed with that after its
shorter endings. The more different characters followed a run, the more weight its endings get (Witten and
Bell 1991; Chen and Goodman 1999, section 2.4). The shortest runs count how many different characters precede
them, not how often they occur (Kneser and Ney 1995), because a character that always follows the same one is
not usual elsewhere. KenLM estimates such models faster, but has to be compiled where it is installed; NumPy
alone reads this table.
"""

import gzip
import math
import re
import zlib
from collections import Counter
from collections.abc import Callable, ItemsView, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise, takewhile
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np

from model.stored.folder import read_npz
from model.text.changes import Change

# Each part takes all it can and gives nothing back: with ordinary repetition the check takes four times as
# long.
_TABLE = re.compile(r"(?:[^ \n]++ [0-9]++\n)*+")


class WordTable(Mapping[str, int]):
    """The number of each word.

    Each line of ``text`` is a word, a space and its number; lines are sorted by code points.

    >>> WordTable("집 3\\n학교 9\\n")["학교"]
    9

    Raises ValueError for a text of another form. A text that is not sorted is taken, and words are missed in
    it.
    """

    def __init__(self, text: str):
        end = _TABLE.match(text).end()  # type: ignore[union-attr]  # it matches the empty text, too
        if end < len(text):
            raise ValueError(f"no word and number: {text[end : end + 20]!r}")
        self._text = text

    def __getitem__(self, word: str) -> int:
        text = self._text
        first, stop = 0, len(text)  # where lines begin between which the word would be
        while first < stop:
            start = text.rfind("\n", first, (first + stop) // 2) + 1 or first
            gap = text.find(" ", start)
            found, end = text[start:gap], text.find("\n", gap)
            if found == word:
                return int(text[gap + 1 : end])
            if found < word:
                first = end + 1
            else:
                stop = start
        raise KeyError(word)

    def __iter__(self) -> Iterator[str]:
        return iter(self._text.split()[::2])

    def __len__(self) -> int:
        return self._text.count("\n")

    def items(self) -> ItemsView[str, int]:
        fields = iter(self._text.split())
        return dict(zip(fields, map(int, fields), strict=True)).items()


LARGEST = 32_000_000  # bytes of text that are read; the shipped table has a tenth
SHORT_AND_LONG = {
    ("였", "었"),
    ("여", "어"),
    ("예", "에"),
}  # behind 이, where it is a noun's; where it is the copula
_WORD = re.compile("[가-힣]+")  # a run of whole syllables; digits, Latin letters and single jamo end it


def find_words(text: str) -> Iterator[tuple[int, str]]:
    """(where it begins, the word) for each word of Hangul, particles and endings included.

    >>> list(find_words("밥을 3번 먹어요!"))
    [(0, '밥을'), (4, '번'), (6, '먹어요')]
    """
    return ((match.start(), match[0]) for match in _WORD.finditer(text))


def touching(text: str, start: int, end: int) -> list[str]:
    """The words that hold a character of ``text[start:end]``, or that begin or end at its edges.

    >>> touching("밥을 머거요", 3, 5)
    ['머거요']
    """
    while start and _WORD.match(text[start - 1]):  # to where the word begins that holds it
        start -= 1
    words = takewhile(lambda match: match.start() <= end, _WORD.finditer(text, start))
    return [match[0] for match in words]


class Known(NamedTuple):
    """How well some words are known. Each measure is that of the least known word."""

    whole: float  # log(1 + the count of the word in the training sentences)
    beginning: float  # the share of the word that its longest known beginning covers, 1 for a known word
    beginning_count: float  # log(1 + the count of that beginning as a word)


MEASURED = 4096  # words


class Words:
    """The counts of words in the training sentences; 0 for all that are not in the table."""

    def __init__(self, counts: Mapping[str, int]):
        self.counts = counts
        # A word is measured for each candidate beside it, and again with each reading and each key.
        self._known: Callable[[str], Known] = lru_cache(MEASURED)(self._measured)

    @classmethod
    def count(cls, sentences: Iterable[str], least: int = 2) -> "Words":
        """Count the words; those that occur fewer than ``least`` times are left out."""
        counts = Counter(word for text in sentences for _, word in find_words(text))
        return cls({word: count for word, count in counts.items() if count >= least})

    @classmethod
    def read(cls, path: Path) -> "Words":
        """Read a table. Raises OSError or ValueError for another file."""
        try:
            with gzip.open(path) as file:
                text = file.read(LARGEST + 1)
        except (EOFError, zlib.error) as error:
            raise ValueError(f"not gzip: {error}") from error
        if len(text) > LARGEST:
            raise ValueError(f"more than {LARGEST} bytes of text")
        return cls(WordTable(text.decode()))

    def to_bytes(self) -> bytes:
        """The table as ``read`` takes it; the same bytes for the same counts."""
        text = "".join(f"{word} {count}\n" for word, count in sorted(self.counts.items()))
        return gzip.compress(text.encode(), mtime=0)

    def known(self, words: Iterable[str]) -> Known:
        """How well all of the words are known; 0 in every measure without a word."""
        measures = list(map(self._known, words))
        return Known(*map(min, zip(*measures, strict=True))) if measures else Known(0.0, 0.0, 0.0)

    def spares_nouns(self, change: Change, source: str) -> bool:
        """Whether a change of 였 to 었, or 여 to 어, or 예 to 에, is behind the copula 이 of a counted noun.

        Behind the 이 of a noun the short form is right: 사람이었다, but 호랑이였다. 이 behind a noun that was
        not counted may be its end (겁쟁이, 민준이).

        >>> words = Words({"사람은": 9, "호랑이를": 2})
        >>> [words.spares_nouns(Change(end, end + 1, end, end + 1, "였", "었"), text)
        ...  for end, text in ((3, "사람이였다"), (3, "호랑이였다"), (3, "겁쟁이였다"))]
        [True, False, False]
        """
        start = change.source_start
        if (change.wrong[:1], change.right[:1]) not in SHORT_AND_LONG or source[start - 1 : start] != "이":
            return True
        *_, noun = find_words(source[:start])
        if any(map(self.counts.get, (noun[1] + each for each in ("가", "는", "를")))):
            return False
        stems = (noun[1][i:-1] for i in range(len(noun[1]) - 1) if i == 0 or len(noun[1]) - i > 2)
        return any(self.counts.get(stem + each) for stem in stems for each in ("은", "을"))

    def _measured(self, word: str) -> Known:
        for length in range(len(word), 0, -1):
            if count := self.counts.get(word[:length], 0):
                whole = count if length == len(word) else 0
                return Known(math.log1p(whole), length / len(word), math.log1p(count))
        return Known(0.0, 0.0, 0.0)


ORDER = 5  # characters of the longest runs
EDGE = "\n"  # put before and behind every sentence
LEAST = {4: 2, 5: 3}  # counts from which runs are kept; sentences could be rebuilt from rarer ones
SHORT = 2  # characters up to which a run counts as often as there are different characters before it
LEVELS = 8  # a count is rounded to one of so many steps between a power of two and the next
_BITS = 12  # bits of a character's number in a key
_UNKNOWN = (1 << _BITS) - 1  # the number of a character that the table lacks
_COUNTS = np.exp2(np.arange(256) / LEVELS)  # of each level
_LARGEST = 20_000_000  # runs of one length that are read; the shipped table has a fifteenth


class NGrams:
    """Counts of runs of characters.

    ``characters``: the sorted alphabet. ``keys[n - 1]``: the runs of n characters, sorted. Each is one
    number, whose digits are the numbers of its characters in the alphabet. ``levels[n - 1]``: LEVELS times
    the binary logarithm of each count, rounded. ``following[n - 1]``: for each run, how many runs begin with
    it and have one character more.
    """

    def __init__(
        self,
        characters: str,
        keys: Sequence[np.ndarray],
        levels: Sequence[np.ndarray],
        following: Sequence[np.ndarray],
    ):
        self.characters, self.keys, self.levels = characters, tuple(keys), tuple(levels)
        self.following = tuple(following)
        self._numbers = {character: number for number, character in enumerate(characters)}
        # By length of the runs. _starts: the place of the first longer run that continues each. _sums: the
        # sum of the counts of all runs before each. So two neighbours of _starts bound the continuations of a
        # run, and the difference of two sums is a count.
        self._starts = [_sums(each, np.int32) for each in following]
        self._sums = [_sums(_COUNTS[each], np.float64) for each in levels]
        self._everything = float(self._sums[0][-1]) + 0.5 * (len(characters) + 1)

    def __len__(self) -> int:
        """How many different runs it knows."""
        return sum(map(len, self.keys))

    @classmethod
    def count(cls, sentences: Iterable[str], least: dict[int, int] = LEAST) -> "NGrams":
        """Count the runs.

        Those of n characters or more that occur fewer than ``least[n]`` times are left out; n has to be more
        than SHORT + 1.

        Raises ValueError for more characters than a key has room for.
        """
        edges = EDGE * (ORDER - 1)
        text = edges + edges.join(sentence.replace(EDGE, " ") for sentence in sentences) + EDGE
        points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
        alphabet, numbers = np.unique(points, return_inverse=True)
        if len(alphabet) > _UNKNOWN:
            raise ValueError(f"at most {_UNKNOWN} characters, received {len(alphabet)}")
        keys, counts_of = [], []
        runs = numbers = numbers.astype(np.uint64)
        fewest = 1
        for length in range(1, ORDER + 1):
            fewest = max(fewest, least.get(length, 1))
            if length > 1:
                runs = (runs[:-1] << np.uint64(_BITS)) | numbers[length - 1 :]
            found, counts = np.unique(runs, return_counts=True)
            kept = counts >= fewest
            keys.append(found[kept])
            counts_of.append(counts[kept])
        for length in range(1, SHORT + 1):
            last = keys[length] & np.uint64((1 << length * _BITS) - 1)
            place = np.searchsorted(keys[length - 1], last)
            counts_of[length - 1] = np.bincount(place, minlength=len(keys[length - 1]))
        levels = [np.rint(LEVELS * np.log2(np.maximum(counts, 1))).astype(np.uint8) for counts in counts_of]
        following = []
        for shorter, longer in pairwise(keys):
            before = np.searchsorted(shorter, longer >> np.uint64(_BITS))
            following.append(np.bincount(before, minlength=len(shorter)).astype(np.uint16))
        return cls("".join(map(chr, alphabet.tolist())), keys, levels, following)

    def scores(self, spans: Sequence[tuple[str, int, int]]) -> np.ndarray:
        """(N,) of each (text, start, stop) how usual the characters from start to stop are after those before
        them: the natural logarithm of their probability. ``stop`` may be ``len(text) + 1``, which counts the
        end of the sentence.
        """
        runs, sizes = "", []
        for text, start, stop in spans:
            before = max(0, ORDER - 1 - start)
            runs += EDGE * before + text[max(0, start - ORDER + 1) : stop] + EDGE * (stop - len(text))
            sizes.append(max(0, stop - start))
        each = self._scores(self._windows(runs, sizes)) if sum(sizes) else np.zeros(0)
        ends = np.cumsum([0, *sizes])
        return np.array([each[a:b].sum() for a, b in pairwise(ends.tolist())], float)

    def _windows(self, runs: str, sizes: Sequence[int]) -> np.ndarray:
        """(N, ORDER) numbers of N characters and of those before each.

        ``runs``: for one span after the other, the ORDER - 1 characters before it and then its own, as many
        as ``sizes`` says.
        """
        numbers = np.array([self._numbers.get(character, _UNKNOWN) for character in runs], np.uint64)
        # The first character of each window. At the last ORDER - 1 characters of a span no window begins.
        first = np.arange(sum(sizes)) + np.repeat((ORDER - 1) * np.arange(len(sizes)), sizes)
        return numbers[first[:, np.newaxis] + np.arange(ORDER)]

    def _scores(self, windows: np.ndarray) -> np.ndarray:
        """(N,) of (N, ORDER) numbers: the natural logarithm of the last one's probability."""
        unseen = 0.5 / self._everything  # as if each character had been seen half a time more
        probability = np.full(len(windows), unseen)
        for length, known_runs in enumerate(self.keys, 1):
            if not len(known_runs):  # nor are there longer ones
                break
            key = np.zeros(len(windows), np.uint64)
            for column in range(ORDER - length, ORDER):
                key = (key << np.uint64(_BITS)) | windows[:, column]
            total: np.ndarray | float = self._everything
            if length > 1:
                total, rest = self._after(key >> np.uint64(_BITS), length - 1)
                probability *= rest
            place, known = self._find(key, length)
            probability += np.where(known, self._counts(place, length) / total, 0.0)
        return np.log(probability)

    def _after(self, runs: np.ndarray, length: int) -> tuple[np.ndarray, np.ndarray]:
        """(N,), (N,): how often something follows each of N runs of that length, runs that were left out
        included; and the share of this that goes to shorter runs, 1 for an unknown run.
        """
        place, known = self._find(runs, length)
        start, stop = (np.where(known, self._starts[length - 1][place + more], 0) for more in (0, 1))
        seen = self._sums[length][stop] - self._sums[length][start]
        rest = (stop - start).astype(float)
        if length > SHORT:  # runs that were left out followed it, too
            rest += np.maximum(self._counts(place, length) - seen, 0)
        total = np.maximum(seen + rest, 1.0)
        return total, np.where(seen > 0, rest / total, 1.0)

    def _counts(self, place: np.ndarray, length: int) -> np.ndarray:
        """(N,) the counts of the runs of that length at these places."""
        return self._sums[length - 1][place + 1] - self._sums[length - 1][place]

    def _find(self, runs: np.ndarray, length: int) -> tuple[np.ndarray, np.ndarray]:
        """(N,) the place of each of the (N,) runs among those of that length, and whether it is one of
        them.
        """
        keys = self.keys[length - 1]
        place = np.minimum(np.searchsorted(keys, runs), len(keys) - 1)
        return place, keys[place] == runs

    def write(self, file: BinaryIO) -> None:
        """Write the file of ``read``: the same bytes for the same counts."""
        arrays = {
            "characters": np.frombuffer(self.characters.encode("utf-32-le", "surrogatepass"), np.uint32)
        }
        for length, (keys, levels) in enumerate(zip(self.keys, self.levels, strict=True), 1):
            if length > 1:
                arrays[f"following_{length}"] = self.following[length - 2]
            arrays[f"last_{length}"] = (keys & np.uint64(_UNKNOWN)).astype(np.uint16)
            arrays[f"levels_{length}"] = levels
        np.savez_compressed(file, allow_pickle=False, **arrays)

    @classmethod
    def read(cls, path: Path) -> "NGrams":
        """Read a table. Raises OSError or ValueError for another file."""
        try:
            found = read_npz(path)
        except OSError:
            raise
        except Exception as error:  # zipfile and NumPy raise a dozen kinds, depending on which byte is wrong
            raise ValueError(f"not a table: {error}") from error
        points = _checked(found, "characters", np.uint32)
        if len(points) > _UNKNOWN or not (np.diff(points.astype(np.int64)) > 0).all():
            raise ValueError(f"characters should be sorted and fewer than {_UNKNOWN}, received {len(points)}")
        keys: list[np.ndarray] = []
        levels, following = [], []
        for length in range(1, ORDER + 1):
            last = _checked(found, f"last_{length}", np.uint16).astype(np.uint64)
            if (last >= len(points)).any():
                raise ValueError(f"last_{length} names a character that is not in the table")
            if keys:
                more = _checked(found, f"following_{length}", np.uint16)
                if len(more) != len(keys[-1]) or int(more.sum()) != len(last):
                    raise ValueError(f"following_{length} should add up to {len(last)}")
                last |= np.repeat(keys[-1], more) << np.uint64(_BITS)
                following.append(more)
            if not (last[1:] > last[:-1]).all():
                raise ValueError(f"the runs of {length} should be sorted")
            keys.append(last)
            levels.append(_checked(found, f"levels_{length}", np.uint8))
            if len(levels[-1]) != len(last):
                raise ValueError(f"levels_{length} should have {len(last)} entries")
        return cls("".join(map(chr, points.tolist())), keys, levels, following)


def _sums(values: np.ndarray, kind: type) -> np.ndarray:
    """(N + 1,) of (N,) values: the sum of those before each, and of all."""
    found: np.ndarray = np.zeros(len(values) + 1, kind)
    np.cumsum(values, out=found[1:])
    return found


def _checked(found: dict[str, np.ndarray], name: str, kind: type) -> np.ndarray:
    array = found.get(name)
    if array is None or array.dtype != kind or array.ndim != 1 or len(array) > _LARGEST:
        raise ValueError(f"{name} should be a row of {np.dtype(kind)}")
    return array
