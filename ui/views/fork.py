"""Experiment *another token*: alternative continuation after another token at one step."""

from functools import cached_property
from typing import ClassVar

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
from ui.views.view import Click, Figures, View, needs_answer
from ui.wording import say
from viz.labels import probability, visible_token

STEP = Ordinal("fork_step", of="sentence")  # where the roads part; empty: where the change begins
# Written there; empty: the typed token, or the likeliest other one.
TOKEN = Text("fork_token", of="sentence")


def _probabilities(trace: AttentionTrace) -> list[float]:
    """Of each produced token."""
    assert trace.log_probabilities is not None, "the view needs them"
    return np.exp(trace.log_probabilities).tolist()


def label_of(token: str) -> str:
    """A token as the label of a button, escaped for Markdown.

    >>> label_of(" ")
    '␣'
    >>> label_of(":smile:").replace("\\u2060", "")
    '\\\\:smile\\\\:'
    """
    return wording.plain_markdown(visible_token(token))


def step_name(trace: AttentionTrace, row: int) -> str:
    """A step in a list of all steps."""
    return f"{row + 1}: {visible_token(trace.target_tokens[row])}"


class Fork(View):
    """The step and the other token, both branches with their probabilities, and their attention."""

    name, page, order = "fork", "laboratory", 40
    settings = (STEP, TOKEN)
    noted = ("fork_note", "fork_forced")
    beside: ClassVar = {"fork_map_observed": "kind-observed", "fork_map_other": "kind-instead"}
    intervenes = True
    lacks = staticmethod(needs_answer(declared.alternative_continuation, "lacks_interventions"))

    @cached_property
    def row(self) -> int:
        """The step at which another token is forced, from 0: the chosen one, else where the change in focus
        or the first change begins."""
        length = len(self.state.trace.target_tokens)
        chosen = controls.place(STEP, length)
        return min(self.state.asked_row, length - 1) if chosen is None else chosen

    @cached_property
    def candidates(self) -> list[str]:
        """Other tokens for this row: the typed one, then the likeliest ones; not the written one, and nothing
        that the network cannot write."""
        trace = self.state.trace
        places = (asked_places(each) for each in self.state.all_changes)
        typed = next((trace.source_tokens[read] for read, written in places if written == self.row), None)
        found = list(trace.alternatives[self.row])
        if typed and self.state.ask(declared.can_write, typed):
            found.insert(0, typed)
        unwritable = {trace.target_tokens[self.row], OUTSIDE, START, PAD}
        return [each for each in dict.fromkeys(found) if each not in unwritable]

    @cached_property
    def candidate(self) -> str | None:
        wanted = address.get(TOKEN.name)
        return wanted if wanted in self.candidates else next(iter(self.candidates), None)

    @cached_property
    def fork(self) -> AlternativeContinuation | None:
        """None where nothing else could be written."""
        if self.candidate is None:
            return None
        about = *self.state.texts, self.row, self.candidate
        return self.state.ask(declared.alternative_continuation, *about)

    def show(self) -> None:
        trace = self.state.trace
        with st.container(key="fork_choices", horizontal=True, vertical_alignment="bottom", gap="small"):
            steps = [str(number + 1) for number in range(len(trace.target_tokens))]
            controls.pick(STEP.name, steps, lambda step: step_name(trace, int(step) - 1), str(self.row + 1))
            if found := self.candidates:
                controls.choose(TOKEN.name, found, label_of, otherwise=found[0])
        self.draw_figures(*self.opened[:1])
        self.draw_figures(*self.opened[1:])

    @cached_property
    def figures(self) -> Figures:
        """Both branches, and the attention of each; one of them where the other finds no end."""
        if (fork := self.fork) is None:
            return {}
        traces = {"observed": fork.observed} | ({"other": fork.other} if fork.other else {})
        titles = say("fork_step_title"), say("fork_probability")
        branches = viz.token_branches(
            [trace.target_tokens for trace in traces.values()],
            [_probabilities(trace) for trace in traces.values()],
            [say(f"fork_{key}") for key in traces],
            parted=self.row,
            captions=viz.Captions(titles=titles, theme=self.state.theme),
        )
        maps = {f"fork_map_{key}": (self._map(each), say(f"fork_{key}")) for key, each in traces.items()}
        return {"fork": (branches, say("fork_label"))} | (maps if fork.other else {})

    def _map(self, trace: AttentionTrace) -> go.Figure:
        state = self.state
        rows = [] if state.kind == "encoder_attention" else [self.row]
        return attention_map(state, state.selection.weights(trace), trace.axes(state.kind), rows)

    def on_click(self, figure: str) -> Click | None:
        """The other token is written at the step of a chosen cell; an unknown point changes nothing."""

        def put(point: dict) -> None:
            put_step(STEP, self.state, point)

        return put if figure == "fork" else None

    def probabilities(self) -> list[float]:
        other = self.fork and self.fork.other
        return [_probabilities(other)[self.row]] if other else []

    def reading(self) -> str:
        if self.fork is None or self.candidate is None:
            return say("fork_nothing")
        written = visible_token(self.state.trace.target_tokens[self.row])
        about = {"step": self.row + 1, "candidate": visible_token(self.candidate), "written": written}
        if self.fork.other is None:
            return say("fork_endless", **about)
        share = probability(_probabilities(self.fork.other)[self.row])
        return say("fork_reading", **about, share=share, text=self.fork.text)


def put_step(setting: Ordinal, state: SentenceState, point: dict) -> bool:
    """From a callback: choose the step of a cell in a figure with a column for each step. Returns whether
    the point is one."""
    cell = figures.cell_of(point)
    is_step = cell is not None and 0 <= cell[1] < len(state.trace.target_tokens)
    if cell is not None and is_step:
        address.put(setting.name, str(cell[1] + 1))
    return is_step
