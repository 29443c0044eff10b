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
from typing import Any

import numpy as np

from model.activations.sublayers import Units, kind_side
from model.activations.walk import ActivationWalk
from model.trace.interventions import (
    ATTENTIONS,
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
    positions: Mapping[str, np.ndarray]  # (P, D); none where scores hold them
    # Gamma and beta where a stream begins with a normalisation
    begins: Mapping[str, tuple[np.ndarray, np.ndarray]]
    output: np.ndarray  # (V, D)
    output_bias: np.ndarray  # (V,)
    activation: Callable[[np.ndarray], np.ndarray]
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
    """A walk over ``arrays`` in the paths of ``ActivationWalk``.

    A gated feed-forward network has a ``…/gate``, too.
    """

    def __init__(self, built: Built, arrays: Mapping[str, np.ndarray]):
        width = built.output.shape[1]
        self.config: Any = StreamConfig(built.norm_first, width, len(built.output))
        self.built, self.start, self.normalisation = built, built.start, built.normalisation
        self.scores_hold_positions = built.scores is not None
        self.arrays = {**arrays, "embedding/output_bias": built.output_bias}
        self.vectors, self._vocabulary = built.output, np.ascontiguousarray(built.output.T)
        self._units = {}

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
        start = self.built.embeddings[side][list(ids)] + self._added(len(ids), side)
        return self.normalisation.of(start, *self.built.begins[side]) if side in self.built.begins else start

    def positions(self, length: int, side: str) -> np.ndarray:
        """(N, D): the addition at each position.

        It is 0 where a normalisation begins the stream, all of which counts as embedding.
        """
        found = self._added(length, side)
        return np.zeros_like(found) if side in self.built.begins else found

    def _added(self, length: int, side: str) -> np.ndarray:
        if side not in self.built.positions:
            return np.zeros((length, self.config.d_model), np.float32)
        return self.built.positions[side][:length]

    def units(self, side: str, layer: int) -> Units | None:
        return None  # the function of its feed-forward networks need not be ReLU

    def feed_forward(self, side: str, layer: int, entered: np.ndarray) -> np.ndarray:
        """(N, D) -> (N, D): the feed-forward network of one layer, with its gate where it has one."""
        name = f"{side}_{layer + 1}/feed_forward"
        hidden = self.built.activation(self.dense(entered, f"{name}/hidden"))
        if f"{name}/gate/kernel" in self.arrays:
            hidden = hidden * self.dense(entered, f"{name}/gate")
        return self.dense(hidden, f"{name}/output")


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


def insides_of_stream(stream: OwnStream, source: Sequence[int], target: Sequence[int]) -> Insides:
    """``Insides`` of one plain pass over ids (S,) and written ids (T,)."""
    values = [tap(kind, "value") for kind in ATTENTION_KINDS]
    found = stream.taps(source, target, [*ATTENTION_KINDS, *values, "encoder_residual", "decoder_residual"])
    return insides_of_taps(stream, found, ATTENTION_KINDS)


def insides_of_taps(stream: OwnStream, found: dict[str, np.ndarray], kinds: Sequence[str]) -> Insides:
    """``Insides`` of ``kinds`` of attention, from the activations (L, H, Q, K), … ``found`` in one pass."""
    entering, kernels, biases, scales = {}, {}, {}, {}
    for kind in kinds:
        nodes = [Node(kind, layer, 0) for layer in range(len(found[kind]))]
        entering[kind] = found[tap(nodes[0].side, "residual")][[node.sublayer for node in nodes]]
        kernels[kind], biases[kind] = stream.output_projections(kind, range(len(nodes)))
        scales[kind] = np.stack([stream.norm_weights(kind, node.layer)[0] for node in nodes])
    return Insides(
        attention={kind: found[kind] for kind in kinds},
        values={kind: found[tap(kind, "value")] for kind in kinds},
        entering=entering,
        output_kernels=kernels,
        output_biases=biases,
        norm_scales=None if stream.config.norm_first else scales,
    )


def zeroed_of_stream(stream: OwnStream, source: Sequence[int], target: Sequence[int]) -> Zeroed:
    """``Zeroed``: the turn (L, T, K) of each decoder layer without one value.

    Earlier layers compute the same.
    """
    kinds = ATTENTIONS["decoder"]
    found = stream.taps(
        source, target, ["memory", "decoder_residual", *kinds, *(tap(kind, "value") for kind in kinds)]
    )
    layers = range(stream.layers("decoder"))
    return Zeroed(*(np.stack([turned(stream, found, kind, layer) for layer in layers]) for kind in kinds))


def turned(stream: OwnStream, found: dict[str, np.ndarray], zeroed: str, layer: int) -> np.ndarray:
    """(T, K) cosine distances of one layer without the value at each of K positions of ``zeroed``."""
    side = kind_side(zeroed)
    stacks, residual = SUBLAYERS[side], found[tap(side, "residual")]
    plain = residual[(layer + 1) * len(stacks)]  # (T, D)
    count = found[zeroed].shape[-1]
    x = np.repeat(residual[layer * len(stacks)][None], count, axis=0)  # (K, T, D)
    for kind in stacks:
        entered = stream.enter(kind, layer, x)
        if kind not in ATTENTIONS[side]:
            output = stream.feed_forward(side, layer, entered)
        elif kind == zeroed:
            weights, values = found[kind][layer], found[tap(kind, "value")][layer]  # (H, T, K), (H, K, D/H)
            kept = 1 - np.eye(count, dtype=np.float32)
            output = stream.join(kind, layer, weights @ (values * kept[:, None, :, None]))
        else:
            read = entered if kind == "decoder_attention" else np.repeat(found["memory"][None], count, axis=0)
            query, key, value = stream.projected(kind, layer, entered, read)
            output = stream.join(kind, layer, stream.weights(kind, query, key) @ value)
        x = stream.leave(kind, layer, x + output)
    unit = [each / np.maximum(np.linalg.norm(each, axis=-1, keepdims=True), 1e-6) for each in (x, plain)]
    return np.maximum(1 - (unit[0] * unit[1]).sum(axis=-1), 0).T
