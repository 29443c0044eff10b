"""The data of one attention heatmap after its checks, and the pixels that it takes."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from viz.figure import TITLE_HEIGHT
from viz.labels import visible_token, width_in_em
from viz.token_axis import CellSize, ColumnTicks, cell_size, column_ticks

# Rounding in float32 and averaging over heads may leave a weight this far outside 0..1.
TOLERANCE = 1e-4

# Pixels below the title: colour scale, legend, the name of the columns; then come their labels.
SCALE_HEIGHT = 40
LEGEND_HEIGHT = 28
NAME_HEIGHT = 30
FOOT = 12
LEAST_LEFT = 40
# The least width of a row's label, in em: that of the end mark, so that the map does not move when the marks are hidden.
LEAST_LABEL = width_in_em("</s>")


@dataclass(frozen=True)
class AttentionInfo:
    """The data of one heatmap, checked. ``emphasis_rows`` and ``selected`` count tokens from 0."""

    weights: np.ndarray  # (Q, K) float32
    query_tokens: tuple[str, ...]  # (Q,)
    key_tokens: tuple[str, ...]  # (K,)
    masked: np.ndarray  # (Q, K) bool
    padded: np.ndarray  # (Q, K) bool; no cell is both
    emphasis_rows: frozenset[int]
    selected: tuple[int, int] | None
    ringed: tuple[int, ...]  # (Q,), or nothing
    first: tuple[int, int]  # (row, column) of the first cell in the whole sentence, from 0
    difference: bool
    colour_max: float

    @cached_property
    def cell(self) -> CellSize:
        return cell_size(len(self.key_tokens), len(self.query_tokens))

    @cached_property
    def columns(self) -> ColumnTicks:
        return column_ticks(self.key_tokens, self.cell)

    @property
    def top(self) -> float:
        """Pixels above the cells."""
        return TITLE_HEIGHT + SCALE_HEIGHT + LEGEND_HEIGHT + NAME_HEIGHT + self.columns.height

    @property
    def left(self) -> float:
        """Pixels left of the cells. Plotly makes room for longer labels itself, and draws a second time for it."""
        return max(LEAST_LEFT, NAME_HEIGHT + self.widest_row * self.cell.font)

    @property
    def height(self) -> float:
        return self.top + max(len(self.query_tokens), 1) * self.cell.height + FOOT

    @property
    def origin(self) -> tuple[int, int]:
        """(y, x) of the first cell in the figure, where positions count from 1."""
        return self.first[0] + 1, self.first[1] + 1

    @property
    def rows_span(self) -> tuple[float, float]:
        """The vertical axis from its lower end to its upper end."""
        start = self.origin[0] - 0.5
        return start + max(len(self.query_tokens), 1), start

    @property
    def columns_span(self) -> tuple[float, float]:
        start = self.origin[1] - 0.5
        return start, start + max(len(self.key_tokens), 1)

    @property
    def widest_row(self) -> float:
        """The width of the widest row label, in em."""
        return max([LEAST_LABEL, *(width_in_em(visible_token(token)) for token in self.query_tokens)])

    @property
    def widest_column(self) -> float:
        """The width of the widest column label, in em."""
        return max((width_in_em(visible_token(token)) for token in self.key_tokens), default=1.0)


def attention_info(
    weights: ArrayLike,
    query_tokens: Sequence[str],
    key_tokens: Sequence[str],
    masked: ArrayLike | None,
    padded: ArrayLike | None,
    emphasis_rows: Sequence[int],
    selected: tuple[int, int] | None,
    ringed: Sequence[int] | None,
    first: tuple[int, int],
    difference: bool,
    colour_max: float | None,
    unbounded: bool,
) -> AttentionInfo:
    """The arguments of ``attention_heatmap`` after their checks; raises the ValueErrors it names."""
    if strange := [token for token in (*query_tokens, *key_tokens) if not isinstance(token, str)]:
        raise ValueError(f"tokens should be texts, received {strange[:3]}")
    limits = (-np.inf, np.inf) if unbounded else (-1 if difference else 0, 1)
    weights = _checked_weights(weights, (len(query_tokens), len(key_tokens)), limits)
    dotted = _cells("padded", padded, weights)
    hatched = _cells("masked", masked, weights) & ~dotted
    if (weights[hatched] != 0).any():
        raise ValueError(
            f"masked cells should hold exactly 0, received {weights[hatched & (weights != 0)][0]}"
        )
    rows, columns = (range(start, start + size) for start, size in zip(first, weights.shape, strict=True))
    if outside := [row for row in emphasis_rows if row not in rows]:
        raise ValueError(f"emphasis_rows should lie in {_ends(rows)}, received {outside}")
    if selected is not None and not (selected[0] in rows and selected[1] in columns):
        raise ValueError(f"selected should lie in {_ends(rows)} and {_ends(columns)}, received {selected}")
    rings = () if ringed is None else tuple(int(key) for key in ringed)
    if rings and (len(rings) != len(rows) or any(key not in columns for key in rings)):
        raise ValueError(f"ringed should have {len(rows)} numbers in {_ends(columns)}, received {rings[:5]}")
    if colour_max is None:
        colour_max = float(np.abs(weights).max(initial=0)) or 1.0
    if not 0 < colour_max < np.inf:
        raise ValueError(f"colour_max should be finite and positive, received {colour_max}")
    return AttentionInfo(
        weights,
        tuple(query_tokens),
        tuple(key_tokens),
        hatched,
        dotted,
        frozenset(emphasis_rows),
        selected,
        rings,
        first,
        difference,
        colour_max,
    )


def _ends(numbers: range) -> str:
    return f"{numbers.start}..{numbers.stop - 1}"


def _checked_weights(weights: ArrayLike, shape: tuple[int, int], limits: tuple[float, float]) -> np.ndarray:
    weights = np.asarray(weights, dtype=np.float32)
    if weights.size == 0 and 0 in shape:
        weights = np.zeros(shape, np.float32)
    if weights.shape != shape:
        raise ValueError(
            f"weights should have the shape (Q, K) = {shape} of the tokens, received {weights.shape}"
        )
    lowest, highest = limits
    if weights.size and not (weights.min() >= lowest - TOLERANCE and weights.max() <= highest + TOLERANCE):
        raise ValueError(
            f"weights should lie in {lowest}..{highest}, received {weights.min()} to {weights.max()}"
        )
    return weights


def _cells(name: str, cells: ArrayLike | None, weights: np.ndarray) -> np.ndarray:
    """(Q, K) bool, all False for None."""
    cells = np.zeros(weights.shape, bool) if cells is None else np.asarray(cells, dtype=bool)
    if cells.size == 0 and weights.size == 0:
        return np.zeros(weights.shape, bool)
    if cells.shape != weights.shape:
        raise ValueError(f"{name} should have the shape of weights {weights.shape}, received {cells.shape}")
    return cells
