"""View: the declaration of a view of one sentence; its needs, the names of its files, and buttons that lead from one view to another."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from engine import questions as declared
from model.trace.interventions import Head
from ui.sentence.state import Lens
from ui.shell import address, header
from ui.shell.settings import AnySetting, Choice, Flag, Number, register
from ui.wording import say
from viz.figure import Specification
from viz.labels import plain_text

_RESIDUAL = "lacks_residual"

Need = Callable[[Lens], str | None]


def needs_probabilities(lens: Lens) -> str | None:
    """Needs the probabilities of what was produced, and of at least two candidates at each step."""
    rows = lens.trace.alternatives
    return (
        "lacks_probabilities"
        if lens.trace.log_probabilities is None or not rows or len(rows[0]) < 2
        else None
    )


def needs_changes(lens: Lens) -> str | None:
    """Needs a model that corrects, cross-attention, and the places of the changes among the tokens."""
    if not lens.corrects:
        return "lacks_corrections"
    if "cross_attention" not in lens.trace.kinds:
        return "lacks_cross_attention"
    return None if lens.places_known else "lacks_places"


def needs_answer(question: declared.Question, text: str) -> Need:
    """Needs a network that answers this question of the engine; ``text`` is the key of the text that says it does not."""
    return lambda lens: None if lens.can(question) else text


def needs_experiment(question: declared.Question) -> Need:
    """Needs a network that answers this question of the laboratory, and what ``needs_changes`` needs."""
    return lambda lens: needs_answer(question, "lacks_interventions")(lens) or needs_changes(lens)


def needs_activations(question: declared.Question) -> Need:
    """Needs a network that answers this question about the inside of its passes, and what ``needs_changes`` needs. A network may hand out its
    residual stream and still not answer, if its tokens are not single characters."""

    def lacks(lens: Lens) -> str | None:
        text = "lacks_characters" if lens.can(declared.direct_logit_attribution) else _RESIDUAL
        return needs_answer(question, text)(lens) or needs_changes(lens)

    return lacks


def missing_text(lens: Lens, missing: str) -> str:
    """The text that says what is ``missing``; for a visitor's own network also why it has no residual stream."""
    why = getattr(lens.corrector.config, "no_stream", "") if missing == _RESIDUAL else ""
    return " ".join([say(missing), *([say(f"no_stream_{why}")] if why else [])])


_LENGTH = 20  # characters of the sentence in a file's name


def file_name(lens: Lens, what: str = "attention") -> str:
    """A name that every system takes, without ending: 고객님이-cross-layer3-head2."""
    words = "".join(c if c.isalnum() else " " for c in lens.sentence.text[:_LENGTH]).split()
    layer = "mean" if lens.layer is None else lens.layer + 1
    head = "mean" if lens.head is None else lens.head + 1
    return "-".join([*words, lens.kind.removesuffix("_attention"), f"layer{layer}", f"head{head}", what])


def picture_title(lens: Lens) -> str:
    """The same for people, escaped for a figure."""
    return plain_text(f"{lens.sentence.text} · {say(f'kind_{lens.kind}')} · {lens.place}")


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


def open_head(lens: Lens, head: Head) -> None:
    """From a callback: show the map of this head, on the page that has maps."""
    address.put_head(head.layer, head.head, head.kind)
    address.put("view", "heatmap")
    if not lens.from_file:  # the page of a file has the same views, and no other page has the file
        header.turn_to("attention")


def may_switch_off(lens: Lens) -> bool:
    """Whether the network can be asked what becomes of a change without a head."""
    return bool(lens.changes) and not lens.from_file and needs_experiment(declared.head_effects)(lens) is None


def switch_off(head: Head) -> None:
    """From a callback: turn to the laboratory, where this head alone is off."""
    address.put("switched_off", f"{head.kind}.{head.layer + 1}.{head.head + 1}")
    address.put("experiment", "without")
    header.turn_to("laboratory")


def ask_without(lens: Lens, head: Head, key: str, text: str = "head_off") -> None:
    """The button that switches ``head`` off. By default its ``text`` is short: it stands beside the one that opens the head."""
    if may_switch_off(lens):
        st.button(
            say(text),
            key=key,
            help=say("head_off_help"),
            on_click=switch_off,
            args=(head,),
        )
