"""Two passes side by side: which token of one corresponds to which of the other, and how their attention differs."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from model.analysis.edits import copy_positions
from model.text.changes import find_changes
from model.trace.trace import AttentionTrace


def counterparts(one: str, other: str) -> np.ndarray:
    """(len(other) + 1,) int: for each token of ``other`` the token of ``one`` that corresponds to it; -1 if none does.

    Characters that both share correspond to each other, and so do the end marks.
    """
    positions = copy_positions(find_changes(one, other), len(one) + 1, len(other) + 1)
    # In a replacement these are one to one: another character is no counterpart.
    same = [i == len(other) or one[at : at + 1] == other[i] for i, at in enumerate(positions.tolist())]
    return np.where(same, positions, -1)


def aligned_difference(
    kind: str, one: AttentionTrace, other: AttentionTrace, weights: tuple[np.ndarray, np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    """The weights of ``other`` minus those of ``one``, on the axes of ``other``.

    ``weights``: (Q, K) of each trace for the attention ``kind``. Returns the difference (Q', K') float32 in -1..1, and
    bool of the same shape, True where one of the two tokens has no counterpart: there the difference is 0. A row with
    tokens that have none may sum to anything, because the weight that went to them is left out.

    Raises ValueError for weights that do not have the shape of their trace.

    >>> one, other = corrector.trace("밥", "밥"), corrector.trace("밥요", "밥요")
    >>> weights = tuple(trace.encoder_attention.mean(axis=(0, 1)) for trace in (one, other))
    >>> difference, without = aligned_difference("encoder_attention", one, other, weights)
    >>> difference.shape, without[1].tolist()  # the row of 요, which has no counterpart
    ((3, 3), [True, True, True])
    """
    for trace, map_ in zip((one, other), weights, strict=True):
        if np.shape(map_) != (expected := trace.attention(kind).shape[2:]):
            raise ValueError(f"weights of {kind} should have the shape {expected}, received {np.shape(map_)}")
    rows, columns = (_matched(axis, one, other) for axis in _AXES[kind])
    missing = (rows < 0)[:, None] | (columns < 0)[None, :]
    found = weights[1] - weights[0][np.maximum(rows, 0)[:, None], np.maximum(columns, 0)[None, :]]
    return np.where(missing, 0, found).astype(np.float32), missing


_PRIVATE = 0xF0000  # the first of 65,534 characters that no text has
_AXES = {
    "encoder_attention": ("source", "source"),
    "decoder_attention": ("target", "read"),
    "cross_attention": ("target", "source"),
}


def _matched(axis: str, one: AttentionTrace, other: AttentionTrace) -> np.ndarray:
    """Where in ``one`` the tokens of an axis of ``other`` are."""
    name = "source_tokens" if axis == "source" else "target_tokens"
    written = counterparts(*_texts(getattr(one, name), getattr(other, name)))
    if axis != "read":
        return written
    # What was read is the start mark, then what was written before.
    return np.concatenate([[0], np.where(written[:-1] < 0, -1, written[:-1] + 1)])


def _texts(*sides: tuple[str, ...]) -> Iterator[str]:
    """The tokens of each side before its end mark, each as one character, so that positions are those of the tokens."""
    longer = dict.fromkeys(token for tokens in sides for token in tokens if len(token) != 1)
    names = {token: chr(_PRIVATE + number) for number, token in enumerate(longer)}
    return ("".join(names.get(token, token) for token in tokens[:-1]) for tokens in sides)
