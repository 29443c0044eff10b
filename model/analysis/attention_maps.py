"""Attention maps: aggregation by word (어절), difference, entropy and distance of heads.

Shapes: L layers, H heads, Q query and K key positions; Q' and K' of the second trace.

Reference: Shannon, "A Mathematical Theory of Communication" (1948), section 6, for the entropy.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from model.analysis.edits import copy_positions
from model.text.changes import find_changes
from model.text.tokenizer import SPECIAL_TOKENS, VISIBLE_SPACE
from model.trace.checks import Spans
from model.trace.trace import AttentionTrace

WordSpans = tuple[tuple[int, int], ...]  # (start, end) of each word among the tokens; they leave nothing out


@dataclass(frozen=True)
class WordAxis:
    """One axis of an attention map in words: the tokens of each, and its label."""

    words: WordSpans
    labels: tuple[str, ...]


def word_axes(trace: AttentionTrace, kind: str) -> tuple[WordAxis, WordAxis]:
    """(rows, columns) of a kind of attention in words.

    A side's words are the trace's own; without them the text split at white space, where its tokens have
    spans; else the tokens themselves split so. The columns of decoder self-attention are the words of the
    rows, one token later.

    Raises:
        ValueError: for a kind that the trace lacks.

    Example:
        >>> rows, columns = word_axes(corrector.trace("나 밥", "나 밥"), "cross_attention")
        >>> columns.labels
        ('나', '밥', '</s>')
    """
    queries, keys = trace.axes(kind)
    if kind == "encoder_attention":
        rows = _axis(trace, "source", queries)
        return rows, rows
    rows = _axis(trace, "target", queries)
    if kind == "cross_attention":
        return rows, _axis(trace, "source", keys)
    later = _one_later(rows.words, len(keys))
    spans = trace.target_spans and ((0, 0), *trace.target_spans[:-1])
    return rows, WordAxis(later, _labels(keys, later, trace.target_text, spans))


def _axis(trace: AttentionTrace, side: str, tokens: Sequence[str]) -> WordAxis:
    given, text, spans = (getattr(trace, f"{side}_{part}") for part in ("words", "text", "spans"))
    if given is None:
        given = words(tokens) if spans is None else words_in_text(text, spans)
    return WordAxis(given, _labels(tokens, given, text, spans))


def _labels(
    tokens: Sequence[str], words: WordSpans, text: str | None, spans: Spans | None
) -> tuple[str, ...]:
    """The text of each word; without a text, as of marks, its tokens."""
    labels = word_labels(tokens, words)
    if spans is None or text is None:
        return labels
    pieces = (text[spans[start][0] : spans[end - 1][1]].strip() for start, end in words)
    return tuple(piece or label for piece, label in zip(pieces, labels, strict=True))


def _one_later(words: WordSpans, size: int) -> WordSpans:
    """The same words one token later.

    The start mark becomes a word of its own, and the last token falls away.
    """
    moved = ((start + 1, min(end + 1, size)) for start, end in words)
    return tuple(pair for pair in ((0, min(1, size)), *moved) if pair[0] < pair[1])


def words_in_text(text: str, spans: Spans) -> WordSpans:
    """(start, end) of each word of a text among its tokens, by the tokens' character spans.

    A token begins a word if white space lies between the last visible character before it and its first one.
    A token of white space belongs to the word before it. A token without characters is a word of its own. A
    text without white space is one word.

    >>> words_in_text("나 밥", ((0, 1), (1, 2), (2, 3)))
    ((0, 2), (2, 3))
    """
    # done: the end of the last visible character so far; alone: the next token begins a word
    starts, done, alone = [], 0, True
    for place, (start, end) in enumerate(spans):
        piece = text[start:end]
        visible = start + len(piece) - len(piece.lstrip())
        apart = piece.strip() and any(map(str.isspace, text[done:visible]))
        if not piece or alone or apart:
            starts.append(place)
        alone = not piece
        if piece.strip():
            done = start + len(piece.rstrip())
    return tuple(pairwise([*starts, len(spans)]))


def words(tokens: Sequence[str]) -> WordSpans:
    """(start, end) of each word among the tokens of a sentence: every token is in one of them, in order.

    A space belongs to the word before it. Marks such as ``</s>`` are alone, and so are spaces with no word
    before them.

    >>> words(["나", "␣", "밥", "</s>"])
    ((0, 2), (2, 3), (3, 4))
    """
    starts = [index for index in range(len(tokens)) if _begins_word(tokens, index)]
    return tuple(pairwise([*starts, len(tokens)]))


def _begins_word(tokens: Sequence[str], index: int) -> bool:
    if index == 0:
        return True
    token, before = tokens[index], tokens[index - 1]
    if token in SPECIAL_TOKENS or before in SPECIAL_TOKENS:
        return True
    return _is_space(before) and not _is_space(token)


def _is_space(token: str) -> bool:
    return token == VISIBLE_SPACE or token.isspace()


def word_labels(tokens: Sequence[str], words: WordSpans) -> tuple[str, ...]:
    """The label of each word: its characters without the spaces behind them, or spaces that are alone.

    >>> word_labels(["나", "␣", "밥"], ((0, 2), (2, 3)))
    ('나', '밥')
    """
    labels = []
    for start, end in words:
        last = end
        while last > start and _is_space(tokens[last - 1]):
            last -= 1
        labels.append("".join(tokens[start : last if last > start else end]))
    return tuple(labels)


def by_word(weights: np.ndarray, query_words: WordSpans, key_words: WordSpans) -> np.ndarray:
    """(..., Q, K) -> (..., query words, key words): attention between words.

    A row is the mean of its tokens' rows, a column the sum of its tokens' columns: rows that sum to 1 still
    do, and a long word collects the weight of all its tokens.

    Raises:
        ValueError: for words that do not cover the axes from end to end.

    Example:
        >>> by_word(np.full((2, 2), 0.5), ((0, 2),), ((0, 2),)).tolist()
        [[1.0]]
    """
    weights = np.asarray(weights)
    queries, keys = (
        _starts(spans, size) for spans, size in zip((query_words, key_words), weights.shape[-2:])
    )
    lengths = np.diff([*queries, weights.shape[-2]])
    sums = np.add.reduceat(np.add.reduceat(weights, keys, axis=-1), queries, axis=-2)
    return sums / lengths[:, None].astype(weights.dtype)


def masked_by_word(masked: np.ndarray, query_words: WordSpans, key_words: WordSpans) -> np.ndarray:
    """(Q, K) bool -> (query words, key words) bool: True where all of a word is masked for all of another."""
    queries, keys = (_starts(spans, size) for spans, size in zip((query_words, key_words), masked.shape))
    return np.logical_and.reduceat(np.logical_and.reduceat(masked, keys, axis=1), queries, axis=0)


def _starts(words: WordSpans, size: int) -> np.ndarray:
    starts, ends = [start for start, _ in words], [end for _, end in words]
    whole = bool(words) and [*starts, size] == [0, *ends] and all(start < end for start, end in words)
    if not whole:
        raise ValueError(f"words should cover {size} tokens one after the other, received {words}")
    return np.array(starts)


def counterparts(one: str, other: str) -> np.ndarray:
    """(len(other) + 1,) int: the token of ``one`` that corresponds to each token of ``other``; -1 for none.

    Shared characters correspond to each other, and so do the end marks.

    >>> counterparts("밥", "밥요").tolist()
    [0, -1, 1]
    """
    positions = copy_positions(find_changes(one, other), len(one) + 1, len(other) + 1)
    # In a replacement these are one to one: another character is no counterpart.
    same = [i == len(other) or one[at : at + 1] == other[i] for i, at in enumerate(positions.tolist())]
    return np.where(same, positions, -1)


def aligned_difference(
    kind: str, one: AttentionTrace, other: AttentionTrace, weights: tuple[np.ndarray, np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    """The weights of ``other`` minus those of ``one``, on the axes of ``other``.

    Args:
        weights: (Q, K) of each trace for the attention ``kind``.

    Returns:
        The difference (Q', K') float32 in -1..1, and bool of the same shape: True where one of the two tokens
        has no counterpart; there the difference is 0. A row with such tokens may sum to anything, because
        their weight is left out.

    Raises:
        ValueError: for weights that do not have the shape of their trace.

    Example:
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


_PRIVATE = 0xF0000  # the first of 65,534 characters that occur in no text
_AXES = {
    "encoder_attention": ("source", "source"),
    "decoder_attention": ("target", "read"),
    "cross_attention": ("target", "source"),
}


def _matched(axis: str, one: AttentionTrace, other: AttentionTrace) -> np.ndarray:
    """The positions in ``one`` of the tokens of an axis of ``other``; -1 for none."""
    name = "source_tokens" if axis == "source" else "target_tokens"
    written = counterparts(*_texts(getattr(one, name), getattr(other, name)))
    if axis != "read":
        return written
    # The start mark was read, then the tokens written before.
    return np.concatenate([[0], np.where(written[:-1] < 0, -1, written[:-1] + 1)])


def _texts(*sides: tuple[str, ...]) -> Iterator[str]:
    """The tokens of each side before its end mark, one character each, so that positions stay."""
    longer = dict.fromkeys(token for tokens in sides for token in tokens if len(token) != 1)
    names = {token: chr(_PRIVATE + number) for number, token in enumerate(longer)}
    return ("".join(names.get(token, token) for token in tokens[:-1]) for tokens in sides)


def entropy(weights: np.ndarray) -> np.ndarray:
    """(L, H) float32, in bits: the entropy of each head's attention, the mean over its rows.

    0: every row attends to a single key; log2(K): every row attends to all K keys alike. Keys without weight,
    such as masked ones, add nothing.

    Args:
        weights: (L, H, Q, K), rows that sum to 1.

    Raises:
        ValueError: for weights of another rank.

    Example:
        >>> entropy(np.array([[[[0.5, 0.5], [1.0, 0.0]]]])).tolist()  # rows of 1 bit and of 0 bits
        [[0.5]]
    """
    weights = _checked(weights)
    logarithms = np.log2(np.where(weights > 0, weights, 1))
    return _mean_over_rows(np.einsum("lhqk,lhqk->lhq", weights, -logarithms))


def distance(weights: np.ndarray, positions: np.ndarray) -> np.ndarray:
    """(L, H) float32, in tokens:

    the mean distance between a row's own position and the keys that it attends to.

    Args:
        weights: (L, H, Q, K), rows that sum to 1.
        positions: (Q,) the key position of each row, such as ``edits.row_positions``. Rows with -1 are left
            out; without
            any other row the distance is 0.

    Raises:
        ValueError: for shapes that do not fit each other.
    """
    weights, positions = _checked(weights), np.asarray(positions)
    if positions.shape != weights.shape[2:3]:
        raise ValueError(
            f"positions should have the shape (Q,) = {weights.shape[2:3]}, received {positions.shape}"
        )
    standing = positions >= 0
    steps = np.abs(np.arange(weights.shape[3], dtype=np.float32) - positions[standing, None])  # (R, K)
    return _mean_over_rows(np.einsum("lhqk,qk->lhq", weights[:, :, standing], steps))


def _checked(weights: np.ndarray) -> np.ndarray:
    weights = np.asarray(weights, np.float32)
    if weights.ndim != 4:
        raise ValueError(f"weights should have the shape (L, H, Q, K), received {weights.shape}")
    return weights


def _mean_over_rows(values: np.ndarray) -> np.ndarray:
    """(L, H, R) -> (L, H) float32, 0 where there are no rows."""
    return (values.sum(-1) / max(values.shape[-1], 1)).astype(np.float32)
