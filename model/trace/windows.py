"""Which cells of a map nobody may look at: what comes later, and what lies outside of a window around each token.

L layers, Q query and K key positions.
"""

import numpy as np

EVERYWHERE = -1  # the window of a layer that has none


def later(length: int, prefix: int = 0) -> np.ndarray:
    """(length, length) bool: what comes after a row; the first ``prefix`` tokens all see each other.

    >>> later(2).tolist()
    [[False, True], [False, False]]
    """
    found = np.triu(np.ones((length, length), bool), 1)
    found[:prefix, :prefix] = False
    return found


def beyond(length: int, window: int, globals_: int = 0) -> np.ndarray:
    """(length, length) bool: what lies more than ``window`` tokens away from a row, to either side.

    The first ``globals_`` tokens see all others and are seen by all (Beltagy, Peters & Cohan 2020).

    >>> beyond(3, 1).astype(int).tolist()
    [[0, 0, 1], [0, 0, 0], [1, 0, 0]]
    """
    places = np.arange(length)
    found = (
        np.abs(places - places[:, None]) > window if window != EVERYWHERE else np.zeros((length,) * 2, bool)
    )
    found[:, :globals_] = found[:globals_] = False
    return found
