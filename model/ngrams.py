"""How usual a run of characters is: counts of all runs of up to four characters in the training sentences.

The network has seen every sentence a few times at most and has few parameters to remember them by; a table forgets nothing. It is a language
model of the simplest kind, with "stupid backoff" (Brants et al., EMNLP 2007, section 4): a character is as probable as the
longest known run before it says, with a discount for each character of it that has to be given up.

``ngrams.npz`` in a model folder holds the counts as a tree: after each run the characters that follow it.
"""

import math
from collections.abc import Iterable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

NGRAMS_FILE = "ngrams.npz"
ORDER = 4  # characters of the longest runs
EDGE = "\n"  # stands before and behind every sentence
LEAST = {
    4: 2
}  # counts from which runs of that length are kept; of most sentences one could be put together from single ones
LOG_DISCOUNT = math.log(0.4)  # for each character given up; the paper's
LEVELS = 8  # of a count between a power of two and the next: what is kept of it
_BITS = 12  # of a character's number in a key
_UNKNOWN = (1 << _BITS) - 1  # the number of a character that the table lacks
_LARGEST = 20_000_000  # runs of one length that are read; the shipped table has a tenth


class NGrams:
    """Counts of runs of characters. ``characters``: the sorted alphabet. ``keys[n - 1]``: of the runs of n characters, sorted, their
    numbers in the alphabet as digits; ``levels[n - 1]``: LEVELS times the binary logarithm of each count, rounded.
    """

    def __init__(self, characters: str, keys: Sequence[np.ndarray], levels: Sequence[np.ndarray]):
        self.characters, self.keys, self.levels = characters, tuple(keys), tuple(levels)
        self._numbers = {character: number for number, character in enumerate(characters)}
        total = float(np.exp2(self.levels[0] / LEVELS).sum()) if len(self.levels[0]) else 1.0
        self._log_total = math.log(total)

    def __len__(self) -> int:
        """How many different runs it knows."""
        return sum(map(len, self.keys))

    @classmethod
    def count(cls, sentences: Iterable[str], least: dict[int, int] = LEAST) -> "NGrams":
        """Count the runs; of n characters those that stand there fewer than ``least[n]`` times (1) are left out.

        Raises ValueError for more characters than a key has room for.
        """
        edges = EDGE * (ORDER - 1)
        text = edges + edges.join(sentence.replace(EDGE, " ") for sentence in sentences) + EDGE
        points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
        alphabet, numbers = np.unique(points, return_inverse=True)
        if len(alphabet) > _UNKNOWN:
            raise ValueError(f"at most {_UNKNOWN} characters, received {len(alphabet)}")
        keys, levels = [], []
        runs = numbers = numbers.astype(np.uint64)
        for length in range(1, ORDER + 1):
            if length > 1:
                runs = (runs[:-1] << np.uint64(_BITS)) | numbers[length - 1 :]
            found, counts = np.unique(runs, return_counts=True)
            kept = counts >= least.get(length, 1)
            keys.append(found[kept])
            levels.append(np.rint(LEVELS * np.log2(counts[kept])).astype(np.uint8))
        return cls("".join(map(chr, alphabet.tolist())), keys, levels)

    def scores(self, spans: Sequence[tuple[str, int, int]]) -> np.ndarray:
        """(N,) of each (text, start, stop) how usual the characters from start to stop are after those before them: the sum of
        the natural logarithms of their scores. ``stop`` may be ``len(text) + 1``, which counts the end of the sentence.
        """
        rows = [self._windows(text, start, stop) for text, start, stop in spans]
        sizes = [len(row) for row in rows]
        each = self._scores(np.concatenate(rows)) if sum(sizes) else np.zeros(0)
        ends = np.cumsum([0, *sizes])
        return np.array([each[a:b].sum() for a, b in pairwise(ends.tolist())], float)

    def _windows(self, text: str, start: int, stop: int) -> np.ndarray:
        """(stop - start, ORDER) numbers of each character and of those before it."""
        before = max(0, ORDER - 1 - start)
        run = EDGE * before + text[max(0, start - ORDER + 1) : stop] + EDGE * (stop - len(text))
        numbers = np.array([self._numbers.get(character, _UNKNOWN) for character in run], np.uint64)
        size = max(0, stop - start)
        return np.stack([numbers[i : i + size] for i in range(ORDER)], 1)

    def _scores(self, windows: np.ndarray) -> np.ndarray:
        """(N,) of (N, ORDER) numbers: the natural logarithm of the last one's score."""
        found = np.full(len(windows), -math.log(2) - self._log_total)  # as if half of it had been seen
        found += (ORDER - 1) * LOG_DISCOUNT
        for length in range(1, ORDER + 1):
            key = np.zeros(len(windows), np.uint64)
            for column in range(ORDER - length, ORDER):
                key = (key << np.uint64(_BITS)) | windows[:, column]
            log_count, known = self._log_counts(length, key)
            if length == 1:
                log_history = np.full(len(windows), self._log_total)
            else:
                log_history, _ = self._log_counts(length - 1, key >> np.uint64(_BITS))
            share = np.minimum(log_count - log_history, 0.0)  # counts are rounded
            found = np.where(known, share + (ORDER - length) * LOG_DISCOUNT, found)
        return found

    def _log_counts(self, length: int, key: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Natural logarithms of the counts of runs of that length, and whether they are known; 0 for those that are not."""
        keys = self.keys[length - 1]
        if not len(keys):
            return np.zeros(len(key)), np.zeros(len(key), bool)
        place = np.minimum(np.searchsorted(keys, key), len(keys) - 1)
        known = keys[place] == key
        return np.where(known, self.levels[length - 1][place] * (math.log(2) / LEVELS), 0.0), known

    def write(self, file: Any) -> None:
        """Write what ``read`` reads: the same bytes for the same counts."""
        arrays = {
            "characters": np.frombuffer(self.characters.encode("utf-32-le", "surrogatepass"), np.uint32)
        }
        for length, (keys, levels) in enumerate(zip(self.keys, self.levels, strict=True), 1):
            if length > 1:
                before = np.searchsorted(self.keys[length - 2], keys >> np.uint64(_BITS))
                following = np.bincount(before, minlength=len(self.keys[length - 2]))
                arrays[f"following_{length}"] = following.astype(np.uint16)
            arrays[f"last_{length}"] = (keys & np.uint64(_UNKNOWN)).astype(np.uint16)
            arrays[f"levels_{length}"] = levels
        np.savez_compressed(file, **arrays)

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
        levels = []
        for length in range(1, ORDER + 1):
            last = _checked(found, f"last_{length}", np.uint16).astype(np.uint64)
            if (last >= len(points)).any():
                raise ValueError(f"last_{length} names a character that is not in the table")
            if keys:
                following = _checked(found, f"following_{length}", np.uint16)
                if len(following) != len(keys[-1]) or int(following.sum()) != len(last):
                    raise ValueError(f"following_{length} should add up to {len(last)}")
                last |= np.repeat(keys[-1], following) << np.uint64(_BITS)
            if not (last[1:] > last[:-1]).all():
                raise ValueError(f"the runs of {length} should be sorted")
            keys.append(last)
            levels.append(_checked(found, f"levels_{length}", np.uint8))
            if len(levels[-1]) != len(last):
                raise ValueError(f"levels_{length} should have {len(last)} entries")
        return cls("".join(map(chr, points.tolist())), keys, levels)


def _checked(found: dict[str, np.ndarray], name: str, kind: type) -> np.ndarray:
    array = found.get(name)
    if array is None or array.dtype != kind or array.ndim != 1 or len(array) > _LARGEST:
        raise ValueError(f"{name} should be a row of {np.dtype(kind)}")
    return array
