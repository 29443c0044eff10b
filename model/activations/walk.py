"""``ActivationWalk``: a forward pass in NumPy that caches or patches activations by name.

It computes what ``model/network/networks.py`` computes in Keras (Vaswani et al. 2017). The replacements
of a pass are a mapping ``{activation name: value or function}``, an argument of that pass alone; nothing is
stored in the network::

    encoder.embedding                     (Q, D)    token embeddings times sqrt(D), without positions
    encoder.mask                          (K,)      bool, False at a token to which no query may attend
    decoder.2.residual                    (Q, D)    the residual stream before layer 2; before layer L its end
    decoder.2.cross.residual              (Q, D)    the residual stream after a sub-layer: "self", "cross"
    decoder.2.cross.query, .key, .value   (H, Q or K, D/H)
    decoder.2.cross.attention.1           (Q, K)    the attention weights of head 1
    decoder.2.cross.head.1                (Q, D/H)  weights times values of head 1, not yet projected
    decoder.2.cross.output                (Q, D)    the sum that an attention adds to the residual stream
    decoder.2.mlp                         (Q, D)    the sum that a feed-forward network adds
    decoder.2.mlp.kernel                  (F, D)    its output matrix: a function gets the matrix's input
                                                    (Q, F) and returns (Q, D), which is added to the product

An array is written in the place of the activation, a function gets the activation and returns another, and
``At`` replaces some positions; ``COMPUTED`` exempts one pass from a replacement that all have in common.
Layers and heads count from 0. To read activations, ask for the stacked arrays of
``model.trace.interventions``. The idea is that of TransformerLens (Nanda & Bloom 2022), without hooks that
outlive a pass.

Where several rows share one source and target, row 0 of their batch is the pass without replacements of its
own. Up to the layer of its first replacement each other row equals row 0, so it joins the batch only there.

B rows, S source and T target tokens, Q query and K key positions, L layers, H heads, D d_model,
F feed-forward width, V vocabulary.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Lock

import numpy as np
from threadpoolctl import ThreadpoolController

from model.activations.replacements import (
    ALL,
    INSIDE_ATTENTION,
    Batch,
    Replacements,
    Rows,
    activation_name,
    first_rows,
    kernel_name,
    output_name,
    replacements_of,
    sublayer_name,
)
from model.activations.sublayers import Sublayers
from model.trace.interventions import ATTENTIONS, SUBLAYERS, Found, Patches, tap

THREADS = 2  # batches at once: NumPy releases the interpreter lock while it computes
BATCH, FEWEST = 96, 8  # rows of a batch: at most where all share one sentence, at least where they do not


# The encoder's output (B, S, D), and (B, S), True where no query may attend; None if that is nowhere.
Memory = tuple[np.ndarray, np.ndarray | None]


@dataclass(frozen=True)
class LastRows:
    """The output of N passes at their last position."""

    network: Sublayers
    ends: np.ndarray  # (N, D) of the decoder's stream, as the output layer reads them

    @property
    def logits(self) -> np.ndarray:
        """(N, V)."""
        return self.network.logits(self.ends)

    def score(self, written: int, instead: int) -> np.ndarray:
        """(N,) float64: the logit difference log p(written) - log p(instead), in nats.

        No logits of other tokens are computed.
        """
        bias = self.network.arrays["embedding/output_bias"].astype(np.float64)
        towards = self.network.difference(written, instead).astype(np.float64)
        return self.ends @ towards + (bias[written] - bias[instead])


class ActivationWalk(Sublayers):
    """Passes with replaced activations. Safe to call from threads.

    Example::

        walk = corrector.patched
        ids = corrector.tokenizer.encode_source("머거요"), corrector.tokenizer.encode_target("먹어요")
        rows = Rows.of([ids[0]], [ids[1]], [{"decoder.3.cross.head.0": 0.0}])
        ends, read = walk.run(rows, ["cross_attention"])
        walk.logits(ends)  # (1, T, V)
    """

    def passes(
        self,
        source: Sequence[int],
        target: Sequence[int],
        variations: Sequence[Patches],
        base: Patches = (),
    ) -> LastRows:
        """The last position of ``target`` under each of N ``variations``: states (N, D).

        Each has the patches of ``base`` in addition.
        """
        changes = [*map(replacements_of, variations or [()])]
        rows = Rows([source], [target], changes, replacements_of(base))
        ends, _ = self.run(rows)
        return LastRows(self, ends[: len(variations), -1])

    def taps(
        self, source: Sequence[int], target: Sequence[int], names: Iterable[str], patches: Patches = ()
    ) -> dict[str, np.ndarray]:
        """The stacked activations ``names`` of one pass, without B.

        ``model.trace.interventions`` lists their shapes.
        """
        rows = Rows([source], [target], [replacements_of(patches)], {})
        _, read = self.run(rows, tuple(names))
        return {name: array[0] for name, array in read.items()}

    def one_layer(
        self, layer: int, before: np.ndarray, memory: np.ndarray, changes: Sequence[Replacements]
    ) -> np.ndarray:
        """The decoder's stream (N, T, D) after one layer under each of N changes of it.

        ``before``: the stream (T, D) before the layer; ``memory``: (S, D).
        """
        batch = Batch({}, [{}, *changes], [ALL, *[-0.5] * len(changes)])
        hidden = dict.fromkeys(ATTENTIONS["decoder"])
        side = _Side(self, "decoder", batch, Found(), hidden, memory[None])
        return batch.whole(side.through(before[None].copy(), [layer]))[1:]

    def run(self, rows: Rows, names: Sequence[str] = ()) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        """The end of the decoder's stream (B, T, D), and the stacked activations ``names`` (B, ...).

        The end is normalised as the output layer reads it.
        """
        count, starts = len(rows.changes), [ALL] * len(rows.changes)
        size = max(FEWEST, -(-count // THREADS))
        if rows.share:
            size, layers = BATCH, {side: self.layers(side) for side in ATTENTIONS}
            last = sum(layers.values()) - 1
            starts = [min((_start(name, layers) for name in each), default=last) for each in rows.changes]
        order = sorted(range(count), key=starts.__getitem__)
        batches = [order[cut : cut + size] for cut in range(0, count, size)]

        def batch(chosen: Sequence[int]) -> tuple[np.ndarray, dict[str, np.ndarray]]:
            return self._batch(rows, chosen, [starts[i] for i in chosen], Found(names))

        with ONE_CORE.products(), ThreadPoolExecutor(THREADS) as threads:
            ends, read = zip(*threads.map(batch, batches), strict=True)
        place = np.argsort(order)
        arrays = {name: np.concatenate([each[name] for each in read])[place] for name in read[0]}
        return np.concatenate(ends)[place], arrays

    def _batch(
        self, rows: Rows, chosen: Sequence[int], starts: list[float], found: Found
    ) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        """``run`` for some of the passes, sorted by the layers in which they start to differ."""
        changes, first = [rows.changes[i] for i in chosen], 0
        sources, targets = rows.sources, rows.targets
        if not rows.share:
            sources, targets = ([each[i] for i in chosen] for each in (sources, targets))
        elif len(rows.changes) > 1:  # row 0 is the pass without any of these changes
            changes, starts, first = [{}, *changes], [ALL, *starts], 1
        batch = Batch(rows.common, changes, starts)
        pairs = (self.inputs(*each) for each in zip(sources, targets, strict=True))
        read, written = zip(*pairs, strict=True)
        known = None if rows.memory is None else rows.memory[chosen]
        memory = self._encode(read, batch, found, known)
        ends = self._decode(written, memory, batch, found)
        produced = ends[:, -len(targets[0]) :]  # a decoder-only network's without the prompt
        found.put("logits", self.logits(produced) if "logits" in found.names else None)
        arrays = found.stacked(lambda layers, axis: np.stack([batch.whole(each) for each in layers], axis))
        nothing = np.zeros((len(batch.whole(ends)), 0, 0, ends.shape[-1]), np.float32)  # without such layers
        arrays = {name: arrays.get(name, nothing) for name in found.names}
        return batch.whole(ends)[first:], {name: batch.whole(each)[first:] for name, each in arrays.items()}

    def _encode(
        self, sources: Sequence[Sequence[int]], batch: Batch, found: Found, known: np.ndarray | None
    ) -> Memory:
        ids = np.array(sources)
        hidden = batch.hidden("encoder.mask", ids != self.pad_id)
        if known is not None:
            return known, hidden
        states = _Side(self, "encoder", batch, found, {"encoder_attention": hidden}).walk(ids)
        found.put("memory", states)
        return states, hidden

    def _decode(
        self, written: Sequence[Sequence[int]], memory: Memory, batch: Batch, found: Found
    ) -> np.ndarray:
        ids = np.array(written)
        hidden = batch.hidden("decoder.mask", np.ones(ids.shape, bool))
        masks = {"decoder_attention": hidden, "cross_attention": memory[1]}
        return _Side(self, "decoder", batch, found, masks, memory[0]).walk(ids)


class _OneCore:
    """Matrix products on one core while any pass runs, and as before afterwards.

    Matrices are small: on more cores the threads of BLAS wait for each other, and a search for a circuit
    takes ten times as long.
    """

    def __init__(self) -> None:
        self._lock, self._running = Lock(), 0
        self._controller: ThreadpoolController | None = None  # made once: it searches for the loaded BLAS
        self._restore: Callable[[], None] = lambda: None

    @contextmanager
    def products(self) -> Iterator[None]:
        with self._lock:
            self._controller = self._controller or ThreadpoolController()
            if not self._running:
                limits = self._controller.limit(limits=1, user_api="blas")
                self._restore = limits.restore_original_limits
            self._running += 1
        try:
            yield
        finally:
            with self._lock:
                self._running -= 1
                if not self._running:
                    self._restore()


ONE_CORE = _OneCore()


def _start(name: str, layers: Mapping[str, int]) -> float:
    """The first layer in which a pass that replaces this activation differs from row 0.

    Decoder layers count after those of the encoder.
    """
    side, layer, *_ = name.split(".")
    before = layers["encoder"] if side == "decoder" else 0
    return before + (min(int(layer), layers[side] - 1) if layer.isdigit() else -0.5)


@dataclass
class _Side:
    """The pass of a batch through the encoder or the decoder.

    ``hidden``: by kind of attention (B, K), True at keys to which no query of a row may attend. ``memory``:
    (B, S, D), for the decoder.
    """

    network: "ActivationWalk"
    side: str
    batch: Batch
    found: Found
    hidden: Mapping[str, np.ndarray | None]
    memory: np.ndarray | None = None

    def walk(self, ids: np.ndarray) -> np.ndarray:
        """ids (B, Q), or (1, Q) of all rows -> the end of the residual stream (B, Q, D)."""
        network, batch, name = self.network, self.batch, f"{self.side}.embedding"
        x = batch.join(np.stack([network.stream_start(row, self.side) for row in ids]), self._before - 0.5)
        positions = network.positions(ids.shape[1], self.side)
        embedding = x - positions
        if batch.replaces(name):
            batch.put(name, embedding)
            x = embedding + positions
        self.found.put(tap(self.side, "embedding"), embedding)
        return network.close(self.side, self.through(x, range(network.layers(self.side))))

    def through(self, x: np.ndarray, layers: Iterable[int]) -> np.ndarray:
        """Send the residual stream x (B, Q, D) through some layers."""
        network, batch, side = self.network, self.batch, self.side
        kinds = SUBLAYERS[side]
        for layer in layers:
            first, x = len(x) if layer else 0, batch.join(x, layer + self._before)
            batch.put(f"{side}.{layer}.residual", x, first=first)
            if layer == 0:
                self.found.add(side, residual=x)
            for place, kind in enumerate(kinds, start=layer * len(kinds) + 1):
                entered = network.enter(kind, layer, x)
                if not network.has(kind):
                    output = np.zeros_like(x)
                elif kind in ATTENTIONS[side]:
                    output = self._attend(kind, layer, entered)
                else:
                    output = network.feed_forward(side, layer, entered)
                    self._edit(layer, entered, output)
                batch.put(output_name(kind, layer), output)
                x = network.leave(kind, layer, x + output)
                batch.put(activation_name(tap(side, "residual"), place), x)
                self.found.add(side, output=output, residual=x)
        return x

    @property
    def _before(self) -> int:
        """How many layers lie before this side."""
        return self.network.layers("encoder") if self.side == "decoder" else 0

    def _attend(self, kind: str, layer: int, asking: np.ndarray) -> np.ndarray:
        """The output (B, Q, D) of an attention."""
        network, batch, found, name = self.network, self.batch, self.found, sublayer_name(kind, layer)
        read, hidden = asking, self.hidden[kind]
        if kind == "cross_attention" and self.memory is not None:
            read = first_rows(self.memory, len(asking))
        hidden = None if hidden is None else hidden[: len(asking)]
        parts = dict(zip(INSIDE_ATTENTION, network.projected(kind, layer, asking, read), strict=False))
        for part, array in parts.items():
            if tap(kind, part) in found.names:  # before it is replaced
                found.add(kind, **{part: array.copy()})
            batch.put(f"{name}.{part}", array)
        weights = network.weights(kind, parts["query"], parts["key"], hidden=hidden)
        batch.put(f"{name}.attention", weights)
        for head in range(weights.shape[1]):
            batch.put(f"{name}.attention.{head}", weights[:, head])
        heads = weights @ parts["value"]
        for head in range(heads.shape[1]):
            batch.put(f"{name}.head.{head}", heads[:, head])
        found.add(kind, attention=weights, heads=heads)
        return network.join(kind, layer, heads)

    def _edit(self, layer: int, entered: np.ndarray, output: np.ndarray) -> None:
        """Add the products of edits of the output matrix to ``output`` (B, Q, D), in place."""
        edits = self.batch.functions(kernel_name(self.side, layer), len(output))
        for row, added in edits:
            output[row] += added(self.network.feed_forward_keys(self.side, layer, entered[row]))
