"""A Transformer in NumPy whose passes take patches: what a head, a sub-layer or the residual stream holds is replaced.

It computes what ``model/network`` computes (Vaswani et al. 2017), for one sentence and N sets of patches at once. Each set is a row
of a batch. Row 0 is the pass without any of these sets. Up to the layer of its first patch a row equals row 0, so it joins the batch
only there. In the last layer only the last position is computed, because a question is about one written character.

N variations (sets of patches), S source and T target tokens, L layers, H heads, Q query and K key positions, D d_model, V vocabulary.
"""

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np

from model.plain.nearby import Units
from model.plain.output_weights import compose, output_weights
from model.plain.patch_rows import PatchRows
from model.plain.positions import positional_encoding
from model.stored.config import NetworkConfig
from model.text.tokenizer import START_ID
from model.trace.output_weights import Normalisation, OutputWeights
from model.trace.patches import ATTENTIONS, SUBLAYERS, Node, Patch, Patches, nodes_of
from model.trace.taps import Found, tap

THREADS = 2  # batches at once
BATCH = 96  # rows computed together
FEW = 0.5  # of all positions: with more, choosing them costs what it saves
_AROUNDS = {
    "encoder_attention": ("self_attention", "around_attention"),
    "decoder_attention": ("self_attention", "around_self_attention"),
    "cross_attention": ("cross_attention", "around_cross_attention"),
}


class Answered(NamedTuple):
    """What N patched passes say at their last position."""

    logits: np.ndarray  # (N, V)
    looks: np.ndarray | None  # (N, Q, K) weights of the head that was asked about

    def score(self, written: int, instead: int) -> np.ndarray:
        """(N,) float64: log p(written) - log p(instead), in nats."""
        return self.logits[:, written].astype(np.float64) - self.logits[:, instead]


class PatchedTransformer:
    """``passes`` under patches, and the ``taps`` of one. Safe to call from threads.

    ``arrays``: float32 by path without the network's name, such as ``encoder_1/self_attention/query/kernel``. ``features``: the
    tokenizer's, (ids, 4). Raises ValueError for another architecture.
    """

    def __init__(self, config: NetworkConfig, features: np.ndarray, arrays: Mapping[str, np.ndarray]):
        if config.architecture != "transformer":
            raise ValueError(f"a residual stream needs a transformer, received a {config.architecture}")
        self.config: Any = config
        self.arrays, self._features = arrays, features
        self.vectors = compose(arrays, features)  # (ids, D)
        self._vocabulary = np.ascontiguousarray(self.vectors[: config.vocab_size].T)  # (D, V)
        self._units: dict[tuple[str, int], Units | None] = {}

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

    def passes(
        self,
        source: Sequence[int],
        target: Sequence[int],
        variations: Sequence[Patches],
        base: Patches = (),
        look: Node | None = None,
    ) -> Answered:
        """The logits at the last position of ``target`` under each of N ``variations``. All of these have the patches of ``base``, too.

        ``look``: a head whose weights are handed out.
        """
        sides = {side: self.layers(side) for side in ATTENTIONS}
        per_layer = [_first_layer(each, sides) for each in variations]
        order = sorted(range(len(variations)), key=per_layer.__getitem__)
        logits = np.empty((len(variations), self.config.vocab_size), np.float32)
        looks: dict[int, np.ndarray] = {}

        def answer(chosen: Sequence[int]) -> None:
            rows = PatchRows(base, [variations[i] for i in chosen], [per_layer[i] for i in chosen])
            found = Found([look.kind] if look else [])
            ends = self._states(source, target, rows, found, last_alone=look is None)
            logits[chosen] = self.logits(ends[1:, -1])
            if look:
                weights = found.layers(look.kind)[look.layer][:, look.head]  # (rows, Q, K)
                for number, i in enumerate(chosen, start=1):  # later ones have row 0's
                    looks[i] = weights[number if number < len(weights) else 0]

        with ThreadPoolExecutor(THREADS) as threads:  # NumPy releases the interpreter lock while it computes
            list(threads.map(answer, [order[cut : cut + BATCH] for cut in range(0, len(order), BATCH)]))
        return Answered(logits, np.stack([looks[i] for i in range(len(order))]) if looks else None)

    def taps(
        self, source: Sequence[int], target: Sequence[int], names: Iterable[str], patches: Patches = ()
    ) -> dict[str, np.ndarray]:
        """The arrays ``names`` of one pass; ``model.trace.taps`` has their shapes, here without B."""
        found = Found(names)
        found.put("logits", self.logits(self._states(source, target, PatchRows(patches, [], []), found)))
        return {name: array[0] for name, array in found.stacked(np.stack).items()}

    def logits(self, states: np.ndarray) -> np.ndarray:
        """The logits of the end of the decoder's stream: (..., D) -> (..., V)."""
        return states @ self._vocabulary + self.arrays["embedding/output_bias"]

    def _states(self, source, target, rows: PatchRows, found: Found, last_alone: bool = False) -> np.ndarray:
        """(rows, T, D): the end of the decoder's stream after ``close``; (rows, 1, D) with ``last_alone``."""
        memory = self._walk("encoder", source, rows, found)  # (rows, S, D)
        found.put("memory", memory)
        return self._walk("decoder", [self.start, *target[:-1]], rows, found, memory, last_alone)

    def stream_start(self, ids: Sequence[int], side: str = "encoder") -> np.ndarray:
        """(Q, D): embeddings and positions."""
        tokens = self.vectors[list(ids)] * np.float32(np.sqrt(self.config.d_model))
        return tokens + self.positions(len(ids), side)

    def positions(self, length: int, side: str) -> np.ndarray:
        """(Q, D): what is added to embeddings at the beginning of a side's stream."""
        return positional_encoding(length, self.config.d_model)

    def _walk(
        self,
        side: str,
        ids,
        rows: PatchRows,
        found: Found,
        memory: np.ndarray | None = None,
        last_alone: bool = False,
    ) -> np.ndarray:
        """The end of a side's residual stream after ``close``: ids (Q,) -> (rows, Q, D).

        ``last_alone``: the last layer computes only its last position, because nothing reads the others.
        """
        x = self.stream_start(ids, side)[None]
        found.put(tap(side, "embedding"), x - self.positions(len(ids), side))
        before = self.layers("encoder") if side == "decoder" else 0  # layers that lie before this side
        x = np.repeat(x, rows.joined(before - 1) if before else 1, axis=0)
        number = 0
        for layer in range(self.layers(side)):
            count = rows.joined(layer + before)
            x = np.concatenate([x, np.repeat(x[:1], count - len(x), axis=0)])
            rows.put(tap(side, "residual"), number, x)  # the patches of rows that have just joined
            if number == 0:
                found.add(side, residual=x)
            if last := last_alone and layer == self.layers(side) - 1:
                rows.narrow(len(ids))
            for kind in SUBLAYERS[side]:
                entered = self.enter(kind, layer, x)
                x = x[:, -1:] if last else x
                if kind in ATTENTIONS[side]:
                    read = memory if kind == "cross_attention" else entered
                    output = self._attend(kind, layer, entered[:, -x.shape[1] :], read, rows, found)
                else:
                    free = rows.free(tap(side, "output"), number, count)
                    output = np.zeros_like(x)
                    output[free] = self._fed_forward(side, layer, entered[free])
                rows.put(tap(side, "output"), number, output)
                x = self.leave(kind, layer, x + output)
                number += 1
                rows.put(tap(side, "residual"), number, x)
                found.add(side, output=output, residual=x)
        return self.close(side, x)

    def _attend(self, kind: str, layer: int, asking, read, rows: PatchRows, found: Found):
        # Rows that ask and read what row 0 does find what it finds; those that joined in the decoder read its memory.
        differs = np.logical_or.reduce(_new(asking), axis=1)
        differs[: len(read)] |= np.logical_or.reduce(_new(read), axis=1)
        differs[0] = True
        chosen = np.flatnonzero(differs)
        query, key, value = self.projected(
            kind, layer, asking[chosen], read[np.where(chosen < len(read), chosen, 0)]
        )
        weights = self.look(kind, query, key)
        like = np.where(differs, np.cumsum(differs) - 1, 0)  # for each row the one that was computed
        heads = (weights @ value)[like]
        for head in range(heads.shape[1]):
            rows.put(tap(kind, "heads"), (layer, head), heads[:, head])
        if found.names:
            found.add(kind, attention=weights[like], query=query, key=key, value=value, heads=heads)
        return self.join(kind, layer, heads)

    # What follows are the parts of a pass, for whoever computes one of them alone.

    def projected(
        self, kind: str, layer: int, asking: np.ndarray, read: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Queries of ``asking`` (B, Q, D), keys and values of ``read`` (B, K, D): each (B, H, positions, D/H)."""
        name, heads = self._attention(kind, layer), self.heads(kind)
        new = _new(asking)
        new_read = new if asking is read else _new(read)
        return (
            self._heads(asking, f"{name}/query", heads, new),
            self._heads(read, f"{name}/key", heads, new_read),
            self._heads(read, f"{name}/value", heads, new_read),
        )

    def join(self, kind: str, layer: int, heads: np.ndarray) -> np.ndarray:
        """What the heads found, (B, H, Q, D/H), through the output projection -> (B, Q, D)."""
        return self.dense(_joined(heads), f"{self._attention(kind, layer)}/output")

    def output_projection(self, kind: str, layer: int) -> tuple[np.ndarray, np.ndarray]:
        """(D, D) and (D,): the kernel and the bias behind all heads of a layer."""
        name = f"{self._attention(kind, layer)}/output"
        return self.arrays[f"{name}/kernel"], self.arrays[f"{name}/bias"]

    def look(self, kind: str, query: np.ndarray, key: np.ndarray, head: int | None = None) -> np.ndarray:
        """(..., Q, D/H) and (..., K, D/H) -> weights (..., Q, K). ``head``: whose queries and keys these are; None: those of all."""
        logits = query @ key.swapaxes(-1, -2)
        logits /= self.scale(key.shape[-1])
        queries, keys = logits.shape[-2:]
        if (more := self.position_scores(kind, max(queries, keys), keys)) is not None:
            more = more[:, -queries:]  # where only the last positions ask
            logits = logits + (more if head is None else more[head])
        if kind == "decoder_attention":
            later = np.tri(queries, keys, keys - queries) == 0
            logits[..., later] = -np.inf
        logits -= logits.max(axis=-1, keepdims=True)
        weights = np.exp(logits, out=logits)
        weights /= weights.sum(axis=-1, keepdims=True)
        return weights

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

    def _fed_forward(self, side: str, layer: int, entered: np.ndarray) -> np.ndarray:
        """(rows, Q, D): ``feed_forward``, computed anew only where a row's input differs from that of row 0."""
        new = _new(entered)
        output = np.repeat(self.feed_forward(side, layer, entered[:1]), len(entered), axis=0)
        if (units := self._units_of(side, layer)) is None:
            output[new] = self.feed_forward(side, layer, entered[new])
            return output
        for position in np.flatnonzero(new.any(axis=0)):
            rows = np.flatnonzero(new[:, position])
            output[rows, position] = units.near(entered[0, position], entered[rows, position])
        return output

    def _units_of(self, side: str, layer: int) -> Units | None:
        if (side, layer) not in self._units:
            self._units[side, layer] = self.units(side, layer)
        return self._units[side, layer]

    def enter(self, kind: str, layer: int, x: np.ndarray) -> np.ndarray:
        """What a sub-layer reads of the stream."""
        return self._norm(x, self._norm_name(kind, layer)) if self.config.norm_first else x

    def leave(self, kind: str, layer: int, x: np.ndarray) -> np.ndarray:
        """The stream after a sub-layer, from the sum of what it read and what it adds."""
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
        return f"{kind_side(kind)}_{layer + 1}/{_AROUNDS[kind][0]}"

    def _norm_name(self, kind: str, layer: int) -> str:
        around = _AROUNDS[kind][1] if kind in _AROUNDS else "around_feed_forward"
        return f"{kind_side(kind)}_{layer + 1}/{around}/norm"

    def _norm(self, x: np.ndarray, name: str) -> np.ndarray:
        return self.normalisation.of(x, self.arrays[f"{name}/gamma"], self.arrays[f"{name}/beta"])


def kind_side(kind: str) -> str:
    """The side on which a kind of sub-layer stands.

    >>> kind_side("cross_attention")
    'decoder'
    """
    return "encoder" if kind.startswith("encoder") else "decoder"


def _new(x: np.ndarray) -> np.ndarray:
    """(rows, Q): where a row (Q, D) differs from row 0. Mostly few do: a patch of one position changes no other one before the next
    attention, and in the decoder never an earlier one."""
    return (x != x[:1]).any(axis=-1)


def _joined(heads: np.ndarray) -> np.ndarray:
    """(B, H, Q, D/H) -> (B, Q, D)."""
    batch, _, length, _ = heads.shape
    return heads.transpose(0, 2, 1, 3).reshape(batch, length, -1)


def _first_layer(patches: Patches, layers: Mapping[str, int]) -> int:
    """The layer in which a pass first differs. Decoder layers are counted after those of the encoder. ``layers``: how many each side has."""
    return min((_layer(each, layers) for each in patches), default=sum(layers.values()) - 1)


def _layer(patch: Patch, layers: Mapping[str, int]) -> int:
    side = kind_side(patch.tap)
    if isinstance(patch.place, tuple):
        layer = patch.place[0]
    else:  # behind the last sub-layer of a side lies one more place of the stream
        layer = min(patch.place // len(SUBLAYERS[side]), layers[side] - 1)
    return layer + layers["encoder"] * (side == "decoder")
