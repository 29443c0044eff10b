"""The parts of a Transformer in Keras, found by what each of them computed in one pass.

A head's queries and keys are the two linear layers whose products give the weights that the softmax returned. Its values are the ones
that these weights make into what the output projection reads. A feed-forward network is what reads the stream behind attention.

S source tokens, T tokens that the decoder reads, N of either; H heads, d their width, Q query and K key positions, D d_model, V vocabulary.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import permutations
from typing import NamedTuple

import numpy as np

from model.activations.sublayers import kind_side
from model.adapters.keras_parts import Call, Linear, Norm, apart, applied, linear, near, norm, output_layer
from model.adapters.own_stream import NO_NORMALISATION, Built, NoStreamError
from model.stored.config import ATTENTION_PATHS
from model.trace.output_weights import Normalisation
from model.trace.patches import ATTENTIONS, SUBLAYERS

_MISFIT = 1e-3  # the largest difference between what layers make and what was computed
_NEAREST = 6  # linear layers before a softmax, among which are its queries, keys and values
_ACTIVATIONS = ("relu", "gelu", "silu", "tanh", "elu", "selu", "leaky_relu", "relu6")
_SCALES: tuple[Callable[[int, int], float], ...] = (
    lambda depth, heads: depth**-0.5,
    lambda depth, heads: 1.0,
    lambda depth, heads: (depth * heads) ** -0.5,
)


class Recorded(NamedTuple):
    """One pass."""

    source: list[int]  # S ids
    read: list[int]  # T ids, the start mark first
    calls: list[Call]
    weights: list[np.ndarray]  # (H, Q, K) of each softmax
    order: list[tuple[str, int] | None]  # the kind and the layer of each
    logits: np.ndarray  # (T, V)


class Attention(NamedTuple):
    """The linear layers of one attention. ``query`` makes scores that are divided by the root of a head's width."""

    query: Linear
    key: Linear
    value: Linear
    output: Linear


class Finding:
    """What is found in one pass. ``arrays`` fills up, in the paths that ``PatchedTransformer`` reads."""

    def __init__(self, pass_: Recorded, sides: Mapping[str, Sequence[str]] = ATTENTIONS):
        """``sides``: which sides it has, and which kinds of attention each of them."""
        self.pass_ = pass_
        calls = list(enumerate(pass_.calls))
        self.linears = [each for place, call in calls if (each := linear(place, call)) is not None]
        self.norms = [found for place, call in calls if (found := norm(place, call)) is not None]
        self.softmaxes = {at: number for number, at in enumerate(pass_.order) if at is not None}
        self.layers = {
            side: 1 + max(layer for kind, layer in self.softmaxes if kind == ATTENTIONS[side][0])
            for side in sides
        }
        if "decoder" in sides and self.layers["decoder"] != sum(
            kind == "cross_attention" for kind, _ in self.softmaxes
        ):
            raise ValueError("the layers of its decoder do not all look at the source once")
        self.heads = {
            kind: len(self.pass_.weights[self.softmaxes[kind, 0]]) for some in sides.values() for kind in some
        }
        self.arrays: dict[str, np.ndarray] = {}
        self.begins: dict[str, tuple[np.ndarray, np.ndarray]] = {}  # by side: gamma and beta of a first norm
        self.starts: dict[str, int] = {}  # by side: which call is given the beginning of the stream
        self.activation: Callable[[np.ndarray], np.ndarray] = lambda hidden: hidden
        self.normalisation = Normalisation()
        first = self._attention("encoder_attention", 0)
        self.norm_first = not any(
            near(each.given, first.query.given + first.output.returned) for each in self.norms
        )
        if not self.norms:
            raise NoStreamError("no layer of it normalises what it reads or adds", NO_NORMALISATION)
        self.normalisation = self.norms[0].normalisation
        if any(each.normalisation != self.normalisation for each in self.norms):
            raise ValueError("its normalisations have different epsilons")

    def follow(self, side: str) -> None:
        """Follow the stream of one side from its first layer to its last."""
        stream: np.ndarray | None = None
        for layer in range(self.layers[side]):
            last: Linear | None = None
            for kind in SUBLAYERS[side]:
                name = f"{kind_side(kind)}_{layer + 1}"
                if kind in ATTENTION_PATHS:
                    found = self._attention(kind, layer)
                    if stream is None:
                        stream = self._begun(side, found.query)
                    entered, last = found.query.given, found.output
                    self._keep_attention(f"{name}/{ATTENTION_PATHS[kind][0]}", found)
                    around = ATTENTION_PATHS[kind][1]
                else:
                    assert stream is not None and last is not None
                    entered = self._norm_of(stream).returned if self.norm_first else stream
                    last = self._feed_forward(f"{name}/feed_forward", entered, last, f"{side} {layer + 1}")
                    around = "around_feed_forward"
                assert stream is not None
                stream = self._through(f"{name}/{around}/norm", stream, entered, last.returned, name)
        assert stream is not None
        if self.norm_first:
            self._keep_norm(f"{side}_norm", self._norm_of(stream, f"behind the last layer of its {side}"))

    def built(self, start: int, embeddings: Mapping[str, np.ndarray]) -> Built:
        """What was found by ``follow``, as an ``OwnStream`` asks for it. ``start``, ``embeddings``: see ``Built``."""
        vectors, bias = self.output()
        return Built(
            layers=self.layers,
            heads=self.heads,
            norm_first=self.norm_first,
            normalisation=self.normalisation,
            start=start,
            embeddings=embeddings,
            positions={},
            begins=self.begins,
            output=vectors,
            output_bias=bias,
            activation=self.activation,
        )

    def output(self) -> tuple[np.ndarray, np.ndarray]:
        """(V, D) and (V,): the layer that makes the logits is the last one that puts them out."""
        shape = self.pass_.logits.shape
        for call in reversed(self.pass_.calls):
            if call.returned.shape == shape and call.given.ndim == 2:
                return output_layer(call)
        raise ValueError("its logits are not what a layer of Keras puts out")

    def _begun(self, side: str, first: Linear) -> np.ndarray:
        """The beginning of a stream. ``first`` makes the queries of its first attention."""
        before = next((each for each in self.norms if near(each.returned, first.given)), None)
        if before is None and self.norm_first:
            raise ValueError(
                f"what its {side} first reads is neither normalised nor summed with what is added"
            )
        self.starts[side] = first.place if before is None else before.place
        if before is not None and not self.norm_first:
            self.begins[side] = before.gamma, before.beta
        return before.given if before is not None and self.norm_first else first.given

    def _attention(self, kind: str, layer: int) -> Attention:
        number, near_by, what = self._near(kind, layer)
        query, key = _query_and_key(self.pass_.weights[number], near_by, what)
        return Attention(query, key, *self._mixing(number, near_by, what))

    def _near(self, kind: str, layer: int) -> tuple[int, list[Linear], str]:
        """The number of a softmax, the linear layers before it, and what a message calls it."""
        number = self.softmaxes[kind, layer]
        near_by = [each for each in self.linears if each.softmaxes <= number][-_NEAREST:]
        return number, near_by, f"attention {layer + 1} ({kind.removesuffix('_attention')})"

    def _mixing(self, number: int, near_by: Sequence[Linear], what: str) -> tuple[Linear, Linear]:
        """Which of the linear layers ``near_by`` makes the values of a softmax, and which one behind it reads what the heads found."""
        weights = self.pass_.weights[number]
        after = [each for each in self.linears if each.softmaxes > number]
        output = next((each for each in after if len(each.given) == weights.shape[1]), None)
        values = [each for each in near_by if len(each.given) == weights.shape[2]]
        mixed = [(_mixed(weights, each.returned), each) for each in values]
        fitting = [
            (apart(made, output.given), each)
            for made, each in mixed
            if output is not None and made.shape == output.given.shape
        ]
        best = min(fitting, key=lambda each: each[0], default=None)
        if output is None or best is None or best[0] > _MISFIT:
            raise ValueError(f"no Dense layers make the values and the output of {what}")
        return best[1], output

    def _feed_forward(self, path: str, entered: np.ndarray, behind: Linear, where: str) -> Linear:
        """The linear layer that ends the feed-forward network that reads ``entered``."""
        hidden = [each for each in self.linears if each.place > behind.place and near(each.given, entered)]
        ends = [
            each
            for each in self.linears
            if hidden and each.place > hidden[0].place and each.given.shape == hidden[0].returned.shape
        ]
        if not hidden or not ends or ends[0].returned.shape != entered.shape:
            raise ValueError(f"no feed-forward network of Dense layers stands in layer {where}")
        end = ends[0]
        hidden = [each for each in hidden if each.place < end.place]
        for opened, gate in ((hidden[0], None), *permutations(hidden[:2], 2)):
            for function in self._functions(opened):
                made = function(opened.before)
                if near(made if gate is None else made * gate.before, end.given):
                    self.activation = function
                    self._keep(f"{path}/hidden", opened)
                    if gate is not None:
                        self._keep(f"{path}/gate", gate)
                    self._keep(f"{path}/output", end)
                    return end
        raise ValueError(f"the function in the feed-forward network of layer {where} is not known")

    def _functions(self, opened: Linear) -> list[Callable[[np.ndarray], np.ndarray]]:
        import keras

        if opened.activation is not None:
            return [applied(opened.activation)]
        known = [applied(getattr(keras.activations, name)) for name in _ACTIVATIONS]
        return [*known, applied(lambda hidden: keras.activations.gelu(hidden, approximate=True))]

    def _through(
        self, path: str, stream: np.ndarray, entered: np.ndarray, added: np.ndarray, where: str
    ) -> np.ndarray:
        """The stream behind a sub-layer that read ``entered`` and added ``added``."""
        if self.norm_first:
            before = next(
                (each for each in self.norms if near(each.given, stream) and near(each.returned, entered)),
                None,
            )
            if before is None:
                raise ValueError(f"what {where} reads is not its residual stream, normalised")
            self._keep_norm(path, before)
            return stream + added
        behind = self._norm_of(stream + added, f"to what {where} read and added")
        self._keep_norm(path, behind)
        return behind.returned

    def _norm_of(self, stream: np.ndarray, where: str = "") -> Norm:
        found = next((each for each in self.norms if near(each.given, stream)), None)
        if found is None:
            message = f"no normalisation is applied {where}: there is no residual connection"
            raise NoStreamError(message, NO_NORMALISATION)
        return found

    def _keep_attention(self, path: str, found: Attention) -> None:
        for name, each in found._asdict().items():
            self._keep(f"{path}/{name}", each)

    def _keep(self, path: str, each: Linear) -> None:
        self.arrays[f"{path}/kernel"] = np.ascontiguousarray(each.kernel)
        self.arrays[f"{path}/bias"] = each.bias

    def _keep_norm(self, path: str, each: Norm) -> None:
        self.arrays[f"{path}/gamma"], self.arrays[f"{path}/beta"] = each.gamma, each.beta


def _query_and_key(weights: np.ndarray, near_by: Sequence[Linear], what: str) -> tuple[Linear, Linear]:
    """Which two linear layers make ``weights`` (H, Q, K). If scores are scaled by more than the root of a head's width, the rest goes
    into the queries.
    """
    heads, rows, columns = weights.shape
    found: list[tuple[float, float, Linear, Linear]] = []
    for query, key in permutations(near_by, 2):
        width = query.returned.shape[1]
        fits = (len(query.given), len(key.given), key.returned.shape[1]) == (rows, columns, width)
        if fits and not width % heads:
            depth = width // heads
            scores = _split(query.returned, heads) @ _split(key.returned, heads).swapaxes(-1, -2)
            for scale in _SCALES:
                factor = scale(depth, heads)
                found.append((_misfit(weights, scores * factor), factor * depth**0.5, query, key))
    best = min(found, key=lambda each: each[0], default=None)
    if best is None or best[0] > _MISFIT:
        raise ValueError(f"no Dense layers make the queries and keys of {what}")
    _, factor, query, key = best
    kernel, bias = query.kernel * np.float32(factor), query.bias * np.float32(factor)
    return query._replace(kernel=kernel, bias=bias), key


def _misfit(weights: np.ndarray, scores: np.ndarray) -> float:
    """How far logarithms of weights lie from scores; a row of either may be shifted, and what is masked does not count."""
    seen = weights > 1e-12
    logs = np.log(np.maximum(weights, 1e-12))
    difference = np.where(seen, logs - scores, 0)
    shift = difference.sum(-1, keepdims=True) / np.maximum(seen.sum(-1, keepdims=True), 1)
    return float(np.abs(np.where(seen, difference - shift, 0)).max())


def _mixed(weights: np.ndarray, values: np.ndarray) -> np.ndarray:
    """(Q, H·d): what the heads find, side by side."""
    if values.shape[1] % len(weights):
        return np.zeros((0, 0), np.float32)
    found = weights @ _split(values, len(weights))  # (H, Q, d)
    return found.transpose(1, 0, 2).reshape(weights.shape[1], -1)


def _split(array: np.ndarray, heads: int) -> np.ndarray:
    """(N, H·d) -> (H, N, d)."""
    return array.reshape(len(array), heads, -1).transpose(1, 0, 2)
