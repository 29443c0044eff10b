"""Integrated gradients: the mean gradient on the straight path from no token embeddings (positions only) to the embeddings.

``gap`` says how far the sum misses the change of the score: within 1%, unless the path is too rough for 160 points.

Source: Sundararajan, Taly & Yan, "Axiomatic Attribution for Deep Networks" (ICML 2017), section 3.
"""

from collections.abc import Sequence

import numpy as np

from model.analysis.integrated import integrate
from model.analysis.method import PATH, AttributedRow, AttributionMethod, TokenScores


def say(row: AttributedRow) -> TokenScores:
    asked = row.contrast.row, row.contrast.written, row.contrast.instead

    def slope(points: Sequence[float]) -> tuple[np.ndarray, np.ndarray]:
        found = row.network.laboratory.slopes(*row.ids, asked, points)
        return found.score, np.concatenate([found.source, found.target], axis=1)

    summed, gap = integrate(slope)
    source, before = np.split(summed, [len(row.ids[0])])
    return TokenScores(source, before, gap)


METHOD = AttributionMethod("integrated_gradients", 6, say, PATH, signed=True, by_gradients=True)
