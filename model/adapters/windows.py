"""Attention within a window around each token (Beltagy, Peters & Cohan 2020): as whole maps, and how wide the windows are.

L layers, H heads, S tokens, W places of a window, X tokens that see all others and are seen by all.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from model.trace.windows import EVERYWHERE, beyond


def windows_of(config: Any, weights: np.ndarray, places: Sequence[int] = ()) -> dict[str, Any]:
    """The fields of a trace about the windows that a config of transformers names, for self-attention (L, H, Q, Q).

    A layer that looks farther than its config says has none. ``places``: of the tokens that see all others, and are seen by all.

    >>> from types import SimpleNamespace as Config
    >>> windows_of(Config(sliding_window=2), np.eye(3)[None, None])
    {'windows': (1,), 'global_tokens': 0}
    """
    named, global_tokens = _named(config, len(weights)), len(places)
    if list(places) != list(range(global_tokens)):  # elsewhere than at the beginning: told cell by cell
        far = np.stack([beyond(weights.shape[-1], window) for window in named])
        far[:, places] = far[:, :, places] = False
        return {"encoder_masked": far} if far.any() else {}
    found = []
    for layer, window in zip(weights, named, strict=True):
        hides = window != EVERYWHERE and not layer[:, beyond(layer.shape[-1], window, global_tokens)].any()
        found.append(window if hides else EVERYWHERE)
    if all(window == EVERYWHERE for window in found):
        return {}
    return {"windows": tuple(found), "global_tokens": global_tokens}


def _named(config: Any, layers: int) -> Sequence[int]:
    """How far a row of each layer sees to either side."""
    if (each := getattr(config, "attention_window", None)) is not None:  # Longformer: of both sides together
        return [size // 2 for size in (each if isinstance(each, list | tuple) else [each] * layers)]
    if (both := getattr(config, "local_attention", None)) is not None:  # ModernBERT
        window = both // 2
    elif (
        size := getattr(config, "sliding_window", None)
    ) is not None:  # Mistral, Gemma: the token itself counts
        window = size - 1
    else:
        return [EVERYWHERE] * layers
    kinds = getattr(config, "layer_types", None) or ["sliding_attention"] * layers
    return [window if kind == "sliding_attention" else EVERYWHERE for kind in kinds[:layers]]


def spread(
    local: np.ndarray, of_all: np.ndarray | None = None, places: Sequence[int] | None = None
) -> np.ndarray:
    """(H, S, S) of the (H, S, X + W) that Longformer and LED return.

    X columns are for the tokens that everybody sees. W columns are for places around the token itself, as many before as behind it.
    ``of_all`` (H, S or more, X): what the X tokens look at. ``places``: where they stand; by default they are the first ones of the text.

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
        everywhere = list(range(seen) if places is None else places)
        maps[:, :, everywhere] += local[:, :, :seen]
        maps[:, everywhere] = of_all[:, :length].transpose(0, 2, 1)  # LED fills the text up to whole windows
    return maps
