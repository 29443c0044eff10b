"""``OwnPasses``: base class of passes under interventions in another library's network.

An encoder-decoder reads a source and a target. A decoder-only network reads both as one sequence: the
source is the prompt, the target its continuation, and its one kind of attention has a row and a column for
each token of both.

B interventions (or rows of a batch), L layers, H heads, S source and T target tokens, N tokens of one
sequence, Q query and K key positions, D d_model, V vocabulary.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from itertools import count
from typing import Any, Protocol, TypedDict

import numpy as np

from model.activations.drafting import Pass, Produced
from model.activations.replacements import AttentionSize, Rows, check, check_source, intervened
from model.adapters.capture import DECODER_KIND, Capture, Tensor, altered, check_same_pass
from model.adapters.own_stream import OwnStream
from model.adapters.trace_building import probabilities, warn_of_several
from model.trace.checks import plain_array
from model.trace.interventions import Intervention, Slopes
from model.trace.trace import ATTENTION_KINDS, AttentionTrace

Ids = Sequence[int]
LONGEST = 20  # tokens that a decoder-only network writes where it says nothing else
PROBE = 7, 5  # S and T of the pass that shows the kind of each attention by its shape


class Texts(Protocol):
    """The tokenizer of an ``OwnNetwork``."""

    def encode_source(self, text: str) -> list[int]:
        """(S,) ids."""
        ...

    def encode_target(self, text: str) -> list[int]:
        """(T,) ids, the end mark last."""
        ...

    def decode(self, ids: Ids, source: str = "") -> str: ...

    def labels(self, ids: Ids) -> tuple[str, ...]:
        """(N,) the name of each of N ids."""
        ...

    def fields(self, side: str, ids: Ids, text: str | None = None) -> dict[str, Any]:
        """The fields ``<side>_tokens``, ``_text`` and ``_spans`` of a trace."""
        ...


class Declared(TypedDict, total=False):
    """The fields of a trace that a model declares."""

    sinks: tuple[str, ...]
    windows: tuple[int, ...]


class NotCausalError(ValueError):
    """Raised for a network that cannot write, because its rows look at later tokens."""


class OwnPasses:
    """``Passes`` of a foreign network. A library's subclass says how it runs, and how much it writes at most.

    Args:
        texts: its tokenizer.
        start: the id that its decoder reads first; None of a decoder-only network.
        end: the id of the end mark.
    """

    rows_at_once = 1  # in one batch
    sinks = 0  # columns of a softmax that belong to no key
    suppressed: Ids = ()  # ids that are never written

    def __init__(self, texts: Texts, start: int | None, end: int):
        self.texts, self.start, self.end = texts, start, end
        self.order: list[tuple[str, int] | None] = []  # the kind and the layer of each softmax of a pass
        self.sizes: dict[str, AttentionSize] = {}  # by kind
        self.stream: OwnStream | None = None  # where its layers are known

    def forward(self, inputs: Sequence[Sequence[Ids]], factors: Sequence[Tensor], capture: Capture) -> Tensor:
        """The logits (B, T, V) of one pass over the rows of each input, as a tensor.

        ``factors`` (B, N) scale the embeddings of each input; ``capture`` sees the softmaxes.
        """
        raise NotImplementedError

    def read_kinds(self, own: Tensor, name: str) -> Capture:
        """Read the kind and the layer of each softmax, by its shape in a pass over PROBE tokens.

        ``own``: the logits of the network ``name`` for that pass, without its attention captured.

        Raises:
            ValueError: for attention that cannot be captured, for another pass than its own, and for a
                decoder-only network that looks ahead.
        """
        capture = Capture()
        check_same_pass(own, self.forward(self.probe(), (), capture), name)
        capture.check()
        shapes = [
            (*each.weights.shape[1:-1], each.weights.shape[-1] - self.sinks)
            if each.axes > 2  # those of a router have two
            else ()
            for each in capture.maps
        ]
        self.order = kinds_by_shape(shapes, self.is_decoder)
        for kind in (DECODER_KIND,) if self.is_decoder else ATTENTION_KINDS:
            pairs = zip(capture.maps, self.order, strict=True)
            of_kind = [each for each, at in pairs if at and at[0] == kind]
            warn_of_several(kind, of_kind)
            maps = [each.weights for each in of_kind]
            if not maps:
                missing = "attention" if self.is_decoder else kind
                advice = f"{missing} that is computed by a softmax ({name})"
                raise ValueError(f"the network should be a Transformer, but its pass has no {advice}")
            if len(heads := {len(each) for each in maps}) > 1:
                raise ValueError(f"the layers of {name} should have as many heads, received {sorted(heads)}")
            if self.is_decoder and any(np.triu(each[..., : PROBE[0]], 1).any() for each in maps):
                raise NotCausalError(
                    "the network should write one token after the other, but a row of it looks ahead"
                )
            self.sizes[kind] = AttentionSize(len(maps), len(maps[0]))
        return capture

    def probe(self) -> list[list[list[int]]]:
        """(B, N) ids of each input: one row of PROBE tokens."""
        return [[[self.end] * length] for length in (PROBE[:1] if self.is_decoder else PROBE)]

    def run(
        self,
        inputs: Sequence[Sequence[Ids]],
        interventions: Sequence[Intervention],
        factors: Sequence[np.ndarray] = (),
    ) -> Pass:
        """One pass over the rows of each input, each under an intervention, or all of them under none.

        Of one sequence the logits are (B, N, V). Attention is (B, L, H, Q, K) by kind.

        ``factors`` (B, N): of the embeddings of each input, or none.
        """
        rows = len(inputs[0])
        columns = {kind: len(inputs[-1 if kind == DECODER_KIND else 0][0]) for kind in self.sizes}

        def by_row(maps: np.ndarray) -> np.ndarray:
            return maps.reshape(rows, -1, *maps.shape[1:])  # (B·H, Q, K) -> (B, H, Q, K)

        def replacing(
            number: int, weights: np.ndarray, scores: np.ndarray | None
        ) -> tuple[np.ndarray, np.ndarray] | None:
            if (at := self.order[number]) is None:
                return None
            of_scores = None if scores is None else by_row(scores)
            shown, used = altered(at, interventions, by_row(weights), of_scores, columns[at[0]])
            used = used.reshape(weights.shape)
            return None if np.array_equal(used, weights) else (shown.reshape(weights.shape), used)

        capture = Capture(replacing if interventions else None)
        logits = array_of(self.forward(inputs, factors, capture))
        found: dict[str, list[np.ndarray]] = {kind: [] for kind in self.sizes}
        for each, at in zip(capture.maps, self.order, strict=True):
            if at is not None:
                found[at[0]].append(by_row(each.weights)[..., : columns[at[0]]])
        return Pass(logits, {kind: np.stack(maps, axis=1) for kind, maps in found.items()})

    def derivatives(
        self, score: Callable[..., Tensor], factors: Sequence[np.ndarray]
    ) -> tuple[Tensor, Sequence[Tensor]]:
        """The scores (B,) of ``factors``, each (B, N), and their derivatives by each factor."""
        raise NotImplementedError

    def longest(self, source: int) -> int:
        """The most tokens T that are written for S = ``source``."""
        raise NotImplementedError

    def declared(self, attention: np.ndarray) -> Declared:
        """Further fields of the trace of a decoder-only network, with its attention (L, H, N, N)."""
        return {}

    @property
    def is_decoder(self) -> bool:
        """Whether the network is a decoder-only network."""
        return self.start is None

    def inputs_of(self, source: Ids, target: Ids) -> list[list[int]]:
        """The ids (S,) and (T,) that each side reads; the last target id is only written."""
        if self.start is None:
            return [[*source, *target[:-1]]]
        return [list(source), [self.start, *target[:-1]]]

    def pass_over(
        self, sources: Sequence[Ids], targets: Sequence[Ids], interventions: Sequence[Intervention]
    ) -> Pass:
        """One teacher-forced pass over B rows, each a source, T produced ids and an intervention.

        Raises:
            ValueError: for sources or targets of several lengths, for an intervention that the network does
                not have, and for logits that are NaN.
        """
        for name, rows in (("sources", sources), ("targets", targets)):
            if len(lengths := {len(row) for row in rows}) > 1:
                raise ValueError(f"{name} should have one length, received {sorted(lengths)}")
        runs = []
        for first in range(0, len(sources), self.rows_at_once):
            cut = slice(first, first + self.rows_at_once)
            runs.append(self.run_under(sources[cut], targets[cut], interventions[cut]))
        logits = without_nan(np.concatenate([each.logits for each in runs]))
        attention = {kind: np.concatenate([each.attention[kind] for each in runs]) for kind in self.sizes}
        return Pass(logits[:, len(sources[0]) - 1 :] if self.is_decoder else logits, attention)

    def run_under(
        self, sources: Sequence[Ids], targets: Sequence[Ids], interventions: Sequence[Intervention]
    ) -> Pass:
        """``run`` of one batch of B rows.

        Of one sequence the logits (B, N, V) have rows of the prompt, too.
        """
        pairs = [self.inputs_of(*each) for each in zip(sources, targets, strict=True)]
        inputs = [list(each) for each in zip(*pairs, strict=True)]
        if self.is_decoder:
            interventions = [in_sequence(each, len(sources[0])) for each in interventions]
        read = len(inputs[-1][0])
        for each in interventions:
            check(each, self.sizes, len(inputs[0][0]))
        if any(each.off and each.means is not None for each in interventions):
            return self._walked(sources, targets, interventions)
        factors = []
        if any(each.without_target for each in interventions):
            # A row begins with the token that it has just read.
            factors = [np.ones((len(each), len(each[0])), np.float32) for each in inputs]
            for row, each in enumerate(interventions):
                factors[-1][row, [place for place in each.without_target if place < read]] = 0
        is_plain = all(each == Intervention() for each in interventions)
        return self.run(inputs, [] if is_plain else interventions, factors)

    def _walked(
        self, sources: Sequence[Ids], targets: Sequence[Ids], interventions: Sequence[Intervention]
    ) -> Pass:
        """``run_under`` by the walk, which puts means in the place of heads' outputs.

        Raises ValueError without a residual stream.
        """
        if self.stream is None:
            raise ValueError("without a residual stream a head can be ablated by zero, not by its mean")
        changes = [intervened(each, self.stream) for each in interventions]
        ends, attention = self.stream.run(Rows.of(sources, targets, changes), tuple(self.sizes))
        return Pass(self.stream.logits(ends), attention)

    def slopes(self, source: Ids, target: Ids, contrast: Ids, shares: Sequence[float]) -> Slopes:
        """As ``Passes.slopes``: the derivatives of logit(written) - logit(instead); NaN raises ValueError."""
        row, *tokens = contrast
        row += (len(source) - 1) * self.is_decoder
        inputs, found = self.inputs_of(source, target), []
        for first in range(0, len(shares), self.rows_at_once):
            some = np.array(shares[first : first + self.rows_at_once], np.float32)
            of_factors = partial(self._differences, [[ids] * len(some) for ids in inputs], row, tokens)
            factors = [some[:, None].repeat(len(ids), axis=1) for ids in inputs]
            scores, slopes = self.derivatives(of_factors, factors)
            found.append([array_of(each) for each in (scores, *slopes)])
        score, *by_input = (np.concatenate(each) for each in zip(*found, strict=True))
        if self.is_decoder:  # it has no start mark, whose share is 0
            by_token, length = by_input[0], len(source)
            start = np.zeros((len(score), 1), np.float32)
            by_input = [by_token[:, :length], np.concatenate([start, by_token[:, length:]], axis=1)]
        return Slopes(*(without_nan(np.asarray(each, np.float32)) for each in (score, *by_input)))

    def _differences(self, rows: Sequence[Sequence[Ids]], row: int, tokens: Ids, *factors: Tensor) -> Tensor:
        """(B,) the difference of the logits of two tokens in one row of the output."""
        logits = self.forward(rows, factors, Capture())[:, row]
        return logits[:, tokens[0]] - logits[:, tokens[1]]

    def trace(self, source: str, target: str, intervention: Intervention | None = None) -> AttentionTrace:
        """The pass over two texts. Of a decoder-only network ``prompt`` counts the tokens of the first.

        Raises:
            ValueError: for an intervention that the network does not have, and for logits that are NaN.
        """
        ids, written = self.texts.encode_source(source), self.texts.encode_target(target)
        found = self.run_under([ids], [written], [intervention or Intervention()])
        logits = without_nan(found.logits[0])
        attention = {kind: each[0] for kind, each in found.attention.items()}
        (*_, read), declared = self.inputs_of(ids, written), Declared()
        if self.is_decoder:
            produced = [*ids, *written][1:]
            fields = self.texts.fields("target", produced) | {"prompt": len(ids)}
            declared = self.declared(attention[DECODER_KIND])
        else:
            produced = written
            fields = self.texts.fields("source", ids, source) | self.texts.fields("target", written, target)
        return AttentionTrace(
            **fields,
            **declared,
            decoder_input_tokens=self.texts.labels(read),
            **attention,
            **probabilities(logits, np.array(produced), self.texts.labels),
        )

    def taps(
        self, source: Ids, target: Ids, names: Iterable[str], intervention: Intervention | None = None
    ) -> dict[str, np.ndarray]:
        """No activations of a foreign pass have names; raises ValueError."""
        raise ValueError(f"a network of your own has no taps, received {sorted(names)}")

    def write(
        self, sources: Sequence[Ids], interventions: Sequence[Intervention], forced: Sequence[Ids] = ()
    ) -> list[Produced | None]:
        """Greedy decoding under each of B interventions, the end mark last; None where no end came.

        ``forced``: the ids that a row has to begin with. Raises ValueError for logits that are NaN.
        """
        starts = forced or [()] * len(sources)
        found = [self.written(*each) for each in zip(sources, interventions, starts, strict=True)]
        return [each if self.is_whole(each) else None for each in found]

    def is_whole(self, written: Produced) -> bool:
        """Whether an end came; the text of a decoder-only network needs none."""
        return self.is_decoder or written.ids[-1] == self.end

    def written(self, source: Ids, intervention: Intervention, forced: Ids) -> Produced:
        """Greedy decoding of one source, with logits (T, V), cut where no end came: ``is_whole`` tells."""
        ids, most = list(forced), self.longest(len(source))
        while len(ids) < most and (not ids or ids[-1] != self.end):
            # The last id of a target is not read: the end mark makes room for the next row.
            found = self.run_under([source], [[*ids, self.end]], [intervention])
            logits = without_nan(found.logits)[0, -1].copy()
            logits[list(self.suppressed)] = -np.inf
            ids.append(int(logits.argmax()))
        return self.pass_over([source], [ids], [intervention]).row(0, source, ids)


def kinds_by_shape(shapes: Sequence[tuple[int, ...]], is_decoder: bool) -> list[tuple[str, int] | None]:
    """The kind and the layer of each softmax (Q, K) of a pass over PROBE tokens; None of another softmax.

    >>> kinds_by_shape([(7, 7), (7, 7), (5, 5), (5, 7), (5, 9)], is_decoder=False)[1:]
    [('encoder_attention', 1), ('decoder_attention', 0), ('cross_attention', 0), None]
    """
    source, target = PROBE
    shapes_of = (source, source), (target, target), (target, source)
    kinds: dict[tuple[int, ...], str] = dict(zip(shapes_of, ATTENTION_KINDS, strict=True))
    kinds = {(source, source): DECODER_KIND} if is_decoder else kinds
    found, layers = [kinds.get(shape) for shape in shapes], defaultdict[str, count](count)
    return [None if kind is None else (kind, next(layers[kind])) for kind in found]


def in_sequence(intervention: Intervention, prompt: int) -> Intervention:
    """The same intervention where prompt and continuation are one sequence, without the start mark at 0.

    >>> sorted(in_sequence(Intervention(without_source={1}, without_target={0, 2}), prompt=3).without_target)
    [1, 4]
    """
    check_source(intervention, prompt)
    written = {prompt + place - 1 for place in intervention.without_target if place}
    return replace(
        intervention,
        without_source=frozenset(),
        without_target=frozenset(intervention.without_source) | written,
    )


def without_nan(found: np.ndarray) -> np.ndarray:
    """``found`` itself; raises ValueError where it is NaN, because answers from NaN would mean nothing.

    >>> without_nan(np.array([0.5]))
    array([0.5])
    """
    if np.isnan(found).any():
        raise ValueError(
            "the network computes NaN, which is no number: look at its weights, as after training that "
            "diverged"
        )
    return found


def array_of(tensor: Tensor) -> np.ndarray:
    """The numbers of a tensor of any library.

    >>> array_of(np.ones(2)).tolist()
    [1.0, 1.0]
    """
    return plain_array("output", tensor)
