"""Equality of results that hold arrays."""

import numpy as np


def same(one: object, other: object, atol: float = 0.0) -> bool:
    """Whether both have the same types and parts, and the same numbers to ``atol``. NaN equals NaN."""
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        if one.dtype != other.dtype or one.shape != other.shape:
            return False
        if one.dtype.kind != "f":
            return np.array_equal(one, other)
        return np.allclose(one, other, rtol=0, atol=atol, equal_nan=True)
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        return list(one) == list(other) and all(same(one[key], other[key], atol) for key in one)
    if isinstance(one, tuple | list):
        return len(one) == len(other) and all(same(*each, atol) for each in zip(one, other, strict=True))
    if hasattr(one, "__dict__"):
        return same(vars(one), vars(other), atol)
    return one == other or (one != one and other != other)  # noqa: PLR0124  both NaN
