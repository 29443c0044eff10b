"""``AttentionTrace``: the attention of one full pass of any network, and its file format.

Attention in the decoder is causal, so one full pass over the start mark and the produced text gives the same
attention that step-by-step decoding saw. The source or the target may be missing. ``save`` writes one
``.npz``. ``load`` checks a file before it uses it, and its error names the field that is wrong.

``Selection`` chooses weights of a trace: one kind of attention, a layer or their mean, a head or their mean.
``Grown`` is the answer of one snapshot of a training. ``TracedModel`` lists the methods that your own model
needs for the app to show it live: ``ATTENTION_MODEL=package.module:factory streamlit run app.py`` calls
``factory()`` once, in a worker's process, and then calls the methods of the object that it returned, one at a
time.
"""

from collections.abc import Callable, Iterator
from dataclasses import InitVar, dataclass, fields
from pathlib import Path
from typing import Any, BinaryIO, Protocol, runtime_checkable

import numpy as np

from model.trace.checks import (
    MASKS,
    PADDING,
    Spans,
    all_layers,
    beyond,
    check_causal,
    check_hidden,
    check_rows,
    count,
    expect_range,
    expect_shape,
    flags,
    hidden_cells,
    later,
    of_sentence,
    pairs,
    plain_array,
    rows_of_texts,
    text,
    texts,
    windows,
)
from model.trace.interventions import Head, Intervention
from model.trace.strict_npz import TraceError, read, write

ATTENTION_KINDS = ("encoder_attention", "decoder_attention", "cross_attention")

VERSION = 1  # of the file; another one is refused
_FORMAT = "attention-trace"

_AXES = {  # the tokens of the rows and columns of an attention
    "encoder_attention": "Rows and columns are the source_tokens",
    "decoder_attention": "Rows are the target_tokens, columns the decoder_input_tokens",
    "cross_attention": "Rows are the target_tokens, columns the source_tokens",
}
_RANKS = {  # how many dimensions each array has
    **dict.fromkeys(ATTENTION_KINDS, 4),
    **dict.fromkeys(MASKS.values(), 3),
    **dict.fromkeys(("source_positional_encoding", "target_positional_encoding"), 2),
    "log_probabilities": 1,
    "alternative_probabilities": 2,
}
_OF_WORDS: dict[str, Callable[[str, object], Any]] = {
    **dict.fromkeys(("source_tokens", "target_tokens", "decoder_input_tokens"), texts),
    **dict.fromkeys(("source_text", "target_text"), text),
    **dict.fromkeys(("source_spans", "target_spans", "source_words", "target_words"), pairs),
    **dict.fromkeys(PADDING, flags),
    "alternatives": rows_of_texts,
    "sinks": texts,
    **dict.fromkeys(("prefix", "prompt"), count),
    "windows": windows,
}

# Further entries that the app writes for people who open a file with NumPy alone. ``load`` ignores them.
BESIDE = (*_OF_WORDS, "schema_version", "model", "fingerprint", "source", "text", "minimum_confidence")
BESIDE += tuple(
    f"change_{what}"
    for what in ("spans", "wrong", "right", "fix_probability", "keep_probability", "confidence")
)


@dataclass(frozen=True, kw_only=True)
class AttentionTrace:
    """The attention, tokens and probabilities of one pass as NumPy arrays, without the network's library.

    The pass may be an encoder-decoder's, an encoder's alone (no target) or a decoder's alone (no source).
    ``kinds`` names the kinds of attention of the trace; each has its own number of layers and heads
    (``shape``). A field that a network does not have, or that was not kept, is None or empty.

    Rows of every attention map are queries, columns are keys, and each row sums to 1; a row of padding may be
    empty. ``target_tokens[t]`` is the token PRODUCED by row ``t``; that row has consumed
    ``decoder_input_tokens[: t + 1]``, so ``decoder_attention`` is exactly 0 right of its diagonal. In a
    decoder-only network ``decoder_input_tokens`` is the text it read, and ``target_tokens`` the same text one
    token later.

    Attention may be a NumPy array (L, H, Q, K), a tensor of PyTorch, TensorFlow or JAX, or a list of layers
    as libraries return them, each (H, Q, K) or (B, H, Q, K). Of a batch of several sentences ``batch`` says
    which one: ``AttentionTrace(source_tokens=tokens, encoder_attention=out.attentions, batch=0)``.

    Padding is True where a token only fills up a batch. ``target_padding[t]`` is of the token that row ``t``
    PRODUCED, so the next column of decoder self-attention, which belongs to that token, is padding, too.

    A head of some networks may look nowhere: its softmax has one more score, the attention sink, whose weight
    falls on no token (Xiao et al. 2024; Agarwal et al. 2025). ``sinks`` names the kinds of attention that
    have one. Their rows sum to less than 1, and ``sink`` is what is missing. In a prefix language model
    (Raffel et al. 2020, section 3.2.1) the first ``prefix`` tokens that the decoder reads all see each other,
    later ones included.

    Some networks let a row attend only to near tokens (Beltagy, Peters & Cohan 2020; Jiang et al., "Mistral
    7B", 2023). ``windows`` says how far, layer by layer, in self-attention: the encoder's, or that of a
    decoder-only network. Sparse attention of any other form (Child et al. 2019; Zaheer et al. 2020) is given
    cell by cell: ``encoder_masked``, ``decoder_masked`` and ``cross_masked`` are True where no head of
    a layer may look. Padding, and later tokens of a decoder, need not be marked there.

    Spans count the characters of ``source_text`` or ``target_text``; a mark such as ``</s>`` has an empty
    one. Words count tokens, and every token is in one of them. They are needed only where words are not what
    white space separates (``analysis.words``).

    Shapes: L layers, H heads, S source tokens, T target tokens, D d_model, A alternatives, W words.

    >>> weights = np.array([[[[0.75, 0.25], [0.5, 0.5]]]])  # one layer, one head, two tokens
    >>> trace = AttentionTrace(source_tokens=("나", "는"), encoder_attention=weights)
    >>> trace.kinds, trace.shape("encoder_attention")
    (('encoder_attention',), (1, 1))
    """

    source_tokens: tuple[str, ...] = ()  # (S,) read by the encoder
    target_tokens: tuple[str, ...] = ()  # (T,) produced by each decoder row
    decoder_input_tokens: tuple[str, ...] = ()  # (T,) read last by each decoder row
    encoder_attention: np.ndarray | None = None  # (L, H, S, S) float32
    decoder_attention: np.ndarray | None = None  # (L, H, T, T) float32
    cross_attention: np.ndarray | None = None  # (L, H, T, S) float32
    encoder_masked: np.ndarray | None = None  # (L, S, S) bool, where sparse attention does not look
    decoder_masked: np.ndarray | None = None  # (L, T, T) bool
    cross_masked: np.ndarray | None = None  # (L, T, S) bool
    source_positional_encoding: np.ndarray | None = None  # (S, D) float32
    target_positional_encoding: np.ndarray | None = None  # (T, D) float32
    log_probabilities: np.ndarray | None = None  # (T,) float32, natural logarithm, of each produced token
    alternatives: tuple[tuple[str, ...], ...] = ()  # (T, A) candidates of each row, likeliest first
    alternative_probabilities: np.ndarray | None = None  # (T, A) float32
    source_text: str | None = None
    target_text: str | None = None
    source_spans: Spans | None = None  # (S, 2) of each source token in source_text
    target_spans: Spans | None = None  # (T, 2) of each target token in target_text
    source_words: Spans | None = None  # (W, 2) which source tokens each word has
    target_words: Spans | None = None  # (W, 2) which target tokens each word has
    source_padding: tuple[bool, ...] = ()  # (S,) or empty, without padding
    target_padding: tuple[bool, ...] = ()  # (T,) or empty
    sinks: tuple[str, ...] = ()  # the kinds of attention with a sink
    prefix: int = 0  # how many tokens at the beginning of the decoder's input all see each other
    prompt: int = 0  # how many tokens the decoder was given; it produced the rest itself
    windows: tuple[int, ...] = ()  # (L,) how far from itself a row looks at most, in tokens; -1: anywhere
    batch: InitVar[int | None] = None  # which sentence of the batch, if the attention is that of a batch

    def __post_init__(self, batch: int | None) -> None:
        """Tensors and lists of layers become arrays; lists of texts and of spans become tuples.

        Raises TraceError for fields that hold something else, and for shapes that do not fit each other.
        """
        self._take_arrays(batch)
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name in _OF_WORDS and not (value is None and field.default is None):
                object.__setattr__(self, field.name, _OF_WORDS[field.name](field.name, value))
        if not self.kinds:
            raise TraceError("kinds", "be at least one of " + ", ".join(ATTENTION_KINDS), "none")
        _check_shapes(self)

    def _take_arrays(self, batch: int | None) -> None:
        for name in _RANKS:
            value = getattr(self, name)
            if value is not None:
                is_attention = name in ATTENTION_KINDS
                taken = all_layers(name, value, batch) if is_attention else plain_array(name, value)
                taken = hidden_cells(name, taken) if name in MASKS.values() else taken
                object.__setattr__(self, name, taken)
        for name in PADDING:
            object.__setattr__(self, name, of_sentence(name, getattr(self, name), batch))

    def _has(self, name: str) -> bool:
        return getattr(self, name) is not None

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of attention of the trace, in the order of ATTENTION_KINDS."""
        return tuple(filter(self._has, ATTENTION_KINDS))

    def shape(self, kind: str) -> tuple[int, int]:
        """(L, H) of one of ``kinds``; a recurrent network has one layer of attention, so its L is 1."""
        return self.attention(kind).shape[:2]

    @property
    def heads(self) -> tuple[Head, ...]:
        """All heads of the maps (L, H, Q, K): kind by kind, layer by layer."""
        return tuple(Head(kind, *place) for kind in self.kinds for place in np.ndindex(self.shape(kind)))

    @property
    def num_layers(self) -> int:
        """The largest L of the kinds, each (L, H, Q, K)."""
        return max(self.shape(kind)[0] for kind in self.kinds)

    @property
    def num_heads(self) -> int:
        """The largest H of the kinds, each (L, H, Q, K)."""
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
        """(row tokens, column tokens) of one of ``kinds``: queries and keys."""
        return {
            "encoder_attention": (self.source_tokens, self.source_tokens),
            "decoder_attention": (self.target_tokens, self.decoder_input_tokens),
            "cross_attention": (self.target_tokens, self.source_tokens),
        }[self._known(kind)]

    def _known(self, kind: str) -> str:
        if kind not in self.kinds:
            raise ValueError(f"attention kind should be one of {self.kinds}, received {kind!r}")
        return kind

    def padding(self, kind: str) -> tuple[np.ndarray, np.ndarray]:
        """((Q,), (K,)) bool: which rows and which columns of one of ``kinds`` are padding."""
        rows, columns = map(len, self.axes(kind))
        source = np.array(self.source_padding or [False] * len(self.source_tokens))
        target = np.array(self.target_padding or [False] * len(self.target_tokens))
        if kind == "encoder_attention":
            return source, source
        read = np.concatenate([[False], target[:-1]])[:columns] if columns else np.zeros(0, bool)
        return target[:rows], (read if kind == "decoder_attention" else source)

    def padded(self, kind: str) -> np.ndarray:
        """(Q, K) bool: the cells that are hidden because they are padding.

        A column of padding that some head looks at stays visible outside the rows of padding, because it
        shows that the network does not mask its padding.
        """
        rows, columns = self.padding(kind)
        ignored = ~self.attention(kind)[:, :, ~rows].any(axis=(0, 1, 2))
        return rows[:, None] | (columns & ignored)

    def masked(self, kind: str, layer: int | None = None) -> np.ndarray | None:
        """(Q, K) bool, True where a row may not look; None where it may look everywhere.

        A decoder may not attend to later tokens, and with ``windows`` not to far ones. A mask of sparse
        attention may hide more. Without a ``layer`` these are the cells that no layer may look at.
        """
        if layer is None:
            each = [self.masked(kind, number) for number in range(self.shape(kind)[0])]
            known = [found for found in each if found is not None]
            return np.logical_and.reduce(known) if known else None
        rows = len(self.axes(kind)[0])
        found = [later(rows, self.prefix)] if kind == "decoder_attention" else []
        found += [far for name, far in self._sparse(kind, layer)]
        return np.logical_or.reduce(found) if found else None

    def _sparse(self, kind: str, layer: int) -> Iterator[tuple[str, np.ndarray]]:
        """The field, and the cells (Q, K) that it hides in ``layer``."""
        if self.windows and kind == self.kinds[0]:
            yield "windows", beyond(len(self.axes(kind)[0]), self.windows[layer])
        if self._has(MASKS[kind]):
            yield MASKS[kind], getattr(self, MASKS[kind])[layer]

    def sink(self, kind: str) -> np.ndarray | None:
        """(L, H, Q) the weight on the attention sink, which is no token; None without one.

        It is 0 in rows of padding.
        """
        if kind not in self.sinks:
            return None
        rest = np.clip(1 - self.attention(kind).sum(-1, dtype=np.float32), 0, 1)
        rest[..., self.padding(kind)[0]] = 0
        return rest

    def check(self, emptied: bool = False) -> None:
        """Raises TraceError for numbers that cannot be attention or probabilities: not finite, outside 0..1,
        rows that do not sum to 1 within 0.01, a decoder that looks ahead. Rows of padding may be empty, and
        with ``emptied`` any row: a pass in which tokens were left out has such rows. Rows with a sink sum to
        at most 1.
        """
        for kind in self.kinds:
            rows, sink = self.padding(kind)[0], kind in self.sinks
            check_rows(kind, self.attention(kind), rows, emptied=emptied, sink=sink)
            if kind == "decoder_attention":
                check_causal(self.attention(kind), rows, self.prefix)
            for layer, weights in enumerate(self.attention(kind)):
                for name, hidden in self._sparse(kind, layer):
                    check_hidden(name, weights, layer, rows, hidden)
        expect_range("log_probabilities", self.log_probabilities, -np.inf, 0)
        expect_range("alternative_probabilities", self.alternative_probabilities, 0, 1)
        for name in ("source_positional_encoding", "target_positional_encoding"):
            expect_range(name, getattr(self, name), -np.inf, np.inf)

    def save(self, path: str | Path | BinaryIO) -> None:
        """Write one ``.npz`` of any size, without pickles, for ``load`` to read.

        Floats become float32.

        Raises TraceError for numbers that ``load`` would refuse.
        """
        write(path, *self.contents())

    def contents(self) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """(arrays, words) of the file that ``save`` writes; raises TraceError as it does."""
        self.check()
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        arrays = {name: value for name, value in values.items() if isinstance(value, np.ndarray)}
        words = {name: value for name, value in values.items() if name not in arrays}
        told = {name: value for name, value in words.items() if value not in (None, (), 0)}
        return arrays, {"format": _FORMAT, "version": VERSION} | told

    @classmethod
    def load(cls, path: str | Path | BinaryIO, *, limited: bool = False) -> "AttentionTrace":
        """Read what ``save`` wrote, or the numbers (NPZ) that a page of the app offers for download.

        The file may come from anywhere: it is checked before it is used, and nothing in it is run.
        ``limited``: refuse a file of more than 20 MB, or 256 MB unpacked, as a server should.

        Raises TraceError, which names the field, the expectation and the received value; OSError for a
        missing file.
        """
        arrays, words = read(path, _RANKS, limited, BESIDE)
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


LayerHead = tuple[int, int]  # one head of a kind, both from 0
LayerHeads = tuple[int | None, int | None]  # None: the mean over all


def _check_shapes(trace: AttentionTrace) -> None:
    """Raises TraceError, which names the first field that does not fit the others."""
    source, target = len(trace.source_tokens), len(trace.target_tokens)
    if trace.decoder_input_tokens or trace.decoder_attention is not None:
        expect_shape("decoder_input_tokens", trace.decoder_input_tokens, (target,))
    for name, length in zip(PADDING, (source, target), strict=True):
        if getattr(trace, name):
            expect_shape(name, getattr(trace, name), (length,))
    _check_attention(trace)
    _check_positions(trace, source, target)
    _check_produced(trace, target)
    for side, length in (("source", source), ("target", target)):
        _check_spans(trace, side, length)
    _check_extras(trace, target)


def _check_attention(trace: AttentionTrace) -> None:
    for kind in trace.kinds:
        rows, columns = map(len, trace.axes(kind))
        received = np.shape(getattr(trace, kind))
        if len(received) != 4 or 0 in received or received[2:] != (rows, columns):
            raise TraceError(kind, f"have the shape (L, H, {rows}, {columns})", received, _AXES[kind])
    for kind, name in MASKS.items():
        if getattr(trace, name) is not None:
            if getattr(trace, kind) is None:
                raise TraceError(name, f"come with {kind}", "none")
            expect_shape(name, getattr(trace, name), (trace.shape(kind)[0], *map(len, trace.axes(kind))))


def _check_produced(trace: AttentionTrace, target: int) -> None:
    """Check the probabilities of the produced tokens and of their alternatives."""
    if trace.log_probabilities is not None:
        expect_shape("log_probabilities", trace.log_probabilities, (target,))
    if trace.alternatives or trace.alternative_probabilities is not None:
        found = getattr(trace.alternative_probabilities, "shape", ())
        expect_shape("alternative_probabilities", trace.alternative_probabilities, (target, *found[1:2]))
        for place, row in enumerate(trace.alternatives):
            expect_shape(f"alternatives[{place}]", row, found[1:])
        expect_shape("alternatives", trace.alternatives, (target,))


def _check_positions(trace: AttentionTrace, source: int, target: int) -> None:
    sides = ("source_positional_encoding", source), ("target_positional_encoding", target)
    d_model = next(
        (np.shape(getattr(trace, name))[1:] for name, _ in sides if getattr(trace, name) is not None), ()
    )
    for name, length in sides:
        if getattr(trace, name) is not None:
            expect_shape(name, getattr(trace, name), (length, *(d_model or ("D",))))


def _check_spans(trace: AttentionTrace, side: str, tokens: int) -> None:
    """Raises TraceError for spans outside their text and for words that leave tokens out."""
    whole, spans, words = (getattr(trace, f"{side}_{part}") for part in ("text", "spans", "words"))
    if spans is not None:
        if whole is None:
            raise TraceError(f"{side}_text", "come with the spans in it", "None")
        expect_shape(f"{side}_spans", spans, (tokens,))
        for place, (start, end) in enumerate(spans):
            if not 0 <= start <= end <= len(whole):
                raise TraceError(f"{side}_spans[{place}]", f"lie in 0..{len(whole)}", (start, end))
    if words is not None:
        edges = [0, *(end for _, end in words)]
        if (
            edges[-1] != tokens
            or [start for start, _ in words] != edges[:-1]
            or any(s >= e for s, e in words)
        ):
            raise TraceError(f"{side}_words", f"cover {tokens} tokens one after the other", words)


def _check_extras(trace: AttentionTrace, target: int) -> None:
    """Raises TraceError for fields that do not fit the attention.

    These are sinks of kinds that are not there, a prefix or a prompt that is too long, and windows of another
    number of layers or without self-attention.
    """
    if trace.windows:
        kind = trace.kinds[0]
        layers = 0 if kind == "cross_attention" else trace.shape(kind)[0]
        if len(trace.windows) != layers:
            found = f"{len(trace.windows)} for {layers} layers of self-attention"
            raise TraceError("windows", "be one for each layer", found)
    if strange := [kind for kind in trace.sinks if kind not in trace.kinds]:
        raise TraceError("sinks", f"be some of {', '.join(trace.kinds)}", strange[0])
    for name in ("prefix", "prompt"):
        if getattr(trace, name) > target:
            raise TraceError(name, f"be at most {target}, the tokens of the decoder", getattr(trace, name))


@dataclass(frozen=True)
class Selection:
    """One map of a trace. ``layer`` and ``head`` count from 0; None is the mean over them."""

    kind: str
    layer: int | None = None
    head: int | None = None

    def weights(self, trace: AttentionTrace, kind: str | None = None) -> np.ndarray:
        """(Q, K) float32.

        ``kind``: another kind of attention; if it has fewer layers or heads, its last one is taken.

        Raises ValueError for a kind that the trace lacks.
        """
        return self.mean(trace.attention(kind or self.kind))

    def mean(self, maps: np.ndarray) -> np.ndarray:
        """One head of maps (L, H, Q, K), or the mean over those chosen.

        Of fewer layers or heads the last one is taken.
        """
        if self.layer is not None:
            maps = maps[: self.layer + 1][-1:]
        if self.head is not None:
            maps = maps[:, : self.head + 1][:, -1:]
        return maps[0, 0] if maps.shape[:2] == (1, 1) else maps.mean(axis=(0, 1), dtype=np.float32)

    def heads(self, trace: AttentionTrace) -> list[LayerHead]:
        """Every (layer, head) that the map is a mean of; the one head itself where it is none."""
        all_layers, all_heads = map(range, trace.shape(self.kind))
        layers = all_layers if self.layer is None else (self.layer,)
        heads = all_heads if self.head is None else (self.head,)
        return [(layer, head) for layer in layers for head in heads]

    def label(self, say: Callable[..., str], trace: AttentionTrace) -> str:
        """The words for layer and head, from the texts ``place_…`` of ``say``."""
        if trace.shape(self.kind) == (1, 1):
            return say("place_only")
        if self.layer is None:
            return say("place_all") if self.head is None else say("place_mean_layers", head=self.head + 1)
        if self.head is None:
            return say("place_mean", layer=self.layer + 1)
        return say("place_head", layer=self.layer + 1, head=self.head + 1)


@dataclass(frozen=True)
class Grown:
    """The answer of the snapshot after ``step`` training steps, with all its proposals, however unsure; a
    young network would otherwise seem to do nothing. If it wrote no end mark, ``text`` is the source.
    """

    step: int
    source: str
    text: str
    trace: AttentionTrace  # of writing ``text``

    @property
    def is_unfinished(self) -> bool:
        """Whether the network writes no end mark even after the whole source.

        Then ``text`` is not its own.
        """
        likeliest, *_ = self.trace.alternatives[-1]
        return self.text == self.source and likeliest != self.trace.target_tokens[-1]


TASKS = ("correct", "rewrite", "translate", "continue")


@dataclass(frozen=True)
class Described:
    """A ``TracedModel``'s description of itself.

    A page of a model that does not correct shows no corrections in its text.
    """

    task: str = "correct"
    examples: tuple[str, ...] = ()  # to try on the page, which opens with the first one
    language: str = "ko"  # of its output, as HTML names it: "de", "en"


def described(model: object) -> Described:
    """A model's description of itself, with defaults for the rest.

    >>> class Translator:
    ...     task, examples, language = "translate", ["손님이 왔다."], "en"
    >>> described(Translator())
    Described(task='translate', examples=('손님이 왔다.',), language='en')

    Raises ValueError for a task that is not among TASKS, and for examples that are no texts.
    """
    found = Described(
        getattr(model, "task", "correct"),
        tuple(getattr(model, "examples", ())),
        getattr(model, "language", "ko"),
    )
    if found.task not in TASKS:
        raise ValueError(f"task should be one of {TASKS}, received {found.task!r}")
    if not all(isinstance(each, str) for each in (*found.examples, found.language)):
        raise ValueError("examples should be texts, and language one text")
    return found


@runtime_checkable
class TracedModel(Protocol):
    """A network that rewrites a sentence and shows its attention.

    It may also have the attributes ``task`` (one of TASKS), ``examples`` and ``language``; see ``Described``.

    >>> from model.trace.trace import AttentionTrace
    >>> class Copies:
    ...     def correct(self, text):
    ...         return text
    ...     def trace(self, source, target):
    ...         tokens, weights = tuple(source), np.eye(len(source))[None, None]  # (1, 1, S, S)
    ...         return AttentionTrace(source_tokens=tokens, target_tokens=tokens, cross_attention=weights)
    >>> isinstance(Copies(), TracedModel)
    True
    """

    def correct(self, text: str) -> str:
        """The model's output for one sentence: its correction, its translation, its continuation."""
        ...

    def trace(self, source: str, target: str) -> AttentionTrace:
        """The pass in which the model turns ``source`` into ``target``.

        ``target`` is the output of ``correct``, or that text without some changes that a person took back.
        With ``source_text``, ``source_spans`` and the same of the target, the views find the changes in the
        maps.
        """
        ...


@runtime_checkable
class InterveningModel(TracedModel, Protocol):
    """The optional part, with which the laboratory works, too.

    The interventions are heads that are off (``Intervention.off``), weights that are replaced (``weights``,
    of one head), and tokens that no row may attend to (``without_source``, ``without_target``); never two of
    these at once.

    >>> class CopiesAnyway:
    ...     def correct(self, text): ...
    ...     def trace(self, source, target): ...
    ...     def correct_under(self, text, intervention): ...
    ...     def trace_under(self, source, target, intervention): ...
    >>> isinstance(CopiesAnyway(), InterveningModel)
    True
    """

    def correct_under(self, text: str, intervention: Intervention) -> str | None:
        """The model's output under an intervention; None where it writes no end mark."""
        ...

    def trace_under(self, source: str, target: str, intervention: Intervention) -> AttentionTrace:
        """``trace`` with something changed. It has ``log_probabilities``.

        It shows the weights that the pass used: replaced weights in place of a head's own. A head that is off
        still shows the weights that it computed. A row that has nothing left to look at is 0.
        """
        ...
