"""What the methods *norms*, ALTI and *value zeroing* need of a Keras network that is a decoder alone, found by the numbers of one pass.

A layer of such a network has the parts of an encoder's layer: attention and a feed-forward network. Its parts are kept by those names. Who
looks at whom is read from each pass, so queries and keys are not looked for; some networks turn them by their places (Su et al.,
"RoFormer", 2021). What was found has to give the network's own logits for other texts.

L layers, H heads, N tokens that are read, d width of a head, D d_model, V vocabulary.
"""

from collections.abc import Iterator, Sequence
from typing import Protocol

import numpy as np

from model.adapters.keras_finding import Attention, Finding, Recorded
from model.adapters.keras_parts import Linear, ids_in_tables, table
from model.adapters.own_mixing import insides_of_taps, turned
from model.adapters.own_stream import OwnStream, check_logits
from model.trace.laboratory_data import Insides, Zeroed
from model.trace.patches import FEED_FORWARDS

_SIDE, _KIND = "encoder", "encoder_attention"  # by whose names the parts are kept
_IDS, _FEWEST = 6, 4  # tokens of the texts that are tried


class RecordedReading(Protocol):
    """Who runs the network."""

    def recorded(self, read: Sequence[int]) -> Recorded: ...


class DecoderFinding(Finding):
    """The parts of a decoder alone, without its queries and keys."""

    def __init__(self, pass_: Recorded):
        super().__init__(pass_, {_SIDE: (_KIND,)})

    def _attention(self, kind: str, layer: int) -> Attention:
        number, near_by, what = self._near(kind, layer)
        heads = len(self.pass_.weights[number])
        candidates = [each for one in near_by for each in _of_all_heads(one, heads)]
        value, output = self._mixing(number, candidates, what)
        return Attention(value, value, value, output)  # all three read the same

    def _keep_attention(self, path: str, found: Attention) -> None:
        self._keep(f"{path}/value", found.value)
        self._keep(f"{path}/output", found.output)


class DecoderMixing:
    """``Insides`` and ``Zeroed`` of a decoder alone. Raises ValueError for a network that is built otherwise."""

    def __init__(self, passes: RecordedReading, start: int):
        """``start``: an id that the network may read."""
        self._passes = passes
        ids = _some_ids(passes, start)
        pass_ = passes.recorded(ids)
        found = DecoderFinding(pass_)
        found.follow(_SIDE)
        self._stream = OwnStream(found.built(start, {}), found.arrays)
        self._place, self._calls = found.starts[_SIDE], len(pass_.calls)
        for other in (ids[::-1], ids[1:] + ids[:2]):
            self._taps(other)

    def insides(self, read: Sequence[int]) -> Insides:
        """What one plain pass over N ids holds."""
        found = insides_of_taps(self._stream, self._taps(read), [_KIND])
        named = {name: part and {"decoder_attention": part[_KIND]} for name, part in found._asdict().items()}
        return Insides(**named)

    def zeroed(self, read: Sequence[int]) -> Zeroed:
        """As ``Laboratory.zeroed`` says; all positions, (L, N, N), are those that are read, and none is of a source."""
        found = self._taps(read)
        rows = [turned(self._stream, found, _KIND, layer) for layer in range(self._stream.layers(_SIDE))]
        return Zeroed(np.stack(rows), np.empty((len(rows), len(read), 0), np.float32))

    def _taps(self, read: Sequence[int]) -> dict[str, np.ndarray]:
        """The walk through the layers, from the beginning of the pass's own stream and with its own weights. Raises ValueError where it
        does not end at the pass's own logits."""
        pass_ = self._passes.recorded(read)
        if len(pass_.calls) != self._calls:
            raise ValueError("it does not call the same layers for each text")
        begun = pass_.calls[self._place]
        x = begun.returned if _SIDE in self._stream.built.begins else begun.given
        weights = np.stack(
            [maps for maps, at in zip(pass_.weights, pass_.order, strict=True) if at is not None]
        )
        values, residual = [], [x]
        for layer, looks in enumerate(weights):
            value = self._values(layer, x)
            x = self._added(_KIND, layer, x, self._stream.join(_KIND, layer, (looks @ value)[None])[0])
            values.append(value)
            residual.append(x)
            entered = self._stream.enter(FEED_FORWARDS[_SIDE], layer, x)
            x = self._added(FEED_FORWARDS[_SIDE], layer, x, self._stream.feed_forward(_SIDE, layer, entered))
            residual.append(x)
        check_logits(self._stream.logits(self._stream.close(_SIDE, x)), pass_.logits)
        return {_KIND: weights, "encoder_value": np.stack(values), "encoder_residual": np.stack(residual)}

    def _values(self, layer: int, x: np.ndarray) -> np.ndarray:
        """(H, N, d)."""
        entered = self._stream.enter(_KIND, layer, x)
        found = self._stream.dense(entered, f"{_SIDE}_{layer + 1}/self_attention/value")
        return found.reshape(len(x), self._stream.heads(_KIND), -1).transpose(1, 0, 2)

    def _added(self, kind: str, layer: int, x: np.ndarray, output: np.ndarray) -> np.ndarray:
        return self._stream.leave(kind, layer, x + output)


def _some_ids(passes: RecordedReading, start: int) -> list[int]:
    """Some ids that it knows. What nobody looks at is padding, and left out."""
    probe = passes.recorded([start] * 2)
    ids = ids_in_tables((table(call, probe.read) for call in probe.calls), _IDS)
    if len(ids) >= _FEWEST:
        pass_ = passes.recorded(ids)
        looks = next(maps for maps, at in zip(pass_.weights, pass_.order, strict=True) if at is not None)
        ids = [each for each, seen in zip(ids, looks.max(axis=(0, 1)) > 0, strict=True) if seen]
    if len(ids) < _FEWEST:
        raise ValueError(f"fewer than {_FEWEST} tokens are looked up in an Embedding")
    return ids


def _of_all_heads(each: Linear, heads: int) -> Iterator[Linear]:
    """``each``, and how it would be if several heads shared what it makes (Ainslie et al., "GQA", 2023): repeated for each of them."""
    yield each
    width = each.kernel.shape[1]
    for own in range(1, heads):
        if heads % own == 0 and width % own == 0:

            def repeated(array: np.ndarray, own: int = own) -> np.ndarray:
                parts = array.reshape(*array.shape[:-1], own, -1)
                return parts.repeat(heads // own, axis=-2).reshape(*array.shape[:-1], -1)

            yield each._replace(
                kernel=repeated(each.kernel), bias=repeated(each.bias), returned=repeated(each.returned)
            )
