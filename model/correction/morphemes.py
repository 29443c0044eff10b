"""How usual a run of words is, by its morphemes. Kiwi (Lee 2024), a Korean morphological analyser, answers.

Kiwi has a language model of morphemes. It was trained on far more text than our network and our tables of words, and it knows
stems, particles and endings. It only rates what the network wrote; it proposes nothing itself.

Kiwi takes a second to load and keeps 230 MB. A worker therefore loads it once its network is there.
"""

import os
from collections.abc import Sequence
from functools import cache, lru_cache
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np

# Names a file of ``morpheme_table`` that stands in for Kiwi; an environment variable, so that processes inherit it.
TABLE_VARIABLE = "MORPHEME_TABLE"
_loading = Lock()


def analyse(texts: Sequence[str]) -> np.ndarray:
    """(N, 3) for each text: the natural logarithm of the probability of its likeliest analysis, the number of its morphemes, and
    how many of these are not in Kiwi's lexicon.

    The first call loads Kiwi: about a second, and 230 MB that the process keeps.

    >>> analyse(["지붕을 개최했다", "지붕을 개초했다"])[:, 2].tolist()
    [0.0, 1.0]
    """
    return np.array([_analyse(text)[:3] for text in texts], float).reshape(-1, 3)


def longest_known(text: str, start: int, end: int) -> int:
    """How many characters the longest morpheme of the lexicon has that ``text[start:end]`` is a part of; 0 where there is none.
    For an empty place it is the morpheme that goes on from before the place to behind it.

    >>> longest_known("비문을 탁본했다.", 4, 5), longest_known("그는 아경을 썼다.", 3, 4)
    (2, 1)
    """
    known = _analyse(text)[3]
    if start == end:
        return max((stop - first for first, stop in known if first < start < stop), default=0)
    return max((stop - first for first, stop in known if first < end and start < stop), default=0)


# A sentence is read again once it is corrected, and again with each key: most of its words have been analysed then.
@lru_cache(maxsize=4096)
def _analyse(text: str) -> tuple[float, int, int, tuple[tuple[int, int], ...]]:
    found, log = load_kiwi().analyze(text)[0]
    known = tuple((each.start, each.end) for each in found if not each.oov)
    return log, len(found), len(found) - len(known), known


def cut(text: str) -> list[tuple[str, int, int]]:
    """(tag, start, end) of each morpheme of the likeliest analysis: 책이 is a noun from 0 to 1 and a particle from 1 to 2."""
    return [(token.tag, token.start, token.end) for token in load_kiwi().tokenize(text)]


def join(morphemes: Sequence[tuple[str, str]]) -> str:
    """(form, tag) of morphemes as one text: 그립 and 어요 are 그리워요. The tags are those of Kiwi."""
    return load_kiwi().join(morphemes)


def load_kiwi() -> Any:
    """Kiwi, loaded once in a process; or the table that stands in for it."""
    with _loading:  # else two threads would load it at once
        return _load()


@cache
def _load() -> Any:
    if table := os.environ.get(TABLE_VARIABLE):
        from model.correction.morpheme_table import MorphemeTable

        return MorphemeTable.read(Path(table))
    from kiwipiepy import Kiwi

    # The dictionaries of names and of words with spaces in them gained nothing and take as long and as much memory again.
    kiwi = Kiwi(num_workers=1, load_default_dict=False, load_multi_dict=False, load_typo_dict=False)
    kiwi.analyze("")  # the first call is what reads the language model
    return kiwi
