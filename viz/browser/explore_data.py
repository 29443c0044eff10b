"""JSON for ``explore.js``: each attention weight once, each figure without its weights."""

import json
import zlib
from base64 import b64encode
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from viz.attention import attention_heatmap
from viz.browser.document import without_font_file
from viz.browser.lines import lines_data
from viz.browser.plot import plot_data
from viz.browser.steps import steps_data
from viz.browser.texts import Say, Trace, grid_words, map_texts
from viz.figure import Specification
from viz.head_grid import cells_joined, head_grid
from viz.labels import SINK, template_text

# Weights travel as whole numbers of this fraction; with more than MANY_WEIGHTS of a coarser one, for the size
# of the page. Three digits are shown.
UNIT, COARSE_UNIT, MANY_WEIGHTS = 10_000, 2_000, 1_000_000


def explorer_data(say: Say, trace: Trace, theme: str) -> dict:
    """The data by which ``explore.js`` draws any head of ``trace``: all weights (L, H, Q, K), and figures
    without them.

    Each figure comes without its weights, which ``explore.js`` fills in.
    """
    count = sum(trace.attention(kind).size for kind in trace.kinds)
    unit = UNIT if count <= MANY_WEIGHTS else COARSE_UNIT
    notes = [say("explore_note", step=f"{1 / unit:g}")]
    notes += [say("explore_prompt_note")] * bool(trace.prompt)
    notes += [say("sink_note")] * any(trace.sink(kind) is not None for kind in trace.kinds)
    return {
        "unit": unit,
        "kinds": [_kind(say, trace, kind, unit, theme) for kind in trace.kinds],
        "steps": _steps(say, trace, theme),
        "words": _words(say, " ".join(notes)),
    }


def difference_data(say: Say, traces: Sequence[Trace], theme: str) -> dict | None:
    """The second of two traces minus the first, kind by kind; the browser subtracts. None where no kind has
    the same heads and the same tokens in both.
    """
    one, other = traces
    kinds = [
        _difference(say, one, other, kind, theme)
        for kind in one.kinds
        if kind in other.kinds
        and one.axes(kind) == other.axes(kind)
        and one.attention(kind).shape == other.attention(kind).shape
        and (one.sink(kind) is None) == (other.sink(kind) is None)
    ]
    if not kinds:
        return None
    words = _words(say, say("explore_difference_note"))
    return {"kinds": kinds, "steps": None, "words": words, "difference": [0, 1]}


def _words(say: Say, note: str) -> dict[str, str]:
    return {
        "place_all": say("place_all"),
        "place_mean": say("place_mean", layer="{layer}"),
        "place_mean_layers": say("place_mean_layers", head="{head}"),
        "place_head": say("place_head", layer="{layer}", head="{head}"),
        "place_only": say("place_only"),
        "kind": say("kind_label"),
        "layer": say("layer_label"),
        "head": say("head_label"),
        "mean": say("head_mean"),
        "view": say("view_label"),
        "heatmap": say("view_heatmap"),
        "lines": say("view_lines"),
        "steps": say("view_steps"),
        "logarithmic": say("logarithmic_label"),
        "fitted": say("fitted_label"),
        "together": say("explore_together"),
        "mass": say("mass_label"),
        "hidden": say("lines_hidden", drawn="{drawn}", hidden="{hidden}"),
        "note": note,
    }


class _KindMaps(NamedTuple):
    """All maps of one kind, with the column of a sink."""

    kind: str
    weights: np.ndarray  # (L, H, Q, K)
    queries: tuple[str, ...]
    keys: tuple[str, ...]
    masked: np.ndarray | None  # (Q, K) bool, in all layers
    somewhere: np.ndarray | None  # (Q, K) bool, in any layer; ``explore.js`` knows in which
    padded: np.ndarray  # (Q, K) bool
    sink: int  # columns before the tokens


def _maps(trace: Trace, kind: str) -> _KindMaps:
    weights = np.clip(trace.attention(kind), 0, 1)
    queries, keys = trace.axes(kind)
    masked, padded, sink = trace.masked(kind), trace.padded(kind), trace.sink(kind)
    each = [found for layer in range(len(weights)) if (found := trace.masked(kind, layer)) is not None]
    somewhere = None if masked is None else np.logical_or.reduce(each)
    if sink is None:
        return _KindMaps(kind, weights, queries, keys, masked, somewhere, padded, 0)
    wider = ((0, 0), (1, 0))
    return _KindMaps(
        kind,
        np.concatenate([sink[..., None], weights], -1),
        queries,
        (SINK, *keys),
        None if masked is None else np.pad(masked, wider),
        None if somewhere is None else np.pad(somewhere, wider),
        np.pad(padded, wider),
        1,
    )


def _kind(say: Say, trace: Trace, kind: str, unit: int, theme: str) -> dict:
    maps = _maps(trace, kind)
    is_target = kind != "encoder_attention"
    written = range(max(trace.prompt - 1, 0), len(maps.queries)) if trace.prompt and is_target else ()
    return _drawn(say, trace, maps, theme) | {
        "weights": packed_weights(maps.weights, unit),
        **_figures(say, maps, theme, rows=written),
    }


def _difference(say: Say, one: Trace, other: Trace, kind: str, theme: str) -> dict:
    first, second = _maps(one, kind), _maps(other, kind)
    weights = second.weights - first.weights
    maps = first._replace(weights=weights, padded=first.padded & second.padded)
    largest = float(np.abs(weights).max()) or 1.0
    figures = _figures(say, maps, theme, largest=largest)
    return _drawn(say, one, maps, theme) | {"largest": largest, **figures}


def _drawn(say: Say, trace: Trace, maps: _KindMaps, theme: str) -> dict:
    """The parts of a kind that do not depend on the size of its weights."""
    kind = maps.kind
    label = say(f"kind_{kind}")
    return {
        "kind": kind,
        "label": label,
        "shape": maps.weights.shape,
        "joined": cells_joined(len(maps.queries), len(maps.keys)),
        **_hidden(say, trace, kind, maps),
        "lines": without_font_file(lines_data(say, trace, kind, [], mass=0, label=label, theme=theme)),
    }


def _hidden(say: Say, trace: Trace, kind: str, maps: _KindMaps) -> dict:
    """The masked and padded cells, and their reasons in the hover."""
    texts = map_texts(say, kind)
    own, first = kind == "decoder_attention", kind == trace.kinds[0]
    sparse = getattr(trace, kind.replace("_attention", "_masked"))
    return {
        "masked": "" if maps.masked is None else _note(texts.masked),
        "padded": {"told": _note(texts.padded), **_padded_lines(trace, kind, maps)},
        **({"sink": maps.sink} if maps.sink else {}),
        **({"prefix": trace.prefix} if own and trace.prefix else {}),
        **({"isLater": True} if own else {}),
        **({"windows": trace.windows} if trace.windows and first else {}),
        **({} if sparse is None else {"sparse": packed_flags(sparse)}),
    }


def _figures(say: Say, maps: _KindMaps, theme: str, *, rows: Sequence[int] = (), largest: float = 0) -> dict:
    """The overview and the map; with a ``largest`` difference in two colours, which part at 0. ``rows`` are
    bold.
    """
    kind, difference = maps.kind, largest > 0
    label = say(f"kind_{kind}")
    overview = head_grid.specification(
        maps.weights,
        **grid_words(say),
        masked=maps.padded if maps.masked is None else maps.masked | maps.padded,
        colour_max=largest or 1.0,
        signed=difference,
        scale=False,
        theme=theme,
    )
    first = maps.weights[0, 0] if maps.somewhere is None else np.where(maps.somewhere, 0, maps.weights[0, 0])
    drawn = {
        name: attention_heatmap.specification(
            first,
            maps.queries,
            maps.keys,
            texts=map_texts(say, kind, difference=difference),
            masked=maps.somewhere,
            padded=maps.padded,
            emphasis_rows=rows,
            first=(0, -maps.sink),
            difference=difference,
            logarithmic=name == "logarithmic",
            theme=theme,
        )
        for name in ("linear", "logarithmic")
    }
    return {
        "overview": _without_weights(say, overview, f"overview-{kind}", label, theme),
        "maps": {name: _without_weights(say, map_, kind, label, theme) for name, map_ in drawn.items()},
    }


def packed_flags(flags: np.ndarray) -> str:
    """Truth values as base64 of deflated bytes, eight in each, the first one in its highest bit."""
    return b64encode(zlib.compress(np.packbits(flags).tobytes())).decode()


def packed_weights(weights: np.ndarray, unit: int) -> str:
    """Weights in 0..1 as base64 of deflated bytes: all low bytes of their multiples of 1 / unit, then all
    high ones, most of which are 0.
    """
    numbers = np.rint(weights * unit).astype("<u2").ravel()
    return b64encode(zlib.compress(numbers.view(np.uint8).reshape(-1, 2).T.tobytes())).decode()


def _without_weights(say: Say, figure: Specification, file: str, label: str, theme: str) -> dict:
    """The data of ``plot.js`` without the numbers of the heatmap and the texts of masked cells."""
    data = plot_data(say, figure, label=label, file=file, theme=theme)
    spec = json.loads(data["spec"])
    for name in ("z", "text"):
        spec["data"][0].pop(name, None)
    return data | {"spec": spec}


def _note(reason: str) -> str:
    """The hover's note on a masked or padded cell."""
    return f" ({template_text(reason)})"


def _padded_lines(trace: Trace, kind: str, maps: _KindMaps) -> dict[str, list[int]]:
    """The rows and the columns of which the padded cells consist."""
    rows, columns = trace.padding(kind)
    cells = maps.padded[:, maps.sink :]
    shown = cells[~rows].all(axis=0) & columns if not rows.all() else np.zeros(len(columns), bool)
    return {"rows": np.flatnonzero(rows).tolist(), "columns": (np.flatnonzero(shown) + maps.sink).tolist()}


def _steps(say: Say, trace: Trace, theme: str) -> dict | None:
    """The data of ``steps.js`` without the attention; None where the trace has no probabilities or
    alternatives.
    """
    if trace.log_probabilities is None or not trace.alternatives or len(trace.alternatives[0]) < 2:
        return None
    kinds = {"cross_attention", "decoder_attention"}.intersection(trace.kinds)
    empty = {kind: np.zeros(trace.attention(kind).shape[2:], np.float32) for kind in kinds}
    data = steps_data(say, trace, (), weights=empty.__getitem__, place="", step=1, theme=theme)
    return without_font_file(data)
