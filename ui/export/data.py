"""The numbers of one view as CSV, JSON and NPZ; every float32 comes back exactly as it was."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from dataclasses import asdict, fields
from typing import TYPE_CHECKING

import numpy as np

from model.tables.correcting import without_formula
from model.trace.strict_npz import packed

if TYPE_CHECKING:
    from ui.sentence.state import Lens

SCHEMA_VERSION = 1
SHEET_ROWS = 1_048_575  # what Excel and LibreOffice show below a header; a text file of it has about 60 MB
MEAN = "mean"
COLUMNS = (
    "kind",
    "layer",
    "head",
    "query_position",
    "query_token",
    "key_position",
    "key_token",
    "weight",
)


def part_that_fits(lens: Lens) -> str:
    """How much of the attention CSV and JSON hold: ``"all"``, the shown ``"kind"``, or the ``"shown"`` map.

    It is the largest that a spreadsheet can show. NPZ always holds all.
    """
    sizes = {kind: lens.trace.attention(kind).size for kind in lens.trace.kinds}
    if sum(sizes.values()) <= SHEET_ROWS:
        return "all"
    return "kind" if sizes[lens.kind] <= SHEET_ROWS else "shown"


def count(lens: Lens, part: str) -> int:
    """How many weights ``part`` of the attention has, masked ones included."""
    return sum(weights.size for *_, weights in _maps(lens, part))


def to_csv(lens: Lens) -> bytes:
    """A long table, one weight a row, in UTF-8 with the mark by which Excel knows it.

    Layers, heads and positions count from 1; ``mean`` stands for the mean over layers or heads. A token
    that a spreadsheet would take for a formula gets an apostrophe before it; its position still says which token it is.
    """
    import pandas as pd  # here, because it would be a third of the first page's imports, and that page does not need it

    lines = [",".join(COLUMNS) + "\r\n"]
    for kind, layer, head, weights in _maps(lens, part_that_fits(lens)):
        # As objects: NumPy's own texts lose a NUL at their end.
        queries, keys = (np.array(list(map(harmless, axis)), object) for axis in lens.trace.axes(kind))
        rows, columns = np.indices(weights.shape).reshape(2, -1)
        values = (kind, layer, head, rows + 1, queries[rows], columns + 1, keys[columns], weights.ravel())
        table = pd.DataFrame(dict(zip(COLUMNS, values, strict=True)))
        lines.append(table.to_csv(header=False, index=False, lineterminator="\r\n"))
    return _encoded("\ufeff" + "".join(lines))


def harmless(token: str) -> str:
    """``token`` with an apostrophe before it where a spreadsheet would read it as a formula."""
    return without_formula(_encoded(token).decode())


def _maps(lens: Lens, part: str) -> Iterator[tuple[str, int | str, int | str, np.ndarray]]:
    """(kind, layer, head, weights (Q, K)) of ``part`` of the attention."""
    if part == "shown":
        yield lens.kind, _counted(lens.layer), _counted(lens.head), lens.weights
        return
    for kind in lens.trace.kinds if part == "all" else (lens.kind,):
        for layer, heads in enumerate(lens.trace.attention(kind), start=1):
            for head, weights in enumerate(heads, start=1):
                yield kind, layer, head, weights


def _counted(index: int | None) -> int | str:
    return MEAN if index is None else index + 1


def to_json(lens: Lens) -> bytes:
    """What was typed and corrected, with which probabilities, and the trace under the names of its fields.

    ``attention_part`` says how much of the attention there is (``part_that_fits``); ``shown`` holds the map
    of the view. Numbers have the fewest digits that give the same float32 again.
    """
    part = part_that_fits(lens)
    left_out = {kind for kind in lens.trace.kinds if part != "all" and (part, kind) != ("kind", lens.kind)}
    content = {
        "schema_version": SCHEMA_VERSION,
        **_facts(lens),
        "changes": [
            asdict(change) | {"confidence": change.confidence if change.is_weighed else None}
            for change in lens.sentence.changes
        ],
        "attention_part": part,
        **{name: _plain(value) for name, value in _trace(lens).items() if name not in left_out},
        "shown": {
            "kind": lens.kind,
            "layer": _counted(lens.layer),
            "head": _counted(lens.head),
            "weights": _plain(lens.weights),
        },
    }
    return _encoded(json.dumps(content, ensure_ascii=False, allow_nan=False))


def to_npz(lens: Lens) -> bytes:
    """The trace as arrays under the names of its fields, tokens as texts; ``allow_pickle`` is not needed.

    ``change_spans`` (N, 4) holds start and end of each change in the source and in the corrected text. NumPy's
    texts lose a NUL at their end; ``to_trace`` and ``to_json`` keep it. ``AttentionTrace.load`` can read this file, too.
    """
    changes = lens.sentence.changes
    spans = [(c.source_start, c.source_end, c.target_start, c.target_end) for c in changes]
    arrays = {
        "schema_version": np.array(SCHEMA_VERSION),
        **{name: np.array(value) for name, value in _facts(lens).items()},
        "change_spans": np.array(spans, np.int64).reshape(-1, 4),
        "change_wrong": np.array([c.wrong for c in changes], str),
        "change_right": np.array([c.right for c in changes], str),
        "change_fix_probability": np.array([c.fix_probability for c in changes], np.float64),
        "change_keep_probability": np.array([c.keep_probability for c in changes], np.float64),
        **{name: np.asarray(value) for name, value in _trace(lens).items()},
        **packed(*lens.trace.contents()),
    }
    file = io.BytesIO()
    np.savez_compressed(file, allow_pickle=False, **arrays)
    return file.getvalue()


def to_trace(lens: Lens) -> bytes:
    """The trace as ``model.AttentionTrace.load`` reads it."""
    file = io.BytesIO()
    lens.trace.save(file)
    return file.getvalue()


def _facts(lens: Lens) -> dict[str, str | float]:
    return {
        "model": lens.corrector.name,
        "fingerprint": lens.corrector.fingerprint,
        "source": lens.sentence.source,
        "text": lens.sentence.text,
        "minimum_confidence": lens.sentence.minimum_confidence,
    }


def _trace(lens: Lens) -> dict[str, object]:
    """Every field that this trace has, by its name."""
    values = {field.name: getattr(lens.trace, field.name) for field in fields(lens.trace)}
    return {name: value for name, value in values.items() if value is not None}


def _plain(value: object) -> object:
    """Nested lists. Each float32 becomes the float that JSON writes with the same few digits."""
    if not isinstance(value, np.ndarray):
        return value
    return np.array([float(text) for text in value.ravel().astype(str)]).reshape(value.shape).tolist()


def _encoded(text: str) -> bytes:
    # A command line may hand over half a surrogate pair, which UTF-8 cannot hold. It is written as \udXXX, which JSON reads again.
    return text.encode("utf-8", "backslashreplace")
