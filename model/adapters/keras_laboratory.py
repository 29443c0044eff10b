"""Interventions in a Keras Transformer: ablation, other weights, masked tokens; gradients.

Passes run eagerly and one row at a time, because many course networks run only so.

S source tokens, T tokens that the decoder reads; L layers, H heads, Q query and K key positions, V
vocabulary.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from functools import wraps
from typing import TYPE_CHECKING

import numpy as np

from model.activations.drafting import longest_target
from model.adapters.capture import LOCK, Capture, Function, Parts, replaced
from model.adapters.keras import Inputs, KerasCall, captured
from model.adapters.keras_calls import Call, Recorded, kept_in
from model.adapters.keras_stream import Declared, declared_attention, stream_of
from model.adapters.own_network import OwnNetwork, Vocabulary, VocabularyTexts, opened
from model.adapters.own_passes import LONGEST, Ids, NotCausalError, OwnPasses, array_of
from model.adapters.torch import torch_derivatives
from model.adapters.trace_building import makes

if TYPE_CHECKING:
    import keras
    from keras import KerasTensor as Tensor


def laboratory_of_keras(
    model: keras.Model,
    vocabulary: Vocabulary,
    inputs: Inputs | None = None,
    longest: int | None = None,
    attention: Declared | None = None,
) -> OwnNetwork:
    """The laboratory of an encoder-decoder, or of a decoder-only network.

    The arguments are those of ``laboratory_of``.

    Raises:
        ValueError: for a network that is neither.
    """
    call = KerasCall(model, inputs)
    try:
        passes = KerasPasses(call, vocabulary, longest, is_decoder=False)
    except Exception as reason:  # noqa: BLE001  a decoder-only network takes no two sides: each library has its own kind of error
        try:
            passes = KerasPasses(call, vocabulary, longest, is_decoder=True)
        except NotCausalError as ahead:
            raise ahead from reason
        except Exception:  # noqa: BLE001
            raise reason from None
    named = declared_attention(model) if attention is None else attention
    mark = vocabulary.end if passes.is_decoder else vocabulary.start
    told = mark, named, passes.is_decoder, passes.derivatives
    return opened(model.name, passes, lambda: stream_of(passes.recorded, *told))


class KerasPasses(OwnPasses):
    """Passes of a Keras network over ids; see ``OwnPasses``."""

    def __init__(self, call: KerasCall, vocabulary: Vocabulary, longest: int | None, is_decoder: bool):
        start = None if is_decoder else vocabulary.start
        super().__init__(VocabularyTexts(vocabulary, is_decoder), start, vocabulary.end)
        self.call, self.model, self._longest = call, call.model, longest
        self._returns_probabilities = False
        own = self._logits([each[0] for each in self.probe()])  # makes the weights
        self._parts = Parts(self.model._flatten_layers())
        capture = self.read_kinds(own, self.model.name)
        output = array_of(own)[0]
        self._returns_probabilities = any(makes(each.weights, output) for each in capture.maps)

    def longest(self, source: int) -> int:
        return self._longest or (LONGEST if self.is_decoder else longest_target(source))

    def forward(self, inputs: Sequence[Sequence[Ids]], factors: Sequence[Tensor], capture: Capture) -> Tensor:
        """``OwnPasses.forward`` of one row (1, T, V); of probabilities the logarithms."""
        from keras import layers, ops

        sides = [each[0] for each in inputs]
        with LOCK, ExitStack() as stack:
            stack.enter_context(captured(capture, self._parts))
            if len(factors):
                scaled = _scaling(layers.Embedding.call, zip(sides, factors, strict=True))
                stack.enter_context(replaced(layers.Embedding, "call", scaled))
            logits = self._logits(sides)
        return ops.log(logits + 1e-30) if self._returns_probabilities else logits

    def _logits(self, sides: Sequence[Ids]) -> Tensor:
        """(1, T, V). Raises ValueError for outputs of another shape."""
        returned = self.call(sides)
        if isinstance(returned, dict):
            if "logits" not in returned:
                raise ValueError(f"the network should put out logits, received {sorted(returned)}")
            returned = returned["logits"]
        many = returned if isinstance(returned, list | tuple) else [returned]
        shaped = [each for each in many if tuple(each.shape[:2]) == (1, len(sides[-1]))]
        if not shaped or len(shaped[0].shape) != 3:
            shapes = [tuple(each.shape) for each in many]
            raise ValueError(f"the network should put out (1, T, V), received {shapes}")
        return shaped[0]

    def recorded(self, *sides: Ids) -> Recorded:
        """One pass over the ids (N,) of each side, with the calls of its layers."""
        calls: list[Call] = []
        capture = Capture(observing=kept_in(calls))
        logits = array_of(self.forward([[each] for each in sides], (), capture))[0]
        weights = [each.weights for each in capture.maps]
        return Recorded([list(each) for each in sides], calls, weights, self.order, logits)

    def derivatives(
        self, score: Callable[..., Tensor], factors: Sequence[np.ndarray]
    ) -> tuple[Tensor, Sequence[Tensor]]:
        """``OwnPasses.derivatives`` of one row, from the backend of Keras."""
        import keras

        name = keras.backend.backend()
        if name == "torch":
            return torch_derivatives(score, factors)
        if name == "jax":
            import jax

            value, back = jax.vjp(score, *factors)
            return value, back(jax.numpy.ones_like(value))
        import tensorflow as tf

        watched = [tf.constant(each) for each in factors]
        with tf.GradientTape() as tape:
            tape.watch(watched)
            value = score(*watched)
        return value, tape.gradient(value, watched)


def _scaling(look_up: Function, given: Iterable[tuple[Ids, np.ndarray]]) -> Function:
    """``Embedding.call`` times the factors (1, N) of each side, first those of the source."""
    from keras import ops

    waiting = list(given)

    @wraps(look_up)
    def scaled(layer: keras.layers.Layer, ids: Tensor, *args: object, **kwargs: object) -> Tensor:
        output = look_up(layer, ids, *args, **kwargs)
        if waiting and array_of(ids).tolist() == [list(waiting[0][0])]:
            factors = ops.convert_to_tensor(waiting.pop(0)[1])
            return output * ops.cast(factors, output.dtype)[..., None]
        return output

    return scaled
