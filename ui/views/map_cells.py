"""Computes the cells of the heatmap view: syllables or words, with or without start and end marks, minus a copy or not."""

from dataclasses import dataclass, replace

import numpy as np

from model.analysis.attention_maps import WordAxis, by_word, masked_by_word, word_axes
from model.analysis.edits import MARKS, row_positions
from ui.look.lens import Lens
from viz.labels import SINK

TokenSpans = tuple[tuple[int, int], ...]  # (start, end) among the tokens


@dataclass(frozen=True)
class MapCells:
    """Q rows and K columns, each standing for a span of tokens; the first ones may be left out.

    Before the tokens there may be the column of an attention sink, which stands for none.

    Rows and columns are numbered from ``first``, as in the figure, and by what they stand for.
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
        """The numbers of the row and the column that hold a query and a key token; None where one is hidden."""
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
        return float(self.values[self._index(cell)])

    def is_masked(self, cell: tuple[int, int]) -> bool:
        return self.masked is not None and bool(self.masked[self._index(cell)])

    def labels_of(self, cell: tuple[int, int]) -> tuple[str, str]:
        row, column = self._index(cell)
        return self.queries[row], self.keys[column]

    def largest(self, rows: list[int]) -> tuple[int, int]:
        """The numbers of the cell with the largest value in these rows, or in all where there are none."""
        allowed = np.full(len(self.queries), not rows)
        allowed[[row - self.first[0] for row in rows]] = True
        found = np.where(allowed[:, None], self.values, -np.inf).argmax()
        row, column = np.unravel_index(found, self.values.shape)
        return int(row) + self.first[0], int(column) + self.first[1]

    def _index(self, cell: tuple[int, int]) -> tuple[int, int]:
        return cell[0] - self.first[0], cell[1] - self.first[1]


def cells_of(lens: Lens, *, by_words: bool, without_marks: bool, minus_copy: bool) -> MapCells:
    """What the heatmap shows of ``lens``.

    ``minus_copy`` subtracts 1 where a plain copy would look (``row_positions``); rows of new characters,
    which have no such place, stay as they are. A sentence of marks alone keeps them.
    """
    values = _minus_copy(lens) if minus_copy else lens.weights
    if by_words:
        rows_axis, columns_axis = word_axes(lens.trace, lens.kind)
    else:
        rows_axis, columns_axis = map(_each_token, (lens.queries, lens.keys))
    query_spans, key_spans = rows_axis.words, columns_axis.words
    masked, padded = lens.masked, lens.padded
    if by_words:
        # A row of half precision may sum to a little more than 1.
        values = by_word(values, query_spans, key_spans).clip(-1 if minus_copy else 0, 1).astype(np.float32)
        masked, padded = (
            None if cells is None else masked_by_word(cells, query_spans, key_spans)
            for cells in (masked, padded)
        )
    rows, columns = (
        _without_marks(spans, tokens) if without_marks else slice(0, len(spans))
        for spans, tokens in ((query_spans, lens.queries), (key_spans, lens.keys))
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
    sink = lens.trace.sink(lens.kind)
    return cells if sink is None else _with_sink(cells, lens.selection.mean(sink), rows_axis.words)


def _with_sink(cells: MapCells, sink: np.ndarray, words: TokenSpans) -> MapCells:
    """The same cells, and before them what falls on no token, ``sink`` (T,) of all rows; ``words`` are the spans of all rows."""
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


def _minus_copy(lens: Lens) -> np.ndarray:
    """(Q, K) float32 in -1..1."""
    copy = row_positions(lens.trace, lens.kind, lens.all_changes)
    rows = np.flatnonzero(copy >= 0)
    values = lens.weights.copy()
    values[rows, copy[rows]] -= 1
    return values


def _without_marks(spans: TokenSpans, tokens: tuple[str, ...]) -> slice:
    """Marks stand at the ends of a sentence, so that what is left has no holes."""
    kept = [number for number, (start, _) in enumerate(spans) if tokens[start] not in MARKS]
    return slice(kept[0], kept[-1] + 1) if kept else slice(0, len(spans))
