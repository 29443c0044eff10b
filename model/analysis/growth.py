"""When each head took up its role: what it looks at in each snapshot of the training.

N snapshots, L layers, H heads. Roles are those of ``model.analysis.roles``, observed in one sentence.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from model.analysis.roles import BREADTH, LIAISON, chance, leading_role, measure, rows_of

if TYPE_CHECKING:
    from model.trace.trace import AttentionTrace


@dataclass(frozen=True)
class Growth:
    """What the heads of one kind of attention look at over the training.

    ``shares``: by role (N, L, H) float32 in 0..1, the mean share of a head's attention over the rows that the role
    concerns, nan where no row does. ``leading``: (N, L, H) the role that ``roles.leading_role`` finds in them.
    """

    shares: dict[str, np.ndarray]
    leading: np.ndarray

    def settled(self, layer: int, head: int) -> tuple[str, int]:
        """The leading role of a head at the last snapshot, and the first snapshot from which on it never had another."""
        roles = self.leading[:, layer, head]
        others = np.flatnonzero(roles != roles[-1])
        return str(roles[-1]), int(others[-1]) + 1 if len(others) else 0


def growth(
    kind: str, sources: Sequence[str], texts: Sequence[str], traces: Sequence[AttentionTrace]
) -> Growth:
    """Follow the roles of one kind of attention through N traces of writing ``texts`` for ``sources``.

    Raises ValueError where there is no trace.

    >>> traces = [corrector.trace("머거요", "먹어요")] * 2  # instead of one trace for each snapshot
    >>> growth("cross_attention", ["머거요"] * 2, ["먹어요"] * 2, traces).leading.shape
    (2, 4, 4)
    """
    if not traces:
        raise ValueError("growth should be followed through at least one trace, received none")
    measured = [_means(kind, *each) for each in zip(sources, texts, traces, strict=True)]
    roles = measured[0][0].keys()
    shares = {role: np.array([means[role] for means, _ in measured], np.float32) for role in roles}
    leading = np.empty(next(iter(shares.values())).shape, dtype=object)
    for number, layer, head in np.ndindex(leading.shape):
        means = {role: float(values[number, layer, head]) for role, values in shares.items()}
        leading[number, layer, head] = leading_role(means, measured[number][1])
    return Growth(shares, leading)


def _means(
    kind: str, source: str, text: str, trace: AttentionTrace
) -> tuple[dict[str, np.ndarray], dict[str, float]]:
    """({role: (L, H)}, {role: its share in a head that looks evenly at all}) of one trace."""
    weights, rows = trace.attention(kind), rows_of(kind, source, text)
    of_rows = {
        role: values
        for role, (_, values) in measure(kind, weights, rows).items()
        if role not in (BREADTH, LIAISON)
    }
    nothing = np.full(weights.shape[:2], np.nan, np.float32)
    means = {role: values.mean(axis=0) if len(values) else nothing for role, values in of_rows.items()}
    by_chance = {
        role: float(np.mean(values)) if len(values) else 0.0 for role, values in chance(kind, rows).items()
    }
    return means, by_chance
