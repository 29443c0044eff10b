"""Finds where the changes of a text stand among the tokens of a trace. Tokens may be characters or pieces of words."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from model.text.changes import Change
from model.trace.trace import AttentionTrace, Spans

# What tokenizers call the marks at the ends of a text, and padding.
MARKS = frozenset(
    ("<s>", "</s>", "<pad>", "<bos>", "<eos>", "[CLS]", "[SEP]", "[PAD]", "<|endoftext|>", "[START]", "[END]")
)


def by_character(tokens: Sequence[str]) -> bool:
    """Whether each token is one character, except for the end mark."""
    return bool(tokens) and tokens[-1] in MARKS and all(len(token) == 1 for token in tokens[:-1])


def one_token_a_character(trace: AttentionTrace, side: str) -> bool:
    """Whether the tokens of "source" or "target" are exactly the characters of its text. (A trace of characters may leave
    some out, such as spaces; then they are not.)
    """
    tokens, spans = getattr(trace, f"{side}_tokens"), getattr(trace, f"{side}_spans")
    return by_character(tokens) and spans in (None, _one_after_the_other(tokens))


def _one_after_the_other(characters: Sequence[str]) -> Spans:
    """The spans of tokens that are characters, and of the end mark behind them."""
    last = len(characters) - 1
    return (*((place, place + 1) for place in range(last)), (last, last))


def text_of(trace: AttentionTrace, side: str) -> str | None:
    """The text of "source" or "target". If the trace has no text, its tokens joined if they are characters; else None."""
    tokens, text = getattr(trace, f"{side}_tokens"), getattr(trace, f"{side}_text")
    if text is None and by_character(tokens):
        return "".join(tokens[:-1]).replace("␣", " ")
    return text


def spans_of(trace: AttentionTrace, side: str) -> Spans | None:
    """Where each token of "source" or "target" stands in ``text_of``; None if that is not known."""
    tokens, spans = getattr(trace, f"{side}_tokens"), getattr(trace, f"{side}_spans")
    if spans is None and by_character(tokens):
        return _one_after_the_other(tokens)
    return spans


def changes_in_tokens(trace: AttentionTrace, changes: Sequence[Change]) -> tuple[Change, ...] | None:
    """The same ``changes`` with offsets that count the tokens of a trace; ``wrong`` and ``right`` stay.

    A token that a change touches belongs to it, so two changes may share a token. On a side without tokens the offsets are 0.
    None if the trace does not say where its tokens stand.
    """
    placed = list(changes)
    for side in ("source", "target"):
        tokens, spans = getattr(trace, f"{side}_tokens"), spans_of(trace, side)
        if tokens and spans is None:
            return None
        for number, each in enumerate(changes):
            start, end = _touched(spans or (), getattr(each, f"{side}_start"), getattr(each, f"{side}_end"))
            moved: dict[str, Any] = {f"{side}_start": start, f"{side}_end": end}
            placed[number] = replace(placed[number], **moved)
    return tuple(placed)


def in_tokens(
    trace: AttentionTrace, change: Change, changes: Sequence[Change]
) -> tuple[Change, tuple[Change, ...]]:
    """One of ``changes``, and all of them, with offsets that count the tokens of a trace between the same texts.

    Raises ValueError for a change that is not among them, and where the trace does not say where its tokens stand.
    """
    if change not in changes:
        places = [each.place for each in changes]
        raise ValueError(f"the change should be one of {places} and its words, received {change.place}")
    placed = changes_in_tokens(trace, changes)
    if placed is None:
        raise ValueError("the trace should have source_spans and target_spans")
    return placed[list(changes).index(change)], placed


def _touched(spans: Spans, start: int, end: int) -> tuple[int, int]:
    """The tokens (first, one behind the last) that hold the characters start..end. If start equals end: the token around that
    place, or the gap before the next token; at the end of the text the gap before the end mark.
    """
    touched = [n for n, (first, last) in enumerate(spans) if first < end and start < last]
    if touched:  # also where start == end lies inside a token
        return touched[0], touched[-1] + 1
    following = (n for n, (first, last) in enumerate(spans) if start <= first < last)
    after = 1 + max((n for n, (first, last) in enumerate(spans) if first < last), default=-1)
    gap = min(next(following, after), max(len(spans) - 1, 0))
    return gap, gap
