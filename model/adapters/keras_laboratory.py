"""Interventions in a Keras Transformer: ablated heads, replaced weights, masked tokens.

It also computes gradients.

Each softmax and embedding of Keras is replaced while a pass runs, and put back afterwards. The whole process
shares them, so passes wait for each other. They run eagerly and one row at a time, because many course
networks run only so.

S source tokens, T tokens that the decoder reads; L layers, H heads, Q query and K key positions, V
vocabulary.
"""

import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import wraps
from threading import RLock
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from model.activations.drafting import longest_target
from model.adapters.capture import (
    MASKED,
    SOFTMAXES,
    Capture,
    Place,
    check_same_pass,
    loaded,
    places_of,
    replaced,
    softmax_axis,
)
from model.adapters.keras import (
    JAX_FUSED,
    TORCH_FUSED,
    Inputs,
    KerasCall,
    eager_functions,
    spelled_out_jax,
)
from model.adapters.keras_stream import (
    Declared,
    KerasMixing,
    Recorded,
    declared_attention,
    recorded_calls,
    stream_of,
)
from model.adapters.own_network import OwnNetwork, Vocabulary, VocabularyTexts
from model.adapters.own_passes import (
    DECODER_KIND,
    PROBE,
    Altering,
    AttentionSize,
    Ids,
    OwnPasses,
    Run,
    kinds_by_shape,
)
from model.adapters.own_stream import OwnStream, insides_of_stream, without_memory, zeroed_of_stream
from model.adapters.torch import spelled_out
from model.stored.config import GRADIENTS, INTERVENTIONS, MIXING, STREAM
from model.trace.interventions import Insides, Zeroed
from model.trace.trace import ATTENTION_KINDS

_LOCK = RLock()  # one pass at a time
_FAR = 1e30  # below every score
_LONGEST = 20  # tokens that a decoder alone writes by default


def laboratory_of_keras(
    model: Any,
    vocabulary: Vocabulary,
    inputs: Inputs | None = None,
    longest: int | None = None,
    attention: Declared | None = None,
) -> OwnNetwork:
    """The laboratory of an encoder-decoder, or of a decoder alone.

    The arguments are those of ``laboratory_of``.

    Raises:
        ValueError: for a network that is neither.
    """
    call = KerasCall(model, inputs)
    try:
        passes = KerasPasses(call, vocabulary, longest, is_decoder=False)
    except Exception as reason:  # noqa: BLE001  a decoder alone takes no two sides: each library has its own kind of error
        try:
            passes = KerasPasses(call, vocabulary, longest, is_decoder=True)
        except NotCausalError as ahead:
            raise ahead from reason
        except Exception:  # noqa: BLE001
            raise reason from None
    abilities = {INTERVENTIONS, GRADIENTS}
    stream: OwnStream | ValueError = without_memory()
    attention = declared_attention(model) if attention is None else attention
    try:
        if passes.is_decoder:
            passes.mixing = KerasMixing(passes.recorded, vocabulary.end, attention)
        else:
            stream = passes.stream = stream_of(passes.recorded, vocabulary.start, attention)
            abilities.add(STREAM)
        abilities.add(MIXING)
    except Exception as reason:  # noqa: BLE001  layers of another architecture, or of fixed lengths: each library has its own kind
        if not passes.is_decoder:
            stream = (
                reason if isinstance(reason, ValueError) else ValueError(f"{type(reason).__name__}: {reason}")
            )
    return OwnNetwork(model.name, passes, abilities, stream)


class NotCausalError(ValueError):
    """Raised for a network that cannot write, because its rows look at later tokens."""


class Hooked(NamedTuple):
    """A function that computes a softmax, and all places from which a network may call it."""

    function: Callable[..., Any]
    hooked: Callable[
        [Callable[..., Any]], Callable[..., Any]
    ]  # (the hook) -> the replacement of the function
    places: list[Place]


class KerasPasses(OwnPasses):
    """Passes of a Keras network over ids; see ``OwnPasses``."""

    def __init__(self, call: KerasCall, vocabulary: Vocabulary, longest: int | None, is_decoder: bool):
        super().__init__(
            VocabularyTexts(vocabulary, is_decoder), None if is_decoder else vocabulary.start, vocabulary.end
        )
        self.call, self.model, self._longest = call, call.model, longest
        self.mixing: KerasMixing | None = None  # of a decoder alone, where its layers are known
        self.stream: Any = None  # of an encoder-decoder, where it is known
        self.order: list[tuple[str, int] | None] = []  # the kind and the layer of each softmax of a pass
        sides = [[vocabulary.end] * length for length in (PROBE[:1] if is_decoder else PROBE)]
        own = call(sides)  # makes the weights, for which some backends call layers more than once
        hooks = KerasHooks(self, sides, {}, [])
        check_same_pass(own, hooks.run(raw=True), self.model.name)
        self.order = kinds_by_shape([each.shape[2:] for each in hooks.weights], is_decoder)
        for kind in [DECODER_KIND] if is_decoder else ATTENTION_KINDS:
            maps = [each for each, at in zip(hooks.weights, self.order, strict=True) if at and at[0] == kind]
            if not maps:
                found = "attention" if is_decoder else kind
                raise ValueError(f"the network should be a Transformer, but its pass has no {found}")
            if is_decoder and any(np.triu(each, 1).any() for each in maps):
                raise NotCausalError(
                    "the network should write one token after the other, but a row of it looks ahead"
                )
            self.sizes[kind] = AttentionSize(len(maps), maps[0].shape[1], 1)

    def longest(self, source: int) -> int:
        return self._longest or (_LONGEST if self.is_decoder else longest_target(source))

    def run(
        self, inputs: Sequence[Sequence[Ids]], changes: dict[str, list[Altering]], factors: Sequence[Any]
    ) -> Run:
        """``OwnPasses.run`` of one row: logits (B, T, V) and attention (B, L, H, Q, K)."""
        hooks = KerasHooks(self, [each[0] for each in inputs], changes, factors)
        logits = array_of(hooks.run())
        return Run(logits, {kind: np.stack(maps, axis=1) for kind, maps in hooks.by_kind().items()})

    def recorded(self, *sides: Ids) -> Recorded:
        """One pass over the ids (N,) of each side, with the calls of its layers."""
        hooks = KerasHooks(self, sides, {}, [])
        with _LOCK, recorded_calls(lambda: len(hooks.weights)) as calls:
            logits = array_of(hooks.run())[0]
        return Recorded(
            [list(each) for each in sides], calls, [each[0] for each in hooks.weights], self.order, logits
        )

    def gradients(
        self, inputs: Sequence[Ids], shares: Sequence[float], contrast: Ids
    ) -> tuple[np.ndarray, list[np.ndarray]]:
        """``OwnPasses.gradients``, one share at a time.

        Raises:
            ValueError: for outputs of another shape than (B, T, V).
        """
        row, written, instead = contrast

        def score(*factors: Any) -> Any:
            logits = KerasHooks(self, inputs, {}, factors, keeps=False).run()[0, row]
            return logits[written] - logits[instead]

        values, slopes = [], []
        for share in shares:
            value, found = _with_slopes(score, [np.full((1, len(ids)), share, np.float32) for ids in inputs])
            values.append(value)
            slopes.append([each[0] for each in found])
        return np.array(values), [np.stack(each) for each in zip(*slopes, strict=True)]

    def insides(self, source: Ids, target: Ids) -> Insides:
        """``Passes.insides``. Raises ValueError for a network whose layers are not known."""
        if self.mixing is not None:
            return self.mixing.insides([*source, *target[:-1]])
        return (
            super().insides(source, target)
            if self.stream is None
            else insides_of_stream(self.stream, source, target)
        )

    def zeroed(self, source: Ids, target: Ids) -> Zeroed:
        """``Passes.zeroed``. Raises ValueError for a network whose layers are not known."""
        if self.mixing is not None:
            return self.mixing.zeroed([*source, *target[:-1]])
        return (
            super().zeroed(source, target)
            if self.stream is None
            else zeroed_of_stream(self.stream, source, target)
        )


class KerasHooks:
    """The replaced functions of one pass over one row, and the ``weights`` (1, H, Q, K) of each softmax.

    Args:
        sides: the ids of the source and of the read target, or of one sequence.
        changes: by kind and layer; empty without interventions.
        factors: (1, N) of the embeddings of each side; empty without them.
        keeps: whether weights are kept, which a pass under a gradient cannot do.
    """

    def __init__(
        self,
        passes: KerasPasses,
        sides: Sequence[Ids],
        changes: dict[str, list[Altering]],
        factors: Sequence[Any],
        keeps: bool = True,
    ):
        self.weights: list[np.ndarray] = []
        self._passes, self._sides, self._changes, self._keeps = passes, sides, changes, keeps
        self._waiting = list(zip(sides, factors, strict=True)) if len(factors) else []
        self._depth = self._number = 0
        self._is_innermost = self._ends_in_softmax = False

    def by_kind(self) -> dict[str, list[np.ndarray]]:
        """L arrays (B, H, Q, K) by kind; B is 1."""
        found: dict[str, list[np.ndarray]] = {kind: [] for kind in self._passes.sizes}
        for maps, at in zip(self.weights, self._passes.order, strict=True):
            if at is not None:
                found[at[0]].append(maps)
        return found

    def run(self, raw: bool = False) -> Any:
        """The logits (1, T, V) of the pass, as logarithms where the network returns probabilities.

        With ``raw`` the returned value itself.
        """
        import keras

        model = self._passes.model
        with _LOCK, ExitStack() as stack:
            for function, hooked, places in _hooked_functions(model):
                for owner, name in places:
                    stack.enter_context(replaced(owner, name, hooked(self._hook)))
            layers = keras.layers
            stack.enter_context(replaced(layers.Softmax, "call", self._hook(layers.Softmax.call)))
            if self._waiting:
                stack.enter_context(replaced(layers.Embedding, "call", self._scaling(layers.Embedding.call)))
            stack.enter_context(eager_functions())
            returned = self._passes.call(self._sides)
        if raw:
            return returned
        if isinstance(returned, dict):
            if "logits" not in returned:
                raise ValueError(f"the network should put out logits, received {sorted(returned)}")
            returned = returned["logits"]
        many = returned if isinstance(returned, list | tuple) else [returned]
        shaped = [each for each in many if tuple(each.shape[:2]) == (1, len(self._sides[-1]))]
        if not shaped or len(shaped[0].shape) != 3:
            raise ValueError(
                f"the network should put out (1, T, V), received {[each.shape for each in many]}"
            )
        return keras.ops.log(shaped[0] + 1e-30) if self._ends_in_softmax else shaped[0]

    def _hook(self, softmax: Callable[..., Any]) -> Callable[..., Any]:
        """``softmax`` under the changes of the pass.

        Of nested softmaxes the result of the outer one is changed.
        """

        @wraps(softmax)
        def hooked(*args: Any, **kwargs: Any) -> Any:
            self._depth += 1
            self._is_innermost = True
            try:
                weights = softmax(*args, **kwargs)
                if self._is_innermost:  # only its scores hold all masks
                    weights = self._of_seen_keys(softmax, weights, args, kwargs)
                self._is_innermost = False
            finally:
                self._depth -= 1
            return weights if self._depth else self._changed(weights)

        return hooked

    def _change(self) -> Altering | None:
        at = self._passes.order[self._number] if self._passes.order else None
        return self._changes[at[0]][at[1]] if at and self._changes else None

    def _of_seen_keys(
        self, softmax: Callable[..., Any], weights: Any, args: tuple, kwargs: dict[str, Any]
    ) -> Any:
        """The softmax over the keys that are not left out, and 0 for the others."""
        from keras import ops

        seen = getattr(self._change(), "seen", None)
        if seen is None or not args or tuple(getattr(args[0], "shape", ())) != tuple(weights.shape):
            return weights
        if softmax_axis(weights, *args, **kwargs)[1] not in (-1, len(weights.shape) - 1):
            return weights
        scores, *rest = args
        may = ops.reshape(ops.convert_to_tensor(seen[0, 0, 0] > 0), (1,) * (len(scores.shape) - 1) + (-1,))
        may = ops.logical_and(scores > ops.max(scores, axis=-1, keepdims=True) - MASKED, may)
        return softmax(ops.where(may, scores, -_FAR), *rest, **kwargs) * ops.cast(may, weights.dtype)

    def _changed(self, weights: Any) -> Any:
        from keras import ops

        change, shape = self._change(), tuple(weights.shape)
        is_attention = bool(self._passes.order and self._passes.order[self._number])
        self._number += 1
        self._ends_in_softmax = len(shape) == 3 and shape[1] == len(self._sides[-1]) and not is_attention
        of_heads = ops.reshape(weights, (1, 1, 1, -1) if len(shape) < 3 else (1, -1, *shape[-2:]))

        def tensor(array: np.ndarray) -> Any:
            return ops.convert_to_tensor(array.astype(np.float32), weights.dtype)

        used = of_heads if change is None else change.used(of_heads, tensor)
        if self._keeps:
            self.weights.append(array_of(used))
        return weights if change is None else ops.reshape(change.working(used, tensor), shape)

    def _scaling(self, look_up: Callable[..., Any]) -> Callable[..., Any]:
        """Embeddings times their factors, first those of the source, which is looked up before the target."""

        @wraps(look_up)
        def scaled(layer: Any, ids: Any, *args: Any, **kwargs: Any) -> Any:
            from keras import ops

            output = look_up(layer, ids, *args, **kwargs)
            if self._waiting and array_of(ids).tolist() == [list(self._waiting[0][0])]:
                factors = ops.convert_to_tensor(self._waiting.pop(0)[1])
                return output * ops.cast(factors, output.dtype)[..., None]
            return output

        return scaled


_FUNCTIONS: WeakKeyDictionary = (
    WeakKeyDictionary()
)  # by model, because finding all places takes as long as a pass


def _hooked_functions(model: Any) -> list[Hooked]:
    if model not in _FUNCTIONS:
        parts = list(model._flatten_layers())
        softmax = sys.modules["jax"].nn.softmax if "jax" in sys.modules else None
        kinds = (
            (SOFTMAXES, lambda function: lambda hook: hook(function)),
            ([JAX_FUSED], lambda _: lambda hook: spelled_out_jax(hook(softmax))),
            # The steps of PyTorch's call the softmax of a tensor, which is hooked by itself.
            ([TORCH_FUSED], lambda _: lambda hook: spelled_out(Capture())),
        )
        _FUNCTIONS[model] = [
            Hooked(getattr(owner, name), hooked(getattr(owner, name)), places_of(owner, name, parts))
            for places, hooked in kinds
            for owner, name in loaded(places)
        ]
    return _FUNCTIONS[model]


def array_of(tensor: Any) -> np.ndarray:
    """The numbers of a tensor of Keras."""
    import keras

    return np.asarray(keras.ops.convert_to_numpy(tensor))


def _with_slopes(score: Callable[..., Any], factors: list[np.ndarray]) -> tuple[float, list[np.ndarray]]:
    """A score and its derivatives by ``factors``, from the backend of Keras."""
    import keras

    name = keras.backend.backend()
    if name == "jax":
        import jax

        value, slopes = jax.value_and_grad(score, tuple(range(len(factors))))(*factors)
    elif name == "torch":
        import torch

        given = [torch.tensor(each, requires_grad=True) for each in factors]
        value = score(*given)
        slopes = torch.autograd.grad(value, given)
    else:
        import tensorflow as tf

        watched = [tf.constant(each) for each in factors]
        with tf.GradientTape() as tape:
            tape.watch(watched)
            value = score(*watched)
        slopes = tape.gradient(value, watched)
    return float(array_of(value)), [array_of(each) for each in slopes]
