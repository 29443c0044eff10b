"""Passes under interventions."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import chain
from typing import Any, Protocol

import numpy as np

from model.activations.drafting import Pass, Produced, settle
from model.activations.replacements import Altered, AlteredAttention, alterations, check, checked_taps
from model.activations.walk import PatchedTransformer, PlainHalves
from model.stored.config import NetworkConfig
from model.text.tokenizer import PAD_ID, START_ID, pad
from model.trace.interventions import Insides, Intervention, Projections, Slopes, Zeroed, tap
from model.trace.trace import ATTENTION_KINDS


class Passes(Protocol):
    """Passes under interventions on token ids, as ``model.network.laboratory.Laboratory`` has them, whose docstrings say
    more."""

    def pass_over(
        self,
        sources: Sequence[Sequence[int]],
        targets: Sequence[Sequence[int]],
        interventions: Sequence[Intervention],
    ) -> Pass: ...

    def write(
        self,
        sources: Sequence[Sequence[int]],
        interventions: Sequence[Intervention],
        forced: Sequence[Sequence[int]] = (),
    ) -> list[Produced | None]: ...

    def taps(
        self,
        source: Sequence[int],
        target: Sequence[int],
        names: Iterable[str],
        intervention: Intervention | None = None,
    ) -> dict[str, np.ndarray]: ...

    def slopes(
        self, source: Sequence[int], target: Sequence[int], contrast: Sequence[int], shares: Sequence[float]
    ) -> Slopes: ...

    def insides(self, source: Sequence[int], target: Sequence[int]) -> Insides: ...

    def zeroed(self, source: Sequence[int], target: Sequence[int]) -> Zeroed: ...

    def warm_up(self) -> Iterator[None]: ...


class AlteredHalves(Protocol):
    """The halves of a network whose passes take an intervention and hand out taps."""

    def encode(self, ids: np.ndarray, altered: Altered, taps: tuple[str, ...]) -> tuple[Any, dict[str, Any]]:
        """(B, S) ids -> memory, taps by name."""
        ...

    def decode(
        self, ids: np.ndarray, memory: Any, altered: Altered, taps: tuple[str, ...]
    ) -> tuple[Any, dict[str, Any]]:
        """(B, T) decoder input ids, memory -> logits (B, T, V), taps by name."""
        ...

    def chosen(self, arrays: Any, rows: Sequence[int]) -> Any:
        """These rows of a memory, and of taps, in this order."""
        ...


class AlteredReading:
    """Sources with an intervention each, encoded once, for all passes over drafts of their corrections.

    It is the reading that ``drafting.settle`` wants. Rows with the same source whose intervention does not reach the encoder share
    one encoding.
    """

    memory: Any  # as the halves give them
    read: dict[str, Any]

    def __init__(
        self,
        halves: AlteredHalves,
        config: NetworkConfig,
        sources: Sequence[Sequence[int]],
        interventions: Sequence[Intervention],
        taps: tuple[str, ...] = ATTENTION_KINDS,
    ):
        self.halves, self.config, self.taps = halves, config, taps
        self.sources, self.interventions = list(sources), list(interventions)
        self._encode()

    def pass_over(self, drafts: Sequence[Sequence[int]]) -> Pass:
        """The logits, and in place of attention all ``taps``."""
        ids = pad([[START_ID, *draft[:-1]] for draft in drafts])
        sizes = {"decoder_attention": (ids.shape[1],) * 2, "cross_attention": (ids.shape[1], self.length)}
        altered = alterations(self.interventions, self.config, sizes)
        logits, written = self.halves.decode(ids, self.memory, altered, self.taps)
        found = {**self.read, **written}
        return Pass(np.asarray(logits), {name: np.asarray(array) for name, array in found.items()})

    def keep(self, rows: Sequence[int]) -> None:
        """Continue with these rows only."""
        self.sources = [self.sources[row] for row in rows]
        self.interventions = [self.interventions[row] for row in rows]
        self._choose(rows)

    def _choose(self, rows: Sequence[int]) -> None:
        self.memory, self.read = self.halves.chosen((self.memory, self.read), rows)

    def _encode(self) -> None:
        first: dict[tuple, int] = {}  # the place of each different encoding among those that are made
        rows: list[int] = []
        chosen: list[int] = []
        for row, (source, each) in enumerate(zip(self.sources, self.interventions, strict=True)):
            key = (tuple(source), id(each) if each.reaches_encoder else None)
            if key not in first:
                first[key] = len(chosen)
                chosen.append(row)
            rows.append(first[key])
        ids = pad(self.sources)[chosen]
        self.length = ids.shape[1]
        interventions = [self.interventions[row] for row in chosen]
        for place, each in enumerate(interventions):
            ids[place, list(each.without_source)] = PAD_ID
        altered = alterations(interventions, self.config, {"encoder_attention": (self.length,) * 2})
        self.memory, self.read = self.halves.encode(ids, altered, self.taps)
        if rows != list(range(len(chosen))):
            self._choose(rows)


class AlteredPasses:
    """Asks a network what it would do if something were changed: the part of a laboratory that needs no gradients.

    ``space_id``: see ``drafting.settle``. Safe to use from threads; no answer is kept.
    """

    def __init__(self, halves: AlteredHalves, config: NetworkConfig, space_id: int):
        self._halves, self.config, self.space_id = halves, config, space_id

    def pass_over(
        self,
        sources: Sequence[Sequence[int]],
        targets: Sequence[Sequence[int]],
        interventions: Sequence[Intervention],
    ) -> Pass:
        """One teacher-forced pass over B rows, each a source, T produced ids and an intervention.

        Row t of the logits (B, T, V) is what the network says after ``targets[b][:t]``, so a target may be cut
        off behind the last row that is asked about. Attention holds the weights that were used; where a token
        was left out, its own row says nothing. Raises ValueError for an intervention the network does not have.
        """
        return self._read(sources, interventions).pass_over(targets)

    def write(
        self,
        sources: Sequence[Sequence[int]],
        interventions: Sequence[Intervention],
        forced: Sequence[Sequence[int]] = (),
    ) -> list[Produced | None]:
        """What the network writes under each intervention, the end mark last; None where no end came.

        ``forced``: for each row the ids it has to begin with. It is what greedy decoding writes step by step,
        found by ``drafting.settle``.
        """
        return settle(self._read(sources, interventions), sources, self.space_id, forced=forced)

    def taps(
        self,
        source: Sequence[int],
        target: Sequence[int],
        names: Iterable[str],
        intervention: Intervention | None = None,
        padding: int = 0,
    ) -> dict[str, np.ndarray]:
        """The arrays ``names`` of one pass under an intervention; ``model.trace.interventions`` has their shapes, here without B. Both sides are
        ``padding`` tokens longer, as in a batch with longer sentences.

        Raises ValueError for names and for an intervention that the network does not have.
        """
        taps = checked_taps(names, self.config)
        asked, longer = intervention or Intervention(), [PAD_ID] * padding
        check(asked, self.config, len(source))
        reading = AlteredReading(self._halves, self.config, [[*source, *longer]], [asked], taps)
        found = reading.pass_over([[*target[:-1], *longer, *target[-1:]]]).attention
        return {name: found[name][0] for name in taps}

    def insides(self, source: Sequence[int], target: Sequence[int]) -> Insides:
        """What one plain pass holds: weights, values, the residual stream, and the output projections."""
        kinds = self.config.attention_kinds
        values = {kind: tap(kind, "value") for kind in kinds}
        residuals = ("encoder_residual", "decoder_residual")
        found = self.taps(source, target, (*kinds, *values.values(), *residuals))
        encoder, decoder = (found[name] for name in residuals)
        # An encoder layer has two sub-layers, a decoder layer three. No sub-layer reads the last place of a stream.
        entering = {
            "encoder_attention": encoder[:-1:2],
            "decoder_attention": decoder[:-1:3],
            "cross_attention": decoder[1::3],
        }
        return Insides(
            {kind: found[kind] for kind in kinds},
            {kind: found[name] for kind, name in values.items()},
            entering,
            *self._output_projections,
        )

    @property
    def _output_projections(self) -> tuple[dict, dict, dict | None]:
        """``output_kernels``, ``output_biases`` and ``norm_scales`` of ``Insides``."""
        raise NotImplementedError

    def _read(
        self,
        sources: Sequence[Sequence[int]],
        interventions: Sequence[Intervention],
        taps: tuple[str, ...] = ATTENTION_KINDS,
    ) -> AlteredReading:
        for source, each in {(len(s), id(e)): (s, e) for s, e in zip(sources, interventions)}.values():
            check(each, self.config, len(source))
        return AlteredReading(self._halves, self.config, sources, interventions, taps)


def projected(
    taps: Callable[[Sequence[int], Sequence[int], Iterable[str]], dict[str, np.ndarray]],
    config: NetworkConfig,
    source: Sequence[int],
    target: Sequence[int],
) -> dict[str, Projections]:
    """Of each kind of attention the queries, keys and values of a pass. ``taps``: a network's, which hands them out by name."""
    names = {kind: [tap(kind, part) for part in ("query", "key", "value")] for kind in config.attention_kinds}
    found = taps(source, target, chain(*names.values()))
    return {kind: Projections(*(found[name] for name in parts)) for kind, parts in names.items()}


class PlainLaboratory(AlteredPasses):
    """All that ``network.laboratory.Laboratory`` answers, in NumPy but for gradients: those are asked of ``whole()``, a laboratory in
    Keras, which is loaded when they are first wanted."""

    def __init__(self, parts: PatchedTransformer, space_id: int, whole: Callable[[], Passes]):
        self._plain = PlainHalves(parts)
        super().__init__(self._plain, parts.config, space_id)
        self._parts, self._whole = parts, whole

    def warm_up(self) -> Iterator[None]:
        """See ``network.laboratory.Laboratory``: NumPy has nothing to make ready."""
        return self._whole().warm_up()

    def slopes(
        self, source: Sequence[int], target: Sequence[int], contrast: Sequence[int], shares: Sequence[float]
    ) -> Slopes:
        """See ``network.laboratory.Laboratory``."""
        return self._whole().slopes(source, target, contrast, shares)

    def zeroed(self, source: Sequence[int], target: Sequence[int]) -> Zeroed:
        """See ``network.laboratory.Laboratory``."""
        memory, _ = self._plain.encode(np.array([source]), Altered(), ())
        read = np.array([[START_ID, *target[:-1]]])
        _, found = self._plain.decode(read, memory, Altered(), ("decoder_residual",))
        stream = found["decoder_residual"]  # (1, 3L+1, T, D)
        length, both = len(target), len(target) + len(source)
        gone = 1 - np.eye(both, dtype=np.float32)  # (T + S, T + S): first what was read, then the source
        changed = {
            "decoder_attention": AlteredAttention(values=gone[:, :length]),
            "cross_attention": AlteredAttention(values=gone[:, length:]),
        }
        each = self._plain.chosen(memory, [0] * both)
        distances = []
        for layer in range(self.config.num_layers):
            before, plain = stream[:, 3 * layer], stream[:, 3 * layer + 3]
            varied = self._plain.one_layer(layer, before.repeat(both, axis=0), each, changed)
            distances.append(_distances(varied, plain))  # (T, T + S)
        turned = np.stack(distances)
        return Zeroed(turned[..., :length], turned[..., length:])

    @cached_property
    def _output_projections(self) -> tuple[dict, dict, dict | None]:
        kernels, biases, scales = {}, {}, {}
        for kind in self.config.attention_kinds:
            layers = range(self.config.num_layers)
            both = [self._parts.output_projection(kind, layer) for layer in layers]
            shape = (self.config.num_heads, -1, self.config.d_model)  # (D, D) -> (H, D/H, D)
            kernels[kind] = np.stack([kernel.reshape(shape) for kernel, _ in both])
            biases[kind] = np.stack([bias for _, bias in both])
            scales[kind] = np.stack([self._parts.norm_weights(kind, layer)[0] for layer in layers])
        return kernels, biases, None if self._parts.config.norm_first else scales


def _distances(varied: np.ndarray, plain: np.ndarray) -> np.ndarray:
    """(N, Q, D) variants of plain (1, Q, D) -> (Q, N) cosine distances."""
    unit = [x / np.maximum(np.linalg.norm(x, axis=-1, keepdims=True), 1e-6) for x in (varied, plain)]
    return np.maximum(1 - (unit[0] * unit[1]).sum(axis=-1), 0).T
