"""Experiment *side by side*: the attention of this pass beside that of another pass.

The other pass is that of another sentence, of the uncorrected text, or of another model.
"""

from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go
import streamlit as st

import viz
from model import ModelFolderError
from model.analysis.attention_maps import aligned_difference
from model.trace.trace import AttentionTrace, Selection
from ui.asking import loaders, models
from ui.components import figures
from ui.sentence.state import SentenceState
from ui.shell import address, controls, runs
from ui.shell.settings import Choice, Flag, Text
from ui.views.view import Figures, Values, View, file_name, idea
from ui.wording import say
from viz.browser.texts import map_texts
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


def _other_pass(state: SentenceState, values: Values) -> OtherPass | str:
    """The other pass, or the key of the text that says why it is missing.

    Raises NotLoadedError while no network is there, and StillLoading while another model is being loaded.
    """
    match values["twin"]:
        case "typed":
            if not state.sentence.changes:
                return "beside_same"
            return _corrected(state.sentence.text, state.corrector)
        case "pair":
            text = address.get(SENTENCE.name)[:LONGEST]
            return _corrected(text, state.corrector) if text.strip() else "beside_empty"
        case _:
            entry = _other_model()
            if entry is None:
                return "beside_no_model"
            try:
                return _corrected(state.sentence.source, loaders.load_corrector(entry.path))
            except ModelFolderError:  # only now its weights are read
                return "beside_damaged"


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


def _draw(state: SentenceState, values: Values) -> None:
    """The choice of the other pass; both maps side by side, or the second minus the first; below, all heads
    of the other pass."""
    with st.container(key="twin_choices", horizontal=True, vertical_alignment="bottom", gap="small"):
        controls.show(OTHER)
        if values["twin"] == "pair":
            controls.write(SENTENCE.name, LONGEST)
        if values["twin"] == "model" and (others := _other_models()):
            names = {name: models.name_of(entry) for name, entry in others.items()}
            controls.pick(MODEL.name, list(names), names.__getitem__, next(iter(names)))
    try:
        other = _other_pass(state, values)
    except loaders.StillLoading as still:
        with runs.fragment_place():
            loaders.show_loading(still.corrector)
        return
    if isinstance(other, str):
        return
    kind = _kind(state, other)
    VIEW.draw_beside(state, values)
    if other.trace.shape(kind) != (1, 1):
        file = file_name(state, "second-heads")
        selection = _selection(state, other.trace, kind)
        same = other.trace.shape(kind) == state.trace.shape(kind)  # else this pass may have no such head
        opened = figures.open_tile if same else None
        tiles = figures.heads_figure(other.trace, selection)
        figures.draw(tiles, "beside_heads", file, opened, label=say("beside_heads"))


def _figures_of(state: SentenceState, values: Values) -> Figures:
    try:
        other = _other_pass(state, values)
    except loaders.StillLoading:
        return {}
    return {} if isinstance(other, str) else _maps_of(state, other, values)


def _maps_of(state: SentenceState, other: OtherPass, values: Values) -> Figures:
    """The first map, and the second or its difference from the first."""
    kind = _kind(state, other)
    first, second = (_selection(state, each.trace, kind).weights(each.trace) for each in (state, other))
    made = {
        "beside_first_map": (
            _map(state, state.trace, kind, first),
            _heading("first", state.sentence.source, state.sentence.text, values),
        )
    }
    if not values["twin_difference"]:
        return made | {
            "beside_second_map": (
                _map(state, other.trace, kind, second),
                _heading("second", other.source, other.text, values),
            )
        }
    found, missing = aligned_difference(kind, state.trace, other.trace, (first, second))
    return made | {
        "beside_difference_map": (_map(state, other.trace, kind, found, missing), say("beside_difference"))
    }


def _heading(which: str, source: str, written: str, values: Values) -> str:
    """The source, since both sides may have the same target. Two models read the same, so there it is the
    model, and its text."""
    entry = models.chosen() if which == "first" else _other_model()
    if values["twin"] != "model" or entry is None:
        return say(f"beside_{which}", text=source)
    return say(f"beside_{which}_model", model=models.name_of(entry), text=written)


def _kind(state: SentenceState, other: OtherPass) -> str:
    """A recurrent network has attention from target to source alone."""
    return state.kind if state.kind in other.trace.kinds else "cross_attention"


def _selection(state: SentenceState, trace: AttentionTrace, kind: str) -> Selection:
    """The same layer and head where the trace has them, else their mean."""
    layer, head = state.layer, state.head
    layers, heads = trace.shape(kind)
    return Selection(
        kind,
        layer if layer is not None and layer < layers else None,
        head if head is not None and head < heads else None,
    )


def _map(
    state: SentenceState,
    trace: AttentionTrace,
    kind: str,
    weights: np.ndarray,
    missing: np.ndarray | None = None,
) -> go.Figure:
    queries, keys = trace.axes(kind)
    return viz.attention_heatmap(
        weights,
        queries,
        keys,
        texts=map_texts(say, kind, difference=missing is not None, masked="beside_missing"),
        masked=missing,
        difference=missing is not None,
        colour_max=1.0 if missing is None else None,
        extent=max(state.extent, *map(len, (queries, keys))),
        theme=state.theme,
    )


def _describe(state: SentenceState, values: Values) -> str:
    """Where the two differ most, of the tokens that have a counterpart."""
    try:
        other = _other_pass(state, values)
    except loaders.StillLoading:
        return say("beside_loading")
    if isinstance(other, str):
        return say(other)
    kind = _kind(state, other)
    shown = _selection(state, other.trace, kind)
    own, others = _selection(state, state.trace, kind).weights(state.trace), shown.weights(other.trace)
    found, missing = aligned_difference(kind, state.trace, other.trace, (own, others))
    if missing.all() or not found.any():
        return say("beside_reading_same")
    row, column = np.unravel_index(np.abs(found).argmax(), found.shape)
    queries, keys = other.trace.axes(kind)
    after = float(others[row, column])
    return say(
        "beside_reading",
        query=visible_token(queries[row]),
        key=visible_token(keys[column]),
        before=weight(after - float(found[row, column])),
        after=weight(after),
        place=shown.label(say, other.trace),
    )


def _notes(state: SentenceState, values: Values) -> list[str]:
    found = [say("beside_note")]
    return found + [say("beside_difference_note")] * values["twin_difference"]


VIEW = View(
    "twins",
    "laboratory",
    50,
    _describe,
    (OTHER, DIFFERENCE, SENTENCE, MODEL),
    _notes,
    idea("beside"),
    _draw,
    _figures_of,
    drawn=(OTHER,),
    beside={
        "beside_first_map": "kind-first",
        "beside_second_map": "kind-second",
        "beside_difference_map": "kind-second",
    },
).declare()
