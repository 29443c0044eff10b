"""The walk through a Transformer in NumPy."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np

from model.activations.replacements import Altered, AlteredAttention
from model.activations.sublayers import FEW, PlainParts, Units, kind_side, unlike_first
from model.stored.config import NetworkConfig
from model.text.tokenizer import PAD_ID
from model.trace.interventions import (
    ATTENTIONS,
    EVERYWHERE,
    FEED_FORWARDS,
    SUBLAYERS,
    Found,
    Node,
    Patch,
    Patches,
    tap,
)


class WalkedRows(Protocol):
    """The rows of a batch on one side of a network, on their way through its layers."""

    def join(self, layer: int, x: np.ndarray) -> np.ndarray:
        """The stream (rows, Q, D) before a layer. Rows that are computed only from this layer on are added to it."""
        ...

    def go_on(self, layer: int, x: np.ndarray) -> np.ndarray:
        """The positions (rows, Q, D) that are still computed, of the stream before a layer (rows, K, D)."""
        ...

    def attend(
        self, kind: str, layer: int, asking: np.ndarray, entered: np.ndarray, found: Found
    ) -> np.ndarray:
        """What one attention puts out (rows, Q, D). ``entered`` (rows, K, D) enters it, ``asking`` are its last Q positions."""
        ...

    def feed_forward(self, layer: int, entered: np.ndarray) -> np.ndarray:
        """What a feed-forward network puts out (rows, Q, D)."""
        ...

    def put(self, name: str, place: int, array: np.ndarray) -> None:
        """Replace values of ``array``, in place, where patches say so. It is the tap ``name`` at ``place``."""
        ...


def walk(
    parts: PlainParts,
    side: str,
    x: np.ndarray,
    rows: WalkedRows,
    found: Found,
    layers: Iterable[int] | None = None,
) -> np.ndarray:
    """Send the residual stream x (rows, Q, D) of a side through ``layers``, through all of them if None. ``found`` collects the taps."""
    kinds = SUBLAYERS[side]
    for layer in range(parts.layers(side)) if layers is None else layers:
        first = layer * len(kinds)
        x = rows.join(layer, x)
        rows.put(tap(side, "residual"), first, x)
        if first == 0:
            found.add(side, residual=x)
        for place, kind in enumerate(kinds, start=first):
            entered = parts.enter(kind, layer, x)
            x = rows.go_on(layer, x)
            if kind in ATTENTIONS[side]:
                output = rows.attend(kind, layer, entered[:, -x.shape[1] :], entered, found)
            else:
                output = rows.feed_forward(layer, entered)
            rows.put(tap(side, "output"), place, output)
            # If no tap keeps the output, the sum is written over it: new memory takes longer than the sum.
            x = parts.leave(kind, layer, x + output if found.names else np.add(x, output, out=output))
            rows.put(tap(side, "residual"), place + 1, x)
            found.add(side, output=output, residual=x)
    return x


class PatchRows:
    """The rows of a batch. All have the patches of ``base``; row 0 has no others. The others have those of a variation, too, and are
    sorted by the layer in which they join."""

    def __init__(self, base: Patches, variations: Sequence[Patches], layers: Sequence[int]):
        self._layers = np.array(layers, int)
        self._length: int | None = None  # how many positions there are, if arrays hold only the last one
        self._base: dict[tuple, Patch] = {(each.tap, each.place): each for each in base}
        self._patches: dict[tuple, list[tuple[int, Patch]]] = {}
        for row, patches in enumerate(variations, start=1):
            for each in patches:
                self._patches.setdefault((each.tap, each.place), []).append((row, each))

    def joined(self, layer: int) -> int:
        """How many rows the batch has in this layer."""
        return 1 + int((self._layers <= layer).sum())

    def narrow(self, length: int) -> None:
        """From now on arrays hold the last of ``length`` positions alone."""
        self._length = length

    def put(self, name: str, place: int | tuple[int, int], array: np.ndarray) -> None:
        """Write the patches of this tap and place into ``array`` (rows, Q, ...)."""
        if (base := self._base.get((name, place))) is not None:
            self._replace(array, slice(None), base)
        for row, patch in self._patches.get((name, place), ()):
            if row < len(array):
                self._replace(array, row, patch)

    def patches_heads(self, kind: str, layer: int) -> bool:
        """Whether a patch replaces what a head of this layer finds."""
        places = (*self._base, *self._patches)
        return any(name == tap(kind, "heads") and place[0] == layer for name, place in places)

    def _replace(self, array: np.ndarray, row: int | slice, patch: Patch) -> None:
        if self._length is None:
            array[row, patch.positions] = patch.value
            return
        at = np.arange(self._length)[patch.positions]
        if at.size and np.max(at) == self._length - 1:
            values = np.broadcast_to(patch.value, (at.size, *array.shape[2:]))
            array[row, -1] = values[int(np.argmax(at))]

    def free(self, name: str, place: int, count: int) -> np.ndarray:
        """Which of ``count`` rows have to be computed, because no patch covers all their positions."""
        covered = np.zeros(count, bool)
        if (base := self._base.get((name, place))) is not None and base.positions == EVERYWHERE:
            covered[:] = True
        for row, patch in self._patches.get((name, place), ()):
            covered[row] |= patch.positions == EVERYWHERE
        return np.flatnonzero(~covered)


class PatchedRows:
    """The rows as ``walk.WalkedRows`` wants them.

    ``units``: of a side and layer, see ``PlainParts.units``. ``memory``: (rows, S, D), on the decoder's side. ``last_alone``: the last
    layer computes only its last position, because nothing reads the others.
    """

    def __init__(
        self,
        parts: PlainParts,
        side: str,
        rows: PatchRows,
        units: Callable[[str, int], Units | None],
        memory: np.ndarray | None = None,
        last_alone: bool = False,
    ):
        self._parts, self._side, self._rows, self._units = parts, side, rows, units
        self._memory, self._last_alone = memory, last_alone
        self._before = parts.layers("encoder") if side == "decoder" else 0  # layers that lie before this side
        self.put = rows.put

    def begin(self, x: np.ndarray) -> np.ndarray:
        """The start of the stream (1, Q, D) for each row that differs before this side."""
        return np.repeat(x, self._rows.joined(self._before - 1) if self._before else 1, axis=0)

    def join(self, layer: int, x: np.ndarray) -> np.ndarray:
        """A row that joins equals row 0 up to here."""
        return np.concatenate([x, np.repeat(x[:1], self._rows.joined(layer + self._before) - len(x), axis=0)])

    def go_on(self, layer: int, x: np.ndarray) -> np.ndarray:
        """All positions, or in the last layer perhaps the last one alone."""
        if not self._last_alone or layer < self._parts.layers(self._side) - 1 or x.shape[1] == 1:
            return x
        self._rows.narrow(x.shape[1])
        return x[:, -1:]

    def attend(
        self, kind: str, layer: int, asking: np.ndarray, entered: np.ndarray, found: Found
    ) -> np.ndarray:
        """A row that asks and reads the same as row 0 is not computed again. Rows that join in the decoder read the memory of row 0."""
        read = self._memory if kind == "cross_attention" and self._memory is not None else entered
        differs = np.logical_or.reduce(unlike_first(asking), axis=1)
        differs[: len(read)] |= np.logical_or.reduce(unlike_first(read), axis=1)
        differs[0] = True
        chosen = np.flatnonzero(differs)
        like = np.where(differs, np.cumsum(differs) - 1, 0)  # for each row the one that was computed
        asked, seen = asking, read
        if len(chosen) < len(asking) or len(read) < len(asking):  # else all differ, and no copies are made
            asked, seen = asking[chosen], read[np.where(chosen < len(read), chosen, 0)]
        if asking.shape[1] == 1 and not found.names and not self._parts.scores_hold_positions:
            heads = self._parts.found_by_one(kind, layer, asked, seen)
        else:
            query, key, value = self._parts.projected(kind, layer, asked, seen)
            weights = self._parts.weights(kind, query, key)
            heads = weights @ value
        if not found.names and not self._rows.patches_heads(kind, layer):
            output = self._parts.join(kind, layer, heads)
            return output[like] if len(output) < len(like) else output
        heads = heads[like]
        for head in range(heads.shape[1]):
            self._rows.put(tap(kind, "heads"), (layer, head), heads[:, head])
        if found.names:
            found.add(kind, attention=weights[like], query=query, key=key, value=value, heads=heads)
        return self._joined_anew(kind, layer, heads)

    def _joined_anew(self, kind: str, layer: int, heads: np.ndarray) -> np.ndarray:
        """(rows, Q, D): ``join``, computed anew only where a row's heads (rows, H, Q, D/H) differ from those of row 0."""
        new = (heads != heads[:1]).any(axis=(1, 3))
        if new.mean() > FEW:
            return self._parts.join(kind, layer, heads)
        output = np.repeat(self._parts.join(kind, layer, heads[:1]), len(heads), axis=0)
        if new.any():
            some = heads.transpose(0, 2, 1, 3)[new]  # (positions, H, D/H)
            output[new] = self._parts.join(kind, layer, some.transpose(1, 0, 2)[None])[0]
        return output

    def feed_forward(self, layer: int, entered: np.ndarray) -> np.ndarray:
        """Zeros in rows that a patch covers."""
        node = Node(FEED_FORWARDS[self._side], layer)
        free = self._rows.free(node.tap, node.sublayer, len(entered))
        if len(free) == len(entered):
            return self._fed_forward(layer, entered)
        output = np.zeros_like(entered)
        output[free] = self._fed_forward(layer, entered[free])
        return output

    def _fed_forward(self, layer: int, entered: np.ndarray) -> np.ndarray:
        """(rows, Q, D), computed anew only where a row's input differs from that of row 0."""
        side, new = self._side, unlike_first(entered)
        output = np.repeat(self._parts.feed_forward(side, layer, entered[:1]), len(entered), axis=0)
        if (units := self._units(side, layer)) is None:
            output[new] = self._parts.feed_forward(side, layer, entered[new])
            return output
        changed = np.flatnonzero(new.any(axis=0))
        if not changed.size:
            return output
        for position, units_entered in zip(changed, units.entered(entered[0, changed]), strict=True):
            rows = np.flatnonzero(new[:, position])
            output[rows, position] = units.near(entered[0, position], units_entered, entered[rows, position])
        return output


THREADS = 2  # batches at once
BATCH = 96  # rows computed together


@dataclass(frozen=True)
class Answered:
    """What N patched passes say at their last position."""

    network: PlainParts
    ends: np.ndarray  # (N, D) of the decoder's stream, as the output layer reads them
    looks: np.ndarray | None  # (N, Q, K) weights of the head that was asked about

    @property
    def logits(self) -> np.ndarray:
        """(N, V)."""
        return self.network.logits(self.ends)

    def score(self, written: int, instead: int) -> np.ndarray:
        """(N,) float64: log p(written) - log p(instead), in nats. No logits of other tokens are computed for it."""
        bias = self.network.arrays["embedding/output_bias"].astype(np.float64)
        towards = self.network.difference(written, instead).astype(np.float64)
        return self.ends @ towards + (bias[written] - bias[instead])


class PatchedTransformer(PlainParts):
    """``passes`` under patches, and the ``taps`` of one. Safe to call from threads."""

    def __init__(self, config: NetworkConfig, features: np.ndarray, arrays: Mapping[str, np.ndarray]):
        super().__init__(config, features, arrays)
        self._units: dict[tuple[str, int], Units | None] = {}

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
        ends = np.empty((len(variations), self.config.d_model), np.float32)
        looks: dict[int, np.ndarray] = {}

        def answer(chosen: Sequence[int]) -> None:
            rows = PatchRows(base, [variations[i] for i in chosen], [per_layer[i] for i in chosen])
            found = Found([look.kind] if look else [])
            states = self._states(source, target, rows, found, last_alone=look is None)
            ends[chosen] = states[1:, -1]
            if look:
                weights = found.layers(look.kind)[look.layer][:, look.head]  # (rows, Q, K)
                for number, i in enumerate(chosen, start=1):  # later ones have row 0's
                    looks[i] = weights[number if number < len(weights) else 0]

        with ThreadPoolExecutor(THREADS) as threads:  # NumPy releases the interpreter lock while it computes
            list(threads.map(answer, [order[cut : cut + BATCH] for cut in range(0, len(order), BATCH)]))
        return Answered(self, ends, np.stack([looks[i] for i in range(len(order))]) if looks else None)

    def taps(
        self, source: Sequence[int], target: Sequence[int], names: Iterable[str], patches: Patches = ()
    ) -> dict[str, np.ndarray]:
        """The arrays ``names`` of one pass; ``model.trace.interventions`` has their shapes, here without B."""
        found = Found(names)
        found.put("logits", self.logits(self._states(source, target, PatchRows(patches, [], []), found)))
        return {name: array[0] for name, array in found.stacked(np.stack).items()}

    def _states(
        self,
        source: Sequence[int],
        target: Sequence[int],
        rows: PatchRows,
        found: Found,
        last_alone: bool = False,
    ) -> np.ndarray:
        """(rows, T, D): the end of the decoder's stream after ``close``; (rows, 1, D) with ``last_alone``."""
        memory = self._side("encoder", source, rows, found)  # (rows, S, D)
        found.put("memory", memory)
        return self._side("decoder", [self.start, *target[:-1]], rows, found, memory, last_alone)

    def _side(
        self,
        side: str,
        ids: Sequence[int],
        rows: PatchRows,
        found: Found,
        memory: np.ndarray | None = None,
        last_alone: bool = False,
    ) -> np.ndarray:
        """The end of a side's residual stream after ``close``: ids (Q,) -> (rows, Q, D)."""
        x = self.stream_start(ids, side)[None]
        found.put(tap(side, "embedding"), x - self.positions(len(ids), side))
        through = PatchedRows(self, side, rows, self._units_of, memory, last_alone)
        return self.close(side, walk(self, side, through.begin(x), through, found))

    def _units_of(self, side: str, layer: int) -> Units | None:
        if (side, layer) not in self._units:
            self._units[side, layer] = self.units(side, layer)
        return self._units[side, layer]


def _first_layer(patches: Patches, layers: Mapping[str, int]) -> int:
    """The layer in which a pass first differs; decoder layers count after those of the encoder. ``layers``: how many each side has."""
    return min((_layer(each, layers) for each in patches), default=sum(layers.values()) - 1)


def _layer(patch: Patch, layers: Mapping[str, int]) -> int:
    side = kind_side(patch.tap)
    if isinstance(patch.place, tuple):
        layer = patch.place[0]
    else:  # behind the last sub-layer of a side lies one more place of the stream
        layer = min(patch.place // len(SUBLAYERS[side]), layers[side] - 1)
    return layer + layers["encoder"] * (side == "decoder")


Nested = TypeVar("Nested")  # nested tuples and dictionaries of arrays
FEW_halves = 8  # rows that one core computes alone: less is not worth a second


class PlainMemory(NamedTuple):
    """What the encoder leaves: ``states`` (B, S, D), and ``mask`` (B, 1, 1, S), True at tokens that may be looked at."""

    states: np.ndarray
    mask: np.ndarray


class PlainScope(NamedTuple):
    """What one kind of attention may look at: ``mask`` (B, 1, Q, K) or broadcastable to it, and the ``states`` (B, K, D) that it
    reads, its own side's if None."""

    mask: np.ndarray
    states: np.ndarray | None = None


class PlainHalves:
    """``encode`` and ``decode`` as ``model.activations.laboratory.AlteredHalves`` has them. Safe to call from threads.

    ``parts``: a network in NumPy, of which the parts of a pass are taken.
    """

    def __init__(self, parts: PlainParts):
        self._parts = parts

    def encode(
        self, ids: np.ndarray, altered: Altered, taps: tuple[str, ...]
    ) -> tuple[PlainMemory, dict[str, np.ndarray]]:
        """(B, S) ids -> memory, taps by name."""

        def run(ids: np.ndarray, altered: Altered) -> tuple[PlainMemory, dict[str, np.ndarray]]:
            found, mask = Found(taps), (ids != PAD_ID)[:, None, None, :]
            states = self._side("encoder", ids, altered, {"encoder_attention": PlainScope(mask)}, found)
            found.put("memory", states)
            return PlainMemory(states, mask), found.stacked(np.stack)

        return _on_all_cores(run, len(ids), ids, altered)

    def decode(
        self, ids: np.ndarray, memory: PlainMemory, altered: Altered, taps: tuple[str, ...]
    ) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        """(B, T) decoder input ids, memory -> logits (B, T, V), taps by name."""

        def run(
            ids: np.ndarray, memory: PlainMemory, altered: Altered
        ) -> tuple[np.ndarray, dict[str, np.ndarray]]:
            found, scopes = Found(taps), _decoder_scopes(ids.shape[1], memory)
            logits = self._parts.logits(self._side("decoder", ids, altered, scopes, found))
            found.put("logits", logits)
            return logits, found.stacked(np.stack)

        return _on_all_cores(run, len(ids), ids, memory, altered)

    def chosen(self, arrays: Any, rows: Sequence[int]) -> Any:
        """These rows of nested arrays."""
        return _mapped(lambda array: array[rows], arrays)

    def one_layer(
        self, layer: int, x: np.ndarray, memory: PlainMemory, changed: dict[str, AlteredAttention]
    ) -> np.ndarray:
        """The decoder's stream behind one layer, from the stream (B, T, D) before it. ``changed``: by kind, of this layer alone."""
        rows = AlteredRows(
            self._parts, "decoder", _decoder_scopes(x.shape[1], memory), lambda kind, _: changed[kind]
        )
        return walk(self._parts, "decoder", x, rows, Found(), [layer])

    def _side(
        self, side: str, ids: np.ndarray, altered: Altered, scopes: dict[str, PlainScope], found: Found
    ) -> np.ndarray:
        """The residual stream of a side from ids (B, Q) to its end, ready to be read (B, Q, D)."""
        parts = self._parts
        x = parts.vectors[ids] * np.float32(np.sqrt(parts.config.d_model))
        if altered.embedding_scale is not None:
            x = x * altered.embedding_scale[..., None]
        found.put(tap(side, "embedding"), x)
        x = x + parts.positions(ids.shape[1], side)
        stacked = altered.attention or {}
        rows = AlteredRows(
            parts, side, scopes, lambda kind, layer: stacked.get(kind, AlteredAttention()).layer(layer)
        )
        return parts.close(side, walk(parts, side, x, rows, found))


class AlteredRows:
    """Many sentences, each under its own intervention, as ``walk.WalkedRows`` wants them: all are computed in each layer.

    ``changed``: what the interventions make of one kind of attention in one layer.
    """

    def __init__(
        self,
        parts: PlainParts,
        side: str,
        scopes: dict[str, PlainScope],
        changed: Callable[[str, int], AlteredAttention],
    ):
        self._parts, self._side, self._scopes, self._changed = parts, side, scopes, changed

    def join(self, layer: int, x: np.ndarray) -> np.ndarray:
        return x

    def go_on(self, layer: int, x: np.ndarray) -> np.ndarray:
        return x

    def put(self, name: str, place: int, array: np.ndarray) -> None:
        """Interventions write nothing over what was computed."""

    def feed_forward(self, layer: int, entered: np.ndarray) -> np.ndarray:
        return self._parts.feed_forward(self._side, layer, entered)

    def attend(
        self, kind: str, layer: int, asking: np.ndarray, entered: np.ndarray, found: Found
    ) -> np.ndarray:
        """What the interventions make of an attention: where it looks, its weights, its values, what each head finds."""
        scope, changed = self._scopes[kind], self._changed(kind, layer)
        read = entered if scope.states is None else scope.states
        query, key, value = self._parts.projected(kind, layer, asking, read)
        found.add(kind, query=query, key=key, value=value)
        mask = scope.mask
        if changed.seen is not None:
            mask = mask & changed.seen[:, None, None, :]
        weights = _softmax(query @ key.swapaxes(-1, -2) / self._parts.scale(key.shape[-1]), mask)
        if changed.values is not None:
            value = value * changed.values[:, None, :, None]
        if changed.weights is not None:
            weights = np.where(changed.replaced[..., None], changed.weights, weights)
        heads = weights @ value
        if changed.gates is not None:
            heads = heads * changed.gates[:, :, None, None]
        if changed.added is not None:
            heads = heads + changed.added[:, :, None, :]
        found.add(kind, attention=weights, heads=heads)
        return self._parts.join(kind, layer, heads)


def _decoder_scopes(length: int, memory: PlainMemory) -> dict[str, PlainScope]:
    """Each token sees itself, the tokens before it, and the real tokens of the source."""
    return {
        "decoder_attention": PlainScope(np.tri(length, dtype=bool)[None, None]),
        "cross_attention": PlainScope(memory.mask, memory.states),
    }


def _softmax(logits: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """Over the keys that may be looked at. A row with nothing to look at is all 0.

    >>> _softmax(np.zeros((2, 2)), np.array([[True, True], [False, False]])).tolist()
    [[0.5, 0.5], [0.0, 0.0]]
    """
    allowed = np.where(mask, logits, -np.inf)
    highest = allowed.max(axis=-1, keepdims=True)
    weights = np.exp(allowed - np.where(np.isneginf(highest), 0, highest))
    total = weights.sum(axis=-1, keepdims=True)
    return weights / np.where(total == 0, 1, total)


def _on_all_cores(run: Callable[..., Nested], rows: int, *arguments: Any) -> Nested:
    """``run`` of ``arguments``, their rows shared among threads: NumPy lets go of the interpreter while it computes."""
    if rows <= FEW_halves:
        return run(*arguments)
    cuts = np.array_split(np.arange(rows), THREADS)

    def part(cut: np.ndarray) -> Nested:
        rows = slice(cut[0], cut[-1] + 1)
        # An array that is the same for all rows has one row alone.
        return run(*_mapped(lambda array: array[rows] if len(array) > 1 else array, arguments))

    with ThreadPoolExecutor(THREADS) as threads:
        return _mapped(lambda *parts: np.concatenate(parts), *threads.map(part, cuts))


def _mapped(function: Callable, *trees: Any) -> Any:
    """``function`` of the arrays at each place of nested tuples and dictionaries; None stays None."""
    first = trees[0]
    if first is None:
        return None
    if isinstance(first, dict):
        return {name: _mapped(function, *(tree[name] for tree in trees)) for name in first}
    if isinstance(first, tuple):
        parts = [_mapped(function, *each) for each in zip(*trees, strict=True)]
        return type(first)(*parts) if hasattr(first, "_fields") else tuple(parts)
    return function(*trees)
