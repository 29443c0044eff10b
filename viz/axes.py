"""Axes with tokens or row names as ticks, and the pixels that their labels need."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from math import ceil
from typing import Any, NamedTuple

from viz.figure import TITLE_HEIGHT, Captions, base_axis, base_layout
from viz.labels import plain_text, token_label, visible_token, width_in_em
from viz.theme import palette

# Pixels of all cells in a figure as wide as a text column; the browser may give more or less.
DESIGN_WIDTH = 600
LARGEST_CELL = 36
SMALLEST_SQUARE_CELL = 12
SMALLEST_FONT, LARGEST_FONT = 9, 13
MOST_STEPS = 4
# More rows would make a picture too high for any window; they share out a fixed height instead.
MOST_LABELLED_ROWS = 132
HEIGHT_OF_MANY_ROWS = 720


@dataclass(frozen=True)
class CellSize:
    """Pixels of one heatmap cell at the design width. Beyond 50 columns only the columns get narrower, up to
    MOST_LABELLED_ROWS rows.
    """

    width: float
    height: float
    square: bool
    font: int


def named_axis(
    theme: str, title: str, names: Iterable[str], places: Iterable[float] | None = None, **parts: Any
) -> dict:
    """An axis without a grid with escaped ``names`` at its ``places``, which are 0, 1, 2 … by default.

    Example:
        >>> named_axis("light", "Layer", ["1", "2"])["tickvals"]
        [0, 1]
    """
    texts = list(names)
    at = list(range(len(texts))) if places is None else list(places)
    return base_axis(theme, title, tickmode="array", tickvals=at, ticktext=texts, showgrid=False, **parts)


def cell_size(columns: int, rows: int = 1) -> CellSize:
    """The cell in pixels for so many columns and rows: square while a square one can hold a label.

    Example:
        >>> cell_size(10).width, cell_size(100).square
        (36, False)
    """
    width = min(LARGEST_CELL, DESIGN_WIDTH / max(columns, 1))
    square = width >= SMALLEST_SQUARE_CELL and rows <= MOST_LABELLED_ROWS
    height = width if square else SMALLEST_SQUARE_CELL
    if rows > MOST_LABELLED_ROWS:
        height = HEIGHT_OF_MANY_ROWS / rows
    font = round(min(LARGEST_FONT, max(SMALLEST_FONT, 0.72 * height)))
    return CellSize(width, height, square, font)


@dataclass(frozen=True)
class ColumnTicks:
    """The labels of columns and the pixels they need. Each has a step; step 0 is next to the columns."""

    positions: tuple[int, ...]
    labels: tuple[str, ...]
    steps: tuple[int, ...]
    angle: int
    height: float
    font: int
    count: int  # of all columns

    def above(self) -> list[str]:
        """As ticks above the columns. Labels hang from the top of their box, so a line break behind one lifts
        it.
        """
        return [label + "<br> " * step for label, step in zip(self.labels, self.steps, strict=True)]

    def axis(self, theme: str, title: str, texts: list[str], first: int = 0, **parts: Any) -> dict:
        """An axis with these ticks, written as ``texts``; the first column lies at ``first``."""
        places = [position + first for position in self.positions]
        style = {"tickangle": self.angle, "tickfont": {"size": self.font}}
        return named_axis(theme, title, texts, places, **style, **parts)

    def below(self, bold: Collection[int] = ()) -> list[str]:
        """As ticks below the columns; those of the columns ``bold`` are emphasised."""
        return [
            " <br>" * step + (f"<b>{label}</b>" if position in bold else label)
            for position, label, step in zip(self.positions, self.labels, self.steps, strict=True)
        ]


def column_ticks(tokens: Sequence[str], cell: CellSize) -> ColumnTicks:
    """The labels of all columns and their height in pixels: upright if they fit, on several steps if they are
    crowded, turned if they are long.

    Columns lose their labels only if four steps do not suffice, that is beyond about 200 columns.
    """
    labels = tuple(token_label(token) for token in tokens)
    ticks = partial(ColumnTicks, font=cell.font, count=len(tokens))
    widths = sorted((width_in_em(visible_token(token)) for token in tokens), reverse=True)
    # Start and end mark are long in every sentence, and have free room beside them.
    if len(widths) > 2 and widths[2] > 2.2 and widths[2] * cell.font > cell.width:
        return ticks(tuple(range(len(tokens))), labels, (0,) * len(labels), -90, widths[0] * cell.font)
    steps = ceil(1.15 * cell.font / cell.width)
    every = ceil(steps / MOST_STEPS)
    positions, labels, steps = tuple(range(len(tokens))[::every]), labels[::every], min(steps, MOST_STEPS)
    lifted = tuple(index % steps for index in range(len(labels)))
    return ticks(positions, labels, lifted, 0, 1.3 * cell.font * steps)


def row_ticks(tokens: Sequence[str], cell: CellSize, always: Collection[int] = ()) -> tuple[int, ...]:
    """The rows that get a label: all if they fit, otherwise some at equal distances and those of ``always``.

    Example:
        >>> row_ticks(["가"] * 3, cell_size(3, 3))
        (0, 1, 2)
    """
    step = ceil(1.2 * cell.font / cell.height)
    if step == 1 or cell.height >= SMALLEST_SQUARE_CELL:
        return tuple(range(len(tokens)))
    spaced = (row for row in range(0, len(tokens), step) if all(abs(row - kept) >= step for kept in always))
    return tuple(sorted({*spaced, *always}))


_EM = 13  # pixels, of the names


class RowSizes(NamedTuple):
    """The sizes of named rows in pixels."""

    row: int
    least: int  # of a row where the window is low
    foot: int  # below the rows


def row_layout(
    names: Sequence[str],
    span: tuple[float, float],
    sizes: RowSizes,
    captions: Captions,
    ticks: Sequence[str] | None = None,
) -> dict:
    """The layout of named rows, its sizes in pixels. ``span``: of the values, which have one title.
    ``ticks``: the names as HTML, if they are to look different from ``names``.
    """
    theme = captions.theme
    height = TITLE_HEIGHT + len(names) * sizes.row + sizes.foot
    widest = max(map(width_in_em, names), default=1.0)
    return base_layout(theme, captions.title, height) | {
        "xaxis": base_axis(
            theme,
            captions.titles[0],
            range=list(span),
            zeroline=True,
            zerolinecolor=palette(theme).quiet_text,
            fixedrange=True,
        ),
        "yaxis": named_axis(
            theme,
            "",
            map(plain_text, names) if ticks is None else ticks,
            range=[len(names) - 0.4, -0.6],
            fixedrange=True,
        ),
        "margin": {"t": TITLE_HEIGHT, "l": 20 + _EM * widest, "r": 12, "b": sizes.foot},
        "meta": {"fit": "fill", "least": TITLE_HEIGHT + len(names) * sizes.least + sizes.foot, "across": 1},
    }
