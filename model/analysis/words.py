"""Attention between words (어절) instead of tokens: the rows of a word are averaged, its columns are added."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from model.text.tokenizer import SPECIAL_TOKENS, VISIBLE_SPACE
from model.trace.trace import AttentionTrace, Spans

WordSpans = tuple[tuple[int, int], ...]  # (start, end) of each word among the tokens; they leave nothing out


@dataclass(frozen=True)
class WordAxis:
    """One axis of an attention map in words: which tokens each has, and what it is called."""

    words: WordSpans
    labels: tuple[str, ...]


def word_axes(trace: AttentionTrace, kind: str) -> tuple[WordAxis, WordAxis]:
    """(rows, columns) of a kind of attention in words.

    A side's words are those that the trace was given; else what white space separates in its text, where its tokens
    have spans; else in the tokens themselves. The columns of decoder self-attention are the words of the rows, one
    token later.

    Raises ValueError for a kind that the trace lacks.
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
    """The text of each word; its tokens if there is no text, as for marks."""
    labels = word_labels(tokens, words)
    if spans is None or text is None:
        return labels
    pieces = (text[spans[start][0] : spans[end - 1][1]].strip() for start, end in words)
    return tuple(piece or label for piece, label in zip(pieces, labels, strict=True))


def _one_later(words: WordSpans, size: int) -> WordSpans:
    """The same words shifted by one token. The start mark becomes a word of its own, and the last token falls away."""
    moved = ((start + 1, min(end + 1, size)) for start, end in words)
    return tuple(pair for pair in ((0, min(1, size)), *moved) if pair[0] < pair[1])


def words_in_text(text: str, spans: Spans) -> WordSpans:
    """Where the words of a text stand among its tokens, by the characters from which each token was made.

    A token begins a word if white space lies between the last visible character before it and its first one. A token of
    white space belongs to the word before it. A token without characters is a word of its own. A text without white
    space is one word.
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
    """Where the words of a sentence stand among its tokens: every token is in one of them, in order.

    A space belongs to the word before it. Marks such as ``</s>`` stand alone; so do spaces that have no
    word before them.
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
    """What to call each word: its characters without the spaces behind them, or spaces that stand alone."""
    labels = []
    for start, end in words:
        last = end
        while last > start and _is_space(tokens[last - 1]):
            last -= 1
        labels.append("".join(tokens[start : last if last > start else end]))
    return tuple(labels)


def by_word(weights: np.ndarray, query_words: WordSpans, key_words: WordSpans) -> np.ndarray:
    """(..., Q, K) -> (..., query words, key words): what a word looks at.

    A row is the mean of its characters' rows, a column the sum of its characters' columns. So rows that
    sum to 1 still do, and a long word collects what its characters were given.

    Raises ValueError for words that do not cover the axes from end to end.
    """
    weights = np.asarray(weights)
    queries, keys = (
        _starts(spans, size) for spans, size in zip((query_words, key_words), weights.shape[-2:])
    )
    lengths = np.diff([*queries, weights.shape[-2]])
    sums = np.add.reduceat(np.add.reduceat(weights, keys, axis=-1), queries, axis=-2)
    return sums / lengths[:, None].astype(weights.dtype)


def masked_by_word(masked: np.ndarray, query_words: WordSpans, key_words: WordSpans) -> np.ndarray:
    """(Q, K) bool -> (query words, key words) bool: where all of a word is hidden from all of another."""
    queries, keys = (_starts(spans, size) for spans, size in zip((query_words, key_words), masked.shape))
    return np.logical_and.reduceat(np.logical_and.reduceat(masked, keys, axis=1), queries, axis=0)


def _starts(words: WordSpans, size: int) -> np.ndarray:
    starts, ends = [start for start, _ in words], [end for _, end in words]
    whole = bool(words) and [*starts, size] == [0, *ends] and all(start < end for start, end in words)
    if not whole:
        raise ValueError(f"words should cover {size} tokens one after the other, received {words}")
    return np.array(starts)
