"""Chooses the weights that are strong enough to be drawn as a line."""

import numpy as np

# Weights are float32: a few of them that should sum to the wanted mass may miss it by this much.
ROUNDING = 1e-6


def strongest_edges(weights: np.ndarray, mass: float) -> list[tuple[int, int, float]]:
    """(query, key, weight) of the fewest keys of each row that together carry at least ``mass`` of it.

    Rows in their order, within a row the strongest first (of equal ones the one on the left). ``mass`` is a
    share of what the row sums to, met within a millionth: 0 keeps nothing, 1 all that is no rounding error.

    Args:
        weights: (Q, K), none negative.
        mass: in 0..1.

    Raises ValueError for a mass or weights outside their range.
    """
    weights = np.asarray(weights)
    if weights.ndim != 2 or (weights < 0).any():
        raise ValueError(f"weights should be (Q, K) and not negative, received {weights.shape}: {weights}")
    if not 0.0 <= mass <= 1.0:
        raise ValueError(f"mass should be in 0..1, received {mass!r}")
    order = np.argsort(-weights, axis=1, kind="stable")  # (Q, K)
    ranked = np.take_along_axis(weights, order, axis=1).astype(np.float64)
    before = np.cumsum(ranked, axis=1) - ranked  # what the stronger keys of the row carry together
    wanted = ranked.sum(axis=1, keepdims=True) * mass - ROUNDING
    rows, ranks = np.nonzero((before < wanted) & (ranked > 0))
    keys = order[rows, ranks]
    return list(zip(rows.tolist(), keys.tolist(), weights[rows, keys].tolist(), strict=True))
