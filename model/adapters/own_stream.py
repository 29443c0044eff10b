"""``OwnStream``: the NumPy walk with the weights of a network of another library.

``ActivationWalk`` walks through networks that are built as ours are. Others differ in the places that
``Built`` names: the kind and position of normalisations, the beginning of a stream, the activation of
feed-forward networks, scores beyond queries and keys, queries and keys that are rotated by position. Then
every question about a residual stream can be asked of them.

A decoder-only network is walked as an encoder-decoder whose encoder has no layers and whose cross-attention
has no heads. Its stream holds the prompt and the continuation, N = S + T - 1 positions; the place behind the
cross-attention equals the one before it.

L layers, H heads, d their width, S source and T target tokens, Q and K positions, D d_model, V vocabulary.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from model.activations.walk import ActivationWalk
from model.trace.interventions import Normalisation

# Reasons why a network has no residual stream. The pages have a text for each, ``no_stream_…``.
NO_NORMALISATION, OTHER_LOGITS, OTHER_PARTS = "no_normalisation", "other_logits", "other_parts"
NO_STREAM = NO_NORMALISATION, OTHER_LOGITS, OTHER_PARTS
# Names by which layers of attention hold their four linear maps, in all libraries.
PARTS = {
    "query": "query _query_dense query_dense q wq Wq W_q q_proj to_q".split(),
    "key": "key _key_dense key_dense k wk Wk W_k k_proj to_k".split(),
    "value": "value _value_dense value_dense v wv Wv W_v v_proj to_v".split(),
    "output": "out _output_dense output_dense o wo Wo W_o o_proj out_proj c_proj to_out dense".split(),
}
CLOSE = 1e-4  # of the largest logit: the tolerance between the walk and the network's own pass


class NoStreamError(ValueError):
    """A network without a residual stream.

    The message is the detailed reason, ``kind`` that of NO_STREAM for pages.
    """

    def __init__(self, message: str, kind: str = OTHER_PARTS):
        super().__init__(message)
        self.kind = kind


@dataclass(frozen=True)
class Built:
    """The architecture of a network. Arrays are float32; mappings are by side or by kind of attention."""

    layers: Mapping[str, int]
    heads: Mapping[str, int]
    norm_first: bool
    normalisation: Normalisation
    start: int | None  # the id that its decoder reads first; None of a decoder-only network
    embeddings: Mapping[str, np.ndarray]  # (ids, D), scaled as the stream has them
    positions: Callable[[str, int], np.ndarray]  # (side, N) -> (N, D), the sum of embeddings and it begins
    # Gamma and beta where a stream begins with a normalisation
    begins: Mapping[str, tuple[np.ndarray, np.ndarray]]
    output: np.ndarray  # (V, D)
    output_bias: np.ndarray  # (V,)
    feed_forward: Callable[[str, int, np.ndarray], np.ndarray]  # (side, layer, (N, D)) -> (N, D)
    # (side, layer, (N, D) entered, (N, D) gradient of the output) -> (N, D)
    feed_forward_gradient: Callable[[str, int, np.ndarray, np.ndarray], np.ndarray]
    divisor: float | None = None  # of scores; None: √d
    scores: Callable[[str, int, int], np.ndarray | None] | None = None  # (kind, Q, K) to (H, Q, K)
    # (layer, N) -> (N, d, d): the rotation of queries and keys at each position (Su et al., "RoFormer", 2021)
    rotations: Callable[[int, int], np.ndarray] | None = None

    window: int | None = None  # how far its attention sees; None without a limit

    def alone(self) -> "Built":
        """The same as a decoder-only network: an encoder of no layers, a cross-attention of no heads."""
        none = np.zeros((0, self.output.shape[1]), np.float32)
        return replace(
            self,
            layers={"encoder": 0, **self.layers},
            heads={"encoder_attention": 0, "cross_attention": 0, **self.heads},
            start=None,
            embeddings={"encoder": none, **self.embeddings},
            positions=lambda side, length: self.positions(side, length) if length else none,
        )


@dataclass(frozen=True)
class StreamConfig:
    """The fields of ``NetworkConfig`` that analyses read."""

    norm_first: bool
    d_model: int
    vocab_size: int
    architecture: str = "transformer"


class OwnStream(ActivationWalk):
    """A walk over ``arrays`` in the paths of ``ActivationWalk``, with the network's own feed-forward.

    Queries and keys are normalised by head with the arrays ``…/query/norm/gamma`` (d,).
    """

    def __init__(self, built: Built, arrays: Mapping[str, np.ndarray]):
        width = built.output.shape[1]
        self.config: Any = StreamConfig(built.norm_first, width, len(built.output))
        self.built, self.start, self.normalisation = built, built.start or 0, built.normalisation
        self.scores_hold_positions = built.scores is not None
        self.arrays = {**arrays, "embedding/output_bias": built.output_bias}
        self.vectors, self._vocabulary = built.output, np.ascontiguousarray(built.output.T)
        self._added = lru_cache(maxsize=64)(built.positions)

    def inputs(self, source: Sequence[int], target: Sequence[int]) -> tuple[list[int], list[int]]:
        """Both as one sequence for a decoder-only network. Raises ValueError beyond its window."""
        if self.built.start is not None:
            return super().inputs(source, target)
        read, window = [*source, *target[:-1]], self.built.window
        if window and len(read) > window:
            message = f"the stream is walked in texts of at most {window} tokens, received {len(read)}"
            raise NoStreamError(message, OTHER_LOGITS)
        return [], read

    def layers(self, side: str) -> int:
        return self.built.layers[side]

    def heads(self, kind: str) -> int:
        return self.built.heads[kind]

    def scale(self, depth: int) -> np.float32:
        """The divisor of scores (H, Q, K)."""
        return super().scale(depth) if self.built.divisor is None else np.float32(self.built.divisor)

    def position_scores(self, kind: str, queries: int, keys: int) -> np.ndarray | None:
        """(H, Q, K): the addition to scores for the distance of positions; None without one."""
        return self.built.scores(kind, queries, keys) if self.built.scores else None

    def turned(self, name: str, projected: np.ndarray) -> np.ndarray:
        """Queries or keys (B, H, Q, d), normalised by head and rotated by position."""
        if norm := self._head_norm(name):
            projected = norm[0].of(projected, *norm[1:])
        if self.built.rotations is None:
            return projected
        rotations = self.built.rotations(_layer(name), projected.shape[-2])
        return np.einsum("...nd,nde->...ne", projected, rotations, optimize=True)

    def unturned(
        self, name: str, towards: np.ndarray, projected: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Directions (J, d) before ``turned``, and shifts (J,), with the scale of the normalisation held."""
        directions, shifts = super().unturned(name, towards, projected)
        if self.built.rotations is not None:
            directions = self.built.rotations(_layer(name), len(projected)) @ towards
        if norm := self._head_norm(name):
            shifts = directions @ norm[2]
            directions = norm[0].before(directions, projected, norm[1])
        return directions, shifts

    def turned_gradient(self, name: str, towards: np.ndarray) -> np.ndarray:
        """The gradient (Q, d) before ``turned``. Raises NoStreamError for a normalisation by head."""
        if self._head_norm(name):
            raise NoStreamError("the gradient of queries that are normalised by head is not known")
        if self.built.rotations is None:
            return towards
        return np.einsum("nde,...ne->...nd", self.built.rotations(_layer(name), towards.shape[-2]), towards)

    def _head_norm(self, name: str) -> tuple[Normalisation, np.ndarray, np.ndarray] | None:
        if (gamma := self.arrays.get(f"{name}/norm/gamma")) is None:
            return None
        epsilon = float(self.arrays.get(f"{name}/norm/epsilon", self.normalisation.epsilon))
        return replace(self.normalisation, epsilon=epsilon), gamma, self.arrays[f"{name}/norm/beta"]

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

    def feed_forward(self, side: str, layer: int, entered: np.ndarray) -> np.ndarray:
        """(B, Q, D) -> (B, Q, D), with any axes before D: the feed-forward network of one layer."""
        flat = entered.reshape(-1, entered.shape[-1])
        return self.built.feed_forward(side, layer, flat).reshape(entered.shape)

    def feed_forward_keys(self, side: str, layer: int, entered: np.ndarray) -> np.ndarray:
        """Raises NoStreamError: only the sum of such a network's units is known."""
        raise NoStreamError("the units of its feed-forward networks are not known")

    def feed_forward_gradient(
        self, side: str, layer: int, entered: np.ndarray, towards: np.ndarray
    ) -> np.ndarray:
        """The gradient (Q, D), computed by the network's library."""
        flat, back = (each.reshape(-1, each.shape[-1]) for each in (entered, towards))
        return self.built.feed_forward_gradient(side, layer, flat, back).reshape(entered.shape)


def of_each_head(array: np.ndarray, width: int, parts: int) -> np.ndarray:
    """(..., out) -> (..., ``width``): a copy for each head of the ``parts`` that heads share.

    Reference:
        Ainslie et al., "GQA", 2023.

    >>> of_each_head(np.array([1, 2]), 4, 2).tolist()
    [1, 1, 2, 2]
    """
    by_part = array.reshape(*array.shape[:-1], parts, -1)
    return by_part.repeat(width // array.shape[-1], axis=-2).reshape(*array.shape[:-1], width)


def _layer(name: str) -> int:
    """The layer, from 0, of a path such as ``decoder_2/self_attention/query``."""
    return int(name.partition("/")[0].rpartition("_")[2]) - 1


# Source, target, own logits (T, V) or log probabilities.
Probe = tuple[Sequence[int], Sequence[int], np.ndarray]


def checked(stream: OwnStream, probes: Sequence[Probe]) -> OwnStream:
    """``stream`` itself, compared with the network's own passes ``probes``.

    A constant on all logits of a row is no difference, since it changes no probability.

    Raises:
        NoStreamError: where the walk gives others, because the network has another architecture.
    """
    for source, target, logits in probes:
        walked = stream.taps(source, target, ["logits"])["logits"]
        off = apart(_centred(walked), _centred(logits)) if walked.shape == logits.shape else np.inf
        if not off < CLOSE:
            message = f"a walk through its layers does not give its own logits, and is off by {off:.2g}"
            raise NoStreamError(message, OTHER_LOGITS)
    return stream


def apart(one: np.ndarray, other: np.ndarray) -> float:
    """The largest difference, as a share of the largest number.

    >>> apart(np.array([1.0, 2.0]), np.array([1.0, 4.0]))
    0.5
    """
    return float(np.abs(one - other).max() / max(np.abs(other).max(), 1e-12))


def _centred(logits: np.ndarray) -> np.ndarray:
    return logits - logits.mean(axis=-1, keepdims=True)
