"""Transformer sub-layers in NumPy: embedding, attention, feed-forward, normalisation.

B rows of a batch, L layers, H heads, Q query and K key positions, P positions, D d_model, F feed-forward
width, V vocabulary.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from model.stored.config import ATTENTION_PATHS, NetworkConfig, TransformerConfig, norm_path, sublayer_path
from model.text.tokenizer import PAD_ID, START_ID
from model.trace.interventions import (
    ATTENTIONS,
    SUBLAYERS,
    Node,
    Normalisation,
    OutputWeights,
    nodes_of,
    sublayer_at,
)


def angle_rates(d_model: int) -> np.ndarray:
    """Radians per position of each dimension i, ``10000^(-2*(i//2)/D)``: (D,) float64.

    Dimensions 2i and 2i+1 share one rate: they are the sine and the cosine of the same angle.
    """
    dimension = np.arange(d_model)
    return np.power(10000.0, -2.0 * (dimension // 2) / d_model)


def positional_encoding(positions: int, d_model: int) -> np.ndarray:
    """The sinusoidal positional encoding (Vaswani et al. 2017, section 3.5): (P, D) float32.

    Sine in even dimensions, cosine in odd ones.

    Raises ValueError where either size is below 1.

    >>> positional_encoding(2, 4)[0].tolist()  # position 0: sines are 0, cosines 1
    [0.0, 1.0, 0.0, 1.0]
    """
    if positions < 1 or d_model < 1:
        raise ValueError(f"both sizes should be at least 1, received {positions} x {d_model}")
    angles = np.arange(positions)[:, None] * angle_rates(d_model)[None, :]  # (P, D)
    even = np.arange(d_model) % 2 == 0
    return np.where(even, np.sin(angles), np.cos(angles)).astype(np.float32)


_encoding = lru_cache(maxsize=64)(positional_encoding)  # for arrays that nothing writes into


_JAMO = ("initial", "medial", "final")


def compose(weights: Mapping[str, np.ndarray], features: np.ndarray) -> np.ndarray:
    """Token vectors from the tables of tokens and jamo: features of ids (N, 4) -> (N, D)."""
    token, *jamo = (
        weights[f"embedding/{name}_embedding"][features[:, i]] for i, name in enumerate(("token", *_JAMO))
    )
    return token + (features[:, 1:2] > 0) * sum(jamo)


class Stream(NamedTuple):
    """The residual stream of one side in one pass, and the additions to it."""

    side: str  # "encoder" or "decoder"
    residual: np.ndarray  # (places, Q, D)
    output: np.ndarray  # (sub-layers, Q, D)


class Sublayers:
    """The sub-layers of one network, and the beginning and the end of its residual streams.

    Safe to call from threads.

    ``arrays``: float32 by path without the network's name, such as ``encoder_1/self_attention/query/kernel``.
    ``features``: the tokenizer's, (ids, 4). Raises ValueError for another architecture.
    """

    def __init__(self, config: NetworkConfig, features: np.ndarray, arrays: Mapping[str, np.ndarray]):
        if not isinstance(config, TransformerConfig):
            raise ValueError(f"a residual stream needs a transformer, received a {config.architecture}")  # noqa: TRY004
        self.config = config
        self.arrays, self._features = arrays, features
        self.pad_id = PAD_ID
        self.vectors = compose(arrays, features)  # (ids, D)
        self._vocabulary = np.ascontiguousarray(self.vectors[: config.vocab_size].T)  # (D, V)

    # From here to ``difference`` networks differ; ``model/adapters/own_stream.py`` overrides these members.

    start = START_ID  # the first token that the decoder reads
    pad_id = -1  # the id of padding; -1 where there is none
    normalisation = Normalisation()
    scores_hold_positions = False  # whether something besides queries and keys makes attention scores

    @property
    def output_weights(self) -> OutputWeights:
        """The unembedding (V, D), and the weights between the residual streams and it."""
        layers, bias = range(self.layers("decoder")), self.arrays["embedding/output_bias"]
        kinds = [kind for kind in ATTENTIONS["decoder"] if self.has(kind)]
        projections = {kind: self.output_projections(kind, layers) for kind in kinds}
        tables = {part: self.arrays.get(f"embedding/{part}_embedding") for part in _JAMO}
        return OutputWeights(
            norm_first=self.config.norm_first,
            kernels={kind: kernels for kind, (kernels, _) in projections.items()},
            biases={kind: biases for kind, (_, biases) in projections.items()},
            norms={side: np.array(self._norms(side), np.float32) for side in ATTENTIONS if self.layers(side)},
            vocabulary=self.vectors[: len(bias)],
            bias=bias,
            # Row 0 of these tables belongs to tokens that are no syllables.
            jamo={part: table[1:] for part, table in tables.items() if table is not None},
            normalisation=self.normalisation,
        )

    def output_projections(self, kind: str, layers: Iterable[int]) -> tuple[np.ndarray, np.ndarray]:
        """Kernels (L, H, D/H, D) and biases (L, D) of the output projections of some layers."""
        names = [f"{sublayer_path(kind, layer)}/output" for layer in layers]
        kernels = [self.arrays[f"{name}/kernel"] for name in names]
        split = [kernel.reshape(self.heads(kind), -1, kernel.shape[1]) for kernel in kernels]
        return np.stack(split), np.stack([self.arrays[f"{name}/bias"] for name in names])

    def _norms(self, side: str) -> list[tuple[np.ndarray, np.ndarray]]:
        """Gamma and beta of each normalisation between a sub-layer's output and the end of the stream."""
        if self.config.norm_first:
            return [self.closing_norm(side)]
        layers = range(self.layers(side))
        return [self.norm_weights(kind, layer) for layer in layers for kind in SUBLAYERS[side]]

    def layers(self, side: str) -> int:
        return self.config.num_layers

    def heads(self, kind: str) -> int:
        return self.config.num_heads

    def has(self, kind: str) -> bool:
        """Whether layers have this kind of sub-layer: a decoder-only network has no cross-attention."""
        return kind not in ATTENTION_PATHS or self.heads(kind) > 0

    def inputs(self, source: Sequence[int], target: Sequence[int]) -> tuple[list[int], list[int]]:
        """The ids that the encoder (S,) and the decoder read; the last id of ``target`` is only written."""
        return [*source], [self.start, *target[:-1]]

    def scale(self, depth: int) -> np.float32:
        """The divisor of the dot products of queries and keys of D/H = ``depth`` dimensions."""
        return np.float32(np.sqrt(depth))

    def position_scores(self, kind: str, queries: int, keys: int) -> np.ndarray | None:
        """Additions to the attention scores, such as relative positions: (H, Q, K); None without any."""
        return None

    def difference(self, written: int, instead: int) -> np.ndarray:
        """The direction (D,) in the closed stream whose projection is the logit difference.

        Without the difference of the output biases.
        """
        return self._vocabulary[:, written] - self._vocabulary[:, instead]

    @property
    def nodes(self) -> tuple[Node, ...]:
        """(N,) all heads and feed-forward networks in the order of the pass."""
        return nodes_of(self.layers, self.heads)

    def logits(self, states: np.ndarray) -> np.ndarray:
        """The logits of the closed end of the decoder's stream: (B, T, D) -> (B, T, V)."""
        return states @ self._vocabulary + self.arrays["embedding/output_bias"]

    def stream_start(self, ids: Sequence[int], side: str = "encoder") -> np.ndarray:
        """The sum of embeddings and positions, where the stream begins: ids (Q,) -> (Q, D)."""
        tokens = self.vectors[list(ids)] * np.float32(np.sqrt(self.config.d_model))
        return tokens + self.positions(len(ids), side)

    def positions(self, length: int, side: str) -> np.ndarray:
        """The positional part of the beginning of a stream: (Q, D)."""
        return _encoding(length, self.config.d_model)

    def projected(
        self, kind: str, layer: int, asking: np.ndarray, read: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Queries of ``asking`` (B, Q, D), keys and values of ``read`` (B, K, D).

        Each is (B, H, positions, D/H).
        """
        name, heads = sublayer_path(kind, layer), self.heads(kind)
        query = self._heads(asking, f"{name}/query", heads)
        key = self._heads(read, f"{name}/key", heads)
        query = self.turned(f"{name}/query", query)
        key = self.turned(f"{name}/key", key)
        return query, key, self._heads(read, f"{name}/value", heads)

    def turned(self, name: str, projected: np.ndarray) -> np.ndarray:
        """Queries or keys (B, H, Q, D/H) as scores compare them: normalised by head, rotated by position.

        ``name``: the path of their projection.
        """
        return projected

    def unturned(
        self, name: str, towards: np.ndarray, projected: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Directions (J, D/H) before ``turned`` whose dot products are those of ``towards`` (D/H,) after it.

        Also the shifts (J,) of biases. ``projected`` (J, D/H): before ``turned``, whose scale is held.
        """
        return np.repeat(towards[None], len(projected), axis=0), np.zeros(len(projected))

    def turned_gradient(self, name: str, towards: np.ndarray) -> np.ndarray:
        """The gradient (Q, D/H) with respect to queries or keys before ``turned``, from that after it."""
        return towards

    def join(self, kind: str, layer: int, heads: np.ndarray) -> np.ndarray:
        """The output projection of the outputs of heads: (B, H, Q, D/H) -> (B, Q, D)."""
        batch, _, length, _ = heads.shape
        joined = heads.transpose(0, 2, 1, 3).reshape(batch, length, -1)
        return self.dense(joined, f"{sublayer_path(kind, layer)}/output")

    def weights(
        self,
        kind: str,
        query: np.ndarray,
        key: np.ndarray,
        head: int | None = None,
        hidden: np.ndarray | None = None,
    ) -> np.ndarray:
        """Attention weights (..., Q, K) of query (..., Q, D/H) and key (..., K, D/H).

        Args:
            head: the head of these queries and keys; None for those of all heads.
            hidden: (B, K), True at keys to which no query may attend. A row that may attend to nothing is all
                0.
        """
        logits = query @ key.swapaxes(-1, -2)
        logits /= self.scale(key.shape[-1])
        queries, keys = logits.shape[-2:]
        if (more := self.position_scores(kind, queries, keys)) is not None:
            logits = logits + (more if head is None else more[head])
        masked = np.tri(queries, keys) == 0 if kind == "decoder_attention" else None
        if hidden is not None:
            hidden = hidden[:, None, None]  # (B, K) -> (B, 1, 1, K)
            masked = hidden if masked is None else hidden | masked
        return softmax(logits, masked)

    def feed_forward(self, side: str, layer: int, entered: np.ndarray) -> np.ndarray:
        """The output of a feed-forward network: (B, Q, D) -> (B, Q, D)."""
        keys = self.feed_forward_keys(side, layer, entered)
        return self.dense(keys, f"{side}_{layer + 1}/feed_forward/output")

    def feed_forward_keys(self, side: str, layer: int, entered: np.ndarray) -> np.ndarray:
        """The units of a feed-forward network, which its output matrix reads: (B, Q, D) -> (B, Q, F)."""
        hidden = self.dense(entered, f"{side}_{layer + 1}/feed_forward/hidden")
        return np.maximum(hidden, 0, out=hidden)

    def feed_forward_gradient(
        self, side: str, layer: int, entered: np.ndarray, towards: np.ndarray
    ) -> np.ndarray:
        """The gradient (B, Q, D) with respect to the input ``entered``, from that of the output.

        Only units that are open somewhere count: a ReLU below zero has no gradient.
        """
        name, width = f"{side}_{layer + 1}/feed_forward", entered.shape[-1]
        hidden = self.dense(entered.reshape(-1, width), f"{name}/hidden") > 0  # (B·Q, F)
        opened = np.flatnonzero(hidden.any(axis=0))
        towards_units = towards.reshape(-1, width) @ self.arrays[f"{name}/output/kernel"][opened].T
        towards_units *= hidden[:, opened]
        return (towards_units @ self.arrays[f"{name}/hidden/kernel"].T[opened]).reshape(entered.shape)

    def enter(self, kind: str, layer: int, x: np.ndarray) -> np.ndarray:
        """The input of a sub-layer: the stream (B, Q, D), normalised with ``norm_first``."""
        return self._norm(x, norm_path(kind, layer)) if self.config.norm_first and self.has(kind) else x

    def leave(self, kind: str, layer: int, x: np.ndarray) -> np.ndarray:
        """The stream (B, Q, D) after a sub-layer, from the sum ``x`` of stream and output."""
        return x if self.config.norm_first or not self.has(kind) else self._norm(x, norm_path(kind, layer))

    def resumed(self, stream: Stream, until: int, since: int | None, added: np.ndarray) -> np.ndarray:
        """The stream at place ``until`` with an earlier addition ``added`` (B, Q, D).

        All sub-layers keep their outputs.

        Args:
            since: the sub-layer to whose output ``added`` is added; None for the start of the stream.
        """
        side, residual, output = stream
        if self.config.norm_first:
            return residual[until] + added
        x = residual[0] + added
        if since is not None:
            x = self._left(side, since, residual[since] + output[since] + added)
        for number in range(0 if since is None else since + 1, until):
            x = self._left(side, number, x + output[number])
        return x

    def _left(self, side: str, sublayer: int, x: np.ndarray) -> np.ndarray:
        return self.leave(*sublayer_at(side, sublayer), x)

    def close(self, side: str, x: np.ndarray) -> np.ndarray:
        """The end of a stream (B, Q, D) as the output layer, or as cross-attention reads it."""
        return self._norm(x, f"{side}_norm") if self.config.norm_first and self.layers(side) else x

    def norm_weights(self, kind: str, layer: int) -> tuple[np.ndarray, np.ndarray]:
        """Gamma (D,) and beta (D,) of the normalisation around a sub-layer; 0 around one without heads."""
        if not self.has(kind):
            return np.zeros(self.config.d_model, np.float32), np.zeros(self.config.d_model, np.float32)
        name = norm_path(kind, layer)
        return self.arrays[f"{name}/gamma"], self.arrays[f"{name}/beta"]

    def closing_norm(self, side: str) -> tuple[np.ndarray, np.ndarray]:
        """Gamma (D,) and beta (D,) of the normalisation behind the last layer, with ``norm_first``."""
        return self.arrays[f"{side}_norm/gamma"], self.arrays[f"{side}_norm/beta"]

    def projection(self, node: Node, part: str) -> tuple[np.ndarray, np.ndarray]:
        """(D, D/H) and (D/H,): a head's own part of the "query", "key" or "value" projection."""
        assert node.head is not None, "only heads have projections"
        name = self.projection_name(node, part)
        kernel = self.arrays[f"{name}/kernel"]
        depth = kernel.shape[1] // self.heads(node.kind)
        own = slice(node.head * depth, (node.head + 1) * depth)
        return kernel[:, own], self.arrays[f"{name}/bias"][own]

    def projection_name(self, node: Node, part: str) -> str:
        """The path of a projection (D, D) of all heads of an attention."""
        return f"{sublayer_path(node.kind, node.layer)}/{part}"

    def written(self, node: Node, heads: np.ndarray) -> np.ndarray:
        """The addition (Q, D) of a node to the stream, with any axes before.

        It is computed from a head's output (Q, D/H), or is a feed-forward network's output (Q, D).

        The bias of an output projection belongs to no head.
        """
        if node.head is None:
            return heads
        depth = heads.shape[-1]
        kernel = self.arrays[f"{sublayer_path(node.kind, node.layer)}/output/kernel"]
        return heads @ kernel[node.head * depth : (node.head + 1) * depth]

    def dense(self, x: np.ndarray, name: str) -> np.ndarray:
        """The linear layer under ``name``: (B, Q, D) -> (B, Q, its width)."""
        kernel = self.arrays[f"{name}/kernel"]
        # One product of two matrices, because NumPy would make a small product for each row of the batch.
        flat = x.reshape(-1, x.shape[-1]) @ kernel
        flat += self.arrays[f"{name}/bias"]
        return flat.reshape(*x.shape[:-1], kernel.shape[-1])

    def _heads(self, x: np.ndarray, name: str, heads: int) -> np.ndarray:
        """(B, K, D) -> (B, H, K, D/H)."""
        return self.dense(x, name).reshape(*x.shape[:2], heads, -1).transpose(0, 2, 1, 3)

    def _norm(self, x: np.ndarray, name: str) -> np.ndarray:
        return self.normalisation.of(x, self.arrays[f"{name}/gamma"], self.arrays[f"{name}/beta"])


def softmax(scores: np.ndarray, masked: np.ndarray | None = None) -> np.ndarray:
    """The softmax over K of scores (..., Q, K), in place; a row of nothing but -inf is all 0.

    ``masked``, broadcastable to that: True at keys without weight.

    >>> softmax(np.zeros((2, 2), np.float32), np.array([[False, True], [True, True]])).tolist()
    [[1.0, 0.0], [0.0, 0.0]]
    """
    if masked is not None:
        np.copyto(scores, -np.inf, where=masked)
    highest = scores.max(axis=-1, keepdims=True, initial=-np.inf)
    # Subtracting the highest changes no share and keeps exp from overflowing.
    scores -= np.where(np.isneginf(highest), 0, highest)
    weights = np.exp(scores, out=scores)
    total = np.einsum("...k->...", weights)[..., None]
    weights /= np.where(total == 0, 1, total)
    return weights
