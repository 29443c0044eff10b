"""Where the changes of a text stand among the tokens of a trace, whatever the tokens are: characters or subwords."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from model.text.changes import Change
from model.trace.trace import AttentionTrace, Spans

# What tokenizers call the ends of a text and what fills it up.
MARKS = frozenset(
    ("<s>", "</s>", "<pad>", "<bos>", "<eos>", "[CLS]", "[SEP]", "[PAD]", "<|endoftext|>", "[START]", "[END]")
)


def by_character(tokens: Sequence[str]) -> bool:
    """Whether each token is one character, but for the end mark."""
    return bool(tokens) and tokens[-1] in MARKS and all(len(token) == 1 for token in tokens[:-1])


def one_token_a_character(trace: AttentionTrace, side: str) -> bool:
    """Whether the tokens of "source" or "target" are all characters of its text, one after the other. A trace of characters
    may leave some out, such as spaces."""
    tokens, spans = getattr(trace, f"{side}_tokens"), getattr(trace, f"{side}_spans")
    return by_character(tokens) and spans in (None, _one_after_the_other(tokens))


def _one_after_the_other(characters: Sequence[str]) -> Spans:
    """The spans of tokens that are characters, and of the end mark behind them."""
    last = len(characters) - 1
    return (*((place, place + 1) for place in range(last)), (last, last))


def text_of(trace: AttentionTrace, side: str) -> str | None:
    """The text of "source" or "target", where the trace has it or its tokens are characters; else None."""
    tokens, text = getattr(trace, f"{side}_tokens"), getattr(trace, f"{side}_text")
    if text is None and by_character(tokens):
        return "".join(tokens[:-1]).replace("␣", " ")
    return text


def spans_of(trace: AttentionTrace, side: str) -> Spans | None:
    """Where each token of "source" or "target" stands in ``text_of``; None where nobody knows."""
    tokens, spans = getattr(trace, f"{side}_tokens"), getattr(trace, f"{side}_spans")
    if spans is None and by_character(tokens):
        return _one_after_the_other(tokens)
    return spans


def changes_in_tokens(trace: AttentionTrace, changes: Sequence[Change]) -> tuple[Change, ...] | None:
    """``changes`` between the texts of a trace with offsets that count its tokens; ``wrong`` and ``right`` stay.

    A token that a change touches belongs to it, so two changes may share one. A side without tokens has the offset
    0. None where the trace does not say where its tokens stand.
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


def _touched(spans: Spans, start: int, end: int) -> tuple[int, int]:
    """The tokens (first, one behind the last) that hold the characters start..end. Of no characters, the token around
    them, or the gap before the token that follows; at the end, that before the end mark."""
    touched = [n for n, (first, last) in enumerate(spans) if first < end and start < last]
    if touched:  # also where start == end lies inside a token
        return touched[0], touched[-1] + 1
    following = (n for n, (first, last) in enumerate(spans) if start <= first < last)
    after = 1 + max((n for n, (first, last) in enumerate(spans) if first < last), default=-1)
    gap = min(next(following, after), max(len(spans) - 1, 0))
    return gap, gap
