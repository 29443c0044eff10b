"""The sentence that tells how to read one attention map, computed from that map."""

from collections.abc import Callable, Sequence

import numpy as np

from model.changes import Change
from model.trace import AttentionTrace

Say = Callable[..., str]
_MARKS = {"␣": "token_space", "<s>": "token_start", "</s>": "token_end"}


def attention_of(trace: AttentionTrace, kind: str, layer: int | None, head: int | None) -> np.ndarray:
    """(Q, K) float32: one head of one layer; the mean over the layers or heads that are None."""
    maps = trace.attention(kind)  # (L, H, Q, K)
    maps = maps if layer is None else maps[layer : layer + 1]
    maps = maps if head is None else maps[:, head : head + 1]
    return maps[0, 0] if maps.shape[:2] == (1, 1) else maps.mean(axis=(0, 1), dtype=np.float32)


def place(say: Say, trace: AttentionTrace, layer: int | None, head: int | None) -> str:
    """The words for one head of one layer, both counted from 0, or for the mean over those that are None."""
    if trace.num_layers == trace.num_heads == 1:
        return say("place_only")
    if layer is None:
        return say("place_all") if head is None else say("place_mean_layers", head=head + 1)
    return (
        say("place_mean", layer=layer + 1)
        if head is None
        else say("place_head", layer=layer + 1, head=head + 1)
    )


def look_ahead_mask(trace: AttentionTrace, kind: str) -> np.ndarray | None:
    """(Q, K) bool, True where the decoder may not look; None for the kinds without such a mask."""
    if kind != "decoder_attention":
        return None
    length = len(trace.target_tokens)
    return np.triu(np.ones((length, length), dtype=bool), k=1)


def changed_rows(changes: Sequence[Change], kind: str, rows: int) -> list[int]:
    """The rows that a change concerns; where nothing was written (or typed), the row that follows."""
    found = set()
    for change in changes:
        start, end = _side(change, kind)
        found.update(range(start, max(end, start + 1)))
    return sorted(row for row in found if row < rows)


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
    return sentence[0].upper() + sentence[1:]


def _side(change: Change, kind: str) -> tuple[int, int]:
    if kind == "encoder_attention":
        return change.source_start, change.source_end
    return change.target_start, change.target_end


def _change(say: Say, change: Change) -> str:
    return say(f"change_{what_happened(change)}", wrong=visible(change.wrong), right=visible(change.right))


def what_happened(change: Change) -> str:
    """ "replaced", "inserted" or "deleted", as the names of texts end."""
    return "replaced" if change.wrong and change.right else "inserted" if change.right else "deleted"


def visible(text: str) -> str:
    """Blanks and line ends as signs."""
    return text.replace(" ", "␣").replace("\n", "↵")


def _token(say: Say, token: str) -> str:
    return say(_MARKS[token]) if token in _MARKS else say("token", token=token)
