"""One pass of the laboratory through a Keras network: what is replaced while it runs, and what it recorded.

Every softmax and embedding of Keras is replaced while the pass runs, and put back afterwards. One pass may run at a time, because the
whole process shares what is replaced.

S source tokens, T tokens that the decoder reads; H heads, Q query and K key positions.
"""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import wraps
from threading import RLock
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from model.adapters.altering import Altering
from model.adapters.jax import spelled_out_jax
from model.adapters.keras import Inputs, arguments_of, by_name
from model.adapters.keras_listening import asked_for_scores, eager_functions
from model.adapters.listening import SOFTMAXES, SPELLED_OUT, Ear, loaded, of_softmax, places_of, replaced
from model.adapters.maps import MASKED
from model.adapters.torch import spelled_out

LOCK = RLock()  # one pass at a time, because all threads share what it replaces
_FAR = 1e30  # below every score


class Listened(NamedTuple):
    """A function that takes a softmax, and all places from which a network may call it."""

    function: Any
    # Turns what changes a softmax into the steps of a fused function.
    spelled_out: Callable[[Callable], Any] | None
    places: list[tuple[Any, str]]


# By model, because finding all places takes as long as a pass.
_LISTENED: WeakKeyDictionary = WeakKeyDictionary()


def _listened(model: Any) -> list[Listened]:
    parts = list(model._flatten_layers())

    def found(places: Sequence[tuple[str, str]], spelled: Callable | None = None) -> list[Listened]:
        return [
            Listened(getattr(owner, name), spelled, places_of(owner, name, parts))
            for owner, name in loaded(places)
        ]

    def of_jax(taking: Callable) -> Callable:
        return spelled_out_jax(taking(softmax))

    softmax = sys.modules["jax"].nn.softmax if "jax" in sys.modules else None
    return [
        *found(SOFTMAXES),
        *found([SPELLED_OUT["jax"]], of_jax),
        # On PyTorch the steps call the softmax of a tensor, which is listened to by itself.
        *found([SPELLED_OUT["torch"]], lambda _: spelled_out(Ear())),
    ]


class KerasPass:
    """One pass: what is replaced while it runs, and what it recorded: ``heard`` has the weights (1, H, Q, K) of each softmax."""

    def __init__(
        self,
        order: list[tuple[str, int] | None] | None,
        changes: dict[str, list[Altering]],
        sides: Sequence[Sequence[int]],
        factors: Sequence[Any] | None,
        keeps: bool = True,
    ):
        """``sides``: the ids of the source and what the decoder reads, or this alone."""
        self.sides, self.read, self.heard = sides, sides[-1], []  # type: ignore[var-annotated]
        self.ends_in_softmax = False  # whether the last softmax makes the output
        self._order, self._changes, self._keeps = order, changes, keeps
        self._waiting = [] if factors is None else list(zip(sides, factors, strict=True))
        self._inside = self._number = 0
        self._is_innermost = False

    @contextmanager
    def running(self, functions: Sequence[Listened]) -> Iterator[None]:
        import keras

        layers = keras.layers
        with ExitStack() as stack:
            for function, spelled, places in functions:
                new = self._taking(function) if spelled is None else spelled(self._taking)
                for owner, name in places:
                    stack.enter_context(replaced(owner, name, new))
            softmax = self._taking(layers.Softmax.call)
            stack.enter_context(replaced(layers.Softmax, "call", softmax))
            for layer in (layers.MultiHeadAttention, layers.GroupQueryAttention):
                asked = asked_for_scores(layer._compute_attention)
                stack.enter_context(replaced(layer, "_compute_attention", asked))
            if self._waiting:
                looked_up = self._scaling(layers.Embedding.call)
                stack.enter_context(replaced(layers.Embedding, "call", looked_up))
            stack.enter_context(eager_functions(keras.backend.backend()))
            yield

    def _taking(self, softmax: Callable) -> Callable:
        """``softmax`` with its result changed. If one softmax calls another, only the result of the outer one is changed."""

        @wraps(softmax)
        def taken(*args, **kwargs):
            self._inside += 1
            self._is_innermost = True
            try:
                weights = softmax(*args, **kwargs)
                if self._is_innermost:  # only its scores hold all masks
                    weights = self._of_seen(softmax, weights, args, kwargs)
                self._is_innermost = False
            finally:
                self._inside -= 1
            return weights if self._inside else self._changed(weights)

        return taken

    def _of_seen(self, softmax: Callable, weights: Any, args: tuple, kwargs: dict) -> Any:
        """The softmax of those scores that queries may look at, and 0 for the others; ``weights`` if nothing is hidden."""
        from keras import ops

        at = self._order[self._number] if self._order else None
        seen = self._changes[at[0]][at[1]].seen if at and self._changes else None
        if seen is None or not args or tuple(getattr(args[0], "shape", ())) != tuple(weights.shape):
            return weights
        if of_softmax(weights, *args, **kwargs)[1] not in (-1, len(weights.shape) - 1):
            return weights
        scores, *rest = args
        may = ops.reshape(ops.convert_to_tensor(seen[0, 0, 0] > 0), (1,) * (len(scores.shape) - 1) + (-1,))
        may = ops.logical_and(scores > ops.max(scores, axis=-1, keepdims=True) - MASKED, may)
        return softmax(ops.where(may, scores, -_FAR), *rest, **kwargs) * ops.cast(may, weights.dtype)

    def _changed(self, weights: Any) -> Any:
        import keras

        shape = tuple(weights.shape)
        at = self._order[self._number] if self._order else None
        self._number += 1
        self.ends_in_softmax = len(shape) == 3 and shape[1] == len(self.read) and at is None
        if len(shape) < 3:
            weights_of_heads = keras.ops.reshape(weights, (1, 1, 1, -1))
        else:
            weights_of_heads = keras.ops.reshape(weights, (1, -1, *shape[-2:]))
        change = self._changes[at[0]][at[1]] if at and self._changes else None

        def tensor(array: np.ndarray) -> Any:
            return keras.ops.convert_to_tensor(array.astype(np.float32), weights.dtype)

        used = weights_of_heads if change is None else change.used(weights_of_heads, tensor)
        if self._keeps:
            self.heard.append(array_of(used))
        return weights if change is None else keras.ops.reshape(change.working(used, tensor), shape)

    def _scaling(self, look_up: Callable) -> Callable:
        """Embeddings times their factors, first those of the source, which is looked up before the target."""

        @wraps(look_up)
        def scaled(layer, ids, *args, **kwargs):
            import keras

            output = look_up(layer, ids, *args, **kwargs)
            if self._waiting and array_of(ids).tolist() == [list(self._waiting[0][0])]:
                factors = keras.ops.convert_to_tensor(self._waiting.pop(0)[1])
                return output * keras.ops.cast(factors, output.dtype)[..., None]
            return output

        return scaled


def run(model: Any, inputs: Inputs | None, pass_: KerasPass) -> Any:
    """(1, T, V), the logits, or the logarithms where the network puts out probabilities."""
    import keras

    tensors = [keras.ops.convert_to_tensor(np.array([ids], np.int32)) for ids in pass_.sides]
    given, named = by_name(model, arguments_of(model, tensors, inputs))
    if not model.built:
        model(*given, **named)
    if model not in _LISTENED:
        _LISTENED[model] = _listened(model)
    with LOCK, pass_.running(_LISTENED[model]):
        returned = model(*given, **named)
    if isinstance(returned, dict):
        returned = returned["logits"]
    many = returned if isinstance(returned, list | tuple) else [returned]
    shaped = [each for each in many if tuple(each.shape[:2]) == (1, len(pass_.read))]
    if not shaped or len(shaped[0].shape) != 3:
        raise ValueError(f"the network should put out (1, T, V), received {[each.shape for each in many]}")
    return keras.ops.log(shaped[0] + 1e-30) if pass_.ends_in_softmax else shaped[0]


def array_of(tensor: Any) -> np.ndarray:
    import keras

    return np.asarray(keras.ops.convert_to_numpy(tensor))


def with_slopes(score: Callable[..., Any], factors: list[np.ndarray]) -> tuple[float, list[np.ndarray]]:
    """A score and its derivatives by ``factors``, computed by the backend that Keras has."""
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
