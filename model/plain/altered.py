"""Passes under interventions, whatever computes them: the halves of a network take an argument that changes their attention.

``model/network/altered.py`` has such halves in Keras, ``model/plain/halves.py`` in NumPy.

B rows, each a source and an intervention, L layers, H heads, S source and T target tokens, V vocabulary.
"""

from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from typing import Any, Protocol

import numpy as np

from model.plain.alterations import Altered, alterations, check, checked_taps
from model.plain.drafting import Pass, Produced, settle
from model.stored.config import NetworkConfig
from model.text.tokenizer import PAD_ID, START_ID, pad
from model.trace.interventions import Intervention
from model.trace.laboratory_data import Insides
from model.trace.projections import Projections
from model.trace.taps import tap
from model.trace.trace import ATTENTION_KINDS


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
        """The arrays ``names`` of one pass under an intervention; ``model.trace.taps`` has their shapes, here without B. Both sides are
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
