"""The view *looked at*: how much attention each token receives, the mean over the rows of a map."""

import numpy as np
import plotly.graph_objects as go

import viz
from ui import wording
from ui.components import figures
from ui.sentence.state import Lens
from ui.views.view import Values, View, declare, file_name, picture_title
from ui.wording import say
from viz.labels import visible_token


def received(lens: Lens) -> np.ndarray:
    """(K,) float32 in 0..1: the mean weight that each key gets from the rows that may look at it."""
    weights, allowed = lens.weights[lens.read_rows], _allowed(lens)
    return (weights.sum(axis=0) / np.maximum(allowed.sum(axis=0), 1)).astype(np.float32)


def _allowed(lens: Lens) -> np.ndarray:
    """(rows that are no padding, K) bool: which of them may look at which key."""
    everywhere = np.ones(lens.weights.shape, bool) if lens.masked is None else ~lens.masked
    return everywhere[lens.read_rows]


def draw(lens: Lens, values: Values) -> None:
    figures.draw(
        picture(lens), "received", file_name(lens, "received"), label=lens.place, title=picture_title(lens)
    )


def picture(lens: Lens) -> go.Figure:
    """One bar a key; those that the changes concern are outlined."""
    return viz.attention_bars(
        received(lens)[None],
        lens.keys,
        [lens.place],
        outlined=changed_columns(lens),
        outlined_title=say("received_changed"),
        first=1,
        token_title=say(f"key_{lens.kind}"),
        hover=(say("hover_key"), say("received_mean")),
        theme=lens.theme,
    )


def changed_columns(lens: Lens) -> list[int]:
    """The keys that the changes concern: what was read, or what was written and then read again."""
    if lens.kind == "decoder_attention":  # column j holds what row j - 1 wrote
        return [row + 1 for row in lens.rows if row + 1 < len(lens.keys)]
    return wording.changed_rows(lens.changes, "encoder_attention", len(lens.keys))


def describe(lens: Lens, values: Values) -> str:
    """Which key is looked at most, and how much more than if all were looked at alike."""
    found = received(lens)
    most = int(found.argmax())
    even = float(lens.weights[lens.read_rows].sum() / max(_allowed(lens).sum(), 1))
    return say(
        "received_reading",
        key=visible_token(lens.keys[most]),
        position=most + 1,
        weight=f"{found[most]:.2f}",
        times=f"{found[most] / even:.1f}",
        place=lens.place,
    )


def notes(lens: Lens, values: Values) -> list[str]:
    return [say("received_note"), *([say("received_masked")] if lens.masked is not None else [])]


VIEW = declare(View("received", "attention", 70, describe, draw, (), notes))
