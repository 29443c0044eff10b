"""Transformer of ``model/network`` in plain NumPy, as an independent reference.

Written without Keras, from the same paper (Vaswani et al. 2017), so each version checks the other.

B batch, S source, T target, L layers, H heads, Q query and K key positions, D d_model, V vocabulary.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from model.activations.drafting import Pass, longest_target
from model.activations.replacements import checked_taps
from model.activations.token_network import KerasPasses, TokenNetwork
from model.activations.walk import ActivationWalk
from model.stored.config import TransformerConfig
from model.text.tokenizer import PAD_ID, START_ID, pad
from model.trace.interventions import EPSILON, Found, Intervention, Node
from model.trace.trace import ATTENTION_KINDS

MASKED_LOGIT = np.float32(-1e9)


class Memory(NamedTuple):
    """The encoder's output for source sentences, and its mask."""

    states: np.ndarray  # (B, S, D)
    mask: np.ndarray  # (B, 1, 1, S) bool, True at real tokens


class _Scope(NamedTuple):
    """One attention of a block, in the names under which weights are stored, its keys and mask."""

    kind: str  # one of ATTENTION_KINDS
    layer: str
    around: str  # the residual connection around it
    read: np.ndarray | None  # (B, K, D); None where it looks at the rows that ask
    mask: np.ndarray  # broadcastable to (B, H, Q, K) bool, True where a query may look


class PlainTransformer:
    """The two halves of a pass, ``encode`` and ``decode``, under at most one intervention for all rows.

    ``weights``: float arrays by path, such as ``transformer/encoder_1/self_attention/query/kernel``.
    ``features``: the tokenizer's, (ids, 4). ``instead``: outputs of some heads and feed-forward networks at
    all positions, in place of the computed ones. With complex numbers as ``dtype`` it has derivatives by
    complex steps, and float64 precision.
    """

    def __init__(
        self,
        config: TransformerConfig,
        features: np.ndarray,
        weights: Mapping[str, np.ndarray],
        instead: Mapping[Node, np.ndarray] | None = None,
        intervention: Intervention | None = None,
        dtype: type[np.inexact] = np.float32,
    ):
        self.config, self._intervention, self._number = config, intervention or Intervention(), dtype
        self._instead = {
            (f"{node.side}_{node.layer + 1}", node.kind, node.head): value
            for node, value in (instead or {}).items()
        }
        self._weights = {name.partition("/")[2]: array.astype(dtype) for name, array in weights.items()}
        self._features = features
        own, *jamo = (
            self._weights[f"embedding/{name}_embedding"] for name in ("token", "initial", "medial", "final")
        )
        parts = sum(table[features[:, column]] for column, table in enumerate(jamo, 1))
        self._vectors = own[features[:, 0]] + np.where(features[:, 1:2] > 0, parts, 0)  # (ids, D)
        self._vocabulary = self._vectors[: config.vocab_size].T  # (D, V)
        longest = longest_target(config.max_length + 1)  # the end mark is a token
        pairs = np.arange(config.d_model) // 2
        angles = np.arange(longest)[:, None] / 10_000 ** (2 * pairs / config.d_model)
        waves = np.where(np.arange(config.d_model) % 2, np.cos(angles), np.sin(angles))
        self._positions = waves.astype(dtype)

    def kernel(self, name: str) -> np.ndarray:
        """(inputs, outputs) of a linear layer such as ``decoder_1/self_attention/output``."""
        return self._weights[f"{name}/kernel"]

    def encode(
        self,
        source_ids: np.ndarray,
        taps: Iterable[str] = ATTENTION_KINDS,
        factors: np.ndarray | None = None,
    ) -> tuple[Memory, dict[str, np.ndarray]]:
        """(B, S) -> Memory, and by name those of ``taps`` that are the encoder's. ``factors`` (S,) scale the
        tokens."""
        source_ids = source_ids.copy()
        source_ids[:, list(self._intervention.without_source)] = PAD_ID
        found, mask = Found(taps), (source_ids != PAD_ID)[:, None, None]
        own = _Scope("encoder_attention", "self_attention", "around_attention", None, mask)
        states = self._walk("encoder", source_ids, [own], found, factors)
        found.put("memory", states)
        return Memory(states, mask), found.stacked(np.stack)

    def decode(
        self,
        decoder_input_ids: np.ndarray,
        memory: Memory,
        taps: Iterable[str] = ATTENTION_KINDS,
        factors: np.ndarray | None = None,
    ) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        """(B, T) -> logits (B, T, V), and by name those of ``taps`` that are the decoder's. ``factors`` (T,)
        scale the tokens."""
        found, past = Found(taps), np.tri(decoder_input_ids.shape[1], dtype=bool)[None, None]
        past[..., list(self._intervention.without_target)] = False
        own = _Scope("decoder_attention", "self_attention", "around_self_attention", None, past)
        cross = _Scope("cross_attention", "cross_attention", "around_cross_attention", *memory)
        states = self._walk("decoder", decoder_input_ids, [own, cross], found, factors)
        logits = states @ self._vocabulary + self._weights["embedding/output_bias"]
        found.put("logits", logits)
        return logits, found.stacked(np.stack)

    def _walk(
        self,
        side: str,
        ids: np.ndarray,
        scopes: Sequence[_Scope],
        found: Found,
        factors: np.ndarray | None,
    ) -> np.ndarray:
        """The residual stream of the "encoder" or the "decoder" from ids (B, Q) to its end, ready to be read
        (B, Q, D).

        ``scopes``: the attentions of each block, in their order.
        """
        tokens = self._vectors[ids] * self._number(np.sqrt(self.config.d_model))
        if factors is not None:
            tokens = tokens * factors[:, None]
        if side == "decoder":
            tokens[:, list(self._intervention.without_target)] = 0
        x = tokens + self._positions[: ids.shape[1]]
        found.put(f"{side}_embedding", tokens)
        found.add(side, residual=x)
        norm_first = self.config.norm_first
        for n in range(1, self.config.num_layers + 1):
            sublayers: dict[str, Callable] = {
                scope.around: partial(self._attend, scope, found) for scope in scopes
            }
            for around, sublayer in {**sublayers, "around_feed_forward": self._feed_forward}.items():
                norm = f"{side}_{n}/{around}/norm"
                output = sublayer(f"{side}_{n}", self._norm(x, norm) if norm_first else x)
                x = x + output if norm_first else self._norm(x + output, norm)
                found.add(side, output=output, residual=x)
        return self._norm(x, f"{side}_norm") if norm_first else x

    def _attend(self, scope: _Scope, found: Found, block: str, entered: np.ndarray) -> np.ndarray:
        """The output of one attention for ``entered`` (B, Q, D), the input of its queries -> (B, Q, D)."""
        name = f"{block}/{scope.layer}"
        query = self._heads(entered, f"{name}/query")
        read = entered if scope.read is None else scope.read
        key, value = (self._heads(read, f"{name}/{part}") for part in ("key", "value"))
        logits = query @ key.swapaxes(-1, -2) / self._number(np.sqrt(key.shape[-1]))
        logits = np.where(scope.mask, logits, MASKED_LOGIT)
        weights = np.exp(logits - logits.real.max(axis=-1, keepdims=True))
        weights = np.where(scope.mask, weights / weights.sum(axis=-1, keepdims=True), np.float32(0))
        plain_value, layer = value, int(block.rpartition("_")[2]) - 1
        value = value.copy()
        for kind, number, position in self._intervention.zeroed:
            if (kind, number) == (scope.kind, layer):
                value[:, :, position] = 0
        for (kind, number, head), rows in self._intervention.weights.items():
            if (kind, number) == (scope.kind, layer):
                given = ~np.isnan(rows).all(axis=1)
                weights[:, head, : len(rows), : rows.shape[1]][:, given] = rows[given]
        heads = weights @ value
        for kind, number, head in self._intervention.off:
            if (kind, number) == (scope.kind, layer):
                means = self._intervention.means
                heads[:, head] = 0 if means is None else means[kind][number, head]
        for head in range(heads.shape[1]):
            heads[:, head] = self._instead.get((block, scope.kind, head), heads[:, head])
        found.add(scope.kind, attention=weights, query=query, key=key, value=plain_value, heads=heads)
        joined = heads.transpose(0, 2, 1, 3).reshape(entered.shape)  # (B, H, Q, D/H) -> (B, Q, D)
        return self._dense(joined, f"{name}/output")

    def _heads(self, x: np.ndarray, name: str) -> np.ndarray:
        """(B, K, D) -> (B, H, K, D/H)."""
        batch, length, _ = x.shape
        return self._dense(x, name).reshape(batch, length, self.config.num_heads, -1).transpose(0, 2, 1, 3)

    def _feed_forward(self, block: str, entered: np.ndarray) -> np.ndarray:
        side = block.partition("_")[0]
        if (value := self._instead.get((block, f"{side}_feed_forward", None))) is not None:
            return np.broadcast_to(value, entered.shape)
        hidden = self._dense(entered, f"{block}/feed_forward/hidden")
        return self._dense(np.where(hidden.real > 0, hidden, 0), f"{block}/feed_forward/output")

    def _dense(self, x: np.ndarray, name: str) -> np.ndarray:
        return x @ self._weights[f"{name}/kernel"] + self._weights[f"{name}/bias"]

    def _norm(self, x: np.ndarray, name: str) -> np.ndarray:
        """Layer normalisation (Ba, Kiros & Hinton 2016)."""
        centred = x - x.mean(axis=-1, keepdims=True)
        deviation = np.sqrt((centred**2).mean(axis=-1, keepdims=True) + self._number(EPSILON))
        return centred / deviation * self._weights[f"{name}/gamma"] + self._weights[f"{name}/beta"]


def plain_pass(
    walk: ActivationWalk, features: np.ndarray, ids: tuple[Sequence[int], Sequence[int]], **changed: Any
) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """(T, V) logits and the attention of an independent pass with the weights of ``walk``.

    ``ids``: of source and target. ``changed``: arguments of ``PlainTransformer``.
    """
    weights = {f"transformer/{path}": array for path, array in walk.arrays.items()}
    plain = PlainTransformer(walk.config, features, weights, **changed)
    memory, read = plain.encode(pad([ids[0]]))
    logits, written = plain.decode(pad([[START_ID, *ids[1][:-1]]]), memory)
    return logits[0], {kind: weights[0] for kind, weights in (read | written).items()}


class PlainNetwork(TokenNetwork):
    """A ``PlainTransformer`` as the network of a ``Corrector``. It takes no interventions."""

    def __init__(self, network: PlainTransformer, space_id: int):
        super().__init__(network.config, space_id)
        self.network = network

    def reading(self, source: Sequence[int]) -> "_Reading":
        return _Reading(self.network, source)

    def load_walk(self) -> ActivationWalk:
        return ActivationWalk(self.config, self.network._features, self.network._weights)

    def weight_shapes(self) -> dict[str, tuple[int, ...]]:
        return {path: array.shape for path, array in self.network._weights.items()}

    def embeddings(self, ids: Sequence[int]) -> np.ndarray:
        raise NotImplementedError

    @property
    def keras(self) -> KerasPasses:
        raise NotImplementedError

    def taps(
        self,
        source: Sequence[int],
        target: Sequence[int],
        names: Iterable[str],
        intervention: Intervention | None = None,
    ) -> dict[str, np.ndarray]:
        assert intervention is None
        names = checked_taps(names, self.config)
        memory, read = self.network.encode(pad([source]), names)
        _, written = self.network.decode(pad([[START_ID, *target[:-1]]]), memory, names)
        found = {**read, **written}
        return {name: found[name][0] for name in names}


class _Reading:
    """One source, encoded once, for all passes over drafts of its correction: a ``drafting.Reading``."""

    def __init__(self, network: PlainTransformer, source: Sequence[int]):
        self._network = network
        self._memory, self._attention = network.encode(pad([source]))

    def pass_over(self, drafts: Sequence[Sequence[int]]) -> Pass:
        ids = pad([[START_ID, *draft[:-1]] for draft in drafts])
        logits, attention = self._network.decode(ids, self._memory)
        return Pass(logits, {**self._attention, **attention})
