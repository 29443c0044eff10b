"""Attention to a change: its place in a map, leading heads, agreement with marked tokens.

Shapes: L layers, H heads, S source and T target tokens, Q query and K key positions, R rows and C columns of
a change.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from model.text.changes import Change, find_changes
from model.trace.checks import Spans
from model.trace.trace import AttentionTrace

# The names of tokenizers for the marks at the ends of a text, and for padding.
MARKS = frozenset(
    ("<s>", "</s>", "<pad>", "<bos>", "<eos>", "[CLS]", "[SEP]", "[PAD]", "<|endoftext|>", "[START]", "[END]")
)


def by_character(tokens: Sequence[str]) -> bool:
    """Whether each token is one character, except for the end mark.

    >>> by_character(["밥", "</s>"]), by_character(["밥을", "</s>"])
    (True, False)
    """
    return bool(tokens) and tokens[-1] in MARKS and all(len(token) == 1 for token in tokens[:-1])


def one_token_a_character(trace: AttentionTrace, side: str) -> bool:
    """Whether the tokens of "source" or "target" are exactly the characters of its text.

    They are not where a trace of characters leaves some out, such as spaces.
    """
    tokens, spans = getattr(trace, f"{side}_tokens"), getattr(trace, f"{side}_spans")
    return by_character(tokens) and spans in (None, _one_after_the_other(tokens))


def _one_after_the_other(characters: Sequence[str]) -> Spans:
    """The spans of tokens that are characters, and of the end mark behind them."""
    last = len(characters) - 1
    return (*((place, place + 1) for place in range(last)), (last, last))


def text_of(trace: AttentionTrace, side: str) -> str | None:
    """The text of "source" or "target"; without one, its tokens joined if they are characters; else None.

    >>> text_of(corrector.trace("밥", "밥"), "source")
    '밥'
    """
    tokens, text = getattr(trace, f"{side}_tokens"), getattr(trace, f"{side}_text")
    if text is None and by_character(tokens):
        return "".join(tokens[:-1]).replace("␣", " ")
    return text


def spans_of(trace: AttentionTrace, side: str) -> Spans | None:
    """(start, end) in characters of ``text_of`` of each token of "source" or "target"; None if unknown.

    >>> spans_of(corrector.trace("밥", "밥"), "source")
    ((0, 1), (1, 1))
    """
    tokens, spans = getattr(trace, f"{side}_tokens"), getattr(trace, f"{side}_spans")
    if spans is None and by_character(tokens):
        return _one_after_the_other(tokens)
    return spans


def changes_in_tokens(trace: AttentionTrace, changes: Sequence[Change]) -> tuple[Change, ...] | None:
    """The same ``changes`` with offsets that count the tokens of a trace; ``wrong`` and ``right`` stay.

    A token that a change touches belongs to it, so two changes may share a token. On a side without tokens
    the offsets are 0. None if the spans of the trace's tokens are unknown.
    """
    placed = list(changes)
    for side in ("source", "target"):
        tokens, spans = getattr(trace, f"{side}_tokens"), spans_of(trace, side)
        if tokens and spans is None:
            return None
        for number, each in enumerate(changes):
            start, end = _touched(spans or (), getattr(each, f"{side}_start"), getattr(each, f"{side}_end"))
            if side == "source":
                placed[number] = replace(placed[number], source_start=start, source_end=end)
            else:
                placed[number] = replace(placed[number], target_start=start, target_end=end)
    return tuple(placed)


def in_tokens(
    trace: AttentionTrace, change: Change, changes: Sequence[Change]
) -> tuple[Change, tuple[Change, ...]]:
    """Place one of ``changes``, and all of them, among the tokens of a trace of the same texts.

    Raises:
        ValueError: for a change that is not among them, and where the spans of the trace's tokens are
            unknown.
    """
    if change not in changes:
        places = [each.place for each in changes]
        raise ValueError(f"the change should be one of {places} and its words, received {change.place}")
    placed = changes_in_tokens(trace, changes)
    if placed is None:
        raise ValueError("the trace should have source_spans and target_spans")
    return replace(placed[list(changes).index(change)], asked=change.asked), placed


def _touched(spans: Spans, start: int, end: int) -> tuple[int, int]:
    """The tokens (first, one behind the last) of the characters start..end.

    If start equals end: the token around it, or the gap before the next token; at the end, the gap before the
    end mark.
    """
    touched = [n for n, (first, last) in enumerate(spans) if first < end and start < last]
    if touched:  # also where start == end lies inside a token
        return touched[0], touched[-1] + 1
    following = (n for n, (first, last) in enumerate(spans) if start <= first < last)
    after = 1 + max((n for n, (first, last) in enumerate(spans) if first < last), default=-1)
    gap = min(next(following, after), max(len(spans) - 1, 0))
    return gap, gap


@dataclass(frozen=True)
class Focus:
    """The rows that one change concerns in one kind of attention, and the columns of its evidence."""

    rows: tuple[int, ...]
    columns: tuple[int, ...]


@dataclass(frozen=True)
class EditAttention:
    """The share of its attention that each head gives to a change, and usually to such places."""

    share: np.ndarray  # (L, H) float32 in 0..1
    usual: np.ndarray  # (L, H) float32 in 0..1

    @property
    def beyond_usual(self) -> np.ndarray:
        """(L, H) float32 in -1..1: ``share - usual``."""
        return self.share - self.usual


class LeadingHead(NamedTuple):
    """A head, counted from 0, and its two shares of ``EditAttention``."""

    layer: int
    head: int
    share: float
    usual: float


def copy_positions(changes: Sequence[Change], source_length: int, target_length: int) -> np.ndarray:
    """(T,) int: the source position that a plain copy would attend to while it writes each target token.

    Outside the changes it is the same character of the other text (the end mark for the end mark). Inside a
    replacement characters are paired from its beginning, one to one, as far as both sides have any. Every
    other row gets -1.

    Args:
        source_length: with the end mark, as ``target_length``.

    Raises:
        ValueError: for lengths that the changes do not turn into each other.

    Example:
        >>> copy_positions(find_changes("머거요", "먹어요"), 4, 4).tolist()
        [0, 1, 2, 3]
    """
    grown = sum(len(change.right) - len(change.wrong) for change in changes)
    if source_length + grown != target_length:
        raise ValueError(
            f"the changes make {source_length} source tokens {source_length + grown}, "
            f"received {target_length} target tokens"
        )
    positions = np.arange(target_length)
    for change in changes:
        positions[change.target_end :] = np.arange(target_length - change.target_end) + change.source_end
        paired = min(len(change.wrong), len(change.right))
        positions[change.target_start + paired : change.target_end] = -1
    return positions


def copied_tokens(trace: AttentionTrace) -> np.ndarray:
    """(T,) int: the source token with the first character of each target token, or -1.

    -1 for new characters and for marks. The last tokens of both sides correspond where they are marks. All -1
    where the spans of the tokens are unknown.
    """
    positions = np.full(len(trace.target_tokens), -1)
    source, source_spans = text_of(trace, "source"), spans_of(trace, "source")
    target, target_spans = text_of(trace, "target"), spans_of(trace, "target")
    if source is None or source_spans is None or target is None or target_spans is None or not positions.size:
        return positions
    holders = np.full(len(source) + 1, -1)
    for number, (start, end) in enumerate(source_spans):
        holders[start:end] = number
    same = copy_positions(find_changes(source, target), len(source) + 1, len(target) + 1)
    for row, (start, end) in enumerate(target_spans):
        piece = target[start:end]
        if piece.strip():  # a token such as "▁는" begins with a space, which is not its first character
            start += len(piece) - len(piece.lstrip())
        if start < end and same[start] >= 0:
            positions[row] = holders[same[start]]
    if source_spans[-1][0] == source_spans[-1][1] and target_spans[-1][0] == target_spans[-1][1]:
        positions[-1] = len(source_spans) - 1
    return positions


def row_positions(trace: AttentionTrace, kind: str, changes: Sequence[Change]) -> np.ndarray:
    """(Q,) int: the key position of each row in a kind of attention, -1 for none.

    In the encoder it is the token itself; in decoder self-attention the last token read, the one before the
    token that is written; in cross-attention its ``copy_positions``, or its ``copied_tokens`` if tokens are
    not single characters.
    """
    rows, columns = trace.axes(kind)
    if kind == "cross_attention":
        if one_token_a_character(trace, "source") and one_token_a_character(trace, "target"):
            return copy_positions(changes, len(columns), len(rows))
        return copied_tokens(trace)
    return np.arange(len(rows))


def changed_rows(changes: Sequence[Change], target_length: int) -> np.ndarray:
    """(T,) bool: the rows that write something else than a copy would.

    A deletion writes nothing itself; it shows in the next row, which continues after the deleted text.

    >>> changed_rows(find_changes("머거요", "먹어요"), 4).tolist()
    [True, True, False, False]
    """
    changed = np.zeros(target_length, bool)
    for change in changes:
        changed[list(_written(change))] = True
    return changed


def focus(trace: AttentionTrace, kind: str, change: Change) -> Focus:
    """The rows and columns of a kind of attention that belong to a change.

    cross_attention: the rows that write the correction attend to the characters that it replaces. A deletion
    has the row that follows; an insertion has the two source characters between which it goes.

    encoder_attention: the rows are the replaced characters (of an insertion, the two it goes between). The
    columns are the same characters and one neighbour on each side, because the neighbours decide the sound of
    a syllable, and so its spelling. A row's attention to itself is not counted in ``attention_to_edit``.

    decoder_attention: the rows that write the correction attend to the written part of it, and to the token
    before it. Of these columns each row sees only those up to itself; the others are masked.

    Raises:
        ValueError: for a kind that the trace lacks.
    """
    columns = len(trace.axes(kind)[1])
    rows = tuple(_written(change))
    if kind == "decoder_attention":  # column j holds target token j - 1
        return Focus(rows, rows)
    gap = change.source_start == change.source_end
    beside = _inside(range(change.source_start - 1, change.source_end + 1), columns)
    replaced = beside if gap else tuple(range(change.source_start, change.source_end))
    return Focus(rows, replaced) if kind == "cross_attention" else Focus(replaced, beside)


def asked_places(change: Change) -> tuple[int, int]:
    """The typed and the written token in question of a change, its offsets in tokens: those that carry the
    mistake, or its first ones where tokens are no characters.

    >>> asked_places(Change(4, 5, 4, 6, "되", " 돼"))
    (4, 5)
    """
    typed, fixed = change.mistake
    counts = change.source_end - change.source_start, change.target_end - change.target_start
    if counts != (len(change.wrong), len(change.right)):
        typed = fixed = 0
    return change.source_start + typed, change.target_start + fixed


def asked_row(trace: AttentionTrace, kind: str, change: Change) -> int:
    """The query of a kind of attention at the token in question of a change, its offsets in tokens."""
    place = asked_places(change)[kind != "encoder_attention"]
    return min(place, len(trace.axes(kind)[0]) - 1)


def attention_to_edit(
    trace: AttentionTrace, kind: str, change: Change, changes: Sequence[Change], row: int | None = None
) -> EditAttention:
    """The attention that the rows of a change give to its columns, both as in ``focus``.

    ``share``: the weight on these columns, the mean over the rows, or of one ``row`` alone. In the encoder,
    cells on the diagonal do not count.

    ``usual``: the weight that the same head gives to such places without a correction. The columns of each
    row of the change lie at certain distances from the row's position (``row_positions``; without one, the
    source character that a copy would write next). For every row outside all ``changes`` the weight at the
    same distances is taken, if these all lie inside the sentence and not behind the mask; the results are
    averaged over those rows, then over the rows of the change. So ``usual`` is as large as ``share`` for a
    head that always copies, and smaller for one that turns to the mistake. A row that sees nothing but its
    columns, at the beginning of decoder self-attention, has no choice: its own weight counts as usual. If no
    row can be compared (the sentence is too short, or all of it changed) ``usual`` is 0.

    Args:
        change: one of ``changes``, which lead from the trace's source to its target.

    Raises:
        ValueError: for a change that is not among them, and for a kind that the trace lacks.
    """
    if change not in changes:
        places = [each.place for each in changes]
        raise ValueError(f"the change should be one of {places} and its words, received {change.place}")
    weights = trace.attention(kind)  # (L, H, Q, K)
    standing = standing_positions(trace, kind, changes)
    outside = np.ones(weights.shape[2], bool)
    for each in changes:
        outside[list(focus(trace, kind, each).rows)] = False
    others = np.flatnonzero(outside)
    shares, usuals = [], []
    concerned = focus(trace, kind, change)
    if row is not None:
        concerned = Focus((row,), concerned.columns)
    for query, columns in _cells(concerned, kind):
        shares.append(weights[:, :, query, columns].sum(-1))  # (L, H, C) -> (L, H)
        if kind == "decoder_attention" and len(columns) == query + 1:
            usuals.append(shares[-1])
            continue
        windows = standing[others, None] + (columns - standing[query])  # (R, C)
        fits = ((windows >= 0) & (windows < weights.shape[3])).all(axis=1)
        if fits.any():
            cells = weights[:, :, others[fits, None], windows[fits]]  # (L, H, R, C)
            usuals.append(cells.sum(-1).mean(-1))
    nothing = np.zeros(weights.shape[:2], np.float32)
    return EditAttention(
        np.stack(shares).mean(axis=0, dtype=np.float32),
        np.stack(usuals).mean(axis=0, dtype=np.float32) if usuals else nothing,
    )


def leading_heads(
    trace: AttentionTrace, change: Change, changes: Sequence[Change], count: int = 3
) -> list[LeadingHead]:
    """The heads of cross-attention with the most attention to a change beyond the usual, while the token in
    question is written.

    >>> changes = find_changes("머거요", "먹어요")
    >>> len(leading_heads(corrector.trace("머거요", "먹어요"), changes[0], changes, count=3))
    3
    """
    kind = "cross_attention"
    attention = attention_to_edit(trace, kind, change, changes, asked_row(trace, kind, change))
    order = np.argsort(-attention.beyond_usual, axis=None, kind="stable")[:count]
    heads = zip(*np.unravel_index(order, attention.share.shape), strict=True)
    return [
        LeadingHead(
            int(layer), int(head), float(attention.share[layer, head]), float(attention.usual[layer, head])
        )
        for layer, head in heads
    ]


def _written(change: Change) -> range:
    """The rows that write a change, the row that follows for a deletion."""
    return range(change.target_start, max(change.target_end, change.target_start + 1))


def _inside(positions: range, length: int) -> tuple[int, ...]:
    return tuple(position for position in positions if 0 <= position < length)


def standing_positions(trace: AttentionTrace, kind: str, changes: Sequence[Change]) -> np.ndarray:
    """(Q,) int: ``row_positions``, or the source character to be written next."""
    positions = row_positions(trace, kind, changes)
    for change in changes if kind == "cross_attention" else ():
        rows = slice(change.target_start, change.target_end)
        positions[rows] = np.where(positions[rows] < 0, change.source_end, positions[rows])
    return positions


def _cells(focus: Focus, kind: str) -> list[tuple[int, np.ndarray]]:
    """Each row of a focus with the columns that count for it."""
    columns = np.array(focus.columns, int)
    if kind == "encoder_attention":
        return [(row, columns[columns != row]) for row in focus.rows]
    if kind == "decoder_attention":
        return [(row, columns[columns <= row]) for row in focus.rows]
    return [(row, columns) for row in focus.rows]


@dataclass(frozen=True)
class Agreement:
    """The agreement of a person's guess with attention: ``marks`` tokens were marked among K candidates.

    Arrays have the leading shape of the weights. ``share`` is the attention on the marks. Two other guesses
    of as many tokens give it a scale: ``random``, the mean of a blind guess, and ``best``, the most that any
    guess reaches. Always ``random <= best`` and ``share <= best``; ``share`` may be below ``random``.
    """

    marks: int
    share: np.ndarray  # (...) sum of the weights of the marked tokens
    best: np.ndarray  # (...) sum of the largest weights, as many as there are marks
    random: np.ndarray  # (...) marks / K of the sum of all weights
    hits: np.ndarray  # (...) int, how many of the k most attended tokens are marked, for k marks

    @property
    def precision(self) -> np.ndarray:
        """(...) precision at k, k being the number of marks: the share of the top k that is marked."""
        return self.hits / self.marks


def agreement(weights: np.ndarray, marked: Collection[int]) -> Agreement:
    """Compare attention ``weights`` (..., K) over K candidate tokens with a set of marks.

    The candidates may be a part of all keys: then a row sums to less than 1, and the shares keep the scale of
    the whole. Of equal weights, the earlier token counts as the more attended.

    Raises:
        ValueError: for no marks, and for a mark that is no candidate.

    Example:
        >>> agreement(np.array([0.5, 0.3, 0.2]), [0]).share.item()
        0.5
    """
    candidates = weights.shape[-1]
    marks = sorted(set(marked))
    if not marks or marks[0] < 0 or marks[-1] >= candidates:
        raise ValueError(f"marks should be some of 0..{candidates - 1}, received {sorted(marked)}")
    order = np.argsort(-weights, axis=-1, kind="stable")[..., : len(marks)]
    return Agreement(
        marks=len(marks),
        share=weights[..., marks].sum(axis=-1),
        best=np.take_along_axis(weights, order, axis=-1).sum(axis=-1),
        random=weights.sum(axis=-1) * len(marks) / candidates,
        hits=np.isin(order, marks).sum(axis=-1),
    )


def attention_of_change(trace: AttentionTrace, change: Change) -> np.ndarray:
    """(L, H, S) float32: each head's attention while the token in question of ``change`` is written."""
    kind = "cross_attention"
    return trace.attention(kind)[:, :, asked_row(trace, kind, change)]


def agreeing_head(found: Agreement) -> tuple[int, int]:
    """(layer, head), counted from 0, of the head with most attention on the marks; ``found`` is (L, H).

    >>> agreeing_head(agreement(np.array([[[0.5, 0.5], [0.9, 0.1]]]), [0]))
    (0, 1)
    """
    layer, head = np.unravel_index(int(found.share.argmax()), found.share.shape)
    return int(layer), int(head)
