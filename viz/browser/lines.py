"""JSON for ``lines.js``: attention as lines between two columns of tokens."""

from collections.abc import Iterable, Sequence
from itertools import groupby
from operator import itemgetter

import numpy as np

from viz.browser.document import SAVING, TYPE, appearance, read_script
from viz.browser.texts import Say, Trace
from viz.labels import visible_token
from viz.theme import LINE_DASHES

# Weights are float32: a few of them that should sum to the wanted mass may miss it by this much.
ROUNDING = 1e-6


def strongest_edges(weights: np.ndarray, mass: float) -> list[tuple[int, int, float]]:
    """(query, key, weight) of the fewest keys of each row that together carry at least ``mass`` of it.

    Rows in their order, within a row the strongest first (of equal ones the one on the left). ``mass`` is a
    share of the row's sum, met within a millionth: 0 keeps nothing, 1 all that is no rounding error.

    Args:
        weights: (Q, K), none negative.
        mass: in 0..1.

    Raises:
        ValueError: a mass or weights outside their range.
    """
    weights = np.asarray(weights)
    if weights.ndim != 2 or (weights < 0).any():
        raise ValueError(f"weights should be (Q, K) and not negative, received {weights.shape}: {weights}")
    if not 0.0 <= mass <= 1.0:
        raise ValueError(f"mass should be in 0..1, received {mass!r}")
    order = np.argsort(-weights, axis=1, kind="stable")  # (Q, K)
    ranked = np.take_along_axis(weights, order, axis=1).astype(np.float64)
    before = np.cumsum(ranked, axis=1) - ranked  # the sum of the stronger keys of the row
    wanted = ranked.sum(axis=1, keepdims=True) * mass - ROUNDING
    rows, ranks = np.nonzero((before < wanted) & (ranked > 0))
    keys = order[rows, ranks]
    return list(zip(rows.tolist(), keys.tolist(), weights[rows, keys].tolist(), strict=True))


MOST_HEADS = len(LINE_DASHES)  # as many as have distinct dashes
MOST_LINES = 4096  # a browser draws these without a pause
MASSES = range(10, 96, 5)  # percent of a row's weight that its lines carry together, as offered
USUAL_MASS = 60
DIGITS = 3  # of a weight

LINES = read_script(
    "lines",
    "dom.js",
    "save.js",
    "type.js",
    "room.js",
    "lines_layout.js",
    "lines.js",
    constants={**SAVING, **TYPE, "DASHES": LINE_DASHES},
)

WeightedLine = tuple[int, int, float]  # query, key, weight


def lines_data(
    say: Say,
    trace: Trace,
    kind: str,
    heads: Sequence[tuple[str, np.ndarray]],
    *,
    mass: float,
    label: str,
    changed: tuple[Iterable[int], Iterable[int]] = ((), ()),
    isolated: Sequence[int] = (),
    file: str = "attention-lines",
    theme: str = "light",
) -> dict:
    """Everything that ``lines.js`` draws, as JSON; typed text stays as it is, the browser writes it as text.

    Args:
        heads: (name, weights (Q, K)) of each drawn map, at most MOST_HEADS.
        mass: share of each row, in 0..1, that its lines carry together at least.
        label: a description of the picture.
        changed: rows and columns whose tokens are bold.
        isolated: rows whose lines are seen alone until the visitor lets go of them.
        file: the file name of a saved picture, without ending.

    Raises:
        ValueError: too many heads, for weights that do not fit the tokens, and for a wrong mass.
    """
    queries, keys = trace.axes(kind)
    expected = (len(queries), len(keys))
    if len(heads) > MOST_HEADS:
        raise ValueError(f"at most {MOST_HEADS} heads can be told apart, received {len(heads)}")
    for name, weights in heads:
        if np.shape(weights) != expected:
            raise ValueError(
                f"weights of {name!r} should be (Q, K) = {expected}, received {np.shape(weights)}"
            )
    # Rounding in a mean over heads may leave a weight outside 0..1.
    found = [strongest_edges(np.clip(weights, 0, 1), mass) for _, weights in heads]
    drawn = thinned(found)
    hidden = sum(map(len, found)) - sum(map(len, drawn))
    return {
        "label": label,
        "query_title": say(f"query_{kind}"),
        "key_title": say(f"key_{kind}"),
        "queries": _tokens(say, queries, changed[0]),
        "keys": _tokens(say, keys, changed[1]),
        "heads": [
            {"name": name, "edges": [[query, key, round(weight, DIGITS)] for query, key, weight in edges]}
            for (name, _), edges in zip(heads, drawn, strict=True)
        ],
        "isolated": list(isolated),
        "words": {
            "legend": say("lines_legend"),
            "all": say("lines_all"),
            "told": say("lines_told"),
            "hint": say("lines_hint"),
            "none": say("lines_none"),
            "png": say("lines_save", format="PNG"),
            "svg": say("lines_save", format="SVG"),
            "hidden": say("lines_hidden", drawn=f"{sum(map(len, drawn)):,}", hidden=f"{hidden:,}")
            if hidden
            else "",
        },
        **appearance(theme, file, "text", "quiet_text", "grid", "gap", "accent", "qualitative"),
    }


def _tokens(say: Say, tokens: Sequence[str], changed: Iterable[int]) -> list[dict]:
    """A repeated token keeps its own place, which is part of its name."""
    changed = set(changed)
    signs = [visible_token(token) for token in tokens]
    return [
        {"sign": sign, "name": say("lines_name", token=sign, place=place + 1), "changed": place in changed}
        for place, sign in enumerate(signs)
    ]


def thinned(heads: Sequence[list[WeightedLine]]) -> list[list[WeightedLine]]:
    """At most MOST_LINES of the lines: every row of every head may keep the same number, but at least one.

    Leaving out the weakest of all lines instead would empty the rows that spread their attention. Rows come
    in their order, in each row the strongest line first, as ``strongest_edges`` has it.
    """
    rows = [[list(row) for _, row in groupby(edges, key=itemgetter(0))] for edges in heads]
    sizes = np.array([len(row) for head in rows for row in head])
    allowed = sizes.max(initial=0)
    while allowed > 1 and np.minimum(sizes, allowed).sum() > MOST_LINES:
        allowed -= 1
    return [[edge for row in head for edge in row[:allowed]] for head in rows]
