"""The experiment *side by side*: this pass beside that of another sentence, of the uncorrected text, or of another model."""

from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go
import streamlit as st

import viz
from model import ModelFolderError
from model.analysis.attention_maps import aligned_difference
from model.trace.trace import AttentionTrace, Selection
from ui.asking import loaders, models, questions
from ui.components import figures
from ui.sentence.state import Lens
from ui.shell import address, controls, markup
from ui.shell.settings import Choice, Flag, Text
from ui.views.view import Values, View, declare, file_name, idea
from ui.wording import say
from viz.browser.texts import map_texts
from viz.labels import visible_token

# Addresses call the other pass a twin, and have to go on doing so. Elsewhere a twin is a sentence that is not corrected.
OTHER = Choice("twin", ("typed", "pair", "model"))  # what the sentence is compared with
DIFFERENCE = Flag("twin_difference")  # the second map is shown minus the first
SENTENCE = Text("twin_sentence", "친구의 가치")
MODEL = Text("twin_model")
LONGEST = 200  # characters of the second sentence


@dataclass(frozen=True)
class OtherPass:
    """The pass that this one is compared with: of which text, what was written, and its trace."""

    source: str
    text: str
    trace: AttentionTrace


def other_pass(lens: Lens, values: Values) -> OtherPass | str:
    """The other pass, or the key of the text that says why there is none.

    Raises NotLoadedError while no network is there, and StillLoading while another model is being loaded.
    """
    match values["twin"]:
        case "typed":
            if not lens.sentence.changes:
                return "beside_same"
            return _corrected(lens.sentence.text, lens.corrector)
        case "pair":
            text = address.get(SENTENCE.name)[:LONGEST]
            return _corrected(text, lens.corrector) if text.strip() else "beside_empty"
        case _:
            entry = _other_model()
            if entry is None:
                return "beside_no_model"
            try:
                return _corrected(lens.sentence.source, loaders.load_corrector(entry.path))
            except ModelFolderError:  # only now its weights are read
                return "beside_damaged"


def _corrected(text: str, corrector: loaders.Asked) -> OtherPass | str:
    found = questions.correct(text, corrector)
    if not found.sentences:
        return "beside_empty"
    sentence = found.sentences[0]
    if sentence.too_long:
        return "beside_too_long"
    return OtherPass(sentence.source, sentence.text, sentence.trace)


def _other_models() -> dict[str, loaders.ModelEntry]:
    """Beside a shipped one the visitor's own come first: what has fine-tuning changed?"""
    chosen = models.chosen()
    found = {name: entry for name, entry in models.usable().items() if entry != chosen}
    return dict(sorted(found.items(), key=lambda each: loaders.is_shipped(each[1])))


def _other_model() -> loaders.ModelEntry | None:
    found = _other_models()
    return found.get(address.get(MODEL.name)) or next(iter(found.values()), None)


def draw(lens: Lens, values: Values) -> None:
    """What this pass is compared with; both maps side by side, or the second minus the first; below, all heads of the other pass."""
    with st.container(key="twin_choices", horizontal=True, vertical_alignment="bottom", gap="small"):
        controls.show(OTHER)
        if values["twin"] == "pair":
            controls.write(SENTENCE.name, LONGEST)
        if values["twin"] == "model" and (others := _other_models()):
            names = {name: models.name_of(entry) for name, entry in others.items()}
            controls.pick(MODEL.name, list(names), names.__getitem__, next(iter(names)))
    try:
        other = other_pass(lens, values)
    except loaders.StillLoading as still:
        loaders.show_loading(still.corrector)
        return
    if isinstance(other, str):
        return
    kind = _kind(lens, other)
    shown = zip(
        st.columns(2), ("kind-first", "kind-second"), maps_of(lens, other, values).items(), strict=True
    )
    for place, sort, (name, (figure, label)) in shown:
        with place:
            markup.paragraph(label, sort)
            figures.draw(figure, name, file_name(lens, name.replace("_", "-")), label=label)
    if other.trace.shape(kind) != (1, 1):
        file = file_name(lens, "second-heads")
        selection = _selection(lens, other.trace, kind)
        same = other.trace.shape(kind) == lens.trace.shape(kind)  # else this pass may have no such head
        opened = figures.open_tile if same else None
        figures.draw_heads(other.trace, selection, "beside_heads", file, opened, label=say("beside_heads"))


def figures_of(lens: Lens, values: Values) -> dict[str, tuple[go.Figure, str]]:
    """Both maps; nothing while there is no other pass."""
    try:
        other = other_pass(lens, values)
    except loaders.StillLoading:
        return {}
    return {} if isinstance(other, str) else maps_of(lens, other, values)


def maps_of(lens: Lens, other: OtherPass, values: Values) -> dict[str, tuple[go.Figure, str]]:
    """The first map, and the second or its difference from the first."""
    kind = _kind(lens, other)
    first, second = (_selection(lens, each.trace, kind).weights(each.trace) for each in (lens, other))
    made = {
        "beside_first_map": (
            _map(lens, lens.trace, kind, first),
            _heading("first", lens.sentence.source, lens.sentence.text, values),
        )
    }
    if not values["twin_difference"]:
        return made | {
            "beside_second_map": (
                _map(lens, other.trace, kind, second),
                _heading("second", other.source, other.text, values),
            )
        }
    found, missing = aligned_difference(kind, lens.trace, other.trace, (first, second))
    return made | {
        "beside_difference_map": (_map(lens, other.trace, kind, found, missing), say("beside_difference"))
    }


def _heading(which: str, source: str, written: str, values: Values) -> str:
    """The sentence that was read: what was written from it may be the same on both sides. Two models read the same, so there it is the
    model, and what it has written."""
    entry = models.chosen() if which == "first" else _other_model()
    if values["twin"] != "model" or entry is None:
        return say(f"beside_{which}", text=source)
    return say(f"beside_{which}_model", model=models.name_of(entry), text=written)


def _kind(lens: Lens, other: OtherPass) -> str:
    """A recurrent network has attention from target to source alone."""
    return lens.kind if lens.kind in other.trace.kinds else "cross_attention"


def _selection(lens: Lens, trace: AttentionTrace, kind: str) -> Selection:
    """The same layer and head where the trace has them, else their mean."""
    layer, head = lens.layer, lens.head
    layers, heads = trace.shape(kind)
    return Selection(
        kind,
        layer if layer is not None and layer < layers else None,
        head if head is not None and head < heads else None,
    )


def _map(
    lens: Lens, trace: AttentionTrace, kind: str, weights: np.ndarray, missing: np.ndarray | None = None
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
        extent=max(lens.extent, *map(len, (queries, keys))),
        theme=lens.theme,
    )


def describe(lens: Lens, values: Values) -> str:
    """Where the two differ most, of the tokens that have a counterpart."""
    try:
        other = other_pass(lens, values)
    except loaders.StillLoading:
        return say("beside_loading")
    if isinstance(other, str):
        return say(other)
    kind = _kind(lens, other)
    own, others = (_selection(lens, each, kind).weights(each) for each in (lens.trace, other.trace))
    found, missing = aligned_difference(kind, lens.trace, other.trace, (own, others))
    if missing.all() or not found.any():
        return say("beside_reading_same")
    row, column = np.unravel_index(np.abs(found).argmax(), found.shape)
    queries, keys = other.trace.axes(kind)
    after = float(others[row, column])
    return say(
        "beside_reading",
        query=visible_token(queries[row]),
        key=visible_token(keys[column]),
        before=f"{after - float(found[row, column]):.2f}",
        after=f"{after:.2f}",
        place=lens.place,
    )


def notes(lens: Lens, values: Values) -> list[str]:
    found = [say("beside_note")]
    return found + [say("beside_difference_note")] * values["twin_difference"]


VIEW = declare(
    View(
        "twins",
        "laboratory",
        50,
        describe,
        draw,
        (OTHER, DIFFERENCE, SENTENCE, MODEL),
        notes,
        idea("beside"),
        drawn=(OTHER,),
        figures=figures_of,
    )
)
