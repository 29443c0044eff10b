"""``View``: base class of the views of one sentence; their needs, file names, and buttons between them."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any, ClassVar, Literal

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from engine import questions as declared
from engine.question import Question
from model.trace.interventions import Head
from model.trace.trace import LayerHead
from ui.components import figures
from ui.sentence.state import SentenceState
from ui.shell import address, controls, header, markup, runs
from ui.shell.settings import AnySetting, Choice, Flag, Number, register
from ui.wording import say
from viz.browser.plot import plot_data
from viz.figure import Specification
from viz.labels import plain_text, visible_token

_RESIDUAL = "lacks_residual"

# Returns the key of the text about a missing part of the network or the sentence; None: nothing is missing.
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
    """Needs a network that answers this question of the engine.

    ``text``: the key of the text for a network that does not.
    """
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
    """The title of a saved picture: the sentence and its map, escaped for Plotly."""
    return plain_text(f"{state.sentence.text} · {map_label(state)}")


def map_label(state: SentenceState) -> str:
    """The map that is shown, in words: its kind of attention, its layer and head."""
    return f"{say(f'kind_{state.kind}')} · {state.place}"


Values = Mapping[str, Any]  # name of a setting -> its value, as ``Setting.read`` gives it
Figures = Mapping[str, tuple[go.Figure | Specification, str]]  # name -> figure, description
Click = Callable[[dict[str, Any]], None]  # takes the point that a browser reports; it may be anything
Part = tuple[str, dict]  # a component by its name, and its data

DECLARED: list[type["View"]] = []


class View:
    """A way to show one sentence. A subclass declares it, an instance shows one sentence state.

    ``reading`` is the sentence above the picture, computed from what it shows. Below it stand the controls of
    ``choices`` and the figures that are ``opened``, always at the same place. ``notes`` follow, ``explain``
    shows the idea, the formulas and the sources one click away. ``reading``, ``figures`` and ``show`` are
    called only where there is something to show (``message``).
    """

    name: ClassVar[str]  # in addresses, and in the text ``view_<name>``
    page: ClassVar[Literal["attention", "laboratory"]]
    order: ClassVar[int]  # of its tab among those of the page
    idea: ClassVar[str] = ""  # begins the keys of the texts about its idea; empty: the name
    formulas: ClassVar[tuple[str, ...]] = ()
    settings: ClassVar[tuple[AnySetting, ...]] = ()  # all that an address may say about it
    drawn: ClassVar[tuple[AnySetting, ...]] = ()  # those whose controls are beside the picture
    options: ClassVar[tuple[Choice | Flag | Number, ...]] = ()  # those whose controls are one click away
    noted: ClassVar[tuple[str, ...]] = ()  # the keys of its notes
    # Figures that stand side by side -> the style of the description above each.
    beside: ClassVar[Mapping[str, str]] = MappingProxyType({})
    saved_as: ClassVar[Mapping[str, str]] = MappingProxyType({})  # figures whose files have another name
    has_map: ClassVar[bool] = True  # whether it depends on kind, layer and head
    one_head: ClassVar["staticmethod[[SentenceState], Head] | None"] = None  # the head in place of a mean
    draws_all: ClassVar[bool] = False  # whether it draws each head in place of their mean
    intervenes: ClassVar[bool] = False  # whether it shows an intervention
    # The key of the text about a missing part.
    lacks: ClassVar["staticmethod[[SentenceState], str | None]"] = staticmethod(lambda state: None)
    unchanged: ClassVar[str] = ""  # the key of its text where nothing was changed; empty: it needs no change

    def __init_subclass__(cls) -> None:
        """Add the view to the tabs of its page, and its settings to the address. Raises ValueError for a
        setting whose name has another meaning."""
        cls.options = tuple(
            setting
            for setting in cls.settings
            if isinstance(setting, Choice | Flag | Number) and setting not in cls.drawn
        )
        DECLARED.append(cls)
        register(*cls.settings)

    def __init__(self, state: SentenceState, values: Values | None = None):
        """``values`` of the settings; by default those of the address."""
        self.state = state
        self.values: Values = controls.values(self.settings) if values is None else values

    def reading(self) -> str:
        """The sentence about the picture. Raises EngineError where an answer that it needs does not come."""
        raise NotImplementedError

    @cached_property
    def figures(self) -> Figures:
        """All its figures, also for the exported page and phones."""
        return {}

    @property
    def exported(self) -> Figures:
        """The figures of the exported page."""
        return self.figures

    @property
    def opened(self) -> Sequence[str]:
        """The names of the figures that are open now."""
        return tuple(self.figures)

    def choices(self) -> Sequence[Choice | Callable[[], object]]:
        """The line of controls beside the picture: those of settings, and others that draw themselves."""
        return [each for each in self.drawn if isinstance(each, Choice)]

    def choose(self) -> None:
        """Draw further controls among the options."""

    def on_click(self, figure: str) -> Click | None:
        """The answer to a press in the figure of this name."""
        return None

    def notes(self) -> list[str]:
        """How to read the picture."""
        return [say(key) for key in self.noted]

    def paragraphs(self) -> list[str]:
        """For phones and the exported page: the texts beside the pictures, in the order of the page."""
        return []

    def complete(self) -> None:
        """Ask for all that the open figures show. A page draws them before the last answer has come, a phone
        after it. Raises EngineError without an answer."""

    def marked(self) -> list[LayerHead] | None:
        """The heads to mark among all; None: those selected."""
        return None if self.has_map else []

    def tiles(self) -> np.ndarray | None:
        """Signed values (L, H, Q, K) for the picture of all heads; None: it shows their attention."""
        return None

    @cached_property
    def message(self) -> str | None:
        """The text in place of the picture: a part of the network is missing, or nothing was changed."""
        if missing := self.lacks(self.state):
            return missing_text(self.state, missing)
        return say(self.unchanged) if self.unchanged and self.state.asked_change is None else None

    def describe(self) -> str:
        """The text above the picture: ``reading``, and before it a sentence if the network prefers the typed
        character. Raises EngineError as ``reading`` does."""
        if self.message is not None:
            return self.message
        kept = self.state.kept_by_network
        before = [say("asked_kept", token=visible_token(kept))] if kept is not None else []
        with runs.spinner(say("working_laboratory")) if self.intervenes else nullcontext():
            return " ".join([*before, self.reading()])

    def probabilities(self) -> Sequence[float]:
        """The probabilities in ``reading``. The log odds behind extreme ones are explained below the
        picture."""
        return ()

    def reading_of_class(self) -> str:
        """The sentence above the picture on a phone."""
        return self.describe()

    def draw(self) -> None:
        """The picture, where there is no ``message``."""
        if self.message is None:
            self.show()

    def show(self) -> None:
        """The controls beside the picture, and the open figures."""
        if parts := self.choices():
            self.draw_choices(*parts)
        self.draw_figures(*self.opened)

    def draw_choices(self, *parts: Choice | Callable[[], object]) -> None:
        """One line of these ``parts``. Raises KeyError for an unregistered setting."""
        with controls.line(key=f"{self.name}_choices"):
            for part in parts:
                controls.choose_beside(part) if isinstance(part, Choice) else part()

    def draw_figures(self, *names: str) -> None:
        """The figures of these ``names``; those of ``beside`` side by side, each below its description.
        Raises KeyError for a name that ``figures`` has not."""
        if not names or not self.beside.keys() >= set(names):
            for name in names:
                self.draw_figure(name)
            return
        for place, name in zip(st.columns(2), names, strict=True):
            with place:
                markup.paragraph(self.figures[name][1], self.beside[name])
                self.draw_figure(name)

    def draw_figure(self, name: str) -> None:
        """The figure of this ``name``, by which its file is called. Raises KeyError if ``figures`` has
        none."""
        figure, label = self.figures[name]
        file = file_name(self.state, self.saved_as.get(name, name.replace("_", "-")))
        title = picture_title(self.state)
        figures.draw(figure, name, file, self.on_click(name), label=label, title=title)

    def parts(self) -> list[Part]:
        """Everything that a phone shows of the picture."""
        self.complete()
        found: list[Part] = []
        for name in self.opened:
            figure, label = self.figures[name]
            if name in self.beside:
                found.append(("described", {"text": label, "kind": self.beside[name]}))
            found.append(plot_part(self.state, name, figure, label))
        return found

    def explain(self) -> None:
        """The text ``<idea>_idea``, and below it the formulas with the text ``<idea>_formula``. Raises
        KeyError where a language has no such text."""
        idea = self.idea or self.name
        st.markdown(say(f"{idea}_idea"))
        for formula in self.formulas:
            st.latex(formula)
        if self.formulas:
            st.markdown(say(f"{idea}_formula"))


def plot_part(state: SentenceState, name: str, figure: go.Figure | Specification, label: str) -> Part:
    """A figure on a phone; its saved picture is called ``name``."""
    about = {"label": label, "file": file_name(state, name), "title": picture_title(state)}
    return "plot", plot_data(say, figure, **about, theme=state.theme)


@dataclass(frozen=True)
class Tabs:
    """The views of a page in their order, and the setting that names the open one."""

    views: tuple[type[View], ...]
    setting: str


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
        controls.button(say(text), key, _switch_off, head, help=say("head_off_help"))
