"""The sub-layers of a Transformer in NumPy, computed from the arrays of its weights."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from model.stored.config import ATTENTION_PATHS, NetworkConfig, TransformerConfig
from model.text.tokenizer import START_ID
from model.trace.interventions import ATTENTIONS, SUBLAYERS, Node, Normalisation, OutputWeights, nodes_of


def angle_rates(d_model: int) -> np.ndarray:
    """(D,) float64: how many radians dimension i turns per position, ``10000^(-2*(i//2)/D)``.

    Dimensions 2i and 2i+1 share one rate: they are the sine and the cosine of the same angle.
    """
    dimension = np.arange(d_model)
    return np.power(10000.0, -2.0 * (dimension // 2) / d_model)


def positional_encoding(positions: int, d_model: int) -> np.ndarray:
    """(P, D) float32: sine in even dimensions, cosine in odd ones.

    Raises ValueError where either size is below 1.

    >>> positional_encoding(2, 4)[0].tolist()  # position 0: sines are 0, cosines 1
    [0.0, 1.0, 0.0, 1.0]
    """
    if positions < 1 or d_model < 1:
        raise ValueError(f"both sizes should be at least 1, received {positions} x {d_model}")
    angles = np.arange(positions)[:, None] * angle_rates(d_model)[None, :]  # (P, D)
    even = np.arange(d_model) % 2 == 0
    return np.where(even, np.sin(angles), np.cos(angles)).astype(np.float32)


_MARGIN = 1e-3  # more than what rounding may add


class Units(NamedTuple):
    """The weights of a feed-forward network, by its units.

    >>> units = Units.of(np.eye(2), np.zeros(2), np.eye(2), np.zeros(2))
    >>> row = np.array([1.0, -9.0])
    >>> units.near(row, units.entered(row), np.array([[2.0, -9.0], [1.0, -8.5]])).tolist()
    [[2.0, 0.0], [1.0, 0.0]]
    """

    entering: np.ndarray  # (F, D)
    thresholds: np.ndarray  # (F,)
    leaving: np.ndarray  # (F, D)
    bias: np.ndarray  # (D,)
    lengths: np.ndarray  # (F,) of ``entering``

    @classmethod
    def of(
        cls, hidden: np.ndarray, hidden_bias: np.ndarray, output: np.ndarray, output_bias: np.ndarray
    ) -> "Units":
        """From kernels (D, F) and (F, D) and their biases."""
        entering = np.ascontiguousarray(hidden.T)
        return cls(entering, hidden_bias, output, output_bias, np.linalg.norm(entering, axis=1))

    def entered(self, rows: np.ndarray) -> np.ndarray:
        """(..., F): what enters the units from ``rows`` (..., D)."""
        return rows @ self.entering.T + self.thresholds

    def near(self, row: np.ndarray, entered: np.ndarray, variations: np.ndarray) -> np.ndarray:
        """(N, D): what the network puts out for ``variations`` (N, D) of ``row`` (D,). ``entered``: that of the row."""
        reach = np.sqrt(((variations - row) ** 2).sum(axis=1).max())
        may_open = np.flatnonzero(entered + reach * self.lengths > -_MARGIN)
        hidden = variations @ self.entering[may_open].T
        hidden += self.thresholds[may_open]
        np.maximum(hidden, 0, out=hidden)
        opened = np.flatnonzero(hidden.any(axis=0))
        return hidden[:, opened] @ self.leaving[may_open[opened]] + self.bias


_JAMO = ("initial", "medial", "final")
_KINDS = {kind: ATTENTION_PATHS[kind] for kind in ATTENTIONS["decoder"]}
# By side: the residual connections of a block, in their order.
_AROUNDS = {
    side: (*(ATTENTION_PATHS[kind][1] for kind in kinds), "around_feed_forward")
    for side, kinds in ATTENTIONS.items()
}


def compose(weights: Mapping[str, np.ndarray], features: np.ndarray) -> np.ndarray:
    """(ids, 4) -> (ids, D): a syllable's own vector and those of its jamo; any other token's own."""
    token, *jamo = (
        weights[f"embedding/{name}_embedding"][features[:, i]] for i, name in enumerate(("token", *_JAMO))
    )
    return token + (features[:, 1:2] > 0) * sum(jamo)


def output_weights(
    config: TransformerConfig, features: np.ndarray, weights: Mapping[str, np.ndarray]
) -> OutputWeights:
    """The output weights of a Transformer. ``features``: the tokenizer's, (ids, 4). ``weights``: by path without its first part, such as
    ``decoder_1/cross_attention/output/kernel``."""
    layers = [f"decoder_{n}" for n in range(1, config.num_layers + 1)]
    heads = config.num_heads, -1, config.d_model  # (D, D) -> (H, D/H, D)

    def each(path: str) -> list[np.ndarray]:
        return [np.asarray(weights[f"{layer}/{path}"], np.float32) for layer in layers]

    return OutputWeights(
        norm_first=config.norm_first,
        kernels={
            kind: np.stack([kernel.reshape(heads) for kernel in each(f"{layer}/output/kernel")])
            for kind, (layer, _) in _KINDS.items()
        },
        biases={kind: np.stack(each(f"{layer}/output/bias")) for kind, (layer, _) in _KINDS.items()},
        norms={side: _norms(config, side, weights) for side in _AROUNDS},
        vocabulary=compose(weights, features[: config.vocab_size]),
        bias=np.asarray(weights["embedding/output_bias"], np.float32),
        # Row 0 of these tables belongs to tokens that are no syllables.
        jamo={part: np.asarray(weights[f"embedding/{part}_embedding"][1:], np.float32) for part in _JAMO},
    )


def _norms(config: TransformerConfig, side: str, weights: Mapping[str, np.ndarray]) -> np.ndarray:
    """(norms, 2, D): gamma and beta."""
    paths = [f"{side}_norm"]
    if not config.norm_first:
        paths = [f"{side}_{n}/{a}/norm" for n in range(1, config.num_layers + 1) for a in _AROUNDS[side]]
    return np.array([[weights[f"{path}/gamma"], weights[f"{path}/beta"]] for path in paths], np.float32)


SPREAD = 50.0  # scores that lie at most so far apart can share one maximum: float32 still holds exp(-50)
FEW = 0.5  # of all positions: with more, choosing them costs what it saves


class PlainParts:
    """The sub-layers of one network. Safe to call from threads.

    ``arrays``: float32 by path without the network's name, such as ``encoder_1/self_attention/query/kernel``. ``features``: the
    tokenizer's, (ids, 4). Raises ValueError for another architecture.
    """

    def __init__(self, config: NetworkConfig, features: np.ndarray, arrays: Mapping[str, np.ndarray]):
        if not isinstance(config, TransformerConfig):
            raise ValueError(f"a residual stream needs a transformer, received a {config.architecture}")  # noqa: TRY004
        self.config = config
        self.arrays, self._features = arrays, features
        self.vectors = compose(arrays, features)  # (ids, D)
        self._vocabulary = np.ascontiguousarray(self.vectors[: config.vocab_size].T)  # (D, V)

    # From here to ``difference``: what differs between networks; ``model/adapters/own_stream.py`` overrides it.

    start = START_ID  # what the decoder reads first
    normalisation = Normalisation()
    scores_hold_positions = False  # whether something besides queries and keys makes attention scores

    @property
    def output_weights(self) -> OutputWeights:
        return output_weights(self.config, self._features, self.arrays)

    def layers(self, side: str) -> int:
        return self.config.num_layers

    def heads(self, kind: str) -> int:
        return self.config.num_heads

    def scale(self, depth: int) -> np.float32:
        """What the dot products of queries and keys (D/H,) are divided by."""
        return np.float32(np.sqrt(depth))

    def position_scores(self, kind: str, queries: int, keys: int) -> np.ndarray | None:
        """(H, Q, K): what is added to the attention scores, such as relative positions; None: nothing."""
        return None

    def difference(self, written: int, instead: int) -> np.ndarray:
        """(D,): the direction whose dot product with the end of the stream, after ``close``, is the score without the output bias."""
        return self._vocabulary[:, written] - self._vocabulary[:, instead]

    @property
    def nodes(self) -> tuple[Node, ...]:
        """All parts in the order in which data passes them."""
        kinds = [kind for some in ATTENTIONS.values() for kind in some]
        return nodes_of(
            {side: self.layers(side) for side in ATTENTIONS}, {kind: self.heads(kind) for kind in kinds}
        )

    def logits(self, states: np.ndarray) -> np.ndarray:
        """The logits of the end of the decoder's stream: (..., D) -> (..., V)."""
        return states @ self._vocabulary + self.arrays["embedding/output_bias"]

    def stream_start(self, ids: Sequence[int], side: str = "encoder") -> np.ndarray:
        """(Q, D): embeddings and positions."""
        tokens = self.vectors[list(ids)] * np.float32(np.sqrt(self.config.d_model))
        return tokens + self.positions(len(ids), side)

    def positions(self, length: int, side: str) -> np.ndarray:
        """(Q, D): what is added to embeddings at the beginning of a side's stream."""
        return positional_encoding(length, self.config.d_model)

    def projected(
        self, kind: str, layer: int, asking: np.ndarray, read: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Queries of ``asking`` (B, Q, D), keys and values of ``read`` (B, K, D): each (B, H, positions, D/H)."""
        name, heads = self._attention(kind, layer), self.heads(kind)
        new = unlike_first(asking)
        new_read = new if asking is read else unlike_first(read)
        return (
            self._heads(asking, f"{name}/query", heads, new),
            self._heads(read, f"{name}/key", heads, new_read),
            self._heads(read, f"{name}/value", heads, new_read),
        )

    def found_by_one(self, kind: str, layer: int, asking: np.ndarray, read: np.ndarray) -> np.ndarray:
        """(B, H, 1, D/H): what the heads find in ``read`` (B, K, D) for one position ``asking`` (B, 1, D). In the decoder's own attention
        that is the last position of ``read``.

        For one query it costs too much to make K keys and values. So the kernel of the keys is multiplied with the query, and the kernel
        of the values with the weighted mean of what is read. The bias of keys adds the same to all scores of a row, so it changes no weight.
        """
        name, heads = self._attention(kind, layer), self.heads(kind)
        kernels = [self.arrays[f"{name}/{part}/kernel"] for part in ("key", "value")]
        # (H, D, D/H).
        key, value = (each.reshape(len(each), heads, -1).transpose(1, 0, 2) for each in kernels)
        query = self.dense(asking[:, 0], f"{name}/query").reshape(len(asking), heads, -1)
        towards = (query.transpose(1, 0, 2) @ key.swapaxes(1, 2)).transpose(1, 0, 2)  # (B, H, D)
        scores = towards @ read.swapaxes(1, 2)  # (B, H, K)
        scores /= self.scale(query.shape[-1])
        found = (_softmax(scores) @ read).transpose(1, 0, 2) @ value  # (H, B, D/H)
        found += self.arrays[f"{name}/value/bias"].reshape(heads, 1, -1)
        return found.transpose(1, 0, 2)[:, :, None]

    def join(self, kind: str, layer: int, heads: np.ndarray) -> np.ndarray:
        """What the heads found, (B, H, Q, D/H), through the output projection -> (B, Q, D)."""
        return self.dense(_joined(heads), f"{self._attention(kind, layer)}/output")

    def output_projection(self, kind: str, layer: int) -> tuple[np.ndarray, np.ndarray]:
        """(D, D) and (D,): the kernel and the bias behind all heads of a layer."""
        name = f"{self._attention(kind, layer)}/output"
        return self.arrays[f"{name}/kernel"], self.arrays[f"{name}/bias"]

    def weights(self, kind: str, query: np.ndarray, key: np.ndarray, head: int | None = None) -> np.ndarray:
        """(..., Q, D/H) and (..., K, D/H) -> weights (..., Q, K). ``head``: whose queries and keys these are; None: those of all."""
        logits = query @ key.swapaxes(-1, -2)
        logits /= self.scale(key.shape[-1])
        queries, keys = logits.shape[-2:]
        if (more := self.position_scores(kind, max(queries, keys), keys)) is not None:
            more = more[:, -queries:]  # where only the last positions ask
            logits = logits + (more if head is None else more[head])
        causal = kind == "decoder_attention"
        return _softmax(logits, np.tri(queries, keys, keys - queries) == 0 if causal else None)

    def units(self, side: str, layer: int) -> Units | None:
        """The units of a feed-forward network with ReLU; None where it is another function."""
        name = f"{side}_{layer + 1}/feed_forward"
        return Units.of(
            *(
                self.arrays[f"{name}/{part}"]
                for part in ("hidden/kernel", "hidden/bias", "output/kernel", "output/bias")
            )
        )

    def feed_forward(self, side: str, layer: int, entered: np.ndarray) -> np.ndarray:
        hidden = self.dense(entered, f"{side}_{layer + 1}/feed_forward/hidden")
        return self.dense(np.maximum(hidden, 0, out=hidden), f"{side}_{layer + 1}/feed_forward/output")

    def enter(self, kind: str, layer: int, x: np.ndarray) -> np.ndarray:
        """What a sub-layer reads of the stream."""
        return self._norm(x, self._norm_name(kind, layer)) if self.config.norm_first else x

    def leave(self, kind: str, layer: int, x: np.ndarray) -> np.ndarray:
        """The stream after a sub-layer, from ``x``, the stream before it plus what it adds."""
        return x if self.config.norm_first else self._norm(x, self._norm_name(kind, layer))

    def resumed(
        self,
        side: str,
        residual: np.ndarray,
        output: np.ndarray,
        until: int,
        since: int | None,
        added: np.ndarray,
    ) -> np.ndarray:
        """The stream at place ``until`` if ``added`` (..., Q, D) is added to it earlier, and all sub-layers add what they did.

        ``residual`` and ``output``: the taps of the pass. ``since``: the sub-layer to whose output it is added; None: to the start of
        the stream.
        """
        if self.config.norm_first:
            return residual[until] + added
        x = residual[0] + added
        if since is not None:
            x = self._left(side, since, residual[since] + output[since] + added)
        for number in range(0 if since is None else since + 1, until):
            x = self._left(side, number, x + output[number])
        return x

    def _left(self, side: str, sublayer: int, x: np.ndarray) -> np.ndarray:
        kinds = SUBLAYERS[side]
        return self.leave(kinds[sublayer % len(kinds)], sublayer // len(kinds), x)

    def close(self, side: str, x: np.ndarray) -> np.ndarray:
        """The end of a stream as it is read: by the output layer, or as the memory."""
        return self._norm(x, f"{side}_norm") if self.config.norm_first else x

    def norm_weights(self, kind: str, layer: int) -> tuple[np.ndarray, np.ndarray]:
        """Gamma and beta of the normalisation around a sub-layer."""
        name = self._norm_name(kind, layer)
        return self.arrays[f"{name}/gamma"], self.arrays[f"{name}/beta"]

    def closing_norm(self, side: str) -> tuple[np.ndarray, np.ndarray]:
        """Gamma and beta of the normalisation behind the last layer, with ``norm_first``."""
        return self.arrays[f"{side}_norm/gamma"], self.arrays[f"{side}_norm/beta"]

    def projection(self, node: Node, part: str) -> tuple[np.ndarray, np.ndarray]:
        """(D, D/H) and (D/H,): a head's own part of the "query", "key" or "value" projection."""
        assert node.head is not None, "only heads have projections"
        name = f"{self._attention(node.kind, node.layer)}/{part}"
        kernel = self.arrays[f"{name}/kernel"]
        depth = kernel.shape[1] // self.heads(node.kind)
        own = slice(node.head * depth, (node.head + 1) * depth)
        return kernel[:, own], self.arrays[f"{name}/bias"][own]

    def written(self, node: Node, heads: np.ndarray) -> np.ndarray:
        """What a node adds to the stream (..., D), from the output (..., D/H) of a head or (..., D) of a feed-forward network. The bias of
        an output projection belongs to no head."""
        if node.head is None:
            return heads
        depth = heads.shape[-1]
        kernel = self.arrays[f"{self._attention(node.kind, node.layer)}/output/kernel"]
        return heads @ kernel[node.head * depth : (node.head + 1) * depth]

    def dense(self, x: np.ndarray, name: str) -> np.ndarray:
        kernel = self.arrays[f"{name}/kernel"]
        # One product of two matrices, because NumPy would make a small product for each row of the batch.
        flat = x.reshape(-1, x.shape[-1]) @ kernel
        flat += self.arrays[f"{name}/bias"]
        return flat.reshape(*x.shape[:-1], kernel.shape[-1])

    def _heads(self, x: np.ndarray, name: str, heads: int, new: np.ndarray) -> np.ndarray:
        """(B, K, D) -> (B, H, K, D/H). ``new`` (B, K): where a row differs from row 0; where few do, the others are not computed again."""
        batch, length, _ = x.shape
        if new.mean() > FEW:
            found = self.dense(x, name)
        else:
            found = np.repeat(self.dense(x[:1], name), batch, axis=0)
            found[new] = self.dense(x[new], name)
        return found.reshape(batch, length, heads, -1).transpose(0, 2, 1, 3)

    def _attention(self, kind: str, layer: int) -> str:
        return f"{kind_side(kind)}_{layer + 1}/{ATTENTION_PATHS[kind][0]}"

    def _norm_name(self, kind: str, layer: int) -> str:
        around = ATTENTION_PATHS[kind][1] if kind in ATTENTION_PATHS else "around_feed_forward"
        return f"{kind_side(kind)}_{layer + 1}/{around}/norm"

    def _norm(self, x: np.ndarray, name: str) -> np.ndarray:
        return self.normalisation.of(x, self.arrays[f"{name}/gamma"], self.arrays[f"{name}/beta"])


def kind_side(kind: str) -> str:
    """The side on which a kind of sub-layer stands.

    >>> kind_side("cross_attention")
    'decoder'
    """
    return "encoder" if kind.startswith("encoder") else "decoder"


def unlike_first(x: np.ndarray) -> np.ndarray:
    """(B, Q) of (B, Q, D): where a row differs from row 0. Few positions do as a rule: a patch changes other positions only through
    attention, and in the decoder only later ones."""
    unlike = x[..., 0] != x[:1, ..., 0]
    if np.count_nonzero(unlike) <= FEW * unlike.size:
        return (x != x[:1]).any(axis=-1)
    rows, places = np.nonzero(
        ~unlike
    )  # only where the first numbers are equal the others have to be compared
    unlike[rows, places] = (x[rows, places] != x[0, places]).any(axis=-1)
    return unlike


def _softmax(scores: np.ndarray, hidden: np.ndarray | None = None) -> np.ndarray:
    """Of scores (..., Q, K), in place. ``hidden`` (Q, K): what gets no weight.

    >>> _softmax(np.zeros((2, 2), np.float32), np.array([[False, True], [False, False]])).tolist()
    [[1.0, 0.0], [0.5, 0.5]]
    """
    # One maximum of all scores is found four times faster than one of each row. It will do if no score lies too far below it.
    highest = scores.max()
    is_near = highest - scores.min() < SPREAD
    if hidden is not None:
        np.copyto(scores, -np.inf, where=hidden)
    scores -= highest if is_near else scores.max(axis=-1, keepdims=True)
    weights = np.exp(scores, out=scores)
    weights /= np.einsum("...k->...", weights)[..., None]
    return weights


def _joined(heads: np.ndarray) -> np.ndarray:
    """(B, H, Q, D/H) -> (B, Q, D)."""
    batch, _, length, _ = heads.shape
    return heads.transpose(0, 2, 1, 3).reshape(batch, length, -1)
