"""``AttentionTrace``: the attention of one full pass of any network, as NumPy arrays, and its file format.

Attention in the decoder is causal, so one full pass over the start mark and the produced text gives the same attention that
step-by-step decoding saw. The source or the target may be missing. ``save`` writes one ``.npz``; ``load`` checks the file before it
believes it and names the field that is wrong.
"""

from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from model.trace.strict_npz import TraceError, read, write

ATTENTION_KINDS = ("encoder_attention", "decoder_attention", "cross_attention")

VERSION = 1  # of the file; another one is refused
_FORMAT = "attention-trace"
# A row of float32 weights sums to 1 within 1e-6; of bfloat16, which some networks compute with, within this.
_ROW_TOLERANCE = 1e-2
_RANGE_TOLERANCE = 1e-4  # how far rounding may push a probability or a weight outside 0..1

_RANKS = {  # how many dimensions each array has
    **dict.fromkeys(ATTENTION_KINDS, 4),
    **dict.fromkeys(("source_positional_encoding", "target_positional_encoding"), 2),
    "log_probabilities": 1,
    "alternative_probabilities": 2,
}

Spans = tuple[tuple[int, int], ...]  # (start, end) pairs, the end excluded


@dataclass(frozen=True, kw_only=True)
class AttentionTrace:
    """Everything a picture of one pass needs, and nothing that needs the network's library.

    The pass may be an encoder-decoder's, an encoder's alone (no target) or a decoder's alone (no source).
    ``kinds`` names the kinds of attention there are; each has its own number of layers and heads (``shape``).
    What a network does not have, or what was not kept, is None or empty.

    Rows of every attention map are queries, columns are keys, and each row sums to 1.
    ``target_tokens[t]`` is the token PRODUCED by row ``t``; that row has consumed
    ``decoder_input_tokens[: t + 1]``, so ``decoder_attention`` is exactly 0 right of its diagonal. In a decoder
    alone ``decoder_input_tokens`` is the text it read, and ``target_tokens`` the same text one token later.

    Spans count the characters of ``source_text`` or ``target_text``; a mark such as ``</s>`` has an empty one.
    Words count tokens, and every token is in one of them. They are needed only where words are not what
    white space separates (``analysis.words``).

    Shapes: L layers, H heads, S source tokens, T target tokens, D d_model, A alternatives, W words.

    >>> weights = np.array([[[[0.75, 0.25], [0.5, 0.5]]]])  # one layer, one head, two tokens
    >>> trace = AttentionTrace(source_tokens=("나", "는"), encoder_attention=weights)
    >>> trace.kinds, trace.shape("encoder_attention")
    (('encoder_attention',), (1, 1))
    """

    source_tokens: tuple[str, ...] = ()  # (S,) what the encoder read
    target_tokens: tuple[str, ...] = ()  # (T,) what each decoder row produced
    decoder_input_tokens: tuple[str, ...] = ()  # (T,) what each decoder row read last
    encoder_attention: np.ndarray | None = None  # (L, H, S, S) float32
    decoder_attention: np.ndarray | None = None  # (L, H, T, T) float32
    cross_attention: np.ndarray | None = None  # (L, H, T, S) float32
    source_positional_encoding: np.ndarray | None = None  # (S, D) float32
    target_positional_encoding: np.ndarray | None = None  # (T, D) float32
    log_probabilities: np.ndarray | None = None  # (T,) float32, natural logarithm, of each produced token
    alternatives: tuple[
        tuple[str, ...], ...
    ] = ()  # (T, A) what else a row might have produced, likeliest first
    alternative_probabilities: np.ndarray | None = None  # (T, A) float32
    source_text: str | None = None
    target_text: str | None = None
    source_spans: Spans | None = None  # (S, 2) where each source token stands in source_text
    target_spans: Spans | None = None  # (T, 2) where each target token stands in target_text
    source_words: Spans | None = None  # (W, 2) which source tokens each word has
    target_words: Spans | None = None  # (W, 2) which target tokens each word has

    def __post_init__(self):
        """Lists of texts and of spans become tuples, NumPy's integers in spans Python's.

        Raises TraceError for fields that hold something else, and for shapes that do not fit each other.
        """
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name in _OF_WORDS and not (value is None and field.default is None):
                object.__setattr__(self, field.name, _OF_WORDS[field.name](field.name, value))
        if not self.kinds:
            raise TraceError("kinds", "be at least one of " + ", ".join(ATTENTION_KINDS), "none")
        for name in _RANKS:
            if not isinstance(getattr(self, name), np.ndarray | None):
                raise TraceError(name, "be a NumPy array", type(getattr(self, name)).__name__)
        source, target = len(self.source_tokens), len(self.target_tokens)
        _expect_shape("decoder_input_tokens", self.decoder_input_tokens, (target,))
        for kind in self.kinds:
            rows, columns = map(len, self.axes(kind))
            received = np.shape(getattr(self, kind))
            if len(received) != 4 or 0 in received or received[2:] != (rows, columns):
                raise TraceError(kind, f"have the shape (L, H, {rows}, {columns})", received)
        self._check_positions(source, target)
        if self.log_probabilities is not None:
            _expect_shape("log_probabilities", self.log_probabilities, (target,))
        if self.alternatives or self.alternative_probabilities is not None:
            found = getattr(self.alternative_probabilities, "shape", ())
            _expect_shape("alternative_probabilities", self.alternative_probabilities, (target, *found[1:2]))
            for place, row in enumerate(self.alternatives):
                _expect_shape(f"alternatives[{place}]", row, found[1:])
            _expect_shape("alternatives", self.alternatives, (target,))
        for side, count in (("source", source), ("target", target)):
            _check_spans(self, side, count)

    def _check_positions(self, source: int, target: int) -> None:
        sides = ("source_positional_encoding", source), ("target_positional_encoding", target)
        d_model = next((np.shape(getattr(self, name))[1:] for name, _ in sides if self._has(name)), ())
        for name, count in sides:
            if self._has(name):
                _expect_shape(name, getattr(self, name), (count, *(d_model or ("D",))))

    def _has(self, name: str) -> bool:
        return getattr(self, name) is not None

    @property
    def kinds(self) -> tuple[str, ...]:
        """Which of ATTENTION_KINDS there are, in their order."""
        return tuple(filter(self._has, ATTENTION_KINDS))

    def shape(self, kind: str) -> tuple[int, int]:
        """(L, H) of one of ``kinds``; of a recurrent network L is 1, however many layers recur."""
        return self.attention(kind).shape[:2]

    @property
    def num_layers(self) -> int:
        """The most layers of any kind."""
        return max(self.shape(kind)[0] for kind in self.kinds)

    @property
    def num_heads(self) -> int:
        """The most heads of any kind."""
        return max(self.shape(kind)[1] for kind in self.kinds)

    @property
    def positional_encoding(self) -> np.ndarray | None:
        """(P, D): the matrix both sides read their positions from, as far as this sentence needs it."""
        found = [self.source_positional_encoding, self.target_positional_encoding]
        return max((matrix for matrix in found if matrix is not None), key=len, default=None)

    def attention(self, kind: str) -> np.ndarray:
        """(L, H, Q, K) of one of ``kinds``; ValueError for a kind this trace lacks."""
        return getattr(self, self._known(kind))

    def axes(self, kind: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """(row tokens, column tokens) of one of ``kinds``: who asks, and what is looked at."""
        return {
            "encoder_attention": (self.source_tokens, self.source_tokens),
            "decoder_attention": (self.target_tokens, self.decoder_input_tokens),
            "cross_attention": (self.target_tokens, self.source_tokens),
        }[self._known(kind)]

    def _known(self, kind: str) -> str:
        if kind not in self.kinds:
            raise ValueError(f"attention kind should be one of {self.kinds}, received {kind!r}")
        return kind

    def check(self) -> None:
        """Raises TraceError for numbers that are no attention and no probabilities: not finite, outside 0..1, rows
        that do not sum to 1 within 0.01, a decoder that looks ahead."""
        for kind in self.kinds:
            weights = self.attention(kind)
            _expect_range(kind, weights, 0, 1)
            sums = weights.sum(-1, dtype=np.float32)
            if not np.abs(sums - 1).max() <= _ROW_TOLERANCE:
                raise TraceError(kind, "have rows that sum to 1", f"sums from {sums.min()} to {sums.max()}")
        if self.decoder_attention is not None and np.triu(self.decoder_attention, 1).any():
            raise TraceError("decoder_attention", "be 0 right of its diagonal", "other weights")
        _expect_range("log_probabilities", self.log_probabilities, -np.inf, 0)
        _expect_range("alternative_probabilities", self.alternative_probabilities, 0, 1)
        for name in ("source_positional_encoding", "target_positional_encoding"):
            _expect_range(name, getattr(self, name), -np.inf, np.inf)

    def save(self, path: str | Path | BinaryIO) -> None:
        """Write one ``.npz`` without pickles, which ``load`` reads. Floats become float32.

        Raises TraceError for what ``load`` would refuse.
        """
        self.check()
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        arrays = {name: value for name, value in values.items() if isinstance(value, np.ndarray)}
        words = {name: value for name, value in values.items() if name not in arrays and value is not None}
        write(path, arrays, {"format": _FORMAT, "version": VERSION} | words)

    @classmethod
    def load(cls, path: str | Path | BinaryIO) -> "AttentionTrace":
        """What ``save`` wrote. The file may come from anywhere: it is checked before it is believed.

        Raises TraceError, which names the field, what was expected and what was received; OSError where there is no
        such file.
        """
        arrays, words = read(path, _RANKS)
        for name, expected in (("format", _FORMAT), ("version", VERSION)):
            if words.pop(name, None) != expected:
                raise TraceError(name, f"be {expected!r}", "another one")
        for name in words:
            if name not in _OF_WORDS:
                raise TraceError(name, "be a field of a trace", "a name that is none")
        checked: dict[str, Any] = {name: _OF_WORDS[name](name, value) for name, value in words.items()}
        trace = cls(**(arrays | checked))
        trace.check()
        return trace


def _text(name: str, value: object) -> str:
    if not isinstance(value, str):
        raise TraceError(name, "be a text", _received(value))
    return value


def _texts(name: str, value: object) -> tuple[str, ...]:
    if not isinstance(value, list | tuple):
        raise TraceError(name, "be a list of texts", _received(value))
    return tuple(_text(f"{name}[{place}]", each) for place, each in enumerate(value))


def _rows_of_texts(name: str, value: object) -> tuple[tuple[str, ...], ...]:
    if not isinstance(value, list | tuple):
        raise TraceError(name, "be a list of lists of texts", _received(value))
    return tuple(_texts(f"{name}[{place}]", each) for place, each in enumerate(value))


def _pairs(name: str, value: object) -> Spans:
    if not isinstance(value, list | tuple):
        raise TraceError(name, "be a list of pairs of whole numbers", _received(value))
    return tuple(_pair(f"{name}[{place}]", each) for place, each in enumerate(value))


def _pair(name: str, value: object) -> tuple[int, int]:
    if not isinstance(value, list | tuple) or len(value) != 2:
        raise TraceError(name, "be a pair of whole numbers", _received(value))
    for end in value:
        if isinstance(end, bool) or not isinstance(end, int | np.integer):
            raise TraceError(name, "be a pair of whole numbers", _received(end))
    start, end = value
    return int(start), int(end)


def _received(value: object) -> str:
    """The type of a value; the value as well where it is a number, which is nobody's words."""
    kind = type(value).__name__
    return f"{kind} {value}" if isinstance(value, int | float | np.number) else kind


_OF_WORDS: dict[str, Callable[[str, object], Any]] = {
    **dict.fromkeys(("source_tokens", "target_tokens", "decoder_input_tokens"), _texts),
    **dict.fromkeys(("source_text", "target_text"), _text),
    **dict.fromkeys(("source_spans", "target_spans", "source_words", "target_words"), _pairs),
    "alternatives": _rows_of_texts,
}


def _expect_shape(name: str, value: Any, shape: tuple) -> None:
    received = value.shape if isinstance(value, np.ndarray) else () if value is None else (len(value),)
    if received != shape:
        raise TraceError(name, f"have the shape {_spelled(shape)}", received)


def _spelled(shape: tuple) -> str:
    return f"({', '.join(map(str, shape))}{',' * (len(shape) == 1)})"


def _expect_range(name: str, values: np.ndarray | None, lowest: float, highest: float) -> None:
    if values is None or not values.size:
        return
    smallest, largest = values.min(), values.max()  # NaN where there is one, and then no comparison holds
    within = smallest >= lowest - _RANGE_TOLERANCE and largest <= highest + _RANGE_TOLERANCE
    if not (within and np.isfinite(smallest) and np.isfinite(largest)):
        limits = "" if lowest == -highest else f" and lie in {lowest}..{highest}"
        raise TraceError(name, f"be finite{limits}", f"{smallest} to {largest}")


def _check_spans(trace: AttentionTrace, side: str, tokens: int) -> None:
    """Raises TraceError for spans outside their text and for words that leave tokens out."""
    text, spans, words = (getattr(trace, f"{side}_{part}") for part in ("text", "spans", "words"))
    if spans is not None:
        if text is None:
            raise TraceError(f"{side}_text", "come with the spans in it", "None")
        _expect_shape(f"{side}_spans", spans, (tokens,))
        for place, (start, end) in enumerate(spans):
            if not 0 <= start <= end <= len(text):
                raise TraceError(f"{side}_spans[{place}]", f"lie in 0..{len(text)}", (start, end))
    if words is not None:
        edges = [0, *(end for _, end in words)]
        if (
            edges[-1] != tokens
            or [start for start, _ in words] != edges[:-1]
            or any(s >= e for s, e in words)
        ):
            raise TraceError(f"{side}_words", f"cover {tokens} tokens one after the other", words)
