"""What a view looks at: one sentence of a correction, one map of its attention, one change."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from model.changes import Change
from model.selection import Selection
from model.trace import AttentionTrace
from ui import loaders, reading
from ui.texts import say


@dataclass(frozen=True)
class Lens:
    """The choices that all views of one sentence share. ``change`` is the one in focus of the sentence's changes;
    None: the whole sentence."""

    corrector: loaders.EngineCorrector
    sentence: loaders.SentenceCorrection
    trace: AttentionTrace
    selection: Selection
    change: Change | None
    theme: str

    @property
    def kind(self) -> str:
        return self.selection.kind

    @property
    def layer(self) -> int | None:
        return self.selection.layer

    @property
    def head(self) -> int | None:
        return self.selection.head

    @cached_property
    def weights(self) -> np.ndarray:
        """(Q, K) float32: what the selected layer and head look at."""
        return self.selection.weights(self.trace)

    @property
    def queries(self) -> tuple[str, ...]:
        return self.trace.axes(self.kind)[0]

    @property
    def keys(self) -> tuple[str, ...]:
        return self.trace.axes(self.kind)[1]

    @property
    def extent(self) -> int:
        """Tokens of the longest side of all maps of this sentence."""
        return max(len(self.trace.source_tokens), len(self.trace.target_tokens))

    @property
    def masked(self) -> np.ndarray | None:
        """(Q, K) bool, True where the decoder may not look; None for the other kinds."""
        return reading.look_ahead_mask(self.trace, self.kind)

    @property
    def takes_interventions(self) -> bool:
        """Whether the laboratory can ask this network with something changed."""
        return getattr(self.corrector.config, "architecture", "") == "transformer"

    @property
    def changes(self) -> tuple[Change, ...]:
        """The change in focus alone, else all changes of the sentence."""
        return self.sentence.changes if self.change is None else (self.change,)

    @property
    def rows(self) -> list[int]:
        """The rows that ``changes`` concern."""
        return reading.changed_rows(self.changes, self.kind, len(self.queries))

    @property
    def place(self) -> str:
        """The words for the layer and the head."""
        return self.selection.label(say, self.trace)
