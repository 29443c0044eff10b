"""``View``: the declaration of a view of one sentence. Each file beside this one declares one, as ``VIEW``."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from model.trace.interventions import Head
from ui.look.lens import Lens
from ui.shell.settings import AnySetting, Choice, Flag, Number, register
from ui.wording import say
from viz.figure import Specification

Values = Mapping[str, Any]  # name of a setting -> its value, as ``Setting.read`` gives it


@dataclass(frozen=True)
class View:
    """A way to look at one sentence.

    ``describe`` is the sentence above the picture, computed from what it shows. ``draw`` shows the picture and
    nothing else, so that it stands at the same place whatever is chosen. ``notes`` are said below it, ``explain``
    shows the idea, the formulas and the sources one click away.
    """

    name: str  # in addresses, and in the text ``view_<name>``
    page: Literal["attention", "laboratory"]
    order: int  # of its tab among those of the page
    describe: Callable[[Lens, Values], str]
    draw: Callable[[Lens, Values], None]
    settings: tuple[AnySetting, ...] = ()  # all that an address may say about it
    notes: Callable[[Lens, Values], list[str]] = lambda lens, values: []
    explain: Callable[[Lens], None] | None = None
    choose: Callable[[Lens], None] | None = None  # controls of its own among the options
    framed: Callable[[Lens], list[tuple[int, int]]] | None = None  # heads to mark among all, see ``marked``
    has_map: bool = True  # whether kind, layer and head decide what it shows
    one_head: Callable[[Lens], Head] | None = (
        None  # the head it shows where a mean is selected; None: it can show a mean
    )
    draws_all: bool = False  # whether it draws a mean as the heads that it is the mean of
    drawn: tuple[AnySetting, ...] = ()  # those of ``settings`` whose controls stand beside the picture
    # For the exported page: each figure with what it shows, in words, by its name.
    figures: Callable[[Lens, Values], Mapping[str, tuple[go.Figure | Specification, str]]] | None = None
    # (L, H, Q, K) values of both signs that the picture of all heads shows; None there: their attention.
    tiles: Callable[[Lens], np.ndarray | None] = lambda lens: None
    # For the exported page: what ``draw`` says in words beside its pictures, in the order of the page.
    paragraphs: Callable[[Lens, Values], list[str]] = lambda lens, values: []
    intervenes: bool = False  # whether it shows what the network would have done if something were changed
    lacks: Callable[[Lens], str | None] = lambda lens: None  # the text that says what it would need

    def marked(self, lens: Lens) -> list[tuple[int, int]] | None:
        """The heads to mark among all; None: those selected."""
        if self.framed:
            return self.framed(lens)
        return None if self.has_map else []

    @property
    def options(self) -> tuple[Choice | Flag | Number, ...]:
        """The settings whose controls follow from their type, one click away."""
        return tuple(
            setting
            for setting in self.settings
            if isinstance(setting, Choice | Flag | Number) and setting not in self.drawn
        )


DECLARED: list[View] = []


def declare(view: View) -> View:
    """Add ``view`` to the tabs of its page, and its settings to the address."""
    DECLARED.append(view)
    register(*view.settings)
    return view


def idea(name: str, *formulas: str) -> Callable[[Lens], None]:
    """The ``explain`` of most views: the text ``<name>_idea``, and below it the formulas with the text ``<name>_formula``."""

    def explain(lens: Lens) -> None:
        st.markdown(say(f"{name}_idea"))
        for formula in formulas:
            st.latex(formula)
        if formulas:
            st.markdown(say(f"{name}_formula"))

    return explain
