"""The sentence that tells how to read one attention map, computed from that map."""

from collections.abc import Sequence

import numpy as np

from model.text.changes import Change
from model.trace.trace import AttentionTrace
from viz.browser.texts import Say, visible, what_happened

_MARKS = {"␣": "token_space", "<s>": "token_start", "</s>": "token_end"}


def changed_rows(changes: Sequence[Change], kind: str, rows: int) -> list[int]:
    """The rows that a change concerns. Where it has no character on this side, the row that follows."""
    found: set[int] = set()
    for change in changes:
        start, end = _side(change, kind)
        found.update(range(start, max(end, start + 1)))
    return sorted(row for row in found if row < rows)


def caption(say: Say, kind: str, changes: Sequence[Change], *, difference: bool = False) -> str:
    """How to read a map of this kind. Where something was corrected, it also says that bold labels mark it."""
    read = say(f"heatmap_difference_{kind}" if difference else f"caption_{kind}")
    marked = bool(changes) and (kind != "decoder_attention")
    return f"{read} {say('bold_corrected')}" if marked else read


def describe(
    say: Say, trace: AttentionTrace, weights: np.ndarray, kind: str, changes: Sequence[Change], place: str
) -> str:
    """What the first changed row of ``weights`` (Q, K) looks at most; the first row where nothing changed.

    ``place`` names the layer and the head.
    """
    queries, keys = trace.axes(kind)
    start = _side(changes[0], kind)[0] if changes else 0
    row = min(start, len(queries) - 1)
    key = int(weights[row].argmax())
    sentence = say(
        f"reading_{kind}",
        change=_change(say, changes[0]) if changes else "",
        place=place,
        query=_token(say, queries[row]),
        key=_token(say, keys[key]),
        weight=f"{weights[row, key]:.2f}",
    ).strip()
    return capital(sentence)


def capital(text: str) -> str:
    """``text`` with a capital letter at its beginning, as a sentence has it.

    >>> capital("layer 1"), capital("")
    ('Layer 1', '')
    """
    return text[:1].upper() + text[1:]


def _side(change: Change, kind: str) -> tuple[int, int]:
    if kind == "encoder_attention":
        return change.source_start, change.source_end
    return change.target_start, change.target_end


def _change(say: Say, change: Change) -> str:
    return say(f"change_{what_happened(change)}", wrong=visible(change.wrong), right=visible(change.right))


def _token(say: Say, token: str) -> str:
    return say(_MARKS[token]) if token in _MARKS else say("token", token=token)
