"""Patching: what one run holds at one place is put into another run, and the question is asked again.

The other run is a twin, in which the character was not corrected. Where the typed sentence's activation makes it correct again, that
place carries what the correction needs. Sources: Vig et al., "Causal Mediation Analysis for Interpreting Neural NLP"
(2020); Meng et al., "Locating and Editing Factual Associations in GPT" (2022), who restore hidden states like this;
Heimersheim & Nanda, "How to use and interpret activation patching" (2024).

All patches of a map are rows of a few batches. P places (of the stream, sub-layers or heads), N positions.
"""

from dataclasses import dataclass

import numpy as np

from model.analysis.contrasts import contrast_of_change
from model.analysis.twin_runs import NO_PLACE, CorruptedRun
from model.correction.answers import Network
from model.text.changes import Change
from model.trace.odds import Contrast
from model.trace.patches import Patch
from model.trace.taps import tap

PARTS = ("residual", "output", "heads")  # of a side, or of a kind of attention
LEAST_DIFFERENCE = 0.5  # nats between the two runs, below which a share of it means nothing


@dataclass(frozen=True)
class ActivationPatching:
    """What becomes of the twin's score when one place at one position is the typed sentence's. Scores in nats."""

    contrast: Contrast
    corrupted: str
    score: float  # of the typed sentence
    corrupted_score: float
    patched: np.ndarray  # (P, N) float32, scores; nan where the position has no counterpart

    @property
    def is_telling(self) -> bool:
        """Whether the two runs differ enough for shares of the difference."""
        return abs(self.score - self.corrupted_score) >= LEAST_DIFFERENCE

    @property
    def restored(self) -> np.ndarray:
        """(P, N) float32: the share of the score that returns. 0 is the twin, 1 the typed sentence."""
        difference = self.score - self.corrupted_score if self.is_telling else np.nan
        return ((self.patched - self.corrupted_score) / difference).astype(np.float32)

    def strongest(self) -> tuple[int, int]:
        """The place and the position at which most returns."""
        found = np.where(np.isnan(self.restored), -np.inf, self.restored)
        place, position = np.unravel_index(found.argmax(), found.shape)
        return int(place), int(position)


def activation_patching(
    corrector: Network, source: str, target: str, change: Change, twin: CorruptedRun, part: str, of: str
) -> ActivationPatching:
    """A map of ``tap(of, part)``: the "residual" stream or the sub-layers' "output" of a side ("encoder" or "decoder"), or the "heads" of a
    kind of attention, layer by layer. Positions are those of the typed sentence; the decoder's end at the row that is asked about.

    Raises ValueError as ``contrast_of_change`` does, and for a network without a residual stream.

    >>> from model.text.changes import find_changes
    >>> from model.analysis.twin_runs import corrupted_by_exchange
    >>> (change,) = find_changes("머거요", "먹어요")
    >>> twin = corrupted_by_exchange(corrector, "머거요", "먹어요", change)
    >>> found = activation_patching(corrector, "머거요", "먹어요", change, twin, "residual", "encoder")
    >>> found.patched.shape, found.corrupted_score < found.score  # places by source tokens
    ((9, 4), True)
    """
    contrast = contrast_of_change(corrector, source, target, change)
    network, name = corrector.patched, tap(of, part)
    typed = _ids(corrector, source, target[: contrast.row])
    other = _ids(corrector, twin.source, twin.written)
    found = network.taps(*typed, [name, "logits"])
    values = found[name]
    if part == "heads":  # (L, H, N, D/H) -> (L·H, N, D/H)
        layers, heads = values.shape[:2]
        places: list = list(np.ndindex(layers, heads))
        values = values.reshape(layers * heads, *values.shape[2:])
    else:
        places = list(range(len(values)))
    matched = twin.source_places if of.startswith("encoder") else twin.target_places
    cells = [
        (row, column) for row in range(len(places)) for column, at in enumerate(matched) if at != NO_PLACE
    ]
    variations = [(Patch(name, places[row], values[row, column], matched[column]),) for row, column in cells]
    answered = network.passes(*other, [(), *variations]).score(contrast.written, contrast.instead)
    patched = np.full((len(places), len(matched)), np.nan, np.float32)
    patched[tuple(zip(*cells, strict=True))] = answered[1:]
    logits = found["logits"][-1].astype(np.float64)
    score = float(logits[contrast.written] - logits[contrast.instead])
    return ActivationPatching(contrast, twin.source, score, float(answered[0]), patched)


def _ids(corrector: Network, source: str, written: str) -> tuple[list[int], list[int]]:
    """(source ids, target ids of ``written`` and one more). The last id is not read; it makes room for the row behind ``written``."""
    return corrector.tokenizer.encode_source(source), corrector.tokenizer.encode_target(written)
