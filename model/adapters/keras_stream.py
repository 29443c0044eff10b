"""The residual stream of a Transformer in Keras, found by the numbers of one pass.

Tutorials, courses and KerasHub call their layers by other names and nest them in other ways. But they compute the same (Vaswani et al.
2017), so each part is found by what it did. For example, a head's queries and keys are the two linear layers whose products give the
weights that the softmax returned, and a feed-forward network is what reads the stream behind attention. What was found is then walked in
NumPy, and has to give the network's own logits for other sentences (``own_stream.checked``).

S source tokens, T tokens that the decoder reads, N of either; H heads, Q query and K key positions, D d_model, V vocabulary.
"""

from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np

from model.adapters.keras_finding import Finding, Recorded
from model.adapters.keras_parts import apart, ids_in_tables, table
from model.adapters.own_stream import Built, OwnStream, checked
from model.trace.patches import ATTENTIONS

_IDS, _FEWEST = 8, 5  # tokens of the sentences that are tried


class RecordedPasses(Protocol):
    """Who runs the network."""

    def recorded(self, source: Sequence[int], read: Sequence[int]) -> Recorded: ...


class KerasStream(OwnStream):
    """An ``OwnStream`` that asks the network what it adds to embeddings: some compute it, and some look it up."""

    def __init__(self, built: Built, arrays: dict, added: Callable[[str, int], np.ndarray]):
        super().__init__(built, arrays)
        self._asked, self._known = added, {}  # type: ignore[var-annotated]

    def _added(self, length: int, side: str) -> np.ndarray:
        if (side, length) not in self._known:
            self._known[side, length] = self._asked(side, length)
        return self._known[side, length]


def stream_of(passes: RecordedPasses, start: int) -> KerasStream:
    """The stream of a network. ``start``: what its decoder reads first.

    Raises ValueError, which says what is missing, for a network that is built otherwise.
    """
    ids = _some_ids(passes, start)
    stream = _found_stream(passes, ids, start)
    for source, target in ((ids[::-1], ids[:4]), (ids[1:4], ids[2:] + ids[:2])):
        own = passes.recorded(source, [start, *target[:-1]])
        checked(stream, source, target, own.logits)
    return stream


def _some_ids(passes: RecordedPasses, start: int) -> list[int]:
    """Some ids that both sides know. What nobody looks at is padding, and left out."""
    probe = passes.recorded([start] * 2, [start] * 3)
    tables = [table(call, ids) for call in probe.calls for ids in (probe.source, probe.read)]
    ids = ids_in_tables(tables, _IDS)
    if len(ids) > 1:
        pass_ = passes.recorded(ids, [start, *ids])
        looks = [
            maps.max(axis=(0, 1))
            for maps, at in zip(pass_.weights, pass_.order, strict=True)
            if at and at[0] == "encoder_attention"
        ]
        ids = [each for each, seen in zip(ids, looks[0] > 0, strict=True) if seen]
    if len(ids) < _FEWEST:
        raise ValueError(f"fewer than {_FEWEST} tokens are looked up in an Embedding")
    return ids


def _found_stream(passes: RecordedPasses, ids: Sequence[int], start: int) -> KerasStream:
    found = Finding(passes.recorded(ids[:4], [start, *ids[3:5]]))
    for side in ATTENTIONS:
        found.follow(side)
    beginnings = {side: _Beginning(passes, found, side, ids) for side in ATTENTIONS}
    built = found.built(start, {side: each.vectors for side, each in beginnings.items()})
    return KerasStream(built, found.arrays, lambda side, length: beginnings[side].added(length))


class _Beginning:
    """What a side's stream begins with: the vector of each id, scaled, and what is added at each position."""

    def __init__(self, passes: RecordedPasses, found: Finding, side: str, ids: Sequence[int]):
        self._passes, self._side, self._ids = passes, side, list(ids)
        self._start, self._place = found.pass_.read[0], found.starts[side]
        begun, stream = self._of(found.pass_)
        vectors = next(filter(_is_given, (table(each, begun) for each in found.pass_.calls)), None)
        if vectors is None:
            raise ValueError(f"its {side} does not look its ids up in an Embedding")
        other, moved = self._pass(len(begun), turned=1)
        by, moved = vectors[other] - vectors[begun], moved - stream  # positions are the same, and fall away
        factor = np.float32((moved * by).sum() / max(float((by * by).sum()), 1e-12))
        if apart(by * factor, moved) > 1e-3:
            raise ValueError(
                f"the stream of its {side} does not begin with a sum of embeddings and positions"
            )
        self.vectors = vectors * factor

    def added(self, length: int) -> np.ndarray:
        """(N, D): what stands at each position of ``length`` besides the tokens."""
        ids, stream = self._pass(length)
        return stream - self.vectors[ids]

    def _pass(self, length: int, turned: int = 0) -> tuple[list[int], np.ndarray]:
        """``length`` ids, and the beginning of the stream that reads them. ``turned``: at which id they begin."""
        many = [self._ids[(number + turned) % len(self._ids)] for number in range(length)]
        if self._side == "encoder":
            return self._of(self._passes.recorded(many, [self._start, *self._ids[:1]]))
        return self._of(self._passes.recorded(self._ids[:2], [self._start, *many][:length]))

    def _of(self, pass_: Recorded) -> tuple[list[int], np.ndarray]:
        return pass_.source if self._side == "encoder" else pass_.read, pass_.calls[self._place].given


def _is_given(each: object) -> bool:
    return each is not None
