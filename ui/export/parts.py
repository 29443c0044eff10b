"""The pictures of one view, made without a session: what only the session knows comes in ``Choices``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import plotly.graph_objects as go

import viz
from ui import reading, toolbar
from ui.components import lines, steps
from ui.export.document import Component
from ui.views import heatmap as full_size
from ui.views.lines import changed_columns
from ui.views.map_cells import MapCells

if TYPE_CHECKING:
    from ui.lens import Lens
    from ui.reading import Say

Head = tuple[int | None, int | None]  # layer and head from 0; None is the mean


@dataclass(frozen=True)
class Choices:
    """The settings of the view that a lens lacks."""

    language: str
    address: str  # opens the view in the app
    cells: MapCells  # what the heatmap shows
    selected: tuple[int, int] | None = None  # the numbers of its chosen cell
    minus_copy: bool = False  # as ``cells`` was made
    fitted: bool = False
    logarithmic: bool = False
    heads: tuple[Head, ...] = ((None, None),)  # drawn as lines
    mass: float = 0.6  # share of each row, in 0..1, that its lines carry
    step: int = 1  # of decoding, counted from 1


def heatmap(lens: Lens, say: Say, choices: Choices) -> go.Figure:
    """The lens's map at full size, in the light in which the view shows it."""
    return full_size.figure(
        lens,
        choices.cells,
        choices.selected,
        minus_copy=choices.minus_copy,
        fitted=choices.fitted,
        logarithmic=choices.logarithmic,
        say=say,
    )


def overview(lens: Lens, say: Say, kind: str) -> go.Figure:
    """All heads of all layers of ``kind``."""
    return viz.head_grid(
        lens.trace.attention(kind),
        layer_title=say("layer_label"),
        head_title=say("head_label"),
        weight_title=say("hover_weight"),
        masked=reading.look_ahead_mask(lens.trace, kind),
        theme=lens.theme,
    )


def place(lens: Lens, say: Say, head: Head | None = None) -> str:
    """The words for the lens's layer and head, or for another head."""
    layer, head = (lens.layer, lens.head) if head is None else head
    return reading.place(say, lens.trace, layer, head)


def moving(lens: Lens, say: Say, choices: Choices) -> tuple[Component, ...]:
    """The pictures that answer to a finger: lines, and decoding step by step."""
    return (
        Component(
            "lines", lines.SCRIPT, _lines(lens, say, choices), '<div class="lines"></div>', lines.STYLE
        ),
        Component(
            "steps", steps.SCRIPT, _steps(lens, say, choices), '<div class="steps"></div>', steps.STYLE
        ),
    )


def for_the_toolbars(lens: Lens, say: Say) -> Component:
    """What lets every figure be saved as PNG and SVG."""
    return Component("toolbar", toolbar.SCRIPT.read_text("utf-8"), toolbar.toolbar_data(say, lens.theme))


def _lines(lens: Lens, say: Say, choices: Choices) -> dict:
    named = []
    for head in choices.heads:
        weights = lens.weights if head == (None, None) else lens.trace.attention(lens.kind)[head]
        named.append((place(lens, say, head), weights))
    data = lines.lines_data(
        say,
        lens.trace,
        lens.kind,
        named,
        mass=choices.mass,
        label=say(f"kind_{lens.kind}"),
        changed=(lens.rows, changed_columns(lens)),
        isolated=lens.rows if lens.change else (),
        theme=lens.theme,
    )
    return _without_font_file(data)


def _steps(lens: Lens, say: Say, choices: Choices) -> dict:
    data = steps.steps_data(
        say,
        lens.trace,
        lens.sentence.changes,
        layer=lens.layer,
        head=lens.head,
        place=place(lens, say),
        step=choices.step,
        chosen=lens.change,
        theme=lens.theme,
    )
    return _without_font_file(data)


def _without_font_file(data: dict) -> dict:
    """A file fetches nothing: the pictures that it saves are drawn with the fonts of the system."""
    return data | {"picture": data["picture"] | {"font_file": None}}
