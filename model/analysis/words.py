"""Attention between words (eojeol) instead of syllables."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from model.tokenizer import SPECIAL_TOKENS, VISIBLE_SPACE

Words = tuple[tuple[int, int], ...]  # (start, end) of each word among the tokens; they leave nothing out


def words(tokens: Sequence[str]) -> Words:
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


def word_labels(tokens: Sequence[str], words: Words) -> tuple[str, ...]:
    """What to call each word: its characters without the spaces behind them, or spaces that stand alone."""
    labels = []
    for start, end in words:
        last = end
        while last > start and _is_space(tokens[last - 1]):
            last -= 1
        labels.append("".join(tokens[start : last if last > start else end]))
    return tuple(labels)


def by_word(weights: np.ndarray, query_words: Words, key_words: Words) -> np.ndarray:
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


def masked_by_word(masked: np.ndarray, query_words: Words, key_words: Words) -> np.ndarray:
    """(Q, K) bool -> (query words, key words) bool: where all of a word is hidden from all of another."""
    queries, keys = (_starts(spans, size) for spans, size in zip((query_words, key_words), masked.shape))
    return np.logical_and.reduceat(np.logical_and.reduceat(masked, keys, axis=1), queries, axis=0)


def _starts(words: Words, size: int) -> np.ndarray:
    starts, ends = [start for start, _ in words], [end for _, end in words]
    whole = bool(words) and [*starts, size] == [0, *ends] and all(start < end for start, end in words)
    if not whole:
        raise ValueError(f"words should cover {size} tokens one after the other, received {words}")
    return np.array(starts)
