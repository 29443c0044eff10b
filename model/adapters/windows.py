"""Attention that a network computes within a window around each token alone (Beltagy, Peters & Cohan 2020), as whole maps.

H heads, S tokens, W places of a window, X tokens that see all others and are seen by all.
"""

import numpy as np


def spread(local: np.ndarray, of_all: np.ndarray | None = None) -> np.ndarray:
    """(H, S, S) of the (H, S, X + W) that Longformer returns: X columns for the tokens that everybody sees, which are the first ones of the
    text, then as many places before as behind the token itself. ``of_all`` (H, S, X): what these X tokens look at.

    >>> spread(np.float32([[[0, 0.75, 0.25], [0.5, 0.5, 0]]])).tolist()
    [[[0.75, 0.25], [0.5, 0.5]]]
    """
    heads, length, width = local.shape
    seen = 0 if of_all is None else of_all.shape[-1]
    half = (width - seen) // 2
    maps = np.zeros((heads, length, length), np.float32)
    for offset in range(-half, half + 1):
        rows = np.arange(max(0, -offset), min(length, length - offset))
        maps[:, rows, rows + offset] = local[:, rows, seen + half + offset]
    if of_all is not None:
        maps[:, :, :seen] += local[:, :, :seen]
        maps[:, :seen] = of_all.transpose(0, 2, 1)
    return maps
