"""Page of attention heads over many sentences: roles, ablation effects, pruning curves.

A visitor's own file can be surveyed, too.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import streamlit as st

import viz
from model import ModelFolderError
from model.analysis.roles import CLASSES, EDITED, LIAISON, ROLES
from model.survey.results import HeadSurvey
from model.trace.interventions import Head
from ui.asking import loaders, models
from ui.asking.files import (
    MOST_EFFECTS,
    MOST_SENTENCES,
    DroppedFile,
    is_done,
    job_of,
    surveys,
    upload,
)
from ui.components import figures
from ui.components.component import chosen_row
from ui.components.live_text import replace
from ui.parts.head_numbers import (
    EFFECT,
    INTERVENED,
    LEADING,
    QUANTITIES,
    SIGNS,
    ChosenNumber,
    pruning_curve,
    role_of_example,
    table,
    told,
)
from ui.sentence.page import keep_typed
from ui.shell import address, controls, header, markup
from ui.wording import say
from viz.browser.texts import kind_names
from viz.labels import decimal

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go

SECONDS_BETWEEN_LOOKS = 2.0
MEGABYTES = 2
TABLE_HEIGHT, LECTURE_TABLE_HEIGHT = 430, 180  # pixels
# Pixels of a head's role, of a number, of a number with a sign; in a lecture type is larger.
WIDTHS, LECTURE_WIDTHS = (92, 49, 58), (108, 51, 66)
INTERVENED_COLOUR = {"light": "#7a3fb5", "dark": "#c79bf2"}  # the colour of .told.intervened in style.css


_shared_jobs = st.cache_resource(show_spinner=False)(surveys)


def main() -> None:
    header.begin("heads")
    header.tools()
    by, at, given = _choose()
    entry = models.chosen()
    corrector: loaders.EngineCorrector | None
    if given is None and entry is not None:
        corrector = loaders.open_corrector(entry.path)  # the survey is a file and needs no loaded network
    else:
        corrector = models.load_corrector(entry)
    if corrector is None or entry is None:
        return
    if getattr(corrector.config, "architecture", "") != "transformer":
        st.info(say("heads_cannot"))
    elif given is not None:
        _show_file(given, corrector, by, at)
    elif survey := _shipped(entry, corrector):
        made = "heads_made_shipped" if loaders.is_shipped(entry) else "heads_made"
        _show(survey, by, at, say(made, sentences=survey.sentences, effects=survey.effect_sentences))
        controls.explain("heads_idea")
    else:
        st.info(say("heads_none"))
        controls.explain("heads_idea")


def _choose() -> tuple[str, str, DroppedFile | None]:
    quantity, place, own = st.columns([4, 4, 3], vertical_alignment="bottom")
    with quantity:
        by = controls.pick("heads_by", list(QUANTITIES), _with_source, LEADING)
    with place:
        # A final consonant moves only where something is corrected.
        classes = [EDITED] if by == LIAISON else list(CLASSES)
        at = controls.choose("heads_at", classes, lambda at: say(f"heads_at_{at}"), otherwise=classes[0])
    with own, st.popover(say("heads_own"), icon=":material/upload_file:", key="heads_own"):
        markup.paragraph(say("heads_own_lead", rows=MOST_SENTENCES, effects=MOST_EFFECTS), "note")
        given = upload(say("table_label"), ["csv", "txt", "xlsx"], MEGABYTES, "heads_file")
    return by, at, given


def _with_source(name: str) -> str:
    """The name of a quantity, and whether it is observed."""
    return (
        f"{say(f'heads_by_{name}')} · {say('heads_intervened' if name in INTERVENED else 'heads_observed')}"
    )


def _shipped(entry: loaders.ModelEntry, corrector: loaders.Asked) -> HeadSurvey | None:
    try:
        return loaders.head_survey(entry.path, corrector)
    except ModelFolderError as error:
        markup.paragraph(str(error), "note")
        return None


def _show_file(given: DroppedFile, corrector: loaders.EngineCorrector, by: str, at: str) -> None:
    """The visitor's own file: how far it is, and the survey so far."""
    job = job_of(_shared_jobs(), given, MOST_SENTENCES, corrector)
    if job is None:
        return
    if not job.given and not job.left_out:
        st.info(say("table_empty"))
        return

    def show_progress() -> None:
        part, done, count = job.progress
        st.progress(done / max(count, 1), say(f"heads_progress_{part}", done=done, all=count))
        _show(job.found(), by, at, "", may_open=False)

    if not is_done(job, SECONDS_BETWEEN_LOOKS, show_progress):
        return
    found = job.found()
    made = {"sentences": found.sentences, "effects": found.effect_sentences, "left_out": job.left_out}
    _show(found, by, at, say("heads_made_file", **made))
    controls.explain("heads_idea")


def _show(survey: HeadSurvey, by: str, at: str, made: str, may_open: bool = True) -> None:
    """The map, the table with the note ``made`` about its sentences, and the pruning curve if measured."""
    if not survey.heads:  # nothing is measured yet, or every sentence was left out
        markup.paragraph(made, "note")
        return
    markup.told(told(survey, by, at), "intervened" if by in INTERVENED else "")
    # In a lecture the names of roles and curves are twice as large: the curves have the wider column, where
    # the table may be scrolled.
    lecture = controls.is_on("lecture")
    left, right = st.columns([38, 62] if lecture else [36, 64], gap="small")

    def open_square(point: dict) -> None:
        match point.get("custom"):
            case [str(kind), int(layer), int(head)] if Head(kind, layer, head) in survey.heads:
                _open_head(survey, Head(kind, layer, head), by, at)

    with left:
        figures.draw(
            _map_of(survey, by, at),
            "heads_map",
            f"heads-{by}",
            open_square if may_open else None,
            label=say("heads_map"),
        )
        if not lecture:
            _show_pruning(survey)
    with right:
        _show_table(survey, by, at, may_open, LECTURE_TABLE_HEIGHT if lecture else TABLE_HEIGHT)
        if lecture:
            _show_pruning(survey)
    with left if lecture else right:
        # Leading roles have no number, so their table has no margins either.
        markup.paragraph(say("heads_click") + ("" if by == LEADING else " " + say("heads_margin")), "note")
        markup.paragraph(made, "note")


def _map_of(survey: HeadSurvey, by: str, at: str) -> go.Figure:
    """All heads as a figure."""
    names, layers, theme = kind_names(say, survey.kinds), say("layer_label"), controls.theme()
    if by != LEADING:
        chosen = ChosenNumber(survey, by, at)
        return viz.head_mosaic(
            chosen.grids("mean"),
            margins=chosen.grids("margin"),
            signed=chosen.is_signed,
            value_title=chosen.unit,
            key=say("without_key") if chosen.is_signed else "",
            helps_below=chosen.name == EFFECT,
            names=names,
            layer_title=layers,
            theme=theme,
        )
    signs = {role: (SIGNS[role], say(f"heads_by_{role}")) for role in ROLES}
    captions = viz.Captions(titles=(layers,), theme=theme)
    return viz.role_mosaic(survey.leading_roles(at), signs, names=names, captions=captions)


def _show_table(survey: HeadSurvey, by: str, at: str, may_open: bool, height: int) -> None:
    """Every head with all numbers; choosing a row opens the head."""
    frame, heads, intervened = table(survey, by, at)
    markup.paragraph(say("heads_observed_columns"), "kind-observed")
    markup.paragraph(say("heads_intervened_columns"), "kind-instead")

    def choose_row() -> None:
        row = chosen_row("heads_table", len(heads))
        if row is not None:
            _open_head(survey, heads[row], by, at)

    chooses: dict[str, Any] = {}
    if may_open:
        chooses = {"key": "heads_table", "on_select": choose_row, "selection_mode": "single-row"}
    fine = partial(decimal, digits=3)  # most heads change an answer by thousandths of a nat
    written = frame.style.format(
        {name: fine if name in intervened else decimal for name in frame.columns[2:]}
    )
    st.dataframe(
        written.set_properties(subset=intervened, color=INTERVENED_COLOUR[controls.theme()]),
        hide_index=True,
        height=height,
        column_config=_columns_of(frame),
        placeholder="–",  # a head of the encoder writes nothing into the answer itself
        **chooses,
    )


def _columns_of(frame: pd.DataFrame) -> dict[str, Any]:
    """Narrow columns with short names, so that all fit on the screen; the pointer on a name shows the long
    one. Where a window is narrower, heads keep their names in sight while the numbers are scrolled."""
    head, leading, *numbers = frame.columns
    of_role, plain, signed = LECTURE_WIDTHS if controls.is_on("lecture") else WIDTHS
    found: dict[str, Any] = {
        head: st.column_config.TextColumn(pinned=True),  # as wide as the longest name
        leading: st.column_config.TextColumn(width=of_role),
    }
    for column in numbers:
        name = frame.attrs["names"].get(column)
        label = say(f"heads_short_{name}") if name else "±"
        width = signed if (frame[column] < 0).any() else plain
        found[column] = st.column_config.NumberColumn(label, help=column, width=width)
    return found


def _open_head(survey: HeadSurvey, head: Head, by: str, at: str) -> None:
    """Lead to the main page: the head, and the sentence in which it plays its role most."""
    example = survey.example(head, role_of_example(survey, head, by, at))
    if example is not None:
        keep_typed(example[0])
        replace()
    address.put_head(head.layer, head.head, head.kind)
    address.put("view", "heatmap")
    header.turn_to("attention")


def _show_pruning(survey: HeadSurvey) -> None:
    if not survey.pruning:
        return
    markup.paragraph(say("heads_pruning"), "kind-instead")
    figures.draw(
        pruning_curve(survey, controls.theme()),
        "heads_pruning",
        "heads-pruning",
        label=say("heads_pruning"),
    )
    judged = {"ordered": survey.effect_sentences, "judged": survey.judged, "right": survey.judged_right}
    markup.paragraph(say("heads_pruning_note", **judged, overlap=survey.overlap), "note")


main()
