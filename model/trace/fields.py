"""Checks the fields of a trace that are not attention: texts, spans, padding.

Each function returns its field in plain Python, so that it can be written to a file and two traces can be compared with ``==``.
"""

from typing import Any

import numpy as np

from model.trace.arrays import plain_array
from model.trace.strict_npz import TraceError

Spans = tuple[tuple[int, int], ...]  # (start, end) pairs, the end excluded


def text(name: str, value: object) -> str:
    """A text; bytes, as TensorFlow's strings are, are read as UTF-8."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    if not isinstance(value, str):
        raise TraceError(name, "be a text", _received(value))
    return str(value)  # NumPy's texts become Python's


def texts(name: str, value: object) -> tuple[str, ...]:
    """
    >>> texts("source_tokens", np.array(["a", "b"]))
    ('a', 'b')
    """
    value = _listed(value, 1)
    if not isinstance(value, list | tuple):
        raise TraceError(name, "be a list of texts", _received(value))
    # The usual case; faster than ``text`` for each of some 160 tokens.
    if all(type(each) is str for each in value):
        return tuple(value)
    return tuple(text(f"{name}[{place}]", each) for place, each in enumerate(value))


def rows_of_texts(name: str, value: object) -> tuple[tuple[str, ...], ...]:
    value = _listed(value, 2)
    if not isinstance(value, list | tuple):
        raise TraceError(name, "be a list of lists of texts", _received(value))
    return tuple(texts(f"{name}[{place}]", each) for place, each in enumerate(value))


def pairs(name: str, value: object) -> Spans:
    value = _listed(value, 2)
    if not isinstance(value, list | tuple):
        raise TraceError(name, "be a list of pairs of whole numbers", _received(value))
    return tuple(_pair(f"{name}[{place}]", each) for place, each in enumerate(value))


def flags(name: str, value: Any) -> tuple[bool, ...]:
    """One truth value for each token. Whole numbers are refused: a library's attention mask says the opposite.

    >>> flags("source_padding", np.array([5, 7, 0]) == 0)
    (False, False, True)
    """
    if isinstance(value, list | tuple) and not value:
        return ()
    found = plain_array(name, value)
    if found.dtype != bool:
        raise TraceError(
            name,
            "be True where there is padding and False elsewhere",
            f"dtype {found.dtype}",
            f"An attention mask says the opposite: give {name}=mask == 0",
        )
    if found.ndim != 1:
        raise TraceError(
            name, "have one dimension", f"the shape {found.shape}", "Of a batch, give batch=…, too"
        )
    return tuple(found.tolist())


def count(name: str, value: object) -> int:
    """
    >>> count("prompt", np.int64(3))
    3
    """
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 0:
        raise TraceError(name, "be a whole number, 0 or more", _received(value))
    return int(value)


def windows(name: str, value: object) -> tuple[int, ...]:
    """
    >>> windows("windows", np.array([3, -1]))
    (3, -1)
    """
    value = _listed(value, 1)
    if not isinstance(value, list | tuple):
        raise TraceError(name, "be a whole number for each layer", _received(value))
    return tuple(-1 if each == -1 else count(f"{name}[{place}]", each) for place, each in enumerate(value))


def hidden_cells(name: str, value: np.ndarray) -> np.ndarray:
    """The mask of a trace as truth values; a file holds them as the numbers 0 and 1.

    >>> hidden_cells("encoder_masked", np.float32([[[0, 1]]])).tolist()
    [[[False, True]]]
    """
    if value.dtype != bool and not np.isin(value, (0, 1)).all():
        raise TraceError(name, "be True where a row may not look and False elsewhere", "other numbers")
    return value.astype(bool)


def grid(name: str, value: object) -> tuple[int, int]:
    """Rows and columns."""
    found = _pair(name, value)
    if min(found) < 1:
        raise TraceError(name, "have at least one row and one column", found)
    return found


def placed_grid(name: str, value: object) -> tuple[int, int, int]:
    """The place of the first patch, and rows and columns."""
    if not isinstance(value, list | tuple) or len(value) != 3:
        raise TraceError(name, "be three whole numbers: first patch, rows, columns", _received(value))
    return count(f"{name}[0]", value[0]), *grid(name, value[1:])


def check_extras(trace: Any, source: int, target: int) -> None:
    """Raises TraceError for fields that do not fit the attention.

    These are sinks of kinds that are not there, a prefix or a prompt that is too long, windows of another number of layers or without
    self-attention, and a grid with more patches than there are tokens.
    """
    if trace.windows:
        kind = trace.kinds[0]
        layers = 0 if kind == "cross_attention" else trace.shape(kind)[0]
        if len(trace.windows) != layers:
            found = f"{len(trace.windows)} for {layers} layers of self-attention"
            raise TraceError("windows", "be one for each layer", found)
    if strange := [kind for kind in trace.sinks if kind not in trace.kinds]:
        raise TraceError("sinks", f"be some of {', '.join(trace.kinds)}", strange[0])
    for name in ("prefix", "prompt"):
        if getattr(trace, name) > target:
            raise TraceError(name, f"be at most {target}, the tokens of the decoder", getattr(trace, name))
    if trace.read_grid is not None:
        first, rows, columns = trace.read_grid
        if trace.decoder_attention is None or first + rows * columns > target:
            raise TraceError("read_grid", f"lie among {target} tokens that a decoder read", trace.read_grid)
    if trace.source_grid is not None and trace.source_grid[0] * trace.source_grid[1] > source:
        raise TraceError(
            "source_grid", f"have at most {source} patches, the source tokens", trace.source_grid
        )


def check_spans(trace: Any, side: str, tokens: int) -> None:
    """Raises TraceError for spans outside their text and for words that leave tokens out."""
    whole, spans, words = (getattr(trace, f"{side}_{part}") for part in ("text", "spans", "words"))
    if spans is not None:
        if whole is None:
            raise TraceError(f"{side}_text", "come with the spans in it", "None")
        expect_shape(f"{side}_spans", spans, (tokens,))
        for place, (start, end) in enumerate(spans):
            if not 0 <= start <= end <= len(whole):
                raise TraceError(f"{side}_spans[{place}]", f"lie in 0..{len(whole)}", (start, end))
    if words is not None:
        edges = [0, *(end for _, end in words)]
        if (
            edges[-1] != tokens
            or [start for start, _ in words] != edges[:-1]
            or any(s >= e for s, e in words)
        ):
            raise TraceError(f"{side}_words", f"cover {tokens} tokens one after the other", words)


def expect_shape(name: str, value: Any, shape: tuple) -> None:
    received = value.shape if isinstance(value, np.ndarray) else () if value is None else (len(value),)
    if received != shape:
        raise TraceError(name, f"have the shape {_spelled(shape)}", received)


def _spelled(shape: tuple) -> str:
    return f"({', '.join(map(str, shape))}{',' * (len(shape) == 1)})"


def _listed(value: object, rank: int) -> object:
    """An array of texts or numbers of this rank as lists; anything else as it is."""
    is_array = isinstance(value, np.ndarray) and value.ndim == rank
    return value.tolist() if is_array else value  # type: ignore[attr-defined]


def _pair(name: str, value: object) -> tuple[int, int]:
    if not isinstance(value, list | tuple) or len(value) != 2:
        raise TraceError(name, "be a pair of whole numbers", _received(value))
    for end in value:
        if isinstance(end, bool) or not isinstance(end, int | np.integer):
            raise TraceError(name, "be a pair of whole numbers", _received(end))
    start, end = value
    return int(start), int(end)


def _received(value: object) -> str:
    """The type of a value, and the value itself only if it is a number. Texts are private, and messages may reach a log."""
    kind = type(value).__name__
    return f"{kind} {value}" if isinstance(value, int | float | np.number) else kind
