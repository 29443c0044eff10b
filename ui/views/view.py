"""``View``: declaration of a view: its needs, settings, drawing, file names, and links.

The links are buttons that lead from one view to another.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from engine import questions as declared
from engine.question import Question
from model.trace.interventions import Head
from ui.components import figures
from ui.sentence.state import SentenceState
from ui.shell import address, controls, header, markup, runs
from ui.shell.settings import AnySetting, Choice, Flag, Number, register
from ui.wording import say
from viz.figure import Specification
from viz.labels import plain_text, visible_token

_RESIDUAL = "lacks_residual"

Need = Callable[[SentenceState], str | None]


def needs_probabilities(state: SentenceState) -> str | None:
    """Needs the probabilities of the produced tokens, and of at least two candidates at each step."""
    rows = state.trace.alternatives
    return (
        "lacks_probabilities"
        if state.trace.log_probabilities is None or not rows or len(rows[0]) < 2
        else None
    )


def needs_changes(state: SentenceState) -> str | None:
    """Needs a model that corrects, cross-attention, and the places of the changes among the tokens."""
    if not state.corrects:
        return "lacks_corrections"
    if "cross_attention" not in state.trace.kinds:
        return "lacks_cross_attention"
    return None if state.places_known else "lacks_places"


def needs_answer(question: Question, text: str) -> Need:
    """Needs a network that answers this question of the engine; ``text`` is the key of the text that says it
    does not."""
    return lambda state: None if state.can(question) else text


def needs_experiment(question: Question) -> Need:
    """Needs a network that answers this question of the laboratory, and the needs of ``needs_changes``."""
    return lambda state: needs_answer(question, "lacks_interventions")(state) or needs_changes(state)


def needs_activations(question: Question) -> Need:
    """Needs a network that answers this question about its activations, and the needs of ``needs_changes``. A
    network may have its residual stream and still not answer, if its tokens are not single characters."""

    def lacks(state: SentenceState) -> str | None:
        if state.trace.kinds == ("decoder_attention",):
            return "lacks_source"
        text = "lacks_characters" if state.can(declared.direct_logit_attribution) else _RESIDUAL
        return needs_answer(question, text)(state) or needs_changes(state)

    return lacks


def missing_text(state: SentenceState, missing: str) -> str:
    """The text about the ``missing`` part; for a visitor's own network also why it has no residual stream."""
    why = getattr(state.corrector.config, "no_stream", "") if missing == _RESIDUAL else ""
    return " ".join([say(missing), *([say(f"no_stream_{why}")] if why else [])])


_LENGTH = 20  # characters of the sentence in a file's name


def file_name(state: SentenceState, what: str = "attention") -> str:
    """A name that every system takes, without ending: 고객님이-cross-layer3-head2."""
    words = "".join(c if c.isalnum() else " " for c in state.sentence.text[:_LENGTH]).split()
    layer = "mean" if state.layer is None else state.layer + 1
    head = "mean" if state.head is None else state.head + 1
    return "-".join([*words, state.kind.removesuffix("_attention"), f"layer{layer}", f"head{head}", what])


def picture_title(state: SentenceState) -> str:
    """The same for people, escaped for a figure."""
    return plain_text(f"{state.sentence.text} · {map_label(state)}")


def map_label(state: SentenceState) -> str:
    """The map that is shown, in words: its kind of attention, its layer and head."""
    return f"{say(f'kind_{state.kind}')} · {state.place}"


Values = Mapping[str, Any]  # name of a setting -> its value, as ``Setting.read`` gives it
Figures = Mapping[str, tuple[go.Figure | Specification, str]]  # name -> figure, description
Click = Callable[[dict[str, Any]], None]  # takes the point that a browser reports; it may be anything


@dataclass(frozen=True)
class View:
    """A way to look at one sentence.

    ``reading`` is the sentence above the picture, computed from what it shows. Below it stand the controls of
    ``drawn`` and the ``figures``, or what ``drawing`` draws, always at the same place. ``notes`` follow,
    ``explain`` shows the idea, the formulas and the sources one click away. ``reading``, ``figures`` and
    ``drawing`` are called only where there is something to show (``message``).
    """

    name: str  # in addresses, and in the text ``view_<name>``
    page: Literal["attention", "laboratory"]
    order: int  # of its tab among those of the page
    reading: Callable[[SentenceState, Values], str]
    settings: tuple[AnySetting, ...] = ()  # all that an address may say about it
    notes: Callable[[SentenceState, Values], list[str]] = lambda state, values: []
    explain: Callable[[SentenceState], None] | None = None
    drawing: Callable[[SentenceState, Values], None] | None = None  # None: all ``figures``
    figures: Callable[[SentenceState, Values], Figures] | None = None  # for the exported page and phones, too
    on_click: Callable[[SentenceState, str], Click | None] = lambda state, figure: None  # by a figure's name
    drawn: tuple[AnySetting, ...] = ()  # those of ``settings`` whose controls are beside the picture
    # The names of the figures that are open now; None: all of them.
    opened: Callable[[SentenceState, Values], Sequence[str]] | None = None
    # Asks for all that the open figures show. A page draws them before it has the last of it, a phone after.
    complete: Callable[[SentenceState, Values], None] = lambda state, values: None
    # Figures that stand side by side -> the style of the description above each.
    beside: Mapping[str, str] = field(default_factory=dict)
    choose: Callable[[SentenceState], None] | None = None  # own controls among the options
    framed: Callable[[SentenceState], list[tuple[int, int]]] | None = None  # heads to mark, see ``marked``
    has_map: bool = True  # whether it depends on kind, layer and head
    one_head: Callable[[SentenceState], Head] | None = None  # the head it shows in place of a mean
    draws_all: bool = False  # whether it draws a mean as the heads that it is the mean of
    # (L, H, Q, K) values of both signs that the picture of all heads shows; None there: their attention.
    tiles: Callable[[SentenceState], np.ndarray | None] = lambda state: None
    # For the exported page: the texts beside its pictures, in the order of the page.
    paragraphs: Callable[[SentenceState, Values], list[str]] = lambda state, values: []
    intervenes: bool = False  # whether it shows an intervention
    lacks: Need = lambda state: None  # the key of the text about a missing part
    unchanged: str = ""  # the key of its text where nothing was changed; empty: it needs no change

    def message(self, state: SentenceState) -> str | None:
        """The text in place of the picture: a part of the network is missing, or nothing was changed."""
        if missing := self.lacks(state):
            return missing_text(state, missing)
        return say(self.unchanged) if self.unchanged and state.asked_change is None else None

    def describe(self, state: SentenceState, values: Values) -> str:
        """The sentence above the picture, behind another one where the network prefers the typed text."""
        message = self.message(state)
        if message is not None:
            return message
        kept = state.kept_by_network
        before = [say("asked_kept", token=visible_token(kept))] if kept is not None else []
        if not self.intervenes:
            return " ".join([*before, self.reading(state, values)])
        with runs.spinner(say("working_laboratory")):
            return " ".join([*before, self.reading(state, values)])

    def draw(self, state: SentenceState, values: Values) -> None:
        """The picture, where there is no ``message``."""
        if self.message(state) is not None:
            return
        if self.drawing is not None:
            self.drawing(state, values)
            return
        if self.drawn:
            self.draw_choices(*(each for each in self.drawn if isinstance(each, Choice)))
        self.draw_figures(state, values)

    def draw_choices(self, *parts: Choice | Callable[[], object]) -> None:
        """A line of controls beside the picture: those of settings, and others that draw themselves."""
        line = partial(st.container, horizontal=True, vertical_alignment="center", gap="small")
        with line(key=f"{self.name}_choices"):
            for part in parts:
                controls.choose_beside(part) if isinstance(part, Choice) else part()

    def draw_figures(self, state: SentenceState, values: Values, *names: str) -> None:
        """The figures of these ``names``; without names all of them."""
        made = self.figures(state, values) if self.figures else {}
        for name in names or made:
            figure, label = made[name]
            figures.draw(
                figure,
                name,
                file_name(state, name.replace("_", "-")),
                self.on_click(state, name),
                label=label,
                title=picture_title(state),
            )

    def draw_beside(self, state: SentenceState, values: Values) -> None:
        """The two figures of ``beside`` side by side, each below its description."""
        made = self.figures(state, values) if self.figures else {}
        names = [name for name in made if name in self.beside]
        for place, name in zip(st.columns(2), names, strict=True):
            with place:
                markup.paragraph(made[name][1], self.beside[name])
                self.draw_figures(state, values, name)

    def marked(self, state: SentenceState) -> list[tuple[int, int]] | None:
        """The heads to mark among all; None: those selected."""
        if self.framed:
            return self.framed(state)
        return None if self.has_map else []

    def declare(self) -> "View":
        """Add the view to the tabs of its page, and its settings to the address. Raises ValueError for a
        setting whose name has another meaning."""
        DECLARED.append(self)
        register(*self.settings)
        return self

    @property
    def options(self) -> tuple[Choice | Flag | Number, ...]:
        """The settings whose controls follow from their type, one click away."""
        return tuple(
            setting
            for setting in self.settings
            if isinstance(setting, Choice | Flag | Number) and setting not in self.drawn
        )


@dataclass(frozen=True)
class Tabs:
    """The views of a page in their order, and the setting that names the open one."""

    views: tuple[View, ...]
    setting: str


DECLARED: list[View] = []


def idea(name: str, *formulas: str) -> Callable[[SentenceState], None]:
    """The ``explain`` of most views: the text ``<name>_idea``, and below it the formulas with the text
    ``<name>_formula``."""

    def explain(state: SentenceState) -> None:
        st.markdown(say(f"{name}_idea"))
        for formula in formulas:
            st.latex(formula)
        if formulas:
            st.markdown(say(f"{name}_formula"))

    return explain


def open_head(state: SentenceState, head: Head) -> None:
    """From a callback: show the map of this head, on the page that has maps."""
    address.put_head(head.layer, head.head, head.kind)
    address.put("view", "heatmap")
    if address.get("shown") == "received":  # bars of all rows, and no map
        address.reset(["shown"])
    if not state.from_file:  # the page of a file has the same views, and no other page has the file
        header.turn_to("attention")


def open_known_head(state: SentenceState, point: dict[str, Any]) -> None:
    """From a callback: show the map of the head of a chosen point; an unknown point changes nothing."""
    if head := figures.known_head(state.trace, point):
        open_head(state, head)


def may_switch_off(state: SentenceState) -> bool:
    """Whether the network can ablate heads for a change."""
    return (
        bool(state.changes) and not state.from_file and needs_experiment(declared.head_effects)(state) is None
    )


def _switch_off(head: Head) -> None:
    """From a callback: turn to the laboratory, where this head alone is off."""
    address.put("switched_off", f"{head.kind}.{head.layer + 1}.{head.head + 1}")
    address.put("experiment", "without")
    header.turn_to("laboratory")


def ask_without(state: SentenceState, head: Head, key: str, text: str = "head_off") -> None:
    """The button that switches ``head`` off. By default its ``text`` is short, for a place beside the button
    that opens the head."""
    if may_switch_off(state):
        st.button(
            say(text),
            key=key,
            help=say("head_off_help"),
            on_click=_switch_off,
            args=(head,),
        )
