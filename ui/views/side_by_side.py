"""Experiment *side by side*: the attention of this pass beside that of another pass.

The other pass is that of another sentence, of the uncorrected text, or of another model.
"""

from dataclasses import dataclass
from functools import cached_property, partial
from typing import ClassVar

import numpy as np
import streamlit as st

from model import ModelFolderError
from model.analysis.attention_maps import aligned_difference
from model.trace.trace import AttentionTrace, Selection
from ui.asking import loaders, models
from ui.components import figures
from ui.sentence.state import SentenceState
from ui.shell import address, controls
from ui.shell.settings import Choice, Flag, Text
from ui.views.drawings import attention_map
from ui.views.view import Figures, View, file_name
from ui.wording import say
from viz.labels import visible_token, weight

# Addresses call the other pass a twin, and have to go on doing so. Elsewhere a twin is a sentence that is not
# corrected.
OTHER = Choice("twin", ("typed", "pair", "model"))  # the other side of the comparison
DIFFERENCE = Flag("twin_difference")  # the second map is shown minus the first
SENTENCE = Text("twin_sentence", "친구의 가치")
MODEL = Text("twin_model")
LONGEST = 200  # characters of the second sentence


@dataclass(frozen=True)
class OtherPass:
    """The pass that this one is compared with: its source, its text, and its trace."""

    source: str
    text: str
    trace: AttentionTrace


def _corrected(text: str, corrector: loaders.Asked) -> OtherPass | str:
    found = corrector.correct(text)
    if not found.sentences:
        return "beside_empty"
    sentence = found.sentences[0]
    if sentence.too_long:
        return "beside_too_long"
    return OtherPass(sentence.source, sentence.text, sentence.trace)


def _other_models() -> dict[str, loaders.ModelEntry]:
    chosen = models.chosen()
    found = {name: entry for name, entry in models.usable().items() if entry != chosen}
    return dict(sorted(found.items(), key=lambda each: loaders.is_shipped(each[1])))


def _other_model() -> loaders.ModelEntry | None:
    found = _other_models()
    return found.get(address.get(MODEL.name)) or next(iter(found.values()), None)


def _selection(state: SentenceState, trace: AttentionTrace, kind: str) -> Selection:
    """The same layer and head where the trace has them, else their mean."""
    layer, head = state.layer, state.head
    layers, heads = trace.shape(kind)
    return Selection(
        kind,
        layer if layer is not None and layer < layers else None,
        head if head is not None and head < heads else None,
    )


class SideBySide(View):
    """The choice of the other pass; both maps side by side, or the second minus the first; below, all heads
    of the other pass."""

    name, page, order, idea = "twins", "laboratory", 50, "beside"
    settings = (OTHER, DIFFERENCE, SENTENCE, MODEL)
    drawn = (OTHER,)
    beside: ClassVar = {
        "beside_first_map": "kind-first",
        "beside_second_map": "kind-second",
        "beside_difference_map": "kind-second",
    }

    @cached_property
    def _answer(self) -> OtherPass | str:
        """The other pass, or the key of the text that says why it is missing.

        Raises NotLoadedError while no network is there, and StillLoading while another model is being loaded.
        """
        sentence, corrector = self.state.sentence, self.state.corrector
        match self.values[OTHER.name]:
            case "typed":
                return _corrected(sentence.text, corrector) if sentence.changes else "beside_same"
            case "pair":
                text = address.get(SENTENCE.name)[:LONGEST]
                return _corrected(text, corrector) if text.strip() else "beside_empty"
            case _:
                entry = _other_model()
                if entry is None:
                    return "beside_no_model"
                try:
                    return _corrected(sentence.source, loaders.load_corrector(entry.path))
                except ModelFolderError:  # only now its weights are read
                    return "beside_damaged"

    @property
    def other(self) -> OtherPass | None:
        """None where it is missing."""
        try:
            return None if isinstance(self._answer, str) else self._answer
        except loaders.StillLoading:
            return None

    def kind(self, other: OtherPass) -> str:
        """A recurrent network has attention from target to source alone."""
        return self.state.kind if self.state.kind in other.trace.kinds else "cross_attention"

    def _weights(self, trace: AttentionTrace, kind: str) -> np.ndarray:
        return _selection(self.state, trace, kind).weights(trace)

    def show(self) -> None:
        with st.container(key="twin_choices", horizontal=True, vertical_alignment="bottom", gap="small"):
            controls.show(OTHER)
            if self.values[OTHER.name] == "pair":
                controls.write(SENTENCE.name, LONGEST)
            if self.values[OTHER.name] == "model" and (others := _other_models()):
                names = {name: models.name_of(entry) for name, entry in others.items()}
                controls.pick(MODEL.name, list(names), names.__getitem__, next(iter(names)))
        try:
            other = self._answer
        except loaders.StillLoading as still:
            loaders.show_loading(still.corrector)
            return
        if isinstance(other, str):
            return
        kind, own = self.kind(other), self.state.trace
        self.draw_figures(*self.opened)
        if other.trace.shape(kind) != (1, 1):
            same = other.trace.shape(kind) == own.shape(kind)  # else this pass may have no such head
            tiles = figures.heads_figure(other.trace, _selection(self.state, other.trace, kind))
            file, opened = file_name(self.state, "second-heads"), figures.open_tile if same else None
            figures.draw(tiles, "beside_heads", file, opened, label=say("beside_heads"))

    @cached_property
    def figures(self) -> Figures:
        """The first map, and the second or its difference from the first."""
        if (other := self.other) is None:
            return {}
        state, kind = self.state, self.kind(other)
        first, second = (self._weights(each.trace, kind) for each in (state, other))
        heading = self._heading("first", state.sentence.source, state.sentence.text)
        map_ = partial(attention_map, state, kind=kind)
        made = {"beside_first_map": (map_(first, state.trace.axes(kind)), heading)}
        if not self.values[DIFFERENCE.name]:
            heading = self._heading("second", other.source, other.text)
            return made | {"beside_second_map": (map_(second, other.trace.axes(kind)), heading)}
        found, missing = aligned_difference(kind, state.trace, other.trace, (first, second))
        difference = map_(found, other.trace.axes(kind), masked=missing, difference=True)
        return made | {"beside_difference_map": (difference, say("beside_difference"))}

    def _heading(self, which: str, source: str, written: str) -> str:
        """The source, since both sides may have the same target. Two models read the same, so there it is the
        model, and its text."""
        entry = models.chosen() if which == "first" else _other_model()
        if self.values[OTHER.name] != "model" or entry is None:
            return say(f"beside_{which}", text=source)
        return say(f"beside_{which}_model", model=models.name_of(entry), text=written)

    def reading(self) -> str:
        """Where the two differ most, of the tokens that have a counterpart."""
        try:
            other = self._answer
        except loaders.StillLoading:
            return say("beside_loading")
        if isinstance(other, str):
            return say(other)
        kind, own = self.kind(other), self.state.trace
        both = self._weights(own, kind), self._weights(other.trace, kind)
        found, missing = aligned_difference(kind, own, other.trace, both)
        if missing.all() or not found.any():
            return say("beside_reading_same")
        row, column = np.unravel_index(np.abs(found).argmax(), found.shape)
        queries, keys = other.trace.axes(kind)
        after = float(both[1][row, column])
        return say(
            "beside_reading",
            query=visible_token(queries[row]),
            key=visible_token(keys[column]),
            before=weight(after - float(found[row, column])),
            after=weight(after),
            place=_selection(self.state, other.trace, kind).label(say, other.trace),
        )

    def notes(self) -> list[str]:
        return [say("beside_note"), *[say("beside_difference_note")] * self.values[DIFFERENCE.name]]
