"""Attention that each token receives, the mean over a map's queries: one of the heatmap view's pictures."""

import numpy as np

import viz
from ui.sentence.state import SentenceState
from ui.views.view import Figures, map_label
from ui.wording import say
from viz.labels import visible_token, weight


def _received(state: SentenceState) -> np.ndarray:
    """(K,) float32 in 0..1: the mean weight that each key gets from the rows that may look at it."""
    weights, allowed = state.weights[state.read_rows], _allowed(state)
    return (weights.sum(axis=0) / np.maximum(allowed.sum(axis=0), 1)).astype(np.float32)


def _allowed(state: SentenceState) -> np.ndarray:
    """(rows that are no padding, K) bool: which of them may look at which key."""
    everywhere = np.ones(state.weights.shape, bool) if state.masked is None else ~state.masked
    return everywhere[state.read_rows]


def figures_of(state: SentenceState) -> Figures:
    """One bar a key; those that the changes concern are outlined. The bars are (K,)."""
    figure = viz.attention_bars(
        _received(state)[None],
        state.keys,
        [state.place],
        outlined=state.changed_columns,
        outlined_title=say("received_changed"),
        first=1,
        token_title=say(f"key_{state.kind}"),
        hover=(say("hover_key"), say("received_mean")),
        theme=state.theme,
    )
    return {"received": (figure, map_label(state))}


def describe(state: SentenceState) -> str:
    """The key that receives most, beside an even look at all keys."""
    found = _received(state)
    most = int(found.argmax())
    even = float(state.weights[state.read_rows].sum() / max(_allowed(state).sum(), 1))
    return say(
        "received_reading",
        key=visible_token(state.keys[most]),
        position=most + 1,
        weight=weight(found[most]),
        times=f"{found[most] / even:.1f}",
        place=state.place,
    )


def notes(state: SentenceState) -> list[str]:
    """How the bars are to be read."""
    return [say("received_note"), *([say("received_masked")] if state.masked is not None else [])]
