"""What each head does for a change: it is switched off, and the network is asked again."""

import numpy as np
import plotly.graph_objects as go
import streamlit as st

import viz
from model import ModelFolderError
from model.changes import Change
from model.head_survey import HeadSurvey
from model.trace import ATTENTION_KINDS
from ui import address, controls, figures, loaders, markup, models
from ui.lens import Lens
from ui.numbers_text import correlation
from ui.settings import Choice
from ui.texts import say
from ui.views import needs
from ui.views.edits import in_words
from ui.views.naming import file_name
from ui.views.view import Values, View

STRONGEST = 5
ZERO, MEAN = "zero", "mean"
SETTINGS = (Choice("off", (ZERO, MEAN)),)


def change_of(lens: Lens) -> Change | None:
    """The change in focus, else the first; None where there is none."""
    return lens.changes[0] if lens.changes else None


def survey_of(lens: Lens) -> HeadSurvey | None:
    """The survey that has the means of this model's heads; None where there is none."""
    entry = models.chosen()
    try:
        return entry and loaders.head_survey(entry.path, lens.corrector)
    except ModelFolderError:  # the page of the heads says what is wrong with it
        return None


def means_of(lens: Lens, values: Values) -> dict[str, np.ndarray] | None:
    """What heads that are off put out: their means over the sentences of a survey; None for zero."""
    survey = survey_of(lens) if values["off"] == MEAN else None
    return survey and survey.means


def draw(lens: Lens, values: Values) -> None:
    """A square for each head, a point for each head, and what is written without the strongest ones."""
    change = change_of(lens)
    if change is None:
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        markup.paragraph(say("off_label"), "label")
        controls.choose("off", [ZERO, MEAN], lambda how: say(f"off_{how}"), label_visibility="collapsed")
    squares, points = st.columns(2)
    parts = {"without_mosaic": (squares, open_head), "without_scatter": (points, None)}
    for name, (figure, label) in figures_of(lens, values).items():
        place, on_click = parts[name]
        with place:
            figures.draw(figure, name, file_name(lens, name.replace("_", "-")), on_click, label=label)
    means = means_of(lens, values)
    found = loaders.head_effects(lens.sentence, change, lens.corrector, means)
    with squares:
        for one in loaders.written_without(lens.sentence, found.strongest(STRONGEST), lens.corrector, means):
            (head,) = one.heads if len(one.heads) == 1 else (None,)
            name = say("without_all") if head is None else named(head)
            text = say("without_no_end") if one.text is None else one.text
            markup.paragraph(say("without_written", heads=name, text=text), "note")


def figures_of(lens: Lens, values: Values) -> dict[str, tuple[go.Figure, str]]:
    """The squares and the points of all heads; nothing where nothing was changed."""
    change = change_of(lens)
    if change is None:
        return {}
    found = loaders.head_effects(lens.sentence, change, lens.corrector, means_of(lens, values))
    shared = {
        "names": {kind: say(f"kind_{kind}") for kind in lens.trace.kinds},
        "chosen": found.strongest(STRONGEST),
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


def open_head(point: dict) -> None:
    """Make the head of a chosen square the one that the pages look at; a point that is none changes nothing."""
    match point.get("custom"):
        case [str(kind), int(layer), int(head)] if kind in ATTENTION_KINDS:
            address.put_head(layer, head, kind)


def describe(lens: Lens, values: Values) -> str:
    """Whether the head that looked most is the one that mattered most."""
    change = change_of(lens)
    if change is None:
        return say("without_none")
    with st.spinner(say("working_laboratory")):  # the first question of a kind waits for its graph
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
