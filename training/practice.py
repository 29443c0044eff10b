"""Practices: what a network practises beside the usual mistakes of a sentence.

A practice makes one further pair from a sentence, or from nothing but chance. To add one, add an entry to ``PRACTICES``;
``python -m training train --practice "NAME=0.2"`` then practises it beside a fifth of the sentences.

>>> vanishing = Practice("vanishing", lambda maker, text, rng: (text.rstrip("."), text))
>>> vanishing.make(None, "봄이 왔다.", random.Random(0))
('봄이 왔다', '봄이 왔다.')
"""

import random
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from training.sources import read_weights

if TYPE_CHECKING:
    from training.examples import ExampleMaker


class Practice(NamedTuple):
    """``make(maker, text, rng)``: a (wrong, right) pair, or None where this sentence gives no occasion.

    All chance comes from ``rng``, so that a run can be repeated. ``maker`` makes the usual mistakes (``maker.mistake``)
    and knows all sentences (``maker.items``).
    """

    name: str
    make: Callable[["ExampleMaker", str, random.Random], tuple[str, str] | None]


_ALL: tuple[Practice, ...] = ()
PRACTICES = {practice.name: practice for practice in _ALL}


def read_practice(text: str) -> dict[str, float]:
    """``"slips=0.2,notes=0.1"`` as ``ExampleSettings.practice``. Raises ValueError for an unknown name or a share that is
    not from 0 to 1.
    """
    shares = read_weights(filter(None, text.split(",")))
    for name, share in shares.items():
        if name not in PRACTICES:
            raise ValueError(f"practice should be one of {sorted(PRACTICES)}, received {name!r}")
        if share > 1:
            raise ValueError(f"a share should be from 0 to 1, received {share:g} for {name!r}")
    return shares
