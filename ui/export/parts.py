"""Makes the pictures of one view for a file. It runs outside of a session, so what it needs of the address is in ``Choices``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import plotly.graph_objects as go

import viz
from model.trace.trace import LayerHeads, Selection
from ui.views import heatmap as full_size
from ui.views import needs
from ui.views.naming import file_name
from ui.views.received import changed_columns
from viz.browser.document import Component, without_font_file
from viz.browser.explore import EXPLORE
from viz.browser.explore_data import explorer_data
from viz.browser.lines import LINES, lines_data
from viz.browser.plot import PLOT, plot_data
from viz.browser.steps import STEPS, steps_data
from viz.figure import Specification

if TYPE_CHECKING:
    from ui.look.lens import Lens
    from ui.views.view import Values
    from viz.browser.texts import Say

MOST_WEIGHTS = 16_000_000  # a byte each in the overview; with more, only the shown kind is in it


@dataclass(frozen=True)
class Experiment:
    """What an experiment of the laboratory showed on the page."""

    title: str
    told: tuple[str, ...]  # what it says, then the notes
    figures: Mapping[str, tuple[go.Figure | Specification, str]]  # by name, with what each shows in words
    intervenes: bool  # whether something was changed in a pass; else passes were only observed


@dataclass(frozen=True)
class Choices:
    """The settings of the view that are not part of a lens."""

    language: str
    address: str  # opens the view in the app
    values: Mapping[str, Values]  # of each view's settings, by the view's name
    selected: tuple[int, int] | None = None  # the numbers of the heatmap's chosen cell
    heads: tuple[LayerHeads, ...] = ((None, None),)  # drawn as lines
    step: int = 1  # of decoding, counted from 1
    experiment: Experiment | None = None


def heatmap(lens: Lens, say: Say, choices: Choices) -> Specification:
    """The lens's map with the settings of the heatmap view."""
    return full_size.picture(lens, choices.values["heatmap"], choices.selected, say)


def heatmap_part(lens: Lens, say: Say, choices: Choices) -> Component:
    label = f"{say(f'kind_{lens.kind}')} · {place(lens, say)}"
    return drawn("heatmap", heatmap(lens, say, choices), say, label=label, theme=lens.theme)


def overviews(lens: Lens, say: Say) -> dict[str, Component]:
    """All heads, one picture for each kind. Empty if the network has a single head."""
    trace = lens.trace
    if trace.num_layers * trace.num_heads == 1:
        return {}
    everything = sum(trace.attention(kind).size for kind in trace.kinds) <= MOST_WEIGHTS
    return {
        kind: drawn(
            f"overview-{kind}", overview(lens, say, kind), say, label=say(f"kind_{kind}"), theme=lens.theme
        )
        for kind in (trace.kinds if everything else (lens.kind,))
    }


def explorer(lens: Lens, say: Say) -> Component | None:
    """Every head to open, one at a time. None where there is one alone, or too many weights for a file."""
    trace = lens.trace
    weights = sum(trace.attention(kind).size for kind in trace.kinds)
    if trace.num_layers * trace.num_heads == 1 or weights > MOST_WEIGHTS:
        return None
    return Component("explorer", EXPLORE, {"name": ""} | explorer_data(say, trace, lens.theme))


def experiment_parts(lens: Lens, say: Say, choices: Choices) -> tuple[Component, ...]:
    found = choices.experiment.figures if choices.experiment else {}
    return tuple(
        drawn(name, figure, say, label=label, theme=lens.theme) for name, (figure, label) in found.items()
    )


def overview(lens: Lens, say: Say, kind: str) -> Specification:
    """All heads of all layers of ``kind``."""
    return viz.head_grid.specification(
        lens.trace.attention(kind),
        layer_title=say("layer_label"),
        head_title=say("head_label"),
        weight_title=say("hover_weight"),
        masked=lens.trace.masked(kind),
        theme=lens.theme,
    )


def place(lens: Lens, say: Say, head: LayerHeads | None = None) -> str:
    """The words for the lens's layer and head, or for another head."""
    selection = lens.selection if head is None else Selection(lens.kind, *head)
    return selection.label(say, lens.trace)


def moving(lens: Lens, say: Say, choices: Choices) -> tuple[Component, ...]:
    """The pictures that react to the pointer: lines, and the replay of decoding if the trace has what it needs."""
    found = [Component("lines", LINES, _lines(lens, say, choices))]
    if not needs.probabilities(lens):
        found.append(Component("steps", STEPS, _steps(lens, say, choices)))
    return tuple(found)


def drawn(name: str, figure: go.Figure | Specification, say: Say, *, label: str, theme: str) -> Component:
    """A figure as the component by which the app draws it, too."""
    return Component(name, PLOT, plot_data(say, figure, label=label, file=name, theme=theme))


def _lines(lens: Lens, say: Say, choices: Choices) -> dict:
    named = []
    for head in choices.heads:
        named.append((place(lens, say, head), Selection(lens.kind, *head).weights(lens.trace)))
    data = lines_data(
        say,
        lens.trace,
        lens.kind,
        named,
        mass=choices.values["lines"]["mass"] / 100,
        label=say(f"kind_{lens.kind}"),
        changed=(lens.rows, changed_columns(lens)),
        isolated=lens.rows if lens.focus else (),
        file=file_name(lens, "lines"),
        theme=lens.theme,
    )
    return without_font_file(data)


def _steps(lens: Lens, say: Say, choices: Choices) -> dict:
    data = steps_data(
        say,
        lens.trace,
        lens.all_changes,
        weights=partial(lens.selection.weights, lens.trace),
        place=place(lens, say),
        step=choices.step,
        chosen=lens.focus,
        file=file_name(lens, "steps"),
        theme=lens.theme,
    )
    return without_font_file(data)
