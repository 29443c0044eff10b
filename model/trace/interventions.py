"""``Intervention``: what a pass is asked to change, as plain data. Heads off, weights replaced, tokens left out.

An intervention is an argument of a pass (``Laboratory.pass_over``), never a state of a network, so two threads cannot disturb each other.
``model/activations/replacements.py`` turns it into arrays.

B interventions (or sentences), L layers, H heads, S source and T target tokens, Q query and K key positions, D d_model.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from operator import index
from typing import Any, NamedTuple, SupportsIndex

import numpy as np


class Head(NamedTuple):
    """One head of one kind of attention; layer and head are counted from 0."""

    kind: str
    layer: int
    head: int


class ZeroedValue(NamedTuple):
    """The value vectors of one key position, in all heads of one layer."""

    kind: str
    layer: int
    position: int


@dataclass(frozen=True, eq=False, kw_only=True)
class Intervention:
    """What is changed in one pass; ``Intervention()`` changes nothing. Interventions with the same contents are equal and have
    the same hash, so one can be part of a cache key. Do not change its arrays afterwards.

    ``off``: heads whose output, before the output projection, is replaced: by zero (Michel et al. 2019, section 2.3), or by
    the head's part of ``means``, which are by kind (L, H, D/H), such as the mean over a corpus.
    ``weights``: by head (Q, K), what replaces its attention weights (Jain & Wallace 2019). A row of NaN keeps the head's
    own weights; so does every row beyond Q. In decoder self-attention nothing may stand right of the diagonal.
    ``zeroed``: value vectors that are multiplied by zero; the weights stay as they are (Mohebbi et al. 2023).
    ``without_source``: source positions that nobody may look at, as if they were padding; the other tokens keep their
    positions. ``without_target``: the same for what the decoder has read; 0 is the start mark. The embedding of such a token is
    zero, too, because a row of the decoder starts from the embedding of the token it read last.

    >>> intervention = Intervention(off=frozenset({("cross_attention", 3, 0)}))
    >>> intervention.off, intervention.reaches_encoder
    (frozenset({Head(kind='cross_attention', layer=3, head=0)}), False)
    """

    off: frozenset[Head] = frozenset()
    means: Mapping[str, np.ndarray] | None = None
    weights: Mapping[Head, np.ndarray] = field(default_factory=dict)
    zeroed: frozenset[ZeroedValue] = frozenset()
    without_source: frozenset[int] = frozenset()
    without_target: frozenset[int] = frozenset()

    def __post_init__(self) -> None:
        """NumPy's integers become Python's, and plain tuples heads: what compares equal has one fingerprint.

        Raises ValueError for a place of another form.
        """
        places = {
            "off": frozenset(Head(*_place("off", each)) for each in self.off),
            "weights": {Head(*_place("weights", head)): rows for head, rows in self.weights.items()},
            "zeroed": frozenset(ZeroedValue(*_place("zeroed", each)) for each in self.zeroed),
            "without_source": frozenset(_whole("without_source", each) for each in self.without_source),
            "without_target": frozenset(_whole("without_target", each) for each in self.without_target),
        }
        for name, value in places.items():
            object.__setattr__(self, name, value)

    @property
    def reaches_encoder(self) -> bool:
        """Whether it changes the encoder's result."""
        places: list[Head | ZeroedValue] = [*self.off, *self.weights, *self.zeroed]
        return bool(self.without_source) or any(place.kind == "encoder_attention" for place in places)

    @property
    def fingerprint(self) -> str:
        """20 hexadecimal digits, equal for the same contents: for the key of a cache."""
        digest = hashlib.sha256()
        sets = (self.off, self.zeroed, self.without_source, self.without_target)
        digest.update(repr([sorted(each) for each in sets]).encode())
        means: list[tuple[Any, np.ndarray]] = sorted((self.means or {}).items(), key=lambda item: item[0])
        for name, array in (*means, *sorted(self.weights.items(), key=lambda item: item[0])):
            values = np.ascontiguousarray(array, np.float32)
            digest.update(repr((name, values.shape)).encode() + values.tobytes())
        return digest.hexdigest()[:20]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Intervention) and self.fingerprint == other.fingerprint

    def __hash__(self) -> int:
        return hash(self.fingerprint)


def _place(name: str, value: Sequence[Any]) -> tuple[str, int, int]:
    """(kind, layer, head or position) of a Head or a ZeroedValue, which may be a plain tuple."""
    if not isinstance(value, tuple) or len(value) != 3:
        raise ValueError(f"{name} should name a kind, a layer and a number, received {value!r}")
    kind, layer, number = value
    return str(kind), _whole(name, layer), _whole(name, number)


def _whole(name: str, value: SupportsIndex) -> int:
    try:
        return int(index(value))
    except TypeError:
        raise ValueError(f"{name} should count in whole numbers, received {value!r}") from None
