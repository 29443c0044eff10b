"""``explore``: an interactive page with every head of a trace, for a notebook.

Every weight is sent once, as a whole number of ten-thousandths (of two-thousandths above a million weights), compressed. Of each
figure the page gets everything but the weights, made by the same functions as in the app. ``explore.js`` fills in the weights of the
chosen head, so choosing another head asks no Python. In a notebook the page stands in a frame that may run scripts and save files, but
reaches neither the notebook nor the network.
"""

import json
import zlib
from base64 import b64encode
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import numpy as np

from viz.attention import attention_heatmap
from viz.browser.appearance import without_font_file
from viz.browser.document import Component, component, document
from viz.browser.lines import DIGITS, LINES, MASSES, MOST_HEADS, MOST_LINES, USUAL_MASS, lines_data
from viz.browser.map_texts import map_texts
from viz.browser.plot import PLOT, plot_data
from viz.browser.script import read_script
from viz.browser.steps import STEPS, steps_data
from viz.browser.texts import LANGUAGES, Say, table
from viz.edges import ROUNDING
from viz.head_grid import head_grid
from viz.head_tiles import NO_CELL, STRONGEST, WEAKEST, cells_joined
from viz.labels import template_text
from viz.specification import Specification

EXPLORE = read_script(
    "explore",
    "explore.js",
    isolated=False,
    constants={
        "NO_CELL": NO_CELL,
        "WEAKEST": WEAKEST,
        "STRONGEST": STRONGEST,
        "MASSES": [MASSES[0], MASSES[-1], MASSES.step],
        "USUAL_MASS": USUAL_MASS,
        "DIGITS": DIGITS,
        "ROUNDING": ROUNDING,
        "MOST_HEADS": MOST_HEADS,
        "MOST_LINES": MOST_LINES,
    },
)
HEIGHT = 640  # pixels of the frame in a notebook
# Weights travel as whole numbers of this fraction; with more than MANY_WEIGHTS of a coarser one, for the size of
# the page. Three digits are shown.
UNIT, COARSE_UNIT, MANY_WEIGHTS = 10_000, 2_000, 1_000_000


class Trace(Protocol):
    """What is read of ``model.AttentionTrace``, whose docstring has the shapes."""

    @property
    def source_tokens(self) -> tuple[str, ...]: ...

    @property
    def target_tokens(self) -> tuple[str, ...]: ...

    @property
    def decoder_input_tokens(self) -> tuple[str, ...]: ...

    @property
    def log_probabilities(self) -> np.ndarray | None: ...

    @property
    def alternatives(self) -> tuple[tuple[str, ...], ...]: ...

    @property
    def alternative_probabilities(self) -> np.ndarray | None: ...

    @property
    def kinds(self) -> tuple[str, ...]: ...

    def attention(self, kind: str) -> np.ndarray: ...

    def axes(self, kind: str) -> tuple[tuple[str, ...], tuple[str, ...]]: ...

    def padding(self, kind: str) -> tuple[np.ndarray, np.ndarray]: ...

    def padded(self, kind: str) -> np.ndarray: ...

    def check(self) -> None: ...


@dataclass(frozen=True)
class Exploration:
    """A page that shows itself as the output of a notebook's cell.

    >>> Exploration(b"<!doctype html>", height=400)
    Exploration(height=400)
    """

    page: bytes = field(repr=False)  # HTML, UTF-8; a notebook keeps what repr says, too
    height: int  # pixels

    def _repr_html_(self) -> str:
        """A frame as wide as the cell. Its scripts can reach neither the notebook nor the network."""
        # Between single quotes, of which the page has fewest, and in ASCII, whatever encoding the notebook is read in:
        # a script with one wrong character is none that the page's policy lets run.
        source = self.page.decode().replace("&", "&amp;").replace("'", "&#39;")
        source = source.encode("ascii", "xmlcharrefreplace").decode()
        style = f"width: 100%; height: {self.height}px; border: 0"
        return f"<iframe sandbox='allow-scripts allow-downloads' style='{style}' srcdoc='{source}'></iframe>"

    def save(self, path: str | Path) -> None:
        """Write the page as a file that opens without a network."""
        Path(path).write_bytes(self.page)


def explore(
    traces: Trace | Sequence[Trace],
    *,
    names: Sequence[str] = (),
    language: str = "en",
    theme: str = "light",
    height: int = HEIGHT,
) -> Exploration:
    """The interactive explorer: all heads, one map as a heatmap or as lines, and the steps of a decoder.

    Weights travel as multiples of 1 / UNIT, of 1 / COARSE_UNIT where there are many. The steps are there where the trace has the probabilities of what was
    produced and at least two alternatives for each.

    Args:
        traces: one trace, such as ``model.AttentionTrace``, or several, which stand side by side.
        names: what to call each of them, or none.
        language: of the controls, one of ``viz.browser.texts.LANGUAGES`` ("en", "ko").
        theme: "light" or "dark".
        height: of the frame in a notebook, in pixels.

    Raises ValueError for no trace, numbers in a trace that are no attention (``AttentionTrace.check``), another number
    of names than of traces, and an unknown language or theme.

    >>> from model import AttentionTrace
    >>> tokens, weights = ("나", "는"), np.array([[[[0.75, 0.25], [0.5, 0.5]]]])  # one layer, one head
    >>> page = explore(AttentionTrace(source_tokens=tokens, encoder_attention=weights))
    >>> page.page.startswith(b"<!DOCTYPE html>")
    True
    """
    traces = tuple(traces) if isinstance(traces, Iterable) else (traces,)
    names = tuple(names) or ("",) * len(traces)
    if not traces:
        raise ValueError("explore needs a trace, received none")
    if len(names) != len(traces):
        raise ValueError(f"{len(traces)} traces should have as many names, received {len(names)}, or none")
    if language not in LANGUAGES:
        raise ValueError(f"language should be one of {tuple(LANGUAGES)}, received {language!r}")
    say = _say_in(language)
    parts = []
    for place, (trace, name) in enumerate(zip(traces, names, strict=True)):
        trace.check()
        parts.append(
            Component(f"explorer-{place}", EXPLORE, {"name": name} | explorer_data(say, trace, theme))
        )
    page = document(
        language=language,
        theme=theme,
        title=" · ".join(filter(None, names)) or say("product"),
        body=f'<div class="explorers">{"".join(map(component, parts))}</div>',
        no_script=say("take_away_no_script"),
        components=parts,
        used=(PLOT, LINES, STEPS),
        font=False,
    )
    return Exploration(page, height)


def _say_in(language: str) -> Say:
    """The texts in words that fit any network; the app's own where there are no such words."""
    texts = table(language)

    def say(key: str, /, **values: object) -> str:
        own = f"explore_{key}"
        return texts[own if own in texts else key].format(**values)

    return say


def explorer_data(say: Say, trace: Trace, theme: str) -> dict:
    """Everything that ``explore.js`` needs to draw any head of ``trace``, as JSON.

    Each figure comes without its weights, which ``explore.js`` fills in.
    """
    count = sum(trace.attention(kind).size for kind in trace.kinds)
    unit = UNIT if count <= MANY_WEIGHTS else COARSE_UNIT
    return {
        "unit": unit,
        "kinds": [_kind(say, trace, kind, unit, theme) for kind in trace.kinds],
        "steps": _steps(say, trace, theme),
        "words": {
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
            "mass": say("mass_label"),
            "hidden": say("lines_hidden", drawn="{drawn}", hidden="{hidden}"),
            "note": say("explore_note", step=f"{1 / unit:g}"),
        },
    }


def _kind(say: Say, trace: Trace, kind: str, unit: int, theme: str) -> dict:
    weights = np.clip(trace.attention(kind), 0, 1)
    queries, keys = trace.axes(kind)
    masked = np.triu(np.ones((len(queries), len(keys)), bool), 1) if kind == "decoder_attention" else None
    padded = trace.padded(kind)
    texts = map_texts(say, kind)
    label = say(f"kind_{kind}")
    overview = head_grid.specification(
        weights,
        layer_title=say("layer_label"),
        head_title=say("head_label"),
        weight_title=say("hover_weight"),
        masked=padded if masked is None else masked | padded,
        scale=False,
        theme=theme,
    )
    maps = {
        name: attention_heatmap.specification(
            weights[0, 0],
            queries,
            keys,
            texts=texts,
            masked=masked,
            padded=padded,
            logarithmic=name == "logarithmic",
            theme=theme,
        )
        for name in ("linear", "logarithmic")
    }
    return {
        "kind": kind,
        "label": label,
        "shape": weights.shape,
        "weights": packed_weights(weights, unit),
        "joined": cells_joined(len(queries), len(keys)),
        "masked": "" if masked is None else _note(texts.masked),
        "padded": {"told": _note(texts.padded), **_padded_lines(trace, kind, padded)},
        "overview": _without_weights(say, overview, f"overview-{kind}", label, theme),
        "maps": {name: _without_weights(say, map_, kind, label, theme) for name, map_ in maps.items()},
        "lines": without_font_file(lines_data(say, trace, kind, [], mass=0, label=label, theme=theme)),
    }


def packed_weights(weights: np.ndarray, unit: int) -> str:
    """Weights in 0..1 as base64 of deflated bytes: all low bytes of their multiples of 1 / unit, then all high
    ones, most of which are 0."""
    numbers = np.rint(weights * unit).astype("<u2").ravel()
    return b64encode(zlib.compress(numbers.view(np.uint8).reshape(-1, 2).T.tobytes())).decode()


def _without_weights(say: Say, figure: Specification, file: str, label: str, theme: str) -> dict:
    """What ``plot.js`` draws, but for the numbers of the heatmap and what is written over masked cells."""
    data = plot_data(say, figure, label=label, file=file, theme=theme)
    spec = json.loads(data["spec"])
    for name in ("z", "text"):
        spec["data"][0].pop(name, None)
    return data | {"spec": spec}


def _note(reason: str) -> str:
    """What the hover adds about a cell that holds nothing."""
    return f" ({template_text(reason)})"


def _padded_lines(trace: Trace, kind: str, padded: np.ndarray) -> dict[str, list[int]]:
    """The rows and the columns of which ``padded`` (Q, K) consists."""
    rows, columns = trace.padding(kind)
    shown = padded[~rows].all(axis=0) & columns if not rows.all() else np.zeros(len(columns), bool)
    return {"rows": np.flatnonzero(rows).tolist(), "columns": np.flatnonzero(shown).tolist()}


def _steps(say: Say, trace: Trace, theme: str) -> dict | None:
    """What ``steps.js`` replays, without the attention; None where the trace has too little of it."""
    if trace.log_probabilities is None or not trace.alternatives or len(trace.alternatives[0]) < 2:
        return None
    kinds = {"cross_attention", "decoder_attention"}.intersection(trace.kinds)
    empty = {kind: np.zeros(trace.attention(kind).shape[2:], np.float32) for kind in kinds}
    data = steps_data(say, trace, (), weights=empty.__getitem__, place="", step=1, theme=theme)
    return without_font_file(data)
