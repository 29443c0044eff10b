"""The laboratory for a Keras network that is a decoder alone: heads off, weights replaced, tokens left out, gradients.

Its source is the prompt, which begins with the start mark; its target is what is written behind it. Both stand in one sequence, so its
one kind of attention, ``decoder_attention``, has a row and a column for each token of both.

L layers, H heads, S tokens of the prompt, T written ones, N = S + T - 1 tokens that are read, V vocabulary.
"""

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from model.activations.drafting import Pass, Produced
from model.adapters.altering import altering, embedding_factors, in_sequence
from model.adapters.keras import Inputs
from model.adapters.keras_finding import Recorded
from model.adapters.keras_mixing import DecoderMixing
from model.adapters.keras_parts import recorded
from model.adapters.keras_pass import LOCK, KerasPass, array_of, run, with_slopes
from model.adapters.outputs import probabilities
from model.adapters.own_network import AttentionSizes, OwnNetwork, WithoutTaps, check_one_length, without_nan
from model.adapters.own_stream import without_memory
from model.adapters.vocabulary import Vocabulary
from model.stored.config import GRADIENTS, INTERVENTIONS, MIXING
from model.trace.interventions import Intervention
from model.trace.laboratory_data import Insides, Slopes, Zeroed
from model.trace.trace import AttentionTrace

_KIND = "decoder_attention"
_PROBE = 3  # tokens of the pass that shows which softmax is attention
_LONGEST = 20  # tokens that are written, where nobody says how many


class NotCausalError(ValueError):
    """A network whose rows look at later tokens writes nothing."""


def laboratory_of_keras_decoder(
    model: Any, vocabulary: Vocabulary, inputs: Inputs | None, longest: int | None = None
) -> OwnNetwork:
    """The laboratory of a decoder alone. Raises ValueError for a network that is none."""
    passes = KerasDecoderPasses(model, vocabulary, inputs, longest)
    abilities = [INTERVENTIONS, GRADIENTS]
    with suppress(Exception):  # it is built otherwise, for which each library has its own kind of error
        passes.mixing = DecoderMixing(passes, vocabulary.end)
        abilities.append(MIXING)
    return OwnNetwork(model.name, _PromptTexts(vocabulary), passes, abilities, why=without_memory())


class _PromptTexts:
    """A ``Vocabulary`` as ``own_network.Texts``: the prompt begins with the start mark."""

    def __init__(self, vocabulary: Vocabulary):
        self._vocabulary, self.encode_target = vocabulary, vocabulary.encode_target
        self.decode, self.labels = vocabulary.decode_written, vocabulary.labels

    def encode_source(self, text: str) -> list[int]:
        return [self._vocabulary.start, *self._vocabulary.encode_source(text)]


class KerasDecoderPasses(WithoutTaps):
    """Passes over ids; see ``own_network.OwnPasses``. A text that goes on needs no end: it is cut."""

    needs_end = False

    def __init__(self, model: Any, vocabulary: Vocabulary, inputs: Inputs | None, longest: int | None = None):
        self.model, self.vocabulary, self._inputs = model, vocabulary, inputs
        self._longest, self.end = longest or _LONGEST, vocabulary.end
        self.mixing: DecoderMixing | None = None  # where its layers are known
        # The first pass may make weights, for which some backends call layers more than once.
        for _ in range(2):
            pass_ = KerasPass(None, {}, ([vocabulary.end] * _PROBE,), None)
            run(model, inputs, pass_)
        self._order: list[tuple[str, int] | None] = []  # of the softmaxes of a pass: kind and layer
        found: list[np.ndarray] = []
        for maps in pass_.heard:
            is_attention = maps.shape[2:] == (_PROBE, _PROBE)
            self._order.append((_KIND, len(found)) if is_attention else None)
            found += [maps] if is_attention else []
        if not found:
            raise ValueError("the network should be a Transformer, but its pass has no attention")
        if any(np.triu(maps, 1).any() for maps in found):
            raise NotCausalError(
                "the network should write one token after the other, but a row of it looks ahead"
            )
        heads = found[0].shape[1]
        self.sizes = {_KIND: AttentionSizes(len(found), heads, heads)}

    def pass_over(
        self,
        sources: Sequence[Sequence[int]],
        targets: Sequence[Sequence[int]],
        interventions: Sequence[Intervention],
    ) -> Pass:
        """One teacher-forced pass over each of B rows: a prompt, T ids that were written and an intervention. Logits are (B, T, V), the
        attention (B, L, H, N, N). Raises ValueError for rows of several lengths, and for an intervention that the network does not have."""
        check_one_length(sources, targets)
        found = [self._pass(*each) for each in zip(sources, targets, interventions, strict=True)]
        logits = np.stack([each.logits[len(sources[0]) - 1 :] for each in found])
        return Pass(logits, {_KIND: np.stack([each.attention[_KIND] for each in found])})

    def _next(self, source: Sequence[int], ids: Sequence[int], intervention: Intervention) -> int:
        # The last token of a target is not read, so the end mark only makes room for the row that writes the next one.
        return int(self._pass(source, [*ids, self.end], intervention).logits[-1].argmax())

    def _most(self, source: int) -> int:
        return self._longest

    def slopes(
        self, source: Sequence[int], target: Sequence[int], contrast: Sequence[int], shares: Sequence[float]
    ) -> Slopes:
        """As ``Laboratory.slopes`` says. The start mark is the first token of the prompt, so no share is that of a target's start."""
        row, written, instead = contrast
        read, length, found = [*source, *target[:-1]], len(source), []

        def score(*factors: Any) -> Any:
            pass_ = KerasPass(self._order, {}, (read,), factors, keeps=False)
            logits = run(self.model, self._inputs, pass_)[0, length - 1 + row]
            return logits[written] - logits[instead]

        for share in shares:
            value, (slopes,) = with_slopes(score, [np.full((1, len(read)), share, np.float32)])
            found.append((value, slopes[0, :length], np.append(np.float32(0), slopes[0, length:])))
        return Slopes(*(without_nan(np.stack(part).astype(np.float32)) for part in zip(*found, strict=True)))

    def insides(self, source: Sequence[int], target: Sequence[int]) -> Insides:
        """What one plain pass holds. Raises ValueError for a network whose layers are not known."""
        return self._known_mixing().insides([*source, *target[:-1]])

    def zeroed(self, source: Sequence[int], target: Sequence[int]) -> Zeroed:
        """As ``Laboratory.zeroed`` says. Raises ValueError for a network whose layers are not known."""
        return self._known_mixing().zeroed([*source, *target[:-1]])

    def _known_mixing(self) -> DecoderMixing:
        if self.mixing is None:
            raise ValueError("what the layers of this network hold inside is not known from outside")
        return self.mixing

    def recorded(self, read: Sequence[int]) -> Recorded:
        """One pass with the calls of its layers. ``DecoderMixing`` calls its attention an encoder's."""
        pass_ = KerasPass(self._order, {}, (read,), None)
        with LOCK, recorded(lambda: len(pass_.heard)) as calls:
            logits = run(self.model, self._inputs, pass_)
        order = [at and ("encoder_attention", at[1]) for at in self._order]
        return Recorded([], list(read), calls, [each[0] for each in pass_.heard], order, array_of(logits)[0])

    def trace(self, source: str, target: str, intervention: Intervention | None = None) -> AttentionTrace:
        """The pass over both texts; ``prompt`` says how many tokens the first one has."""
        words, texts = self.vocabulary, _PromptTexts(self.vocabulary)
        ids, written = texts.encode_source(source), texts.encode_target(target)
        looked = self._pass(ids, written, Intervention() if intervention is None else intervention)
        produced = [*ids, *written][1:]
        whole = words.decode_written(produced)
        return AttentionTrace(
            target_tokens=words.labels(produced),
            decoder_input_tokens=words.labels([*ids, *written[:-1]]),
            target_text=whole,
            target_spans=words.spans(produced, whole),
            decoder_attention=looked.attention[_KIND],
            prompt=len(ids),
            **probabilities(looked.logits, np.array(produced), lambda each: words.labels([each])[0]),
        )

    def _pass(self, source: Sequence[int], target: Sequence[int], intervention: Intervention) -> Produced:
        """Logits (N, V) and attention of one pass over prompt and target."""
        read = [*source, *target[:-1]]
        moved = [in_sequence(intervention, len(source))]
        changes = altering(moved, self.sizes, len(read), len(read))
        left = embedding_factors(moved, len(read))
        pass_ = KerasPass(self._order, changes, (read,), None if left is None else [left])
        logits = without_nan(array_of(run(self.model, self._inputs, pass_))[0])
        layers = [maps[0] for maps, at in zip(pass_.heard, self._order, strict=True) if at is not None]
        return Produced(list(target), logits, {_KIND: np.stack(layers)})
