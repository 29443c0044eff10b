"""``OwnStream``: NumPy forward pass with the weights of a network of another library.

It gives the residual stream, for direct logit attribution and the logit lens.

``ActivationWalk`` walks through networks that are built as ours are. Others differ in the places that
``Built`` names: the kind and position of normalisations, the beginning of a stream, the activation of
feed-forward networks, and scores beyond queries and keys. Then every question about a residual stream can be
asked of them.

L layers, H heads, S source and T target tokens, Q and K positions, D d_model, V vocabulary, P longest text.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from model.activations.sublayers import Units, kind_side
from model.activations.walk import ActivationWalk
from model.trace.interventions import (
    ATTENTIONS,
    FEED_FORWARDS,
    SUBLAYERS,
    Insides,
    Node,
    Normalisation,
    Zeroed,
    tap,
)
from model.trace.trace import ATTENTION_KINDS

# Reasons why a network has no residual stream. The pages have a text for each, ``no_stream_…``.
NO_STREAM = DECODER_ALONE, NO_NORMALISATION, OTHER_LOGITS, OTHER_PARTS = (
    "decoder_alone",
    "no_normalisation",
    "other_logits",
    "other_parts",
)
CLOSE = 1e-3  # of the largest logit: the tolerance between the walk and the network's own pass


class NoStreamError(ValueError):
    """A network without a residual stream.

    The message is the detailed reason, ``kind`` that of NO_STREAM for pages.
    """

    def __init__(self, message: str, kind: str = OTHER_PARTS):
        super().__init__(message)
        self.kind = kind


def without_memory() -> NoStreamError:
    """The reason for a decoder alone."""
    message = "a decoder alone has no memory of a source, which the questions about a residual stream need"
    return NoStreamError(message, DECODER_ALONE)


@dataclass(frozen=True)
class Built:
    """The architecture of a network. Arrays are float32; mappings are by side or by kind of attention."""

    layers: Mapping[str, int]
    heads: Mapping[str, int]
    norm_first: bool
    normalisation: Normalisation
    start: int  # the id that its decoder reads first
    embeddings: Mapping[str, np.ndarray]  # (ids, D), scaled as the stream has them
    positions: Callable[[str, int], np.ndarray]  # (side, N) -> (N, D), the sum of embeddings and it begins
    # Gamma and beta where a stream begins with a normalisation
    begins: Mapping[str, tuple[np.ndarray, np.ndarray]]
    output: np.ndarray  # (V, D)
    output_bias: np.ndarray  # (V,)
    feed_forward: Callable[[str, int, np.ndarray], np.ndarray]  # (side, layer, (N, D)) -> (N, D)
    scaled: bool = True  # scores are divided by √(D/H)
    scores: Callable[[str, int, int], np.ndarray | None] | None = None  # (kind, Q, K) to (H, Q, K)


@dataclass(frozen=True)
class StreamConfig:
    """The fields of ``NetworkConfig`` that analyses read."""

    norm_first: bool
    d_model: int
    vocab_size: int
    architecture: str = "transformer"


class OwnStream(ActivationWalk):
    """A walk over ``arrays`` in the paths of ``ActivationWalk``, with the network's own feed-forward."""

    def __init__(self, built: Built, arrays: Mapping[str, np.ndarray]):
        width = built.output.shape[1]
        self.config: Any = StreamConfig(built.norm_first, width, len(built.output))
        self.built, self.start, self.normalisation = built, built.start, built.normalisation
        self.scores_hold_positions = built.scores is not None
        self.arrays = {**arrays, "embedding/output_bias": built.output_bias}
        self.vectors, self._vocabulary = built.output, np.ascontiguousarray(built.output.T)
        self._units = {}
        self._added = lru_cache(maxsize=64)(built.positions)

    def layers(self, side: str) -> int:
        return self.built.layers[side]

    def heads(self, kind: str) -> int:
        return self.built.heads[kind]

    def scale(self, depth: int) -> np.float32:
        """The factor of scores (H, Q, K): 1/√(D/H), or 1."""
        return super().scale(depth) if self.built.scaled else np.float32(1)

    def position_scores(self, kind: str, queries: int, keys: int) -> np.ndarray | None:
        """(H, Q, K): the addition to scores for the distance of positions; None without one."""
        return self.built.scores(kind, queries, keys) if self.built.scores else None

    def stream_start(self, ids: Sequence[int], side: str = "encoder") -> np.ndarray:
        """(N, D): the beginning of a side's stream."""
        start = self.built.embeddings[side][list(ids)] + self._added(side, len(ids))
        return self.normalisation.of(start, *self.built.begins[side]) if side in self.built.begins else start

    def positions(self, length: int, side: str) -> np.ndarray:
        """(N, D): the addition at each position.

        It is 0 where a normalisation begins the stream, all of which counts as embedding.
        """
        found = self._added(side, length)
        return np.zeros_like(found) if side in self.built.begins else found

    def units(self, side: str, layer: int) -> Units | None:
        return None  # the function of its feed-forward networks need not be ReLU

    def feed_forward(self, side: str, layer: int, entered: np.ndarray) -> np.ndarray:
        """(..., D) -> (..., D): the feed-forward network of one layer."""
        flat = entered.reshape(-1, entered.shape[-1])
        return self.built.feed_forward(side, layer, flat).reshape(entered.shape)

    def insides(self, source: Sequence[int], target: Sequence[int]) -> Insides:
        """``Insides`` of one plain pass over ids (S,) and written ids (T,)."""
        values = [tap(kind, "value") for kind in ATTENTION_KINDS]
        names = [*ATTENTION_KINDS, *values, "encoder_residual", "decoder_residual"]
        return self.insides_of(self.taps(source, target, names), ATTENTION_KINDS)

    def insides_of(self, found: Mapping[str, np.ndarray], kinds: Sequence[str]) -> Insides:
        """``Insides`` of ``kinds`` of attention, from the activations ``found`` in one pass."""
        entering, kernels, biases, scales = {}, {}, {}, {}
        for kind in kinds:
            nodes = [Node(kind, layer, 0) for layer in range(len(found[kind]))]
            entering[kind] = found[tap(nodes[0].side, "residual")][[node.sublayer for node in nodes]]
            kernels[kind], biases[kind] = self.output_projections(kind, range(len(nodes)))
            scales[kind] = np.stack([self.norm_weights(kind, node.layer)[0] for node in nodes])
        return Insides(
            attention={kind: found[kind] for kind in kinds},
            values={kind: found[tap(kind, "value")] for kind in kinds},
            entering=entering,
            output_kernels=kernels,
            output_biases=biases,
            norm_scales=None if self.config.norm_first else scales,
        )

    def zeroed(self, source: Sequence[int], target: Sequence[int]) -> Zeroed:
        """``Zeroed``: the turn (L, T, K) of each decoder layer without one value.

        Earlier layers compute the same.
        """
        kinds = ATTENTIONS["decoder"]
        names = ["memory", "decoder_residual", *kinds, *(tap(kind, "value") for kind in kinds)]
        found, layers = self.taps(source, target, names), range(self.layers("decoder"))
        return Zeroed(*(np.stack([self.turned(found, kind, layer) for layer in layers]) for kind in kinds))

    def turned(self, found: Mapping[str, np.ndarray], zeroed: str, layer: int) -> np.ndarray:
        """(T, K) cosine distances of one layer without the value at each of K positions of ``zeroed``."""
        side = kind_side(zeroed)
        stacks, residual = SUBLAYERS[side], found[tap(side, "residual")]
        plain = residual[(layer + 1) * len(stacks)]  # (T, D)
        count = found[zeroed].shape[-1]
        x = np.repeat(residual[layer * len(stacks)][None], count, axis=0)  # (K, T, D)
        for kind in stacks:
            entered = self.enter(kind, layer, x)
            if kind not in ATTENTIONS[side]:
                output = self.feed_forward(side, layer, entered)
            elif kind == zeroed:
                values = found[tap(kind, "value")][layer]  # (H, K, D/H)
                kept = 1 - np.eye(count, dtype=np.float32)
                output = self.join(kind, layer, found[kind][layer] @ (values * kept[:, None, :, None]))
            else:
                own = kind == "decoder_attention"
                read = entered if own else np.repeat(found["memory"][None], count, axis=0)
                query, key, value = self.projected(kind, layer, entered, read)
                output = self.join(kind, layer, self.weights(kind, query, key) @ value)
            x = self.leave(kind, layer, x + output)
        unit = [each / np.maximum(np.linalg.norm(each, axis=-1, keepdims=True), 1e-6) for each in (x, plain)]
        return np.maximum(1 - (unit[0] * unit[1]).sum(axis=-1), 0).T


class DecoderPass(NamedTuple):
    """One pass of a decoder alone over N ids."""

    start: np.ndarray  # (N, D), where its stream begins
    weights: np.ndarray  # (L, H, N, N)
    logits: np.ndarray  # (N, V)


DecoderRun = Callable[[list[int]], DecoderPass]


class DecoderStream(OwnStream):
    """The values and layers of a decoder alone, whose attention weights are those of each pass.

    Its parts are kept by the names of an encoder, whose layers have the same ones. Queries and keys are not
    read, since some networks rotate them by position (Su et al., "RoFormer", 2021).

    Args:
        run: a pass of the network over ids.
    """

    def __init__(self, built: Built, arrays: Mapping[str, np.ndarray], run: DecoderRun):
        super().__init__(built, arrays)
        self._run = run

    def insides(self, source: Sequence[int], target: Sequence[int]) -> Insides:
        found = self.insides_of(self.activations([*source, *target[:-1]]), ["encoder_attention"])
        named = {
            name: part and {"decoder_attention": part["encoder_attention"]}
            for name, part in found._asdict().items()
        }
        return Insides(**named)

    def zeroed(self, source: Sequence[int], target: Sequence[int]) -> Zeroed:
        """All positions (L, N, N) are read ones, and none is of a source."""
        found, layers = self.activations([*source, *target[:-1]]), range(self.layers("encoder"))
        rows = np.stack([self.turned(found, "encoder_attention", layer) for layer in layers])
        return Zeroed(rows, np.empty((*rows.shape[:2], 0), np.float32))

    def activations(self, read: list[int]) -> dict[str, np.ndarray]:
        """The walk through the layers with the pass's own weights.

        Raises ValueError for other logits than its own.
        """
        (x, weights, logits), kind, feed = self._run(read), "encoder_attention", FEED_FORWARDS["encoder"]
        if len(weights) != self.layers("encoder"):
            raise NoStreamError(f"{len(weights)} of its {self.layers('encoder')} layers have attention")
        values, residual = [], [x]
        for layer, looks in enumerate(weights):
            value = self.dense(self.enter(kind, layer, x), f"encoder_{layer + 1}/self_attention/value")
            values.append(value.reshape(len(value), self.heads(kind), -1).transpose(1, 0, 2))
            x = self.leave(kind, layer, x + self.join(kind, layer, (looks @ values[-1])[None])[0])
            residual.append(x)
            x = self.leave(feed, layer, x + self.feed_forward("encoder", layer, self.enter(feed, layer, x)))
            residual.append(x)
        check_logits(self.logits(self.close("encoder", x)), logits)
        return {kind: weights, "encoder_value": np.stack(values), "encoder_residual": np.stack(residual)}


def checked(stream: OwnStream, source: Sequence[int], target: Sequence[int], logits: np.ndarray) -> OwnStream:
    """``stream`` itself, compared with the ``logits`` (T, V) or log probabilities of the network's own pass.

    Raises:
        NoStreamError: where the walk gives others, because the network has another architecture.
    """
    check_logits(stream.taps(source, target, ["logits"])["logits"], logits)
    return stream


def check_logits(walked: np.ndarray, logits: np.ndarray) -> None:
    """Raise NoStreamError where the ``walked`` logits (T, V) are not the network's own.

    A constant by row is no difference.
    """
    off = np.inf
    if walked.shape == logits.shape:  # a constant on all logits of a row changes no probability
        off = np.abs(_centred(walked) - _centred(logits)).max() / max(np.abs(_centred(logits)).max(), 1e-12)
    if not off < CLOSE:
        message = f"a walk through its layers does not give its own logits, and is off by {off:.2g}"
        raise NoStreamError(message, OTHER_LOGITS)


def _centred(logits: np.ndarray) -> np.ndarray:
    return logits - logits.mean(axis=-1, keepdims=True)
