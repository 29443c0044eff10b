"""A character n-gram language model: how usual is a run of up to five characters?

The network saw each training sentence only a few times and has few parameters to remember them with. A table of counts forgets
nothing. The model interpolates: the distribution after a long run is mixed with that after its shorter endings. The more different
characters followed a run, the more weight its endings get (Witten and Bell 1991; Chen and Goodman 1999, section 2.4). The shortest
runs count how many different characters precede them, not how often they occur (Kneser and Ney 1995), because a character that
always follows the same one is not usual elsewhere.

``ngrams.npz`` in a model folder holds the counts as a tree: after each run the characters that follow it. KenLM estimates such models
faster, but has to be compiled where it is installed; NumPy alone reads this table.
"""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

ORDER = 5  # characters of the longest runs
EDGE = "\n"  # stands before and behind every sentence
LEAST = {4: 2, 5: 3}  # counts from which runs are kept; sentences could be rebuilt from rarer ones
SHORT = 2  # characters up to which a run counts as often as there are different characters before it
LEVELS = 8  # a count is rounded to one of so many steps between a power of two and the next
_BITS = 12  # bits of a character's number in a key
_UNKNOWN = (1 << _BITS) - 1  # the number of a character that the table lacks
_LARGEST = 20_000_000  # runs of one length that are read; the shipped table has a fifteenth


class NGrams:
    """Counts of runs of characters. ``characters``: the sorted alphabet. ``keys[n - 1]``: of the runs of n characters, sorted, their
    numbers in the alphabet as digits; ``levels[n - 1]``: LEVELS times the binary logarithm of each count, rounded.
    ``following[n - 1]``: how many runs begin with each and have one character more.
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
        counts = [np.exp2(each / LEVELS, dtype=np.float32) for each in levels]
        everything = float(counts[0].sum()) + 0.5 * (len(characters) + 1)
        self._unseen = 0.5 / everything  # as if each character had been seen half a time more
        # For each run the share of its last character among all that follow the rest of it, and what is left for shorter runs.
        self._shares, self._rests = [counts[0] / everything], []
        for length in range(2, ORDER + 1):
            more = self.following[length - 2]
            before = np.repeat(
                np.arange(len(more)), more
            )  # of each run the place of the one without its last character
            seen = np.bincount(before, counts[length - 1], len(more))
            rest = more.astype(float)
            if length > SHORT + 1:  # each that was left out stood there, too
                rest += np.maximum(counts[length - 2] - seen, 0)
            total = np.maximum(seen + rest, 1.0)
            self._shares.append((counts[length - 1] / total[before]).astype(np.float32))
            self._rests.append(np.where(seen > 0, rest / total, 1.0).astype(np.float32))

    def __len__(self) -> int:
        """How many different runs it knows."""
        return sum(map(len, self.keys))

    @classmethod
    def count(cls, sentences: Iterable[str], least: dict[int, int] = LEAST) -> "NGrams":
        """Count the runs; those of n characters or more that stand there fewer than ``least[n]`` times are left out, which is
        possible for n > SHORT + 1.

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
        """(N,) of each (text, start, stop) how usual the characters from start to stop are after those before them: the
        natural logarithm of their probability. ``stop`` may be ``len(text) + 1``, which counts the end of the sentence.
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
        """(N, ORDER) numbers of N characters and of those before each. ``runs``: one after the other the characters of a span,
        so many as ``sizes`` says, behind ORDER - 1 that stand before them."""
        numbers = np.array([self._numbers.get(character, _UNKNOWN) for character in runs], np.uint64)
        # The first character of each window; behind those of a span ORDER - 1 begin none.
        first = np.arange(sum(sizes)) + np.repeat((ORDER - 1) * np.arange(len(sizes)), sizes)
        return numbers[first[:, np.newaxis] + np.arange(ORDER)]

    def _scores(self, windows: np.ndarray) -> np.ndarray:
        """(N,) of (N, ORDER) numbers: the natural logarithm of the last one's probability."""
        probability = np.full(len(windows), self._unseen)
        for length in range(1, ORDER + 1):
            key = np.zeros(len(windows), np.uint64)
            for column in range(ORDER - length, ORDER):
                key = (key << np.uint64(_BITS)) | windows[:, column]
            if length > 1:
                history = key >> np.uint64(_BITS)
                probability *= self._look_up(self._rests[length - 2], history, length - 1, 1.0)
            probability += self._look_up(self._shares[length - 1], key, length, 0.0)
        return np.log(probability)

    def _look_up(self, values: np.ndarray, runs: np.ndarray, length: int, otherwise: float) -> np.ndarray:
        """(N,) the value of each of the (N,) runs of that length."""
        keys = self.keys[length - 1]
        if not len(keys):
            return np.full(len(runs), otherwise)
        place = np.minimum(np.searchsorted(keys, runs), len(keys) - 1)
        return np.where(keys[place] == runs, values[place], otherwise)

    def write(self, file: Any) -> None:
        """Write what ``read`` reads: the same bytes for the same counts."""
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
        """Raises OSError or ValueError for what is no such table."""
        try:
            with np.load(path, allow_pickle=False) as archive:
                found = {name: archive[name] for name in archive.files}
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


def _checked(found: dict[str, np.ndarray], name: str, kind: type) -> np.ndarray:
    array = found.get(name)
    if array is None or array.dtype != kind or array.ndim != 1 or len(array) > _LARGEST:
        raise ValueError(f"{name} should be a row of {np.dtype(kind)}")
    return array
