"""A figure as plain dictionaries, which can be sent to the browser without building Plotly's objects."""

import json
from base64 import b64encode
from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, Protocol, cast

import numpy as np
import plotly.graph_objects as go

Specification = dict[str, Any]  # "data" and "layout", as Plotly's schema names what is in them

_Arguments = ParamSpec("_Arguments")
# The kinds of typed arrays that plotly.js reads: floats, and integers of at most 4 bytes.
_PACKED = {"f4", "f8", "i1", "i2", "i4", "u1", "u2", "u4"}


class FigureFunction(Protocol[_Arguments]):
    """Returns a figure; its ``specification`` takes the same arguments."""

    specification: Callable[_Arguments, Specification]

    def __call__(self, *args: _Arguments.args, **kwargs: _Arguments.kwargs) -> go.Figure: ...


def as_figure(specification: Callable[_Arguments, Specification]) -> FigureFunction[_Arguments]:
    """Make a plotting function of one that returns a ``Specification``: it returns the same as a ``go.Figure``.

    Plotly checks each property of a figure, which takes several times as long as everything else. A page that draws a figure
    at each keystroke sends the ``specification`` instead; a test compares the two.
    """

    @wraps(specification)
    def figure(*args: _Arguments.args, **kwargs: _Arguments.kwargs) -> go.Figure:
        return go.Figure(specification(*args, **kwargs))

    figure.specification = specification  # type: ignore[attr-defined]
    return cast(FigureFunction[_Arguments], figure)


def to_json(figure: go.Figure | Specification) -> str:
    """As plotly.js reads it, arrays of numbers as base64. Raises ValueError for a nan outside of an array, TypeError for a
    value that JSON does not know."""
    if isinstance(figure, go.Figure):
        return figure.to_json()
    return json.dumps(figure, default=_plain, allow_nan=False, ensure_ascii=False, separators=(",", ":"))


def _plain(value: object) -> object:
    if isinstance(value, np.generic):
        return value.item()
    if not isinstance(value, np.ndarray):
        raise TypeError(f"a figure should hold numbers, texts and arrays, received {value!r}")
    kind = value.dtype.newbyteorder("<")
    if kind.str[1:] not in _PACKED:
        return value.tolist()
    packed = {"dtype": kind.str[1:], "bdata": b64encode(value.astype(kind).tobytes()).decode()}
    return packed | ({"shape": ", ".join(map(str, value.shape))} if value.ndim > 1 else {})
