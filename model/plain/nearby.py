"""A feed-forward network for many variations of one row. Only the units that may open are computed.

With ReLU a unit below zero puts out nothing (Nair & Hinton 2010). In a trained network these are mostly nine units of ten. A
variation at the distance r from the row changes what enters a unit by at most r times the length of the unit's weights (Cauchy and
Schwarz). So it is known of many units that they stay closed. They are left out, and the result is the same but for rounding.

N variations, D d_model, F feed-forward width.
"""

from typing import NamedTuple

import numpy as np

_MARGIN = 1e-3  # more than what rounding may add


class Units(NamedTuple):
    """The weights of a feed-forward network, by its units.

    >>> units = Units.of(np.eye(2), np.zeros(2), np.eye(2), np.zeros(2))
    >>> row = np.array([1.0, -9.0])
    >>> units.near(row, units.entered(row), np.array([[2.0, -9.0], [1.0, -8.5]])).tolist()
    [[2.0, 0.0], [1.0, 0.0]]
    """

    entering: np.ndarray  # (F, D)
    thresholds: np.ndarray  # (F,)
    leaving: np.ndarray  # (F, D)
    bias: np.ndarray  # (D,)
    lengths: np.ndarray  # (F,) of ``entering``

    @classmethod
    def of(
        cls, hidden: np.ndarray, hidden_bias: np.ndarray, output: np.ndarray, output_bias: np.ndarray
    ) -> "Units":
        """From kernels (D, F) and (F, D) and their biases."""
        entering = np.ascontiguousarray(hidden.T)
        return cls(entering, hidden_bias, output, output_bias, np.linalg.norm(entering, axis=1))

    def entered(self, rows: np.ndarray) -> np.ndarray:
        """(..., F): what enters the units from ``rows`` (..., D)."""
        return rows @ self.entering.T + self.thresholds

    def near(self, row: np.ndarray, entered: np.ndarray, variations: np.ndarray) -> np.ndarray:
        """(N, D): what the network puts out for ``variations`` (N, D) of ``row`` (D,). ``entered``: that of the row."""
        reach = np.sqrt(((variations - row) ** 2).sum(axis=1).max())
        may_open = np.flatnonzero(entered + reach * self.lengths > -_MARGIN)
        hidden = variations @ self.entering[may_open].T
        hidden += self.thresholds[may_open]
        np.maximum(hidden, 0, out=hidden)
        opened = np.flatnonzero(hidden.any(axis=0))
        return hidden[:, opened] @ self.leaving[may_open[opened]] + self.bias
