"""View *heatmap*: one attention map, by token or word, as a difference, or summed by key."""

import re
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import ClassVar

import numpy as np
import plotly.graph_objects as go

import viz
from model.analysis.attention_maps import WordAxis, by_word, masked_by_word, word_axes
from model.analysis.edits import MARKS, row_positions
from ui import wording
from ui.components import figures
from ui.sentence.state import SentenceState
from ui.shell import address
from ui.shell.settings import Choice, Flag
from ui.views import overview
from ui.views.view import Click, Figures, Part, Values, View, map_label
from ui.wording import say
from viz.browser.texts import map_texts
from viz.figure import Specification
from viz.labels import SINK, decimal, visible_token, weight

TokenSpans = tuple[tuple[int, int], ...]  # (start, end) among the tokens


@dataclass(frozen=True)
class MapCells:
    """Q rows and K columns, each standing for a span of tokens; the first ones may be left out.

    Before the tokens there may be the column of an attention sink, which is no token.

    Rows and columns are numbered from ``first``, as in the figure, and by their tokens.
    """

    values: np.ndarray  # (Q, K) float32: weights in 0..1, or differences in -1..1
    masked: np.ndarray | None  # (Q, K) bool
    padded: np.ndarray | None  # (Q, K) bool
    queries: tuple[str, ...]  # (Q,)
    keys: tuple[str, ...]  # (K,)
    query_spans: TokenSpans  # (Q,)
    key_spans: TokenSpans  # (K,)
    first: tuple[int, int]

    def rows_of(self, tokens: list[int]) -> list[int]:
        """The numbers of the rows that hold any of these query tokens."""
        return [
            number
            for number, (start, end) in enumerate(self.query_spans, self.first[0])
            if any(start <= token < end for token in tokens)
        ]

    def cell_of(self, tokens: tuple[int, int]) -> tuple[int, int] | None:
        """The row and column numbers that hold a query and a key token; None where one is hidden."""
        found = []
        for token, spans, first in zip(tokens, (self.query_spans, self.key_spans), self.first, strict=True):
            found += [n for n, (start, end) in enumerate(spans, first) if start <= token < end]
        return (found[0], found[1]) if len(found) == 2 else None

    def tokens_of(self, cell: tuple[int, int]) -> tuple[int, int]:
        """The first query and the first key token of a cell, given by its numbers."""
        row, column = self._index(cell)
        return self.query_spans[row][0], self.key_spans[column][0]

    def holds(self, cell: tuple[int, int]) -> bool:
        """Whether these are the numbers of a cell."""
        row, column = self._index(cell)
        inside = 0 <= row < len(self.queries) and 0 <= column < len(self.keys)
        return inside and self.key_spans[column][0] < self.key_spans[column][1]

    def value_of(self, cell: tuple[int, int]) -> float:
        """A weight, or a difference: one number of (Q, K)."""
        return float(self.values[self._index(cell)])

    def is_masked(self, cell: tuple[int, int]) -> bool:
        return self.masked is not None and bool(self.masked[self._index(cell)])

    def labels_of(self, cell: tuple[int, int]) -> tuple[str, str]:
        row, column = self._index(cell)
        return self.queries[row], self.keys[column]

    def largest(self, rows: list[int]) -> tuple[int, int]:
        """The numbers of the cell with the largest value in these rows, or in all rows. Values are (Q, K)."""
        allowed = np.full(len(self.queries), not rows)
        allowed[[row - self.first[0] for row in rows]] = True
        found = np.where(allowed[:, None], self.values, -np.inf).argmax()
        row, column = np.unravel_index(found, self.values.shape)
        return int(row) + self.first[0], int(column) + self.first[1]

    def _index(self, cell: tuple[int, int]) -> tuple[int, int]:
        return cell[0] - self.first[0], cell[1] - self.first[1]


def cells_of(state: SentenceState, *, by_words: bool, without_marks: bool, minus_copy: bool) -> MapCells:
    """The cells of the heatmap of ``state``.

    ``minus_copy`` subtracts 1 where a plain copy would look (``row_positions``); rows of new characters,
    which have no such place, stay as they are. A sentence of marks alone keeps them.

    Values are (Q, K).
    """
    values = _minus_copy(state) if minus_copy else state.weights
    if by_words:
        rows_axis, columns_axis = word_axes(state.trace, state.kind)
    else:
        rows_axis, columns_axis = map(_each_token, (state.queries, state.keys))
    query_spans, key_spans = rows_axis.words, columns_axis.words
    masked, padded = state.masked, state.padded
    if by_words:
        # A row of half precision may sum to a little more than 1.
        values = by_word(values, query_spans, key_spans).clip(-1 if minus_copy else 0, 1).astype(np.float32)
        masked, padded = (
            None if cells is None else masked_by_word(cells, query_spans, key_spans)
            for cells in (masked, padded)
        )
    rows, columns = (
        _without_marks(spans, tokens) if without_marks else slice(0, len(spans))
        for spans, tokens in ((query_spans, state.queries), (key_spans, state.keys))
    )
    cells = MapCells(
        np.ascontiguousarray(values[rows, columns]),
        None if masked is None else masked[rows, columns],
        None if padded is None else padded[rows, columns],
        rows_axis.labels[rows],
        columns_axis.labels[columns],
        query_spans[rows],
        key_spans[columns],
        (rows.start, columns.start),
    )
    sink = state.trace.sink(state.kind)
    return cells if sink is None else _with_sink(cells, state.selection.mean(sink), rows_axis.words)


def _with_sink(cells: MapCells, sink: np.ndarray, words: TokenSpans) -> MapCells:
    column = np.array([sink[start:end].mean() for start, end in words], np.float32)
    column = column[cells.first[0] :][: len(cells.queries), None]
    wider = ((0, 0), (1, 0))
    return replace(
        cells,
        values=np.concatenate([column, cells.values], axis=1),
        masked=None if cells.masked is None else np.pad(cells.masked, wider),
        padded=None if cells.padded is None else np.pad(cells.padded, wider),
        keys=(SINK, *cells.keys),
        key_spans=((cells.key_spans[0][0],) * 2, *cells.key_spans),
        first=(cells.first[0], cells.first[1] - 1),
    )


def _each_token(tokens: tuple[str, ...]) -> WordAxis:
    return WordAxis(tuple((place, place + 1) for place in range(len(tokens))), tokens)


def _minus_copy(state: SentenceState) -> np.ndarray:
    """(Q, K) float32 in -1..1."""
    copy = row_positions(state.trace, state.kind, state.all_changes)
    rows = np.flatnonzero(copy >= 0)
    values = state.weights.copy()
    values[rows, copy[rows]] -= 1
    return values


def _without_marks(spans: TokenSpans, tokens: tuple[str, ...]) -> slice:
    kept = [number for number, (start, _) in enumerate(spans) if tokens[start] not in MARKS]
    return slice(kept[0], kept[-1] + 1) if kept else slice(0, len(spans))


SETTINGS = (
    # difference: from a plain copy; received: the mean of each column
    Choice("shown", ("weights", "difference", "received")),
    Choice("unit", ("syllable", "word")),  # of the axes
    Flag("unmarked"),  # <s> and </s> are left out
    Flag("fitted"),  # the strongest colour is the largest weight instead of 1
    Flag("logarithmic"),  # colours follow the logarithm of the weight
)
FORMULA = (
    r"\alpha_{ij} = \frac{\exp(q_i \cdot k_j / \sqrt{d})}{\sum_{m} \exp(q_i \cdot k_m / \sqrt{d})}"
    r"\qquad \Delta_{ij} = \alpha_{ij} - [\, j = \mathrm{copy}(i) \,]"
)


def cells_for(state: SentenceState, values: Values) -> MapCells:
    """The cells (Q, K) that the settings of the view ask for."""
    return cells_of(
        state,
        by_words=values["unit"] == "word",
        without_marks=values["unmarked"],
        minus_copy=values["shown"] == "difference",
    )


def picture(state: SentenceState, values: Values, selected: tuple[int, int] | None = None) -> Specification:
    """The map (Q, K) as Plotly's data; ``selected`` is the (row, column) of a cell."""
    cells = cells_for(state, values)
    minus_copy = values["shown"] == "difference"
    return viz.attention_heatmap.specification(
        cells.values,
        cells.queries,
        cells.keys,
        texts=map_texts(say, state.kind, difference=minus_copy, by_words=values["unit"] == "word"),
        masked=cells.masked,
        padded=cells.padded,
        emphasis_rows=cells.rows_of(state.rows),
        selected=selected,
        first=cells.first,
        extent=state.extent if values["unit"] == "syllable" else None,
        difference=minus_copy,
        logarithmic=values["logarithmic"],
        # Differences from a copy are small; on the scale of whole weights they would be invisible.
        colour_max=None if values["fitted"] or minus_copy else 1.0,
        theme=state.theme,
    )


def cell_in_address() -> tuple[int, int] | None:
    """The (query, key) tokens of the chosen cell, from 0; None where none was chosen."""
    found = re.fullmatch(r"(\d{1,4}),(\d{1,4})", address.get("cell"), re.ASCII)
    return (int(found[1]), int(found[2])) if found else None


def selected_cell(cells: MapCells) -> tuple[int, int] | None:
    """The row and column numbers of the cell that the setting names; None if it is not on this map."""
    cell = cell_in_address()
    return cells.cell_of(cell) if cell else None


def choose_cell(cells: MapCells, point: dict) -> None:
    """Select the cell at a point of the figure; the one that is selected is let go."""
    cell = figures.cell_of(point)
    if cell is None or not cells.holds(cell):
        return
    query, key = cells.tokens_of(cell)
    address.put("cell", "" if selected_cell(cells) == cell else f"{query},{key}")


def _told(cells: MapCells, selected: tuple[int, int], minus_copy: bool) -> str:
    query, key = map(_named, cells.labels_of(selected))
    value = decimal(cells.value_of(selected), 3, signed=minus_copy)
    name = say("heatmap_hover_difference" if minus_copy else "hover_weight")
    told = "heatmap_cell_masked" if cells.is_masked(selected) else "heatmap_cell"
    return say(told, query=query, key=key, value=value, name=name)


def _named(label: str) -> str:
    """A token or a word between quotation marks, blanks visible."""
    return say("heatmap_named", label=visible_token(label))


class Heatmap(View):
    """The map as the settings say, of which a cell can be chosen, or the attention that each key receives."""

    name, page, order = "heatmap", "attention", 10
    settings = SETTINGS
    formulas = (FORMULA,)
    saved_as: ClassVar = {"heatmap": "attention"}

    @cached_property
    def cells(self) -> MapCells:
        return cells_for(self.state, self.values)

    @property
    def received(self) -> bool:
        return self.values["shown"] == "received"

    @property
    def minus_copy(self) -> bool:
        return self.values["shown"] == "difference"

    @cached_property
    def figures(self) -> Figures:
        """The map with its chosen cell, or the attention that each key receives."""
        if self.received:
            return {"received": (_received_bars(self.state), map_label(self.state))}
        chosen = picture(self.state, self.values, selected_cell(self.cells))
        return {"heatmap": (chosen, map_label(self.state))}

    @property
    def exported(self) -> Figures:
        """The map is always in the page."""
        return self.figures if self.received else {}

    def on_click(self, figure: str) -> Click | None:
        return partial(choose_cell, self.cells) if figure == "heatmap" else None

    def parts(self) -> list[Part]:
        ranking = overview.ranking_parts(self.state)
        return [*ranking, *super().parts()]

    def reading(self) -> str:
        """The chosen cell; else where the changes look most, or where a plain copy would not look."""
        state, cells = self.state, self.cells
        if self.received:
            return _received_most(state)
        if selected := selected_cell(cells):
            return _told(cells, selected, self.minus_copy)
        if not self.minus_copy and self.values["unit"] == "syllable":
            return wording.describe_map(state.trace, state.selection, state.changes)
        row, column = cells.largest(cells.rows_of(state.rows))
        query, key = map(_named, cells.labels_of((row, column)))
        amount = weight(cells.value_of((row, column)))
        told = "heatmap_reading_difference" if self.minus_copy else "heatmap_reading_words"
        return say(told, query=query, key=key, amount=amount, place=state.place)

    def notes(self) -> list[str]:
        state, cells = self.state, self.cells
        if self.received:
            masked = [say("received_masked")] if state.masked is not None else []
            return [say("received_note"), *masked]
        tokens = cells.key_spans[-1][1] - cells.key_spans[0][0]
        found = [wording.map_caption(state.kind, state.all_changes, difference=self.minus_copy)]
        found += [say("heatmap_words")] * (self.values["unit"] == "word")
        found += [say("heatmap_unmarked_note")] * (tokens < len(state.keys))
        found += [say("heatmap_logarithmic_note", floor=viz.FAINT)] * self.values["logarithmic"]
        found += [say("sink_note")] * (state.trace.sink(state.kind) is not None)
        return [*found, say("heatmap_click")]


def _received(state: SentenceState) -> np.ndarray:
    """(K,) float32 in 0..1: the mean weight that each key gets from the rows that may look at it."""
    weights, allowed = state.weights[state.read_rows], _allowed(state)
    return (weights.sum(axis=0) / np.maximum(allowed.sum(axis=0), 1)).astype(np.float32)


def _allowed(state: SentenceState) -> np.ndarray:
    """(rows that are no padding, K) bool: which of them may look at which key."""
    everywhere = np.ones(state.weights.shape, bool) if state.masked is None else ~state.masked
    return everywhere[state.read_rows]


def _received_bars(state: SentenceState) -> go.Figure:
    """One bar a key; those that the changes concern are outlined. The bars are (K,)."""
    return viz.attention_bars(
        _received(state)[None],
        state.keys,
        [state.place],
        outlined=state.changed_columns,
        outlined_title=say("received_changed"),
        first=1,
        token_title=say(f"key_{state.kind}"),
        hover=(say("hover_key"), say("received_mean")),
        theme=state.theme,
    )


def _received_most(state: SentenceState) -> str:
    """The key that receives most, beside an even look at all keys."""
    found = _received(state)
    most = int(found.argmax())
    even = float(state.weights[state.read_rows].sum() / max(_allowed(state).sum(), 1))
    return say(
        "received_reading",
        key=visible_token(state.keys[most]),
        position=most + 1,
        weight=weight(found[most]),
        times=f"{found[most] / even:.1f}",
        place=state.place,
    )
