"""Experiment *transplant*: activation patching from the clean run into a corrupted run.

The clean run is the typed sentence.
"""

from functools import partial

import numpy as np
import streamlit as st

import viz
from engine import questions as declared
from model.analysis.patching import ActivationPatching
from model.trace.interventions import ATTENTIONS, Head
from ui.asking import questions
from ui.components import figures
from ui.sentence.state import SentenceState
from ui.shell import address, controls
from ui.shell.runs import spinner
from ui.shell.settings import Choice
from ui.views import side_by_side
from ui.views.logit_lens import places
from ui.views.view import Values, View, declare, file_name, idea, needs_activations, open_head
from ui.wording import change_in_words, changed_rows, head_name, nats, percent, say
from viz.figure import Specification
from viz.labels import visible_token

RESIDUAL, OUTPUT, HEADS = "residual", "output", "heads"
SETTINGS = (
    Choice("patch_side", ("encoder", "decoder")),
    Choice("patch_part", (RESIDUAL, OUTPUT, HEADS)),
    Choice("patch_twin", ("changed", "right", "sentence")),
)


def _found_for(state: SentenceState, values: Values) -> list[ActivationPatching]:
    change, side, part = state.asked_change, values["patch_side"], values["patch_part"]
    if change is None:
        return []
    other = (
        address.get(side_by_side.SENTENCE.name)[: side_by_side.LONGEST]
        if values["patch_twin"] == "sentence"
        else ""
    )
    asked = [
        questions.activation_patching(
            state.sentence, change, state.corrector, declared.Patching(part, of, values["patch_twin"], other)
        )
        for of in _of(side, part)
    ]
    return [each for each in asked if each is not None]


def _of(side: str, part: str) -> tuple[str, ...]:
    return ATTENTIONS[side] if part == HEADS else (side,)


def _draw(state: SentenceState, values: Values) -> None:
    if state.asked_change is None:
        return
    with st.container(key="patch_choices", horizontal=True, vertical_alignment="center", gap="small"):
        for setting in SETTINGS:
            controls.choose_beside(setting)
        if values["patch_twin"] == "sentence":
            controls.write(side_by_side.SENTENCE.name, side_by_side.LONGEST)
    for name, (figure, label) in _figures_of(state, values).items():
        on_click = partial(_open_row, state, values) if values["patch_part"] == HEADS else None
        figures.draw(figure, name, file_name(state, "transplant"), on_click, label=label)


def _figures_of(state: SentenceState, values: Values) -> dict[str, tuple[Specification, str]]:
    """The map; nothing without a corrupted run, or if both runs hardly differ."""
    found = _found_for(state, values)
    if not found or not found[0].is_telling:
        return {}
    side = values["patch_side"]
    returned = np.concatenate([each.restored for each in found])
    kind, tokens = (
        ("encoder_attention", state.trace.source_tokens)
        if side == "encoder"
        else ("cross_attention", state.trace.target_tokens)
    )
    tokens = tokens[: returned.shape[1]]
    figure = viz.place_map.specification(
        returned,
        _rows_of(state, values, len(returned)),
        tokens,
        details=np.concatenate([each.patched for each in found]),
        emphasis=[row for row in changed_rows(state.changes, kind, len(tokens)) if row < len(tokens)],
        place_title=say("decided_place"),
        token_title=say(f"patch_token_{side}"),
        value_title=say("patch_returned"),
        detail_title=say("patch_score"),
        theme=state.theme,
    )
    return {"patched": (figure, say("patch_label", side=say(f"patch_side_{side}")))}


def _rows_of(state: SentenceState, values: Values, count: int) -> list[str]:
    """The names of the rows."""
    side, part = values["patch_side"], values["patch_part"]
    if part == HEADS:
        return [head_name(head) for head in _heads(state, side)]
    return places(side, count) if part == RESIDUAL else places(side, count + 1)[1:]


def _heads(state: SentenceState, side: str) -> list[Head]:
    return [Head(kind, *place) for kind in ATTENTIONS[side] for place in np.ndindex(*state.trace.shape(kind))]


def _open_row(state: SentenceState, values: Values, point: dict) -> None:
    """Show the map of the head of a chosen row; an unknown point changes nothing."""
    y = point.get("y")
    heads = _heads(state, values["patch_side"])
    if isinstance(y, int | float) and 0 <= y < len(heads):
        open_head(state, heads[round(y)])


def _describe(state: SentenceState, values: Values) -> str:
    """Where most returns."""
    change = state.asked_change
    if change is None:
        return say("without_none")
    with spinner(say("working_laboratory")):
        found = _found_for(state, values)
    if not found:
        return say(f"patch_no_twin_{values['patch_twin']}", wrong=visible_token(change.wrong))
    twin = found[0].corrupted
    if not found[0].is_telling:
        return say("patch_alike", twin=twin)
    returned = np.concatenate([each.restored for each in found])
    place, position = np.unravel_index(np.nan_to_num(returned, nan=-np.inf).argmax(), returned.shape)
    tokens = state.trace.source_tokens if values["patch_side"] == "encoder" else state.trace.target_tokens
    return say(
        "patch_reading",
        change=change_in_words(change),
        twin=twin,
        place=_rows_of(state, values, len(returned))[int(place)],
        token=visible_token(tokens[int(position)]),
        share=percent(say, float(returned[place, position])) if returned[place, position] <= 1 else "100%",
    )


def _notes(state: SentenceState, values: Values) -> list[str]:
    told = [
        say(f"patch_note_{values['patch_part']}"),
        say("patch_colours"),
        say(f"patch_twin_note_{values['patch_twin']}"),
    ]
    found = _found_for(state, values) if not VIEW.lacks(state) else []
    if found:
        scores = {
            "score": nats(found[0].score),
            "twin_score": nats(found[0].corrupted_score),
            "twin": found[0].corrupted,
        }
        told.append(say("patch_scores", **scores))
    return told


VIEW = declare(
    View(
        "patched",
        "laboratory",
        60,
        _describe,
        _draw,
        SETTINGS,
        _notes,
        idea("patch"),
        has_map=False,
        figures=_figures_of,
        drawn=SETTINGS,
        intervenes=True,
        lacks=needs_activations(declared.activation_patching),
    )
)
