"""Decides how often the sentences of each source are read. Sources that the corpus has too much of are read less often."""

import math
import random
from collections.abc import Iterable, Mapping

from training.corpus.corpus import Sentence

MACHINE_TRANSLATED = "mt"  # names the machine-translated sentences of all sources


def read_weights(texts: Iterable[str]) -> dict[str, float]:
    """``["statutes=0.25"]`` as a dict. Raises ValueError for anything but a name and a number, 0 or more.

    >>> read_weights(["statutes=0.25"])
    {'statutes': 0.25}
    """
    weights = {}
    for text in texts:
        name, _, value = text.rpartition("=")
        weight = float(value)
        if not name or not 0 <= weight < float("inf"):
            raise ValueError(f"a weight should be a name and a number, 0 or more, received {text!r}")
        weights[name] = weight
    return weights


def weight_of(sentence: Sentence, weights: Mapping[str, float]) -> float:
    """The product of the weights whose name is part of the sentence's source; 1 if there is none."""
    return math.prod(
        weight
        for name, weight in weights.items()
        if (sentence.machine_translated if name == MACHINE_TRANSLATED else name in sentence.source)
    )


def copies(sentence: Sentence, weights: Mapping[str, float], rng: random.Random) -> int:
    """How often a sentence comes in an epoch. A weight of 1.5 means once or twice, by chance."""
    weight = weight_of(sentence, weights)
    whole = int(weight)
    return whole + (rng.random() < weight - whole)
