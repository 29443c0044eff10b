"""Base class of passes under interventions through a network of another library.

An encoder-decoder reads a source and a target. A decoder alone reads both as one sequence: the source is the
prompt, the target its continuation, and its one kind of attention has a row and a column for each token of
both.

B interventions (or rows of a batch), L layers, H heads, S source and T target tokens, N tokens of one
sequence, Q query and K key positions, D d_model, V vocabulary.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, Protocol

import numpy as np

from model.activations.drafting import Pass, Produced
from model.adapters.trace_building import probabilities
from model.trace.interventions import Insides, Intervention, Slopes, Zeroed
from model.trace.trace import ATTENTION_KINDS, AttentionTrace

Ids = Sequence[int]
PROBE = 3, 2  # S and T of the pass that shows the kind of each attention by its shape
DECODER_KIND = "decoder_attention"
_TINY = 1e-30  # keeps a row that sees nothing at zeros


class Texts(Protocol):
    """The tokenizer of an ``OwnNetwork``."""

    def encode_source(self, text: str) -> list[int]:
        """S ids."""
        ...

    def encode_target(self, text: str) -> list[int]:
        """T ids, the end mark last."""
        ...

    def decode(self, ids: Ids, source: str = "") -> str: ...

    def labels(self, ids: Ids) -> tuple[str, ...]: ...

    def fields(self, side: str, ids: Ids, text: str | None = None) -> dict[str, Any]:
        """The fields ``<side>_tokens``, ``_text`` and ``_spans`` of a trace."""
        ...


class AttentionSize(NamedTuple):
    """One kind of attention of a network."""

    layers: int
    heads: int
    depth: int  # the width of a head, D/H


class Altering(NamedTuple):
    """Interventions on the weights (B, H, Q, K) of one layer, as arrays; None changes nothing."""

    seen: np.ndarray | None = (
        None  # (B, 1, 1, K) 0 where a key is hidden; the rest of the row is scaled to sum to 1
    )
    kept: np.ndarray | None = None  # (B, H, Q, 1) 0 where ``weights`` replace the head's own
    weights: np.ndarray | None = None  # (B, H, Q, K)
    gates: np.ndarray | None = None  # (B, H, 1, K) factors of the values
    added: np.ndarray | None = None  # (B, H, 1, D/H) added to a head's output

    def used(self, weights: Any, tensor: Callable[[np.ndarray], Any], sink: Any = 0) -> Any:
        """The weights that the pass uses and a trace shows. ``sink`` (B, H, Q, 1): the weight of no key.

        Keys are hidden before the softmax, too, where the library allows it: a head with all its weight on a
        hidden key would have nothing left.
        """
        if self.seen is not None:
            weights = weights * tensor(self.seen)
            keys = np.ones((weights.shape[-1], 1), np.float32)
            weights = weights / (weights @ tensor(keys) + sink + _TINY)
        if self.kept is not None and self.weights is not None:
            weights = weights * tensor(self.kept) + tensor(self.weights)
        return weights

    def working(self, used: Any, tensor: Callable[[np.ndarray], Any]) -> Any:
        """The factors (B, H, Q, K) of the values.

        Zeroing a value, or a head, is zeroing the weights on it.
        """
        return used if self.gates is None else used * tensor(self.gates)


def altering(
    interventions: Sequence[Intervention], sizes: Mapping[str, AttentionSize], lengths: tuple[int, int]
) -> dict[str, list[Altering]]:
    """The changes of B interventions by kind and layer, over ``lengths`` S and T.

    Raises:
        ValueError: for an intervention that the network does not have.
    """
    source, target = lengths
    shapes = dict(zip(ATTENTION_KINDS, ((source, source), (target, target), (target, source)), strict=True))
    for each in interventions:
        _check(each, sizes, source)
    return {
        kind: [_of_layer(kind, layer, interventions, size, shapes[kind]) for layer in range(size.layers)]
        for kind, size in sizes.items()
    }


def _of_layer(
    kind: str, layer: int, interventions: Sequence[Intervention], size: AttentionSize, shape: tuple[int, int]
) -> Altering:
    rows, (queries, keys) = len(interventions), shape
    seen, gates = np.ones((rows, 1, 1, keys), np.float32), np.ones((rows, size.heads, 1, keys), np.float32)
    kept, weights = (
        np.ones((rows, size.heads, queries, 1), np.float32),
        np.zeros((rows, size.heads, *shape), np.float32),
    )
    added = np.zeros((rows, size.heads, 1, size.depth), np.float32)
    for row, each in enumerate(interventions):
        hidden = each.without_target if kind == DECODER_KIND else each.without_source
        seen[row, ..., [place for place in hidden if place < keys]] = 0
        for head in (head for head in each.off if (head.kind, head.layer) == (kind, layer)):
            gates[row, head.head] = 0
            if each.means is not None:
                added[row, head.head] = each.means[kind][layer, head.head]
        for value in each.zeroed:
            if (value.kind, value.layer) == (kind, layer) and value.position < keys:
                gates[row, :, :, value.position] = 0
        for head, given in each.weights.items():
            if (head.kind, head.layer) == (kind, layer):
                some = np.asarray(given, np.float32)[:queries, :keys]
                replacing = np.array([not np.isnan(each).all() for each in some])
                kept[row, head.head, : len(some), 0] = ~replacing
                weights[row, head.head, : len(some), : some.shape[1]] = np.where(replacing[:, None], some, 0)
    changed = not kept.all()
    return Altering(
        None if seen.all() else seen,
        kept if changed else None,
        weights if changed else None,
        None if gates.all() else gates,
        added if added.any() else None,
    )


def _check(intervention: Intervention, sizes: Mapping[str, AttentionSize], source: int) -> None:
    for head in (*intervention.off, *intervention.weights):
        size = sizes.get(head.kind)
        if size is None or not (0 <= head.layer < size.layers and 0 <= head.head < size.heads):
            shapes = {kind: (size.layers, size.heads) for kind, size in sizes.items()}
            raise ValueError(f"a head should be one of (layers, heads) {shapes}, received {head}")
    for zeroed in intervention.zeroed:
        if zeroed.kind not in sizes or not 0 <= zeroed.layer < sizes[zeroed.kind].layers:
            raise ValueError(f"a zeroed value should lie in a layer of the network, received {zeroed}")
    _check_places(intervention, source)
    for head, rows in intervention.weights.items():
        if head.kind == DECODER_KIND and np.triu(np.nan_to_num(rows), 1).any():
            raise ValueError(f"weights of {head} should be 0 right of the diagonal")
        if head.kind != DECODER_KIND and np.shape(rows)[1] != source:
            raise ValueError(f"weights of {head} should be (Q, {source}), received {np.shape(rows)}")


def _check_places(intervention: Intervention, source: int) -> None:
    if places := [place for place in intervention.without_source if not 0 <= place < source]:
        raise ValueError(f"what is left out should lie in 0..{source - 1}, received {places[0]}")


def in_sequence(intervention: Intervention, prompt: int) -> Intervention:
    """The same intervention where prompt and continuation are one sequence, without the start mark at 0.

    >>> sorted(in_sequence(Intervention(without_source={1}, without_target={0, 2}), prompt=3).without_target)
    [1, 4]
    """
    _check_places(intervention, prompt)
    written = {prompt + place - 1 for place in intervention.without_target if place}
    return replace(
        intervention,
        without_source=frozenset(),
        without_target=frozenset(intervention.without_source) | written,
    )


class Run(NamedTuple):
    """One pass over B rows."""

    logits: np.ndarray  # (B, T, V), of one sequence (B, N, V)
    attention: dict[str, np.ndarray]  # (B, L, H, Q, K) by kind


class OwnPasses:
    """``Passes`` of a foreign network. A library's subclass says how it runs, and how much it writes at most.

    Args:
        texts: its tokenizer.
        start: the id that its decoder reads first; None of a decoder alone.
        end: the id of the end mark.
    """

    rows_at_once = 1  # in one batch
    sizes: dict[str, AttentionSize]  # by kind
    suppressed: Ids = ()  # ids that are never written

    def __init__(self, texts: Texts, start: int | None, end: int):
        self.texts, self.start, self.end = texts, start, end
        self.sizes = {}

    def run(
        self, inputs: Sequence[Sequence[Ids]], changes: dict[str, list[Altering]], factors: Sequence[Any]
    ) -> Run:
        """One pass over the rows of each input, with factors (B, N) of the embeddings of each, or none."""
        raise NotImplementedError

    def gradients(
        self, inputs: Sequence[Ids], shares: Sequence[float], contrast: Ids
    ) -> tuple[np.ndarray, list[np.ndarray]]:
        """The logit difference (N,) where embeddings are scaled by N shares.

        ``contrast`` is (row, token, other token).

        Beside it its derivatives (N, S) and (N, T) by the factors of the tokens of each input.
        """
        raise NotImplementedError

    def longest(self, source: int) -> int:
        """How many tokens are written at most for S = ``source``."""
        raise NotImplementedError

    def insides(self, source: Ids, target: Ids) -> Insides:
        """The values and weights of one plain pass.

        Raises ValueError for a network whose layers are not known.
        """
        raise ValueError("what the layers of this network hold inside is not known from outside")

    def zeroed(self, source: Ids, target: Ids) -> Zeroed:
        """As ``Passes.zeroed``. Raises ValueError for a network whose layers are not known."""
        raise ValueError("what the layers of this network hold inside is not known from outside")

    def declared(self, attention: np.ndarray) -> dict[str, Any]:
        """Further fields of the trace of a decoder alone, with its attention (L, H, N, N)."""
        return {}

    @property
    def is_decoder(self) -> bool:
        """Whether the network is a decoder alone."""
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
    ) -> Run:
        """``run`` of one batch of B rows.

        Of one sequence the logits (B, N, V) have rows of the prompt, too.
        """
        pairs = [self.inputs_of(*each) for each in zip(sources, targets, strict=True)]
        inputs = [list(each) for each in zip(*pairs, strict=True)]
        if self.is_decoder:
            interventions = [in_sequence(each, len(sources[0])) for each in interventions]
        read = len(inputs[-1][0])
        changes = altering(interventions, self.sizes, (len(inputs[0][0]), read)) if self.sizes else {}
        factors = []
        if any(
            each.without_target for each in interventions
        ):  # a row begins with the token that it has just read
            factors = [np.ones((len(each), len(each[0])), np.float32) for each in inputs]
            for row, each in enumerate(interventions):
                factors[-1][row, [place for place in each.without_target if place < read]] = 0
        return self.run(inputs, changes, factors)

    def slopes(self, source: Ids, target: Ids, contrast: Ids, shares: Sequence[float]) -> Slopes:
        """As ``Passes.slopes``: the derivatives of logit(written) - logit(instead); NaN raises ValueError."""
        row, written, instead = contrast
        asked = (row + len(source) - 1 if self.is_decoder else row, written, instead)
        score, by_input = self.gradients(self.inputs_of(source, target), shares, asked)
        if self.is_decoder:  # it has no start mark, whose share is 0
            by_token, length = by_input[0], len(source)
            start = np.zeros((len(score), 1), np.float32)
            by_input = [by_token[:, :length], np.concatenate([start, by_token[:, length:]], axis=1)]
        return Slopes(*(without_nan(np.asarray(each, np.float32)) for each in (score, *by_input)))

    def trace(self, source: str, target: str, intervention: Intervention | None = None) -> AttentionTrace:
        """The pass over two texts. Of a decoder alone ``prompt`` counts the tokens of the first.

        Raises:
            ValueError: for an intervention that the network does not have, and for logits that are NaN.
        """
        ids, written = self.texts.encode_source(source), self.texts.encode_target(target)
        found = self.run_under([ids], [written], [intervention or Intervention()])
        logits, attention = (
            without_nan(found.logits[0]),
            {kind: each[0] for kind, each in found.attention.items()},
        )
        (*_, read), fields = self.inputs_of(ids, written), {}
        if self.is_decoder:
            produced = [*ids, *written][1:]
            fields = {"prompt": len(ids), **self.declared(attention[DECODER_KIND])}
            fields |= self.texts.fields("target", produced)
        else:
            produced = written
            fields = self.texts.fields("source", ids, source) | self.texts.fields("target", written, target)
        return AttentionTrace(
            **fields,
            decoder_input_tokens=self.texts.labels(read),
            **attention,
            **probabilities(logits, np.array(produced), lambda each: self.texts.labels([each])[0]),
        )

    def taps(
        self, source: Ids, target: Ids, names: Iterable[str], intervention: Intervention | None = None
    ) -> dict[str, np.ndarray]:
        """No activations of a foreign pass have names; raises ValueError."""
        raise ValueError(f"a network of your own has no taps, received {sorted(names)}")

    def warm_up(self) -> Iterator[None]:
        return iter(())

    def write(
        self, sources: Sequence[Ids], interventions: Sequence[Intervention], forced: Sequence[Ids] = ()
    ) -> list[Produced | None]:
        """Greedy decoding under each of B interventions, the end mark last; None where no end came.

        ``forced``: the ids that a row has to begin with. Raises ValueError for logits that are NaN.
        """
        starts = forced or [()] * len(sources)
        found = [self._written(*each) for each in zip(sources, interventions, starts, strict=True)]
        return [each if self.is_whole(each) else None for each in found]

    def write_cut(self, source: Ids) -> Produced:
        """Greedy decoding without an intervention, cut where no end came; ``is_whole`` tells which."""
        return self._written(source, Intervention(), ())

    def is_whole(self, written: Produced) -> bool:
        """Whether an end came; the text of a decoder alone needs none."""
        return self.is_decoder or written.ids[-1] == self.end

    def _written(self, source: Ids, intervention: Intervention, forced: Ids) -> Produced:
        ids, most = list(forced), self.longest(len(source))
        while len(ids) < most and (not ids or ids[-1] != self.end):
            # The last id of a target is not read: the end mark makes room for the next row.
            logits = without_nan(self.run_under([source], [[*ids, self.end]], [intervention]).logits)[
                0, -1
            ].copy()
            logits[list(self.suppressed)] = -np.inf
            ids.append(int(logits.argmax()))
        return self.pass_over([source], [ids], [intervention]).row(0, source, ids)


def kinds_by_shape(shapes: Sequence[tuple[int, ...]], is_decoder: bool) -> list[tuple[str, int] | None]:
    """The kind and the layer of each softmax (Q, K) of a pass over PROBE tokens; None of another softmax.

    >>> kinds_by_shape([(3, 3), (3, 3), (2, 2), (2, 3), (2, 7)], is_decoder=False)[1:]
    [('encoder_attention', 1), ('decoder_attention', 0), ('cross_attention', 0), None]
    """
    source, target = PROBE
    kinds = dict(zip(((source, source), (target, target), (target, source)), ATTENTION_KINDS, strict=True))
    kinds = {(source, source): DECODER_KIND} if is_decoder else kinds
    order: list[tuple[str, int] | None] = []
    for shape in shapes:
        kind = kinds.get((shape[0], shape[1]))
        order.append(
            None if kind is None else (kind, sum(each is not None and each[0] == kind for each in order))
        )
    return order


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
