"""Layers of networks that compute each head by itself: in a module of its own (``heads = [Head(), Head()]``) or in a loop.

H heads, Q query and K key positions.
"""

import warnings
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from model.adapters.maps import Maps
from model.trace.strict_npz import TraceError


def with_heads_together(kind: str, maps: Sequence[Maps], heads: int | None) -> list[Maps]:
    """``maps`` of one kind, those of one head joined into layers.

    ``heads``: how many of them are a layer. Without it those belong together whose layers stand side by side: of one class, called by one
    layer with the same arguments. A warning tells where one and the same layer took several softmaxes of one head.

    Raises TraceError for a number of maps that ``heads`` does not divide.
    """
    if heads is not None:
        if any(len(each.weights) != 1 for each in maps) or len(maps) % heads:
            found = f"{len(maps)} softmaxes of {sorted({len(each.weights) for each in maps})} heads"
            raise TraceError(kind, f"have layers of {heads} softmaxes of one head", found)
        return [_joined(maps[first : first + heads]) for first in range(0, len(maps), heads)]
    layers: list[list[Maps]] = []
    for each in maps:
        if layers and _side_by_side(layers[-1][-1], each):
            layers[-1].append(each)
        else:
            layers.append([each])
    if any(_in_one_layer(*pair) for pair in pairwise(maps)):
        warnings.warn(
            f"{kind}: {len(maps)} softmaxes of one head each are drawn as {len(layers)} layers. If several of them are the heads of one "
            "layer, say how many: heads=…; heads=1 says that each is a layer",
            UserWarning,
            stacklevel=5,
        )
    return [_joined(layer) for layer in layers]


def _joined(maps: Sequence[Maps]) -> Maps:
    return Maps(
        np.concatenate([each.weights for each in maps]),
        np.concatenate([each.masked for each in maps]),
        maps[0].path,
    )


def _side_by_side(one: Maps, other: Maps) -> bool:
    """Whether two softmaxes of one head come from two layers of one class that were called with the same arguments."""
    if len(one.weights) != 1 or len(other.weights) != 1:
        return False
    for a, b in zip(one.path, other.path, strict=False):
        if a.number != b.number:
            same = len(a.given) == len(b.given) and all(x is y for x, y in zip(a.given, b.given, strict=True))
            return same and a.layer is not b.layer and type(a.layer) is type(b.layer)
    return False


def _in_one_layer(one: Maps, other: Maps) -> bool:
    """Whether one and the same layer took both softmaxes of one head, itself or by calling another layer twice."""
    if len(one.weights) != 1 or len(other.weights) != 1:
        return False
    calls = zip(one.path, other.path, strict=False)
    return next((a.layer is b.layer for a, b in calls if a.number != b.number), True)
