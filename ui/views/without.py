"""The experiment *switch heads off*: what each head does for a change, found by asking the network again without it."""

import re
from collections.abc import Collection, Iterable, Mapping
from functools import partial
from typing import Any

import numpy as np
import plotly.graph_objects as go
import streamlit as st

import viz
from model import ModelFolderError
from model.survey.head_survey import HeadSurvey
from model.text.changes import Change
from model.trace.interventions import Head
from ui.asking import loaders, models
from ui.look.lens import Lens
from ui.parts import figures
from ui.shell import address, controls, markup
from ui.shell.settings import Choice
from ui.shell.spinner import spinner
from ui.views import needs
from ui.views.edits import in_words
from ui.views.naming import file_name
from ui.views.view import Values, View
from ui.wording.numbers_text import correlation
from ui.wording.texts import say

STRONGEST = 5
MOST_NAMED = STRONGEST - 1
ZERO, MEAN = "zero", "mean"
SETTINGS = (Choice("off", (ZERO, MEAN)),)


def change_of(lens: Lens) -> Change | None:
    """The change in focus, else the first; None where there is none."""
    return lens.changes[0] if lens.changes else None


def survey_of(lens: Lens) -> HeadSurvey | None:
    """The survey with the means of this model's heads; None if there is none."""
    entry = models.chosen()
    try:
        return entry and loaders.head_survey(entry.path, lens.corrector)
    except ModelFolderError:  # the page of the heads says what is wrong with it
        return None


def means_of(lens: Lens, values: Values) -> dict[str, np.ndarray] | None:
    """What heads that are off put out: their means over the sentences of a survey; None for zero."""
    survey = survey_of(lens) if values["off"] == MEAN else None
    return survey.means if survey is not None else None


def draw(lens: Lens, values: Values) -> None:
    """A square for each head, a point for each head, and what is written without the strongest ones."""
    change = change_of(lens)
    if change is None:
        return
    own = switched_off(lens)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        markup.paragraph(say("off_label"), "label")
        controls.choose("off", [ZERO, MEAN], lambda how: say(f"off_{how}"), label_visibility="collapsed")
        st.button(say("without_all_on"), key="without_all_on", disabled=not own, on_click=_put, args=((),))
    squares, points = st.columns(2)
    parts = {"without_mosaic": (squares, partial(switch, lens)), "without_scatter": (points, None)}
    for name, (figure, label) in figures_of(lens, values).items():
        place, on_click = parts[name]
        with place:
            figures.draw(figure, name, file_name(lens, name.replace("_", "-")), on_click, label=label)
    means = means_of(lens, values)
    framed = framed_heads(lens, change, means)
    sets = [framed] if own else [*([head] for head in framed), framed]
    with squares, st.container(gap="xxsmall"):
        for one in loaders.written_without(lens.sentence, sets, lens.corrector, means):
            text = say("without_no_end") if one.text is None else one.text
            markup.paragraph(say("without_written", heads=_names(one.heads), text=text), "note")


def switched_off(lens: Lens) -> tuple[Head, ...]:
    """The heads that the visitor switched off, of those that the network has."""
    found = [
        Head(kind, int(layer) - 1, int(head) - 1)
        for kind, layer, head in re.findall(
            r"\b([a-z_]+)\.([1-9]\d?)\.([1-9]\d?)\b", address.get("switched_off"), re.ASCII
        )
    ]
    return tuple(head for head in dict.fromkeys(found) if _has(lens, head))


def _has(lens: Lens, head: Head) -> bool:
    if head.kind not in lens.trace.kinds:
        return False
    layers, heads = lens.trace.shape(head.kind)
    return 0 <= head.layer < layers and 0 <= head.head < heads


def framed_heads(lens: Lens, change: Change, means: Mapping[str, np.ndarray] | None) -> tuple[Head, ...]:
    """The heads that the visitor switched off; before that the strongest ones."""
    found = loaders.head_effects(lens.sentence, change, lens.corrector, means)
    return switched_off(lens) or found.strongest(STRONGEST)


def _names(heads: Collection[Head]) -> str:
    """Each by its name where they are few."""
    if len(heads) > MOST_NAMED:
        return say("without_all", count=len(heads))
    return ", ".join(map(named, sorted(heads)))


def figures_of(lens: Lens, values: Values) -> dict[str, tuple[go.Figure, str]]:
    """The squares and the points of all heads; nothing where nothing was changed."""
    change = change_of(lens)
    if change is None:
        return {}
    found = loaders.head_effects(lens.sentence, change, lens.corrector, means_of(lens, values))
    shared: dict[str, Any] = {
        "names": {kind: say(f"kind_{kind}") for kind in lens.trace.kinds},
        "chosen": framed_heads(lens, change, means_of(lens, values)),
        "layer_title": say("layer_label"),
        "head_title": say("head_label"),
        "theme": lens.theme,
    }
    made = {
        "without_mosaic": viz.head_mosaic(
            {kind: found.grid(kind) for kind in lens.trace.kinds}, value_title=say("without_effect"), **shared
        ),
        "without_scatter": viz.attention_effect_scatter(
            found.attention.tolist(),
            found.effect.tolist(),
            found.heads,
            attention_title=say("without_attention"),
            effect_title=say("without_effect"),
            **shared,
        ),
    }
    return {name: (figure, say(f"{name}_label")) for name, figure in made.items()}


def switch(lens: Lens, point: dict) -> None:
    """Switch the head of a chosen square off, or on again; a point that is none changes nothing."""
    match point.get("custom"):
        case [str(kind), int(layer), int(head)] if _has(lens, chosen := Head(kind, layer, head)):
            before = switched_off(lens)
            _put([each for each in before if each != chosen] if chosen in before else [*before, chosen])


def _put(heads: Iterable[Head]) -> None:
    address.put("switched_off", ",".join(f"{kind}.{layer + 1}.{head + 1}" for kind, layer, head in heads))


def describe(lens: Lens, values: Values) -> str:
    """Whether the head that looked most is the one that mattered most."""
    change = change_of(lens)
    if change is None:
        return say("without_none")
    with spinner(say("working_laboratory")):  # the first question of a kind waits for its graph
        found = loaders.head_effects(lens.sentence, change, lens.corrector, means_of(lens, values))
    looker, rank = found.rank_of_looker()
    return say(
        "without_reading",
        change=in_words(change),
        looker=named(looker),
        rank=rank,
        count=len(found.heads),
        strongest=named(found.strongest(1)[0]),
        correlation=correlation(found.correlation()),
    )


def named(head) -> str:
    """Short, because a sentence names two of them: the kind, then layer and head as on the tiles."""
    return f"{say(f'kind_{head.kind}')} {head.layer + 1}·{head.head + 1}"


def notes(lens: Lens, values: Values) -> list[str]:
    found = [say("without_note"), say("without_intervened")]
    if values["off"] == MEAN:
        survey = survey_of(lens)
        told = say("without_means", sentences=survey.effect_sentences) if survey else say("without_no_means")
        found.append(told)
    return found


def explain(lens: Lens) -> None:
    st.markdown(say("without_idea"))


VIEW = View(
    "without",
    describe,
    draw,
    SETTINGS,
    notes,
    explain,
    framed=lambda lens: [],
    has_map=False,
    figures=figures_of,
    drawn=SETTINGS,
    intervenes=True,
    lacks=needs.experiment("head_effects"),
)
