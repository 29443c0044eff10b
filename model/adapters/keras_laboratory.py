"""The laboratory for a Transformer in Keras: heads off, weights replaced, tokens left out, gradients.

A pass replaces functions of Keras that the whole process shares (``keras_pass``), so passes wait for each other. They run eagerly and
one row at a time, because many networks of courses run only so.

S source tokens, T tokens that the decoder reads; L layers, H heads, Q query and K key positions, V vocabulary.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from model.activations.drafting import Pass, Produced, longest_target
from model.adapters.altering import altering, embedding_factors
from model.adapters.keras import Inputs
from model.adapters.keras_decoder import NotCausalError, laboratory_of_keras_decoder
from model.adapters.keras_finding import Recorded
from model.adapters.keras_parts import recorded
from model.adapters.keras_pass import LOCK, KerasPass, array_of, run, with_slopes
from model.adapters.keras_stream import KerasStream, stream_of
from model.adapters.outputs import probabilities
from model.adapters.own_mixing import insides_of_stream, zeroed_of_stream
from model.adapters.own_network import AttentionSizes, OwnNetwork, WithoutTaps, check_one_length, without_nan
from model.adapters.vocabulary import Vocabulary
from model.stored.config import GRADIENTS, INTERVENTIONS, MIXING, STREAM
from model.trace.interventions import Intervention
from model.trace.laboratory_data import Insides, Slopes, Zeroed
from model.trace.trace import ATTENTION_KINDS, AttentionTrace

_PROBE = 3, 2  # S and T of the pass that shows which softmax is which kind of attention


def laboratory_of_keras(
    model: Any, vocabulary: Vocabulary, inputs: Inputs | None = None, longest: int | None = None
) -> OwnNetwork:
    """The laboratory of an encoder-decoder, or of a decoder alone. Raises ValueError for a network that is neither."""
    try:
        passes = KerasPasses(model, vocabulary, inputs, longest)
    except Exception as reason:  # noqa: BLE001  a decoder alone takes no two sides, for which each library has its own kind of error
        try:
            return laboratory_of_keras_decoder(model, vocabulary, inputs, longest)
        except NotCausalError as ahead:
            raise ahead from reason
        except Exception:  # noqa: BLE001
            raise reason from None
    try:
        stream = passes.stream = stream_of(passes, vocabulary.start)
    except Exception as reason:  # noqa: BLE001  it is built otherwise, or takes no other lengths, for which each library has its own kind
        why = reason if isinstance(reason, ValueError) else ValueError(f"{type(reason).__name__}: {reason}")
        return OwnNetwork(
            model.name, _VocabularyTexts(vocabulary), passes, [INTERVENTIONS, GRADIENTS], why=why
        )
    abilities = [INTERVENTIONS, GRADIENTS, MIXING, STREAM]
    return OwnNetwork(model.name, _VocabularyTexts(vocabulary), passes, abilities, stream)


class _VocabularyTexts:
    """A ``Vocabulary`` as ``own_network.Texts``."""

    def __init__(self, vocabulary: Vocabulary):
        self.encode_source, self.encode_target = vocabulary.encode_source, vocabulary.encode_target
        self.decode, self.labels = vocabulary.decode_written, vocabulary.labels


class KerasPasses(WithoutTaps):
    """Passes over ids; see ``own_network.OwnPasses``."""

    def __init__(self, model: Any, vocabulary: Vocabulary, inputs: Inputs | None, longest: int | None = None):
        """``longest``: how many tokens it writes at most; by default as many as a correction of the source may have."""
        self.model, self.vocabulary, self._inputs, self._longest = model, vocabulary, inputs, longest
        self.end = vocabulary.end
        self.stream: KerasStream | None = None  # where it is known
        self._order: list[tuple[str, int] | None] = []  # of the softmaxes of a pass: kind and layer
        source, read = ([vocabulary.end] * length for length in _PROBE)
        pass_ = KerasPass(None, {}, (source, read), None)
        self._run(pass_)
        self._order = _order(pass_.heard)
        self.sizes: dict[str, AttentionSizes] = {}
        for kind in ATTENTION_KINDS:
            maps = [maps for maps, at in zip(pass_.heard, self._order, strict=True) if at and at[0] == kind]
            if not maps:
                raise ValueError(f"the network should be a Transformer, but its pass has no {kind}")
            self.sizes[kind] = AttentionSizes(len(maps), maps[0].shape[1], maps[0].shape[1])

    def pass_over(
        self,
        sources: Sequence[Sequence[int]],
        targets: Sequence[Sequence[int]],
        interventions: Sequence[Intervention],
    ) -> Pass:
        """One teacher-forced pass over each of B rows: a source, T produced ids and an intervention. Sources have one length, and
        targets have one. Raises ValueError for others, and for an intervention that the network does not have."""
        check_one_length(sources, targets)
        found = [self._pass(*each) for each in zip(sources, targets, interventions, strict=True)]
        attention = {kind: np.stack([each.attention[kind] for each in found]) for kind in self.sizes}
        return Pass(np.stack([each.logits for each in found]), attention)

    def _next(self, source: Sequence[int], ids: Sequence[int], intervention: Intervention) -> int:
        # The last token of a target is not read, so the end mark only makes room for the row that writes the next one.
        return int(self._pass(source, [*ids, self.end], intervention).logits[-1].argmax())

    def _most(self, source: int) -> int:
        return self._longest or longest_target(source)

    def slopes(
        self, source: Sequence[int], target: Sequence[int], contrast: Sequence[int], shares: Sequence[float]
    ) -> Slopes:
        """As ``Laboratory.slopes`` says: the derivatives of logit(written) - logit(instead)."""
        row, written, instead = contrast
        read = [self.vocabulary.start, *target[:-1]]

        def score(*factors: Any) -> Any:
            logits = self._run(KerasPass(self._order, {}, (source, read), factors, keeps=False))[0, row]
            return logits[written] - logits[instead]

        found = []
        for share in shares:
            ones = [np.full((1, len(ids)), share, np.float32) for ids in (source, read)]
            value, slopes = with_slopes(score, ones)
            found.append((value, *(each[0] for each in slopes)))
        return Slopes(*(without_nan(np.stack(part).astype(np.float32)) for part in zip(*found, strict=True)))

    def recorded(self, source: Sequence[int], read: Sequence[int]) -> Recorded:
        """One pass with the calls of its layers. ``read``: what the decoder reads, the start mark first."""
        pass_ = KerasPass(self._order, {}, (source, read), None)
        with LOCK, recorded(lambda: len(pass_.heard)) as calls:
            logits = self._run(pass_)
        weights = [each[0] for each in pass_.heard]
        return Recorded(list(source), list(read), calls, weights, self._order, array_of(logits)[0])

    def insides(self, source: Sequence[int], target: Sequence[int]) -> Insides:
        """What one plain pass holds. Raises ValueError for a network without a residual stream."""
        return insides_of_stream(self._known_stream(), source, target)

    def zeroed(self, source: Sequence[int], target: Sequence[int]) -> Zeroed:
        """As ``Laboratory.zeroed`` says. Raises ValueError for a network without a residual stream."""
        return zeroed_of_stream(self._known_stream(), source, target)

    def _known_stream(self) -> KerasStream:
        if self.stream is None:
            raise ValueError("what the layers of this network hold inside is not known from outside")
        return self.stream

    def trace(self, source: str, target: str, intervention: Intervention | None = None) -> AttentionTrace:
        words = self.vocabulary
        ids, written = words.encode_source(source), words.encode_target(target)
        looked = self._pass(ids, written, Intervention() if intervention is None else intervention)
        attention: dict[str, Any] = looked.attention
        return AttentionTrace(
            source_tokens=words.labels(ids),
            target_tokens=words.labels(written),
            decoder_input_tokens=words.labels([words.start, *written[:-1]]),
            source_text=source,
            target_text=target,
            source_spans=words.spans(ids, source),
            target_spans=words.spans(written, target),
            **attention,
            **probabilities(looked.logits, np.array(written), lambda each: words.labels([each])[0]),
        )

    def _pass(self, source: Sequence[int], target: Sequence[int], intervention: Intervention) -> Produced:
        read = [self.vocabulary.start, *target[:-1]]
        changes = altering([intervention], self.sizes, len(source), len(read))
        factors = None
        if (left := embedding_factors([intervention], len(read))) is not None:
            factors = np.ones((1, len(source)), np.float32), left
        pass_ = KerasPass(self._order, changes, (source, read), factors)
        logits = without_nan(array_of(self._run(pass_))[0])
        layers: dict[str, list[np.ndarray]] = {kind: [] for kind in self.sizes}
        for maps, at in zip(pass_.heard, self._order, strict=True):
            if at is not None:
                layers[at[0]].append(maps[0])
        return Produced(list(target), logits, {kind: np.stack(maps) for kind, maps in layers.items()})

    def _run(self, pass_: KerasPass) -> Any:
        return run(self.model, self._inputs, pass_)


def _order(heard: Sequence[np.ndarray]) -> list[tuple[str, int] | None]:
    """The kind and the layer of each softmax of the first pass, by the shape of its weights."""
    source, target = _PROBE
    kinds = dict(zip([(source, source), (target, target), (target, source)], ATTENTION_KINDS, strict=True))
    counted = dict.fromkeys(ATTENTION_KINDS, 0)
    order: list[tuple[str, int] | None] = []
    for maps in heard:
        kind = kinds.get(maps.shape[2:])
        order.append(None if kind is None else (kind, counted[kind]))
        if kind is not None:
            counted[kind] += 1
    return order
