"""Experiment *another token*: alternative continuation after another token at one step."""

import numpy as np
import plotly.graph_objects as go
import streamlit as st

import viz
from engine import questions as declared
from model.analysis.counterfactuals import AlternativeContinuation
from model.analysis.edits import asked_places
from model.text.tokenizer import OUTSIDE, PAD, START
from model.trace.trace import AttentionTrace
from ui import wording
from ui.components import figures
from ui.sentence.state import SentenceState
from ui.shell import address, controls
from ui.shell.settings import Ordinal, Text
from ui.views.drawings import attention_map
from ui.views.view import Click, Figures, Values, View, idea, needs_answer
from ui.wording import say
from viz.labels import probability, visible_token

STEP = Ordinal("fork_step", of="sentence")  # where the roads part; empty: where the change begins
# Written there; empty: the typed token, or the likeliest other one.
TOKEN = Text("fork_token", of="sentence")


def _row_of(state: SentenceState) -> int:
    """The step at which another token is forced, from 0: the chosen one, else where the change in focus or
    the first change begins."""
    length = len(state.trace.target_tokens)
    chosen = controls.place(STEP, length)
    if chosen is not None:
        return chosen
    return min(state.asked_row, length - 1)


def _candidates(state: SentenceState, row: int) -> list[str]:
    """Other tokens for this row: the typed one, then the likeliest ones; not the written one, and nothing
    that the network cannot write."""
    trace = state.trace
    places = (asked_places(each) for each in state.all_changes)
    typed = next((trace.source_tokens[read] for read, written in places if written == row), None)
    found = list(trace.alternatives[row])
    if typed and state.ask(declared.can_write, typed):
        found.insert(0, typed)
    unwritable = {trace.target_tokens[row], OUTSIDE, START, PAD}
    return [each for each in dict.fromkeys(found) if each not in unwritable]


def _candidate_of(state: SentenceState, row: int) -> str | None:
    found = _candidates(state, row)
    wanted = address.get(TOKEN.name)
    return wanted if wanted in found else next(iter(found), None)


def _fork(state: SentenceState) -> tuple[int, str, AlternativeContinuation | None]:
    """(row, candidate, fork); no candidate and no fork where nothing else could be written."""
    row = _row_of(state)
    candidate = _candidate_of(state, row)
    if candidate is None:
        return row, "", None
    return row, candidate, state.ask(declared.alternative_continuation, *state.texts, row, candidate)


def _draw(state: SentenceState, values: Values) -> None:
    """The step and the other token, both branches with their probabilities, and their attention."""
    with st.container(key="fork_choices", horizontal=True, vertical_alignment="bottom", gap="small"):
        row = _row_of(state)
        steps = [str(number + 1) for number in range(len(state.trace.target_tokens))]
        controls.pick(STEP.name, steps, lambda step: step_name(state.trace, int(step) - 1), str(row + 1))
        if found := _candidates(state, row):
            controls.choose(TOKEN.name, found, label_of, otherwise=found[0])
    names = list(_figures_of(state, values))
    VIEW.draw_figures(state, values, *names[:1])
    if len(names) > 1:
        VIEW.draw_beside(state, values)


def _figures_of(state: SentenceState, values: Values) -> Figures:
    """Both branches, and the attention of each; one of them where the other finds no end."""
    row, _, fork = _fork(state)
    if fork is None:
        return {}
    traces = {"observed": fork.observed} | ({"other": fork.other} if fork.other else {})
    branches = viz.token_branches(
        [trace.target_tokens for trace in traces.values()],
        [_probabilities(trace) for trace in traces.values()],
        [say(f"fork_{key}") for key in traces],
        parted=row,
        captions=viz.Captions(titles=(say("fork_step_title"), say("fork_probability")), theme=state.theme),
    )
    maps = {f"fork_map_{key}": (_map(state, each, row), say(f"fork_{key}")) for key, each in traces.items()}
    return {"fork": (branches, say("fork_label"))} | (maps if fork.other else {})


def _probabilities(trace: AttentionTrace) -> list[float]:
    """Of each produced token."""
    assert trace.log_probabilities is not None, "the view needs them"
    return np.exp(trace.log_probabilities).tolist()


def _on_click(state: SentenceState, figure: str) -> Click | None:
    """The other token is written at the step of a chosen cell; an unknown point changes nothing."""

    def choose_step(point: dict) -> None:
        cell = figures.cell_of(point)
        if cell is not None and 0 <= cell[1] < len(state.trace.target_tokens):
            address.put(STEP.name, str(cell[1] + 1))

    return choose_step if figure == "fork" else None


def _map(state: SentenceState, trace: AttentionTrace, row: int) -> go.Figure:
    rows = [] if state.kind == "encoder_attention" else [row]
    return attention_map(state, state.selection.weights(trace), trace.axes(state.kind), rows)


def label_of(token: str) -> str:
    """A token as the label of a button."""
    return wording.plain_markdown(visible_token(token))


def step_name(trace: AttentionTrace, row: int) -> str:
    """A step in a list of all steps."""
    return f"{row + 1}: {visible_token(trace.target_tokens[row])}"


def _describe(state: SentenceState, values: Values) -> str:
    row, candidate, fork = _fork(state)
    if fork is None:
        return say("fork_nothing")
    written = visible_token(state.trace.target_tokens[row])
    if fork.other is None:
        return say("fork_endless", step=row + 1, candidate=visible_token(candidate), written=written)
    return say(
        "fork_reading",
        step=row + 1,
        candidate=visible_token(candidate),
        written=written,
        share=probability(_probabilities(fork.other)[row]),
        text=fork.text,
    )


def _notes(state: SentenceState, values: Values) -> list[str]:
    return [say("fork_note"), say("fork_forced")]


VIEW = View(
    "fork",
    "laboratory",
    40,
    _describe,
    (STEP, TOKEN),
    _notes,
    idea("fork"),
    _draw,
    _figures_of,
    _on_click,
    beside={"fork_map_observed": "kind-observed", "fork_map_other": "kind-instead"},
    intervenes=True,
    lacks=needs_answer(declared.alternative_continuation, "lacks_interventions"),
).declare()
