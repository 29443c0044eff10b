"""Residual stream of a Keras Transformer, read from the calls of its layers in one pass.

The four Dense layers of each attention are read by the names that their layer gives them, or are said in the
argument ``attention``. Normalisations and feed-forward networks are the layers that read the stream next. The
parts are then walked in NumPy, and the walk has to give the network's own logits for other sentences.

S source tokens, T tokens that the decoder reads, N rows of either; H heads, d their width, Q query and K key
positions, L layers, D d_model, V vocabulary.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

import numpy as np

from model.adapters.capture import Layer, Tensor
from model.adapters.keras_calls import (
    Linear,
    Norm,
    Recorded,
    Recording,
    linear_of,
    near,
    norm_of,
    replayed,
    rotates,
    rows_of,
    table_of,
    unembedding_of,
)
from model.adapters.own_passes import Ids, array_of
from model.adapters.own_stream import NO_NORMALISATION, PARTS, Built, NoStreamError, OwnStream, apart, checked
from model.stored.config import ATTENTION_PATHS, norm_path, sublayer_path
from model.trace.interventions import ATTENTIONS, SUBLAYERS

# (query, key, value, output) layers of each attention; perhaps a function that rotates (1, N, H, d) queries
Declared = Sequence[tuple[Layer, ...]]
Derivatives = Callable[[Callable[..., Tensor], Sequence[np.ndarray]], tuple[Tensor, Sequence[Tensor]]]

_TRIED, _FEWEST = 8, 4  # tokens of the sentences that the walk is compared on


def declared_attention(model: Layer) -> Declared:
    """The attention layers of a model by the usual names of their four Dense layers."""
    found = []
    for owner in model._flatten_layers():
        held = [[getattr(owner, name, None) for name in names] for names in PARTS.values()]
        parts = [[each for each in some if hasattr(each, "kernel")] for some in held]
        if all(parts):
            query, key, value, output = (some[0] for some in parts)
            found.append((query, key, value, output))
    return found


def stream_of(
    recording: Recording, mark: int, attention: Declared, is_decoder: bool, derivatives: Derivatives
) -> OwnStream:
    """The residual stream of an encoder-decoder or of a decoder-only network.

    Args:
        recording: its passes.
        mark: the id that the decoder reads first; of a decoder-only network any that it may read.
        attention: as in ``laboratory_of``.
        is_decoder: whether it is a decoder-only network.
        derivatives: as in ``OwnPasses``.

    Raises:
        ValueError: for a network of another architecture, with the missing part.
    """

    def passed(source: Ids, target: Ids) -> Recorded:
        return recording([*source, *target[:-1]]) if is_decoder else recording(source, [mark, *target[:-1]])

    def gradient(side: str, layer: int, entered: np.ndarray, towards: np.ndarray) -> np.ndarray:
        from keras import ops

        function = found.feed_forwards[side, layer]
        _, (slopes,) = derivatives(lambda rows: ops.multiply(function(rows), towards[None]), [entered])
        return array_of(slopes)

    ids = _some_ids(passed, mark, is_decoder)
    sides: dict[str, tuple[str, ...]] = {"decoder": ("decoder_attention",)} if is_decoder else ATTENTIONS
    found = _Parts(passed(ids[:4], ids[3:6]), sides, attention)
    for side in sides:
        found.follow(side)
    beginnings = {side: _Beginning(recording, found, side, ids) for side in sides}
    output, bias = found.unembedding()
    built = Built(
        layers=found.layers,
        heads=found.heads,
        norm_first=found.norm_first,
        normalisation=found.normalisation,
        start=mark,
        embeddings={side: each.vectors for side, each in beginnings.items()},
        positions=lambda side, length: beginnings[side].added(length),
        begins=found.begins,
        output=output,
        output_bias=bias,
        feed_forward=lambda side, layer, entered: rows_of(found.feed_forwards[side, layer](entered)),
        feed_forward_gradient=gradient,
        rotations=found.rotation if found.rotations else None,
    )
    stream = OwnStream(built.alone() if is_decoder else built, found.arrays)
    probes = (ids[::-1], ids[:4]), (ids[1:4], ids[2:] + ids[:2])
    own = [(*each, passed(*each).logits[-len(each[1]) :]) for each in probes]
    return checked(stream, own)


class _Parts:
    """The parts of a network by one pass.

    ``arrays`` fills up, in the paths that ``OwnStream`` reads.

    Args:
        pass_: the pass.
        sides: its kinds of attention by side.
        attention: as in ``laboratory_of``.
    """

    def __init__(self, pass_: Recorded, sides: Mapping[str, Sequence[str]], attention: Declared):
        self.pass_, self.arrays = pass_, {}  # type: ignore[var-annotated]
        self._attention = attention
        self._linears = {call.place: found for call in pass_.calls if (found := linear_of(call))}
        norms = [normal for call in pass_.calls if (normal := norm_of(call))]
        self._norms = [each for each in norms if len(each.gamma) == each.given.shape[1]]
        self._head_norms = [each for each in norms if len(each.gamma) < each.given.shape[1]]
        self._softmaxes = {at: number for number, at in enumerate(pass_.order) if at is not None}
        self.layers = {
            side: 1 + max(layer for kind, layer in self._softmaxes if kind == kinds[0])
            for side, kinds in sides.items()
        }
        crossing = sum(kind == "cross_attention" for kind, _ in self._softmaxes)
        if crossing not in (0, self.layers["decoder"]):
            raise ValueError("the layers of its decoder do not all look at the source once")
        self.heads = {
            kind: len(pass_.weights[self._softmaxes[kind, 0]]) for kinds in sides.values() for kind in kinds
        }
        self.begins: dict[str, tuple[np.ndarray, np.ndarray]] = {}  # by side: gamma and beta of a first norm
        self.starts: dict[str, int] = {}  # by side: the call that reads the beginning of the stream
        self.rotations: dict[int, Callable[[Tensor], Tensor]] = {}  # by layer
        self.feed_forwards: dict[tuple[str, int], Callable[[Tensor], Tensor]] = {}
        if not self._norms:
            raise NoStreamError("no layer of it normalises what it reads or adds", NO_NORMALISATION)
        self.normalisation = self._norms[0].normalisation
        if any(each.normalisation != self.normalisation for each in self._norms):
            raise ValueError("its normalisations have different epsilons")
        first = self._layers_of(next(iter(sides.values()))[0], 0)
        after = first["query"].given + first["output"].returned
        self.norm_first = not any(near(each.given, after) for each in self._norms)

    def follow(self, side: str) -> None:
        """Follow the stream (N, D) of one side from its first layer to its last.

        Raises ValueError for other parts.
        """
        stream: np.ndarray | None = None
        for layer in range(self.layers[side]):
            for kind in SUBLAYERS[side]:
                if kind in ATTENTION_PATHS and kind not in self.heads:
                    continue
                if kind in ATTENTION_PATHS:
                    parts = self._layers_of(kind, layer)
                    if stream is None:
                        stream = self._begun(side, parts["query"])
                    entered, added, after = (
                        parts["query"].given,
                        parts["output"].returned,
                        parts["output"].place,
                    )
                    for part, each in parts.items():
                        path = f"{sublayer_path(kind, layer)}/{part}"
                        self._keep(path, each)
                        if each.norm is not None:
                            self._keep_norm(f"{path}/norm", each.norm)
                else:
                    assert stream is not None
                    entered = self._norm_of(stream).returned if self.norm_first else stream
                    added, self.feed_forwards[side, layer] = self._feed_forward(
                        stream, entered, after, f"{side} {layer + 1}"
                    )
                path, where = norm_path(kind, layer), f"{side}_{layer + 1}"
                stream = self._through(path, stream, entered, added, where)
        assert stream is not None
        if self.norm_first:
            self._keep_norm(f"{side}_norm", self._norm_of(stream, f"behind the last layer of its {side}"))

    def unembedding(self) -> tuple[np.ndarray, np.ndarray]:
        """(V, D) and (V,): the vectors and the bias of the output layer. Raises ValueError without one."""
        shape = self.pass_.logits.shape
        calls = [each for each in self.pass_.calls if each.returned.shape == shape and each.given.ndim == 2]
        if not calls:
            raise ValueError("its logits are not what a layer of Keras puts out")
        return unembedding_of(calls[-1])

    def _layers_of(self, kind: str, layer: int) -> dict[str, Linear]:
        """The query, key, value and output layers of one attention.

        Raises ValueError where none are declared.
        """
        number = self._softmaxes[kind, layer]
        weights, calls = self.pass_.weights[number], self.pass_.calls
        for declared in self._attention:
            places = [
                [place for place in self._linears if calls[place].layer is each] for each in declared[:4]
            ]
            if not any(calls[place].softmaxes == number for place in places[0]):
                continue
            before = [[place for place in some if calls[place].softmaxes <= number] for some in places[:3]]
            after = [place for place in places[3] if calls[place].softmaxes > number]
            if all(before) and after:
                query, key, value = (self._linears[some[-1]] for some in before)
                query, key = (each._replace(norm=self._head_norm_of(each)) for each in (query, key))
                output = self._linears[after[0]]
                turning = [each.layer for each in calls if rotates(each.layer) and each.softmaxes == number]
                if turning := [*declared[4:], *turning]:
                    self.rotations[layer] = turning[0]
                return self._scaled((query, key, value, output), weights, layer)
        where = f"attention {layer + 1} ({kind.removesuffix('_attention')})"
        advice = "say them: attention=[(query, key, value, output), …]"
        raise ValueError(
            f"no Dense layers have the usual names of the query, key, value and output of {where}; {advice}"
        )

    def rotation(self, layer: int, length: int) -> np.ndarray:
        """(N, d, d): the rotations of unit vectors."""
        import keras

        unit = np.broadcast_to(np.eye(self._depth, dtype=np.float32), (1, length, self._depth, self._depth))
        return array_of(self.rotations[layer](keras.ops.convert_to_tensor(unit)))[0]

    def _scaled(self, layers: Sequence[Linear], weights: np.ndarray, layer: int) -> dict[str, Linear]:
        """The four layers of all heads, with the scale of the scores beyond 1/√d inside the query."""
        query, key, value, output = layers
        heads, width = len(weights), query.kernel.shape[1]
        depth = self._depth = width // heads
        query, key = (
            each if each.norm is None else each._replace(returned=each.norm.returned) for each in (query, key)
        )
        key = key.repeated(width, key.kernel.shape[1] // depth)
        value = value.repeated(
            output.kernel.shape[0], value.kernel.shape[1] * heads // output.kernel.shape[0]
        )
        asking, asked = _by_head(query.returned, heads), _by_head(key.returned, heads)
        if layer in self.rotations:
            rotation = self.rotation(layer, len(query.returned))
            asking, asked = (np.einsum("hnd,nde->hne", each, rotation) for each in (asking, asked))
        scores = asking @ asked.swapaxes(-1, -2)
        if scores.shape == weights.shape:
            seen = weights > 1e-12
            logs = _centred(np.log(np.maximum(weights, 1e-12)), seen)
            scores = _centred(scores, seen)
            factor = np.float32((logs * scores).sum() / max(float((scores**2).sum()), 1e-12) * depth**0.5)
            if abs(factor - 1) > 1e-2 and query.norm is not None:
                query = query._replace(norm=query.norm._replace(gamma=query.norm.gamma * factor))
            elif abs(factor - 1) > 1e-2:
                query = query._replace(kernel=query.kernel * factor, bias=query.bias * factor)
        return {"query": query, "key": key, "value": value, "output": output}

    def _begun(self, side: str, first: Linear) -> np.ndarray:
        """The beginning of a stream. ``first`` makes the queries of its first attention."""
        before = next((each for each in self._norms if near(each.returned, first.given)), None)
        if before is None and self.norm_first:
            raise ValueError(
                f"what its {side} first reads is neither normalised nor summed with what is added"
            )
        self.starts[side] = first.place if before is None else before.place
        if before is not None and not self.norm_first:
            self.begins[side] = before.gamma, before.beta
        return before.given if before is not None and self.norm_first else first.given

    def _feed_forward(
        self, stream: np.ndarray, entered: np.ndarray, after: int, where: str
    ) -> tuple[np.ndarray, Callable[[Tensor], Tensor]]:
        """The output (N, D) that is added to the stream behind the call ``after``, and its function.

        It is that of the layer that reads ``entered``, or of the last of several such layers.
        """
        calls = self.pass_.calls[after + 1 :]
        readers = [each for each in calls if near(each.given, entered)]
        outputs = [each for each in calls if each.returned.shape == stream.shape]
        added = [
            each for each in outputs if any(near(norm.given, stream + each.returned) for norm in self._norms)
        ]
        if not readers or not added:
            message = f"no layer puts out what the feed-forward network of layer {where} adds"
            raise ValueError(f"{message}: put it into a layer of its own")
        whole = [each for each in readers if any(each is one for one in added)]
        end = (whole or added)[0]
        function = whole[0].again if whole else partial(replayed, readers, end)
        # Later it is asked for rows of several sentences at once.
        ends = [-1, 0]
        if not near(rows_of(function(entered[ends])), end.returned[ends]):
            raise ValueError(f"the feed-forward network of layer {where} does not compute each token alone")
        return end.returned, function

    def _through(
        self, path: str, stream: np.ndarray, entered: np.ndarray, added: np.ndarray, where: str
    ) -> np.ndarray:
        """The stream after a sub-layer that read ``entered`` and added ``added``."""
        if not self.norm_first:
            after = self._norm_of(stream + added, f"to what {where} read and added")
            self._keep_norm(path, after)
            return after.returned
        fitting = (each for each in self._norms if near(each.given, stream) and near(each.returned, entered))
        if (before := next(fitting, None)) is None:
            raise ValueError(f"what {where} reads is not its residual stream, normalised")
        self._keep_norm(path, before)
        return stream + added

    def _head_norm_of(self, projected: Linear) -> Norm | None:
        return next((each for each in self._head_norms if near(each.given, projected.returned)), None)

    def _norm_of(self, stream: np.ndarray, where: str = "") -> Norm:
        found = next((each for each in self._norms if near(each.given, stream)), None)
        if found is None:
            message = f"no normalisation is applied {where}: there is no residual connection"
            raise NoStreamError(message, NO_NORMALISATION)
        return found

    def _keep(self, path: str, each: Linear) -> None:
        self.arrays[f"{path}/kernel"] = np.ascontiguousarray(each.kernel)
        self.arrays[f"{path}/bias"] = each.bias

    def _keep_norm(self, path: str, each: Norm) -> None:
        self.arrays[f"{path}/epsilon"] = np.float32(each.normalisation.epsilon)
        self.arrays[f"{path}/gamma"], self.arrays[f"{path}/beta"] = each.gamma, each.beta


class _Beginning:
    """The beginning of a side's stream: the scaled vector of each id, and the addition at each position."""

    def __init__(self, recording: Recording, found: _Parts, side: str, ids: Ids):
        self._recording, self._ids, self._place = recording, list(ids), found.starts[side]
        self._sides, self._at = len(found.pass_.sides), -1 if side == "decoder" else 0
        begun, stream = self._of(found.pass_)
        tables = (table_of(call, begun) for call in found.pass_.calls)
        if (vectors := next((each for each in tables if each is not None), None)) is None:
            raise ValueError(f"its {side} does not look its ids up in an Embedding")
        other, moved = self._pass(len(begun), turned=1)
        # Positions are the same, and cancel.
        by = np.subtract(vectors[other], vectors[begun], dtype=np.float64)
        moved = np.subtract(moved, stream, dtype=np.float64)
        factor = np.float32((moved * by).sum() / max(float((by * by).sum()), 1e-12))
        if apart(by * factor, moved) > 1e-3:
            raise ValueError(
                f"the stream of its {side} does not begin with a sum of embeddings and positions"
            )
        self.vectors = vectors * factor

    def added(self, length: int) -> np.ndarray:
        """(N, D): the addition to the tokens at each position of ``length``."""
        ids, stream = self._pass(length)
        return stream - self.vectors[ids]

    def _pass(self, length: int, turned: int = 0) -> tuple[list[int], np.ndarray]:
        """``length`` ids from the one at ``turned``, and the beginning of the stream that reads them."""
        many = [self._ids[(number + turned) % len(self._ids)] for number in range(length)]
        sides = [self._ids[:2]] * self._sides
        sides[self._at] = many
        return self._of(self._recording(*sides))

    def _of(self, pass_: Recorded) -> tuple[list[int], np.ndarray]:
        return pass_.sides[self._at], pass_.calls[self._place].given


def _some_ids(passed: Recording, mark: int, is_decoder: bool) -> list[int]:
    """Ids that each side looks up and that are no padding: at which a head of the first attention looks."""
    pass_ = passed([mark] * 2, [mark] * 3)
    tables = [table_of(call, ids) for call in pass_.calls for ids in pass_.sides]
    known = min((len(each) for each in tables if each is not None), default=0)
    ids = np.unique(np.linspace(1, known - 1, _TRIED).astype(int)).tolist() if known else []
    if len(ids) > 1:
        pass_ = passed(ids, [mark] if is_decoder else [*ids, mark])
        first = next(maps for maps, at in zip(pass_.weights, pass_.order, strict=True) if at)
        seen = first.max(axis=(0, 1)) > 0
        ids = [each for each, is_seen in zip(ids, seen, strict=True) if is_seen]
    if len(ids) < _FEWEST + (not is_decoder):
        raise ValueError(f"fewer than {_FEWEST} tokens are looked up in an Embedding")
    return ids


def _centred(array: np.ndarray, seen: np.ndarray) -> np.ndarray:
    """(…, K) without the mean over its ``seen`` cells; the others are 0."""
    mean = np.where(seen, array, 0).sum(-1, keepdims=True) / np.maximum(seen.sum(-1, keepdims=True), 1)
    return np.where(seen, array - mean, 0)


def _by_head(array: np.ndarray, heads: int) -> np.ndarray:
    """(N, H·d) -> (H, N, d)."""
    return array.reshape(len(array), heads, -1).transpose(1, 0, 2)
